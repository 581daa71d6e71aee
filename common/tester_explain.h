// What a wrong element tells: who owns it, and where to look next.
#ifndef COMMON_TESTER_EXPLAIN_H
#define COMMON_TESTER_EXPLAIN_H

#include <stddef.h>

#include "tester.h"

// Writes one line about the verdict's wrong element to what: the element, its value and the one wanted, the block,
// warp and lane that own it by the step's tile and thread shapes, and a hint. C0 may be NULL where beta = 0.
void tester_explain(char *what, size_t room, const struct step *step, const struct matrix_verdict *v, double alpha,
                    const struct matrix *A, const struct matrix *B, double beta, const struct matrix *C0);

#endif
