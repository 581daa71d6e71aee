// llvm.is.fpclass: whether a float is of one of some kinds (a NaN, infinite, normal, ...). A kind is a range of bits,
// if they are read as an unsigned number, so ranges of the kinds that were asked for are joined and compared.
#include "irptx/select.h"

struct range {
    uint64_t first, last;
};

enum { KINDS = 12 };

// By the bits that they begin at: which bit of the mask asks for them, and the range. half is a sign's share of all
// bits.
static void find_kinds(const struct ir_type *t, unsigned bit[KINDS], struct range r[KINDS])
{
    static const unsigned positive[] = { 6, 7, 8, 9, 0, 1 }, negative[] = { 5, 4, 3, 2, 0, 1 };
    const uint32_t fraction = t->bits == 64 ? 52 : t->bits == 32 ? 23 : t->kind == IR_BFLOAT ? 7 : 10;
    const uint64_t half = 1ull << (t->bits - 1), normal = 1ull << fraction, infinite = half - normal;
    const uint64_t begin[] = { 0, 1, normal, infinite, infinite + 1, infinite + normal / 2, half };
    for (uint32_t i = 0; i < KINDS; i++) {
        const uint64_t sign = i < 6 ? 0 : half;
        bit[i] = i < 6 ? positive[i] : negative[i - 6];
        r[i] = (struct range){ sign + begin[i % 6], sign + begin[i % 6 + 1] - 1 };
    }
}

struct val select_class(struct code *c, const struct ir_type *t, struct val x, uint64_t mask)
{
    unsigned bit[KINDS];
    struct range r[KINDS];
    find_kinds(t, bit, r);
    const uint32_t w = width_of(c, t), value = value_reg(c, x, t);
    uint32_t any = 0;
    for (uint32_t i = 0; i < KINDS; i++) {
        if (!(mask >> bit[i] & 1))
            continue;
        const uint64_t first = r[i].first;
        while (i + 1 < KINDS && mask >> bit[i + 1] & 1)
            i++;
        const struct operand last = operand_int(value_signed((int64_t)(r[i].last - first), w));
        const uint32_t from = !first ? value
                                     : PURE(c, w, code_name(c, "sub.s%u", w), operand_reg(value),
                                            operand_int(value_signed((int64_t)first, w)));
        const uint32_t inside = PURE(c, 1, code_name(c, "setp.le.u%u", w), operand_reg(from), last);
        any = any ? PURE(c, 1, "or.pred", operand_reg(any), operand_reg(inside)) : inside;
    }
    return any ? val_reg(any) : val_bits(0);
}
