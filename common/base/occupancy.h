// How many blocks of a launch fit on a streaming multiprocessor (SM) of a card. Source: CUDA C++ Programming Guide,
// technical specifications by compute capability, and the occupancy calculator that comes with Nsight Compute:
// registers are given to warps in units of 256, shared memory in units that the table of cards has (card.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "card.h"

struct occupancy {
    unsigned blocks;      // of an SM; 0: not one fits
    unsigned warps, max;  // of an SM: resident, and how many there can be
    const char *limit;    // "registers", "shared memory", "threads" or "blocks"
    // Blocks that each of these alone would allow.
    unsigned by_threads, by_registers, by_shared, by_blocks;
};

struct kernel_use {      // what ptxas says about a kernel
    unsigned registers;  // a thread
    unsigned shared;     // bytes of its own shared arrays
    unsigned spilled;    // bytes a thread, as its spill stores count them
    char refusal[200];   // the first line of what ptxas says if it refuses the file
};

// threads and shared (bytes, static and dynamic) of a block, registers of a thread.
struct occupancy occupancy_of(const struct card *card, unsigned threads, unsigned registers, uint64_t shared);

// Asks ptxas, the one beside the nvcc of the build or one on the PATH, what the kernel of a PTX file takes on the card.
// False if there is none, or it refuses the file, or the file has no such kernel.
bool occupancy_ask(const char *ptx, const char *kernel, const struct card *card, struct kernel_use *use);

struct profile;
// Prints what the launch moved and computed, and its occupancy on the card; ptx: the kernel's file.
void occupancy_print(FILE *out, const struct profile *p, const char *ptx, const struct card *card);
