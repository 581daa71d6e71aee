// The sums of the tensor cores, for mma.sync and wgmma alike: 16 rows of A times 8 columns of B, added to accumulators.
// See exec_sum.c.
#pragma once

#include "isa.h"
#include "simt/code/mma.h"

#define SUM_NONE (-4096)  // the exponent of zero: below all others

struct sum {  // what is summed, and how
    enum mma_type a, b;
    uint32_t k, block;  // numbers of a row; products that are summed at once
    int fraction;       // bits behind the point that aligned terms keep
    bool half;          // accumulators of 16 bits
    const struct sum_left *left;
    const struct sum_right *right;
};

// The rows of A; negate: times -1.
void ISA(sum_left)(const struct sum *s, struct sum_left *left, const unsigned char rows[SUM_ROWS][SUM_BYTES],
                   bool negate);
// The columns of B, one after the other; or, turned, which only halves may be, 8 numbers for each k.
void ISA(sum_right)(const struct sum *s, struct sum_right *right, const unsigned char numbers[SUM_COLUMNS * SUM_BYTES],
                    bool turned);
// The exponents of n numbers, whatever they are; a subnormal one has its format's least, and zero SUM_NONE.
void ISA(sum_exponents)(enum mma_type t, uint32_t n, const float *value, int32_t *exponent);
// Accumulators out = in + A B; in NULL: 0. 8 rows of 8 columns are two registers of f32, of even and odd columns, or
// one of f16. in and out may be the same.
void ISA(sum_add)(const struct sum *s, unsigned char *regs, const uint32_t *in, const uint32_t *out);
