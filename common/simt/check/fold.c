#include "fold.h"

void fold_open(struct block_check *k, unsigned shift, uint32_t g, uint32_t end)
{
    const unsigned bits = FOLD_BITS - shift;
    for (uint32_t f = g >> bits; k->folds && f << bits < end; f++) {
        for (uint32_t i = f << bits; k->folded[f] && i < (f + 1) << bits; i++) {
            k->granules[i] = k->wholes[f];
            k->redundant_in[i] = k->whole_redundant_in[f];
        }
        k->folded[f] = 0;
    }
}

void fold_close(struct block_check *k, unsigned shift, uint32_t g, uint32_t end)
{
    const unsigned bits = FOLD_BITS - shift;
    const uint32_t first = (g + (1u << bits) - 1) >> bits, last = end >> bits;
    if (first >= last)
        return;
    for (uint32_t f = first; f < last; f++) {
        if (k->folded[f])
            continue;
        k->folded[f] = 1;
        k->wholes[f] = k->granules[f << bits];
        k->whole_redundant_in[f] = 0;
    }
    k->folds = true;
}
