// Bulk copies as data: what decode_bulk.c makes and warp_bulk.c runs. Source: PTX ISA 9.7.9.25.
#pragma once

#include "uop.h"

enum bulk_kind {
    BULK_LOAD,    // to shared memory
    BULK_STORE,   // from it
    BULK_REDUCE,  // the same, combined with what is there
    BULK_REMOTE,  // from this block's shared memory to another one's
    BULK_VALUE    // from registers to another block's shared memory: st.async, red.async
};

struct bulk_op {  // an instruction
    enum bulk_kind kind;
    bool tensor, multicast, source_wide, barrier_wide;
    uint8_t rank;                     // of a tensor copy
    uint8_t reduce;                   // enum atomic; ATOMIC_EXCH: none
    enum ptx_type type;               // of what is reduced or stored; of a tensor's elements the map says it
    uint8_t at, size, mask, barrier;  // places in in[]: the first coordinate, the bytes, the blocks, the mbarrier
};

// Does it bring something to shared memory, and report to an mbarrier there?
static inline bool bulk_brings(const struct bulk_op *op)
{
    return op->kind == BULK_LOAD || op->kind == BULK_REMOTE || op->kind == BULK_VALUE;
}
