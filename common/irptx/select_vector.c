// Parts of vectors and structs: nothing is computed, but for an index that is not constant.
#include "irptx/select.h"

#include <string.h>

// items[index] for an index in a register: each of them is chosen in its turn.
static struct val element_at(struct code *c, struct vals items, struct val index, const struct ir_type *index_type,
                             const struct ir_type *t)
{
    const struct ir_type *bits = ir_int(c->m, t->bits);
    const struct operand i = value_extended(c, index, index_type, false);
    const uint32_t iw = width_of(c, index_type), w = width_of(c, t);
    uint32_t found = value_reg(c, value_plain(c, items.items[0], t), bits);
    for (uint32_t k = 1; k < items.count; k++) {
        const uint32_t is = PURE(c, 1, code_name(c, "setp.eq.s%u", iw), i, operand_int(k));
        const struct operand this = operand_reg(value_reg(c, value_plain(c, items.items[k], t), bits));
        found = PURE(c, w, code_name(c, "selp.b%u", w), this, operand_reg(found), operand_reg(is));
    }
    return t->kind == IR_PTR ? pointer_from(c, found, t->space) : val_reg(found);
}

static void extract_element(struct code *c, const struct ir_inst *x)
{
    const struct vals from = vals_of(c, &x->args[0]);
    const struct val index = value_one(c, &x->args[1]);
    struct vals out = value_list(c, 1);
    if (index.kind == VAL_REG && x->type->bits == 1)
        ir_fail(c->m, "a bit of a vector at a variable index is not known");
    if (index.kind == VAL_REG)
        out.items[0] = element_at(c, from, index, x->args[1].type, x->type);
    else if ((uint64_t)index.bits < from.count)
        out.items[0] = from.items[index.bits];
    value_set(c, x, out.items, 1);
}

static void insert_element(struct code *c, const struct ir_inst *x)
{
    const struct vals from = vals_of(c, &x->args[0]);
    const struct val value = value_one(c, &x->args[1]), index = value_one(c, &x->args[2]);
    const struct ir_type *t = x->args[1].type, *bits = ir_int(c->m, t->bits);
    const uint32_t w = width_of(c, t);
    struct vals out = value_list(c, from.count);
    memcpy(out.items, from.items, from.count * sizeof *out.items);
    if (index.kind == VAL_REG && (w == 1 || t->kind == IR_PTR))
        ir_fail(c->m, "a vector of this type at a variable index is not known");
    for (uint32_t i = 0; i < from.count; i++) {
        if (index.kind != VAL_REG) {
            out.items[i] = i == (uint64_t)index.bits ? value : from.items[i];
            continue;
        }
        const struct operand at = value_extended(c, index, x->args[2].type, false);
        const uint32_t is = PURE(c, 1, code_name(c, "setp.eq.s%u", width_of(c, x->args[2].type)), at, operand_int(i));
        out.items[i] = val_reg(PURE(c, w, code_name(c, "selp.b%u", w), value_use(c, value, bits),
                                    value_use(c, from.items[i], bits), operand_reg(is)));
    }
    value_set(c, x, out.items, out.count);
}

static void shuffle(struct code *c, const struct ir_inst *x)
{
    const struct vals a = vals_of(c, &x->args[0]), b = vals_of(c, &x->args[1]), mask = vals_of(c, &x->args[2]);
    struct vals out = value_list(c, mask.count);
    for (uint32_t i = 0; i < mask.count; i++) {
        const uint64_t from = mask.items[i].kind == VAL_BITS ? (uint64_t)mask.items[i].bits : UINT64_MAX;
        if (from < a.count)
            out.items[i] = a.items[from];
        else if (from != UINT64_MAX && from - a.count < b.count)
            out.items[i] = b.items[from - a.count];
    }
    value_set(c, x, out.items, out.count);
}

// Which scalars a field of a struct is.
static void find_field(struct code *c, const struct ir_inst *x, uint32_t *first, uint32_t *count)
{
    const struct ir_type *t = x->args[0].type;
    *first = 0;
    for (uint32_t i = 0; i < x->index_count; i++) {
        uint64_t at;
        uint32_t n;
        for (uint64_t k = 0; k < x->index[i]; k++) {
            ir_leaves(c->m, ir_step(c->m, t, k, &at), &n);
            *first += n;
        }
        t = ir_step(c->m, t, x->index[i], &at);
    }
    ir_leaves(c->m, t, count);
}

static void field(struct code *c, const struct ir_inst *x)
{
    uint32_t first, count;
    find_field(c, x, &first, &count);
    const struct vals from = vals_of(c, &x->args[0]);
    if (x->op == OP_extractvalue) {
        value_set(c, x, from.items + first, count);
        return;
    }
    struct vals out = value_list(c, from.count);
    memcpy(out.items, from.items, from.count * sizeof *out.items);
    memcpy(out.items + first, vals_of(c, &x->args[1]).items, count * sizeof *out.items);
    value_set(c, x, out.items, out.count);
}

void select_vector(struct code *c, const struct ir_inst *x)
{
    if (x->op == OP_extractelement)
        extract_element(c, x);
    else if (x->op == OP_insertelement)
        insert_element(c, x);
    else if (x->op == OP_shufflevector)
        shuffle(c, x);
    else
        field(c, x);
}
