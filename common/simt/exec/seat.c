// See seat.h.
#include "seat.h"

#include <stdlib.h>
#include <string.h>

#include "bulk.h"
#include "simt/check/check.h"
#include "simt/code/warp.h"

void *seat_memory(size_t count, size_t size)
{
    void *p = NULL;
    if (!posix_memalign(&p, 128, count * size + 128))
        memset(p, 0, count * size);
    return p;
}

static void *take(struct seat *s, unsigned slot, size_t count, size_t size)
{
    return s->memory[slot] = seat_memory(count, size);
}

bool seat_new(struct seat *s, struct worker *w)
{
    const struct grid *g = w->grid;
    const struct code *c = g->code;
    const uint32_t n_warps = (g->threads + LANES - 1) / LANES;
    *s = (struct seat){ .block = { .worker = w, .n_warps = n_warps } };
    unsigned char *regs = take(s, 0, n_warps, c->file_bytes);
    s->shared = take(s, 1, 1, g->shared_bytes + 16);
    s->local = take(s, 2, (size_t)n_warps * LANES, c->local_bytes + 16);
    s->block.warps = take(s, 3, n_warps, sizeof *s->block.warps);
    struct poll *polls = take(s, 4, (size_t)n_warps * c->n_polls, sizeof *polls);
    if (!regs || !s->shared || !s->local || !s->block.warps || !polls)
        return false;
    if (w->check && !(s->block.check = check_block_new(w->check)))
        return false;
    for (uint32_t i = 0; i < n_warps; i++) {
        struct warp *warp = &s->block.warps[i];
        warp->regs = regs + (size_t)i * c->file_bytes;
        warp->polls = polls + (size_t)i * c->n_polls;
        warp->block = &w->block;
        warp->index = i;
        memcpy(warp->regs + c->const_at, c->consts, c->file_bytes - c->const_at);
    }
    return true;
}

void seat_free(struct seat *s)
{
    for (uint32_t i = 0; s->block.warps && i < s->block.n_warps; i++) {
        copies_free(s->block.warps[i].copies);
        wgmmas_free(s->block.warps[i].wgmmas);
    }
    bulk_free(s->block.bulks);
    if (s->block.check)
        check_block_free(s->block.worker->check, s->block.check);
    for (size_t i = 0; i < sizeof s->memory / sizeof *s->memory; i++)
        free(s->memory[i]);
    *s = (struct seat){ 0 };
}

void seat_enter(struct seat *s, struct worker *w)
{
    w->block = s->block;
    w->shared = s->shared;
    w->local = s->local;
    w->steps = s->steps;
}

void seat_leave(struct seat *s, struct worker *w)
{
    s->block = w->block;
    s->steps = w->steps;
}

void seat_place(struct worker *w, uint64_t linear)
{
    const uint32_t *size = w->grid->grid;
    w->block.linear = linear;
    w->block.id[0] = (uint32_t)(linear % size[0]);
    w->block.id[1] = (uint32_t)(linear / size[0] % size[1]);
    w->block.id[2] = (uint32_t)(linear / size[0] / size[1]);
}

uint64_t seat_bytes(const struct code *c, uint64_t threads, uint64_t shared)
{
    const uint64_t warps = (threads + LANES - 1) / LANES;
    const uint64_t copies = c->shadows_local ? 3 : 1;  // with its undefined bits and where they come from
    const uint64_t local = LANES * (copies * c->local_bytes + 16u);
    const uint64_t of_warp = c->file_bytes + c->n_polls * sizeof(struct poll) + local;
    return warps * of_warp + shared;
}
