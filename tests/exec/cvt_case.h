// What the tests of cvt share: the integer types, lists of cases, and how a value rounds and clamps.
#pragma once

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptx_case.h"

static const struct type {
    const char *name;
    unsigned bits;
    bool is_signed;
} types[] = {
    { "u8", 8, false }, { "u16", 16, false }, { "u32", 32, false }, { "u64", 64, false },
    { "s8", 8, true },  { "s16", 16, true },  { "s32", 32, true },  { "s64", 64, true },
};
static const char *const roundings[] = { "rni", "rzi", "rmi", "rpi" };

enum { TYPES = 8, ROUNDINGS = 4, MANY = 256, TEXT = 64 };
enum { FTZ = 1, SAT = 2, RELU = 4, FINITE = 8 };

// A conversion travels to its expectation in the case's bits.
static inline unsigned pack(unsigned from, unsigned to, unsigned mode)
{
    return from | to << 8 | mode << 16;
}

static const struct type *from_of(unsigned bits)
{
    return &types[bits & 255];
}

static const struct type *to_of(unsigned bits)
{
    return &types[bits >> 8 & 255];
}

static inline unsigned mode_of(unsigned bits)
{
    return bits >> 16;
}

static inline unsigned reg_bits(unsigned bits)
{
    return bits < 16 ? 16 : bits;
}

struct list {
    struct ptx_case item[MANY];
    char text[MANY][TEXT];
    size_t n;
};

static inline void add(struct list *l, ptx_want *want, unsigned bits, unsigned d, unsigned a, const char *text)
{
    cr_assert_lt(l->n, MANY);
    int length = snprintf(l->text[l->n], TEXT, "%s %%d, %%a;", text);
    cr_assert(length > 0 && length < TEXT, "'%s' is too long", text);
    l->item[l->n] = (struct ptx_case){ l->text[l->n], want, bits, d, a, 0, 0 };
    l->n++;
}

static inline void check(struct list *l, enum ptx_pool pool)
{
    ptx_cases_check(l->item, l->n, (struct ptx_operands){ pool, PTX_INTS, PTX_INTS, true });
    free(l);
}

static inline struct list *new_list(void)
{
    struct list *l = calloc(1, sizeof *l);
    cr_assert_not_null(l);
    return l;
}

// --- values ---

__extension__ typedef __int128 wide;

static inline wide integer(uint64_t bits, const struct type *t)
{
    uint64_t mask = t->bits == 64 ? ~0ull : (1ull << t->bits) - 1;
    return t->is_signed ? (wide)ptx_sign(bits, t->bits) : (wide)(bits & mask);
}

static inline wide lowest(const struct type *t)
{
    return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0;
}

static inline wide highest(const struct type *t)
{
    return ((wide)1 << (t->is_signed ? t->bits - 1 : t->bits)) - 1;
}

static inline double rounded(double x, unsigned mode)
{
    return mode == 0 ? nearbyint(x) : mode == 1 ? trunc(x) : mode == 2 ? floor(x) : ceil(x);
}

static inline uint64_t clamped(double x, const struct type *t, bool from_f64)
{
    wide v;
    if (isnan(x))
        return from_f64 || t->bits == 64 ? (uint64_t)integer(1ull << (t->bits - 1), t) : 0;
    if (x <= -0x1p65 || x >= 0x1p65)  // out of every range
        v = x < 0 ? lowest(t) : highest(t);
    else
        v = (wide)x;
    v = v < lowest(t) ? lowest(t) : v > highest(t) ? highest(t) : v;
    return (uint64_t)v;
}

static inline uint64_t flushed(uint64_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

static inline uint64_t unit(uint64_t x)  // clamped to [0, 1]
{
    float v = ptx_float(x);
    return ptx_of_float(isnan(v) || v <= 0 ? 0.0f : v > 1 ? 1.0f : v);
}
