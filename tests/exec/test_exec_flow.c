// Control flow: divergence, barriers, kernels that never end, jobs, and where messages say that a fault is. What a GPU
// can run too runs on every device; faults and counters are the simulated GPU's alone.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/profile.h"
#include "found.h"

// A kernel whose thread number i (of the launch) is %r0, of the block %r1, the block %r2; it writes %r3 to out[i].
#define REGS                                                                                                           \
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %l<8>;\nld.param.u64 %l0, [out];\nld.param.u64 %l1, [in];\n"      \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 %r0, %r2, %r4, %r1;\n"            \
    "mad.wide.u32 %l2, %r0, 4, %l0;\nmov.u32 %r3, 0;\n"
#define ENTRY ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" REGS
#define LEAVE "st.global.u32 [%l2], %r3;\nret;\n}\n"
#define MODULE(body) PTX_HEAD ENTRY body LEAVE
#define SHARED(words) ".shared .align 4 .b32 s[" #words "];\n"
#define MY_WORD "mov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r10, %r10, %r11;\n"  // %r10: address of s[thread]

enum { MOST = 1024 };
static const uint32_t nothing[1] = { 7 };

// Runs the module on every device and compares out[i] with want(i).
static void expect(const char *text, struct ptx_shape shape, uint32_t (*want)(uint32_t i))
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices(d), n = (size_t)shape.blocks * shape.threads;
    static uint32_t out[MOST];
    cr_assert_leq(n, MOST);
    for (size_t k = 0; k < devices; k++) {
        memset(out, 0xee, sizeof out);
        cr_expect(ptx_run(d[k], text, shape, out, n, nothing, 1), "%s: %s", dev_about(d[k])->name, dev_error(d[k]));
        for (uint32_t i = 0; i < n; i++)
            cr_assert_eq(out[i], want(i), "%s: thread %u gives %u, not %u", dev_about(d[k])->name, i, out[i], want(i));
        dev_close(d[k]);
    }
}

// --- divergence ---

static uint32_t odd_or_even(uint32_t i)
{
    return (i & 1 ? 100 + i : 3 * i) + 1000;
}

Test(exec_flow, both_sides_of_a_branch_run_for_their_lanes_and_meet_again)
{
    expect(MODULE("and.b32 %r5, %r0, 1;\nsetp.ne.u32 %p0, %r5, 0;\n@%p0 bra ODD;\nmul.lo.u32 %r3, %r0, 3;\nbra MEET;\n"
                  "ODD: add.u32 %r3, %r0, 100;\nMEET: add.u32 %r3, %r3, 1000;\n"),
           (struct ptx_shape){ 2, 64, 0 }, odd_or_even);
}

static uint32_t triangle(uint32_t i)
{
    return (i & 31) * ((i & 31) + 1) / 2;
}

Test(exec_flow, each_lane_has_its_own_number_of_loop_trips)
{
    expect(MODULE("and.b32 %r5, %r0, 31;\nLOOP: setp.eq.u32 %p0, %r5, 0;\n@%p0 bra DONE;\nadd.u32 %r3, %r3, %r5;\n"
                  "sub.u32 %r5, %r5, 1;\nbra LOOP;\nDONE:\n"),
           (struct ptx_shape){ 3, 96, 0 }, triangle);
}

static uint32_t nested(uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t a = 0; a < i % 5; a++)
        for (uint32_t b = 0; b < (i + a) % 3; b++)
            sum += (a ^ i) & 1 ? 10 * a + b : 1;
    return sum;
}

Test(exec_flow, branches_inside_nested_loops_diverge_and_meet)
{
    expect(MODULE("rem.u32 %r5, %r0, 5;\nmov.u32 %r6, 0;\n"
                  "OUTER: setp.ge.u32 %p0, %r6, %r5;\n@%p0 bra END;\nadd.u32 %r7, %r0, %r6;\nrem.u32 %r7, %r7, 3;\n"
                  "mov.u32 %r8, 0;\nINNER: setp.ge.u32 %p1, %r8, %r7;\n@%p1 bra NEXT;\nxor.b32 %r9, %r6, %r0;\n"
                  "and.b32 %r9, %r9, 1;\nsetp.eq.u32 %p2, %r9, 0;\n@%p2 bra ONE;\nmad.lo.u32 %r9, %r6, 10, %r8;\n"
                  "add.u32 %r3, %r3, %r9;\nbra STEP;\nONE: add.u32 %r3, %r3, 1;\nSTEP: add.u32 %r8, %r8, 1;\n"
                  "bra INNER;\nNEXT: add.u32 %r6, %r6, 1;\nbra OUTER;\nEND:\n"),
           (struct ptx_shape){ 4, 100, 0 }, nested);
}

static uint32_t early(uint32_t i)
{
    return i % 3 == 0 ? 11 : i % 3 == 1 ? 0xeeeeeeee : i;
}

Test(exec_flow, lanes_that_leave_early_do_not_stop_the_others)
{
    expect(MODULE("rem.u32 %r5, %r0, 3;\nsetp.eq.u32 %p0, %r5, 1;\n@%p0 exit;\nsetp.eq.u32 %p1, %r5, 0;\n"
                  "@!%p1 bra ON;\nmov.u32 %r3, 11;\nst.global.u32 [%l2], %r3;\nret;\nON: mov.u32 %r3, %r0;\n"),
           (struct ptx_shape){ 2, 70, 0 }, early);
}

static uint32_t kept(uint32_t i)
{
    return i % 4 == 0 ? 5 + i : i;
}

Test(exec_flow, a_guarded_instruction_keeps_the_other_lanes)
{
    expect(MODULE("mov.u32 %r3, %r0;\nand.b32 %r5, %r0, 3;\nsetp.eq.u32 %p0, %r5, 0;\n@%p0 add.u32 %r3, %r3, 5;\n"
                  "@!%p0 mul.lo.u32 %r3, %r3, 1;\n"),
           (struct ptx_shape){ 2, 64, 0 }, kept);
}

static uint32_t guarded_load(uint32_t i)
{
    return i == 3 ? 7 : 42;
}

Test(exec_flow, a_load_whose_guard_is_false_touches_no_memory)
{
    expect(MODULE("mov.u32 %r3, 42;\nsetp.eq.u32 %p0, %r0, 3;\nmov.u64 %l3, 16;\n@%p0 mov.u64 %l3, %l1;\n"
                  "@%p0 ld.global.u32 %r3, [%l3];\n@!%p0 ld.global.u32 %r5, [%l1];\nsetp.ne.u32 %p1, 0, 0;\n"
                  "@%p1 st.global.u32 [%l3], %r3;\n"),
           (struct ptx_shape){ 1, 32, 0 }, guarded_load);
}

// --- barriers ---

static uint32_t mirrored(uint32_t i)
{
    return 127 - i % 128;
}

Test(exec_flow, a_barrier_shows_every_thread_what_the_others_wrote)
{
    expect(PTX_HEAD ENTRY SHARED(128) MY_WORD
           "st.shared.u32 [%r10], %r1;\nbar.sync 0;\nmov.u32 %r12, s;\nsub.u32 %r13, 127, %r1;\n"
           "mad.lo.u32 %r12, %r13, 4, %r12;\nld.shared.u32 %r3, [%r12];\n" LEAVE,
           (struct ptx_shape){ 3, 128, 0 }, mirrored);
}

static uint32_t by_half(uint32_t i)
{
    return i % 128 < 64 ? 63 - i % 64 : i % 128;
}

Test(exec_flow, a_barrier_with_a_count_waits_for_that_many_threads)
{
    expect(PTX_HEAD ENTRY SHARED(128) MY_WORD
           "mov.u32 %r3, %r1;\nsetp.ge.u32 %p0, %r1, 64;\n@%p0 bra DONE;\nst.shared.u32 [%r10], %r1;\nbar.sync 1, 64;\n"
           "mov.u32 %r12, s;\nsub.u32 %r13, 63, %r1;\nmad.lo.u32 %r12, %r13, 4, %r12;\nld.shared.u32 %r3, [%r12];\n"
           "DONE:\n" LEAVE,
           (struct ptx_shape){ 2, 128, 0 }, by_half);
}

static uint32_t handed_over(uint32_t i)
{
    return i % 64 < 32 ? 500 + i % 32 : i % 64;
}

Test(exec_flow, a_producer_arrives_without_waiting)
{
    expect(PTX_HEAD ENTRY SHARED(64) MY_WORD
           "setp.lt.u32 %p0, %r1, 32;\n@%p0 bra READ;\nadd.u32 %r13, %r1, 468;\nst.shared.u32 [%r10], %r13;\n"
           "bar.arrive 2, 64;\nmov.u32 %r3, %r1;\nbra DONE;\nREAD: bar.sync 2, 64;\n"
           "ld.shared.u32 %r3, [%r10+128];\nDONE:\n" LEAVE,
           (struct ptx_shape){ 1, 64, 0 }, handed_over);
}

static uint32_t flag_seen(uint32_t i)
{
    return i < 64 ? 1 : 9;
}

Test(exec_flow, a_barrier_opens_while_another_warp_waits_for_a_flag)
{
    expect(
        PTX_HEAD ENTRY SHARED(
            4) "setp.ge.u32 %p0, %r1, 64;\n@%p0 bra SPIN;\nbar.sync 1, 64;\nmov.u32 %r3, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
               "@%p1 bra DONE;\nmov.u32 %r5, 9;\nst.volatile.shared.u32 [s], %r5;\nbra DONE;\n"
               "SPIN: ld.volatile.shared.u32 %r3, [s];\nsetp.ne.u32 %p2, %r3, 9;\n@%p2 bra SPIN;\nDONE:\n" LEAVE,
        (struct ptx_shape){ 1, 96, 0 }, flag_seen);
}

Test(exec_flow, a_barrier_that_some_threads_never_reach_is_found)
{
    found_fails(MODULE("setp.ge.u32 %p0, %r1, 96;\n@%p0 bra SKIP;\nbar.sync 0;\nSKIP: bar.sync 1;\n"),
                (struct ptx_shape){ 2, 128, 0 }, 0,
                SUCH(SIMT_BARRIER_STUCK, .block = THE(0), .seen = 96, .expected = 128));
}

Test(exec_flow, a_barrier_with_a_count_opens_without_one_warp_more)
{
    found_fails(MODULE("bar.sync 1, 64;\n"), (struct ptx_shape){ 1, 96, 0 }, 0,
                SUCH(SIMT_BARRIER_STUCK, .block = THE(0), .seen = 32, .left = 64, .expected = 96));
}

static uint32_t own_number(uint32_t i)
{
    return i;
}

Test(exec_flow, a_barrier_does_not_wait_for_threads_that_have_ended)
{
    expect(MODULE("setp.lt.u32 %p0, %r1, 40;\nmov.u32 %r3, %r0;\n@%p0 bra ON;\nst.global.u32 [%l2], %r3;\nret;\n"
                  "ON: bar.sync 0;\n"),
           (struct ptx_shape){ 2, 100, 0 }, own_number);
}

Test(exec_flow, a_barrier_number_or_count_that_cannot_be_is_refused)
{
    found_fails(MODULE("bar.sync 16;\n"), (struct ptx_shape){ 1, 32, 0 }, 0,
                SUCH(SIMT_BARRIER_NUMBER, .here.thread = THE(0)));
    found_fails(MODULE("bar.sync 0, 33;\n"), (struct ptx_shape){ 1, 64, 0 }, 0, SUCH(SIMT_BARRIER_NUMBER));
}

// --- kernels that do not end well ---

Test(exec_flow, an_endless_loop_ends_by_the_budget)
{
    found_fails(MODULE("LOOP: add.u32 %r3, %r3, 1;\nbra LOOP;\n"), (struct ptx_shape){ 1, 32, 0 }, 5000,
                SUCH(SIMT_ENDLESS_LOOP, .expected = 5000));
    found_fails(MODULE("setp.eq.u32 %p0, %r0, 5;\nLOOP: @%p0 bra LOOP;\n"), (struct ptx_shape){ 1, 32, 0 }, 50000,
                SUCH(SIMT_ENDLESS_LOOP, .here.thread = THE(5), .expected = 50000));
    found_fails(MODULE("LOOP: bar.sync 0;\nbra LOOP;\n"), (struct ptx_shape){ 1, 64, 0 }, 5000,
                SUCH(SIMT_ENDLESS_LOOP, .expected = 5000));
}

Test(exec_flow, a_trap_names_its_thread)
{
    found_fails(MODULE("setp.eq.u32 %p0, %r0, 77;\n@%p0 trap;\n"), (struct ptx_shape){ 2, 64, 0 }, 0,
                SUCH(SIMT_TRAP, .block = THE(1), .here.thread = THE(13)));
}

// --- jobs ---

Test(exec_flow, results_and_counters_do_not_depend_on_the_number_of_jobs)
{
    static const char text[] = PTX_HEAD ENTRY SHARED(64) MY_WORD
        "and.b32 %r5, %r0, 15;\nLOOP: add.u32 %r3, %r3, %r5;\nsub.u32 %r5, %r5, 1;\nsetp.gt.s32 %p0, %r5, 0;\n"
        "@%p0 bra LOOP;\nst.shared.u32 [%r10], %r3;\nbar.sync 0;\nld.shared.u32 %r3, [%r10];\n" LEAVE;
    static const unsigned jobs[] = { 1, 2, 5 };
    static uint32_t out[3][MOST];
    uint64_t total[3][METRIC_COUNT];
    for (size_t j = 0; j < 3; j++) {
        struct dev *d = ptx_simulator();
        dev_set_jobs(d, jobs[j]);
        cr_assert(ptx_run(d, text, (struct ptx_shape){ 16, 64, 0 }, out[j], MOST, nothing, 1), "%s", dev_error(d));
        cr_assert_not_null(dev_profile(d));
        memcpy(total[j], dev_profile(d)->total, sizeof total[j]);
        dev_close(d);
        cr_expect_eq(memcmp(out[j], out[0], sizeof out[0]), 0, "results with %u jobs", jobs[j]);
        for (int m = 0; m < METRIC_COUNT; m++)
            cr_expect_eq(total[j][m], total[0][m], "%u jobs: %s is %llu, with 1 job %llu", jobs[j],
                         profile_metric_name(m), (unsigned long long)total[j][m], (unsigned long long)total[0][m]);
    }
    cr_expect_eq(total[0][METRIC_GST_REQ], 32, "32 warps store once, not %llu times",
                 (unsigned long long)total[0][METRIC_GST_REQ]);
    cr_expect_eq(total[0][METRIC_SST_WAVE], 32);
}

Test(exec_flow, of_several_faults_the_one_in_the_lowest_block_is_reported)
{
    for (unsigned jobs = 1; jobs <= 5; jobs += 2) {
        static uint32_t out[MOST];
        struct dev *d = ptx_simulator();
        dev_set_jobs(d, jobs);
        cr_expect_not(ptx_run(d, MODULE("setp.ge.u32 %p0, %r2, 3;\n@%p0 trap;\n"), (struct ptx_shape){ 16, 32, 0 }, out,
                              MOST, nothing, 1));
        found_failed(d, SUCH(SIMT_TRAP, .block = THE(3)));
        dev_close(d);
    }
}

// --- names and lines ---

static uint32_t shadowed(uint32_t i)
{
    return i + 6 + 100;
}

Test(exec_flow, inner_scopes_shadow_registers_and_labels)
{
    expect(MODULE("mov.u32 %r5, 6;\n"
                  "{\n.reg .b32 %r5;\n.reg .pred p;\nmov.u32 %r5, 50;\nsetp.eq.u32 p, %r5, 50;\n@p bra L;\n"
                  "mov.u32 %r3, 1;\nL: add.u32 %r3, %r3, %r5;\n}\n"
                  "{\n.reg .b32 t;\n.reg .pred p;\nmov.u32 t, 50;\nsetp.eq.u32 p, t, 50;\n@p bra L;\nmov.u32 %r3, 1;\n"
                  "L: add.u32 %r3, %r3, t;\n}\n"
                  "add.u32 %r3, %r3, %r5;\nadd.u32 %r3, %r3, %r0;\n"),
           (struct ptx_shape){ 1, 32, 0 }, shadowed);
}

#define LINED(body) PTX_HEAD ENTRY body LEAVE ".file 1 \"/src/kernel.cu\"\n.file 2 \"/src/part.cuh\"\n"

Test(exec_flow, a_fault_names_the_source_line_and_where_it_was_inlined)
{
    struct ptx_shape one = { 1, 32, 0 };
    found_fails(LINED(".loc 1 38 5\ntrap;\n"), one, 0, SUCH(SIMT_TRAP, .place = "kernel.cu:38"));
    // Line 0 is code of no line: it belongs to the line before.
    found_fails(LINED(".loc 1 38 5\nmov.u32 %r3, 1;\n.loc 1 0 0\ntrap;\n"), one, 0,
                SUCH(SIMT_TRAP, .place = "kernel.cu:38"));
    found_fails(LINED(".loc 1 41 9\n.loc 2 7 3, function_name $L__info_string0, inlined_at 1 41 9\ntrap;\n"), one, 0,
                SUCH(SIMT_TRAP, .place = "part.cuh:7, called from kernel.cu:41"));
    found_fails(LINED(".loc 1 41 9\n.loc 2 7 3, function_name $L__info_string0+12, inlined_at 1 41 9\ntrap;\n"), one, 0,
                SUCH(SIMT_TRAP, .place = "part.cuh:7, called from kernel.cu:41"));
    // A function of the header that another one of it calls: the line of the kernel's file is what tells.
    found_fails(LINED(".loc 1 41 9\n.loc 2 7 3, function_name $L__info_string0, inlined_at 1 41 9\n"
                      ".loc 2 3 3, function_name $L__info_string1, inlined_at 2 7 3\ntrap;\n"),
                one, 0, SUCH(SIMT_TRAP, .place = "part.cuh:3, called from kernel.cu:41"));
    found_fails(LINED(".loc 1 41 9\n.loc 1 7 3, function_name $L__info_string0, inlined_at 1 41 9\ntrap;\n"), one, 0,
                SUCH(SIMT_TRAP, .place = "kernel.cu:7, called from line 41"));
    found_fails(PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 in)\n{\ntrap;\n}\n", one, 0,
                SUCH(SIMT_TRAP, .place = "test.ptx:6"));  // without .loc: the line of the PTX
}

// f traps for 1, at a line that was inlined into it; g passes on what it is given.
#define CALLS                                                                                                          \
    ".func f(.param .b32 p)\n{\n.reg .b32 r;\n.reg .pred q;\n.loc 2 7 3\nld.param.u32 r, [p];\n"                       \
    ".loc 2 5 3, function_name $L__info_string0, inlined_at 2 7 3\nsetp.eq.u32 q, r, 1;\n@q trap;\nret;\n}\n"          \
    ".func g(.param .b32 p)\n{\n.reg .b32 r;\n.param .b32 a;\n.loc 2 12 3\nld.param.u32 r, [p];\n"                     \
    "st.param.b32 [a], r;\ncall.uni f, (a);\nret;\n}\n"
#define CALL(line, function, value)                                                                                    \
    "{\n.param .b32 a;\n.loc 1 " line " 9\nst.param.b32 [a], " value ";\ncall.uni " function ", (a);\n}\n"
#define CALLED(body) PTX_HEAD CALLS ENTRY body LEAVE ".file 1 \"/src/kernel.cu\"\n.file 2 \"/src/part.cuh\"\n"

Test(exec_flow, a_fault_in_a_function_names_the_kernels_call)
{
    struct ptx_shape one = { 1, 32, 0 };
    found_fails(CALLED(CALL("40", "f", "0") CALL("41", "f", "1")), one, 0,
                SUCH(SIMT_TRAP, .place = "part.cuh:5, called from kernel.cu:41"));
    found_fails(CALLED(CALL("40", "f", "1") CALL("41", "f", "0")), one, 0,
                SUCH(SIMT_TRAP, .place = "part.cuh:5, called from kernel.cu:40"));
    found_fails(CALLED(CALL("40", "g", "0") CALL("41", "f", "0") CALL("42", "g", "1")), one, 0,
                SUCH(SIMT_TRAP, .place = "part.cuh:5, called from kernel.cu:42"));
    // A call of no line belongs to the line before, in the kernel and in a function.
    found_fails(CALLED(".loc 1 39 1\n" CALL("0", "g", "1")), one, 0,
                SUCH(SIMT_TRAP, .place = "part.cuh:5, called from kernel.cu:39"));
}
