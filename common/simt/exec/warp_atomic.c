// atom and red: the active lanes one after the other, in ascending order. Source: PTX ISA 9.7.13 (atom, red).
//
// A GPU promises no order, and none between blocks. So that results do not depend on the number of host threads, a
// kernel in which the order shows (a result is used, or sums are rounded) runs on one; see struct code.
#include <pthread.h>
#include <string.h>

#include "simt/code/access.h"
#include "simt/code/alu_math.h"
#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"

static pthread_mutex_t global_memory = PTHREAD_MUTEX_INITIALIZER;

static uint64_t add(enum ptx_type t, uint64_t old, uint64_t a)
{
    uint32_t x = (uint32_t)old, y = (uint32_t)a;
    union {
        uint64_t u;
        double f;
    } p = { .u = old }, q = { .u = a };
    switch (t) {
    case PTX_F32:
        return bits_of(nan32(float_of(x) + float_of(y)));
    case PTX_F64:
        p.f += q.f;
        return p.u;
    case PTX_F16:
        return f16_of_f32(bits_of(float_of(f32_of_f16(x & 0xffff)) + float_of(f32_of_f16(y & 0xffff))));
    case PTX_F16X2:
        return add(PTX_F16, x & 0xffff, y & 0xffff) | add(PTX_F16, x >> 16, y >> 16) << 16;
    case PTX_BF16:
        return bf16_of_f32(bits_of(float_of(x << 16) + float_of(y << 16)));
    case PTX_BF16X2:
        return add(PTX_BF16, x & 0xffff, y & 0xffff) | add(PTX_BF16, x >> 16, y >> 16) << 16;
    default:
        return old + a;
    }
}

static bool less(enum ptx_type t, uint64_t a, uint64_t b)
{
    return t == PTX_S32 ? (int32_t)a < (int32_t)b : t == PTX_S64 ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t result(enum atomic op, enum ptx_type t, uint64_t old, uint64_t a, uint64_t b)
{
    switch (op) {
    case ATOMIC_ADD:
        return add(t, old, a);
    case ATOMIC_MIN:
        return less(t, a, old) ? a : old;
    case ATOMIC_MAX:
        return less(t, old, a) ? a : old;
    case ATOMIC_AND:
        return old & a;
    case ATOMIC_OR:
        return old | a;
    case ATOMIC_XOR:
        return old ^ a;
    case ATOMIC_EXCH:
        return a;
    case ATOMIC_CAS:
        return old == a ? b : old;
    case ATOMIC_INC:
        return old >= a ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > a ? a : old - 1;
    }
    return old;
}

static uint64_t operand(const struct warp *w, uint32_t slot, uint32_t bytes, uint32_t lane)
{
    if (bytes >= 8)
        return ((const u64 *)(w->regs + slot))[lane];
    uint32_t v = ((const u32 *)(w->regs + slot))[lane];
    return bytes == 2 ? v & 0xffff : v;
}

// --- what an H200 counts in shared memory (tests/truth, kernels atoms_ and reds_ of its micro-kernels) ---

// Passes over the banks for the lanes of mask, each by itself; with together, those of one word in the same pass.
static uint32_t passes(const uint32_t address[LANES], uint32_t mask, bool together)
{
    uint32_t in_bank[32] = { 0 }, most = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        bool again = !(mask >> i & 1);
        for (uint32_t j = 0; together && !again && j < i; j++)
            again = mask >> j & 1 && address[j] / 4 == address[i] / 4;
        uint32_t *n = &in_bank[address[i] / 4 % 32];
        *n += !again;
        most = *n > most ? *n : most;
    }
    return most;
}

// Sums of floats are a loop of load and compare-and-swap. In each turn one lane of every word gets through.
static void count_loop(const uint32_t address[LANES], uint32_t mask, struct mem_count *c)
{
    for (uint32_t left = mask; left;) {
        uint32_t done = 0;
        const uint32_t n = passes(address, left, true);
        c->loads++;
        c->load_waves += n;
        c->waves += n + 2 * n;
        c->ideal += 3;
        for (uint32_t i = 0; i < LANES; i++) {
            bool first = left >> i & 1;
            for (uint32_t j = 0; first && j < i; j++)
                first = !(left >> j & 1 && address[j] / 4 == address[i] / 4);
            done |= (uint32_t)first << i;
        }
        left &= ~done;
    }
}

// Compare-and-swap takes two passes where others take one. An integer operation on one address, which the code shows to
// be one, is reduced over the warp first; adding the constant 1 without asking for the result, lanes of a word go
// together.
static void count_shared(const struct warpop *op, const uint32_t address[LANES], uint32_t mask, struct mem_count *c)
{
    const enum ptx_type t = (enum ptx_type)op->type;
    const bool real =
        t == PTX_F32 || t == PTX_F64 || t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
    if (real && op->op == ATOMIC_ADD) {
        count_loop(address, mask, c);
        return;
    }
    const uint32_t each = op->op == ATOMIC_CAS ? 2 : 1;
    uint32_t n = passes(address, mask, op->op == ATOMIC_ADD && op->by_one && !op->n_out);
    if (op->one_address && op->op <= ATOMIC_XOR)
        n = 1;
    c->waves += each * n;
    c->conflicts += each * (n - 1);
    c->ideal += each;
}

struct change {  // what the lanes do
    struct warp *w;
    const struct uop *u;
    unsigned char *place[LANES];
    uint64_t first[LANES], address[LANES];  // operands; the result may take their registers
};

// The same of 16 bytes: an exchange or a compare-and-swap, whose values are pairs of registers.
static bool change_wide(const struct change *c, uint32_t lane)
{
    const struct warpop *op = c->u->warp;
    const bool compares = op->op == ATOMIC_CAS;
    uint64_t old[2], value[4];
    memcpy(old, c->place[lane], sizeof old);
    for (uint32_t i = 0; i < op->n_in; i++)
        value[i] = operand(c->w, op->in[i], 8, lane);
    const bool writes = !compares || !memcmp(old, value, sizeof old);
    if (writes)
        memcpy(c->place[lane], value + (compares ? 2 : 0), sizeof old);
    for (uint32_t i = 0; i < op->n_out; i++)
        ((u64 *)(c->w->regs + op->out[i]))[lane] = old[i];
    return writes;
}

// One lane's read and write. False where nothing was written: a compare-and-swap that found another value.
static bool change_one(const struct change *c, uint32_t lane)
{
    const struct warpop *op = c->u->warp;
    const uint32_t bytes = op->mem.bytes;
    if (bytes == 16)
        return change_wide(c, lane);
    uint64_t old = 0;
    memcpy(&old, c->place[lane], bytes);
    const uint64_t b = op->n_in > 1 ? operand(c->w, op->in[1], bytes, lane) : 0;
    const uint64_t new = result((enum atomic)op->op, (enum ptx_type)op->type, old, c->first[lane], b);
    memcpy(c->place[lane], &new, bytes);
    if (op->n_out && bytes == 8)
        ((u64 *)(c->w->regs + op->out[0]))[lane] = old;
    else if (op->n_out)
        ((u32 *)(c->w->regs + op->out[0]))[lane] = (uint32_t)old;
    return op->op != ATOMIC_CAS || old == c->first[lane];
}

// Tells the checks of the lanes' accesses to one space.
static void tell(const struct change *c, uint32_t lanes, bool shared, enum check_op op)
{
    const struct memop *m = &c->u->warp->mem;
    uint64_t address[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        address[i] = c->address[i] & (shared ? MEMORY_OFFSET : UINT64_MAX);
    if (lanes)
        (shared ? check_shared : check_global)(c->w, c->u, m->index, lanes, address, m->bytes, op);
}

// Where no lane learns anything from another: of all lanes at once.
static void tell_all(const struct change *c, uint32_t lanes, uint32_t shared, uint32_t wrote)
{
    for (int in_shared = 0; in_shared < 2; in_shared++) {
        const uint32_t here = lanes & (in_shared ? shared : ~shared);
        tell(c, here & wrote, in_shared, CHECK_ATOMIC);
        tell(c, here & ~wrote, in_shared, CHECK_REFUSED);
    }
}

// One lane's where the checks follow who learns what from whom: it reads what was released there, and releases.
static void change_in_order(const struct change *c, uint32_t lane, bool shared)
{
    const struct warpop *op = c->u->warp;
    const uint64_t address = c->address[lane] & (shared ? MEMORY_OFFSET : UINT64_MAX);
    if (op->n_out)
        check_acquires(c->w, lane, &op->mem, shared, address);
    const bool wrote = change_one(c, lane);
    tell(c, 1u << lane, shared, wrote ? CHECK_ATOMIC : CHECK_REFUSED);
    if (wrote)
        check_releases(c->w, lane, &op->mem, shared, address, true);
}

// A lane whose access went wrong. While checks are on that is a finding, the lane gets 0, and the kernel goes on.
static bool excused(const struct change *c, uint32_t lane)
{
    const struct warpop *op = c->u->warp;
    if (!c->w->block->worker->check)
        return false;
    check_fault(c->w->block->worker);
    if (op->n_out && op->mem.bytes == 8)
        ((u64 *)(c->w->regs + op->out[0]))[lane] = 0;
    else if (op->n_out)
        ((u32 *)(c->w->regs + op->out[0]))[lane] = 0;
    return true;
}

bool warp_atomic(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct memop *m = &op->mem;
    const uint32_t bytes = m->bytes;
    const bool checks = w->block->worker->check, in_order = checks && check_orders_lanes(w->block);
    uint32_t address[LANES] = { 0 }, shared = 0, wrote = 0;
    struct change c = { .w = w, .u = u };
    for (uint32_t i = 0; i < LANES; i++) {
        enum ptx_space space = m->space;
        if (!(active >> i & 1))
            continue;
        uint64_t at = c.address[i] = access_address(w, m, i);
        c.place[i] = access_place(w, i, &space, at, bytes);
        if (at & (bytes - 1) || !c.place[i]) {
            access_fault(w, u, at & (bytes - 1) ? FAULT_MISALIGNED : FAULT_OUT_OF_BOUNDS, true, i, at, bytes, space);
            if (!excused(&c, i))
                return false;
            active &= ~(1u << i);
            continue;
        }
        shared |= (uint32_t)(space == SPACE_SHARED) << i;
        address[i] = (uint32_t)at;
        c.first[i] = operand(w, op->in[0], bytes, i);
    }
    if (shared)
        count_shared(op, address, shared, &w->block->worker->mem_counts[m->index]);
    else
        pthread_mutex_lock(&global_memory);
    for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(lanes);
        if (in_order)
            change_in_order(&c, i, shared >> i & 1);
        else
            wrote |= (uint32_t)change_one(&c, i) << i;
    }
    if (!shared)
        pthread_mutex_unlock(&global_memory);
    if (checks && !in_order)
        tell_all(&c, active, shared, wrote);
    return true;
}

bool warp_fence(struct warp *w, const struct uop *u, uint32_t active)
{
    if (w->block->worker->check)
        check_fence(w, active,
                    u->warp->op == FENCE_WIDE || (u->warp->op == FENCE_CLUSTER && w->block->worker->cluster->n > 1));
    return true;
}
