// The kernels inside of the library, as the text of their PTX. embed.sh makes the arrays, meson.build says of what.
#ifndef LIBRARY_KERNELS_H
#define LIBRARY_KERNELS_H

#include <stddef.h>

#include "base/device.h"

// X(array, step, type). HOPPER: what only an nvcc from 12.0 on can compile.
#define LIBRARY_KERNELS(X, HOPPER)                                                                                     \
    X(f32_whole, "07_double_buffer", DEV_F32)                                                                          \
    X(f32_128x128, "07_double_buffer", DEV_F32)                                                                        \
    X(f32_64x128, "07_double_buffer", DEV_F32)                                                                         \
    X(f32_64x64, "07_double_buffer", DEV_F32)                                                                          \
    X(f32_pack, "pack", DEV_F32)                                                                                       \
    X(f16_padding, "10_wmma_padding", DEV_F16)                                                                         \
    X(f16_swizzle, "12_mma_swizzle", DEV_F16)                                                                          \
    X(f16_async, "13_async_copy", DEV_F16)                                                                             \
    HOPPER(f16_any_shape, "20_any_shape", DEV_F16)

#define X(array, name, type)                                                                                           \
    extern const char kernel_##array[];                                                                                \
    extern const size_t kernel_##array##_bytes;
LIBRARY_KERNELS(X, X)
#undef X

enum kernel_id {
#define X(array, name, type) KERNEL_##array,
    LIBRARY_KERNELS(X, X)
#undef X
        KERNELS
};

struct kernel_text {
    const char *name;
    enum dev_type type;
    const char *ptx;  // NULL: what compiled the library cannot compile this one
    const size_t *bytes;
};

extern const struct kernel_text kernel_texts[KERNELS];

#endif
