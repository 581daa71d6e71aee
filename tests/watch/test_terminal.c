// The watch in the terminal: commands of the line mode, what it says of a launch that hangs, and the command that a
// finding ends with. SIMT is the program.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program_case.h"
#include "watch/terminal.h"
#include "watch_case.h"

TestSuite(terminal, .fini = forget_scratch);

// What the watch prints when it is given these commands. The caller frees it.
static char *said(const char *ptx, unsigned threads, const char *commands, const struct watch_begin *begin)
{
    struct watch_case c;
    char *text, *copy = strdup(commands);
    size_t bytes;
    watch_case_open(&c, ptx, threads);
    FILE *in = fmemopen(copy, strlen(copy), "r"), *out = open_memstream(&text, &bytes);
    cr_assert(in && out);
    cr_assert(watch_lines(c.simt, c.kernel, &c.launch, begin, in, out, c.error), "%s", c.error);
    fclose(in);
    fclose(out);
    free(copy);
    watch_case_close(&c);
    return text;
}

static void expect(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "%s\nis not in\n%s", part, text);
}

static const struct watch_begin first = { .place = true, .warp = 0 };

Test(terminal, goes_forwards_and_back)
{
    char *text = said(watch_case_text, 64,
                      "step 6\nback 2\nstep\n\nback\nend\nback barrier\ngo 3\ngo 64\nblock 1x\nnonsense\n", &first);
    expect(text, "watch> step 6\nstep 6 of 64: warp 0, its step 6, all lanes\n");
    expect(text, "    add.s32 %r2, %r2, 1\n    =  %r2: 1 (the same in these lanes)\n");
    expect(text, "watch> back 2\nstep 4 of 64: warp 0");
    expect(text, "watch> step\nstep 5 of 64: warp 0");
    expect(text, "watch> \nstep 6 of 64: warp 0");
    expect(text, "watch> back\nstep 5 of 64: warp 0");
    expect(text, "watch> end\nstep 58 of 64: warp 0, its step 31, all lanes\n  instruction 20  \n    ret\n");
    expect(text,
           "watch> back barrier\nstep 26 of 64: warp 0, its step 26, all lanes\n  instruction 15  \n    bar.sync 0\n");
    expect(text, "watch> go 64\ngo N: one of the 64 steps of the block, from 0 on\n");
    expect(text, "watch> block 1x\nblock N or block X,Y,Z; not '1x'\n");
    expect(text, "there is no command 'nonsense'");
    free(text);
}

Test(terminal, prints_values_and_says_who_made_them)
{
    char *text = said(
        watch_case_text, 64,
        "end\nback\nprint %r8\nprint s[5] u32\nwho wrote s[40]\nwarp 1\nend\nwho made %r2\nwarps\nbarriers\n", &first);
    expect(text, "%r8, b32, warp 0: 3 (the same in these lanes)\n");
    expect(text, "byte 20 of s, u32: 3 3 3 3 3 3 3 3\n");
    expect(text, "byte 160 of s was written by thread 40 (warp 1, lane 8) at instruction 14\nstep 52 of 64: warp 1");
    expect(text, "watch> who made %r2\nstep 45 of 64: warp 1, its step 18, all lanes\n");
    expect(text, "warp 0, all lanes: wait at barrier 0, instruction 15\nwarp 1, all lanes: instruction 7\n");
    expect(text, "barrier 0: 32 threads have come of all that have not ended\n");
    free(text);
}

Test(terminal, prints_a_matrix_of_registers)
{
    static const char mma[] =
        WATCH_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<2>;\n.reg .f64 %f<4>;\nmov.u32 %r1, %laneid;\n"
                   "cvt.rn.f64.u32 %f1, %r1;\nmov.f64 %f2, 0d3FE0000000000000;\nmov.f64 %f3, 0d0000000000000000;\n"
                   "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f2, %f3}, {%f1}, {%f1}, {%f2, %f3};\nret;\n}\n";
    char *text =
        said(mma, 32, "matrix\nstep 4\nmatrix A\nmatrix b lanes\nmatrix C 4\nmatrix D 8\nmatrix what\n", &first);
    expect(text, "watch> matrix\nno registers hold a matrix here");
    expect(text, "watch> matrix A\nA, 8 x 4, f64\n                0           1           2           3\n"
                 "   0:           0           1           2           3\n");
    expect(text, "\n   3:       3:%f1       7:%f1      11:%f1 ");
    expect(text, "C, 8 x 8, f64, columns 4 to 7\n                4           5           6           7\n"
                 "   0:         0.5           0         0.5           0\n");
    expect(text, "watch> matrix D 8\nthere is no such matrix, or no such column\n");
    expect(text, "matrix [A|B|C|D] [COLUMN] [lanes]; not 'what'");
    free(text);
}

Test(terminal, counts_the_groups_of_copies_that_are_open)
{
    static const char copies[] =
        WATCH_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %l<2>;\n"
                   ".shared .align 16 .b8 s[512];\nmov.u32 %r1, %laneid;\nld.param.u64 %l1, [out];\n"  // 0, 1
                   "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.u32 %r2, %r2, %r3;\n"                   // 2 to 4
                   "setp.eq.u32 %p1, %r1, 3;\n"                                                        // 5
                   "cp.async.ca.shared.global [%r2], [%l1], 4;\ncp.async.commit_group;\n"              // 6, 7
                   "cp.async.commit_group;\n@%p1 cp.async.ca.shared.global [%r2], [%l1], 4;\n"         // 8, 9
                   "cp.async.wait_group 1;\ncp.async.wait_all;\n"                                      // 10, 11
                   "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%l1], [%r3], 16;\n"              // 12
                   "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\nret;\n}\n";    // 13, 14
    char *text = said(copies, 32,
                      "go 6\ncopies\ngo 8\ncopies\ngo 9\ncopies\ngo 10\ncopies\ngo 11\ncopies\n"
                      "go 12\ncopies\ngo 13\ncopies\ngo 14\ncopies\n",
                      &first);
    const char *const wanted[] = {
        "warp 0, all lanes: 1 copy of cp.async in no group yet\n",
        "warp 0, all lanes: 2 groups of cp.async open\n",
        "warp 0, lanes 0 to 2, 4 to 31: 2 groups of cp.async open, lane 3: 2 groups of cp.async open, "
        "1 copy of cp.async in no group yet\n",
        "warp 0, lanes 0 to 2, 4 to 31: 1 group of cp.async open, lane 3: 1 group of cp.async open, "
        "1 copy of cp.async in no group yet\n",
        "no copy is under way\n",
        "warp 0, lane 3: 1 bulk copy in no group yet\n16 bytes from ",
        "warp 0, lane 3: 1 group of bulk copies open\n16 bytes from ",
        "no copy is under way\n"
    };
    const char *at = text;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && at; i++) {
        at = strstr(at, "watch> copies\n");
        at = at ? at + strlen("watch> copies\n") : at;
        cr_expect(at && !strncmp(at, wanted[i], strlen(wanted[i])), "%s\nis not at %zu in\n%s", wanted[i], i, text);
    }
    free(text);
}

// Lane 0 of warp 0 arrives if its thread's number is at least 1, which it is not. Warp 1 waits for it.
static const char waits[] =
    WATCH_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<4>;\n.reg .b64 %l<2>;\n"
               ".shared .align 8 .b8 ready[16];\n"
               "mov.u32 %r1, %tid.x;\nmov.u32 %r2, ready;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $made;\n"
               "mbarrier.init.shared::cta.b64 [%r2+8], 2;\n"
               "$made:\nbar.sync 0;\nsetp.ge.u32 %p2, %r1, 32;\n@%p2 bra $wait;\n"
               "setp.lt.u32 %p2, %r1, 1;\n@%p2 bra $end;\nsetp.gt.u32 %p2, %r1, 1;\n@%p2 bra $end;\n"
               "mbarrier.arrive.shared::cta.b64 _, [%r2+8];\nbra $end;\n"
               "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+8], 0;\n@!%p3 bra $wait;\n"
               "$end:\nret;\n}\n";

Test(terminal, opens_where_warps_wait_and_says_who_is_missing)
{
    static const struct watch_begin anywhere = { .warp = SIMT_ALL_WARPS };
    char *text = said(waits, 64, "why\nwho came ready[1]\nprint ready[1]\nfindings\n", &anywhere);
    expect(text, "finding 1: case.ptx:");
    expect(text, "warp 1 waits for ready[1], phase 0: 1 of 2 arrivals is missing\n");
    expect(text, "  all who ever came to ready[1] have come, and it is for 2: mbarrier.init.shared::cta.b64\n");
    expect(text, "    warp 0 came at mbarrier.arrive.shared::cta.b64\n");
    expect(text, "ready[1], phase 0, step 16: warp 0, lane 1 arrived, instruction 12\n");
    expect(text, "ready[1], hex: an mbarrier, phase 0: 1 of 2 arrivals and 0 bytes are missing\n");
    free(text);
}

Test(terminal, a_finding_ends_with_the_command_that_opens_it)
{
    static const char unwritten[] = WATCH_HEAD
        ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<2>;\n.reg .b64 %l<2>;\n.shared .align 4 .b8 s[128];\n"
        "ld.param.u64 %l1, [out];\nld.shared.u32 %r1, [s+12];\nst.global.u32 [%l1], %r1;\nret;\n}\n";
    struct run r;
    char command[400];
    const char *path = scratch(unwritten, strlen(unwritten));
    run(&r, SIMT, "check", path, "k", "--block", "1", "b=u32[4]=zeros", NULL);
    cr_expect_eq(r.status, 1);
    snprintf(command, sizeof command, "    watch it: simt watch --finding 1 %s k --block 1 'b=u32[4]=zeros'\n", path);
    expect(r.out, command);
    snprintf(command, sizeof command, "%s watch --finding 1 %s k --block 1 'b=u32[4]=zeros' </dev/null", SIMT, path);
    run(&r, "/bin/sh", "-c", command, NULL);
    cr_expect_eq(r.status, 0, "%s", r.err);
    expect(r.out, "step 1 of 4: warp 0, its step 1, lane 0\n");
    expect(r.out, "reads byte 12 of s (shared memory)");
}
