// The L1 cache: lines of 128 bytes of which each sector of 32 bytes comes by itself, sixteen lines a set (L1_WAYS):
// what fits nearly all stays.
#include "sm.h"

#include <stdlib.h>

#define LINE 128

struct line {
    uint64_t tag;
    uint32_t used;
    uint8_t sectors;
};

struct l1 {
    struct line *lines;
    uint64_t sets;
    unsigned ways;
    uint32_t now;
};

struct l1 *l1_new(uint64_t bytes, unsigned ways)
{
    struct l1 *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->ways = ways;
    c->sets = bytes / LINE / ways ? bytes / LINE / ways : 1;
    c->lines = calloc(c->sets * ways, sizeof *c->lines);
    if (!c->lines) {
        free(c);
        return NULL;
    }
    return c;
}

void l1_free(struct l1 *c)
{
    if (c)
        free(c->lines);
    free(c);
}

bool l1_has(struct l1 *c, uint64_t address, bool keep)
{
    const uint64_t tag = address / LINE + 1;
    const uint8_t sector = (uint8_t)(1u << address / 32 % 4);
    // Rows of a matrix lie a power of two apart: upper bits choose the set, too.
    struct line *set = &c->lines[(tag ^ tag >> 7 ^ tag >> 13 ^ tag >> 19) % c->sets * c->ways], *oldest = set;
    c->now++;
    for (unsigned i = 0; i < c->ways; i++) {
        if (set[i].tag == tag) {
            const bool has = set[i].sectors & sector;
            set[i].used = c->now;
            set[i].sectors |= keep ? sector : 0;
            return has;
        }
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    if (keep)
        *oldest = (struct line){ tag, c->now, sector };
    return false;
}
