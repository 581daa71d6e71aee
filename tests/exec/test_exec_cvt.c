// cvt between integers, f32 and f64, every pair that the simulated GPU knows, against plain C on every device. PTX
// ISA 9.7.9, cvt: integers are cut or extended, or clamped with .sat; a destination register may be wider than its type
// and is filled by zero- or sign-extension, a source register may be wider and only its low bits count. A float becomes
// an integer by its rounding mode and clamps. NaN becomes 0, but 2^(width - 1) where a 64-bit type takes part.
#include <criterion/criterion.h>

#include <fenv.h>

#include "cvt_case.h"

// --- integer to integer ---

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

static double directed_of(uint64_t a, unsigned bits, bool is_float)
{
    const volatile wide v = integer(a, from_of(bits));
    const volatile bool large = v >> 63 > 0;  // too large for an int64_t: half of it, and the bit that is lost
    const volatile int64_t whole = large ? (int64_t)(v >> 1 | (v & 1)) : (int64_t)v;
    fesetround(directed[bits >> 8 & 255].mode);
    const volatile float narrow = (float)whole;
    const volatile double full = (double)whole;
    fesetround(FE_TONEAREST);
    return (large ? 2 : 1) * (is_float ? (double)narrow : full);
}

static uint64_t to_f32_directed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const float x = (float)directed_of(a, bits, true);
    (void)b, (void)c;
    return ptx_of_float(mode_of(bits) & SAT ? (x <= 0 ? 0 : 1.0f) : x);
}

static uint64_t to_f64_directed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)b, (void)c;
    return ptx_of_double(directed_of(a, bits, false));
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
