// wgmma.mma_async as data: what decode_wgmma.c makes and exec_wgmma.c runs. Each of the four warps of a warpgroup has
// 16 of the 64 rows, so each computes its own part. Source: PTX ISA 9.7.16 (asynchronous warpgroup level matrix
// instructions).
#pragma once

#include "uop.h"
#include "mma.h"

enum { WGMMA_OVERWRITE, WGMMA_ADD, WGMMA_ADD_IF };  // what scale-d says; ADD_IF: by a predicate

// Registers of the warpop: in[0] is B's descriptor, then A's descriptor or its four registers, then the predicate of
// WGMMA_ADD_IF. wide_out: the accumulators.
struct wgmma {
    enum mma_type a, b;
    uint16_t n;
    uint8_t k;
    bool half, saturate;    // accumulators of 16 bits; integers clamp
    bool a_in_registers;    // else in shared memory
    bool trans_a, trans_b;  // rows of the other dimension are contiguous: M of A, N of B
    bool negate;            // imm-scale-a times imm-scale-b is -1
    uint8_t scale_d;
};

// A matrix in shared memory, from its descriptor.
struct wgmma_matrix {
    uint32_t start, lead, stride;  // bytes
    uint8_t swizzle;               // enum dev_swizzle: 0, or 1, 2, 3 for 32, 64, 128 bytes
    uint8_t base;                  // matrix base offset
    bool trans;                    // the dimension that is not K is contiguous
};

static inline struct wgmma_matrix wgmma_describe(uint64_t descriptor, bool trans)
{
    static const uint8_t swizzles[] = { 0, 3, 2, 1 };
    return (struct wgmma_matrix){ .start = (uint32_t)(descriptor & 0x3fff) << 4,
                                  .lead = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                                  .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                                  .base = descriptor >> 49 & 7,
                                  .swizzle = swizzles[descriptor >> 62],
                                  .trans = trans };
}

// Where the 16 bytes lie that begin with element (row, 16 bytes * chunk along K), or, transposed, with element
// (8 * chunk, K = row).
static inline uint32_t wgmma_chunk(const struct wgmma_matrix *m, uint32_t row, uint32_t chunk)
{
    const uint32_t span = 16u << m->swizzle, across = span / 16;
    uint32_t at = m->start + row % 8 * span;
    if (!m->trans)
        at += row / 8 * m->stride + (m->swizzle ? chunk * 16 : chunk * m->lead);
    else if (m->swizzle)
        at += row / 8 * m->stride + chunk % across * 16 + chunk / across * m->lead;
    else
        at += row / 8 * m->lead + chunk * m->stride;
    return at ^ ((at >> 7 & ((1u << m->swizzle) - 1)) << 4);
}

#define WGMMA_KEPT 8  // groups

struct wgmma_job {  // one that was issued
    const struct uop *u;
    uint64_t a, b;  // descriptors
    uint32_t group;
    uint32_t missed;  // 1 + the PTX instruction of a wait for all groups that came before it was committed; 0: none
    bool add, ran;
    unsigned char regs[4 * 4 * LANES];  // of A, as they were
};

struct wgmma_end {       // of a group's reads of shared memory, when they were over for the checks
    uint32_t at;         // when the first warp of the warpgroup waited for it
    uint32_t waited[4];  // when each of the four warps did; 0: it has not
};

struct wgmmas {  // of a warp, in the order in which they were issued
    struct wgmma_job *all;
    uint32_t n, room, group;
    uint32_t gone;                      // that were issued before these
    uint32_t issued[WGMMA_KEPT];        // by group, modulo that: how many there were when it was committed
    uint32_t told;                      // of a warpgroup's first warp: groups that the checks know to be over
    struct wgmma_end ends[WGMMA_KEPT];  // of the same: by group, modulo that
    const struct wgmma_job *current;    // that the executor is to compute
};
