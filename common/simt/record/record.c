// See record.h. Each register and each byte of shared memory has an origin, which instructions pass on: a load from
// global memory sets it, a multiply-add makes it the lane's own, and everything else hands on that of its operands.
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "record_box.h"

#define SLOT_BYTES (LANES * 4u)

// How many of a, b and c are registers whose origin goes on to d.
static const uint8_t operands[ALU_OPS] = {
#define ALU(id, name, n, ...) n,
#define SETP(...) 0,
#define LOGIC(...) 0,
#define SELP(...) 2,
#include "simt/code/alu.def"
};

// --- origins ---

static bool start(struct record *r, const struct warp *w)
{
    const struct grid *g = w->block->worker->grid;
    if (r->shared)
        return true;
    r->warps = w->block->n_warps;
    r->file_slots = g->code->file_bytes / SLOT_BYTES + 2;
    r->shared_bytes = g->shared_bytes;
    r->shared = calloc(r->shared_bytes + 1u, sizeof *r->shared);
    r->slots = calloc((size_t)r->warps * r->file_slots * LANES, sizeof *r->slots);
    r->instructions = calloc(r->warps, sizeof *r->instructions);
    r->barriers = calloc(r->warps, sizeof *r->barriers);
    r->failed = !r->shared || !r->slots || !r->instructions || !r->barriers;
    return !r->failed;
}

static uint64_t *slot(const struct record *r, uint32_t warp, uint32_t at)
{
    return &r->slots[((size_t)warp * r->file_slots + at / SLOT_BYTES) * LANES];
}

static uint64_t own(uint32_t warp, uint32_t lane)
{
    return ORIGIN_LANE + (uint64_t)warp * LANES + lane;
}

static void set_slot(struct record *r, uint32_t warp, uint32_t at, uint32_t active, bool owned)
{
    uint64_t *to = slot(r, warp, at);
    for (uint32_t i = 0; i < LANES; i++)
        if (active >> i & 1)
            to[i] = owned ? own(warp, i) : 0;
}

static bool multiplies(const struct uop *u)
{
    return u->kind == UOP_WARP ? u->warp->tensor > 0 : u->kind == UOP_ALU && u->flop > 1;
}

static void pass_on(struct record *r, uint32_t warp, const struct uop *u, uint32_t active)
{
    const uint32_t from[] = { u->a, u->b, u->c };
    uint64_t *to = slot(r, warp, u->d);
    if (u->saves == SLOT_PRED)
        return;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t origin = 0;
        for (int k = 0; k < operands[u->op] && !origin; k++)
            origin = slot(r, warp, from[k])[i];
        if (active >> i & 1)
            to[i] = multiplies(u) ? own(warp, i) : origin;
    }
}

// The origin of a byte that lane stores from element e of the instruction's registers.
static uint64_t stored(const struct record *r, uint32_t warp, const struct memop *m, uint32_t lane, uint32_t byte)
{
    const uint32_t e = byte / m->bytes;
    const uint64_t from = e < m->n && m->reg_class[e] != SLOT_NONE ? slot(r, warp, m->reg[e])[lane] : 0;
    return from && !origin_is_lane(from) ? from + byte % m->bytes : from;
}

static void load_origins(struct record *r, uint32_t warp, const struct memop *m, const struct trace_access *a,
                         bool shared)
{
    for (uint32_t e = 0; e < m->n; e++)
        for (uint32_t i = 0; i < LANES && m->reg_class[e] != SLOT_NONE; i++) {
            const uint64_t at = a->address[i] + (uint64_t)e * m->bytes;
            if (a->mask >> i & 1)
                slot(r, warp, m->reg[e])[i] = shared ? record_shared(r, at) : at;
        }
}

static void store_shared(struct record *r, const struct record_event *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        const struct trace_access *a = &e->access[i];
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t b = 0; a->mask >> lane & 1 && b < a->bytes; b++)
                if (a->address[lane] + b < r->shared_bytes)
                    r->shared[a->address[lane] + b] = e->origin[i][lane][b];
    }
}

// --- accesses ---

// The accesses of a load, a store or cp.async's side in its memop, by the lanes that go to space.
static bool lanes_access(struct record *r, const struct warp *w, const struct memop *m, uint32_t active,
                         struct record_event *e)
{
    struct trace_access *a = &r->access[0];
    const struct trace_lanes to = trace_lanes(w, m, active);
    memcpy(a->address, to.address, sizeof a->address);
    e->space = to.shared ? SPACE_SHARED : SPACE_GLOBAL;
    a->mask = to.shared ? to.shared : to.global;
    a->bytes = m->n ? m->bytes * m->n : m->bytes;
    e->n = a->mask ? 1 : 0;
    return e->n;
}

static void rows_access(struct record *r, const struct warp *w, const struct uop *u, struct record_event *e)
{
    struct trace_access *a = &r->access[0];
    const uint32_t rows = 8 * u->warp->shape;
    for (uint32_t i = 0; i < LANES; i++)
        a->address[i] = trace_shared(w, access_address(w, &u->warp->mem, i));
    a->mask = rows < LANES ? (1u << rows) - 1 : ALL_LANES;
    a->bytes = 16;
    e->space = SPACE_SHARED;
    e->n = 1;
}

// ldmatrix: lanes 8 i to 8 i + 7 name the rows of matrix i, up to four matrices an instruction.
static void tile_rows(struct record *r, const struct warp *w, const struct tile_accesses *all, struct record_event *e)
{
    e->n = (all->n + 3) / 4;
    for (uint32_t i = 0; i < e->n; i++) {
        const uint32_t matrices = all->n - 4 * i < 4 ? all->n - 4 * i : 4;
        r->access[i].mask = matrices < 4 ? (1u << 8 * matrices) - 1 : ALL_LANES;
        r->access[i].bytes = 16;
        for (uint32_t row = 0; row < 8 * matrices; row++)
            r->access[i].address[row] = trace_shared(w, all->address[4 * i + row / 8][row % 8]);
    }
}

static void tile_access(struct record *r, const struct warp *w, const struct uop *u, bool store, struct record_event *e)
{
    struct tile tile = tile_of(w, u, store);
    struct tile_accesses all;
    enum ptx_space space = u->warp->mem.space;
    tile.ldsm &= !store;  // what is stored: by lanes, whichever way the machine takes it
    access_place(w, 0, &space, tile.address, 1);
    if (space != SPACE_SHARED && space != SPACE_GLOBAL)
        return;
    tile_accesses(&tile, &all);
    e->space = space;
    if (tile.ldsm) {
        tile_rows(r, w, &all, e);
        return;
    }
    e->n = all.n;
    for (uint32_t i = 0; i < all.n; i++) {
        r->access[i].mask = ALL_LANES;
        r->access[i].bytes = all.bytes;
        for (uint32_t lane = 0; lane < LANES; lane++)
            r->access[i].address[lane] =
                space == SPACE_SHARED ? trace_shared(w, all.address[i][lane]) : all.address[i][lane];
    }
}

// What stmatrix and wmma.store put down is the lanes' own. Row k of stmatrix comes from several lanes: see
// exec_matrix.c.
static void own_origins(struct record *r, uint32_t warp, const struct uop *u, uint32_t n)
{
    const bool rows = u->warp->kind == WARP_stmatrix, turned = u->warp->op;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < LANES; k++)
            for (uint32_t b = 0; b < 16; b++) {
                const uint32_t lane = !rows ? k : turned ? 4 * (b / 2) + k % 8 / 2 : 4 * (k % 8) + b / 4;
                r->origin[i][k][b] = own(warp, lane);
            }
}

static void tell(struct record *r, const struct record_event *e)
{
    r->tell(r->context, r, e);
    if (e->kind == RECORD_STORE && e->space == SPACE_SHARED && e->block == r->block)
        store_shared(r, e);
}

static void plain(struct record *r, const struct warp *w, const struct uop *u, uint32_t active, struct record_event *e)
{
    const struct memop *m = u->mem;
    const bool followed = e->block == r->block;
    e->kind = u->kind == UOP_LOAD ? RECORD_LOAD : RECORD_STORE;
    if (!lanes_access(r, w, m, active, e)) {
        e->kind = RECORD_OTHER;
        for (uint32_t i = 0; followed && u->kind == UOP_LOAD && i < m->n; i++)
            if (m->reg_class[i] != SLOT_NONE)
                set_slot(r, w->index, m->reg[i], active, false);
    } else if (u->kind == UOP_LOAD && followed) {
        load_origins(r, w->index, m, &r->access[0], e->space == SPACE_SHARED);
    } else if (u->kind == UOP_STORE && followed) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t b = 0; b < r->access[0].bytes && b < 16; b++)
                r->origin[0][lane][b] = stored(r, w->index, m, lane, b);
    }
    tell(r, e);
}

// The bytes that a lane's cp.async reads; those that it copies beyond them are zeros.
static uint32_t copy_reads(const struct warp *w, const struct warpop *op, uint32_t lane)
{
    const uint32_t size = op->n_in > 1 ? ((const u32 *)(w->regs + op->in[1]))[lane] : op->mem.bytes;
    return size < op->mem.bytes ? size : op->mem.bytes;
}

// cp.async: a store to shared memory, and a load from global memory by the lanes that read something.
static void copy(struct record *r, const struct warp *w, const struct uop *u, uint32_t active, struct record_event *e)
{
    struct trace_access *a = &r->access[0];
    uint64_t from[LANES];
    uint32_t size[LANES], left = 0;
    if (!lanes_access(r, w, &u->warp->mem, active, e))
        return;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        from[lane] = ((const u64 *)(w->regs + u->warp->in[0]))[lane] + u->warp->shape;
        size[lane] = copy_reads(w, u->warp, lane);
        left |= (uint32_t)(size[lane] != 0) << lane;
        for (uint32_t b = 0; b < 16; b++)
            r->origin[0][lane][b] = b < size[lane] ? from[lane] + b : 0;
    }
    left &= a->mask;
    e->kind = RECORD_STORE;
    tell(r, e);
    memcpy(a->address, from, sizeof from);
    e->kind = RECORD_LOAD;
    e->space = SPACE_GLOBAL;
    e->counts = false;
    for (; left; left &= ~a->mask) {  // lanes that read as many bytes, together
        a->bytes = size[__builtin_ctz(left)];
        a->mask = 0;
        for (uint32_t lane = 0; lane < LANES; lane++)
            a->mask |= (uint32_t)(left >> lane & 1 && size[lane] == a->bytes) << lane;
        tell(r, e);
    }
}

// The next chunks of a box, as if the lanes stored them to shared memory, or loaded them from global memory.
static void tell_chunks(struct record *r, const struct record_box *box, uint32_t from, struct record_event *e)
{
    struct trace_access *a = &r->access[0];
    uint32_t in_bounds = 0;
    *a = (struct trace_access){ .bytes = BOX_CHUNK };
    for (uint32_t lane = 0; lane < LANES && from + lane < box->chunks; lane++) {
        a->address[lane] = record_box_chunk(box, from + lane, r->origin[0][lane]);
        a->mask |= 1u << lane;
        in_bounds |= (uint32_t)(r->origin[0][lane][0] != 0) << lane;
    }
    e->n = 1;
    e->mbarrier = 1 + box->mbarrier;
    e->kind = RECORD_STORE;
    e->space = SPACE_SHARED;
    tell(r, e);
    e->counts = false;
    for (uint32_t lane = 0; lane < LANES; lane++)
        a->address[lane] = r->origin[0][lane][0];
    a->mask = in_bounds;
    e->kind = RECORD_LOAD;
    e->space = SPACE_GLOBAL;
    if (in_bounds)
        tell(r, e);
}

// A bulk copy to shared memory: what it brings is told when it is asked for.
static void bulk(struct record *r, const struct warp *w, const struct uop *u, uint32_t active, struct record_event *e)
{
    struct record_box box;
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (active >> lane & 1 && record_box_read(w, u, lane, &box))
            for (uint32_t i = 0; i < box.chunks; i += LANES)
                tell_chunks(r, &box, i, e);
    if (e->kind != RECORD_OTHER)
        return;
    tell(r, e);  // it moves nothing to shared memory
}

static void whole_warp(struct record *r, const struct warp *w, const struct uop *u, uint32_t active,
                       struct record_event *e)
{
    const struct warpop *op = u->warp;
    const bool load = op->kind == WARP_ldmatrix || op->kind == WARP_wmma_load;
    const bool store = op->kind == WARP_stmatrix || op->kind == WARP_wmma_store;
    if (op->kind == WARP_copy && e->block == r->block) {
        copy(r, w, u, active, e);
        return;
    }
    if (op->kind == WARP_bulk && e->block == r->block) {
        bulk(r, w, u, active, e);
        return;
    }
    if (op->kind == WARP_ldmatrix || op->kind == WARP_stmatrix)
        rows_access(r, w, u, e);
    else if (load || store)
        tile_access(r, w, u, store, e);
    e->kind = multiplies(u) ? RECORD_MULTIPLY : load ? RECORD_LOAD : store ? RECORD_STORE : RECORD_OTHER;
    if (store)
        own_origins(r, w->index, u, e->n);
    for (uint32_t i = 0; e->block == r->block && i < op->n_out; i++)
        set_slot(r, w->index, op->out[i], active, multiplies(u));
    for (uint32_t i = 0; e->block == r->block && i < op->n_wide_out; i++)
        set_slot(r, w->index, op->wide_out[i], active, true);  // accumulators of wgmma
    tell(r, e);
}

// --- the run ---

static bool stores_global(const struct uop *u)
{
    const struct memop *m = u->kind == UOP_STORE                      ? u->mem
                            : u->kind == UOP_WARP && u->warp->has_mem ? &u->warp->mem
                                                                      : NULL;
    return m && (m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC);
}

void record_step(struct record *r, const struct warp *w, const struct uop *u, uint32_t active)
{
    const bool followed = w->block->linear == r->block;
    struct record_event e = { .u = u,
                              .block = w->block->linear,
                              .warp = w->index,
                              .counts = u->counts,
                              .access = r->access,
                              .origin = (const uint64_t(*)[LANES][16])r->origin };
    if (r->failed || !start(r, w) || (!followed && !stores_global(u)))
        return;
    e.at = followed ? r->instructions[w->index] : 0;
    e.barriers = followed ? r->barriers[w->index] : 0;
    if (u->kind == UOP_LOAD || u->kind == UOP_STORE) {
        plain(r, w, u, active, &e);
    } else if (u->kind == UOP_WARP) {
        whole_warp(r, w, u, active, &e);
    } else {
        if (u->kind == UOP_ALU)
            pass_on(r, w->index, u, active);
        else if (u->kind == UOP_SREG)
            set_slot(r, w->index, u->d, active, false);
        for (uint32_t i = 0; u->kind == UOP_PARAM && i < u->mem->n; i++)
            if (u->mem->reg_class[i] == SLOT_32 || u->mem->reg_class[i] == SLOT_64)
                set_slot(r, w->index, u->mem->reg[i], active, false);
        e.kind = u->kind == UOP_BARRIER ? RECORD_BARRIER : multiplies(u) ? RECORD_MULTIPLY : RECORD_OTHER;
        tell(r, &e);
    }
    if (followed) {
        r->instructions[w->index] += u->counts;
        r->barriers[w->index] += u->kind == UOP_BARRIER;
    }
}

void record_free(struct record *r)
{
    free(r->shared);
    free(r->slots);
    free(r->instructions);
    free(r->barriers);
    r->shared = NULL;
}
