// See ptx_case.h. All cases of one call become one module with a kernel each, which a real GPU's driver compiles at
// once; a thread computes one set of operands.
#include "ptx_case.h"
#include "device/open.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 4096, WARP = 32, SHOWN = 3, EDGES = 48 };

static enum { DEFINED, OPEN, SOME_NAN, NEAR } latitude;  // what the last expectation allows
static struct {
    enum ptx_pool format;
    double relative, absolute;
} near;

uint64_t ptx_open(uint64_t value)
{
    latitude = OPEN;
    return value;
}

uint64_t ptx_some_nan(void)
{
    latitude = SOME_NAN;
    return 0;
}

uint64_t ptx_near(uint64_t value, enum ptx_pool format, double relative, double absolute)
{
    latitude = NEAR;
    near.format = format;
    near.relative = relative;
    near.absolute = absolute;
    return value;
}

// --- devices ---

struct dev *ptx_simulator(void)
{
    char error[DEV_ERROR_MAX] = "";
    struct dev *d = dev_open(DEV_SIM, error);
    cr_assert_not_null(d, "%s", error);
    return d;
}

size_t ptx_devices(struct dev *out[PTX_DEVICES])
{
    char error[DEV_ERROR_MAX] = "";
    out[0] = ptx_simulator();
    out[1] = dev_open(DEV_GPU, error);
    return out[1] ? 2 : 1;
}

size_t ptx_devices_from(struct dev *out[PTX_DEVICES], int sm, bool exact)
{
    size_t n = ptx_devices(out);
    const struct dev_about *about = dev_about(out[n - 1]);
    int have = 10 * about->cc_major + about->cc_minor;
    if (n == 1 || (exact ? have == sm : have >= sm))
        return n;
    dev_close(out[1]);
    return 1;
}

// --- values ---

int64_t ptx_sign(uint64_t value, unsigned bits)
{
    return bits == 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

float ptx_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

double ptx_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint64_t ptx_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fffffffu : bits;
}

uint64_t ptx_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? ptx_some_nan() : bits;
}

// --- 16-bit floating-point formats ---

enum { F16_DIGITS = 11, F16_LAST = -24, BF16_DIGITS = 8, BF16_LAST = -133 };  // bits; weight of the last one

double ptx_lesser(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

double ptx_value(uint64_t bits, enum ptx_pool format)
{
    if (format == PTX_F32S || format == PTX_F64S)
        return format == PTX_F32S ? (double)ptx_float(bits) : ptx_double(bits);
    int digits = format == PTX_F16S ? F16_DIGITS : BF16_DIGITS, last = format == PTX_F16S ? F16_LAST : BF16_LAST;
    int exponent = (int)(bits & 0x7fff) >> (digits - 1), top = 0x7fff >> (digits - 1);
    double fraction = (double)(bits & ((1u << (digits - 1)) - 1));
    double x = exponent == top ? (fraction != 0 ? NAN : INFINITY)
               : exponent      ? ldexp(ldexp(1, digits - 1) + fraction, exponent - 1 + last)
                               : ldexp(fraction, last);
    return bits & 0x8000 ? -x : x;
}

uint64_t ptx_of_half(double x, enum ptx_pool format, char mode)
{
    int digits = format == PTX_F16S ? F16_DIGITS : BF16_DIGITS, last = format == PTX_F16S ? F16_LAST : BF16_LAST;
    uint64_t sign = signbit(x) ? 0x8000 : 0, top = 0x7fff >> (digits - 1) << (digits - 1);
    int exponent;
    if (isnan(x))
        return 0x7fff;
    if (isinf(x))
        return sign | top;
    frexp(x, &exponent);
    int unit = exponent - digits < last ? last : exponent - digits;  // the last bit's weight
    double q = ldexp(x, -unit);
    q = fabs(mode == 'n' ? nearbyint(q) : mode == 'z' ? trunc(q) : mode == 'm' ? floor(q) : ceil(q));
    // Counting from zero upwards, the bits are the number of steps.
    double steps = q < ldexp(1, digits - 1) ? q : q + ldexp(unit - last, digits - 1);
    bool away = mode == 'n' || (mode == 'm' && x < 0) || (mode == 'p' && x > 0);
    return sign | (steps < (double)top ? (uint64_t)steps : away ? top : top - 1);
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & ((1ull << bits) - 1);
}

static uint64_t random_bits(uint64_t *state)  // splitmix64
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static const uint64_t count_edges[] = { 0,   1,      2,          7,          8,          15,        16,  17,  24,
                                        30,  31,     32,         33,         40,         47,        48,  63,  64,
                                        65,  96,     127,        128,        255,        256,       257, 288, 300,
                                        511, 0xffff, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffffff };
static const uint64_t f32_edges[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fc01234, 0xffc00001,
    0x7f812345, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff,
    0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0600000, 0x3f7fffff, 0x3f800001, 0x33800000, 0x4b000001,
    0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x477ff000,
};
static const uint64_t f64_edges[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0x7ff8000000123456, 0xfff5bcdef1234567, 0xfff8000000000001,
    0x7ff0000000000123, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0xbfe0000000000000, 0x3ff8000000000000,
    0x4004000000000000, 0x3fefffffffffffff, 0x3ff0000000000001, 0x3ff0000010000000, 0x36a0000000000000,
    0x380fffffe0000000, 0x380fffffefffffff, 0x380ffffff0000000, 0x380ffffff8000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000,
    0x41f0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
};
static const uint64_t f16_edges[] = { 0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7dff,
                                      0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x3800, 0x3555, 0x3bff };

static const uint64_t bf16_edges[] = { 0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x7fff,
                                       0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x3f00, 0x3eab, 0x3f7f };

static size_t edges_of(enum ptx_pool pool, unsigned bits, uint64_t out[EDGES])
{
    const uint64_t *list = pool == PTX_F32S    ? f32_edges
                           : pool == PTX_F64S  ? f64_edges
                           : pool == PTX_F16S  ? f16_edges
                           : pool == PTX_BF16S ? bf16_edges
                                               : count_edges;
    size_t n = pool == PTX_F32S    ? PTX_COUNTOF(f32_edges)
               : pool == PTX_F64S  ? PTX_COUNTOF(f64_edges)
               : pool == PTX_F16S  ? PTX_COUNTOF(f16_edges)
               : pool == PTX_BF16S ? PTX_COUNTOF(bf16_edges)
                                   : PTX_COUNTOF(count_edges);
    if (pool != PTX_INTS) {
        bool pairs = bits == 32 && (pool == PTX_F16S || pool == PTX_BF16S);
        for (size_t i = 0; i < n; i++)
            out[i] = pairs ? list[i] | list[(7 * i + 3) % n] << 16 : low_bits(list[i], bits);
        return n;
    }
    n = 0;
    for (uint64_t i = 0; i < 4; i++) {  // around 0, around the smallest signed one
        out[n++] = low_bits(i, bits);
        out[n++] = low_bits(0 - i, bits);
        out[n++] = low_bits((1ull << (bits - 1)) + i - 1, bits);
    }
    for (unsigned width = 8; width < bits; width *= 2) {  // where narrower types end
        for (uint64_t i = 0; i < 3; i++)
            out[n++] = (1ull << width) + i - 2;
        for (uint64_t i = 0; i < 3; i++)
            out[n++] = low_bits((1ull << (width - 1)) + i - 1, bits);
        out[n++] = low_bits(0 - (1ull << (width - 1)) - 1, bits);
    }
    out[n++] = low_bits(0x5555555555555555u, bits);
    out[n++] = low_bits(0x8040201008040201u, bits);
    return n;
}

static uint64_t random_value(enum ptx_pool pool, unsigned bits, uint64_t *state)
{
    uint64_t r = random_bits(state), how = random_bits(state) % 4;
    if (pool == PTX_COUNTS)
        return low_bits(how ? r % 80 : r, bits);
    if (pool == PTX_F32S && how) {  // near 1, near integers that a type can hold, or a multiple of a half
        float x = how == 1   ? ptx_float((r & 0x80ffffff) + 0x3f000000)
                  : how == 2 ? ldexpf((float)ptx_sign(r, 24), (int)(r >> 32 & 63) - 24)
                             : (float)ptx_sign(r, 19) / 2;
        return ptx_of_float(x);
    }
    if (pool == PTX_F64S && how) {
        double x = how == 1   ? ptx_double((r & 0x801fffffffffffffu) + 0x3fe0000000000000u)
                   : how == 2 ? ldexp((double)ptx_sign(r, 52), (int)(r >> 56 & 63) - 40)
                              : (double)ptx_sign(r, 35) / 2;
        return ptx_of_double(x);
    }
    if ((pool == PTX_F16S || pool == PTX_BF16S) && how > 1)  // near 1
        r = (r & 0x8fff8fffu) + (pool == PTX_F16S ? 0x34003400 : 0x38003800);
    return low_bits(pool == PTX_INTS && how == 1 ? r >> (r & 63) : r, bits);
}

// --- the module ---

struct text {
    char *p;
    size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    if (t->room - t->n < 4096) {
        t->room = 2 * t->room + 8192;
        t->p = realloc(t->p, t->room);
        cr_assert_not_null(t->p);
    }
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->p + t->n, t->room - t->n, format, args);
    va_end(args);
}

static void say_kernel(struct text *t, const struct ptx_case *k, size_t number)
{
    const struct {
        char name;
        unsigned bits;
    } operand[3] = { { 'a', k->a }, { 'b', k->b }, { 'c', k->c } };
    say(t, ".visible .entry k%zu(.param .u64 out, .param .u64 in)\n{\n", number);
    say(t, ".reg .pred %%p, %%q;\n.reg .b16 %%h<4>;\n.reg .b32 %%r<4>, %%n<3>;\n.reg .b64 %%l<4>, %%x<4>;\n");
    say(t, ".reg .b%u %%d;\n", k->d);
    say(t, "mov.u32 %%n0, %%ctaid.x;\nmov.u32 %%n1, %%tid.x;\nmad.lo.u32 %%n2, %%n0, %d, %%n1;\n", WARP);
    say(t, "ld.param.u64 %%x0, [out];\nld.param.u64 %%x1, [in];\n");
    say(t, "cvta.to.global.u64 %%x0, %%x0;\ncvta.to.global.u64 %%x1, %%x1;\n");
    say(t, "mad.wide.u32 %%x0, %%n2, 8, %%x0;\nmad.wide.u32 %%x1, %%n2, 24, %%x1;\n");
    for (int i = 0; i < 3; i++)
        if (operand[i].bits)
            say(t, ".reg .b%u %%%c;\nld.global.b%u %%%c, [%%x1+%d];\n", operand[i].bits, operand[i].name,
                operand[i].bits, operand[i].name, 8 * i);
    say(t, "mov.b%u %%d, 0;\n%s\nst.global.b%u [%%x0], %%d;\nret;\n}\n", k->d, k->text, k->d);
}

// The operand sets of one combination of widths: [SETS][3].
static uint64_t *make_operands(const struct ptx_case *k, struct ptx_operands from)
{
    const enum ptx_pool pool[3] = { from.a, from.b, from.c };
    const unsigned bits[3] = { k->a ? k->a : 64, k->b ? k->b : 64, k->c ? k->c : 64 };
    uint64_t(*set)[3] = malloc(SETS * sizeof *set), state = 20;
    uint64_t edge[3][EDGES];
    size_t n[3];
    cr_assert_not_null(set);
    for (int j = 0; j < 3; j++)
        n[j] = edges_of(pool[j], bits[j], edge[j]);
    for (size_t i = 0; i < SETS; i++) {
        bool all_edges = i < n[0] * n[1];
        for (size_t j = 0; j < 3; j++) {
            size_t pick = j == 0 ? i % n[0] : j == 1 ? i / n[0] : (5 * i + i / n[0]) % n[2];
            if (!all_edges && random_bits(&state) % 8)
                set[i][j] = random_value(pool[j], bits[j], &state);
            else
                set[i][j] = edge[j][all_edges ? pick : random_bits(&state) % n[j]];
        }
    }
    return *set;
}

static bool is_nan(uint64_t value, unsigned bits)
{
    return bits == 64 ? isnan(ptx_double(value)) : bits == 32 ? isnan(ptx_float(value)) : (value & 0x7fff) > 0x7c00;
}

static bool is_near(uint64_t have, uint64_t want)
{
    double x = ptx_value(have, near.format), y = ptx_value(want, near.format);
    return (isnan(x) && isnan(y)) || x == y || fabs(x - y) <= near.relative * fabs(y) + near.absolute;
}

static bool are_near(uint64_t have, uint64_t want, unsigned bits)
{
    if (bits == 32 && (near.format == PTX_F16S || near.format == PTX_BF16S))
        return is_near(have & 0xffff, want & 0xffff) && is_near(have >> 16, want >> 16);
    return is_near(have, want);
}

static void compare(struct dev *d, const struct ptx_case *k, const uint64_t *operands, const uint64_t *got)
{
    const struct dev_about *about = dev_about(d);
    size_t wrong = 0, open = 0, equal = 0, nears = 0;
    char where[SHOWN * 200] = "", note[200] = "";
    for (size_t i = 0; i < SETS; i++) {
        const uint64_t *o = operands + 3 * i;
        uint64_t a = k->a ? o[0] : 0, b = k->b ? o[1] : 0, c = k->c ? o[2] : 0, above = got[i] ^ low_bits(got[i], k->d);
        char line[200];
        latitude = DEFINED;
        uint64_t want = low_bits(k->want(a, b, c, k->bits), k->d), have = low_bits(got[i], k->d);
        bool right = latitude == SOME_NAN ? is_nan(have, k->d) : have == want;
        nears += latitude == NEAR;
        equal += latitude == NEAR && right;
        if (latitude == NEAR && !about->simulated)
            right = are_near(have, want, k->d);
        // The buffer was all ones: a store that writes too much shows above the result.
        bool spilled = above != (~0ull ^ low_bits(~0ull, k->d));
        if (right && !spilled)
            continue;
        snprintf(line, sizeof line,
                 "\n  a 0x%" PRIx64 " b 0x%" PRIx64 " c 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64 "%s", a, b, c,
                 have, want, spilled ? " (and it wrote beyond)" : "");
        if (latitude == OPEN && !about->simulated && !spilled) {
            if (!open++)
                memcpy(note, line, sizeof note);
            continue;
        }
        if (wrong++ < SHOWN)
            strcat(where, line);
    }
    if (nears && !about->simulated)
        cr_log_info("%s: '%s' gives the nearest value for %zu of %zu operands", about->name, k->text, equal, nears);
    if (open)
        cr_log_warn("%s: '%s' gives something else for %zu operands that PTX leaves open:%s", about->name, k->text,
                    open, note);
    cr_expect_eq(wrong, 0, "%s: '%s' is wrong for %zu of %d operands:%s", about->name, k->text, wrong, SETS, where);
}

static void run_cases(struct dev *d, const struct ptx_case *cases, size_t n, struct ptx_operands from)
{
    struct text t = { 0 };
    dev_ptr out = 0, in = 0;
    uint64_t *got = malloc(SETS * sizeof *got);
    cr_assert_not_null(got);
    say(&t, "%s", from.sm_90 ? PTX_SM_90 : PTX_HEAD);
    for (size_t i = 0; i < n; i++)
        say_kernel(&t, &cases[i], i);
    struct dev_module *m = dev_load_text(d, "cases.ptx", t.p, t.n);
    cr_assert_not_null(m, "%s: %s", dev_about(d)->name, dev_error(d));
    cr_assert(dev_alloc(d, "out", SETS * 8, &out) && dev_alloc(d, "in", SETS * 24, &in), "%s", dev_error(d));
    for (size_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "k%zu", i);
        uint64_t *operands = make_operands(&cases[i], from);
        struct dev_kernel *k = dev_kernel(d, m, name);
        cr_expect_not_null(k, "%s: '%s': %s", dev_about(d)->name, cases[i].text, dev_error(d));
        struct dev_arg args[] = { DEV_ARG(out), DEV_ARG(in) };
        struct dev_launch launch = { .grid = { SETS / WARP }, .block = { WARP }, .args = args, .n_args = 2 };
        memset(got, 0xff, SETS * sizeof *got);
        bool ran = k && dev_upload(d, out, got, SETS * 8) && dev_upload(d, in, operands, SETS * 24) &&
                   dev_launch(d, k, &launch) && dev_sync(d) && dev_download(d, got, out, SETS * 8);
        cr_expect(ran, "%s: '%s': %s", dev_about(d)->name, cases[i].text, dev_error(d));
        if (ran)
            compare(d, &cases[i], operands, got);
        free(operands);
    }
    dev_unload(d, m);
    free(got);
    free(t.p);
}

void ptx_cases_check(const struct ptx_case *cases, size_t n, struct ptx_operands from)
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices(d);
    cr_assert_gt(n, 0);
    for (size_t i = 0; i < devices; i++) {
        if (!from.sm_90 || dev_about(d[i])->simulated || dev_about(d[i])->cc_major >= 9)
            run_cases(d[i], cases, n, from);
        dev_close(d[i]);
    }
}

// --- whole modules ---

// m: NULL if it could not be loaded. in: NULL if the kernel takes out alone.
static bool run_module(struct dev *d, struct dev_module *m, const char *name, struct ptx_shape shape, uint32_t *out,
                       size_t n_out, const uint32_t *in, size_t n_in)
{
    dev_ptr to = 0, from = 0;
    struct dev_kernel *k = m ? dev_kernel(d, m, name) : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from) };
    struct dev_launch launch = {
        .grid = { shape.blocks }, .block = { shape.threads }, .shared = shape.shared, .args = args, .n_args = in ? 2 : 1
    };
    bool ok = k && dev_alloc(d, "out", n_out * sizeof *out, &to) && dev_upload(d, to, out, n_out * sizeof *out) &&
              (!in || (dev_alloc(d, "in", n_in * sizeof *in, &from) && dev_upload(d, from, in, n_in * sizeof *in))) &&
              dev_launch(d, k, &launch) && dev_sync(d) && dev_download(d, out, to, n_out * sizeof *out);
    if (ok) {
        dev_unload(d, m);
        ok = dev_free(d, to) && (!in || dev_free(d, from));
    }
    return ok;
}

bool ptx_run(struct dev *d, const char *text, struct ptx_shape shape, uint32_t *out, size_t n_out, const uint32_t *in,
             size_t n_in)
{
    return run_module(d, dev_load_text(d, "test.ptx", text, strlen(text)), "k", shape, out, n_out, in, n_in);
}

bool ptx_file_run(struct dev *d, const char *file, const char *name, struct ptx_shape shape, uint32_t *out,
                  size_t n_out, const uint32_t *in, size_t n_in)
{
    return run_module(d, dev_load(d, file), name, shape, out, n_out, in, n_in);
}

void ptx_file_expect(const char *file, const char *name, struct ptx_shape shape, const uint32_t *in, size_t n,
                     uint32_t (*want)(uint32_t i))
{
    struct dev *d[PTX_DEVICES];
    const size_t devices = ptx_devices_from(d, 80, false);
    uint32_t *out = malloc(n * sizeof *out);
    for (size_t k = 0; k < devices; k++) {
        memset(out, 0, n * sizeof *out);
        cr_expect(ptx_file_run(d[k], file, name, shape, out, n, in, n), "%s: %s", dev_about(d[k])->name,
                  dev_error(d[k]));
        for (uint32_t i = 0; i < n; i++)
            cr_assert_eq(out[i], want(i), "%s: %s[%u] is %u (0x%x), not %u (0x%x)", dev_about(d[k])->name, name, i,
                         out[i], out[i], want(i), want(i));
        dev_close(d[k]);
    }
    free(out);
}
