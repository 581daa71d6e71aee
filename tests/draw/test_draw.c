// Pictures of accesses and of fragments: they show what the profile counts, they are XML, and what cannot be drawn is
// refused in one line. TILE_PTX and STEPS_PTX (a folder) are paths that the build defines.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "sample.h"
#include "simt/draw/draw.h"
#include "simt/record/trace.h"
#include "xml.h"

// --- kernels ---

struct bench {
    struct simt *s;
    struct simt_kernel *k;
    struct dev_launch how;
    uint64_t arrays[3];
    int sizes[3];
    float alpha, beta;
    struct dev_arg args[8];
    char error[DEV_ERROR_MAX];
};

static void bench_open(struct bench *b, const char *path, const char *kernel, size_t n_args)
{
    size_t bytes;
    char *text = ptx_file_read(path, &bytes, b->error);
    cr_assert(text, "%s", b->error);
    struct simt_module *m = simt_load(b->s, path, text, bytes, b->error);
    free(text);
    cr_assert(m && (b->k = simt_kernel(m, kernel)), "%s: %s", path, b->error);
    b->how.args = b->args;
    b->how.n_args = n_args;
}

static uint64_t array(struct bench *b, const char *name, size_t bytes)
{
    uint64_t p = memory_alloc(&b->s->memory, name, bytes);
    cr_assert(p);
    memset(memory_at(&b->s->memory, p, bytes), 0, bytes);
    return p;
}

static void open_tile(struct bench *b, const char *kernel)
{
    *b = (struct bench){ .s = simt_open(), .how = { .block = { 32 } } };
    static const char *const names[] = { "C", "A", "B" };
    for (int i = 0; i < 3; i++) {
        b->arrays[i] = array(b, names[i], 512);
        b->args[i] = (struct dev_arg)DEV_ARG(b->arrays[i]);
    }
    bench_open(b, TILE_PTX, kernel, 3);
}

// A step whose C is m x n, one block; k 64.
static void open_step(struct bench *b, const char *step, int m, int n, size_t element, size_t shared)
{
    char path[1000];
    const int k = 64;
    *b = (struct bench){
        .s = simt_open(), .how = { .block = { 256 }, .shared = shared }, .sizes = { m, n, k }, .alpha = 1
    };
    b->arrays[0] = array(b, "A", (size_t)(m * k) * element);
    b->arrays[1] = array(b, "B", (size_t)(k * n) * element);
    b->arrays[2] = array(b, "C", (size_t)(m * n) * element);
    const struct dev_arg args[] = { DEV_ARG(b->sizes[0]), DEV_ARG(b->sizes[1]),  DEV_ARG(b->sizes[2]),
                                    DEV_ARG(b->alpha),    DEV_ARG(b->arrays[0]), DEV_ARG(b->arrays[1]),
                                    DEV_ARG(b->beta),     DEV_ARG(b->arrays[2]) };
    memcpy(b->args, args, sizeof args);
    snprintf(path, sizeof path, "%s/%s/%s.ptx", STEPS_PTX, step, step);
    bench_open(b, path, "gemm", 8);
}

static void bench_close(struct bench *b)
{
    simt_close(b->s);
}

// Runs the kernel and records everything that the warp does.
static struct trace record(struct bench *b, uint32_t warp)
{
    const uint32_t n = b->k->func->n_insts;
    bool *wanted = malloc(n);
    struct trace t = { .warp = warp, .wanted = wanted, .touched = calloc(n, 1) };
    memset(wanted, true, n);
    b->s->trace = &t;
    bool ok = simt_launch(b->s, b->k, &b->how, b->error);
    b->s->trace = NULL;
    free(wanted);
    free((void *)t.touched);
    cr_assert(ok && !t.failed && t.first, "%s", b->error);
    return t;
}

static char *draw_event(const struct bench *b, const struct trace_event *e)
{
    struct draw_subject subject = { .event = e, .code = b->k->code, .memory = &b->s->memory };
    char *text = draw_access(&subject);
    cr_assert_not_null(text);
    check_xml(text);
    return text;
}

// --- accesses ---

static void rows_are_the_wavefronts(const char *kernel)
{
    struct bench b;
    size_t rows = 0, late = 0, sectors = 0;
    open_tile(&b, kernel);
    struct trace t = record(&b, 0);
    for (const struct trace_event *e = t.first; e; e = e->next) {  // each is executed once, by one warp
        if (e->refused)
            continue;
        char *text = draw_event(&b, e);
        rows += count(text, "<g class=\"wave\">");
        late += count(text, ">conflict</text>");
        sectors += count(text, "<g class=\"sector\">");
        free(text);
    }
    trace_free(&t);
    const uint64_t *total = b.s->profile.total;
    cr_expect_eq(rows, total[METRIC_WAVE], "%s: %zu rows, %zu wavefronts", kernel, rows, (size_t)total[METRIC_WAVE]);
    cr_expect_eq(late, total[METRIC_SLD_CONF] + total[METRIC_SST_CONF], "%s: %zu conflicts", kernel, late);
    cr_expect_eq(sectors, total[METRIC_GLD_SEC] + total[METRIC_GST_SEC], "%s: %zu sectors", kernel, sectors);
    bench_close(&b);
}

Test(draw, the_pictures_of_a_warp_have_a_row_for_each_wavefront_and_a_frame_for_each_sector)
{
    static const char *const kernels[] = { "wmma_plain", "wmma_padded", "mma_plain", "mma_padded", "mma_swizzled" };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        rows_are_the_wavefronts(kernels[i]);
}

// A line's wavefronts by instruction are those of its pictures, since these kernels repeat themselves.
static void lines_agree(const char *step, int m, int n, size_t element, size_t shared)
{
    struct bench b;
    open_step(&b, step, m, n, element, shared);
    enum { LINES = 4000 };
    static size_t rows[LINES], accesses[LINES];
    memset(rows, 0, sizeof rows);
    memset(accesses, 0, sizeof accesses);
    const struct ptx_module *ptx = b.k->module->ptx;
    for (uint32_t warp = 0; warp < 8; warp++) {
        struct trace t = record(&b, warp);
        for (const struct trace_event *e = t.first; e; e = e->next) {
            const uint32_t line = ptx->locs[b.k->func->insts[e->u->inst].loc - 1].line;
            if (e->space != SPACE_SHARED || e->refused)
                continue;
            char *text = draw_event(&b, e);
            cr_assert_lt(line, LINES);
            rows[line] += count(text, "<g class=\"wave\">");
            accesses[line] += e->n;
            free(text);
        }
        trace_free(&t);
    }
    int compared = 0;
    for (size_t i = 0; i < b.s->profile.n_lines; i++) {
        const struct profile_line *l = &b.s->profile.lines[i];
        const size_t counted = l->metric[METRIC_SLD_INST] + l->metric[METRIC_SST_INST] + l->metric[METRIC_LDSM_INST];
        if (!l->metric[METRIC_WAVE])
            continue;
        cr_expect_eq(rows[l->line] * counted, l->metric[METRIC_WAVE] * accesses[l->line],
                     "%s, line %u: %zu rows of %zu accesses, but %zu wavefronts of %zu", step, l->line, rows[l->line],
                     accesses[l->line], (size_t)l->metric[METRIC_WAVE], counted);
        compared++;
    }
    cr_expect_geq(compared, 4, "%s: only %d lines", step, compared);
    bench_close(&b);
}

Test(draw, the_pictures_of_the_steps_agree_with_their_profiles)
{
    static const struct {
        const char *step;
        int m, n;
        size_t element, shared;
    } all[] = { { "04_thread_tile_2d", 128, 128, 4, 0 }, { "05_vectorized", 128, 128, 4, 0 },
                { "09_wmma_smem", 128, 256, 2, 49152 },  { "10_wmma_padding", 128, 256, 2, 61440 },
                { "11_mma_ptx", 128, 256, 2, 61440 },    { "12_mma_swizzle", 128, 256, 2, 49152 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sample_brief(i, 6))
            lines_agree(all[i].step, all[i].m, all[i].n, all[i].element, all[i].shared);
}

// Cells show each word once a phase, whoever asks for it.
Test(draw, a_broadcast_is_one_cell_and_two_phases_with_the_same_addresses_are_one)
{
    struct trace_event *e = calloc(1, sizeof *e);
    struct code code = { 0 };
    struct memory memory = { 0 };
    struct draw_subject subject = { .event = e, .code = &code, .memory = &memory };
    *e = (struct trace_event){ .space = SPACE_SHARED, .kind = TRACE_LOAD, .n = 1 };
    e->access[0] = (struct trace_access){ .mask = ALL_LANES, .bytes = 16 };
    char *text = draw_access(&subject);
    check_xml(text);
    cr_expect_eq(count(text, "<g class=\"wave\">"), 2);
    cr_expect_eq(count(text, "<g class=\"cell\">"), 8);
    cr_expect(strstr(text, "Phases 1 and 2 of 4") && strstr(text, "two in one"));
    cr_expect(strstr(text, ">0\xe2\x80\x93"
                           "15</text>"));
    free(text);
    e->kind = TRACE_STORE;
    text = draw_access(&subject);
    cr_expect_eq(count(text, "<g class=\"wave\">"), 4, "the phases of a store do not merge");
    free(text);
    e->access[0].bytes = 4;
    for (uint64_t i = 0; i < LANES; i++)
        e->access[0].address[i] = 128 * i;
    text = draw_access(&subject);
    check_xml(text);
    cr_expect_eq(count(text, "<g class=\"wave\">"), 32);
    cr_expect_eq(count(text, "class=\"clash\""), 31);
    cr_expect(strstr(text, "32 wavefronts, ideal 1, 31 bank conflicts"));
    free(text);
    free(e);
}

Test(draw, text_is_escaped_whatever_it_is)
{
    struct trace_event *e = calloc(1, sizeof *e);
    struct code code = { 0 };
    struct memory memory = { 0 };
    struct draw_subject subject = { .event = e, .code = &code, .memory = &memory };
    *e = (struct trace_event){ .space = SPACE_GLOBAL, .kind = TRACE_LOAD, .n = 1 };
    e->access[0] = (struct trace_access){ .mask = 1, .bytes = 1 };
    strcpy(subject.ptx, "</svg> & <b \"x\"> \x01\xff\xc3");
    strcpy(subject.source[0], "caf\xc3\xa9 \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf");
    char *text = draw_access(&subject);
    check_xml(text);
    cr_expect(strstr(text, "&lt;/svg&gt; &amp; &lt;b \"x\"&gt;  \xef\xbf\xbd\xef\xbf\xbd</text>"));
    cr_expect(strstr(text, ">caf\xc3\xa9 \xef\xbf\xbd"));
    cr_expect_eq(count(text, "\xed\xa0") + count(text, "\xf4\x90") + count(text, "\xc0"), 0);
    cr_expect(strstr(text, "1 request, 1 sector; 1 of 32 bytes are asked for"));
    free(text);
    free(e);
}

// --- fragments ---

static char *fragment(const char *operand, const char *shape, const char *type, char error[DEV_ERROR_MAX])
{
    struct simt_fragment what = { .operand = operand, .shape = shape, .type = type };
    char *text = simt_draw_fragment(&what, error);
    if (text)
        check_xml(text);
    return text;
}

Test(draw, a_fragment_has_a_cell_for_each_element_and_a_strip_for_each_row_of_ldmatrix)
{
    static const struct {
        const char *operand, *shape, *type, *says;
        size_t cells, strips;
    } cases[] = {
        { "a", NULL, NULL, "row 9, column 3: lane 5, register a1.hi", 256, 64 },
        { "b", NULL, NULL, "row 9, column 3: lane 12, register b1.hi", 128, 32 },
        { "c", NULL, NULL, "row 9, column 3: lane 5, register c3<", 128, 0 },
        { "c", NULL, "f16", "row 9, column 3: lane 5, register c1.hi", 128, 0 },
        { "a", "m16n8k8", "tf32", "row 9, column 3: lane 7, register a1<", 128, 32 },
        { "b", "m16n8k32", "s8", "row 3, column 1: lane 4, register b0.3", 256, 16 },
        { "a", "wmma", "tf32", "Operand a of wmma.m16n16k8, tf32", 128, 32 },
        { "a", "wmma", NULL, "The instruction names 8 registers: a4 to a7", 256, 64 },
        { "b", "m8n32k16", NULL, "two ldmatrix.x4.trans", 512, 128 },
        { "c", "wmma", "f64", "lane 0, register c0", 64, 0 },
        { "a", "m16n8k16", "f64", "lane 0, register a0", 256, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[DEV_ERROR_MAX] = "";
        char *text = fragment(cases[i].operand, cases[i].shape, cases[i].type, error);
        cr_assert(text, "case %zu: %s", i, error);
        cr_expect(strstr(text, cases[i].says), "case %zu: no '%s'", i, cases[i].says);
        cr_expect_eq(count(text, "<g class=\"cell\">"), cases[i].cells, "case %zu: %zu cells", i,
                     count(text, "<g class=\"cell\">"));
        cr_expect_eq(count(text, "<g class=\"strip\">"), cases[i].strips, "case %zu: %zu strips", i,
                     count(text, "<g class=\"strip\">"));
        free(text);
    }
}

Test(draw, a_large_fragment_has_a_cell_for_each_register_of_each_lane)
{
    static const struct {
        const char *operand, *says;
        size_t cells;
    } cases[] = {
        { "a", "row 9, column 2: lane 5, register a1<", 4 * 32 },
        { "b", "row 8, column 3: lane 12, register b1<", 2 * 32 },
        { "c", "row 9, column 3: lane 5, register c3<", 4 * 32 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[DEV_ERROR_MAX] = "";
        struct simt_fragment what = { .operand = cases[i].operand, .large = true };
        char *text = simt_draw_fragment(&what, error);
        cr_assert(text, "%s", error);
        check_xml(text);
        cr_expect(strstr(text, cases[i].says), "%s: no '%s'", what.operand, cases[i].says);
        cr_expect_eq(count(text, "<g class=\"cell\">"), cases[i].cells, "%s: %zu cells", what.operand,
                     count(text, "<g class=\"cell\">"));
        cr_expect_eq(count(text, "<g class=\"strip\">"), 0);
        free(text);
    }
}

Test(draw, fragments_that_do_not_exist_are_refused_with_those_that_do)
{
    static const char *const cases[][4] = {
        { "d", NULL, NULL, "a, b and c" },
        { "a", NULL, "f32", "f16, bf16, tf32, f64, s8, u8" },
        { "c", NULL, "s8", "f32, f16, s32, f64" },
        { "a", "m16n8k5", NULL, "m16n8k16, m16n8k8, m16n16k16" },
        { "a", "m16n8k16", "tf32", "m16n8k8, m16n8k4" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[DEV_ERROR_MAX] = "";
        cr_expect_null(fragment(cases[i][0], cases[i][1], cases[i][2], error), "case %zu", i);
        cr_expect(strstr(error, cases[i][3]), "case %zu: %s", i, error);
        cr_expect_null(strchr(error, '\n'));
    }
}
