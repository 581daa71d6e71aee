// The sums of the tensor cores, for mma.sync and wgmma alike: 16 rows of A times 8 columns of B, added to accumulators.
// See exec_sum.c.
#ifndef SIMT_EXEC_SUM_H
#define SIMT_EXEC_SUM_H

#include "isa.h"
#include "simt/code/mma.h"

#define SUM_ROWS 16
#define SUM_COLUMNS 8
#define SUM_BYTES 32  // of a row of A, or of a column of B, at most
#define SUM_K 32      // numbers of it

// Both factors have 16 numbers for each k: A those of its rows, B those of its columns, each twice. A lane of a vector
// is a column and one of two rows: column 0 and row 0, column 0 and row 1, column 1 and row 0, ...
#define SUM_LANES (2 * SUM_COLUMNS)
#define SUM_PAIRS (SUM_ROWS / 2)

struct sum {
    enum mma_type a, b;
    uint32_t k, block;  // numbers of a row; products that are summed at once
    int fraction;       // bits behind the point that aligned terms keep
    bool half;          // accumulators of 16 bits
    // Filled in by sum_left and sum_right.
    bool left_wide, right_wide;        // some exponent is large
    bool left_special, right_special;  // some number is infinite, or none
    float left[SUM_PAIRS][SUM_K][2];
    int16_t left_exponent[SUM_PAIRS][SUM_K][2];
    float right[SUM_K][SUM_LANES];
    int16_t right_exponent[SUM_K][SUM_LANES];
};

// The rows of A; negate: times -1.
void ISA(sum_left)(struct sum *s, const unsigned char rows[SUM_ROWS][SUM_BYTES], bool negate);
// The columns of B, one after the other; or, turned, which only halves may be, 8 numbers for each k.
void ISA(sum_right)(struct sum *s, const unsigned char numbers[SUM_COLUMNS * SUM_BYTES], bool turned);
// Accumulators out = in + A B; in NULL: 0. 8 rows of 8 columns are two registers of f32, of even and odd columns, or
// one of f16. in and out may be the same.
void ISA(sum_add)(const struct sum *s, unsigned char *regs, const uint32_t *in, const uint32_t *out);

#endif
