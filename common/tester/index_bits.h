// Whether an index of A, B or C is computed with too few bits for large matrices, which no small run can show.
#pragma once

#include <stdbool.h>

struct simt_kernel;

// Looks for a product, in 32 bits, of something that comes from the block's index and a parameter as M, N or K, that
// becomes part of an address of global memory: brow * K in place of size_t(brow) * K. *line: where it is computed, in
// that file; 0: elsewhere.
bool index_bits_few(const struct simt_kernel *k, const char *file, unsigned *line);
