// The devices that there are: a CUDA GPU, and the simulated one.
#ifndef DEVICE_OPEN_H
#define DEVICE_OPEN_H

#include "base/device.h"

struct simt;

// What is behind a simulated GPU, for those who ask more of it than device.h has; NULL for another device. A kernel of
// such a device is a struct simt_kernel, a module a struct simt_module.
struct simt *device_simt(const struct dev *d);

#endif
