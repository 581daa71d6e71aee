// Loads and stores by a warp. Compiled for each instruction set (isa.h).
//
// An access is known by its pattern: the address of the first active lane, and how far each other lane is from it. Most
// instructions repeat their pattern, and everything but the place follows from it: wavefronts, sectors, extent,
// alignment. So each instruction remembers its last pattern (struct mem_memo); when the lanes match it, one comparison
// of 32 deltas replaces 32 checks - or, where its lanes lie as far apart as those of an access before, its leader, one
// of the leader's number. What does not fit (several allocations, generic windows, faults) goes lane by lane.
#include "simt/check/check.h"
#include "exec_move.h"
#include "isa.h"

static inline struct worker *worker_of(const struct access *a)
{
    return a->w->block->worker;
}

// Does each `group` of neighbouring lanes have one address?
static bool are_groups(const struct access *a, int group)
{
    const bool wide = a->m->base_class == SLOT_64;
    bool are = true;
    for (int i = 0; i < LANES; i++)
        are = are && lane_delta(a->deltas, wide, i) == lane_delta(a->deltas, wide, i / group * group);
    return are;
}

// By all active lanes, which may be all there are: a simple way to move their data if there is one.
static enum move way_to_move(const struct access *a)
{
    const struct memop *m = a->m;
    bool own = a->active == ALL_LANES && m->bytes >= 4;  // elements in slots of their own width
    for (uint32_t e = 0; e < m->n; e++)
        own = own && m->reg_class[e] == (m->bytes == 8 ? SLOT_64 : SLOT_32);
    if (own && m->n == 1 && a->memo->pattern == PATTERN_LINEAR)
        return m->bytes == 8 ? MOVE_LINEAR_8 : MOVE_LINEAR_4;
    if (!own || !a->load)
        return MOVE_LANES;
    return are_groups(a, LANES)       ? MOVE_SAME
           : are_groups(a, LANES / 2) ? MOVE_HALVES
           : are_groups(a, LANES / 4) ? MOVE_QUARTERS
                                      : MOVE_LANES;
}

// --- patterns ---

// The cost depends on where the first lane stands within a word of shared memory, or a sector of global memory - unless
// all lanes are whole words or sectors apart, since an aligned access never crosses into the next one.
static inline uint32_t low_mask(const struct access *a, uint64_t deltas)
{
    uint32_t unit = a->m->space == SPACE_SHARED ? 3 : 31;
    return deltas & unit ? unit : 0;
}

static inline bool lane_of(uint32_t mask, int i)
{
    return mask >> i & 1;
}

ALWAYS_INLINE bool matches(const struct access *a, bool wide)
{
    const struct mem_memo *memo = a->memo;
    const unsigned char *slot = a->w->regs + a->m->base;
    const u32 *base32 = (const u32 *)slot, zero32 = wide ? 0 : base32[a->first];
    const u64 *base64 = (const u64 *)slot, zero64 = wide ? base64[a->first] : 0;
    const bool all = a->active == ALL_LANES;
    u32 differs32 = 0;
    u64 differs64 = 0;
    if (memo->mask != a->active || memo->low != ((uint32_t)a->address & memo->low_mask))
        return false;
    for (int i = 0; i < LANES && wide; i++)
        differs64 |= all || lane_of(a->active, i) ? (base64[i] - zero64) ^ memo->delta.d64[i] : 0;
    for (int i = 0; i < LANES && !wide; i++)
        differs32 |= all || lane_of(a->active, i) ? (base32[i] - zero32) ^ memo->delta.d32[i] : 0;
    return wide ? !differs64 : !differs32;
}

ALWAYS_INLINE void learn_deltas(const struct access *a, bool wide)
{
    struct mem_memo *memo = a->memo;
    const unsigned char *slot = a->w->regs + a->m->base;
    const u32 *base32 = (const u32 *)slot;
    const u64 *base64 = (const u64 *)slot;
    *memo = (struct mem_memo){ .mask = a->active, .pattern = PATTERN_UNIFORM, .number = memo->number + 1 };
    bool linear = true;
    for (uint32_t lanes = a->active; lanes; lanes &= lanes - 1) {
        const int i = __builtin_ctz(lanes);
        if (wide)
            memo->delta.d64[i] = base64[i] - base64[a->first];
        else
            memo->delta.d32[i] = base32[i] - base32[a->first];
        const s64 delta = lane_delta(&memo->delta, wide, i);
        memo->min = delta < memo->min ? delta : memo->min;
        memo->max = delta > memo->max ? delta : memo->max;
        memo->bits |= wide ? (u64)delta : (u32)delta;
        linear = linear && delta == (s64)i * a->total;
    }
    memo->low_mask = low_mask(a, memo->bits);
    memo->low = (uint32_t)a->address & memo->low_mask;
    if (memo->bits)
        memo->pattern = linear && a->active == ALL_LANES ? PATTERN_LINEAR : PATTERN_OTHER;
    memo->move = way_to_move(a);
}

static uint64_t lane_address(const struct access *a, int lane)
{
    return access_address(a->w, a->m, (uint32_t)lane);
}

// What the machine code's access costs, which may be wider than the PTX's, or part of another (merge.c).
static struct shared_cost shared_cost(const struct access *a, const uint32_t low[LANES], uint32_t lanes)
{
    uint32_t at[LANES];
    if (a->m->merged)
        return (struct shared_cost){ 0 };
    for (int i = 0; i < LANES; i++)
        at[i] = low[i] + (uint32_t)a->m->ahead;
    return cost_shared(at, lanes, a->m->span ? a->m->span : a->total, a->load);
}

static void learn(const struct access *a)
{
    struct mem_memo *memo = a->memo;
    uint64_t address[LANES] = { 0 };
    uint32_t low[LANES] = { 0 };
    if (a->m->base_class == SLOT_32)
        learn_deltas(a, false);
    else
        learn_deltas(a, true);
    for (uint32_t lanes = a->active; lanes; lanes &= lanes - 1) {
        int i = __builtin_ctz(lanes);
        address[i] = lane_address(a, i);
        low[i] = (uint32_t)address[i];
    }
    if (a->m->space == SPACE_SHARED)
        memo->shared = shared_cost(a, low, a->active);
    else
        memo->sectors = cost_sectors(address, a->active);
}

static const struct mem_memo *leader_of(const struct access *a)
{
    return &worker_of(a)->memos[a->m->leader];
}

// The whole warp: its leader has just seen to it that these lanes match its own pattern.
static bool follows(const struct access *a)
{
    return a->active == ALL_LANES && a->memo->leader && a->memo->leader == leader_of(a)->number &&
           a->memo->low == ((uint32_t)a->address & a->memo->low_mask);
}

static void follow(const struct access *a)
{
    if (a->active == ALL_LANES && a->m->leader != a->m->index && leader_of(a)->mask == ALL_LANES)
        a->memo->leader = leader_of(a)->number;
}

// Is the lanes' pattern the memo's? Where it is the leader's, so are the deltas: one copy stays in the cache.
ALWAYS_INLINE bool match(struct access *a)
{
    a->deltas = &a->memo->delta;
    if (follows(a)) {
        a->deltas = &leader_of(a)->delta;
        return true;
    }
    if (!(a->m->base_class == SLOT_32 ? matches(a, false) : matches(a, true)))
        return false;
    follow(a);
    return true;
}

// --- lane by lane ---

static uint32_t lane_in(uint32_t lanes)  // the first
{
    return (uint32_t)__builtin_ctz(lanes);
}

// What nothing reads of a vector is not looked at.
static void tell_elements(const struct access *a, uint32_t lanes, bool shared, const uint64_t address[LANES])
{
    for (uint32_t e = 0; e < a->m->n; e++) {
        uint64_t at[LANES];
        if (a->m->unread >> e & 1)
            continue;
        for (uint32_t i = 0; i < LANES; i++)
            at[i] = address[i] + e * a->m->bytes;
        (shared ? check_shared : check_global)(a->w, a->u, a->m->index, lanes, at, a->m->bytes, CHECK_READ);
    }
}

// Tells the checks of an access by some lanes, all of them to one space.
static void tell(const struct access *a, uint32_t lanes, enum ptx_space space, const uint64_t address[LANES])
{
    const enum check_op op = a->load ? CHECK_READ : CHECK_WRITE;
    const bool shared = space == SPACE_SHARED;
    const uint32_t strong = a->m->order == ORDER_WEAK ? 0 : lanes;
    for (uint32_t left = a->load ? strong : 0; left; left &= left - 1)
        check_acquires(a->w, lane_in(left), a->m, shared, address[lane_in(left)]);
    if (lanes && a->m->unread)
        tell_elements(a, lanes, shared, address);
    else if (lanes)
        (shared ? check_shared : check_global)(a->w, a->u, a->m->index, lanes, address, a->total, op);
    for (uint32_t left = a->load ? 0 : strong; left; left &= left - 1)
        check_releases(a->w, lane_in(left), a->m, shared, address[lane_in(left)], false);
}

// A lane whose access went wrong. While checks are on that is a finding, the lane loads 0 or stores nothing, and the
// kernel goes on.
static bool excused(struct access *a, uint32_t lane)
{
    struct worker *worker = worker_of(a);
    if (!worker->check)
        return false;
    check_fault(worker);
    a->active &= ~(1u << lane);
    for (uint32_t e = 0; a->load && e < a->m->n; e++) {
        if (a->m->reg_class[e] == SLOT_64)
            ((u64 *)(a->w->regs + a->m->reg[e]))[lane] = 0;
        else if (a->m->reg_class[e] == SLOT_32)
            ((u32 *)(a->w->regs + a->m->reg[e]))[lane] = 0;
    }
    return true;
}

// A finding alone: a GPU may well store there, and later loads may or may not see it.
static bool changes_constant(const struct access *a, uint64_t address)
{
    return !a->load && worker_of(a)->check && memory_is_constant(worker_of(a)->grid->memory, address);
}

// Where the data of a lane's access is on the host, in *space; NULL with a fault if it may not be there. A GPU sees
// first that an address is odd.
static unsigned char *place_of(const struct access *a, uint32_t lane, uint64_t address, enum ptx_space *space)
{
    *space = a->m->space;
    unsigned char *place = access_place(a->w, lane, space, address, a->total);
    const enum fault_kind wrong = address & (a->total - 1)                                 ? FAULT_MISALIGNED
                                  : !place                                                 ? FAULT_OUT_OF_BOUNDS
                                  : *space == SPACE_GLOBAL && changes_constant(a, address) ? FAULT_CONSTANT_STORE
                                                                                           : FAULT_NONE;
    if (wrong)
        access_fault(a->w, a->u, wrong, !a->load, lane, address, a->total, *space);
    return wrong ? NULL : place;
}

static void count(const struct access *a, const uint64_t address[LANES], uint32_t shared, uint32_t global)
{
    uint32_t low[LANES];
    for (int i = 0; i < LANES; i++)
        low[i] = (uint32_t)address[i];
    if (shared) {
        const struct shared_cost cost = shared_cost(a, low, shared);
        access_count_shared(a->w, a->m, &cost);
    }
    if (global)
        access_count_global(a->w, a->m, cost_sectors(address, global));
}

static bool lane_by_lane(struct access *a)
{
    static const union deltas none;  // each lane at its own place
    uint64_t address[LANES] = { 0 };
    uint32_t shared = 0, global = 0;
    unsigned char *place[LANES];
    for (uint32_t lanes = a->active; lanes; lanes &= lanes - 1) {
        const uint32_t i = lane_in(lanes);
        enum ptx_space space;
        address[i] = lane_address(a, (int)i);
        if (!(place[i] = place_of(a, i, address[i], &space)) && !excused(a, i))
            return false;
        shared |= (uint32_t)(place[i] && space == SPACE_SHARED) << i;
        global |= (uint32_t)(place[i] && space == SPACE_GLOBAL) << i;
    }
    count(a, address, shared, global);
    if (worker_of(a)->check && a->m->space != SPACE_CONST) {
        tell(a, global, SPACE_GLOBAL, address);
        for (uint32_t i = 0; i < LANES; i++)
            address[i] &= MEMORY_OFFSET;  // of a generic address
        tell(a, shared, SPACE_SHARED, address);
    }
    for (uint32_t lanes = a->active; lanes; lanes &= lanes - 1)
        move_lanes(a->w, a->m, &none, lanes & -lanes, a->load, place[lane_in(lanes)]);
    return true;
}

// The number of the memo's pattern for the checks: one that begins elsewhere in a granule is another one.
static uint32_t pattern_of(const struct access *a)
{
    return a->memo->number << 2 | (a->address & 3);
}

// Tells the checks of an access by all active lanes.
static void tell_all(const struct access *a)
{
    uint64_t address[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        address[i] = access_address(a->w, a->m, i);
    tell(a, a->active, a->m->space == SPACE_SHARED ? SPACE_SHARED : SPACE_GLOBAL, address);
    if (!a->m->unread)
        check_pattern(a->w, a->m->index, pattern_of(a));
}

// The same where they have been told of the memo's pattern before, which is all that follows. False if they have not.
ALWAYS_INLINE bool tell_again(const struct access *a, bool shared)
{
    const enum check_op op = a->load ? CHECK_READ : CHECK_WRITE;
    const bool plain = a->m->order == ORDER_WEAK && !a->m->unread;
    return plain &&
           (shared ? check_shared_again : check_global_again)(a->w, a->u, a->m->index, pattern_of(a), a->address, op);
}

// Where the first lane's place may be, so that the others, too, are in that allocation, or in shared memory: the memo
// knows it from now on. p: the first lane's. low: the lowest lane's, from the allocation's first byte on.
static void learn_place(const struct access *a, uint64_t low, uint64_t room, unsigned char *p)
{
    struct mem_memo *memo = a->memo;
    memo->placed = a->active == ALL_LANES && a->m->order == ORDER_WEAK && !a->m->unread;
    memo->from = a->address - (a->m->space == SPACE_SHARED ? a->w->block->window : 0) - low;
    memo->room = room;
    memo->host = p - low;
}

static bool access(struct access *a)
{
    const struct worker *worker = worker_of(a);
    const struct grid *g = worker->grid;
    a->memo = &worker->memos[a->m->index];
    a->total = a->m->bytes * a->m->n;
    a->first = (uint32_t)__builtin_ctz(a->active);
    a->address = lane_address(a, (int)a->first);
    if (a->m->space == SPACE_LOCAL)
        return lane_by_lane(a);
    if (!match(a)) {
        learn(a);
        follow(a);
    }
    const struct mem_memo *memo = a->memo;
    const uint64_t span = (uint64_t)memo->max - (uint64_t)memo->min, extent = span + a->total;
    if (((memo->bits | a->address) & (a->total - 1)) || span > MEMORY_OFFSET)
        return lane_by_lane(a);
    if (a->m->space == SPACE_SHARED) {
        const uint64_t own = a->address - a->w->block->window;
        int64_t low = own <= g->shared_bytes ? (int64_t)own + memo->min : -1;
        if (low < 0 || extent > g->shared_bytes || (uint64_t)low > g->shared_bytes - extent)
            return lane_by_lane(a);
        access_count_shared(a->w, a->m, &memo->shared);
        if (worker->check && !tell_again(a, true))
            tell_all(a);
        move(a, worker->shared + own);
        learn_place(a, (uint64_t)low, g->shared_bytes - extent, worker->shared + own);
        return true;
    }
    const uint64_t lowest = a->address + (uint64_t)memo->min;
    unsigned char *p = memory_at(g->memory, lowest, extent);
    if (!p || changes_constant(a, a->address))
        return lane_by_lane(a);
    if (a->m->space != SPACE_CONST) {
        access_count_global(a->w, a->m, memo->sectors);
        if (worker->check && !tell_again(a, false))
            tell_all(a);
    }
    move(a, p - memo->min);
    learn_place(a, lowest & MEMORY_OFFSET, memory_bytes(g->memory, lowest) - extent, p - memo->min);
    return true;
}

// The same by the whole warp, where nothing is new: the pattern is the memo's, and lies in the allocation of the last
// time. False if it is not so; nothing has been done then.
ALWAYS_INLINE bool access_again(struct access *a)
{
    const struct worker *worker = worker_of(a);
    const struct mem_memo *memo = a->memo = &worker->memos[a->m->index];
    const bool shared = a->m->space == SPACE_SHARED;
    a->address = lane_address(a, 0);
    if (!memo->placed || !match(a))
        return false;
    const uint64_t own = shared ? a->address - a->w->block->window : a->address, at = own - memo->from;
    if (at > memo->room || own & (a->m->bytes * a->m->n - 1))
        return false;
    if (worker->check && a->m->space != SPACE_CONST && !tell_again(a, shared))
        return false;
    if (shared)
        access_count_shared(a->w, a->m, &memo->shared);
    else if (a->m->space != SPACE_CONST)
        access_count_global(a->w, a->m, memo->sectors);
    move(a, shared ? worker->shared + own : memo->host + at);
    return true;
}

ALWAYS_INLINE bool access_either(struct warp *w, const struct uop *u, uint32_t active, bool load)
{
    struct access a = { .w = w, .u = u, .m = u->mem, .active = active, .load = load };
    if (active == ALL_LANES && access_again(&a))
        return true;
    struct access other = { .w = w, .u = u, .m = u->mem, .active = active, .load = load };
    return access(&other);
}

bool ISA(exec_load)(struct warp *w, const struct uop *u, uint32_t active)
{
    return access_either(w, u, active, true);
}

bool ISA(exec_store)(struct warp *w, const struct uop *u, uint32_t active)
{
    return access_either(w, u, active, false);
}
