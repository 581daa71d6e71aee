// Operands of PTX instructions: registers, literals, special registers and addresses as values of a type.
#include <string.h>

#include "decode_inst.h"
#include "simt/machine/memory.h"

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
        { "tcgen05.", "Blackwell's tensor cores (tcgen05)" },
        { "tensormap.", "tensor maps that a kernel changes (tensormap)" },
        { "wgmma.mma_async.sp.", "sparse matrix products (wgmma.mma_async.sp)" },
        { "multimem.", "addresses of several GPUs (multimem)" },
        { "clusterlaunchcontrol.", "Blackwell's control of clusters (clusterlaunchcontrol)" },
        { "mma.sp", "sparse matrix products (mma.sp)" },
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_begins(op, families[i].prefix))
            return families[i].what;
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

// d = special register number i of the table
static uint32_t emit_special(struct decoder *x, uint32_t i, uint32_t bytes)
{
    struct uop *u = emit(x, UOP_SREG);
    u->target = i;
    x->code->reads_clock |= i >= SREG_clock && i <= SREG_globaltimer_hi;
    u->saves = (uint8_t)slot_for(bytes);
    uint32_t d = vreg_new(x, slot_for(bytes));
    x->code->uops[x->code->n_uops - 1].d = d;
    return d;
}

// %reserved_smem_offset_begin, _end, _cap, _0, _1: the shared memory that decode.c sets aside for the system; what
// cooperative groups keep there begins at _1. Source: PTX ISA 10.36.
static uint32_t reserved_offset(const struct decoder *x, struct str name)
{
    const char last = name.p[name.n - 1];
    return last == 'p' ? RESERVED_SHARED : x->reserved_at + (last == 'd' ? RESERVED_SHARED : 0);
}

uint32_t emit_special_register(struct decoder *x, enum sreg which)
{
    return emit_special(x, which, 4);
}

static uint32_t special(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } sregs[] = {
#define SREG(id, name, bits, effect) { name, bits },
#include "simt/code/sreg.def"
    };
    const bool environment = str_begins(o->name, "%envreg") && o->name.n > 7;
    x->code->syncs_grid |= environment && o->name.p[7] == '1' && o->name.n == 8;
    for (uint32_t i = 0; i < SREGS; i++) {
        if (!str_is(o->name, sregs[i].name))
            continue;
        if (sregs[i].bits == 32 && bytes == 2) {
            const uint32_t whole = emit_special(x, i, 4), half = vreg_new(x, SLOT_32);
            emit_alu(x, ALU_mov_b16, half, whole, NO_VREG, NO_VREG);
            return half;
        }
        if (sregs[i].bits != 8 * bytes)
            decode_fail(x, o->at, "%s has %u bits, '%.*s' takes %u", sregs[i].name, sregs[i].bits, (int)x->in->op.n,
                        x->in->op.p, 8 * bytes);
        return emit_special(x, i, bytes);
    }
    if (bytes == 4 && str_begins(o->name, "%reserved_smem_offset_"))
        return vreg_const(x, SLOT_32, reserved_offset(x, o->name));
    if (bytes == 4 && environment)
        return vreg_const(x, SLOT_32, 0);  // the driver's own, and it has none
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

// The vreg with the address of the variable that o names. That of a .param variable is a generic one: a kernel's
// parameters have a copy in device memory for it, those of calls are local memory.
static uint32_t variable_address(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    const uint64_t address = x->address[o->var] + o->bits;
    const bool is_param = x->m->vars[o->var].space == SPACE_PARAM;
    if (bytes < 4 || (is_param && bytes < 8))
        decode_fail(x, o->at, "the address of a variable does not fit in %u bits", 8 * bytes);
    if (is_param && is_local_param(x, (uint32_t)o->var))
        return vreg_const(x, SLOT_64, WINDOW_LOCAL + address);
    if (x->m->vars[o->var].space == SPACE_SHARED && bytes >= 4)
        return vreg_window(x, slot_for(bytes), address);
    if (!is_param)
        return vreg_const(x, slot_for(bytes), bytes == 4 ? (uint32_t)address : address);
    uint32_t base = emit_special(x, SREG_params, 8), d = vreg_new(x, SLOT_64);
    x->code->takes_param_address = true;
    emit_alu(x, ALU_add_u64, d, base, vreg_const(x, SLOT_64, address), NO_VREG);
    return d;
}

static _Noreturn void fail_undeclared(struct decoder *x, const struct ptx_operand *o)
{
    const struct ptx_skipped *skipped = ptx_find_skipped(x->m, o->name);
    if (skipped)
        decode_fail(x, o->at, "'%.*s' cannot be used: %s", (int)o->name.n, o->name.p, skipped->reason);
    decode_fail(x, o->at, "'%.*s' is not declared", (int)o->name.n, o->name.p);
}

static uint32_t function_address(struct decoder *x, const struct ptx_operand *o, uint32_t bytes)
{
    const int64_t i = ptx_find_function(x->m, o->name);
    if (i < 0)
        fail_undeclared(x, o);
    if (bytes != 8)
        decode_fail(x, o->at, "the address of a function does not fit in %u bits", 8 * bytes);
    if (!x->m->funcs[i].body)
        decode_fail(x, o->at, "'%.*s' has no body in this file", (int)o->name.n, o->name.p);
    return vreg_const(x, SLOT_64, memory_of_function((uint64_t)i));
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
        return variable_address(x, o, bytes);
    case OPND_NAME:
        if (str_is(o->name, "WARP_SZ"))
            return vreg_const(x, slot_for(bytes), LANES);
        return function_address(x, o, bytes);
    default:
        decode_fail(x, o->at, "'%.*s' cannot take this operand", (int)x->in->op.n, x->in->op.p);
    }
}

uint32_t operand_predicate(struct decoder *x, const struct ptx_operand *o)
{
    if (o->kind == OPND_INT) {
        uint32_t p = vreg_new(x, SLOT_PRED), bit = vreg_const(x, SLOT_32, (o->bits != 0) != o->negated);
        emit_alu(x, ALU_setp_ne_b32, p, bit, vreg_const(x, SLOT_32, 0), NO_VREG);
        return p;
    }
    if (o->kind == OPND_SREG && str_is(o->name, "%is_explicit_cluster")) {
        uint32_t p = vreg_new(x, SLOT_PRED), value = emit_special(x, SREG_explicit_cluster, 4);
        emit_alu(x, ALU_setp_ne_b32, p, value, vreg_const(x, SLOT_32, o->negated), NO_VREG);
        return p;
    }
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

uint32_t destination_predicate(struct decoder *x, const struct ptx_operand *o)
{
    if (o->negated)
        decode_fail(x, o->at, "a destination cannot be negated");
    if (o->kind == OPND_INT)
        decode_fail(x, o->at, "expected a predicate register");
    return operand_predicate(x, o);
}
