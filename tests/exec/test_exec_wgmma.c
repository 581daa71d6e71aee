// wgmma.mma_async on every Hopper device present: shapes, types, majors, swizzles, A in registers, scale-d, negation.
// Expected results come from the model that exec_mma.c describes, worked out here in whole numbers, term by term; a
// real H200 is the judge of it.
#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_case.h"
#include "sample.h"

enum {
    BLOCKS = 8,
    THREADS = 128,
    M = 64,
    MAX_N = 256,
    MAX_K = 32,
    IMAGE = 40960,
    A_AT = 0,
    B_AT = 8192,
    TEXT = 1 << 16
};

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
enum acc { ACC_F32, ACC_F16, ACC_S32 };

static const struct {
    const char *name;
    int bytes, fraction, exponent;
} types[] = { { "f16", 2, 10, 5 }, { "bf16", 2, 7, 8 }, { "tf32", 4, 10, 8 }, { "e4m3", 1, 3, 4 },
              { "e5m2", 1, 2, 5 }, { "s8", 1, 0, 0 },   { "u8", 1, 0, 0 } };
static const char *const acc_names[] = { "f32", "f16", "s32" };

struct job {
    enum type a, b;
    enum acc d;
    int n, k;
    int swizzle;  // 0, 32, 64, 128: bytes
    bool trans_a, trans_b, registers, negate, saturate;
    int scale_d;  // 0, 1; 2: by a predicate that is 1, 3: that is 0
    bool special;
};

static uint64_t state;

static uint32_t random32(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

// --- numbers: significand * 2^exponent, exact ---

struct number {
    bool special;  // Inf or NaN: value
    double value;
    int64_t significand;
    int exponent;  // of the leading place, as if normal numbers had one digit before the point
};

static struct number decode(enum type t, uint32_t bits)
{
    const int f = types[t].fraction, width = types[t].exponent, bias = (1 << (width - 1)) - 1;
    const int e = (int)(bits >> f) & ((1 << width) - 1), low = (int)bits & ((1 << f) - 1);
    const bool negative = bits >> (f + width) & 1, top = e == (1 << width) - 1;
    struct number x = { .significand = e ? low + (1 << f) : low, .exponent = (e ? e : 1) - bias };
    if (t == E4M3 ? top && low == 7 : top) {
        x.special = true;
        x.value = t == E4M3 || low ? NAN : negative ? -INFINITY : INFINITY;
    }
    x.significand = negative ? -x.significand : x.significand;
    return x;
}

static uint32_t random_bits(enum type t, bool special)
{
    const uint32_t r = random32(), how = random32() % 16;
    if (t >= S8)
        return r & 0xff;
    const int f = types[t].fraction, width = types[t].exponent, bias = (1 << (width - 1)) - 1;
    const uint32_t all = r & ((2u << (f + width)) - 1), low = r & ((1u << f) - 1), sign = r >> 31 << (f + width);
    const struct number x = decode(t, all);
    if (special && how < 1)
        return all;
    if (how < 3)
        return x.special ? 0 : how == 1 ? all : sign | low;  // any number; a subnormal one
    const int spread = width > 5 ? 12 : bias - 1;
    const int e = bias - 2 + (int)(random32() % (uint32_t)spread) - spread / 2;
    return how < 4 ? sign : sign | (uint32_t)(e < 1 ? 1 : e) << f | low;
}

static double as_double(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

// v * 2^shift cut toward zero
static int64_t shifted(int64_t v, int shift)
{
    if (shift >= 0)
        return (int64_t)((uint64_t)v << shift);
    return shift < -62 ? 0 : v < 0 ? -(-v >> -shift) : v >> -shift;
}

// c + the products, with that many bits behind the point of the largest term; cut toward zero.
static long double sum(const struct job *j, const struct number *a, const struct number *b, double c, bool *is_special,
                       double *special)
{
    const int fraction = j->a >= E4M3 ? 13 : 25;
    const int product = types[j->a].fraction + types[j->b].fraction;
    int most = -100000, ec = 0;
    int64_t total = 0, sc = 0;
    *special = 0;
    *is_special = !isfinite(c);
    *special += isfinite(c) ? 0 : c;
    if (isfinite(c) && c != 0) {
        frexp(c, &ec);
        ec = ec - 1 < -126 ? -126 : ec - 1;
        sc = (int64_t)ldexp(c, 23 - ec);
        most = ec;
    }
    for (int k = 0; k < j->k; k++) {
        if (a[k].special || b[k].special) {
            const double x = a[k].special ? a[k].value : (double)a[k].significand;
            const double y = b[k].special ? b[k].value : (double)b[k].significand;
            *is_special = true;
            *special += x * y;
        } else if (a[k].significand && b[k].significand && a[k].exponent + b[k].exponent > most) {
            most = a[k].exponent + b[k].exponent;
        }
    }
    for (int k = 0; k < j->k; k++)
        if (!a[k].special && !b[k].special && a[k].significand && b[k].significand)
            total +=
                shifted(a[k].significand * b[k].significand, a[k].exponent + b[k].exponent - most + fraction - product);
    total += sc ? shifted(sc, ec - most + fraction - 23) : 0;
    return total ? ldexpl((long double)total, most - fraction) : 0;
}

static uint32_t float_cut(long double x, int digits)  // toward zero
{
    int e;
    uint32_t bits;
    if (x == 0)
        return 0;
    frexpl(x, &e);
    const int unit = e - digits - 1 < -126 - digits ? -126 - digits : e - digits - 1;
    float f = (float)ldexpl(truncl(ldexpl(x, -unit)), unit);
    if (fabsl(x) >= ldexpl(1, 128))
        f = x < 0 ? -INFINITY : INFINITY;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

// --- layouts of matrices in shared memory ---

// The byte of element (i, k) of a matrix whose rows are i, with its descriptor's offsets. Chunks of 16 bytes; eight of
// them along the other dimension make a core matrix.
static uint32_t place(int swizzle, bool trans, int bytes, int i, int k, uint32_t lead, uint32_t stride)
{
    uint32_t at;
    if (!trans) {
        const int chunk = k * bytes / 16, in = k * bytes % 16;
        at = swizzle ? (uint32_t)(i % 8 * swizzle + chunk * 16 + in) + (uint32_t)(i / 8) * stride
                     : (uint32_t)(i % 8 * 16 + in) + (uint32_t)chunk * lead + (uint32_t)(i / 8) * stride;
    } else {
        const int chunk = i / 8, in = i % 8 * bytes, across = swizzle ? swizzle / 16 : 1;
        at = swizzle ? (uint32_t)(chunk % across * 16 + in + k % 8 * swizzle) + (uint32_t)(chunk / across) * lead +
                           (uint32_t)(k / 8) * stride
                     : (uint32_t)(in + k % 8 * 16) + (uint32_t)chunk * stride + (uint32_t)(k / 8) * lead;
    }
    const uint32_t mask = swizzle == 128 ? 7 : swizzle == 64 ? 3 : swizzle == 32 ? 1 : 0;
    return at ^ (at >> 7 & mask) << 4;
}

static void offsets(const struct job *j, bool trans, int rows, uint32_t *lead, uint32_t *stride)
{
    if (!trans) {
        *lead = j->swizzle ? 16 : 128 * (uint32_t)(rows / 8);
        *stride = j->swizzle ? 8 * (uint32_t)j->swizzle : 128;
    } else {
        *lead = j->swizzle ? 2 * 8 * (uint32_t)j->swizzle : 128 * (uint32_t)(rows / 8);
        *stride = j->swizzle ? 8 * (uint32_t)j->swizzle : 128;
    }
}

static uint64_t descriptor(const struct job *j, bool trans, int rows, uint32_t at)
{
    uint32_t lead, stride;
    offsets(j, trans, rows, &lead, &stride);
    const uint64_t swizzle = j->swizzle == 128 ? 1 : j->swizzle == 64 ? 2 : j->swizzle == 32 ? 3 : 0;
    return (uint64_t)at >> 4 | (uint64_t)lead >> 4 << 16 | (uint64_t)stride >> 4 << 32 | swizzle << 62;
}

struct data {
    uint32_t a[M][MAX_K], b[MAX_N][MAX_K], c[M][MAX_N];  // bits; an f16 accumulator in the low half
};

static void put(unsigned char *image, enum type t, uint32_t at, uint32_t bits)
{
    const uint32_t stored = t == TF32 ? bits << 13 | (random32() & 0x1fff) : bits;
    memcpy(image + at, &stored, (size_t)types[t].bytes);
}

static void lay_out(const struct job *j, const struct data *x, unsigned char *image)
{
    uint32_t lead, stride;
    offsets(j, j->trans_a, M, &lead, &stride);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < j->k; k++)
            put(image, j->a, A_AT + place(j->swizzle, j->trans_a, types[j->a].bytes, i, k, lead, stride), x->a[i][k]);
    offsets(j, j->trans_b, j->n, &lead, &stride);
    for (int i = 0; i < j->n; i++)
        for (int k = 0; k < j->k; k++)
            put(image, j->b, B_AT + place(j->swizzle, j->trans_b, types[j->b].bytes, i, k, lead, stride), x->b[i][k]);
}

// --- the kernel ---

struct text {
    char *p;
    size_t n;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->p + t->n, TEXT - t->n, format, args);
    va_end(args);
    cr_assert(t->n < TEXT);
}

// in: for each block the image, then by thread the accumulators, then A's registers; out: by thread the accumulators.
static void write_kernel(const struct job *j, struct text *t, int regs)
{
    const uint64_t da = descriptor(j, j->trans_a, M, A_AT), db = descriptor(j, j->trans_b, j->n, B_AT);
    const int words = IMAGE / 4 + THREADS * (regs + 4);
    add(t,
        ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
        ".shared .align 1024 .b8 image[%d];\n.reg .b32 d<%d>; .reg .b32 a<4>; .reg .b32 r<9>; .reg .b64 l<9>; .reg "
        ".pred p<3>;\n"
        "ld.param.u64 l0, [in]; ld.param.u64 l1, [out]; mov.u32 r0, %%tid.x; mov.u32 r1, %%ctaid.x;\n"
        "mul.wide.u32 l2, r1, %d; add.u64 l0, l0, l2;\n"
        "mov.u32 r2, image; shl.b32 r3, r0, 2; add.u32 r4, r2, r3; cvt.u64.u32 l3, r3; add.u64 l4, l0, l3; mov.u32 r5, "
        "0;\n"
        "COPY: ld.global.u32 r6, [l4]; st.shared.u32 [r4], r6; add.u64 l4, l4, %d; add.u32 r4, r4, %d; add.u32 r5, r5, "
        "%d;\nsetp.lt.u32 p0, r5, %d; @p0 bra COPY;\n"
        "fence.proxy.async; bar.sync 0;\n"
        "mul.wide.u32 l5, r0, %d; add.u64 l5, l5, l0; add.u64 l5, l5, %d;\n",
        IMAGE, regs, 4 * words, 4 * THREADS, 4 * THREADS, THREADS, IMAGE / 4, 4 * (regs + 4), IMAGE);
    for (int i = 0; i < regs; i++)
        add(t, "ld.global.u32 d%d, [l5+%d];\n", i, 4 * i);
    for (int i = 0; i < 4; i++)
        add(t, "ld.global.u32 a%d, [l5+%d];\n", i, 4 * (regs + i));
    add(t,
        "shr.u32 r7, r2, 4; cvt.u64.u32 l6, r7; mov.u64 l7, %llu; add.u64 l7, l7, l6; mov.u64 l8, %llu; add.u64 l8, "
        "l8, "
        "l6;\nsetp.eq.u32 p1, r1, r1; setp.ne.u32 p2, r1, r1;\nwgmma.fence.sync.aligned;\n",
        (unsigned long long)da, (unsigned long long)db);
    add(t, "wgmma.mma_async.sync.aligned.m64n%dk%d%s.%s.%s.%s {", j->n, j->k, j->saturate ? ".satfinite" : "",
        acc_names[j->d], types[j->a].name, types[j->b].name);
    for (int i = 0; i < regs; i++)
        add(t, "%sd%d", i ? ", " : "", i);
    static const char *const scales[] = { "0", "1", "p1", "p2" };
    add(t, "}, %s, l8, %s", j->registers ? "{a0, a1, a2, a3}" : "l7", scales[j->scale_d]);
    if (j->a < S8)
        add(t, ", %d, 1", j->negate ? -1 : 1);
    if (j->a <= BF16 && !j->registers)
        add(t, ", %d", j->trans_a);
    if (j->a <= BF16)
        add(t, ", %d", j->trans_b);
    add(t,
        ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        "mad.lo.u32 r8, r1, %d, r0; mul.wide.u32 l2, r8, %d; add.u64 l1, l1, l2;\n",
        THREADS, 4 * regs);
    for (int i = 0; i < regs; i++)
        add(t, "st.global.u32 [l1+%d], d%d;\n", 4 * i, i);
    add(t, "ret;\n}\n");
}

// --- fragments ---

// Where element (row, col) of D is: the thread, its register and, of two halves, which.
static void find(const struct job *j, int row, int col, int *thread, int *reg, int *half)
{
    const int lane = row % 8 * 4 + col % 8 / 2, down = row % 16 / 8;
    *thread = row / 16 * 32 + lane;
    *reg = j->d == ACC_F16 ? col / 8 * 2 + down : col / 8 * 4 + 2 * down + col % 2;
    *half = j->d == ACC_F16 ? col % 2 : 0;
}

static void put_a(const struct job *j, const struct data *x, int thread, uint32_t regs[4])
{
    const int pack = 4 / types[j->a].bytes, lane = thread % 32;
    memset(regs, 0, 4 * sizeof *regs);
    for (int r = 0; r < 4; r++) {
        for (int i = 0; i < pack; i++) {
            const int row = thread / 32 * 16 + lane / 4 + r % 2 * 8, k = r / 2 * 4 * pack + lane % 4 * pack + i;
            const uint32_t bits = j->a == TF32 ? x->a[row][k] << 13 : x->a[row][k];
            regs[r] |= bits << 8 * types[j->a].bytes * i % 32;
        }
    }
}

static double acc_value(const struct job *j, uint32_t bits)
{
    if (j->d == ACC_F32)
        return as_double(bits);
    return ptx_value(bits & 0xffff, PTX_F16S);
}

static uint32_t expected(const struct job *j, const struct data *x, int row, int col)
{
    const bool adds = j->scale_d == 1 || j->scale_d == 2;
    if (j->d == ACC_S32) {
        int64_t all = adds ? (int32_t)x->c[row][col] : 0;
        for (int k = 0; k < j->k; k++)
            all += (j->a == S8 ? (int8_t)x->a[row][k] : (int)x->a[row][k]) *
                   (j->b == S8 ? (int8_t)x->b[col][k] : (int)x->b[col][k]);
        if (j->saturate)
            all = all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN : all;
        return (uint32_t)all;
    }
    struct number a[MAX_K], b[MAX_K];
    for (int k = 0; k < j->k; k++) {
        a[k] = decode(j->a, x->a[row][k]);
        b[k] = decode(j->b, x->b[col][k]);
        a[k].significand *= j->negate ? -1 : 1;
        a[k].value *= j->negate ? -1 : 1;
    }
    bool is_special;
    double special;
    const long double r = sum(j, a, b, adds ? acc_value(j, x->c[row][col]) : 0, &is_special, &special);
    if (is_special) {
        if (j->d == ACC_F16)
            return isnan(special) ? 0x7fff : special < 0 ? 0xfc00 : 0x7c00;
        return isnan(special) ? 0x7fffffff : special < 0 ? 0xff800000 : 0x7f800000;
    }
    if (j->d == ACC_F16)
        return (uint32_t)ptx_of_half((double)r, PTX_F16S, 'n');
    return float_cut(r, j->a >= E4M3 ? 13 : 23);
}

static void fill(const struct job *j, struct data *x)
{
    for (int i = 0; i < M; i++) {
        for (int k = 0; k < j->k; k++)
            x->a[i][k] = random_bits(j->a, j->special && i % 4 == 3);
        for (int n = 0; n < j->n; n++) {
            const float f = ldexpf((float)(int32_t)random32(), (int)(random32() % 24) - 40);
            memcpy(&x->c[i][n], &f, sizeof f);
            if (j->d == ACC_F16)
                x->c[i][n] = random_bits(F16, false);
            else if (j->d == ACC_S32)
                x->c[i][n] = random32();
            else if (j->special && random32() % 64 == 0)
                x->c[i][n] = random32() % 2 ? 0x7f800000 : random32() % 0x800000;
            else if (random32() % 16 == 0)
                x->c[i][n] = 0;
        }
    }
    for (int n = 0; n < j->n; n++)
        for (int k = 0; k < j->k; k++)
            x->b[n][k] = random_bits(j->b, j->special && n % 8 == 5);
}

// In brief one case in five of each test.
static void check(struct job j)
{
    static size_t place;
    if (!sample_some(place++, 3))
        return;
    struct dev *devices[PTX_DEVICES];
    const size_t n_devices = ptx_devices_from(devices, 90, true);
    const int regs = j.n / (j.d == ACC_F16 ? 4 : 2), words = IMAGE / 4 + THREADS * (regs + 4);
    uint32_t *in = calloc((size_t)BLOCKS * words, 4), *out = malloc((size_t)BLOCKS * THREADS * regs * 4);
    struct data *x = calloc(BLOCKS, sizeof *x);
    struct text t = { malloc(TEXT), 0 };
    state = 1234567u + (unsigned)(j.n + 1000 * j.k + 77 * (int)j.a);
    j.k = 32 / types[j.a].bytes;
    write_kernel(&j, &t, regs);
    for (int b = 0; b < BLOCKS; b++) {
        uint32_t *own = in + (size_t)b * words;
        fill(&j, &x[b]);
        lay_out(&j, &x[b], (unsigned char *)own);
        for (int row = 0; row < M; row++) {
            for (int col = 0; col < j.n; col++) {
                int thread, reg, half;
                find(&j, row, col, &thread, &reg, &half);
                own[IMAGE / 4 + thread * (regs + 4) + reg] |=
                    (j.d == ACC_F16 ? x[b].c[row][col] & 0xffff : x[b].c[row][col]) << 16 * half;
            }
        }
        for (int thread = 0; thread < THREADS; thread++)
            put_a(&j, &x[b], thread, own + IMAGE / 4 + thread * (regs + 4) + regs);
    }
    for (size_t i = 0; i < n_devices; i++) {
        struct dev *d = devices[i];
        const struct ptx_shape shape = { BLOCKS, THREADS, 0 };
        int wrong = 0;
        cr_assert(ptx_run(d, t.p, shape, out, (size_t)BLOCKS * THREADS * regs, in, (size_t)BLOCKS * words), "%s: %s",
                  dev_about(d)->name, dev_error(d));
        for (int b = 0; b < BLOCKS; b++) {
            for (int e = 0; e < M * j.n; e++) {
                int thread, reg, half;
                find(&j, e / j.n, e % j.n, &thread, &reg, &half);
                const uint32_t all = out[((size_t)b * THREADS + thread) * regs + reg];
                const uint32_t got = j.d == ACC_F16 ? all >> 16 * half & 0xffff : all;
                const uint32_t want = expected(&j, &x[b], e / j.n, e % j.n);
                if (got != want && wrong++ < 3)
                    cr_expect_fail(
                        "%s: m64n%dk%d %s %s %s swizzle %d trans %d %d regs %d scale %d: block %d (%d, %d) is "
                        "%08x, not %08x",
                        dev_about(d)->name, j.n, j.k, acc_names[j.d], types[j.a].name, types[j.b].name, j.swizzle,
                        j.trans_a, j.trans_b, j.registers, j.scale_d, b, e / j.n, e % j.n, got, want);
            }
        }
        cr_expect_eq(wrong, 0, "%s: %d of %d wrong", dev_about(d)->name, wrong, BLOCKS * M * j.n);
        dev_close(d);
    }
    free(in);
    free(out);
    free(x);
    free(t.p);
}

Test(exec_wgmma, every_n)
{
    for (int n = 8; n <= 256; n += 8)
        check((struct job){ .a = F16, .b = F16, .n = n, .swizzle = 32, .scale_d = 1 });
}

Test(exec_wgmma, every_type)
{
    for (int special = 0; special < 2; special++) {
        for (int n = 32; n <= 96; n += 64) {
            check((struct job){ .a = F16, .b = F16, .n = n, .scale_d = 1, .special = special });
            check((struct job){ .a = F16, .b = F16, .d = ACC_F16, .n = n, .scale_d = 1, .special = special });
            check((struct job){ .a = BF16, .b = BF16, .n = n, .scale_d = 1, .special = special });
            check((struct job){ .a = TF32, .b = TF32, .n = n, .scale_d = 1, .special = special });
            for (int t = 0; t < 4; t++) {
                const enum type a = t % 2 ? E4M3 : E5M2, b = t / 2 ? E4M3 : E5M2;
                check((struct job){ .a = a, .b = b, .n = n, .scale_d = 1, .special = special });
                check((struct job){ .a = a, .b = b, .d = ACC_F16, .n = n, .scale_d = 1, .special = special });
            }
        }
    }
    for (int t = 0; t < 4; t++)
        check((struct job){
            .a = t % 2 ? S8 : U8, .b = t / 2 ? S8 : U8, .d = ACC_S32, .n = 64, .scale_d = 1, .saturate = true });
    check((struct job){ .a = S8, .b = U8, .d = ACC_S32, .n = 24, .scale_d = 1 });
}

Test(exec_wgmma, every_layout)
{
    static const int swizzles[] = { 0, 32, 64, 128 };
    for (size_t s = 0; s < PTX_COUNTOF(swizzles); s++) {
        for (int trans = 0; trans < 4; trans++)
            for (int t = F16; t <= BF16; t++)
                check((struct job){ .a = (enum type)t,
                                    .b = (enum type)t,
                                    .n = 128,
                                    .swizzle = swizzles[s],
                                    .trans_a = trans & 1,
                                    .trans_b = trans >> 1,
                                    .scale_d = 1 });
        check((struct job){ .a = TF32, .b = TF32, .n = 40, .swizzle = swizzles[s], .scale_d = 1 });
        check((struct job){ .a = E4M3, .b = E4M3, .n = 200, .swizzle = swizzles[s], .scale_d = 1 });
        check((struct job){ .a = U8, .b = S8, .d = ACC_S32, .n = 80, .swizzle = swizzles[s], .scale_d = 1 });
    }
}

Test(exec_wgmma, a_in_registers)
{
    for (int t = F16; t <= U8; t++)
        check((struct job){ .a = (enum type)t,
                            .b = (enum type)t,
                            .d = t >= S8 ? ACC_S32 : ACC_F32,
                            .n = 48,
                            .swizzle = 64,
                            .registers = true,
                            .scale_d = 1 });
    check(
        (struct job){ .a = F16, .b = F16, .n = 64, .swizzle = 128, .registers = true, .trans_b = true, .scale_d = 1 });
}

Test(exec_wgmma, scales)
{
    for (int scale = 0; scale < 4; scale++) {
        check((struct job){ .a = F16, .b = F16, .n = 32, .scale_d = scale, .negate = true });
        check((struct job){ .a = E5M2, .b = E4M3, .n = 32, .scale_d = scale, .negate = true, .special = true });
        check((struct job){ .a = S8, .b = S8, .d = ACC_S32, .n = 32, .scale_d = scale });
    }
}
