// What merge.c and guess.c know of a kernel: its basic blocks, the values of its registers, the versions of shared
// memory.
#pragma once

#include "blocks.h"

// --- merge_flow.c ---

// All of struct blocks. False if the graph is too tangled to look at in reasonable time. clobbers says of a uop that
// shared memory may differ after it; it then leaves the version uop + 1.
bool find_flow(struct decoder *x, struct blocks *b, const bool *clobbers);
// Does every way to uop v pass uop u first?
bool dominates(const struct blocks *b, uint32_t u, uint32_t v);

// --- merge_value.c ---

// A number that a register holds: something unknown, which has a number, and a constant added to it. Equal roots are
// equal unknowns. Root 0 is none: a constant.
struct value {
    uint32_t root;
    uint64_t offset;
};

struct values {
    struct decoder *x;
    uint32_t *defs;        // by vreg: how many uops write it; one with a guard counts as two
    bool *used;            // by vreg: some uop reads it
    uint8_t *zeros;        // by vreg: how many of its low bits are certainly 0; 64 for 0 itself
    struct value *value;   // by vreg, as last written
    uint32_t *known;       // by vreg: since when; that is for good where it has one definition, else for the block
    uint32_t *changed;     // by vreg with several: when it was last written; times grow along the code
    uint32_t block_start;  // when the block in hand began
    struct map numbers;
    uint8_t *root_zeros;  // by root
};

bool is_move(const struct uop *u);                     // of a whole register
bool find_zeros(struct decoder *x, struct values *s);  // false: gave up
// To be told all uops in the code's order; start: the uop begins a basic block.
void follow_uop(struct values *s, uint32_t index, bool start);
struct value value_of(struct values *s, uint32_t vreg);  // where follow_uop stands
// The number of a key among those seen before; a new one otherwise.
uint32_t number_of(struct decoder *x, struct map *m, const void *key, uint32_t size, bool *is_new);
