// Which thread of a block stored which element of C, and how often: a product is run and watched.
#pragma once

#include "probe.h"

enum { STORES_WARPS = 32 };

struct store {
    uint32_t times;          // that an element was stored
    uint32_t thread, other;  // that did first, and the first other one; itself: there is no other
    uint32_t number;         // of the instruction that did last
};

struct stores {
    int n;                         // columns of C
    size_t elements;               // of C
    struct store *all;             // of each
    uint32_t lanes[STORES_WARPS];  // by warp: those that stored something
    uint64_t times;                // in all
};

// Of a product of that size, by this block (its linear index). False: it cannot be told, as of stores by bulk copies.
// To be freed in any case.
bool stores_take(struct stores *s, struct probe *p, int m, int n, int k, uint64_t block);
void stores_free(struct stores *s);
uint32_t stores_threads(const struct stores *s);  // how many threads stored something
