// What a bulk copy to shared memory brings: where each chunk of 16 bytes is put, and from where it comes.
#pragma once

#include "simt/code/warp.h"
#include "simt/machine/tensor_map.h"

#define BOX_CHUNK 16  // bytes

struct record_box {
    struct tensor_map map;     // of a tensor copy
    int32_t at[DEV_MAP_RANK];  // its first element
    uint64_t global;           // of a plain copy: the address
    uint32_t shared, chunks, mbarrier;
    bool tensor;
};

// The copy that a lane of w is about to ask for by u. False if it is none to shared memory, or if its map cannot be
// read.
bool record_box_read(const struct warp *w, const struct uop *u, uint32_t lane, struct record_box *box);

// Chunk i: returns its byte in shared memory; origin gets the global address of each of its bytes, 0 for what is
// outside of the matrix.
uint32_t record_box_chunk(const struct record_box *box, uint32_t i, uint64_t origin[BOX_CHUNK]);
