// Host matrices, row-major: seeded random data, a reference product with an error bound for each element, and
// Freivalds' check for sizes where the reference would take too long.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

struct matrix {
    enum dev_type type;
    int rows, cols;
    void *data;  // rows * cols elements, row-major
};

size_t type_size(enum dev_type type);       // bytes of an element
const char *type_name(enum dev_type type);  // "f32"
double type_roundoff(enum dev_type type);   // unit roundoff u of the type: 2^-24 for f32, 2^-53 for f64, 2^-11 for f16
double half_to_double(uint16_t h);          // the value of an IEEE half
uint16_t half_from_double(double x);        // the nearest half, ties to even

// An uninitialised rows x cols matrix (both > 0); data is NULL if it does not fit in memory or overflows size_t.
struct matrix matrix_new(enum dev_type type, int rows, int cols);
void matrix_free(struct matrix *m);
size_t matrix_bytes(const struct matrix *m);
double matrix_get(const struct matrix *m, int row, int col);
void matrix_set(struct matrix *m, int row, int col, double value);  // rounded to the matrix's type

// Copies count elements of a row, from column col on, as doubles (exact for every type).
void matrix_get_row(const struct matrix *m, int row, int col, int count, double *out);

// Fills with normally distributed values (mean 0, variance 1) that depend on seed and position alone.
void matrix_fill_random(struct matrix *m, uint64_t seed);
void matrix_fill_nan(struct matrix *m);  // a quiet NaN with a payload of its own: the poison
// Whether an element was never written: bit for bit the poison, or the bytes of fresh memory on the simulated GPU,
// which the poison is not copied to where its checks look for uninitialised reads.
bool matrix_is_poison(const struct matrix *m, int row, int col);

// 64 random bits that depend on seed and position alone.
uint64_t matrix_hash(uint64_t seed, uint64_t position);

// The scalar as a kernel gets it: f64 kernels take alpha and beta as double, f32 and f16 kernels as float.
double matrix_scalar(enum dev_type type, double value);

// Products m * n * k above this are checked by matrix_check_large. The reference does 1 to 2 G multiply-adds a second
// for f32 and 0.3 G for f64 (one core of 2020's servers), so it takes at most about a second.
#define MATRIX_CHECK_LIMIT 0x1p28

struct matrix_verdict {
    bool right;
    int row, col;  // the first wrong element found, in row-major order
    double got, want, bound;
    double worst;  // largest |error| / bound of the elements compared one by one
    bool poison;   // the wrong element still holds the poison of matrix_fill_nan: it was never written
};

// Compares C (M x N) with alpha * A (M x K) * B (K x N) + beta * C0 (M x N; may be NULL if beta = 0), element by
// element, all of one type. matrix_check.c derives the bound: it holds for sums in any order, fused or not, of data
// whose signs are random. alpha and beta are rounded by matrix_scalar first. Where the exact result is Inf or NaN, C
// must be the same.
struct matrix_verdict matrix_check(const struct matrix *C, double alpha, const struct matrix *A, const struct matrix *B,
                                   double beta, const struct matrix *C0);

// The same, and map says of each element of C (M x N bytes, row-major) what it is.
enum matrix_mark { MATRIX_RIGHT, MATRIX_WRONG, MATRIX_UNWRITTEN };  // unwritten: still the poison
struct matrix_verdict matrix_check_map(const struct matrix *C, double alpha, const struct matrix *A,
                                       const struct matrix *B, double beta, const struct matrix *C0,
                                       unsigned char *map);

// The same for large sizes in O(M K + K N + M N): Freivalds' check over all of C, and a sample of elements one by one:
// corners, the last row and column, and a few thousand that seed picks.
struct matrix_verdict matrix_check_large(const struct matrix *C, double alpha, const struct matrix *A,
                                         const struct matrix *B, double beta, const struct matrix *C0, uint64_t seed);
