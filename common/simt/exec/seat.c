// See seat.h.
#include "seat.h"

#include <stdlib.h>
#include <string.h>

#include "bulk.h"
#include "simt/check/check.h"
#include "simt/code/cluster.h"
#include "warp_fn.h"

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

// The constants that name shared memory, for a block whose window begins at an address.
static void move_windows(const struct code *c, struct warp *w, uint32_t window)
{
    for (uint32_t i = 0; window && i < c->n_windows; i++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            unsigned char *slot = w->regs + c->windows[i].at;
            if (c->windows[i].wide)
                ((u64 *)slot)[lane] += window;
            else
                ((u32 *)slot)[lane] += window;
        }
}

static bool seat_new(struct seat *s, struct worker *w, uint32_t rank)
{
    const struct grid *g = w->grid;
    const struct code *c = g->code;
    const uint32_t n_warps = (g->threads + LANES - 1) / LANES;
    *s = (struct seat){ .block = { .worker = w, .n_warps = n_warps, .rank = rank, .window = rank << CLUSTER_SHIFT } };
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
        move_windows(c, warp, s->block.window);
    }
    return true;
}

static void seat_free(struct seat *s)
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

// --- the seats of a cluster ---

bool seats_new(struct seats *s, struct worker *w)
{
    const uint32_t n = w->grid->cluster_blocks;
    *s = (struct seats){ .cluster.n = n, .seat = calloc(n, sizeof *s->seat) };
    for (uint32_t rank = 0; s->seat && rank < n; rank++) {
        if (!seat_new(&s->seat[rank], w, rank))
            return false;
        s->cluster.blocks[rank] = &s->seat[rank].block;
        s->cluster.shared[rank] = s->seat[rank].shared;
    }
    return s->seat;
}

void seats_free(struct seats *s)
{
    for (uint32_t rank = 0; s->seat && rank < s->cluster.n; rank++) {
        struct worker *w = s->seat[rank].block.worker;
        if (!rank && w && w->check) {
            w->cluster = &s->cluster;
            check_cluster_drop(w);
        }
        seat_free(&s->seat[rank]);
    }
    free(s->seat);
    *s = (struct seats){ 0 };
}

void seats_enter(struct seats *s, uint32_t rank, struct worker *w)
{
    struct seat *seat = &s->seat[rank];
    w->block = seat->block;
    w->shared = seat->shared;
    w->local = seat->local;
    w->steps = seat->steps;
    w->cluster = &s->cluster;
    s->cluster.blocks[rank] = &w->block;
}

void seats_leave(struct seats *s, uint32_t rank, struct worker *w)
{
    struct seat *seat = &s->seat[rank];
    seat->block = w->block;
    seat->steps = w->steps;
    s->cluster.blocks[rank] = &seat->block;
}

void seat_place(struct worker *w, uint64_t number)
{
    const struct grid *g = w->grid;
    struct block *b = &w->block;
    const uint32_t *size = g->cluster, across = g->grid[0] / size[0], down = g->grid[1] / size[1];
    b->id[0] = (uint32_t)(number % across) * size[0] + b->rank % size[0];
    b->id[1] = (uint32_t)(number / across % down) * size[1] + b->rank / size[0] % size[1];
    b->id[2] = (uint32_t)(number / across / down) * size[2] + b->rank / size[0] / size[1];
    b->linear = b->id[0] + ((uint64_t)b->id[2] * g->grid[1] + b->id[1]) * g->grid[0];
}

uint64_t seat_bytes(const struct code *c, uint64_t threads, uint64_t shared)
{
    const uint64_t warps = (threads + LANES - 1) / LANES;
    const uint64_t copies = c->shadows_local ? 3 : 1;  // with its undefined bits and where they come from
    const uint64_t local = LANES * (copies * c->local_bytes + 16u);
    const uint64_t of_warp = c->file_bytes + c->n_polls * sizeof(struct poll) + local;
    return warps * of_warp + shared;
}

void seat_start(struct worker *worker)
{
    struct block *b = &worker->block;
    const struct grid *g = worker->grid;
    memset(b->barriers, 0, sizeof b->barriers);
    if (worker->check && bulk_under_way(b->bulks))  // of the block before this one: it was stopped
        check_bulk_stopped(b);
    bulk_reset(b->bulks);
    b->live = g->threads;
    b->news_at = worker->steps = 0;
    b->launch_over = false;
    if (worker->check)
        check_block_starts(b);
    // What nothing wrote, registers too, is the same odd bytes in every block, whichever thread runs it.
    memset(worker->shared, DEV_UNWRITTEN, g->shared_bytes);
    memset(worker->shared, 0, g->code->reserved_bytes);
    memset(worker->local, DEV_UNWRITTEN, (size_t)g->code->local_bytes * b->n_warps * LANES);
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        uint32_t left = g->threads - i * LANES;
        w->lanes = left >= LANES ? ALL_LANES : (1u << left) - 1;
        w->exited = w->apart = 0;
        w->n_splits = 1;
        w->splits[0] = (struct split){ 0, w->lanes, 0 };
        memset(w->regs, DEV_UNWRITTEN, g->code->const_at);
        copies_reset(w->copies);
        wgmmas_reset(w->wgmmas);
        memset(w->polls, 0, g->code->n_polls * sizeof *w->polls);
        w->polled = 0;
        w->polling = w->again = w->waits = false;
        w->max_regs = w->arrived = w->opened = 0;
        w->held = FAULT_NONE;
    }
}
