// Clusters on every Hopper device present: their special registers, their barrier, each other's shared memory,
// mbarriers of another block, and copies that go to several blocks. And, on the simulated GPU, what it says of a launch
// or a wait that cannot be.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"

enum { THREADS = 64, BLOCKS_MAX = 64, WORDS = BLOCKS_MAX * THREADS };

#define HEAD ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)"
#define REGS                                                                                                           \
    "{\n.reg .b32 %r<40>; .reg .b64 %l<20>; .reg .pred %p<9>; .reg .f32 %f<4>;\n"                                      \
    "ld.param.u64 %l0, [out]; ld.param.u64 %l1, [in]; mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank;\n"           \
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.y; mad.lo.u32 %r2, %r4, %r3, %r2;\n"           \
    "mov.u32 %r3, %ntid.x; mad.lo.u32 %r2, %r2, %r3, %r0; mul.wide.u32 %l2, %r2, 4; add.u64 %l2, %l2, %l0;\n"
// Every thread stores %r5.
#define LEAVE "st.global.u32 [%l2], %r5;\nret;\n}\n"
#define SYNC "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

struct shape {
    unsigned grid[3], cluster[3], threads;
    bool map;  // the kernel takes a tensor map, too: of in, as rows of 64 words, in boxes of 32 x 1
};

static bool run(struct dev *d, const char *text, struct shape s, uint32_t *out)
{
    static uint32_t in[WORDS];
    dev_ptr to = 0, from = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = 1000 + i;
    struct dev_module *m = dev_load_text(d, "test.ptx", text, strlen(text));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    bool done = k && dev_alloc(d, "out", WORDS * 4, &to) && dev_alloc(d, "in", WORDS * 4, &from) &&
                dev_upload(d, from, in, WORDS * 4) && dev_clear(d, to, WORDS * 4);
    struct dev_tensor_map map;
    const struct dev_tensor rows = dev_matrix(from, DEV_MAP_U32, WORDS / 64, 64, 64, 1, 32, DEV_SWIZZLE_NONE);
    done = done && (!s.map || dev_tensor_map(d, &rows, &map));
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from), DEV_ARG(map) };
    struct dev_launch l = { .block = { s.threads }, .args = args, .n_args = s.map ? 3 : 2 };
    memcpy(l.grid, s.grid, sizeof l.grid);
    memcpy(l.cluster, s.cluster, sizeof l.cluster);
    done = done && dev_launch(d, k, &l) && dev_sync(d) && dev_download(d, out, to, WORDS * 4);
    if (to && done)
        dev_free(d, to);
    if (from && done)
        dev_free(d, from);
    if (m && done)
        dev_unload(d, m);
    return done;
}

typedef uint32_t want(unsigned block, unsigned rank, unsigned thread, const struct shape *s);

// Runs the kernel on each device; blocks are numbered along x, then y, and ranks follow from clusters along x and y.
static void check(const char *text, struct shape s, want *value)
{
    struct dev *devices[PTX_DEVICES];
    static uint32_t out[WORDS];
    const size_t n = ptx_devices_from(devices, 90, true);
    for (size_t i = 0; i < n; i++) {
        for (int checks = 0; checks < 1 + dev_about(devices[i])->simulated; checks++) {
            dev_set_checks(devices[i], checks);
            cr_assert(run(devices[i], text, s, out), "%s: %s", dev_about(devices[i])->name, dev_error(devices[i]));
            const struct simt_findings *f = checks ? dev_findings(devices[i]) : NULL;
            cr_assert(!f || !f->n, "%s", found_first(f));
            for (unsigned b = 0; b < s.grid[0] * s.grid[1]; b++) {
                const unsigned x = b % s.grid[0], y = b / s.grid[0];
                const unsigned rank = x % s.cluster[0] + y % s.cluster[1] * s.cluster[0];
                for (unsigned t = 0; t < s.threads; t++)
                    cr_assert_eq(out[b * s.threads + t], value(b, rank, t, &s), "%s: block %u, thread %u: %u, not %u",
                                 dev_about(devices[i])->name, b, t, out[b * s.threads + t], value(b, rank, t, &s));
            }
        }
        dev_close(devices[i]);
    }
}

static const struct shape pairs = { { 8, 1, 1 }, { 2, 1, 1 }, THREADS, false },
                          fours = { { 4, 4, 1 }, { 2, 2, 1 }, THREADS, false };

static unsigned cluster_of(unsigned block, const struct shape *s)
{
    return block % s->grid[0] / s->cluster[0] + block / s->grid[0] / s->cluster[1] * (s->grid[0] / s->cluster[0]);
}

static uint32_t places(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    const unsigned x = block % s->grid[0], y = block / s->grid[0];
    (void)thread;
    return x / s->cluster[0] | y / s->cluster[1] << 4 | x % s->cluster[0] << 8 | y % s->cluster[1] << 12 | rank << 16 |
           s->cluster[0] * s->cluster[1] << 20 | (s->grid[0] / s->cluster[0]) << 24 | s->cluster[1] << 28;
}

Test(exec_cluster, a_block_knows_its_place)
{
    static const char text[] =
        HEAD REGS "mov.u32 %r5, %clusterid.x; mov.u32 %r6, %clusterid.y; shl.b32 %r6, %r6, 4; or.b32 %r5, %r5, %r6;\n"
                  "mov.u32 %r6, %cluster_ctaid.x; shl.b32 %r6, %r6, 8; or.b32 %r5, %r5, %r6;\n"
                  "mov.u32 %r6, %cluster_ctaid.y; shl.b32 %r6, %r6, 12; or.b32 %r5, %r5, %r6;\n"
                  "shl.b32 %r6, %r1, 16; or.b32 %r5, %r5, %r6;\n"
                  "mov.u32 %r6, %cluster_nctarank; shl.b32 %r6, %r6, 20; or.b32 %r5, %r5, %r6;\n"
                  "mov.u32 %r6, %nclusterid.x; shl.b32 %r6, %r6, 24; or.b32 %r5, %r5, %r6;\n"
                  "mov.u32 %r6, %cluster_nctaid.y; shl.b32 %r6, %r6, 28; or.b32 %r5, %r5, %r6;\n"
                  "mov.pred %p1, %is_explicit_cluster; @!%p1 mov.u32 %r5, 0;\n" LEAVE;
    check(text, fours, places);
    check(text, pairs, places);
}

static uint32_t neighbours(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    const unsigned n = s->cluster[0] * s->cluster[1], next = (rank + 1) % n;
    (void)block;
    return next * 1000 + thread + 1 + next * 1000 + (THREADS - 1 - thread);
}

#define NEIGHBOUR                                                                                                      \
    ".shared .align 8 .b32 pad[4]; .shared .align 8 .b32 mine[64];\n"                                                  \
    "mad.lo.u32 %r6, %r1, 1000, %r0; mov.u32 %r7, mine; shl.b32 %r8, %r0, 2; add.u32 %r9, %r7, %r8;\n"                 \
    "st.shared.u32 [%r9], %r6;\n"
#define NEXT "mov.u32 %r10, %cluster_nctarank; add.u32 %r11, %r1, 1; rem.u32 %r11, %r11, %r10;\n"

Test(exec_cluster, blocks_read_each_others_shared_memory)
{
    // The one value by an address of 32 bits, the other by a generic one.
    static const char text[] = HEAD REGS NEIGHBOUR SYNC NEXT
        "mapa.shared::cluster.u32 %r12, %r9, %r11; ld.shared::cluster.u32 %r13, [%r12]; add.u32 %r13, %r13, 1;\n"
        "sub.u32 %r14, 63, %r0; shl.b32 %r14, %r14, 2; add.u32 %r14, %r14, %r7; cvt.u64.u32 %l3, %r14;\n"
        "cvta.shared.u64 %l4, %l3; mapa.u64 %l5, %l4, %r11; ld.u32 %r15, [%l5]; add.u32 %r5, %r13, %r15;\n" SYNC LEAVE;
    check(text, pairs, neighbours);
    check(text, fours, neighbours);
}

static uint32_t windows(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    (void)block, (void)thread;
    return (rank + 1) % (s->cluster[0] * s->cluster[1]) | rank << 4 | 1 << 8 | 0 << 9 | 1 << 10;
}

Test(exec_cluster, addresses_say_whose_they_are)
{
    static const char text[] = HEAD REGS NEIGHBOUR NEXT
        "cvt.u64.u32 %l3, %r9; cvta.shared.u64 %l4, %l3; mapa.u64 %l5, %l4, %r11; getctarank.u64 %r5, %l5;\n"
        "getctarank.shared::cluster.u32 %r12, %r9; shl.b32 %r12, %r12, 4; or.b32 %r5, %r5, %r12;\n"
        "isspacep.shared::cluster %p1, %l5; selp.u32 %r12, 256, 0, %p1; or.b32 %r5, %r5, %r12;\n"
        "isspacep.shared::cta %p1, %l5; selp.u32 %r12, 512, 0, %p1; or.b32 %r5, %r5, %r12;\n"
        "isspacep.shared::cta %p1, %l4; selp.u32 %r12, 1024, 0, %p1; or.b32 %r5, %r5, %r12;\n" LEAVE;
    check(text, fours, windows);
}

static uint32_t sums(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    const unsigned n = s->cluster[0] * s->cluster[1];
    (void)block, (void)thread;
    return rank ? 0 : n * THREADS + n * THREADS * (n - 1) / 2;
}

Test(exec_cluster, atomics_reach_another_block)
{
    static const char text[] = HEAD REGS
        ".shared .align 4 .b32 sum; mov.u32 %r7, 0; mov.u32 %r6, sum; st.shared.u32 [sum], %r7;\n" SYNC
        "mapa.shared::cluster.u32 %r8, %r6, 0; red.relaxed.cluster.shared::cluster.add.u32 [%r8], 1;\n"
        "atom.relaxed.cluster.shared::cluster.add.u32 %r9, [%r8], %r1;\n" SYNC "ld.shared.u32 %r5, [sum];\n" LEAVE;
    check(text, pairs, sums);
    check(text, fours, sums);
}

static uint32_t from_left(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    const unsigned n = s->cluster[0] * s->cluster[1];
    (void)block;
    return (rank + n - 1) % n * 100 + thread;
}

#define MBARRIER(count)                                                                                                \
    ".shared .align 8 .b64 full; .shared .align 16 .b32 box[64];\n"                                                    \
    "mov.u32 %r20, full; mov.u32 %r21, box; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;\n"                                \
    "mbarrier.init.shared.b64 [%r20], " count "; fence.mbarrier_init.release.cluster;\nREADY:\n" SYNC
#define FAR                                                                                                            \
    NEXT "mapa.shared::cluster.u32 %r22, %r20, %r11; mapa.shared::cluster.u32 %r23, %r21, %r11;\n"                     \
         "shl.b32 %r24, %r0, 2; add.u32 %r25, %r23, %r24; mad.lo.u32 %r26, %r1, 100, %r0;\n"
#define TAKE "add.u32 %r27, %r21, %r24; ld.shared.u32 %r5, [%r27];\n" SYNC LEAVE

Test(exec_cluster, arrivals_at_another_blocks_mbarrier)
{
    static const char text[] = HEAD REGS MBARRIER("64") FAR
        "st.shared::cluster.u32 [%r25], %r26; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];\n"
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    check(text, pairs, from_left);
    check(text, fours, from_left);
}

Test(exec_cluster, asynchronous_stores_report_to_another_blocks_mbarrier)
{
    static const char text[] = HEAD REGS MBARRIER("1") FAR
        "@!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r25], %r26, [%r22];\n"
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    check(text, pairs, from_left);
    check(text, fours, from_left);
}

static uint32_t added(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    return from_left(block, rank, thread, s) + 7;
}

Test(exec_cluster, asynchronous_reductions_and_vectors)
{
    static const char reduce[] = HEAD REGS MBARRIER("1") FAR
        "add.u32 %r27, %r21, %r24; mov.u32 %r28, 7; st.shared.u32 [%r27], %r28;\n" SYNC
        "@!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r25], %r26, [%r22];\n"
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    check(reduce, pairs, added);
    static const char vector[] = HEAD REGS MBARRIER("1") FAR
        "@!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256; and.b32 %r28, %r0, 3; setp.ne.u32 %p2, %r28, 0;\n"
        "add.u32 %r29, %r26, 1; add.u32 %r30, %r26, 2; add.u32 %r31, %r26, 3;\n@%p2 bra W;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r25], {%r26, %r29, %r30, %r31}, [%r22];\n"
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    check(vector, fours, from_left);
}

Test(exec_cluster, bulk_copies_go_to_another_block)
{
    static const char text[] = HEAD REGS MBARRIER("1") FAR
        ".shared .align 16 .b32 source[64]; mov.u32 %r28, source; add.u32 %r29, %r28, %r24; st.shared.u32 [%r29], "
        "%r26;\n"
        "fence.proxy.async; bar.sync 0; @%p0 bra W;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r23], [%r28], 256, [%r22];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    check(text, pairs, from_left);
    check(text, fours, from_left);
}

// Half of the box comes from each of two blocks, to both.
static uint32_t halves(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    (void)rank;
    return 1000 + cluster_of(block, s) * THREADS + thread;
}

Test(exec_cluster, bulk_copies_go_to_several_blocks)
{
    static const char text[] = HEAD REGS MBARRIER(
        "1") "shl.b32 %r24, %r0, 2; @%p0 bra W;\n"
             "mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256; mov.u32 %r6, %clusterid.x; shl.b32 %r6, %r6, 8;\n"
             "shl.b32 %r7, %r1, 7; add.u32 %r6, %r6, %r7; cvt.u64.u32 %l3, %r6; add.u64 %l3, %l3, %l1;\n"
             "add.u32 %r8, %r21, %r7; mov.u16 %h0, 3;\n"
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r8], [%l3], 128, "
             "[%r20], %h0;\n"
             "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    char with[sizeof text + 32];
    const char *at = strstr(text, ".reg .f32");
    snprintf(with, sizeof with, "%.*s.reg .b16 %%h<2>; %s", (int)(at - text), text, at);
    check(with, pairs, halves);
}

// The same with a tensor map: each block asks for half of a row, for both.
Test(exec_cluster, boxes_go_to_several_blocks)
{
    static const char text[] =
        ".version 8.1\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128])" REGS
        ".shared .align 8 .b64 full; .shared .align 128 .b32 box[64]; .reg .b16 %h<2>;\n"
        "mov.u32 %r20, full; mov.u32 %r21, box; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;\n"
        "mbarrier.init.shared.b64 [%r20], 1; fence.mbarrier_init.release.cluster;\nREADY:\n" SYNC
        "shl.b32 %r24, %r0, 2; @%p0 bra W; mov.b64 %l3, map; cvta.param.u64 %l4, %l3;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256; mov.u32 %r6, %clusterid.x; shl.b32 %r7, %r1, 5;\n"
        "shl.b32 %r8, %r1, 7; add.u32 %r8, %r21, %r8; mov.u16 %h0, 3;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r8], "
        "[%l4, {%r7, %r6}], [%r20], %h0;\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" TAKE;
    struct shape s = pairs;
    s.map = true;
    check(text, s, halves);
}

static uint32_t by_the_other(unsigned block, unsigned rank, unsigned thread, const struct shape *s)
{
    (void)s;
    return 7000 + (block - rank + (1 - rank)) * THREADS + thread;
}

// What a block of the cluster stored to global memory, another one reads after the cluster's barrier.
Test(exec_cluster, the_barrier_orders_global_memory)
{
    static const char text[] =
        HEAD REGS "add.u32 %r6, %r2, 7000; st.global.u32 [%l2], %r6;\n" SYNC
                  "xor.b32 %r7, %r1, 1; sub.u32 %r8, %r7, %r1; mul.lo.s32 %r8, %r8, 256; cvt.s64.s32 %l3, %r8;\n"
                  "add.u64 %l4, %l2, %l3; ld.global.u32 %r5, [%l4];\n" SYNC LEAVE;
    check(text, pairs, by_the_other);
}

// --- what cannot be ---

static void expect_refusal(const char *text, struct shape s, const char *const *parts)
{
    static uint32_t out[WORDS];
    struct dev *d = ptx_simulator();
    for (int checks = 0; checks < 2; checks++) {
        dev_set_checks(d, checks);
        const bool done = run(d, text, s, out);
        const struct simt_findings *f = done && checks ? dev_findings(d) : NULL;
        const char *said = !done ? dev_error(d) : f && f->n ? found_first(f) : "";
        cr_expect(!done || checks, "nothing was said");
        for (; *parts && !checks; parts++)
            cr_expect(strstr(said, *parts), "'%s' is not in: %s", *parts, said);
        cr_expect(*said, "nothing was found");
    }
    dev_close(d);
}
#define EXPECT_REFUSAL(text, shape, ...) expect_refusal(text, shape, (const char *const[]){ __VA_ARGS__, NULL })

Test(exec_cluster, a_wait_that_never_ends_names_every_warp)
{
    // Block 1 leaves out the barrier; warp 0 of block 0 waits at it, warp 1 for an mbarrier.
    static const char text[] =
        HEAD REGS MBARRIER("3") FAR "setp.ne.u32 %p2, %r1, 0; @%p2 bra W; setp.gt.u32 %p3, %r0, 31; @%p3 bra W;\n" SYNC
                                    "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;\n@!%p1 bra W;\n" LEAVE;
    EXPECT_REFUSAL(text, pairs, "waits here for ever. Of its cluster, block (0,0,0): ",
                   "warp 1 waits for phase 0 of the mbarrier full: 3 arrivals are missing",
                   "warp 0 waits at the cluster's barrier, where 32 of 128 threads have arrived",
                   "block (1,0,0): warps 0 to 1 wait for phase 0 of the mbarrier full");
    static const char alone[] = HEAD REGS "setp.eq.u32 %p2, %r1, 0; @%p2 bra E;\nbar.sync 1, 96;\nE:" SYNC LEAVE;
    EXPECT_REFUSAL(alone, pairs, "of the block's 64 threads arrived");
    // Warp 0 of each block waits at a barrier of its block that warp 1 never comes to.
    static const char both[] = HEAD REGS "setp.lt.u32 %p2, %r0, 32; @!%p2 bra C;\nbar.sync 1, 64;\nC:" SYNC LEAVE;
    EXPECT_REFUSAL(
        both, pairs, "test.ptx:10",
        "block (0,0,0): warp 0 waits at barrier 1, where 32 threads have arrived; warp 1 waits at the cluster's "
        "barrier, where 64 of 128 threads have arrived; block (1,0,0): warp 0 waits at barrier 1");
    static const char ended[] = HEAD REGS "setp.eq.u32 %p2, %r0, 3; @%p2 bra W;\n" SYNC "W: mov.u32 %r5, 1;\n" LEAVE;
    struct dev *d = ptx_simulator();
    static uint32_t out[WORDS];
    cr_expect(run(d, ended, pairs, out), "threads that have ended are not waited for: %s", dev_error(d));
    dev_close(d);
}

Test(exec_cluster, the_barrier_has_its_order)
{
    EXPECT_REFUSAL(HEAD REGS "barrier.cluster.arrive;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n" LEAVE, pairs,
                   "test.ptx:10", "again", "barrier.cluster.wait");
    EXPECT_REFUSAL(HEAD REGS "barrier.cluster.wait;\n" LEAVE, pairs, "has not arrived there");
}

Test(exec_cluster, addresses_name_blocks_that_are_there)
{
    EXPECT_REFUSAL(HEAD REGS NEIGHBOUR SYNC "mapa.shared::cluster.u32 %r12, %r9, 2; ld.shared::cluster.u32 %r13, "
                                            "[%r12];\n" SYNC LEAVE,
                   pairs, "reads 4 bytes out of bounds", "of block 2 of a cluster that has 2 blocks");
    EXPECT_REFUSAL(HEAD REGS NEIGHBOUR SYNC NEXT "mapa.shared::cluster.u32 %r12, %r9, %r11; ld.shared.u32 %r13, "
                                                 "[%r12];\n" SYNC LEAVE,
                   pairs, "reads 4 bytes out of bounds", "in the shared memory of another block", "ld.shared::cluster");
}

Test(exec_cluster, launches_follow_the_kernels_directives)
{
    static const char body[] = REGS "mov.u32 %r5, %cluster_nctarank;\n" LEAVE;
    char text[2048];
    static uint32_t out[WORDS];
    struct dev *d = ptx_simulator();
    struct shape none = { { 4, 1, 1 }, { 0 }, 32, false }, two = { { 4, 1, 1 }, { 2, 1, 1 }, 32, false };
    snprintf(text, sizeof text, "%s .explicitcluster .reqnctapercluster 4, 1, 1 %s", HEAD, body);
    cr_expect(run(d, text, none, out) && out[0] == 4 && out[127] == 4, "%s", dev_error(d));
    cr_expect(!run(d, text, two, out) && strstr(dev_error(d), ".reqnctapercluster"), "%s", dev_error(d));
    none.grid[0] = 6;
    cr_expect(!run(d, text, none, out) && strstr(dev_error(d), "whole clusters"), "%s", dev_error(d));
    snprintf(text, sizeof text, "%s .explicitcluster %s", HEAD, body);
    cr_expect(!run(d, text, none, out) && strstr(dev_error(d), "has to say"), "%s", dev_error(d));
    cr_expect(run(d, text, two, out) && out[0] == 2, "%s", dev_error(d));
    snprintf(text, sizeof text, "%s .maxclusterrank 1 %s", HEAD, body);
    cr_expect(!run(d, text, two, out) && strstr(dev_error(d), ".maxclusterrank"), "%s", dev_error(d));
    dev_close(d);
}

Test(exec_cluster, host_threads_do_not_show)
{
    static const char text[] = HEAD REGS NEIGHBOUR SYNC NEXT
        "mapa.shared::cluster.u32 %r12, %r9, %r11; ld.shared::cluster.u32 %r5, [%r12];\n" SYNC LEAVE;
    static uint32_t one[WORDS], many[WORDS];
    const struct shape s = { { 64, 1, 1 }, { 4, 1, 1 }, THREADS, false };
    struct dev *d = ptx_simulator();
    dev_set_jobs(d, 1);
    cr_assert(run(d, text, s, one), "%s", dev_error(d));
    dev_set_jobs(d, 7);
    cr_assert(run(d, text, s, many), "%s", dev_error(d));
    cr_expect_arr_eq(one, many, sizeof one);
    dev_close(d);
}
