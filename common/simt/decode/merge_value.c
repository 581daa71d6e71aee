// What registers hold, as far as it can be known from the code alone: equal values get equal numbers, constants that
// are added are kept apart, and low bits that must be zero are counted. A register that is written in one place has
// one value wherever that place has been passed; one that is written in several has another value after each write, and
// one that is not known in each basic block.
#include <string.h>

#include "merge.h"

#define PASSES 64  // over the code, until nothing changes
#define ANY 64     // zeros of 0
#define ALWAYS UINT32_MAX

enum kind { OTHER, MOVE, LOW, ADD, SUB, MUL, MAD, SHL, OR, LESSER, AND, FIELD };

// What has a number.
enum { NOTHING, CONSTANT, LOW_HALF, WHOLE, SUM, DIFFERENCE, MULTIPLE, REGISTER };

#define LINE(kind, op)                                                                                                 \
    {                                                                                                                  \
        kind, true, ALU_##op                                                                                           \
    }
// Only the zeros follow; the value is a new unknown.
#define ZEROS(kind, op)                                                                                                \
    {                                                                                                                  \
        kind, false, ALU_##op                                                                                          \
    }
#define INTS(X, kind, op) X(kind, op##_u32), X(kind, op##_s32), X(kind, op##_u64), X(kind, op##_s64)

static const struct known {
    enum kind kind;
    bool linear;
    enum alu_op op;
} ops[] = {
    LINE(MOVE, mov_b32),        LINE(MOVE, mov_b64),        INTS(LINE, ADD, add),     INTS(LINE, SUB, sub),
    INTS(LINE, MUL, mul_lo),    INTS(LINE, MAD, mad_lo),    LINE(SHL, shl_b32),       LINE(SHL, shl_b64),
    LINE(OR, or_b32),           LINE(OR, or_b64),           LINE(LOW, low_b64),       LINE(LOW, cvt_u32_u64),
    LINE(LOW, cvt_s32_s64),     LINE(LOW, cvt_s32_u64),     LINE(LOW, cvt_u32_s64),   LINE(MOVE, cvt_u32_u32),
    LINE(MOVE, cvt_s32_s32),    LINE(MOVE, cvt_u64_u64),    LINE(MOVE, cvt_s64_s64),  ZEROS(MOVE, mov_b16),
    INTS(ZEROS, MOVE, cvt_u64), INTS(ZEROS, MOVE, cvt_s64), ZEROS(MOVE, cvt_u32_u16), ZEROS(MOVE, cvt_s32_s16),
    ZEROS(MOVE, cvt_u16_u32),   ZEROS(MOVE, low_b32),       ZEROS(ADD, add_u16),      ZEROS(ADD, add_s16),
    ZEROS(MUL, mul_lo_u16),     ZEROS(MUL, mul_lo_s16),     ZEROS(MUL, mul_wide_u16), ZEROS(MUL, mul_wide_s16),
    ZEROS(MUL, mul_wide_u32),   ZEROS(MUL, mul_wide_s32),   ZEROS(MAD, mad_wide_u32), ZEROS(MAD, mad_wide_s32),
    ZEROS(SHL, shl_b16),        ZEROS(AND, and_b16),        ZEROS(AND, and_b32),      ZEROS(AND, and_b64),
    ZEROS(LESSER, xor_b32),     ZEROS(LESSER, xor_b64),     INTS(ZEROS, LESSER, rem), ZEROS(LESSER, selp_b32),
    ZEROS(LESSER, selp_b64),    ZEROS(MOVE, neg_s32),       ZEROS(MOVE, neg_s64),     ZEROS(FIELD, bfi_b32),
};

static struct known know(const struct uop *u)
{
    for (size_t i = 0; u->kind == UOP_ALU && i < sizeof ops / sizeof *ops; i++)
        if (u->op == ops[i].op)
            return ops[i];
    return (struct known){ OTHER, false, ALU_OPS };
}

bool is_move(const struct uop *u)
{
    const struct known k = know(u);
    return k.kind == MOVE && (k.linear || k.op == ALU_mov_b16);
}

static uint32_t root_of(struct values *s, uint32_t what, uint64_t a, uint64_t b, unsigned zeros);

// --- zeros ---

static unsigned zeros_in(uint64_t bits)
{
    return bits ? (unsigned)__builtin_ctzll(bits) : ANY;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// Of what u writes, from those of its operands.
static unsigned zeros_of(const struct values *s, const struct uop *u, enum kind kind)
{
    const struct vreg *v = s->x->vregs;
    const uint32_t in[] = { u->a, u->b, u->c };
    unsigned z[3];
    for (int i = 0; i < 3; i++)
        z[i] = in[i] == NO_VREG ? 0 : v[in[i]].constant ? zeros_in(v[in[i]].bits) : s->zeros[in[i]];
    const uint64_t literal = u->b != NO_VREG && v[u->b].constant ? v[u->b].bits : 0;
    switch (kind) {
    case MOVE:
    case LOW:
        return z[0];
    case ADD:
    case SUB:
    case OR:
    case LESSER:
        return least(z[0], z[1]);
    case AND:
        return z[0] > z[1] ? z[0] : z[1];
    case MUL:
        return least(z[0] + z[1], ANY);
    case MAD:
        return least(z[0] + z[1], z[2]);
    case SHL:
        return literal < ANY ? least(z[0] + (unsigned)literal, ANY) : ANY;
    case FIELD:
        return u->c != NO_VREG && v[u->c].constant ? least(z[0] + (v[u->c].bits & 255), z[1]) : 0;
    default:
        return 0;
    }
}

struct visit {
    struct values *s;
    uint8_t known;  // zeros of what the uop writes
    bool guarded, changed;
    uint32_t at;
};

static void count_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct visit *v = context;
    if (is_def)
        v->s->defs[*vreg] += 1 + v->guarded;
    else
        v->s->used[*vreg] = true;
}

static void zeros_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct visit *v = context;
    if (!is_def || v->s->zeros[*vreg] <= v->known)
        return;
    v->s->zeros[*vreg] = v->known;
    v->changed = true;
}

// All low bits may be zero until a definition says otherwise: so loops do not stand in their own way.
bool find_zeros(struct decoder *x, struct values *s)
{
    const struct code *c = x->code;
    *s = (struct values){ .x = x };
    s->defs = decode_scratch(x, (x->n_vregs + 1) * sizeof *s->defs);
    s->used = decode_scratch(x, x->n_vregs + 1);
    s->zeros = decode_scratch(x, x->n_vregs + 1);
    s->value = decode_scratch(x, (x->n_vregs + 1) * sizeof *s->value);
    s->known = decode_scratch(x, (x->n_vregs + 1) * sizeof *s->known);
    s->changed = decode_scratch(x, (x->n_vregs + 1) * sizeof *s->changed);
    enum kind *kinds = decode_scratch(x, (c->n_uops + 1) * sizeof *kinds);
    for (uint32_t i = 0; i < c->n_uops; i++) {
        struct visit v = { .s = s, .guarded = c->uops[i].guarded };
        kinds[i] = know(&c->uops[i]).kind;
        visit_operands(&c->uops[i], count_visit, &v);
    }
    for (uint32_t v = 0; v < x->n_vregs; v++)
        s->zeros[v] = s->defs[v] ? ANY : 0;
    struct visit v = { .s = s, .changed = true };
    for (int pass = 0; v.changed; pass++) {
        if (pass == PASSES)
            return false;
        v.changed = false;
        for (uint32_t i = 0; i < c->n_uops; i++) {
            v.known = (uint8_t)zeros_of(s, &c->uops[i], kinds[i]);
            visit_operands(&c->uops[i], zeros_visit, &v);
        }
    }
    root_of(s, NOTHING, 0, 0, ANY);  // root 0
    return true;
}

// --- numbers ---

uint32_t number_of(struct decoder *x, struct map *m, const void *key, uint32_t size, bool *is_new)
{
    uint32_t found;
    *is_new = !map_get(m, (struct str){ key, size }, &found);
    if (!*is_new)
        return found;
    char *kept = decode_scratch(x, size);
    memcpy(kept, key, size);
    found = m->used;
    if (!map_put(x->scratch, m, (struct str){ kept, size }, found))
        decode_fail(x, x->f->name.p, "out of memory");
    return found;
}

static uint32_t number(struct values *s, const void *key, uint32_t size, unsigned zeros)
{
    bool is_new;
    uint32_t n = number_of(s->x, &s->numbers, key, size, &is_new);
    if (is_new) {
        s->root_zeros = arena_grow(s->x->scratch, s->root_zeros, n, 1);
        if (!s->root_zeros)
            decode_fail(s->x, s->x->f->name.p, "out of memory");
        s->root_zeros[n] = (uint8_t)zeros;
    }
    return n;
}

static uint32_t root_of(struct values *s, uint32_t what, uint64_t a, uint64_t b, unsigned zeros)
{
    const uint64_t key[] = { what, a, b };
    return number(s, key, sizeof key, zeros);
}

// The same value with a root. A variable's address in a register is an unknown to ptxas, but for its alignment.
static struct value unknown(struct values *s, struct value v)
{
    return v.root ? v : (struct value){ root_of(s, CONSTANT, v.offset, 0, zeros_in(v.offset)), 0 };
}

// The value as one number, its offset included.
static uint32_t whole(struct values *s, struct value v)
{
    return v.offset || !v.root ? root_of(s, WHOLE, v.root, v.offset, 0) : v.root;
}

struct value value_of(struct values *s, uint32_t vreg)
{
    const struct vreg *v = &s->x->vregs[vreg];
    if (v->constant)
        return (struct value){ 0, v->bits };
    if (s->known[vreg] == ALWAYS || (s->known[vreg] > s->block_start && s->known[vreg] == s->changed[vreg]))
        return s->value[vreg];
    uint32_t since = s->changed[vreg] > s->block_start ? s->changed[vreg] : s->block_start;
    return (struct value){ root_of(s, REGISTER, vreg, s->defs[vreg] > 1 ? since : UINT32_MAX, s->zeros[vreg]), 0 };
}

static struct value scaled(struct values *s, struct value v, uint64_t by)
{
    if (!v.root)
        return (struct value){ 0, v.offset * by };
    unsigned zeros = least(s->root_zeros[v.root] + zeros_in(by), ANY);
    return (struct value){ root_of(s, MULTIPLE, v.root, by, zeros), v.offset * by };
}

static struct value sum(struct values *s, struct value a, bool a_literal, struct value b, bool b_literal)
{
    if (a_literal || b_literal)
        return (struct value){ a_literal ? b.root : a.root, a.offset + b.offset };
    a = unknown(s, a);
    b = unknown(s, b);
    uint32_t low = a.root < b.root ? a.root : b.root, high = a.root < b.root ? b.root : a.root;
    unsigned zeros = least(s->root_zeros[low], s->root_zeros[high]);
    return (struct value){ root_of(s, SUM, low, high, zeros), a.offset + b.offset };
}

// A new unknown: what this operation makes of these operands.
static struct value result(struct values *s, const struct uop *u)
{
    const uint32_t in[] = { u->a, u->b, u->c };
    struct {
        uint64_t op, target, in[3];
    } key = { u->op, u->target, { 0 } };
    for (int i = 0; i < 3; i++)
        key.in[i] = in[i] == NO_VREG ? 0 : whole(s, value_of(s, in[i]));
    return (struct value){ number(s, &key, sizeof key, s->zeros[u->d]), 0 };
}

static struct value alu_value(struct values *s, const struct uop *u)
{
    const struct vreg *v = s->x->vregs;
    struct known k = know(u);
    if (!k.linear)
        return result(s, u);
    struct value a = value_of(s, u->a), b = u->b != NO_VREG ? value_of(s, u->b) : a;
    bool a_literal = v[u->a].constant, b_literal = u->b != NO_VREG && v[u->b].constant;
    switch (k.kind) {
    case MOVE:
        return a;
    case LOW:
        return a.root ? (struct value){ root_of(s, LOW_HALF, a.root, 0, s->root_zeros[a.root]), a.offset } : a;
    case ADD:
        return sum(s, a, a_literal, b, b_literal);
    case SUB:
        if (b_literal)
            return (struct value){ a.root, a.offset - b.offset };
        a = unknown(s, a);
        b = unknown(s, b);
        return (
            struct value){ root_of(s, DIFFERENCE, a.root, b.root, least(s->root_zeros[a.root], s->root_zeros[b.root])),
                           a.offset - b.offset };
    case MUL:
        return b_literal ? scaled(s, a, b.offset) : result(s, u);
    case MAD:
        return b_literal ? sum(s, scaled(s, a, b.offset), a_literal, value_of(s, u->c), v[u->c].constant)
                         : result(s, u);
    case SHL:
        return b_literal && b.offset < ANY ? scaled(s, a, 1ull << b.offset) : result(s, u);
    case OR:  // of a constant into bits that are zero: a sum
        return b_literal && (s->zeros[u->a] >= ANY || b.offset >> s->zeros[u->a] == 0)
                   ? (struct value){ a.root, a.offset + b.offset }
                   : result(s, u);
    default:
        return result(s, u);
    }
}

static void change_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct visit *v = context;
    if (is_def && v->s->defs[*vreg] > 1)
        v->s->changed[*vreg] = v->at;
}

void follow_uop(struct values *s, uint32_t index, bool start)
{
    struct uop *u = &s->x->code->uops[index];
    if (start)
        s->block_start = 2 * index;
    struct visit v = { .s = s, .at = 2 * index + 1 };
    if (u->kind == UOP_ALU && !u->guarded) {
        struct value value = alu_value(s, u);
        value.offset &= s->x->vregs[u->d].slot == SLOT_64 ? UINT64_MAX : UINT32_MAX;
        s->value[u->d] = value;
        s->known[u->d] = s->defs[u->d] == 1 ? ALWAYS : v.at;
    }
    visit_operands(u, change_visit, &v);
}
