// How many blocks of a launch fit on a streaming multiprocessor (SM) of a card. Source: CUDA C++ Programming Guide,
// technical specifications by compute capability, and the occupancy calculator that comes with Nsight Compute:
// registers are given to warps in units of 256, shared memory in units of 128 bytes (256 on 7.5), and from 8.0 on a
// block takes 1 KiB more than it asks for. The table of cards also has their speeds, for the roofs of a chart.
#ifndef COMMON_OCCUPANCY_H
#define COMMON_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct card {
    const char *name;
    int cc;                                           // compute capability: 90 for 9.0
    unsigned sms;                                     // SMs of the card
    unsigned threads, blocks, registers, shared_kib;  // of an SM
    unsigned f32, f64;                                // multiply-adds of an SM in a cycle, without tensor cores
    unsigned tensor;     // FLOP of an SM's tensor cores in a cycle: f16 in, f32 sums, dense
    unsigned dram;       // GB/s of the card's memory
    const char *device;  // what its driver's name for it holds, as whole words
};

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

// The i-th card, counted from 0; NULL after the last.
const struct card *card_at(unsigned i);
// A card by name, in any case and with or without blanks ("rtx4090"); NULL if it is not known.
const struct card *card_named(const char *name);
// The card whose name is part of the driver's name for the device and whose SMs are as many: "NVIDIA H200", 132. NULL
// if none has; a laptop's or another cut of the same chip has fewer SMs.
const struct card *card_of_device(const char *name, unsigned sms);
void card_list(FILE *out);  // the names, separated by ", "

// threads and shared (bytes, static and dynamic) of a block, registers of a thread.
struct occupancy occupancy_of(const struct card *card, unsigned threads, unsigned registers, uint64_t shared);

// Asks ptxas, the one beside the nvcc of the build or one on the PATH, what the kernel of a PTX file takes on the card.
// False if there is none, or it refuses the file, or the file has no such kernel.
bool occupancy_ask(const char *ptx, const char *kernel, const struct card *card, struct kernel_use *use);

struct profile;
// Prints what the launch moved and computed, and its occupancy on the card; ptx: the kernel's file.
void occupancy_print(FILE *out, const struct profile *p, const char *ptx, const struct card *card);

#endif
