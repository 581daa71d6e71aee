// cvt, every pair of types that the simulated GPU knows, against plain C on every device. PTX ISA 9.7.9, cvt: integers
// are cut or extended, or clamped with .sat; a destination register may be wider than its type and is filled by zero-
// or sign-extension, a source register may be wider and only its low bits count. A float becomes an integer by its
// rounding mode and clamps. NaN becomes 0, but 2^(width - 1) where a 64-bit type takes part.
#include <criterion/criterion.h>

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    ptx_cases_check(l->item, l->n, (struct ptx_operands){ pool, PTX_INTS, PTX_INTS, true });
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

// In a directed rounding; bits: the source, the rounding below, modifiers. The processor rounds.
static const struct directed {
    const char *name;
    int mode;
} directed[] = { { "rz", FE_TOWARDZERO }, { "rm", FE_DOWNWARD }, { "rp", FE_UPWARD } };
enum { DIRECTED = 3 };

static uint64_t to_f32_directed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const volatile wide v = integer(a, from_of(bits));
    (void)b, (void)c;
    fesetround(directed[bits >> 8 & 255].mode);
    const volatile float x = v >> 63 > 0 ? 2 * (float)(int64_t)(v >> 1 | (v & 1)) : (float)(int64_t)v;
    fesetround(FE_TONEAREST);
    return ptx_of_float(mode_of(bits) & SAT ? (x <= 0 ? 0 : 1.0f) : x);
}

static uint64_t to_f64_directed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const volatile wide v = integer(a, from_of(bits));
    (void)b, (void)c;
    fesetround(directed[bits >> 8 & 255].mode);
    const volatile double x = v >> 63 > 0 ? 2 * (double)(int64_t)(v >> 1 | (v & 1)) : (double)(int64_t)v;
    fesetround(FE_TONEAREST);
    return ptx_of_double(x);
}

Test(exec_cvt, integers_become_the_next_float_to_zero_down_or_up)
{
    struct list *l = new_list();
    for (unsigned from = 0; from < TYPES; from++) {
        for (unsigned how = 0; how < DIRECTED; how++) {
            char text[TEXT];
            unsigned a = reg_bits(types[from].bits);
            snprintf(text, sizeof text, "cvt.%s.f32.%s", directed[how].name, types[from].name);
            add(l, to_f32_directed, pack(from, how, 0), 32, a, text);
            snprintf(text, sizeof text, "cvt.%s.sat.f32.%s", directed[how].name, types[from].name);
            add(l, to_f32_directed, pack(from, how, SAT), 32, a, text);
            snprintf(text, sizeof text, "cvt.%s.f64.%s", directed[how].name, types[from].name);
            add(l, to_f64_directed, pack(from, how, 0), 64, a, text);
        }
    }
    check(l, PTX_INTS);
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

// .ftz decides by the value of 24 bits, whatever its exponent: that of 2^60 times the operand.
static uint64_t narrowed_directed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const volatile double v = ptx_double(a), large = v * 0x1p60;
    (void)b, (void)c;
    fesetround(directed[bits >> 8 & 255].mode);
    const volatile float x = (float)v, normal = (float)large;
    fesetround(FE_TONEAREST);
    if (isnan(x))
        return mode_of(bits) & SAT ? 0 : narrow(a);
    bool tiny = mode_of(bits) & FTZ && fabs(v) < 0x1p-126 && fabsf(normal) < 0x1p-66f;
    uint64_t d = ptx_of_float(tiny ? copysignf(0, x) : x);
    return mode_of(bits) & SAT ? unit(d) : d;
}

Test(exec_cvt, an_f64_becomes_the_next_f32_to_zero_down_or_up)
{
    struct list *l = new_list();
    for (unsigned how = 0; how < DIRECTED; how++) {
        for (unsigned mode = 0; mode <= (FTZ | SAT); mode++) {
            char text[TEXT];
            snprintf(text, sizeof text, "cvt.%s%s%s.f32.f64", directed[how].name, mode & FTZ ? ".ftz" : "",
                     mode & SAT ? ".sat" : "");
            add(l, narrowed_directed, pack(0, how, mode), 32, 64, text);
        }
    }
    check(l, PTX_F64S);
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

// --- 16-bit formats ---

// bits of a case: the source's type (integers by types[], else one of these), the rounding, modifiers and the format
// of the result.
enum { FROM_F16 = 100, FROM_BF16, FROM_F32, FROM_F64 };
enum { TO_BF16 = 16 };  // among the modifiers

static enum ptx_pool format_of(unsigned bits)
{
    return mode_of(bits) & TO_BF16 ? PTX_BF16S : PTX_F16S;
}

// What .sat, .relu and .satfinite make of a result.
static uint64_t modified(uint64_t h, unsigned bits)
{
    double x = ptx_value(h, format_of(bits));
    unsigned mode = mode_of(bits);
    if (mode & SAT)
        return ptx_of_half(isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x, format_of(bits), 'n');
    if (mode & RELU && (x < 0 || h == 0x8000))
        return 0;
    return mode & FINITE && isinf(x) ? h - 1 : h;
}

// An integer of 64 bits as a double that no later rounding to few bits takes for a tie: its last bit says "and more".
static double sticky(wide v)
{
    wide size = v < 0 ? -v : v;
    if (size >> 40)
        size = (size >> 20 | ((size & 0xfffff) != 0)) << 20;
    return v < 0 ? -(double)size : (double)size;
}

static uint64_t to_half(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    unsigned from = bits & 255;
    double x = from == FROM_F16    ? ptx_value(a, PTX_F16S)
               : from == FROM_BF16 ? ptx_value(a, PTX_BF16S)
               : from == FROM_F32  ? (double)ptx_float(mode_of(bits) & FTZ ? flushed(a) : a)
               : from == FROM_F64  ? ptx_double(a)
                                   : sticky(integer(a, from_of(bits)));
    (void)b, (void)c;
    if (from == FROM_F64 && isnan(x) && !(mode_of(bits) & SAT))  // keeps its sign and the payload's upper bits
        return format_of(bits) == PTX_F16S ? (a >> 48 & 0x8000) | 0x7e00 | (a >> 42 & 0x1ff)
                                           : (a >> 48 & 0x8000) | 0x7fc0 | (a >> 45 & 0x3f);
    return modified(ptx_of_half(x, format_of(bits), "nzmp"[bits >> 8 & 255]), bits);
}

static uint64_t to_halves(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    return to_half(a, 0, c, bits) << 16 | to_half(b, 0, c, bits);
}

static const char *const frnd[] = { "rn", "rz", "rm", "rp" };

static void halves_from(unsigned from, const char *name, unsigned width, enum ptx_pool pool, bool to_f16, bool to_bf16)
{
    struct list *l = new_list();
    for (unsigned how = 0; how < ROUNDINGS; how++) {
        char text[TEXT];
        snprintf(text, sizeof text, "cvt.%s.f16.%s", frnd[how], name);
        if (to_f16)
            add(l, to_half, pack(from, how, 0), 16, width, text);
        snprintf(text, sizeof text, "cvt.%s.sat.f16.%s", frnd[how], name);
        if (to_f16 && from != FROM_BF16)
            add(l, to_half, pack(from, how, SAT), 16, width, text);
        snprintf(text, sizeof text, "cvt.%s.bf16.%s", frnd[how], name);
        if (to_bf16)
            add(l, to_half, pack(from, how, TO_BF16), 16, width, text);
    }
    check(l, pool);
}

Test(exec_cvt, wider_floats_become_halves_with_one_rounding)
{
    halves_from(FROM_F32, "f32", 32, PTX_F32S, true, true);
    halves_from(FROM_F64, "f64", 64, PTX_F64S, true, true);
    halves_from(FROM_F16, "f16", 16, PTX_F16S, false, true);
    halves_from(FROM_BF16, "bf16", 16, PTX_BF16S, true, false);
}

Test(exec_cvt, integers_become_halves_with_one_rounding)
{
    for (unsigned from = 0; from < TYPES; from++)  // ptxas knows no bf16 from 8 bits
        halves_from(from, types[from].name, reg_bits(types[from].bits), PTX_INTS, true, types[from].bits > 8);
}

Test(exec_cvt, halves_without_negatives_or_infinities)
{
    static const struct {
        const char *name;
        unsigned mode;
    } ends[] = { { "", 0 }, { ".relu", RELU }, { ".satfinite", FINITE }, { ".relu.satfinite", RELU | FINITE } };
    struct list *l = new_list();
    for (unsigned how = 0; how < 2; how++) {
        for (size_t i = 0; i < PTX_COUNTOF(ends); i++) {
            for (unsigned bf16 = 0; bf16 < 2; bf16++) {
                char text[TEXT];
                unsigned bits = pack(FROM_F32, how, ends[i].mode | (bf16 ? TO_BF16 : 0));
                snprintf(text, sizeof text, "cvt.%s%s.%s.f32", frnd[how], ends[i].name, bf16 ? "bf16" : "f16");
                add(l, to_half, bits, 16, 32, text);
                snprintf(text, sizeof text, "cvt.%s%s.%sx2.f32 %%d, %%a, %%b;", frnd[how], ends[i].name,
                         bf16 ? "bf16" : "f16");
                memcpy(l->text[l->n], text, sizeof text);
                l->item[l->n] = (struct ptx_case){ l->text[l->n], to_halves, bits, 32, 32, 32, 0 };
                l->n++;
            }
        }
    }
    add(l, to_half, pack(FROM_F32, 0, 0), 16, 32, "cvt.rn.ftz.f16.f32");  // an H200 flushes nothing here
    add(l, to_half, pack(FROM_F32, 3, 0), 16, 32, "cvt.rp.ftz.f16.f32");
    add(l, to_half, pack(FROM_F32, 2, 0), 16, 32, "cvt.rm.ftz.f16.f32");
    add(l, to_half, pack(FROM_F32, 3, SAT), 16, 32, "cvt.rp.ftz.sat.f16.f32");
    add(l, to_half, pack(FROM_F32, 2, FTZ | TO_BF16), 16, 32, "cvt.rm.ftz.bf16.f32");
    ptx_cases_check(l->item, l->n, (struct ptx_operands){ PTX_F32S, PTX_F32S, PTX_INTS, true });
    free(l);
}

static float float_of_half(uint64_t a, unsigned bits)
{
    return (float)ptx_value(a, (bits & 255) == FROM_BF16 ? PTX_BF16S : PTX_F16S);
}

static uint64_t half_to_f32(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    uint64_t d = ptx_of_float(float_of_half(a, bits));
    (void)b, (void)c;
    if (isnan(float_of_half(a, bits)) && (bits & 255) == FROM_BF16 && !mode_of(bits))
        return a << 16;
    return mode_of(bits) & SAT ? unit(d) : mode_of(bits) & FTZ ? flushed(d) : d;
}

static uint64_t half_to_f64(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)b, (void)c;
    return ptx_of_double((double)float_of_half(a, bits));
}

Test(exec_cvt, halves_become_wider_floats)
{
    struct list *l = new_list();
    add(l, half_to_f32, pack(FROM_F16, 0, 0), 32, 16, "cvt.f32.f16");
    add(l, half_to_f32, pack(FROM_F16, 0, FTZ), 32, 16, "cvt.ftz.f32.f16");
    add(l, half_to_f32, pack(FROM_F16, 0, SAT), 32, 16, "cvt.sat.f32.f16");
    add(l, half_to_f64, pack(FROM_F16, 0, 0), 64, 16, "cvt.f64.f16");
    check(l, PTX_F16S);
    l = new_list();
    add(l, half_to_f32, pack(FROM_BF16, 0, 0), 32, 16, "cvt.f32.bf16");
    add(l, half_to_f32, pack(FROM_BF16, 0, FTZ), 32, 16, "cvt.ftz.f32.bf16");
    add(l, half_to_f64, pack(FROM_BF16, 0, 0), 64, 16, "cvt.f64.bf16");
    check(l, PTX_BF16S);
}

static uint64_t half_to_integer(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)b, (void)c;
    return clamped(rounded((double)float_of_half(a, bits), mode_of(bits)), to_of(bits), false);
}

static uint64_t half_to_whole(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    enum ptx_pool format = (bits & 255) == FROM_BF16 ? PTX_BF16S : PTX_F16S;
    (void)b, (void)c;
    return ptx_of_half(rounded((double)float_of_half(a, bits), mode_of(bits)), format, 'n');
}

static void whole_numbers(unsigned from, const char *name, enum ptx_pool pool)
{
    struct list *l = new_list();
    for (unsigned how = 0; how < ROUNDINGS; how++) {
        char text[TEXT];
        for (unsigned to = 0; to < TYPES; to++) {
            snprintf(text, sizeof text, "cvt.%s.%s.%s", roundings[how], types[to].name, name);
            if (from == FROM_F16 || types[to].bits > 8)
                add(l, half_to_integer, pack(from, to, how), reg_bits(types[to].bits), 16, text);
        }
        snprintf(text, sizeof text, "cvt.%s.%s.%s", roundings[how], name, name);
        add(l, half_to_whole, pack(from, 0, how), 16, 16, text);
    }
    check(l, pool);
}

Test(exec_cvt, halves_round_to_whole_numbers)
{
    whole_numbers(FROM_F16, "f16", PTX_F16S);
    whole_numbers(FROM_BF16, "bf16", PTX_BF16S);
}

// tf32: an f32 whose fraction has 10 bits. NaNs as an H200 gives them: rna cuts the payload, and its .satfinite takes
// one from the last bit of all that is not finite.
static uint64_t tf32(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    float x = ptx_float(a);
    int exponent;
    (void)b, (void)c;
    frexpf(x, &exponent);
    int unit_at = exponent - 11 < -136 ? -136 : exponent - 11;
    double steps = ldexp((double)x, -unit_at);
    steps = (bits & 255) == 'a' ? round(steps) : (bits & 255) == 'n' ? nearbyint(steps) : trunc(steps);
    if (isnan(x))
        return (bits & 255) != 'a' ? 0x7fffe000 : (a & 0xffffe000) - (mode_of(bits) & FINITE ? 0x2000 : 0);
    float y = isinf(x) || isnan(x) ? x : copysignf((float)ldexp(steps, unit_at), x);
    if (mode_of(bits) & RELU && (y < 0 || signbit(y)) && !isnan(y))
        y = 0;
    return mode_of(bits) & FINITE && isinf(y) ? (y < 0 ? 0xff7fe000 : 0x7f7fe000) : ptx_of_float(y);
}

Test(exec_cvt, tf32_keeps_ten_bits_of_the_fraction)
{
    struct list *l = new_list();
    add(l, tf32, pack('a', 0, 0), 32, 32, "cvt.rna.tf32.f32");
    add(l, tf32, pack('n', 0, 0), 32, 32, "cvt.rn.tf32.f32");
    add(l, tf32, pack('z', 0, 0), 32, 32, "cvt.rz.tf32.f32");
    add(l, tf32, pack('n', 0, RELU), 32, 32, "cvt.rn.relu.tf32.f32");
    add(l, tf32, pack('z', 0, RELU), 32, 32, "cvt.rz.relu.tf32.f32");
    add(l, tf32, pack('a', 0, FINITE), 32, 32, "cvt.rna.satfinite.tf32.f32");
    check(l, PTX_F32S);
}
