// What the pictures of a launch share: the matrices that a kernel's parameters name, and the run that is followed.
#ifndef SIMT_DRAW_RUN_H
#define SIMT_DRAW_RUN_H

#include "draw.h"
#include "simt/record/record.h"

struct draw_matrix {
    uint64_t address, rows, cols;  // row-major, rows follow each other without a gap
    uint32_t bytes;                // of an element
    char name;                     // A, B or C
};

struct draw_matrices {
    struct draw_matrix a, b, c;  // M x K, K x N, M x N
};

// Whether the parameters have three integers and three arrays; a tensor map stands for its array.
bool draw_names_matrices(const struct draw_launch *l);
// Finds them: the first three integers among the parameters are M, N and K, the first three arrays A, B and C. False,
// with one line in error, if the arrays do not have those sizes.
bool draw_find_matrices(const struct draw_launch *l, struct draw_matrices *out, char error[DEV_ERROR_MAX]);
// The element at a global address; NULL if it is in none of the three.
const struct draw_matrix *draw_element(const struct draw_matrices *all, uint64_t address, uint64_t *row, uint64_t *col);

// Runs it and tells what it does: see record.h. r has tell and context; the rest is set here. False, with one
// line in error, if the kernel makes an error, or the place names no such warp or block. Then record_free(r).
bool draw_record(const struct draw_launch *l, struct record *r, char error[DEV_ERROR_MAX]);

// Whether the place's warp and block exist; else one line in error.
bool draw_known_place(const unsigned grid[3], const unsigned block[3], const struct simt_picture *p,
                      char error[DEV_ERROR_MAX]);

// draw_line.c: by PTX instruction, whether the place means it; the caller frees it. NULL when memory runs out.
bool *draw_instructions(const struct simt_kernel *k, const struct simt_picture *p);
#endif
