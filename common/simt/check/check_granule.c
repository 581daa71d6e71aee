// The rules of shared memory: what one lane's access to one granule finds, and what is remembered of it. See check.h.
#include "check_granule.h"

#include <stdlib.h>
#include <string.h>

static uint32_t thread_of(const struct visit *v, uint32_t lane)
{
    return v->w->index * LANES + lane;
}

static bool is_ordinary(const struct visit *v, const struct who *who)
{
    return (who->flags & ~(WHO_ATOMIC | WHO_VOLATILE)) == v->mine;
}

// What happened to who at time at: is it ordered before the lane's access now?
bool check_granule_ordered(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane)
{
    struct asked *a = &v->asked[(who->thread ^ at) % ASKED];
    if (is_ordinary(v, who) && (at <= v->w->block->check->synced_block || !v->w->block->check->views_used))
        return check_ordered(v->w, lane, who->thread, at);
    if (a->at != at || a->thread != who->thread || a->flags != who->flags || a->lane != lane)
        *a = (struct asked){ who->thread, who->flags, at, lane, check_ordered_who(v->w, lane, who, at) };
    return a->ordered;
}

// Have barriers of the block, or of its warps, let all lanes know of an ordinary access by who?
static bool is_behind_barrier(const struct visit *v, const struct who *who, uint32_t at)
{
    const struct block_check *k = v->w->block->check;
    const uint32_t mine = v->w->index, other = who->thread / LANES;
    return is_ordinary(v, who) && (at <= k->synced_block || (other != mine && at <= k->synced_warps[mine][other]));
}

// Have all lanes synchronised since?
static bool have_synced(const struct visit *v, uint32_t at)
{
    bool synced = true;
    for (uint32_t i = 0; synced && i < LANES; i++)
        synced = at <= v->w->block->check->synced_lanes[v->w->index][i];
    return synced;
}

static bool is_own(const struct visit *v, const struct who *who)
{
    return is_ordinary(v, who) && who->thread / LANES == v->w->index;
}

bool check_granule_synced(const struct visit *v, const struct who *who, uint32_t at)
{
    return is_behind_barrier(v, who, at) || (is_own(v, who) && have_synced(v, at));
}

// Is the same ordered before the accesses of all lanes of the warp?
static bool do_agree(const struct visit *v)
{
    const struct view *views = v->k->views ? view_of(v->w, 0) : NULL;
    bool agree = true;
    for (uint32_t i = 1; views && agree && i < LANES && v->w->lanes >> i & 1; i++)
        for (int clock = 0; agree && clock <= VIEW_COMPLETED; clock++)
            agree = views[i].clocks[clock] == views->clocks[clock];
    return agree;
}

// If they do, one lane's answer is that of all. But what a lane of the warp itself did, the others may have
// synchronised with at different times.
static bool ask_for_all(const struct visit *v, const struct who *who, uint32_t at, bool reader)
{
    if (is_own(v, who))
        return have_synced(v, at);
    if (at >= READ_UNDER_WAY || !do_agree(v) ||
        (who->thread / LANES == v->w->index && !(who->flags & (WHO_LOAD | WHO_WGMMA))))
        return false;
    return (reader ? check_ordered_reader : check_ordered_who)(v->w, 0, who, at);
}

static bool ordered_or_completed(const struct visit *v, const struct who *who, uint32_t at, bool reader)
{
    const uint32_t all = LANES + reader, thread = is_own(v, who) ? v->first.thread : who->thread;
    struct asked *a = &v->asked[(thread ^ at) % ASKED];
    if (is_behind_barrier(v, who, at))
        return true;
    if (a->at != at || a->thread != thread || a->flags != who->flags || a->lane != all)
        *a = (struct asked){ thread, who->flags, at, all, ask_for_all(v, who, at, reader) };
    return a->ordered;
}

bool check_granule_ordered_all(const struct visit *v, const struct who *who, uint32_t at)
{
    return ordered_or_completed(v, who, at, false);
}

bool check_granule_completed(const struct visit *v, const struct who *who, uint32_t at)
{
    return ordered_or_completed(v, who, at, true);
}

static bool ordered_reader(const struct visit *v, const struct who *who, uint32_t at, uint32_t lane)
{
    return check_ordered_reader(v->w, lane, who, at);
}

static void note(const struct visit *v, enum fault_kind kind, uint32_t g, uint32_t lane, const struct who *who,
                 bool other_store)
{
    const struct code *code = v->c->grid->code;
    struct fault f = check_site(v->w, v->u->inst, lane, kind);
    f.store = check_writes(v->op);
    f.atomic = check_atomic(v->op);
    f.cp_async = v->op == CHECK_COPY;
    f.space = SPACE_SHARED;
    f.address = ((uint64_t)g << code->shared_shift) + v->home->window;
    f.bytes = 1u << code->shared_shift;
    check_other(&f, v->w->block, v->home, who, other_store);
    check_note(v->c, &f);
}

// Does the lane write what is there already, or what lane2 writes too? Then the order does not matter.
static bool same_value(const struct visit *v, uint32_t g, uint32_t lane, uint32_t lane2)
{
    const unsigned shift = v->c->grid->code->shared_shift;
    const uint64_t at = (uint64_t)g << shift, address = at + v->home->window;
    unsigned char a[16], b[16];
    if (!check_stored(v->w, v->u, lane, address, shift, a))
        return false;
    if (lane2 != NO_LANE)
        return check_stored(v->w, v->u, lane2, address, shift, b) && !memcmp(a, b, 1u << shift);
    return !memcmp(a, v->w->block->worker->cluster->shared[v->home->rank] + at, 1u << shift);
}

// May the access in hand race with a strong one by who? See check.h.
static bool rivals(const struct visit *v, const struct who *who)
{
    return !v->strong || (v->is_volatile && who->flags & WHO_VOLATILE && who->thread / LANES == v->w->index &&
                          who->flags >> WHO_RANK == v->w->block->rank);
}

// Has a strong read seen the last strong write, and is ordered before the access in hand? Then so is the write itself
// (check_global.c, observed).
static bool observed(const struct visit *v, const struct strong *s, uint32_t lane)
{
    const bool in_step = s->writer.flags & s->reader.flags & WHO_VOLATILE &&
                         s->writer.thread / LANES == s->reader.thread / LANES;  // see check.h
    return s->read_at > s->write_at && visit_within(v, s->read_at) && !in_step &&
           check_granule_ordered(v, &s->reader, s->read_at, lane);
}

// A race with a strong access of this block.
static void meet_strong(const struct visit *v, uint32_t g, uint32_t lane)
{
    const struct strong *s = &v->k->strong[g];
    const bool write = check_writes(v->op);
    if (rivals(v, &s->writer) && visit_within(v, s->write_at) &&
        !check_granule_ordered(v, &s->writer, s->write_at, lane) && !observed(v, s, lane) &&
        !(write && v->is_volatile && same_value(v, g, lane, NO_LANE)))
        note(v, FAULT_RACE, g, lane, &s->writer, true);
    else if (write && rivals(v, &s->reader) && visit_within(v, s->read_at) &&
             !check_granule_ordered(v, &s->reader, s->read_at, lane))
        note(v, FAULT_RACE, g, lane, &s->reader, false);
}

// Another strong write that nothing orders with the one in hand (check_global.c, unordered).
static void meet_unordered(const struct visit *v, uint32_t g, uint32_t lane)
{
    const struct strong *s = &v->k->strong[g];
    const bool atomic = check_atomic(v->op);
    const uint32_t at = atomic ? s->store_at : s->write_at;
    const struct who *who = atomic ? &s->storer : &s->writer;
    if (visit_within(v, at) && !v->polls && s->polled_at <= at && !rivals(v, who) &&
        !check_granule_ordered(v, who, at, lane) && !observed(v, s, lane) && !same_value(v, g, lane, NO_LANE))
        note(v, FAULT_STRONG_WRITES, g, lane, who, true);
}

static void note_strong(struct block_check *k, uint32_t g)
{
    k->strong_from = g < k->strong_from || !k->strong_to ? g : k->strong_from;
    k->strong_to = g + 1 > k->strong_to ? g + 1 : k->strong_to;
}

// Is what it loads looked at when it is used (shadow.h)?
static bool is_followed(const struct visit *v)
{
    return v->u->kind == UOP_LOAD && v->u->mem->ahead_of_use && v->home == v->w->block;
}

static void read_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    if (x->write_at == UNDER_WAY)
        note(v, FAULT_COPY_PENDING, g, lane, &x->writer, true);
    else if (!visit_within(v, x->write_at) && !(k->strong && visit_within(v, k->strong[g].write_at))) {
        if (!is_followed(v))
            note(v, FAULT_UNINIT_MEMORY, g, lane, NULL, false);
    } else if (visit_within(v, x->write_at) && !check_granule_ordered(v, &x->writer, x->write_at, lane))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    else if (k->strong)
        meet_strong(v, g, lane);
    if (v->strong) {
        note_strong(k, g);
        k->strong[g].reader = visit_who(v, lane);
        k->strong[g].read_at = v->c->now;
        k->strong[g].polled_at = v->polls ? v->c->now : k->strong[g].polled_at;
        return;
    }
    if (!visit_within(v, x->read_at) || check_granule_ordered(v, &x->reader, x->read_at, lane)) {
        x->reader = visit_who(v, lane);
        x->read_at = v->c->now;
        if (!visit_within(v, x->many_at) || check_granule_ordered(v, &x->other, x->many_at, lane))
            x->many_at = 0;
        return;
    }
    const uint32_t w = visit_warp(v->w->block->rank << WHO_RANK, v->w->index * LANES);
    const uint32_t first = visit_warp(x->reader.flags, x->reader.thread),
                   second = visit_warp(x->other.flags, x->other.thread);
    const bool live = x->many_at > k->synced_block && visit_within(v, x->many_at);
    if (live && (second != first || w == first))
        return;
    x->other = visit_who(v, lane);
    x->many_at = v->c->now;
    // Two warps have read it, and whoever wrote it did so before the last barrier of all: another read adds nothing.
    if (w != first && visit_within(v, x->write_at) && x->write_at <= k->synced_block && !k->strong && !v->shared)
        k->redundant_in[g] = k->barrier;
}

static void write_one(const struct visit *v, uint32_t g, uint32_t lane)
{
    struct block_check *k = v->k;
    struct granule *x = &k->granules[g];
    const uint32_t at = x->write_at;
    if (at == UNDER_WAY)
        note(v, FAULT_COPY_PENDING, g, lane, &x->writer, true);
    else if (visit_within(v, at) && !check_granule_ordered(v, &x->writer, at, lane) && !same_value(v, g, lane, NO_LANE))
        note(v, FAULT_RACE, g, lane, &x->writer, true);
    else if (k->strong)
        meet_strong(v, g, lane);
    if (check_reads(v->u, v->op) && !visit_within(v, at) && !visit_within(v, k->strong[g].write_at))
        note(v, FAULT_UNINIT_MEMORY, g, lane, NULL, false);
    if (visit_within(v, x->read_at) && !ordered_reader(v, &x->reader, x->read_at, lane))
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    else if (visit_within(v, x->many_at) && !ordered_reader(v, &x->other, x->many_at, lane))
        note(v, FAULT_RACE, g, lane, &x->other, false);
    if (x->read_at == READ_UNDER_WAY && x->reader.thread == thread_of(v, lane) &&
        x->reader.flags >> WHO_RANK == v->w->block->rank)
        note(v, FAULT_RACE, g, lane, &x->reader, false);
    x->read_at = x->many_at = k->redundant_in[g] = 0;
    k->redundant_version = ++v->c->intervals;
    if (v->strong) {
        meet_unordered(v, g, lane);
        note_strong(k, g);
        struct strong *s = &k->strong[g];
        s->writer = visit_who(v, lane);
        s->write_at = v->c->now;
        s->storer = check_atomic(v->op) ? s->storer : s->writer;
        s->store_at = check_atomic(v->op) ? s->store_at : s->write_at;
        return;
    }
    x->writer = visit_who(v, lane);
    x->write_at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    k->copies |= v->op == CHECK_COPY;
}

void check_granule(const struct visit *v, const struct touch *t, uint32_t g)
{
    if (v->k->granules[g].write_at == RED_ZONE) {
        note(v, FAULT_OUT_OF_BOUNDS, g, t->lane, NULL, false);
        return;
    }
    if (!check_writes(v->op)) {
        read_one(v, g, t->lane);
        if (t->lane2 != NO_LANE)
            read_one(v, g, t->lane2);
        return;
    }
    write_one(v, g, t->lane);
    if (t->lane2 != NO_LANE && !check_atomic(v->op) && !same_value(v, g, t->lane, t->lane2)) {
        struct who who = visit_who(v, t->lane);
        note(v, v->strong ? FAULT_STRONG_WRITES : FAULT_RACE, g, t->lane2, &who, true);
    }
}
