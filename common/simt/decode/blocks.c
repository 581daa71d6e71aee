// See blocks.h.
#include "blocks.h"

void find_blocks(struct decoder *x, struct blocks *b)
{
    const struct code *c = x->code;
    bool *leads = decode_scratch(x, c->n_uops + 1);
    leads[0] = true;
    for (uint32_t i = 0; i < c->n_uops; i++) {
        if (c->uops[i].kind == UOP_BRANCH)
            leads[c->uops[i].target] = true;
        if (c->uops[i].kind == UOP_BRANCH || c->uops[i].kind == UOP_EXIT)
            leads[i + 1] = true;
    }
    b->starts = decode_scratch(x, (c->n_uops + 2) * sizeof *b->starts);
    b->of = decode_scratch(x, (c->n_uops + 1) * sizeof *b->of);
    for (uint32_t i = 0; i < c->n_uops; i++) {
        if (leads[i])
            b->starts[b->n++] = i;
        b->of[i] = b->n - 1;
    }
    b->starts[b->n] = c->n_uops;
    b->next = decode_scratch(x, (b->n + 1) * sizeof *b->next);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct uop *last = &c->uops[b->starts[i + 1] - 1];
        bool falls = last->guarded || (last->kind != UOP_BRANCH && last->kind != UOP_EXIT);
        b->next[i][0] = falls && i + 1 < b->n ? i + 1 : NO_BLOCK;
        b->next[i][1] = last->kind == UOP_BRANCH ? b->of[last->target] : NO_BLOCK;
    }
}
