// See pick.h. Times and shares are of steps/results (H200); shapes between are not fitted one by one.
#include "pick.h"

#include <stdint.h>

// --- Halves ---
// Each step is faster than the ones before it wherever it runs, so the last one that the card can run is taken. There
// are two exceptions. TMA needs rows of whole 16 bytes, so 20 copies other matrices first; without a workspace it
// cannot. And if rows begin at odd places, 12 is faster than 13 (130 against 118 TFLOP/s at 4095): cp.async then
// copies 2 bytes at a time, which it cannot, and 13 goes through registers without 12's prefetch.

static enum kernel_id pick_f16(struct pick_card card, int n, int k, bool small)
{
    const bool wide = n % 8 == 0 && k % 8 == 0;
    if (card.sm == 90 && kernel_texts[KERNEL_f16_any_shape].ptx && (wide || !small))
        return KERNEL_f16_any_shape;
    if (card.sm >= 80)
        return wide ? KERNEL_f16_async : KERNEL_f16_swizzle;
    return KERNEL_f16_padding;
}

// --- Floats ---

struct pick pick_kernel(struct pick_card card, enum dev_type type, int m, int n, int k, size_t limit)
{
    const bool small = !limit || n > PICK_LONGEST || k > PICK_LONGEST;
    (void)m;
    if (type == DEV_F16)
        return (struct pick){ .kernel = pick_f16(card, n, k, small) };
    return (struct pick){ .kernel = KERNEL_f32_128x128, .way = { .copy = !small, .parts = 1 } };
}
