// Source: PTX ISA 9.7.13 bar, barrier; since sm_70 each thread arrives for itself.
#include "barrier.h"

#include "cluster_barrier.h"
#include "simt/check/check.h"
#include "simt/code/split.h"
#include "warp_fn.h"

// --- what the checks look at when a barrier opens ---

// The next split of a warp from split *j of warp *i on that waits at barrier number; NULL: there are no more.
static const struct split *next_waiting(const struct block *b, uint32_t number, uint32_t *i, uint32_t *j)
{
    for (; *i < b->n_warps; (*i)++, *j = 0)
        while (*j < b->warps[*i].n_splits) {
            const struct split *s = &b->warps[*i].splits[(*j)++];
            if (s->barrier == number + 1)
                return s;
        }
    return NULL;
}

// Do all threads that wait at barrier number, which is about to open, stand at the same one of the kernel? PTX does not
// ask for that, only that a warp's lanes do (.aligned). CUDA C++ does of __syncthreads(), which is barrier 0 without a
// count: code that names its barriers may come to one from several lines.
static void compare_places(struct block *b, uint32_t number)
{
    const struct uop *uops = b->worker->grid->code->uops;
    const struct warp *first = NULL;
    uint32_t at = 0, lane = 0, i = 0, j = 0;
    for (const struct split *s; (s = next_waiting(b, number, &i, &j));) {
        const struct warp *w = &b->warps[i];
        if (!first) {
            first = w;
            at = s->pc;
            lane = (uint32_t)__builtin_ctz(s->mask);
        } else if (s->pc != at) {
            struct fault f = check_site(w, uops[s->pc - 1].inst, (uint32_t)__builtin_ctz(s->mask), FAULT_SPLIT);
            f.other_inst = uops[at - 1].inst;
            f.other_thread = first->index * LANES + lane;
            f.other_block = b->linear;
            check_note(b->worker->check, &f);
            return;
        }
    }
}

// A barrier for every thread opens without those that have ended.
static void report_left(struct block *b, uint32_t number)
{
    uint32_t i = 0, j = 0;
    const struct split *s = next_waiting(b, number, &i, &j);
    if (!s)
        return;
    const struct uop *u = &b->worker->grid->code->uops[s->pc - 1];
    struct fault f = check_site(&b->warps[i], u->inst, (uint32_t)__builtin_ctz(s->mask), FAULT_BARRIER_LEFT);
    f.other_inst = b->left_inst;
    f.other_thread = b->left_thread;
    f.other_block = b->linear;
    f.left = b->worker->grid->threads - b->live;
    check_note(b->worker->check, &f);
}

static void check_release(struct block *b, uint32_t number)
{
    const struct barrier *bar = &b->barriers[number];
    const bool everyone = !bar->passed && (!bar->expected || bar->expected >= b->worker->grid->threads);
    if (everyone && !number && !bar->expected)
        compare_places(b, number);
    if (everyone && b->live < b->worker->grid->threads)
        report_left(b, number);
    check_opens(b, number, everyone);
}

// --- opening ---

// bar.red: what the lanes of s are given, which wait behind it.
static void give_result(struct warp *w, const struct split *s, const struct barrier *bar)
{
    const struct uop *u = &w->block->worker->grid->code->uops[s->pc - 1];
    u32 *d = (u32 *)(w->regs + u->d);
    const bool all = bar->yes == bar->voters, value = u->target == BARRIER_AND ? all : bar->yes != 0;
    if (u->target < BARRIER_POPC)
        return;
    if (u->target != BARRIER_POPC) {
        *d = (*d & ~s->mask) | (value ? s->mask : 0);
        return;
    }
    for (uint32_t left = s->mask; left; left &= left - 1)
        d[__builtin_ctz(left)] = bar->yes;
}

static void release(struct block *b, uint32_t number)
{
    if (b->worker->check)
        check_release(b, number);
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        struct split waiting[LANES];
        uint32_t n = 0;
        for (uint32_t j = 0; j < w->n_splits;) {
            if (w->splits[j].barrier == number + 1) {
                waiting[n++] = w->splits[j];
                split_remove(w, j);
            } else {
                j++;
            }
        }
        for (uint32_t j = 0; j < n; j++) {
            give_result(w, &waiting[j], &b->barriers[number]);
            split_insert(w, (struct split){ waiting[j].pc, waiting[j].mask, 0 });
        }
    }
    b->barriers[number] = (struct barrier){ 0 };
}

static bool complete(const struct block *b, const struct barrier *bar)
{
    return bar->arrived && bar->arrived >= (bar->expected ? bar->expected : b->live);
}

bool barrier_open(struct block *b)
{
    bool opened = cluster_barrier_open(b->worker);
    for (uint32_t i = 0; i < BARRIERS; i++) {
        if (complete(b, &b->barriers[i])) {
            release(b, i);
            opened = true;
        }
    }
    return opened;
}

// --- arriving ---

// The lanes of w that wait at barrier number.
static uint32_t waiting_lanes(const struct warp *w, uint32_t number)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->n_splits; i++)
        lanes |= w->splits[i].barrier == number + 1 ? w->splits[i].mask : 0;
    return lanes;
}

// Threads that meet at a barrier give it the same count. Otherwise it depends on who comes last when it opens.
static void compare_counts(struct warp *w, const struct uop *u, uint32_t lane, uint32_t number, uint32_t count)
{
    const struct block *b = w->block;
    const struct barrier *bar = &b->barriers[number];
    const uint32_t all = b->worker->grid->threads;
    const uint32_t mine = count ? count : all, others = bar->expected ? bar->expected : all;
    uint32_t i = 0, j = 0;
    const struct split *s = bar->arrived && mine != others ? next_waiting(b, number, &i, &j) : NULL;
    if (!s)
        return;
    struct fault f = check_site(w, u->inst, lane, FAULT_BARRIER_COUNT);
    f.other_inst = b->worker->grid->code->uops[s->pc - 1].inst;
    f.other_thread = (uint32_t)__builtin_ctz(s->mask) + i * LANES;
    f.other_block = b->linear;
    f.seen = mine;
    f.expected = others;
    check_note(b->worker->check, &f);
}

// Lanes that name the same barrier and count arrive. False on a fault.
static bool arrive(struct warp *w, const struct uop *u, struct split *s, uint32_t lanes)
{
    struct block *b = w->block;
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes), alive = w->lanes & ~w->exited;
    const uint32_t number = ((const u32 *)(w->regs + u->a))[lane], count = ((const u32 *)(w->regs + u->b))[lane];
    if (number >= BARRIERS || count % LANES)
        return warp_fault(w, u, FAULT_BARRIER_NUMBER, lanes, 0);
    struct barrier *bar = &b->barriers[number];
    if (b->worker->check)
        compare_counts(w, u, lane, number, count);
    bar->arrived += (uint32_t)__builtin_popcount(lanes);
    // A count is one of whole warps: lanes that have ended, or do not exist, arrive with the last of their warp.
    if (count && !(alive & ~(lanes | waiting_lanes(w, number))))
        bar->arrived += (uint32_t)(LANES - __builtin_popcount(alive));
    bar->expected = count;
    if (b->worker->check)
        check_arrives(w, number);
    if (u->target >= BARRIER_POPC) {
        bar->voters += (uint32_t)__builtin_popcount(lanes);
        bar->yes += (uint32_t)__builtin_popcount(lanes & *(const u32 *)(w->regs + u->c));
    }
    if (u->target == BARRIER_ARRIVE) {
        bar->passed = true;
        if (complete(b, bar))
            release(b, number);
        return true;
    }
    split_insert(w, (struct split){ s->pc + 1, lanes, number + 1 });
    s->mask &= ~lanes;
    // With a count it opens at once: whoever comes later waits for the next time, also if that is one too many.
    if (count && complete(b, bar))
        release(b, number);
    return true;
}

bool barrier_arrive(struct warp *w, const struct uop *u, struct split *s, uint32_t active)
{
    const u32 *number = (const u32 *)(w->regs + u->a), *count = (const u32 *)(w->regs + u->b);
    if (u->target >= BARRIER_CLUSTER_ARRIVE)
        return cluster_barrier(w, u, s, active);
    while (active) {
        const uint32_t first = (uint32_t)__builtin_ctz(active);
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < LANES; i++)
            lanes |= (uint32_t)(number[i] == number[first] && count[i] == count[first]) << i;
        lanes &= active;
        active &= ~lanes;
        if (!arrive(w, u, s, lanes))
            return false;
    }
    return true;
}

// --- all lanes of a warp come together ---

static uint32_t alive_lanes(const struct warp *w)
{
    return w->lanes & ~w->exited;
}

bool barrier_gathers(struct warp *w, const struct uop *u, struct split *s, uint32_t *active)
{
    const uint32_t alive = alive_lanes(w);
    if (!u->op || *active == alive)
        return true;
    *active |= split_join(w, s, WAITS_WARP);
    const bool apart = !(*active & ~w->apart);
    if (*active == alive || apart) {
        w->apart &= ~*active;
        return true;
    }
    split_insert(w, (struct split){ s->pc, *active, WAITS_WARP });
    s->mask &= ~*active;
    return false;
}

// Split number i, which waits for lanes of its warp, runs again.
static void wake(struct warp *w, uint32_t i)
{
    const struct split s = w->splits[i];
    split_remove(w, i);
    split_insert(w, (struct split){ s.pc, s.mask, 0 });
}

bool barrier_wake(struct warp *w)
{
    for (uint32_t i = 0; i < w->n_splits; i++) {
        if (w->splits[i].barrier != WAITS_WARP || w->splits[i].mask != alive_lanes(w))
            continue;
        wake(w, i);
        return true;
    }
    return false;
}

// The PTX instruction at which a split waits.
static uint32_t waits_at(const struct block *b, const struct split *s)
{
    const bool behind = s->barrier && s->barrier != WAITS_WARP && s->barrier != WAITS_HERE;
    return b->worker->grid->code->uops[s->pc - behind].inst;
}

// A warp's lanes wait at different places, split number i in front of an aligned barrier.
static void report_apart(struct block *b, const struct warp *w, uint32_t i)
{
    const struct split *s = &w->splits[i], *other = &w->splits[i ? 0 : 1];
    struct fault f = check_site(w, waits_at(b, s), (uint32_t)__builtin_ctz(s->mask), FAULT_SPLIT);
    f.lanes = s->mask;
    f.other_inst = waits_at(b, other);
    f.other_thread = w->index * LANES + (uint32_t)__builtin_ctz(other->mask);
    f.other_block = b->linear;
    check_note(b->worker->check, &f);
}

void barrier_elsewhere(const struct block *b, uint32_t barrier, struct fault *f)
{
    for (uint32_t i = 0; i < b->n_warps && !f->lanes; i++)
        for (uint32_t j = 0; j < b->warps[i].n_splits && !f->lanes; j++) {
            const struct split *s = &b->warps[i].splits[j];
            if (s->barrier == barrier)
                continue;
            f->lanes = s->mask;
            f->other_inst = waits_at(b, s);
            f->other_thread = i * LANES + (uint32_t)__builtin_ctz(s->mask);
            f->other_block = b->linear;
        }
}

bool barrier_parts(struct block *b)
{
    bool some = false;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        uint32_t last = w->n_splits;
        for (uint32_t j = 0; j < w->n_splits; j++)
            last = w->splits[j].barrier == WAITS_WARP ? j : last;
        if (last == w->n_splits)
            continue;
        if (b->worker->check && w->n_splits > 1)
            report_apart(b, w, last);
        some = true;
        for (uint32_t j = 0; j < w->n_splits;) {
            if (w->splits[j].barrier != WAITS_WARP) {
                j++;
                continue;
            }
            w->apart |= w->splits[j].mask;
            wake(w, j);
            j = 0;
        }
    }
    return some;
}
