// Registers and local memory that are read before anything wrote them: what a run gives, what the checks find, and what
// they must not find.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "base/device.h"
#include "base/profile.h"
#include "found.h"
#include "ptx_case.h"

// A kernel whose thread is %r0; %l2 is the address of its word of out, %l3 that of its word of in. Nothing has written
// the other registers.
#define LINE(n) ".loc 1 " #n " 1\n"
#define KERNEL(local, body)                                                                                            \
    PTX_HEAD ".file 1 \"kernel.cu\"\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n" local                    \
             ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %l<12>;\n"           \
             "ld.param.u64 %l0, [out];\nld.param.u64 %l1, [in];\nmov.u32 %r0, %tid.x;\n"                               \
             "mad.wide.u32 %l2, %r0, 4, %l0;\nmad.wide.u32 %l3, %r0, 4, %l1;\n" body "ret;\n}\n"

enum { WORDS = 128 };
static const struct ptx_shape warp = { 1, 32, 0 };

Test(registers, nothing_wrote_them_shows_in_the_result)
{
    static const char text[] = KERNEL(".local .align 4 .b32 x[4];\n", "add.f32 %f1, %f0, 0f3F800000;\n"
                                                                      "ld.local.f32 %f2, [x];\nadd.f32 %f1, %f1, %f2;\n"
                                                                      "st.global.f32 [%l2], %f1;\n");
    uint32_t out[WORDS] = { 0 }, in[WORDS] = { 0 };
    struct dev *d = ptx_simulator();
    cr_assert(ptx_run(d, text, warp, out, WORDS, in, WORDS), "%s", dev_error(d));
    for (int i = 0; i < 32; i++)
        cr_expect_lt(ptx_float(out[i]), -1e7f, "thread %d has %g", i, (double)ptx_float(out[i]));
    dev_close(d);
}

// What the checks find in the kernel of m; valid as long as d is open.
static const struct simt_findings *check(struct dev *d, struct dev_module *m, const char *name, unsigned threads)
{
    uint32_t words[WORDS] = { 0 };
    dev_ptr to = 0, from = 0;
    struct dev_kernel *k = m ? dev_kernel(d, m, name) : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from) };
    struct dev_launch launch = { .grid = { 1 }, .block = { threads }, .args = args, .n_args = 2 };
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
    bool ok = k && dev_alloc(d, "out", sizeof words, &to) && dev_alloc(d, "in", sizeof words, &from) &&
              dev_upload(d, from, words, sizeof words) && dev_upload(d, to, words, sizeof words) &&
              dev_launch(d, k, &launch) && dev_sync(d);
    cr_assert(ok, "%s: %s", name, dev_error(d));
    return dev_findings(d);
}

static struct dev *checking_device(void)
{
    struct dev *d = ptx_simulator();
    dev_set_checks(d, true);
    return d;
}

// Expects n findings in text, and among them these, of which the last has no kind.
static void expect(const char *text, size_t n, const struct found *these)
{
    struct dev *d = checking_device();
    const struct simt_findings *f = check(d, dev_load_text(d, "test.ptx", text, strlen(text)), "k", 32);
    cr_expect_eq(f->n, n, "%zu findings, not %zu:\n%s\nof\n%s", f->n, n, found_text(f), text);
    for (; these && these->kind; these++)
        found_expect(f, these, text);
    dev_close(d);
}
#define THESE(...) ((const struct found[]){ __VA_ARGS__, { 0 } })
#define FOUND(body, ...) expect(KERNEL("", body), 1, THESE({ SIMT_UNINIT_VALUE, __VA_ARGS__ }))
#define CLEAN(body) expect(KERNEL("", body), 0, NULL)
#define STORE(reg) LINE(30) "st.global.b32 [%l2], " reg ";\n"
#define LOW_LANES "setp.lt.u32 %p0, %r0, 16;\n"

// --- what is found ---

Test(registers, a_result_of_one_that_nothing_wrote_is_found_where_it_was_computed)
{
    FOUND(LINE(20) "add.f32 %f1, %f0, 0f3F800000;\n" STORE("%f1"), HERE(20, 0, NO_ACCESS), .block = THE(0),
          .object = "%f0", .count = 32, .instruction = "add.f32", .use = THE(SIMT_USE_STORED), .used_line = 30);
    FOUND(LINE(20) "mad.lo.s32 %r2, %r0, 4, %r1;\n" LINE(21) "shl.b32 %r3, %r2, 2;\n" STORE("%r3"), .here.line = 20,
          .object = "%r1", .instruction = "mad.lo.s32");
    FOUND(LINE(20) "mov.b32 %r2, %r1;\n" LINE(21) "cvt.rn.f32.s32 %f1, %r2;\n" STORE("%f1"), .here.line = 21,
          .object = "%r1", .instruction = "cvt.rn.f32.s32");
}

Test(registers, an_accumulator_without_initialiser_is_found_once)
{
    FOUND("mov.u32 %r1, 0;\nAGAIN:\n" LINE(
              20) "fma.rn.f32 %f0, 0f40000000, 0f3F800000, %f0;\n"
                  "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 bra AGAIN;\n" STORE("%f0"),
          .here.line = 20, .object = "%f0", .count = 32, .instruction = "fma.rn.f32");
}

Test(registers, storing_one_that_nothing_wrote_is_found)
{
    FOUND(STORE("%r5"), HERE(30, 0, NO_ACCESS), .block = THE(0), .object = "%r5", .instruction = "st.global.b32",
          .use = THE(SIMT_USE_STORED));
    FOUND(LINE(30) "cvt.u64.u32 %l4, %r0;\nadd.u64 %l4, %l4, %l2;\nand.b64 %l4, %l4, -8;\n"
                   "st.global.v2.b32 [%l4], {%r5, %r6};\n",
          .object = "%r5", .instruction = "st.global.v2.b32", .use = THE(SIMT_USE_STORED));
    FOUND(LINE(30) "atom.global.add.u32 %r1, [%l2], %r5;\n", .object = "%r5", .instruction = "atom.global.add.u32",
          .use = THE(SIMT_USE_STORED));
}

Test(registers, an_address_or_a_decision_from_one_that_nothing_wrote_is_found)
{
    expect(KERNEL("", LINE(20) "mad.wide.u32 %l4, %r5, 4, %l0;\n" LINE(30) "st.global.u32 [%l4], %r0;\n"), 2,
           THESE({ SIMT_UNINIT_VALUE, .here.line = 20, .object = "%r5", .instruction = "mad.wide.u32",
                   .use = THE(SIMT_USE_ADDRESS), .used_line = 30 },
                 { SIMT_OUT_OF_BOUNDS, .here.line = 30 }));
    FOUND(LINE(20) "setp.eq.u32 %p1, %r5, 0;\n" LINE(21) "@%p1 bra ON;\n" STORE("%r0") "ON:\n", .here.line = 20,
          .object = "%r5", .instruction = "setp.eq.u32", .use = THE(SIMT_USE_DECIDES), .used_line = 21);
    FOUND(LINE(21) "@%p2 bra ON;\n" STORE("%r0") "ON:\n", .here.line = 21, .object = "%p2", .instruction = "bra",
          .use = THE(SIMT_USE_DECIDES));
    FOUND(LINE(21) "@!%p2 st.global.u32 [%l2], %r0;\n", .object = "%p2", .instruction = "st.global.u32",
          .use = THE(SIMT_USE_DECIDES));
    FOUND(LINE(21) "mov.u32 %r1, 0;\n@%p2 mov.u32 %r1, 1;\n" STORE("%r1"), .object = "%p2", .instruction = "mov.u32");
    FOUND("and.b32 %r1, %r5, 1;\n" LINE(21) "bar.sync %r1;\n", .object = "%r5", .instruction = "bar.sync",
          .use = THE(SIMT_USE_DECIDES));
}

Test(registers, some_lanes_alone_are_named)
{
    FOUND(LOW_LANES "@%p0 mov.b32 %r5, 1;\n" STORE("%r5"), HERE(0, 16, NO_ACCESS), .object = "%r5", .count = 16,
          .use = THE(SIMT_USE_STORED));
    FOUND(LOW_LANES "@%p0 bra ON;\nmov.b32 %r5, 2;\nON:\n" STORE("%r5"), HERE(0, 0, NO_ACCESS), .object = "%r5",
          .count = 16, .use = THE(SIMT_USE_STORED));
}

Test(registers, packed_halves_are_told_apart)
{
    FOUND("mov.b16 %h0, 1;\nmov.b32 %r1, {%h0, %h1};\n" LINE(20) "add.f16x2 %r2, %r1, %r1;\n" STORE("%r2"),
          .here.line = 20, .object = "%h1", .instruction = "add.f16x2");
    FOUND("mov.b32 %f1, 0;\n" LINE(20) "cvt.rn.f16x2.f32 %r1, %f0, %f1;\n" STORE("%r1"), .object = "%f0",
          .instruction = "cvt.rn.f16x2.f32");
    CLEAN(
        "mov.b32 %f1, 0;\ncvt.rn.f16x2.f32 %r1, %f0, %f1;\nadd.f16x2 %r1, %r1, %r1;\nand.b32 %r1, %r1, 0xffff;\n" STORE(
            "%r1"));
    CLEAN("mov.b16 %h0, 1;\nmov.b32 %r1, {%h0, %h1};\nmov.b32 {%h2, %h3}, %r1;\ncvt.u32.u16 %r2, %h2;\n" STORE("%r2"));
}

Test(registers, lanes_exchange_what_nothing_wrote)
{
    FOUND(LOW_LANES "@%p0 mov.b32 %r5, 1;\n" LINE(20) "shfl.sync.bfly.b32 %r6, %r5, 16, 31, -1;\n" STORE("%r6"),
          HERE(30, 0, NO_ACCESS), .object = "%r5", .count = 16, .use = THE(SIMT_USE_STORED));
    FOUND(LINE(20) "shfl.sync.idx.b32 %r6, %r0, %r5, 31, -1;\n", .object = "%r5", .instruction = "shfl.sync.idx.b32",
          .use = THE(SIMT_USE_OPERAND));
    FOUND(LINE(20) "setp.eq.f32 %p1, %f0, 0f00000000;\n" LINE(21) "vote.sync.any.pred %p2, %p1, -1;\n"
                                                                  "@%p2 st.global.u32 [%l2], %r0;\n",
          .object = "%f0", .instruction = "setp.eq.f32", .use = THE(SIMT_USE_DECIDES), .used_line = 21);
    FOUND(LOW_LANES
          "@%p0 setp.gt.u32 %p1, %r0, 99;\nvote.sync.ballot.b32 %r1, %p1, -1;\npopc.b32 %r1, %r1;\n" STORE("%r1"),
          .object = "%p1", .instruction = "popc.b32");
    CLEAN(LOW_LANES "@%p0 setp.gt.u32 %p1, %r0, 3;\nvote.sync.ballot.b32 %r1, %p1, -1;\nand.b32 %r1, %r1, 0xffff;\n"
                    "popc.b32 %r1, %r1;\nvote.sync.any.pred %p2, %p1, -1;\n@%p2 st.global.u32 [%l2], %r1;\n");
    FOUND(LOW_LANES "@%p0 setp.ge.u32 %p1, %r0, 0;\n"
                    "vote.sync.all.pred %p1, %p1, -1;\n" LINE(21) "@%p1 st.global.u32 [%l2], %r0;\n",
          .object = "%p1", .count = 32, .instruction = "st.global.u32", .use = THE(SIMT_USE_DECIDES));
    // The upper lanes' values reach lanes of the upper half alone, which store nothing.
    CLEAN(LOW_LANES "@%p0 mov.b32 %r5, 1;\nshfl.sync.down.b32 %r6|%p1, %r5, 16, 31, -1;\nadd.s32 %r7, %r5, %r6;\n"
                    "shfl.sync.bfly.b32 %r5, %r5, 8, 31, -1;\n@%p0 st.global.b32 [%l2], %r5;\n");
}

Test(registers, the_tensor_cores_operands_are_looked_at)
{
    static const char text[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"kernel.cu\"\n"
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %a<4>;\n.reg .f32 %d<4>;\n"
        "mov.b32 %a0, 0;\nmov.f32 %d0, 0f00000000;\nmov.f32 %d1, %d0;\nmov.f32 %d3, %d0;\n" LINE(
            20) "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a0}, {%a0}, {%d0, %d1, "
                "%d2, %d3};\n"
                "ret;\n}\n";
    expect(text, 1,
           THESE({ SIMT_UNINIT_VALUE, .here.line = 20, .object = "%d2", .count = 32,
                   .instruction = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", .use = THE(SIMT_USE_OPERAND) }));
}

Test(registers, the_carry_flag_is_one_too)
{
    FOUND(LINE(20) "addc.u32 %r1, %r0, 0;\n" STORE("%r1"), .space = SIMT_REGISTER, .instruction = "addc.u32");
    CLEAN("add.cc.u32 %r1, %r0, 1;\naddc.u32 %r1, %r0, 0;\n" STORE("%r1"));
}

Test(registers, bits_that_are_collected_in_one_that_nothing_wrote_are_found)
{
    FOUND(LINE(20) "or.b32 %r1, %r5, 4;\n" STORE("%r1"), .here.line = 20, .object = "%r5", .instruction = "or.b32");
    FOUND(LINE(20) "xor.b32 %r1, %r5, 1;\n" STORE("%r1"), .here.line = 20, .object = "%r5", .instruction = "xor.b32");
    FOUND(LINE(20) "selp.b32 %r1, 1, 0, %p5;\n" STORE("%r1"), .here.line = 20, .object = "%p5",
          .instruction = "selp.b32");
    CLEAN("and.b32 %r1, %r5, -32;\nand.b32 %r2, %r0, 31;\nor.b32 %r1, %r1, %r2;\n" STORE("%r1"));
    CLEAN("bfi.b32 %r1, %r0, %r5, 3, 5;\n" STORE("%r1"));
}

// --- what must not be found ---

Test(registers, undefined_bits_that_are_masked_away_do_no_harm)
{
    CLEAN("and.b32 %r1, %r5, 0;\nor.b32 %r1, %r1, %r0;\n" STORE("%r1"));
    CLEAN("and.b32 %r1, %r5, 0xffff0000;\nor.b32 %r1, %r1, %r0;\nshl.b32 %r1, %r1, 16;\n" STORE("%r1"));
    CLEAN("prmt.b32 %r1, %r5, %r0, 0x5454;\n" STORE("%r1"));
    CLEAN("bfi.b32 %r1, %r0, %r5, 0, 32;\n" STORE("%r1"));
    CLEAN("bfi.b32 %r1, %r0, %r5, 8, 8;\nbfe.u32 %r1, %r1, 8, 8;\n" STORE("%r1"));
    CLEAN("xor.b32 %r1, %r5, %r5;\n" STORE("%r1"));
    CLEAN("lop3.b32 %r1, %r0, %r5, %r5, 0xf0;\n" STORE("%r1"));
    CLEAN("cvt.u64.u32 %l4, %r0;\nmov.b64 %l5, {%r0, %r5};\nmov.b64 {%r1, %r2}, %l5;\n" STORE("%r1"));
    FOUND("prmt.b32 %r1, %r5, %r0, 0x5450;\n" LINE(20) "add.u32 %r1, %r1, 1;\n" STORE("%r1"), .object = "%r5",
          .instruction = "add.u32");
    FOUND("bfi.b32 %r1, %r0, %r5, 8, 8;\nbfe.u32 %r1, %r1, 12, 8;\nadd.u32 %r1, %r1, 1;\n" STORE("%r1"),
          .object = "%r5");
    FOUND("add.u32 %r1, %r5, %r0;\nshl.b32 %r2, %r0, %r1;\n" STORE("%r2"), .object = "%r5", .instruction = "add.u32");
}

Test(registers, a_choice_that_takes_the_other_value_does_no_harm)
{
    CLEAN(LOW_LANES "@%p0 mov.b32 %r5, 1;\nselp.b32 %r1, %r5, %r0, %p0;\n" STORE("%r1"));
    CLEAN(LOW_LANES "@%p0 mov.b32 %r5, 1;\n@!%p0 mov.b32 %r5, 2;\n" STORE("%r5"));
    CLEAN(LOW_LANES "@%p0 add.s32 %r5, %r0, 1;\n@%p0 st.global.b32 [%l2], %r5;\n");
    CLEAN(LOW_LANES
          "@%p0 bra ON;\nadd.s32 %r5, %r0, 1;\nON:\nadd.s32 %r6, %r5, 1;\n@%p0 bra OUT;\n" STORE("%r6") "OUT:\n");
    CLEAN(LOW_LANES "@%p0 setp.eq.u32 %p1, %r0, 3;\nand.pred %p2, %p0, %p1;\n@%p2 st.global.b32 [%l2], %r0;\n");
    CLEAN("and.b32 %r1, %r5, 0xfffffff0;\nor.b32 %r1, %r1, 1;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 trap;\n");
    CLEAN("mov.pred %p1, 0;\n@%p1 add.cc.u32 %r1, %r0, %r5;\n@%p1 st.global.b32 [%l2], %r1;\n");
}

// --- memory ---

#define WIDE "mad.wide.u32 %l4, %r0, 8, %l0;\nand.b32 %r4, %r0, 15;\nmad.wide.u32 %l4, %r4, 8, %l0;\n"
#define SLOT "mov.u32 %r14, s;\nmad.lo.u32 %r15, %r0, 16, %r14;\n"

Test(registers, what_is_stored_beside_defined_bytes_is_found_when_it_is_used)
{
#define S ".shared .align 16 .b32 s[128];\n"
    CLEAN("cvt.u64.u32 %l5, %r0;\n" LOW_LANES "@!%p0 ret;\n" WIDE "st.global.v2.b32 [%l4], {%r0, %r5};\n");
    CLEAN(LOW_LANES
          "@!%p0 ret;\n" WIDE "st.global.v2.b32 [%l4], {%r0, %r5};\nld.global.b64 %l6, [%l4];\n"
          "st.global.b64 [%l4], %l6;\nld.global.b32 %r6, [%l4];\nadd.u32 %r6, %r6, 1;\nst.global.b32 [%l4], %r6;\n");
    FOUND(LOW_LANES "@!%p0 ret;\n" WIDE
                    "st.global.v2.b32 [%l4], {%r0, %r5};\n" LINE(20) "ld.global.b32 %r6, [%l4+4];\n" LINE(
                        21) "add.u32 %r6, %r6, 1;\n" LINE(30) "st.global.b32 [%l4], %r6;\n",
          .here.line = 21, .object = "%r5", .count = 16, .instruction = "add.u32");
    CLEAN(LOW_LANES "@!%p0 ret;\n" WIDE "st.global.v2.b32 [%l4], {%r0, %r5};\nst.global.b32 [%l4+4], %r0;\n"
                    "ld.global.b32 %r6, [%l4+4];\nadd.u32 %r6, %r6, 1;\nst.global.b32 [%l4], %r6;\n");
    FOUND(LOW_LANES
          "@!%p0 ret;\n" WIDE LINE(20) "add.u32 %r6, %r5, 1;\n" LINE(30) "st.global.v2.b32 [%l4], {%r0, %r6};\n",
          .here.line = 20, .object = "%r5", .instruction = "add.u32");
    expect(KERNEL(S, SLOT "st.shared.v4.b32 [%r15], {%r0, %r5, %r0, %r5};\nbar.warp.sync -1;\n"
                          "ld.shared.b32 %r6, [%r15+8];\nadd.u32 %r6, %r6, 1;\n" STORE("%r6")),
           0, NULL);
    expect(KERNEL(S, SLOT LINE(20) "st.shared.v4.b32 [%r15], {%r0, %r5, %r0, %r5};\nbar.warp.sync -1;\n" LINE(
                         21) "ld.shared.b32 %r6, [%r15+4];\nadd.u32 %r6, %r6, 1;\n" STORE("%r6")),
           1,
           THESE({ SIMT_UNINIT_VALUE, .here.line = 20, .object = "%r5", .instruction = "st.shared.v4.b32",
                   .use = THE(SIMT_USE_STORED), .used_line = 30 }));
}

Test(registers, local_memory_is_followed_byte_by_byte)
{
#define X ".local .align 8 .b8 x[32];\n"
#define FILL "st.local.b32 [x], %r0;\nst.local.b16 [x+4], %h0;\n"
    expect(KERNEL(X, "mov.b16 %h0, 7;\n" FILL "ld.local.b32 %r1, [x];\nld.local.u16 %r2, [x+4];\n"
                     "add.u32 %r1, %r1, %r2;\n" STORE("%r1")),
           0, NULL);
    expect(KERNEL(X, "mov.b16 %h0, 7;\n" FILL LINE(20) "ld.local.b32 %r1, [x+8];\nadd.u32 %r1, %r1, 1;\n" STORE("%r1")),
           1,
           THESE({ SIMT_UNINIT_VALUE, HERE(20, 0, NO_ACCESS), .block = THE(0), .space = SIMT_LOCAL, .at = THE(8),
                   .count = 32, .instruction = "ld.local.b32", .use = THE(SIMT_USE_STORED), .used_line = 30 }));
    expect(KERNEL(X, "mov.b16 %h0, 7;\n" FILL LINE(20) "ld.local.b32 %r1, [x+4];\nadd.u32 %r1, %r1, 1;\n" STORE("%r1")),
           1, THESE({ SIMT_UNINIT_VALUE, .space = SIMT_LOCAL, .at = THE(4) }));
    // A copy of a struct with padding.
    expect(KERNEL(X, "mov.b16 %h0, 7;\n" FILL "ld.local.b64 %l6, [x];\nst.local.b64 [x+8], %l6;\n"
                     "ld.local.s16 %r1, [x+12];\n" STORE("%r1")),
           0, NULL);
    // Through a generic address, by an index.
    expect(KERNEL(X, "mov.u64 %l6, x;\ncvta.local.u64 %l6, %l6;\nand.b32 %r1, %r0, 3;\nmad.wide.u32 %l7, %r1, 4, "
                     "%l6;\nst.b32 [%l7], %r0;\nld.b32 %r2, [%l7];\nadd.u32 %r2, %r2, 1;\n" STORE("%r2")),
           0, NULL);
    expect(KERNEL(X, "mov.u64 %l6, x;\ncvta.local.u64 %l6, %l6;\nand.b32 %r1, %r0, 3;\nmad.wide.u32 %l7, %r1, 4, "
                     "%l6;\nst.b32 [%l7], %r0;\n" LINE(20) "ld.b32 %r2, [%l6];\nadd.u32 %r2, %r2, 1;\n" STORE("%r2")),
           1, THESE({ SIMT_UNINIT_VALUE, HERE(20, 1, NO_ACCESS), .space = SIMT_LOCAL, .at = THE(0), .count = 24 }));
}

// --- counters ---

Test(registers, counters_are_those_of_a_run_without_the_checks)
{
    static const char text[] =
        KERNEL(".local .align 8 .b8 x[32];\n.shared .align 16 .b32 s[256];\n", LOW_LANES
               "@%p0 mov.b32 %r5, 1;\nst.local.b32 [x], %r5;\nld.local.b32 %r6, [x];\n" SLOT
               "shfl.sync.bfly.b32 %r6, %r6, 1, 31, -1;\nvote.sync.ballot.b32 %r7, %p0, -1;\nbar.sync 0;\n"
               "st.shared.b32 [%r15], %r6;\nld.shared.b32 %r8, [%r15];\nadd.u32 %r8, %r8, %r7;\n" STORE("%r8"));
    uint64_t counted[2][METRIC_COUNT];
    size_t shared[2];
    for (int checks = 0; checks < 2; checks++) {
        struct dev *d = ptx_simulator();
        dev_set_checks(d, checks);
        struct dev_module *m = dev_load_text(d, "test.ptx", text, strlen(text));
        if (checks) {
            const struct simt_findings *f = check(d, m, "k", 64);
            cr_expect_eq(f->n, 1, "%s", found_text(f));
        } else {
            dev_unload(d, m);
            uint32_t words[WORDS] = { 0 };
            cr_assert(ptx_run(d, text, (struct ptx_shape){ 1, 64, 0 }, words, WORDS, words, WORDS), "%s", dev_error(d));
        }
        memcpy(counted[checks], dev_profile(d)->total, sizeof counted[checks]);
        shared[checks] = dev_profile(d)->shared;
        dev_close(d);
    }
    cr_expect_gt(counted[0][METRIC_INST], 20);
    cr_expect(shared[0] == 1024 && shared[1] == 1024, "%zu and %zu bytes of shared memory", shared[0], shared[1]);
    for (int i = 0; i < METRIC_COUNT; i++)
        cr_expect_eq(counted[0][i], counted[1][i], "metric %d: %llu without the checks, %llu with them", i,
                     (unsigned long long)counted[0][i], (unsigned long long)counted[1][i]);
}

// --- what nvcc makes of such kernels ---

// Calls with each kernel of kernels/registers.cu whose name begins with prefix, and its line that ends in "// here".
static void each_kernel(const char *prefix, unsigned least, void (*with)(const char *name, unsigned line))
{
    char line[256], name[64] = "";
    unsigned number = 0, kernels = 0;
    FILE *f = fopen(REGISTERS_CU, "r");
    cr_assert(f, "%s", REGISTERS_CU);
    while (fgets(line, sizeof line, f)) {
        number++;
        sscanf(line, "KERNEL(%63[a-z_])", name);
        if (strncmp(name, prefix, strlen(prefix)) || !strstr(line, "// here\n"))
            continue;
        with(name, number);
        kernels++;
    }
    fclose(f);
    cr_expect_geq(kernels, least, "%u kernels", kernels);
}

static const char *nvccs_file = REGISTERS_PTX;  // what the next kernels are taken from

static bool names(const struct simt_finding_place *p, unsigned line)
{
    const char *file = p->caller ? p->caller_file : p->file;
    return file && strstr(file, "registers.cu") && (p->caller ? p->caller : p->line) == line;
}

static void finds_the_line(const char *name, unsigned line)
{
    struct dev *d = checking_device();
    const struct simt_findings *f = check(d, dev_load(d, nvccs_file), name, 64);
    bool found = false;
    for (size_t i = 0; i < f->n; i++)
        found |= simt_finding_check(f->all[i].kind) == SIMT_INITCHECK &&
                 (names(&f->all[i].here.place, line) || names(&f->all[i].used, line));
    cr_expect(found, "%s: line %u is not named in:\n%s", name, line, found_text(f));
    dev_close(d);
}

Test(registers, a_forgotten_value_is_found_in_nvccs_code)
{
    NEEDS_NVCC("it folds what a variable without a value goes into, and nothing is left of the mistake");
    each_kernel("forgets_", 5, finds_the_line);
}

// Where nvcc sees that a variable has no value, it may write anything in its place, or nothing.
Test(registers, what_nvcc_13_makes_of_a_forgotten_value_is_found)
{
    NEEDS_NVCC_13;
    each_kernel("folded_", 3, finds_the_line);
}

static void expect_clean(void)
{
    static const char *const names[] = { "keeps_to_its_lanes",  "knows_the_first",     "packs_bytes",
                                         "packs_fields",        "uses_a_half",         "copies_padding",
                                         "fills_what_it_reads", "reduces_a_few_lanes", "sorts_pairs",
                                         "fills_by_pointer" };
    for (size_t i = 0; i < PTX_COUNTOF(names); i++) {
        struct dev *d = checking_device();
        const struct simt_findings *f = check(d, dev_load(d, nvccs_file), names[i], 64);
        cr_expect_eq(f->n, 0, "%s:\n%s", names[i], found_text(f));
        dev_close(d);
    }
}

Test(registers, code_that_only_looks_like_it_is_clean)
{
    expect_clean();
}

Test(registers, code_for_a_debugger_is_followed_through_local_memory)
{
    nvccs_file = REGISTERS_DEBUG_PTX;
    each_kernel("forgets_", 5, finds_the_line);
    expect_clean();
}
