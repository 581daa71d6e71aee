// Tests of common/tester/kernel_lines: which lines of the steps' kernels do what. A line is known by words that stand
// on it.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "tester/kernel_lines.h"
#include "tester/probe.h"
#include "base/source.h"

static const struct {
    const char *step;
    enum line_role role;
    const char *words;  // NULL: no line has this role
} expected[] = {
    { "01_naive", LINE_LOAD_A, "acc += A[" },
    { "01_naive", LINE_LOAD_B, "B[size_t(k) * N + (bcol + col)]" },
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
    { "17_tile_order", LINE_WRITE_A, "tma_load(&As[" },
    { "17_tile_order", LINE_WRITE_B, "tma_load(&Bs[" },
    { "17_tile_order", LINE_READ_A, "wgmma(acc, a_tile" },
    { "17_tile_order", LINE_MULTIPLY, "wgmma(acc," },
    { "17_tile_order", LINE_WRITE_C, "&Cs[swizzle<LDC>(row / WM" },
    { "18_persistent", LINE_WRITE_A, "tma_load(&As[" },
    { "18_persistent", LINE_WRITE_B, "tma_load(&Bs[" },
    { "18_persistent", LINE_READ_A, "wgmma(acc, a_tile" },
    { "18_persistent", LINE_MULTIPLY, "wgmma(acc," },
    { "18_persistent", LINE_WRITE_C, "&Cs[swizzle<LDC>(row + r" },
    { "19_tma_store", LINE_WRITE_A, "tma_load(&As[" },
    { "19_tma_store", LINE_WRITE_B, "tma_load(&Bs[" },
    { "19_tma_store", LINE_MULTIPLY, "wgmma(acc," },
    { "19_tma_store", LINE_WRITE_C, "stmatrix(at(" },
    { "19_tma_store", LINE_STORE_BOX, "tma_store(&Cmap" },
    { "20_any_shape", LINE_WRITE_A, "tma_load(&As[" },
    { "20_any_shape", LINE_WRITE_B, "tma_load(&Bs[" },
    { "20_any_shape", LINE_MULTIPLY, "wgmma(acc," },
    { "20_any_shape", LINE_WRITE_C, "stmatrix(at(" },
    { "20_any_shape", LINE_STORE_BOX, "tma_store(&Cmap" },
    { "18_persistent", LINE_STORE_BOX, NULL },
    // Where sums are scaled and rounded, and who asks for a fragment or a tile.
    { "01_naive", LINE_SCALE, "store(C," },
    { "09_wmma_smem", LINE_SCALE, "store8<WIDE>(C," },
    { "12_mma_swizzle", LINE_SCALE, "scale<2>(" },
    { "12_mma_swizzle", LINE_ROUND, "scale<2>(" },
    { "18_persistent", LINE_SCALE, "scale<2>(" },
    { "19_tma_store", LINE_SCALE, "scale_all(" },
    { "19_tma_store", LINE_ROUND, "__floats2half2_rn(" },
    { "08_wmma", LINE_ASK_B, "load_b(j, next)" },
    { "12_mma_swizzle", LINE_ASK_A, "load_a(i, next)" },
    { "07_double_buffer", LINE_COPY, "fetch(true)" },
    // By the text alone.
    { "01_naive", LINE_ROW, "const int row = " },
    { "01_naive", LINE_LOOP, "for (int k = 0; k < K; k++)" },
    { "01_naive", LINE_GUARD_N, "col >= N" },
    { "01_naive", LINE_STEP_A, NULL },
    { "04_thread_tile_2d", LINE_BASE_A, "A += size_t(brow) * K;" },
    { "04_thread_tile_2d", LINE_STEP_B, "A += depth, B += size_t(depth) * N" },
    { "04_thread_tile_2d", LINE_LOOP, "tile <= (K - 1) / BK" },
    { "04_thread_tile_2d", LINE_GUARD_N, NULL },
    { "08_wmma", LINE_STEP_A, "auto advance" },
    { "08_wmma", LINE_LOOP_K, "k < BK; k += 16" },
    { "13_async_copy", LINE_STEP_A, "commit(), A += depth" },
    { "13_async_copy", LINE_TILES, "const int tiles = " },
    { "15_wgmma", LINE_GUARD_M, "brow + r < M" },
    { "17_tile_order", LINE_BROW, "brow = (first + i %" },
    { "18_persistent", LINE_BCOL, "bcol = i %" },
};

static void ptx_of(const char *step, char ptx[1024])
{
    snprintf(ptx, 1024, "%s/%s/%s.ptx", STEPS_PTX, step, step);
}

// The lines of a step's kernel, read once.
static const struct kernel_lines *lines_of(const char *step)
{
    enum { STEPS = 32 };
    static struct kernel_lines known[STEPS];
    struct kernel_lines *l = &known[atoi(step) % STEPS];
    char ptx[1024];
    ptx_of(step, ptx);
    if (!*l->file)
        kernel_lines_read(l, ptx, "gemm", NULL);
    return l;
}

static void expect_line(const char *step, enum line_role role, const char *words)
{
    const struct kernel_lines *l = lines_of(step);
    char text[256] = "";
    cr_assert(strstr(l->file, "kernel.cu"), "%s: '%s'", step, l->file);
    const unsigned line = l->line[role];
    source_text(l->file, line, text, sizeof text);
    cr_expect(words ? strstr(text, words) != NULL : !line, "%s, role %d: line %u: %s", step, (int)role, line, text);
    cr_expect_eq(l->products, atoi(step) >= 15, "%s", step);
    cr_expect_eq(l->swizzled, atoi(step) >= 12, "%s", step);
}

// One product of random numbers, and the lines that it executed.
static void run_product(const char *ptx, int m, int n, struct kernel_lines *l, char error[DEV_ERROR_MAX])
{
    enum { K = 64 };
    const struct step step = { .name = "step", .type = DEV_F16, .ptx = ptx };
    struct geometry g;
    struct probe p;
    struct matrix A = matrix_new(DEV_F16, m, K), B = matrix_new(DEV_F16, K, n), C = matrix_new(DEV_F16, m, n);
    const struct probe_product x = { .alpha = 1, .A = &A, .B = &B };
    cr_assert(geometry_read(ptx, &g, error), "%s", error);
    cr_assert(probe_open(&p, &step, &g, true, 1));
    matrix_fill_random(&A, 1);
    matrix_fill_random(&B, 2);
    cr_assert(probe_run(&p, &x, &C));
    kernel_lines_read(l, ptx, g.kernel, dev_profile(p.dev));
    probe_close(&p);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

Test(kernel_lines, are_those_that_do_it)
{
    NEEDS_NVCC("its PTX says on which line an instruction is, but not from where that was called");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (HAS_HOPPER || atoi(expected[i].step) < 14)
            expect_line(expected[i].step, expected[i].role, expected[i].words);
}

// Of several ways to store C, those that a run took; and those of another kernel of the file.
Test(kernel_lines, are_those_that_ran)
{
    static const struct {
        int m, n;
        const char *words;
    } runs[] = { { 64, 64, "store8<true>(C," }, { 60, 63, "C[size_t(brow + r) * N" } };
    NEEDS_NVCC("its PTX says on which line an instruction is, but not from where that was called");
    for (int i = 0; HAS_HOPPER && i < 2; i++) {
        struct kernel_lines l;
        char ptx[1024], text[256], error[DEV_ERROR_MAX];
        ptx_of("15_wgmma", ptx);
        run_product(ptx, runs[i].m, runs[i].n, &l, error);
        source_text(l.file, l.line[LINE_STORE_C], text, sizeof text);
        cr_expect(strstr(text, runs[i].words), "%d x %d: line %u: %s", runs[i].m, runs[i].n, l.line[LINE_STORE_C],
                  text);
    }
}

Test(kernel_lines, are_those_of_the_kernel_that_is_asked_for)
{
    NEEDS_NVCC("its PTX says on which line an instruction is, but not from where that was called");
    if (!HAS_HOPPER)
        return;
    struct kernel_lines l;
    char ptx[1024];
    ptx_of("20_any_shape", ptx);
    kernel_lines_read(&l, ptx, "gemm_64x64_split", NULL);
    cr_expect(l.line[LINE_READ_PART]);
    kernel_lines_read(&l, ptx, "gemm", NULL);
    cr_expect_eq(l.line[LINE_READ_PART], 0);
    cr_expect(l.swizzled);
}

Test(kernel_lines, are_not_known_where_the_file_tells_none)
{
    struct kernel_lines l;
    const char *const files[] = { "/nonexistent/kernel.ptx", FAKE_PTX };
    for (int i = 0; i < 2; i++) {
        kernel_lines_read(&l, files[i], "gemm", NULL);
        for (int role = 0; role < LINE_ROLES; role++)
            cr_expect_eq(l.line[role], 0, "%s: line %u", files[i], l.line[role]);
    }
}
