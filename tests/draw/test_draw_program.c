// The pictures of `simt draw`: which instruction it takes, and what it refuses in one line. TILE_PTX, SIMT, and the
// folders STEPS_PTX and STEPS_FOLDER are paths that the build defines.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "compiler.h"
#include "file_text.h"
#include "program_case.h"
#include "simt/simt.h"
#include "xml.h"

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

// The line of the step's source that holds the words.
static unsigned line_of(const char *words)
{
    return file_line_of(STEPS_FOLDER "/05_vectorized/kernel.cu", words);
}

Test(draw_program, the_program_draws_the_instruction_of_a_line)
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

Test(draw_program, other_instructions_are_drawn_or_refused_by_name)
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
Test(draw_program, one_instruction_of_a_line_under_checks)
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
Test(draw_program, lanes_out_of_bounds_and_misaligned_ones_are_told)
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

Test(draw_program, bad_usage_ends_in_one_line_and_status_2)
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

Test(draw_program, a_kernel_that_goes_wrong_is_not_drawn_and_ends_in_status_1)
{
    cr_expect_eq(draw(text,
                      "'" TILE_PTX "' mma_plain --block 32 'f16[256]=zeros' 'f16[9]=iota' 'f16[256]=iota' --out - "
                      "--line 14"),
                 1, "%s", text);
    cr_expect(strstr(text, "out of bounds"), "%s", text);
}
