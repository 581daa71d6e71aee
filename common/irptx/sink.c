// A load whose value is only used behind a branch moves there, as nvcc moves it: a warp that does not go there does not
// load. It stays where something in between may write what it reads.
#include "irptx/passes.h"

#include <string.h>

enum { NOWHERE = -1, IN_SEVERAL = -2 };

struct sink {
    struct code *c;
    int64_t *used_in;  // by register: the one block that reads it
};

static void use(struct sink *s, uint32_t reg, uint32_t block)
{
    int64_t *in = &s->used_in[reg];
    if (*in != block)
        *in = *in == NOWHERE ? (int64_t)block : IN_SEVERAL;
}

static void find_uses(struct sink *s)
{
    const struct code *c = s->c;
    for (uint32_t r = 0; r < c->reg_count; r++)
        s->used_in[r] = NOWHERE;
    for (uint32_t i = 0; i < c->order_count; i++) {
        const struct code_block *b = &c->blocks[c->order[i]];
        for (uint32_t k = 0; k < b->op_count; k++)
            for (uint32_t j = 0; j < b->ops[k].arg_count; j++)
                if (!b->ops[k].args[j].def && b->ops[k].args[j].reg)
                    use(s, b->ops[k].args[j].reg, c->order[i]);
        for (uint32_t k = 0; k < b->edge_count; k++)
            use(s, b->edges[k].reg, c->order[i]);
    }
}

// How many ways lead into each block.
static uint32_t *count_ways(const struct code *c)
{
    uint32_t *ways = ir_new(c->m, (c->block_count + 1) * sizeof *ways), to[256];
    for (uint32_t i = 0; i < c->order_count; i++)
        for (uint32_t n = code_successors(&c->blocks[c->order[i]], to, 256); n--;)
            ways[to[n]]++;
    return ways;
}

// The block that alone reads what the load gives; NOWHERE: there is none.
static int64_t block_of_uses(const struct sink *s, const struct op *op)
{
    int64_t block = NOWHERE;
    for (uint32_t k = 0; k < op->arg_count; k++) {
        if (!op->args[k].def)
            continue;
        const int64_t in = s->used_in[op->args[k].reg];
        if (in == IN_SEVERAL || (block != NOWHERE && in != NOWHERE && in != block))
            return NOWHERE;
        block = in == NOWHERE ? block : in;
    }
    return block;
}

static bool may_pass(const struct code_block *b, uint32_t load)
{
    const uint32_t space = b->ops[load].access.space;
    for (uint32_t k = load + 1; k < b->op_count; k++) {
        const struct access *a = &b->ops[k].access;
        const bool same = a->space == space || !a->space || !space;
        if (a->kind == ACCESS_FENCE || (a->kind == ACCESS_STORE && same))
            return false;
    }
    return true;
}

static void move(struct code *c, struct code_block *from, uint32_t number, struct code_block *to)
{
    const struct op op = from->ops[number];
    memmove(from->ops + number, from->ops + number + 1, (from->op_count - number - 1) * sizeof op);
    from->op_count--;
    to->ops = ir_grow(c->m, to->ops, to->op_count, sizeof op);
    memmove(to->ops + 1, to->ops, to->op_count * sizeof op);
    to->ops[0] = op;
    to->op_count++;
}

static bool sink_from(struct sink *s, uint32_t block, const uint32_t *ways)
{
    struct code_block *b = &s->c->blocks[block];
    uint32_t to[256];
    const uint32_t n = code_successors(b, to, 256);
    bool changed = false;
    for (uint32_t i = b->op_count; i-- && n > 1;) {
        if (b->ops[i].access.kind != ACCESS_LOAD)
            continue;
        const int64_t goal = block_of_uses(s, &b->ops[i]);
        bool next = false;
        for (uint32_t k = 0; k < n; k++)
            next |= to[k] == goal && ways[to[k]] == 1;
        if (!next || !may_pass(b, i))
            continue;
        move(s->c, b, i, &s->c->blocks[goal]);
        changed = true;
    }
    return changed;
}

void pass_sink(struct code *c)
{
    struct sink s = { .c = c, .used_in = ir_new(c->m, c->reg_count * sizeof *s.used_in) };
    const uint32_t *ways = count_ways(c);
    for (bool changed = true; changed;) {
        changed = false;
        find_uses(&s);
        for (uint32_t i = 0; i < c->order_count; i++)
            changed |= sink_from(&s, c->order[i], ways);
    }
}
