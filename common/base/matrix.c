// Host matrices: element types, storage, seeded random values, the poison. How a product is checked is in
// matrix_check.c.
#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Quiet NaNs that arithmetic does not produce: CUDA's own NaN is 0x7fffffff and x86's is 0xffc00000, so an element that
// still has these bits after a launch was not written.
#define POISON_F64 UINT64_C(0x7ff85a5a5a5a5a5a)
#define POISON_F32 UINT32_C(0x7fc5a5a5)
#define POISON_F16 UINT16_C(0x7e5a)

static const struct {
    const char *name;
    size_t size;
    double roundoff;
} types[] = {
    [DEV_F32] = { "f32", 4, 0x1p-24 },
    [DEV_F64] = { "f64", 8, 0x1p-53 },
    [DEV_F16] = { "f16", 2, 0x1p-11 },
};

size_t type_size(enum dev_type type)
{
    return types[type].size;
}

const char *type_name(enum dev_type type)
{
    return types[type].name;
}

double type_roundoff(enum dev_type type)
{
    return types[type].roundoff;
}

// With the bits of a half as the upper ones of a double, behind its longer exponent, it is 2^1008 times too small.
static inline double of_half(uint16_t h)
{
    const union {
        uint64_t bits;
        double value;
    } v = { .bits = (uint64_t)(h & 0x8000) << 48 | (uint64_t)(h & 0x7fff) << 42 };
    if ((h & 0x7c00) != 0x7c00)
        return v.value * 0x1p1008;
    return h & 0x3ff ? NAN : copysign(INFINITY, v.value);
}

double half_to_double(uint16_t h)
{
    return of_half(h);
}

// To nearest, ties to even. One rounding: going through float first would round twice.
uint16_t half_from_double(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (isnan(x))
        return sign | 0x7e00;
    if (x >= 65520)  // halfway between the largest half, 65504, and the next power of two
        return sign | 0x7c00;
    // A sum with 2^52 times the last bit that a half of this size has loses what lies beyond that bit, and the sum's
    // own last bits are then the significand. Subnormals share the last bit of the smallest normal numbers.
    union {
        double value;
        uint64_t bits;
    } v = { .value = x };
    const int exponent = (int)(v.bits >> 52) - 1023, unit = exponent < -14 ? -24 : exponent - 10;
    const uint64_t top = (uint64_t)(unit + 52 + 1023) << 52;
    const union {
        uint64_t bits;
        double value;
    } last = { .bits = top };
    v.value += last.value;
    // Adding lets the carry of a significand that rounded up to 2048 run on into the exponent field.
    return sign | (uint16_t)((v.bits - top) + ((uint64_t)(unit + 24) << 10));
}

struct matrix matrix_new(enum dev_type type, int rows, int cols)
{
    struct matrix m = { .type = type, .rows = rows, .cols = cols };
    size_t bytes;
    if (rows > 0 && cols > 0 && !__builtin_mul_overflow((size_t)rows, (size_t)cols, &bytes) &&
        !__builtin_mul_overflow(bytes, type_size(type), &bytes) && bytes <= PTRDIFF_MAX)
        m.data = malloc(bytes);
    return m;
}

void matrix_free(struct matrix *m)
{
    free(m->data);
    m->data = NULL;
}

size_t matrix_bytes(const struct matrix *m)
{
    return (size_t)m->rows * (size_t)m->cols * type_size(m->type);
}

static size_t index_of(const struct matrix *m, int row, int col)
{
    return (size_t)row * (size_t)m->cols + (size_t)col;
}

double matrix_get(const struct matrix *m, int row, int col)
{
    size_t i = index_of(m, row, col);
    switch (m->type) {
    case DEV_F32:
        return ((const float *)m->data)[i];
    case DEV_F64:
        return ((const double *)m->data)[i];
    case DEV_F16:
        return half_to_double(((const uint16_t *)m->data)[i]);
    }
    return NAN;
}

static void set_at(struct matrix *m, size_t i, double value)
{
    switch (m->type) {
    case DEV_F32:
        ((float *)m->data)[i] = (float)value;
        break;
    case DEV_F64:
        ((double *)m->data)[i] = value;
        break;
    case DEV_F16:
        ((uint16_t *)m->data)[i] = half_from_double(value);
        break;
    }
}

void matrix_set(struct matrix *m, int row, int col, double value)
{
    set_at(m, index_of(m, row, col), value);
}

void matrix_get_row(const struct matrix *m, int row, int col, int count, double *out)
{
    size_t i = index_of(m, row, col);
    switch (m->type) {
    case DEV_F32:
        for (int j = 0; j < count; j++)
            out[j] = ((const float *)m->data)[i + (size_t)j];
        break;
    case DEV_F64:
        memcpy(out, (const double *)m->data + i, (size_t)count * sizeof *out);
        break;
    case DEV_F16:
        for (int j = 0; j < count; j++)
            out[j] = of_half(((const uint16_t *)m->data)[i + (size_t)j]);
        break;
    }
}

uint64_t matrix_hash(uint64_t seed, uint64_t position)
{
    // Two rounds of the 64-bit finaliser of SplitMix64 (Steele, Lea and Flood 2014): the first spreads the seed, so
    // that neighbouring seeds do not give shifted copies of one sequence.
    uint64_t x = seed;
    for (int round = 0; round < 2; round++) {
        x += UINT64_C(0x9e3779b97f4a7c15) * (round ? position + 1 : 1);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return x;
}

void matrix_fill_random(struct matrix *m, uint64_t seed)
{
    // Box and Muller: two uniform numbers give two normal ones, for positions i and i + 1.
    size_t count = (size_t)m->rows * (size_t)m->cols;
    for (size_t i = 0; i < count; i += 2) {
        double u = ((double)(matrix_hash(seed, i) >> 11) + 1) * 0x1p-53;  // in (0, 1]: its logarithm is finite
        double angle = (double)(matrix_hash(seed, i + 1) >> 11) * (0x1p-53 * 6.283185307179586);
        double radius = sqrt(-2 * log(u)), s, c;
        sincos(angle, &s, &c);
        set_at(m, i, radius * c);
        if (i + 1 < count)
            set_at(m, i + 1, radius * s);
    }
}

void matrix_fill_nan(struct matrix *m)
{
    size_t count = (size_t)m->rows * (size_t)m->cols;
    for (size_t i = 0; i < count; i++) {
        switch (m->type) {
        case DEV_F32:
            ((uint32_t *)m->data)[i] = POISON_F32;
            break;
        case DEV_F64:
            ((uint64_t *)m->data)[i] = POISON_F64;
            break;
        case DEV_F16:
            ((uint16_t *)m->data)[i] = POISON_F16;
            break;
        }
    }
}

bool matrix_is_poison(const struct matrix *m, int row, int col)
{
    const size_t i = index_of(m, row, col), size = type_size(m->type);
    const unsigned char *at = (const unsigned char *)m->data + i * size;
    if (at[0] == DEV_UNWRITTEN && !memcmp(at, at + 1, size - 1))
        return true;
    switch (m->type) {
    case DEV_F32:
        return ((const uint32_t *)m->data)[i] == POISON_F32;
    case DEV_F64:
        return ((const uint64_t *)m->data)[i] == POISON_F64;
    case DEV_F16:
        return ((const uint16_t *)m->data)[i] == POISON_F16;
    }
    return false;
}
