// What a warp's memory access costs: wavefronts in shared memory, sectors in global memory.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shared_cost {
    uint32_t waves;      // wavefronts: passes of the shared-memory data pipe
    uint32_t conflicts;  // passes beyond the first of each phase
    uint32_t ideal;      // the fewest passes that could move as many bytes
};

// How an access is served: a phase takes some lanes at once, and each of its passes one word from each bank.
struct shared_passes {
    uint32_t n;             // passes: as many as the busiest bank has words
    uint32_t words[32];     // by bank: how many distinct words are wanted of it
    uint32_t word[32][32];  // [pass][bank], for pass < words[bank]: the word, counted from the begin of shared memory
};

// The passes for some lanes, served as one phase; address and bytes as below.
void cost_passes(const uint32_t address[32], uint32_t lanes, uint32_t bytes, struct shared_passes *out);
// The lanes of each phase of an access, in order; some may have none. Returns the number of phases.
uint32_t cost_phases(const uint32_t address[32], uint32_t mask, uint32_t bytes, bool load, uint32_t lanes[4]);
#define COST_ROWS(matrix) (0xffu << 8 * (matrix))  // the lanes whose rows make up a matrix: a phase of ldmatrix

// The cost of one shared access. address: byte addresses by lane (those of lanes outside mask are ignored); bytes a
// lane: 1, 2, 4, 8 or 16. Source: counters read from an H200 (tests/truth); the rule is written out in cost.c.
struct shared_cost cost_shared(const uint32_t address[32], uint32_t mask, uint32_t bytes, bool load);

// The cost of ldmatrix and stmatrix: rows of 16 bytes at address[0..8 * matrices - 1], a phase for each matrix.
struct shared_cost cost_matrices(const uint32_t address[32], uint32_t matrices);

// Distinct 32-byte sectors of one global access; an aligned access of up to 16 bytes lies in one.
uint32_t cost_sectors(const uint64_t address[32], uint32_t mask);
