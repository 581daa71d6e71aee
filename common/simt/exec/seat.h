// What a block needs while it runs: registers, shared and local memory. A host thread has one seat, or, where blocks
// take turns (turns.h), one for every block that has begun.
#ifndef SIMT_SEAT_H
#define SIMT_SEAT_H

#include "simt/code/exec.h"

struct seat {
    struct block block;  // while it is not the worker's
    unsigned char *shared, *local;
    uint64_t steps;
    void *memory[5];
};

// Zeroed memory for count things of that size, aligned for the executor's vectors; NULL when memory runs out. free()
// takes it.
void *seat_memory(size_t count, size_t size);

// A seat for the blocks of w's grid. False when memory runs out; then, too, seat_free frees it.
bool seat_new(struct seat *s, struct worker *w);
void seat_free(struct seat *s);

// The worker takes over the seat's block, and puts it back.
void seat_enter(struct seat *s, struct worker *w);
void seat_leave(struct seat *s, struct worker *w);

// The worker's block, which begins, is number linear of the grid.
void seat_place(struct worker *w, uint64_t linear);

// Bytes of a seat for blocks of so many threads, without the checks'.
uint64_t seat_bytes(const struct code *c, uint64_t threads, uint64_t shared);

#endif
