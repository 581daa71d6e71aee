// See waits.h.
#include "waits.h"

#include "cluster_barrier.h"
#include "warp_fn.h"
#include "simt/code/mbarrier.h"

static bool held_by(struct block *b, enum fault_kind why, bool (*says)(const struct warp *w, struct fault *f),
                    struct fault *f)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        *f = (struct fault){ .kind = why, .inst = w->poll_inst, .warp = i, .block = b->linear };
        if (w->held == why && w->n_splits && says(w, f))
            return true;
    }
    *f = (struct fault){ 0 };
    return false;
}

// A warp without its registers keeps its warpgroup from its products.
bool waits_held(struct block *b, struct fault *f)
{
    return held_by(b, FAULT_REGISTERS_LACK, setmaxnreg_lacks, f) || held_by(b, FAULT_COMMITS_APART, wgmma_apart, f);
}

static void add(struct fault *f, const struct block *b, struct wait w)
{
    w.block = b->linear;
    if (f->n_waits < FAULT_WAITS)
        f->waits[f->n_waits++] = w;
}

static bool waits(const struct warp *w)
{
    return w->waits && w->n_splits;
}

// Those that wait for mbarriers.
static void add_mbarriers(struct fault *f, const struct block *b)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        struct wait x = { .what = WAIT_MBARRIER, .at = (uint32_t)w->wait_at, .phase = w->wait_parity };
        if (!waits(w) || done >> i & 1)
            continue;
        for (uint32_t k = i; k < b->n_warps; k++)
            if (waits(&b->warps[k]) && b->warps[k].wait_at == w->wait_at && b->warps[k].wait_parity == w->wait_parity)
                x.warps |= 1u << k;
        done |= x.warps;
        const struct mbarrier_state state = mbarrier_read(b->worker->cluster->shared[b->rank] + x.at);
        x.arrivals = state.pending;
        x.expected = state.expected;
        x.bytes = state.tx;
        add(f, b, x);
    }
}

// The warps that wait at a barrier, by its mark in a split.
static uint32_t waiting_at(const struct block *b, uint32_t barrier)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < b->n_warps; i++)
        for (uint32_t s = 0; s < b->warps[i].n_splits; s++)
            warps |= (uint32_t)(b->warps[i].splits[s].barrier == barrier) << i;
    return warps;
}

// Those that wait at barriers of the block.
static void add_barriers(struct fault *f, const struct block *b)
{
    for (uint32_t number = 0; number < BARRIERS; number++) {
        const uint32_t warps = waiting_at(b, number + 1), arrived = b->barriers[number].arrived;
        if (warps)
            add(f, b, (struct wait){ .what = WAIT_BARRIER, .warps = warps, .at = number, .arrivals = arrived });
    }
    const uint32_t warps = waiting_at(b, WAITS_WARP);
    if (warps)
        add(f, b, (struct wait){ .what = WAIT_LANES, .warps = warps });
}

void waits_of_block(const struct block *b, struct fault *f)
{
    add_mbarriers(f, b);
    if (f->n_waits)
        add_barriers(f, b);
}

void waits_of_cluster(const struct cluster *c, struct fault *f)
{
    struct wait barrier = { .what = WAIT_CLUSTER };
    cluster_barrier_count(c, &barrier.arrivals, &barrier.expected);
    for (uint32_t rank = 0; rank < c->n; rank++) {
        const struct block *b = c->blocks[rank];
        const uint32_t before = f->n_waits;
        barrier.warps = waiting_at(b, WAITS_CLUSTER);
        if (c->ended[rank]) {
            add(f, b, (struct wait){ .what = WAIT_ENDED });
            continue;
        }
        add_mbarriers(f, b);
        add_barriers(f, b);
        if (barrier.warps)
            add(f, b, barrier);
        if (f->n_waits == before)
            add(f, b, (struct wait){ .what = WAIT_VALUE });
    }
}
