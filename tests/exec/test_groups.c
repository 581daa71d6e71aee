// Groups of lanes that pass different member masks, and barriers that vote: kernels/groups.cu on every device, and
// small PTX kernels for what CUDA C++ does not say.
#include <criterion/criterion.h>

#include <string.h>

#include "warp_case.h"

enum { BLOCKS = 2, THREADS = 128, N = BLOCKS * THREADS, WARP = 32 };

static uint32_t in[N];

static void fill(void)
{
    for (uint32_t i = 0; i < N; i++)
        in[i] = (i * 2654435761u >> 20) % 500;
    in[200] = 78;
}

static void expect(const char *name, uint32_t (*want)(uint32_t i))
{
    fill();
    ptx_file_expect(GROUPS_PTX, name, (struct ptx_shape){ BLOCKS, THREADS, 0 }, in, N, want);
}

// --- member masks ---

static uint32_t of_tile(uint32_t i, uint32_t size)
{
    uint32_t sum = 0, odd = 0, alike = 0, any = 0, all = 1;
    for (uint32_t k = i / size * size; k < i / size * size + size; k++) {
        sum += in[k];
        odd += in[k] & 1;
        alike += in[k] % 4 == in[i] % 4;
        any |= in[k] % 16 == 3;
        all &= in[k] % 8 != 5;
    }
    return sum + 10000 * odd + 1000000 * alike + 100000000 * any + 200000000 * all;
}

static uint32_t of_4(uint32_t i)
{
    return of_tile(i, 4);
}

static uint32_t of_8(uint32_t i)
{
    return of_tile(i, 8);
}

static uint32_t of_16(uint32_t i)
{
    return of_tile(i, 16);
}

Test(groups, tiles_of_a_warp_work_side_by_side)
{
    expect("tiles_of_4", of_4);
    expect("tiles_of_8", of_8);
    expect("tiles_of_16", of_16);
}

static uint32_t reduced(uint32_t i)
{
    uint32_t sum = 0, most = 0;
    for (uint32_t k = i / 8 * 8; k < i / 8 * 8 + 8; k++) {
        sum += in[k];
        most = in[k] % 100 > most ? in[k] % 100 : most;
    }
    return sum + 100000 * most;
}

static uint32_t looped(uint32_t i)
{
    uint32_t x[8];
    for (uint32_t k = 0; k < 8; k++)
        x[k] = in[i / 8 * 8 + k];
    for (uint32_t turn = 0; turn <= i % WARP / 8; turn++)
        for (uint32_t k = 0, from = x[turn]; k < 8; k++)
            x[k] += from;
    return x[i % 8];
}

static uint32_t shared(uint32_t i)
{
    return i % WARP < 16 ? in[i ^ 5] : 2 * in[i ^ 9];
}

static uint32_t parted(uint32_t i)
{
    uint32_t sum = 0, rank = 0;
    for (uint32_t k = i / WARP * WARP; k < i / WARP * WARP + WARP; k++) {
        const uint32_t mine = (in[k] % 3 == 0) == (in[i] % 3 == 0);
        sum += mine * in[k];
        rank += k < i ? mine : 0;
    }
    return sum + 100000 * rank;
}

Test(groups, a_group_does_not_wait_for_the_others)
{
    expect("reduced", reduced);
    expect("loops", looped);
    expect("shared", shared);
    expect("parted", parted);
}

Test(groups, a_member_that_never_comes_is_named_with_its_group)
{
    // Lanes 8 to 15 name lane 16, which names others. The groups of lanes 0 to 7 and 16 to 31 are complete.
    FAILS("setp.lt.u32 %p0, %r1, 8;\nselp.b32 %r5, 0x000000ff, 0x0001ff00, %p0;\n"
          "setp.lt.u32 %p1, %r1, 16;\n@!%p1 mov.u32 %r5, 0xffff0000;\n"
          "vote.sync.ballot.b32 %r3, %p0, %r5;\nbar.sync 0;\n",
          32, SIMT_LANES_MISSING, .here.thread = THE(8), .lanes = 0x10000);
    FAILS("setp.lt.u32 %p0, %r1, 8;\nselp.b32 %r5, 0x000000ff, 0x0000ff00, %p0;\n"
          "vote.sync.ballot.b32 %r3, %p0, %r5;\n",
          32, SIMT_NOT_MEMBER, .here.thread = THE(16), .lanes = 0xff00);
}

Test(groups, lanes_that_ended_are_not_waited_for)
{
    // Lanes 4 to 7 end while the rest of their group waits.
    struct dev *d = ptx_simulator();
    uint32_t out[WARP] = { 0 }, one[1] = { 0 };
    const char *text = MODULE("and.b32 %r4, %r1, 24;\nshl.b32 %r5, 0xff, %r4;\nadd.u32 %r6, %r1, -4;\n"
                              "setp.lt.u32 %p0, %r6, 4;\n@!%p0 bra VOTE;\nmov.u32 %r7, 0;\n"
                              "LOOP: add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 100;\n@%p1 bra LOOP;\nexit;\n"
                              "VOTE: setp.lt.u32 %p2, %r1, 32;\nvote.sync.ballot.b32 %r3, %p2, %r5;\n");
    cr_assert(ptx_run(d, text, (struct ptx_shape){ 1, WARP, 0 }, out, WARP, one, 1), "%s", dev_error(d));
    for (uint32_t i = 0; i < WARP; i++)
        cr_assert_eq(out[i], i < 4 ? 0xfu : i < 8 ? 0 : 0xffu << i / 8 * 8, "lane %u has 0x%x", i, out[i]);
    dev_close(d);
}

// --- barriers ---

static uint32_t counted(uint32_t i)
{
    uint32_t odd = 0, sevens = 0, below = 1, other = 1, same = 0;
    for (uint32_t k = i / THREADS * THREADS; k < (i / THREADS + 1) * THREADS; k++) {
        odd += in[k] % 2;
        sevens += in[k] % 7 == 0;
        below &= in[k] < 1000;
        other &= in[k] != 78;
        same |= in[k] == 78;
    }
    return odd + 1000 * sevens + 1000000 * below + 2000000 * other + 4000000 * same;
}

Test(groups, a_barrier_counts_votes)
{
    expect("counted", counted);
}

static void expect_words(const char *text, unsigned threads, uint32_t (*want)(uint32_t i))
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices_from(d, 80, false);
    for (size_t k = 0; k < devices; k++) {
        uint32_t out[THREADS] = { 0 }, one[1] = { 0 };
        cr_assert(ptx_run(d[k], text, (struct ptx_shape){ 1, threads, 0 }, out, THREADS, one, 1), "%s: %s",
                  dev_about(d[k])->name, dev_error(d[k]));
        for (uint32_t i = 0; i < threads; i++)
            cr_assert_eq(out[i], want(i), "%s: thread %u has %u", dev_about(d[k])->name, i, out[i]);
        dev_close(d[k]);
    }
}

static uint32_t pair_votes(uint32_t i)  // warps 0 and 1 at barrier 1, 2 and 3 at barrier 2
{
    return 11 * (i < 64 ? 10 : 30);
}

static uint32_t small_votes(uint32_t i)
{
    (void)i;
    return 48 + 2000;
}

Test(groups, barriers_that_vote_take_a_number_and_a_count)
{
    expect_words(MODULE("shr.u32 %r5, %r1, 6;\nadd.u32 %r5, %r5, 1;\nand.b32 %r6, %r1, 63;\nmul.lo.u32 %r7, %r5, 20;\n"
                        "sub.u32 %r7, %r7, 10;\nsetp.lt.u32 %p0, %r6, %r7;\n"
                        "bar.red.popc.u32 %r8, %r5, 64, %p0;\nbarrier.cta.red.popc.u32 %r9, %r5, 64, %p0;\n"
                        "mad.lo.u32 %r3, %r9, 10, %r8;\n"),
                 128, pair_votes);
    // A block that does not fill its last warp; the predicate negated.
    expect_words(MODULE("setp.ge.u32 %p0, %r1, 64;\nbarrier.red.popc.aligned.u32 %r3, 0, !%p0;\n"
                        "bar.red.and.pred %p1, 0, %p0;\nbar.red.or.pred %p2, 0, !%p0;\n@%p1 add.u32 %r3, %r3, 1000;\n"
                        "@%p2 add.u32 %r3, %r3, 2000;\n"),
                 48, small_votes);
}

static uint32_t other_half(uint32_t i)
{
    return i ^ 32;
}

// Even lanes of both warps meet at barrier 1, odd ones at barrier 2, in one instruction.
Test(groups, lanes_of_one_instruction_arrive_at_the_barrier_that_each_names)
{
    struct dev *d = ptx_simulator();
    uint32_t out[64] = { 0 }, one[1] = { 0 };
    const char *text = MODULE(".shared .align 4 .b32 s[64];\nmov.u32 %r5, s;\nmad.lo.u32 %r6, %r1, 4, %r5;\n"
                              "st.shared.u32 [%r6], %r1;\nand.b32 %r7, %r1, 1;\nadd.u32 %r7, %r7, 1;\n"
                              "barrier.sync %r7, 32;\nxor.b32 %r8, %r6, 128;\nld.shared.u32 %r3, [%r8];\n");
    cr_assert(ptx_run(d, text, (struct ptx_shape){ 1, 64, 0 }, out, 64, one, 1), "%s", dev_error(d));
    for (uint32_t i = 0; i < 64; i++)
        cr_assert_eq(out[i], other_half(i), "thread %u has %u", i, out[i]);
    dev_close(d);
}

Test(groups, barriers_that_vote_are_refused_where_they_make_no_sense)
{
    expect_failure(MODULE("bar.red.popc.pred %p1, 0, %p0;\n"), 32, PARTS("test.ptx", "bar.red.popc.pred"));
    expect_failure(MODULE("bar.red.sync.u32 %r3, 0, %p0;\n"), 32, PARTS("bar.red.sync.u32"));
    expect_failure(MODULE("bar.popc.u32 %r3, 0, %p0;\n"), 32, PARTS("bar.popc.u32"));
    expect_failure(MODULE("bar.red.and.pred %p1, 0;\n"), 32, PARTS("test.ptx"));
}
