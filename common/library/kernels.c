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

// Multiply-adds in a cycle: of floats as fitted to 85 shapes (pick.c); of halves from TFLOP/s at 4096 (steps/results,
// H200).
const struct kernel kernels[] = {
    { KERNEL_STEP, "07_double_buffer", ARGS_F32, MODULE_f32_whole, 75, 999, 128, 128, 8, 2, 186, true },
    { KERNEL_STEP, "13_async_copy", ARGS_F16, MODULE_f16_async, 80, 999, 128, 256, 32, 1, 1090, true },
    { KERNEL_STEP, "12_mma_swizzle", ARGS_F16, MODULE_f16_swizzle, 80, 999, 128, 256, 32, 1, 870, false },
    { KERNEL_STEP, "10_wmma_padding", ARGS_F16, MODULE_f16_padding, 75, 999, 128, 256, 32, 1, 780, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_128x128, 75, 999, 128, 128, 8, 2, 148, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_64x128, 75, 999, 64, 128, 8, 4, 143, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_64x64, 75, 999, 64, 64, 8, 8, 111, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_deep, 75, 999, 64, 64, 16, 5, 108, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F16, MODULE_any_f16, 75, 999, 64, 64, 16, 6, 100, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_BF16, MODULE_any_bf16, 75, 999, 64, 64, 16, 6, 100, false },
    { KERNEL_ROWS, "rows", ARGS_F32, MODULE_rows_f32, 75, 999, 8, 128, 1024, 4, 0, false },
    { KERNEL_ROWS, "rows", ARGS_F16, MODULE_rows_f16, 75, 999, 8, 256, 1024, 4, 0, false },
    { KERNEL_ROWS, "rows", ARGS_BF16, MODULE_rows_bf16, 75, 999, 8, 256, 1024, 4, 0, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 128, 256, 64, 1, 2048, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 192, 192, 64, 1, 2048, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 128, 192, 64, 1, 2048, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 128, 128, 64, 1, 2048, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 64, 128, 64, 1, 2048, false },
    { KERNEL_HOPPER, "20_any_shape", 0, MODULE_hopper_f16_nn, 90, 90, 64, 64, 64, 1, 2048, false },
    { KERNEL_LAST_STEP, "20_any_shape", ARGS_F16, MODULE_f16_any_shape, 90, 90, 128, 256, 64, 1, 2048, true },
};
const int n_kernels = sizeof kernels / sizeof *kernels;
