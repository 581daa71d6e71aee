// Asynchronous copies as Nsight Compute (ncu) counts them, of kernels with cp.async.cg.
//
// ncu takes a copy that may be one of zeros for one of zeros alone if its predicate for that is P0, whatever it reads.
// (Seven copies in a row with P0 to P6, 13 ways to read, on an H200: h200_micro.tsv has what P1 to P6 count, and P0
// counts 4 wavefronts always. The card itself treats all alike: requests and sectors are right.) Which copy gets P0 is
// ptxas's choice, so it is looked up in ncu's page of the machine code, and the simulated GPU is given a kernel in
// which just these copies read nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COPIES_MAX = 256 };

struct copies {  // in the order of the code, which is that of the PTX
    size_t n, n_zeros;
    bool zeros[COPIES_MAX];  // ncu takes it for one of zeros
    uint64_t waves;          // of all copies
};

// From `ncu --page source --csv`. A table without copies has none.
struct copies copies_read(const char *page);

// The PTX with these copies reading 0 bytes, in a file of its own; its path. Fails the test if the PTX has another
// number of copies than the machine code. copies_forget removes the file.
const char *copies_edit(const char *ptx, const struct copies *c);
void copies_forget(void);

// Is it a counter that sees the difference?
bool copies_matter(const char *metric);
