// Atomics and fences: from PTX instructions to uops. Source: PTX ISA 9.7.13, 9.7.14.
#include <string.h>

#include "decode_warp.h"
#include "simt/code/warp_op.h"

static enum ptx_space space_of(const struct parts *s)
{
    return parts_have(s, "global")                                   ? SPACE_GLOBAL
           : parts_have(s, "shared") || parts_have(s, "shared::cta") ? SPACE_SHARED
           : parts_have(s, "shared::cluster")                        ? SPACE_CLUSTER
                                                                     : SPACE_GENERIC;
}

static bool is_real(enum ptx_type type)
{
    return type >= PTX_F16 && type <= PTX_F64 && type != PTX_TF32;
}

// Is there an atomic operation mode (enum atomic; -1: none) on that type?
static bool has_type(int mode, enum ptx_type type)
{
    const bool bits = type == PTX_B32 || type == PTX_B64, whole = is_integer(type) && ptx_type_bytes(type) >= 4;
    switch (mode) {
    case ATOMIC_ADD:
        return whole || is_real(type);
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        return whole;
    case ATOMIC_EXCH:
    case ATOMIC_CAS:
        return bits || type == PTX_B128 || (mode == ATOMIC_CAS && type == PTX_B16);
    case ATOMIC_INC:
    case ATOMIC_DEC:
        return type == PTX_U32;
    default:
        return mode >= 0 && bits;
    }
}

// An operand of 128 bits is two halves: parse_registers.
static void read_operand(struct decoder *x, struct values *in, uint32_t i, enum ptx_type type)
{
    const struct ptx_operand *o = &x->in->operand[i];
    if (type == PTX_B128 && (o->kind != OPND_VEC || o->count != 2))
        decode_fail(x, o->at, "expected a register of type .b128");
    if (type != PTX_B128)
        values_read(x, in, i, type);
    for (uint32_t k = 0; type == PTX_B128 && k < 2; k++)
        in->v[in->n++] = operand_value(x, &o->list[k], PTX_B64);
}

static void write_result(struct decoder *x, struct warpop *op, enum ptx_type type)
{
    const struct ptx_operand *d = &x->in->operand[0];
    if (type != PTX_B128) {
        warpop_outs(x, op, d, ptx_type_bytes(type));
        return;
    }
    if (d->kind != OPND_VEC || d->count != 2)
        decode_fail(x, d->at, "expected a register of type .b128");
    warpop_outs(x, op, &d->list[0], 8);
    warpop_outs(x, op, &d->list[1], 8);
}

// atom{.sem}{.scope}{.space}.op{.noftz}.type d, [a], b{, c}; red the same without d
void decode_atomic(struct decoder *x, const struct parts *s)
{
    if (s->n > 1 && str_is(s->part[1], "async")) {
        decode_remote_store(x, s);
        return;
    }
    const bool atom = str_is(s->part[0], "atom");
    const int mode = PARTS_WHICH(s, "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec");
    const enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    const uint32_t bytes = ptx_type_bytes(type);
    parts_only(x, s, 1, s->n - 1,
               "relaxed acquire release acq_rel cta gpu sys cluster global shared shared::cta shared::cluster noftz "
               "add min max and or xor exch cas inc dec");
    if (!has_type(mode, type) || (!atom && mode >= ATOMIC_EXCH && mode <= ATOMIC_CAS))
        decode_unknown(x);
    uint32_t n = (atom ? 3u : 2u) + (mode == ATOMIC_CAS);
    operand_count(x, n, n);
    struct values in = { .n = 0 };
    for (uint32_t i = atom ? 2 : 1; i < n; i++)
        read_operand(x, &in, i, type);
    enum ptx_space space = space_of(s);
    struct warpop *op = emit_warp(x, WARP_atomic, GATHER_NONE);
    op->op = (uint32_t)mode;
    op->type = type;
    warpop_values(op, &in);
    if (atom)
        write_result(x, op, type);
    warpop_address(x, op, &x->in->operand[atom], space, bytes, MEM_ATOM);
    op->mem.order = ORDER_RELAXED;
    op->mem.scope = SCOPE_GPU;
    op->mem.polls = atom && decode_polls(x, x->in->operand[1].reg);
    decode_order(x, s, &op->mem);
    x->code->ordered |= space != SPACE_SHARED && space != SPACE_CLUSTER && (atom || is_real(type));
    if (atom && space != SPACE_SHARED)
        emit_poll(x, op->out[0], op->mem.base, in.v[0]);
}

// membar.{cta,gl,sys}, fence.{sc,acq_rel,acquire,release}.scope. A block's accesses happen in order here: only the
// checks look at fences. Those of proxies, and of the initialisation of mbarriers, order nothing else.
void decode_fence(struct decoder *x, const struct parts *s)
{
    const bool wide = parts_have(s, "gl") || parts_have(s, "gpu") || parts_have(s, "sys");
    const bool proxy = s->n > 1 && s->part[1].n >= 5 && !memcmp(s->part[1].p, "proxy", 5);
    const bool init = s->n > 1 && str_is(s->part[1], "mbarrier_init");
    if (init || (proxy && s->n > 2 && str_is(s->part[2], "async"))) {
        x->code->orders_threads = true;
        emit_warp(x, WARP_fence_proxy, GATHER_NONE)->op = init ? PROXY_MBARRIER_INIT : PROXY_ASYNC;
        return;
    }
    if (proxy) {
        decode_hint(x, s);
        return;
    }
    x->code->orders_threads = true;
    x->code->orders_blocks |= wide;
    emit_warp(x, WARP_fence, GATHER_NONE)->op = wide                       ? FENCE_WIDE
                                                : parts_have(s, "cluster") ? FENCE_CLUSTER
                                                                           : FENCE_CTA;
}
