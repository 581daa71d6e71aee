// Runs a block: warps in turn, each until it waits, ends or faults. Compiled for each instruction set (isa.h).
//
// Divergence: a warp's lanes are split by where they stand, ordered by pc, and the lowest pc runs first. Compilers lay
// code out so that the place where branches meet has a higher pc than both sides, so lanes that lag behind catch up
// and merge there; no analysis of the control flow is needed. A split that spins (a lane waiting for another lane of
// its own warp) hands over after SPIN branches, since threads make progress independently.
#include <string.h>

#include "check.h"
#include "isa.h"
#include "trace.h"
#include "warp.h"

#define SPIN 4096       // taken branches of a diverged split before the others get a turn
#define TURN (1 << 18)  // uops of a warp before the other warps get a turn: one may wait for another without a barrier

enum status { RUNNABLE, WAITING, ENDED, FAULTED };

static void sreg(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct block *b = w->block;
    const struct grid *g = b->worker->grid;
    u32 *d = (u32 *)(w->regs + u->d);
    u64 *d64 = (u64 *)(w->regs + u->d);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t t = w->index * LANES + lane;
        uint64_t value = 0;
        if (!(active >> lane & 1))
            continue;
        switch ((enum sreg)u->target) {
#define SREG(id, name, bits, effect)                                                                                   \
    case SREG_##id:                                                                                                    \
        value = effect;                                                                                                \
        break;
#include "sreg.def"
        case SREGS:
            break;
        }
        if (u->saves == SLOT_64)
            d64[lane] = value;
        else
            d[lane] = (uint32_t)value;
    }
}

static void param(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct memop *m = u->mem;
    const unsigned char *p = w->block->worker->grid->params + m->offset;
    for (uint32_t e = 0; e < m->n; e++, p += m->bytes) {
        uint64_t v = 0;
        memcpy(&v, p, m->bytes);
        if (m->extend == EXTEND_SIGN && m->bytes < 8 && v >> (8 * m->bytes - 1))
            v |= ~0ull << 8 * m->bytes;
        for (uint32_t i = 0; i < LANES; i++) {
            if (!(active >> i & 1))
                continue;
            if (m->reg_class[e] == SLOT_64)
                ((u64 *)(w->regs + m->reg[e]))[i] = v;
            else if (m->reg_class[e] == SLOT_32)
                ((u32 *)(w->regs + m->reg[e]))[i] = (uint32_t)v;
        }
    }
}

// An ALU uop for some lanes: computes all, then puts the others back.
static void masked(unsigned char *regs, const struct uop *u, uint32_t active)
{
    u64 kept[LANES];
    unsigned char *d = regs + u->d;
    if (u->saves == SLOT_PRED) {
        uint32_t old = *(u32 *)d;
        u->fn(regs, u);
        *(u32 *)d = (old & ~active) | (*(u32 *)d & active);
    } else if (u->saves == SLOT_64) {
        memcpy(kept, d, sizeof kept);
        u->fn(regs, u);
        for (int i = 0; i < LANES; i++)
            ((u64 *)d)[i] = active >> i & 1 ? ((u64 *)d)[i] : kept[i];
    } else {
        u32 *old = (u32 *)kept;
        memcpy(old, d, LANES * sizeof *old);
        u->fn(regs, u);
        for (int i = 0; i < LANES; i++)
            ((u32 *)d)[i] = active >> i & 1 ? ((u32 *)d)[i] : old[i];
    }
}

// --- splits: w->splits[0] runs; they are ordered by pc ---

static void remove_split(struct warp *w, uint32_t i)
{
    w->n_splits--;
    memmove(&w->splits[i], &w->splits[i + 1], (w->n_splits - i) * sizeof *w->splits);
}

// Puts a split in its place, merging it with one that stands at the same pc in the same state.
static void insert_split(struct warp *w, struct split s)
{
    uint32_t i = 0;
    while (i < w->n_splits && w->splits[i].pc < s.pc)
        i++;
    for (uint32_t j = i; j < w->n_splits && w->splits[j].pc == s.pc; j++) {
        if (w->splits[j].barrier == s.barrier) {
            w->splits[j].mask |= s.mask;
            return;
        }
    }
    memmove(&w->splits[i + 1], &w->splits[i], (w->n_splits - i) * sizeof *w->splits);
    w->splits[i] = s;
    w->n_splits++;
}

// The runnable split to run next: the first from number from on, else the first of all. -1: none.
static int pick_split(const struct warp *w, uint32_t from)
{
    for (uint32_t k = 0; k < w->n_splits; k++) {
        uint32_t i = (from + k) % w->n_splits;
        if (!w->splits[i].barrier)
            return (int)i;
    }
    return -1;
}

// --- barriers. Source: PTX ISA 9.7.13 bar, barrier; since sm_70 each thread arrives for itself ---

// A check: do all threads that wait at barrier number, which is about to open, stand at the same one of the kernel?
static void compare_places(struct block *b, uint32_t number)
{
    const struct uop *uops = b->worker->grid->code->uops;
    const struct warp *first = NULL;
    uint32_t at = 0, lane = 0;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        for (uint32_t j = 0; j < w->n_splits; j++) {
            const struct split *s = &w->splits[j];
            if (s->barrier != number + 1)
                continue;
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
}

static void release(struct block *b, uint32_t number)
{
    if (b->worker->check) {
        const struct barrier *bar = &b->barriers[number];
        const bool everyone = !bar->passed && (!bar->expected || bar->expected >= b->worker->grid->threads);
        if (everyone)
            compare_places(b, number);
        check_opens(b, number, everyone);
    }
    b->barriers[number] = (struct barrier){ 0 };
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        struct split waiting[LANES];
        uint32_t n = 0;
        for (uint32_t j = 0; j < w->n_splits;) {
            if (w->splits[j].barrier == number + 1) {
                waiting[n++] = w->splits[j];
                remove_split(w, j);
            } else {
                j++;
            }
        }
        for (uint32_t j = 0; j < n; j++)
            insert_split(w, (struct split){ waiting[j].pc, waiting[j].mask, 0 });
    }
}

static bool complete(const struct block *b, const struct barrier *bar)
{
    return bar->arrived && bar->arrived >= (bar->expected ? bar->expected : b->live);
}

static bool fail(struct warp *w, const struct uop *u, enum fault_kind kind, uint32_t active)
{
    struct block *b = w->block;
    b->worker->fault = (struct fault){ .kind = kind,
                                       .inst = u->inst,
                                       .warp = w->index,
                                       .block = b->linear,
                                       .lane = (uint32_t)__builtin_ctz(active ? active : 1) };
    return false;
}

// The active lanes arrive. False on a fault; *wait says whether they have to wait.
static bool arrive(struct warp *w, const struct uop *u, uint32_t active, bool *wait)
{
    struct block *b = w->block;
    uint32_t lane = (uint32_t)__builtin_ctz(active);
    uint32_t number = ((const u32 *)(w->regs + u->a))[lane], count = ((const u32 *)(w->regs + u->b))[lane];
    if (number >= BARRIERS || count % LANES)
        return fail(w, u, FAULT_BARRIER, active);
    struct barrier *bar = &b->barriers[number];
    // With a count, whole warps arrive: lanes that have ended, or do not exist, count as arrived.
    bar->arrived += count && !(w->lanes & ~w->exited & ~active) ? LANES : (uint32_t)__builtin_popcount(active);
    bar->expected = count;
    if (b->worker->check)
        check_arrives(w, number);
    *wait = u->target == 0;
    bar->passed |= !*wait;
    if (!*wait && complete(b, bar))
        release(b, number);
    return true;
}

// --- instructions of the whole warp ---

// The lanes that must stand at u before it runs. False on a fault.
static bool needed(struct warp *w, const struct uop *u, uint32_t active, uint32_t *lanes)
{
    const struct warpop *op = u->warp;
    const uint32_t alive = w->lanes & ~w->exited;
    *lanes = ALL_LANES;
    if (op->gather != GATHER_ALL) {
        *lanes = ((const u32 *)(w->regs + op->in[op->n_in - 1]))[__builtin_ctz(active)];
        if (active & ~*lanes) {
            fail(w, u, FAULT_NOT_MEMBER, active & ~*lanes);
            w->block->worker->fault.lanes = *lanes;
            return false;
        }
        *lanes &= alive;
    } else if (alive != ALL_LANES) {
        fail(w, u, FAULT_MISSING, active);
        w->block->worker->fault.lanes = ~alive;
        return false;
    }
    return true;
}

// Lets splits go on that wait for lanes of their own warp and now have them. False if there is none.
static bool wake(struct warp *w)
{
    const struct uop *uops = w->block->worker->grid->code->uops;
    uint32_t synced = 0;  // lanes that stand at a bar.warp.sync
    for (uint32_t i = 0; i < w->n_splits; i++)
        if (w->splits[i].barrier == WAITS_HERE && uops[w->splits[i].pc].warp->gather == GATHER_SYNC)
            synced |= w->splits[i].mask;
    for (uint32_t i = 0; i < w->n_splits; i++) {
        struct split *s = &w->splits[i];
        uint32_t lanes;
        if (s->barrier != WAITS_HERE || !needed(w, &uops[s->pc], s->mask, &lanes))
            continue;
        bool sync = uops[s->pc].warp->gather == GATHER_SYNC;
        if (lanes & ~(sync ? synced : s->mask))
            continue;
        if (!sync) {
            s->barrier = 0;
            return true;
        }
        for (uint32_t j = 0; j < w->n_splits;) {
            struct split t = w->splits[j];
            if (t.barrier != WAITS_HERE || uops[t.pc].warp->gather != GATHER_SYNC || !(t.mask & lanes)) {
                j++;
                continue;
            }
            remove_split(w, j);
            if (w->block->worker->check)
                check_warp_syncs(w, t.mask);
            w->block->worker->uop_counts[t.pc].warps++;
            w->block->worker->uop_counts[t.pc].idle += (uint32_t)(LANES - __builtin_popcount(t.mask));
            insert_split(w, (struct split){ t.pc + 1, t.mask, 0 });
            j = 0;
        }
        return true;
    }
    return false;
}

// --- running ---

enum outcome { NEXT, JUMPED, LEFT, TURN_OVER, FAULT };  // LEFT: no lane of the split is left to run

// One uop, by the lanes of s that its guard lets through; s->pc is its index, or afterwards where a branch went.
static enum outcome step(struct warp *w, struct split *s, const struct uop *u, uint64_t turn_ends)
{
    struct block *b = w->block;
    struct worker *worker = b->worker;
    unsigned char *regs = w->regs;
    uint32_t active = s->mask;
    if (u->guarded) {
        uint32_t p = *(const u32 *)(regs + u->guard);
        active &= u->guarded == 1 ? p : ~p;
    }
    worker->uop_counts[s->pc].warps++;
    worker->uop_counts[s->pc].idle += (uint32_t)(LANES - __builtin_popcount(active));
    worker->steps++;
    if (!active)
        return NEXT;
    bool wait = false;
    switch ((enum uop_kind)u->kind) {
    case UOP_ALU:
        if (active == ALL_LANES)
            u->fn(regs, u);
        else
            masked(regs, u, active);
        return NEXT;
    case UOP_SREG:
        sreg(w, u, active);
        return NEXT;
    case UOP_PARAM:
        param(w, u, active);
        return NEXT;
    case UOP_LOAD:
        if (worker->grid->trace)
            trace_step(w, u, active);
        return ISA(exec_load)(w, u, active) ? NEXT : FAULT;
    case UOP_STORE:
        if (worker->grid->trace)
            trace_step(w, u, active);
        return ISA(exec_store)(w, u, active) ? NEXT : FAULT;
    case UOP_BRANCH:
        if (worker->steps > worker->grid->budget) {
            fail(w, u, FAULT_BUDGET, active);
            return FAULT;
        }
        if (active != s->mask) {
            worker->uop_counts[s->pc].split++;
            insert_split(w, (struct split){ s->pc + 1, s->mask & ~active, 0 });
        }
        *s = (struct split){ u->target, active, 0 };
        return worker->steps > turn_ends ? TURN_OVER : JUMPED;
    case UOP_BARRIER:
        if (!arrive(w, u, active, &wait))
            return FAULT;
        if (!wait)
            return NEXT;
        insert_split(w, (struct split){ s->pc + 1, active, ((const u32 *)(regs + u->a))[__builtin_ctz(active)] + 1 });
        s->mask &= ~active;
        return s->mask ? NEXT : LEFT;
    case UOP_WARP:
        if (u->warp->gather != GATHER_NONE) {
            uint32_t lanes;
            if (!needed(w, u, active, &lanes))
                return FAULT;
            if (lanes & ~active) {  // counted when it runs
                worker->uop_counts[s->pc].warps--;
                worker->uop_counts[s->pc].idle -= (uint32_t)(LANES - __builtin_popcount(active));
                insert_split(w, (struct split){ s->pc, active, WAITS_HERE });
                s->mask &= ~active;
                return s->mask ? NEXT : LEFT;
            }
        }
        if (worker->check && u->warp->gather == GATHER_SYNC)
            check_warp_syncs(w, active);
        if (worker->grid->trace)
            trace_step(w, u, active);
        return u->warp->fn(w, u, active) ? NEXT : FAULT;
    case UOP_EXIT:
        w->exited |= active;
        b->live -= (uint32_t)__builtin_popcount(active);
        s->mask &= ~active;
        return s->mask ? NEXT : LEFT;
    case UOP_TRAP:
        fail(w, u, FAULT_TRAP, active);
        return FAULT;
    case UOP_KINDS:
        break;
    }
    return NEXT;
}

// Runs split s, which has been taken off the warp's list, until it has to make room: it has ended or waits (LEFT), its
// warp's turn or its own is over (TURN_OVER, JUMPED), or it stands where another split may join it or go first (NEXT).
// But for LEFT and FAULT it goes on at s->pc.
static enum outcome run_split(struct warp *w, struct split *s, uint64_t turn_ends)
{
    struct worker *worker = w->block->worker;
    const struct uop *uops = worker->grid->code->uops;
    bool alone = w->n_splits == 0;
    for (;;) {
        const struct uop *u = &uops[s->pc];
        if (s->mask == ALL_LANES && u->run) {  // no guard, no branch: nothing but arithmetic up to the line's end
            const struct uop *end = u + u->run;
            worker->runs[s->pc]++;
            worker->steps += u->run;
            s->pc += u->run;
            for (; u < end; u++)
                u->fn(w->regs, u);
            continue;
        }
        enum outcome outcome = step(w, s, u, turn_ends);
        s->pc += outcome == NEXT;
        if (outcome != NEXT && outcome != JUMPED)
            return outcome;
        if (w->n_splits && (alone || outcome == JUMPED || s->pc >= w->splits[0].pc))
            return outcome;
    }
}

// pick_split, after lanes that wait for each other have been let go where none can run.
static int next_split(struct warp *w, uint32_t from)
{
    int i = pick_split(w, from);
    while (i < 0 && w->n_splits && wake(w))
        i = pick_split(w, from);
    return i;
}

static enum status run_warp(struct warp *w)
{
    const uint64_t turn_ends = w->block->worker->steps + TURN;
    uint32_t jumps = 0;
    for (int i = next_split(w, 0); i >= 0;) {
        struct split s = w->splits[i];
        remove_split(w, (uint32_t)i);
        enum outcome outcome = run_split(w, &s, turn_ends);
        if (outcome == FAULT)
            return FAULTED;
        if (outcome != LEFT)
            insert_split(w, s);
        if (outcome == TURN_OVER)
            return RUNNABLE;
        jumps += outcome == JUMPED;
        bool hand_over = jumps > SPIN;
        jumps = hand_over ? 0 : jumps;
        i = next_split(w, hand_over ? 1 : 0);
    }
    if (w->block->worker->fault.kind != FAULT_NONE)
        return FAULTED;
    return w->n_splits ? WAITING : ENDED;
}

static void start_block(struct worker *worker)
{
    struct block *b = &worker->block;
    const struct grid *g = worker->grid;
    memset(b->barriers, 0, sizeof b->barriers);
    b->live = g->threads;
    worker->steps = 0;
    if (worker->check)
        check_block_starts(worker);
    // What nothing wrote, registers too, is the same odd bytes in every block, whichever thread runs it.
    memset(worker->shared, 0xcb, g->shared_bytes);
    memset(worker->local, 0xcb, (size_t)g->code->local_bytes * b->n_warps * LANES);
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        uint32_t left = g->threads - i * LANES;
        w->lanes = left >= LANES ? ALL_LANES : (1u << left) - 1;
        w->exited = 0;
        w->n_splits = 1;
        w->splits[0] = (struct split){ 0, w->lanes, 0 };
        memset(w->regs, 0xcb, g->code->const_at);
        copies_reset(w->copies);
    }
}

static void run_block(struct worker *worker)
{
    struct block *b = &worker->block;
    start_block(worker);
    for (;;) {
        bool waiting = false, running = false;
        for (uint32_t i = 0; i < b->n_warps; i++) {
            enum status status = run_warp(&b->warps[i]);
            if (status == FAULTED)
                return;
            waiting |= status == WAITING;
            running |= status == RUNNABLE;
        }
        if (!running && !waiting)
            return;
        // Open what is complete, also while a warp still runs: it may wait in a loop for one that stands here.
        bool opened = false;
        for (uint32_t i = 0; i < BARRIERS; i++) {
            if (complete(b, &b->barriers[i])) {
                release(b, i);
                opened = true;
            }
        }
        if (opened || running)
            continue;
        bool released = false;  // by bar.arrive, after the warp had its turn
        for (uint32_t i = 0; i < b->n_warps; i++)
            released |= pick_split(&b->warps[i], 0) >= 0;
        if (released)
            continue;
        for (uint32_t i = 0; i < b->n_warps; i++) {  // every warp waits or has ended: for ever
            struct warp *w = &b->warps[i];
            if (!w->n_splits)
                continue;
            const struct split *s = &w->splits[0];
            if (s->barrier == WAITS_HERE) {
                const struct uop *u = &worker->grid->code->uops[s->pc];
                uint32_t lanes;
                if (needed(w, u, s->mask, &lanes)) {
                    fail(w, u, FAULT_MISSING, s->mask);
                    worker->fault.lanes = lanes & ~s->mask;
                }
                return;
            }
            fail(w, &worker->grid->code->uops[w->splits[0].pc - 1], FAULT_DEADLOCK, w->splits[0].mask);
            worker->fault.exited = worker->grid->threads - b->live;
            worker->fault.waiting = b->barriers[w->splits[0].barrier - 1].arrived;
            return;
        }
    }
}

const struct exec ISA(exec) = {
    .isa = ISA_TEXT,
    .alu = ISA(alu_table),
    .warp = ISA(warp_table),
    .run_block = run_block,
};
