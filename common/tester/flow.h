// How far the elements of A or B come on their way to the products: from global memory, into shared memory, and out of
// it again. A block is watched while the elements are the numbers of their rows or columns, and the other matrix is 0:
// so an element is known by its value, wherever it is.
#pragma once

#include <stdbool.h>

#include "probe.h"

enum flow_stage { FLOW_LOADED, FLOW_WRITTEN, FLOW_READ, FLOW_STAGES };

struct flow {
    int n;                             // rows or columns of the matrix
    int first, end;                    // those that the block needs, as far as the caller knows
    unsigned char *seen[FLOW_STAGES];  // of each: some element of it came so far
    unsigned char *replaced;           // of each: an element of it was overwritten in shared memory before any was read
    bool shared, opaque;               // it goes through shared memory; who reads it there cannot be seen (wgmma)
    unsigned line[FLOW_STAGES];        // of the kernel's own file, which does it most often; 0: none is known
};

struct flow_of {
    char matrix;     // 'A' or 'B'
    bool columns;    // or its rows
    int m, n, k;     // of the product
    uint64_t block;  // that is watched
};

// file: the kernel's own. False if it cannot be watched. To be freed in any case.
bool flow_take(struct flow *f, struct probe *p, const char *file, const struct flow_of *of);
void flow_free(struct flow *f);

// How far the one at this place came: FLOW_STAGES if it was read.
enum flow_stage flow_lost(const struct flow *f, int place);
