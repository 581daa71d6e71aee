// What lanes of a warp learn from the mbarriers that they look at together: each lane from its own.
#include <criterion/criterion.h>

#include "ptx_case.h"
#include "violation.h"

enum { THREADS = 32, WORDS = 256 };

// Thread 0 copies two tiles of 512 bytes. Lanes 0 to 15 wait for the first and read it, the others for the second.
static const char halves[] =
    PTX_SM_90 ".visible .entry k(.param .u64 out, .param .u64 in)\n"
              "{\n"
              ".shared .align 128 .b8 tiles[1024];\n"
              ".shared .align 8 .b64 full[2];\n"
              ".reg .b32 r<16>; .reg .b64 l<4>; .reg .pred p<4>;\n"
              "ld.param.u64 l0, [out]; ld.param.u64 l1, [in]; mov.u32 r0, %tid.x;\n"
              "mov.u32 r1, tiles; mov.u32 r2, full; setp.ne.u32 p0, r0, 0; @p0 bra READY;\n"
              "mbarrier.init.shared.b64 [r2], 1; mbarrier.init.shared.b64 [r2+8], 1;\n"
              "fence.mbarrier_init.release.cluster;\n"
              "READY: bar.sync 0;\n"
              "@p0 bra LOOK;\n"
              "mbarrier.arrive.expect_tx.shared.b64 _, [r2], 512;\n"
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [l1], 512, [r2];\n"
              "add.u32 r3, r1, 512; add.u64 l2, l1, 512; add.u32 r4, r2, 8;\n"
              "mbarrier.arrive.expect_tx.shared.b64 _, [r4], 512;\n"
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r3], [l2], 512, [r4];\n"
              "LOOK: shr.u32 r5, r0, 4; shl.b32 r6, r5, 3; add.u32 r7, r2, r6; mov.u32 r8, 0;\n"
              "WAIT: mbarrier.try_wait.parity.shared.b64 p1, [r7], r8;\n"
              "@!p1 bra WAIT;\n"
              "shl.b32 r9, r0, 5; add.u32 r9, r9, r1;\n"
              "ld.shared.u32 r10, [r9];\n"
              "mul.wide.u32 l3, r0, 4; add.u64 l3, l3, l0; st.global.u32 [l3], r10;\n"
              "ret;\n"
              "}\n";

#define EXPECT_FOUND(...)                                                                                              \
    violations_expect(halves, &(struct violation_launch){ 1, THREADS, WORDS, WORDS, violation_numbers() },             \
                      VIOLATIONS(__VA_ARGS__))

Test(check_mbarrier, a_lane_learns_from_the_mbarrier_that_it_looks_at_alone)
{
    EXPECT_FOUND({ { "shl.b32 r9, r0, 5;", "xor.b32 r9, r0, 16; shl.b32 r9, r9, 5;" },
                   { 0 },
                   { { SIMT_RACE, .there.by = SIMT_BY_BULK_COPY } } },
                 { { "mov.u32 r8, 0;", "mov.u32 r8, 0; setp.eq.u32 p2, r0, 5; @p2 add.u32 r7, r2, 8;" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, 5, NO_ACCESS), .there.by = SIMT_BY_BULK_COPY } } },
                 { { "mov.u32 r8, 0;", "mov.u32 r8, 0; setp.eq.u32 p2, r0, 21; @p2 mov.u32 r7, r2;" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, 21, NO_ACCESS), .there.by = SIMT_BY_BULK_COPY } } },
                 { { "mov.u32 r8, 0;", "mov.u32 r8, 0; setp.eq.u32 p2, r0, 31; @p2 mov.u32 r8, 1;" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, 31, NO_ACCESS), .there.by = SIMT_BY_BULK_COPY } } });
}

// Lanes 1 to 31 look at what thread 0 has initialised: the last lane, and the first of them.
Test(check_mbarrier, every_lane_that_looks_at_it_knows_that_it_was_initialised)
{
    EXPECT_FOUND(
        { { "READY: bar.sync 0;", "READY:" }, { 0 }, { { SIMT_RACE, HERE(0, 1, CHANGES), .object = "full" } } },
        { { "READY: bar.sync 0;", "READY: setp.eq.u32 p3, r0, 5; @p3 bra LOOK; bar.warp.sync 0xffffffdf;" },
          { 0 },
          { { SIMT_RACE, HERE(0, 5, CHANGES), .object = "full" } } });
}
