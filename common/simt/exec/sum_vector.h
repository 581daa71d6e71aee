// Vectors as wide as the host's registers, in which the tensor cores' numbers are added up: for exec_factors.c and
// exec_sum.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __AVX512F__
#include <immintrin.h>
#define W 16  // lanes of a vector
#else
#define W 8
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

// A cast from one type to another of the same size keeps the bits.
typedef float vf __attribute__((vector_size(4 * W)));
typedef int32_t vi __attribute__((vector_size(4 * W)));
typedef uint64_t vf_pairs __attribute__((vector_size(4 * W)));
typedef uint8_t vb __attribute__((vector_size(4 * W)));
typedef uint64_t vb_eights __attribute__((vector_size(4 * W)));
typedef uint8_t vb_short __attribute__((vector_size(W)));
typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint16_t v8h __attribute__((vector_size(16)));
typedef uint8_t v8b __attribute__((vector_size(8)));
typedef double v8d __attribute__((vector_size(64)));
typedef int64_t v8l __attribute__((vector_size(64)));

#define LEAST (-100)  // the smallest exponent that terms are aligned to as floats, and as doubles
#define LEAST_WIDE (-300)

// Exponents of a quick sum are bytes: of what is not 0, from 64 on up to 127. So a product's, which is a sum of two, is
// below 128 if the product is 0, and only then.
#define BIASED 96  // the byte of exponent 0
#define PRODUCT_BIAS (2 * BIASED)
#define NO_PRODUCT 127  // all up to here are of 0

static inline vi select_from(vi mask, vi yes, vi no)
{
    return (yes & mask) | (no & ~mask);
}

static inline vi max_of(vi a, vi b)
{
    return select_from(a > b, a, b);
}

static inline vb max_bytes(vb a, vb b)
{
#ifdef __clang__
    return __builtin_elementwise_max(a, b);
#else
    for (int i = 0; i < 4 * W; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];  // gcc makes one instruction of the loop
    return a;
#endif
}

static inline bool any8(v8i x)
{
    uint64_t u[4];
    memcpy(u, &x, sizeof u);
    return u[0] | u[1] | u[2] | u[3];
}

static inline bool any(vi x)
{
    uint64_t u[W / 2], all = 0;
    memcpy(u, &x, sizeof u);
    for (int i = 0; i < W / 2; i++)
        all |= u[i];
    return all;
}
