// Bulk copies as data: what decode_bulk.c makes and warp_bulk.c runs. Source: PTX ISA 9.7.9.25.
#ifndef SIMT_BULK_OP_H
#define SIMT_BULK_OP_H

#include "exec.h"

enum bulk_kind {
    BULK_LOAD,    // to shared memory
    BULK_STORE,   // from it
    BULK_REDUCE,  // the same, combined with what is there
    BULK_REMOTE   // from this block's shared memory to another one's
};

struct bulk_op {  // an instruction
    enum bulk_kind kind;
    bool tensor, multicast, map_wide, barrier_wide;
    uint8_t rank;                     // of a tensor copy
    uint8_t reduce;                   // enum atomic
    enum ptx_type type;               // of what is reduced; of a tensor's elements the map says it
    uint8_t at, size, mask, barrier;  // places in in[]: the first coordinate, the bytes, the blocks, the mbarrier
};

#endif
