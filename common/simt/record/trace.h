// Records what one warp asks of memory: the lane addresses of chosen instructions, each the first time that the warp
// executes it. A launch traces when its struct grid has a trace.
#ifndef SIMT_TRACE_H
#define SIMT_TRACE_H

#include "simt/code/exec.h"
#include "simt/code/tile.h"

struct trace_access {  // one access of the machine
    uint64_t address[LANES];
    uint32_t mask, bytes;  // the lanes that take part; bytes of each
};

enum trace_kind { TRACE_LOAD, TRACE_STORE, TRACE_LDMATRIX, TRACE_STMATRIX };

struct trace_event {
    const struct uop *u;
    enum ptx_space space;  // shared (addresses are offsets) or global
    enum trace_kind kind;  // of matrices, lanes 8 i to 8 i + 7 name the rows of matrix i
    const char *refused;   // why it cannot be drawn, or NULL
    bool widened;          // the machine code's access is not as wide as the PTX's: ptxas merges neighbours (merge.c)
    uint32_t n;            // a wmma instruction takes several
    struct trace_access access[TILE_ACCESSES];
    struct trace_event *next;  // in the order of their first execution
};

enum { TRACE_TO_SHARED = 1, TRACE_TO_GLOBAL = 2 };

struct trace {
    const struct exec *exec;
    uint64_t block;
    uint32_t warp;
    const bool *wanted;              // by PTX instruction
    _Atomic unsigned char *touched;  // by PTX instruction: where any warp went, TRACE_TO_...
    struct trace_event *first;
    bool failed;            // out of memory
    struct record *record;  // NULL, or what follows the launch in place of all this: see record.h
};

// The active lanes are about to execute u.
void trace_step(const struct warp *w, const struct uop *u, uint32_t active);
void trace_free(struct trace *t);  // its events
// Where the active lanes' addresses lead; lanes that lead nowhere are left out, the access itself will fault.
void trace_lanes(const struct warp *w, const struct memop *m, uint32_t active, uint64_t address[LANES],
                 uint32_t *shared, uint32_t *global);

#endif
