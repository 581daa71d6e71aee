// mma.sync as data: what decode_mma.c makes and exec_mma.c runs. One struct mma is one tensor-core instruction of
// m16n8 (or m8n8); a wmma.mma becomes two of them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum mma_type { MMA_F16, MMA_BF16, MMA_TF32, MMA_F64, MMA_S8, MMA_U8, MMA_E4M3, MMA_E5M2 };

struct mma {
    enum mma_type a, b;
    bool half;           // accumulators of 16 bits
    bool saturate;       // integer accumulators clamp
    uint8_t rows, k;     // m (8 or 16), k
    uint8_t block;       // products that are summed at once: k on sm_90, 8 halves or 4 tf32 numbers on sm_80
    uint8_t fraction;    // bits after the point of aligned terms: 25 on sm_90, 24 on sm_80
    uint8_t na, nb, nc;  // registers
};

#define SUM_ROWS 16
#define SUM_COLUMNS 8
#define SUM_BYTES 32  // of a row of A, or of a column of B, at most
#define SUM_K 32      // numbers of it

#define SUM_PAIRS (SUM_ROWS / 2)
// Both factors have 16 numbers for each k: A those of its rows, B those of its columns, each twice. A lane of a vector
// is a column and one of two rows: column 0 and row 0, column 0 and row 1, column 1 and row 0, ...
#define SUM_LANES (2 * SUM_COLUMNS)

struct sum_left {  // rows of A
    bool wide;     // some exponent is large
    bool special;  // some number is infinite, or none
    float value[SUM_PAIRS][SUM_K][2];
    _Alignas(64) uint64_t exponents[SUM_K][SUM_PAIRS];  // a pair's two, as bytes, four times (exec_sum.c)
};

struct sum_right {  // columns of B
    bool wide, special;
    _Alignas(64) float value[SUM_K][SUM_LANES];
    uint8_t exponent[SUM_K][SUM_LANES];  // for quick sums (exec_sum.c)
};

// What a factor of an mma.sync was made of: registers of 8 rows of A, or columns of B, of 16 bytes each.
struct mma_source {
    enum mma_type type;
    uint32_t k;  // 0: of none
    unsigned char regs[4][16 * 8];
};

#define MMA_RIGHTS 16

// A worker's last factors. Nearly always the next mma.sync, for other columns, has the same A; and its B comes back
// with another A, in the same registers.
struct mma_last {
    struct mma_source a, b[MMA_RIGHTS];
    struct sum_left left;
    struct sum_right right[MMA_RIGHTS];
};
