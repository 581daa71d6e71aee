// Shuffles, votes and what else a whole warp does at once: from PTX instructions to uops; and what is shared by those
// who make such uops. Source: PTX ISA 9.7.9, 9.7.13.
#include "decode_warp.h"
#include "simt/code/warp_op.h"

void warpop_in(struct warpop *op, uint32_t vreg)
{
    op->in[op->n_in++] = vreg;
}

void warpop_outs(struct decoder *x, struct warpop *op, const struct ptx_operand *o, uint32_t bytes)
{
    struct ptx_operand d = *o;
    d.reg2 = -1;
    op->out[op->n_out++] = operand_destination(x, &d, bytes);
    if (o->reg2 < 0)
        return;
    if (x->f->regs[o->reg2].type != PTX_PRED)
        decode_fail(x, o->at, "expected a predicate register after the '|'");
    op->out[op->n_out++] = (uint32_t)o->reg2;
}

void values_read(struct decoder *x, struct values *list, uint32_t operand, enum ptx_type t)
{
    list->v[list->n++] = operand_value(x, &x->in->operand[operand], t);
}

void warpop_values(struct warpop *op, const struct values *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        warpop_in(op, list->v[i]);
}

void warpop_address(struct decoder *x, struct warpop *op, const struct ptx_operand *o, enum ptx_space space,
                    uint32_t bytes, enum mem_class class)
{
    op->has_mem = true;
    operand_address(x, o, space, &op->mem);
    op->mem.bytes = bytes;
    op->mem.counted = (uint8_t) class;
    op->mem.index = x->code->n_memops++;
}

// ptxas takes the words of these names in any order: CUDA's headers write both vote.sync.ballot.b32 and
// vote.ballot.sync.b32. So each has to be there once, wherever it stands.

// shfl.sync.mode.b32 d{|p}, a, b, c, members
void decode_shfl(struct decoder *x, const struct parts *s)
{
    int mode = PARTS_WHICH(s, "up", "down", "bfly", "idx");
    struct values in = { .n = 0 };
    if (s->n != 4 || !parts_have(s, "sync") || mode < 0 || !parts_have(s, "b32"))
        decode_unknown(x);
    operand_count(x, 5, 5);
    for (uint32_t i = 1; i < 5; i++)
        values_read(x, &in, i, PTX_B32);
    struct warpop *op = emit_warp(x, WARP_shuffle, GATHER_MEMBERS);
    op->op = (uint32_t)mode;
    warpop_values(op, &in);
    warpop_outs(x, op, &x->in->operand[0], 4);
}

// vote.sync.{all,any,uni}.pred p, {!}a, members; vote.sync.ballot.b32 d, {!}a, members
void decode_vote(struct decoder *x, const struct parts *s)
{
    int mode = PARTS_WHICH(s, "all", "any", "uni", "ballot");
    if (s->n != 4 || !parts_have(s, "sync") || mode < 0 || !parts_have(s, mode == VOTE_BALLOT ? "b32" : "pred"))
        decode_unknown(x);
    operand_count(x, 3, 3);
    uint32_t a = operand_predicate(x, &x->in->operand[1]), members = operand_value(x, &x->in->operand[2], PTX_B32);
    struct warpop *op = emit_warp(x, WARP_vote, GATHER_MEMBERS);
    op->op = (uint32_t)mode;
    warpop_in(op, a);
    warpop_in(op, members);
    if (mode == VOTE_BALLOT)
        warpop_outs(x, op, &x->in->operand[0], 4);
    else
        op->out[op->n_out++] = destination_predicate(x, &x->in->operand[0]);
}

// match.any.sync.b32 d, a, members; match.all.sync.b32 d{|p}, a, members
void decode_match(struct decoder *x, const struct parts *s)
{
    struct values in = { .n = 0 };
    const bool wide = parts_have(s, "b64"), all = parts_have(s, "all");
    if (s->n != 4 || (!all && !parts_have(s, "any")) || !parts_have(s, "sync") || (!wide && !parts_have(s, "b32")))
        decode_unknown(x);
    operand_count(x, 3, 3);
    values_read(x, &in, 1, wide ? PTX_B64 : PTX_B32);
    values_read(x, &in, 2, PTX_B32);
    struct warpop *op = emit_warp(x, WARP_match, GATHER_MEMBERS);
    op->op = all;
    op->type = wide ? 8 : 4;
    warpop_values(op, &in);
    warpop_outs(x, op, &x->in->operand[0], 4);
}

// redux.sync.op.type d, a, members
void decode_redux(struct decoder *x, const struct parts *s)
{
    struct values in = { .n = 0 };
    int mode = PARTS_WHICH(s, "add", "min", "max", "and", "or", "xor");
    if (s->n != 4 || !parts_have(s, "sync") || mode < 0 ||
        !(mode < REDUX_AND ? parts_have(s, "u32") || parts_have(s, "s32") : parts_have(s, "b32")))
        decode_unknown(x);
    operand_count(x, 3, 3);
    values_read(x, &in, 1, PTX_B32);
    values_read(x, &in, 2, PTX_B32);
    struct warpop *op = emit_warp(x, WARP_redux, GATHER_MEMBERS);
    op->op = (uint32_t)mode;
    op->type = parts_have(s, "s32");
    warpop_values(op, &in);
    warpop_outs(x, op, &x->in->operand[0], 4);
}

// elect.sync d|p, members
void decode_elect(struct decoder *x, const struct parts *s)
{
    struct values in = { .n = 0 };
    operand_count(x, 2, 2);
    if (s->n != 2 || !str_is(s->part[1], "sync") || x->in->operand[0].reg2 < 0)
        decode_unknown(x);
    values_read(x, &in, 1, PTX_B32);
    struct warpop *op = emit_warp(x, WARP_elect, GATHER_MEMBERS);
    warpop_values(op, &in);
    warpop_outs(x, op, &x->in->operand[0], 4);
}

void decode_activemask(struct decoder *x, const struct parts *s)
{
    operand_count(x, 1, 1);
    if (s->n != 2 || !str_is(s->part[1], "b32"))
        decode_unknown(x);
    struct warpop *op = emit_warp(x, WARP_activemask, GATHER_NONE);
    warpop_outs(x, op, &x->in->operand[0], 4);
}

// bar.warp.sync members
void decode_syncwarp(struct decoder *x)
{
    struct values in = { .n = 0 };
    operand_count(x, 1, 1);
    values_read(x, &in, 0, PTX_B32);
    warpop_values(emit_warp(x, WARP_syncwarp, GATHER_SYNC), &in);
}
