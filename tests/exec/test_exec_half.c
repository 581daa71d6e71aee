// Instructions on f16 and bf16, alone and in pairs, one by one, against plain C on every device. PTX ISA 9.7.4: results
// are rounded once to nearest even; subnormals are kept but for .ftz; .sat clamps to [0, 1] and .relu to at least 0.
// A NaN that is a result is 0x7fff.
#include <criterion/criterion.h>

#include <fenv.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_case.h"

enum { MANY = 256, TEXT = 160 };
enum { FTZ = 1, SAT = 2, RELU = 4, NANS = 8, SIGNS = 16 };  // modifiers; NANS: .NaN, SIGNS: .xorsign.abs

static const struct format {
    const char *name;
    enum ptx_pool pool;
    bool pair;
} formats[] = {
    { "f16", PTX_F16S, false },
    { "f16x2", PTX_F16S, true },
    { "bf16", PTX_BF16S, false },
    { "bf16x2", PTX_BF16S, true },
};
enum { FORMATS = PTX_COUNTOF(formats) };

// A case's bits: what is computed (by operation or relation), the format, modifiers.
static unsigned pack(unsigned what, unsigned format, unsigned mode)
{
    return what | format << 8 | mode << 16;
}

static const struct format *format_of(unsigned bits)
{
    return &formats[bits >> 8 & 255];
}

static unsigned mode_of(unsigned bits)
{
    return bits >> 16;
}

struct list {
    struct ptx_case item[MANY];
    char text[MANY][TEXT];
    size_t n;
};

static struct list *new_list(void)
{
    struct list *l = calloc(1, sizeof *l);
    cr_assert_not_null(l);
    return l;
}

__attribute__((format(printf, 4, 5))) static void add(struct list *l, struct ptx_case k, unsigned bits,
                                                      const char *format, ...)
{
    va_list args;
    cr_assert_lt(l->n, MANY);
    va_start(args, format);
    int length = vsnprintf(l->text[l->n], TEXT, format, args);
    va_end(args);
    cr_assert(length > 0 && length < TEXT);
    k.text = l->text[l->n];
    k.bits = bits;
    l->item[l->n++] = k;
}

static void check(struct list *l, enum ptx_pool pool)
{
    ptx_cases_check(l->item, l->n, (struct ptx_operands){ pool, pool, pool, true });
    free(l);
}

// --- arithmetic ---

// x * y + z, to odd: an inexact result takes the neighbour whose last bit is set, so that rounding it to few bits
// rounds the exact value.
static double fused(double x, double y, double z)
{
    const volatile double a = x, b = y, c = z;
    uint64_t bits;
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_INEXACT);
    const volatile double d = a * b + c;  // the product is exact
    bool inexact = fetestexcept(FE_INEXACT);
    fesetround(FE_TONEAREST);
    double s = d;
    if (s == 0 && !inexact)
        return x * y + z;  // the sign of a zero is that of rounding to nearest
    memcpy(&bits, &s, sizeof bits);
    bits |= inexact && isfinite(s);
    memcpy(&s, &bits, sizeof s);
    return s;
}

static double chosen(double a, double b, unsigned mode, bool greater)
{
    bool negative = mode & SIGNS && signbit(a) != signbit(b);
    if (mode & NANS && (isnan(a) || isnan(b)))
        return NAN;
    if (mode & SIGNS)
        a = fabs(a), b = fabs(b);
    double d = greater ? -ptx_lesser(-a, -b) : ptx_lesser(a, b);
    return negative ? -d : d;
}

enum operation { ADD, SUB, MUL, FMA, MIN, MAX };

static double flushed(double x, const struct format *f, unsigned mode)
{
    return mode & FTZ && f->pool == PTX_F16S && fabs(x) < 0x1p-14 ? copysign(0, x) : x;
}

static uint64_t computed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const struct format *f = format_of(bits);
    unsigned mode = mode_of(bits);
    double x = flushed(ptx_value(a, f->pool), f, mode), y = flushed(ptx_value(b, f->pool), f, mode);
    double z = flushed(ptx_value(c, f->pool), f, mode), d = 0;
    switch ((enum operation)(bits & 255)) {
    case ADD:
        d = fused(x, 1, y);
        break;
    case SUB:
        d = fused(y, -1, x);
        break;
    case MUL:
        d = x * y;
        break;
    case FMA:
        d = fused(x, y, z);
        break;
    case MIN:
    case MAX:
        d = chosen(x, y, mode, (bits & 255) == MAX);
        break;
    }
    // .ftz decides by the value of 11 bits, whatever its exponent: what would round up to 2^-14 then stays (an H200).
    if (mode & FTZ && f->pool == PTX_F16S && fabs(d) < 0x1.ffep-15)
        d = copysign(0, d);
    uint64_t h = ptx_of_half(d, f->pool, 'n');
    double v = ptx_value(h, f->pool);
    if (mode & SAT)
        return ptx_of_half(isnan(v) || v <= 0 ? 0 : v > 1 ? 1 : v, f->pool, 'n');
    return mode & RELU && (v < 0 || h == 0x8000) ? 0 : h;
}

static uint64_t arithmetic(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    uint64_t low = computed(a & 0xffff, b & 0xffff, c & 0xffff, bits);
    return format_of(bits)->pair ? low | computed(a >> 16, b >> 16, c >> 16, bits) << 16 : low;
}

static void operations(unsigned format, const char *op, enum operation what, const char *const *modifiers,
                       const unsigned *modes, size_t n)
{
    struct list *l = new_list();
    const struct format *f = &formats[format];
    unsigned w = f->pair ? 32 : 16, operands = what == FMA ? 3 : 2;
    for (size_t i = 0; i < n; i++)
        if (f->pool == PTX_F16S || !(modes[i] & (FTZ | SAT)))
            add(l, (struct ptx_case){ .want = arithmetic, .d = w, .a = w, .b = w, .c = operands == 3 ? w : 0 },
                pack(what, format, modes[i]), "%s%s.%s %%d, %%a, %%b%s;", op, modifiers[i], f->name,
                operands == 3 ? ", %c" : "");
    check(l, f->pool);
}

Test(exec_half, sums_and_products_round_once)
{
    static const char *const modifiers[] = { "", ".rn", ".ftz", ".sat", ".rn.ftz.sat" };
    static const unsigned modes[] = { 0, 0, FTZ, SAT, FTZ | SAT };
    for (unsigned f = 0; f < FORMATS; f++) {
        operations(f, "add", ADD, modifiers, modes, PTX_COUNTOF(modes));
        operations(f, "sub", SUB, modifiers, modes, PTX_COUNTOF(modes));
        operations(f, "mul", MUL, modifiers, modes, PTX_COUNTOF(modes));
    }
}

Test(exec_half, fma_rounds_once)
{
    static const char *const modifiers[] = { "", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu" };
    static const unsigned modes[] = { 0, FTZ, SAT, FTZ | SAT, RELU, FTZ | RELU };
    for (unsigned f = 0; f < FORMATS; f++)
        operations(f, "fma.rn", FMA, modifiers, modes, PTX_COUNTOF(modes));
}

static uint64_t product_plus_zero(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)c;
    return computed(a, b, 0x8000, bits);
}

static uint64_t product_plus_smallest(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)c;
    return computed(a, b, 0x8400, bits);
}

PTX_TEST(exec_half, flushing_looks_at_the_rounded_result_of_any_exponent, PTX_FROM(PTX_F16S, PTX_F16S, PTX_F16S, true),
         { "mov.b16 %h0, 0x8000; fma.rn.ftz.f16 %d, %a, %b, %h0;", product_plus_zero, FMA | FTZ << 16, 16, 16, 16, 0 },
         { "mov.b16 %h0, 0x8400; fma.rn.ftz.f16 %d, %a, %b, %h0;", product_plus_smallest, FMA | FTZ << 16, 16, 16, 16,
           0 },
         { "mov.b16 %h0, 0x8400; fma.rn.f16 %d, %a, %b, %h0;", product_plus_smallest, FMA, 16, 16, 16, 0 })

Test(exec_half, minimum_and_maximum_prefer_numbers_and_order_the_zeros)
{
    static const char *const modifiers[] = { "", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs" };
    static const unsigned modes[] = { 0, FTZ, NANS, FTZ | NANS, SIGNS, NANS | SIGNS };
    for (unsigned f = 0; f < FORMATS; f++) {
        operations(f, "min", MIN, modifiers, modes, PTX_COUNTOF(modes));
        operations(f, "max", MAX, modifiers, modes, PTX_COUNTOF(modes));
    }
}

// --- signs ---

static uint64_t with_sign(uint64_t a, unsigned bits)
{
    const struct format *f = format_of(bits);
    if (isnan(ptx_value(a, f->pool)))
        return 0x7fff;
    if (mode_of(bits) & FTZ)
        a = ptx_of_half(flushed(ptx_value(a, f->pool), f, FTZ), f->pool, 'n');
    return bits & 255 ? a & 0x7fff : a ^ 0x8000;
}

static uint64_t sign_changed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)b, (void)c;
    return format_of(bits)->pair ? with_sign(a & 0xffff, bits) | with_sign(a >> 16, bits) << 16 : with_sign(a, bits);
}

Test(exec_half, signs_change_without_rounding)
{
    for (unsigned f = 0; f < FORMATS; f++) {
        struct list *l = new_list();
        unsigned w = formats[f].pair ? 32 : 16;
        for (unsigned op = 0; op < 2; op++) {
            struct ptx_case k = { .want = sign_changed, .d = w, .a = w };
            add(l, k, pack(op, f, 0), "%s.%s %%d, %%a;", op ? "abs" : "neg", formats[f].name);
            if (formats[f].pool == PTX_F16S)
                add(l, k, pack(op, f, FTZ), "%s.ftz.%s %%d, %%a;", op ? "abs" : "neg", formats[f].name);
        }
        check(l, formats[f].pool);
    }
}

// --- comparisons ---

enum relation { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
static const struct {
    const char *name;
    unsigned holds;
} relations[] = {
    { "eq", EQUAL },
    { "ne", LESS | GREATER },
    { "lt", LESS },
    { "le", LESS | EQUAL },
    { "gt", GREATER },
    { "ge", GREATER | EQUAL },
    { "equ", EQUAL | UNORDERED },
    { "neu", LESS | GREATER | UNORDERED },
    { "ltu", LESS | UNORDERED },
    { "leu", LESS | EQUAL | UNORDERED },
    { "gtu", GREATER | UNORDERED },
    { "geu", GREATER | EQUAL | UNORDERED },
    { "num", LESS | EQUAL | GREATER },
    { "nan", UNORDERED },
};
enum { RELATIONS = PTX_COUNTOF(relations) };

static bool holds(uint64_t a, uint64_t b, unsigned bits)
{
    const struct format *f = format_of(bits);
    double x = flushed(ptx_value(a & 0xffff, f->pool), f, mode_of(bits));
    double y = flushed(ptx_value(b & 0xffff, f->pool), f, mode_of(bits));
    enum relation r = isnan(x) || isnan(y) ? UNORDERED : x < y ? LESS : x > y ? GREATER : EQUAL;
    return relations[bits & 255].holds & r;
}

static uint64_t compared(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)c;
    return (uint64_t)holds(a, b, bits) | (format_of(bits)->pair ? (uint64_t)holds(a >> 16, b >> 16, bits) << 1 : 0);
}

static uint64_t compared_and_odd(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    return c & 1 ? compared(a, b, c, bits) : 0;
}

#define PAIR "selp.u32 %%r1, 1, 0, %%p; selp.u32 %%r2, 2, 0, %%q; or.b32 %%d, %%r1, %%r2;"

Test(exec_half, comparisons_know_four_relations_and_pairs_give_two_answers)
{
    for (unsigned f = 0; f < FORMATS; f++) {
        struct list *l = new_list();
        unsigned w = formats[f].pair ? 32 : 16;
        struct ptx_case k = { .want = compared, .d = 32, .a = w, .b = w };
        for (unsigned r = 0; r < RELATIONS; r++) {
            for (unsigned ftz = 0; ftz < (formats[f].pool == PTX_F16S ? 2 : 1); ftz++) {
                unsigned bits = pack(r, f, ftz ? FTZ : 0);
                const char *name = relations[r].name, *flush = ftz ? ".ftz" : "", *type = formats[f].name;
                if (formats[f].pair)
                    add(l, k, bits, "setp.%s%s.%s %%p|%%q, %%a, %%b; " PAIR, name, flush, type);
                else
                    add(l, k, bits, "setp.%s%s.%s %%p, %%a, %%b; selp.u32 %%d, 1, 0, %%p;", name, flush, type);
            }
        }
        if (formats[f].pair) {
            k.want = compared_and_odd;
            k.c = 32;
            add(l, k, pack(2, f, 0),
                "and.b32 %%r0, %%c, 1; setp.ne.u32 %%p, %%r0, 0; setp.lt.and.%s %%p|%%q, %%a, %%b, %%p; " PAIR,
                formats[f].name);
        }
        check(l, formats[f].pool);
    }
}

// set: the low bits of the case say how wide each answer is and what it is
enum { TO_SELF, TO_U16, TO_U32, TO_S32 };

static uint64_t answered(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const struct format *f = format_of(bits);
    unsigned to = bits & 255, how = (bits & ~255u) | 2;  // lt
    uint64_t yes = to == TO_SELF ? (f->pool == PTX_F16S ? 0x3c00 : 0x3f80) : f->pair ? 0xffff : 0xffffffff;
    (void)c;
    return (holds(a, b, how) ? yes : 0) | (f->pair && holds(a >> 16, b >> 16, how) ? yes << 16 : 0);
}

Test(exec_half, set_answers_one_or_all_ones)
{
    for (unsigned f = 0; f < FORMATS; f++) {
        static const char *const names[] = { NULL, "u16", "u32", "s32" };
        struct list *l = new_list();
        unsigned w = formats[f].pair ? 32 : 16;
        for (unsigned to = 0; to < 4; to++) {
            struct ptx_case k = { .want = answered, .d = to == TO_SELF || to == TO_U16 ? w : 32, .a = w, .b = w };
            if (to == TO_U16 && formats[f].pair)
                continue;
            add(l, k, pack(to, f, 0), "set.lt.%s.%s %%d, %%a, %%b;", to ? names[to] : formats[f].name, formats[f].name);
            if (formats[f].pool == PTX_F16S)
                add(l, k, pack(to, f, FTZ), "set.lt.ftz.%s.%s %%d, %%a, %%b;", to ? names[to] : formats[f].name,
                    formats[f].name);
        }
        check(l, formats[f].pool);
    }
}

// --- approximations ---

static uint64_t approximate(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const struct format *f = format_of(bits);
    enum ptx_pool p = f->pool;
    bool f16 = p == PTX_F16S, tanh_wanted = bits & 255;
    uint64_t d = 0;
    (void)b, (void)c;
    for (int i = 0; i < (f->pair ? 32 : 16); i += 16) {
        double x = ptx_value(a >> i & 0xffff, p);
        d |= ptx_of_half(tanh_wanted ? (double)(float)tanh(x) : (double)(float)exp2(x), p, 'n') << i;
    }
    // Stated: ex2 2^-9.9 of an f16 and 2^-7 of a bf16; tanh 2^-10.987 and 2^-8, absolute. A subnormal's last bit
    // besides.
    return tanh_wanted ? ptx_near(d, p, 0, f16 ? 0x1.02p-11 + 0x1p-12 : 0x1p-8 + 0x1p-9)
                       : ptx_near(d, p, f16 ? 0x1.13p-10 + 0x1p-12 : 0x1p-7, f16 ? 0x1p-24 : 0x1p-126);
}

Test(exec_half, approximations_stay_within_the_stated_error)
{
    for (unsigned f = 0; f < FORMATS; f++) {
        struct list *l = new_list();
        unsigned w = formats[f].pair ? 32 : 16;
        struct ptx_case k = { .want = approximate, .d = w, .a = w };
        add(l, k, pack(0, f, 0), "ex2.approx%s.%s %%d, %%a;", formats[f].pool == PTX_F16S ? "" : ".ftz",
            formats[f].name);
        add(l, k, pack(1, f, 0), "tanh.approx.%s %%d, %%a;", formats[f].name);
        check(l, formats[f].pool);
    }
}

// --- registers ---

static uint64_t low_plus_one(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    (void)b, (void)c, (void)bits;
    return ptx_of_half(ptx_value(a & 0xffff, PTX_F16S) + 1, PTX_F16S, 'n');
}

PTX_TEST(exec_half, registers_may_be_declared_as_halves, PTX_FROM(PTX_F16S, PTX_F16S, PTX_F16S, true),
         { ".reg .f16 x, y; mov.b16 x, %a; mov.b16 y, 0x3C00; add.rn.f16 x, x, y; mov.b16 %d, x;", low_plus_one, 0, 16,
           16, 0, 0 },
         { ".reg .f16x2 x; .reg .f16 y, z; mov.b32 x, %a; mov.b32 {y, _}, x; mov.b16 z, 0x3C00; add.f16 %d, y, z;",
           low_plus_one, 0, 16, 32, 0, 0 },
         { ".reg .b32 x; .reg .f16 y, z; mov.b32 x, 0x3C003C00; add.f16x2 x, x, %a; mov.b32 {y, z}, x; mov.b16 %d, y;",
           low_plus_one, 0, 16, 32, 0, 0 })
