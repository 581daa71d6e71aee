// Figures that depend on the compiler: counted instructions, and what is left of a mistake in the machine's code. The
// course's are those of nvcc 13. KERNELS_BY is what compiled the kernels of this build: "nvcc 13.0", "clang 14.0.6".
#pragma once

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Skips the test where another compiler was used.
#define NEEDS_NVCC_13                                                                                                  \
    do                                                                                                                 \
        if (strncmp(KERNELS_BY, "nvcc 13.", 8))                                                                        \
            cr_skip_test("these figures are those of nvcc 13, and the kernels were compiled by " KERNELS_BY);          \
    while (0)

#define BY_NVCC (!strncmp(KERNELS_BY, "nvcc ", 5))

// Whether the steps for Hopper alone are built: steps/meson.build leaves them out otherwise.
#define HAS_HOPPER (BY_NVCC && atoi(&KERNELS_BY[5]) >= 12)

// Skips the rest of the test where nvcc was not used; why: what clang makes otherwise.
#define NEEDS_NVCC(why)                                                                                                \
    do                                                                                                                 \
        if (!BY_NVCC)                                                                                                  \
            cr_skip_test("the kernels were compiled by " KERNELS_BY ": " why);                                         \
    while (0)
