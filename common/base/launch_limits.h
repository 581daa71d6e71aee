// How large a launch may be. Source: CUDA C++ Programming Guide, technical specifications: limits of compute capability
// 5.0 and later.
#ifndef COMMON_LAUNCH_LIMITS_H
#define COMMON_LAUNCH_LIMITS_H

#include <stdbool.h>

#include "device.h"

enum { LAUNCH_GRID_YZ_MAX = 65535 };  // blocks of a grid along y, and along z

// Are grid, block and dynamic shared memory what the device allows? False, with one line in error, if not.
bool launch_fits(const struct dev_about *about, const struct dev_launch *l, char error[DEV_ERROR_MAX]);

#endif
