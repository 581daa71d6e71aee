// Phis that always hold the same value become one.
//
// LLVM leaves two phis of an accumulator where a struct was taken apart, and a copy from one to the other would stand
// between a wgmma and the wait for it, which makes its result wrong. All phis of a block are taken for the same at
// first, and told apart when different values flow into them, until nothing changes: so phis around a loop that only
// depend on each other stay together.
#include "irptx/passes.h"

#include <string.h>

struct flow {  // what a phi gets from a block
    uint32_t from;
    struct operand value;
};

struct phi {
    uint32_t reg, block;
    struct flow *flows;
    uint32_t flow_count;
};

struct phis {
    struct code *c;
    struct phi *items;
    uint32_t count;
    uint32_t *at;           // by register: its phi, from 1 on
    uint32_t *same, *next;  // by register: the first phi of its class, now and after this round
};

static struct phi *phi_of(struct phis *p, const struct phi_copy *copy)
{
    if (!p->at[copy->reg]) {
        p->items = ir_grow(p->c->m, p->items, p->count, sizeof *p->items);
        p->items[p->count] = (struct phi){ .reg = copy->reg, .block = copy->to };
        p->at[copy->reg] = ++p->count;
    }
    return &p->items[p->at[copy->reg] - 1];
}

static void gather(struct phis *p)
{
    for (uint32_t b = 0; b < p->c->block_count; b++)
        for (uint32_t i = 0; i < p->c->blocks[b].copy_count; i++) {
            const struct phi_copy *copy = &p->c->blocks[b].copies[i];
            struct phi *phi = phi_of(p, copy);
            phi->flows = ir_grow(p->c->m, phi->flows, phi->flow_count, sizeof *phi->flows);
            phi->flows[phi->flow_count++] = (struct flow){ b, copy->from };
        }
}

static bool same_flow(const struct phis *p, const struct flow *a, const struct flow *b)
{
    struct operand x = a->value, y = b->value;
    x.reg = x.kind == OPERAND_REG ? p->same[x.reg] : 0;
    y.reg = y.kind == OPERAND_REG ? p->same[y.reg] : 0;
    return a->from == b->from && operand_same(&x, &y);
}

static bool same_phi(const struct phis *p, const struct phi *a, const struct phi *b)
{
    bool same = p->same[a->reg] == p->same[b->reg] && a->flow_count == b->flow_count;
    for (uint32_t i = 0; same && i < a->flow_count; i++)
        same = same_flow(p, &a->flows[i], &b->flows[i]);
    return same;
}

// Phis of a block follow each other, for they were gathered from the block's predecessors: those before it are asked.
static bool split_classes(struct phis *p)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct phi *phi = &p->items[i];
        p->next[phi->reg] = phi->reg;
        for (uint32_t k = i; k-- && p->items[k].block == phi->block;)
            if (p->next[p->items[k].reg] == p->items[k].reg && same_phi(p, &p->items[k], phi)) {
                p->next[phi->reg] = p->items[k].reg;
                break;
            }
        changed |= p->next[phi->reg] != p->same[phi->reg];
    }
    for (uint32_t i = 0; i < p->count; i++)
        p->same[p->items[i].reg] = p->next[p->items[i].reg];
    return changed;
}

static void sort_by_block(struct phis *p)
{
    struct phi *sorted = ir_new(p->c->m, (p->count + 1) * sizeof *sorted);
    uint32_t n = 0, *begin = ir_new(p->c->m, (p->c->block_count + 1) * sizeof *begin);
    for (uint32_t i = 0; i < p->count; i++)
        begin[p->items[i].block + 1]++;
    for (uint32_t b = 0; b < p->c->block_count; b++)
        begin[b + 1] += begin[b];
    for (; n < p->count; n++)
        sorted[begin[p->items[n].block]++] = p->items[n];
    p->items = sorted;
}

static void replace(const struct phis *p, struct operand *o)
{
    if ((o->kind == OPERAND_REG || o->kind == OPERAND_MEMORY) && o->reg)
        o->reg = p->same[o->reg];
}

static void replace_in_block(const struct phis *p, struct code_block *b)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->op_count; i++)
        for (uint32_t k = 0; k < b->ops[i].arg_count; k++)
            replace(p, &b->ops[i].args[k]);
    for (uint32_t i = 0; i < b->edge_count; i++)
        b->edges[i].reg = p->same[b->edges[i].reg];
    for (uint32_t i = 0; i < b->copy_count; i++) {
        replace(p, &b->copies[i].from);
        if (p->same[b->copies[i].reg] == b->copies[i].reg)
            b->copies[kept++] = b->copies[i];
    }
    b->copy_count = kept;
}

void pass_same_phis(struct code *c)
{
    struct phis p = { .c = c };
    const size_t bytes = c->reg_count * sizeof *p.at;
    p.at = ir_new(c->m, bytes);
    p.same = ir_new(c->m, bytes);
    p.next = ir_new(c->m, bytes);
    gather(&p);
    sort_by_block(&p);
    for (uint32_t r = 0; r < c->reg_count; r++)
        p.same[r] = r;
    for (uint32_t i = 1; i < p.count; i++)  // at first those of a block and a width are the same
        for (uint32_t k = i; k-- && p.items[k].block == p.items[i].block;)
            if (c->regs[p.items[k].reg].width == c->regs[p.items[i].reg].width) {
                p.same[p.items[i].reg] = p.same[p.items[k].reg];
                break;
            }
    while (split_classes(&p))
        ;
    for (uint32_t b = 0; b < c->block_count; b++)
        replace_in_block(&p, &c->blocks[b]);
}
