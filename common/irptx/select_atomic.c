// Atomic operations and fences. CUDA's atomics order nothing else (PTX: .relaxed, which atom is by default), so
// whatever order the IR asks for with them is not asked for here; fences are instructions of their own in CUDA.
#include "irptx/select.h"

#include <string.h>

// X(name in the IR, operation of atom, letter of its type)
static const struct {
    const char *word, *name;
    char type;
} operations[] = {
    { "add", "add", 'u' },       { "sub", "add", 'u' },       { "fadd", "add", 'f' }, { "fsub", "add", 'f' },
    { "xchg", "exch", 'b' },     { "and", "and", 'b' },       { "or", "or", 'b' },    { "xor", "xor", 'b' },
    { "max", "max", 's' },       { "min", "min", 's' },       { "umax", "max", 'u' }, { "umin", "min", 'u' },
    { "uinc_wrap", "inc", 'u' }, { "udec_wrap", "dec", 'u' },
};

static const char *scope_of(const struct ir_inst *x)
{
    if (str_is(x->scope, "block"))
        return ".relaxed.cta";
    if (str_is(x->scope, "cluster"))
        return ".relaxed.cluster";
    return "";
}

static void emit_atomic(struct code *c, const struct ir_inst *x, const char *what, const struct operand *args, size_t n)
{
    const struct ir_type *t = x->args[1].type;
    uint32_t leaves;
    ir_leaves(c->m, t, &leaves);
    const struct val p = pointer_add(value_one(c, &x->args[0]), 0);
    struct operand all[4] = { operand_def(code_reg(c, width_of(c, t))), pointer_memory(c, p) };
    if (leaves != 1 || t->bits < 16)
        ir_fail(c->m, "an atomic operation on this type is not known");
    memcpy(all + 2, args, n * sizeof *args);
    const char *name = code_name(c, "atom%s%s.%s%u", scope_of(x), code_space(c, p.space), what, t->bits);
    code_emit(c, name, all, n + 2)->access.kind = ACCESS_FENCE;
    struct vals out = value_list(c, 2);
    out.items[0] = t->kind == IR_PTR ? pointer_from(c, all[0].reg, t->space) : val_reg(all[0].reg);
    if (x->op == OP_cmpxchg)
        out.items[1] =
            val_reg(PURE(c, 1, code_name(c, "setp.eq.s%u", width_of(c, t)), operand_reg(all[0].reg), args[0]));
    value_set(c, x, out.items, x->op == OP_cmpxchg ? 2 : 1);
}

static void read_modify_write(struct code *c, const struct ir_inst *x)
{
    const struct ir_type *t = x->args[1].type;
    struct operand v = value_argument(c, &x->args[1]);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (str_is(x->word, operations[i].word)) {
            const char type = operations[i].type;
            if (str_is(x->word, "sub") || str_is(x->word, "fsub"))
                v = operand_reg(PURE(c, width_of(c, t), code_name(c, "neg.%c%u", type == 'f' ? 'f' : 's', t->bits), v));
            const char *half = type == 'f' && t->bits == 16 ? ".noftz" : "";
            emit_atomic(c, x, code_name(c, "%s%s.%c", operations[i].name, half, type), &v, 1);
            return;
        }
    ir_fail(c->m, "atomicrmw %.*s is not known", (int)x->word.n, x->word.p);
}

void select_atomic(struct code *c, const struct ir_inst *x)
{
    if (x->op == OP_atomicrmw) {
        read_modify_write(c, x);
    } else if (x->op == OP_cmpxchg) {
        const struct operand args[2] = { value_argument(c, &x->args[1]), value_argument(c, &x->args[2]) };
        emit_atomic(c, x, "cas.b", args, 2);
    } else {
        const char *scope = str_is(x->scope, "block") ? "cta" : str_is(x->scope, "device") ? "gpu" : "sys";
        const char *order = str_is(x->order, "seq_cst") ? "sc" : "acq_rel";
        code_emit(c, code_name(c, "fence.%s.%s", order, scope), NULL, 0)->access.kind = ACCESS_FENCE;
    }
}
