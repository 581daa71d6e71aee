// What can go wrong in a kernel: the kinds of faults, and what is known of one.
#ifndef SIMT_FAULT_H
#define SIMT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "simt/ptx/ptx.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_BOUNDS,
    FAULT_ALIGN,
    FAULT_BUDGET,
    FAULT_DEADLOCK,
    FAULT_WAIT,  // for a value that nothing changes; waiting, exited: blocks that wait, and that have not begun
    FAULT_TRAP,
    FAULT_BARRIER,
    FAULT_NOT_MEMBER,  // a lane runs a .sync instruction whose member mask leaves it out
    FAULT_MISSING,     // lanes that a .sync instruction needs have ended, or wait elsewhere
    FAULT_INACTIVE,    // a shuffle or vote reads a lane that takes no part
    FAULT_ASSERT,      // text has the message
    FAULT_OTHER,       // text has the message
    // What only the checks find (check.h); other_... says who the other side is.
    FAULT_RACE,         // in shared memory
    FAULT_RACE_BLOCKS,  // in global memory
    FAULT_UNINIT,
    FAULT_COPY,        // of an asynchronous copy that has not been waited for
    FAULT_PROXY,       // the asynchronous proxy reads what no fence.proxy.async has made known to it
    FAULT_SIGNAL,      // a bulk copy reports to an mbarrier, and its thread does not know that it was initialised
    FAULT_UNFENCED,    // it knows of that, but no fence came in between: an advice, no error
    FAULT_LATE,        // a wait for a parity, which the phase after next may have begun before
    FAULT_BYTES,       // an mbarrier expects other bytes than come
    FAULT_UNWAITED,    // a block ends, and a bulk copy to (store) or from its shared memory is under way
    FAULT_FLIGHT,      // registers of a wgmma that is under way, or that no wgmma.fence covers
    FAULT_REGISTERS,   // of setmaxnreg: text says what is wrong
    FAULT_DESCRIPTOR,  // of a matrix for wgmma: it has the block's rank in a field of its own
    FAULT_HOME,        // another block's shared memory, before it began, or (store) when it may have ended
    FAULT_SPLIT,       // threads of a block wait at different barriers of the kernel
    FAULT_LEFT,        // a barrier of the whole block opens, which some threads do not come to because they have ended
    FAULT_CONST,       // a store to a __constant__ variable
    FAULT_LAUNCH,      // what the launch before wrote is used, and nothing has waited for that launch
    FAULT_UNWRITTEN    // what nothing wrote into a register or local memory is used: see shadow.h
};

struct fault {
    enum fault_kind kind;
    bool store, atomic;
    uint32_t inst;  // PTX instruction index
    uint32_t warp, lane;
    uint64_t address;
    uint32_t bytes;
    enum ptx_space space;
    uint64_t block;                     // linear block index
    uint32_t waiting, exited;           // deadlock: threads at the barrier, threads that ended
    uint32_t lanes;                     // not member, missing, inactive: the lanes in question
    uint32_t other_inst, other_thread;  // thread: within the block
    uint64_t other_block;
    uint64_t home;  // remote: the block whose shared memory it is about
    bool remote;
    bool other_store, other_atomic;
    bool async, wgmma, other_async, other_wgmma;  // by the asynchronous proxy: a bulk copy, wgmma
    bool cluster;                                 // text is about all blocks of the cluster
    char text[600];
};

#endif
