// Loads and stores. What is constant in an address goes into the instruction that accesses it: [base + 16].
#include "irptx/select.h"

#include <string.h>

// The scalars of a type that one access takes: how many, and the bits of each.
struct piece {
    uint32_t count, bits;
};

static uint32_t memory_bits(const struct ir_type *t)
{
    uint32_t n = 8;
    while (n < t->bits)
        n *= 2;
    return n;
}

static struct piece piece_at(const struct ir_leaf *leaves, uint32_t left, uint32_t align)
{
    const uint32_t bits = memory_bits(leaves[0].type);
    for (uint32_t n = 8; n > 1; n /= 2) {
        const uint32_t bytes = n * bits / 8;
        bool fits = n <= left && bytes <= 16 && (n < 8 || bits == 16) && (leaves[0].at | align) % bytes == 0;
        for (uint32_t i = 1; fits && i < n; i++)
            fits = memory_bits(leaves[i].type) == bits && leaves[i].at == leaves[0].at + (uint64_t)i * bits / 8;
        if (fits)
            return (struct piece){ n, bits };
    }
    return (struct piece){ 1, bits };
}

static uint32_t align_at(uint64_t at, uint32_t align)
{
    const uint32_t low = at ? (uint32_t)(at & -at) : align;
    return low < align ? low : align;
}

static const char *access_name(struct code *c, const char *what, const char *how, uint32_t space, uint32_t count,
                               uint32_t bits)
{
    const char *vector = count == 4 ? ".v4" : count == 2 ? ".v2" : "";
    const bool private = space == SPACE_LOCAL || space == SPACE_CONST || space == SPACE_PARAM;
    if (private && !strcmp(how, ".volatile"))  // no other thread writes there: PTX has no such word
        how = "";
    return code_name(c, "%s%s%s%s.%s", what, how, code_space(c, space), vector,
                     bits == 8    ? "u8"
                     : bits == 16 ? "b16"
                     : bits == 32 ? "b32"
                                  : "b64");
}

static struct val loaded(struct code *c, uint32_t reg, const struct ir_type *t)
{
    if (t->kind == IR_PTR)
        return pointer_from(c, reg, t->space);
    if (t->bits == 1)
        return val_reg(PURE(c, 1, "setp.ne.s16", operand_reg(reg), operand_int(0)));
    return val_reg(reg);
}

static void load_piece(struct code *c, struct val p, const struct ir_leaf *leaves, struct piece piece, uint32_t align,
                       const char *how, struct val *out)
{
    const bool pairs = piece.bits == 16 && piece.count >= 4;  // two of 16 bits to a register
    const uint32_t n = pairs ? piece.count / 2 : piece.count, bits = pairs ? 32 : piece.bits;
    const uint32_t first = code_regs(c, bits < 16 ? 16 : bits, n);
    struct operand args[5];
    for (uint32_t i = 0; i < n; i++)
        args[i] = operand_def(first + i);
    if (n > 1)
        code_braces(args, n);
    args[n] = pointer_memory(c, pointer_add(p, (int64_t)leaves[0].at));
    struct op *op = code_emit(c, access_name(c, "ld", how, p.space, n, bits), args, n + 1);
    if (!*how) {
        op->effect = EFFECT_IF_USED;
        op->access = (struct access){ ACCESS_LOAD, p.space, bits, align_at(leaves[0].at, align) };
    } else {
        op->access.kind = ACCESS_FENCE;
    }
    for (uint32_t i = 0; i < piece.count; i++) {
        const uint32_t reg = pairs ? code_split(c, first + i / 2, 16, 2) + i % 2 : first + i;
        out[i] = loaded(c, reg, leaves[i].type);
    }
}

void load_scalars(struct code *c, struct val p, const struct ir_type *t, uint32_t align, const char *how,
                  struct val *out)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, t, &n);
    p = pointer_add(p, 0);
    for (uint32_t i = 0; i < n;) {
        const struct piece piece = piece_at(leaves + i, n - i, align);
        load_piece(c, p, leaves + i, piece, align, how, out + i);
        i += piece.count;
    }
}

static uint32_t stored(struct code *c, struct val v, const struct ir_type *t)
{
    v = value_plain(c, v, t);
    if (t->kind == IR_INT && t->bits == 1 && v.kind == VAL_REG)
        return PURE(c, 16, "selp.b16", operand_int(1), operand_int(0), operand_reg(v.reg));
    if (t->kind == IR_INT && t->bits == 1)
        return value_reg(c, v, ir_int(c->m, 8));
    return value_reg(c, v, t);
}

static void store_piece(struct code *c, struct val p, const struct ir_leaf *leaves, struct piece piece, uint32_t align,
                        const char *how, const struct val *in)
{
    const bool pairs = piece.bits == 16 && piece.count >= 4;
    const uint32_t n = pairs ? piece.count / 2 : piece.count, bits = pairs ? 32 : piece.bits;
    struct operand args[5] = { pointer_memory(c, pointer_add(p, (int64_t)leaves[0].at)) };
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t parts[2] = { stored(c, in[pairs ? 2 * i : i], leaves[pairs ? 2 * i : i].type),
                                    pairs ? stored(c, in[2 * i + 1], leaves[2 * i + 1].type) : 0 };
        args[1 + i] = operand_reg(pairs ? code_join(c, parts, 2, 32) : parts[0]);
    }
    if (n > 1)
        code_braces(args + 1, n);
    struct op *op = code_emit(c, access_name(c, "st", how, p.space, n, bits), args, n + 1);
    op->access = (struct access){ *how ? ACCESS_FENCE : ACCESS_STORE, p.space, bits, align_at(leaves[0].at, align) };
}

void store_scalars(struct code *c, struct val p, const struct ir_type *t, uint32_t align, const char *how,
                   const struct val *in)
{
    uint32_t n;
    const struct ir_leaf *leaves = ir_leaves(c->m, t, &n);
    p = pointer_add(p, 0);
    for (uint32_t i = 0; i < n;) {
        const struct piece piece = piece_at(leaves + i, n - i, align);
        store_piece(c, p, leaves + i, piece, align, how, in + i);
        i += piece.count;
    }
}

struct val local_room(struct code *c, const struct ir_type *t, uint32_t align)
{
    const uint64_t at = (c->local_bytes + align - 1) / align * align;
    c->local_name = code_name(c, "__local_depot_%s", c->name);
    c->local_bytes = at + ir_size(t);
    c->local_align = align > c->local_align ? align : c->local_align;
    return (struct val){ .kind = VAL_PTR, .space = SPACE_LOCAL, .symbol = c->local_name, .bits = (int64_t)at };
}

static void alloca_bytes(struct code *c, const struct ir_inst *x)
{
    struct vals out = value_list(c, 1);
    out.items[0] = local_room(c, x->source, x->align ? x->align : ir_align(x->source));
    value_set(c, x, out.items, 1);
}

// What stands between ld or st and the space.
static const char *how_of(struct code *c, const struct ir_inst *x)
{
    if (!(x->flags & F_ATOMIC))
        return x->flags & F_VOLATILE ? ".volatile" : "";
    const char *scope = str_is(x->scope, "block") ? "cta" : str_is(x->scope, "device") ? "gpu" : "sys";
    if (str_is(x->order, "monotonic") || str_is(x->order, "unordered"))
        return code_name(c, ".relaxed.%s", scope);
    if (str_is(x->order, "acquire") || str_is(x->order, "release"))
        return code_name(c, ".%.*s.%s", (int)x->order.n, x->order.p, scope);
    ir_fail(c->m, "an atomic access that is %.*s is not known", (int)x->order.n, x->order.p);
}

void select_memory(struct code *c, const struct ir_inst *x)
{
    if (x->op == OP_alloca) {
        alloca_bytes(c, x);
        return;
    }
    const bool load = x->op == OP_load;
    const struct ir_type *t = load ? x->type : x->args[0].type;
    const struct val p = value_one(c, &x->args[load ? 0 : 1]);
    const uint32_t align = x->align ? x->align : ir_align(t);
    if (!load) {
        store_scalars(c, p, t, align, how_of(c, x), vals_of(c, &x->args[0]).items);
        return;
    }
    uint32_t n;
    ir_leaves(c->m, t, &n);
    struct vals out = value_list(c, n);
    load_scalars(c, p, t, align, how_of(c, x), out.items);
    value_set(c, x, out.items, n);
}
