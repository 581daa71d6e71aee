// cvt, every pair of types that the simulated GPU knows, against plain C on every device. PTX ISA 9.7.9, cvt: integers
// are cut or extended, or clamped with .sat; a destination register may be wider than its type and is filled by zero-
// or sign-extension, a source register may be wider and only its low bits count. A float becomes an integer by its
// rounding mode and clamps. NaN becomes 0, but 2^(width - 1) where a 64-bit type takes part.
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
enum { FTZ = 1, SAT = 2 };

// A conversion travels to its expectation in the case's bits.
static unsigned pack(unsigned from, unsigned to, unsigned mode)
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

static unsigned mode_of(unsigned bits)
{
    return bits >> 16;
}

static unsigned reg_bits(unsigned bits)
{
    return bits < 16 ? 16 : bits;
}

struct list {
    struct ptx_case item[MANY];
    char text[MANY][TEXT];
    size_t n;
};

static void add(struct list *l, ptx_want *want, unsigned bits, unsigned d, unsigned a, const char *text)
{
    cr_assert_lt(l->n, MANY);
    int length = snprintf(l->text[l->n], TEXT, "%s %%d, %%a;", text);
    cr_assert(length > 0 && length < TEXT, "'%s' is too long", text);
    l->item[l->n] = (struct ptx_case){ l->text[l->n], want, bits, d, a, 0, 0 };
    l->n++;
}

static void check(struct list *l, enum ptx_pool pool)
{
    ptx_cases_check(l->item, l->n, (struct ptx_operands){ pool, PTX_INTS, PTX_INTS });
    free(l);
}

static struct list *new_list(void)
{
    struct list *l = calloc(1, sizeof *l);
    cr_assert_not_null(l);
    return l;
}

// --- integer to integer ---

__extension__ typedef __int128 wide;

static wide integer(uint64_t bits, const struct type *t)
{
    uint64_t mask = t->bits == 64 ? ~0ull : (1ull << t->bits) - 1;
    return t->is_signed ? (wide)ptx_sign(bits, t->bits) : (wide)(bits & mask);
}

static wide lowest(const struct type *t)
{
    return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0;
}

static wide highest(const struct type *t)
{
    return ((wide)1 << (t->is_signed ? t->bits - 1 : t->bits)) - 1;
}

static uint64_t between_integers(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const struct type *to = to_of(bits);
    wide v = integer(a, from_of(bits));
    (void)b, (void)c;
    if (mode_of(bits) & SAT)
        v = v < lowest(to) ? lowest(to) : v > highest(to) ? highest(to) : v;
    return (uint64_t)integer((uint64_t)v, to);  // cut to the type, and filled from it
}

static void integers(bool saturate, bool wider_source, bool wider_destination)
{
    struct list *l = new_list();
    for (unsigned from = 0; from < TYPES; from++) {
        for (unsigned to = 0; to < TYPES; to++) {
            char text[TEXT];
            unsigned a = reg_bits(types[from].bits), d = reg_bits(types[to].bits);
            // ptxas takes .sat only where it can matter.
            if (saturate && lowest(&types[from]) >= lowest(&types[to]) && highest(&types[from]) <= highest(&types[to]))
                continue;
            a = wider_source && a < 64 ? 2 * a : a;
            d = wider_destination && d < 64 ? 2 * d : d;
            snprintf(text, sizeof text, "cvt%s.%s.%s", saturate ? ".sat" : "", types[to].name, types[from].name);
            add(l, between_integers, pack(from, to, saturate ? SAT : 0), d, a, text);
        }
    }
    check(l, PTX_INTS);
}

Test(exec_cvt, integers_are_cut_or_extended_by_their_types)
{
    integers(false, false, false);
}

Test(exec_cvt, integers_fill_registers_that_are_wider_than_their_type)
{
    integers(false, false, true);
}

Test(exec_cvt, integers_come_from_the_low_bits_of_wider_registers)
{
    integers(false, true, false);
    integers(false, true, true);
}

Test(exec_cvt, saturation_clamps_integers_to_the_range_of_the_type)
{
    integers(true, false, false);
    integers(true, true, true);
}

// --- integer to float ---

static uint64_t to_f32(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    wide v = integer(a, from_of(bits));
    float x = v < 0 ? (float)(int64_t)v : (float)(uint64_t)v;
    (void)b, (void)c;
    return ptx_of_float(mode_of(bits) & SAT ? (x <= 0 ? 0 : 1.0f) : x);
}

static uint64_t to_f64(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    wide v = integer(a, from_of(bits));
    (void)b, (void)c;
    return ptx_of_double(v < 0 ? (double)(int64_t)v : (double)(uint64_t)v);
}

Test(exec_cvt, integers_become_the_nearest_float)
{
    struct list *l = new_list();
    for (unsigned from = 0; from < TYPES; from++) {
        char text[TEXT];
        unsigned a = reg_bits(types[from].bits);
        snprintf(text, sizeof text, "cvt.rn.f32.%s", types[from].name);
        add(l, to_f32, pack(from, 0, 0), 32, a, text);
        snprintf(text, sizeof text, "cvt.rn.sat.f32.%s", types[from].name);
        add(l, to_f32, pack(from, 0, SAT), 32, a, text);
        snprintf(text, sizeof text, "cvt.rn.f64.%s", types[from].name);
        add(l, to_f64, pack(from, 0, 0), 64, a, text);
    }
    check(l, PTX_INTS);
}

// --- float to integer; from is the rounding mode here ---

static double rounded(double x, unsigned mode)
{
    return mode == 0 ? nearbyint(x) : mode == 1 ? trunc(x) : mode == 2 ? floor(x) : ceil(x);
}

static uint64_t clamped(double x, const struct type *t, bool from_f64)
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

static uint64_t from_f32(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    bool flush = mode_of(bits) & FTZ && !(a & 0x7f800000);
    (void)b, (void)c;
    return clamped(rounded((double)ptx_float(flush ? a & 0x80000000 : a), bits & 255), to_of(bits), false);
}

static uint64_t from_f64(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)b, (void)c;
    return clamped(rounded(ptx_double(a), bits & 255), to_of(bits), true);
}

static void to_integers(bool f64, unsigned mode)
{
    struct list *l = new_list();
    for (unsigned to = 0; to < TYPES; to++) {
        for (unsigned how = 0; how < ROUNDINGS; how++) {
            char text[TEXT];
            snprintf(text, sizeof text, "cvt.%s%s%s.%s.%s", roundings[how], mode & FTZ ? ".ftz" : "",
                     mode & SAT ? ".sat" : "", types[to].name, f64 ? "f64" : "f32");
            add(l, f64 ? from_f64 : from_f32, pack(how, to, mode), reg_bits(types[to].bits), f64 ? 64 : 32, text);
        }
    }
    check(l, f64 ? PTX_F64S : PTX_F32S);
}

Test(exec_cvt, an_f32_rounds_and_clamps_to_an_integer)
{
    to_integers(false, 0);
    to_integers(false, SAT);
}

Test(exec_cvt, a_flushed_f32_becomes_zero_in_every_rounding_mode)
{
    to_integers(false, FTZ);
}

Test(exec_cvt, an_f64_rounds_and_clamps_to_an_integer)
{
    to_integers(true, 0);
    to_integers(true, SAT);
}

// --- float to float ---

#define WANT(name, value)                                                                                              \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, unsigned bits)                                            \
    {                                                                                                                  \
        (void)b, (void)c, (void)bits;                                                                                  \
        return value;                                                                                                  \
    }

static uint64_t flushed(uint64_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

static uint64_t unit(uint64_t x)  // clamped to [0, 1]
{
    float v = ptx_float(x);
    return ptx_of_float(isnan(v) || v <= 0 ? 0.0f : v > 1 ? 1.0f : v);
}

static uint64_t same_or_nan(uint64_t x)
{
    return isnan(ptx_float(x)) ? ptx_some_nan() : x;
}

// A NaN keeps its sign and the upper bits of its payload, and becomes quiet: so does an H200, PTX leaves it open.
static uint64_t narrow(uint64_t a)
{
    return isnan(ptx_double(a)) ? ptx_open((a >> 32 & 0x80000000) | 0x7fc00000 | (a >> 29 & 0x3fffff))
                                : ptx_of_float((float)ptx_double(a));
}

// .ftz looks at the value rounded to 24 bits, before it would become a subnormal.
WANT(narrowed, narrow(a))
WANT(narrowed_ftz, fabs(ptx_double(a)) < 0x1.ffffffp-127 ? a >> 32 & 0x80000000 : narrow(a))
WANT(narrowed_sat, unit(ptx_of_float((float)ptx_double(a))))
static uint64_t widened64(uint64_t bits)  // NaN: sign and payload stay, and it becomes quiet (an H200)
{
    if (!isnan(ptx_float(bits)))
        return ptx_of_double((double)ptx_float(bits));
    return (bits & 0x80000000u) << 32 | 0x7ff8000000000000u | (bits & 0x7fffff) << 29;
}

WANT(widened, widened64(a))
WANT(widened_ftz, isnan(ptx_float(a)) ? 0x7fffffffe0000000u : widened64(flushed(a)))
WANT(kept, same_or_nan(a))
WANT(kept_ftz, same_or_nan(flushed(a)))
WANT(kept_sat, unit(a))
WANT(kept_ftz_sat, unit(flushed(a)))
WANT(whole32, ptx_of_float((float)rounded((double)ptx_float(a), bits)))
WANT(whole32_ftz, ptx_of_float((float)rounded((double)ptx_float(flushed(a)), bits)))
WANT(whole64, isnan(ptx_double(a)) ? a | 1ull << 51 : ptx_of_double(rounded(ptx_double(a), bits)))

Test(exec_cvt, floats_change_their_width_with_one_rounding)
{
    struct list *l = new_list();
    add(l, narrowed, 0, 32, 64, "cvt.rn.f32.f64");
    add(l, narrowed_ftz, 0, 32, 64, "cvt.rn.ftz.f32.f64");
    add(l, narrowed_sat, 0, 32, 64, "cvt.rn.sat.f32.f64");
    check(l, PTX_F64S);
    l = new_list();
    add(l, widened, 0, 64, 32, "cvt.f64.f32");
    add(l, widened_ftz, 0, 64, 32, "cvt.ftz.f64.f32");
    add(l, kept, 0, 32, 32, "cvt.f32.f32");
    add(l, kept_ftz, 0, 32, 32, "cvt.ftz.f32.f32");
    add(l, kept_sat, 0, 32, 32, "cvt.sat.f32.f32");
    add(l, kept_ftz_sat, 0, 32, 32, "cvt.ftz.sat.f32.f32");
    check(l, PTX_F32S);
}

Test(exec_cvt, floats_round_to_whole_numbers)
{
    struct list *narrow = new_list(), *full = new_list();
    for (unsigned how = 0; how < ROUNDINGS; how++) {
        char text[TEXT];
        snprintf(text, sizeof text, "cvt.%s.f32.f32", roundings[how]);
        add(narrow, whole32, how, 32, 32, text);
        snprintf(text, sizeof text, "cvt.%s.ftz.f32.f32", roundings[how]);
        add(narrow, whole32_ftz, how, 32, 32, text);
        snprintf(text, sizeof text, "cvt.%s.f64.f64", roundings[how]);
        add(full, whole64, how, 64, 64, text);
    }
    check(narrow, PTX_F32S);
    check(full, PTX_F64S);
}

// --- half precision ---

static uint64_t half_of(double x)  // to nearest even
{
    uint64_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x))
        return ptx_some_nan();
    if (isinf(x))
        return sign | 0x7c00;
    frexp(x, &exponent);
    int unit_at = exponent - 11 < -24 ? -24 : exponent - 11;  // the last bit's weight
    double q = ldexp(nearbyint(ldexp(fabs(x), -unit_at)), unit_at);
    if (q >= 65536)
        return sign | 0x7c00;
    if (q < 0x1p-14)
        return sign | (uint64_t)(q * 0x1p24);
    double fraction = frexp(q, &exponent);
    return sign | ((uint64_t)(exponent + 14) << 10) | (uint64_t)((2 * fraction - 1) * 1024);
}

static double value_of_half(uint64_t h)
{
    int exponent = (int)(h >> 10 & 31);
    double fraction = (double)(h & 0x3ff);
    double x = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return h & 0x8000 ? -x : x;
}

WANT(half_from_f32, half_of((double)ptx_float(a)))
WANT(f32_from_half, isnan(value_of_half(a)) ? ptx_some_nan() : ptx_of_float((float)value_of_half(a)))

Test(exec_cvt, half_precision_rounds_to_nearest_even_and_keeps_subnormals)
{
    struct list *l = new_list();
    add(l, half_from_f32, 0, 16, 32, "cvt.rn.f16.f32");
    check(l, PTX_F32S);
    l = new_list();
    add(l, f32_from_half, 0, 32, 16, "cvt.f32.f16");
    check(l, PTX_F16S);
}
