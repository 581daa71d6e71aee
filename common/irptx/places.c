// clang takes an instruction's place in the source away when it moves it out of a loop, or makes one of several. It
// gets that of the first instruction that uses its value: where else would a learner look for it? Copies of phis stay
// without.
#include "irptx/passes.h"

static bool is_place(const struct code *c, uint32_t line)
{
    return line && line < c->m->meta_count && c->m->meta[line].line;
}

// used_at: by register, the place of the first behind this instruction that reads it; 0: none is known.
static void give_place(const struct code *c, struct op *op, uint32_t *used_at)
{
    for (uint32_t k = 0; k < op->arg_count && !op->copy && !is_place(c, op->line); k++)
        if (op->args[k].def)
            op->line = used_at[op->args[k].reg];
    for (uint32_t k = 0; k < op->arg_count && is_place(c, op->line); k++)
        if (!op->args[k].def && op->args[k].reg)
            used_at[op->args[k].reg] = op->line;
}

void pass_places(struct code *c)
{
    uint32_t *used_at = ir_new(c->m, c->reg_count * sizeof *used_at);
    for (uint32_t i = c->order_count; i--;) {
        const struct code_block *b = &c->blocks[c->order[i]];
        for (uint32_t k = 0; k < b->edge_count && is_place(c, b->line); k++)
            used_at[b->edges[k].reg] = b->line;
        for (uint32_t k = b->op_count; k--;)
            give_place(c, &b->ops[k], used_at);
    }
}
