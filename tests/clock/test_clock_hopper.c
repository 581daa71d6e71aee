// The clock and what only Hopper has: fields of its machine code, and kernels of a few instructions, which take as long
// as they took on the H200. BARRIERS_PTX, COPIES_PTX and PRODUCTS_PTX are parts of the clock's benchmark, CLOCK_CSV
// what it said there.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "measured.h"
#include "simt/clock/clock.h"
#include "simt/machine/tensor_map.h"

static struct sass decoded(uint64_t lo, uint64_t hi)
{
    struct sass s;
    sass_decode(lo, hi, 90, &s);
    return s;
}

// The words and their meaning are from listings of nvdisasm.
Test(clock_hopper, fields_are_where_nvdisasm_sees_them)
{
    struct sass s =
        decoded(0x43e00000101879f0, 0x000fe2000bf00818);  // HGMMA.64x256x16.F32 R24, gdesc[UR16].tnspB, R24, UP0
    cr_expect_str_eq(sass_name(&s), "HGMMA");
    cr_expect(sass_wgmma_columns(&s) == 256 && !sass_wgmma_ends_group(&s) && !sass_wgmma_a_in_registers(&s));
    s = decoded(0x43e00000101879f0, 0x000fe6000b800818);  // the same with gsb0
    cr_expect(sass_wgmma_ends_group(&s));
    s = decoded(0x0020000828207df0, 0x000fe60008700820);  // HGMMA.64x16x16.F32 R32, R40, gdesc[UR8], R32
    cr_expect(sass_wgmma_columns(&s) == 16 && sass_wgmma_a_in_registers(&s));
    s = decoded(0x00000008053f75b2, 0x0000620008000100);  // SYNCS.EXCH.64 URZ, [UR5], UR8
    cr_expect_eq(s.effect, EFFECT_MBARRIER_INIT);
    s = decoded(0x00000000ff0075a7, 0x000e220008000144);  // SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R0
    cr_expect(s.effect == EFFECT_MBARRIER_WAIT && s.writes == 0);
    s = decoded(0x000010ffffff79a7, 0x000fe20008100004);  // SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4+0x10], RZ
    cr_expect(s.effect == EFFECT_MBARRIER_ARRIVE && s.offset == 0x10);
}

static uint32_t values[WALK_VALUES * WALK_LANES];

static struct walk_warp warp_of(const struct walk_launch *launch)
{
    struct walk_warp w = { .launch = launch, .values = values };
    memset(w.known, 0xff, sizeof w.known);
    memset(w.predicates_known, 0xff, sizeof w.predicates_known);
    return w;
}

static void set(unsigned r, uint32_t value)
{
    for (unsigned i = 0; i < WALK_LANES; i++)
        values[r * WALK_LANES + i] = value;
}

Test(clock_hopper, a_barriers_arrivals_bytes_and_parity_are_found)
{
    struct cubin cubin = { .cc = 90 };
    const struct walk_launch launch = { .cubin = &cubin };
    struct walk_warp w = warp_of(&launch);
    struct walk_event e = { .mask = 1 };
    struct sass s = decoded(0x00000808053f75b2, 0x0000620008000100);  // SYNCS.EXCH.64 URZ, [UR5+0x8], UR8
    set(WALK_UNIFORM + 5, 0x400);
    set(WALK_UNIFORM + 8, (0x100000 - 3) << 1);
    walk_async(&w, &s, &e);
    cr_expect(e.async.known && e.async.at == 0x408 && e.async.arrivals == 3, "%x %u", e.async.at, e.async.arrivals);
    s = decoded(0x00000006ffff79a7, 0x0001e20008000009);  // SYNCS.ARRIVE.TRANS64 RZ, [UR9], R6
    set(WALK_UNIFORM + 9, 0x410);
    set(6, 0xc000);
    walk_async(&w, &s, &e);
    cr_expect(e.async.at == 0x410 && e.async.arrivals == 1 && e.async.bytes == 0xc000, "%u", e.async.bytes);
    s = decoded(0x00002006ffff79a7, 0x000fe20008500009);  // SYNCS.ARRIVE.TRANS64.ART0 RZ, [UR9+0x20], R6
    set(6, 5);
    walk_async(&w, &s, &e);
    cr_expect(e.async.at == 0x430 && e.async.arrivals == 5 && e.async.bytes == 0, "%u", e.async.arrivals);
    s = decoded(0x000000a8a50075a7, 0x000e24000800017f);  // SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R165+URZ], R168
    set(165, 0x418);
    set(168, 0x80000000);
    walk_async(&w, &s, &e);
    cr_expect(e.async.at == 0x418 && e.async.parity == 1);
    cr_expect(w.predicates[0] & 1);
}

Test(clock_hopper, one_lane_is_elected_and_others_values_are_told)
{
    struct cubin cubin = { .cc = 90 };
    const struct walk_launch launch = { .cubin = &cubin };
    struct walk_warp w = warp_of(&launch);
    struct sass s = decoded(0x00000000003f082f, 0x000fe20003820000);  // @P0 ELECT P1, URZ, PT
    walk_compute(&w, &s, 0xf0);
    cr_expect_eq(w.predicates[1], 0x10, "%x", w.predicates[1]);
    s = decoded(0x00000000990c12ca, 0x000fd00000100000);  // @P1 R2UR.OR P0, UR12, R153
    set(153, 7);
    values[153 * WALK_LANES + 5] = 8;
    w.predicates[0] = 0x80;
    walk_compute(&w, &s, 0xff);
    cr_expect_eq(values[(WALK_UNIFORM + 12) * WALK_LANES], 7);
    cr_expect_eq(w.predicates[0] & 0xff, 0xa0, "%x", w.predicates[0]);
    s = decoded(0x00000000003f7886, 0x000fca0000000000);  // VOTEU.ALL UP0, P0
    walk_compute(&w, &s, 0xa0);
    cr_expect_eq(w.predicates[8], 0xffffffff);
    walk_compute(&w, &s, 0xff);
    cr_expect_eq(w.predicates[8], 0);
}

Test(clock_hopper, barriers_of_some_warps_have_a_number_and_a_count)
{
    struct cubin cubin = { .cc = 90 };
    const struct walk_launch launch = { .cubin = &cubin };
    struct walk_warp w = warp_of(&launch);
    struct walk_event e = { .mask = 0xffffffff };
    struct sass s = decoded(0x0102000000007b1d, 0x000fe20000010000);  // BAR.SYNC.DEFER_BLOCKING 0x4, 0x80
    walk_barrier(&w, &s, &e);
    cr_expect(e.barrier == 4 && e.threads == 128, "%u %u", e.barrier, e.threads);
    s = decoded(0x000180020000751d, 0x000ff00000010000);  // BAR.SYNC.DEFER_BLOCKING R2, 0x60
    set(2, 9);
    walk_barrier(&w, &s, &e);
    cr_expect(e.barrier == 9 && e.threads == 96, "%u %u", e.barrier, e.threads);
    s = decoded(0x000000070000731d, 0x0003e40000010000);  // BAR.SYNC.DEFER_BLOCKING R7, R7
    set(7, 64 << 16 | 3);
    walk_barrier(&w, &s, &e);
    cr_expect(e.barrier == 3 && e.threads == 64, "%u %u", e.barrier, e.threads);
    s = decoded(0x0000000000007b1d, 0x000fe20000010000);  // BAR.SYNC.DEFER_BLOCKING 0x0
    walk_barrier(&w, &s, &e);
    cr_expect(e.barrier == 0 && e.threads == 0);
}

// A tensor map is aligned together with the bytes before the parameters: ptxas leaves a gap.
Test(clock_hopper, parameters_stand_where_the_machine_code_expects_them)
{
    const struct cubin cubin = { .param_bytes = 24, .params = { { 0, 4 }, { 16, 8 } }, .n_params = 2 };
    const unsigned char bytes[12] = { 1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 17, 18 };
    const struct dev_arg args[] = { { bytes, 4 }, { bytes + 4, 8 } };
    struct clock_launch l = { .args = args, .n_args = 2 };
    char error[CLOCK_ERROR] = "";
    unsigned char *placed = clock_place_params(&l, &cubin, error);
    cr_assert(placed, "%s", error);
    cr_expect(!memcmp(placed, bytes, 4) && !memcmp(placed + 16, bytes + 4, 8));
    free(placed);
    l.n_args = 1;
    cr_expect_null(clock_place_params(&l, &cubin, error));
    cr_expect_str_eq(error, "the kernel takes 2 parameters of 24 bytes, 1 arguments were given");
}

// --- the benchmark's kernels ---

struct bench {
    const char *ptx, *kernel;
    unsigned grid, threads, box_rows;  // box_rows: of its tensor maps, from the first one on; 0: it has none
    unsigned second_box_rows;
    int values[4];  // after the maps, as many as n_values; then an address
    unsigned n_values;
    unsigned shared;  // bytes; 0: what the kernels of Hopper take
    unsigned more;    // addresses behind the first one
    unsigned before;  // addresses before the values, and none behind them; 0: see above
};

static double cycles_of(const struct bench *b)
{
    struct dev_arg args[8];
    struct dev_tensor_map maps[2];
    uint64_t addresses[8], address = 1ull << 45;
    const unsigned rows[] = { b->box_rows, b->second_box_rows };
    const unsigned behind = b->before ? 0 : b->more + 1;
    size_t n = 0;
    for (unsigned i = 0; i < 2 && rows[i]; i++) {
        const struct dev_tensor t =
            dev_matrix((1ull << 40) + i * (1ull << 36), DEV_MAP_F16, 65536, 4096, 4096, rows[i], 64, DEV_SWIZZLE_128);
        tensor_map_make(&t, &maps[i]);
        args[n++] = (struct dev_arg)DEV_ARG(maps[i]);
    }
    for (unsigned i = 0; i < 8; i++, address += 1ull << 40)
        addresses[i] = address;
    for (unsigned i = 0; i < b->before; i++)
        args[n++] = (struct dev_arg)DEV_ARG(addresses[i]);
    for (unsigned i = 0; i < b->n_values; i++)
        args[n++] = (struct dev_arg)DEV_ARG(b->values[i]);
    for (unsigned i = 0; i < behind; i++)
        args[n++] = (struct dev_arg)DEV_ARG(addresses[i]);
    const size_t shared = b->shared ? b->shared : b->threads == 64 ? 0 : 200 * 1024;
    const struct dev_launch how = {
        .grid = { b->grid }, .block = { b->threads }, .shared = shared, .args = args, .n_args = n
    };
    const struct simt_timing t = { .ptx = b->ptx, .kernel = b->kernel, .launch = &how };
    char error[DEV_ERROR_MAX];
    struct simt_prediction *p = simt_predict(&t, card_named("H200"), error);
    cr_assert(p, "%s: %s", b->kernel, error);
    const double cycles = p->cycles;
    simt_prediction_free(p);
    return cycles;
}

static double measured(const char *name)
{
    return measured_value(CLOCK_CSV, name);
}

// What one more round costs: value number `which` is the rounds.
static double slope(struct bench b, unsigned which, int few, int many)
{
    b.values[which] = few;
    const double a = cycles_of(&b);
    b.values[which] = many;
    return (cycles_of(&b) - a) / (many - few);
}

static void expect_near(const char *name, double predicted, double wanted, double percent)
{
    cr_expect(fabs(predicted / wanted - 1) <= percent / 100, "%s: %.1f predicted, %.1f measured", name, predicted,
              wanted);
}

Test(clock_hopper, products_of_one_and_two_warpgroups_take_what_they_took)
{
    if (!HAS_HOPPER)
        cr_skip_test("the kernels were compiled by " KERNELS_BY);
    struct bench one = { PRODUCTS_PTX, "_Z9run_wgmmaILi256ELi1ELi0EEviPy", 1, 128, 0, 0, { 0 }, 1, 0, 0, 0 };
    expect_near("one warpgroup", slope(one, 0, 20, 60) / 2, measured("wgmma_n256_wait_0_1_warpgroups"), 3);
    one.threads = 256;
    expect_near("two warpgroups", slope(one, 0, 20, 60) / 2, measured("wgmma_n256_wait_0_2_warpgroups"), 3);
    struct bench narrow = { PRODUCTS_PTX, "_Z9run_wgmmaILi64ELi4ELi0EEviPy", 1, 384, 0, 0, { 0 }, 1, 0, 0, 0 };
    expect_near("64 columns", slope(narrow, 0, 20, 60) / 2, measured("wgmma_n64_4_wait_0_3_warpgroups"), 3);
}

Test(clock_hopper, warps_hand_over_at_mbarriers_as_fast)
{
    if (!HAS_HOPPER)
        cr_skip_test("the kernels were compiled by " KERNELS_BY);
    const struct bench b = { BARRIERS_PTX, "_Z13run_ping_pongiPy", 1, 64, 0, 0, { 0 }, 1, 0, 0, 0 };
    expect_near("hand over", slope(b, 0, 40, 120) / 2, measured("mbarrier_hand_over"), 10);
}

Test(clock_hopper, copies_take_what_they_took)
{
    if (!HAS_HOPPER)
        cr_skip_test("the kernels were compiled by " KERNELS_BY);
    const struct bench small = { COPIES_PTX, "_Z13run_tma_issue14CUtensorMap_stiiPy", 1, 1, 8, 0, { 8 }, 2, 0, 0, 0 };
    expect_near("a small box", slope(small, 1, 32, 96) / 2, measured("tma_requests_8_rows"), 10);
    struct bench gemm = { COPIES_PTX, "_Z12run_tma_gemm14CUtensorMap_stS_iPy", 1, 1, 128, 64, { 0 }, 1, 0, 0, 0 };
    expect_near("one SM", 49152 / slope(gemm, 0, 100, 200), measured("tma_gemm_1_sms"), 10);
    gemm.grid = 132;
    expect_near("all SMs", 49152 / slope(gemm, 0, 100, 200), measured("tma_gemm_132_sms"), 10);
}

Test(clock_hopper, a_box_is_stored_as_fast)
{
    if (!HAS_HOPPER)
        cr_skip_test("the kernels were compiled by " KERNELS_BY);
    static const struct {
        unsigned rows;
        const char *name;
    } boxes[] = { { 8, "tma_store_done_8_rows_1_sms" },
                  { 64, "tma_store_done_64_rows_1_sms" },
                  { 128, "tma_store_done_128_rows_1_sms" } };
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        const struct bench b = {
            COPIES_PTX, "_Z18run_tma_store_each14CUtensorMap_stiiPy", 1, 1, boxes[i].rows, 0, { 0, 0 }, 2, 0, 0, 0
        };
        expect_near(boxes[i].name, slope(b, 0, 32, 96) / 2, measured(boxes[i].name), 10);
    }
}

// --- the kernels of its first part ---

// A loop of 28 KB of code, and longer ones.
Test(clock_hopper, long_loops_wait_for_code_as_long)
{
    static const struct {
        int length;
        const char *kernel, *name;
        unsigned warps;  // 4: one a sub-core
    } loops[] = { { 1792, "_Z4codeILi1792EEviPyPj", "code_1792_fma_1_warps", 1 },
                  { 2304, "_Z4codeILi2304EEviPyPj", "code_2304_fma_1_warps", 1 },
                  { 2560, "_Z4codeILi2560EEviPyPj", "code_2560_fma_1_warps", 1 },
                  { 4096, "_Z4codeILi4096EEviPyPj", "code_4096_fma_1_warps", 1 },
                  { 2560, "_Z4codeILi2560EEviPyPj", "code_2560_fma_8_warps", 8 },
                  { 3072, "_Z4codeILi3072EEviPyPj", "code_3072_fma_8_warps", 8 } };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        const struct bench b = { CODE_PTX,      loops[i].kernel, 1,        32 * loops[i].warps,
                                 .n_values = 1, .shared = 1024,  .more = 1 };
        const double each = loops[i].warps > 4 ? loops[i].warps / 4.0 : 1;
        expect_near(loops[i].name, slope(b, 0, 4, 12) / 2 / each, measured(loops[i].name), each > 1 ? 10 : 3);
    }
}

// A load that hits L1 hardly waits for those of 31 other warps that miss it.
Test(clock_hopper, hits_in_l1_pass_misses)
{
    struct bench b = { L1_PTX, "_Z11hits_besideiPyPjPK5uint4", 1, 32, .n_values = 1, .shared = 1024, .more = 2 };
    const double alone = slope(b, 0, 1024, 2048);
    b.threads = 1024;
    const double wanted = measured("hit_beside_31_loads_in_l1") / measured("hit_beside_0_loads_in_l1");
    expect_near("hits", slope(b, 0, 1024, 2048) / alone, wanted, 10);
}

// Blocks that run at once load the eight words of a sector, though not those beside each other in the grid.
Test(clock_hopper, blocks_share_sectors_of_columns)
{
    unsigned char params[24] = { 0 };
    const int values[] = { 4096, 4096 };
    const uint64_t addresses[] = { 1ull << 45, 1ull << 46 };
    char error[CLOCK_ERROR] = "";
    uint64_t executed;
    float most = 0;
    struct cubin *c = clock_assemble(L1_PTX, "_Z7columnsiiPjPKf", card_named("H200"), error);
    cr_assert(c, "%s", error);
    memcpy(params, values, sizeof values);
    memcpy(params + 8, addresses, sizeof addresses);
    const struct walk_launch l = { .cubin = c, .grid = { 65536, 1, 1 }, .block = { 256, 1, 1 }, .params = params };
    struct sm_load *loads = share_loads(&l, 1056, &executed);
    cr_assert(loads);
    for (uint32_t i = 0; i < c->n; i++)
        most = loads[i].seen && loads[i].sharers > most ? loads[i].sharers : most;
    cr_expect(most > 6 && most <= 8, "%.1f blocks load a sector", (double)most);
    free(loads);
    cubin_free(c);
}

// Loads of 16 bytes take two turns for each line, and a store that touches many lines keeps loads waiting, but not
// those of shared memory.
Test(clock_hopper, lines_take_turns_at_the_tags)
{
    struct bench wide = {
        L1_PTX, "_Z5linesI6float4EviiiPyPjPKc", 1, 1024, .values = { 16, 0 }, .n_values = 3, .shared = 1024, .more = 2
    };
    expect_near("16 bytes", slope(wide, 2, 64, 128) / 2 / 8 / 32, measured("lines_16_bytes_stride_16_in_l1_32_warps"),
                5);
    wide.values[0] = 64;
    expect_near("16 lines", slope(wide, 2, 64, 128) / 2 / 8 / 32, measured("lines_16_bytes_stride_64_in_l1_32_warps"),
                5);
    struct bench mix = { L1_PTX,
                         "_Z16stores_and_loadsILi32ELb1EEviiPyPjPKfPc",
                         1,
                         1024,
                         .values = { 128 },
                         .n_values = 2,
                         .shared = 1024,
                         .more = 3 };
    expect_near("with loads", slope(mix, 1, 50, 100) / 2 / 32,
                measured("mix_1_stores_stride_128_32_loads_0_lds_32_warps"), 15);
    mix.kernel = "_Z16stores_and_loadsILi32ELb0EEviiPyPjPKfPc";
    expect_near("shared", slope(mix, 1, 50, 100) / 2 / 32, measured("mix_1_stores_stride_128_0_loads_32_lds_32_warps"),
                15);
}

// L2 takes stores by lines, whole sectors and parts of them.
Test(clock_hopper, stores_take_what_they_took)
{
    static const struct {
        const char *kernel, *name;
        int stride, next, span;
    } stores[] = { { "_Z5storeILi4EEvPhiiji", "store_again_4_bytes_stride_4_132_sms", 4, 128, 512 },
                   { "_Z5storeILi4EEvPhiiji", "store_again_4_bytes_stride_32_132_sms", 32, 1024, 1024 },
                   { "_Z5storeILi4EEvPhiiji", "store_again_4_bytes_stride_128_132_sms", 128, 4096, 4096 },
                   { "_Z5storeILi16EEvPhiiji", "store_again_16_bytes_stride_16_132_sms", 16, 512, 1024 } };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        const struct bench b = { STORES_PTX,
                                 stores[i].kernel,
                                 132,
                                 1024,
                                 .values = { stores[i].stride, stores[i].next, stores[i].span },
                                 .n_values = 4,
                                 .shared = 1024,
                                 .before = 1 };
        expect_near(stores[i].name, slope(b, 3, 64, 128) / 32, measured(stores[i].name), 12);
    }
}

// Operations on one word take turns, those of the card's SMs, too.
Test(clock_hopper, atomic_operations_take_what_they_took)
{
    static const struct {
        const char *kernel, *name;
        unsigned grid, warps;
    } adds[] = { { "_Z3addILi0ELi0EEvPji", "add_red_int_one_address_132_sms_8_warps", 132, 8 },
                 { "_Z3addILi1ELi0EEvPji", "add_red_float_one_address_132_sms_8_warps", 132, 8 },
                 { "_Z3addILi1ELi1EEvPji", "add_red_float_one_address_lane_0_132_sms_8_warps", 132, 8 },
                 { "_Z3addILi1ELi3EEvPji", "add_red_float_side_by_side_132_sms_32_warps", 132, 32 } };
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        const struct bench b = { STORES_PTX,    adds[i].kernel, adds[i].grid, 32 * adds[i].warps,
                                 .n_values = 1, .shared = 1024, .before = 1 };
        expect_near(adds[i].name, slope(b, 0, 32, 64) / adds[i].warps, measured(adds[i].name), 10);
    }
}

// Operations on words side by side take turns, too. The SMs that go through a row of words are spread over it.
Test(clock_hopper, additions_to_neighbouring_words_take_turns)
{
    static const struct {
        const char *name;
        unsigned grid;
        int words, step, lanes;
        double percent;
    } adds[] = { { "add_walk_float_768_words_step_4_1_sms_8_warps_32_lanes", 1, 768, 1, 32, 10 },
                 { "add_walk_float_768_words_step_4_8_sms_8_warps_32_lanes", 8, 768, 1, 32, 10 },
                 { "add_walk_float_768_words_step_4_32_sms_8_warps_32_lanes", 32, 768, 1, 32, 20 },
                 { "add_walk_float_768_words_step_4_132_sms_8_warps_32_lanes", 132, 768, 1, 32, 10 },
                 { "add_walk_float_768_words_step_32_32_sms_8_warps_32_lanes", 32, 768, 8, 32, 15 },
                 { "add_walk_float_768_words_step_4096_132_sms_8_warps_32_lanes", 132, 768, 1024, 32, 20 },
                 { "add_walk_float_16_words_step_4_132_sms_8_warps_32_lanes", 132, 16, 1, 32, 20 },
                 { "add_walk_float_768_words_step_4_132_sms_8_warps_1_lanes", 132, 768, 1, 1, 25 } };
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        const struct bench b = { STORES_PTX,
                                 "_Z8walk_addILb1EEvPjiiii",
                                 adds[i].grid,
                                 256,
                                 .values = { adds[i].words, adds[i].step, 0, adds[i].lanes },
                                 .n_values = 4,
                                 .shared = 1024,
                                 .before = 1 };
        expect_near(adds[i].name, slope(b, 2, 768, 1536) / 8, measured(adds[i].name), adds[i].percent);
    }
}

// An SM loads a constant by index in two cycles, and one for each lane where these differ.
Test(clock_hopper, constants_take_turns)
{
    struct bench b = { CONSTANTS_PTX,
                       "_Z14load_constantsILb0EEviiiPyPj",
                       1,
                       1024,
                       .values = { 0, 1, 0 },
                       .n_values = 3,
                       .shared = 1024,
                       .more = 1 };
    expect_near("one", slope(b, 2, 128, 256) / 2 / 32, measured("ldc_rate_apart_0_32_warps"), 10);
    b.values[0] = 1;
    expect_near("32", slope(b, 2, 128, 256) / 2 / 32, measured("ldc_rate_apart_1_32_warps"), 10);
    b.kernel = "_Z14load_constantsILb1EEviiiPyPj";
    b.threads = 32;
    b.values[0] = 0;
    expect_near("chain", slope(b, 2, 128, 256) / 2, measured("ldc_chain_apart_0_1_warps"), 10);
}

// Reads have most of DRAM's rate; writes between them take more than their bytes.
Test(clock_hopper, streams_take_what_they_took)
{
    static const struct {
        const char *kernel, *name;
        double percent;
    } streams[] = { { "_Z6streamILi0EEvP5uint4S1_S1_j", "stream_read_128_mb_after_writes", 5 },
                    { "_Z6streamILi1EEvP5uint4S1_S1_j", "stream_write_128_mb_after_writes", 10 },
                    { "_Z6streamILi2EEvP5uint4S1_S1_j", "stream_copy_128_mb_after_writes", 5 },
                    { "_Z6streamILi2EEvP5uint4S1_S1_j", "stream_copy_512_mb_after_writes", 5 } };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        const int mb = atoi(strchr(strchr(streams[i].name, '_') + 1, '_') + 1);
        const struct bench b = { STREAMS_PTX,   streams[i].kernel, 264,        512, .values = { mb << 16 },
                                 .n_values = 1, .shared = 1024,    .before = 3 };
        expect_near(streams[i].name, cycles_of(&b) / 1980 + 2.9, measured(streams[i].name), streams[i].percent);
    }
}

Test(clock_hopper, barriers_take_as_long_between_multiply_adds)
{
    static const struct {
        const char *kernel, *name;
        unsigned grid;
    } rounds[] = { { "_Z9rounds_ofILi8EEviPyPj", "barrier_after_8_fma_1_blocks", 132 },
                   { "_Z9rounds_ofILi64EEviPyPj", "barrier_after_64_fma_1_blocks", 132 },
                   { "_Z9rounds_ofILi64EEviPyPj", "barrier_after_64_fma_2_blocks", 264 } };
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        const struct bench b = { BARRIER_PTX,   rounds[i].kernel,    rounds[i].grid, 256,
                                 .n_values = 1, .shared = 100 << 10, .more = 1 };
        expect_near(rounds[i].name, slope(b, 0, 100, 200) / 2, measured(rounds[i].name), 5);
    }
}

Test(clock_hopper, local_memory_takes_what_it_took)
{
    struct bench b = {
        LOCAL_PTX, "_Z12stream_localIjLi1EEviiiPyPj", 132, 768, .values = { 0, 8, 0 }, .n_values = 3, .shared = 1024,
        .more = 1
    };
    expect_near("stores", slope(b, 0, 20, 40) / 2 / (8 * 24), measured("local_store_32_24_kb_24_warps_132_sms"), 10);
    b.kernel = "_Z12stream_localIjLi2EEviiiPyPj";
    b.values[1] = 72;
    expect_near("both", slope(b, 0, 4, 8) / 4 / (72 * 24), measured("local_both_32_216_kb_24_warps_132_sms"), 15);
}
