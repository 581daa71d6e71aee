// See tensor_case.h.
#include "tensor_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, GROUP = 128, A_WORDS = 512 };  // A of a wgmma: 64 rows of 32 bytes

static size_t b_words(const struct tensor_case *c)
{
    return (size_t)c->n * 8;
}

unsigned tensor_threads(const struct tensor_case *c)
{
    return c->wgmma ? GROUP : LANES;
}

size_t tensor_words_in(const struct tensor_case *c)
{
    const size_t accumulators = (size_t)tensor_threads(c) * c->regs * c->words;
    return accumulators + (c->wgmma ? A_WORDS + b_words(c) : (size_t)LANES * (c->regs_a + c->regs_b) * c->words);
}

size_t tensor_words_out(const struct tensor_case *c)
{
    return (size_t)tensor_threads(c) * c->regs * c->words;
}

size_t tensor_elements(const struct tensor_case *c)
{
    return (size_t)tensor_threads(c) * c->regs * (c->c == TENSOR_F16 ? 2 : 1);
}

// --- operands ---

struct generator {
    uint64_t state;
    bool special;  // some numbers are Inf or NaN, or have any exponent
};

static uint32_t next(struct generator *g)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->state >> 32);
}

static const struct {
    unsigned bytes, fraction, exponent, below;  // below: bits that the type does not have, and memory has
} formats[] = {
    [TENSOR_F16] = { 2, 10, 5, 0 }, [TENSOR_BF16] = { 2, 7, 8, 0 }, [TENSOR_TF32] = { 4, 10, 8, 13 },
    [TENSOR_E4M3] = { 1, 3, 4, 0 }, [TENSOR_E5M2] = { 1, 2, 5, 0 }, [TENSOR_F32] = { 4, 23, 8, 0 },
};

// Mostly of about the same size; some zeros, some subnormal numbers, and, in some units, anything.
static uint32_t number(struct generator *g, enum tensor_type t)
{
    const unsigned f = formats[t].fraction, width = formats[t].exponent, bias = (1u << (width - 1)) - 1;
    const uint32_t r = next(g), how = next(g) % 64, low = r & ((1u << f) - 1);
    const uint32_t sign = (r >> 31) << (f + width), any = r & (uint32_t)((2ull << (f + width)) - 1);
    const unsigned spread = width > 5 ? 24 : bias + bias / 2;
    const unsigned exponent = bias - spread / 2 + next(g) % spread;
    uint32_t bits = sign | (exponent ? exponent : 1) << f | low;
    if (how < 4)
        bits = how ? sign : sign | low;
    else if (g->special && how == 4)
        bits = any;
    return bits << formats[t].below | (formats[t].below ? next(g) & 0x1fff : 0);
}

static void fill_words(struct generator *g, enum tensor_type t, uint32_t *to, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        to[i] = next(g);
        if (t == TENSOR_F64 && i % 2)  // the high word: exponents near 0, at times a zero
            to[i] = to[i] % 16 ? (to[i] & 0x800fffff) | (1013 + to[i] / 1048576 % 20) << 20 : 0;
        if (t >= TENSOR_F64)
            continue;
        const unsigned bytes = formats[t].bytes;
        to[i] = 0;
        for (unsigned k = 0; k < 4 / bytes; k++)
            to[i] |= number(g, t) << 8 * bytes * k;
    }
}

void tensor_fill(const struct tensor_case *c, uint32_t *in, size_t units)
{
    struct generator g = { .state = 1 };
    for (const char *p = c->name; *p; p++)
        g.state = g.state * 31 + (unsigned char)*p;
    const size_t a = c->wgmma ? A_WORDS : (size_t)LANES * c->regs_a * c->words;
    const size_t b = c->wgmma ? b_words(c) : (size_t)LANES * c->regs_b * c->words;
    const size_t sums = tensor_words_out(c);
    for (size_t unit = 0; unit < units; unit++) {
        g.special = unit % 4 == 3;
        fill_words(&g, c->a, in, a);
        fill_words(&g, c->b, in + a, b);
        fill_words(&g, c->c, in + a + b, sums);
        in += a + b + sums;
    }
}

// --- kernels ---

static void say_list(struct text *t, const char *name, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        say(t, "%s%s%u", i ? "," : "{", name, i);
    say(t, "}");
}

// Loads or stores registers of a thread that lie together: n of them from byte `at` behind address l3.
static void say_moves(struct text *t, const char *how, bool store, const char *name, unsigned n, unsigned bytes,
                      size_t at)
{
    for (unsigned i = 0; i < n; i++)
        if (store)
            say(t, "%s [l3+%zu],%s%u;\n", how, at + (size_t)i * bytes, name, i);
        else
            say(t, "%s %s%u,[l3+%zu];\n", how, name, i, at + (size_t)i * bytes);
}

// r0: thread of the block, r1: of the unit, r2: the unit; l0: its words, l1: what it gives.
static void say_head(const struct tensor_case *c, struct text *t)
{
    const unsigned threads = tensor_threads(c);
    say(t,
        ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
        ".reg .b32 r<12>; .reg .b64 l<12>; .reg .pred p<2>;\n"
        "ld.param.u64 l0,[in]; ld.param.u64 l1,[out]; mov.u32 r0,%%tid.x; mov.u32 r3,%%ctaid.x;\n"
        "and.b32 r1,r0,%u; shr.u32 r2,r0,%u; mad.lo.u32 r2,r3,%d,r2;\n"
        "mul.wide.u32 l2,r2,%zu; add.u64 l0,l0,l2; mul.wide.u32 l2,r2,%zu; add.u64 l1,l1,l2;\n",
        threads - 1, (unsigned)__builtin_ctz(threads), TENSOR_UNITS, 4 * tensor_words_in(c), 4 * tensor_words_out(c));
}

static void say_thread(struct text *t, const char *base, size_t bytes)
{
    say(t, "mul.wide.u32 l3,r1,%zu; add.u64 l3,l3,%s;\n", bytes, base);
}

static void say_wgmma(const struct tensor_case *c, struct text *t)
{
    const size_t image = 4 * (A_WORDS + b_words(c)), lead_b = (size_t)c->n / 8 * 128;
    say(t,
        ".shared .align 1024 .b8 image[%zu];\n.reg .b32 d<%u>; .reg .b32 a<4>;\n"
        "mov.u32 r4,image; shr.u32 r5,r0,7; mad.lo.u32 r4,r5,%zu,r4; shl.b32 r5,r1,2; add.u32 r6,r4,r5;\n"
        "cvt.u64.u32 l4,r5; add.u64 l4,l4,l0;\n"
        "COPY: ld.global.u32 r7,[l4]; st.shared.u32 [r6],r7; add.u64 l4,l4,512; add.u32 r6,r6,512; add.u32 r5,r5,512;\n"
        "setp.lt.u32 p0,r5,%zu; @p0 bra COPY;\nfence.proxy.async; bar.sync 0;\n",
        TENSOR_UNITS * image, c->regs, image, image);
    say_thread(t, "l0", (size_t)4 * c->regs);
    say_moves(t, "ld.global.u32", false, "d", c->regs, 4, image);
    say_thread(t, "l0", 16);
    say_moves(t, "ld.global.u32", false, "a", 4, 4, 0);
    // Descriptors: core matrices of 128 bytes, side by side down the rows; so many bytes to those of the next 16 bytes.
    say(t,
        "shr.u32 r8,r4,4; cvt.u64.u32 l5,r8; mov.u64 l6,%llu; add.u64 l6,l6,l5; mov.u64 l7,%llu; add.u64 l7,l7,l5;\n",
        (1024ull >> 4) << 16 | (128ull >> 4) << 32,
        (unsigned long long)(4 * A_WORDS) >> 4 | (unsigned long long)lead_b >> 4 << 16 | (128ull >> 4) << 32);
    say(t, "wgmma.fence.sync.aligned;\n%s ", c->ptx);
    say_list(t, "d", c->regs);
    say(t, c->a_in_registers ? ",{a0,a1,a2,a3},l7,1" : ",l6,l7,1");
    if (c->a != TENSOR_BITS)
        say(t, ",1,1");
    if (c->a <= TENSOR_BF16)
        say(t, c->a_in_registers ? ",0" : ",0,0");
    say(t, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    say_thread(t, "l1", (size_t)4 * c->regs);
    say_moves(t, "st.global.u32", true, "d", c->regs, 4, 0);
}

static void say_mma(const struct tensor_case *c, struct text *t)
{
    const bool wide = c->words == 2;
    const unsigned bytes = 4 * c->words, n[] = { c->regs_a, c->regs_b, c->regs };
    const char *const factor = wide ? "f64" : "b32", *const sum = wide ? "f64" : c->c == TENSOR_F32 ? "f32" : "b32";
    size_t at = 0;
    char how[2][24];
    snprintf(how[0], sizeof how[0], "ld.global.%s", factor);
    snprintf(how[1], sizeof how[1], "ld.global.%s", sum);
    for (int i = 0; i < 3; i++) {
        const char name[2] = { (char)('a' + i), 0 };
        say(t, ".reg .%s %s<%u>;\n", i < 2 ? factor : sum, name, n[i]);
        say_thread(t, "l0", (size_t)bytes * n[i]);
        say_moves(t, how[i == 2], false, name, n[i], bytes, at);
        at += (size_t)bytes * n[i] * LANES;
    }
    say(t, "%s ", c->ptx);
    for (const char *p = "cabc"; *p; p++) {
        const char name[2] = { *p, 0 };
        say_list(t, name, n[*p - 'a']);
        say(t, p[1] ? "," : ";\n");
    }
    snprintf(how[1], sizeof how[1], "st.global.%s", sum);
    say_thread(t, "l1", (size_t)bytes * c->regs);
    say_moves(t, how[1], true, "c", c->regs, bytes, 0);
}

void tensor_kernel(const struct tensor_case *c, struct text *t)
{
    t->n = 0;
    say_head(c, t);
    (c->wgmma ? say_wgmma : say_mma)(c, t);
    say(t, "ret;\n}\n");
}

// --- the cases ---

static const struct {
    const char *name;
    enum tensor_type type;
    unsigned k;
} factors[] = { { "f16", TENSOR_F16, 16 },   { "bf16", TENSOR_BF16, 16 }, { "tf32", TENSOR_TF32, 8 },
                { "e4m3", TENSOR_E4M3, 32 }, { "e5m2", TENSOR_E5M2, 32 }, { "s8", TENSOR_BITS, 32 },
                { "u8", TENSOR_BITS, 32 } };
enum { FACTORS = sizeof factors / sizeof *factors };

static struct tensor_case wgmma_case(const char *d, size_t a, size_t b, unsigned n, bool registers, bool saturate)
{
    struct tensor_case c = { .wgmma = true, .a_in_registers = registers, .n = n, .words = 1 };
    c.a = factors[a].type;
    c.b = factors[b].type;
    c.c = !strcmp(d, "f16") ? TENSOR_F16 : !strcmp(d, "f32") ? TENSOR_F32 : TENSOR_BITS;
    c.regs = n / (c.c == TENSOR_F16 ? 4 : 2);
    snprintf(c.ptx, sizeof c.ptx, "wgmma.mma_async.sync.aligned.m64n%uk%u%s.%s.%s.%s", n, factors[a].k,
             saturate ? ".satfinite" : "", d, factors[a].name, factors[b].name);
    snprintf(c.name, sizeof c.name, "%.80s%s", c.ptx, registers ? ", A in registers" : "");
    return c;
}

// Does wgmma have these types?
static bool has_wgmma(const char *d, size_t a, size_t b)
{
    const bool f8 = factors[a].type == TENSOR_E4M3 || factors[a].type == TENSOR_E5M2;
    const bool f8_b = factors[b].type == TENSOR_E4M3 || factors[b].type == TENSOR_E5M2;
    if (factors[a].type == TENSOR_BITS || factors[b].type == TENSOR_BITS)
        return factors[a].type == factors[b].type && !strcmp(d, "s32");
    if (!strcmp(d, "s32") || (f8 != f8_b) || (!f8 && a != b))
        return false;
    return !strcmp(d, "f32") || f8 || factors[a].type == TENSOR_F16;
}

static size_t wgmma_cases(struct tensor_case *all, size_t room)
{
    static const char *const sums[] = { "f32", "f16", "s32" };
    static const unsigned widths[] = { 8, 96, 256 };
    size_t count = 0;
    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; i < (size_t)FACTORS * FACTORS; i++)
            for (size_t k = 0; k < 6 && has_wgmma(sums[d], i / FACTORS, i % FACTORS); k++) {
                cr_assert_lt(count, room);
                all[count++] = wgmma_case(sums[d], i / FACTORS, i % FACTORS, widths[k / 2], k % 2, d == 2 && k == 2);
            }
    return count;
}

static enum tensor_type type_named(const char *name, size_t n)
{
    for (size_t i = 0; i < FACTORS; i++)
        if (strlen(factors[i].name) == n && !strncmp(name, factors[i].name, n))
            return factors[i].type;
    return !strncmp(name, "f32", n) ? TENSOR_F32 : !strncmp(name, "f64", n) ? TENSOR_F64 : TENSOR_BITS;
}

// ...row.col.D.A.B.C, with as many registers as the table's row has.
static struct tensor_case mma_case(char **cell)
{
    struct tensor_case c = { .words = strstr(cell[0], "f64") ? 2 : 1 };
    const char *at = strstr(cell[0], "col.");
    cr_assert(at, "%s", cell[0]);
    for (int i = 0; i < 4; i++) {
        at += i ? 1 + strcspn(at, ".") : strlen("col.");
        *(i == 1 ? &c.a : i == 2 ? &c.b : &c.c) = type_named(at, strcspn(at, "."));
    }
    c.regs_a = (unsigned)atoi(cell[1]);
    c.regs_b = (unsigned)atoi(cell[2]);
    c.regs = (unsigned)atoi(cell[3]);
    snprintf(c.ptx, sizeof c.ptx, "%s", cell[0]);
    snprintf(c.name, sizeof c.name, "%s", cell[0]);
    return c;
}

size_t tensor_cases(struct tensor_case *all, size_t room, const char *path)
{
    size_t count = wgmma_cases(all, room);
    struct table t;
    truth_open(&t, path);
    while (truth_next(&t)) {
        size_t i = 0;
        while (i < count && strcmp(all[i].name, t.field[0]))
            i++;
        if (i < count)
            continue;
        cr_assert_lt(count, room);
        all[count++] = mma_case(t.field);
    }
    table_close(&t);
    return count;
}
