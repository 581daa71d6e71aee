// Tests of common/tester/geometry: what is read from PTX, what is refused, and who owns an element.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tester/gemm.h"
#include "tester/geometry.h"
#include "base/file.h"
#include "base/ptx_file.h"

static bool parse(const char *text, struct geometry *g, char error[DEV_ERROR_MAX])
{
    memset(error, 0, DEV_ERROR_MAX);
    return geometry_parse("k.ptx", text, strlen(text), g, error);
}

Test(geometry, is_read_in_elements_of_any_integer_type)
{
    static const char *const texts[] = {
        ".const .align 4 .b8 geometry[36] = {128, 0, 0, 0, 0, 1, 0, 0, 32, 0, 0, 0, 0, 1, 0, 0, 0, 192, 0, 0, 0, 0, 0, "
        "0, 0, 0, 0, 0, 64, 0, 0, 0, 32};",
        ".visible .const .align 4 .u32 geometry[9] = {128, 256, 32, 256, 49152, 0, 0, 64, 32};",
        ".visible .global .align 4 .s32 geometry[9] = { 0x80, 0x100, 32U, 256, 49152, 0, 0, 64, 32 };",
        ".const .b32 geometry[9] = {128, 256, 32, 256, 49152, 0, 0, 64, 32};",
        ".const .u16 geometry[18] = {128, 0, 256, 0, 32, 0, 256, 0, 49152, 0, 0, 0, 0, 0, 64, 0, 32};",
        ".version 9.0\n.target sm_75\n/* .const .u32 geometry[1] */ .const .align 4 .b8 other[4] = {1};\n"
        ".const .align 4 .u32 geometry[9] = {128, 256, 32, 256, 49152, 0, 0, 64, 32};\n.entry gemm() { ret; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct geometry want = { .bm = 128,
                                       .bn = 256,
                                       .bk = 32,
                                       .threads = 256,
                                       .shared = 49152,
                                       .wm = 64,
                                       .wn = 32,
                                       .parts = 1,
                                       .kernel = "gemm" };
        struct geometry g;
        char error[DEV_ERROR_MAX];
        cr_assert(parse(texts[i], &g, error), "%s", error);
        cr_expect(!memcmp(&g, &want, sizeof g), "%s: BM %d, BN %d, BK %d, %d threads, %d bytes", texts[i], g.bm, g.bn,
                  g.bk, g.threads, g.shared);
    }
}

Test(geometry, needs_its_first_four_numbers_alone)
{
    struct geometry g;
    char error[DEV_ERROR_MAX], text[GEOMETRY_TEXT];
    cr_assert(parse(".const .u32 geometry[4] = {16, 32, 0, 512};", &g, error), "%s", error);
    cr_expect(g.bm == 16 && g.bn == 32 && g.bk == 0 && g.threads == 512 && !g.shared && !g.tm && !g.wn);
    cr_expect_str_eq(geometry_text(&g, text), "BM = 16, BN = 32, THREADS = 512");
}

Test(geometry, that_cannot_be_read_or_cannot_work_is_one_clear_line)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "says no geometry" },
        { "hello", "says no geometry" },
        { ".entry gemm() { ld.const.u32 %r1, [geometry]; }", "says no geometry" },
        { ".const .u32 geometry2[4] = {1, 1, 1, 1};", "__constant__ int geometry[] = { BM, BN, BK, THREADS" },
        { ".const .u32 geometry[4];", "4 to 13 ints" },
        { ".extern .const .u32 geometry[];", "4 to 13 ints" },
        { ".const .u32 geometry[3] = {1, 1, 1};", "4 to 13 ints" },
        { ".const .u32 geometry[14] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};", "4 to 13 ints" },
        { ".const .u32 geometry[4294967300] = {1, 1, 1, 1};", "4 to 13 ints" },
        { ".const .u64 geometry[4611686018427387905] = {1, 1, 1, 1};", "4 to 13 ints" },
        { ".const .f32 geometry[4] = {1, 1, 1, 1};", "4 to 13 ints" },
        { ".const .u32 geometry[4] = {1, 1, 1, 1, 1};", "4 to 13 ints" },
        { ".const .u32 geometry[4] = {1, 1, 1, x};", "4 to 13 ints" },
        { ".const .u32 geometry[4] = {1, 1, 1", "4 to 13 ints" },
        { ".const .u32 geometry[4] = {0, 32, 8, 64};", "BM is 0, and must be from 1" },
        { ".const .u32 geometry[4] = {32, -8, 8, 64};", "BN is -8, and must be from 1" },
        { ".const .u32 geometry[4] = {32, 32, -1, 64};", "BK is -1" },
        { ".const .u32 geometry[4] = {32, 32, 8, 0};", "THREADS is 0, and must be from 1 to 1024" },
        { ".const .u32 geometry[4] = {64, 64, 8, 4096};", "THREADS is 4096, and must be from 1 to 1024" },
        { ".const .u32 geometry[5] = {64, 64, 8, 64, -4};", "SHARED is -4" },
        { ".const .u32 geometry[7] = {3, 64, 8, 64, 0, 8, 8};", "BM is 3, which is no multiple of TM, 8" },
        { ".const .u32 geometry[9] = {64, 96, 8, 64, 0, 0, 0, 64, 64};", "BN is 96, which is no multiple of WN, 64" },
        { ".const .u32 geometry[10] = {64, 64, 48, 64, 0, 0, 0, 0, 0, 32};",
          "BK is 48, which is no multiple of BOX, 32" },
        { ".const .u32 geometry[11] = {64, 64, 64, 64, 0, 0, 0, 0, 0, 64, 33};",
          "BLOCKS is 33, and must be from 0 to 32" },
        { ".const .u32 geometry[12] = {64, 64, 64, 64, 0, 0, 0, 0, 0, 64, 1, 48};",
          "BM is 64, which is no multiple of CBOX, 48" },
        { ".const .u32 geometry[12] = {64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 1, 64};", "it has a CBOX, and no BOX" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct geometry g;
        char error[DEV_ERROR_MAX];
        cr_expect(!parse(cases[i].text, &g, error), "accepted: %s", cases[i].text);
        cr_expect(strstr(error, cases[i].says), "%s: no \"%s\" in: %s", cases[i].text, cases[i].says, error);
        cr_expect(!strncmp(error, "k.ptx: ", 7) && !strchr(error, '\n'), "%s", error);
    }
}

Test(geometry, of_a_file_that_is_missing_names_it)
{
    struct geometry g;
    char error[DEV_ERROR_MAX];
    cr_expect(!geometry_read("/nonexistent/k.ptx", &g, error));
    cr_expect(strstr(error, "/nonexistent/k.ptx"), "%s", error);
}

Test(geometry, of_a_file_that_is_no_ptx_says_so)
{
    struct geometry g;
    char error[DEV_ERROR_MAX];
    cr_expect(!geometry_read("/etc/passwd", &g, error));
    cr_expect(strstr(error, "this is not PTX"), "%s", error);
}

Test(geometry, of_several_kernels_has_a_row_for_each)
{
    static const char text[] = ".const .u32 geometry[39] = {128, 256, 64, 384, 9, 0, 0, 16, 256, 64, 1, 64, 0, "
                               "64, 128, 64, 256, 8, 0, 0, 16, 128, 64, 1, 64, 0, "
                               "64, 64, 64, 256, 7, 0, 0, 16, 64, 64, 1, 64, 1};";
    struct geometries all;
    struct geometry g;
    char error[DEV_ERROR_MAX];
    cr_assert(geometries_parse("k.ptx", text, strlen(text), &all, error), "%s", error);
    cr_assert_eq(all.n, 3);
    cr_expect_str_eq(all.all[0].kernel, "gemm");
    cr_expect_str_eq(all.all[1].kernel, "gemm_64x128");
    cr_expect_str_eq(all.all[2].kernel, "gemm_64x64_split");
    cr_expect(all.all[1].threads == 256 && all.all[1].shared == 8 && !all.all[1].split && all.all[2].split);
    cr_assert(parse(text, &g, error) && g.bn == 256, "%s", error);
}

// A grid has at most 65535 rows of blocks; blocks that go from tile to tile stand in one row.
Test(geometry, rows_of_blocks_are_limited_where_each_tile_has_a_block)
{
    char error[DEV_ERROR_MAX];
    struct geometry g = { .bm = 128, .bn = 256, .bk = 64, .threads = 384, .box = 64 };
    struct gemm c = { .m = 128 * 65536, .n = 1, .k = 1 };
    cr_expect(!gemm_prepare(&c, DEV_F16, &g, error) && strstr(error, "65536 blocks of 128 rows"), "%s", error);
    g.blocks = 1;
    c.sms = 132;
    cr_expect(gemm_prepare(&c, DEV_F16, &g, error), "%s", error);
    cr_expect(c.launch.grid[0] == 132 && c.launch.grid[1] == 1, "%u x %u", c.launch.grid[0], c.launch.grid[1]);
}

// --- owners ---

typedef int owner(const struct geometry *g, int row, int col);

// Every thread of the block owns as many elements as the others.
static void expect_shares(const char *name, owner *o, const struct geometry *g)
{
    static int share[1024];
    memset(share, 0, sizeof share);
    for (int row = 0; row < g->bm; row++)
        for (int col = 0; col < g->bn; col++) {
            const int tid = o(g, row, col);
            cr_assert(tid >= 0 && tid < g->threads, "%s: (%d, %d) belongs to thread %d of %d", name, row, col, tid,
                      g->threads);
            share[tid]++;
        }
    for (int i = 0; i < g->threads; i++)
        cr_assert_eq(share[i], g->bm * g->bn / g->threads, "%s: thread %d owns %d", name, i, share[i]);
}

// What the kernels do with tid, the other way round.
Test(owner, by_patches_is_counted_along_the_rows)
{
    const struct geometry g = { .bm = 128, .bn = 64, .bk = 8, .threads = 256, .tm = 8, .tn = 4 };
    const struct geometry single = { .bm = 16, .bn = 32, .threads = 512 };
    for (int tid = 0; tid < 256; tid++) {
        const int row = tid / (64 / 4) * 8, col = tid % (64 / 4) * 4;
        cr_expect(owner_by_patches(&g, row, col) == tid && owner_by_patches(&g, row + 7, col + 3) == tid, "%d", tid);
    }
    expect_shares("patches", owner_by_patches, &g);
    expect_shares("elements", owner_by_patches, &single);
}

Test(owner, by_pieces_spreads_a_threads_pieces_over_its_warp_tile)
{
    static const struct geometry shapes[] = {
        { .bm = 128, .bn = 128, .bk = 8, .threads = 256, .tm = 8, .tn = 8, .wm = 64, .wn = 32 },
        { .bm = 64, .bn = 64, .bk = 8, .threads = 64, .tm = 8, .tn = 8, .wm = 64, .wn = 32 },
        { .bm = 128, .bn = 128, .bk = 8, .threads = 512, .tm = 4, .tn = 8, .wm = 32, .wn = 32 },
    };
    const struct geometry *g = &shapes[0];
    for (int tid = 0; tid < 256; tid++) {
        const int warp = tid / 32, lane = tid % 32;
        const int row = warp / 4 * 64 + lane / 2 % 8 * 4, col = warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4;
        for (int piece = 0; piece < 4; piece++)
            cr_expect_eq(owner_by_pieces(g, row + piece / 2 * 32 + 3, col + piece % 2 * 16 + 3), tid, "%d", tid);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_shares("pieces", owner_by_pieces, &shapes[i]);
}

Test(owner, by_fragments_is_that_of_mma)
{
    const struct geometry g = { .bm = 128, .bn = 256, .bk = 32, .threads = 256, .wm = 64, .wn = 64 };
    expect_shares("fragments", owner_by_fragments, &g);
    cr_expect_eq(owner_by_fragments(&g, 64 + 9, 64 + 11), 5 * 32 + 4 + 1);
}

Test(owner, is_not_known_where_the_geometry_does_not_tell)
{
    const struct geometry g = { .bm = 128, .bn = 128, .bk = 8, .threads = 256 };
    const struct geometry narrow = {
        .bm = 128, .bn = 128, .bk = 8, .threads = 256, .tm = 8, .tn = 8, .wm = 4, .wn = 4
    };
    cr_expect_eq(owner_by_pieces(&g, 1, 1), -1);
    cr_expect_eq(owner_by_fragments(&g, 1, 1), -1);
    cr_expect_eq(owner_by_pieces(&narrow, 1, 1), -1);
}

// --- who compiled a PTX file ---

Test(ptx_file, tells_its_compiler_by_the_comment_it_begins_with)
{
    static const char *const cases[][2] = {
        { "//\n// Generated by NVIDIA NVVM Compiler\n//\n// Compiler Build ID: CL-36424714\n"
          "// Cuda compilation tools, release 13.0, V13.0.88\n// Based on NVVM 7.0.1\n//\n\n.version 9.0\n",
          "nvcc 13.0" },
        { "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 6.4\n", "clang" },
        { ".version 6.4\n.target sm_75\n", "" },
        { "", "" },
    };
    char name[PTX_COMPILER];
    struct scratch file;
    cr_assert(scratch_open(&file, "k.ptx", NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(file_write(file.path, cases[i][0]));
        cr_expect_str_eq(ptx_file_compiler(file.path, name), cases[i][1], "%s", name);
    }
    scratch_close(&file);
    cr_expect_str_eq(ptx_file_compiler(file.path, name), "", "a missing file: %s", name);
}
