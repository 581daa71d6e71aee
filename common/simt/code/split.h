// The splits of a warp: lanes that stand at the same place, in a list by pc. The list is kept short by merging.
#pragma once

#include <string.h>

#include "warp.h"

static inline void split_remove(struct warp *w, uint32_t i)
{
    w->n_splits--;
    memmove(&w->splits[i], &w->splits[i + 1], (w->n_splits - i) * sizeof *w->splits);
}

// Puts a split in its place, merging it with one that stands at the same pc in the same state.
static inline void split_insert(struct warp *w, struct split s)
{
    uint32_t i = 0;
    while (i < w->n_splits && w->splits[i].pc < s.pc)
        i++;
    for (uint32_t j = i; j < w->n_splits && w->splits[j].pc == s.pc; j++) {
        if (w->splits[j].barrier == s.barrier) {
            w->splits[j].mask |= s.mask;
            return;
        }
    }
    memmove(&w->splits[i + 1], &w->splits[i], (w->n_splits - i) * sizeof *w->splits);
    w->splits[i] = s;
    w->n_splits++;
}

// Takes lanes out of split number i; true where none is left and the split is gone.
static inline bool split_take(struct warp *w, uint32_t i, uint32_t lanes)
{
    w->splits[i].mask &= ~lanes;
    if (w->splits[i].mask)
        return false;
    split_remove(w, i);
    return true;
}

// Lanes of w that wait at the pc of s in this way (WAITS_HERE, WAITS_WARP) join s. Returns them.
static inline uint32_t split_join(struct warp *w, struct split *s, uint32_t waits)
{
    for (uint32_t i = 0; i < w->n_splits; i++) {
        const uint32_t mask = w->splits[i].mask;
        if (w->splits[i].pc != s->pc || w->splits[i].barrier != waits)
            continue;
        s->mask |= mask;
        split_remove(w, i);
        return mask;
    }
    return 0;
}

// The runnable split to run next: the first from number from on, else the first of all. -1: none.
static inline int split_pick(const struct warp *w, uint32_t from)
{
    for (uint32_t k = 0; k < w->n_splits; k++) {
        uint32_t i = (from + k) % w->n_splits;
        if (!w->splits[i].barrier)
            return (int)i;
    }
    return -1;
}
