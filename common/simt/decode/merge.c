// What ptxas does to accesses to shared memory, for the counters: the machine code has fewer than the PTX. Read from
// what ptxas 13.0 makes of small kernels for sm_90, and checked against counters of an H200
// (tests/truth/h200_merge.tsv). Nothing here changes what a kernel does, only which accesses are counted, and as how
// many bytes.
//
// Loads. An address is a value plus a constant (merge_value.c: additions of constants, their multiples, and constants
// or-ed into zero bits are seen through; a sum of registers equals the same sum, in either order). The value's
// alignment is what is certain: low bits that must be zero, the address of the variable (.align moves it, and so does
// what was declared before it), or a wider access to the same value in the basic block. Then, in units of U bytes
// (U = 4 or 8; 2 for halves in 16-bit registers; a vector of smaller elements has units of 4):
// - A unit that an earlier load brought, or a store of the same unit wrote, is not loaded again.
// - Of the four units of an aligned block of 4 U bytes (at most 16), three or four are loaded at once, two only where
//   they are a half of it: 64 bits. Of an aligned pair, both are. The order in the code does not matter.
// - Units of a vector that are never read do not count.
// This reaches as far as nothing can have changed shared memory: not across a store to it (to any place in it) or
// through a generic address, an atomic or reduction that is not to global memory, a barrier, bar.warp.sync, a fence,
// cp.async and its waits, mbarrier, nanosleep, a call; and not across a whole loop. Stores and atomics to global
// memory, shuffles and votes are no obstacle, nor are branches: a load can join another in any block that dominates its
// own, at whatever distance. The merged load runs where the first of them ran.
//
// Stores. Neighbours in an aligned half or block are merged where they follow each other in one basic block without an
// access to shared memory, or any of the above, in between; vectors join vectors of their own size. Three are two and
// one.
//
// Not merged: accesses with a guard, volatile ones, bytes, 16-bit loads into wider registers. Not modelled: merging
// across the turns of a loop that ptxas itself unrolls (one with a constant number of turns and a small body, which
// nvcc has left a loop; "#pragma unroll" makes nvcc unroll it, and then it counts here); loads that are redundant on
// some ways only; vector stores next to scalar ones; loads and stores that ptxas drops because they are not needed
// (nvcc has done so before). Global memory: ptxas merges there, too, but it does not know a pointer's alignment, so
// that only addresses that were rounded would be; they count as they stand.
#include <string.h>

#include "merge.h"

#define CHAIN_MAX 16  // groups of the same address that are looked through
#define UNITS 4       // of a group
#define NONE UINT32_MAX

enum { CLASS_PLAIN, CLASS_HALF, CLASS_SIGNED_HALF, CLASS_ALONE };  // loads of different ones share nothing

struct access {
    uint32_t uop;
    struct value at;
    uint32_t align;  // of at.root, at most 16
    uint32_t unit, n;
    uint8_t class;
    bool load, whole;  // whole: counted as it stands
    uint32_t led;      // accesses of the machine code that begin with it
};

struct group {  // UNITS neighbours, or as many as make 16 bytes
    uint64_t start;
    uint32_t align, unit, first, next;
    uint8_t class;
    uint32_t by[UNITS];  // the access that loads a unit, or NONE
    bool stored[UNITS];  // or a store has brought it
};

struct merger {
    struct decoder *x;
    struct values values;
    struct blocks blocks;
    bool *clobbers;    // by uop
    uint32_t *number;  // by uop: its access, or NONE
    struct access *all;
    uint32_t n;
    struct map addresses;  // of groups
    struct group *groups;
    uint32_t n_groups;
    uint32_t *head;              // by address: its last group
    uint32_t run[UNITS], n_run;  // stores that follow each other within a group
};

static void *grown(struct decoder *x, void *items, uint32_t count, size_t size)
{
    void *p = arena_grow(x->scratch, items, count, size);
    if (!p)
        decode_fail(x, x->f->name.p, "out of memory");
    return p;
}

// --- which instructions are what ---

static bool has(struct str s, const char *part)
{
    return s.p && memmem(s.p, s.n, part, strlen(part));
}

// Shared memory may not be the same after it.
static bool clobbers(struct str op)
{
    static const char *const always[] = { "bar.", "barrier.", "membar",   "fence",
                                          "call", "mbarrier", "stmatrix", "nanosleep" };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (str_begins(op, always[i]))
            return true;
    if (str_begins(op, "cp."))
        return !has(op, ".commit_group");
    if (str_begins(op, "st.") || str_begins(op, "atom.") || str_begins(op, "red.") || str_begins(op, "wmma.store"))
        return !has(op, ".global") && !has(op, ".local") && !has(op, ".param");
    return false;
}

// It reads or writes shared memory, perhaps.
static bool touches(const struct uop *u)
{
    const struct memop *m = uop_memop(u);
    return m && (m->space == SPACE_SHARED || m->space == SPACE_GENERIC);
}

static bool candidate(const struct decoder *x, const struct uop *u)
{
    if ((u->kind != UOP_LOAD && u->kind != UOP_STORE) || u->mem->space != SPACE_SHARED || u->guarded)
        return false;
    struct str op = x->f->insts[u->inst].op;
    return !has(op, ".volatile") && !has(op, ".acquire") && !has(op, ".release");
}

static struct access access_of(const struct merger *g, uint32_t uop, struct value base)
{
    const struct memop *m = g->x->code->uops[uop].mem;
    struct access a = { .uop = uop, .at = base, .load = g->x->code->uops[uop].kind == UOP_LOAD, .n = m->n };
    uint32_t total = m->bytes * m->n;
    bool half_register = m->reg[0] < g->x->f->n_regs && ptx_type_bytes(g->x->f->regs[m->reg[0]].type) == 2;
    a.at.offset += m->offset;
    if (m->base_class == SLOT_32)
        a.at.offset &= UINT32_MAX;
    a.unit = total;
    if (a.load && (m->bytes >= 4 || m->n == 1))
        a.unit = m->bytes;
    else if (a.load && total > 4)
        a.unit = 4;
    a.n = total / a.unit;
    if (a.unit < 4)
        a.class = m->bytes != 2 || m->n > 1 || !half_register ? CLASS_ALONE
                  : m->extend == EXTEND_SIGN && a.load        ? CLASS_SIGNED_HALF
                                                              : CLASS_HALF;
    a.whole = a.at.offset % a.unit || (a.class == CLASS_ALONE && (m->n > 1 || !a.load));
    return a;
}

// Finds the accesses and their addresses.
static void collect(struct merger *g)
{
    struct decoder *x = g->x;
    const struct code *c = x->code;
    for (uint32_t i = 0; i < c->n_uops; i++) {
        const struct uop *u = &c->uops[i];
        follow_uop(&g->values, i, g->blocks.starts[g->blocks.of[i]] == i);
        g->number[i] = NONE;
        if (!candidate(x, u))
            continue;
        g->all = grown(x, g->all, g->n, sizeof *g->all);
        g->all[g->n] = access_of(g, i, value_of(&g->values, u->mem->base));
        g->number[i] = g->n++;
    }
}

// The root's alignment: what its value's zeros say, or the widest access to it in the same basic block.
static void align(struct merger *g)
{
    struct decoder *x = g->x;
    struct map seen = { 0 };
    uint32_t *widest = NULL, *key_of = decode_scratch(x, (g->n + 1) * sizeof *key_of);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct access *a = &g->all[i];
        const uint32_t key[] = { a->at.root, g->blocks.of[a->uop] };
        bool is_new;
        uint32_t total = a->unit * a->n, zeros = g->values.root_zeros[a->at.root];
        key_of[i] = number_of(x, &seen, key, sizeof key, &is_new);
        if (is_new) {
            widest = grown(x, widest, key_of[i], sizeof *widest);
            widest[key_of[i]] = zeros < 4 ? 1u << zeros : 16;
        }
        if (a->at.offset % total == 0 && total > widest[key_of[i]])
            widest[key_of[i]] = total;
    }
    for (uint32_t i = 0; i < g->n; i++)
        g->all[i].align = widest[key_of[i]];
}

// --- loads ---

static uint32_t group_bytes(uint32_t unit)
{
    return unit * UNITS < 16 ? unit * UNITS : 16;
}

// The group of the units around offset whose first access every way to access a passes; a new one where there is none.
static struct group *group_at(struct merger *g, const struct access *a, uint64_t offset, uint32_t unit,
                              uint32_t version)
{
    struct decoder *x = g->x;
    const uint64_t start = offset - offset % group_bytes(unit);
    const uint64_t key[] = { (uint64_t)a->at.root << 32 | version, start, (uint64_t)unit << 8 | a->class };
    bool is_new;
    uint32_t address = number_of(x, &g->addresses, key, sizeof key, &is_new);
    if (is_new) {
        g->head = grown(x, g->head, address, sizeof *g->head);
        g->head[address] = NONE;
    }
    uint32_t at = g->head[address];
    for (int i = 0; at != NONE && i < CHAIN_MAX; i++, at = g->groups[at].next)
        if (dominates(&g->blocks, g->groups[at].first, a->uop))
            return &g->groups[at];
    g->groups = grown(x, g->groups, g->n_groups, sizeof *g->groups);
    struct group *new = &g->groups[g->n_groups];
    *new = (struct group){
        .start = start, .align = a->align, .unit = unit, .first = a->uop, .class = a->class, .next = g->head[address]
    };
    memset(new->by, 0xff, sizeof new->by);
    g->head[address] = g->n_groups++;
    return new;
}

// The unit of the load is read later. A load of nothing else stands as it is.
static bool unit_used(const struct merger *g, const struct access *a, uint32_t unit)
{
    const struct memop *m = g->x->code->uops[a->uop].mem;
    bool used = false;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->reg_class[i] != SLOT_NONE && i * m->bytes / a->unit == unit)
            used |= g->values.used[m->reg[i]];
    return used;
}

static void add_load(struct merger *g, uint32_t number, uint32_t version)
{
    struct access *a = &g->all[number];
    bool any = false;
    for (uint32_t i = 0; i < a->n; i++)
        any |= unit_used(g, a, i);
    a->whole = !any;
    for (uint32_t i = 0; i < a->n; i++) {
        if (!unit_used(g, a, i))
            continue;
        const uint64_t offset = a->at.offset + i * a->unit;
        struct group *group = group_at(g, a, offset, a->unit, version);
        uint32_t at = (uint32_t)(offset - group->start) / a->unit;
        if (group->by[at] == NONE && !group->stored[at])
            group->by[at] = number;
    }
}

// What a store has written is known without a load.
static void add_store(struct merger *g, const struct access *store, uint32_t version)
{
    const struct memop *m = g->x->code->uops[store->uop].mem;
    struct access a = *store;
    a.class = m->bytes >= 4 ? CLASS_PLAIN : store->class;
    for (uint32_t i = 0; m->bytes >= 2 && (m->bytes >= 4 || m->n == 1) && i < m->n && !store->whole; i++) {
        const uint64_t offset = a.at.offset + i * m->bytes;
        struct group *group = group_at(g, &a, offset, m->bytes, version);
        group->stored[(offset - group->start) / m->bytes] = true;
    }
}

// The access `number` stands for one of span bytes at offset.
static void lead(struct merger *g, uint32_t number, uint32_t span, uint64_t offset)
{
    struct access *a = &g->all[number];
    struct memop *m = g->x->code->uops[a->uop].mem;
    m->span = span;
    m->ahead = (int32_t)(uint32_t)(offset - a->at.offset);
    a->led++;
}

// The access among n units from at on that comes before all others; NONE where there is none such.
static uint32_t leader(const struct merger *g, const struct group *group, uint32_t at, uint32_t n)
{
    for (uint32_t i = at; i < at + n; i++) {
        bool first = group->by[i] != NONE;
        for (uint32_t k = at; first && k < at + n; k++)
            first = group->by[k] == NONE || dominates(&g->blocks, g->all[group->by[i]].uop, g->all[group->by[k]].uop);
        if (first)
            return group->by[i];
    }
    return NONE;
}

static void split(struct merger *g, const struct group *group)
{
    const uint32_t n = group_bytes(group->unit) / group->unit;
    uint32_t loaded = 0, by;
    for (uint32_t i = 0; i < n; i++)
        loaded += group->by[i] != NONE;
    if (n == 4 && loaded >= 3 && group->class != CLASS_ALONE && group->align >= n * group->unit &&
        (by = leader(g, group, 0, n)) != NONE) {
        lead(g, by, n * group->unit, group->start);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool pair = i % 2 == 0 && i + 1 < n && group->by[i] != NONE && group->by[i + 1] != NONE &&
                    group->align >= 2 * group->unit && group->class != CLASS_ALONE;
        if (pair && (by = leader(g, group, i, 2)) != NONE) {
            lead(g, by, 2 * group->unit, group->start + i * group->unit);
            i++;
        } else if (group->by[i] != NONE) {
            lead(g, group->by[i], group->unit, group->start + i * group->unit);
        }
    }
}

// --- stores ---

static void end_run(struct merger *g)
{
    struct group group = { .first = 0 };
    memset(group.by, 0xff, sizeof group.by);
    for (uint32_t i = 0; i < g->n_run; i++) {
        const struct access *a = &g->all[g->run[i]];
        uint32_t bytes = group_bytes(a->unit);
        group.unit = a->unit;
        group.align = a->align;
        group.start = a->at.offset - a->at.offset % bytes;
        group.by[a->at.offset % bytes / a->unit] = g->run[i];
    }
    bool three = g->n_run == 3 && group_bytes(group.unit) == UNITS * group.unit;
    group.align = three && group.align > 2 * group.unit ? 2 * group.unit : group.align;
    if (g->n_run)
        split(g, &group);
    g->n_run = 0;
}

static void add_to_run(struct merger *g, uint32_t number)
{
    const struct access *a = &g->all[number];
    for (uint32_t i = 0; i < g->n_run; i++) {
        const struct access *b = &g->all[g->run[i]];
        uint32_t bytes = group_bytes(a->unit);
        if (a->at.root != b->at.root || a->unit != b->unit || a->class != b->class ||
            a->at.offset / bytes != b->at.offset / bytes || a->at.offset == b->at.offset) {
            end_run(g);
            break;
        }
    }
    g->run[g->n_run++] = number;
}

// --- all ---

static void walk_block(struct merger *g, uint32_t block)
{
    uint32_t version = g->blocks.version[block];
    for (uint32_t i = g->blocks.starts[block]; i < g->blocks.starts[block + 1]; i++) {
        struct access *a = g->number[i] != NONE ? &g->all[g->number[i]] : NULL;
        bool store = a && !a->load && !a->whole;
        version = g->clobbers[i] ? i + 1 : version;
        if ((g->clobbers[i] || touches(&g->x->code->uops[i])) && !store)
            end_run(g);
        if (store) {
            add_to_run(g, g->number[i]);
            add_store(g, a, version);
        } else if (a && !a->whole) {
            add_load(g, g->number[i], version);
        }
    }
    end_run(g);
}

static void find_clobbers(struct merger *g)
{
    const struct decoder *x = g->x;
    for (uint32_t i = 0; i < x->f->n_insts; i++)
        if (clobbers(x->f->insts[i].op))
            g->clobbers[x->first[i]] = true;
}

void merge_accesses(struct decoder *x)
{
    struct merger g = { .x = x };
    struct code *c = x->code;
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < c->n_uops; i++)
        candidates += candidate(x, &c->uops[i]);
    if (candidates < 2)
        return;
    g.clobbers = decode_scratch(x, c->n_uops + 1);
    g.number = decode_scratch(x, (c->n_uops + 1) * sizeof *g.number);
    find_clobbers(&g);
    if (!find_flow(x, &g.blocks, g.clobbers) || !find_zeros(x, &g.values))
        return;
    collect(&g);
    align(&g);
    for (uint32_t i = 0; i < g.blocks.n_order; i++)
        walk_block(&g, g.blocks.order[i]);
    for (uint32_t i = 0; i < g.n_groups; i++)
        split(&g, &g.groups[i]);
    for (uint32_t i = 0; i < g.n; i++) {
        const struct access *a = &g.all[i];
        struct uop *u = &c->uops[a->uop];
        bool reached = g.blocks.dominator[g.blocks.of[a->uop]] != NO_BLOCK;
        if (a->led == 1 && u->mem->span == u->mem->bytes * u->mem->n && !u->mem->ahead)
            u->mem->span = 0;
        if (!reached || a->whole || a->led > 1) {  // counted as it stands
            u->mem->span = 0;
            u->mem->ahead = 0;
        } else if (!a->led) {
            u->mem->merged = true;
            u->counts = 0;
        }
    }
}
