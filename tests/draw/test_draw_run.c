// Pictures of a launch: what they show is what the kernels say of themselves. STEPS_PTX (a folder)
// and SIMT are paths that the build defines.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "draw_case.h"
#include "program_case.h"
#include "xml.h"

// --- who computes an element ---

struct owners {
    const struct simt_product *product;
    int *of;  // by element of C: the thread of block 1, or -1
};

static void note_owner(void *context, const struct record *r, const struct record_event *e)
{
    struct owners *o = context;
    for (uint32_t i = 0; e->kind == RECORD_STORE && e->block == r->block && i < e->n; i++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t b = 0; e->access[i].mask >> lane & 1 && b < e->access[i].bytes; b++) {
                uint64_t row, col;
                const struct simt_matrix *m = draw_element(o->product, e->access[i].address[lane] + b, &row, &col);
                if (e->space != SPACE_GLOBAL)
                    continue;
                cr_assert(m == &o->product->result);
                cr_assert(origin_is_lane(e->origin[i][lane][b]), "row %d, column %d", (int)row, (int)col);
                o->of[row * m->columns + col] = (int)(e->origin[i][lane][b] - ORIGIN_LANE);
            }
}

Test(draw_run, a_record_follows_each_element_of_C_back_to_the_lane_that_multiplied)
{
    for (size_t s = 0; s < DRAW_STEPS; s++) {
        struct draw_bench b;
        struct owners o;
        struct record *r = calloc(1, sizeof *r);
        draw_bench_open(&b, &draw_steps[s], 2);
        o.product = &b.product;
        o.of = malloc((size_t)(b.m * b.n) * sizeof *o.of);
        memset(o.of, 0xff, (size_t)(b.m * b.n) * sizeof *o.of);
        *r = (struct record){ .tell = note_owner, .context = &o };
        cr_assert(draw_record(&b.launch, r, b.error), "%s", b.error);
        for (int row = 0; row < b.m; row++)
            for (int col = 0; col < b.n; col++) {
                const int want = col < b.g.bn ? -1 : draw_steps[s].owner(&b.g, row, col - b.g.bn);
                cr_assert_eq(o.of[row * b.n + col], want, "%s, row %d, column %d: thread %d, not %d",
                             draw_steps[s].name, row, col, o.of[row * b.n + col], want);
            }
        record_free(r);
        free(r);
        free(o.of);
        draw_bench_close(&b);
    }
}

// --- tiles ---

Test(draw_run, tiles_say_what_a_block_a_warp_and_a_lane_have)
{
    static const struct {
        int step;
        const char *title, *lane;
    } cases[] = {
        { 0, "a block 32 x 32, a warp 1 x 32, a lane 1 element<", "has 1 element." },
        { 2, "a block 64 x 64, a warp 8 x 32, a lane 8 elements<", "has 8 elements: 8 x 1." },
        { 3, "a block 128 x 128, a warp 16 x 128, a lane 64 elements<", "has 64 elements: 8 x 8." },
        { 5, "a block 128 x 128, a warp 64 x 32, a lane 64 elements<", "64 elements in 4 pieces of 4 x 4." },
        { 11, "a block 128 x 256, a warp 64 x 64, a lane 128 elements<", "128 elements in 64 pieces of 1 x 2." },
        { 13, "a block 128 x 256, a warp 16 x 256, a lane 128 elements<", "128 elements in 64 pieces of 1 x 2." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases && cases[i].step < (int)DRAW_STEPS; i++) {
        struct draw_bench b;
        draw_bench_open(&b, &draw_steps[cases[i].step], 1);
        char *text = draw_bench_draw(&b, SIMT_DRAW_TILES);
        cr_assert(text, "%s", b.error);
        cr_expect(strstr(text, cases[i].title), "%s: no '%s'", draw_steps[cases[i].step].name, cases[i].title);
        cr_expect(strstr(text, cases[i].lane), "%s: no '%s'", draw_steps[cases[i].step].name, cases[i].lane);
        cr_expect_eq(count(text, "<g class=\"panel\">"), 3);
        cr_expect(strstr(text, "<desc>Three panels."));
        free(text);
        draw_bench_close(&b);
    }
}

Test(draw_run, tiles_of_another_block_and_warp_have_a_place_of_their_own)
{
    struct draw_bench b;
    draw_bench_open(&b, &draw_steps[3], 1);
    b.place.warp = 7;
    char *text = draw_bench_draw(&b, SIMT_DRAW_TILES);
    cr_assert(text, "%s", b.error);
    cr_expect(strstr(text, "Block (1,0): 128 x 128") && strstr(text, "Warp 7: 16 x 128"));
    free(text);
    b.place.warp = 8;
    cr_expect_null(draw_bench_draw(&b, SIMT_DRAW_TILES));
    cr_expect(strstr(b.error, "a block has 8 warps"), "%s", b.error);
    draw_bench_close(&b);
}

// A kernel with such parameters and instructions, in a file until forget_scratch.
static const char *write_ptx(const char *parameters, const char *instructions)
{
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(%s)\n{\n.reg .b32 %%r<4>;\n"
             ".reg .b64 %%l<4>;\n.shared .align 16 .b8 s[1024];\n%s\nret;\n}\n",
             parameters, instructions);
    return scratch(text, strlen(text));
}

static int draw(const char *arguments);
static char text[400000];

Test(draw_run, an_array_is_drawn_in_rows_of_32_from_grid_to_lane)
{
    char arguments[300];
    const char *path = write_ptx(".param .u64 p",  // thread i of the grid stores element i, 8 bytes each
                                 "ld.param.u64 %l0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;"
                                 "mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0; mul.wide.u32 %l1, %r0, 8;"
                                 "add.u64 %l1, %l0, %l1; st.global.u64 [%l1], %l0;");
    snprintf(arguments, sizeof arguments,
             "%s k --grid 3 --block 64 --tiles --warp 1 --block-index 2 --out - "
             "'x=u64[192]=zeros'",
             path);
    cr_expect_eq(draw(arguments), 0, "%s", text);
    check_xml(text);
    cr_expect(strstr(text, "<title>From grid to lane: 3 blocks, 2 warps in each<"));
    cr_expect(strstr(text, ">x: 192 elements<") && strstr(text, ">Block 2: 64 elements<") &&
              strstr(text, ">Warp 1: 32 elements<"));
    cr_expect_eq(count(text, "class=\"l0 piece\"") + count(text, "class=\"frame edge\""), 3 + 1 + 4,
                 "three blocks, the first of two warps, every eighth lane");
    snprintf(arguments, sizeof arguments, "%s k --block 32 --tiles --out - 'x=u64[17000000]=zeros'", path);
    cr_expect_eq(draw(arguments), 2);
    cr_expect(strstr(text, "x is too large for a picture"), "%s", text);
    forget_scratch();
}

// --- the walk along K ---

Test(draw_run, a_walk_has_a_step_for_each_tile_of_K_and_counts_what_lanes_load)
{
    static const struct {
        int step;
        const char *says[4];
    } cases[] = {
        { 0,
          { "12 steps, the first with 32 x 4 of A and 4 x 32 of B<", "A 32 times,<", "B 32 times.<", "pass of the" } },
        { 1, { "3 steps, the first with 32 x 64 of A and 64 x 32 of B<", "of A once,<", "of B once.<", "a barrier" } },
        { 3, { "3 steps, the first with 128 x 8 of A and 8 x 128 of B<", "of A once,<", "of B once.<", "a barrier" } },
        // The first step has two tiles: one is put into shared memory, the next waits in registers.
        { 11,
          { "2 steps, the first with 128 x 64 of A and 64 x 256 of B<", ">128 x 32 of A, 32 x 256 of B<", "of A once,<",
            "a barrier" } },
        // The copies for tiles beyond the last bring zeros and read nothing.
        { 12, { "of A once,<", "of B once.<", ", the first with ", "From global memory, lanes load" } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draw_bench b;
        draw_bench_open(&b, &draw_steps[cases[i].step], 3);
        char *text = draw_bench_draw(&b, SIMT_DRAW_WALK);
        cr_assert(text, "%s", b.error);
        for (int k = 0; k < 4; k++)
            cr_expect(strstr(text, cases[i].says[k]), "%s: no '%s'", draw_steps[cases[i].step].name, cases[i].says[k]);
        cr_expect_eq(count(text, "<g class=\"panel\">"), 3);
        free(text);
        draw_bench_close(&b);
    }
}

Test(draw_run, an_asynchronous_copy_reads_global_memory_and_puts_what_it_read)
{
    char arguments[400];
    const char *path =
        write_ptx(".param .u32 m, .param .u32 n, .param .u32 k, .param .u64 a, .param .u64 b, .param .u64 c",
                  "ld.param.u64 %l0, [b]; ld.param.u64 %l1, [c]; mov.u32 %r0, %tid.x;"
                  "mul.wide.u32 %l2, %r0, 4; add.u64 %l0, %l0, %l2; add.u64 %l1, %l1, %l2;"
                  "mov.u32 %r1, s; cvt.u32.u64 %r2, %l2; add.u32 %r1, %r1, %r2; sub.u64 %l0, %l0, 64;"
                  "cp.async.ca.shared.global [%r1], [%l0+64], 4; cp.async.wait_all; bar.sync 0;\n"
                  "ld.shared.u32 %r3, [%r1]; st.global.u32 [%l1], %r3;");
    const char *rest = "k --block 32 --out - i32:1 i32:32 i32:1 'f32[1]=iota' 'f32[32]=iota' 'f32[32]=zeros'";
    snprintf(arguments, sizeof arguments, "%s %s --walk", path, rest);
    cr_expect_eq(draw(arguments), 0, "%s", text);
    cr_expect(strstr(text, "1 step, the first with nothing of A and 1 x 32 of B<") && strstr(text, "of B once.<"));
    snprintf(arguments, sizeof arguments, "%s %s --tiles", path, rest);
    cr_expect_eq(draw(arguments), 0, "%s", text);
    cr_expect(strstr(text, "a block 1 x 32, a warp 1 x 32, a lane 1 element<"));
    snprintf(arguments, sizeof arguments, "%s %s --bits --line 9", path, rest);  // the line of the PTX
    cr_expect_eq(draw(arguments), 0, "%s", text);
    cr_expect(strstr(text, "The index of a tile of B, 1 x 32: by rows<"));
    forget_scratch();
}

// A box of 4 rows of 128 bytes, swizzled, which one thread asks for; each thread passes two halves on to C.
Test(draw_run, a_bulk_copy_puts_a_box_and_swizzles_it)
{
    char arguments[500];
    const char *path = write_ptx(
        ".param .u32 m, .param .u32 n, .param .u32 k, .param .align 64 .b8 a[128], .param .align 64 .b8 b[128], "
        ".param .u64 c",
        ".reg .pred %p; mov.u32 %r0, %tid.x; mov.u32 %r1, s; add.u32 %r2, %r1, 512; mov.u32 %r3, 0;"
        "setp.ne.u32 %p, %r0, 0; @%p bra MEET; mbarrier.init.shared::cta.b64 [%r2], 1; fence.proxy.async;"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512; mov.b64 %l0, a; cvta.param.u64 %l0, %l0;"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%l0, {%r3, %r3}], [%r2];"
        "MEET: bar.sync 0; WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%r2], 0; @!%p bra WAIT;"
        "ld.param.u64 %l1, [c]; mul.wide.u32 %l2, %r0, 4; add.u64 %l1, %l1, %l2; shl.b32 %r3, %r0, 4;"
        "add.u32 %r1, %r1, %r3;\nld.shared.u32 %r3, [%r1]; st.global.u32 [%l1], %r3;");
    const char *rest = "k --block 32 --out - i32:4 i32:64 i32:64 'map:f16[4,64]box[4,64]swizzle128=iota' "
                       "'map:f16[64,64]box[64,64]swizzle128=iota' 'f16[256]=zeros'";
    snprintf(arguments, sizeof arguments, "%s %s --timeline", path, rest);
    cr_expect_eq(draw(arguments), 0, "%s", text);
    cr_expect(strstr(text, " 0 fetch from global memory, 1 put into shared memory, 1 read it,"), "%.500s", text);
    snprintf(arguments, sizeof arguments, "%s %s --bits --line 9", path, rest);  // the line of the PTX
    cr_expect_eq(draw(arguments), 0, "%s", text);
    cr_expect(strstr(text, "tile of A, 4 x 64: swizzled by XOR<") && strstr(text, "bank: r0, r1."), "%.500s", text);
    snprintf(arguments, sizeof arguments, "%s %s --walk", path, rest);
    cr_expect_eq(draw(arguments), 2);
    cr_expect(strstr(text, "that block reads A and B by bulk copies"), "%s", text);
    forget_scratch();
}

// --- the product that the caller names ---

Test(draw_run, a_picture_calls_the_matrices_as_the_caller_does)
{
    struct draw_bench b;
    draw_bench_open(&b, &draw_steps[1], 3);
    b.product.left.name = "Query";
    b.product.right.name = "Key";
    b.product.result.name = "Score";
    char *text = draw_bench_draw(&b, SIMT_DRAW_WALK);
    cr_assert(text, "%s", b.error);
    cr_expect(strstr(text, "the first with 32 x 64 of Query and 64 x 32 of Key<") && strstr(text, ">Score: 32 x 64<"));
    free(text);
    text = draw_bench_draw(&b, SIMT_DRAW_TILES);
    cr_assert(text, "%s", b.error);
    cr_expect(strstr(text, "<title>Tiles of Score: ") && strstr(text, ">Score: 32 x 64<"));
    free(text);
    draw_bench_close(&b);
}

Test(draw_run, what_is_no_product_is_not_drawn)
{
    struct draw_bench b;
    draw_bench_open(&b, &draw_steps[1], 3);
    b.product.right.rows /= 2;
    cr_expect_null(draw_bench_draw(&b, SIMT_DRAW_TILES));
    cr_expect(strstr(b.error, "A, B and C are no product"), "%s", b.error);
    b.product.right.rows *= 2;
    b.product.left.address += 4;
    cr_expect_null(draw_bench_draw(&b, SIMT_DRAW_WALK));
    cr_expect(strstr(b.error, "matrix A is not in device memory"), "%s", b.error);
    b.product.left.address -= 4;
    b.place.product = NULL;
    cr_expect_null(draw_bench_draw(&b, SIMT_DRAW_WALK));
    cr_expect(strstr(b.error, "the picture needs to know the matrices of a product"), "%s", b.error);
    char *text = draw_bench_draw(&b, SIMT_DRAW_TILES);
    cr_assert(text, "%s", b.error);
    cr_expect(strstr(text, ">C: 2048 elements<"), "without a product an array is drawn");
    free(text);
    draw_bench_close(&b);
}

// --- the timeline ---

Test(draw_run, a_timeline_counts_what_the_kernels_loops_say)
{
    static const struct {
        int step;
        size_t rows;  // kinds of work
        const char *says;
    } cases[] = {
        // 48 of K, two loads each; the fma; the store.
        { 0, 3,
          "96 fetch from global memory, 0 put into shared memory, 0 read it, 48 multiply, 1 store to global "
          "memory, with 0 barriers" },
        // 24 of K, of each 64 products and 4 wide loads; 64 times alpha; two barriers a tile.
        { 5, 5,
          "6 fetch from global memory, 15 put into shared memory, 96 read it, 1600 multiply, 16 store to global "
          "memory, with 6 barriers" },
        // The same with one barrier a tile, and one before the first; the last tile is put once more.
        { 6, 5,
          "6 fetch from global memory, 20 put into shared memory, 96 read it, 1600 multiply, 16 store to global "
          "memory, with 4 barriers" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draw_bench b;
        draw_bench_open(&b, &draw_steps[cases[i].step], 3);
        char *text = draw_bench_draw(&b, SIMT_DRAW_TIMELINE);
        cr_assert(text, "%s", b.error);
        cr_expect(strstr(text, cases[i].says), "%s: %.500s", draw_steps[cases[i].step].name, strstr(text, "<desc>"));
        cr_expect_eq(count(text, "<g class=\"row\">"), cases[i].rows);
        cr_expect_eq(count(text, "<g class=\"strip\">"), 8);
        free(text);
        draw_bench_close(&b);
    }
}

// All roles of a block of 12 warps; of more, the first 8.
Test(draw_run, a_timeline_shows_all_of_12_warps)
{
    static const struct {
        int threads;
        size_t strips;
    } cases[] = { { 32, 1 }, { 384, 12 }, { 416, 8 } };
    const char *path = write_ptx(".param .u64 c", "mov.u32 %r0, %tid.x;");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "%s k --block %d --timeline --out - 'f16[32]=zeros'", path,
                 cases[i].threads);
        cr_expect_eq(draw(arguments), 0, "%s", text);
        cr_expect_eq(count(text, "<g class=\"strip\">"), cases[i].strips, "%d threads", cases[i].threads);
        cr_expect_eq(strstr(text, "and 5 more warps") != NULL, cases[i].threads == 416);
    }
    forget_scratch();
}

// --- the program ---

// Runs `simt draw` and returns its exit status; text gets what it wrote, stderr too.
static int draw(const char *arguments)
{
    char command[4000];
    snprintf(command, sizeof command, "exec 2>&1; '%s' draw %s", SIMT, arguments);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define STEP_04 "'" STEPS_PTX "/04_thread_tile_2d/04_thread_tile_2d.ptx' gemm --block 256 --out - "
#define SIZES "i32:128 i32:128 i32:16 f32:1 'f32[2048]=iota' 'f32[2048]=iota' f32:0 "

Test(draw_run, the_program_draws_them)
{
    cr_assert_eq(draw(STEP_04 "--tiles " SIZES "'f32[16384]=zeros'"), 0, "%s", text);
    check_xml(text);
    cr_expect(strstr(text, "C: 128 x 128") && strstr(text, "1 block<"));
}

Test(draw_run, what_cannot_be_drawn_is_refused_in_one_line)
{
    static const char *const cases[][2] = {
        { STEP_04 "--tiles " SIZES "'f32[16385]=zeros'", "array C has 65540 bytes, which is no matrix of 128 x 128" },
        { STEP_04 "--tiles --line 5 " SIZES "'f32[16384]=zeros'", "--line, --nth and --global go with" },
        { STEP_04 "--tiles --walk " SIZES "'f32[16384]=zeros'", "one picture at a time" },
        { STEP_04 "--bits " SIZES "'f32[16384]=zeros'", "which source line? --line N" },
        { STEP_04 "--bits --line 56 --execution 1 " SIZES "'f32[16384]=zeros'", "--execution goes with an access" },
        { STEP_04 "--tiles --fragment a", "--fragment takes no PTX file" },
        { "--tiles --fragment a --out -", "--fragment is a picture of its own" },
        { STEP_04 "--tiles --block-index 1 " SIZES "'f32[16384]=zeros'", "the grid has 1,1,1 blocks" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int status = draw(cases[i][0]);
        cr_expect_eq(status, 2, "%s: status %d", cases[i][0], status);
        cr_expect(strstr(text, cases[i][1]), "%s: %s", cases[i][0], text);
        cr_expect_eq(count(text, "\n"), 1, "%s: %s", cases[i][0], text);
    }
}
