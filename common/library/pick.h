// Which kernel of the course multiplies on this card, for this shape.
#ifndef LIBRARY_PICK_H
#define LIBRARY_PICK_H

#include <stdbool.h>
#include <stddef.h>

#include "floats.h"
#include "kernels.h"

struct pick_card {
    int sm;   // compute capability: 90 for 9.0
    int sms;  // multiprocessors
};

struct pick {
    enum kernel_id kernel;
    struct floats_way way;  // of floats alone
};

enum {
    PICK_OLDEST = 75,        // the oldest card that a kernel of the library runs on
    PICK_LONGEST = 1 << 26,  // columns of a row that is copied: the copies' grids have 65,535 rows of blocks
};

// The best kernel for C (m x n) = A (m x k) * B (k x n) on the card, which is no older than PICK_OLDEST, if the
// workspace has at most limit bytes. With 0 it needs none, whatever the shape; halves look at that alone.
struct pick pick_kernel(struct pick_card card, enum dev_type type, int m, int n, int k, size_t limit);

// The tile of a kernel of floats as pick_kernel counts with it: rows, columns and depth. False for other kernels.
bool pick_tile(enum kernel_id kernel, int *m, int *n, int *k);

#endif
