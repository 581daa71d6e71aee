// Branches, exits and barriers: from PTX instructions to uops.
#include "decode_inst.h"

void decode_bra(struct decoder *x, const struct parts *s)
{
    operand_count(x, 1, 1);
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        decode_unknown(x);
    const struct ptx_operand *o = &x->in->operand[0];
    if (o->kind != OPND_LABEL)
        decode_fail(x, o->at, "there is no label '%.*s'", (int)o->name.n, o->name.p);
    emit(x, UOP_BRANCH)->target = o->target;
}

void decode_leave(struct decoder *x, const struct parts *s)
{
    operand_count(x, 0, 0);
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        decode_unknown(x);
    emit(x, UOP_EXIT);
}

// trap; and brkpt: without a debugger the launch fails.
void decode_trap(struct decoder *x, const struct parts *s)
{
    operand_count(x, 0, 0);
    if (s->n > 1)
        decode_unknown(x);
    emit(x, UOP_TRAP);
}

// bar.red.popc.u32 d, a[, b], [!]c; bar.red.{and,or}.pred p, a[, b], [!]c
static void barrier_reduction(struct decoder *x, enum barrier_kind kind, bool aligned)
{
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, 3, 4);
    const uint32_t last = x->in->n_operands - 1;
    uint32_t a = operand_value(x, &o[1], PTX_U32);
    uint32_t b = last > 2 ? operand_value(x, &o[2], PTX_U32) : vreg_const(x, SLOT_32, 0);
    uint32_t c = operand_predicate(x, &o[last]);
    uint32_t d = kind == BARRIER_POPC ? operand_destination(x, &o[0], 4) : destination_predicate(x, &o[0]);
    struct uop *u = emit(x, UOP_BARRIER);
    u->a = a;
    u->b = b;
    u->c = c;
    u->d = d;
    u->target = kind;
    u->op = aligned;
}

// bar[.cta].sync a[, b]; bar.arrive a, b; bar.red...; barrier[.cta].sync[.aligned] a[, b]; barrier[.cta].red...
void decode_barrier(struct decoder *x, const struct parts *s)
{
    static const char *const words[] = { "sync", "arrive", "popc", "and", "or" };  // by enum barrier_kind
    int kind = -1;
    bool reduces = false;
    if (s->n == 3 && str_is(s->part[1], "warp") && str_is(s->part[2], "sync")) {
        decode_syncwarp(x);
        return;
    }
    if (s->n > 1 && str_is(s->part[1], "cluster")) {
        decode_cluster_barrier(x, s);
        return;
    }
    uint32_t n = s->n - (s->n > 1 && (str_is(s->part[s->n - 1], "u32") || str_is(s->part[s->n - 1], "pred")));
    for (uint32_t i = 1; i < n; i++) {
        int word = -1;
        for (int k = 0; k < (int)(sizeof words / sizeof *words); k++)
            word = str_is(s->part[i], words[k]) ? k : word;
        if (str_is(s->part[i], "red") && !reduces)
            reduces = true;
        else if (word >= 0 && kind < 0)
            kind = word;
        else if (word >= 0 || (!str_is(s->part[i], "cta") && !(str_is(s->part[i], "aligned") && i == n - 1)))
            decode_unknown(x);
    }
    const bool aligned = str_is(s->part[0], "bar") || parts_have(s, "aligned");
    const char *result = kind == BARRIER_POPC ? "u32" : "pred";
    if (kind < 0 || reduces != (kind >= BARRIER_POPC) || reduces != (n < s->n) ||
        (reduces && !str_is(s->part[n], result)))
        decode_unknown(x);
    if (reduces) {
        barrier_reduction(x, (enum barrier_kind)kind, aligned);
        return;
    }
    operand_count(x, kind == BARRIER_ARRIVE ? 2 : 1, 2);
    uint32_t a = operand_value(x, &x->in->operand[0], PTX_U32);
    uint32_t b = x->in->n_operands > 1 ? operand_value(x, &x->in->operand[1], PTX_U32) : vreg_const(x, SLOT_32, 0);
    struct uop *u = emit(x, UOP_BARRIER);
    u->a = a;
    u->b = b;
    u->target = (uint32_t)kind;
    u->op = aligned;
}
