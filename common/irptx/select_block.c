// memcpy, memmove and memset: of a constant size by loads and stores, else by a loop over bytes.
#include "irptx/select.h"

#include <string.h>

enum { UNROLLED_MAX = 4096 };  // bytes

static const struct ir_type *vector_of_words(struct code *c, uint32_t words)
{
    struct ir_type *v = ir_new(c->m, sizeof *v);
    *v = (struct ir_type){ .kind = IR_VECTOR, .count = words, .of = ir_int(c->m, 32) };
    return v;
}

static struct val repeated(struct code *c, struct val byte, const struct ir_type *t)
{
    const uint32_t w = width_of(c, t);
    if (byte.kind != VAL_REG) {
        const uint64_t all = (uint64_t)(byte.bits & 0xff) * 0x0101010101010101ull;
        return val_bits((int64_t)(t->bits < 64 ? all & ((1ull << t->bits) - 1) : all));
    }
    if (t->bits == 8)
        return byte;
    uint32_t low = value_extended(c, byte, ir_int(c->m, 8), false).reg;
    if (w > 16)
        low = PURE(c, w, code_name(c, "cvt.u%u.u16", w), operand_reg(low));
    return val_reg(
        PURE(c, w, code_name(c, "mul.lo.s%u", w), operand_reg(low), operand_int(value_signed(0x01010101, t->bits))));
}

// All loads come before all stores, so that it does not matter whether the two overlap.
static void unrolled(struct code *c, const struct ir_inst *x, bool set, uint64_t bytes)
{
    const struct val to = value_one(c, &x->args[0]), from = value_one(c, &x->args[1]);
    const uint32_t align = x->align ? x->align : 1;
    struct val(*values)[4] = ir_new(c->m, (bytes + 1) * sizeof *values);
    for (int storing = set; storing < 2; storing++)
        for (uint64_t at = 0, i = 0; at < bytes; i++) {
            uint32_t n = 16;
            while (n > bytes - at || n > align)
                n /= 2;
            const struct ir_type *t = n >= 8 ? vector_of_words(c, n / 4) : ir_int(c->m, n * 8);
            if (set)
                for (uint32_t k = 0; k < 4; k++)
                    values[i][k] = repeated(c, from, n >= 8 ? ir_int(c->m, 32) : t);
            if (storing)
                store_scalars(c, pointer_add(to, (int64_t)at), t, n, "", values[i]);
            else
                load_scalars(c, pointer_add(from, (int64_t)at), t, n, "", values[i]);
            at += n;
        }
}

static void looped(struct code *c, const struct ir_inst *x, bool set)
{
    const uint32_t to = pointer_generic(c, value_one(c, &x->args[0]));
    const struct val from = value_one(c, &x->args[1]);
    struct operand args[3] = { operand_reg(to) };
    if (set)
        args[1] = operand_reg(value_reg(c, from, ir_int(c->m, 8)));
    else
        args[1] = operand_reg(pointer_generic(c, from));
    struct operand n = value_extended(c, value_one(c, &x->args[2]), x->args[2].type, false);
    if (n.kind != OPERAND_REG)
        n = operand_reg(PURE(c, 64, "mov.b64", n));
    args[2] = c->regs[n.reg].width == 64 ? n : operand_reg(PURE(c, 64, "cvt.u64.u32", n));
    struct op *op = code_emit(c, "", args, 3);
    op->access.kind = ACCESS_FENCE;
    op->form =
        set ? "{\n\t.reg .pred more;\n\t.reg .b64 at, byte;\n\tmov.b64 at, 0;\nset_next:\n\tsetp.lt.u64 more, at, $2;\n"
              "\tadd.s64 byte, $0, at;\n\t@more st.u8 [byte], $1;\n\tadd.s64 at, at, 1;\n\t@more bra set_next;\n\t}"
            : "{\n\t.reg .pred more;\n\t.reg .b16 value;\n\t.reg .b64 at, byte;\n\tmov.b64 at, 0;\ncopy_next:\n"
              "\tsetp.lt.u64 more, at, $2;\n\tadd.s64 byte, $1, at;\n\t@more ld.u8 value, [byte];\n"
              "\tadd.s64 byte, $0, at;\n\t@more st.u8 [byte], value;\n\tadd.s64 at, at, 1;\n\t@more bra "
              "copy_next;\n\t}";
}

void select_block_copy(struct code *c, const struct ir_inst *x, const char *name)
{
    if (x->arg_count < 3)
        ir_fail(c->m, "a call with too few operands");
    const struct val n = value_one(c, &x->args[2]);
    const bool constant = n.kind != VAL_REG && n.bits <= UNROLLED_MAX;
    if (!constant && !strcmp(name, "memmove"))
        ir_fail(c->m, "memmove of variable size is not known");
    if (constant)
        unrolled(c, x, !strcmp(name, "memset"), (uint64_t)n.bits);
    else
        looped(c, x, !strcmp(name, "memset"));
}
