// What a block needs while it runs: registers, shared and local memory. Blocks of a cluster run together, so a seat is
// one of a group of seats; without clusters the group is one seat. A host thread has one group, or, where clusters take
// turns (turns.h), one for every cluster that has begun.
#pragma once

#include "simt/code/cluster.h"

struct seat {
    struct block block;  // while it is not the worker's
    unsigned char *shared, *local;
    uint64_t steps;
    void *memory[5];
};

struct seats {
    struct cluster cluster;
    struct seat *seat;     // by rank
    uint64_t idle, moved;  // steps since something happened in the cluster; those of the last turn
    bool hurt, stopped;    // a block made an error; the launch ends with it
};

// Zeroed memory for count things of that size, aligned for the executor's vectors; NULL when memory runs out. free()
// takes it.
void *seat_memory(size_t count, size_t size);

// Seats for a cluster of w's grid. False when memory runs out; then, too, seats_free frees them.
bool seats_new(struct seats *s, struct worker *w);
void seats_free(struct seats *s);

// The worker takes over the block of that rank, and puts it back.
void seats_enter(struct seats *s, uint32_t rank, struct worker *w);
void seats_leave(struct seats *s, uint32_t rank, struct worker *w);

// The worker's block, which begins, is the one of its rank in cluster number `number` of the grid.
void seat_place(struct worker *w, uint64_t number);
void seat_start(struct worker *w);  // everything is as it is when a block begins

// Bytes of a seat for blocks of so many threads, without the checks'.
uint64_t seat_bytes(const struct code *c, uint64_t threads, uint64_t shared);
