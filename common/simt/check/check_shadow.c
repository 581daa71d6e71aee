// What the uops of decode/shadow.c do: undefined bits through registers and memory, and the findings. See shadow.h.
#include <string.h>

#include "simt/code/access.h"
#include "check.h"
#include "shadow_memory.h"
#include "simt/code/shadow.h"
#include "simt/code/tile.h"
#include "simt/code/warp.h"

#define EACH(lanes, i)                                                                                                 \
    for (uint32_t left_ = (lanes), i = 0; left_ && ((i = (uint32_t)__builtin_ctz(left_)), true); left_ &= left_ - 1)

static uint64_t get(const struct warp *w, uint32_t at, unsigned class, uint32_t lane)
{
    const unsigned char *slot = w->regs + at;
    return class == SLOT_64   ? ((const u64 *)slot)[lane]
           : class == SLOT_32 ? ((const u32 *)slot)[lane]
                              : *(const u32 *)slot >> lane & 1;
}

static void put(const struct warp *w, uint32_t at, unsigned class, uint32_t lane, uint64_t v)
{
    unsigned char *slot = w->regs + at;
    if (class == SLOT_64)
        ((u64 *)slot)[lane] = v;
    else if (class == SLOT_32)
        ((u32 *)slot)[lane] = (uint32_t)v;
    else
        *(u32 *)slot = (*(u32 *)slot & ~(1u << lane)) | (uint32_t)(v & 1) << lane;
}

static uint64_t type_mask(unsigned bytes)
{
    return bytes == 0 ? 1 : bytes >= 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
}

static uint64_t class_mask(unsigned class)
{
    return type_mask(class == SLOT_64 ? 8 : class == SLOT_32 ? 4 : 0);
}

static bool all_defined(const struct warp *w, uint32_t at, unsigned class)
{
    const u32 *slot = (const u32 *)(w->regs + at);
    const int words = class == SLOT_64 ? 2 * LANES : class == SLOT_32 ? LANES : 1;
    uint32_t any = 0;
    for (int i = 0; i < words; i++)
        any |= slot[i];
    return !any;
}

static void define(const struct warp *w, uint32_t at, unsigned class, uint32_t active)
{
    if (active == ALL_LANES)
        memset(w->regs + at, 0, class == SLOT_64 ? 8 * LANES : class == SLOT_32 ? 4 * LANES : 4);
    else
        EACH(active, i)
    put(w, at, class, i, 0);
}

static uint64_t used_by(uint64_t origin, const struct uop *u)
{
    return origin >> 32 ? origin : origin | (u->inst + 1ull) << 32;
}

static void report(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t origin, enum shadow_sink sink)
{
    const uint32_t inst = origin >> 32 ? (uint32_t)(origin >> 32) - 1 : u->inst;
    struct fault f = check_site(w, inst, lane, FAULT_UNWRITTEN);
    f.space = origin & ORIGIN_LOCAL ? SPACE_LOCAL : origin == ORIGIN_NAN ? SPACE_CONST : SPACE_REG;
    f.address = origin & ORIGIN_NUMBER;
    f.other_inst = u->inst;
    f.other_block = f.block;
    f.lanes = sink;
    check_note(w->block->worker->check, &f);
}

// --- operations ---

struct operands {
    uint64_t undefined[3], origin[3];  // of a lane
};

static struct operands operands_of(const struct warp *w, const struct uop *u, uint32_t lane)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    struct operands o = { { 0 }, { 0 } };
    for (uint32_t i = 0; i < s->n; i++) {
        o.undefined[i] = get(w, op->in[3 * i + 1], s->class[i], lane) & type_mask(s->bytes[i]);
        o.origin[i] = get(w, op->in[3 * i + 2], SLOT_64, lane);
    }
    return o;
}

// Both values of the predicates, or of the bits of a 4- or 8-byte slot, that are undefined.
static void fill(const struct warp *w, const struct uop *u, uint32_t operand, bool ones, unsigned char *to)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    const u32 *value = (const u32 *)(w->regs + op->in[3 * operand]);
    const u32 *bits = (const u32 *)(w->regs + op->in[3 * operand + 1]);
    const int words = s->class[operand] == SLOT_64 ? 2 * LANES : s->class[operand] == SLOT_32 ? LANES : 1;
    u32 *out = (u32 *)to;
    for (int i = 0; i < words; i++)
        out[i] = (value[i] & ~bits[i]) | (ones ? bits[i] : 0);
}

enum { SLOT_BYTES = 8 * LANES };

// Runs the operation on all zeros and all ones in place of each operand's undefined bits, one operand independent of
// the others. Of a bitwise operation, the result's bits that stay the same are defined.
static void changing_bits(const struct warp *w, const struct uop *u, uint64_t undefined[LANES])
{
    const struct shadow *s = u->warp->more;
    _Alignas(64) unsigned char slots[4 * SLOT_BYTES] = { 0 };
    unsigned char first[SLOT_BYTES];
    uint64_t changes[LANES] = { 0 };
    struct uop like = s->like;
    like.a = 0;
    like.b = SLOT_BYTES;
    like.c = 2 * SLOT_BYTES;
    like.d = 3 * SLOT_BYTES;
    struct warp copy = { .regs = slots };
    for (uint32_t k = 0; k < 1u << s->n; k++) {
        for (uint32_t i = 0; i < s->n; i++)
            fill(w, u, i, k >> s->same[i] & 1, slots + i * SLOT_BYTES);
        like.fn(slots, &like);
        if (!k)
            memcpy(first, slots + like.d, SLOT_BYTES);
        struct warp before = { .regs = first };
        for (uint32_t lane = 0; lane < LANES; lane++)
            changes[lane] |= get(&copy, like.d, s->class_d, lane) ^ get(&before, 0, s->class_d, lane);
    }
    memcpy(undefined, changes, sizeof changes);
}

static bool decided(const struct warp *w, const struct uop *u, uint32_t lane, const struct operands *o)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    const uint64_t differ = get(w, op->in[0], s->class[0], lane) ^ get(w, op->in[3], s->class[1], lane);
    return differ & type_mask(s->bytes[0]) & ~o->undefined[0] & ~o->undefined[1];
}

static uint64_t halves(uint64_t any)
{
    return (any & 0xffff ? 0xffff : 0) | (any & 0xffff0000 ? 0xffff0000 : 0);
}

// The result's undefined bits, where some operand has any.
static uint64_t result(const struct warp *w, const struct uop *u, uint32_t lane, const struct operands *o)
{
    const struct shadow *s = u->warp->more;
    const uint64_t any = o->undefined[0] | o->undefined[1] | o->undefined[2], whole = class_mask(s->class_d);
    switch (s->rule) {
    case SHADOW_CARRY:
        return whole & ~0ull << __builtin_ctzll(any);
    case SHADOW_HALVES:
        return halves(any);
    case SHADOW_PAIR:
        return (o->undefined[0] ? 0xffff0000 : 0) | (o->undefined[1] ? 0xffff : 0);
    case SHADOW_EQUAL:
        return decided(w, u, lane, o) ? 0 : whole;
    default:
        return whole;
    }
}

// Does a bitwise operation compute with the undefined bits, rather than move or replace them? One that chooses by them
// does, and one that sets bits which are undefined on the other side: a field that is put in place finds zeros there.
static bool computes(const struct warp *w, const struct uop *u, uint32_t lane, const struct operands *o)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    for (uint32_t i = 0; i < s->n; i++)
        if (o->undefined[i] && (s->controls >> i & 1 || (s->class[i] == SLOT_PRED && s->class_d != SLOT_PRED)))
            return true;
    if (!s->joins)
        return false;
    const uint64_t a = get(w, op->in[0], s->class[0], lane), b = get(w, op->in[3], s->class[1], lane);
    return (a & ~o->undefined[0] & o->undefined[1]) | (b & ~o->undefined[1] & o->undefined[0]);
}

// The undefined bits of a lane's result, and their origin; changed: what changing_bits found.
static uint64_t follow_lane(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t changed,
                            uint64_t *origin)
{
    const struct shadow *s = u->warp->more;
    const struct operands o = operands_of(w, u, lane);
    uint64_t control = 0;
    *origin = 0;
    for (uint32_t i = s->n; i-- > 0;) {
        *origin = o.undefined[i] ? o.origin[i] : *origin;
        control |= s->controls >> i & 1 ? o.undefined[i] : 0;
    }
    if (!(o.undefined[0] | o.undefined[1] | o.undefined[2]))
        return 0;
    if (s->rule != SHADOW_BITS || computes(w, u, lane, &o))
        *origin = used_by(*origin, u) | ORIGIN_COMPUTED;
    return s->rule != SHADOW_BITS ? result(w, u, lane, &o) : control ? class_mask(s->class_d) : changed;
}

static bool operation(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    uint64_t bits[LANES] = { 0 };
    bool defined = true;
    for (uint32_t i = 0; i < s->n; i++)
        defined &= all_defined(w, op->in[3 * i + 1], s->class[i]);
    if (defined) {
        define(w, op->out[0], s->class_d, active);
        return true;
    }
    if (s->rule == SHADOW_BITS)
        changing_bits(w, u, bits);
    EACH(active, lane)
    {
        uint64_t origin;
        const uint64_t undefined = follow_lane(w, u, lane, bits[lane], &origin);
        put(w, op->out[0], s->class_d, lane, undefined);
        put(w, op->out[1], SLOT_64, lane, origin);
    }
    return true;
}

// --- registers alone ---

static bool start(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    EACH(active, lane)
    {
        put(w, op->out[0], s->class_d, lane, UINT64_MAX);
        put(w, op->out[1], SLOT_64, lane, s->number);
    }
    return true;
}

static bool guard(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    EACH(active & *(const u32 *)(w->regs + op->in[0]), lane)
    {
        put(w, op->out[0], s->class_d, lane, UINT64_MAX);
        put(w, op->out[1], SLOT_64, lane, used_by(get(w, op->in[1], SLOT_64, lane), u) | ORIGIN_COMPUTED);
    }
    return true;
}

static bool lanes(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    uint64_t bits[LANES], origin[LANES];
    EACH(active, lane)
    {
        const uint32_t from = (uint32_t)get(w, op->in[2], SLOT_32, lane) % LANES;
        bits[lane] = get(w, op->in[0], SLOT_32, from);
        origin[lane] = get(w, op->in[1], SLOT_64, from);
    }
    EACH(active, lane)
    {
        put(w, op->out[0], SLOT_32, lane, bits[lane]);
        put(w, op->out[1], SLOT_64, lane, origin[lane]);
    }
    return true;
}

// A vote is defined where the members with defined bits decide it.
static uint64_t vote_of(enum vote kind, uint32_t open, uint32_t yes, uint32_t no)
{
    if (kind == VOTE_BALLOT)
        return open;
    return open && !(kind == VOTE_ANY && yes) && !(kind == VOTE_ALL && no) && !(yes && no);
}

static bool vote(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    const uint32_t bits = *(const u32 *)(w->regs + op->in[0]);
    EACH(active, lane)
    {
        const uint32_t members = active & (uint32_t)get(w, s->op->in[s->op->n_in - 1], SLOT_32, lane);
        const uint32_t open = bits & members, yes = (uint32_t)get(w, op->in[2], SLOT_32, lane);
        const uint64_t origin = open ? get(w, op->in[1], SLOT_64, (uint32_t)__builtin_ctz(open)) : 0;
        put(w, op->out[0], s->class_d, lane,
            vote_of((enum vote)s->op->op, open, yes & members & ~open, ~yes & members & ~open));
        put(w, op->out[1], SLOT_64, lane, origin);
    }
    return true;
}

static bool use(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    if (all_defined(w, op->in[0], s->class[0]))
        return true;
    EACH(active, lane)
    {
        if (!(get(w, op->in[0], s->class[0], lane) & type_mask(s->bytes[0])))
            continue;
        report(w, u, lane, get(w, op->in[1], SLOT_64, lane), s->sink);
        put(w, op->out[0], s->class[0], lane, 0);
    }
    return true;
}

// --- memory ---

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

static bool load(const struct warp *w, const struct uop *u, uint32_t active)
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
            if (!origin && bits)
                origin = used_by(ORIGIN_LOCAL | (place.address & (ORIGIN_COMPUTED - 1)), u);
            if (m->extend == EXTEND_SIGN && bits >> (8 * m->bytes - 1))
                bits |= ~type_mask(m->bytes);
            put(w, op->out[s->at[e]], m->reg_class[e], lane, bits);
            put(w, op->out[s->at[e] + 1], SLOT_64, lane, origin);
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
        const uint64_t bits = get(w, op->in[2 * e], m->reg_class[e], lane) & type_mask(m->bytes);
        const uint64_t from = get(w, op->in[2 * e + 1], SLOT_64, lane);
        whole &= bits == type_mask(m->bytes);
        if (!bits || (computed && !(from & ORIGIN_COMPUTED)))
            continue;
        computed |= (from & ORIGIN_COMPUTED) != 0;
        *origin = from;
    }
    return whole || computed;
}

static bool store(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct memop *m = ((const struct shadow *)op->more)->mem;
    EACH(active, lane)
    {
        struct shadow_place place;
        uint64_t first = 0;
        if (!find_place(w, m, lane, m->bytes * m->n, &place))
            continue;
        const bool wrong = place.space == SPACE_GLOBAL && wrong_store(w, u, lane, &first);
        if (wrong)
            report(w, u, lane, first, SINK_STORED);
        for (uint32_t e = 0; e < m->n; e++, place.address += m->bytes) {
            const uint64_t bits = get(w, op->in[2 * e], m->reg_class[e], lane) & type_mask(m->bytes);
            uint64_t origin = get(w, op->in[2 * e + 1], SLOT_64, lane);
            if (place.space == SPACE_SHARED)  // who reads it there is far away: this is where to look
                origin = used_by(origin, u);
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
            report(w, u, place.thread % LANES, used_by(origin, u), SINK_READ);
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

static bool rows(const struct warp *w, const struct uop *u, uint32_t active)
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

static bool call(const struct warp *w, const struct uop *u, uint32_t active)
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

bool warp_shadow(struct warp *w, const struct uop *u, uint32_t active)
{
    w->block->worker->steps--;  // no step of the kernel's
    switch (((const struct shadow *)u->warp->more)->rule) {
    case SHADOW_START:
        return start(w, u, active);
    case SHADOW_DEFINED:
        define(w, u->warp->out[0], ((const struct shadow *)u->warp->more)->class_d, active);
        return true;
    case SHADOW_GUARD:
        return guard(w, u, active);
    case SHADOW_LANES:
        return lanes(w, u, active);
    case SHADOW_VOTE:
        return vote(w, u, active);
    case SHADOW_USE:
        return use(w, u, active);
    case SHADOW_LOAD:
        return load(w, u, active);
    case SHADOW_STORE:
        return store(w, u, active);
    case SHADOW_NAN:
        EACH(active, lane)
        report(w, u, lane, ORIGIN_NAN, SINK_OPERAND);
        return true;
    case SHADOW_CALL:
        return call(w, u, active);
    case SHADOW_ROWS:
        return rows(w, u, active);
    default:
        return operation(w, u, active);
    }
}
