// Parts of the clock one by one: what f32 instructions compute, which blocks are run, L1, and how L2 takes turns.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simt/clock/clock.h"
#include "simt/clock/sm_parts.h"

// --- f32 ---

static uint32_t values[WALK_VALUES * WALK_LANES];

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

// A warp of a kernel for 9.0 whose registers from `first` on hold these numbers in every lane; no other value is known.
static struct walk_warp warp_of(const struct walk_launch *launch, unsigned first, const float *numbers, unsigned n)
{
    struct walk_warp w = { .launch = launch, .values = values };
    for (unsigned i = 0; i < n; i++) {
        w.known[first + i] = 0xffffffff;
        for (unsigned lane = 0; lane < WALK_LANES; lane++)
            values[(first + i) * WALK_LANES + lane] = bits_of(numbers[i]);
    }
    return w;
}

static struct cubin cubin = { .cc = 90 };
static const struct walk_launch launch = { .cubin = &cubin };

// What the instruction leaves in register d; NAN where that is not known.
static float computed(uint64_t lo, uint64_t hi, unsigned first, const float *numbers, unsigned n, unsigned d)
{
    struct walk_warp w = warp_of(&launch, first, numbers, n);
    struct sass s;
    float f;
    sass_decode(lo, hi, 90, &s);
    walk_compute(&w, &s, 0xffffffff);
    memcpy(&f, &values[d * WALK_LANES], 4);
    return w.known[d] == 0xffffffff ? f : NAN;
}

Test(clock_parts, sums_and_products_of_f32_are_computed)
{
    static const float numbers[] = { 3, -5, 0.25f };
    // FADD R17, R0, 1: the number stands where c does
    cr_expect_eq(computed(0x3f80000000117421, 0x001fe20000000000, 0, numbers, 3, 17), 4);
    // FADD.SAT R4, RZ, R2; FMUL R4, R0, 255
    cr_expect_eq(computed(0x00000002ff047221, 0x000fe20000002000, 0, numbers, 3, 4), 0.25f);
    cr_expect_eq(computed(0x00000000ff047221, 0x000fe20000002000, 0, numbers, 3, 4), 1);
    cr_expect_eq(computed(0x437f000000047820, 0x000fe20000400000, 0, numbers, 3, 4), 765);
    // FMUL R0, |R1|, 2
    cr_expect_eq(computed(0x4000000001007820, 0x004fe40000400200, 0, numbers, 3, 0), 10);
    // FFMA R4, R0, -R1, 1 and FFMA R4, R0, R1, R2
    cr_expect_eq(computed(0x3f80000000047423, 0x000fc40000000801, 0, numbers, 3, 4), 16);
    cr_expect_eq(computed(0x0000000100047223, 0x000fc80000000002, 0, numbers, 3, 4), -14.75f);
    cr_expect(isnan(computed(0x0000000100047223, 0x000fc80000000005, 0, numbers, 3, 4)), "R5 is not known");
    // FMNMX R4, R0, 2, !PT and PT
    cr_expect_eq(computed(0x4000000000047809, 0x004fe40007800000, 0, numbers, 3, 4), 3);
    cr_expect_eq(computed(0x4000000000047809, 0x004fe40003800000, 0, numbers, 3, 4), 2);
    // MUFU.EX2 R4, R0 and MUFU.RCP R4, R2
    cr_expect_eq(computed(0x0000000000047308, 0x000e220000000800, 0, numbers, 3, 4), 8);
    cr_expect_eq(computed(0x0000000200047308, 0x000e220000001000, 0, numbers, 3, 4), 4);
}

// I2F.U8 R9, R0.B0 and I2F.U8 R10, R0.B3.
Test(clock_parts, a_byte_of_a_register_becomes_a_float)
{
    float word;
    const uint32_t bytes = 0x7f0012ffu;
    memcpy(&word, &bytes, 4);
    cr_expect_eq(computed(0x0000000000097306, 0x000fe60000001000, 0, &word, 1, 9), 255);
    cr_expect_eq(computed(0x30000000000a7306, 0x000fe20000001000, 0, &word, 1, 10), 127);
}

// FCHK P0, R0, R1: on an H200 a division is slow if the dividend is 0 or below 2^-102, if the divisor is below 2^-125
// or from 2^125 on, or if their exponents are too far apart.
Test(clock_parts, divisions_are_slow_where_they_are_on_the_h200)
{
    static const struct {
        float a, b;
        bool slow;
    } divisions[] = { { 1, 255, false },          { 0, 255, true },        { 0x1p-102f, 1, false },
                      { 0x1.8p-103f, 1, true },   { 1, 0x1p-125f, false }, { 1, 0x1p-126f, true },
                      { 1, 0x1p124f, false },     { 1, 0x1p125f, true },   { 0x1p126f, 1, false },
                      { 0x1p127f, 1, true },      { INFINITY, 1, true },   { 0x1p-64f, 0x1p60f, false },
                      { 0x1p-65f, 0x1p60f, true } };
    struct sass s;
    sass_decode(0x0000000100007302, 0x000e220000000000, 90, &s);
    cr_assert_str_eq(sass_name(&s), "FCHK");
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) {
        const float numbers[] = { divisions[i].a, divisions[i].b };
        struct walk_warp w = warp_of(&launch, 0, numbers, 2);
        walk_compute(&w, &s, 0xffffffff);
        cr_expect_eq(w.predicates_known[0], 0xffffffff);
        cr_expect_eq(w.predicates[0], divisions[i].slow ? 0xffffffff : 0, "%a / %a", (double)numbers[0],
                     (double)numbers[1]);
    }
}

// --- blocks ---

// Of the blocks of a kernel in which block i runs 64 * i + 1 rounds those that are picked run as many as all do.
Test(clock_parts, picked_blocks_are_as_long_as_all)
{
    char error[CLOCK_ERROR] = "";
    unsigned char params[8] = { 0 };
    const uint64_t out = 1ull << 45;
    if (!clock_available(error))
        cr_skip_test("%s", error);
    struct cubin *c = clock_assemble(TRIANGLE_PTX, "triangle", card_named("H200"), error);
    cr_assert(c, "%s", error);
    memcpy(params, &out, 8);
    for (unsigned of_sm = 2; of_sm <= 9; of_sm++) {
        const unsigned blocks = 132 * of_sm;
        const struct walk_launch l = { .cubin = c, .grid = { blocks, 1, 1 }, .block = { 32, 1, 1 }, .params = params };
        struct sm_job job = { .launch = &l, .blocks = of_sm, .stride = 132 };
        double sum = 0;
        pick_blocks(&l, of_sm, &job);
        cr_assert_eq(job.n_picked, of_sm);
        for (unsigned i = 0; i < of_sm; i++) {
            sum += (double)job.picked[i];
            cr_expect(!i || job.picked[i] > job.picked[i - 1], "they begin in order");
        }
        cr_expect(fabs(sum / of_sm / (blocks - 1) - 0.5) < 0.05, "%u blocks: %.2f", of_sm, sum / of_sm / (blocks - 1));
    }
    cubin_free(c);
}

// --- memory ---

// On an H200 64 warps whose rows of 3 KB are loaded twice hit L1 in 97.7 of 100 sectors the second time
// (l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit of llmc_layernorm_forward4), with 248 KB of L1.
Test(clock_parts, l1_keeps_rows_that_fit)
{
    struct l1 *c = l1_new(248 << 10, L1_WAYS);
    unsigned hits = 0, all = 0;
    cr_assert(c);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned sector = 0; sector < 96; sector++)
            for (unsigned warp = 0; warp < 64; warp++) {
                const uint64_t row = (uint64_t)warp / 16 * 132 * 16 + warp % 16;
                hits += l1_has(c, (1ull << 40) + row * 3072 + sector * 32, true) && pass;
                all += pass;
            }
    cr_expect(hits >= 0.97 * all, "%u of %u", hits, all);
    l1_free(c);
}

static struct sm *sm_of(struct sm_job *job, struct sm_result *out)
{
    struct sm *sm = calloc(1, sizeof *sm);
    cr_assert(sm);
    sm->job = job;
    sm->k = &job->constants;
    sm->out = out;
    sm->l1 = l1_new(1 << 18, L1_WAYS);
    sm->far = l1_new(1 << 18, L1_WAYS);
    sm->written = l1_new(1 << 18, L1_WAYS);
    cr_assert(sm->l1 && sm->far && sm->written);
    return sm;
}

static void free_sm(struct sm *sm)
{
    l1_free(sm->l1);
    l1_free(sm->far);
    l1_free(sm->written);
    free(sm);
}

// On an H200 loads of one sector each have half of L2's rate: leet_transpose_row2col reads 16.4 million sectors in 120
// us, 2.2 TB/s, and L2 is busy in 90 of 100 cycles.
Test(clock_parts, a_sector_alone_takes_l2_as_long_as_two_side_by_side)
{
    struct sm_job job = { .constants = clock_constants(card_named("H200")), .l2_share = 1 };
    struct sm_result out = { 0 };
    struct sm *sm = sm_of(&job, &out);
    const uint64_t side_by_side[] = { 0, 1 }, alone[] = { 100, 104 };
    sm_fetch(sm, side_by_side, 2, 0, 1, job.constants.l2_rate, false);
    const double pair = sm->l2;
    sm_fetch(sm, alone, 2, pair, 1, job.constants.l2_rate, false);
    cr_expect(fabs(pair - 64 / job.constants.l2_rate) < 1e-6, "%.3f", pair);
    cr_expect(fabs(sm->l2 - 3 * pair) < 1e-6, "%.3f", sm->l2);
    free_sm(sm);
}

// LDS R2, [R0]: whichever lanes take part, if any, it is a wavefront.
Test(clock_parts, a_shared_access_of_no_lane_takes_a_turn)
{
    struct sm_job job = { .constants = clock_constants(card_named("H200")), .l2_share = 1 };
    struct sm_result out = { 0 };
    struct sm *sm = sm_of(&job, &out);
    struct sass s;
    sass_decode(0x0000000000027984, 0x000e220000000800, 90, &s);
    cr_assert(s.pipe == PIPE_SHARED && s.writes == 0);
    sm->event = (struct walk_event){ .s = &s };
    sm_access(sm, &sm->warps[0], &sm->sub[0]);
    const double first = sm->lsu;
    sm_access(sm, &sm->warps[4], &sm->sub[1]);
    cr_expect_eq(sm->lsu, first + 1);
    cr_expect_eq(out.busy[COUNT_WAVES], 2);
    cr_expect(sm->warps[0].scoreboard[0] > job.constants.shared_latency);
    free_sm(sm);
}

// A warp that ends waits until its stores have left the SM (Nsight Compute: drain). What a block has stored is noted.
// STG [R2], R5.
Test(clock_parts, a_block_keeps_its_place_until_its_stores_have_gone)
{
    struct sm_job job = { .constants = clock_constants(card_named("H200")), .l2_share = 1 << 20 };
    struct sm_result out = { 0 };
    struct sm *sm = sm_of(&job, &out);
    struct sass s;
    sass_decode(0x0000000502007986, 0x004fe2000c101908, 90, &s);
    cr_assert(s.pipe == PIPE_GLOBAL && s.effect == EFFECT_STORE && s.bytes == 4);
    const struct walk_launch l = { .cubin = &cubin };
    job.launch = &l;
    sm->event = (struct walk_event){ .s = &s, .mask = 0xffffffff, .has_address = true };
    for (unsigned i = 0; i < WALK_LANES; i++)
        sm->event.address[i] = (1ull << 40) + 128 * i;
    sm->warps[0].slot = 3;
    sm_access(sm, &sm->warps[0], &sm->sub[0]);
    cr_expect(sm->slots[3].drained > WALK_LANES * job.constants.store_line);
    cr_expect_eq(sm->slots[3].drained, sm->l2_in);
    cr_expect_eq(sm->slots[0].drained, 0);
    free_sm(sm);
}

// On an H200 two stores of 16 bytes a lane that fill the same sectors, one right behind the other, are 3,125,000
// sectors in L1 and 1,569,516 in L2 (sample_alignedRGBA32_2). Later, or behind stores to other lines, they are two.
Test(clock_parts, stores_to_a_line_go_to_l2_together)
{
    struct sm_job job = { .constants = clock_constants(card_named("H200")), .l2_share = 1 << 20 };
    struct sm_result out = { 0 };
    struct sm *sm = sm_of(&job, &out);
    struct sm_sectors lower = { .joins = true }, upper, other;
    for (unsigned i = 0; i < WALK_LANES; i++) {
        lower.at[lower.n] = i;
        lower.stored[lower.n++] = 0xffff;
    }
    lower.lines = WALK_LANES / 4;
    upper = other = lower;
    for (unsigned i = 0; i < WALK_LANES; i++) {
        upper.stored[i] = 0xffff0000;
        other.at[i] = 1000 + i;
    }
    const double alone = sm_write(sm, &lower, 0);
    cr_expect(alone > WALK_LANES && fabs(sm_write(sm, &upper, 4) - alone) < 1e-6, "the second one costs nothing");
    const double late = sm_write(sm, &upper, 10 * alone);
    cr_expect(fabs(late - 11 * alone) < 1e-6, "%.1f: the first one has gone", late);
    sm_write(sm, &other, 10 * alone + 1);
    sm_write(sm, &lower, 10 * alone + 2);
    cr_expect(fabs(sm->l2_in - 13 * alone) < 1e-6, "%.1f: other lines came between", sm->l2_in);
    lower.joins = upper.joins = false;
    sm_write(sm, &lower, 20 * alone);
    sm_write(sm, &upper, 20 * alone);
    cr_expect(fabs(sm->l2_in - 22 * alone) < 1e-6, "%.1f: operations on words do not join", sm->l2_in);
    free_sm(sm);
}
