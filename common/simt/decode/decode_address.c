// What an access names: its space, base and offset, and what it means to other threads.
#include "decode_inst.h"

// The space and offset of [var + imm], [reg + imm] or [imm].
void operand_variable(struct decoder *x, const struct ptx_operand *o, enum ptx_space space, struct memop *m)
{
    if (o->kind != OPND_MEM)
        decode_fail(x, o->at, "expected an address in brackets");
    if (o->count)
        decode_fail(x, o->list->at, "'%.*s' takes an address alone", (int)x->in->op.n, x->in->op.p);
    m->space = space;
    m->offset = o->bits;
    if (o->var < 0)
        return;
    const struct ptx_var *v = &x->m->vars[o->var];
    m->offset += x->address[o->var];
    if (space == SPACE_PARAM && is_local_param(x, (uint32_t)o->var)) {
        m->space = SPACE_LOCAL;
        return;
    }
    if (space != SPACE_GENERIC && v->space != space && !(space == SPACE_CLUSTER && v->space == SPACE_SHARED))
        decode_fail(x, o->at, "'%.*s' is in another state space", (int)v->name.n, v->name.p);
    if (space == SPACE_GENERIC)
        m->space = v->space;
}

// Its register, or a constant 0.
void operand_base(struct decoder *x, const struct ptx_operand *o, struct memop *m)
{
    if (o->reg < 0) {
        const bool shared = m->space == SPACE_SHARED || m->space == SPACE_CLUSTER;
        m->base_class = SLOT_64;
        m->base = shared ? vreg_window(x, SLOT_64, 0) : vreg_const(x, SLOT_64, 0);
        return;
    }
    uint32_t width = reg_bytes(x, o->reg);
    bool narrow = width == 4 && (m->space == SPACE_SHARED || m->space == SPACE_LOCAL || m->space == SPACE_CONST ||
                                 m->space == SPACE_CLUSTER);
    if (x->f->regs[o->reg].type == PTX_PRED || (width != 8 && !narrow))
        decode_fail(x, o->at, "this address needs a 64-bit register");
    m->base = (uint32_t)o->reg;
    m->base_class = slot_for(width);
}

void operand_address(struct decoder *x, const struct ptx_operand *o, enum ptx_space space, struct memop *m)
{
    operand_variable(x, o, space, m);
    operand_base(x, o, m);
}

void decode_order(struct decoder *x, const struct parts *s, struct memop *m)
{
    bool scoped = false;
    for (uint32_t i = 1; i < s->n; i++) {
        const struct str p = s->part[i];
        const bool always = str_is(p, "volatile") || str_is(p, "mmio");
        m->order = str_is(p, "acquire")                      ? ORDER_ACQUIRE
                   : str_is(p, "release")                    ? ORDER_RELEASE
                   : str_is(p, "acq_rel") || str_is(p, "sc") ? ORDER_BOTH
                   : str_is(p, "relaxed")                    ? ORDER_RELAXED
                   : always && m->order == ORDER_WEAK        ? ORDER_VOLATILE
                                                             : m->order;
        scoped |= str_is(p, "cta") || str_is(p, "cluster") || str_is(p, "gpu") || str_is(p, "sys");
        m->scope = str_is(p, "cta")                          ? SCOPE_CTA
                   : str_is(p, "cluster")                    ? SCOPE_CLUSTER
                   : str_is(p, "gpu")                        ? SCOPE_GPU
                   : str_is(p, "sys") || (always && !scoped) ? SCOPE_SYS
                                                             : m->scope;
    }
    x->code->orders_threads |= m->order > ORDER_RELAXED;
    x->code->orders_blocks |= m->order > ORDER_RELAXED && m->scope >= SCOPE_GPU;
}
