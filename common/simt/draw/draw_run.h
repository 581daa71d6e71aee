// What the pictures of a launch share: the matrices of a product, and the run that is followed.
#pragma once

#include "draw.h"
#include "simt/record/record.h"

// The matrix that holds a global address, and the element there; NULL if it is in none of the three.
const struct simt_matrix *draw_element(const struct simt_product *p, uint64_t address, uint64_t *row, uint64_t *column);
// The product of the picture. NULL, with one line in error, if there is none.
const struct simt_product *draw_product(const struct draw_launch *l, char error[DEV_ERROR_MAX]);

// Runs it and tells what it does: see record.h. r has tell and context; the rest is set here. False, with one
// line in error, if the kernel makes an error, or the place names no such warp or block. Then record_free(r).
bool draw_record(const struct draw_launch *l, struct record *r, char error[DEV_ERROR_MAX]);

// Whether the place's warp and block exist; else one line in error.
bool draw_known_place(const unsigned grid[3], const unsigned block[3], const struct simt_picture *p,
                      char error[DEV_ERROR_MAX]);

// draw_line.c: by PTX instruction, whether the place means it; the caller frees it. NULL when memory runs out.
bool *draw_instructions(const struct simt_kernel *k, const struct simt_picture *p);
