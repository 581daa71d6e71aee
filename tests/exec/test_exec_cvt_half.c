// cvt to and from f16, bf16 and tf32, against plain C on every device. PTX ISA 9.7.9, cvt: a wider float or an integer
// becomes a half with one rounding; .sat clamps to [0, 1], .relu takes negatives to 0, .satfinite infinities to the
// largest number.
#include <criterion/criterion.h>

#include <string.h>

#include "cvt_case.h"

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

Test(exec_cvt_half, wider_floats_become_halves_with_one_rounding)
{
    halves_from(FROM_F32, "f32", 32, PTX_F32S, true, true);
    halves_from(FROM_F64, "f64", 64, PTX_F64S, true, true);
    halves_from(FROM_F16, "f16", 16, PTX_F16S, false, true);
    halves_from(FROM_BF16, "bf16", 16, PTX_BF16S, true, false);
}

Test(exec_cvt_half, integers_become_halves_with_one_rounding)
{
    for (unsigned from = 0; from < TYPES; from++)  // ptxas knows no bf16 from 8 bits
        halves_from(from, types[from].name, reg_bits(types[from].bits), PTX_INTS, true, types[from].bits > 8);
}

Test(exec_cvt_half, halves_without_negatives_or_infinities)
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

Test(exec_cvt_half, halves_become_wider_floats)
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

Test(exec_cvt_half, halves_round_to_whole_numbers)
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

Test(exec_cvt_half, tf32_keeps_ten_bits_of_the_fraction)
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
