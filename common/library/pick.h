// Which kernel multiplies on this card, for this product, and how.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels.h"
#include "problem.h"

struct pick_card {
    int sm;         // compute capability: 90 for 9.0
    int sms;        // multiprocessors
    double memory;  // GB/s
};

// How a kernel computes a product.
struct way {
    const struct kernel *kernel;
    bool exchanged;   // rows.cu: C has few columns, so its transpose is computed, B^T * A^T
    bool copy[2];     // A, B: into rows that begin at multiples of 128 bytes
    int parts, part;  // args.h
    int tall, broad;  // hopper.cu: blocks of a cluster below and beside each other
    int blocks;       // of the grid
    double cycles;    // that the rule takes it for
};

enum { PICK_KHZ = 1755000 };  // the clock of the cycles of the rule

enum { PICK_OLDEST = 75, WAYS_MOST = 512 };  // the oldest card that a kernel of the library runs on; ways of a product

// The best way on a card that is no older than PICK_OLDEST, if the workspace has at most limit bytes; there is one that
// needs none.
struct way pick_way(struct pick_card card, const struct problem *p, size_t limit);

// Every way there is, and how many.
int pick_ways(struct pick_card card, const struct problem *p, size_t limit, struct way ways[WAYS_MOST]);

// The way's cycles.
double pick_cycles(struct pick_card card, const struct problem *p, const struct way *w);

// Bytes of the copy of an operand, from a row of it to the next, and of a way's workspace.
size_t pick_copy_bytes(const struct operand *x);
size_t pick_pitch(const struct operand *x);
size_t pick_room(const struct problem *p, const struct way *w);

int pick_cluster(const struct way *w);  // its blocks

bool pick_meets(const struct way *w);  // whether blocks have parts of a tile in the workspace: then there are counters

// Its lines and matrices begin at multiples of so many bytes.
bool pick_aligned(const struct operand *x, size_t bytes);

// How many neighbours of A (0) or B (1) the kernel can load at once: 16 bytes of them, or less.
int pick_wide(const struct problem *p, const struct way *w, int which);

// How many rows of C the kernel of rows.cu for this product has.
int pick_rows(const struct problem *p);

// Whether lines of A (0) or B (1) should go first when L2 needs room, and not what others have written: it is wanted
// once, or by all blocks at about the same time, and has between half and four times the bytes of L2. Smaller ones may
// still be there for the next product, larger ones come more slowly that way.
bool pick_once(const struct problem *p, const struct way *w, int which);

// The product as the way computes it: exchanged, or as it is.
struct problem pick_exchange(const struct problem *p, bool exchanged);
