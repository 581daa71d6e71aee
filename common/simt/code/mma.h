// mma.sync as data: what decode_mma.c makes and exec_mma.c runs. One struct mma is one tensor-core instruction of
// m16n8 (or m8n8); a wmma.mma becomes two of them.
#ifndef SIMT_MMA_H
#define SIMT_MMA_H

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

#endif
