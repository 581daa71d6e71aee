// What is behind watch.h: the record of a block, for the files of this room.
#pragma once

#include <stdlib.h>

#include "watch.h"

enum { WATCH_WARP_BITS = 5, WATCH_LANES = 32, WATCH_WARPS = 32, WATCH_BARRIERS = 16 };

enum op_kind {  // what the debugger asks of an instruction
    OP_OTHER,
    OP_BRANCH,
    OP_END,      // ret, exit, trap
    OP_BARRIER,  // of the block, or of the cluster
    OP_INIT,     // of an mbarrier; so are these:
    OP_ARRIVE,
    OP_EXPECT,  // bytes; it may arrive, too
    OP_LOOK,    // test_wait, try_wait
    OP_COPY,    // by TMA, which reports to one
    OP_WAIT,    // for copies, or products
    OP_PRODUCT  // of wgmma, which is in its registers after a wait
};

struct instruction {
    enum op_kind kind;
    bool guarded, arrives;
    bool typed;       // watch_types.c has seen it
    unsigned line;    // of the kernel's own file
    uint32_t target;  // of a branch
};

enum event_kind { EVENT_INIT, EVENT_ARRIVAL, EVENT_FLIP };

struct event {  // at an mbarrier
    enum event_kind kind;
    uint32_t at;
    struct watch_arrival arrival;  // its moment, and what it is if it is one
};

struct mbarrier {  // one of the block's, in the order in which they were first initialised
    uint32_t at;
    uint64_t phase;  // how many have ended, so far in the record
};

struct holds {  // a register
    struct simt_type type;
    bool whole;  // something computes an integer with it
};

struct growth {  // the checks found something
    uint64_t moment;
    uint32_t warp, instruction;
};

struct watch {
    struct simt *simt;
    struct simt_kernel *kernel;
    struct dev_launch launch;
    struct dev_arg *args;
    unsigned char *values;  // of the arguments
    uint64_t block;
    struct simt_saved *saved;

    uint32_t *what;   // of each step: its instruction, and its warp in the upper bits
    uint32_t *lanes;  // and its lanes
    uint64_t n, room;
    uint32_t warps, shared_bytes;

    struct instruction *code;
    uint32_t n_code;
    char *file;  // the kernel's own

    struct holds *holds;  // by register
    uint32_t n_registers;
    uint32_t (*links)[2];  // pairs of registers of which one has what the other has
    size_t n_links, links_room;

    struct simt_shared_variable *variables;
    uint32_t n_variables;

    struct event *events;
    size_t n_events, events_room;
    struct mbarrier *mbarriers;
    size_t n_mbarriers, mbarriers_room;
    struct growth *growths;
    size_t n_growths, growths_room;
    uint64_t found;  // by the checks so far

    struct watch_finding *findings;
    uint32_t n_findings;
    bool stopped;  // the block ended with an error
    uint32_t stopped_warp, stopped_instruction;
    bool failed;  // out of memory, or too many steps
};

static inline uint32_t step_warp(const struct watch *w, uint64_t moment)
{
    return w->what[moment] >> (32 - WATCH_WARP_BITS);
}

static inline uint32_t step_instruction(const struct watch *w, uint64_t moment)
{
    return w->what[moment] & (UINT32_MAX >> WATCH_WARP_BITS);
}

// items with room for one more than n, moved if need be; NULL when memory runs out, and *room is as before.
static inline void *watch_grow(void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    const size_t more = 2 * *room + 16;
    void *all = realloc(items, more * size);
    if (all)
        *room = more;
    return all;
}

// watch_code.c: what the instructions are, and the kernel's own file. False when memory runs out.
bool watch_read_code(struct watch *w);

// watch_events.c: what this step does to mbarriers. False when memory runs out.
bool watch_note_events(struct watch *w, uint64_t moment, const struct simt_look *look);

// watch_types.c: what registers hold: their types as declared; as an instruction uses them; and at the end of the first
// run. False when memory runs out.
bool watch_read_registers(struct watch *w);
bool watch_note_types(struct watch *w, const struct simt_look *look);
void watch_settle_types(struct watch *w);

// watch_groups.c: the lanes among *left, which are taken from it, that have the same copies open as the first that has
// any, and these in words: "3 groups of cp.async open". 0: no lane has.
uint32_t watch_groups(const struct simt_look *look, uint32_t warp, uint32_t *left, char text[WATCH_TEXT]);

// The shared variable that holds the byte, or NULL.
const struct simt_shared_variable *watch_variable_at(const struct watch *w, uint32_t at);
bool watch_has_mbarrier(const struct watch *w, const struct simt_shared_variable *v);  // is it an array of them?
