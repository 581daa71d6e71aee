// What only clusters have: their barrier, and addresses in another block's shared memory. Source: PTX ISA 9.0, mapa,
// getctarank, barrier.cluster.
#include "decode_inst.h"
#include "simt/code/cluster.h"

// barrier.cluster.arrive{.release|.relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned}
void decode_cluster_barrier(struct decoder *x, const struct parts *s)
{
    const bool wait = s->n > 2 && str_is(s->part[2], "wait");
    operand_count(x, 0, 0);
    if (s->n < 3 || (!wait && !str_is(s->part[2], "arrive")))
        decode_unknown(x);
    for (uint32_t i = 3; i < s->n; i++) {
        const struct str p = s->part[i];
        const bool order = wait ? str_is(p, "acquire") : str_is(p, "release") || str_is(p, "relaxed");
        if (!order && !str_is(p, "aligned"))
            decode_unknown(x);
    }
    struct uop *u = emit(x, UOP_BARRIER);
    u->target = wait                       ? BARRIER_CLUSTER_WAIT
                : parts_have(s, "relaxed") ? BARRIER_CLUSTER_RELAXED
                                           : BARRIER_CLUSTER_ARRIVE;
    u->op = parts_have(s, "aligned");
    x->code->orders_threads = x->code->orders_cluster = true;
}

// mapa{.shared::cluster}.{u32,u64} d, a, rank: the same byte in the block of that rank
void decode_mapa(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    const bool shared = s->n == 3 && str_is(s->part[1], "shared::cluster");
    const enum ptx_type t = s->n == (shared ? 3u : 2u) ? ptx_type_named(s->part[s->n - 1]) : PTX_NONE;
    const bool wide = t == PTX_U64;
    operand_count(x, 3, 3);
    if ((!wide && t != PTX_U32) || (!shared && !wide))
        decode_unknown(x);
    const enum slot_class slot = wide ? SLOT_64 : SLOT_32;
    const uint64_t keep = ~((uint64_t)0xff << CLUSTER_SHIFT);
    uint32_t a = operand_value(x, &o[1], t), rank = operand_value(x, &o[2], PTX_U32);
    const uint32_t offset = vreg_new(x, slot), block = vreg_new(x, SLOT_32);
    emit_alu(x, wide ? ALU_and_b64 : ALU_and_b32, offset, a, vreg_const(x, slot, wide ? keep : (uint32_t)keep),
             NO_VREG);
    emit_alu(x, ALU_shl_b32, block, rank, vreg_const(x, SLOT_32, CLUSTER_SHIFT), NO_VREG);
    const uint32_t d = operand_destination(x, &o[0], wide ? 8 : 4);
    emit_alu(x, wide ? ALU_or_b64 : ALU_or_b32, d, offset,
             wide ? decode_unary(x, decode_op(x, "cvt.u64.u32"), block) : block, NO_VREG);
}

// getctarank{.shared::cluster}.{u32,u64} d, a: the rank of the block whose shared memory the address a names
void decode_getctarank(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    const bool shared = s->n == 3 && str_is(s->part[1], "shared::cluster");
    const enum ptx_type t = s->n == (shared ? 3u : 2u) ? ptx_type_named(s->part[s->n - 1]) : PTX_NONE;
    operand_count(x, 2, 2);
    if (t != PTX_U32 && t != PTX_U64)
        decode_unknown(x);
    uint32_t a = operand_value(x, &o[1], t);
    if (t == PTX_U64)
        a = decode_unary(x, ALU_low_b64, a);
    emit_alu(x, ALU_shr_u32, operand_destination(x, &o[0], 4), a, vreg_const(x, SLOT_32, CLUSTER_SHIFT), NO_VREG);
}
