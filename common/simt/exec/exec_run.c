// Runs a block: warps in turn, each until it waits, ends or faults. Compiled for each instruction set (isa.h).
//
// Divergence: a warp's lanes are split by where they stand, ordered by pc, and the lowest pc runs first. Compilers lay
// code out so that the place where branches meet has a higher pc than both sides, so lanes that lag behind catch up
// and merge there; no analysis of the control flow is needed. A split that spins (a lane waiting for another lane of
// its own warp) hands over after SPIN branches, since threads make progress independently. Where it can be seen to wait
// (warp_poll.c) it hands over sooner: to other lanes of its warp, then other warps, then other blocks.
// At an aligned barrier the lanes of a warp come together (barrier.c), and it counts once.
#include <string.h>

#include "barrier.h"
#include "bulk.h"
#include "cluster_barrier.h"
#include "cluster_run.h"
#include "simt/check/check.h"
#include "gather.h"
#include "seat.h"
#include "waits.h"
#include "isa.h"
#include "simt/code/split.h"
#include "simt/code/warp_op.h"
#include "simt/code/watching.h"
#include "simt/record/trace.h"
#include "warp_fn.h"

#define SPIN 4096       // taken branches of a diverged split before the others get a turn
#define TURN (1 << 18)  // uops of a warp before the other warps get a turn: one may wait for another without a barrier
#define BLOCK_TURN (1u << 22)  // uops of a block before it is left, where blocks take turns

static const warp_fn warp_table[WARP_OPS] = {
#define WARP(id) [WARP_##id] = warp_##id,
#define WARP_ISA(id) [WARP_##id] = ISA(warp_##id),
#include "simt/code/warp_op.def"
};

enum status { RUNNABLE, WAITING, POLLING, ENDED, FAULTED };

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
#include "simt/code/sreg.def"
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
        ISA(alu_table)[u->op](regs, u, 1);
        *(u32 *)d = (old & ~active) | (*(u32 *)d & active);
    } else if (u->saves == SLOT_64) {
        memcpy(kept, d, sizeof kept);
        ISA(alu_table)[u->op](regs, u, 1);
        for (int i = 0; i < LANES; i++)
            ((u64 *)d)[i] = active >> i & 1 ? ((u64 *)d)[i] : kept[i];
    } else {
        u32 *old = (u32 *)kept;
        memcpy(old, d, LANES * sizeof *old);
        ISA(alu_table)[u->op](regs, u, 1);
        for (int i = 0; i < LANES; i++)
            ((u32 *)d)[i] = active >> i & 1 ? ((u32 *)d)[i] : old[i];
    }
}

// --- running ---

// AGAIN: POLLED, at the same place; LEFT: no lane of the split is left to run
enum outcome { NEXT, JUMPED, POLLED, AGAIN, LEFT, TURN_OVER, FAULT };

// A uop was counted for the lanes that came to it; those of active run it, which may be none, or more than came.
static void recount(struct uop_count *count, uint32_t came, uint32_t active)
{
    count->idle -= (uint32_t)(LANES - __builtin_popcount(came));
    if (active)
        count->idle += (uint32_t)(LANES - __builtin_popcount(active));
    else
        count->warps--;
}

static void tell_observers(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct grid *g = w->block->worker->grid;
    if (g->trace)
        trace_step(w, u, active);
    struct watching *watching = g->watching ? watching_of(w) : NULL;
    if (!watching)
        return;
    watching->u = u;
    watching->lanes = active;
    watching->before(watching, w);
}

// The active lanes are about to execute u.
static inline void observe(struct warp *w, const struct uop *u, uint32_t active)
{
    if (w->block->worker->grid->observed)
        tell_observers(w, u, active);
}

// w came to u. Where that was the last uop of an instruction, and some lanes executed it, who watches is told; false,
// with a fault in the worker, if he has seen enough.
static bool goes_on(struct warp *w, const struct split *s, const struct uop *u, enum outcome outcome)
{
    struct worker *worker = w->block->worker;
    struct watching *watching = worker->grid->watching ? watching_of(w) : NULL;
    const bool executed = watching && watching->u == u && outcome != AGAIN;
    if (!executed || (outcome == NEXT && u[1].inst == u->inst && u->kind != UOP_EXIT && u[1].kind != UOP_EXIT))
        return true;
    watching->split = s;
    const bool on = watching->after(watching, w);
    watching->u = NULL;
    if (!on)
        worker->fault = (struct fault){ .kind = FAULT_STOPPED, .block = w->block->linear };
    return on;
}

// The lanes of s that u's guard lets through.
static uint32_t guarded_lanes(const struct warp *w, const struct split *s, const struct uop *u)
{
    if (!u->guarded)
        return s->mask;
    const uint32_t p = *(const u32 *)(w->regs + u->guard);
    return s->mask & (u->guarded == 1 ? p : ~p);
}

// The active lanes jump; the others of s become a split of their own.
static enum outcome branch(struct warp *w, struct split *s, const struct uop *u, uint32_t active, uint64_t turn_ends)
{
    struct worker *worker = w->block->worker;
    if (worker->steps > worker->grid->budget) {
        warp_fault(w, u, FAULT_ENDLESS_LOOP, active, 0);
        return FAULT;
    }
    if (active != s->mask) {
        worker->uop_counts[s->pc].split++;
        split_insert(w, (struct split){ s->pc + 1, s->mask & ~active, 0 });
    }
    *s = (struct split){ u->target, active, 0 };
    return worker->steps > turn_ends ? TURN_OVER : JUMPED;
}

// An instruction of the whole warp: it may wait for lanes that have not come yet, or for a value.
static enum outcome whole_warp(struct warp *w, struct split *s, const struct uop *u, uint32_t active)
{
    struct worker *worker = w->block->worker;
    if (u->warp->gather != GATHER_NONE) {
        const uint32_t came = active;
        if (!gather_lanes(w, u, s, &active))
            return FAULT;
        if (active != came)
            recount(&worker->uop_counts[s->pc], came, active);
        if (!active)
            return s->mask ? NEXT : LEFT;
    }
    observe(w, u, active);
    if (!gather_run(w, u, warp_table[u->warp->kind], active))
        return FAULT;
    if (w->again) {
        w->again = false;
        recount(&worker->uop_counts[s->pc], active, 0);
        return AGAIN;
    }
    if (w->polling) {
        w->polling = false;
        return POLLED;
    }
    const struct warpop *op = u->warp;
    if (!worker->grid->eager || op->kind != WARP_mbarrier || op->op != MBARRIER_ARRIVE || op->shape)
        return NEXT;
    s->pc++;
    return TURN_OVER;  // it may have let somebody copy to where this warp has read; .expect_tx begins copies
}

// The active lanes come to a barrier; to an aligned one all of the warp come together.
static enum outcome at_barrier(struct warp *w, struct split *s, const struct uop *u, uint32_t active)
{
    struct worker *worker = w->block->worker;
    const uint32_t came = active;
    const bool ready = barrier_gathers(w, u, s, &active);
    if (!ready || active != came)
        recount(&worker->uop_counts[s->pc], came, ready ? active : 0);
    if (ready)
        observe(w, u, active);
    if (ready && !barrier_arrive(w, u, s, active))
        return FAULT;
    return s->mask ? NEXT : LEFT;
}

// The active lanes end.
static enum outcome leave(struct warp *w, struct split *s, const struct uop *u, uint32_t active)
{
    struct block *b = w->block;
    if (b->live == b->worker->grid->threads) {
        b->left_thread = w->index * LANES + (uint32_t)__builtin_ctz(active);
        b->left_inst = u->inst;
    }
    w->exited |= active;
    b->live -= (uint32_t)__builtin_popcount(active);
    s->mask &= ~active;
    return s->mask ? NEXT : LEFT;
}

// One uop, by the lanes of s that its guard lets through; s->pc is its index, or afterwards where a branch went.
static enum outcome step(struct warp *w, struct split *s, const struct uop *u, uint64_t turn_ends)
{
    struct worker *worker = w->block->worker;
    const uint32_t active = guarded_lanes(w, s, u);
    worker->uop_counts[s->pc].warps++;
    worker->uop_counts[s->pc].idle += (uint32_t)(LANES - __builtin_popcount(active));
    worker->steps++;
    if (!active)
        return NEXT;
    if (u->flight && worker->check)
        wgmma_touched(w, u, active);
    if (u->kind != UOP_WARP && u->kind != UOP_BARRIER)
        observe(w, u, active);
    switch ((enum uop_kind)u->kind) {
    case UOP_ALU:
        if (active == ALL_LANES)
            ISA(alu_table)[u->op](w->regs, u, 1);
        else
            masked(w->regs, u, active);
        return NEXT;
    case UOP_SREG:
        sreg(w, u, active);
        return NEXT;
    case UOP_PARAM:
        param(w, u, active);
        return NEXT;
    case UOP_LOAD:
        return ISA(exec_load)(w, u, active) ? NEXT : FAULT;
    case UOP_STORE:
        return ISA(exec_store)(w, u, active) ? NEXT : FAULT;
    case UOP_BRANCH:
        return branch(w, s, u, active, turn_ends);
    case UOP_BARRIER:
        return at_barrier(w, s, u, active);
    case UOP_WARP:
        return whole_warp(w, s, u, active);
    case UOP_EXIT:
        return leave(w, s, u, active);
    case UOP_TRAP:
        warp_fault(w, u, FAULT_TRAP, active, 0);
        return FAULT;
    case UOP_KINDS:
        break;
    }
    return NEXT;
}

// A line that began at pc ends with a fault at u: only what was run of it is counted.
static void leave_line(struct worker *worker, uint32_t pc, const struct uop *u)
{
    const struct uop *first = &worker->grid->code->uops[pc];
    const uint32_t ran = (uint32_t)(u - first) + 1;
    worker->runs[pc]--;
    worker->steps -= first->run - ran;
    for (uint32_t i = 0; i < ran; i++)
        worker->uop_counts[pc + i].warps++;
}

// A straight line of uops, by the whole warp: no guard, no branch, and no debugger watches. False on a fault.
static inline bool run_line(struct warp *w, const struct uop *u, uint32_t pc)
{
    struct worker *worker = w->block->worker;
    const struct uop *end = u + u->run;
    worker->runs[pc]++;
    worker->steps += u->run;
    while (u < end) {
        if (u->kind == UOP_ALU) {
            ISA(alu_table)[u->op](w->regs, u, u->same);
            u += u->same;
        } else if ((u->kind == UOP_LOAD ? ISA(exec_load) : ISA(exec_store))(w, u, ALL_LANES)) {
            u++;
        } else {
            leave_line(worker, pc, u);
            return false;
        }
    }
    return true;
}

// Runs split s, which has been taken off the warp's list, until it has to make room: it has ended or waits (LEFT), its
// warp's turn or its own is over (TURN_OVER, JUMPED), it waits for a value (POLLED), or it stands where another split
// may join it or go first (NEXT). But for LEFT and FAULT it goes on at s->pc.
static enum outcome run_split(struct warp *w, struct split *s, uint64_t turn_ends)
{
    struct worker *worker = w->block->worker;
    const struct uop *uops = worker->grid->code->uops;
    const bool observed = worker->grid->observed;
    bool alone = w->n_splits == 0;
    for (;;) {
        const struct uop *u = &uops[s->pc];
        const bool whole = s->mask == ALL_LANES && !observed;
        if (whole && u->run) {
            if (!run_line(w, u, s->pc))
                return FAULT;
            s->pc += u->run;
            continue;
        }
        enum outcome outcome = step(w, s, u, turn_ends);
        s->pc += outcome == NEXT || outcome == POLLED;
        if (observed && outcome != FAULT && !goes_on(w, s, u, outcome))
            return FAULT;
        if (outcome != NEXT && outcome != JUMPED)
            return outcome;
        if (w->n_splits && (alone || outcome == JUMPED || s->pc >= w->splits[0].pc))
            return outcome;
    }
}

// split_pick, after lanes that wait for each other have been let go where none can run.
static int next_split(struct warp *w, uint32_t from)
{
    int i = split_pick(w, from);
    while (i < 0 && w->n_splits && (gather_wake(w) || barrier_wake(w)))
        i = split_pick(w, from);
    return i;
}

// The split to run next after one that stands at pc and lets the others go first.
static int next_after(struct warp *w, uint32_t pc)
{
    uint32_t i = 0;
    while (gather_wake(w))
        ;
    while (i < w->n_splits && w->splits[i].pc <= pc)
        i++;
    return split_pick(w, i);
}

static uint32_t runnable_splits(const struct warp *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_splits; i++)
        n += !w->splits[i].barrier;
    return n;
}

static enum status run_warp(struct warp *w)
{
    const struct worker *worker = w->block->worker;
    const uint64_t turn_ends = worker->steps + TURN;
    uint32_t jumps = 0, polled = 0;
    for (int i = next_split(w, 0); i >= 0;) {
        struct split s = w->splits[i];
        split_remove(w, (uint32_t)i);
        enum outcome outcome = run_split(w, &s, turn_ends);
        if (outcome == FAULT)
            return FAULTED;
        if (outcome != LEFT)
            split_insert(w, s);
        if (outcome == TURN_OVER)
            return RUNNABLE;
        polled = outcome == POLLED || outcome == AGAIN ? polled + 1 : 0;
        jumps += outcome == JUMPED;
        const bool hand_over = polled || jumps > SPIN;
        jumps = hand_over ? 0 : jumps;
        i = hand_over ? next_after(w, s.pc) : next_split(w, 0);
        if (worker->fault.kind != FAULT_NONE)
            return FAULTED;
        if (polled && polled >= runnable_splits(w))
            return POLLING;
    }
    if (worker->fault.kind != FAULT_NONE)
        return FAULTED;
    return w->n_splits ? WAITING : ENDED;
}

// Every warp waits or has ended, for ever: the fault of the first that waits.
static void report_stuck(struct block *b)
{
    struct worker *worker = b->worker;
    uint32_t i = 0;
    while (!b->warps[i].n_splits)
        i++;
    struct warp *w = &b->warps[i];
    const struct split *s = &w->splits[0];
    if (cluster_barrier_holds(b)) {
        cluster_stuck(worker);
        return;
    }
    if (s->barrier == WAITS_HERE) {
        gather_stuck(w, &worker->grid->code->uops[s->pc], s->mask);
        return;
    }
    warp_fault(w, &worker->grid->code->uops[s->pc - 1], FAULT_BARRIER_STUCK, s->mask, 0);
    worker->fault.left = worker->grid->threads - b->live;
    worker->fault.seen = b->barriers[s->barrier - 1].arrived;
    barrier_elsewhere(b, s->barrier, &worker->fault);
}

// Every warp that can run waits for a value. The fault of the first, where that can never end.
static void report_wait(struct block *b)
{
    uint32_t i = 0;
    if (waits_held(b, &b->worker->fault))
        return;
    while (split_pick(&b->warps[i], 0) < 0)
        i++;
    const struct warp *w = &b->warps[i];
    b->worker->fault = (struct fault){ .kind = FAULT_ENDLESS_WAIT,
                                       .inst = w->poll_inst,
                                       .warp = w->index,
                                       .lane = w->poll_lane,
                                       .block = b->linear,
                                       .seen = 1 };
    waits_of_block(b, &b->worker->fault);
}

// Steps in which nothing happens before a wait counts as endless. Where all that can run wait for mbarriers, a thread
// that counts its tries does not wait for long: a try takes its time on a card.
#define PATIENCE (1 << 14)
static uint64_t patience(const struct block *b)
{
    const struct code *c = b->worker->grid->code;
    bool mbarriers = !c->reads_clock;
    for (uint32_t i = 0; i < b->n_warps; i++)
        mbarriers &= split_pick(&b->warps[i], 0) < 0 || b->warps[i].waits || b->warps[i].held;
    return mbarriers ? PATIENCE : wait_max(c);
}

struct round {  // every warp had its turn
    bool running, waiting, polling, news, faulted;
    uint32_t waited;  // the warps that wait
};

// In an eager launch the last warp goes first: whoever copies for the others.
static struct round run_round(struct block *b)
{
    struct round r = { 0 };
    const bool eager = b->worker->grid->eager;
    for (uint32_t done = 0; done < b->n_warps && !r.faulted; done++) {
        const uint32_t i = eager ? b->n_warps - 1 - done : done;
        struct warp *w = &b->warps[i];
        w->news = false;
        const uint64_t before = b->worker->steps;
        const enum status status = run_warp(w);
        r.faulted = status == FAULTED;
        r.running |= status == RUNNABLE;
        r.waiting |= status == WAITING;
        r.polling |= status == POLLING;
        r.news |= w->news || (status != POLLING && b->worker->steps != before);
        r.waited |= (uint32_t)(status == WAITING) << i;
    }
    return r;
}

static bool can_run(const struct block *b, uint32_t warps)
{
    bool can = false;
    for (uint32_t i = 0; i < b->n_warps; i++)
        can |= warps >> i & 1 && split_pick(&b->warps[i], 0) >= 0;
    return can;
}

static void run_rounds(struct worker *worker)
{
    struct block *b = &worker->block;
    const uint64_t turn_began = worker->resumes ? worker->steps : 0;
    worker->left = worker->news = false;
    if (!worker->resumes)
        seat_start(worker);
    for (;;) {
        const struct round r = run_round(b);
        if (!r.faulted && !r.running && !r.waiting && !r.polling) {
            bulk_finish(b);
            wgmma_finish(b);
            setmaxnreg_finish(b);
        }
        if (r.faulted || (!r.running && !r.waiting && !r.polling))
            return;
        // Open what is complete, also while a warp still runs: it may wait in a loop for one that stands here. Others
        // may have been released by bar.arrive, after they had their turn.
        bool on = barrier_open(b) || r.running || can_run(b, r.waited);
        const bool stuck = !on && !r.polling && !(worker->shares && cluster_barrier_holds(b));
        on |= stuck && barrier_parts(b);
        if (stuck && !on) {
            report_stuck(b);
            return;
        }
        worker->news |= on || r.news;
        b->news_at = on || r.news ? worker->steps : b->news_at;
        if (!on && !worker->shares && worker->steps - b->news_at > patience(b)) {
            report_wait(b);
            return;
        }
        worker->left = worker->shares && (!on || worker->steps - turn_began > BLOCK_TURN);
        if (worker->left)
            return;
    }
}

static void run_block(struct worker *worker)
{
    struct watching *watching = worker->grid->watching;
    const enum fault_kind *fault = &worker->fault.kind;
    run_rounds(worker);
    if (watching && watching->block == worker->block.linear && *fault != FAULT_NONE && *fault != FAULT_STOPPED)
        watching->error(watching, &worker->block);
}

const struct exec ISA(exec) = {
    .isa = ISA_TEXT,
    .alu = ISA(alu_table),
    .wgmma = ISA(exec_wgmma),
    .run_block = run_block,
};
