// The PTX parser and decoder on text that is right, cut off, wrong and random: what is refused gets one line that
// begins with file:line:column, and no text crashes or hangs the simulated GPU.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_case.h"
#include "simt/simt.h"

// A small module with most of the grammar in it.
static const char small[] =
    "//\n// a comment\n/* another */\n.version 7.0\n.target sm_75, debug\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".const .align 4 .f32 half[2] = {0f3F000000, 0.25};\n.global .attribute(.managed) .align 8 .b8 text[6] = {104, "
    "105, 10};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry k(.param .u64 .ptr .global .align 4 out, .param .u64 in)\n.maxntid 64, 1, 1\n.minnctapersm 2\n{\n"
    ".local .align 8 .b8 __local_depot0[16];\n.reg .b64 %SP, %SPL;\n.reg .pred %p<3>;\n.reg .f32 %f<4>;\n"
    ".reg .b32 %r<6>;\n.reg .b64 %rd<5>;\n.shared .align 4 .b8 tile[64];\n"
    "\t.loc 1 5 0\nmov.u64 %SPL, __local_depot0;\ncvta.local.u64 %SP, %SPL;\nld.param.u64 %rd1, [out];\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n\t.loc 1 9 2\n"
    "\t.loc 1 6 3, function_name $L__info_string0, inlined_at 1 9 2\n"
    "setp.gt.s32 %p1|%p2, %r1, 40;\n@%p1 bra $L__BB0_2;\nmov.u32 %r2, tile;\nst.shared.f32 [%r2+4], 0f3F800000;\n"
    "ld.shared.v2.f32 {%f1, _}, [tile];\n{ // inline asm\n.reg .b32 t; mov.b32 t, %r1; add.s32 %r3, t, -1;\n}\n"
    "fma.rn.f32 %f2, %f1, 0f40000000, %f1;\nmul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "st.global.u32 [%rd4], %r3;\nbar.sync 0;\n$L__BB0_2:\nret;\n}\n"
    ".file 1 \"kernel.cu\", 17, 400\n.section .debug_str\n{\n$L__info_string0:\n.b8 95, 90\n}\n";

enum { BUDGET = 2000, THREADS = 64 };

static struct dev *simulator(void)
{
    struct dev *d = ptx_simulator();
    dev_set_budget(d, BUDGET);
    dev_set_jobs(d, 1);
    return d;
}

// file:line:column: text, and nothing that breaks the line.
static bool is_placed(const char *message)
{
    unsigned line, column;
    int n = 0;
    if (sscanf(message, "test.ptx:%u:%u: %n", &line, &column, &n) != 2 || !n || !message[n])
        return false;
    for (; *message; message++)
        if ((unsigned char)*message < ' ')
            return false;
    return true;
}

static struct dev_module *load(struct dev *d, const char *text, size_t bytes)
{
    return dev_load_text(d, "test.ptx", text, bytes);
}

// The module must be refused at that line, with that text in the message.
static void expect_refused(const char *text, unsigned line, const char *what)
{
    struct dev *d = simulator();
    struct dev_module *m = load(d, text, strlen(text));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    char place[32];
    snprintf(place, sizeof place, "test.ptx:%u:", line);
    cr_expect_null(k, "accepted: %s", text);
    cr_expect(is_placed(dev_error(d)), "no place, or several lines: %s", dev_error(d));
    cr_expect(strncmp(dev_error(d), place, strlen(place)) == 0, "line %u is meant: %s", line, dev_error(d));
    cr_expect_not_null(strstr(dev_error(d), what), "'%s' is not in: %s", what, dev_error(d));
    dev_close(d);
}

// Loads, and runs the kernel k where there is one. Any outcome is right that leaves one line.
static bool survive(struct dev *d, const char *text, size_t bytes, dev_ptr out)
{
    struct dev_module *m = load(d, text, bytes);
    bool ran = false;
    if (!m) {
        // common/base/device_front.c refuses text with NUL bytes before any parser sees it.
        cr_expect(memchr(text, 0, bytes) || !bytes || is_placed(dev_error(d)), "no place, or several lines: %s",
                  dev_error(d));
        return false;
    }
    struct dev_kernel *k = dev_kernel(d, m, "k");
    if (k) {
        struct dev_arg args[] = { DEV_ARG(out), DEV_ARG(out) };
        struct dev_launch launch = { .grid = { 1 }, .block = { THREADS }, .shared = 64, .args = args, .n_args = 2 };
        ran = dev_launch(d, k, &launch) && dev_sync(d);
        cr_expect(ran || (*dev_error(d) && !strchr(dev_error(d), '\n')), "not one line: %s", dev_error(d));
    }
    dev_unload(d, m);
    return ran;
}

static dev_ptr buffer(struct dev *d)
{
    dev_ptr out = 0;
    cr_assert(dev_alloc(d, "out", 4 * THREADS, &out), "%s", dev_error(d));
    return out;
}

// --- accepted ---

Test(ptx_parse, what_nvcc_writes_is_accepted_and_runs)
{
    struct dev *d = simulator();
    dev_ptr out = buffer(d);
    uint32_t got[THREADS] = { 0 };
    cr_assert(dev_upload(d, out, got, sizeof got), "%s", dev_error(d));
    cr_assert(survive(d, small, strlen(small), out), "%s", dev_error(d));
    cr_assert(dev_download(d, got, out, sizeof got), "%s", dev_error(d));
    for (uint32_t i = 0; i < THREADS; i++)
        cr_expect_eq(got[i], i > 40 ? 0 : i - 1, "thread %u wrote %u", i, got[i]);
    dev_close(d);
}

// --- refused ---

#define ENTRY                                                                                                          \
    PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %r<4>;\n.reg .pred %p;\n.reg .b64 "     \
             "%d;\n"
#define BODY(line) ENTRY line "\nret;\n}\n"
enum { AT = 9 };  // the line of BODY's argument

Test(ptx_parse, text_that_is_no_ptx_is_refused_at_its_first_line)
{
    struct dev *d = simulator();
    cr_expect_null(load(d, "", 0));
    cr_expect(strncmp(dev_error(d), "test.ptx: ", 10) == 0 && !strchr(dev_error(d), '\n'), "%s", dev_error(d));
    dev_close(d);
    expect_refused("hello", 1, "not PTX");
    expect_refused("\x7f"
                   "ELF\2\1\1",
                   1, "not PTX");
    expect_refused(".version 7.0\n", 2, ".target");
    expect_refused(".version seven\n.target sm_75\n", 1, "version");
    expect_refused(".version 7.0\n.target sm_75\n.address_size 32\n", 3, "64-bit");
}

// As a kernel has it that keeps its stages apart by bits of the address.
Test(ptx_parse, variables_are_aligned_to_more_than_a_page)
{
    struct dev *d = simulator();
    static const char text[] = PTX_HEAD
        ".global .align 65536 .b8 x[4];\n.visible .entry k()\n{\n.shared .align 16384 .b8 a[24576];\nret;\n}\n";
    cr_expect(load(d, text, strlen(text)), "%s", dev_error(d));
    dev_close(d);
    expect_refused(PTX_HEAD ".global .align 131072 .b8 x[4];\n", 4, "power of two up to 65536");
}

Test(ptx_parse, unknown_directives_are_refused)
{
    expect_refused(PTX_HEAD ".surprise 3\n", 4, ".surprise");
    expect_refused(BODY(".surprise 3;"), AT, ".surprise");
    expect_refused(PTX_HEAD ".global .align 3 .b8 x[4];\n", 4, "power of two");
    expect_refused(PTX_HEAD ".global .attribute(.unified) .b32 x;\n", 4, "expected .managed");
    expect_refused(PTX_HEAD ".global .b32 x[2] = {1, 2, 3};\n", 4, "initialisers");
    expect_refused(PTX_HEAD ".global .b128 x = 1;\n", 4, "initialisers of type .b128");
    expect_refused(PTX_HEAD ".global .b32 x;\n.global .b32 x;\n", 5, "twice");
    expect_refused(PTX_HEAD ".global .b8 x[4096];\n.global .b8 y[1073741824];\n", 5, "1 GiB");
}

Test(ptx_parse, names_must_be_declared_and_only_once)
{
    expect_refused(BODY("mov.u32 %r1, %r4;"), AT, "'%r4'");
    expect_refused(BODY("mov.u32 %r9, %r1;"), AT, "writes a register");
    expect_refused(BODY("mov.u32 %r1, somewhere;"), AT, "'somewhere'");
    expect_refused(BODY("ld.global.u32 %r1, [nowhere];"), AT, "'nowhere'");
    expect_refused(BODY("@%r1 mov.u32 %r1, %r2;"), AT, "not a predicate");
    expect_refused(BODY("bra NOWHERE;"), AT, "'NOWHERE'");
    expect_refused(BODY("A: mov.u32 %r1, 1;\nA: mov.u32 %r1, 2;"), AT + 1, "twice");
    expect_refused(BODY(".reg .b32 a;\n.reg .b32 a;"), AT + 1, "twice");
    expect_refused(BODY("{\nINNER: mov.u32 %r1, 1;\n}\nbra INNER;"), AT + 3, "'INNER'");
}

Test(ptx_parse, operands_must_fit_the_instruction)
{
    expect_refused(BODY("add.s32 %r1, %r2;"), AT, "operands");
    expect_refused(BODY("add.s32 %r1, %r2, %r3, %r0;"), AT, "operands");
    expect_refused(BODY("add.s32 %r1, %r2, %d;"), AT, "32 bits");
    expect_refused(BODY("add.s64 %r1, %d, %d;"), AT, "64 bits");
    expect_refused(BODY("add.s32 %r1, !%r2, %r3;"), AT, "operand");
    expect_refused(BODY("add.s32 %r1, {%r2, %r3}, %r3;"), AT, "operand");
    expect_refused(BODY("ld.global.u32 %r1, [%r2];"), AT, "64-bit register");
    expect_refused(BODY("ld.global.u64 %r1, [%d];"), AT, "cannot hold");
    expect_refused(BODY("ld.global.v2.u32 {%r1, %r2, %r3}, [%d];"), AT, "registers");
    expect_refused(BODY("ld.param.u64 %d, [out+16];"), AT, "beyond");
    expect_refused(BODY("ld.global.u32 %r1, [%d-4];"), AT, "[%d+-4]");
    expect_refused(BODY("ex2.approx.ftz.f16x2 %r1, %r2;"), AT, "no .ftz");
    expect_refused(BODY("tanh.approx.ftz.f16x2 %r1, %r2;"), AT, "no .ftz");
    expect_refused(BODY("mov.f32 %r1, 3;"), AT, "integer");
    expect_refused(BODY("add.s32 %r1, %r2, 1.5;"), AT, "fraction");
    expect_refused(BODY("mov.u32 %r1 %r2;"), AT, "','");
    expect_refused(BODY("mov.u32 %r1, 08;"), AT, "operand");
    expect_refused(BODY("setp.eq.s32 !%p, %r1, 0;"), AT, "negated");
    expect_refused(BODY("mov.pred !%p, 1;"), AT, "negated");
    expect_refused(BODY("not.pred !%p, %p;"), AT, "negated");
    expect_refused(BODY("vote.sync.any.pred !%p, %p, -1;"), AT, "negated");
    expect_refused(BODY("addc %r1, %r2, %r3;"), AT, "'addc'");
    expect_refused(BODY("cc %r1, %r2, %r3;"), AT, "'cc'");
    expect_refused(BODY("lop3.or.b32 %r1, %r2, %r3, %r0, 3, %p;"), AT, "d|p");
    expect_refused(BODY("mov.b64 %d, {A, B};\nA:\nB:"), AT, "'A' is not declared");
    expect_refused(BODY("mbarrier.test_wait.shared.b64 %p, [8];"), AT, "operands");
}

Test(ptx_parse, an_unknown_instruction_refuses_its_kernel_and_no_other)
{
    static const char text[] = BODY("frobnicate.b32 %r1, %r2;") ".visible .entry good()\n{\nret;\n}\n";
    struct dev *d = simulator();
    struct dev_module *m = load(d, text, strlen(text));
    struct dev_launch launch = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    cr_assert_not_null(m, "%s", dev_error(d));
    cr_expect_null(dev_kernel(d, m, "k"));
    cr_expect(is_placed(dev_error(d)) && strstr(dev_error(d), "frobnicate.b32"), "%s", dev_error(d));
    cr_expect_null(dev_kernel(d, m, "absent"));
    cr_expect_not_null(strstr(dev_error(d), "absent"), "%s", dev_error(d));
    struct dev_kernel *good = dev_kernel(d, m, "good");
    cr_assert_not_null(good, "%s", dev_error(d));
    cr_expect(dev_launch(d, good, &launch) && dev_sync(d), "%s", dev_error(d));
    dev_close(d);
}

// Loads before and after a broken declaration or function, and expects k to be refused at that line for that reason,
// and the kernel good to run.
static void expect_only_k_refused(const char *text, unsigned line, const char *what)
{
    struct dev *d = simulator();
    struct dev_module *m = load(d, text, strlen(text));
    struct dev_launch launch = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    char place[32];
    cr_assert_not_null(m, "the whole file is refused: %s", dev_error(d));
    cr_expect_null(dev_kernel(d, m, "k"), "accepted: %s", text);
    snprintf(place, sizeof place, "test.ptx:%u:", line);
    cr_expect(strncmp(dev_error(d), place, strlen(place)) == 0, "line %u is meant: %s", line, dev_error(d));
    cr_expect_not_null(strstr(dev_error(d), what), "'%s' is not in: %s", what, dev_error(d));
    struct dev_kernel *good = dev_kernel(d, m, "good");
    cr_assert_not_null(good, "%s", dev_error(d));
    cr_expect(dev_launch(d, good, &launch) && dev_sync(d), "%s", dev_error(d));
    dev_close(d);
}

#define GOOD ".visible .entry good()\n{\nret;\n}\n"

Test(ptx_parse, a_kernel_that_does_not_parse_is_refused_and_no_other)
{
    expect_only_k_refused(BODY("mov.u32 %r1 %r2;") GOOD, AT, "','");
    expect_only_k_refused(PTX_HEAD GOOD ".visible .entry k(.reg .u32 x)\n{\nret;\n}\n", 8, ".param variables");
    expect_only_k_refused(BODY("{ .surprise 3; }") GOOD, AT, ".surprise");
    expect_only_k_refused(BODY("mov.u32 %r1, \"text\";") GOOD, AT, "operand");
}

Test(ptx_parse, a_function_that_does_not_parse_refuses_the_kernels_that_call_it)
{
    expect_only_k_refused(PTX_HEAD ".func f()\n{\nmov.u32 %r1 %r2;\n}\n" GOOD
                                   ".visible .entry k()\n{\ncall f;\nret;\n}\n",
                          6, "before '%r2'");
}

Test(ptx_parse, a_function_that_calls_itself_has_its_errors_where_they_stand)
{
    expect_only_k_refused(PTX_HEAD
                          ".func f()\n{\n.local .b32 own;\n.reg .b16 %h;\nmov.u16 %h, own;\ncall f;\nret;\n}\n" GOOD
                          ".visible .entry k()\n{\ncall f;\nret;\n}\n",
                          8, "16 bits");
}

Test(ptx_parse, a_declaration_that_is_not_supported_refuses_the_kernels_that_name_it)
{
    expect_only_k_refused(PTX_HEAD ".global .texref picture;\n" GOOD
                                   ".visible .entry k()\n{\n.reg .b64 %d;\nmov.u64 %d, picture;\nret;\n}\n",
                          12, "textures are not supported");
    expect_only_k_refused(PTX_HEAD ".surprise x\n" GOOD
                                   ".visible .entry k()\n{\n.reg .b64 %d;\nld.global.u64 %d, [x];\n}\n",
                          12, "'.surprise'");
}

Test(ptx_parse, what_is_not_supported_is_said_by_its_name)
{
    expect_only_k_refused(BODY("tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%d, {%r0, %r1}];") GOOD, AT, "textures");
    expect_only_k_refused(BODY("suld.b.2d.b32.trap %r0, [%d, {%r0, %r1}];") GOOD, AT, "surfaces");
    expect_only_k_refused(BODY("multimem.red.relaxed.gpu.global.add.u32 [%d], %r0;") GOOD, AT, "multimem");
    expect_only_k_refused(BODY(".reg .v2 .b128 %v;") GOOD, AT, "vectors of registers of 128 bits");
    expect_only_k_refused(BODY("call cudaLaunchDeviceV2, ();") GOOD, AT, "dynamic parallelism");
    expect_only_k_refused(BODY("ld.global.u32 %r0, [%d, {%r1}];") GOOD, AT, "address alone");
    expect_only_k_refused(
        BODY("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], "
             "[%r1];") GOOD,
        AT, "clusterlaunchcontrol");
}

Test(ptx_parse, nesting_has_an_end)
{
    static char text[8192];
    strcpy(text, ENTRY);
    for (int i = 0; i < 100; i++)
        strcat(text, "{");
    expect_refused(text, AT, "too deeply");
    strcpy(text, PTX_HEAD ".global .b32 x[4] = ");
    for (int i = 0; i < 100; i++)
        strcat(text, "{");
    expect_refused(text, 4, "too deeply");
    strcpy(text, ENTRY "call ");
    for (int i = 0; i < 100; i++)
        strcat(text, "(");
    expect_refused(text, AT, "too deeply");
}

// --- small texts that ask for much ---

Test(ptx_parse, registers_and_parameters_have_a_limit)
{
    expect_refused(PTX_HEAD ".visible .entry k(.param .b8 p[4294967296])\n{\nret;\n}\n", 4, "bytes of parameters");
    expect_refused(BODY(".reg .b64 %a<1048576>;\n.reg .b64 %b<1048576>;\n.reg .b64 %c<1048576>;"), AT + 1, "memory");
    // Registers that no instruction names cost nothing; an array is as large in memory as its initialisers.
    static const char unused[] = BODY(".reg .b64 %a<100000>;") ".shared .b8 s[60000000000] = {1, 2};\n";
    struct dev *d = simulator();
    cr_expect(survive(d, unused, strlen(unused), buffer(d)), "%s", dev_error(d));
    dev_close(d);
}

// A function that calls the next one four times, and so on: 4^30 calls in less than 2 KB.
Test(ptx_parse, calls_that_multiply_are_refused)
{
    static char text[8192];
    char *end = text + sprintf(text, PTX_HEAD ".func f30() { }\n");
    for (int i = 29; i >= 0; i--)
        end += sprintf(end, ".func f%d() { call f%d; call f%d; call f%d; call f%d; }\n", i, i + 1, i + 1, i + 1, i + 1);
    sprintf(end, ".visible .entry k(.param .u64 out, .param .u64 in)\n{\ncall f0;\nret;\n}\n");
    expect_refused(text, 5, "too large");
}

// Each block's registers are alive in all blocks before it: liveness takes as many passes as there are blocks.
Test(ptx_parse, a_chain_of_blocks_that_runs_backward_is_refused_in_time)
{
    enum { BLOCKS = 4000, LINE = 60 };
    char *text = malloc(LINE * (BLOCKS + 20)), *end = text;
    cr_assert_not_null(text);
    end += sprintf(end, PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %%r<%d>;\nbra L1;\n",
                   BLOCKS);
    for (int i = BLOCKS - 1; i; i--)
        end += sprintf(end, "L%d: add.u32 %%r0, %%r%d, 1;\nbra L%d;\n", i, i, i + 1 < BLOCKS ? i + 1 : i);
    sprintf(end, "}\n");
    expect_refused(text, 4, "too large");
    free(text);
}

// Many small kernels, each with a comment as long as a line of nvcc's: what a library's header makes of one source
// file. A count from the file's beginning for each instruction would take minutes.
Test(ptx_parse, the_lines_of_a_long_module_are_counted_in_time, .timeout = 20)
{
    enum { KERNELS = 10000, LINES = 34, FIRST = 4, ROOM = 2500 };  // of a kernel: its lines, its first instruction's
    char *text = malloc((size_t)KERNELS * ROOM), *end = text, error[DEV_ERROR_MAX];
    cr_assert_not_null(text);
    end += sprintf(end, PTX_HEAD);
    for (int k = 0; k < KERNELS; k++) {
        end += sprintf(end, ".visible .entry k%d()\n{\n.reg .b32 %%r;\n", k);
        for (int i = FIRST; i < LINES - 1; i++)
            end += sprintf(end, "mov.u32 %%r, %d; // %040d\n", i, i);
        end += sprintf(end, "ret;\n}\n");
    }
    struct simt *s = simt_open();
    struct simt_module *m = simt_load(s, "test.ptx", text, (size_t)(end - text), error);
    cr_assert(m, "%s", error);
    for (uint32_t k = 0; k < KERNELS; k++) {
        struct simt_instruction in;
        for (uint32_t i = 0; simt_instruction(simt_kernel_at(m, k), i, &in); i++)
            cr_assert_eq(in.ptx_line, 3 + k * LINES + FIRST + i, "kernel %u, instruction %u: line %u", k, i,
                         in.ptx_line);
    }
    simt_close(s);
    free(text);
}

// --- robust ---

Test(ptx_parse, a_module_cut_at_any_byte_is_refused_or_runs)
{
    struct dev *d = simulator();
    dev_ptr out = buffer(d);
    size_t ran = 0, bytes = strlen(small);
    char *exact = malloc(bytes);
    cr_assert_not_null(exact);
    for (size_t n = 0; n < bytes; n++) {
        memcpy(exact, small, n);
        ran += survive(d, exact, n, out);
    }
    // The kernel is whole after its last brace; what follows is .file and .section.
    cr_expect_leq(ran, 80, "%zu of %zu cuts ran", ran, bytes);
    free(exact);
    dev_close(d);
}

Test(ptx_parse, a_line_of_a_megabyte_is_refused_with_one_short_line)
{
    enum { SIZE = 1 << 20 };
    struct dev *d = simulator();
    char *text = malloc(SIZE + 1);
    static const char fills[] = { 'a', '{', '0', '.', '"', ' ', '%', '(', ',', '\1', '\xff' };
    cr_assert_not_null(text);
    text[SIZE] = 0;
    for (size_t i = 0; i < sizeof fills; i++) {
        memset(text, fills[i], SIZE);
        memcpy(text, ENTRY, strlen(ENTRY));
        cr_expect_null(load(d, text, SIZE), "a megabyte of 0x%02x", (unsigned char)fills[i]);
        cr_expect(is_placed(dev_error(d)), "0x%02x: %s", (unsigned char)fills[i], dev_error(d));
    }
    free(text);
    dev_close(d);
}

static uint64_t next(uint64_t *state)  // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static void mutate(char *text, size_t *n, uint64_t *state)
{
    static const char likely[] = "0123456789.,;:{}()[]<>%@!|_+-=\"/*\n \tabfrsuvx";
    size_t at = next(state) % *n, length = 1 + next(state) % 12, from = next(state) % *n;
    length = at + length > *n ? *n - at : length;
    length = from + length > *n ? *n - from : length;
    switch (next(state) % 5) {
    case 0:
        text[at] = likely[next(state) % (sizeof likely - 1)];
        break;
    case 1:
        text[at] = (char)next(state);
        break;
    case 2:  // leave some out
        memmove(text + at, text + at + length, *n - at - length);
        *n -= length;
        break;
    case 3:  // put some in a second time
        memmove(text + at, text + from, length);
        break;
    default:  // exchange two bytes
        length = (unsigned char)text[at];
        text[at] = text[from];
        text[from] = (char)length;
    }
}

Test(ptx_parse, ten_thousand_mutations_do_no_harm)
{
    struct dev *d = simulator();
    dev_ptr out = buffer(d);
    uint64_t state = 0x5eed;
    size_t ran = 0;
    for (int round = 0; round < 10000; round++) {
        char text[sizeof small];
        size_t n = strlen(small);
        memcpy(text, small, sizeof small);
        for (uint64_t k = 1 + next(&state) % 3; k > 0; k--)
            mutate(text, &n, &state);
        ran += survive(d, text, n, out);
    }
    cr_expect(ran > 100 && ran < 9900, "%zu of 10000 mutations still ran: they miss the point", ran);
    dev_close(d);
}

// --- Several texts in one, as those of a program linked with -rdc=true ---

#define UNIT ".version 8.0\n.target sm_80\n.address_size 64\n"

// What k stores: the sum of what both units say, by names that each has for itself and by those that they share.
static const char two_units[] = UNIT
    ".extern .func (.param .b32 r) other;\n.extern .global .align 4 .u32 shared_by_all;\n"
    ".file 1 \"first.cu\"\n.global .align 4 .u32 own = 1;\n"
    ".weak .func (.param .b32 r) weak()\n{\n.reg .b32 %a;\nmov.u32 %a, 10;\nst.param.b32 [r], %a;\nret;\n}\n"
    ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %a<8>;\n.reg .b64 %d;\n"
    "{\n.param .b32 r;\ncall.uni (r), other;\nld.param.b32 %a1, [r];\n}\n"
    "{\n.param .b32 r;\ncall.uni (r), weak;\nld.param.b32 %a2, [r];\n}\n"
    "ld.global.u32 %a3, [own];\nld.global.u32 %a4, [shared_by_all];\n"
    "add.u32 %a5, %a1, %a2;\nadd.u32 %a6, %a3, %a4;\nadd.u32 %a7, %a5, %a6;\n"
    ".loc 1 7 1\nld.param.u64 %d, [out];\nst.global.u32 [%d], %a7;\nret;\n}\n" UNIT
    ".file 1 \"second.cu\"\n.global .align 4 .u32 own = 100;\n.visible .global .align 4 .u32 shared_by_all = 1000;\n"
    ".global .align 8 .u64 where = generic(own);\n"
    ".weak .func (.param .b32 r) weak()\n{\n.reg .b32 %a;\nmov.u32 %a, 99;\nst.param.b32 [r], %a;\nret;\n}\n"
    ".visible .func (.param .b32 r) other()\n{\n.reg .b32 %a<2>;\n.reg .b64 %d;\n"
    ".loc 1 3 1\nld.global.u64 %d, [where];\nld.u32 %a1, [%d];\nst.param.b32 [r], %a1;\nret;\n}\n";

Test(ptx_parse, units_are_linked_by_visible_names_and_keep_their_own)
{
    struct dev *d = simulator();
    struct dev_module *m = load(d, two_units, strlen(two_units));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    cr_assert(k, "%s", dev_error(d));
    dev_ptr out = buffer(d);
    struct dev_arg args[] = { DEV_ARG(out) };
    const struct dev_launch launch = { .grid = { 1 }, .block = { 1 }, .args = args, .n_args = 1 };
    uint32_t sum = 0;
    cr_assert(dev_launch(d, k, &launch) && dev_sync(d) && dev_download(d, &sum, out, sizeof sum), "%s", dev_error(d));
    cr_assert_eq(sum, 100 + 10 + 1 + 1000);
    dev_close(d);
}

Test(ptx_parse, lines_of_a_unit_are_those_of_its_own_files)
{
    struct simt *s = simt_open();
    char error[DEV_ERROR_MAX];
    struct simt_module *m = simt_load(s, "two.ptx", two_units, strlen(two_units), error);
    cr_assert(m, "%s", error);
    struct simt_kernel *k = simt_kernel(m, "k");
    bool first = false, second = false;
    struct simt_place p;
    struct simt_instruction in;
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++)
        if (simt_instruction_place(k, i, 0, &p)) {
            first |= !strcmp(p.file, "first.cu") && p.line == 7;
            second |= !strcmp(p.file, "second.cu") && p.line == 3;
        }
    cr_expect(first, "no line 7 of first.cu");
    cr_expect(second, "no line 3 of second.cu");
    simt_close(s);
}

Test(ptx_parse, each_unit_needs_a_target)
{
    expect_refused(UNIT ".visible .entry k()\n{\nret;\n}\n.version 8.0\n.address_size 64\n", 10, "there is no .target");
}
