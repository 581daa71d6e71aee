// See kernels.h.
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"

#define KERNEL(id, kind, file, step, ...) { KERNEL_##kind, file, step, kernel_##id, __VA_ARGS__ },
const struct kernel kernels[KERNELS] = {
#include "kernels.def"
};

// --- Words ---
// The types of the operands of hopper.cu and mma.cu, the order in which they lie, and for mma.cu how many neighbours it
// can copy at once, are words of instructions: of wgmma (wgmma.cuh) and mma, of conversions and moves. One PTX has
// halves, neither of them transposed, eight copied at once; the others are made of it here.

char *kernel_words(const struct kernel *k, int words)
{
    // Whether lines of the operands of wgmma lie along K: not is 1. As they are, with B turned, with A, with both.
    static const char *const orders[] = { ", 1, 1, 0, 1;", ", 1, 1, 0, 0;", ", 1, 1, 1, 1;", ", 1, 1, 1, 0;" },
                             *const across[] = { ", 1, 1, 1, 0;", ", 1, 1, 0, 0;", ", 1, 1, 1, 1;", ", 1, 1, 0, 1;" };
    static const char *const wides[] = { ", 0x8;", ", 0x4;", ", 0x2;", ", 0x1;" };
    const int turned = words & (WORDS_TURN_A | WORDS_TURN_B);
    const bool bf16 = words & WORDS_BF16;
    const char *const others[][2] = {
        { orders[0], orders[turned] },
        { across[0], across[turned] },
        { ", 0x00;", words & WORDS_TURN_A ? ", 0x01;" : ", 0x00;" },
        { ", 0x000;", words & WORDS_TURN_B ? ", 0x001;" : ", 0x000;" },
        { ", 0x08;", wides[words / WORDS_NARROW_A % 4] },
        { ", 0x008;", wides[words / WORDS_NARROW_B % 4] },
        { ".f32.f16.f16", bf16 ? ".f32.bf16.bf16" : ".f32.f16.f16" },
        { "cvt.rn.f16x2.f32", bf16 ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32" },
        { 0 },
    };
    const size_t bytes = strlen(k->ptx);
    char *copy = malloc(bytes + bytes / 4 + 1), *to = copy;  // no word is a quarter longer
    for (const char *from = k->ptx; copy && *from;) {
        int i = 0;
        while (others[i][0] && strncmp(from, others[i][0], strlen(others[i][0])) != 0)
            i++;
        const size_t n = others[i][0] ? strlen(others[i][1]) : 1;
        memcpy(to, others[i][0] ? others[i][1] : from, n);
        to += n, from += others[i][0] ? strlen(others[i][0]) : 1;
    }
    if (copy)
        *to = '\0';
    return copy;
}
