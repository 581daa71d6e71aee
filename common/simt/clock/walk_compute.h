// What the files of the walk share: walk_operand.c fetches operands and stores results, walk_sum.c, walk_bits.c,
// walk_float.c and walk_test.c compute, and walk_value.c knows which of them computes what.
#pragma once

#include "walk.h"

#define ALL 0xffffffffu
#define EACH_LANE for (unsigned i = 0; i < WALK_LANES; i++)

struct operand {
    uint32_t v[WALK_LANES];
    uint32_t known;
};

struct compute {
    struct walk_warp *w;
    const struct sass *s;
    uint32_t mask, lanes;  // where results are stored; the lanes that take part
    struct operand a, b, c, out;
};

static inline bool bit(const struct sass *s, unsigned n)
{
    return sass_bits(s, n, 1);
}

// walk_operand.c: operands a, b and c of the instruction (high: their upper half), and what becomes of results.
void walk_splat(struct operand *o, uint32_t value);
// A word of constant memory: the launch's shape, and its parameters. False if it is not known.
bool walk_constant(const struct walk_warp *w, unsigned bank, unsigned at, uint32_t *value);
void walk_load_register(const struct walk_warp *w, bool uniform, unsigned r, struct operand *o);
void walk_load_b(const struct compute *k, unsigned high, struct operand *o);
void walk_load_c(const struct compute *k, unsigned high, struct operand *o);
void walk_load_a(const struct compute *k, unsigned high, struct operand *o);
void walk_negate(struct operand *o, bool with_carry);
void walk_store(struct compute *k, unsigned d, const struct operand *o);
uint32_t walk_predicate_in(const struct compute *k, unsigned from, uint32_t *known);
void walk_predicate_out(struct compute *k, unsigned from, uint32_t value, uint32_t known);
void walk_iadd3(struct compute *k);
void walk_iadd64(struct compute *k);
void walk_iadd(struct compute *k);
void walk_imad(struct compute *k);
void walk_imad_wide(struct compute *k, bool upper);
void walk_lea(struct compute *k);
void walk_lop3(struct compute *k);
void walk_shf(struct compute *k);
void walk_prmt(struct compute *k);
void walk_one_operand(struct compute *k);
void walk_sgxt(struct compute *k);
void walk_bmsk(struct compute *k);
void walk_isetp(struct compute *k);
void walk_float_setp(struct compute *k);
// walk_float.c. Gives a and b of an instruction on f32 their signs; and what instructions on f32 do.
void walk_float_operands(struct compute *k);
void walk_fadd(struct compute *k);
void walk_fmul(struct compute *k);
void walk_ffma(struct compute *k);
void walk_fmnmx(struct compute *k);
void walk_mufu(struct compute *k);
void walk_fchk(struct compute *k);
void walk_plop3(struct compute *k);
void walk_p2r(struct compute *k);
void walk_r2p(struct compute *k);
void walk_sel(struct compute *k);
void walk_imnmx(struct compute *k, bool sums);
void walk_vote(struct compute *k);
void walk_elect(struct compute *k);
void walk_registers(struct compute *k);
