// Building code: registers, instructions, and the table of those that were made before.
#include "irptx/code.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERED_SIZE = 4096 };

struct numbered {
    struct numbered *next;
    const char *name;
    const struct operand *args;
    uint32_t count, width, block, reg;
};

const char *code_name(struct code *c, const char *format, ...)
{
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ir_text(c->m, "%s", text);
}

const char *code_space(struct code *c, uint32_t space)
{
    switch (space) {
    case SPACE_GENERIC:
        return "";
    case SPACE_GLOBAL:
        return ".global";
    case SPACE_SHARED:
        return ".shared";
    case SPACE_CONST:
        return ".const";
    case SPACE_LOCAL:
        return ".local";
    case SPACE_PARAM:
        return ".param";
    case 7:
        return ".shared::cluster";
    default:
        ir_fail(c->m, "the address space %u is not known", space);
    }
}

// --- Registers ---

uint32_t code_regs(struct code *c, uint32_t width, uint32_t count)
{
    const uint32_t first = c->reg_count;
    for (uint32_t i = 0; i < count; i++) {
        c->regs = ir_grow(c->m, c->regs, c->reg_count, sizeof *c->regs);
        c->regs[c->reg_count++] = (struct reg){ .width = (uint8_t)width };
    }
    return first;
}

uint32_t code_reg(struct code *c, uint32_t width)
{
    return code_regs(c, width, 1);
}

// --- Instructions ---

struct op *code_emit(struct code *c, const char *name, const struct operand *args, size_t count)
{
    struct code_block *b = &c->blocks[c->at];
    b->ops = ir_grow(c->m, b->ops, b->op_count, sizeof *b->ops);
    struct op *op = &b->ops[b->op_count++];
    *op = (struct op){ .name = name, .arg_count = (uint32_t)count, .effect = EFFECT_ALWAYS, .line = c->line };
    op->args = ir_new(c->m, (count + 1) * sizeof *args);
    if (count)
        memcpy(op->args, args, count * sizeof *args);
    return op;
}

void code_braces(struct operand *args, uint32_t count)
{
    args[0].open = true;
    args[count - 1].close = true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

bool operand_same(const struct operand *a, const struct operand *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value && same_text(a->text, b->text);
}

static uint32_t hash_of(const char *name, const struct operand *args, size_t count)
{
    uint32_t h = 2166136261u;
    for (const char *p = name; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    for (size_t i = 0; i < count; i++)
        h = (h ^ args[i].reg ^ (uint32_t)args[i].value * 31u) * 16777619u;
    return h % NUMBERED_SIZE;
}

static struct numbered *find_numbered(struct code *c, uint32_t h, const char *name, const struct operand *args,
                                      size_t count, uint32_t width)
{
    for (struct numbered *n = c->numbered[h]; n; n = n->next) {
        bool same = n->width == width && n->count == count && !strcmp(n->name, name);
        for (size_t i = 0; same && i < count; i++)
            same = operand_same(&n->args[i], &args[i]);
        if (same && code_dominates(c, n->block, c->at))
            return n;
    }
    return NULL;
}

static uint32_t add_numbered(struct code *c, const char *name, const struct operand *args, size_t count, uint32_t width,
                             uint32_t reg)
{
    const uint32_t h = hash_of(name, args, count);
    struct numbered *n = ir_new(c->m, sizeof *n);
    struct operand *kept = ir_new(c->m, (count + 1) * sizeof *kept);
    if (count)
        memcpy(kept, args, count * sizeof *kept);
    *n = (struct numbered){ c->numbered[h], name, kept, (uint32_t)count, width, c->at, reg };
    c->numbered[h] = n;
    return reg;
}

uint32_t code_pure(struct code *c, uint32_t width, const char *name, const struct operand *args, size_t count)
{
    const struct numbered *before = find_numbered(c, hash_of(name, args, count), name, args, count, width);
    if (before)
        return before->reg;
    const uint32_t reg = code_reg(c, width);
    struct operand all[8] = { operand_def(reg) };
    memcpy(all + 1, args, count * sizeof *args);
    code_emit(c, name, all, count + 1)->effect = EFFECT_NONE;
    return add_numbered(c, name, args, count, width, reg);
}

// --- Parts of registers ---

uint32_t code_split(struct code *c, uint32_t reg, uint32_t width, uint32_t count)
{
    const struct operand whole = operand_reg(reg);
    const struct numbered *before = find_numbered(c, hash_of("split", &whole, 1), "split", &whole, 1, width);
    if (before)
        return before->reg;
    const uint32_t first = code_regs(c, width, count);
    struct operand args[9];
    for (uint32_t i = 0; i < count; i++) {
        args[i] = operand_def(first + i);
        c->regs[first + i].whole = reg;
        c->regs[first + i].part = (uint8_t)i;
        c->regs[first + i].parts = (uint8_t)count;
    }
    code_braces(args, count);
    args[count] = whole;
    code_emit(c, code_name(c, "mov.b%u", width * count), args, count + 1)->effect = EFFECT_NONE;
    return add_numbered(c, "split", &whole, 1, width, first);
}

uint32_t code_join(struct code *c, const uint32_t *parts, uint32_t count, uint32_t width)
{
    const struct reg *first = &c->regs[parts[0]];
    bool whole = first->whole && first->parts == count && c->regs[first->whole].width == width;
    struct operand args[9];
    for (uint32_t i = 0; i < count; i++) {
        whole = whole && c->regs[parts[i]].whole == first->whole && c->regs[parts[i]].part == i;
        args[i] = operand_reg(parts[i]);
    }
    if (whole)
        return first->whole;
    code_braces(args, count);
    return code_pure(c, width, code_name(c, "mov.b%u", width), args, count);
}
