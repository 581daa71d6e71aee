// Tests of common/tester/kernel_lines: which lines of the steps' kernels do what. A line is known by words that stand
// on it.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "tester/kernel_lines.h"
#include "base/source.h"

static const struct {
    const char *step;
    enum line_role role;
    const char *words;  // NULL: no line has this role
} expected[] = {
    { "01_naive", LINE_LOAD_A, "acc += A[" },
    { "01_naive", LINE_LOAD_B, "B[size_t(k) * N + col]" },
    { "01_naive", LINE_WRITE_A, NULL },
    { "01_naive", LINE_READ_B, NULL },
    { "01_naive", LINE_MULTIPLY, "acc += " },
    { "01_naive", LINE_STORE_C, "store(C," },
    { "02_smem_tile", LINE_LOAD_A, "load(&A[" },
    { "02_smem_tile", LINE_WRITE_A, "As[arow + i][acol] = " },
    { "02_smem_tile", LINE_WRITE_B, "Bs[crow + i][ccol] = " },
    { "02_smem_tile", LINE_READ_A, "As[row][k]" },
    { "02_smem_tile", LINE_READ_B, "Bs[k][col]" },
    { "02_smem_tile", LINE_WRITE_C, NULL },
    { "03_thread_tile_1d", LINE_READ_A, "As[row + i][k]" },
    { "03_thread_tile_1d", LINE_READ_B, "Bs[k][col]" },
    { "05_vectorized", LINE_LOAD_A, "load4<WIDE>(&A[" },
    { "05_vectorized", LINE_LOAD_B, "load4<WIDE>(&B[" },
    { "05_vectorized", LINE_WRITE_A, "As[acol + e][arow + i]" },
    { "05_vectorized", LINE_READ_B, "&Bs[k][col + j]" },
    { "05_vectorized", LINE_STORE_C, "store4<WIDE>(C," },
    { "07_double_buffer", LINE_MULTIPLY, "acc[i][j] += a[i] * b[j]" },
    { "08_wmma", LINE_READ_A, "load_fragment<WIDE>(a[i], A" },
    { "08_wmma", LINE_READ_B, "load_fragment<WIDE>(b[j], B" },
    { "08_wmma", LINE_WRITE_C, "store_matrix_sync(&Cs[" },
    { "09_wmma_smem", LINE_LOAD_B, "load8<WIDE>(&B[" },
    { "09_wmma_smem", LINE_WRITE_B, "&Bs[stage + (crow" },
    { "09_wmma_smem", LINE_READ_A, "load_matrix_sync(a[i], &As[" },
    { "09_wmma_smem", LINE_MULTIPLY, "mma_sync(acc[i][j]" },
    { "09_wmma_smem", LINE_STORE_C, "store8<WIDE>(C," },
    { "11_mma_ptx", LINE_READ_A, "ldmatrix(a[i], &As[" },
    { "11_mma_ptx", LINE_READ_B, "ldmatrix_trans(b[j], &Bs[" },
    { "12_mma_swizzle", LINE_MULTIPLY, "mma(acc[i][j], a[i], b[j])" },
    { "12_mma_swizzle", LINE_READ_C, "&Cs[swizzle<LDC>(r, ccol)]" },
    { "13_async_copy", LINE_WRITE_A, "copy8<WIDE>(&As[" },
    { "13_async_copy", LINE_WRITE_B, "copy8<WIDE>(&Bs[" },
    { "13_async_copy", LINE_MULTIPLY, "mma(acc[i][j], a[i], b[j])" },
    { "14_tma", LINE_WRITE_A, "tma_load(&As[" },
    { "14_tma", LINE_WRITE_B, "tma_load(&Bs[" },
    { "14_tma", LINE_READ_A, "ldmatrix(a[i], &As[" },
    { "14_tma", LINE_MULTIPLY, "mma(acc[i][j], a[i], b[j])" },
    { "15_wgmma", LINE_WRITE_A, "tma_load(&As[" },
    { "15_wgmma", LINE_WRITE_B, "tma_load(&Bs[" },
    { "15_wgmma", LINE_READ_A, "wgmma(acc, wgmma_descriptor(&As[" },
    { "15_wgmma", LINE_READ_B, "wgmma(acc, wgmma_descriptor(&As[" },  // one instruction, on two lines
    { "15_wgmma", LINE_MULTIPLY, "wgmma(acc," },
    { "15_wgmma", LINE_WRITE_C, "&Cs[swizzle<LDC>(row / WM" },
    { "16_warp_roles", LINE_WRITE_A, "tma_load(&As[" },
    { "16_warp_roles", LINE_WRITE_B, "tma_load(&Bs[" },
    { "16_warp_roles", LINE_READ_B, "wgmma(acc, a_tile" },
    { "16_warp_roles", LINE_MULTIPLY, "wgmma(acc," },
    { "16_warp_roles", LINE_WRITE_C, "&Cs[swizzle<LDC>(row / WM" },
    { "17_persistent", LINE_WRITE_A, "tma_load(&As[" },
    { "17_persistent", LINE_WRITE_B, "tma_load(&Bs[" },
    { "17_persistent", LINE_READ_A, "wgmma(acc, a_tile" },
    { "17_persistent", LINE_MULTIPLY, "wgmma(acc," },
    { "17_persistent", LINE_WRITE_C, "&Cs[swizzle<LDC>(row + r" },
    { "18_tma_store", LINE_WRITE_A, "tma_load(&As[" },
    { "18_tma_store", LINE_WRITE_B, "tma_load(&Bs[" },
    { "18_tma_store", LINE_MULTIPLY, "wgmma(acc," },
    { "18_tma_store", LINE_WRITE_C, "stmatrix(at(" },
    { "18_tma_store", LINE_STORE_BOX, "tma_store(&Cmap" },
    { "19_four_stages", LINE_WRITE_A, "tma_load(&As[" },
    { "19_four_stages", LINE_MULTIPLY, "wgmma(acc," },
    { "19_four_stages", LINE_WRITE_C, "stmatrix(at(" },
    { "19_four_stages", LINE_STORE_BOX, "tma_store(&Cmap" },
    { "20_any_shape", LINE_WRITE_A, "tma_load(&As[" },
    { "20_any_shape", LINE_WRITE_B, "tma_load(&Bs[" },
    { "20_any_shape", LINE_MULTIPLY, "wgmma(acc," },
    { "20_any_shape", LINE_WRITE_C, "stmatrix(at(" },
    { "20_any_shape", LINE_STORE_BOX, "tma_store(&Cmap" },
    { "17_persistent", LINE_STORE_BOX, NULL },
};

static void ptx_of(const char *step, char ptx[1024])
{
    snprintf(ptx, 1024, "%s/%s/%s.ptx", STEPS_PTX, step, step);
}

static void expect_line(const char *step, enum line_role role, const char *words)
{
    struct kernel_lines l;
    char ptx[1024], text[256] = "";
    ptx_of(step, ptx);
    kernel_lines_read(&l, ptx);
    const unsigned line = l.line[role];
    cr_assert(strstr(l.file, "kernel.cu"), "%s: '%s'", ptx, l.file);
    source_text(l.file, line, text, sizeof text);
    cr_expect(words ? strstr(text, words) != NULL : !line, "%s, role %d: line %u: %s", step, (int)role, line, text);
    cr_expect_eq(l.products, atoi(step) >= 15, "%s", step);
}

Test(kernel_lines, are_those_that_do_it)
{
    NEEDS_NVCC("its PTX says on which line an instruction is, but not from where that was called");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (HAS_HOPPER || atoi(expected[i].step) < 14)
            expect_line(expected[i].step, expected[i].role, expected[i].words);
}

Test(kernel_lines, are_not_known_where_the_file_tells_none)
{
    struct kernel_lines l;
    const char *const files[] = { "/nonexistent/kernel.ptx", FAKE_PTX };
    for (int i = 0; i < 2; i++) {
        kernel_lines_read(&l, files[i]);
        for (int role = 0; role < LINE_ROLES; role++)
            cr_expect_eq(l.line[role], 0, "%s: line %u", files[i], l.line[role]);
    }
}
