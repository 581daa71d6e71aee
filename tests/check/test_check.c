// The checks of the simulated GPU: what they find in small PTX kernels, and what they must not find.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "found.h"
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

// What the checks find in text; valid until the next call. fresh: `out` was not written before.
static const struct simt_findings *check(const char *text, struct ptx_shape shape, unsigned jobs, uint64_t budget,
                                         bool fresh)
{
    static struct dev *d;  // keeps the findings
    uint32_t words[WORDS] = { 0 };
    dev_ptr to = 0, from = 0;
    dev_close(d);
    d = ptx_simulator();
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
    cr_assert_not_null(dev_findings(d));
    return dev_findings(d);
}

// Expects n errors, among them these, of which the last has no kind.
static void expect(const char *text, struct ptx_shape shape, size_t n, const struct found *these)
{
    const struct simt_findings *f = check(text, shape, 2, 0, false);
    cr_expect_eq(f->n, n, "%zu findings, not %zu:\n%s\nof\n%s", f->n, n, found_text(f), text);
    for (; these && these->kind; these++)
        found_expect(f, these, text);
}
#define FOUND(...) ((const struct found[]){ __VA_ARGS__, { 0 } })
#define CLEAN 0, NULL

// --- races in shared memory ---

Test(check, a_barrier_orders_warps_and_its_absence_is_a_race)
{
    expect(SHARED(PUT BARRIER GET("%r12") LEAVE), one, CLEAN);
    expect(SHARED(PUT GET("%r12") LEAVE), one, 3,  // warp 0 reads too early, warp 1 races on both lines
           FOUND({ SIMT_RACE, HERE(20, 32, READS), THERE(10, 0, WRITES), .block = THE(0), OF("s", 0), .count = 32 },
                 { SIMT_UNINIT_MEMORY, .here.line = 20, OF("s", 128) }));
    expect(SHARED(PUT BARRIER GET("%r12") LINE(25) "st.shared.u32 [%r10], %r3;\n"), one, 2,
           FOUND({ SIMT_RACE, HERE(25, ANY, WRITES), THERE(20, ANY, READS), OF("s", 128) },
                 { SIMT_RACE, HERE(20, ANY, READS), THERE(25, ANY, WRITES) }));
    expect(SHARED(PUT BARRIER GET("%r12") BARRIER LINE(25) "st.shared.u32 [%r10], %r3;\n"), one, CLEAN);
}

Test(check, lanes_of_a_warp_need_a_warp_barrier)
{
    expect(SHARED(PUT GET("%r11") LEAVE), warp, 1,
           FOUND({ SIMT_RACE, HERE(0, 31, READS), THERE(0, 0, WRITES), OF("s", 0), .count = 32 }));
    expect(SHARED(PUT "bar.warp.sync -1;\n" GET("%r11") LEAVE), warp, CLEAN);
    expect(SHARED(PUT "bar.warp.sync -1;\n" GET("%r11") LINE(25) "st.shared.u32 [%r10], %r3;\n"), warp, 1,
           FOUND({ SIMT_RACE, .here.line = 25, THERE(20, ANY, READS) }));
    // A warp barrier says nothing about other warps.
    expect(SHARED(PUT "bar.warp.sync -1;\n" GET("%r12")), one, 3, FOUND({ SIMT_RACE, .here.line = 20 }));
}

Test(check, volatile_does_not_make_lanes_run_in_step)
{
#define VOLATILE(place, between)                                                                                       \
    SHARED(LINE(10) "st.volatile.shared.u32 [%r10], %r1;\n" between LINE(20) "ld.volatile.shared.u32 %r3, [" place     \
                                                                             "];\n" LEAVE)
    expect(VOLATILE("%r11", ""), warp, 1, FOUND({ SIMT_RACE, .here.line = 20 }));
    expect(VOLATILE("%r11", "bar.warp.sync -1;\n"), warp, CLEAN);
    expect(VOLATILE("%r12", "DONE:\n"), one, 1,
           FOUND({ .kind = SIMT_UNINIT_MEMORY }));  // strong: no race between warps
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
           FOUND({ SIMT_RACE, HERE(10, 1, WRITES), THERE(0, 0, WRITES), .block = THE(0), OF("s", 0) }));
    expect(SHARED(LINE(10) "st.shared.u32 [s], %r3;\n"), one, CLEAN);
    expect(SHARED(LINE(10) "setp.eq.u32 %p0, %r1, 0;\n@%p0 st.shared.u32 [s], %r1;\nsetp.eq.u32 %p1, %r1, 32;\n" LINE(
               11) "@%p1 st.shared.u32 [s], %r1;\n"),
           one, 1, FOUND({ SIMT_RACE, HERE(11, 32, WRITES), THERE(10, 0, WRITES) }));
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
    expect(PAIRS("s"), four, 1, FOUND({ SIMT_RACE, HERE(0, 96, READS), THERE(0, 0, WRITES), OF("s", 0) }));
}

Test(check, who_arrives_without_waiting_has_finished_what_came_before)
{
#define PRODUCER(before, after)                                                                                        \
    SHARED("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra WAIT;\n" before "bar.arrive 1, 64;\n" after "bra DONE;\n"              \
           "WAIT: bar.sync 1, 64;\n" GET("%r12") "DONE:\n" LEAVE)
    expect(PRODUCER(PUT, ""), one, CLEAN);
    expect(PRODUCER("", PUT), one, 1, FOUND({ SIMT_RACE, HERE(0, 32, READS), THERE(0, 0, WRITES), OF("s", 0) }));
}

Test(check, who_arrives_without_waiting_knows_of_nobody)
{
#define CONSUMER(how)                                                                                                  \
    SHARED(PUT "setp.ge.u32 %p0, %r1, 32;\n@%p0 bra GO;\nbar.sync 1, 64;\nbra DONE;\n"                                 \
               "GO: bar." how " 1, 64;\n" GET("%r12") "DONE:\n" LEAVE)
    expect(CONSUMER("sync"), one, CLEAN);
    expect(CONSUMER("arrive"), one, 1, FOUND({ SIMT_RACE, HERE(0, 32, READS), THERE(0, 0, WRITES), OF("s", 0) }));
}

Test(check, atomics_do_not_race_with_each_other)
{
#define ADD LINE(12) "atom.shared.add.u32 %r5, [s], 1;\n"
#define ZERO LINE(10) "setp.eq.u32 %p0, %r1, 0;\nmov.u32 %r6, 0;\n@%p0 st.shared.u32 [s], %r6;\n"
    expect(SHARED(ZERO BARRIER ADD BARRIER GET("s") LEAVE), one, CLEAN);
    expect(SHARED(ZERO BARRIER ADD GET("s") LEAVE), one, 2,
           FOUND({ SIMT_RACE, THERE(12, 0, CHANGES) }, { SIMT_RACE, HERE(12, 32, CHANGES), .block = THE(0) }));
    expect(SHARED(ADD), one, 1, FOUND({ SIMT_UNINIT_MEMORY, .here.line = 12 }));
}

// --- asynchronous copies ---

#define COPY LINE(10) "cp.async.ca.shared.global [%r10], [%l3], 4;\n"
#define WAIT "cp.async.wait_all;\n"
#define ASYNC(body) SHARED(body)

Test(check, a_copy_must_be_waited_for_and_then_shared)
{
    expect(ASYNC(COPY WAIT GET("%r10") LEAVE), one, CLEAN);
    expect(ASYNC(COPY GET("%r10") LEAVE), one, 1, FOUND({ SIMT_COPY_PENDING, .here.line = 20, THERE(10, 0, WRITES) }));
    expect(ASYNC(COPY BARRIER GET("%r12") LEAVE), one, 1, FOUND({ .kind = SIMT_COPY_PENDING }));
    expect(ASYNC(COPY WAIT BARRIER GET("%r12") LEAVE), one, CLEAN);
    expect(ASYNC(COPY WAIT GET("%r12") LEAVE), one, 3, FOUND({ .kind = SIMT_RACE }, { .kind = SIMT_UNINIT_MEMORY }));
    expect(ASYNC(PUT BARRIER GET("%r12") COPY WAIT), one, 2,
           FOUND({ SIMT_RACE, .here.line = 10, .here.by = SIMT_BY_CP_ASYNC, THERE(20, ANY, READS) }));
}

Test(check, a_copy_left_behind_does_not_trouble_the_next_block)
{
    expect(ASYNC("setp.eq.u32 %p0, %r2, 0;\n@%p0 bra FIRST;\n" PUT GET("%r10") "bra DONE;\nFIRST:\n" COPY "DONE:\n"),
           (struct ptx_shape){ 2, 64, 0 }, CLEAN);
}

// --- memory ---

// A compiler loads more than it needs where one wide access is cheaper than several.
Test(check, what_is_loaded_in_vain_is_not_looked_at)
{
#define EVEN "and.b32 %r16, %r1, 1;\nsetp.eq.u32 %p1, %r16, 0;\nand.b32 %r17, %r10, 0xfffffff8;\n"
#define PAIR(first, second) LINE(20) "ld.shared.v2.u32 {" first ", " second "}, [%r17];\n"
#define SUM "add.u32 %r3, %r3, %r18;\n"
    expect(SHARED(EVEN LINE(10) "@%p1 st.shared.u32 [%r10], %r1;\n" BARRIER PAIR("%r3", "%r18") LEAVE), one, CLEAN);
    expect(SHARED(EVEN LINE(10) "@%p1 st.shared.u32 [%r10], %r1;\n" BARRIER PAIR("%r3", "_") LEAVE), one, CLEAN);
    expect(SHARED(EVEN LINE(10) "@%p1 st.shared.u32 [%r10], %r1;\n" BARRIER PAIR("%r3", "%r18") SUM LEAVE), one, 1,
           FOUND({ SIMT_UNINIT_MEMORY, .here.line = 20, OF("s", 4) }));
    expect(SHARED(EVEN PUT BARRIER PAIR("%r3", "%r18") LINE(10) "@!%p1 st.shared.u32 [%r10], %r1;\n" LEAVE), one,
           CLEAN);
    expect(SHARED(EVEN PUT BARRIER PAIR("%r18", "%r3") LINE(10) "@!%p1 st.shared.u32 [%r10], %r1;\n" LEAVE), one, 1,
           FOUND({ .kind = SIMT_RACE }));
}

Test(check, what_was_not_written_is_found)
{
#define READS(place) LINE(20) "ld.global.u32 %r3, [" place "];\n"
    static const struct found first_word = { SIMT_UNINIT_MEMORY, HERE(20, 0, NO_ACCESS), .block = THE(0),
                                             OF("out", 0) };
    expect(SHARED(GET("%r10") LEAVE), one, 1, FOUND({ SIMT_UNINIT_MEMORY, .space = SIMT_SHARED, .count = 64 }));
    const struct simt_findings *f = check(GLOBAL(READS("%l2") LEAVE), one, 2, 0, true);
    cr_expect_eq(f->n, 1);
    found_expect(f, &first_word, "a word that is read before it is written");
    f = check(GLOBAL(LEAVE READS("%l2")), one, 2, 0, true);
    cr_expect_eq(f->n, 0, "%s", found_text(f));
    f = check(GLOBAL(READS("%l3") LEAVE), one, 2, 0, true);
    cr_expect_eq(f->n, 0, "%s", found_text(f));
}

// As a merge reads the next key ahead.
Test(check, what_is_read_ahead_and_not_used_is_no_finding)
{
#define NEVER "setp.gt.u32 %p1, %r1, 63;\n"
#define ALWAYS "setp.lt.u32 %p1, %r1, 64;\n"
#define CHOSEN(condition) SHARED("mov.u32 %r5, 5;\n" GET("%r10") condition "selp.b32 %r3, %r3, %r5, %p1;\n" LEAVE)
#define COMPARED(condition)                                                                                            \
    SHARED(GET("%r10") condition "mov.u32 %r5, %r3;\nsetp.lt.and.u32 %p2, %r5, %r1, %p1;\n"                            \
                                 "@%p2 bra END;\nst.global.u32 [%l2], %r1;\nEND:\n")
    static const struct found there = { SIMT_UNINIT_MEMORY, HERE(20, ANY, READS), OF("s", ANY), .count = 64 };
    expect(CHOSEN(NEVER), one, CLEAN);
    expect(CHOSEN(ALWAYS), one, 1, FOUND(there));
    expect(COMPARED(NEVER), one, CLEAN);
    expect(COMPARED(ALWAYS), one, 1, FOUND(there));
    // It stays unwritten on its way, and is no finding where something is written over it.
    expect(SHARED(GET("%r10") ALWAYS "selp.b32 %r5, %r3, %r1, %p1;\nadd.u32 %r3, %r5, 1;\n" LEAVE), one, 1,
           FOUND(there));
    expect(SHARED(GET("%r10") ALWAYS "selp.b32 %r5, %r3, %r1, %p1;\nmov.u32 %r5, %r1;\nmov.u32 %r3, %r5;\n" LEAVE), one,
           CLEAN);
}

// As a scan takes from the lanes before what they may not have.
Test(check, what_other_lanes_have_read_in_vain_is_no_finding)
{
#define TAKEN(condition)                                                                                               \
    SHARED(GET("%r10") "shfl.sync.up.b32 %r5, %r3, 1, 0, -1;\n" condition                                              \
                       "mov.u32 %r3, 7;\n@%p1 add.u32 %r3, %r5, 1;\n" LEAVE)
    expect(TAKEN(NEVER), one, CLEAN);
    expect(TAKEN(ALWAYS), one, 1, FOUND({ SIMT_UNINIT_MEMORY, HERE(20, ANY, READS), .space = SIMT_SHARED }));
}

// Each thread writes the low half of two words, and reads both.
Test(check, padding_that_is_read_is_a_finding_where_it_is_used)
{
#define HALF_WRITTEN(use)                                                                                              \
    GLOBAL("mad.wide.u32 %l4, %r1, 8, %l0;\nst.global.u32 [%l4+512], %r1;\n" LINE(20) "ld.global.u64 %l5, "            \
                                                                                      "[%l4+512];\n" use LEAVE)
#define CHOSEN_HALF(condition)                                                                                         \
    HALF_WRITTEN("mov.u32 %r5, 5;\nmov.b64 {%r6, %r7}, %l5;\n" condition "selp.b32 %r3, %r7, %r5, %p1;\n")
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {
        { HALF_WRITTEN("cvt.u32.u64 %r3, %l5;\n"), 0 },
        { HALF_WRITTEN("mov.b64 {%r3, %r5}, %l5;\n"), 0 },
        { HALF_WRITTEN("mov.b64 {%r5, %r3}, %l5;\n"), 1 },
        { CHOSEN_HALF(NEVER), 0 },
        { CHOSEN_HALF(ALWAYS), 1 },
        { HALF_WRITTEN("st.global.u64 [%l4+512], %l5;\n"), 1 },
    };
    static const struct found there = { SIMT_UNINIT_MEMORY, .here.line = 20, .block = THE(0), OF("out", ANY),
                                        .count = 64 };
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        const struct simt_findings *f = check(cases[i].text, one, 2, 0, true);
        cr_expect_eq(f->n, cases[i].n, "%zu findings, not %zu:\n%s\nof\n%s", f->n, cases[i].n, found_text(f),
                     cases[i].text);
        if (cases[i].n)
            found_expect(f, &there, cases[i].text);
    }
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
        const struct simt_findings *f = check(cases[i].text, one, 1, 0, true);
        cr_expect_eq(f->n, cases[i].n, "%s%s", cases[i].text, found_text(f));
        if (cases[i].n)
            found_expect(f, SUCH(SIMT_UNINIT_MEMORY), cases[i].text);
    }
}

Test(check, of_atomics_by_several_blocks_the_first_reads_what_was_not_written)
{
    // Unless one of them may have come first that only stores.
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {
        { GLOBAL("red.global.add.u32 [%l0], %r3;\n"), 1 },
        { GLOBAL("atom.global.exch.b32 %r5, [%l0], %r3;\nst.global.u32 [%l3], %r5;\n"), 1 },
        { GLOBAL("atom.global.exch.b32 %r5, [%l0], %r3;\n"), 0 },
        { GLOBAL("setp.eq.u32 %p0, %r2, 1;\n@%p0 st.relaxed.gpu.global.u32 [%l0], %r3;\n"
                 "@!%p0 red.global.add.u32 [%l0], %r3;\n"),
          0 },
    };
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        const struct simt_findings *f = check(cases[i].text, two, 2, 0, true);
        size_t n = 0;
        for (size_t k = 0; k < f->n; k++)
            n += f->all[k].kind == SIMT_UNINIT_MEMORY;
        cr_expect_eq(n, cases[i].n, "%s%s", cases[i].text, found_text(f));
    }
}

Test(check, shared_memory_is_forgotten_between_blocks)
{
    expect(SHARED("setp.eq.u32 %p0, %r2, 0;\n" LINE(10) "@%p0 st.shared.u32 [%r10], %r1;\n" GET("%r10")), two, 1,
           FOUND({ SIMT_UNINIT_MEMORY, HERE(0, 0, NO_ACCESS), .block = THE(1), .count = 64 }));
}

Test(check, threads_that_go_out_of_bounds_are_counted_and_the_others_go_on)
{
    expect(
        GLOBAL("add.u64 %l2, %l2, 896;\n" LEAVE), one, 1,
        FOUND({ SIMT_OUT_OF_BOUNDS, HERE(30, 32, WRITES), .block = THE(0), OF("out", 1024), .bytes = 4, .count = 32 }));
    expect(GLOBAL("add.u64 %l2, %l2, 2;\n" LEAVE), one, 1, FOUND({ SIMT_MISALIGNED, .count = 64 }));
}

Test(check, a_race_is_found_after_an_access_out_of_bounds)
{
#define AFTER LINE(50) "st.global.u32 [%l0], %r1;\n"
    expect(GLOBAL(LINE(30) "atom.global.add.u32 %r5, [%l1+2048], 1;\n" AFTER), warp, 2,
           FOUND({ SIMT_OUT_OF_BOUNDS, .here.line = 30, OF("in", 2048), .count = 32 }, { SIMT_RACE, .here.line = 50 }));
    expect(GLOBAL(LINE(30) "red.global.add.u32 [%l1+2], 1;\n" AFTER), warp, 2,
           FOUND({ SIMT_MISALIGNED, .here.line = 30 }, { SIMT_RACE, .here.line = 50 }));
    expect(SHARED(LINE(30) "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r10+4096];\n" AFTER), warp, 2,
           FOUND({ SIMT_OUT_OF_BOUNDS, .here.line = 30 }, { SIMT_RACE, .here.line = 50 }));
    expect(SHARED("add.u64 %l3, %l3, 1000;\n" LINE(30) "cp.async.ca.shared.global [%r10], [%l3], 4;\n"
                                                       "cp.async.wait_all;\n" AFTER),
           warp, 2,
           FOUND({ SIMT_OUT_OF_BOUNDS, .here.line = 30, OF("in", 1024), .count = 26 }, { SIMT_RACE, .here.line = 50 }));
}

// Of a tile of 16 rows of 32 bytes the last one is not there. With b by rows, and with a by columns, a register holds
// elements of two rows: one inside, one outside.
Test(check, an_element_of_a_tile_that_is_not_there_is_the_one_that_is_named)
{
#define OUTSIDE(matrix, order)                                                                                         \
    expect(GLOBAL("mov.u32 %r20, 16;\n" LINE(30) "wmma.load." matrix ".sync.aligned." order ".m16n16k16.global.f16 "   \
                                                 "{%r5, %r6, %r7, %r8, %r16, %r17, %r18, %r19}, [%l1+544], %r20;\n"),  \
           warp, 1, FOUND({ SIMT_OUT_OF_BOUNDS, HERE(0, ANY, READS), .object = "in", .at = THE(1024), .bytes = 2 }))
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
           one, 1, FOUND({ SIMT_OUT_OF_BOUNDS, HERE(20, 63, READS), .block = THE(0), OF("s", 256), .bytes = 4 }));
}

Test(check, what_lies_before_shared_memory_is_said_so)
{
    const struct simt_findings *f =
        check(SHARED(LINE(20) "mov.u32 %r10, s;\nst.shared.u32 [%r10+-16], %r1;\n" LEAVE), warp, 2, 0, false);
    cr_expect(strstr(found_text(f), "byte -16 of s (shared memory)"), "%s", found_text(f));
}

// A stage too many is not the next array either, where the array is large.
Test(check, an_index_up_to_twice_the_size_of_a_shared_array_is_not_the_next_array)
{
    expect(KERNEL(".shared .align 4 .b32 s[2048];\n.shared .align 4 .b32 t[2048];\n", PLACES PUT
                  "mov.u32 %r13, t;\nmad.lo.u32 %r16, %r1, 4, %r13;\nst.shared.u32 [%r16], %r1;\n" BARRIER LINE(
                      20) "ld.shared.u32 %r3, [%r10+12288];\n" LEAVE),
           one, 1, FOUND({ SIMT_OUT_OF_BOUNDS, HERE(20, ANY, READS), OF("s", 12288), .bytes = 4 }));
}

Test(check, a_shared_array_is_called_what_the_source_calls_it)
{
#define NAMED(name)                                                                                                    \
    KERNEL(".shared .align 4 .b32 " name "[64];\n",                                                                    \
           "mov.u32 %r13, " name ";\n" LINE(20) "ld.shared.u32 %r3, [%r13];\n" LEAVE)
    expect(NAMED("As"), one, 1, FOUND({ SIMT_UNINIT_MEMORY, OF("As", 0) }));
    expect(NAMED("_ZZ4gemmE2As"), one, 1, FOUND({ SIMT_UNINIT_MEMORY, OF("As", 0) }));
    expect(NAMED("_ZZ5gemm4E2As"), one, 1, FOUND({ SIMT_UNINIT_MEMORY, OF("As", 0) }));
    expect(NAMED("_ZZ4gemmE2As_0"), one, 1, FOUND({ SIMT_UNINIT_MEMORY, OF("As", 0) }));
    expect(NAMED("_ZN3sim6sharedE"), one, 1, FOUND({ SIMT_UNINIT_MEMORY, OF("shared", 0) }));
    expect(NAMED("_ZZ7productILi4EEvPK6float4S1_E2As"), one, 1, FOUND({ SIMT_UNINIT_MEMORY, OF("As", 0) }));
}

// --- blocks ---

Test(check, blocks_that_share_an_element_race)
{
    expect(GLOBAL(LEAVE), two, CLEAN);
    expect(GLOBAL("mad.wide.u32 %l2, %r1, 4, %l0;\n" LEAVE), two, CLEAN);  // the same value
    expect(GLOBAL("mad.wide.u32 %l2, %r1, 4, %l0;\nmov.u32 %r3, %r2;\n" LEAVE), two, 1,
           FOUND({ SIMT_RACE_BLOCKS, HERE(30, 0, WRITES), THERE(30, 0, WRITES), .block = THE(0), OF("out", 0),
                   .count = 64 }));
    expect(GLOBAL("mad.wide.u32 %l3, %r1, 4, %l0;\n" LINE(20) "ld.global.u32 %r3, [%l3];\n" LEAVE), two, 1,
           FOUND({ SIMT_RACE_BLOCKS, .here.line = 30, THERE(20, 0, READS), .block = THE(0) }));
    expect(GLOBAL("red.global.add.u32 [%l0], %r3;\n"), two, CLEAN);
    expect(GLOBAL(LINE(20) "red.global.add.u32 [%l0], %r3;\n" LINE(21) "ld.global.u32 %r5, [%l0];\n"), two, 2,
           FOUND({ SIMT_RACE, HERE(0, ANY, CHANGES), THERE(21, ANY, READS), OF("out", 0) }));
}

Test(check, threads_of_a_block_that_share_an_element_of_global_memory_race)
{
#define NEXT "mad.wide.u32 %l4, %r14, 4, %l0;\n" LINE(20) "ld.global.u32 %r5, [%l4];\n"
#define NEIGHBOUR(between) GLOBAL("xor.b32 %r14, %r1, 32;\n" LEAVE between NEXT)
    expect(NEIGHBOUR(""), one, 2,
           FOUND({ SIMT_RACE, HERE(20, 32, READS), THERE(30, 0, WRITES), .block = THE(0), OF("out", 0) }));
    expect(NEIGHBOUR(BARRIER), one, CLEAN);
    expect(GLOBAL("xor.b32 %r14, %r1, 1;\n" LEAVE NEXT), one, 1, FOUND({ SIMT_RACE, THERE(0, 0, WRITES) }));
    expect(GLOBAL("xor.b32 %r14, %r1, 1;\n" LEAVE "bar.warp.sync -1;\n" NEXT), one, CLEAN);
    expect(GLOBAL(LINE(30) "st.global.u32 [%l0], %r1;\n"), one, 1,
           FOUND({ SIMT_RACE, .here.line = 30, .there.line = 30 }));
    expect(GLOBAL(LINE(30) "st.global.u32 [%l0], %r3;\n"), one, CLEAN);  // the same value
}

Test(check, a_fence_turns_no_check_off)
{
    expect(GLOBAL("membar.gl;\natom.global.add.u32 %r5, [%l0], 1;\nmembar.gl;\n"), two, CLEAN);
    expect(GLOBAL("membar.gl;\n" LINE(20) "atom.global.add.u32 %r5, [%l0], 1;\nmembar.gl;\n" LINE(
               21) "ld.global.u32 %r5, [%l0];\n"),
           lone, 1, FOUND({ SIMT_RACE_BLOCKS, HERE(0, ANY, CHANGES), THERE(21, ANY, READS), OF("out", 0) }));
}

// --- barriers and ends ---

Test(check, barriers_that_not_all_threads_reach_are_found)
{
    expect(
        GLOBAL("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra SKIP;\n" LINE(15) "bar.sync 0;\nSKIP:\n" LINE(16) "bar.sync 1;\n"),
        one, 1, FOUND({ SIMT_BARRIER_STUCK, .here.line = 15, THERE(16, 32, NO_ACCESS), .expected = 64, .seen = 32 }));
    expect(GLOBAL("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra OTHER;\n" LINE(15) "bar.sync 0;\nbra ON;\nOTHER:\n" LINE(
               16) "bar.sync 0;\nON:\n"),
           one, 1, FOUND({ SIMT_BARRIER_SPLIT, HERE(16, 32, NO_ACCESS), THERE(15, 0, NO_ACCESS), .block = THE(0) }));
}

// With a number or a count of its own it is no __syncthreads(): warps may come to it from several lines.
Test(check, a_named_barrier_may_stand_at_several_lines)
{
#define TWO_LINES(barrier)                                                                                             \
    SHARED("setp.ge.u32 %p0, %r1, 32;\n" PUT "@%p0 bra OTHER;\n" LINE(15) barrier "bra ON;\nOTHER:\n" LINE(16) barrier \
           "ON:\n" GET("%r12") LEAVE)
    expect(TWO_LINES("bar.sync 15;\n"), one, CLEAN);
    expect(TWO_LINES("bar.sync 0, 64;\n"), one, CLEAN);
    expect(TWO_LINES("bar.sync 0;\n"), one, 1, FOUND({ SIMT_BARRIER_SPLIT, THERE(15, 0, NO_ACCESS) }));
}

Test(check, threads_that_give_a_barrier_different_counts_are_found)
{
#define TWO_COUNTS(mine, other)                                                                                        \
    GLOBAL("setp.ge.u32 %p0, %r1, 32;\n@%p0 bra OTHER;\n" LINE(15) mine "bra ON;\nOTHER:\n" LINE(16) other             \
           "ON:\n" LEAVE)
    expect(TWO_COUNTS("bar.sync 1, 64;\n", "bar.sync 1, 64;\n"), one, CLEAN);
    expect(TWO_COUNTS("bar.sync 1;\n", "bar.sync 1, 64;\n"), one, CLEAN);
    expect(TWO_COUNTS("bar.sync 1, 96;\n", "bar.sync 1, 64;\n"), one, 1,
           FOUND({ SIMT_BARRIER_COUNT, HERE(16, 32, NO_ACCESS), THERE(15, 0, NO_ACCESS), .expected = 96, .seen = 64 }));
}

Test(check, barriers_that_threads_miss_because_they_ended_are_advised_against)
{
    // 16 of 64 threads return early; a whole warp does; every other thread does. All before the second barrier.
#define MISSED(condition) GLOBAL(LINE(14) "bar.sync 0;\n" condition LINE(40) "@%p0 exit;\n" BARRIER LEAVE LINE(41))
    expect(MISSED("setp.ge.u32 %p0, %r1, 48;\n"), one, 0,
           FOUND({ SIMT_BARRIER_LEFT, HERE(15, 0, NO_ACCESS), THERE(40, 48, NO_ACCESS), .block = THE(0), .expected = 64,
                   .left = 16 }));
    expect(MISSED("setp.lt.u32 %p0, %r1, 32;\n"), one, 0,
           FOUND({ SIMT_BARRIER_LEFT, HERE(15, 32, NO_ACCESS), THERE(40, 0, NO_ACCESS), .left = 32 }));
    expect(MISSED("and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p0, %r5, 1;\n"), one, 0,
           FOUND({ SIMT_BARRIER_LEFT, .here.line = 15, THERE(0, 1, NO_ACCESS) }));
    expect(MISSED("setp.ge.u32 %p0, %r1, 64;\n"), one, CLEAN);
    // With a count of all threads it never opens.
    expect(GLOBAL("setp.lt.u32 %p0, %r1, 32;\n@%p0 exit;\n" LINE(15) "bar.sync 1, 64;\n" LEAVE), one, 1,
           FOUND({ SIMT_BARRIER_STUCK, HERE(15, 32, NO_ACCESS), .left = 32 }));
    // A barrier for the other warp alone.
    expect(GLOBAL("setp.lt.u32 %p0, %r1, 32;\n@%p0 exit;\n" LINE(15) "bar.sync 1, 32;\n" LEAVE), one, CLEAN);
}

Test(check, shuffles_from_lanes_that_take_no_part_are_found)
{
    expect(GLOBAL(LINE(12) "setp.gt.u32 %p0, %r1, 15;\n@!%p0 shfl.sync.down.b32 %r3, %r1, 4, 31, 0x0000ffff;\n" LEAVE),
           warp, 1,
           FOUND({ SIMT_LANES_INACTIVE, HERE(12, 12, NO_ACCESS), .block = THE(0), .count = 4, .lanes = 1u << 16 }));
    expect(GLOBAL(LINE(12) "shfl.sync.down.b32 %r3, %r1, 4, 31, -1;\n" LEAVE), warp, CLEAN);
}

Test(check, stores_to_constants_are_found)
{
#define CONSTANT(body)                                                                                                 \
    PTX_HEAD ".file 1 \"kernel.cu\"\n.const .align 4 .b8 table[256];\n"                                                \
             ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" REGS                                            \
             "mov.u64 %l4, table;\ncvta.const.u64 %l4, %l4;\nmad.wide.u32 %l5, %r1, 4, %l4;\n" body "ret;\n}\n"
    expect(CONSTANT(LINE(12) "st.u32 [%l5], %r1;\n" LEAVE), one, 1,
           FOUND({ SIMT_CONSTANT_STORE, HERE(12, 0, WRITES), .block = THE(0), OF("table", 0), .count = 64 }));
    expect(CONSTANT(LINE(12) "ld.u32 %r3, [%l5];\n" LEAVE), one, CLEAN);
}

Test(check, findings_do_not_depend_on_the_number_of_host_threads)
{
    // Even blocks race, block 9 never ends: what blocks after it did does not count.
    const char *text = SHARED("setp.eq.u32 %p1, %r2, 9;\nLOOP:\n" LINE(
        40) "@%p1 bra LOOP;\nand.b32 %r16, %r2, 1;\nsetp.ne.u32 %p0, %r16, 0;\n" PUT
            "@%p0 bra DONE;\n" BARRIER GET("%r11") LINE(25) "st.shared.u32 [%r10], %r3;\nDONE:\n");
    const struct ptx_shape many = { 40, 64, 0 };
    const struct simt_findings *f = check(text, many, 1, 100000, false);
    cr_expect_eq(f->n, 2, "%s", found_text(f));
    found_expect(f, SUCH(SIMT_ENDLESS_LOOP, .here.line = 40, .block = THE(9)), text);
    found_expect(f, SUCH(SIMT_RACE, .count = 5 * 64), text);
    char *first = strdup(found_text(f));
    for (unsigned jobs = 2; jobs <= 7; jobs++)
        cr_expect_str_eq(found_text(check(text, many, jobs, 100000, false)), first, "with %u jobs:", jobs);
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
