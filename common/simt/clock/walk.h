// Walks through the machine code of a kernel as the warps of a block would: integers, predicates, addresses and f32 are
// computed. So each branch goes where it goes on a GPU, and each access names its addresses, as long as neither depends
// on what is not followed: what comes back from shared memory, other floating-point types, and what follows from them.
// What a load of global memory brings is known if the launch says what its arrays hold: an index that picks the row of
// a table, for one. A branch on an unknown predicate is not taken, and counted.
#pragma once

#include "cubin.h"
#include "simt/simt.h"

#define WALK_LANES 32
#define WALK_UNIFORM 256  // number of the first uniform register
#define WALK_VALUES 512
#define WALK_MAX 4000000              // instructions of a warp: one that has executed more is not followed to its end
#define WALK_PREDICATES 16            // P0-P6, PT, UP0-UP6, UPT
#define WALK_BARRIERS 16              // of reconvergence
#define WALK_PARAMETERS (1ull << 48)  // the address of the parameters

struct walk_launch {
    const struct cubin *cubin;
    unsigned grid[3], block[3];
    unsigned shared;              // bytes of dynamic shared memory
    const unsigned char *params;  // cubin->param_bytes, as the machine code expects them
    const struct simt_array *arrays;
    size_t n_arrays;
};

struct walk_split {  // lanes at the same place
    uint32_t pc, mask;
    int barrier;  // of reconvergence at which they wait; -1: none
};

struct walk_warp {
    const struct walk_launch *launch;
    uint32_t *values;             // [WALK_VALUES][32]
    uint32_t known[WALK_VALUES];  // by register: the lanes whose value is known
    uint32_t predicates[WALK_PREDICATES], predicates_known[WALK_PREDICATES];
    uint32_t *local;  // [words][33]: 32 lanes, and the lanes whose value is known
    uint32_t local_words;
    unsigned block[3], index;  // blockIdx; warp of the block
    uint32_t live;             // lanes that have not ended
    uint32_t barriers[WALK_BARRIERS];
    struct walk_split splits[WALK_LANES];
    uint32_t n_splits;
    uint64_t unknown_branches;
    uint64_t executed;  // instructions
    bool failed;        // out of memory, or the code went where there is none
};

// Of a barrier in shared memory, or a copy of the tensor memory accelerator. What does not apply is 0.
struct walk_async {
    bool known;                      // the rest: it does not depend on data
    bool load;                       // to shared memory
    uint32_t at;                     // shared address of the barrier, or of what is copied
    uint32_t barrier;                // shared address of the barrier at which a load's bytes arrive
    uint32_t arrivals, bytes, come;  // threads that arrive; bytes that are to come, or that are copied; that have come
    uint32_t parity;                 // of the phase for whose end it waits
    const unsigned char *map;        // of the box
    int32_t from[5];                 // its first element
    uint64_t global;                 // of a copy without a map
};

// What an instruction did.
struct walk_event {
    const struct sass *s;
    uint32_t pc;
    uint32_t mask;     // lanes whose guard holds
    bool jumped;       // the next instruction is not the one after it
    bool has_address;  // of an access: address is known
    uint64_t address[WALK_LANES];
    uint64_t to[WALK_LANES];    // of a copy into shared memory: where to
    unsigned constants;         // of a load of constants by index: how many different ones
    unsigned barrier, threads;  // of a barrier of warps: its number, and for how many it waits; 0: all
    struct walk_async async;
};

// Begins warp `index` of the block, at the kernel's first instruction. False when memory runs out. walk_end in any
// case.
bool walk_begin(struct walk_warp *w, const struct walk_launch *l, const unsigned block[3], unsigned index);
void walk_end(struct walk_warp *w);
// The next instruction of the warp; NULL once it has ended.
const struct sass *walk_next(const struct walk_warp *w, uint32_t *pc);
// Executes it, and says what it did.
void walk_step(struct walk_warp *w, struct walk_event *e);

// walk_async.c: fills in e->async, or e->barrier and e->threads.
void walk_async(struct walk_warp *w, const struct sass *s, struct walk_event *e);
void walk_barrier(const struct walk_warp *w, const struct sass *s, struct walk_event *e);

// walk_data.c: what the load of e brings, if that is known; else false.
bool walk_data(struct walk_warp *w, const struct walk_event *e);

// walk_value.c: the effects on registers and predicates, for the lanes of mask.
void walk_compute(struct walk_warp *w, const struct sass *s, uint32_t mask);

// walk_operand.c: the lanes in which predicate p holds (0-6, 7 always, and those of the uniform data path from 8 on),
// and where it is known.
uint32_t walk_predicate(const struct walk_warp *w, unsigned p, bool negated, uint32_t *known);
// The values of n registers from first on are no longer known, for the lanes of mask.
void walk_forget(struct walk_warp *w, unsigned first, unsigned n, uint32_t mask);
// The number of register r of s's operands in values[]; -1 for the register that is always zero.
int walk_register(const struct walk_warp *w, bool uniform, unsigned r);
