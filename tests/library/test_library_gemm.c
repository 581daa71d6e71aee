// gemm_steps_gemm on the simulated GPU: every transpose, leading dimension, batch, type and epilogue, by every kernel
// that can do it, against sums in double, under every check.
#include <criterion/criterion.h>
#include <gemm-steps/gemm.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "library/handle.h"
#include "sample.h"
#include "simt/simt.h"

static gemm_steps *h;

static void open_simulated(void)
{
    cr_assert_eq(gemm_steps_create(GEMM_STEPS_SIMULATED, &h), GEMM_STEPS_OK, "%s", gemm_steps_error(NULL));
}

static void close_it(void)
{
    gemm_steps_destroy(h);
}

TestSuite(library_gemm, .init = open_simulated, .fini = close_it, .timeout = 600);

// --- Numbers ---

static double decode(gemm_steps_type type, const void *x, size_t i)
{
    if (type == GEMM_STEPS_F32)
        return ((const float *)x)[i];
    if (type == GEMM_STEPS_F16)
        return half_to_double(((const uint16_t *)x)[i]);
    const uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void encode(gemm_steps_type type, void *x, size_t i, double value)
{
    const float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (type == GEMM_STEPS_F32)
        ((float *)x)[i] = f;
    else if (type == GEMM_STEPS_F16)
        ((uint16_t *)x)[i] = half_from_double(value);
    else
        ((uint16_t *)x)[i] = (uint16_t)(bits >> 16);
}

static uint64_t seed, drawn;

static unsigned draw(unsigned n)  // 0 to n - 1
{
    return (unsigned)(matrix_hash(seed, drawn++) % n);
}

// --- An array in the host's memory and in the device's ---

struct array {
    gemm_steps_type type;
    size_t elements, skip;  // skip: elements before the first, so that it is not aligned
    unsigned char *host, *before;
    gemm_steps_ptr memory;
};

static gemm_steps_ptr place(const struct array *a)
{
    return a->memory + a->skip * problem_type_bytes(a->type);
}

static double value(const struct array *a, int64_t i)
{
    return decode(a->type, a->before, a->skip + (size_t)i);
}

static void expect_ok(gemm_steps_status s)
{
    cr_assert_eq(s, GEMM_STEPS_OK, "status %d: %s", (int)s, gemm_steps_error(h));
}

// What lies between the rows is as random as they are, so that reading it would be seen. NaN: nothing may read it.
static struct array make(gemm_steps_type type, uint64_t elements, size_t skip, bool nan)
{
    struct array a = { .type = type, .elements = (size_t)elements + skip, .skip = skip };
    const size_t bytes = a.elements * problem_type_bytes(type);
    a.host = malloc(bytes);
    a.before = malloc(bytes);
    for (size_t i = 0; i < a.elements; i++)
        encode(type, a.host, i, nan ? NAN : ((double)draw(1025) - 512) / 512);
    memcpy(a.before, a.host, bytes);
    expect_ok(gemm_steps_alloc(h, bytes, &a.memory));
    expect_ok(gemm_steps_upload(h, a.memory, a.host, bytes));
    return a;
}

static void drop(struct array *a)
{
    if (a->memory)
        expect_ok(gemm_steps_free(h, a->memory));
    free(a->host);
    free(a->before);
}

// --- A product ---

struct data {
    gemm_steps_problem p;    // with nothing left out
    struct problem settled;  // the same
    struct array A, B, C, bias;
};

static int draw_size(void)
{
    static const int most[] = { 4, 20, 70, 150 };
    const int size = 1 + (int)draw((unsigned)most[draw(4)]);
    return draw(2) ? size : (size + 7) / 8 * 8;
}

static int64_t draw_ld(int columns)
{
    return draw(2) ? 0 : draw(2) ? columns + (int)draw(9) : (columns + 15) / 8 * 8;
}

static gemm_steps_problem draw_problem(gemm_steps_type type)
{
    static const float factors[] = { 1, 1, -0.5f, 2.25f, 0 }, kept[] = { 0, 0, 1, -0.75f };
    gemm_steps_problem p = { .m = draw_size(), .n = draw_size(), .k = draw_size() * (draw(8) ? 1 : 5), .type = type };
    p.type_c = draw(3) ? 0 : GEMM_STEPS_F32;
    p.transpose_a = (int)draw(2), p.transpose_b = (int)draw(2);
    p.alpha = factors[draw(5)], p.beta = kept[draw(4)];
    p.lda = draw_ld(p.transpose_a ? p.m : p.k), p.ldb = draw_ld(p.transpose_b ? p.k : p.n), p.ldc = draw_ld(p.n);
    p.bias_kind = (gemm_steps_bias)draw(3), p.activation = (gemm_steps_activation)draw(3);
    if (draw(3))
        return p;
    p.batch = 2 + (int)draw(2);
    const int64_t a = (p.lda ? p.lda : p.transpose_a ? p.m : p.k) * (p.transpose_a ? p.k : p.m);
    const int64_t b = (p.ldb ? p.ldb : p.transpose_b ? p.k : p.n) * (p.transpose_b ? p.n : p.k);
    p.stride_a = draw(3) ? a + (int64_t)draw(3) * 8 : 0;
    p.stride_b = draw(3) ? b + (int64_t)draw(3) : 0;
    p.stride_c = (p.ldc ? p.ldc : p.n) * p.m + (int64_t)draw(3) * 4;
    if (draw(3) == 0)  // side by side
        p.stride_c = p.n, p.ldc = (int64_t)p.batch * p.n;
    return p;
}

static void make_data(struct data *d)
{
    gemm_steps_problem *p = &d->p;
    cr_assert(problem_settle(p, true, &d->settled, h->error), "%s", h->error);
    const struct operand a = d->settled.x[0], b = d->settled.x[1], c = d->settled.x[2];
    p->batch = d->settled.batch, p->type_c = d->settled.type_c;
    p->lda = a.ld, p->ldb = b.ld, p->ldc = c.ld, p->stride_a = a.next, p->stride_b = b.next, p->stride_c = c.next;
    const size_t skip = draw(4) ? 0 : draw(8);
    d->A = make(p->type, problem_bytes(&a) / a.element, skip, false);
    d->B = make(p->type, problem_bytes(&b) / b.element, draw(4) ? 0 : draw(8), false);
    d->C = make(p->type_c, problem_bytes(&c) / c.element, draw(4) ? 0 : draw(8), p->beta == 0);
    d->bias = p->bias_kind ? make(p->type_c, (uint64_t)(p->bias_kind == GEMM_STEPS_BIAS_ROW ? p->n : p->m), 0, false)
                           : (struct array){ 0 };
    p->A = place(&d->A), p->B = place(&d->B), p->C = place(&d->C);
    p->bias = p->bias_kind ? place(&d->bias) : 0;
    cr_assert(problem_settle(p, true, &d->settled, h->error), "%s", h->error);
}

static void drop_data(struct data *d)
{
    struct array *all[] = { &d->A, &d->B, &d->C, &d->bias };
    for (int i = 0; i < 4; i++)
        drop(all[i]);
}

// --- The reference ---

static double activate(double x, gemm_steps_activation a)
{
    if (a == GEMM_STEPS_RELU)
        return x < 0 ? 0 : x;
    return a == GEMM_STEPS_GELU ? x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) : x;
}

// C[row][col] of matrix z; *size: of the numbers that were added.
static double expected(const struct data *d, int z, int row, int col, double *size)
{
    const gemm_steps_problem *p = &d->p;
    double sum = 0, all = 0;
    for (int k = 0; k < p->k && p->alpha != 0; k++) {
        const int64_t a = z * p->stride_a + (p->transpose_a ? k * p->lda + row : row * p->lda + k);
        const int64_t b = z * p->stride_b + (p->transpose_b ? col * p->ldb + k : k * p->ldb + col);
        const double product = value(&d->A, a) * value(&d->B, b);
        sum += product, all += fabs(product);
    }
    double x = (double)p->alpha * sum;
    *size = fabs((double)p->alpha) * all;
    if (p->beta != 0) {
        const double old = (double)p->beta * value(&d->C, z * p->stride_c + row * p->ldc + col);
        x += old, *size += fabs(old);
    }
    if (p->bias_kind) {
        const double bias = value(&d->bias, p->bias_kind == GEMM_STEPS_BIAS_ROW ? col : row);
        x += bias, *size += fabs(bias);
    }
    return activate(x, p->activation);
}

static const char *describe(const gemm_steps_problem *p)
{
    static char text[400];
    snprintf(text, sizeof text,
             "%d x %d x %d, type %d to %d, transposed %d %d, alpha %g beta %g, ld %d %d %d, batch %d stride %d %d %d, "
             "bias %d, "
             "activation %d",
             p->m, p->n, p->k, (int)p->type, (int)p->type_c, p->transpose_a, p->transpose_b, (double)p->alpha,
             (double)p->beta, (int)p->lda, (int)p->ldb, (int)p->ldc, p->batch, (int)p->stride_a, (int)p->stride_b,
             (int)p->stride_c, (int)p->bias_kind, (int)p->activation);
    return text;
}

static void expect_right(struct data *d, const char *by)
{
    const gemm_steps_problem *p = &d->p;
    const size_t bytes = d->C.elements * problem_type_bytes(p->type_c);
    const double unit = p->type_c == GEMM_STEPS_F32 ? 0x1p-23 : p->type_c == GEMM_STEPS_F16 ? 0x1p-11 : 0x1p-8;
    expect_ok(gemm_steps_download(h, d->C.host, d->C.memory, bytes));
    for (int z = 0; z < p->batch; z++)
        for (int row = 0; row < p->m; row++)
            for (int col = 0; col < p->n; col++) {
                const size_t at = d->C.skip + (size_t)(z * p->stride_c + row * p->ldc + col);
                double size;
                const double want = expected(d, z, row, col, &size), got = decode(p->type_c, d->C.host, at);
                const double bound = unit * fabs(want) + 8 * 0x1p-24 * size + 0x1p-24;
                cr_assert(fabs(got - want) <= bound, "%s by %s: matrix %d row %d column %d is %g, not %g within %g",
                          describe(p), by, z, row, col, got, want, bound);
                memcpy(d->C.host + at * problem_type_bytes(p->type_c), d->C.before + at * problem_type_bytes(p->type_c),
                       problem_type_bytes(p->type_c));
            }
    for (size_t i = 0; i < bytes; i++)
        cr_assert_eq(d->C.host[i], d->C.before[i], "%s by %s: byte %zu, outside of C, was written", describe(p), by, i);
}

// --- Column-major ---

// As gemm.h says it: C, and A and B in their ways, lie column by column, and C^T = B^T * A^T + column of the bias.
Test(library_gemm, of_column_major_matrices_is_that_of_exchanged_ones)
{
    enum { M = 3, N = 2, K = 2 };
    const float a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 10, 100, 1000 }, bias[] = { 0.5f, 0.25f, 0.125f };  // a: M x K
    const float want[] = { 41.5f, 52.25f, 63.125f, 4100.5f, 5200.25f, 6300.125f };
    float c[M * N] = { 0 };
    gemm_steps_ptr at[4];
    const void *from[] = { a, b, c, bias };
    const size_t bytes[] = { sizeof a, sizeof b, sizeof c, sizeof bias };
    for (int i = 0; i < 4; i++) {
        expect_ok(gemm_steps_alloc(h, bytes[i], &at[i]));
        expect_ok(gemm_steps_upload(h, at[i], from[i], bytes[i]));
    }
    const gemm_steps_problem p = { .m = N,
                                   .n = M,
                                   .k = K,
                                   .type = GEMM_STEPS_F32,
                                   .alpha = 1,
                                   .A = at[1],
                                   .lda = K,
                                   .B = at[0],
                                   .ldb = M,
                                   .C = at[2],
                                   .ldc = M,
                                   .bias_kind = GEMM_STEPS_BIAS_ROW,
                                   .bias = at[3] };
    expect_ok(gemm_steps_gemm(h, &p));
    expect_ok(gemm_steps_download(h, c, at[2], sizeof c));
    for (int i = 0; i < M * N; i++)
        cr_expect_eq(c[i], want[i], "element %d is %g, not %g", i, (double)c[i], (double)want[i]);
}

// --- By every way ---

static int tried, kinds;  // ways; their kernels, a bit each

static void expect_no_findings(const struct data *d, const char *by)
{
    const struct simt_findings *found = dev_findings(h->dev);
    cr_assert(found && !found->n, "%s by %s: %zu findings, the first of kind %d", describe(&d->p), by,
              found ? found->n : 0, found && found->n ? (int)found->all[0].kind : -1);
}

static void try_way(struct data *d, const struct way *w)
{
    static struct plan plan;
    cr_assert(w->cycles > 0 && isfinite(w->cycles), "%s: %g cycles", describe(&d->p), w->cycles);
    expect_ok(gemm_steps_upload(h, d->C.memory, d->C.before, d->C.elements * problem_type_bytes(d->C.type)));
    cr_assert(plan_room(h, &d->settled, w), "%s", dev_error(h->dev));
    cr_assert(plan_open(h, &plan, &d->settled, w), "%s: %s", describe(&d->p), gemm_steps_error(h));
    cr_assert(plan_queue(h, &plan, d->p.alpha, d->p.beta), "%s by %s: %s", describe(&d->p), plan.name,
              dev_error(h->dev));
    expect_no_findings(d, plan.name);
    expect_right(d, plan.name);
    tried++;
    kinds |= 1 << w->kernel->kind;
}

static void try_random(gemm_steps_type type, int sm, int some)
{
    const int n = sample_asked() == SAMPLE_ALL ? 8 * some : sample_asked() == SAMPLE_SOME ? 2 * some : some;
    static struct way ways[WAYS_MOST];
    tried = kinds = 0;
    h->card.sm = sm;
    h->card.sms = 6;
    dev_set_checks(h->dev, true);
    for (int i = 0; i < n; i++) {
        struct data d;
        seed = 1000 * (uint64_t)type + (uint64_t)i, drawn = 0;
        d.p = draw_problem(type);
        make_data(&d);
        const int all = pick_ways(h->card, &d.settled, SIZE_MAX, ways);
        cr_assert(all > 0 && all < WAYS_MOST, "%d ways", all);
        for (int j = 0; j < all; j++)
            if (ways[j].parts == 1 || !draw(4))  // of those that are alike but for their parts, one in some
                try_way(&d, &ways[j]);
        drop_data(&d);
    }
    cr_expect(kinds & 1 << KERNEL_ANY && kinds & 1 << KERNEL_ROWS, "kinds %d", kinds);
    cr_expect(tried >= n, "%d ways", tried);
}

Test(library_gemm, of_halves_is_right_in_every_way)
{
    try_random(GEMM_STEPS_F16, 90, 8);
}

Test(library_gemm, of_bf16_is_right_in_every_way)
{
    try_random(GEMM_STEPS_BF16, 90, 12);
}

Test(library_gemm, of_floats_is_right_in_every_way)
{
    try_random(GEMM_STEPS_F32, 90, 8);
}

Test(library_gemm, of_halves_is_right_on_older_cards)
{
    try_random(GEMM_STEPS_F16, 75, 4);
    try_random(GEMM_STEPS_F32, 75, 4);
}

// A step of the course, as it stands: C is alpha * A * B + beta * C, without gaps, at multiples of 16 bytes.
static void try_steps(gemm_steps_type type)
{
    static struct way ways[WAYS_MOST];
    kinds = 0;
    dev_set_checks(h->dev, true);
    for (seed = 0; !(kinds & 1 << KERNEL_STEP) && seed < 100; seed++) {  // some do not begin there
        struct data d = { .p = { .m = 136, .n = 264, .k = 72, .type = type, .alpha = -0.5f, .beta = 2.25f } };
        drawn = 0;
        make_data(&d);
        const int all = pick_ways(h->card, &d.settled, SIZE_MAX, ways);
        for (int i = 0; i < all; i++)
            if (ways[i].kernel->kind == KERNEL_STEP)
                try_way(&d, &ways[i]);
        drop_data(&d);
    }
    cr_expect(kinds & 1 << KERNEL_STEP, "kinds %d", kinds);
}

Test(library_gemm, by_a_step_is_right)
{
    try_steps(GEMM_STEPS_F16);
    try_steps(GEMM_STEPS_F32);
}

Test(library_gemm, what_alpha_0_does_not_read_may_begin_anywhere)
{
    static const gemm_steps_type types[] = { GEMM_STEPS_F32, GEMM_STEPS_F16, GEMM_STEPS_BF16 };
    gemm_steps_ptr A, C;
    expect_ok(gemm_steps_alloc(h, 64 * 64 * sizeof(float), &A));
    expect_ok(gemm_steps_alloc(h, 20 * 30 * sizeof(float), &C));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const gemm_steps_problem p = { .m = 20, .n = 30, .k = 40, .type = types[i], .A = A + 1, .B = A, .C = C };
        float x[20 * 30] = { 1 };
        expect_ok(gemm_steps_upload(h, C, x, sizeof x));
        expect_ok(gemm_steps_gemm(h, &p));
        expect_ok(gemm_steps_wait(h));
        expect_ok(gemm_steps_download(h, x, C, sizeof x));
        cr_expect_eq(x[0], 0);
    }
    expect_ok(gemm_steps_free(h, A));
    expect_ok(gemm_steps_free(h, C));
}
