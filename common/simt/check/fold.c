#include "fold.h"

#include <string.h>

bool fold_holds_all(const struct block_check *k, unsigned shift, uint32_t g, uint32_t end)
{
    const unsigned bits = FOLD_BITS - shift;
    for (uint32_t f = g >> bits; f < end >> bits; f++)
        if (!k->folded[f])
            return false;
    return true;
}

void fold_open(struct block_check *k, unsigned shift, uint32_t g, uint32_t end)
{
    const unsigned bits = FOLD_BITS - shift;
    for (uint32_t f = g >> bits; k->folds && f << bits < end; f++) {
        struct granule *x = &k->granules[f << bits];
        uint32_t *quiet = &k->quiet[f << bits];
        for (uint32_t i = 1; k->folded[f] && i < 1u << bits; i++) {
            x[i] = x[0];
            quiet[i] = quiet[0];
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
    memset(&k->folded[first], 1, last - first);
    k->folds = true;
}
