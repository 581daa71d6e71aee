// The host threads of a launch: they take blocks, or clusters of them, in order until none is left, each with its own
// registers, shared memory and counters. Where blocks may wait for one another, one host thread runs them all, in turns
// (turns.h).
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/launch.h"
#include "simt/exec/seat.h"

struct job {  // what the threads of a launch share
    const struct grid *grid;
    uint64_t n_clusters;  // without clusters, each block is one
    dev_progress *progress;
    uint64_t resident;      // clusters that are on the card at a time, where they take turns; else 0
    _Atomic uint64_t next;  // the next cluster to take
    _Atomic uint64_t stop;  // clusters from here on need not run: a lower one has faulted
};

struct host_thread {
    _Alignas(256) struct job *job;  // so that no two threads write to one line of the host's caches
    struct worker worker;
    pthread_t thread;
    bool first;          // of the thread that launches
    struct seats seats;  // where clusters do not take turns
    void *memory[2];
};

// n threads for the job, with checks or without; NULL when memory runs out.
struct host_thread *host_threads_new(struct job *job, unsigned n, bool checks);
void host_threads_free(struct host_thread *all, unsigned n);
void host_threads_run(struct host_thread *all, unsigned n);  // to the last block

// The sum of what the threads counted, in all[0].worker. Returns the fault in the lowest block, or NULL.
const struct fault *host_threads_sum(struct host_thread *all, unsigned n);
