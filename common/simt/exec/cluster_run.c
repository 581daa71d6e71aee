// See cluster_run.h.
#include "cluster_run.h"

#include "barrier.h"
#include "cluster_barrier.h"
#include "simt/check/check.h"
#include "simt/code/split.h"
#include "waits.h"

void cluster_begin(struct seats *s, struct worker *w, uint64_t number)
{
    s->cluster.came = s->stopped = s->hurt = false;
    s->idle = 0;
    w->cluster = &s->cluster;
    if (w->check)
        check_cluster_drop(w);
    for (uint32_t rank = 0; rank < s->cluster.n; rank++)
        s->cluster.ended[rank] = false;
    for (uint32_t rank = 0; rank < s->cluster.n; rank++) {
        seats_enter(s, rank, w);
        seat_place(w, number);
        seat_start(w);
        seats_leave(s, rank, w);
    }
}

bool cluster_survives(struct worker *w)
{
    const enum fault_kind kind = w->fault.kind;
    if (kind == FAULT_NONE || kind == FAULT_STOPPED)
        return kind == FAULT_NONE;
    if (w->check)
        check_fault(w);
    return w->check && kind != FAULT_ENDLESS_LOOP && kind != FAULT_ENDLESS_WAIT;
}

// --- waits that never end ---

// A warp of b that can do nothing but wait, and where; false if there is none. `at_cluster`: at the cluster's barrier;
// otherwise for something else.
static bool find_waiting(const struct block *b, bool at_cluster, struct fault *f)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        if (!w->n_splits || (w->splits[0].barrier == WAITS_CLUSTER) != at_cluster)
            continue;
        const struct split *first = &w->splits[0];
        const bool polls = split_pick(w, 0) >= 0;
        const bool here = first->barrier == WAITS_HERE || first->barrier == WAITS_WARP;
        f->warp = i;
        f->lane = polls ? w->poll_lane : (uint32_t)__builtin_ctz(first->mask);
        f->inst = polls ? w->poll_inst : b->worker->grid->code->uops[first->pc - !here].inst;
        return true;
    }
    return false;
}

void cluster_stuck(struct worker *w)
{
    const struct cluster *c = w->cluster;
    struct fault f = { .kind = FAULT_ENDLESS_WAIT, .seen = 1, .cluster = true };
    for (uint32_t rank = 0; rank < c->n; rank++)
        if (!c->ended[rank] && waits_held(c->blocks[rank], &w->fault))
            return;
    bool found = false;  // who waits at the cluster's barrier waits for the others: those are named first
    for (uint32_t i = 0; i < 2 * c->n && !found; i++) {
        const uint32_t rank = i % c->n;
        f.block = c->blocks[rank]->linear;
        found = !c->ended[rank] && find_waiting(c->blocks[rank], i >= c->n, &f);
    }
    waits_of_cluster(c, &f);
    w->fault = f;
}

// Do the blocks wait for nothing that another cluster could change?
static bool waits_inside(const struct cluster *c)
{
    for (uint32_t rank = 0; rank < c->n; rank++) {
        const struct block *b = c->blocks[rank];
        for (uint32_t i = 0; !c->ended[rank] && i < b->n_warps; i++)
            if (split_pick(&b->warps[i], 0) >= 0 && !b->warps[i].waits && !b->warps[i].held)
                return false;
    }
    return true;
}

// Nothing happened in a turn of moved steps. Will it ever? Alone, a block is not judged here: run_block does it.
#define PATIENCE (1 << 14)
static bool dead(const struct seats *s, const struct worker *w, uint64_t moved)
{
    const struct code *code = w->grid->code;
    if (s->cluster.n == 1 || !moved)
        return s->cluster.n > 1;
    if (waits_inside(&s->cluster) && !code->reads_clock)
        return s->idle > PATIENCE;
    return !w->grid->turns && s->idle > wait_max(code);
}

// Where all lanes wait, some of them may do so in front of an aligned barrier. False if there are none.
static bool comes_apart(const struct seats *s)
{
    bool parts = false, runs = false;
    for (uint32_t rank = 0; rank < s->cluster.n; rank++)
        for (uint32_t i = 0; !s->cluster.ended[rank] && i < s->cluster.blocks[rank]->n_warps; i++)
            runs |= split_pick(&s->cluster.blocks[rank]->warps[i], 0) >= 0;
    for (uint32_t rank = 0; rank < s->cluster.n && !runs; rank++)
        parts |= !s->cluster.ended[rank] && barrier_parts(s->cluster.blocks[rank]);
    return parts;
}

// --- turns ---

// True where the block is left, and has not ended.
static bool run_one(struct seats *s, uint32_t rank, struct worker *w, uint64_t *moved)
{
    seats_enter(s, rank, w);
    const uint64_t before = w->steps;
    w->resumes = true;
    w->grid->exec->run_block(w);
    *moved += w->steps - before;
    const bool left = w->left && w->fault.kind == FAULT_NONE;
    s->hurt |= w->fault.kind != FAULT_NONE;
    s->stopped |= !cluster_survives(w);
    s->cluster.ended[rank] = !left;
    if (!left && w->check && s->cluster.n > 1)
        check_block_ends(w);
    seats_leave(s, rank, w);
    return left;
}

bool cluster_turn(struct seats *s, struct worker *w)
{
    bool left = false, news = false;
    uint64_t moved = 0;
    w->shares = true;
    for (uint32_t rank = 0; rank < s->cluster.n && !s->stopped; rank++) {
        if (s->cluster.ended[rank])
            continue;
        const bool on = run_one(s, rank, w, &moved);
        left |= on;
        news |= w->news || !on;
    }
    s->moved = moved;
    s->idle = news ? 0 : s->idle + moved;
    w->news = news;
    if (s->stopped || !left || news || !dead(s, w, moved))
        return left && !s->stopped;
    if (comes_apart(s)) {
        s->idle = 0;
        return true;
    }
    if (!s->hurt) {  // else it waits for a block that made an error, which is known
        cluster_stuck(w);
        s->stopped = !cluster_survives(w);
    }
    return false;
}
