// wmma: fragments of matrices, loaded, multiplied and stored by a whole warp. Loads of A and B are inline assembly in
// the course's headers; accumulators and products are intrinsics.
#include "irptx/select.h"

#include <stdio.h>
#include <string.h>

static void emit_fence(struct code *c, const char *name, const struct operand *args, uint32_t count)
{
    code_emit(c, name, args, count)->access.kind = ACCESS_FENCE;
}

// A register of a fragment: a number of 32 bits, or two halves.
static uint32_t fragment(struct code *c, const struct ir_value *v)
{
    const struct ir_type *word = ir_int(c->m, 32);
    const struct vals parts = vals_of(c, v);
    if (parts.count == 1)
        return value_reg(c, parts.items[0], v->type);
    return value_reg(c, select_reslice(c, parts, v->type, word).items[0], word);
}

static void fragment_result(struct code *c, const struct ir_inst *x, uint32_t first, uint32_t count)
{
    uint32_t n;
    ir_leaves(c->m, x->type, &n);
    struct vals out = value_list(c, n);
    for (uint32_t i = 0; i < n; i++)
        out.items[i] = val_reg(n == count ? first + i : code_split(c, first + i / 2, 16, 2) + i % 2);
    value_set(c, x, out.items, n);
}

static uint32_t registers_of(struct code *c, const struct ir_type *t)
{
    if (t->kind != IR_STRUCT)
        ir_fail(c->m, "a fragment that is no struct is not known");
    return (uint32_t)t->count;
}

static struct operand *defs(struct code *c, uint32_t first, uint32_t count, uint32_t room)
{
    struct operand *args = ir_new(c->m, (count + room + 1) * sizeof *args);
    for (uint32_t i = 0; i < count; i++)
        args[i] = operand_def(first + i);
    code_braces(args, count);
    return args;
}

static void wmma_load(struct code *c, const struct ir_inst *x, const char *shape, const char *what, const char *layout,
                      const char *type)
{
    const struct val p = pointer_add(value_one(c, &x->args[0]), 0);
    const uint32_t n = registers_of(c, x->type), first = code_regs(c, 32, n);
    struct operand *args = defs(c, first, n, 2);
    args[n] = pointer_memory(c, p);
    args[n + 1] = value_argument(c, &x->args[1]);
    emit_fence(c,
               code_name(c, "wmma.load.%s.sync.aligned.%s.%s%s.%s", what, layout, shape, code_space(c, p.space), type),
               args, n + 2);
    fragment_result(c, x, first, n);
}

static void wmma_store(struct code *c, const struct ir_inst *x, const char *shape, const char *layout, const char *type)
{
    const struct val p = pointer_add(value_one(c, &x->args[0]), 0);
    const uint32_t n = x->arg_count - 2;
    struct operand *args = ir_new(c->m, (n + 2) * sizeof *args);
    args[0] = pointer_memory(c, p);
    for (uint32_t i = 0; i < n; i++)
        args[1 + i] = operand_reg(fragment(c, &x->args[1 + i]));
    code_braces(args + 1, n);
    args[n + 1] = value_argument(c, &x->args[n + 1]);
    emit_fence(c, code_name(c, "wmma.store.d.sync.aligned.%s.%s%s.%s", layout, shape, code_space(c, p.space), type),
               args, n + 2);
}

static void wmma_multiply(struct code *c, const struct ir_inst *x, const char *shape, const char *layouts,
                          const char *types)
{
    const uint32_t n = registers_of(c, x->type), first = code_regs(c, 32, n), sums = x->arg_count - 16;
    if (x->arg_count < 17)
        ir_fail(c->m, "a wmma of %s is not known", types);
    struct operand *args = defs(c, first, n, x->arg_count);
    for (uint32_t i = 0; i < x->arg_count; i++)
        args[n + i] = operand_reg(fragment(c, &x->args[i]));
    code_braces(args + n, 8);
    code_braces(args + n + 8, 8);
    code_braces(args + n + 16, sums);
    code_emit(c, code_name(c, "wmma.mma.sync.aligned.%s.%s.%s", layouts, shape, types), args, n + x->arg_count);
    fragment_result(c, x, first, n);
}

// wmma.m16n16k16.load.c.row.stride.f32.p0, .store.d.row.stride.f32.p0, .mma.row.row.f32.f32
bool select_wmma(struct code *c, const struct ir_inst *x, const char *name)
{
    char shape[24], what[8], layout[24], type[24];
    if (sscanf(name, "wmma.%23[mnk0-9].load.%7[abc].%7[a-z].stride.%23[a-z0-9].p", shape, what, layout, type) == 4) {
        wmma_load(c, x, shape, what, layout, type);
    } else if (sscanf(name, "wmma.%23[mnk0-9].store.d.%7[a-z].stride.%23[a-z0-9].p", shape, layout, type) == 3) {
        wmma_store(c, x, shape, layout, type);
    } else {
        char a[8], b[8];
        if (sscanf(name, "wmma.%23[mnk0-9].mma.%7[a-z].%7[a-z].%23[a-z0-9.]", shape, a, b, type) != 4)
            return false;
        snprintf(layout, sizeof layout, "%s.%s", a, b);
        wmma_multiply(c, x, shape, layout, type);
    }
    return true;
}
