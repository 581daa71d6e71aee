// Warp-level instructions where they go wrong, mbarrier, and calls that are refused. What they give when they go right
// is in test_kernels.c.
#include <criterion/criterion.h>

#include <string.h>

#include "warp_case.h"

enum { MOST = 128 };

static void expect(const char *text, unsigned threads, uint32_t (*want)(uint32_t i))
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices_from(d, strstr(text, "sm_90") ? 90 : 80, false);
    for (size_t k = 0; k < devices; k++) {
        uint32_t out[MOST] = { 0 }, in[1] = { 0 };
        cr_expect(ptx_run(d[k], text, (struct ptx_shape){ 1, threads, 0 }, out, MOST, in, 1), "%s: %s",
                  dev_about(d[k])->name, dev_error(d[k]));
        for (uint32_t i = 0; i < threads; i++)
            cr_assert_eq(out[i], want(i), "%s: thread %u gives %u, not %u", dev_about(d[k])->name, i, out[i], want(i));
        dev_close(d[k]);
    }
}

// --- lanes that are not there ---

Test(exec_warp, a_lane_outside_its_own_member_mask_is_found)
{
    FAILS("shfl.sync.idx.b32 %r3, %r1, 0, 31, 0x0000ffff;\n", 32, SIMT_NOT_MEMBER, .here.thread = THE(16),
          .lanes = 0xffff);
    FAILS("bar.warp.sync 0xfffffffe;\n", 32, SIMT_NOT_MEMBER, .here.thread = THE(0), .lanes = 0xfffffffe);
}

Test(exec_warp, lanes_that_never_come_are_named)
{
    FAILS("setp.lt.u32 %p0, %r1, 8;\n@%p0 bra DONE;\nvote.sync.ballot.b32 %r3, %p0, 0xffffffff;\n"
          "bra LAST;\nDONE: bar.sync 0;\nLAST:\n",
          32, SIMT_LANES_MISSING, .lanes = 0xff);
    FAILS(".reg .b32 %a<4>, %b<2>;\n.reg .f32 %c<4>;\n"
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0,%c1,%c2,%c3}, {%a0,%a1,%a2,%a3}, "
          "{%b0,%b1}, {%c0,%c1,%c2,%c3};\n",
          48, SIMT_LANES_MISSING, .here.thread = THE(32), .lanes = 0xffff0000);
}

static uint32_t below(uint32_t i)
{
    return i < 15 ? i + 101 : 0;
}

static uint32_t spelled(uint32_t i)
{
    return 0x55555555 + 2 * (i ^ 1) + 0x80 * 32 + (1u << i) + 496;
}

// ptxas takes the words of such a name in any order; the headers of CUDA 13 write vote.ballot.sync.b32.
Test(exec_warp, the_words_of_an_instruction_between_lanes_come_in_any_order)
{
    expect(MODULE("and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p0, %r4, 0;\nvote.ballot.sync.b32 %r5, %p0, -1;\n"
                  "vote.any.sync.pred %p1, %p0, -1;\nshfl.bfly.sync.b32 %r6, %r1, 1, 31, -1;\n"
                  "vote.b32.sync.ballot %r7, %p1, -1;\nand.b32 %r7, %r7, 0x80;\nmatch.sync.any.b32 %r8, %r1, -1;\n"
                  "redux.add.sync.u32 %r9, %r1, -1;\nmatch.sync.all.b32 %r10|%p2, %r4, -1;\n"
                  "mad.lo.u32 %r3, %r6, 2, %r5;\nmad.lo.u32 %r3, %r7, 32, %r3;\nadd.u32 %r3, %r3, %r8;\n"
                  "add.u32 %r3, %r3, %r9;\nadd.u32 %r3, %r3, %r10;\n"),
           32, spelled);
    expect_failure(MODULE("vote.ballot.b32 %r5, %p0, -1;\n"), 32, PARTS("vote.ballot.b32"));
    expect_failure(MODULE("vote.ballot.any.sync.b32 %r5, %p0, -1;\n"), 32, PARTS("vote.ballot.any.sync.b32"));
}

// PTX leaves the value open; the checks name it (test_check.c).
Test(exec_warp, a_shuffle_from_a_lane_that_takes_no_part_gives_0)
{
    expect(MODULE("add.u32 %r5, %r1, 100;\nshfl.sync.down.b32 %r3, %r5, 1, 31, 0x0000ffff;\n"), 16, below);
    expect(MODULE("add.u32 %r5, %r1, 100;\nsetp.gt.u32 %p0, %r1, 15;\n@%p0 bra LAST;\n"
                  "shfl.sync.down.b32 %r3, %r5, 1, 31, 0x0000ffff;\nLAST:\n"),
           32, below);
}

Test(exec_warp, matrix_rows_outside_shared_memory_or_misaligned_are_found)
{
    FAILS(".shared .align 16 .b8 s[512];\nmad.lo.u32 %r5, %r1, 16, 16;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6,%r7,%r8,%r9}, [%r5];\n",
          32, SIMT_OUT_OF_BOUNDS, HERE(77, 31, READS), .space = SIMT_SHARED, OF("s", 512), .bytes = 16);
    FAILS(".shared .align 16 .b8 s[512];\nshl.b32 %r5, %r1, 3;\n"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];\n",
          32, SIMT_MISALIGNED, .here.thread = THE(1), .bytes = 16);
    FAILS(".shared .align 16 .b8 s[1024];\nmov.u32 %r5, s;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
          "{%r6,%r7,%r8,%r9,%r10,%r11,%r12,%r13}, [%r5], 20;\n",
          32, SIMT_MISALIGNED, .here.thread = THE(1), .space = SIMT_SHARED, OF("s", 40), .bytes = 16);
}

// --- mbarrier: 64 threads arrive, all wait, then read what their neighbour wrote ---

static uint32_t mirrored(uint32_t i)
{
    return 63 - i;
}

Test(exec_warp, an_mbarrier_opens_when_all_have_arrived)
{
    expect(
        MODULE(".shared .align 8 .b64 b;\n.shared .align 4 .b32 s[64];\nsetp.ne.u32 %p0, %r1, 0;\n"
               "@!%p0 mbarrier.init.shared.b64 [b], 64;\nbar.sync 0;\nmov.u32 %r5, s;\nmad.lo.u32 %r6, %r1, 4, %r5;\n"
               "st.shared.u32 [%r6], %r1;\nmbarrier.arrive.shared.b64 %l3, [b];\n"
               "WAIT: mbarrier.test_wait.shared.b64 %p1, [b], %l3;\n@!%p1 bra WAIT;\n"
               "sub.u32 %r7, 63, %r1;\nmad.lo.u32 %r7, %r7, 4, %r5;\nld.shared.u32 %r3, [%r7];\n"),
        64, mirrored);
}

Test(exec_warp, an_mbarrier_without_a_count_is_found)
{
    FAILS(".shared .align 8 .b64 b;\nst.shared.u64 [b], 0;\nmbarrier.arrive.shared.b64 _, [b];\n", 32,
          SIMT_ARRIVES_UNMADE, .object = "b");
}

static uint32_t copied(uint32_t i)
{
    return 7 * (63 - i);
}

Test(exec_warp, an_mbarrier_opens_when_copies_have_arrived)
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices_from(d, 80, false);
    const char *text =
        MODULE(".shared .align 8 .b64 b;\n.shared .align 4 .b32 s[64];\nsetp.ne.u32 %p0, %r1, 0;\n"
               "@!%p0 mbarrier.init.shared.b64 [b], 64;\nbar.sync 0;\nmov.u32 %r5, s;\nmad.lo.u32 %r6, %r1, 4, %r5;\n"
               "mad.wide.u32 %l3, %r1, 4, %l1;\ncp.async.ca.shared.global [%r6], [%l3], 4;\n"
               "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n"
               "WAIT: mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;\n@!%p1 bra WAIT;\n"
               "sub.u32 %r7, 63, %r1;\nmad.lo.u32 %r7, %r7, 4, %r5;\nld.shared.u32 %r3, [%r7];\n");
    for (size_t k = 0; k < devices; k++) {
        uint32_t out[64] = { 0 }, in[64];
        for (uint32_t i = 0; i < 64; i++)
            in[i] = 7 * i;
        cr_expect(ptx_run(d[k], text, (struct ptx_shape){ 1, 64, 0 }, out, 64, in, 64), "%s", dev_error(d[k]));
        for (uint32_t i = 0; i < 64; i++)
            cr_assert_eq(out[i], copied(i), "%s: thread %u gives %u", dev_about(d[k])->name, i, out[i]);
        dev_close(d[k]);
    }
}

// --- asynchronous copies ---

static uint32_t late(uint32_t i)
{
    return i < 32 ? 5 : 0;
}

// A copy that nobody waited for has not arrived: the simulated GPU brings it as late as PTX allows.
Test(exec_warp, a_copy_that_is_not_waited_for_has_not_arrived)
{
    struct dev *d = ptx_simulator();
    uint32_t out[MOST] = { 0 }, in[MOST] = { 0 };
    cr_assert(ptx_run(d,
                      MODULE(".shared .align 16 .b32 s[32];\nmov.u32 %r5, s;\nmad.lo.u32 %r5, %r1, 4, %r5;\n"
                             "mov.u32 %r6, 5;\nst.shared.u32 [%r5], %r6;\nmad.wide.u32 %l3, %r1, 4, %l1;\n"
                             "cp.async.ca.shared.global [%r5], [%l3], 4;\ncp.async.commit_group;\n"
                             "cp.async.wait_group 1;\nld.shared.u32 %r3, [%r5];\n"),
                      (struct ptx_shape){ 1, 32, 0 }, out, 32, in, MOST),
              "%s", dev_error(d));
    for (uint32_t i = 0; i < 32; i++)
        cr_assert_eq(out[i], late(i));
    dev_close(d);
}

// --- stmatrix: what ldmatrix took apart comes back as it was, or transposed ---

static uint32_t whole(uint32_t i)
{
    return (2 * i + 1) << 16 | 2 * i;
}

static uint32_t turned(uint32_t i)  // of four 8 x 8 matrices of halves, numbered
{
    uint32_t matrix = i / 32 * 64, row = i % 32 / 4, col = i % 4 * 2;
    return (matrix + (col + 1) * 8 + row) << 16 | (matrix + col * 8 + row);
}

#define MATRICES(transposed)                                                                                           \
    ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY                                                            \
    ".shared .align 16 .b32 s[128];\n.shared .align 16 .b32 t[128];\nmov.u32 %r5, s;\nmov.u32 %r6, t;\n"               \
    "mad.lo.u32 %r7, %r1, 4, %r5;\nshl.b32 %r8, %r1, 1;\nmad.lo.u32 %r8, %r8, 65537, 65536;\n"                         \
    "st.shared.u32 [%r7], %r8;\nbar.sync 0;\nsetp.lt.u32 %p0, %r1, 32;\n@!%p0 bra LAST;\n"                             \
    "mad.lo.u32 %r9, %r1, 16, %r5;\nmad.lo.u32 %r10, %r1, 16, %r6;\n"                                                  \
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r11,%r12,%r13,%r14}, [%r9];\n"                                         \
    "stmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 [%r10], {%r11,%r12,%r13,%r14};\n"                          \
    "LAST: bar.sync 0;\nmad.lo.u32 %r7, %r1, 4, %r6;\nld.shared.u32 %r3, [%r7];\n" LEAVE

Test(exec_warp, stmatrix_is_the_way_back_of_ldmatrix)
{
    expect(MATRICES(""), 128, whole);
    expect(MATRICES(".trans"), 128, turned);
}

// --- calls ---

static uint32_t called(uint32_t i)
{
    return i < 8 ? i + 7 : 2 * i + 3 + 100;
}

// Parameters, results and arguments that are registers or numbers (PTX ISA 7.1).
Test(exec_warp, functions_take_registers_and_give_them_back)
{
    expect(HEAD ".func (.reg .u32 r) f(.reg .u32 a, .reg .u64 b)\n{\n.reg .pred %p;\n.reg .u32 %x;\n"
                "cvt.u32.u64 %x, b;\nadd.u32 r, a, %x;\nsetp.lt.u32 %p, a, 8;\n@%p ret;\nadd.u32 r, r, 100;\n"
                "ret;\n}\n.func (.reg .u32 r) g(.reg .u32 a)\n{\n.reg .u32 %y;\nmul.lo.u32 %y, a, 2;\n"
                "call (r), f, (%y, 3);\nret;\n}\n" ENTRY "setp.lt.u32 %p0, %r1, 8;\n@%p0 bra LOW;\n"
                "call.uni (%r3), g, (%r1);\nbra LAST;\nLOW: mov.u64 %l3, 7;\ncall (%r3), f, (%r1, %l3);\nLAST:\n" LEAVE,
           32, called);
    expect_failure(HEAD ".func f(.reg .u32 a)\n{\nret;\n}\n" ENTRY "call f, (%r1, %r2);\n" LEAVE, 32,
                   PARTS("'f' has fewer"));
    expect_failure(HEAD ".func f(.reg .pred a)\n{\nret;\n}\n" ENTRY "call f, (%p1);\n" LEAVE, 32,
                   PARTS("cannot be a predicate"));
}

Test(exec_warp, calls_that_cannot_be_followed_are_refused_at_their_place)
{
    expect_failure(HEAD ".func f()\n{\ncall.uni f, ();\nret;\n}\n" ENTRY "call.uni f, ();\n" LEAVE, 32,
                   PARTS("test.ptx:6", "its stack is full"));
    expect_failure(HEAD ".extern .func malloc();\n" ENTRY "call.uni malloc, ();\n" LEAVE, 32,
                   PARTS("'malloc' takes other arguments"));
    expect_failure(HEAD ".extern .func other();\n" ENTRY "call.uni other, ();\n" LEAVE, 32,
                   PARTS("'other' has no body"));
    expect_failure(MODULE("call.uni %l1, ();\n"), 32, PARTS("this form of a call through a pointer"));
    expect_failure(MODULE("P: .callprototype _ ();\ncall.uni %l1, (), P;\n"), 32,
                   PARTS("no function whose address is taken"));
    expect_failure(MODULE("brx.idx %r1, NOWHERE;\n"), 32, PARTS("expected the label of a .branchtargets list"));
    expect_failure(MODULE("brx.idx %r1, T;\nT: .branchtargets A, B;\nA: mov.u32 %r3, 1;\nB: mov.u32 %r3, 2;\n"), 32,
                   PARTS("has to stand before"));
}
