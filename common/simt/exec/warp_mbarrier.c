// mbarrier: a barrier that lives in 8 bytes of shared memory (code/mbarrier.h). Source: PTX ISA 9.7.13.15.
#include <string.h>

#include "bulk.h"
#include "simt/code/access.h"
#include "simt/code/mbarrier.h"
#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"

static bool complain(struct warp *w, const struct uop *u, uint32_t lane, const char *what)
{
    warp_fault(w, u, FAULT_REFUSED, 1u << lane, 0);
    strncpy(w->block->worker->fault.text, what, sizeof w->block->worker->fault.text - 1);
    return false;
}

// What cannot be done to the mbarrier in that state.
static bool complain_of(struct warp *w, const struct uop *u, uint32_t lane, enum fault_kind kind,
                        const struct mbarrier_state *s, uint32_t arrivals)
{
    struct fault *f = &w->block->worker->fault;
    warp_fault(w, u, kind, 1u << lane, 0);
    f->address = access_address(w, &u->warp->mem, lane) & MEMORY_OFFSET;
    const struct block *home = cluster_block(w->block->worker, f->address);
    f->home = home->linear;
    f->remote = home != w->block;
    f->space = SPACE_SHARED;
    f->phase = s->expected ? 1 + (uint32_t)s->phase : 0;
    f->seen = arrivals;
    f->expected = s->pending;
    f->left = s->expected;
    return false;
}

// Tells the checks of a lane's access; opens: its arrival completed a phase.
static void tell(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool opens)
{
    const struct warpop *op = u->warp;
    const bool first = op->op == MBARRIER_INIT;
    uint64_t at[LANES] = { 0 };
    at[lane] = address;
    if (op->op <= MBARRIER_INVAL)
        check_mbarrier_valid(w, u, lane, address, first);
    check_shared(w, u, op->mem.index, 1u << lane, at, 8, first ? CHECK_WRITE : CHECK_ATOMIC);
    if (op->op <= MBARRIER_INVAL)
        check_mbarrier_starts(w, address);
    else
        check_mbarrier_arrives(w, u, lane, address, opens);
}

struct lookers {  // lanes, one after the other, that look at the same mbarrier and see the same
    uint32_t lanes, address;
    bool done;
};

// Tells the checks of them.
static void tell_looks(struct warp *w, const struct uop *u, struct lookers *l)
{
    if (l->lanes && w->block->worker->check) {
        check_shared_mbarrier(w, u, l->lanes, l->address);
        if (l->done)
            check_mbarrier_opened(w, u, l->lanes, l->address);
    }
    l->lanes = 0;
}

static void add_look(struct warp *w, const struct uop *u, struct lookers *l, uint32_t lane, uint32_t address, bool done)
{
    if (l->lanes && (l->address != address || l->done != done))
        tell_looks(w, u, l);
    l->lanes |= 1u << lane;
    l->address = address;
    l->done = done;
}

// Bytes, before or with an arrival. False on a fault.
static bool expect(struct warp *w, const struct uop *u, uint32_t lane, struct mbarrier_state *s, int64_t bytes)
{
    s->tx += bytes;
    if (s->tx <= MBARRIER_MAX && s->tx >= -MBARRIER_MAX)
        return true;
    return complain(w, u, lane, "an mbarrier counts at most 1048575 bytes in a phase");
}

// Is the phase complete that a lane waits for? If not, copies arrive, one after the other, until it is.
static bool test(struct warp *w, const struct warpop *op, uint32_t lane, uint64_t at, struct mbarrier_state *s)
{
    const uint32_t address = cluster_offset(at);
    const unsigned char *p = w->block->worker->shared + address;
    const uint64_t waited = op->op == MBARRIER_TEST ? ((const u64 *)(w->regs + op->in[0]))[lane] >> 63
                                                    : ((const u32 *)(w->regs + op->in[0]))[lane] & 1;
    // With checks, copies are not there when a thread first looks: it has to look again.
    const bool again = w->waits && w->wait_at == address && w->wait_parity == waited;
    while (waited == s->phase && (again || !w->block->worker->check) && bulk_deliver(w->block, address))
        *s = mbarrier_read(p);
    if (waited != s->phase)
        return true;
    w->wait_at = address;
    w->wait_parity = (uint32_t)waited;
    w->wait_lane = lane;
    return false;
}

// The count or the bytes that an instruction gives; 1 if it gives none.
static uint32_t given(const struct warp *w, const struct warpop *op, uint32_t lane)
{
    return op->n_in ? ((const u32 *)(w->regs + op->in[0]))[lane] : 1;
}

// arrive and arrive_drop, with .expect_tx if the shape says so. False on a fault.
static bool arrive(struct warp *w, const struct uop *u, uint32_t lane, struct mbarrier_state *s)
{
    const struct warpop *op = u->warp;
    const uint32_t value = given(w, op, lane), count = op->shape ? 1 : value;
    if (!s->expected)
        return complain_of(w, u, lane, FAULT_ARRIVES_UNMADE, s, count);
    if (count > s->pending)
        return complain_of(w, u, lane, FAULT_ARRIVALS, s, count);
    if (op->shape && !expect(w, u, lane, s, value))
        return false;
    if (op->n_out)
        ((u64 *)(w->regs + op->out[0]))[lane] = mbarrier_pack(s);
    s->pending -= count;
    s->expected -= op->op == MBARRIER_ARRIVE_DROP ? count : 0;
    mbarrier_completes(s);
    return true;
}

// What the instruction does to the state s of a lane's mbarrier; *done: it waits for a phase that is complete. False on
// a fault.
static bool change(struct warp *w, const struct uop *u, uint32_t lane, uint64_t at, struct mbarrier_state *s,
                   bool *done)
{
    const struct warpop *op = u->warp;
    const uint32_t count = given(w, op, lane);
    switch ((enum mbarrier)op->op) {
    case MBARRIER_INIT:
        if (!count || count > MBARRIER_MAX)
            return complain(w, u, lane, "mbarrier.init takes a count from 1 to 1048575");
        *s = mbarrier_new(count);
        break;
    case MBARRIER_INVAL:
        *s = (struct mbarrier_state){ 0 };
        break;
    case MBARRIER_ARRIVE:
    case MBARRIER_ARRIVE_DROP:
        return arrive(w, u, lane, s);
    case MBARRIER_EXPECT_TX:
    case MBARRIER_COMPLETE_TX:
        if (!s->expected)
            return complain_of(w, u, lane, FAULT_EXPECTS_UNMADE, s, 0);
        if (!expect(w, u, lane, s, op->op == MBARRIER_EXPECT_TX ? (int64_t)count : -(int64_t)count))
            return false;
        mbarrier_completes(s);
        break;
    case MBARRIER_TEST:
    case MBARRIER_TEST_PARITY:
        *done = test(w, op, lane, at, s);
        break;
    case MBARRIER_COUNT:
        break;
    }
    return true;
}

// The instruction in one lane. False on a fault.
static bool run_lane(struct warp *w, const struct uop *u, uint32_t lane, bool *done, struct lookers *l)
{
    const struct warpop *op = u->warp;
    enum ptx_space space = op->mem.space;
    const uint64_t at = access_address(w, &op->mem, lane) & MEMORY_OFFSET;
    unsigned char *p = access_place(w, lane, &space, at, 8);
    if (at % 8)
        return access_fault(w, u, FAULT_MISALIGNED, true, lane, at, 8, SPACE_SHARED);
    if (!p)
        return access_fault(w, u, FAULT_OUT_OF_BOUNDS, true, lane, at, 8, SPACE_SHARED);
    struct mbarrier_state s = mbarrier_read(p);
    const uint64_t phase = s.phase;
    if (!change(w, u, lane, at, &s, done))
        return false;
    if (op->op > MBARRIER_COMPLETE_TX) {
        add_look(w, u, l, lane, (uint32_t)at, *done);
        return true;
    }
    if (w->block->worker->check)
        tell(w, u, lane, (uint32_t)at, s.phase != phase);
    mbarrier_write(p, &s);
    return true;
}

// pending_count: of a state, not of a barrier.
static void read_counts(struct warp *w, const struct warpop *op, uint32_t active)
{
    const u64 *from = (const u64 *)(w->regs + op->in[0]);
    u32 *to = (u32 *)(w->regs + op->out[0]);
    for (uint32_t i = 0; i < LANES; i++)
        if (active >> i & 1)
            to[i] = (uint32_t)from[i] & MBARRIER_MAX;
}

bool warp_mbarrier(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct lookers lookers = { 0 };
    uint32_t all_done = 0;
    if (op->op == MBARRIER_COUNT) {
        read_counts(w, op, active);
        return true;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        bool done = false;
        if (active >> i & 1 && !run_lane(w, u, i, &done, &lookers))
            return false;
        all_done |= (uint32_t)done << i;
    }
    tell_looks(w, u, &lookers);
    if (op->op == MBARRIER_TEST || op->op == MBARRIER_TEST_PARITY) {
        u32 *p = (u32 *)(w->regs + op->out[0]);
        *p = (*p & ~active) | all_done;
        w->waits = (all_done & active) != active;
    }
    return true;
}
