// Loads and stores of neighbours become one access of two or four registers, as nvcc makes them: it is the number of
// accesses that requests and wavefronts are counted by.
//
// A block is gone through once. Accesses with the same base are gathered into groups; a group is closed by what may
// touch its bytes in between. The accesses of a group may then move together: loads to the first of them, stores to the
// last.
#include "irptx/passes.h"

#include <stdlib.h>
#include <string.h>

struct item {
    int64_t at;  // bytes behind the base
    uint32_t op, count, align;
};

struct group {
    bool store, closed;
    uint32_t reg, space, bits;
    const char *symbol;
    struct item *items;
    uint32_t count;
};

struct merge {
    struct code *c;
    struct code_block *b;
    struct group *groups;
    uint32_t group_count, first_open;
    bool *gone;
    struct list {  // what stands in place of an access: by its number
        struct op *ops;
        uint32_t count;
    } * instead;
};

static const struct operand *address_of(const struct op *op)
{
    for (uint32_t i = 0; i < op->arg_count; i++)
        if (op->args[i].kind == OPERAND_MEMORY)
            return &op->args[i];
    return NULL;
}

static bool same_base(const struct group *g, const struct operand *a)
{
    return g->reg == a->reg && (g->symbol == a->text || (g->symbol && a->text && !strcmp(g->symbol, a->text)));
}

static bool may_be_same_memory(uint32_t a, uint32_t b)
{
    return a == b || a == SPACE_GENERIC || b == SPACE_GENERIC;
}

// Whether the bytes that op accesses at this address may be some that the group accesses.
static bool touches(const struct group *g, const struct op *op, const struct operand *a)
{
    if (!may_be_same_memory(g->space, op->access.space))
        return false;
    if (!same_base(g, a) || g->space != op->access.space)
        return true;
    const int64_t bytes = (int64_t)(op->arg_count - 1) * op->access.bits / 8;
    for (uint32_t i = 0; i < g->count; i++) {
        const int64_t end = g->items[i].at + (int64_t)g->items[i].count * g->bits / 8;
        if (a->value < end && g->items[i].at < a->value + bytes)
            return true;
    }
    return false;
}

static void close_all(struct merge *m)
{
    for (uint32_t i = m->first_open; i < m->group_count; i++)
        m->groups[i].closed = true;
    m->first_open = m->group_count;
}

static void add_access(struct merge *m, uint32_t number)
{
    const struct op *op = &m->b->ops[number];
    const struct operand *a = address_of(op);
    const bool store = op->access.kind == ACCESS_STORE;
    struct group *own = NULL;
    for (uint32_t i = m->first_open; i < m->group_count; i++) {
        struct group *g = &m->groups[i];
        if (g->closed)
            continue;
        const bool mine =
            g->store == store && g->bits == op->access.bits && g->space == op->access.space && same_base(g, a);
        if ((g->store || store) && touches(g, op, a))
            g->closed = true;
        else if (mine)
            own = g;
    }
    if (op->access.bits < 16 || op->arg_count > 4)
        return;
    if (!own) {
        m->groups = ir_grow(m->c->m, m->groups, m->group_count, sizeof *m->groups);
        own = &m->groups[m->group_count++];
        *own = (struct group){
            .store = store, .reg = a->reg, .symbol = a->text, .space = op->access.space, .bits = op->access.bits
        };
    }
    own->items = ir_grow(m->c->m, own->items, own->count, sizeof *own->items);
    own->items[own->count++] = (struct item){ a->value, number, op->arg_count - 1, op->access.align };
}

static int by_address(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static struct op *add_op(struct merge *m, uint32_t at, const struct op *like, const char *name, struct operand *args,
                         uint32_t count)
{
    struct list *l = &m->instead[at];
    l->ops = ir_grow(m->c->m, l->ops, l->count, sizeof *l->ops);
    l->ops[l->count] = (struct op){ .name = name, .args = args, .arg_count = count, .line = like->line };
    return &l->ops[l->count++];
}

// The registers of the items, one after the other.
static struct operand *registers_of(struct merge *m, const struct item *items, uint32_t n, uint32_t count)
{
    struct operand *regs = ir_new(m->c->m, (count + 1) * sizeof *regs);
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct op *op = &m->b->ops[items[i].op];
        for (uint32_t k = 0; k < op->arg_count; k++)
            if (op->args[k].kind != OPERAND_MEMORY)
                regs[found++] = (struct operand){ .kind = OPERAND_REG, .reg = op->args[k].reg, .def = op->args[k].def };
    }
    return regs;
}

// Halves of a word: mov.b32 {low, high}, word for a load, mov.b32 word, {low, high} for a store.
static void add_halves(struct merge *m, uint32_t at, const struct op *like, bool store, uint32_t word,
                       const struct operand *halves)
{
    struct operand *args = ir_new(m->c->m, 4 * sizeof *args);
    memcpy(args + store, halves, 2 * sizeof *halves);
    code_braces(args + store, 2);
    args[store ? 0 : 2] = store ? operand_def(word) : operand_reg(word);
    add_op(m, at, like, "mov.b32", args, 3);
}

// Makes one access of n adjacent ones.
static void fuse(struct merge *m, const struct group *g, const struct item *items, uint32_t n, uint32_t bytes)
{
    uint32_t at = items[0].op;
    for (uint32_t i = 1; i < n; i++)
        at = (g->store ? items[i].op > at : items[i].op < at) ? items[i].op : at;
    const struct op *first = &m->b->ops[items[0].op];
    const bool halves = g->bits == 16;  // two to a register
    const uint32_t bits = halves ? 32 : g->bits, count = bytes * 8 / bits;
    struct operand *regs = registers_of(m, items, n, bytes * 8 / g->bits), *args = ir_new(m->c->m, 5 * sizeof *args);
    const uint32_t words = halves ? code_regs(m->c, 32, count) : 0;
    for (uint32_t i = 0; i < count; i++)
        args[g->store + i] = !halves ? regs[i] : g->store ? operand_reg(words + i) : operand_def(words + i);
    if (count > 1)
        code_braces(args + g->store, count);
    args[g->store ? 0 : count] = *address_of(first);
    for (uint32_t i = 0; i < count && halves && g->store; i++)
        add_halves(m, at, first, true, words + i, regs + 2 * i);
    const char *vector = count == 4 ? ".v4" : count == 2 ? ".v2" : "";
    const char *name = code_name(m->c, "%s%s%s.b%u", g->store ? "st" : "ld", code_space(m->c, g->space), vector, bits);
    struct op *op = add_op(m, at, first, name, args, count + 1);
    op->effect = first->effect;
    op->access = first->access;
    op->access.bits = bits;
    for (uint32_t i = 0; i < count && halves && !g->store; i++)
        add_halves(m, at, first, false, words + i, regs + 2 * i);
    for (uint32_t i = 0; i < n; i++)
        m->gone[items[i].op] = true;
}

// The longest access that begins with items[0]; how many items it takes.
static uint32_t fuse_first(struct merge *m, const struct group *g, const struct item *items, uint32_t left)
{
    const uint32_t least = g->bits == 16 ? 4 : 8;
    for (uint32_t bytes = 16; bytes >= least; bytes /= 2) {
        uint32_t n = 0, have = 0;
        while (n < left && have < bytes && items[n].at == items[0].at + have)
            have += items[n++].count * g->bits / 8;
        if (have == bytes && n > 1 && items[0].align >= bytes) {
            fuse(m, g, items, n, bytes);
            return n;
        }
    }
    return 1;
}

static void put_together(struct merge *m)
{
    struct op *ops = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->b->op_count; i++) {
        const struct list *l = &m->instead[i];
        for (uint32_t k = 0; k < l->count; k++) {
            ops = ir_grow(m->c->m, ops, count, sizeof *ops);
            ops[count++] = l->ops[k];
        }
        if (!m->gone[i]) {
            ops = ir_grow(m->c->m, ops, count, sizeof *ops);
            ops[count++] = m->b->ops[i];
        }
    }
    m->b->ops = ops;
    m->b->op_count = count;
}

static void merge_block(struct code *c, struct code_block *b)
{
    struct merge m = { .c = c, .b = b, .gone = ir_new(c->m, b->op_count + 1) };
    m.instead = ir_new(c->m, (b->op_count + 1) * sizeof *m.instead);
    for (uint32_t i = 0; i < b->op_count; i++) {
        const struct op *op = &b->ops[i];
        if (op->access.kind == ACCESS_LOAD || op->access.kind == ACCESS_STORE)
            add_access(&m, i);
        else if (op->access.kind == ACCESS_FENCE)
            close_all(&m);
    }
    for (uint32_t i = 0; i < m.group_count; i++) {
        struct group *g = &m.groups[i];
        qsort(g->items, g->count, sizeof *g->items, by_address);
        for (uint32_t k = 0; k < g->count;)
            k += fuse_first(&m, g, g->items + k, g->count - k);
    }
    put_together(&m);
}

void pass_merge(struct code *c)
{
    for (uint32_t i = 0; i < c->order_count; i++)
        merge_block(c, &c->blocks[c->order[i]]);
}
