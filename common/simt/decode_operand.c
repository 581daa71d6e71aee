// Operands of PTX instructions: registers, literals, special registers and addresses as values of a type.
#include <string.h>

#include "decode_inst.h"

// What an instruction belongs to that is not supported as a whole, by how its name begins; NULL for others.
static const char *unsupported_family(struct str op)
{
    static const struct {
        const char *prefix, *what;
    } families[] = {
        { "tex.", "textures" },
        { "tld4.", "textures" },
        { "txq.", "textures" },
        { "istypep.", "textures and surfaces" },
        { "suld.", "surfaces" },
        { "sust.", "surfaces" },
        { "sured.", "surfaces" },
        { "suq.", "surfaces" },
        { "wgmma.", "Hopper's warpgroup products (wgmma)" },
        { "tcgen05.", "Blackwell's tensor cores (tcgen05)" },
        { "cp.async.bulk.", "bulk copies (cp.async.bulk, TMA)" },
        { "cp.reduce.async.bulk", "bulk copies (cp.async.bulk, TMA)" },
        { "multimem.", "addresses of several GPUs (multimem)" },
        { "setmaxnreg.", "registers that move between warps (setmaxnreg)" },
        { "clusterlaunchcontrol.", "clusters of blocks" },
        { "barrier.cluster.", "clusters of blocks" },
        { "mapa.", "clusters of blocks" },
        { "getctarank.", "clusters of blocks" },
        { "mma.sp", "sparse matrix products (mma.sp)" },
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const size_t n = strlen(families[i].prefix);
        if (op.n >= n && !memcmp(op.p, families[i].prefix, n))
            return families[i].what;
    }
    return NULL;
}

_Noreturn void decode_unknown(struct decoder *x)
{
    struct str op = x->in->op;
    const char *family = unsupported_family(op);
    if (family)
        decode_fail(x, NULL, "%s are not supported: '%.*s'", family, (int)(op.n < 60 ? op.n : 60), op.p);
    decode_fail(x, NULL, "the simulated GPU does not know the instruction '%.*s'", (int)(op.n < 60 ? op.n : 60), op.p);
}

void operand_count(struct decoder *x, uint32_t least, uint32_t most)
{
    if (x->in->n_operands < least || x->in->n_operands > most)
        decode_fail(x, NULL, "'%.*s' takes %u operands, not %u", (int)x->in->op.n, x->in->op.p, least,
                    x->in->n_operands);
}

static uint32_t special(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } sregs[] = {
#define SREG(id, name, bits, effect) { name, bits },
#include "sreg.def"
    };
    for (uint32_t i = 0; i < SREGS; i++) {
        if (!str_is(o->name, sregs[i].name))
            continue;
        if (sregs[i].bits != 8 * bytes)
            decode_fail(x, o->at, "%s has %u bits, '%.*s' takes %u", sregs[i].name, sregs[i].bits, (int)x->in->op.n,
                        x->in->op.p, 8 * bytes);
        struct uop *u = emit(x, UOP_SREG);
        u->target = i;
        u->saves = (uint8_t)slot_for(bytes);
        uint32_t d = vreg_new(x, slot_for(bytes));
        x->code->uops[x->code->n_uops - 1].d = d;
        return d;
    }
    decode_fail(x, o->at, "'%.*s' is neither declared nor a special register that is supported", (int)o->name.n,
                o->name.p);
}

// The bits of a literal as type t.
uint64_t operand_literal(struct decoder *x, const struct ptx_operand *o, enum ptx_type t)
{
    double d;
    uint64_t bits = o->bits;
    memcpy(&d, &bits, sizeof d);
    if (is_float(t)) {
        if (o->kind == OPND_F32 && t == PTX_F64) {
            uint32_t low = (uint32_t)bits;
            float f;
            memcpy(&f, &low, sizeof f);
            d = f;
        } else if (o->kind == OPND_F32) {
            return bits;
        } else if (o->kind == OPND_INT) {
            decode_fail(x, o->at, "an integer where .%s is expected: write 0f or 0d and hexadecimal digits",
                        ptx_type_name(t));
        }
        float f = (float)d;
        uint32_t low;
        memcpy(&low, &f, sizeof low);
        memcpy(&bits, &d, sizeof bits);
        return t == PTX_F32 ? low : bits;
    }
    if (o->kind == OPND_DECIMAL)
        decode_fail(x, o->at, "a decimal fraction where .%s is expected", ptx_type_name(t));
    uint32_t bytes = ptx_type_bytes(t);
    if (bytes < 4 && is_signed(t))
        return (uint32_t)(int32_t)(bytes == 1 ? (int8_t)bits : (int16_t)bits);
    return bytes < 8 ? bits & ((1ull << 8 * bytes) - 1) : bits;
}

static uint64_t variable_address(struct decoder *x, const struct ptx_operand *o)
{
    return x->address[o->var] + o->bits;
}

static _Noreturn void fail_undeclared(struct decoder *x, const struct ptx_operand *o)
{
    const struct ptx_skipped *skipped = ptx_find_skipped(x->m, o->name);
    if (skipped)
        decode_fail(x, o->at, "'%.*s' cannot be used: %s", (int)o->name.n, o->name.p, skipped->reason);
    decode_fail(x, o->at, "'%.*s' is not declared", (int)o->name.n, o->name.p);
}

// The vreg that holds operand o as a value of type t. Registers must have t's width.
uint32_t operand_value(struct decoder *x, const struct ptx_operand *o, enum ptx_type t)
{
    uint32_t bytes = ptx_type_bytes(t);
    if (o->negated || o->reg2 >= 0)
        decode_fail(x, o->at, "'%.*s' cannot take this operand", (int)x->in->op.n, x->in->op.p);
    switch (o->kind) {
    case OPND_REG:
        if (x->f->regs[o->reg].type == PTX_PRED || reg_bytes(x, o->reg) != bytes)
            decode_fail(x, o->at, "'%.*s' takes a register of %u bits here, this one is .%s", (int)x->in->op.n,
                        x->in->op.p, 8 * bytes, ptx_type_name(x->f->regs[o->reg].type));
        return (uint32_t)o->reg;
    case OPND_INT:
    case OPND_F32:
    case OPND_F64:
    case OPND_DECIMAL:
        return vreg_const(x, slot_for(bytes), operand_literal(x, o, t));
    case OPND_SREG:
        return special(x, o, bytes);
    case OPND_VAR:
        if (bytes < 4)
            decode_fail(x, o->at, "the address of a variable does not fit in %u bits", 8 * bytes);
        return vreg_const(x, slot_for(bytes), bytes == 4 ? (uint32_t)variable_address(x, o) : variable_address(x, o));
    case OPND_NAME:
        if (str_is(o->name, "WARP_SZ"))
            return vreg_const(x, slot_for(bytes), LANES);
        fail_undeclared(x, o);
    default:
        decode_fail(x, o->at, "'%.*s' cannot take this operand", (int)x->in->op.n, x->in->op.p);
    }
}

uint32_t operand_predicate(struct decoder *x, const struct ptx_operand *o)
{
    if (o->kind != OPND_REG || x->f->regs[o->reg].type != PTX_PRED)
        decode_fail(x, o->at, "expected a predicate register");
    if (!o->negated)
        return (uint32_t)o->reg;
    uint32_t t = vreg_new(x, SLOT_PRED);
    emit_alu(x, ALU_not_pred, t, (uint32_t)o->reg, NO_VREG, NO_VREG);
    return t;
}

uint32_t operand_destination(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    if (o->kind == OPND_SINK)
        return vreg_new(x, slot_for(bytes));
    if (o->kind != OPND_REG || x->f->regs[o->reg].type == PTX_PRED || reg_bytes(x, o->reg) != bytes)
        decode_fail(x, o->at, "'%.*s' writes a register of %u bits", (int)x->in->op.n, x->in->op.p, 8 * bytes);
    return (uint32_t)o->reg;
}
