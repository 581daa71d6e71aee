// The simulated GPU as a device.
#pragma once

struct dev;
struct simt;

extern const struct backend simt_backend;

// What is behind a simulated GPU, for those who ask more of it than device.h has; NULL for another device. A kernel of
// such a device is a struct simt_kernel, a module a struct simt_module.
struct simt *device_simt(const struct dev *d);
