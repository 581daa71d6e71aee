// The blocks of a function: their order in the text, and which are passed before which.
//
// The order is reverse postorder, in which the ways out of a loop are gone first: so what follows a loop comes after
// all of it, and lanes that leave it early meet the others below.
#include "irptx/code.h"

#include <string.h>

uint32_t code_successors(const struct code_block *b, uint32_t *to, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i <= b->edge_count && b->end == END_GO; i++) {
        const uint32_t next = i < b->edge_count ? b->edges[i].to : b->to;
        bool known = false;
        for (uint32_t k = 0; k < count; k++)
            known |= to[k] == next;
        if (!known && count < room)
            to[count++] = next;
    }
    return count;
}

uint32_t code_new_block(struct code *c)
{
    c->blocks = ir_grow(c->m, c->blocks, c->block_count, sizeof *c->blocks);
    c->blocks[c->block_count] = (struct code_block){ .order = UINT32_MAX };
    return c->block_count++;
}

bool code_dominates(const struct code *c, uint32_t above, uint32_t below)
{
    while (c->blocks[below].order > c->blocks[above].order)
        below = c->blocks[below].dominator;
    return below == above;
}

// --- A walk, depth first ---

struct graph {
    struct code *c;
    uint32_t **next, *next_count;  // by block, in the order in which they are gone
    uint8_t **loops;               // for each header of a loop, which blocks are in it
    uint32_t *headers, loop_count;
    uint32_t *stack, *turn;
    uint8_t *state;                   // 0: not reached, 1: on the way, 2: left
    uint32_t *post, post_count;       // the order in which blocks are left
    uint32_t (*back)[2], back_count;  // edges back to the header of a loop
};

static void add_pred(struct graph *g, uint32_t block, uint32_t pred)
{
    struct code_block *b = &g->c->blocks[block];
    b->preds = ir_grow(g->c->m, b->preds, b->pred_count, sizeof *b->preds);
    b->preds[b->pred_count++] = pred;
}

static uint8_t *loop_of(struct graph *g, uint32_t header)
{
    for (uint32_t i = 0; i < g->loop_count; i++)
        if (g->headers[i] == header)
            return g->loops[i];
    g->loops = ir_grow(g->c->m, g->loops, g->loop_count, sizeof *g->loops);
    g->headers = ir_grow(g->c->m, g->headers, g->loop_count, sizeof *g->headers);
    g->headers[g->loop_count] = header;
    uint8_t *in = g->loops[g->loop_count++] = ir_new(g->c->m, g->c->block_count);
    in[header] = 1;
    return in;
}

// The loop of a way back to header: all that reaches its end without passing the header.
static void add_to_loop(struct graph *g, uint32_t header, uint32_t end)
{
    uint8_t *in = loop_of(g, header);
    uint32_t *todo = ir_new(g->c->m, (g->c->block_count + 1) * sizeof *todo), count = 0;
    if (!in[end])
        todo[count++] = end;
    in[end] = 1;
    while (count) {
        const struct code_block *b = &g->c->blocks[todo[--count]];
        for (uint32_t i = 0; i < b->pred_count; i++)
            if (!in[b->preds[i]]) {
                in[b->preds[i]] = 1;
                todo[count++] = b->preds[i];
            }
    }
}

// edge: NULL, or told of each edge before it is followed.
static void walk(struct graph *g, void (*edge)(struct graph *g, uint32_t from, uint32_t to))
{
    memset(g->state, 0, g->c->block_count);
    g->post_count = 0;
    uint32_t depth = 0;
    g->stack[depth] = 0;
    g->turn[depth++] = 0;
    g->state[0] = 1;
    while (depth) {
        const uint32_t b = g->stack[depth - 1];
        if (g->turn[depth - 1] == g->next_count[b]) {
            g->state[b] = 2;
            g->post[g->post_count++] = b;
            depth--;
            continue;
        }
        const uint32_t to = g->next[b][g->turn[depth - 1]++];
        if (edge)
            edge(g, b, to);
        if (!g->state[to]) {
            g->state[to] = 1;
            g->stack[depth] = to;
            g->turn[depth++] = 0;
        }
    }
}

// An edge to a block that is still on the way leads back to the header of a loop.
static void note_edge(struct graph *g, uint32_t from, uint32_t to)
{
    add_pred(g, to, from);
    if (g->state[to] != 1)
        return;
    g->back = ir_grow(g->c->m, g->back, g->back_count, sizeof *g->back);
    g->back[g->back_count][0] = from;
    g->back[g->back_count++][1] = to;
}

static void find_loops(struct graph *g)
{
    walk(g, note_edge);
    for (uint32_t i = 0; i < g->back_count; i++)
        add_to_loop(g, g->back[i][1], g->back[i][0]);
}

// How many loops the way from one block to another leaves.
static uint32_t leaves(const struct graph *g, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->loop_count; i++)
        n += g->loops[i][from] && !g->loops[i][to];
    return n;
}

// What leaves most loops is gone first, and of equals the last one, so that the first comes next in the text.
static void sort_successors(struct graph *g, uint32_t b)
{
    uint32_t *to = g->next[b];
    const uint32_t n = g->next_count[b];
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t swap = to[i];
        to[i] = to[n - 1 - i];
        to[n - 1 - i] = swap;
    }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && leaves(g, b, to[k]) > leaves(g, b, to[k - 1]); k--) {
            const uint32_t swap = to[k];
            to[k] = to[k - 1];
            to[k - 1] = swap;
        }
}

static void find_dominators(struct code *c)
{
    c->blocks[0].dominator = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < c->order_count; i++) {
            struct code_block *b = &c->blocks[c->order[i]];
            uint32_t found = UINT32_MAX;
            for (uint32_t k = 0; k < b->pred_count; k++) {
                uint32_t p = b->preds[k];
                if (p && c->blocks[p].dominator == UINT32_MAX)
                    continue;
                while (found != UINT32_MAX && p != found)
                    if (c->blocks[p].order > c->blocks[found].order)
                        p = c->blocks[p].dominator;
                    else
                        found = c->blocks[found].dominator;
                found = p;
            }
            changed |= b->dominator != found;
            b->dominator = found;
        }
    }
}

static void copy_targets(struct graph *g)
{
    const struct ir_function *f = g->c->f;
    for (uint32_t i = 0; i < f->block_count; i++) {
        const struct ir_inst *last = &f->blocks[i].insts[f->blocks[i].count - 1];
        const bool branch = last->op == OP_br || last->op == OP_switch;
        g->next[i] = ir_new(g->c->m, (last->block_count + 1) * sizeof **g->next);
        for (uint32_t k = 0; branch && k < last->block_count; k++) {
            bool known = false;
            for (uint32_t j = 0; j < g->next_count[i]; j++)
                known |= g->next[i][j] == last->blocks[k];
            if (!known)
                g->next[i][g->next_count[i]++] = last->blocks[k];
        }
    }
}

static void find_order(struct code *c)
{
    const size_t n = c->block_count + 1;
    struct graph g = { .c = c };
    g.next = ir_new(c->m, n * sizeof *g.next);
    g.next_count = ir_new(c->m, n * sizeof *g.next_count);
    g.stack = ir_new(c->m, n * sizeof *g.stack);
    g.turn = ir_new(c->m, n * sizeof *g.turn);
    g.post = ir_new(c->m, n * sizeof *g.post);
    g.state = ir_new(c->m, n);
    copy_targets(&g);
    find_loops(&g);
    for (uint32_t i = 0; i < c->block_count; i++)
        sort_successors(&g, i);
    walk(&g, NULL);
    c->order = ir_new(c->m, n * sizeof *c->order);
    for (uint32_t i = 0; i < g.post_count; i++) {
        c->order[i] = g.post[g.post_count - 1 - i];
        c->blocks[c->order[i]].order = i;
    }
    c->order_count = g.post_count;
}

struct code *code_begin(struct ir_module *m, const struct ir_function *f)
{
    struct code *c = ir_new(m, sizeof *c);
    *c = (struct code){ .m = m, .f = f, .name = f->symbol->ptx, .reg_count = 1, .local_align = 1 };
    c->regs = ir_grow(m, NULL, 0, sizeof *c->regs);
    c->numbered = ir_new(m, 4096 * sizeof *c->numbered);
    c->values = ir_new(m, f->local_count * sizeof *c->values);
    c->defs = ir_new(m, f->local_count * sizeof *c->defs);
    c->spaces = ir_new(m, f->local_count * sizeof *c->spaces);
    memset(c->spaces, -1, f->local_count * sizeof *c->spaces);
    for (uint32_t i = 0; i < f->block_count; i++) {
        code_new_block(c);
        c->blocks[i].dominator = UINT32_MAX;
    }
    find_order(c);
    find_dominators(c);
    for (uint32_t i = 0; i < f->block_count; i++)
        for (uint32_t k = 0; k < f->blocks[i].count; k++)
            if (f->blocks[i].insts[k].result)
                c->defs[f->blocks[i].insts[k].result] = &f->blocks[i].insts[k];
    return c;
}
