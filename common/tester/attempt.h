// A kernel that is tried in place of a wrong one: is the result right with it?
#ifndef COMMON_ATTEMPT_H
#define COMMON_ATTEMPT_H

#include <stdbool.h>

#include "probe.h"

enum { ATTEMPT_SAMPLE = 32, ATTEMPT_LINES = 4096, ATTEMPT_RANKS = 5 };

// A product that the wrong kernel does not get right.
struct attempt {
    struct probe_data x;
    struct probe_product product;
    bool checked;  // what is wrong is that the checks find something
    int row[ATTEMPT_SAMPLE], col[ATTEMPT_SAMPLE];
    double want[ATTEMPT_SAMPLE];  // of C there
};

// The smallest of some sizes at which p's kernel is wrong. False: it is so at none that costs little. To be closed in
// any case.
bool attempt_open(struct attempt *a, struct probe *p, const struct tester_options *o, bool checked);
void attempt_close(struct attempt *a);

// Whether p's kernel is right there, and the checks find nothing.
bool attempt_is_right(struct attempt *a, struct probe *p);
// Whether it is not wrong at the other sizes, either. Afterwards the product is another one.
bool attempt_holds(struct attempt *a, struct probe *p, const struct tester_options *o);
// Instructions of a warp: many times what a kernel as kernels are takes.
uint64_t attempt_budget(const struct attempt *a, const struct geometry *g);

struct cause;
// By line: 0 for that which the cause sends to first, 1 for the others that it names and what makes what is used there,
// and so on; ATTEMPT_RANKS - 1 for all that have nothing to do with it.
void attempt_rank_lines(const struct cause *c, unsigned char rank[ATTEMPT_LINES]);

#endif
