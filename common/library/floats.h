// A product of floats by f32.cu. A and B may be copied first, into rows that begin at multiples of 16 bytes: then they
// are read 16 bytes at once. K may be split into parts whose sums are added at the end: then there are more blocks.
#ifndef LIBRARY_FLOATS_H
#define LIBRARY_FLOATS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/device.h"
#include "tester/geometry.h"

enum { FLOATS_COPY_ARGS = 5, FLOATS_ARGS = 12, FLOATS_SUM_ARGS = 7 };

// C (m x n) = A (m x k) * B (k x n).
struct floats_shape {
    int m, n, k;
};

// How it is computed.
struct floats_way {
    bool copy;  // A or B, where rows do not begin at multiples of 16 bytes
    int parts;  // of K, at most; see floats_part
};

// Columns of A in each part but the last: a multiple of 16, so that tiles of all depths fit.
int floats_part(int k, int parts);

// Bytes of workspace.
size_t floats_room(struct floats_shape s, struct floats_way way);

struct floats_copy {  // of A or B
    int cols, ld, begin;
    dev_ptr from, to;
    struct dev_arg args[FLOATS_COPY_ARGS];
    struct dev_launch launch;
};

// The launches of a product. Points into itself: it stays where it is.
struct floats {
    float alpha, beta;  // set them before floats_queue
    // What follows is filled in by floats_open.
    struct floats_shape shape;
    struct floats_copy copies[2];
    int n_copies;
    int lda, ldb, ldc, part, parts;
    dev_ptr A, B, C, to;  // C: of the product; to: the caller's
    float no_beta;        // 0, for a product whose C is not the caller's
    struct dev_arg args[FLOATS_ARGS], sum_args[FLOATS_SUM_ARGS];
    struct dev_launch launch, sum_launch;
    struct dev_kernel *pack, *gemm, *sum;
};

// gemm: a module of f32.cu with that geometry; pack: the module of pack.cu; room: floats_room bytes.
bool floats_open(struct floats *f, struct dev *d, struct dev_module *gemm, const struct geometry *g,
                 struct dev_module *pack, struct floats_shape s, struct floats_way way, dev_ptr A, dev_ptr B, dev_ptr C,
                 dev_ptr room);

// Queues all launches. False, with the reason in dev_error, as dev_launch.
bool floats_queue(const struct floats *f, struct dev *d);

#endif
