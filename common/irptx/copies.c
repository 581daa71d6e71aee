// Out of SSA form: what phis get becomes copies, at the end of a block that has one successor, else in a new block on
// the edge. The back edge of a loop needs no new block if nothing after the loop reads what the copies overwrite: ptxas
// schedules a loop best whose last instruction jumps to its first. All copies of an edge happen at once, so they are
// put into an order in which none overwrites what another reads. Dead code is taken away after it.
#include "irptx/passes.h"

#include <string.h>

// --- Copies ---

static void copy_one(struct code *c, uint32_t to, struct operand from)
{
    const uint32_t w = c->regs[to].width;
    struct op *op;
    if (w == 1 && from.kind != OPERAND_REG) {
        op = EMIT(c, "setp.ne.b32", operand_def(to), from, operand_int(0));
    } else {
        op = EMIT(c, w == 1 ? "mov.pred" : code_name(c, "mov.b%u", w), operand_def(to), from);
        op->copy = from.kind == OPERAND_REG;
    }
    op->effect = EFFECT_IF_USED;
}

static bool is_read(const struct phi_copy *copies, uint32_t count, uint32_t reg)
{
    for (uint32_t i = 0; i < count; i++)
        if (copies[i].from.kind == OPERAND_REG && copies[i].from.reg == reg)
            return true;
    return false;
}

// Where all that are left read what another one writes, the first one's value waits in a register of its own.
static void break_circle(struct code *c, struct phi_copy *copies)
{
    const uint32_t waits = code_reg(c, c->regs[copies[0].reg].width);
    copy_one(c, waits, copies[0].from);
    copies[0].from = operand_reg(waits);
}

static void emit_copies(struct code *c, struct phi_copy *copies, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (copies[i].from.kind != OPERAND_REG || copies[i].from.reg != copies[i].reg)
            copies[left++] = copies[i];
    while (left) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left; i++) {
            const struct phi_copy one = copies[i];
            const bool read = is_read(copies, kept, one.reg) || is_read(copies + i + 1, left - i - 1, one.reg);
            if (read)
                copies[kept++] = one;
            else
                copy_one(c, one.reg, one.from);
        }
        if (kept == left)
            break_circle(c, copies);
        left = kept;
    }
}

static void put_copies(struct code *c, uint32_t block, uint32_t to, uint32_t at)
{
    struct code_block *b = &c->blocks[block];
    struct phi_copy *copies = ir_new(c->m, (b->copy_count + 1) * sizeof *copies);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->copy_count; i++)
        if (b->copies[i].to == to)
            copies[n++] = b->copies[i];
    c->at = at;
    emit_copies(c, copies, n);
}

static bool has_copies(const struct code_block *b, uint32_t to)
{
    for (uint32_t i = 0; i < b->copy_count; i++)
        if (b->copies[i].to == to)
            return true;
    return false;
}

// A block on the way from one to another.
static uint32_t block_between(struct code *c, uint32_t from, uint32_t to)
{
    const uint32_t between = code_new_block(c);
    struct code_block *b = &c->blocks[from];
    c->blocks[between].to = to;
    for (uint32_t i = 0; i < b->edge_count; i++)
        if (b->edges[i].to == to)
            b->edges[i].to = between;
    if (b->to == to)
        b->to = between;
    return between;
}

static bool reads_old(const struct operand *o, const bool *old)
{
    return !o->def && o->reg && old[o->reg];
}

static bool block_reads(const struct code_block *b, const bool *old)
{
    bool found = false;
    for (uint32_t i = 0; i < b->op_count && !found; i++)
        for (uint32_t k = 0; k < b->ops[i].arg_count; k++)
            found |= reads_old(&b->ops[i].args[k], old);
    for (uint32_t i = 0; i < b->edge_count; i++)
        found |= old[b->edges[i].reg];
    for (uint32_t i = 0; i < b->copy_count; i++)
        found |= reads_old(&b->copies[i].from, old);
    return found;
}

// Whether what the phis of header hold is read where block goes otherwise, or by its branch.
static bool read_elsewhere(const struct code *c, uint32_t block, uint32_t header)
{
    const struct code_block *b = &c->blocks[block];
    bool *old = ir_new(c->m, c->reg_count + 1), *seen = ir_new(c->m, c->block_count + 1);
    for (uint32_t i = 0; i < b->copy_count; i++)
        if (b->copies[i].to == header)
            old[b->copies[i].reg] = true;
    for (uint32_t i = 0; i < b->edge_count; i++)
        if (old[b->edges[i].reg])
            return true;
    for (uint32_t i = 0; i < b->copy_count; i++)
        if (b->copies[i].to != header && reads_old(&b->copies[i].from, old))
            return true;
    uint32_t *todo = ir_new(c->m, (c->block_count + 1) * sizeof *todo), count = 0, to[256];
    seen[header] = true;
    for (uint32_t at = block;; at = todo[--count]) {
        if (at != block && block_reads(&c->blocks[at], old))
            return true;
        for (uint32_t n = code_successors(&c->blocks[at], to, 256); n--;)
            if (!seen[to[n]]) {
                seen[to[n]] = true;
                todo[count++] = to[n];
            }
        if (!count)
            return false;
    }
}

// The block whose end has the copies on the way from one to another: itself, or one of their own.
static uint32_t place_of_copies(struct code *c, uint32_t block, uint32_t to, uint32_t ways)
{
    if (ways == 1 || (code_dominates(c, to, block) && !read_elsewhere(c, block, to)))
        return block;
    return block_between(c, block, to);
}

void pass_copies(struct code *c)
{
    uint32_t *order = NULL, count = 0, to[256];
    for (uint32_t i = 0; i < c->order_count; i++) {
        const uint32_t block = c->order[i];
        order = ir_grow(c->m, order, count, sizeof *order);
        order[count++] = block;
        const uint32_t n = code_successors(&c->blocks[block], to, 256);
        if (n == 256)
            ir_fail(c->m, "a switch of more than 255 cases is not known");
        for (uint32_t k = 0; k < n; k++) {
            if (!has_copies(&c->blocks[block], to[k]))
                continue;
            const uint32_t at = place_of_copies(c, block, to[k], n);
            put_copies(c, block, to[k], at);
            if (at != block) {
                order = ir_grow(c->m, order, count, sizeof *order);
                order[count++] = at;
            }
        }
    }
    c->order = order;
    c->order_count = count;
}

// --- Dead code ---

static bool reads(const struct operand *o)
{
    return (o->kind == OPERAND_REG && !o->def) || (o->kind == OPERAND_MEMORY && o->reg);
}

static void count_uses(const struct code *c, uint32_t *uses)
{
    for (uint32_t b = 0; b < c->block_count; b++) {
        const struct code_block *block = &c->blocks[b];
        for (uint32_t i = 0; i < block->op_count; i++)
            for (uint32_t k = 0; k < block->ops[i].arg_count; k++)
                if (reads(&block->ops[i].args[k]))
                    uses[block->ops[i].args[k].reg]++;
        for (uint32_t i = 0; i < block->edge_count; i++)
            uses[block->edges[i].reg]++;
    }
}

static bool is_dead(const struct op *op, const uint32_t *uses)
{
    bool used = op->effect == EFFECT_ALWAYS;
    for (uint32_t k = 0; k < op->arg_count && !used; k++)
        used = op->args[k].kind == OPERAND_REG && op->args[k].def && uses[op->args[k].reg];
    return !used;
}

static bool remove_from(struct code_block *b, uint32_t *uses)
{
    uint32_t kept = b->op_count;
    for (uint32_t i = b->op_count; i--;) {
        if (!is_dead(&b->ops[i], uses)) {
            b->ops[--kept] = b->ops[i];
            continue;
        }
        for (uint32_t k = 0; k < b->ops[i].arg_count; k++)
            if (reads(&b->ops[i].args[k]))
                uses[b->ops[i].args[k].reg]--;
    }
    if (kept)
        memmove(b->ops, b->ops + kept, (b->op_count - kept) * sizeof *b->ops);
    b->op_count -= kept;
    return kept > 0;
}

void pass_dead(struct code *c)
{
    uint32_t *uses = ir_new(c->m, c->reg_count * sizeof *uses);
    count_uses(c, uses);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = c->order_count; i--;)
            changed |= remove_from(&c->blocks[c->order[i]], uses);
    }
}

// --- Jumps ---

static bool is_empty(const struct code_block *b)
{
    return !b->op_count && !b->edge_count && b->end == END_GO;
}

static uint32_t goal(const struct code *c, uint32_t to)
{
    for (uint32_t steps = 0; is_empty(&c->blocks[to]) && steps < c->block_count; steps++)
        to = c->blocks[to].to;
    return to;
}

void pass_jumps(struct code *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->order_count; i++) {
        struct code_block *b = &c->blocks[c->order[i]];
        for (uint32_t k = 0; k < b->edge_count; k++)
            b->edges[k].to = goal(c, b->edges[k].to);
        if (b->end == END_GO)
            b->to = goal(c, b->to);
    }
    for (uint32_t i = 0; i < c->order_count; i++)
        if (!i || !is_empty(&c->blocks[c->order[i]]) || c->blocks[c->order[i]].to == c->order[i])
            c->order[kept++] = c->order[i];
    c->order_count = kept;
}
