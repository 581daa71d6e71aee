// Records what one warp asks of memory: the lane addresses of chosen instructions, each the first time that the warp
// executes it, or the time that is asked for. A launch traces when its struct grid has a trace.
#pragma once

#include "trace_access.h"

enum trace_kind { TRACE_LOAD, TRACE_STORE, TRACE_LDMATRIX, TRACE_STMATRIX };

struct trace_event {
    const struct uop *u;
    enum ptx_space space;  // shared (addresses are offsets) or global
    enum trace_kind kind;  // of matrices, lanes 8 i to 8 i + 7 name the rows of matrix i
    const char *refused;   // why it cannot be drawn, or NULL
    bool widened;          // the machine code's access is not as wide as the PTX's: ptxas merges neighbours (merge.c)
    uint64_t times;        // that the warp has executed it
    uint32_t n;            // a wmma instruction takes several
    struct trace_access access[TILE_ACCESSES];
    struct trace_event *next;  // in the order of their first execution
};

enum { TRACE_TO_SHARED = 1, TRACE_TO_GLOBAL = 2 };

struct record;

struct trace {
    uint64_t block;
    uint32_t warp;
    uint64_t execution;              // which is kept, from 0; the last if there are not so many
    const bool *wanted;              // by PTX instruction
    _Atomic unsigned char *touched;  // by PTX instruction: where any warp went, TRACE_TO_...
    struct trace_event *first;
    bool failed;            // out of memory
    struct record *record;  // NULL, or what follows the launch in place of all this: see record.h
};

// The active lanes are about to execute u.
void trace_step(const struct warp *w, const struct uop *u, uint32_t active);
void trace_free(struct trace *t);  // its events
