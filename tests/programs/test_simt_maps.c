// simt with what Hopper has: tensor maps as arguments, and clusters. SIMT is the program.
#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

#include "program_case.h"

TestSuite(simt_maps, .fini = forget_scratch);

// out = a box of 2 x 4 floats from column 4, row 1 on
static const char box[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry box(.param .align 64 .b8 map[128], .param .u64 out)\n{\n"
    ".shared .align 128 .b8 tile[128];\n.shared .align 8 .b64 full;\n"
    ".reg .b32 r<9>; .reg .b64 l<9>; .reg .pred p<9>;\n"
    "mov.b64 l0, map; cvta.param.u64 l1, l0; ld.param.u64 l2, [out]; mov.u32 r0, full; mov.u32 r1, tile;\n"
    "mbarrier.init.shared.b64 [r0], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [r0], 32;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [l1, {4, 1}], [r0];\n"
    "W: mbarrier.try_wait.parity.shared.b64 p0, [r0], 0;\n@!p0 bra W;\n"
    "ld.shared.v4.u32 {r2, r3, r4, r5}, [r1]; st.global.v4.u32 [l2], {r2, r3, r4, r5};\n"
    "ld.shared.v4.u32 {r2, r3, r4, r5}, [r1+16]; st.global.v4.u32 [l2+16], {r2, r3, r4, r5};\n"
    "ret;\n}\n";

Test(simt_maps, stand_for_an_array_and_its_boxes)
{
    struct run r;
    const char *ptx = scratch(box, strlen(box));
    run(&r, SIMT, "run", ptx, "box", "--show", "out", "map:f32[3,8]box[2,4]=iota", "out=f32[8]=uninit", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "out, f32[8]: 12 13 14 15 20 21 22 23\n"), "%d: %s%s", r.status, r.out,
              r.err);
    run(&r, SIMT, "run", ptx, "box", "--show", "out", "map:f32[2,8]box[2,4]swizzle32=iota", "out=f32[8]=uninit", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "out, f32[8]: 12 13 14 15 0 0 0 0\n"), "%d: %s%s", r.status, r.out, r.err);
}

Test(simt_maps, who_runs_a_kernel_that_copies_asynchronously_hears_of_the_checks)
{
    struct run r;
    const char *ptx = scratch(box, strlen(box));
    run(&r, SIMT, "run", ptx, "box", "map:f32[3,8]box[2,4]=iota", "out=f32[8]=uninit", NULL);
    cr_expect(r.status == 0 && strstr(r.err, "'simt check' tells whether it waits"), "%s", r.err);
    run(&r, SIMT, "check", ptx, "box", "map:f32[3,8]box[2,4]=iota", "out=f32[8]=uninit", NULL);
    cr_expect(r.status == 0 && !*r.err, "%s", r.err);
}

// Is there a line with a metric and its value? Nothing else stands between the two.
static bool counts(const char *text, const char *metric, const char *value)
{
    const char *at = strstr(text, metric);
    at = at ? at + strlen(metric) : NULL;
    return at && !strncmp(at + strspn(at, " "), value, strlen(value));
}

Test(simt_maps, copies_are_counted_in_whole_sectors)
{
    struct run r;
    const char *ptx = scratch(box, strlen(box));
    run(&r, SIMT, "profile", ptx, "box", "--grid", "3", "map:f32[3,8]box[2,4]=iota", "out=f32[8]=uninit", NULL);
    cr_assert(r.status == 0 && counts(r.out, "smsp__sass_inst_executed_op_tma_ld.sum", "3 warp"), "%s", r.out);
    cr_expect(counts(r.out, "read_bytes_mem_global_op_tma_ld.sum", "192 bytes"), "%s", r.out);  // two halves of rows
    cr_expect(!strstr(r.out, "tma_st") && !strstr(r.out, "gmma"), "%s", r.out);
}

// Stores a box of 2 x 4 floats, of which it has written the first row alone, to column 4 of row `row` and the next.
static const char store[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry store(.param .align 64 .b8 map[128], .param .u32 row)\n{\n"
    ".shared .align 128 .b8 tile[128];\n.reg .b32 r<9>; .reg .b64 l<9>;\n"
    "mov.b64 l0, map; cvta.param.u64 l1, l0; ld.param.u32 r0, [row]; mov.u32 r1, tile; mov.u32 r2, 7;\n"
    "st.shared.v4.u32 [r1], {r2, r2, r2, r2}; fence.proxy.async;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [l1, {4, r0}], [r1];\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;\n}\n";

Test(simt_maps, what_a_box_stores_out_of_bounds_need_not_be_written)
{
    struct run r;
    const char *ptx = scratch(store, strlen(store));
    run(&r, SIMT, "check", ptx, "store", "map:u32[3,8]box[2,4]=iota", "u32:2", NULL);
    cr_assert(r.status == 0, "%s%s", r.out, r.err);
    run(&r, SIMT, "check", ptx, "store", "map:u32[3,8]box[2,4]=iota", "u32:1", NULL);
    cr_assert(r.status == 1 && strstr(r.out, "reads byte 16 of tile") && strstr(r.out, "not initialised"), "%s", r.out);
}

Test(simt_maps, that_break_a_rule_are_refused)
{
    const char *ptx = scratch(box, strlen(box));
    refuses("rows of 28 bytes", "stride of 28 bytes", SIMT, "run", ptx, "box", "map:f32[3,7]box[2,4]=iota",
            "f32[8]=uninit", NULL);
    refuses("a box of one dimension", "a tensor map is written", SIMT, "run", ptx, "box", "map:f32[3,8]box[2]=iota",
            "f32[8]=uninit", NULL);
    refuses("no such array", "no array before this one", SIMT, "run", ptx, "box", "map:x[3,8]box[2,4]", "f32[8]=uninit",
            NULL);
    refuses("no map", "128 bytes", SIMT, "run", ptx, "box", "bytes:00", "f32[8]=uninit", NULL);
}

// out[block] = the rank that the next block of the cluster has
static const char ranks[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry ranks(.param .u64 out)\n{\n"
    ".shared .align 4 .b32 rank;\n.reg .b32 r<9>; .reg .b64 l<4>;\n"
    "ld.param.u64 l0, [out]; mov.u32 r0, %cluster_ctarank; mov.u32 r1, %cluster_nctarank; mov.u32 r2, rank;\n"
    "st.shared.u32 [rank], r0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "add.u32 r3, r0, 1; rem.u32 r3, r3, r1; mapa.shared::cluster.u32 r4, r2, r3; ld.shared::cluster.u32 r5, [r4];\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "mov.u32 r6, %ctaid.x; mul.wide.u32 l1, r6, 4; add.u64 l1, l1, l0; st.global.u32 [l1], r5;\nret;\n}\n";

Test(simt_maps, clusters_have_an_option)
{
    struct run r;
    const char *ptx = scratch(ranks, strlen(ranks));
    run(&r, SIMT, "run", ptx, "ranks", "--grid", "8", "--cluster", "4", "i32[8]=uninit", NULL);
    cr_assert(r.status == 0 && strstr(r.out, ": 1 2 3 0 1 2 3 0\n"), "%d: %s%s", r.status, r.out, r.err);
    run(&r, SIMT, "check", ptx, "ranks", "--grid", "8", "--cluster", "2,1", "i32[8]=uninit", NULL);
    cr_assert(r.status == 0, "%d: %s%s", r.status, r.out, r.err);
    run(&r, SIMT, "run", ptx, "ranks", "--grid", "8", "i32[8]=uninit", NULL);
    cr_assert(r.status == 0 && strstr(r.out, ": 0 0 0 0 0 0 0 0\n"), "%d: %s%s", r.status, r.out, r.err);
    refuses("whole clusters", "grid.x is 8", SIMT, "run", ptx, "ranks", "--grid", "8", "--cluster", "3",
            "i32[8]=uninit", NULL);
    refuses("no size", "--cluster \"x\": must be ", SIMT, "run", ptx, "ranks", "--grid", "8", "--cluster", "x",
            "i32[8]=uninit", NULL);
}

// Block 5 is rank 1 of the second cluster of 4, and loads from rank 2. The lines are those of the PTX.
Test(simt_maps, what_a_block_touches_in_another_one_is_drawn)
{
    struct run r;
    const char *ptx = scratch(ranks, strlen(ranks));
#define DRAW(line)                                                                                                     \
    SIMT, "draw", ptx, "ranks", "--grid", "8", "--cluster", "4", "--line", line, "--out", "-", "--block-index", "5"
    run(&r, DRAW("12"), "i32[8]=uninit", NULL);
    cr_assert(r.status == 0, "%d: %s", r.status, r.err);
    cr_expect(strstr(r.out, "bytes 0 to 3 of rank of block 2 of the cluster: lane 0"), "%s", r.out);
    run(&r, DRAW("9"), "i32[8]=uninit", NULL);
    cr_assert(r.status == 0, "%d: %s", r.status, r.err);
    cr_expect(strstr(r.out, "bytes 0 to 3 of rank: lane 0"), "its own: %s", r.out);
    refuses("a timeline in cycles", "the clock knows no clusters: --timeline without --card", SIMT, "draw", ptx,
            "ranks", "--grid", "8", "--cluster", "4", "--timeline", "--card", "H200", "--out", "-", "i32[8]=uninit",
            NULL);
}
