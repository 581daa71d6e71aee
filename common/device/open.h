// The devices that there are: a CUDA GPU, and the simulated one.
#pragma once

#include "base/device.h"
#include "sim.h"

// Opens a device of the kind asked for. On failure returns NULL and writes one line to error.
struct dev *dev_open(enum dev_kind kind, char error[DEV_ERROR_MAX]);
