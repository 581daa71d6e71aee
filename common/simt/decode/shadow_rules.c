// What each operation of alu.def does to undefined bits. See shadow_rules.h.
#include "base/text.h"
#include "shadow_rules.h"

#include <string.h>

enum { B_u8 = 1, B_u16 = 2, B_u32 = 4, B_u64 = 8, B_s8 = 1, B_s16 = 2, B_s32 = 4, B_s64 = 8, B_f32 = 4, B_f64 = 8 };

static const struct {
    const char *name;
    uint8_t n, d, abc[3];  // bytes of the types; 0: a predicate
} operations[ALU_OPS] = {
#define ALU(id, name, n, D, A, B, C, effect) { name, n, B_##D, { B_##A, B_##B, B_##C } },
#define SETP(id, name, T, effect) { name, 2, 0, { B_##T, B_##T, 0 } },
#define LOGIC(id, name, n, effect) { name, n, 0, { 0, 0, 0 } },
#define SELP(id, name, T) { name, 3, B_##T, { B_##T, B_##T, 0 } },
#include "simt/code/alu.def"
};

// By how a name begins, the first that fits; what is in none of the lines is SHADOW_WHOLE. Controls: operands that
// choose which bits go where.
static const struct {
    const char *begins;
    enum shadow_rule rule;
    uint8_t controls;
} rules[] = {
    { "add.sat", SHADOW_WHOLE, 0 },
    { "sub.sat", SHADOW_WHOLE, 0 },
    { "cvt.sat", SHADOW_WHOLE, 0 },
    { "add.u", SHADOW_CARRY, 0 },
    { "add.s", SHADOW_CARRY, 0 },
    { "sub.u", SHADOW_CARRY, 0 },
    { "sub.s", SHADOW_CARRY, 0 },
    { "mul.lo", SHADOW_CARRY, 0 },
    { "mad.lo", SHADOW_CARRY, 0 },
    { "mul.wide", SHADOW_CARRY, 0 },
    { "mad.wide", SHADOW_CARRY, 0 },
    { "neg.s", SHADOW_CARRY, 0 },
    { "sum and carry", SHADOW_CARRY, 0 },
    { "difference and borrow", SHADOW_CARRY, 0 },
    { "mov", SHADOW_BITS, 0 },
    { "and", SHADOW_BITS, 0 },
    { "or", SHADOW_BITS, 0 },
    { "xor", SHADOW_BITS, 0 },
    { "not", SHADOW_BITS, 0 },
    { "lop3", SHADOW_BITS, 0 },
    { "selp", SHADOW_BITS, 0 },
    { "prmt", SHADOW_BITS, 1 << 2 },
    { "shl", SHADOW_BITS, 1 << 1 },
    { "shr", SHADOW_BITS, 1 << 1 },
    { "shf", SHADOW_BITS, 1 << 2 },
    { "bfe", SHADOW_BITS, 1 << 1 | 1 << 2 },
    { "bfi", SHADOW_BITS, 1 << 2 },
    { "brev", SHADOW_BITS, 0 },
    { "position and length", SHADOW_BITS, 0 },
    { "low half", SHADOW_BITS, 0 },
    { "high half", SHADOW_BITS, 0 },
    { "b64 of two", SHADOW_BITS, 0 },
    { "b32 of two", SHADOW_BITS, 0 },
    { "cvt.u", SHADOW_BITS, 0 },  // integers to integers
    { "cvt.s", SHADOW_BITS, 0 },
    { "neg.f", SHADOW_BITS, 0 },
    { "abs.f", SHADOW_BITS, 0 },
    { "copysign", SHADOW_BITS, 0 },
    { "setp.eq.b", SHADOW_EQUAL, 0 },
    { "setp.eq.u", SHADOW_EQUAL, 0 },
    { "setp.eq.s", SHADOW_EQUAL, 0 },
    { "setp.ne.b", SHADOW_EQUAL, 0 },
    { "setp.ne.u", SHADOW_EQUAL, 0 },
    { "setp.ne.s", SHADOW_EQUAL, 0 },
};

static bool ends(const char *s, const char *with)
{
    const size_t n = strlen(s), m = strlen(with);
    return n >= m && !strcmp(s + n - m, with);
}

static void choose_rule(struct shadow *s, enum alu_op op)
{
    const char *name = operations[op].name;
    s->rule = SHADOW_WHOLE;
    s->joins = text_begins(name, "or.b") || text_begins(name, "xor.b");
    if (strstr(name, "e4m3") || strstr(name, "e5m2"))  // pairs of bytes
        return;
    if (strstr(name, "x2.f32")) {
        s->rule = SHADOW_PAIR;
    } else if (ends(name, "x2")) {
        s->rule = SHADOW_HALVES;
    } else {
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            if (text_begins(name, rules[i].begins)) {
                s->rule = rules[i].rule;
                s->controls = rules[i].controls;
                return;
            }
        }
    }
}

const char *shadow_name(enum alu_op op)
{
    return operations[op].name;
}

uint8_t shadow_bytes_taken(enum alu_op op)
{
    const uint32_t taken = operations[op].d, of = operations[op].abc[0];
    struct shadow s = { 0 };
    choose_rule(&s, op);
    if (s.rule != SHADOW_BITS || operations[op].n != 1 || taken >= of)
        return UINT8_MAX;
    return (uint8_t)(((1u << taken) - 1) << (text_begins(operations[op].name, "high half") ? of - taken : 0));
}

uint32_t shadow_operands(enum alu_op op)
{
    return operations[op].n;
}

void shadow_describe(struct shadow *s, enum alu_op op)
{
    choose_rule(s, op);
    s->n = operations[op].n;
    s->bytes_d = operations[op].d;
    memcpy(s->bytes, operations[op].abc, sizeof s->bytes);
}

bool shadow_adds_nan(const struct decoder *x, const struct uop *u)
{
    const char *name = operations[u->op].name;
    const uint32_t operand[] = { u->a, u->b, u->c };
    const bool wide = ends(name, ".f64");
    if (u->kind != UOP_ALU || (!wide && !ends(name, ".f32")) ||
        !(text_begins(name, "add.") || text_begins(name, "sub.") || text_begins(name, "mul.") ||
          text_begins(name, "fma.")))
        return false;
    for (uint32_t i = 0; i < operations[u->op].n; i++) {
        const struct vreg *v = &x->vregs[operand[i]];
        if (v->constant && v->bits == (wide ? NAN_LITERAL_F64 : NAN_LITERAL_F32))
            return true;
    }
    return false;
}
