// What the uops of decode/shadow.c do: undefined bits through registers and memory, and the findings. See shadow.h.
#include <string.h>

#include "check_state.h"
#include "check_shadow.h"
#include "simt/code/warp_op.h"

static uint64_t class_mask(unsigned class)
{
    return shadow_mask(class == SLOT_64 ? 8 : class == SLOT_32 ? 4 : 0);
}

static void define(const struct warp *w, uint32_t at, unsigned class, uint32_t active)
{
    if (active == ALL_LANES && shadow_all_defined(w, at, class))
        return;
    if (active == ALL_LANES)
        memset(w->regs + at, 0, class == SLOT_64 ? 8 * LANES : class == SLOT_32 ? 4 * LANES : 4);
    else
        EACH(active, i)
    shadow_put(w, at, class, i, 0);
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
        o.undefined[i] = shadow_get(w, op->in[3 * i + 1], s->class[i], lane) & shadow_mask(s->bytes[i]);
        o.origin[i] = shadow_get(w, op->in[3 * i + 2], SLOT_64, lane);
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
    const alu_fn alu = w->block->worker->grid->exec->alu[like.op];
    like.a = 0;
    like.b = SLOT_BYTES;
    like.c = 2 * SLOT_BYTES;
    like.d = 3 * SLOT_BYTES;
    struct warp copy = { .regs = slots };
    for (uint32_t k = 0; k < 1u << s->n; k++) {
        for (uint32_t i = 0; i < s->n; i++)
            fill(w, u, i, k >> s->same[i] & 1, slots + i * SLOT_BYTES);
        alu(slots, &like, 1);
        if (!k)
            memcpy(first, slots + like.d, SLOT_BYTES);
        struct warp before = { .regs = first };
        for (uint32_t lane = 0; lane < LANES; lane++)
            changes[lane] |= shadow_get(&copy, like.d, s->class_d, lane) ^ shadow_get(&before, 0, s->class_d, lane);
    }
    memcpy(undefined, changes, sizeof changes);
}

static bool decided(const struct warp *w, const struct uop *u, uint32_t lane, const struct operands *o)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    const uint64_t differ = shadow_get(w, op->in[0], s->class[0], lane) ^ shadow_get(w, op->in[3], s->class[1], lane);
    return differ & shadow_mask(s->bytes[0]) & ~o->undefined[0] & ~o->undefined[1];
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
    const uint64_t a = shadow_get(w, op->in[0], s->class[0], lane), b = shadow_get(w, op->in[3], s->class[1], lane);
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
        *origin = shadow_used_by(*origin, u) | ORIGIN_COMPUTED;
    return s->rule != SHADOW_BITS ? result(w, u, lane, &o) : control ? class_mask(s->class_d) : changed;
}

static bool operation(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    uint64_t bits[LANES] = { 0 };
    bool defined = true;
    for (uint32_t i = 0; i < s->n; i++)
        defined &= shadow_all_defined(w, op->in[3 * i + 1], s->class[i]);
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
        shadow_put(w, op->out[0], s->class_d, lane, undefined);
        shadow_put(w, op->out[1], SLOT_64, lane, origin);
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
        shadow_put(w, op->out[0], s->class_d, lane, UINT64_MAX);
        shadow_put(w, op->out[1], SLOT_64, lane, s->number);
    }
    return true;
}

static bool guard(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    EACH(active & *(const u32 *)(w->regs + op->in[0]), lane)
    {
        shadow_put(w, op->out[0], s->class_d, lane, UINT64_MAX);
        shadow_put(w, op->out[1], SLOT_64, lane,
                   shadow_used_by(shadow_get(w, op->in[1], SLOT_64, lane), u) | ORIGIN_COMPUTED);
    }
    return true;
}

static bool lanes(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    uint64_t bits[LANES], origin[LANES];
    EACH(active, lane)
    {
        const uint32_t from = (uint32_t)shadow_get(w, op->in[2], SLOT_32, lane) % LANES;
        bits[lane] = shadow_get(w, op->in[0], SLOT_32, from);
        origin[lane] = shadow_get(w, op->in[1], SLOT_64, from);
    }
    EACH(active, lane)
    {
        shadow_put(w, op->out[0], SLOT_32, lane, bits[lane]);
        shadow_put(w, op->out[1], SLOT_64, lane, origin[lane]);
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
        const uint32_t members = active & (uint32_t)shadow_get(w, s->op->in[s->op->n_in - 1], SLOT_32, lane);
        const uint32_t open = bits & members, yes = (uint32_t)shadow_get(w, op->in[2], SLOT_32, lane);
        const uint64_t origin = open ? shadow_get(w, op->in[1], SLOT_64, (uint32_t)__builtin_ctz(open)) : 0;
        shadow_put(w, op->out[0], s->class_d, lane,
                   vote_of((enum vote)s->op->op, open, yes & members & ~open, ~yes & members & ~open));
        shadow_put(w, op->out[1], SLOT_64, lane, origin);
    }
    return true;
}

// in: slots of undefined bits and their origin
static void use_one(const struct warp *w, const struct uop *u, uint32_t active, const uint32_t in[2])
{
    const struct shadow *s = u->warp->more;
    EACH(active, lane)
    {
        if (!(shadow_get(w, in[0], s->class[0], lane) & shadow_mask(s->bytes[0])))
            continue;
        shadow_report(w, u, lane, shadow_get(w, in[1], SLOT_64, lane), s->sink);
        shadow_put(w, in[0], s->class[0], lane, 0);
    }
}

static bool use(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct shadow *s = op->more;
    if (op->n_in && !shadow_all_defined(w, op->in[0], s->class[0]))
        use_one(w, u, active, op->in);
    for (uint32_t i = 0; i < op->n_wide_in; i += 2)
        if (!shadow_all_defined(w, op->wide_in[i], SLOT_32))
            use_one(w, u, active, &op->wide_in[i]);
    return true;
}

static bool become_defined(const struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    if (op->n_out)
        define(w, op->out[0], ((const struct shadow *)op->more)->class_d, active);
    for (uint32_t i = 0; i < op->n_wide_out; i++)
        define(w, op->wide_out[i], SLOT_32, active);
    return true;
}

bool warp_shadow(struct warp *w, const struct uop *u, uint32_t active)
{
    w->block->worker->steps--;  // no step of the kernel's
    switch (((const struct shadow *)u->warp->more)->rule) {
    case SHADOW_START:
        return start(w, u, active);
    case SHADOW_DEFINED:
        return become_defined(w, u, active);
    case SHADOW_GUARD:
        return guard(w, u, active);
    case SHADOW_LANES:
        return lanes(w, u, active);
    case SHADOW_VOTE:
        return vote(w, u, active);
    case SHADOW_USE:
        return use(w, u, active);
    case SHADOW_LOAD:
        return shadow_load(w, u, active);
    case SHADOW_STORE:
        return shadow_store(w, u, active);
    case SHADOW_NAN:
        EACH(active, lane)
        shadow_report(w, u, lane, ORIGIN_NAN, SINK_OPERAND);
        return true;
    case SHADOW_CALL:
        return shadow_call(w, u, active);
    case SHADOW_ROWS:
        return shadow_rows(w, u, active);
    default:
        return operation(w, u, active);
    }
}
