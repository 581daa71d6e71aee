// The state of a kernel that runs: warps, blocks, the launch, and the host threads that take its blocks.
#pragma once

#include <stdio.h>

#include "fault.h"
#include "mma.h"
#include "schedule.h"

struct block;
struct worker;
struct watching;

struct warp {
    unsigned char *regs;
    struct block *block;
    uint32_t index;   // within the block
    uint32_t exited;  // lanes that have ended
    uint32_t lanes;   // lanes that exist
    uint32_t apart;   // lanes that come to an aligned barrier without the others, which never will
    uint32_t n_splits;
    struct split splits[LANES];     // by pc, ascending
    struct copies *copies;          // cp.async under way; NULL if there was none yet
    struct wgmmas *wgmmas;          // the same for wgmma
    struct poll *polls;             // by number; see warp_poll.c
    uint32_t polled;                // times in a row that its polls saw nothing new
    uint32_t max_regs, max_inst;    // of its last setmaxnreg, and where; 0: none
    enum fault_kind held;           // what it is if its wait, for other warps, never ends; FAULT_NONE: it does not wait
    uint32_t wants;                 // registers, of the setmaxnreg that it came to last
    uint32_t arrived, opened;       // lanes that came to the cluster's barrier and did not wait yet: before and after
                                    // it opened
    bool again;                     // the instruction in hand is to be tried again, once others have had a turn
    bool polling, news;             // so often that it is waiting; it saw something new in this round
    uint32_t poll_inst, poll_lane;  // where it waits
    uint64_t wait_at;               // the mbarrier whose phase a lane last found incomplete
    uint32_t wait_parity, wait_lane;  // the phase, and the lane
    bool waits;                       // it is still so
};

struct block {
    struct worker *worker;
    uint64_t linear;
    uint32_t id[3];
    uint32_t rank;    // in its cluster
    uint32_t window;  // the address of its shared memory among those of its cluster: see cluster.h
    uint32_t n_warps;
    uint32_t live;                    // threads that have not exited
    uint32_t left_thread, left_inst;  // the first that did, and where
    uint64_t news_at;                 // steps when a thread last did more than poll
    bool launch_over;                 // a thread has waited for the launch before: griddepcontrol.wait
    struct barrier barriers[BARRIERS];
    struct warp *warps;
    struct bulks *bulks;        // bulk copies under way; NULL if there was none yet
    struct block_check *check;  // NULL: only bounds and alignment are checked
};

struct grid {  // one launch
    const struct exec *exec;
    const struct code *code;
    const struct memory *memory;
    const unsigned char *params;
    uint64_t params_at;  // their copy in device memory, where a kernel takes their address (launch_memory.c); else 0
    struct heap *heap;   // of malloc and free, where the kernel calls them; else NULL
    uint64_t workspace;  // for synchronising the grid, where a kernel asks for it; else 0, and where blocks are apart
    uint32_t grid[3], block[3];
    uint32_t cluster[3];        // blocks of a cluster; 1, 1, 1 where there are none
    uint32_t cluster_blocks;    // in all
    bool clustered;             // the launch or the kernel names clusters
    uint32_t threads;           // of a block
    uint32_t shared_bytes;      // static and dynamic
    uint64_t budget;            // warp instructions a block may take
    FILE *out;                  // where it prints
    bool eager, apart;          // see launch.h
    bool turns;                 // one host thread runs the blocks, which take turns (turns.h)
    bool early;                 // with checks, and it begins before the launch before has ended
    struct trace *trace;        // NULL: nothing is recorded
    struct watching *watching;  // NULL: nobody looks at a warp
    bool observed;              // one of the two is there
};

struct worker {  // one host thread
    const struct grid *grid;
    struct cluster *cluster;  // of the current block
    unsigned char *shared;    // shared_bytes of the current block
    unsigned char *local;     // local_bytes for each thread of the block
    uint64_t steps;           // uops executed in the current block
    bool shares;              // blocks take turns: one that waits for another is left, and gone on with later
    bool left, resumes;       // the block was left; and it is gone on with
    bool news;                // the block did more than wait
    bool waited;              // for the launch before, in any block
    struct uop_count *uop_counts;
    uint64_t *runs;  // straight lines entered at each uop
    struct mem_count *mem_counts;
    struct mem_memo *memos;
    struct mma_last last;
    struct fault fault;
    struct block block;
    struct checker *check;  // NULL: only bounds and alignment are checked
};

typedef void (*alu_fn)(unsigned char *regs, const struct uop *u, uint32_t n);  // n uops in a row, of one operation
// For the active lanes. False on a fault, which is then in the worker.
typedef bool (*warp_fn)(struct warp *w, const struct uop *u, uint32_t active);

// What is compiled once for the baseline processor and once for AVX2 with FMA; exec_pick() (exec/exec.h) chooses.
struct exec {
    const char *isa;
    const alu_fn *alu;  // by enum alu_op
    // Computes wgmmas->current of n warps side by side, whose B is the same one. False on a fault: nothing is computed.
    bool (*wgmma)(struct warp *first, uint32_t n);
    // Runs the worker's block to its end, or its first fault, which it leaves in worker->fault, or until it is left.
    void (*run_block)(struct worker *w);
};
