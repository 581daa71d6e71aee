// mbarrier: a barrier that lives in 8 bytes of shared memory. Source: PTX ISA 9.7.13.15. What those bytes hold is not
// the kernel's business; here: the phase (bit 63), the arrivals that are expected and those still pending, 20 bits
// each.
#include <string.h>

#include "simt/code/access.h"
#include "simt/check/check.h"
#include "simt/code/warp.h"

#define COUNT_BITS 20
#define COUNT_MAX ((1u << COUNT_BITS) - 1)

struct state {
    uint64_t phase;
    uint32_t expected, pending;
};

static struct state read_state(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return (struct state){ v >> 63, (uint32_t)(v >> COUNT_BITS) & COUNT_MAX, (uint32_t)v & COUNT_MAX };
}

static uint64_t pack(struct state s)
{
    return s.phase << 63 | (uint64_t)s.expected << COUNT_BITS | s.pending;
}

bool mbarrier_stored(const struct warp *w, const struct uop *u, uint32_t lane, unsigned char bytes[8])
{
    if (u->kind != UOP_WARP || u->warp->fn != warp_mbarrier || u->warp->op != MBARRIER_INIT)
        return false;
    const uint32_t count = ((const u32 *)(w->regs + u->warp->in[0]))[lane];
    const uint64_t bits = pack((struct state){ 0, count, count });
    memcpy(bytes, &bits, sizeof bits);
    return true;
}

static bool complain(struct warp *w, const struct uop *u, uint32_t lane, const char *what)
{
    warp_fault(w, u, FAULT_OTHER, 1u << lane, 0);
    strncpy(w->block->worker->fault.text, what, sizeof w->block->worker->fault.text - 1);
    return false;
}

// Tells the checks of a lane's access. opens: its arrival completed a phase; done: it saw that one was complete.
static void tell(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool opens, bool done)
{
    const struct warpop *op = u->warp;
    const bool first = op->op == MBARRIER_INIT;
    uint64_t at[LANES] = { 0 };
    at[lane] = address;
    check_shared(w, u, op->mem.index, 1u << lane, at, 8, first ? CHECK_WRITE : CHECK_ATOMIC);
    if (op->op <= MBARRIER_INVAL)
        check_mbarrier_starts(w, address);
    else if (op->op <= MBARRIER_ARRIVE_DROP)
        check_mbarrier_arrives(w, lane, &op->mem, address, opens);
    else if (done)
        check_mbarrier_opened(w, lane, &op->mem, address);
}

bool warp_mbarrier(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct memop *m = &op->mem;
    uint32_t done = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        enum ptx_space space = SPACE_SHARED;
        if (!(active >> i & 1))
            continue;
        uint64_t at = access_address(w, m, i) & MEMORY_OFFSET;
        unsigned char *p = access_place(w, i, &space, at, 8);
        if (op->op == MBARRIER_COUNT) {  // of a state, not of a barrier
            ((u32 *)(w->regs + op->out[0]))[i] = (uint32_t)((const u64 *)(w->regs + op->in[0]))[i] & COUNT_MAX;
            continue;
        }
        if (at % 8)
            return access_fault(w, u, FAULT_ALIGN, true, i, at, 8, SPACE_SHARED);
        if (!p)
            return access_fault(w, u, FAULT_BOUNDS, true, i, at, 8, SPACE_SHARED);
        struct state s = read_state(p);
        const uint64_t phase = s.phase;
        uint32_t count = op->n_in && op->op <= MBARRIER_ARRIVE_DROP ? ((const u32 *)(w->regs + op->in[0]))[i] : 1;
        switch ((enum mbarrier)op->op) {
        case MBARRIER_INIT:
            if (!count || count > COUNT_MAX)
                return complain(w, u, i, "mbarrier.init takes a count from 1 to 1048575");
            s = (struct state){ 0, count, count };
            break;
        case MBARRIER_INVAL:
            s = (struct state){ 0 };
            break;
        case MBARRIER_ARRIVE:
        case MBARRIER_ARRIVE_DROP:
            if (!s.expected || count > s.pending)
                return complain(w, u, i,
                                s.expected
                                    ? "more arrivals than the mbarrier expects in this phase: does its count fit "
                                      "the threads that arrive?"
                                    : "arrives at an mbarrier that was not initialised: is there a barrier "
                                      "between mbarrier.init and this?");
            if (op->n_out)
                ((u64 *)(w->regs + op->out[0]))[i] = pack(s);
            s.pending -= count;
            s.expected -= op->op == MBARRIER_ARRIVE_DROP ? count : 0;
            if (!s.pending) {
                s.phase ^= 1;
                s.pending = s.expected;
            }
            break;
        case MBARRIER_TEST:
            done |= (uint32_t)(((const u64 *)(w->regs + op->in[0]))[i] >> 63 != s.phase) << i;
            break;
        case MBARRIER_TEST_PARITY:
            done |= (uint32_t)((((const u32 *)(w->regs + op->in[0]))[i] & 1) != s.phase) << i;
            break;
        case MBARRIER_COUNT:
            break;
        }
        const uint64_t bits = pack(s);
        if (w->block->worker->check)
            tell(w, u, i, (uint32_t)at, s.phase != phase, done >> i & 1);
        if (op->op <= MBARRIER_ARRIVE_DROP)
            memcpy(p, &bits, sizeof bits);
    }
    if (op->op == MBARRIER_TEST || op->op == MBARRIER_TEST_PARITY) {
        u32 *p = (u32 *)(w->regs + op->out[0]);
        *p = (*p & ~active) | done;
    }
    return true;
}
