// Aligned barriers, which a warp runs as a whole: lanes that come early wait for the others, and the counters and the
// checks see one arrival. Source: BAR.SYNC of kernels of this kind, counted by ncu on an H200.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"

enum { WORDS = 256 };

// Thread %r1 of the block writes %r3 to out[%r1]; %r5 is its lane.
#define KERNEL(body)                                                                                                   \
    PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 8 .b64 s[64];\n.reg .pred "        \
             "%p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %l<4>;\nld.param.u64 %l0, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 "   \
             "%r3, 0;\nand.b32 %r5, %r1, 31;\nsetp.eq.u32 %p0, %r5, 0;\nmul.wide.u32 %l1, %r1, 4;\nadd.u64 %l1, %l1, " \
             "%l0;\n" body "LEAVE: st.global.u32 [%l1], %r3;\nret;\n}\n"

// Three rounds; lane 0 has work to do in each, which stands behind the loop.
#define LATE(barrier)                                                                                                  \
    KERNEL("mov.u32 %r4, 0;\nLOOP: " barrier "@%p0 bra WORK;\nJOIN: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 3;\n"  \
           "@%p1 bra LOOP;\nbra.uni LEAVE;\nWORK: add.u32 %r3, %r3, 5;\nbra.uni JOIN;\n")

// Half of each warp comes to another barrier than the other half.
#define BRANCHES(first, second)                                                                                        \
    KERNEL("setp.lt.u32 %p1, %r5, 16;\n@%p1 bra LOW;\n" first "mov.u32 %r3, 2;\nbra.uni LEAVE;\nLOW: " second          \
           "mov.u32 %r3, 1;\n")

static uint32_t out[WORDS];

static struct dev *run(const char *text, unsigned threads, bool checks)
{
    static const uint32_t in[1];
    struct dev *d = ptx_simulator();
    dev_set_checks(d, checks);
    memset(out, 0, sizeof out);
    cr_assert(ptx_run(d, text, (struct ptx_shape){ 1, threads, 0 }, out, WORDS, in, 1), "%s\n%s", dev_error(d), text);
    return d;
}

static void expect_barriers(const char *text, unsigned threads, uint64_t n)
{
    for (int checks = 0; checks < 2; checks++) {
        struct dev *d = run(text, threads, checks);
        cr_expect_eq(dev_profile(d)->total[METRIC_BAR], n, "%llu barriers, not %llu, in\n%s",
                     (unsigned long long)dev_profile(d)->total[METRIC_BAR], (unsigned long long)n, text);
        cr_expect(!checks || !dev_findings(d)->n, "%s", found_first(dev_findings(d)));
        for (uint32_t i = 0; i < threads; i++)
            cr_expect_eq(out[i], i % 32 ? 0 : 15, "thread %u has %u", i, out[i]);
        dev_close(d);
    }
}

Test(exec_aligned, a_warp_whose_first_lane_comes_later_runs_a_barrier_once)
{
    expect_barriers(LATE("bar.sync 0;\n"), 64, 2 * 3);
    expect_barriers(LATE("bar.sync 3, 64;\n"), 64, 2 * 3);
    expect_barriers(LATE("barrier.sync.aligned 0;\n"), 64, 2 * 3);
    expect_barriers(LATE("bar.red.popc.u32 %r6, 0, %p0;\n"), 64, 2 * 3);
    expect_barriers(LATE("bar.sync 0;\n"), 40, 2 * 3);  // the second warp has 8 lanes
}

Test(exec_aligned, lanes_arrive_together_without_waiting)
{
    expect_barriers(KERNEL("mov.u32 %r4, 0;\nsetp.lt.u32 %p2, %r1, 32;\nLOOP: @%p2 bra SYNC;\nbar.arrive 1, 64;\n"
                           "bra.uni OVER;\nSYNC: bar.sync 1, 64;\nOVER: bar.sync 0;\n@%p0 bra WORK;\n"
                           "JOIN: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 3;\n@%p1 bra LOOP;\nbra.uni LEAVE;\n"
                           "WORK: add.u32 %r3, %r3, 5;\nbra.uni JOIN;\n"),
                    64, 2 * 2 * 3);
}

// The odd lanes end while the others wait.
Test(exec_aligned, lanes_do_not_wait_for_those_that_end)
{
    struct dev *d = run(KERNEL("and.b32 %r6, %r1, 1;\nsetp.eq.u32 %p1, %r6, 1;\n@%p1 bra END;\nbar.sync 0;\n"
                               "mov.u32 %r3, 7;\nbra.uni LEAVE;\nEND: st.global.u32 [%l1], %r1;\nret;\n"),
                        64, false);
    cr_expect_eq(dev_profile(d)->total[METRIC_BAR], 2);
    for (uint32_t i = 0; i < 64; i++)
        cr_expect_eq(out[i], i % 2 ? i : 7, "thread %u has %u", i, out[i]);
    dev_close(d);
}

// want: each of the n findings.
static void expect_found(const char *text, size_t n, const struct found *want)
{
    struct dev *d = run(text, 64, true);
    const struct simt_findings *f = dev_findings(d);
    cr_assert_eq(f->n, n, "%zu findings, not %zu: %s", f->n, n, found_first(f));
    for (size_t i = 0; i < n; i++)
        cr_expect(found_is(&f->all[i], want), "%s", found_text(f));
    for (uint32_t i = 0; i < 64; i++)
        cr_expect_eq(out[i], i % 32 < 16 ? 1 : 2, "thread %u has %u", i, out[i]);
    dev_close(d);
}

// An H200 hangs there (bar.sync 0 in both branches). Here the launch goes on, and the checks say so.
Test(exec_aligned, lanes_that_wait_for_their_warp_at_two_barriers_are_found)
{
    static const struct found split = { SIMT_LANES_SPLIT, HERE(0, 0, NO_ACCESS), THERE(0, 16, NO_ACCESS) };
    expect_found(BRANCHES("bar.sync 0;\n", "bar.sync 0;\n"), 1, &split);
    expect_found(BRANCHES("bar.sync 1, 64;\n", "bar.sync 1, 64;\n"), 1, &split);
    expect_found(BRANCHES("barrier.sync 1, 64;\n", "barrier.sync 1, 64;\n"), 0, NULL);
}

// Lane 0 waits for what no thread does: that is what is said, and where the other lanes are.
Test(exec_aligned, a_lane_that_never_comes_is_named)
{
    static const uint32_t in[1];
    struct dev *d = ptx_simulator();
    cr_expect_not(ptx_run(d,
                          KERNEL("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\nmbarrier.init.shared.b64 [s], 1;\n"
                                 "READY: bar.sync 0;\n@%p1 bra MEET;\n"
                                 "WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [s], 0;\n@!%p2 bra WAIT;\n"
                                 "MEET: bar.sync 0;\n"),
                          (struct ptx_shape){ 1, 64, 0 }, out, WORDS, in, 1));
    const char *said = dev_error(d);
    cr_expect(strstr(said, "warp 0 waits for phase 0 of the mbarrier s[0]: 1 arrival is missing"), "%s", said);
    cr_expect(strstr(said, "warp 0 waits in front of a barrier for lanes of the same warp"), "%s", said);
    dev_close(d);
}
