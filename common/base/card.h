// The cards that --card knows: rows of card.def, which has the sources of the numbers. Whatever asks for a number of a
// card asks here.
#pragma once

#include <stdio.h>

#include "error.h"

struct card {
    const char *name;
    const char *device;                               // what its driver's name for it holds, as whole words
    int cc;                                           // compute capability: 90 for 9.0
    unsigned sms;                                     // SMs of the card
    double ghz;                                       // highest clock rate
    unsigned threads, blocks, registers, shared_kib;  // of an SM
    unsigned block_kib;                               // shared memory of a block, at most
    unsigned shared_unit, shared_reserved;            // bytes: a block's are rounded up to units, and it takes more
    unsigned l1_kib;                                  // L1 and shared memory of an SM
    unsigned carve_outs[10];                          // KiB of them that can be shared memory, up to shared_kib
    double l2_mb, l2_kept_mb;                         // L2, and what it keeps of what one kernel loads
    unsigned dram_gb, dram;                           // the card's memory: GB, GB/s
    unsigned pcie;                                    // between the host and the card: GB/s each way
    unsigned f32, f64;                                // multiply-adds of an SM in a cycle, without tensor cores
    unsigned tensor;                // FLOP of an SM's tensor cores in a cycle: f16 in, f32 sums, dense
    double mma_interval;            // cycles that mma.sync m16n8k16 takes a quarter of them
    double tflops_f32, tflops_f16;  // the vendor's peaks
    const char *measured, *source;
};

const struct card *card_at(unsigned i);  // counted from 0; NULL after the last
// The card that is meant where this one was asked for: the first, if none was (NULL).
const struct card *card_meant(const struct card *asked);
// A card by name, in any case and with or without blanks ("rtx4090"); NULL if it is not known.
const struct card *card_named(const char *name);
// The card whose name is part of the driver's name for the device and whose SMs are as many: "NVIDIA H200", 132. NULL
// if none has; a laptop's or another cut of the same chip has fewer SMs.
const struct card *card_of_device(const char *name, unsigned sms);
// The table as CSV: steps/results/cards.csv.
void card_write(FILE *out);
