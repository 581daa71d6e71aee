// The bits of an index: whether the places of a tile's elements are an XOR of bits or a sum of steps, and the picture
// of a step's tile that shows it.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "draw_case.h"
#include "file_text.h"
#include "simt/draw/index_bits.h"
#include "simt/ptx/ptx.h"
#include "xml.h"

static uint32_t swizzled(uint32_t row, uint32_t col)
{
    const uint32_t i = row * 64 + col;
    return 2 * (i ^ i / 64 % 8 * 8);
}

static uint32_t padded(uint32_t row, uint32_t col)
{
    return 144 * row + 2 * col;
}

static uint32_t neither(uint32_t row, uint32_t col)
{
    return padded(row, col) ^ (row == 5 && col == 7 ? 2 : 0);
}

// The places of 128 x 64 elements, from byte 256 on.
static const struct index_place *places(uint32_t (*byte)(uint32_t row, uint32_t col))
{
    static struct index_place all[128 * 64];
    for (uint32_t i = 0; i < 128 * 64; i++)
        all[i] = (struct index_place){ i / 64, i % 64, 256 + byte(i / 64, i % 64) };
    return all;
}

Test(draw_bits, an_index_is_an_xor_of_bits_a_sum_of_steps_or_neither)
{
    struct index_bits bits;
    int64_t by_row, by_col;
    const size_t n = (size_t)128 * 64;
    cr_assert(index_bits_fit(places(swizzled), n, &bits));
    cr_expect(index_bits_swizzled(&bits));
    cr_expect_eq(bits.first, 256);
    cr_expect_eq(bits.of_row[1], 128 * 2 | 16 * 2, "bit 1 of the row: the row itself, and the chunk");
    cr_expect_eq(bits.of_col[3], 16);
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(index_bits_byte(&bits, i / 64, i % 64), swizzled(i / 64, i % 64));
    cr_expect_not(index_steps_fit(places(swizzled), n, &bits, &by_row, &by_col));
    cr_expect_not(index_bits_fit(places(padded), n, &bits));
    cr_expect_neq(bits.odd.byte, bits.wanted);
    cr_expect(index_steps_fit(places(padded), n, &bits, &by_row, &by_col));
    cr_expect(by_row == 144 && by_col == 2);
    cr_expect_not(index_bits_fit(places(neither), n, &bits));
    cr_expect_not(index_steps_fit(places(neither), n, &bits, &by_row, &by_col));
    cr_expect_not(index_bits_fit(places(swizzled) + 1, n - 1, &bits), "element (0, 0) is missing");
    cr_expect_eq(bits.wanted, UINT32_MAX);
}

// The number of the line that begins with the words, in the step's kernel.
static unsigned line_of(const struct draw_bench *b, const char *words)
{
    return file_line_of(ptx_source_name(b->launch.kernel->module->ptx, 1), words);
}

Test(draw_bits, the_bits_of_a_tile_are_those_of_its_kernel)
{
    NEEDS_NVCC("its PTX says on which line an instruction is, but not from where that was called");
    static const struct {
        int step;
        const char *line, *says[3];
    } cases[] = {
        { 1, "acc += As[row][k]", { "tile of B, 64 x 32: by rows<", "reach the bank: none.", ">T15<" } },
        { 4, "As[acol + e][arow", { "tile of A, 128 x 8: padded<", "byte = 4 x row + 528 x column", ">2112<" } },
        { 8,
          "auto load_a =",
          { "tile of A, 128 x 32: by rows<", "reach the bank: r0.",
            ">16\xe2\x80\x93"
            "19<" } },
        { 10, "auto load_a =", { "tile of A, 128 x 32: padded<", "byte = 80 x row + 2 x column", "16 bytes of pad" } },
        { 11, "auto load_a =", { "tile of A, 128 x 32: swizzled by XOR<", "bank: r0, r1, r2, r3.", ">944<" } },
        { 11, "auto load_b =", { "tile of B, 32 x 256: swizzled by XOR<", "bank: r0, r1, r2.", ">3696<" } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draw_bench b;
        draw_bench_open(&b, &draw_steps[cases[i].step], 2);
        b.place.line = line_of(&b, cases[i].line);
        char *text = draw_bench_draw(&b, SIMT_DRAW_BITS);
        cr_assert(text, "%s: %s", draw_steps[cases[i].step].name, b.error);
        for (int k = 0; k < 3; k++)
            cr_expect(strstr(text, cases[i].says[k]), "%s: no '%s'", draw_steps[cases[i].step].name, cases[i].says[k]);
        cr_expect_eq(count(text, "<g class=\"lane\">"), 16);
        free(text);
        draw_bench_close(&b);
    }
}

Test(draw_bits, bits_of_what_is_no_tile_are_refused)
{
    struct draw_bench b;
    draw_bench_open(&b, &draw_steps[8], 1);
    b.place.line = line_of(&b, "wmma::store_matrix_sync(&Cs");
    cr_expect_null(draw_bench_draw(&b, SIMT_DRAW_BITS));
    cr_expect(strstr(b.error, "did not come straight from A, or from B"), "%s", b.error);
    b.place.line = 1;
    cr_expect_null(draw_bench_draw(&b, SIMT_DRAW_BITS));
    cr_expect(strstr(b.error, "runs 0 loads and stores of shared memory at that line"), "%s", b.error);
    draw_bench_close(&b);
}
