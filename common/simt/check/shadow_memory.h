// The undefined bytes of a block's local and shared memory, and of those in global memory that the block stored to.
#pragma once

#include "simt/code/warp.h"

struct shadow_place {
    enum ptx_space space;  // local, shared or global
    uint64_t address;      // global: a device pointer; others: an offset that lies within the space
    uint32_t thread;       // of the block; for local memory
};

struct shadows;
struct shadows *shadows_new(const struct grid *g);  // NULL when memory runs out
void shadows_free(struct shadows *s);
void shadows_start(struct shadows *s);  // of a block: nothing has written its local memory

// Are all bytes of that space defined, and were they in this block so far? False where that is not known.
bool shadows_none(const struct shadows *s, enum ptx_space space);
// The undefined bits of bytes (1, 2, 4 or 8, aligned to that) at a place, and where they come from: 0 for local memory
// that nothing has written.
uint64_t shadows_get(const struct shadows *s, const struct shadow_place *p, uint32_t bytes, uint64_t *origin);
// A lane's load of global memory that nothing has written, kept as a number from 1 on; 0 when there is no room.
uint32_t shadows_note(struct shadows *s, uint64_t address);
uint64_t shadows_noted(const struct shadows *s, uint32_t number);
// False when memory runs out.
bool shadows_set(struct shadows *s, const struct shadow_place *p, uint32_t bytes, uint64_t bits, uint64_t origin);
