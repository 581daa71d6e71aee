// What a checker keeps of a block, for blocks that take turns. See check.h.
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct check_pause {
    struct checker of_block;  // but for the fields that check_swap exchanges, nothing
};

struct check_pause *check_pause_new(const struct checker *c)
{
    struct check_pause *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->of_block.grid = c->grid;
    p->of_block.now = 1;
    if (!check_shared_new(&p->of_block)) {
        check_pause_free(p);
        return NULL;
    }
    return p;
}

void check_pause_free(struct check_pause *p)
{
    if (!p)
        return;
    free(p->of_block.granules);
    free(p->of_block.quiet);
    free(p);
}

#define SWAP(field)                                                                                                    \
    do {                                                                                                               \
        unsigned char kept_[sizeof c->field];                                                                          \
        memcpy(kept_, &c->field, sizeof kept_);                                                                        \
        memcpy(&c->field, &o->field, sizeof kept_);                                                                    \
        memcpy(&o->field, kept_, sizeof kept_);                                                                        \
    } while (0)

void check_swap(struct checker *c, struct check_pause *p)
{
    struct checker *o = &p->of_block;
    SWAP(start);
    SWAP(now);
    SWAP(all_seen);
    SWAP(seen);
    SWAP(synced);
    SWAP(barriers);
    SWAP(granules);
    SWAP(quiet);
    SWAP(barrier);
    SWAP(copies);
}
