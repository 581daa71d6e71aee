// Tensor-core instructions: results and fragments bit for bit as an H200 gave them (truth/h200_mma.tsv, h200_wmma.tsv),
// and the same instructions on the GPU where there is one.
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "ptx_case.h"
#include "simt/device/state.h"

enum { MOST = 8 * LANES };

// --- mma.sync ---

struct registers {
    unsigned n, words;        // registers; 32-bit words of one
    uint32_t word[2 * MOST];  // [register][lane][word]
};

static void read_registers(struct registers *r, unsigned n, unsigned words, const char *hex)
{
    r->n = n;
    r->words = words;
    cr_assert_eq(strlen(hex), n * LANES * words * 8);
    for (unsigned i = 0; i < n * LANES * words; i++) {
        char digits[9] = "";
        memcpy(digits, hex + 8 * (i ^ (words - 1)), 8);  // the file has 64-bit numbers, high digits first
        r->word[i] = (uint32_t)strtoul(digits, NULL, 16);
    }
}

static void declare(struct text *t, char name, const struct registers *r, const char *type)
{
    say(t, ".reg .%s %%%c<%u>;\n", type, name, r->n);
}

static void load(struct text *t, char name, const struct registers *r, unsigned at, const char *type)
{
    for (unsigned i = 0; i < r->n; i++)
        say(t, "ld.global.%s %%%c%u, [%%%s+%u];\n", type, name, i, r->words == 2 ? "l4" : "l3",
            (at + i * LANES * r->words) * 4);
}

static void list(struct text *t, char name, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        say(t, "%s%%%c%u", i ? ", " : "{", name, i);
    say(t, "}");
}

// The type of a register in PTX: accumulators of 32 and 64 bits have a type of their own.
static const char *type_of(const char *ptx, bool accumulator, unsigned words)
{
    bool f32 = accumulator && strstr(ptx, "col.f32");
    return words == 2 ? "f64" : f32 ? "f32" : "b32";
}

static void mma_module(struct text *t, const char *ptx, const struct registers r[4])
{
    const char *factor = type_of(ptx, false, r[0].words), *sum = type_of(ptx, true, r[2].words);
    unsigned b = r[0].n * LANES * r[0].words, c = b + r[1].n * LANES * r[1].words;
    t->n = 0;
    say(t, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n");
    say(t, ".reg .b32 %%r<2>;\n.reg .b64 %%l<8>;\n");
    for (int i = 0; i < 4; i++)
        declare(t, (char)('a' + i), &r[i], i < 2 ? factor : sum);
    say(t, "mov.u32 %%r0, %%tid.x;\nld.param.u64 %%l1, [out];\nld.param.u64 %%l2, [in];\n");
    say(t, "cvta.to.global.u64 %%l1, %%l1;\ncvta.to.global.u64 %%l2, %%l2;\n");
    say(t, "mad.wide.u32 %%l3, %%r0, 4, %%l2;\nmad.wide.u32 %%l4, %%r0, 8, %%l2;\nmad.wide.u32 %%l5, %%r0, %u, %%l1;\n",
        4 * r[3].words);
    load(t, 'a', &r[0], 0, factor);
    load(t, 'b', &r[1], b, factor);
    load(t, 'c', &r[2], c, sum);
    say(t, "%s ", ptx);
    for (int i = 0; i < 4; i++) {
        list(t, "dabc"[i], r[(i + 3) % 4].n);
        say(t, i < 3 ? ", " : ";\n");
    }
    for (unsigned i = 0; i < r[3].n; i++)
        say(t, "st.global.%s [%%l5+%u], %%d%u;\n", sum, i * LANES * r[3].words * 4, i);
    say(t, "ret;\n}\n");
}

Test(mma, gives_what_an_h200_gave, .timeout = 300)
{
    struct table t;
    struct dev *dev[PTX_DEVICES];
    size_t devices = ptx_devices_from(dev, 90, true);
    int rows = 0;
    truth_open(&t, MMA_TSV);
    cr_assert_eq(t.columns, 8);
    while (truth_next(&t)) {
        char **cell = t.field;
        static struct text text;
        struct registers r[4];
        unsigned words = strstr(cell[0], "f64") ? 2 : 1, n_d = (unsigned)strlen(cell[7]) / (LANES * words * 8);
        for (int i = 0; i < 3; i++)
            read_registers(&r[i], (unsigned)atoi(cell[1 + i]), words, cell[4 + i]);
        read_registers(&r[3], n_d, words, cell[7]);
        uint32_t input[5 * MOST], got[2 * MOST];
        size_t n_in = 0, n_out = n_d * LANES * words;
        for (int i = 0; i < 3; i++) {
            memcpy(input + n_in, r[i].word, r[i].n * LANES * words * 4);
            n_in += r[i].n * LANES * words;
        }
        mma_module(&text, cell[0], r);
        for (size_t d = 0; d < devices; d++) {
            memset(got, 0xee, sizeof got);
            cr_assert(ptx_run(dev[d], text.p, (struct ptx_shape){ 1, LANES, 0 }, got, n_out, input, n_in), "%s: %s",
                      cell[0], dev_error(dev[d]));
            size_t wrong = 0, first = 0;
            for (size_t i = n_out; i-- > 0;)
                if (got[i] != r[3].word[i])
                    wrong++, first = i;
            cr_expect_eq(wrong, 0, "%s: %s, row %d: %zu of %zu words differ; word %zu is %08" PRIx32 ", not %08" PRIx32,
                         dev_about(dev[d])->name, cell[0], rows + 2, wrong, n_out, first, got[first], r[3].word[first]);
        }
        rows++;
    }
    table_close(&t);
    cr_assert_geq(rows, 40, "only %d rows in %s", rows, MMA_TSV);
    for (size_t d = 0; d < devices; d++)
        dev_close(dev[d]);
}

// Terms that are all zero: what sign has the sum?
Test(mma, zeros_add_up_to_plus_zero_but_for_minus_zeros_alone)
{
    static const uint32_t zeros[][2] = {
        { 0, 0 }, { 0x80000000u, 0 }, { 0, 0x80008000u }, { 0x80000000u, 0x80008000u }
    };
    struct dev *dev[PTX_DEVICES];
    size_t devices = ptx_devices_from(dev, 90, true);
    for (size_t i = 0; i < PTX_COUNTOF(zeros); i++) {
        static struct text text;
        struct registers r[4] = {
            { .n = 4, .words = 1 }, { .n = 2, .words = 1 }, { .n = 4, .words = 1 }, { .n = 4, .words = 1 }
        };
        uint32_t input[10 * LANES], got[PTX_DEVICES][4 * LANES];
        for (int k = 0; k < 4 * LANES; k++)
            input[k] = zeros[i][1];
        for (int k = 4 * LANES; k < 6 * LANES; k++)
            input[k] = 0x3c003c00;
        for (int k = 6 * LANES; k < 10 * LANES; k++)
            input[k] = zeros[i][0];
        mma_module(&text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", r);
        for (size_t d = 0; d < devices; d++) {
            cr_assert(ptx_run(dev[d], text.p, (struct ptx_shape){ 1, LANES, 0 }, got[d], 4 * LANES, input, 10 * LANES),
                      "%s", dev_error(dev[d]));
            cr_expect_eq(got[d][5], got[0][5],
                         "C 0x%08" PRIx32 ", A 0x%08" PRIx32 ": %s gives 0x%08" PRIx32
                         ", the simulated GPU 0x%08" PRIx32,
                         zeros[i][0], zeros[i][1], dev_about(dev[d])->name, got[d][5], got[0][5]);
        }
        cr_expect_eq(got[0][5] & 0x7fffffff, 0);
    }
    for (size_t d = 0; d < devices; d++)
        dev_close(dev[d]);
}

// 1 and four products of 2^-25: an sm_90 keeps 25 bits behind the point, so that they add up to a last bit of f32; an
// sm_80 keeps 24 and drops each of them.
Test(mma, an_sm_80_keeps_one_bit_less)
{
    static const unsigned sm[] = { 80, 90 };
    static const uint32_t want[] = { 0x3f800000, 0x3f800001 };
    for (int i = 0; i < 2; i++) {
        static struct text text;
        struct registers r[4] = {
            { .n = 4, .words = 1 }, { .n = 2, .words = 1 }, { .n = 4, .words = 1 }, { .n = 4, .words = 1 }
        };
        char error[DEV_ERROR_MAX] = "";
        uint32_t input[10 * LANES];
        for (unsigned k = 0; k < 4 * LANES; k++)
            input[k] = k < LANES && k % 4 < 2 ? 0x08000800 : 0;  // A[row][0..3] = 2^-13
        for (unsigned k = 4 * LANES; k < 6 * LANES; k++)
            input[k] = 0x0c000c00;  // B = 2^-12
        for (unsigned k = 6 * LANES; k < 10 * LANES; k++)
            input[k] = 0x3f800000;
        mma_module(&text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", r);
        struct simt *s = simt_open();
        cr_assert_not_null(s);
        s->sm = sm[i];
        struct simt_module *m = simt_load(s, "mma.ptx", text.p, text.n, error);
        struct simt_kernel *k = m ? simt_kernel(m, "k") : NULL;
        cr_assert_not_null(k, "%s", error);
        uint64_t out = memory_alloc(&s->memory, "out", 4 * LANES * 4),
                 in = memory_alloc(&s->memory, "in", sizeof input);
        memcpy(memory_at(&s->memory, in, sizeof input), input, sizeof input);
        struct dev_arg args[] = { DEV_ARG(out), DEV_ARG(in) };
        const struct dev_launch l = { .block = { LANES }, .args = args, .n_args = 2 };
        cr_assert(simt_launch(s, k, &l, error), "%s", error);
        uint32_t got;
        memcpy(&got, memory_at(&s->memory, out, 4), 4);
        cr_expect_eq(got, want[i], "sm_%u gives 0x%08" PRIx32, sm[i], got);
        simt_close(s);
    }
}

// --- wmma ---

static int bytes_of(const char *ptx)
{
    const char *type = strstr(ptx, "global.") + strlen("global.");
    return !strncmp(type, "f64", 3)    ? 8
           : !strncmp(type, "f16", 3)  ? 2
           : !strncmp(type, "bf16", 4) ? 2
           : type[1] == '8'            ? 1
                                       : 4;
}

// Loads a matrix whose elements are numbered (32 to a row, or to a column), and stores the registers as they are.
Test(wmma, fragments_are_those_of_an_h200, .timeout = 300)
{
    static const int lanes[] = { 0, 1, 2, 3, 4, 9, 22, 31 };
    struct table t;
    struct dev *dev[PTX_DEVICES];
    size_t devices = ptx_devices_from(dev, 90, true);
    int rows = 0;
    truth_open(&t, WMMA_TSV);
    cr_assert_eq(t.columns, 3);
    while (truth_next(&t)) {
        char **cell = t.field;
        static struct text text;
        static uint32_t input[32 * 40 * 2], got[2 * MOST];
        char *high = strstr(cell[0], ".high");
        if (high)
            *high = '\0';
        const int n = atoi(cell[1]), bytes = bytes_of(cell[0]);
        const unsigned words = bytes == 8 ? 2 : 1;
        const char *type = bytes == 8 ? "f64" : strstr(cell[0], "global.f32") ? "f32" : "b32";
        for (size_t i = 0; i < 32 * 40; i++) {
            uint64_t value = high ? i >> 8 : i;
            memcpy((char *)input + i * (size_t)bytes, &value, (size_t)bytes);
        }
        text.n = 0;
        say(&text, ".version 8.0\n.target sm_90\n.address_size 64\n");
        say(&text, ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %%r<2>;\n.reg .b64 %%l<4>;\n");
        say(&text, ".reg .%s %%x<%d>;\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, 32;\nld.param.u64 %%l0, [in];\n", type, n);
        say(&text, "cvta.to.global.u64 %%l0, %%l0;\nld.param.u64 %%l1, [out];\ncvta.to.global.u64 %%l1, %%l1;\n");
        say(&text, "mad.wide.u32 %%l1, %%r0, %u, %%l1;\n%s ", 4 * words, cell[0]);
        list(&text, 'x', (unsigned)n);
        say(&text, ", [%%l0], %%r1;\n");
        for (int i = 0; i < n; i++)
            say(&text, "st.global.%s [%%l1+%u], %%x%d;\n", type, (unsigned)i * LANES * words * 4, i);
        say(&text, "ret;\n}\n");
        for (size_t d = 0; d < devices; d++) {
            cr_assert(ptx_run(dev[d], text.p, (struct ptx_shape){ 1, LANES, 0 }, got, (size_t)n * LANES * words, input,
                              32 * 40 * 2),
                      "%s: %s", cell[0], dev_error(dev[d]));
            const char *hex = cell[2];
            for (int i = 0; i < n; i++) {
                for (size_t k = 0; k < PTX_COUNTOF(lanes); k++) {
                    char *end;
                    uint64_t want = strtoull(hex, &end, 16), have = 0;
                    memcpy(&have, &got[((unsigned)i * LANES + (unsigned)lanes[k]) * words], 4 * words);
                    cr_expect_eq(have, want, "%s: %s%s, register %d of lane %d is %" PRIx64 ", not %" PRIx64,
                                 dev_about(dev[d])->name, cell[0], high ? " (high)" : "", i, lanes[k], have, want);
                    hex = end + 1;
                }
            }
        }
        rows++;
    }
    table_close(&t);
    cr_assert_geq(rows, 60, "only %d rows in %s", rows, WMMA_TSV);
    for (size_t d = 0; d < devices; d++)
        dev_close(dev[d]);
}
