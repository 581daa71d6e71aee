// What a block did until one of its threads made an error: who wrote to shared memory before, who initialised an
// mbarrier, arrived at it, copies to it and waits for it, and what the thread itself has read. The launch is run once
// more and watched.
#pragma once

#include <stdbool.h>

#include "probe.h"

// A line of the kernel's own file, and where the function that has it is called from there; 0: none.
struct history_line {
    unsigned line, call;
};

enum { HISTORY_SITES = 4, HISTORY_BARS = 64, HISTORY_WARPS = 32, HISTORY_STORES = 16 };

struct history_site {
    struct history_line at;
    uint32_t number;     // of the instruction
    uint32_t warp;       // the last that came here
    uint64_t times, on;  // threads' executions; and the moment of the last
};

struct history_bar {
    uint32_t at;                      // in shared memory
    uint32_t count;                   // that it was initialised with; 0: it was not
    struct history_line made;         // where
    int first_parity[HISTORY_WARPS];  // by warp: that it waited for first; -1: it has not waited
    uint64_t waited[HISTORY_WARPS];   // by warp: the moment of that wait
    struct history_line waits;        // where a warp waited last
    uint32_t came[HISTORY_WARPS];     // by warp: lanes that ever arrived
    struct history_site arrivals[HISTORY_SITES], copies[HISTORY_SITES];
    uint32_t n_arrivals, n_copies;
};

struct history {
    struct history_bar bars[HISTORY_BARS];
    uint32_t n_bars;
    uint32_t ended;  // warps of which all lanes have ended at the error
    // By 4 bytes of shared memory: the moment of the first write, 0: none; its site; and that of the last before the
    // error.
    uint64_t *first;
    struct history_line *by, *last;
    uint32_t words;
    struct history_store {  // lines that store to it
        struct history_line at;
        bool fresh;  // the first time, some of the bytes had not been written before
    } stores[HISTORY_STORES];
    uint32_t n_stores;
    uint64_t error;            // the moment of the error; 0: it did not come to it
    struct history_line here;  // the instruction's
    bool came_before;          // its warp has executed the line before, in other lanes
    bool read_before;          // the thread has read by its line before,
    int64_t earliest;          // at this byte of the matrix first
};

// Of the product that o asks for, under checks or not, and of this error in it. file: the kernel's own. To be freed.
bool history_take(struct history *h, struct probe *p, const char *file, const struct tester_options *o, bool checked,
                  const struct simt_finding *f);
void history_free(struct history *h);

// The line's stores; NULL: nothing is known of them.
const struct history_store *history_store_at(const struct history *h, const struct history_line *at);

// The mbarrier there; NULL: nothing is known of it.
const struct history_bar *history_bar_at(const struct history *h, uint64_t at);
