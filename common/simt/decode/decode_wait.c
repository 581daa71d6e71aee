// Accesses that a thread may wait by: from the same address in each turn of a short loop. A plain load does not say so,
// as in while (!flag) __threadfence(); there, the loop has to do nothing else.
#include <string.h>

#include "decode_warp.h"

#define LOOP_MAX 12  // instructions
#define POLL_MAX 32  // the same, of a loop that says so

static bool writes(const struct ptx_inst *in, int32_t reg)
{
    const struct ptx_operand *d = in->operand;
    if (!in->n_operands)
        return false;
    bool found = d->kind == OPND_REG && (d->reg == reg || d->reg2 == reg);
    for (uint32_t i = 0; d->kind == OPND_VEC && i < d->count; i++)
        found |= d->list[i].reg == reg;
    return found;
}

static bool acts(struct str op)  // on other threads
{
    static const char *const actions[] = { "st.", "atom.", "red.", "bar.", "barrier.", "call", "cp.", "shfl." };
    bool found = false;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        found |= str_begins(op, actions[i]);
    return found;
}

// Is from .. to a loop that looks at the address in register reg (-1: a constant one) in each turn - and idle, does
// nothing else?
static bool looks(const struct ptx_func *f, uint32_t from, uint32_t to, int32_t reg, bool idle)
{
    for (uint32_t i = from; i <= to; i++)
        if ((idle && acts(f->insts[i].op)) || (reg >= 0 && writes(&f->insts[i], reg)))
            return false;
    return true;
}

static bool in_loop(const struct decoder *x, int32_t reg, uint32_t length, bool idle)
{
    const struct ptx_func *f = x->f;
    const uint32_t here = (uint32_t)(x->in - f->insts);
    for (uint32_t i = here; i < f->n_insts && i < here + length; i++) {
        const struct ptx_inst *in = &f->insts[i];
        if (in->op.n < 3 || memcmp(in->op.p, "bra", 3) || in->n_operands != 1 || in->operand->kind != OPND_LABEL)
            continue;
        const uint32_t back = in->operand->target;
        if (back <= here && here - back < length && looks(f, back, i, reg, idle))
            return true;
    }
    return false;
}

bool decode_waits(const struct decoder *x, int32_t reg)
{
    return in_loop(x, reg, LOOP_MAX, true);
}

bool decode_polls(const struct decoder *x, int32_t reg)
{
    return in_loop(x, reg, POLL_MAX, false);
}

void emit_poll(struct decoder *x, uint32_t result, uint32_t address, uint32_t operand)
{
    const uint32_t in[] = { result, address, operand };
    struct warpop *op = emit_warp(x, WARP_poll, GATHER_NONE);
    op->op = x->code->n_polls++;
    op->shape = x->vregs[result].slot == SLOT_PRED;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        if (in[i] == NO_VREG)
            continue;
        op->type |= (uint32_t)x->vregs[in[i]].slot << 2 * op->n_in;
        warpop_in(op, in[i]);
    }
}
