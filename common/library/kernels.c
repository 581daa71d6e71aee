// See kernels.h. The build defines HAVE_HOPPER, 1 or 0.
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"

#define KERNEL(id, kind, file, step, ...) { KERNEL_##kind, file, step, kernel_##id, &kernel_##id##_bytes, __VA_ARGS__ },
#if !HAVE_HOPPER
#undef HOPPER
#define HOPPER(id, kind, file, step, ...) { KERNEL_##kind, file, step, NULL, NULL, __VA_ARGS__ },
#endif
const struct kernel kernels[KERNELS] = {
#include "kernels.def"
};

// --- Words ---
// The types of the operands of hopper.cu and mma.cu, and for hopper.cu the order in which they lie, are words of
// instructions: of wgmma (wgmma.cuh) and mma, and of conversions. One PTX has halves, neither of them transposed;
// the others are made of it here.

struct word {
    const char *from, *to;
};

// Copies the text, which ends in NUL, with other words. Returns where the copy ends.
static char *write_words(const char *from, const struct word *words, char *to)
{
    while (*from) {
        const struct word *w = words;
        while (w->from && strncmp(from, w->from, strlen(w->from)) != 0)
            w++;
        const size_t n = w->from ? strlen(w->to) : 1;
        memcpy(to, w->from ? w->to : from, n);
        to += n, from += w->from ? strlen(w->from) : 1;
    }
    *to = '\0';
    return to;
}

char *kernel_words(const struct kernel *k, int words, size_t *bytes)
{
    // Whether lines of the operands of wgmma lie along K: not is 1. As they are, with B turned, with A, with both.
    static const char *const orders[] = { ", 1, 1, 0, 1;", ", 1, 1, 0, 0;", ", 1, 1, 1, 1;", ", 1, 1, 1, 0;" },
                             *const across[] = { ", 1, 1, 1, 0;", ", 1, 1, 0, 0;", ", 1, 1, 1, 1;", ", 1, 1, 0, 1;" };
    const int turned = words & (WORDS_TURN_A | WORDS_TURN_B);
    const bool bf16 = words & WORDS_BF16;
    const struct word others[] = {
        { orders[0], orders[turned] },
        { across[0], across[turned] },
        { ", 0x00;", words & WORDS_TURN_A ? ", 0x01;" : ", 0x00;" },
        { ", 0x000;", words & WORDS_TURN_B ? ", 0x001;" : ", 0x000;" },
        { ".f32.f16.f16", bf16 ? ".f32.bf16.bf16" : ".f32.f16.f16" },
        { "cvt.rn.f16x2.f32", bf16 ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32" },
        { 0 },
    };
    char *copy = malloc(*k->bytes + *k->bytes / 4 + 1);  // no word is a quarter longer
    if (copy)
        *bytes = (size_t)(write_words(k->ptx, others, copy) - copy);
    return copy;
}
