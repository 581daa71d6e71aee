// A product of floats whose rows do not begin at multiples of 16 bytes: A and B are copied into rows that do, and a C
// of such rows is computed beside the caller's. Kernel 07 then reads 16 bytes at once, which is worth 9 % at 4095.
#ifndef LIBRARY_PADDED_H
#define LIBRARY_PADDED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/device.h"

enum { PADDED_COPY_ARGS = 5 };

struct padded_copy {  // of A or B
    int rows, cols, ld;
    dev_ptr from, to;
    struct dev_arg args[PADDED_COPY_ARGS];
    struct dev_launch launch;
};

// Which product to run between padded_before and padded_after, and what both need. Points into itself: it stays where
// it is.
struct padded {
    int m, n, k;  // of the product: m as it was, n and k as many as the copies have
    dev_ptr A, B, C;
    bool finish;  // C lies in the workspace: the product's beta is 0, and padded_after has the caller's
    struct padded_copy copies[2];
    int n_copies;
    int cols;    // of the caller's C
    dev_ptr to;  // the caller's C
    float beta;  // the caller's; set it before padded_after
    struct dev_arg args[PADDED_COPY_ARGS];
    struct dev_launch launch;
    struct dev_kernel *pack, *last;
};

// Bytes of workspace; 0 if all rows begin at multiples of 16 bytes.
size_t padded_room(int m, int n, int k);

// Fills in p for C (m x n) = A (m x k) * B (k x n), with a workspace of padded_room bytes. pack: the module of pack.cu.
bool padded_open(struct padded *p, struct dev *d, struct dev_module *pack, int m, int n, int k, dev_ptr A, dev_ptr B,
                 dev_ptr C, dev_ptr room);

// Queues the copies, and what makes the caller's C. False, with the reason in dev_error, as dev_launch.
bool padded_before(const struct padded *p, struct dev *d);
bool padded_after(const struct padded *p, struct dev *d);

#endif
