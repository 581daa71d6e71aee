// See kernels.h. The build defines HAVE_HOPPER, 1 or 0.
#include "kernels.h"

#include "args.h"

#define HERE(module, array, name, words) { name, kernel_##array, &kernel_##array##_bytes, words },
#if HAVE_HOPPER
#define HOPPER HERE
#else
#define HOPPER(module, array, name, words) { name, NULL, NULL, words },
#endif

const struct module_text module_texts[MODULES] = { LIBRARY_MODULES(HERE, HOPPER) };

// Cycles as fitted to the times of all ways of 584 products on an H200 (compare --ways); of steps 10 and 13 from
// TFLOP/s at 4096 (steps/results).
const struct kernel kernels[] = {
    { KERNEL_STEP, "07_double_buffer", ARGS_F32, MODULE_f32_whole, 75, 999, 128, 128, 8, 2, 1040, 985, true },
    { KERNEL_STEP, "13_async_copy", ARGS_F16, MODULE_f16_async, 80, 999, 128, 256, 32, 1, 960, 960, true },
    { KERNEL_STEP, "10_wmma_padding", ARGS_F16, MODULE_f16_padding, 75, 999, 128, 256, 32, 1, 1350, 1350, true },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_128x128, 80, 999, 128, 128, 8, 2, 741, 1450, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_64x128, 80, 999, 64, 128, 8, 4, 889, 607, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_64x64, 80, 999, 64, 64, 16, 6, 1690, 768, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_quick, 80, 999, 64, 64, 16, 3, 739, 648, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_32x32, 80, 999, 32, 32, 32, 6, 800, 454, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32, 75, 79, 64, 64, 16, 6, 4000, 700, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F16, MODULE_any_f16, 75, 999, 64, 64, 16, 6, 4390, 1600, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_BF16, MODULE_any_bf16, 75, 999, 64, 64, 16, 6, 4000, 900, false },
    { KERNEL_MMA, "13_async_copy", ARGS_F16, MODULE_mma_f16, 80, 999, 64, 64, 32, 4, 561, 323, false },
    { KERNEL_MMA, "13_async_copy", ARGS_BF16, MODULE_mma_bf16, 80, 999, 64, 64, 32, 4, 700, 250, false },
    { KERNEL_ROWS, "rows", ARGS_F32, MODULE_rows_f32, 75, 999, 8, 128, 1024, 4, 0, 0, false },
    { KERNEL_ROWS, "rows", ARGS_F16, MODULE_rows_f16, 75, 999, 8, 256, 1024, 4, 0, 0, false },
    { KERNEL_ROWS, "rows", ARGS_BF16, MODULE_rows_bf16, 75, 999, 8, 256, 1024, 4, 0, 0, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 128, 256, 64, 1, 1070, 1070, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 192, 192, 64, 1, 1100, 1100, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 128, 192, 64, 1, 800, 800, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 128, 128, 64, 1, 559, 559, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 64, 128, 64, 1, 446, 446, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 64, 64, 64, 1, 256, 256, false },
    { KERNEL_LAST_STEP, "20_any_shape", ARGS_F16, MODULE_f16_any_shape, 90, 90, 128, 256, 64, 1, 0, 0, true },
    { KERNEL_LAST_STEP, "20_any_shape", ARGS_BF16, MODULE_bf16_any_shape, 90, 90, 128, 256, 64, 1, 0, 0, true },
};
const int n_kernels = sizeof kernels / sizeof *kernels;
