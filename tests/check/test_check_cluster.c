// The checks of clusters: a correct kernel, in which nothing is found, and each of its rules broken by a change of one
// or two lines, which is found with its lines and the instruction that is missing.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_case.h"
#include "violation.h"

enum { THREADS = 64, WARPGROUP = 128, WORDS = 1024 };

static const uint32_t zeros[WORDS];

#define HEAD                                                                                                           \
    ".version 8.1\n.target sm_90a\n.address_size 64\n"                                                                 \
    ".visible .entry k(.param .u64 out, .param .u64 in) .reqnctapercluster 2, 1, 1\n{\n"                               \
    ".shared .align 128 .b8 tile[256];\n.shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n"                   \
    ".reg .b32 r<40>; .reg .b64 l<20>; .reg .pred p<9>; .reg .b16 h<2>;\n"                                             \
    "ld.param.u64 l0, [out]; ld.param.u64 l1, [in]; mov.u32 r0, %tid.x; mov.u32 r1, %cluster_ctarank;\n"               \
    "mov.u32 r2, tile; mov.u32 r3, full; mov.u32 r4, empty; xor.b32 r5, r1, 1; shl.b32 r6, r0, 2;\n"                   \
    "mapa.shared::cluster.u32 r7, r2, r5; mapa.shared::cluster.u32 r8, r3, r5; setp.ne.u32 p0, r0, 0;\n"               \
    "mov.u32 r9, %ctaid.x; shl.b32 r9, r9, 8; add.u32 r9, r9, r6; cvt.u64.u32 l2, r9; add.u64 l2, l2, l0;\n"

// Each thread stores to the other block's tile, arrives there, waits for its own block's mbarrier, and reads.
static const char push[] = HEAD "@p0 bra READY;\n"
                                "mbarrier.init.shared.b64 [r3], 64;\n"
                                "fence.mbarrier_init.release.cluster;\n"
                                "READY:\n"
                                "barrier.cluster.arrive.aligned;\n"
                                "barrier.cluster.wait.aligned;\n"
                                "add.u32 r10, r7, r6; add.u32 r11, r2, r6;\n"
                                "st.shared::cluster.u32 [r10], r9;\n"
                                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r8];\n"
                                "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p1, [r3], 0;\n"
                                "@!p1 bra WAIT;\n"
                                "ld.shared.u32 r12, [r11];\n"
                                "st.global.u32 [l2], r12;\n"
                                "ret;\n}\n";

// Each thread reads the other block's tile between two barriers of the cluster.
static const char pull[] = HEAD "add.u32 r10, r7, r6; add.u32 r11, r2, r6;\n"
                                "st.shared.u32 [r11], r9;\n"
                                "barrier.cluster.arrive.release.aligned;\n"
                                "barrier.cluster.wait.acquire.aligned;\n"
                                "ld.shared::cluster.u32 r12, [r10];\n"
                                "st.global.u32 [l2], r12;\n"
                                "barrier.cluster.arrive.aligned;\n"
                                "barrier.cluster.wait.aligned;\n"
                                "ret;\n}\n";

// Warp 0 of block 0 copies tiles to both blocks; warp 1 of each reads them and arrives at block 0's empty, with the
// default scope, as published kernels do.
static const char multicast[] =
    HEAD "mapa.shared::cluster.u32 r20, r4, 0; mov.u32 r13, 0; mov.u16 h0, 3; @p0 bra READY;\n"
         "mbarrier.init.shared.b64 [r3], 1;\n"
         "mbarrier.init.shared.b64 [r4], 64;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "READY:\n"
         "barrier.cluster.arrive.relaxed.aligned;\n"
         "barrier.cluster.wait.acquire.aligned;\n"
         "setp.gt.u32 p2, r0, 31; @p2 bra READER;\n"
         "@p0 bra END;\n"
         "COPY: mbarrier.arrive.expect_tx.shared.b64 _, [r3], 256;\n"
         "setp.ne.u32 p3, r1, 0; @p3 bra FULL0; and.b32 r14, r13, 1; xor.b32 r14, r14, 1;\n"
         "EMPTY: mbarrier.try_wait.parity.shared.b64 p4, [r4], r14;\n"
         "@!p4 bra EMPTY;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r2], [l1], 256, [r3], "
         "h0;\n"
         "FULL0: and.b32 r15, r13, 1;\n"
         "FULL: mbarrier.try_wait.parity.shared.b64 p5, [r3], r15;\n"
         "@!p5 bra FULL;\n"
         "add.u64 l1, l1, 256; add.u32 r13, r13, 1; setp.lt.u32 p6, r13, 3; @p6 bra COPY;\n"
         "bra END;\n"
         "READER: sub.u32 r16, r6, 128; add.u32 r17, r2, r16;\n"
         "NEXT: and.b32 r15, r13, 1;\n"
         "HERE: mbarrier.try_wait.parity.shared.b64 p5, [r3], r15;\n"
         "@!p5 bra HERE;\n"
         "ld.shared.u32 r18, [r17]; ld.shared.u32 r19, [r17+128];\n"
         "mbarrier.arrive.shared::cluster.b64 _, [r20];\n"
         "add.u32 r13, r13, 1; setp.lt.u32 p6, r13, 3; @p6 bra NEXT;\n"
         "add.u32 r18, r18, r19; st.global.u32 [l2], r18;\n"
         "END:\n"
         "barrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\n"
         "ret;\n}\n";

// A wgmma in each block, over a tile that it has stored.
static const char product[] =
    ".version 8.1\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in) .reqnctapercluster 2, 1, 1\n{\n"
    ".shared .align 1024 .b8 tile[4096];\n.reg .b32 r<9>; .reg .b64 l<9>; .reg .f32 d<4>; .reg .pred p<2>;\n"
    "ld.param.u64 l0, [out]; mov.u32 r0, %tid.x; mov.u32 r1, tile; shl.b32 r2, r0, 2; add.u32 r2, r2, r1; mov.u32 r4, "
    "0;\n"
    "STORE: st.shared.u32 [r2], 0; add.u32 r2, r2, 512; add.u32 r4, r4, 1; setp.lt.u32 p0, r4, 8; @p0 bra STORE;\n"
    "fence.proxy.async; bar.sync 0;\n"
    "and.b32 r1, r1, 0x3ffff;\n" VIOLATION_WGMMA
    "mul.wide.u32 l4, r0, 4; add.u64 l4, l4, l0; add.f32 d0, d0, d1; st.global.f32 [l4], d0;\n"
    "ret;\n}\n";

#define EXPECT_FOUND(text, ...) EXPECT_FOUND_OF(text, THREADS, __VA_ARGS__)
#define EXPECT_FOUND_OF(text, threads, ...)                                                                            \
    violations_expect(text, &(struct violation_launch){ 4, threads, WORDS, WORDS, zeros }, VIOLATIONS(__VA_ARGS__))

Test(check_cluster, what_another_block_wrote_needs_cluster_scope)
{
    EXPECT_FOUND(push,
                 { { "mbarrier.arrive.release.cluster.shared::cluster.b64", "mbarrier.arrive.shared::cluster.b64" },
                   { 0 },
                   { { SIMT_RACE, .here.line = 25, .there.line = 21 } } },
                 { { "try_wait.parity.acquire.cluster.shared::cta.b64", "try_wait.parity.shared::cta.b64" },
                   { 0 },
                   { { SIMT_RACE, .here.line = 25 } } },
                 { { "release.cluster.shared::cluster.b64", "relaxed.cluster.shared::cluster.b64" },
                   { 0 },
                   { { SIMT_RACE, .there.line = 21 } } });
}

Test(check_cluster, a_block_is_used_after_it_has_begun)
{
    EXPECT_FOUND(
        pull, { { "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;", "\nbar.sync 0;" },
                { 0 },
                { { SIMT_NOT_BEGUN, .here.line = 18 } } });
    EXPECT_FOUND(push, { { "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "\nbar.sync 0;" },
                         { 0 },
                         { { SIMT_NOT_BEGUN, .here.line = 21 } } });
}

Test(check_cluster, a_block_does_not_end_while_others_use_its_memory)
{
    EXPECT_FOUND(pull,
                 { { "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "" },
                   { 0 },
                   { { SIMT_MAY_HAVE_ENDED, .here.line = 18 } } },
                 { { "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "bar.sync 0;" },
                   { 0 },
                   { { SIMT_MAY_HAVE_ENDED, .here.line = 18 } } },
                 { { "barrier.cluster.arrive.aligned;", "barrier.cluster.arrive.relaxed.aligned;" },
                   { 0 },
                   { { SIMT_MAY_HAVE_ENDED, .here.line = 18 } } });
    EXPECT_FOUND(multicast, { { "END:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "END:" },
                              { 0 },
                              { { SIMT_MAY_HAVE_ENDED, .here.line = 38, .block = THE(1) } } });
}

Test(check_cluster, shared_memory_of_another_block_has_its_races)
{
    EXPECT_FOUND(
        pull,
        { { "barrier.cluster.arrive.release.aligned;", "barrier.cluster.arrive.relaxed.aligned;" },
          { 0 },
          { { SIMT_RACE, .here.line = 18, .there.line = 15, .object = "tile", .owner = SIMT_OTHER_BLOCK } } },
        { { "st.shared.u32 [r11], r9;", "@p0 st.shared.u32 [r11], r9;" },
          { 0 },
          { { SIMT_UNINIT_MEMORY, OF("tile", 0), .owner = SIMT_OTHER_BLOCK } } },
        { { "st.shared.u32 [r11], r9;", "st.shared.u32 [r11], r39;" },
          { "ld.shared::cluster.u32 r12, [r10];", "ld.shared.u32 r12, [r11];" },
          { { SIMT_UNINIT_VALUE, .object = "r39" } } },
        { { "mapa.shared::cluster.u32 r7, r2, r5;", "mapa.shared::cluster.u32 r7, r2, r5; add.u32 r7, r7, 256;" },
          { 0 },
          { { SIMT_OUT_OF_BOUNDS, .here.line = 18 } } });
}

// Block 1 reads what block 0 stored to global memory.
static const char global[] = HEAD "add.u64 l3, l2, 0; setp.ne.u32 p1, r1, 0; @p1 sub.u64 l3, l3, 256;\n"
                                  "@!p1 st.global.u32 [l2], r9;\n"
                                  "barrier.cluster.arrive.aligned;\n"
                                  "barrier.cluster.wait.aligned;\n"
                                  "@p1 ld.global.u32 r12, [l3];\n"
                                  "@p1 st.global.u32 [l2], r12;\n"
                                  "ret;\n}\n";

Test(check_cluster, global_memory_is_ordered_by_the_clusters_barrier)
{
    EXPECT_FOUND(global, { { "barrier.cluster.arrive.aligned;", "barrier.cluster.arrive.relaxed.aligned;" },
                           { 0 },
                           { { SIMT_RACE_BLOCKS, .here.line = 18, .there.line = 15 } } });
}

Test(check_cluster, a_tile_for_several_blocks_is_overwritten_after_all_have_read_it)
{
    EXPECT_FOUND(multicast,
                 { { "mbarrier.init.shared.b64 [r4], 64;", "mbarrier.init.shared.b64 [r4], 32;" },
                   { "mbarrier.arrive.shared::cluster.b64 _, [r20];",
                     "setp.eq.u32 p7, r1, 0; @p7 mbarrier.arrive.shared::cluster.b64 _, [r20];" },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, THERE(0, ANY, READS) } } },
                 { { "fence.mbarrier_init.release.cluster;", "" }, { 0 }, { { .kind = SIMT_RACE_INIT } } });
}

// Where the cluster's barrier orders all, a missing fence after mbarrier.init is no error.
Test(check_cluster, an_mbarrier_of_another_block_is_known_by_the_clusters_barrier)
{
    const struct violation_launch launch = { 4, THREADS, WORDS, WORDS, zeros };
    const struct simt_findings *f =
        violation_run(multicast, &launch, (struct violation_edit){ "fence.mbarrier_init.release.cluster;", "" },
                      (struct violation_edit){ "barrier.cluster.arrive.relaxed", "barrier.cluster.arrive" });
    cr_expect(!f->n && f->n_advice, "with the cluster's barrier: %s", found_text(f));
}

Test(check_cluster, a_descriptor_takes_no_rank)
{
    EXPECT_FOUND_OF(product, WARPGROUP,
                    { { "and.b32 r1, r1, 0x3ffff;", "" }, { 0 }, { { SIMT_DESCRIPTOR_RANK, .here.line = 15 } } });
}

// The same tiles with relaxed arrivals and waits: their order comes from fences that look at shared memory alone.
Test(check_cluster, fences_of_shared_memory_order_relaxed_arrivals_and_waits)
{
    static char text[VIOLATION_TEXT];
    static const struct violation_edit edits[] = {
        { "fence.mbarrier_init.release.cluster;",
          "fence.mbarrier_init.release.cluster; "
          "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" },
        { "mbarrier.arrive.shared::cluster.b64 _, [r20];",
          "fence.release.sync_restrict::shared::cta.cluster; "
          "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [r20];" },
        { "EMPTY: mbarrier.try_wait.parity.shared.b64 p4, [r4], r14;\n@!p4 bra EMPTY;\n",
          "EMPTY: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p4, [r4], r14;\n@!p4 bra EMPTY;"
          "fence.acquire.sync_restrict::shared::cluster.cluster;\n" },
    };
    snprintf(text, sizeof text, "%s", multicast);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        violation_change(text, edits[i]);
    EXPECT_FOUND(text,
                 { { "fence.release.sync_restrict::shared::cta.cluster;", "" },
                   { 0 },
                   { { SIMT_RACE, .here.by = SIMT_BY_BULK_COPY } } },
                 { { "fence.acquire.sync_restrict::shared::cluster.cluster;", "" },
                   { 0 },
                   { { SIMT_RACE, .here.by = SIMT_BY_BULK_COPY } } });
}
