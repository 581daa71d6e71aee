// The checks of the asynchronous proxy: bulk copies and their mbarriers. Two correct kernels, in which nothing is
// found; and each of their rules broken by a change of one or two lines, which is found with its lines and the
// instruction that is missing.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"
#include "violation.h"

enum { THREADS = 64, WORDS = VIOLATION_NUMBERS };

// Warp 1 copies tiles of 1024 bytes into two stages, warp 0 reads them. Then warp 0 stores a tile, which thread 0
// copies to global memory, and overwrites it.
static const char pipeline[] =
    ".version 8.0\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in)\n"
    "{\n"
    ".shared .align 128 .b8 tiles[2048];\n"
    ".shared .align 8 .b64 full[2];\n"
    ".shared .align 8 .b64 empty[2];\n"
    ".reg .b32 r<30>; .reg .b64 l<9>; .reg .pred p<9>;\n"
    "ld.param.u64 l0, [out]; ld.param.u64 l1, [in]; mov.u32 r0, %tid.x;\n"
    "mov.u32 r1, tiles; mov.u32 r2, full; mov.u32 r3, empty; mov.u32 r4, 0;\n"
    "setp.ne.u32 p0, r0, 0; @p0 bra READY;\n"
    "mbarrier.init.shared.b64 [r2], 1;\n"
    "mbarrier.init.shared.b64 [r2+8], 1;\n"
    "mbarrier.init.shared.b64 [r3], 32;\n"
    "mbarrier.init.shared.b64 [r3+8], 32;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "READY: bar.sync 0;\n"
    "setp.lt.u32 p1, r0, 32; @p1 bra READER;\n"
    "setp.ne.u32 p2, r0, 32; @p2 bra DONE;\n"
    "COPY:\n"
    "and.b32 r5, r4, 1; shl.b32 r6, r5, 3; add.u32 r7, r3, r6; add.u32 r8, r2, r6; shl.b32 r9, r5, 10; add.u32 r9, r9, "
    "r1; shr.u32 r10, r4, 1; xor.b32 r10, r10, 1;\n"
    "EMPTY: mbarrier.try_wait.parity.shared.b64 p3, [r7], r10;\n"
    "@!p3 bra EMPTY;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [r8], 1024;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r9], [l1], 1024, [r8];\n"
    "add.u64 l1, l1, 1024; add.u32 r4, r4, 1; setp.lt.u32 p4, r4, 4; @p4 bra COPY;\n"
    "bra DONE;\n"
    "READER:\n"
    "shl.b32 r20, r0, 5; cvt.u64.u32 l2, r20; add.u64 l3, l0, l2;\n"
    "READ:\n"
    "and.b32 r5, r4, 1; shl.b32 r6, r5, 3; add.u32 r7, r3, r6; add.u32 r8, r2, r6; shl.b32 r9, r5, 10; add.u32 r9, r9, "
    "r1; add.u32 r9, r9, r20; shr.u32 r10, r4, 1;\n"
    "FULL: mbarrier.try_wait.parity.shared.b64 p3, [r8], r10;\n"
    "@!p3 bra FULL;\n"
    "ld.shared.v4.u32 {r11, r12, r13, r14}, [r9];\n"
    "ld.shared.v4.u32 {r15, r16, r17, r18}, [r9+16];\n"
    "mbarrier.arrive.shared.b64 _, [r7];\n"
    "st.global.v4.u32 [l3], {r11, r12, r13, r14}; st.global.v4.u32 [l3+16], {r15, r16, r17, r18};\n"
    "add.u64 l3, l3, 1024; add.u32 r4, r4, 1; setp.lt.u32 p4, r4, 4; @p4 bra READ;\n"
    "DONE:\n"
    "bar.sync 0;\n"
    "@!p1 bra STORED;\n"
    "st.shared.v4.u32 [r9], {r0, r0, r0, r0};\n"
    "st.shared.v4.u32 [r9+16], {r0, r0, r0, r0};\n"
    "fence.proxy.async;\n"
    "STORED: bar.sync 0;\n"
    "@p0 bra WRITTEN;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [l0+4096], [tiles+1024], 1024;\n"
    "cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0;\n"
    "WRITTEN: bar.sync 0;\n"
    "@!p1 bra END;\n"
    "st.shared.u32 [r9], r4;\n"
    "END: ret;\n"
    "}\n";

// A wgmma over a tile that a bulk copy brings; then the tile is copied to once more.
static const char product[] =
    ".version 8.0\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in)\n"
    "{\n"
    ".shared .align 1024 .b8 tile[4096];\n"
    ".shared .align 8 .b64 full;\n"
    ".reg .b32 r<9>; .reg .b64 l<9>; .reg .pred p<9>; .reg .f32 d<4>;\n"
    "ld.param.u64 l0, [out]; ld.param.u64 l1, [in]; mov.u32 r0, %tid.x; mov.u32 r1, tile; mov.u32 r2, full;\n"
    "setp.ne.u32 p0, r0, 0; @p0 bra READY;\n"
    "mbarrier.init.shared.b64 [r2], 1;\n"
    "fence.proxy.async;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [r2], 4096;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [l1], 4096, [r2];\n"
    "READY: bar.sync 0;\n"
    "WAIT: mbarrier.try_wait.parity.shared.b64 p1, [r2], 0;\n"
    "@!p1 bra WAIT;\n" VIOLATION_WGMMA "bar.sync 0;\n"
    "@p0 bra STORE;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [r2], 4096;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [l1], 4096, [r2];\n"
    "STORE: mul.wide.u32 l4, r0, 16; add.u64 l4, l4, l0;\n"
    "st.global.v4.f32 [l4], {d0, d1, d2, d3};\n"
    "LEFT: mbarrier.try_wait.parity.shared.b64 p1, [r2], 1;\n"
    "@!p1 bra LEFT;\n"
    "ret;\n"
    "}\n";

// 0, 1, 2, ...
#define EXPECT_FOUND(text, threads, ...)                                                                               \
    violations_expect(text, &(struct violation_launch){ 1, threads, 2 * WORDS, WORDS, violation_numbers() },           \
                      VIOLATIONS(__VA_ARGS__))

Test(check_async, a_tile_is_read_after_a_wait_on_its_mbarrier)
{
    EXPECT_FOUND(pipeline, THREADS,
                 { { "@!p3 bra FULL;", "" },
                   { 0 },
                   { { SIMT_COPY_PENDING, HERE(35, ANY, READS), .there.line = 26, .reports_to = "full" } } },
                 { { "shr.u32 r10, r4, 1;\nFULL", "shr.u32 r10, r4, 1; xor.b32 r10, r10, 1;\nFULL" },
                   { 0 },
                   { { SIMT_UNINIT_MEMORY, .here.line = 35 } } },
                 { { "ld.shared.v4.u32 {r15, r16, r17, r18}, [r9+16];",
                     "xor.b32 r19, r9, 1024; ld.shared.v4.u32 {r15, r16, r17, r18}, [r19];" },
                   { 0 },
                   { { SIMT_COPY_PENDING, .here.line = 36, .there.by = SIMT_BY_BULK_COPY } } });
    EXPECT_FOUND(product, 128,
                 { { "@!p1 bra WAIT;", "" },
                   { 0 },
                   { { SIMT_COPY_PENDING, .here.by = SIMT_BY_WGMMA, .there.by = SIMT_BY_BULK_COPY } } });
}

Test(check_async, a_tile_is_overwritten_after_its_readers_have_arrived)
{
    EXPECT_FOUND(pipeline, THREADS,
                 { { "mbarrier.arrive.shared.b64 _, [r7];", "" },
                   { "ld.shared.v4.u32 {r11", "mbarrier.arrive.shared.b64 _, [r7]; ld.shared.v4.u32 {r11" },
                   { { SIMT_RACE, HERE(26, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, THERE(35, ANY, READS) } } },
                 { { "mbarrier.arrive.shared.b64 _, [r7];", "" },
                   { "ld.shared.v4.u32 {r15", "mbarrier.arrive.shared.b64 _, [r7]; ld.shared.v4.u32 {r15" },
                   { { SIMT_RACE, HERE(26, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, THERE(36, ANY, READS) } } });
    EXPECT_FOUND(product, 128,
                 { { "wgmma.wait_group.sync.aligned 0;", "" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, .there.by = SIMT_BY_WGMMA } } },
                 { { "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, .there.by = SIMT_BY_WGMMA } } });
}

Test(check_async, what_threads_store_is_fenced_for_the_asynchronous_proxy)
{
    EXPECT_FOUND(pipeline, THREADS,
                 { { "fence.proxy.async;", "" },
                   { 0 },
                   { { SIMT_PROXY_FENCE, HERE(0, ANY, READS), .here.by = SIMT_BY_BULK_COPY, THERE(0, ANY, WRITES) } } },
                 { { "fence.proxy.async;", "@!p0 fence.proxy.async;" }, { 0 }, { { .kind = SIMT_PROXY_FENCE } } },
                 { { "fence.proxy.async;", "" },
                   { "st.shared.v4.u32 [r9], {r0", "fence.proxy.async; st.shared.v4.u32 [r9], {r0" },
                   { { SIMT_PROXY_FENCE, .here.by = SIMT_BY_BULK_COPY } } },
                 { { "STORED: bar.sync 0;", "STORED:" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, ANY, READS), .here.by = SIMT_BY_BULK_COPY, THERE(0, ANY, WRITES) } } },
                 { { "fence.proxy.async;", "" },
                   { "WRITTEN: bar.sync 0;", "WRITTEN: fence.proxy.async; bar.sync 0;" },
                   { { .kind = SIMT_PROXY_FENCE } } });
}

Test(check_async, a_missing_fence_is_one_finding_however_many_lines_store)
{
    const struct violation_launch launch = { 1, THREADS, 2 * WORDS, WORDS, violation_numbers() };
    const struct simt_findings *f =
        violation_run(pipeline, &launch, (struct violation_edit){ "fence.proxy.async;\nSTORED:", "STORED:" },
                      (struct violation_edit){ 0 });
    cr_expect_eq(f->n, 1, "%s", found_text(f));
}

// A fence by the thread that starts the copy does as well, if it comes behind the barrier.
Test(check_async, a_fence_may_come_behind_the_barrier)
{
    static char text[VIOLATION_TEXT];
    const struct violation_launch launch = { 1, THREADS, 2 * WORDS, WORDS, violation_numbers() };
    const struct violation_edit none = { "fence.proxy.async;\nSTORED:", "STORED:" },
                                behind = { "cp.async.bulk.global", "fence.proxy.async; cp.async.bulk.global" };
    violation_expect_none(pipeline, &launch, none, behind);
    snprintf(text, sizeof text, "%s", pipeline);
    violation_change(text, none);
    violation_change(text, (struct violation_edit){ "STORED: bar.sync 0;", "STORED: bar.sync 2, 64;" });
    violation_expect_none(text, &launch, behind, (struct violation_edit){ 0 });
    EXPECT_FOUND(pipeline, THREADS,
                 { none,
                   { "STORED: bar.sync 0;", "STORED: @!p0 fence.proxy.async; bar.sync 0;" },
                   { { SIMT_PROXY_FENCE, .here.line = 47 } } },
                 { none,
                   { "STORED: bar.sync 0;", "STORED: bar.sync 0; @p0 fence.proxy.async;" },
                   { { .kind = SIMT_PROXY_FENCE } } });
}

// A copy's thread has to know of mbarrier.init: by a barrier, or because it was its own. A missing fence is no error.
Test(check_async, an_mbarrier_is_initialised_before_a_copy_reports_to_it)
{
    const struct violation_launch two = { 1, THREADS, 2 * WORDS, WORDS, violation_numbers() };
    const struct violation_launch four = { 1, 128, 2 * WORDS, WORDS, violation_numbers() };
    const struct violation_edit unfenced = { "fence.mbarrier_init.release.cluster;", "" }, none = { 0 };
    const struct simt_findings *f = violation_run(pipeline, &two, unfenced, none);
    cr_expect(!f->n && f->n_advice, "where a barrier comes between: %s", found_text(f));
    f = violation_run(product, &four, (struct violation_edit){ "fence.proxy.async;", "" }, none);
    cr_expect(!f->n && f->n_advice, "where one thread does both: %s", found_text(f));
    EXPECT_FOUND(
        pipeline, THREADS, { { "READY: bar.sync 0;", "READY:" }, { 0 }, { { SIMT_RACE_INIT, .object = "full" } } },
        { { "READY: bar.sync 0;", "READY: bar.sync 1, 32;" }, { 0 }, { { SIMT_RACE_INIT, .object = "full" } } },
        { { "mbarrier.init.shared.b64 [r2], 1;", "" },
          { "READY: bar.sync 0;", "READY: bar.sync 0; @!p0 mbarrier.init.shared.b64 [r2], 1;" },
          { { SIMT_RACE_INIT, OF("full", 0) } } });
}

// PTX before 9.3 does not promise that it goes without.
Test(check_async, an_mbarrier_without_its_fence_is_worth_an_advice)
{
    EXPECT_FOUND(
        pipeline, THREADS,
        { { "fence.mbarrier_init.release.cluster;", "" }, { 0 }, { { SIMT_INIT_FENCE, .object = "full" } } },
        { { "fence.mbarrier_init.release.cluster;", "" },
          { "mbarrier.init.shared.b64 [r2], 1;", "fence.mbarrier_init.release.cluster; mbarrier.init.shared.b64 "
                                                 "[r2], 1;" },
          { { .kind = SIMT_INIT_FENCE } } },
        { { "fence.mbarrier_init.release.cluster;", "" },
          { "READY: bar.sync 0;", "READY: bar.sync 0; @p0 fence.mbarrier_init.release.cluster;" },
          { { .kind = SIMT_INIT_FENCE } } });
    EXPECT_FOUND(product, 128, { { "fence.proxy.async;", "" }, { 0 }, { { SIMT_INIT_FENCE, .object = "full" } } });
}

Test(check_async, the_source_of_a_store_waits_for_its_own_thread)
{
    EXPECT_FOUND(pipeline, THREADS,
                 { { "cp.async.bulk.wait_group.read 0;", "" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), THERE(0, ANY, READS), .there.by = SIMT_BY_BULK_COPY } } },
                 { { "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group.read 1;" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), THERE(0, ANY, READS), .there.by = SIMT_BY_BULK_COPY } } },
                 { { "cp.async.bulk.wait_group.read 0;", "" },
                   { "WRITTEN: bar.sync 0;", "WRITTEN: @p0 cp.async.bulk.wait_group.read 0; bar.sync 0;" },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), THERE(0, ANY, READS), .there.by = SIMT_BY_BULK_COPY } } },
                 { { "WRITTEN: bar.sync 0;", "WRITTEN:" }, { 0 }, { { SIMT_RACE, .there.by = SIMT_BY_BULK_COPY } } });
}

Test(check_async, the_bytes_of_a_phase_agree)
{
    EXPECT_FOUND(
        pipeline, THREADS,
        { { "[r8], 1024;\ncp", "[r8], 2048;\ncp" },
          { 0 },
          { { SIMT_ENDLESS_WAIT, .wait = { "full", .bytes = 1024 } } } },
        { { "[r8], 1024;\ncp", "[r8], 512;\ncp" },
          { 0 },
          { { SIMT_ENDLESS_WAIT, .wait = { "full", .bytes = -512 } } } },
        { { "[l1], 1024, [r8];", "[l1], 1024, [r8]; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                                 "bytes [r9], [l1], 1024, [r8];" },
          { 0 },
          { { .kind = SIMT_COPY_PENDING }, { SIMT_PHASE_BYTES, .object = "full", .bytes = 1024 } } });
}

Test(check_async, a_block_ends_after_its_copies)
{
    EXPECT_FOUND(
        product, 128,
        { { "@!p1 bra LEFT;", "" }, { 0 }, { { SIMT_LOAD_LEFT, .here.line = 27, .object = "tile", .bytes = 4096 } } });
    EXPECT_FOUND(pipeline, THREADS,
                 { { "setp.lt.u32 p4, r4, 4; @p4 bra READ;", "setp.lt.u32 p4, r4, 3; @p4 bra READ;" },
                   { 0 },
                   { { SIMT_LOAD_LEFT, .here.line = 26, .bytes = 1024 } } });
}

#define OVERWRITES "@!p1 bra END;\nst.shared.u32 [r9], r4;\n"

Test(check_async, a_block_ends_after_its_stores_have_been_read)
{
    const struct violation_edit nothing_more = { OVERWRITES, "" }, complete = { "wait_group.read 0;", "wait_group 0;" };
    const struct violation_launch launch = { 1, THREADS, 2 * WORDS, WORDS, violation_numbers() };
    violation_expect_none(pipeline, &launch, nothing_more, complete);
    EXPECT_FOUND(pipeline, THREADS,
                 { { "cp.async.bulk.wait_group.read 0;", "" },
                   nothing_more,
                   { { SIMT_STORE_LEFT, .here.line = 48, .object = "tiles", .bytes = 1024 } } },
                 { { "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group.read 1;" },
                   nothing_more,
                   { { SIMT_STORE_LEFT, .here.line = 48 } } },
                 { { "cp.async.bulk.commit_group;", "" }, nothing_more, { { SIMT_STORE_LEFT, .here.line = 48 } } });
}

Test(check_async, a_deadlock_names_warps_mbarriers_phases_and_what_is_missing)
{
    EXPECT_FOUND(
        pipeline, THREADS,
        { { "[r3], 32;", "[r3], 33;" },
          { 0 },
          { { SIMT_ENDLESS_WAIT, .wait = { "empty", .warps = 1 << 1, .phase = THE(0), .arrivals = 1 } },
            { SIMT_ENDLESS_WAIT, .wait = { "full", .warps = 1, .phase = THE(1) } } } },
        { { "mbarrier.arrive.expect_tx.shared.b64 _, [r8], 1024;", "" },
          { 0 },
          { { SIMT_ENDLESS_WAIT, .wait = { "full", .warps = 1, .phase = THE(0), .arrivals = 1, .bytes = -1024 } } } });
}

Test(check_async, registers_of_wgmma_are_fenced_and_waited_for)
{
    EXPECT_FOUND(
        product, 128,
        { { "wgmma.wait_group.sync.aligned 0;", "" },
          { 0 },
          { { SIMT_WGMMA_WAIT, .here.line = 29, .there.line = 21 } } },
        { { "wgmma.wait_group.sync.aligned 0;", "add.f32 d2, d2, d2; wgmma.wait_group.sync.aligned 0;" },
          { 0 },
          { { SIMT_WGMMA_WAIT, .here.line = 23, .there.line = 21 } } },
        { { "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;" },
          { 0 },
          { { SIMT_WGMMA_WAIT, .here.line = 29 } } },
        { { "wgmma.fence.sync.aligned;", "" }, { 0 }, { { SIMT_WGMMA_FENCE, .here.line = 21, .there.line = 19 } } },
        { { "wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned; mov.f32 d1, d0;" },
          { 0 },
          { { SIMT_WGMMA_FENCE, .here.line = 21, .there.line = 20 } } });
}

// The first product of a kernel does not add: its accumulators need no value, but a fence.
#define ZEROS "mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0; mov.f32 d3, d0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"

Test(check_async, the_first_product_is_fenced_and_what_it_adds_to_is_initialised)
{
    const struct violation_launch l = { 1, 128, 2 * WORDS, WORDS, violation_numbers() };
    const struct violation_edit by_predicate = { "l3, 1, 1, 1, 0, 0", "l3, p2, 1, 1, 0, 0" };
    const struct violation_edit overwrites = { ZEROS, "setp.ne.u32 p2, r0, r0;\n" };
    violation_expect_none(product, &l, overwrites, by_predicate);
    EXPECT_FOUND(product, 128,
                 { { ZEROS FENCE, "setp.ne.u32 p2, r0, r0;\n" },
                   by_predicate,
                   { { SIMT_WGMMA_FENCE, .here.line = 20, .there.line = 20 } } },
                 { { ZEROS, "setp.eq.u32 p2, r0, r0;\n" }, by_predicate, { { SIMT_UNINIT_VALUE, .here.line = 21 } } },
                 { { ZEROS, "setp.eq.u32 p2, r0, r0;\nmov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d3, d0;\n" },
                   by_predicate,
                   { { SIMT_UNINIT_VALUE, .object = "d2" } } });
}

// What the first warp that has waited may overwrite: without a barrier behind the wait, it copies other numbers there.
Test(check_async, a_product_that_one_warp_has_waited_for_is_complete_for_all_four)
{
    enum { SUMS = 4 * 128 };
    static const struct violation_edit early[] = {
        { "wait_group.sync.aligned 0;\nbar.sync 0;\n", "wait_group.sync.aligned 0;\n" },
        { "@p0 bra STORE;\nmbarrier.arrive.expect_tx.shared.b64 _, [r2], 4096;",
          "@p0 bra STORE; mbarrier.arrive.expect_tx.shared.b64 _, [r2], 2048;" },
        { "[r1], [l1], 4096, [r2];\nSTORE", "[r1], [l1+2048], 2048, [r2];\nSTORE" },
    };
    static char changed[VIOLATION_TEXT];
    static uint32_t in[WORDS], sums[2][SUMS];
    for (unsigned i = 0; i < WORDS; i++)
        in[i] = 0x3c003c00 + (i * 2654435761u >> 28) + i / 512 * 0x100;
    struct dev *d = ptx_simulator();
    strcpy(changed, product);
    for (int round = 0; round < 2; round++) {
        cr_assert(ptx_run(d, changed, (struct ptx_shape){ 1, 128, 0 }, sums[round], SUMS, in, WORDS), "%s",
                  dev_error(d));
        for (size_t i = 0; i < sizeof early / sizeof *early && !round; i++)
            violation_change(changed, early[i]);
    }
    dev_close(d);
    for (unsigned i = 0; i < SUMS; i++)
        cr_assert(sums[0][i] && sums[1][i] == sums[0][i], "%u: 0x%08x, 0x%08x", i, sums[0][i], sums[1][i]);
}

#define LOADS "shl.b32 r4, r0, 2; add.u32 r4, r4, r1; ld.shared.u32 r5, [r4];\n"
#define ARRIVES "and.b32 r6, r0, 31; setp.eq.u32 p2, r6, 0; @p2 mbarrier.arrive.shared.b64 _, [empty];\n"

// Threads load from a tile that wgmma reads, too, and wait for the product; then a lane arrives for all of its warp.
Test(check_async, a_lane_arrives_for_its_warp_that_has_waited_for_wgmma)
{
    static const struct violation_edit edits[] = {
        { ".shared .align 8 .b64 full;\n", ".shared .align 8 .b64 full; .shared .align 8 .b64 empty;\n" },
        { "mbarrier.init.shared.b64 [r2], 1;\n",
          "mbarrier.init.shared.b64 [r2], 1; mbarrier.init.shared.b64 [empty], 4;\n" },
        { "wgmma.fence.sync.aligned;\n", LOADS "wgmma.fence.sync.aligned;\n" },
        { "bar.sync 0;\n@p0 bra STORE;\n", ARRIVES "@p0 bra STORE;\n"
                                                   "AGAIN: mbarrier.try_wait.parity.shared.b64 p3, [empty], 0;\n"
                                                   "@!p3 bra AGAIN;\n" },
    };
    static char text[VIOLATION_TEXT];
    snprintf(text, sizeof text, "%s", product);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        violation_change(text, edits[i]);
    EXPECT_FOUND(text, 128,
                 { { LOADS, "" },
                   { ARRIVES, LOADS ARRIVES },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, THERE(0, ANY, READS) } } },
                 { { ARRIVES, "" }, { LOADS, ARRIVES LOADS }, { { SIMT_RACE, .here.by = SIMT_BY_BULK_COPY } } },
                 { { "wgmma.wait_group.sync.aligned 0;", "" }, { 0 }, { { SIMT_RACE, .here.by = SIMT_BY_BULK_COPY } } },
                 { { "@p2 mbarrier.arrive.shared.b64", "@p2 mbarrier.arrive.relaxed.cta.shared.b64" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, THERE(0, ANY, READS) } } });
}

#define ALONE                                                                                                          \
    "@p0 bra FAST; mov.u32 r7, 100000;\nSLOW: sub.u32 r7, r7, 1; setp.ne.u32 p2, r7, 0; @p2 bra SLOW;\n"               \
    "mbarrier.arrive.shared.b64 _, [empty];\nFAST: bar.warp.sync -1;\n"

// A thread of the slowest warp arrives for the whole warpgroup: the others have waited for the product, it has not.
Test(check_async, a_thread_arrives_for_its_warpgroup_once_its_own_warp_has_waited)
{
    static const struct violation_edit edits[] = {
        { ".shared .align 8 .b64 full;\n", ".shared .align 8 .b64 full; .shared .align 8 .b64 empty;\n" },
        { "mbarrier.init.shared.b64 [r2], 1;\n",
          "mbarrier.init.shared.b64 [r2], 1; mbarrier.init.shared.b64 [empty], 1;\n" },
        { "@!p1 bra WAIT;\n", "@!p1 bra WAIT;\nsetp.ge.u32 p3, r0, 128; @p3 bra COPIER;\n" },
        { "bar.sync 0;\n@p0 bra STORE;\n", ALONE "bra STORE;\nCOPIER: setp.ne.u32 p0, r0, 128; @p0 bra LEFT;\n"
                                                 "AGAIN: mbarrier.try_wait.parity.shared.b64 p3, [empty], 0;\n"
                                                 "@!p3 bra AGAIN;\n" },
        { "[r1], [l1], 4096, [r2];\nSTORE", "[r1], [l1], 4096, [r2]; bra LEFT;\nSTORE" },
    };
    static char text[VIOLATION_TEXT];
    snprintf(text, sizeof text, "%s", product);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        violation_change(text, edits[i]);
    EXPECT_FOUND(text, 160,
                 { { ALONE, "" },
                   { "wgmma.wait_group.sync.aligned 0;", ALONE "wgmma.wait_group.sync.aligned 0;" },
                   { { SIMT_RACE, HERE(0, ANY, WRITES), .here.by = SIMT_BY_BULK_COPY, .there.by = SIMT_BY_WGMMA } } });
}

// What a block leaves under way ends with it: the next one on the same host thread may use the same shared memory.
Test(check_async, what_wgmma_reads_at_the_end_of_a_block_is_forgotten)
{
    const struct violation_launch launch = { 32, 128, 2 * WORDS, WORDS, violation_numbers() };
    const struct violation_edit others = { "setp.ne.u32 p0, r0, 0;",
                                           "mov.u32 r4, %ctaid.x; setp.ne.u32 p3, r4, 0; @p3 bra OTHER;\n"
                                           "setp.ne.u32 p0, r0, 0;" };
    const struct violation_edit leaves = { "wgmma.wait_group.sync.aligned 0;\n",
                                           "ret;\nOTHER: shl.b32 r5, r0, 5; add.u32 r5, r5, r1;\n"
                                           "st.shared.u32 [r5], r0; ret;\n" };
    const struct simt_findings *f = violation_run(product, &launch, others, leaves);
    cr_expect(!found_among(f, SUCH(SIMT_RACE)), "%s", found_text(f));
}

// The same of a copy to shared memory, whether the block stops at a fault or ends.
Test(check_async, a_copy_at_the_end_of_a_block_is_forgotten)
{
    const struct violation_launch launch = { 32, 128, 2 * WORDS, WORDS, violation_numbers() };
    const struct violation_edit ends[] = { { "WAIT: ", "trap;\nWAIT: " }, { "WAIT: ", "ret;\nWAIT: " } };
    for (int i = 0; i < 2; i++) {
        const struct simt_findings *f = violation_run(product, &launch, ends[i], (struct violation_edit){ 0 });
        found_expect(f, SUCH(i ? SIMT_LOAD_LEFT : SIMT_TRAP), ends[i].to);
        cr_expect(!found_among(f, SUCH(SIMT_COPY_PENDING)), "%s", found_text(f));
    }
}

// Each block stores a box twice, and only half of the box lies within the tensor. The second store is left under way.
static const char half_outside[] =
    PTX_SM_90 ".visible .entry k(.param .align 64 .b8 map[128])\n"
              "{\n"
              ".shared .align 128 .b8 tile[1024];\n"
              ".reg .b32 r<4>; .reg .b64 l<3>; .reg .pred p;\n"
              "mov.b64 l0, map; cvta.param.u64 l0, l0;\n"
              "mov.u32 r0, %tid.x; mov.u32 r1, tile; shl.b32 r2, r0, 4; add.u32 r2, r2, r1; setp.ne.u32 p, r0, 0;\n"
              "st.shared.v4.u32 [r2], {r0, r0, r0, r0};\n"
              "fence.proxy.async;\n"
              "bar.sync 0;\n"
              "@p bra END;\n"
              "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [l0, {0, 4}], [r1];\n"
              "cp.async.bulk.commit_group;\n"
              "cp.async.bulk.wait_group.read 0;\n"
              "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [l0, {0, 4}], [r1];\n"
              "cp.async.bulk.commit_group;\n"
              "END: ret;\n"
              "}\n";

Test(check_async, what_a_store_reads_at_the_end_of_a_block_is_forgotten)
{
    static const uint32_t out[256];
    struct dev *d = ptx_simulator();
    struct dev_tensor x = { .type = DEV_MAP_U32, .rank = 2, .size = { 32, 8 }, .box = { 32, 8 }, .stride = { 128 } };
    struct dev_tensor_map map;
    struct dev_module *m = dev_load_text(d, "test.ptx", half_outside, strlen(half_outside));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    struct dev_arg args[] = { DEV_ARG(map) };
    const struct dev_launch l = { .grid = { 8 }, .block = { THREADS }, .args = args, .n_args = 1 };
    dev_set_checks(d, true);
    dev_set_jobs(d, 1);
    cr_assert(k && dev_alloc(d, "out", sizeof out, &x.address) && dev_upload(d, x.address, out, sizeof out) &&
                  dev_tensor_map(d, &x, &map) && dev_launch(d, k, &l) && dev_sync(d),
              "%s", dev_error(d));
    const struct simt_findings *f = dev_findings(d);
    cr_expect(!f->n && f->n_advice == 1 && f->all[0].count == 8, "%zu, %zu: %s", f->n, f->n_advice, found_first(f));
    dev_close(d);
}

// The second stage begins in the middle of the first, and their copies are under way at the same time. A stage that is
// copied to again too early is not that.
Test(check_async, copies_do_not_overlap)
{
    EXPECT_FOUND(pipeline, THREADS,
                 { { "shl.b32 r9, r5, 10; add.u32 r9, r9, r1; shr.u32 r10, r4, 1; xor",
                     "shl.b32 r9, r5, 9; add.u32 r9, r9, r1; shr.u32 r10, r4, 1; xor" },
                   { 0 },
                   { { SIMT_COPIES_OVERLAP, HERE(26, 32, WRITES), OF("tiles", 512), .bytes = 1024, .seen = 1024,
                       .there.line = 26 } } });
    const struct violation_launch l = { 1, THREADS, 2 * WORDS, WORDS, violation_numbers() };
    const struct simt_findings *f =
        violation_run(pipeline, &l, (struct violation_edit){ "@!p3 bra EMPTY;", "" }, (struct violation_edit){ 0 });
    cr_expect(f->n && !found_among(f, SUCH(SIMT_COPIES_OVERLAP)), "%s", found_text(f));
}

// By all threads of a warp, or once more after its phases; but not after mbarrier.inval.
Test(check_async, an_mbarrier_is_initialised_once)
{
    const struct violation_launch l = { 1, THREADS, 2 * WORDS, WORDS, violation_numbers() };
    EXPECT_FOUND(
        pipeline, THREADS,
        { { "setp.ne.u32 p0, r0, 0; @p0 bra READY;", "setp.ne.u32 p0, r0, 0; setp.gt.u32 p5, r0, 31; @p5 bra READY;" },
          { 0 },
          { { SIMT_INIT_AGAIN, .here = { .line = 14, .thread = THE(1) }, OF("full", 8), .there.line = 14,
              .there.thread = THE(0) } } },
        { { "STORED: bar.sync 0;\n@p0 bra WRITTEN;\n",
            "STORED: bar.sync 0;\n@p0 bra WRITTEN; mbarrier.init.shared.b64 [r2], 1;\n" },
          { 0 },
          { { SIMT_INIT_AGAIN, .here.line = 47, OF("full", 0), .there.line = 13 } } });
    violation_expect_none(pipeline, &l,
                          (struct violation_edit){ "STORED: bar.sync 0;\n@p0 bra WRITTEN;\n",
                                                   "STORED: bar.sync 0;\n@p0 bra WRITTEN; mbarrier.inval.shared.b64 "
                                                   "[r2]; mbarrier.init.shared.b64 [r2], 1;\n" },
                          (struct violation_edit){ 0 });
}
