// See kernels.h. The build defines HAVE_HOPPER, 1 or 0.
#include "kernels.h"

#define HERE(array, name, type) { name, type, kernel_##array, &kernel_##array##_bytes },
#if HAVE_HOPPER
#define HOPPER HERE
#else
#define HOPPER(array, name, type) { name, type, NULL, NULL },
#endif

const struct kernel_text kernel_texts[KERNELS] = { LIBRARY_KERNELS(HERE, HOPPER) };
