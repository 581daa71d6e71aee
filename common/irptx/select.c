// A function: its parameters, its blocks in their order, what phis get, and where each block goes on.
#include "irptx/select.h"

#include <string.h>

// --- Parameters ---

static const char *param_name(struct code *c, uint32_t i)
{
    return code_name(c, "%s_param_%u", c->name, i);
}

static uint32_t load_bits(struct code *c, uint32_t i, const struct ir_leaf *leaf, uint32_t bits)
{
    const uint32_t reg = code_reg(c, bits < 16 ? 16 : bits);
    const struct operand from = { .kind = OPERAND_MEMORY, .text = param_name(c, i), .value = (int64_t)leaf->at };
    const char *name = bits == 8 ? "ld.param.u8" : code_name(c, "ld.param.b%u", bits);
    EMIT(c, name, operand_def(reg), from)->effect = EFFECT_IF_USED;
    return reg;
}

static struct val load_param(struct code *c, uint32_t i, const struct ir_leaf *leaf, const struct ir_type *all)
{
    const struct ir_type *t = leaf->type;
    uint32_t bits = c->f->kernel ? 8 : param_bits(all, t);
    while (bits < t->bits)
        bits *= 2;
    const uint32_t reg = load_bits(c, i, leaf, bits);
    if (t->kind == IR_PTR && c->f->kernel && !t->space)  // what a launch hands over is in global memory
        return val_pointer(PURE(c, 64, "cvta.to.global.u64", operand_reg(reg)), SPACE_GLOBAL);
    return param_narrowed(c, reg, t);
}

static struct vals load_params(struct code *c, uint32_t i, const struct ir_type *t)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, t, &n);
    struct vals v = value_list(c, n);
    for (uint32_t k = 0; k < n; k++)
        v.items[k] = load_param(c, i, &leaves[k], t);
    return v;
}

// A struct that is passed by value is read where a launch has put it; a function makes a copy, which it may change.
static struct val struct_param(struct code *c, uint32_t i, const struct ir_param *p)
{
    if (c->f->kernel)
        return (struct val){ .kind = VAL_PTR, .space = SPACE_PARAM, .symbol = param_name(c, i) };
    const uint32_t align = p->align > ir_align(p->byval) ? p->align : ir_align(p->byval);
    const struct val copy = local_room(c, p->byval, align);
    store_scalars(c, copy, p->byval, align, "", load_params(c, i, p->byval).items);
    return copy;
}

static void select_params(struct code *c)
{
    for (uint32_t i = 0; i < c->f->param_count; i++) {
        const struct ir_param *p = &c->f->params[i];
        c->values[i + 1] = p->byval ? value_list(c, 1) : load_params(c, i, p->type);
        if (p->byval)
            c->values[i + 1].items[0] = struct_param(c, i, p);
    }
}

// --- Phis ---

// A phi is a register for each of its scalars, and for two halves that make a word, for loads and tensor cores take
// them so; they are there before the code, for a loop uses what is made below.
static uint32_t halves_at(const struct ir_leaf *leaves, uint32_t left)
{
    return left > 1 && leaves[0].type->bits == 16 && leaves[1].type->bits == 16 && leaves[0].at % 4 == 0 &&
                   leaves[1].at == leaves[0].at + 2
               ? 2
               : 1;
}

static void name_phi(struct code *c, const struct ir_inst *x, uint32_t block)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
    struct vals out = value_list(c, n);
    c->at = block;
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_type *t = leaves[i].type;
        if (halves_at(leaves + i, n - i) == 2) {
            const uint32_t first = code_split(c, code_reg(c, 32), 16, 2);
            out.items[i] = val_reg(first);
            out.items[++i] = val_reg(first + 1);
            continue;
        }
        const uint32_t space = x->type == t ? space_of(c, x) : t->space;
        const uint32_t reg = code_reg(c, t->kind == IR_PTR ? pointer_width(space) : width_of(c, t));
        out.items[i] = t->kind == IR_PTR ? val_pointer(reg, space) : val_reg(reg);
    }
    value_set(c, x, out.items, n);
}

static struct operand flows(struct code *c, struct val from, struct val to, const struct ir_type *t)
{
    if (t->kind == IR_PTR) {
        from = pointer_to_space(c, from, to.space);
        return from.reg || from.symbol ? operand_reg(pointer_reg(c, from)) : operand_int(from.bits);
    }
    return value_use(c, from, ir_int(c->m, t->bits == 1 ? 32 : t->bits));  // a constant of any type is its bits
}

static struct operand word_flows(struct code *c, const struct val *from)
{
    if (from[0].kind != VAL_REG && from[1].kind != VAL_REG)
        return operand_int(value_signed((from[0].bits & 0xffff) | from[1].bits << 16, 32));
    const struct ir_type *half = ir_int(c->m, 16);
    const uint32_t parts[2] = { value_reg(c, from[0], half), value_reg(c, from[1], half) };
    return operand_reg(code_join(c, parts, 2, 32));
}

static void fill_phi(struct code *c, const struct ir_inst *x, uint32_t block)
{
    const struct vals to = c->values[x->result];
    for (uint32_t i = 0; i < x->arg_count; i++) {
        struct code_block *b = &c->blocks[c->at = x->blocks[i]];
        if (b->order == UINT32_MAX)
            continue;
        uint32_t n, step;
        const struct ir_leaf *leaves = ir_leaves(c->m, x->type, &n);
        const struct vals from = vals_of(c, &x->args[i]);
        for (uint32_t k = 0; k < n; k += step) {
            step = halves_at(leaves + k, n - k);
            if (from.items[k].kind == VAL_UNDEF && from.items[k + step - 1].kind == VAL_UNDEF)
                continue;
            const struct operand o =
                step == 2 ? word_flows(c, &from.items[k]) : flows(c, from.items[k], to.items[k], leaves[k].type);
            const uint32_t reg = to.items[k].reg;
            b->copies = ir_grow(c->m, b->copies, b->copy_count, sizeof *b->copies);
            b->copies[b->copy_count++] = (struct phi_copy){ block, step == 2 ? c->regs[reg].whole : reg, o };
        }
    }
}

// --- Ends of blocks ---

static void add_edge(struct code *c, struct code_block *b, uint32_t reg, uint32_t to)
{
    b->edges = ir_grow(c->m, b->edges, b->edge_count, sizeof *b->edges);
    b->edges[b->edge_count++] = (struct edge){ reg, to };
}

static void select_branch(struct code *c, const struct ir_inst *x, uint32_t block)
{
    struct code_block *b = &c->blocks[block];
    b->to = x->blocks[0];
    if (!x->arg_count || x->blocks[0] == x->blocks[1])
        return;
    const struct val by = value_one(c, &x->args[0]);
    if (by.kind == VAL_REG)
        add_edge(c, b, by.reg, x->blocks[0]);
    if (by.kind == VAL_REG || !by.bits)
        b->to = x->blocks[1];
}

static void select_switch(struct code *c, const struct ir_inst *x, uint32_t block)
{
    const struct ir_type *t = x->args[0].type;
    const struct operand by = operand_reg(value_reg(c, value_one(c, &x->args[0]), t));
    const struct operand v = value_extended(c, val_reg(by.reg), t, false);
    for (uint32_t i = 1; i < x->arg_count; i++) {
        const struct operand n = value_extended(c, value_one(c, &x->args[i]), t, false);
        const uint32_t is = PURE(c, 1, code_name(c, "setp.eq.s%u", width_of(c, t)), v, n);
        if (x->blocks[i] != x->blocks[0])
            add_edge(c, &c->blocks[block], is, x->blocks[i]);
    }
    c->blocks[block].to = x->blocks[0];
}

static void select_return(struct code *c, const struct ir_inst *x, uint32_t block)
{
    c->blocks[block].end = END_RETURN;
    if (!x->arg_count)
        return;
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, c->f->result, &n);
    const struct vals from = vals_of(c, &x->args[0]);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = param_bits(c->f->result, leaves[i].type);
        const uint32_t reg = param_widened(c, from.items[i], leaves[i].type, bits);
        const struct operand to = { .kind = OPERAND_MEMORY,
                                    .text = code_name(c, "%s_ret", c->name),
                                    .value = (int64_t)leaves[i].at };
        EMIT(c, code_name(c, "st.param.b%u", bits), to, operand_reg(reg));
    }
}

// --- Instructions ---

static void select_inst(struct code *c, const struct ir_inst *x, uint32_t block)
{
    if (select_wide(c, x))
        return;
    switch (x->op) {
    case OP_phi:
        break;
    case OP_icmp:
    case OP_fcmp:
        select_compare(c, x);
        break;
    case OP_select:
        select_choice(c, x);
        break;
    case OP_getelementptr:
        select_address(c, x);
        break;
    case OP_alloca:
    case OP_load:
    case OP_store:
        select_memory(c, x);
        break;
    case OP_extractelement:
    case OP_insertelement:
    case OP_shufflevector:
    case OP_extractvalue:
    case OP_insertvalue:
        select_vector(c, x);
        break;
    case OP_call:
        select_call(c, x);
        break;
    case OP_br:
        select_branch(c, x, block);
        break;
    case OP_switch:
        select_switch(c, x, block);
        break;
    case OP_ret:
        select_return(c, x, block);
        break;
    case OP_unreachable:
        c->blocks[block].end = END_TRAP;
        break;
    case OP_atomicrmw:
    case OP_cmpxchg:
    case OP_fence:
        select_atomic(c, x);
        break;
    default:
        if (x->op <= OP_freeze)
            select_binary(c, x);
        else
            select_cast(c, x);
    }
}

struct code *select_function(struct ir_module *m, const struct ir_function *f)
{
    struct code *c = code_begin(m, f);
    find_spaces(c);
    c->at = 0;
    c->line = f->line;
    select_params(c);
    for (uint32_t i = 0; i < c->order_count; i++)
        for (uint32_t k = 0; k < f->blocks[c->order[i]].count; k++)
            if (f->blocks[c->order[i]].insts[k].op == OP_phi)
                name_phi(c, &f->blocks[c->order[i]].insts[k], c->order[i]);
    for (uint32_t i = 0; i < c->order_count; i++) {
        const uint32_t block = c->order[i];
        for (uint32_t k = 0; k < f->blocks[block].count; k++) {
            const struct ir_inst *x = &f->blocks[block].insts[k];
            m->statement = x->text;
            c->at = block;
            c->line = x->line;
            select_inst(c, x, block);
        }
        c->blocks[block].line = c->line;
    }
    c->line = 0;
    for (uint32_t i = 0; i < c->order_count; i++)
        for (uint32_t k = 0; k < f->blocks[c->order[i]].count; k++) {
            const struct ir_inst *x = &f->blocks[c->order[i]].insts[k];
            m->statement = x->text;
            if (x->op == OP_phi)
                fill_phi(c, x, c->order[i]);
        }
    m->statement = NULL;
    return c;
}
