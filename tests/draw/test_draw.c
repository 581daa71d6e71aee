// Pictures of accesses and of fragments: they show what the profile counts, they are XML, and what cannot be drawn is
// refused in one line. TILE_PTX, STEPS_PTX (a folder) and SIMT are paths that the build defines.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"
#include "base/ptx_file.h"
#include "program_case.h"
#include "sample.h"
#include "simt/draw/draw.h"
#include "simt/record/trace.h"
#include "file_text.h"
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

// --- the program ---

// Runs `simt draw` and returns its exit status; text gets what it wrote, stderr too.
static int draw(char text[200000], const char *arguments)
{
    char command[4000];
    snprintf(command, sizeof command, "exec 2>&1; '%s' draw %s", SIMT, arguments);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    size_t n = fread(text, 1, 199999, f);
    text[n] = '\0';
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define STEP_05 "'" STEPS_PTX "/05_vectorized/05_vectorized.ptx' gemm "
#define ARGS_05                                                                                                        \
    "--block 256 i32:128 i32:128 i32:64 f32:1 'f32[8192]=iota' 'f32[8192]=iota' f32:0 'f32[16384]=zeros' --out - "

static char text[200000];

// The line of a step's source that holds the words.
static unsigned line_of(const char *words)
{
    char path[1000];
    struct bench b;
    open_step(&b, "05_vectorized", 128, 128, 4, 0);
    snprintf(path, sizeof path, "%s", ptx_source_name(b.k->module->ptx, 1));
    bench_close(&b);
    return file_line_of(path, words);
}

Test(draw, the_program_draws_the_instruction_of_a_line)
{
    char arguments[2000];
    const unsigned line = line_of("&Bs[k][col");
    snprintf(arguments, sizeof arguments, STEP_05 ARGS_05 "--line %u", line);
    cr_assert_eq(draw(text, arguments), 0, "%s", text);
    check_xml(text);
    cr_expect_eq(count(text, "<g class=\"wave\">"), 8, "4 phases, in each of which 8 lanes share 4 groups of banks");
    cr_expect(strstr(text, "ld.shared.v4.f32"));
    cr_expect(strstr(text, "(&amp;Bs[k][col"), "the source line");
    snprintf(arguments, sizeof arguments, STEP_05 ARGS_05 "--line kernel.cu:%u --nth 15 --warp 7", line);
    cr_assert_eq(draw(text, arguments), 0, "%s", text);
    cr_expect(strstr(text, "warp 7, the first execution of --nth 15 (of 0 to 15"));
    snprintf(arguments, sizeof arguments, STEP_05 ARGS_05 "--line %u --large", line);
    cr_assert_eq(draw(text, arguments), 0, "%s", text);
    check_xml(text);
    cr_expect_eq(count(text, "<g class=\"wave\">"), 2, "large: the first phase alone");
    cr_expect_eq(count(text, "<g class=\"cell\">"), 32, "of which all words are shown");
    cr_expect(strstr(text, "Phase 1 of 4") && strstr(text, "8 wavefronts, ideal 4"), "what is not shown is counted");
    NEEDS_NVCC("its PTX says on which line an instruction is, but not from where that was called");
    snprintf(arguments, sizeof arguments, STEP_05 ARGS_05 "--line %u", line_of("a_copies[i / AROWS] = load4"));
    cr_assert_eq(draw(text, arguments), 0, "the line of a call: %s", text);
    cr_expect(strstr(text, "Global-memory load: 1 request"));
    cr_expect_eq(count(text, "<g class=\"line\">"), 16);
    snprintf(arguments, sizeof arguments, STEP_05 ARGS_05 "--line %u --large", line_of("a_copies[i / AROWS] = load4"));
    cr_assert_eq(draw(text, arguments), 0, "%s", text);
    cr_expect_eq(count(text, "<g class=\"line\">"), 8);
    cr_expect(strstr(text, "and 8 more lines of 128 bytes"));
    cr_expect(strstr(text, "Framed: sectors of 32 bytes.<"), "and no byte of them is left over");
}

// Instructions that are neither loads nor stores, from PTX that names lines: line 3 of help.h, called at line 2 of
// help.h, called at line 9 of k.cu.
static const char *write_ptx(const char *instruction)
{
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<4>;\n"
             ".reg .b64 %%l<4>;\n.shared .align 16 .b8 s[1024];\n.loc 1 8 0\nld.param.u64 %%l0, [p];\n"
             "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r3, 7;\nmul.lo.u32 %%r1, %%r0, 16;\nmov.u32 %%r2, s;\n"
             "add.u32 %%r2, %%r2, %%r1;\ncvt.u64.u32 %%l1, %%r1;\nadd.u64 %%l1, %%l0, %%l1;\n.loc 1 9 0\n"
             ".loc 2 2 0, function_name a, inlined_at 1 9 0\n.loc 2 3 0, function_name a, inlined_at 2 2 0\n"
             "%s\n.loc 1 10 0\nret;\na:\n}\n.file 1 \"k.cu\"\n.file 2 \"help.h\"\n",
             instruction);
    return scratch(text, strlen(text));
}

#define IN_A_LOOP                                                                                                      \
    "$l: st.shared.u32 [%r2], %r3; add.u32 %r2, %r2, 4; add.u32 %r3, %r3, 1; "                                         \
    "{.reg .pred %p0; setp.lt.u32 %p0, %r3, 10; @%p0 bra $l;}"

Test(draw, other_instructions_are_drawn_or_refused_by_name)
{
    static const struct {
        const char *instruction, *place, *says;
        int status;
    } cases[] = {
        { "cp.async.ca.shared.global [%r2], [%l1], 4;", "9", "Shared-memory store: 4 wavefronts, ideal 1, 3 bank", 0 },
        { "cp.async.ca.shared.global [%r2], [%l1], 4;", "help.h:2", "help.h:3", 0 },
        { "cp.async.cg.shared.global [%r2], [%l1], 16;", "9",
          "help.h:3, called from k.cu:9: 'cp.async.cg.shared.global' cannot be drawn: ", 2 },
        { "atom.shared.add.u32 %r3, [%r2], 1;", "9", "'atom.shared.add.u32' cannot be drawn: ", 2 },
        { "red.global.add.u32 [%l1], 1;", "9", "'red.global.add.u32' cannot be drawn: ", 2 },
        { "st.shared.u32 [%r2], %r3;", "8", "k.cu:8 has no shared-memory instruction; these lines have: 9", 2 },
        { "st.u32 [%l1], %r3;", "8", "shared-memory instruction, and no other line of kernel k has; global memory: 9",
          2 },
        { "st.u32 [%l1], %r3;", "9", "Global-memory store: 1 request, 16 sectors; 128 of 512 bytes are written", 0 },
        { "ld.shared.u32 %r3, [%r2+4]; ld.shared.u32 %r1, [%r2]; add.u32 %r3, %r3, %r1; st.u32 [%l1], %r3;", "9",
          "ptxas merges it with its neighbours into one access of 8 bytes a lane", 0 },
        { "ld.shared.u32 %r3, [%r2+4]; ld.shared.u32 %r1, [%r2]; add.u32 %r3, %r3, %r1; st.u32 [%l1], %r3;",
          "9 --nth 1", "runs 1 such instruction there: --nth goes from 0 to 0", 2 },
        { "add.u32 %r3, %r3, 1;", "9", "no other line of kernel k has", 2 },
        { IN_A_LOOP, "9", "bytes 0 to 3 of s: lane 0", 0 },
        { IN_A_LOOP, "9 --execution 2", "bytes 8 to 11 of s: lane 0", 0 },
        { IN_A_LOOP, "9 --execution 2", "warp 0, execution 2 of 0 to 2 of this instruction", 0 },
        { IN_A_LOOP, "9 --execution 3", "k.cu:9: warp 0 executes it 3 times: --execution goes to 2", 2 },
        { "{.reg .pred %p0; setp.gt.u32 %p0, %r0, 99; @%p0 st.shared.u32 [%r2], %r3;}", "9", "no other line", 2 },
        { "{.reg .pred %p0; setp.lt.u32 %p0, %r0, 9; @%p0 ld.shared.u16 %r3, [%r2];}", "9", "Phase 1 of 1, lanes 0",
          0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[300];
        const char *path = write_ptx(cases[i].instruction);
        snprintf(arguments, sizeof arguments, "%s k --block 32 'i32[128]=zeros' --line %s --out -", path,
                 cases[i].place);
        int status = draw(text, arguments);
        forget_scratch();
        cr_expect_eq(status, cases[i].status, "case %zu: status %d, %s", i, status, text);
        cr_expect(strstr(text, cases[i].says), "case %zu: %s", i, text);
    }
}

// With checks on, variables in shared memory lie apart; the picture has the bytes of the variable all the same. Line 2
// is the first instruction of the kernel, line 3 stores to t twice.
Test(draw, one_instruction_of_a_line_under_checks)
{
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
        ".shared .align 16 .b8 s[128];\n.shared .align 16 .b8 t[512];\n.loc 1 2 0\nmov.u32 %r1, %laneid;\n"
        "shl.b32 %r1, %r1, 2;\nmov.u32 %r2, t;\nadd.u32 %r2, %r2, %r1;\n.loc 1 3 0\n"
        "st.shared.u32 [%r2], %r1;\nst.shared.u16 [%r2+128], %r1;\nst.shared.u32 [s], %r1;\nret;\n}\n"
        ".file 1 \"k.cu\"\n";
    struct simt_picture what = { .line = 3, .exact = true, .instruction = 5 };
    struct dev_launch how = { .block = { 32 } };
    struct simt *s = simt_open();
    char error[DEV_ERROR_MAX] = "";
    simt_set_checks(s, true);
    struct simt_module *m = simt_load(s, "k.ptx", ptx, sizeof ptx - 1, error);
    cr_assert(m, "%s", error);
    char *svg = simt_draw(s, simt_kernel(m, "k"), &how, &what, error);
    cr_assert(svg, "%s", error);
    cr_expect(strstr(svg, "st.shared.u16") && strstr(svg, "bytes 128 to 131 of t: lane 0"));
    free(svg);
    what.instruction = 0;
    cr_expect_null(simt_draw(s, simt_kernel(m, "k"), &how, &what, error));
    cr_expect(strstr(error, "k.cu:3: warp 0 of block (0,0,0) does not execute that instruction there"), "%s", error);
    simt_close(s);
}

// 32 lanes read an array of 20 words.
Test(draw, lanes_out_of_bounds_and_misaligned_ones_are_told)
{
    static const char ptx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg .b32 %r<4>;\n"
        ".reg .b64 %l<4>;\n.loc 1 2 0\nld.param.u64 %l1, [a];\nmov.u32 %r1, %laneid;\nmul.wide.u32 %l2, %r1, 4;\n"
        "add.u64 %l1, %l1, %l2;\n.loc 1 3 0\nld.global.u32 %r2, [%l1];\n.loc 1 4 0\nst.global.u64 [%l1], %l2;\n"
        "ret;\n}\n.file 1 \"k.cu\"\n";
    struct simt_picture what = { .line = 3, .global = true };
    uint64_t address;
    struct simt *s = simt_open();
    char error[DEV_ERROR_MAX] = "";
    simt_set_checks(s, true);
    struct simt_module *m = simt_load(s, "k.ptx", ptx, sizeof ptx - 1, error);
    cr_assert(m && simt_alloc(s, "words", 80, &address, error), "%s", error);
    const struct dev_arg arg = DEV_ARG(address);
    const struct dev_launch how = { .block = { 32 }, .args = &arg, .n_args = 1 };
    for (int large = 0; large < 2; large++) {
        what.large = large;
        char *svg = simt_draw(s, simt_kernel(m, "k"), &how, &what, error);
        cr_assert(svg, "%s", error);
        cr_expect(strstr(svg, "Out of bounds: lanes 20–31, lane 20 at byte 80 of words. They read 0."), "%s", svg);
        cr_expect(large || strstr(svg, ">124<"), "the last lane's address is not there");
        free(svg);
    }
    what.line = 4;
    char *svg = simt_draw(s, simt_kernel(m, "k"), &how, &what, error);
    cr_assert(svg, "%s", error);
    cr_expect(
        strstr(svg,
               "Misaligned: lanes 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, lane 1 at byte 4 of words. They store nothing."),
        "%s", svg);
    free(svg);
    simt_close(s);
}

Test(draw, bad_usage_ends_in_one_line_and_status_2)
{
    static const char *const cases[][2] = {
        { STEP_05 ARGS_05 "--line 1", "kernel.cu:1 has no shared-memory instruction; these lines have: " },
        { STEP_05 ARGS_05 "--line 1 --global", "kernel.cu:1 has no global-memory instruction; these lines have: " },
        { STEP_05 ARGS_05 "--line other.h:77", "other.h:77 has no shared-memory instruction" },
        { STEP_05 ARGS_05 "--line 77 --warp 8", "a block has 8 warps" },
        { STEP_05 ARGS_05 "--line 77 --block-index 0,1", "the grid has 1,1,1 blocks" },
        { STEP_05 ARGS_05 "--line 0", "--line \"0\": must be " },
        { STEP_05 ARGS_05 "--line :5", "--line \":5\": must be " },
        { STEP_05 ARGS_05 "--line 5 --block-index 1,2,3,4", ": must be " },
        { STEP_05 ARGS_05, "--line N" },
        { STEP_05 "--line 5", "--out F.svg" },
        { STEP_05 ARGS_05 "--line 5 --fragment a", "--fragment takes no PTX file" },
        { STEP_05 ARGS_05 "--line 5 --type f16", "--shape and --type go with --fragment" },
        { STEP_05 "--line 5 --out - i32:1", "takes 8 arguments, 1 was given" },
        { "--out -", "A PTX file and a kernel, or --fragment" },
        { "--fragment a --out /nowhere/x.svg", "--out \"/nowhere/x.svg\": cannot write it: No such file" },
        { "--fragment a --out /tmp", "--out \"/tmp\": cannot write it: Is a directory" },
        { STEP_05 ARGS_05 "--line 77 --out /tmp/", "--out \"/tmp/\": cannot write it: Is a directory" },
        { "--fragment a --out /dev/full", "/dev/full: No space left" },
        { "--fragment a --out - > /dev/full", "standard output: No space left" },
        { "--fragment e --out -", "the operands are a, b and c" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = draw(text, cases[i][0]);
        cr_expect_eq(status, 2, "%s: status %d", cases[i][0], status);
        cr_expect(strstr(text, cases[i][1]), "%s: %s", cases[i][0], text);
        cr_expect_eq(count(text, "\n"), 1, "%s: %s", cases[i][0], text);
    }
}

Test(draw, a_kernel_that_goes_wrong_is_not_drawn_and_ends_in_status_1)
{
    cr_expect_eq(draw(text,
                      "'" TILE_PTX "' mma_plain --block 32 'f16[256]=zeros' 'f16[9]=iota' 'f16[256]=iota' --out - "
                      "--line 14"),
                 1, "%s", text);
    cr_expect(strstr(text, "out of bounds"), "%s", text);
}
