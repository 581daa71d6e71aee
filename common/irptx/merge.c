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

// Whether an access to so many bytes at this address may touch one of the group's.
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
    if (op->access.bits < 32 || op->arg_count > 4)
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

static void copy_registers(struct merge *m, const struct item *items, uint32_t n, struct operand *to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct op *op = &m->b->ops[items[i].op];
        for (uint32_t k = 0; k < op->arg_count; k++)
            if (op->args[k].kind != OPERAND_MEMORY) {
                to[count] = op->args[k];
                to[count].open = to[count].close = false;
                count++;
            }
    }
    code_braces(to, count);
}

// So many items become one access.
static void fuse(struct merge *m, const struct group *g, const struct item *items, uint32_t n, uint32_t count)
{
    uint32_t at = items[0].op;
    for (uint32_t i = 1; i < n; i++)
        at = (g->store ? items[i].op > at : items[i].op < at) ? items[i].op : at;
    const struct op *first = &m->b->ops[items[0].op];
    struct operand *args = ir_new(m->c->m, (count + 1) * sizeof *args);
    copy_registers(m, items, n, args + g->store);
    args[g->store ? 0 : count] = *address_of(first);
    struct op op = *first;
    op.name = code_name(m->c, "%s%s.v%u.b%u", g->store ? "st" : "ld", code_space(m->c, g->space), count, g->bits);
    op.args = args;
    op.arg_count = count + 1;
    for (uint32_t i = 0; i < n; i++)
        m->gone[items[i].op] = true;
    m->gone[at] = false;
    m->b->ops[at] = op;
}

// The longest access that begins with items[0]; how many items it takes.
static uint32_t fuse_first(struct merge *m, const struct group *g, const struct item *items, uint32_t left)
{
    for (uint32_t bytes = 16; bytes >= 8; bytes /= 2) {
        uint32_t n = 0, have = 0;
        while (n < left && have < bytes && items[n].at == items[0].at + have)
            have += items[n++].count * g->bits / 8;
        if (have == bytes && n > 1 && items[0].align >= bytes) {
            fuse(m, g, items, n, bytes * 8 / g->bits);
            return n;
        }
    }
    return 1;
}

static void merge_block(struct code *c, struct code_block *b)
{
    struct merge m = { .c = c, .b = b, .gone = ir_new(c->m, b->op_count + 1) };
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
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->op_count; i++)
        if (!m.gone[i])
            b->ops[kept++] = b->ops[i];
    b->op_count = kept;
}

void pass_merge(struct code *c)
{
    for (uint32_t i = 0; i < c->order_count; i++)
        merge_block(c, &c->blocks[c->order[i]]);
}
