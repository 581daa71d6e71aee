// The checks of the simulated GPU: what they find in small PTX kernels, and what they must not find.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/findings.h"
#include "ptx_case.h"

// A kernel whose thread number i (of the launch) is %r0, of the block %r1, the block %r2; it may write %r3 to out[i].
// %r10 is the address of s[thread], %r11 of the next lane's word (round the warp), %r12 of the next warp's (round 64).
#define REGS                                                                                                           \
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b16 %h<4>;\n.reg .b64 %l<8>;\nld.param.u64 %l0, [out];\n"             \
    "ld.param.u64 %l1, [in];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"                   \
    "mad.lo.u32 %r0, %r2, %r4, %r1;\nmad.wide.u32 %l2, %r0, 4, %l0;\nmad.wide.u32 %l3, %r0, 4, %l1;\nmov.u32 %r3, "    \
    "1;\n"
#define PLACES                                                                                                         \
    "mov.u32 %r13, s;\nmad.lo.u32 %r10, %r1, 4, %r13;\nadd.u32 %r14, %r1, 1;\nand.b32 %r14, %r14, 31;\n"               \
    "and.b32 %r15, %r1, 32;\nor.b32 %r14, %r14, %r15;\nmad.lo.u32 %r11, %r14, 4, %r13;\nxor.b32 %r14, %r1, 32;\n"      \
    "mad.lo.u32 %r12, %r14, 4, %r13;\n"
#define KERNEL(shared, body)                                                                                           \
    PTX_HEAD ".file 1 \"kernel.cu\"\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n" shared REGS body         \
             "ret;\n}\n"
#define SHARED(body) KERNEL(".shared .align 4 .b32 s[64];\n", PLACES body)
#define GLOBAL(body) KERNEL("", body)
#define LINE(n) ".loc 1 " #n " 1\n"
#define PUT LINE(10) "st.shared.u32 [%r10], %r1;\n"
#define GET(place) LINE(20) "ld.shared.u32 %r3, [" place "];\n"
#define LEAVE LINE(30) "st.global.u32 [%l2], %r3;\n"
#define BARRIER LINE(15) "bar.sync 0;\n"

enum { WORDS = 256 };
static const struct ptx_shape one = { 1, 64, 0 }, warp = { 1, 32, 0 }, two = { 2, 64, 0 }, lone = { 2, 1, 0 };

// Runs text with checks on and leaves what findings_print says in out. fresh: `out` was not written before.
static size_t check(const char *text, struct ptx_shape shape, unsigned jobs, uint64_t budget, bool fresh, char **out)
{
    uint32_t words[WORDS] = { 0 };
    dev_ptr to = 0, from = 0;
    struct dev *d = ptx_simulator();
    dev_set_checks(d, true);
    dev_set_jobs(d, jobs);
    dev_set_budget(d, budget);
    struct dev_module *m = dev_load_text(d, "test.ptx", text, strlen(text));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from) };
    struct dev_launch launch = {
        .grid = { shape.blocks }, .block = { shape.threads }, .shared = shape.shared, .args = args, .n_args = 2
    };
    bool ok = k && dev_alloc(d, "out", sizeof words, &to) && dev_alloc(d, "in", sizeof words, &from) &&
              dev_upload(d, from, words, sizeof words) && (fresh || dev_upload(d, to, words, sizeof words)) &&
              dev_launch(d, k, &launch) && dev_sync(d);
    cr_assert(ok, "%s", dev_error(d));
    const struct findings *f = dev_findings(d);
    cr_assert_not_null(f);
    size_t n = f->n, size;
    FILE *memory = open_memstream(out, &size);
    findings_print(memory, f);
    fclose(memory);
    dev_close(d);
    return n;
}

static void expect(const char *text, struct ptx_shape shape, size_t n, const char *const *parts)
{
    char *out;
    size_t found = check(text, shape, 2, 0, false, &out);
    cr_expect_eq(found, n, "%zu findings, not %zu:\n%s\nof\n%s", found, n, out, text);
    for (; parts && *parts; parts++)
        cr_expect(strstr(out, *parts), "'%s' is not in:\n%s", *parts, out);
    free(out);
}
#define PARTS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define CLEAN 0, NULL

// --- races in shared memory ---

Test(check, a_barrier_orders_warps_and_its_absence_is_a_race)
{
    expect(SHARED(PUT BARRIER GET("%r12") LEAVE), one, CLEAN);
    expect(SHARED(PUT GET("%r12") LEAVE), one, 3,  // warp 0 reads too early, warp 1 races on both lines
           PARTS("race (racecheck): kernel.cu:20: block (0,0,0), thread (32,0,0) reads byte 0 of s (shared memory); "
                 "thread (0,0,0) wrote it at kernel.cu:10",
                 "32 times", "not initialised (initcheck): kernel.cu:20", "byte 128 of s", "__syncthreads()"));
    expect(SHARED(PUT BARRIER GET("%r12") LINE(25) "st.shared.u32 [%r10], %r3;\n"), one, 2,
           PARTS("kernel.cu:25", "writes byte 128 of s", "read it at kernel.cu:20", "wrote it at kernel.cu:25"));
    expect(SHARED(PUT BARRIER GET("%r12") BARRIER LINE(25) "st.shared.u32 [%r10], %r3;\n"), one, CLEAN);
}

Test(check, lanes_of_a_warp_need_a_warp_barrier)
{
    expect(SHARED(PUT GET("%r11") LEAVE), warp, 1,
           PARTS("thread (31,0,0) reads byte 0 of s", "thread (0,0,0) wrote it", "32 times", "__syncwarp()"));
    expect(SHARED(PUT "bar.warp.sync -1;\n" GET("%r11") LEAVE), warp, CLEAN);
    expect(SHARED(PUT "bar.warp.sync -1;\n" GET("%r11") LINE(25) "st.shared.u32 [%r10], %r3;\n"), warp, 1,
           PARTS("kernel.cu:25", "read it at kernel.cu:20"));
    // A warp barrier says nothing about other warps.
    expect(SHARED(PUT "bar.warp.sync -1;\n" GET("%r12")), one, 3, PARTS("race (racecheck): kernel.cu:20"));
}

Test(check, volatile_does_not_make_lanes_run_in_step)
{
#define VOLATILE(place, between)                                                                                       \
    SHARED(LINE(10) "st.volatile.shared.u32 [%r10], %r1;\n" between LINE(20) "ld.volatile.shared.u32 %r3, [" place     \
                                                                             "];\n" LEAVE)
    expect(VOLATILE("%r11", ""), warp, 1, PARTS("race (racecheck): kernel.cu:20", "__syncwarp()"));
    expect(VOLATILE("%r11", "bar.warp.sync -1;\n"), warp, CLEAN);
    expect(VOLATILE("%r12", "DONE:\n"), one, 1, PARTS("not initialised"));  // strong: no race between warps
}

Test(check, diverged_lanes_that_meet_at_a_warp_barrier_are_ordered)
{
    expect(SHARED("setp.lt.u32 %p0, %r1, 16;\n@%p0 bra LOW;\n" PUT "bar.warp.sync -1;\nbra ON;\nLOW:\n" PUT
                  "bar.warp.sync -1;\nON:\n" GET("%r11") LEAVE),
           warp, CLEAN);
}

Test(check, two_writers_race_unless_they_write_the_same)
{
    expect(SHARED(LINE(10) "st.shared.u32 [s], %r1;\n"), one, 1,
           PARTS("kernel.cu:10: block (0,0,0), thread (1,0,0) writes byte 0 of s", "thread (0,0,0) wrote it"));
    expect(SHARED(LINE(10) "st.shared.u32 [s], %r3;\n"), one, CLEAN);
    expect(SHARED(LINE(10) "setp.eq.u32 %p0, %r1, 0;\n@%p0 st.shared.u32 [s], %r1;\nsetp.eq.u32 %p1, %r1, 32;\n" LINE(
               11) "@%p1 st.shared.u32 [s], %r1;\n"),
           one, 1, PARTS("kernel.cu:11", "thread (32,0,0) writes", "thread (0,0,0) wrote it at kernel.cu:10"));
}

Test(check, neighbouring_halves_are_not_one_element)
{
    expect(KERNEL(".shared .align 4 .b16 s[64];\n",
                  "mov.u32 %r13, s;\nmad.lo.u32 %r10, %r1, 2, %r13;\ncvt.u16.u32 %h0, %r1;\n" LINE(
                      10) "st.shared.u16 [%r10], %h0;\n"),
           one, CLEAN);
}

Test(check, barriers_for_some_warps_order_those_alone)
{
    // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; %r12 is the other warp of a pair.
#define PAIRS(place)                                                                                                   \
    KERNEL(".shared .align 4 .b32 s[128];\n", PLACES PUT "shr.u32 %r16, %r1, 6;\nadd.u32 %r16, %r16, 1;\n"             \
                                                         "bar.sync %r16, 64;\n" GET(place) LEAVE)
    const struct ptx_shape four = { 1, 128, 0 };
    expect(PAIRS("%r12"), four, CLEAN);
    expect(PAIRS("s"), four, 1, PARTS("thread (96,0,0) reads byte 0 of s", "thread (0,0,0) wrote it"));
}

Test(check, who_arrives_without_waiting_has_finished_what_came_before)
{
#define PRODUCER(before, after)                                                                                        \
    SHARED("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra WAIT;\n" before "bar.arrive 1, 64;\n" after "bra DONE;\n"              \
           "WAIT: bar.sync 1, 64;\n" GET("%r12") "DONE:\n" LEAVE)
    expect(PRODUCER(PUT, ""), one, CLEAN);
    expect(PRODUCER("", PUT), one, 1, PARTS("thread (32,0,0) reads byte 0 of s", "thread (0,0,0) wrote it"));
}

Test(check, atomics_do_not_race_with_each_other)
{
#define ADD LINE(12) "atom.shared.add.u32 %r5, [s], 1;\n"
#define ZERO LINE(10) "setp.eq.u32 %p0, %r1, 0;\nmov.u32 %r6, 0;\n@%p0 st.shared.u32 [s], %r6;\n"
    expect(SHARED(ZERO BARRIER ADD BARRIER GET("s") LEAVE), one, CLEAN);
    expect(SHARED(ZERO BARRIER ADD GET("s") LEAVE), one, 2,
           PARTS("thread (0,0,0) changed it at kernel.cu:12", "kernel.cu:12: block (0,0,0), thread (32,0,0) changes"));
    expect(SHARED(ADD), one, 1, PARTS("not initialised (initcheck): kernel.cu:12"));
}

// --- asynchronous copies ---

#define COPY LINE(10) "cp.async.ca.shared.global [%r10], [%l3], 4;\n"
#define WAIT "cp.async.wait_all;\n"
#define ASYNC(body) SHARED(body)

Test(check, a_copy_must_be_waited_for_and_then_shared)
{
    expect(ASYNC(COPY WAIT GET("%r10") LEAVE), one, CLEAN);
    expect(ASYNC(COPY GET("%r10") LEAVE), one, 1,
           PARTS("copy not waited for (racecheck): kernel.cu:20", "thread (0,0,0) wrote it at kernel.cu:10",
                 "cp.async.wait_group"));
    expect(ASYNC(COPY BARRIER GET("%r12") LEAVE), one, 1, PARTS("copy not waited for"));
    expect(ASYNC(COPY WAIT BARRIER GET("%r12") LEAVE), one, CLEAN);
    expect(ASYNC(COPY WAIT GET("%r12") LEAVE), one, 3, PARTS("race (racecheck)", "not initialised"));
    expect(ASYNC(PUT BARRIER GET("%r12") COPY WAIT), one, 2, PARTS("race", "kernel.cu:10", "read it at kernel.cu:20"));
}

Test(check, a_copy_left_behind_does_not_trouble_the_next_block)
{
    expect(ASYNC("setp.eq.u32 %p0, %r2, 0;\n@%p0 bra FIRST;\n" PUT GET("%r10") "bra DONE;\nFIRST:\n" COPY "DONE:\n"),
           (struct ptx_shape){ 2, 64, 0 }, CLEAN);
}

// --- memory ---

Test(check, what_was_not_written_is_found)
{
    char *out;
    expect(SHARED(GET("%r10") LEAVE), one, 1, PARTS("not initialised", "no thread of the block wrote it", "64 times"));
    cr_expect_eq(check(GLOBAL(LINE(20) "ld.global.u32 %r3, [%l2];\n" LEAVE), one, 2, 0, true, &out), 1);
    cr_expect(
        strstr(out, "not initialised (initcheck): kernel.cu:20: block (0,0,0), thread (0,0,0) reads byte 0 of out"),
        "%s", out);
    free(out);
    cr_expect_eq(check(GLOBAL(LEAVE LINE(20) "ld.global.u32 %r3, [%l2];\n"), one, 2, 0, true, &out), 0, "%s", out);
    free(out);
    cr_expect_eq(check(GLOBAL(LINE(20) "ld.global.u32 %r3, [%l3];\n" LEAVE), one, 2, 0, true, &out), 0, "%s", out);
    free(out);
}

Test(check, a_store_of_any_kind_reads_nothing)
{
    // By several threads, of what was not written before. An exchange whose result nobody looks at is a store, too.
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {
        { SHARED("st.volatile.global.u32 [%l0], %r3;\n"), 0 },
        { SHARED("st.relaxed.gpu.global.u32 [%l0], %r3;\n"), 0 },
        { SHARED("st.release.gpu.global.u32 [%l0], %r3;\n"), 0 },
        { SHARED("atom.global.exch.b32 %r5, [%l0], %r3;\n"), 0 },
        { SHARED("atom.global.exch.b32 %r5, [%l0], %r3;\nst.global.u32 [%l3], %r5;\n"), 1 },
        { SHARED("red.global.add.u32 [%l0], %r3;\n"), 1 },
        { SHARED("st.volatile.shared.u32 [s], %r3;\n"), 0 },
        { SHARED("atom.shared.exch.b32 %r5, [s], %r3;\n"), 0 },
        { SHARED("atom.shared.exch.b32 %r5, [s], %r3;\nst.global.u32 [%l3], %r5;\n"), 1 },
        { SHARED("atom.shared.cas.b32 %r5, [s], %r3, %r3;\n"), 1 },
    };
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        char *out;
        size_t n = check(cases[i].text, one, 1, 0, true, &out);
        cr_expect_eq(n, cases[i].n, "%s%s", cases[i].text, out);
        cr_expect(!n || strstr(out, "not initialised (initcheck)"), "%s%s", cases[i].text, out);
        free(out);
    }
}

Test(check, shared_memory_is_forgotten_between_blocks)
{
    expect(SHARED("setp.eq.u32 %p0, %r2, 0;\n" LINE(10) "@%p0 st.shared.u32 [%r10], %r1;\n" GET("%r10")), two, 1,
           PARTS("not initialised", "block (1,0,0), thread (0,0,0)", "64 times"));
}

Test(check, threads_that_go_out_of_bounds_are_counted_and_the_others_go_on)
{
    expect(GLOBAL("add.u64 %l2, %l2, 896;\n" LEAVE), one, 1,
           PARTS("out of bounds (memcheck): kernel.cu:30: block (0,0,0), thread (32,0,0) writes 4 bytes",
                 "byte 1024 of out, which has 1024 bytes", "32 times", "guard"));
    expect(GLOBAL("add.u64 %l2, %l2, 2;\n" LEAVE), one, 1, PARTS("misaligned (memcheck)", "64 times"));
}

Test(check, a_race_is_found_after_an_access_out_of_bounds)
{
#define AFTER LINE(50) "st.global.u32 [%l0], %r1;\n"
    expect(
        GLOBAL(LINE(30) "atom.global.add.u32 %r5, [%l1+2048], 1;\n" AFTER), warp, 2,
        PARTS("kernel.cu:30", "byte 2048 of in, which has 1024 bytes", "32 times", "race (racecheck): kernel.cu:50"));
    expect(GLOBAL(LINE(30) "red.global.add.u32 [%l1+2], 1;\n" AFTER), warp, 2,
           PARTS("misaligned (memcheck): kernel.cu:30", "race (racecheck): kernel.cu:50"));
    expect(SHARED(LINE(30) "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r10+4096];\n" AFTER), warp, 2,
           PARTS("out of bounds (memcheck): kernel.cu:30", "race (racecheck): kernel.cu:50"));
    expect(SHARED("add.u64 %l3, %l3, 1000;\n" LINE(30) "cp.async.ca.shared.global [%r10], [%l3], 4;\n"
                                                       "cp.async.wait_all;\n" AFTER),
           warp, 2, PARTS("kernel.cu:30", "byte 1024 of in", "26 times", "race (racecheck): kernel.cu:50"));
}

// Of a tile of 16 rows of 32 bytes the last one is not there. With b by rows, and with a by columns, a register holds
// elements of two rows: one inside, one outside.
Test(check, an_element_of_a_tile_that_is_not_there_is_the_one_that_is_named)
{
#define OUTSIDE(matrix, order)                                                                                         \
    expect(GLOBAL("mov.u32 %r20, 16;\n" LINE(30) "wmma.load." matrix ".sync.aligned." order ".m16n16k16.global.f16 "   \
                                                 "{%r5, %r6, %r7, %r8, %r16, %r17, %r18, %r19}, [%l1+544], %r20;\n"),  \
           warp, 1, PARTS("reads 2 bytes out of bounds: byte 1024 of in, which has 1024 bytes"))
    OUTSIDE("a", "row");
    OUTSIDE("a", "col");
    OUTSIDE("b", "row");
    OUTSIDE("b", "col");
}

Test(check, one_past_the_end_of_a_shared_array_is_not_the_next_array)
{
    expect(KERNEL(".shared .align 4 .b32 s[64];\n.shared .align 4 .b32 t[64];\n", PLACES PUT
                  "mov.u32 %r13, t;\nmad.lo.u32 %r16, %r1, 4, %r13;\nst.shared.u32 [%r16], %r1;\n" BARRIER LINE(
                      20) "ld.shared.u32 %r3, [%r10+4];\n" LEAVE),
           one, 1,
           PARTS("out of bounds (memcheck): kernel.cu:20: block (0,0,0), thread (63,0,0) reads 4 bytes",
                 "byte 256 of s (shared memory), which has 256 bytes"));
}

Test(check, a_shared_array_is_called_what_the_source_calls_it)
{
#define NAMED(name)                                                                                                    \
    KERNEL(".shared .align 4 .b32 " name "[64];\n",                                                                    \
           "mov.u32 %r13, " name ";\n" LINE(20) "ld.shared.u32 %r3, [%r13];\n" LEAVE)
    expect(NAMED("As"), one, 1, PARTS("byte 0 of As (shared memory)"));
    expect(NAMED("_ZZ4gemmE2As"), one, 1, PARTS("byte 0 of As (shared memory)"));
    expect(NAMED("_ZZ5gemm4E2As"), one, 1, PARTS("byte 0 of As (shared memory)"));
    expect(NAMED("_ZZ4gemmE2As_0"), one, 1, PARTS("byte 0 of As (shared memory)"));
    expect(NAMED("_ZN3sim6sharedE"), one, 1, PARTS("byte 0 of shared (shared memory)"));
    expect(NAMED("_ZZ7productILi4EEvPK6float4S1_E2As"), one, 1, PARTS("byte 0 of As (shared memory)"));
}

// --- blocks ---

Test(check, blocks_that_share_an_element_race)
{
    expect(GLOBAL(LEAVE), two, CLEAN);
    expect(GLOBAL("mad.wide.u32 %l2, %r1, 4, %l0;\n" LEAVE), two, CLEAN);  // the same value
    expect(GLOBAL("mad.wide.u32 %l2, %r1, 4, %l0;\nmov.u32 %r3, %r2;\n" LEAVE), two, 1,
           PARTS("race (racecheck): kernel.cu:30: block (0,0,0), thread (0,0,0) writes byte 0 of out",
                 "block (1,0,0), thread (0,0,0) wrote it at kernel.cu:30", "64 times", "blocks run in any order"));
    expect(GLOBAL("mad.wide.u32 %l3, %r1, 4, %l0;\n" LINE(20) "ld.global.u32 %r3, [%l3];\n" LEAVE), two, 1,
           PARTS("kernel.cu:30: block (0,0,0)", "block (1,0,0), thread (0,0,0) read it at kernel.cu:20"));
    expect(GLOBAL("red.global.add.u32 [%l0], %r3;\n"), two, CLEAN);
    expect(GLOBAL(LINE(20) "red.global.add.u32 [%l0], %r3;\n" LINE(21) "ld.global.u32 %r5, [%l0];\n"), two, 2,
           PARTS("changes byte 0 of out", "read it at kernel.cu:21"));
}

Test(check, threads_of_a_block_that_share_an_element_of_global_memory_race)
{
#define NEXT "mad.wide.u32 %l4, %r14, 4, %l0;\n" LINE(20) "ld.global.u32 %r5, [%l4];\n"
#define NEIGHBOUR(between) GLOBAL("xor.b32 %r14, %r1, 32;\n" LEAVE between NEXT)
    expect(NEIGHBOUR(""), one, 2,
           PARTS("race (racecheck): kernel.cu:20: block (0,0,0), thread (32,0,0) reads byte 0 of out",
                 "thread (0,0,0) wrote it at kernel.cu:30, and no barrier comes between them"));
    expect(NEIGHBOUR(BARRIER), one, CLEAN);
    expect(GLOBAL("xor.b32 %r14, %r1, 1;\n" LEAVE NEXT), one, 1, PARTS("thread (0,0,0) wrote it", "__syncwarp()"));
    expect(GLOBAL("xor.b32 %r14, %r1, 1;\n" LEAVE "bar.warp.sync -1;\n" NEXT), one, CLEAN);
    expect(GLOBAL(LINE(30) "st.global.u32 [%l0], %r1;\n"), one, 1, PARTS("in one instruction"));
    expect(GLOBAL(LINE(30) "st.global.u32 [%l0], %r3;\n"), one, CLEAN);  // the same value
}

Test(check, a_fence_turns_no_check_off)
{
    expect(GLOBAL("membar.gl;\natom.global.add.u32 %r5, [%l0], 1;\nmembar.gl;\n"), two, CLEAN);
    expect(GLOBAL("membar.gl;\n" LINE(20) "atom.global.add.u32 %r5, [%l0], 1;\nmembar.gl;\n" LINE(
               21) "ld.global.u32 %r5, [%l0];\n"),
           lone, 1, PARTS("changes byte 0 of out", "read it at kernel.cu:21", "nothing orders the two blocks here"));
}

// --- barriers and ends ---

Test(check, barriers_that_not_all_threads_reach_are_found)
{
    expect(
        GLOBAL("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra SKIP;\n" LINE(15) "bar.sync 0;\nSKIP:\n" LINE(16) "bar.sync 1;\n"),
        one, 1, PARTS("barrier (synccheck)", "32 of the block's 64 threads"));
    expect(GLOBAL("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra OTHER;\n" LINE(15) "bar.sync 0;\nbra ON;\nOTHER:\n" LINE(
               16) "bar.sync 0;\nON:\n"),
           one, 1,
           PARTS("barrier (synccheck): kernel.cu:16: block (0,0,0), thread (32,0,0) waits here, and thread (0,0,0) at "
                 "kernel.cu:15"));
}

// With a number or a count of its own it is no __syncthreads(): warps may come to it from several lines.
Test(check, a_named_barrier_may_stand_at_several_lines)
{
#define TWO_LINES(barrier)                                                                                             \
    SHARED("setp.ge.u32 %p0, %r1, 32;\n" PUT "@%p0 bra OTHER;\n" LINE(15) barrier "bra ON;\nOTHER:\n" LINE(16) barrier \
           "ON:\n" GET("%r12") LEAVE)
    expect(TWO_LINES("bar.sync 15;\n"), one, CLEAN);
    expect(TWO_LINES("bar.sync 0, 64;\n"), one, CLEAN);
    expect(TWO_LINES("bar.sync 0;\n"), one, 1, PARTS("waits here, and thread (0,0,0) at kernel.cu:15"));
}

Test(check, threads_that_give_a_barrier_different_counts_are_found)
{
#define TWO_COUNTS(mine, other)                                                                                        \
    GLOBAL("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra OTHER;\n" LINE(15) mine "bra ON;\nOTHER:\n" LINE(16) other             \
           "ON:\n" LEAVE)
    expect(TWO_COUNTS("bar.sync 1, 64;\n", "bar.sync 1, 64;\n"), one, CLEAN);
    expect(TWO_COUNTS("bar.sync 1;\n", "bar.sync 1, 64;\n"), one, CLEAN);
    expect(TWO_COUNTS("bar.sync 1, 96;\n", "bar.sync 1, 64;\n"), one, 1,
           PARTS("barrier (synccheck): kernel.cu:16",
                 "comes to a barrier for 64 threads; for others, who wait there, it is one for 96, at kernel.cu:15"));
}

Test(check, barriers_that_threads_miss_because_they_ended_are_found)
{
    // 16 of 64 threads return early; a whole warp does; every other thread does. All before the second barrier.
#define MISSED(condition) GLOBAL(LINE(14) "bar.sync 0;\n" condition LINE(40) "@%p0 exit;\n" BARRIER LEAVE LINE(41))
    expect(
        MISSED("setp.ge.u32 %p0, %r1, 48;\n"), one, 1,
        PARTS("barrier (synccheck): kernel.cu:15: block (0,0,0), thread (0,0,0) waits at this barrier, to which 16 of "
              "the block's 64 threads never come: thread (48,0,0) ended at kernel.cu:40",
              "return before it"));
    expect(MISSED("setp.lt.u32 %p0, %r1, 32;\n"), one, 1,
           PARTS("kernel.cu:15", "thread (32,0,0) waits", "32 of", "thread (0,0,0) ended at kernel.cu:40"));
    expect(MISSED("and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p0, %r5, 1;\n"), one, 1,
           PARTS("kernel.cu:15", "thread (1,0,0) ended"));
    expect(MISSED("setp.ge.u32 %p0, %r1, 64;\n"), one, CLEAN);
    // A barrier for the other warp alone.
    expect(GLOBAL("setp.lt.u32 %p0, %r1, 32;\n@%p0 exit;\n" LINE(15) "bar.sync 1, 32;\n" LEAVE), one, CLEAN);
}

Test(check, shuffles_from_lanes_that_take_no_part_are_found)
{
    expect(
        GLOBAL(LINE(12) "setp.gt.u32 %p0, %r1, 15;\n@!%p0 shfl.sync.down.b32 %r3, %r1, 4, 31, 0x0000ffff;\n" LEAVE),
        warp, 1,
        PARTS("lanes (synccheck): kernel.cu:12: block (0,0,0), thread (12,0,0) reads from lane 16, which takes no part",
              "4 times"));
    expect(GLOBAL(LINE(12) "shfl.sync.down.b32 %r3, %r1, 4, 31, -1;\n" LEAVE), warp, CLEAN);
}

Test(check, stores_to_constants_are_found)
{
#define CONSTANT(body)                                                                                                 \
    PTX_HEAD ".file 1 \"kernel.cu\"\n.const .align 4 .b8 table[256];\n"                                                \
             ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" REGS                                            \
             "mov.u64 %l4, table;\ncvta.const.u64 %l4, %l4;\nmad.wide.u32 %l5, %r1, 4, %l4;\n" body "ret;\n}\n"
    expect(CONSTANT(LINE(12) "st.u32 [%l5], %r1;\n" LEAVE), one, 1,
           PARTS("constant (memcheck): kernel.cu:12: block (0,0,0), thread (0,0,0) writes byte 0 of table",
                 "__constant__", "64 times"));
    expect(CONSTANT(LINE(12) "ld.u32 %r3, [%l5];\n" LEAVE), one, CLEAN);
}

Test(check, findings_do_not_depend_on_the_number_of_host_threads)
{
    // Even blocks race, block 9 never ends: what blocks after it did does not count.
    const char *text = SHARED("setp.eq.u32 %p1, %r2, 9;\nLOOP:\n" LINE(
        40) "@%p1 bra LOOP;\nand.b32 %r16, %r2, 1;\nsetp.ne.u32 %p0, %r16, 0;\n" PUT
            "@%p0 bra DONE;\n" BARRIER GET("%r11") LINE(25) "st.shared.u32 [%r10], %r3;\nDONE:\n");
    char *first, *again;
    cr_expect_eq(check(text, (struct ptx_shape){ 40, 64, 0 }, 1, 100000, false, &first), 2, "%s", first);
    cr_expect(strstr(first, "endless (run): kernel.cu:40: block (9,0,0)"), "%s", first);
    cr_expect(strstr(first, "320 times"), "%s", first);  // 5 blocks of 64
    for (unsigned jobs = 2; jobs <= 7; jobs++) {
        check(text, (struct ptx_shape){ 40, 64, 0 }, jobs, 100000, false, &again);
        cr_expect_str_eq(again, first, "with %u jobs:", jobs);
        free(again);
    }
    free(first);
}

Test(check, without_checks_there_are_no_findings)
{
    uint32_t out[64] = { 0 }, in[64] = { 0 };
    struct dev *d = ptx_simulator();
    cr_expect(ptx_run(d, SHARED(PUT GET("%r10") LEAVE), one, out, 64, in, 64), "%s", dev_error(d));
    cr_expect_null(dev_findings(d));
    dev_close(d);
}
