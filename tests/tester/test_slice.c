// Where the address of an access is made, in PTX and in the text: of a step's reads of its tiles, and of a small file.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/ptx_file.h"
#include "base/source.h"
#include "base/text.h"
#include "tester/kernel_text.h"
#include "tester/slice.h"

// The kernel's own file, as its PTX names it.
static const char *file_of(const struct simt_kernel *k)
{
    struct simt_place place = { 0 };
    for (uint32_t i = 0; simt_instruction_place(k, 0, i, &place); i++)
        continue;
    return place.file;
}

// Of the first such instruction, whether a line of its address has this text.
static bool has_line(const struct simt_kernel *k, const char *op, enum simt_space space, const char *text)
{
    unsigned lines[SLICE_LINES], n = 0;
    struct simt_instruction in;
    char line[256];
    uint32_t i = 0;
    while (simt_instruction(k, i, &in) && !text_begins(in.op, op))
        i++;
    n = slice_address(k, file_of(k), i, space, lines);
    cr_expect(slice_line(k, file_of(k), i, NULL), "%s has no line", op);
    for (unsigned j = 0; j < n; j++) {
        source_text(file_of(k), lines[j], line, sizeof line);
        if (strstr(line, text))
            return true;
    }
    return false;
}

Test(slice, the_index_of_a_tile_comes_from_the_lines_that_set_it)
{
    static const struct {
        const char *step, *op;
        enum simt_space space;
        const char *line;
        bool none;
    } of[] = {
        { "02_smem_tile", "ld.shared", SIMT_SHARED, "const int row = ", false },
        { "06_warp_tile", "ld.shared", SIMT_SHARED, "const int row = ", false },
        { "06_warp_tile", "st.shared", SIMT_SHARED, "const int arow = ", false },
        { "12_mma_swizzle", "ldmatrix", SIMT_SHARED, "const int row = ", false },
        { "13_async_copy", "cp.async.cg", SIMT_GLOBAL, "A += size_t(brow", false },
        { "13_async_copy", "cp.async.cg", SIMT_SHARED, "A += size_t(brow", true },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char path[256], error[DEV_ERROR_MAX];
        size_t bytes;
        snprintf(path, sizeof path, STEPS_PTX "/%s/%s.ptx", of[i].step, of[i].step);
        char *ptx = ptx_file_read(path, &bytes, error);
        struct simt *s = simt_open();
        cr_assert(ptx && s, "%s", error);
        struct simt_module *m = simt_load(s, path, ptx, bytes, error);
        cr_assert(m, "%s", error);
        cr_expect_neq(has_line(simt_kernel(m, "gemm"), of[i].op, of[i].space, of[i].line), of[i].none,
                      "%s: does %s come from \"%s\"?", of[i].step, of[i].op, of[i].line);
        simt_close(s);
        free(ptx);
    }
}

Test(slice, a_text_tells_what_sets_a_name)
{
    char name[16];
    struct scratch scratch;
    static const char text[] = "__shared__ float As[8][4];\n"                       // 1
                               "const int row = tid / 4, parity = 0;\n"             // 2
                               "auto next = [&] { parity ^= 1; };\n"                // 3
                               "for (int tile = 0; tile < tiles; tile++) {\n"       // 4
                               "    for (int row = 0; row < 8; row++)\n"            // 5
                               "        x += As[row + stage][k];  // parity = 1\n"  // 6
                               "    stage = 1 - stage;\n"                           // 7
                               "}\n"                                                // 8
                               "wait(parity);\n"                                    // 9
                               "float *Bs = at;\n"                                  // 10
                               "for (int j = 0; j < 8; j++)\n"                      // 11
                               "    Bs[j] = As[0][0];\n";                           // 12
    cr_assert(scratch_open(&scratch, "kernel.cu", text));
    const char *file = scratch.path;
    cr_expect_eq(kernel_text_sets(file, 6, 4), 7);
    cr_expect_eq(kernel_text_sets(file, 6, 7), 7);
    cr_expect(kernel_text_sets_for(file, 2, 6) && kernel_text_sets_for(file, 7, 6) &&
              !kernel_text_sets_for(file, 5, 6));
    cr_expect_eq(kernel_text_changes(file, 9), 3);
    cr_expect_eq(kernel_text_shared(file, 6, name, sizeof name), 1);
    cr_expect_str_eq(name, "As");
    cr_expect_eq(kernel_text_shared(file, 9, name, sizeof name), 0);
    cr_expect_eq(kernel_text_shared(file, 12, name, sizeof name), 0);
    unsigned heads[KERNEL_LOOPS];
    cr_expect_eq(kernel_text_loops(file, 6, heads), 2);
    cr_expect(heads[0] == 5 && heads[1] == 4);
    cr_expect_eq(kernel_text_loops(file, 7, heads), 1);
    cr_expect_eq(kernel_text_loops(file, 9, heads), 0);
    cr_expect_eq(kernel_text_loop(file, 6), 5);
    cr_expect_eq(kernel_text_loop(file, 7), 0);
    cr_expect_eq(kernel_text_loop(file, 12), 11);
    scratch_close(&scratch);
}
