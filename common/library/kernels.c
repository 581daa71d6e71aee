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

#define TILE(_, m, n)                                                                                                  \
    { KERNEL_HOPPER,   "20_any_shape",   0,    MODULE_hopper_##m##x##n, 90, 90, m, n, 64, 1,                           \
      START_##m##X##n, HOPPER_##m##X##n, false },
const struct kernel kernels[] = {
    { KERNEL_STEP, "07_double_buffer", ARGS_F32, MODULE_f32_whole, 75, 999, 128, 128, 8, 2, F32_WHOLE_ALONE,
      F32_WHOLE_BUSY, true },
    { KERNEL_STEP, "13_async_copy", ARGS_F16, MODULE_f16_async, 80, 999, 128, 256, 32, 1, F16_ASYNC_ALONE,
      F16_ASYNC_BUSY, true },
    { KERNEL_STEP, "10_wmma_padding", ARGS_F16, MODULE_f16_padding, 75, 999, 128, 256, 32, 1, F16_PADDING_ALONE,
      F16_PADDING_BUSY, true },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_128x128, 80, 999, 128, 128, 8, 2, ANY_F32_128X128_ALONE,
      ANY_F32_128X128_BUSY, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_64x128, 80, 999, 64, 128, 8, 4, ANY_F32_64X128_ALONE,
      ANY_F32_64X128_BUSY, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_64x64, 80, 999, 64, 64, 16, 6, ANY_F32_64X64_ALONE,
      ANY_F32_64X64_BUSY, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_quick, 80, 999, 64, 64, 16, 3, ANY_F32_QUICK_ALONE,
      ANY_F32_QUICK_BUSY, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32_32x32, 80, 999, 32, 32, 32, 6, ANY_F32_32X32_ALONE,
      ANY_F32_32X32_BUSY, false },
    { KERNEL_ANY, "07_double_buffer", ARGS_F32, MODULE_any_f32, 75, 79, 64, 64, 16, 6, ANY_F32_ALONE, ANY_F32_BUSY,
      false },
    { KERNEL_ANY, "07_double_buffer", 0, MODULE_any_f16, 75, 999, 64, 64, 16, 6, ANY_F16_ALONE, ANY_F16_BUSY, false },
    { KERNEL_MMA, "13_async_copy", 0, MODULE_mma_f16, 80, 999, 64, 64, 32, 4, MMA_F16_ALONE, MMA_F16_BUSY, false },
    { KERNEL_MMA, "13_async_copy", 0, MODULE_mma_small_f16, 80, 999, 32, 32, 64, 4, MMA_SMALL_F16_ALONE,
      MMA_SMALL_F16_BUSY, false },
    { KERNEL_ROWS, "rows", ARGS_F32, MODULE_rows_f32, 75, 999, 8, 128, 1024, 4, NO_RULE, NO_RULE, false },
    { KERNEL_ROWS, "rows", 0, MODULE_rows_f16, 75, 999, 8, 256, 1024, 4, NO_RULE, NO_RULE, false },
    HOPPER_TILES(TILE, )
};
const int n_kernels = sizeof kernels / sizeof *kernels;
