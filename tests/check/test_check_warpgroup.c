// The checks of what the four warps of a warpgroup do together: wgmma, its groups, and setmaxnreg. Correct kernels, in
// which nothing is found, and each with a rule broken.
#include <criterion/criterion.h>
#include <string.h>

#include "ptx_case.h"
#include "violation.h"

enum { THREADS = 128, WORDS = VIOLATION_NUMBERS };

#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT "wgmma.wait_group.sync.aligned 0;\n"

// A product of a tile that the threads store, and its sums, which they store. r5: the warp's number.
static const char product[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n"
    "{\n"
    ".shared .align 1024 .b8 tile[4096];\n"
    ".reg .b32 r<9>; .reg .b64 l<9>; .reg .pred p<9>; .reg .f32 d<4>;\n"
    "ld.param.u64 l0, [out]; mov.u32 r0, %tid.x; mov.u32 r1, tile; shr.u32 r5, r0, 5; shl.b32 r2, r0, 5;\n"
    "add.u32 r2, r2, r1; setp.ne.u32 p0, r5, 3; shl.b32 r6, r5, 6;\n"
    "st.shared.v4.u32 [r2], {r0, r0, r0, r0};\n"
    "st.shared.v4.u32 [r2+16], {r0, r0, r0, r0};\n"
    "fence.proxy.async;\n"
    "bar.sync 0;\n" VIOLATION_WGMMA  // lines 14 to 19
    "mul.wide.u32 l4, r0, 16; add.u64 l4, l4, l0;\n"
    "st.global.v4.f32 [l4], {d0, d1, d2, d3};\n"
    "ret;\n"
    "}\n";

static struct violation_launch launch_of(unsigned threads)
{
    return (struct violation_launch){ 1, threads, 2 * WORDS, WORDS, violation_numbers() };
}

#define EXPECT_FOUND(text, threads, ...)                                                                               \
    violations_expect(text, &(struct violation_launch){ 1, threads, 2 * WORDS, WORDS, violation_numbers() },           \
                      VIOLATIONS(__VA_ARGS__))

Test(check_warpgroup, a_product_is_committed_before_the_wait_that_is_for_it)
{
    EXPECT_FOUND(product, THREADS,
                 { { COMMIT, "" },
                   { 0 },
                   { { SIMT_WGMMA_UNCOMMITTED, .here.line = 20, .there.line = 17, .used_line = 18 },
                     { SIMT_WGMMA_LEFT, .here.line = 17 } } },
                 { { COMMIT WAIT, WAIT COMMIT },
                   { 0 },
                   { { SIMT_WGMMA_UNCOMMITTED, .here.line = 21, .there.line = 17, .used_line = 18 },
                     { SIMT_WGMMA_LEFT, .here.line = 17, .seen = 1 } } },
                 { { COMMIT WAIT, "" }, { 0 }, { { SIMT_WGMMA_UNCOMMITTED, .here.line = 19, .there.line = 17 } } },
                 { { WAIT, "" }, { 0 }, { { SIMT_WGMMA_WAIT, .here.line = 20, .there.line = 17 } } },
                 { { COMMIT WAIT, WAIT },
                   { "st.global.v4.f32 [l4], {d0, d1, d2, d3};\n", "" },
                   { { SIMT_WGMMA_LEFT, .here.line = 17 } } });
}

// A wait in front of the commit is for the groups before, as long as another one follows.
Test(check_warpgroup, a_wait_may_come_while_products_are_not_committed)
{
    const struct violation_launch l = launch_of(THREADS);
    violation_expect_none(product, &l, (struct violation_edit){ COMMIT WAIT, WAIT COMMIT WAIT },
                          (struct violation_edit){ 0 });
    violation_expect_none(product, &l, (struct violation_edit){ COMMIT WAIT, COMMIT COMMIT WAIT WAIT },
                          (struct violation_edit){ 0 });
}

Test(check_warpgroup, the_four_warps_do_the_same)
{
    EXPECT_FOUND(
        product, THREADS,
        { { "cvt.u64.u32 l2, r3;", "add.u32 r3, r3, r5; cvt.u64.u32 l2, r3;" },
          { 0 },
          { { SIMT_WGMMA_DIFFERS, .here.line = 17, .here.thread = THE(32), .there.line = 17,
              .there.thread = THE(0) } } },
        { { "add.u64 l3, l2, 128;\n", "add.u64 l3, l2, 128; cvt.u64.u32 l4, r6; add.u64 l2, l2, l4;\n" },
          { 0 },
          { { SIMT_WGMMA_DIFFERS, .here.line = 17, .seen = 0x800400040, .expected = 0x800400000 } } },
        { { "wgmma.mma_async", "@p0 wgmma.mma_async" },
          { 0 },
          { { SIMT_WGMMA_APART, .here.line = 18, .here.thread = THE(96), .there.thread = THE(0), .expected = 1 } } },
        { { "wgmma.commit_group", "@p0 wgmma.commit_group" },
          { 0 },
          { { SIMT_WGMMA_UNCOMMITTED, .here.line = 21, .here.thread = THE(96), .there.line = 17 } } },
        { { "wgmma.commit_group", "@p0 wgmma.commit_group" },
          { "ret;", "bar.sync 0;\nret;" },
          { { SIMT_COMMITS_APART, .here.line = 19, .here.thread = THE(0), .there.thread = THE(96), .seen = 1 } } });
}

// Each warp has to know of what the product reads, by itself or by a thread of its own: what the first knows is not
// enough.
Test(check_warpgroup, each_warp_waits_for_what_it_multiplies)
{
    EXPECT_FOUND(
        product, THREADS,
        { { "bar.sync 0;\n", "@p0 bar.sync 0, 128; @!p0 bar.arrive 0, 128;\n" },
          { 0 },
          { { SIMT_RACE, .here.line = 17, .here.thread = THE(96), .here.by = SIMT_BY_WGMMA, .there.line = 10 } } });
}

// Two warpgroups: the first gives registers up, the second and the third take them.
static const char registers[] =
    ".version 8.0\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in) .maxntid 384, 1, 1 .minnctapersm 1\n"
    "{\n"
    ".reg .b32 r<9>; .reg .pred p<9>;\n"
    "mov.u32 r0, %tid.x; setp.ge.u32 p0, r0, 128; setp.ge.u32 p1, r0, 256; @p1 bra MORE; @p0 bra MORE;\n"
    "setmaxnreg.dec.sync.aligned.u32 40;\n"
    "bra END;\n"
    "MORE: setmaxnreg.inc.sync.aligned.u32 232;\n"
    "END: ret;\n"
    "}\n";

Test(check_warpgroup, setmaxnreg_is_for_whole_warpgroups_and_fits)
{
    EXPECT_FOUND(registers, 384,
                 { { "r0, 128", "r0, 96" },
                   { 0 },
                   { { SIMT_REGISTERS_DIFFER, .here.line = 8, .there.line = 10, .expected = 232, .seen = 40 } } },
                 { { "u32 232", "u32 240" },
                   { 0 },
                   { { SIMT_REGISTERS_LACK, .here.line = 10, .expected = 64512, .seen = 240, .left = 66560 } } },
                 { { "u32 232", "u32 240" },
                   { "u32 40", "u32 32" },  // 65536, as many as an SM has: but the block began with 168 a thread
                   { { SIMT_REGISTERS_LACK, .here.line = 10, .expected = 64512, .left = 65536 } } },
                 { { "setmaxnreg.dec.sync.aligned.u32 40;", "" },
                   { 0 },
                   { { SIMT_REGISTERS_LACK, .here.line = 10, .seen = 232 } } },
                 { { ".minnctapersm 1", ".minnctapersm 2" },  // 80 a thread
                   { 0 },
                   { { SIMT_REGISTERS_LACK, .here.line = 10, .expected = 30720 } } },
                 { { ".minnctapersm 1", ".maxnreg 128" },
                   { 0 },
                   { { SIMT_REGISTERS_LACK, .here.line = 10, .expected = 49152 } } });
}

// Three warpgroups share what the fourth gives back, of blocks of 512 threads; and 24 and 240 are as many as 40 and
// 232.
Test(check_warpgroup, setmaxnreg_may_take_all_that_is_there)
{
    const struct violation_launch l = launch_of(384), four = launch_of(512);
    const struct violation_edit whole = { "maxntid 384", "maxntid 512" };
    char text[VIOLATION_TEXT];
    violation_expect_none(registers, &l, (struct violation_edit){ "u32 232", "u32 240" },
                          (struct violation_edit){ "u32 40", "u32 24" });
    strcpy(text, registers);
    violation_change(text, whole);
    violation_expect_none(text, &four, (struct violation_edit){ "u32 232", "u32 160" },
                          (struct violation_edit){ "u32 40", "u32 32" });
}

Test(check_warpgroup, setmaxnreg_goes_one_way)
{
    EXPECT_FOUND(
        registers, 384,
        { { "u32 40", "u32 200" }, { 0 }, { { SIMT_REGISTERS_STEP, .here.line = 8, .seen = 200, .expected = 168 } } },
        { { "END: ret;", "setmaxnreg.inc.sync.aligned.u32 160;\nEND: ret;" },
          { 0 },
          { { SIMT_REGISTERS_STEP, .here.line = 11, .seen = 160, .expected = 232, .left = 1 } } });
}

// Without a number at its beginning ptxas leaves it out, and nobody waits.
Test(check_warpgroup, setmaxnreg_is_ignored_where_nothing_says_what_it_begins_with)
{
    EXPECT_FOUND(registers, 384,
                 { { " .minnctapersm 1", "" },
                   { "u32 232", "u32 256" },
                   { { SIMT_REGISTERS_IGNORED, .here.line = 8 }, { SIMT_REGISTERS_IGNORED, .here.line = 10 } } });
}

// It waits without checks, too, as a card does.
Test(check_warpgroup, a_block_without_registers_waits_for_ever)
{
    char text[VIOLATION_TEXT];
    strcpy(text, registers);
    violation_change(text, (struct violation_edit){ "u32 232", "u32 240" });
    found_fails(text, (struct ptx_shape){ 1, 384, 0 }, 0, SUCH(SIMT_REGISTERS_LACK, .here.line = 10, .seen = 240));
}

// As many registers as the block began with, in all, are given on a card, too. What is one too many for that waits for
// ever there.
Test(check_warpgroup, a_card_gives_all_registers_of_the_block)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u64 in) .maxntid 384, 1, 1 .minnctapersm 1\n{\n"
        ".reg .b32 r<3>; .reg .b64 l<3>; .reg .pred p;\n"
        "ld.param.u64 l0, [out]; mov.u32 r0, %tid.x; setp.ge.u32 p, r0, 128; @p bra MORE;\n"
        "setmaxnreg.dec.sync.aligned.u32 24;\n"
        "bra END;\n"
        "MORE: setmaxnreg.inc.sync.aligned.u32 240;\n"
        "END: mul.wide.u32 l1, r0, 4; add.u64 l1, l1, l0; add.u32 r1, r0, 1; st.global.u32 [l1], r1; ret;\n}\n";
    struct dev *devices[PTX_DEVICES];
    const size_t n = ptx_devices_from(devices, 90, true);
    for (size_t i = 0; i < n; i++) {
        uint32_t out[384] = { 0 }, in[1] = { 0 }, wrong = 0;
        cr_expect(ptx_run(devices[i], text, (struct ptx_shape){ 1, 384, 0 }, out, 384, in, 1), "%s",
                  dev_error(devices[i]));
        for (uint32_t k = 0; k < 384; k++)
            wrong += out[k] != k + 1;
        cr_expect(!wrong, "device %zu: %u threads did not come to the end", i, wrong);
        dev_close(devices[i]);
    }
}
