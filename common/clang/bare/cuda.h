// What kernels for Hopper use of CUDA's <cuda.h>: a tensor map, and how a parameter and a cluster are declared.
#pragma once

struct alignas(128) CUtensorMap {
    unsigned long long opaque[16];
};

#define __grid_constant__ __attribute__((grid_constant))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
