// Undefined bits through memory: loads, stores, and the accesses of whole warps. See check_shadow.h.
#include "check_state.h"
#include "check_shadow.h"
#include "shadow_memory.h"
#include "simt/code/access.h"
#include "simt/code/cluster.h"
#include "simt/code/tile.h"
#include "simt/code/warp_op.h"

// The space and offset of a lane's access; false where the access itself is an error, which is found elsewhere.
static bool find_place(const struct warp *w, const struct memop *m, uint32_t lane, uint32_t bytes,
                       struct shadow_place *place)
{
    place->space = m->space;
    place->address = access_address(w, m, lane);
    const uint32_t align = bytes & -bytes;
    if (place->address & (align - 1) || !access_place(w, lane, &place->space, place->address, bytes))
        return false;
    if (place->space == SPACE_SHARED && cluster_block(w->block->worker, place->address) != w->block)
        return false;  // another block's: not followed
    if (place->space != SPACE_GLOBAL)
        place->address = place->space == SPACE_SHARED ? cluster_offset(place->address) : place->address & MEMORY_OFFSET;
    place->thread = w->index * LANES + lane;
    return place->space == SPACE_GLOBAL || place->space == SPACE_SHARED || place->space == SPACE_LOCAL;
}

static struct shadows *shadows_of(const struct warp *w)
{
    return w->block->check->shadows;
}

// What a followed load finds that nothing has written: the bits, and their origin.
static uint64_t unset(const struct warp *w, const struct uop *u, const struct shadow_place *place, uint32_t bytes,
                      uint64_t *origin)
{
    uint64_t bits = 0, from = 0;
    if (place->space == SPACE_SHARED) {
        bits = check_shared_unset(w->block, (uint32_t)place->address, bytes);
        from = ORIGIN_SHARED | (place->address & ORIGIN_NUMBER);
    } else if (place->space == SPACE_GLOBAL && (bits = check_global_unset(w->block, place->address, bytes))) {
        const uint32_t first = (uint32_t)__builtin_ctzll(bits) / 8;
        const uint32_t number = shadows_note(shadows_of(w), place->address + first);
        w->block->worker->check->failed |= !number;
        from = ORIGIN_GLOBAL | number;
    }
    if (bits)
        *origin = shadow_used_by(from, u);
    return bits;
}

bool shadow_load(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    const struct memop *m = s->mem;
    EACH(active, lane)
    {
        struct shadow_place place;
        const bool found = find_place(w, m, lane, m->bytes * m->n, &place);
        for (uint32_t e = 0; e < m->n; e++, place.address += m->bytes) {
            uint64_t bits = 0, origin = 0;
            if (s->at[e] == NO_SHADOW)
                continue;
            if (found)
                bits = shadows_get(shadows_of(w), &place, m->bytes, &origin);
            if (found && m->ahead_of_use)
                bits |= unset(w, u, &place, m->bytes, &origin);
            if (!origin && bits)
                origin = shadow_used_by(ORIGIN_LOCAL | (place.address & ORIGIN_NUMBER), u);
            if (m->extend == EXTEND_SIGN && bits >> (8 * m->bytes - 1))
                bits |= ~shadow_mask(m->bytes);
            shadow_put(w, op->out[s->at[e]], m->reg_class[e], lane, bits);
            shadow_put(w, op->out[s->at[e] + 1], SLOT_64, lane, origin);
        }
    }
    return true;
}

// Is what a lane stores to global memory an error here, rather than for whoever loads it?
static bool wrong_store(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t *origin)
{
    const struct warpop *op = u->warp;
    const struct memop *m = ((const struct shadow *)op->more)->mem;
    bool whole = true, computed = false;
    for (uint32_t e = m->n; e-- > 0;) {
        const uint64_t bits = shadow_get(w, op->in[2 * e], m->reg_class[e], lane) & shadow_mask(m->bytes);
        const uint64_t from = shadow_get(w, op->in[2 * e + 1], SLOT_64, lane);
        whole &= bits == shadow_mask(m->bytes);
        if (!bits || (computed && !(from & ORIGIN_COMPUTED)))
            continue;
        computed |= (from & ORIGIN_COMPUTED) != 0;
        *origin = from;
    }
    return whole || computed;
}

// Does a store put defined bytes where all bytes are defined?
static bool changes_nothing(const struct warp *w, const struct uop *u)
{
    const struct warpop *op = u->warp;
    const struct memop *m = ((const struct shadow *)op->more)->mem;
    bool nothing = shadows_none(shadows_of(w), m->space);
    for (uint32_t e = 0; nothing && e < m->n; e++)
        nothing = shadow_all_defined(w, op->in[2 * e], m->reg_class[e]);
    return nothing;
}

bool shadow_store(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct memop *m = ((const struct shadow *)op->more)->mem;
    if (changes_nothing(w, u))
        return true;
    EACH(active, lane)
    {
        struct shadow_place place;
        uint64_t first = 0;
        if (!find_place(w, m, lane, m->bytes * m->n, &place))
            continue;
        const bool wrong = place.space == SPACE_GLOBAL && wrong_store(w, u, lane, &first);
        if (wrong)
            shadow_report(w, u, lane, first, SINK_STORED);
        for (uint32_t e = 0; e < m->n; e++, place.address += m->bytes) {
            const uint64_t bits = shadow_get(w, op->in[2 * e], m->reg_class[e], lane) & shadow_mask(m->bytes);
            uint64_t origin = shadow_get(w, op->in[2 * e + 1], SLOT_64, lane);
            if (place.space == SPACE_SHARED)  // who reads it there is far away: this is where to look
                origin = shadow_used_by(origin, u);
            if (!shadows_set(shadows_of(w), &place, m->bytes, wrong ? 0 : bits, origin))
                w->block->worker->check->failed = true;
        }
    }
    return true;
}

// --- accesses of a whole warp, atomics, asynchronous copies ---

static void visit_bytes(const struct warp *w, const struct uop *u, const struct shadow_place *at, uint32_t bytes)
{
    const struct shadow *s = u->warp->more;
    struct shadow_place place = *at;
    for (uint32_t i = 0; i < bytes; i++, place.address++) {
        uint64_t origin = 0;
        if (!s->writes && shadows_get(shadows_of(w), &place, 1, &origin)) {
            shadow_report(w, u, place.thread % LANES, shadow_used_by(origin, u), SINK_READ);
            i = bytes;  // once is enough
        }
    }
    place.address = at->address;
    for (uint32_t i = 0; s->writes && i < bytes; i++, place.address++)
        shadows_set(shadows_of(w), &place, 1, 0, 0);
}

static void visit_tile(const struct warp *w, const struct uop *u)
{
    const struct shadow *s = u->warp->more;
    struct uop access = *u;
    access.warp = (struct warpop *)s->op;
    const struct tile t = tile_of(w, &access, s->writes);
    struct memop m = *s->mem;
    for (uint32_t row = 0; row < t.f->rows; row++) {
        for (uint32_t col = 0; col < t.f->cols; col++) {
            struct shadow_place place;
            m.offset = s->mem->offset + tile_element(&t, row, col);
            if (find_place(w, &m, 0, t.f->bytes, &place))
                visit_bytes(w, u, &place, t.f->bytes);
        }
    }
}

bool shadow_rows(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct shadow *s = u->warp->more;
    const uint32_t bytes = s->rows ? 16 : s->mem->bytes;
    if (s->rows)
        active &= s->op->shape >= 4 ? ALL_LANES : (1u << 8 * s->op->shape) - 1;
    if (s->tile) {
        visit_tile(w, u);
        return true;
    }
    EACH(active, lane)
    {
        struct shadow_place place;
        if (find_place(w, s->mem, lane, bytes, &place))
            visit_bytes(w, u, &place, bytes);
    }
    return true;
}

bool shadow_call(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct call *call = ((const struct shadow *)u->warp->more)->op->more;
    EACH(active, lane)
    {
        const struct shadow_place place = { SPACE_LOCAL, call->result, w->index * LANES + lane };
        if (call->result_bytes)
            shadows_set(shadows_of(w), &place, call->result_bytes, 0, 0);
    }
    return true;
}

// --- findings ---

// A load of shared memory that nothing has written.
static struct fault unset_shared(const struct warp *w, uint32_t inst, uint32_t lane, uint64_t at)
{
    struct fault f = check_site(w, inst, lane, FAULT_UNINIT_MEMORY);
    f.space = SPACE_SHARED;
    f.address = at + w->block->window;
    f.bytes = 1u << w->block->worker->grid->code->shared_shift;
    f.home = f.other_block = f.block;
    f.other_inst = inst;
    return f;
}

void shadow_report(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t origin, enum shadow_sink sink)
{
    const uint32_t inst = origin >> 32 ? (uint32_t)(origin >> 32) - 1 : u->inst;
    struct fault f = check_site(w, inst, lane, FAULT_UNWRITTEN);
    f.space = origin & ORIGIN_LOCAL ? SPACE_LOCAL : origin == ORIGIN_NAN ? SPACE_CONST : SPACE_REG;
    f.address = origin & ORIGIN_NUMBER;
    f.other_inst = u->inst;
    f.other_block = f.block;
    f.lanes = sink;
    if (origin & ORIGIN_GLOBAL) {
        check_global_early(w, lane, inst, shadows_noted(w->block->check->shadows, (uint32_t)f.address));
        return;
    }
    if (origin & ORIGIN_SHARED)
        f = unset_shared(w, inst, lane, f.address);
    check_note(w->block->worker->check, &f);
}
