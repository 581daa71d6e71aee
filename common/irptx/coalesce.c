// Registers that a copy connects become one where they do not interfere, after Chaitin: a register interferes with all
// that are alive where it is written, but for the one that is copied into it. It matters for more than speed: a copy of
// an accumulator before the wait for its wgmma is a wrong result.
//
// Only registers that a copy reads or writes can become others', so only they are followed.
#include "irptx/passes.h"

#include <string.h>

struct web {
    struct code *c;
    uint32_t *number;              // by register: from 1 on; 0: no copy has it
    uint32_t *regs, count, words;  // by number; words of a set
    uint64_t **live_in;            // by block: sets of numbers
    uint64_t **apart;              // by number: those it interferes with
    uint64_t **members;            // by number: those that have become it
    uint32_t *root;
};

// --- Sets ---

static uint64_t *new_set(struct web *w)
{
    return ir_new(w->c->m, (w->words + 1) * sizeof(uint64_t));
}

static void add(uint64_t *set, uint32_t n)
{
    set[n / 64] |= 1ull << n % 64;
}

static void drop(uint64_t *set, uint32_t n)
{
    set[n / 64] &= ~(1ull << n % 64);
}

static bool meets(const struct web *w, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < w->words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

// --- Which registers ---

static void number(struct web *w, uint32_t reg)
{
    if (w->number[reg])
        return;
    w->regs = ir_grow(w->c->m, w->regs, w->count, sizeof *w->regs);
    w->regs[w->count] = reg;
    w->number[reg] = ++w->count;
}

static void number_copies(struct web *w)
{
    for (uint32_t i = 0; i < w->c->order_count; i++) {
        const struct code_block *b = &w->c->blocks[w->c->order[i]];
        for (uint32_t k = 0; k < b->op_count; k++)
            if (b->ops[k].copy) {
                number(w, b->ops[k].args[0].reg);
                number(w, b->ops[k].args[1].reg);
            }
    }
    w->words = w->count / 64 + 1;
}

// --- What is alive ---

static void each_use(struct web *w, const struct op *op, uint64_t *live)
{
    for (uint32_t k = 0; k < op->arg_count; k++) {
        const struct operand *o = &op->args[k];
        if (((o->kind == OPERAND_REG && !o->def) || o->kind == OPERAND_MEMORY) && w->number[o->reg])
            add(live, w->number[o->reg] - 1);
    }
}

static void each_def(struct web *w, const struct op *op, uint64_t *live)
{
    for (uint32_t k = 0; k < op->arg_count; k++)
        if (op->args[k].kind == OPERAND_REG && op->args[k].def && w->number[op->args[k].reg])
            drop(live, w->number[op->args[k].reg] - 1);
}

static void live_out(struct web *w, const struct code_block *b, uint64_t *live)
{
    uint32_t to[256];
    memset(live, 0, w->words * sizeof *live);
    for (uint32_t n = code_successors(b, to, 256); n--;)
        for (uint32_t i = 0; i < w->words; i++)
            live[i] |= w->live_in[to[n]][i];
    for (uint32_t i = 0; i < b->edge_count; i++)
        if (w->number[b->edges[i].reg])
            add(live, w->number[b->edges[i].reg] - 1);
}

static void find_live(struct web *w)
{
    uint64_t *live = new_set(w);
    w->live_in = ir_new(w->c->m, (w->c->block_count + 1) * sizeof *w->live_in);
    for (uint32_t i = 0; i < w->c->block_count; i++)
        w->live_in[i] = new_set(w);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = w->c->order_count; i--;) {
            const struct code_block *b = &w->c->blocks[w->c->order[i]];
            live_out(w, b, live);
            for (uint32_t k = b->op_count; k--;) {
                each_def(w, &b->ops[k], live);
                each_use(w, &b->ops[k], live);
            }
            uint64_t *in = w->live_in[w->c->order[i]];
            if (memcmp(in, live, w->words * sizeof *live) != 0) {
                memcpy(in, live, w->words * sizeof *live);
                changed = true;
            }
        }
    }
}

// --- Which interfere ---

static void separate(struct web *w, uint32_t n, const uint64_t *from)
{
    for (uint32_t i = 0; i < w->words; i++)
        w->apart[n][i] |= from[i];
}

static bool writes(const struct web *w, const struct op *op)
{
    for (uint32_t k = 0; k < op->arg_count; k++)
        if (op->args[k].kind == OPERAND_REG && op->args[k].def && w->number[op->args[k].reg])
            return true;
    return false;
}

static void interfere(struct web *w, const struct op *op, const uint64_t *live, uint64_t *around)
{
    if (!writes(w, op))
        return;
    memcpy(around, live, w->words * sizeof *live);
    if (op->copy)
        drop(around, w->number[op->args[1].reg] - 1);
    else if (op->form)  // several instructions, which may write before all is read
        each_use(w, op, around);
    for (uint32_t k = 0; k < op->arg_count; k++)  // what is written together is apart
        if (op->args[k].kind == OPERAND_REG && op->args[k].def && w->number[op->args[k].reg])
            add(around, w->number[op->args[k].reg] - 1);
    for (uint32_t k = 0; k < op->arg_count; k++)
        if (op->args[k].kind == OPERAND_REG && op->args[k].def && w->number[op->args[k].reg])
            separate(w, w->number[op->args[k].reg] - 1, around);
}

static void find_apart(struct web *w)
{
    uint64_t *live = new_set(w), *around = new_set(w);
    w->apart = ir_new(w->c->m, (w->count + 1) * sizeof *w->apart);
    for (uint32_t i = 0; i < w->count; i++)
        w->apart[i] = new_set(w);
    for (uint32_t i = 0; i < w->c->order_count; i++) {
        const struct code_block *b = &w->c->blocks[w->c->order[i]];
        live_out(w, b, live);
        for (uint32_t k = b->op_count; k--;) {
            interfere(w, &b->ops[k], live, around);
            each_def(w, &b->ops[k], live);
            each_use(w, &b->ops[k], live);
        }
    }
    for (uint32_t i = 0; i < w->count; i++)
        drop(w->apart[i], i);
}

// --- One register ---

static uint32_t root_of(struct web *w, uint32_t n)
{
    while (w->root[n] != n)
        n = w->root[n] = w->root[w->root[n]];
    return n;
}

static void join_copy(struct web *w, const struct op *op)
{
    const uint32_t a = root_of(w, w->number[op->args[0].reg] - 1), b = root_of(w, w->number[op->args[1].reg] - 1);
    const bool same_width = w->c->regs[w->regs[a]].width == w->c->regs[w->regs[b]].width;
    if (a == b || !same_width || meets(w, w->apart[a], w->members[b]) || meets(w, w->apart[b], w->members[a]))
        return;
    w->root[b] = a;
    for (uint32_t i = 0; i < w->words; i++) {
        w->members[a][i] |= w->members[b][i];
        w->apart[a][i] |= w->apart[b][i];
    }
}

static void join(struct web *w)
{
    w->root = ir_new(w->c->m, (w->count + 1) * sizeof *w->root);
    w->members = ir_new(w->c->m, (w->count + 1) * sizeof *w->members);
    for (uint32_t i = 0; i < w->count; i++) {
        w->root[i] = i;
        w->members[i] = new_set(w);
        add(w->members[i], i);
    }
    for (uint32_t i = 0; i < w->c->order_count; i++) {
        const struct code_block *b = &w->c->blocks[w->c->order[i]];
        for (uint32_t k = 0; k < b->op_count; k++)
            if (b->ops[k].copy)
                join_copy(w, &b->ops[k]);
    }
}

// --- Names ---

static void rename_reg(struct web *w, uint32_t *reg)
{
    struct code *c = w->c;
    if (!*reg)
        return;
    if (w->number[*reg])
        *reg = w->regs[root_of(w, w->number[*reg] - 1)];
    const uint32_t width = c->regs[*reg].width, class = width == 1 ? 0 : width == 16 ? 1 : width == 32 ? 2 : 3;
    if (!c->name_of[*reg])
        c->name_of[*reg] = ++c->names[class];
}

static void rename_block(struct web *w, struct code_block *b)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->op_count; i++) {
        struct op *op = &b->ops[i];
        for (uint32_t k = 0; k < op->arg_count; k++)
            rename_reg(w, &op->args[k].reg);
        if (!op->copy || op->args[0].reg != op->args[1].reg)
            b->ops[kept++] = *op;
    }
    b->op_count = kept;
    for (uint32_t i = 0; i < b->edge_count; i++)
        rename_reg(w, &b->edges[i].reg);
}

void pass_coalesce(struct code *c)
{
    struct web w = { .c = c, .number = ir_new(c->m, c->reg_count * sizeof *w.number) };
    number_copies(&w);
    find_live(&w);
    find_apart(&w);
    join(&w);
    c->name_of = ir_new(c->m, c->reg_count * sizeof *c->name_of);
    for (uint32_t i = 0; i < c->order_count; i++)
        rename_block(&w, &c->blocks[c->order[i]]);
}
