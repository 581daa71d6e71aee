// What the library refuses: each wrong call ends in a status and one line, and the next right call works.
#include <criterion/criterion.h>
#include <gemm-steps/gemm.h>
#include <stdint.h>
#include <string.h>

TestSuite(library_errors);

static gemm_steps *h;
static gemm_steps_ptr A, B, C;
enum { N = 16 };

static void open_simulated(void)
{
    cr_assert_eq(gemm_steps_create(GEMM_STEPS_SIMULATED, &h), GEMM_STEPS_OK, "%s", gemm_steps_error(NULL));
    const float ones[N * N] = { 1 };
    gemm_steps_ptr *all[] = { &A, &B, &C };
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(gemm_steps_alloc(h, sizeof ones, all[i]), GEMM_STEPS_OK);
        cr_assert_eq(gemm_steps_upload(h, *all[i], ones, sizeof ones), GEMM_STEPS_OK);
    }
}

static void close_it(void)
{
    cr_expect_eq(gemm_steps_f32(h, N, N, N, 1, A, B, 0, C), GEMM_STEPS_OK, "after all: %s", gemm_steps_error(h));
    cr_expect_eq(gemm_steps_f16(h, N, N, N, 1, A, B, 0, C), GEMM_STEPS_OK, "after all: %s", gemm_steps_error(h));
    gemm_steps_destroy(h);
}

TestSuite(library_refuses, .init = open_simulated, .fini = close_it);

static void says(const gemm_steps *handle, gemm_steps_status got, gemm_steps_status want, const char *line)
{
    const char *error = gemm_steps_error(handle);
    cr_expect_eq(got, want, "status %d, not %d: %s", (int)got, (int)want, error);
    cr_expect(strstr(error, line) && !strchr(error, '\n'), "'%s' does not say '%s'", error, line);
}

// Both types, which share all checks.
static void refused(int m, int n, int k, gemm_steps_ptr a, gemm_steps_ptr b, gemm_steps_ptr c, const char *line)
{
    says(h, gemm_steps_f32(h, m, n, k, 1, a, b, 0, c), GEMM_STEPS_BAD_ARGUMENT, line);
    says(h, gemm_steps_f16(h, m, n, k, 1, a, b, 0, c), GEMM_STEPS_BAD_ARGUMENT, line);
}

Test(library_refuses, sizes_below_1)
{
    refused(0, N, N, A, B, C, "m is 0; 1 to 1073741824 are allowed");
    refused(N, -1, N, A, B, C, "n is -1");
    refused(N, N, INT32_MIN, A, B, C, "k is -2147483648");
    cr_expect_eq(gemm_steps_f32_host(h, 0, 1, 1, 1, &(float){ 1 }, &(float){ 1 }, 0, &(float){ 1 }),
                 GEMM_STEPS_BAD_ARGUMENT);
}

Test(library_refuses, sizes_that_overflow)
{
    refused(INT32_MAX, N, N, A, B, C, "m is 2147483647");
    refused(1 << 30, 1 << 30, 1, A, B, C, "C has 1073741824 x 1073741824 elements");
    refused(1, 1 << 30, 1 << 30, A, B, C, "B has 1073741824 x 1073741824 elements");
    refused(1 << 20, 1, 1 << 30, A, B, C, "A has 1048576 x 1073741824 elements");
    refused(N, N, N, A, B, UINT64_MAX - 15, "C begins at 0xfffffffffffffff0: its end is past all memory");
}

Test(library_refuses, null_pointers)
{
    refused(N, N, N, 0, B, C, "A is a null pointer");
    refused(N, N, N, A, 0, C, "B is a null pointer");
    refused(N, N, N, A, B, 0, "C is a null pointer");
    const float x[1] = { 0 };
    float y[1];
    says(h, gemm_steps_f32_host(h, 1, 1, 1, 1, NULL, x, 0, y), GEMM_STEPS_BAD_ARGUMENT, "A is a null pointer");
    says(h, gemm_steps_f32_host(h, 1, 1, 1, 1, x, NULL, 0, y), GEMM_STEPS_BAD_ARGUMENT, "B is a null pointer");
    says(h, gemm_steps_f16_host(h, 1, 1, 1, 1, (const uint16_t *)x, (const uint16_t *)x, 0, NULL),
         GEMM_STEPS_BAD_ARGUMENT, "C is a null pointer");
}

Test(library_refuses, pointers_that_are_at_no_element)
{
    says(h, gemm_steps_f32(h, N, N, N - 1, 1, A + 2, B, 0, C), GEMM_STEPS_BAD_ARGUMENT, "A begins at 0x");
    says(h, gemm_steps_f16(h, N, N - 1, N, 1, A, B + 1, 0, C), GEMM_STEPS_BAD_ARGUMENT, "which is no multiple of 2");
    cr_expect_eq(gemm_steps_f32(h, 8, 8, 8, 1, A + 4, B + 4, 0, C + 4), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
}

// What a struct alone can say.
static gemm_steps_problem right(void)
{
    return (gemm_steps_problem){ .m = 8, .n = 4, .k = 2, .type = GEMM_STEPS_F32, .alpha = 1, .A = A, .B = B, .C = C };
}

static void refused_problem(gemm_steps_problem p, const char *line)
{
    says(h, gemm_steps_gemm(h, &p), GEMM_STEPS_BAD_ARGUMENT, line);
}

Test(library_refuses, a_struct_that_says_nothing_that_can_be)
{
    gemm_steps_problem p;
    says(h, gemm_steps_gemm(h, NULL), GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_gemm: the problem is NULL");
    says(h, gemm_steps_prepare(h, NULL), GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_prepare: the problem is NULL");
    p = right(), p.type = 0, refused_problem(p, "type is 0");
    p = right(), p.type = 4, refused_problem(p, "type is 4");
    p = right(), p.type_c = GEMM_STEPS_F16, refused_problem(p, "type_c is 2");
    p = right(), p.bias_kind = 3, refused_problem(p, "bias_kind is 3");
    p = right(), p.activation = -1, refused_problem(p, "activation is -1");
    p = right(), p.bias_kind = GEMM_STEPS_BIAS_ROW, refused_problem(p, "bias is a null pointer");
    p = right(), p.bias_kind = GEMM_STEPS_BIAS_ROW, p.bias = C + 4, refused_problem(p, "C overlaps bias");
    p = right(), p.bias_kind = GEMM_STEPS_BIAS_ROW, p.bias = C - 12, refused_problem(p, "C overlaps bias");
    p = right(), p.bias_kind = GEMM_STEPS_BIAS_COLUMN, p.bias = C - 28, refused_problem(p, "C overlaps bias");
    p = right(), p.bias_kind = GEMM_STEPS_BIAS_ROW, p.bias = B + 2, refused_problem(p, "which is no multiple of 4");
    p = right(), p.bias_kind = GEMM_STEPS_BIAS_ROW, p.bias = UINT64_MAX - 3, refused_problem(p, "past all memory");
    p = right(), p.batch = -1, refused_problem(p, "batch is -1");
    p = right(), p.batch = 1 << 21, refused_problem(p, "batch is 2097152");
}

Test(library_refuses, distances_that_cannot_be)
{
    gemm_steps_problem p;
    p = right(), p.lda = 1, refused_problem(p, "lda is 1: a row of A has 2 elements");
    p = right(), p.transpose_b = 1, p.ldb = 1, refused_problem(p, "ldb is 1: a row of B has 2 elements");
    p = right(), p.ldc = -4, refused_problem(p, "ldc is -4");
    p = right(), p.ldc = (int64_t)1 << 60, refused_problem(p, "at most 274877906944 are allowed");
    p = right(), p.ldc = (int64_t)1 << 38, p.m = 1 << 10, refused_problem(p, "2^42 elements are allowed");
    p = right(), p.batch = 2, p.stride_a = -1, refused_problem(p, "stride_a is -1");
    p = right(), p.batch = 2, refused_problem(p, "stride_c is 0: the matrices of C overlap");
    p = right(), p.batch = 2, p.stride_c = 31, refused_problem(p, "stride_c is 31: the matrices of C overlap");
    p = right(), p.batch = 3, p.stride_c = 4, p.ldc = 11, refused_problem(p, "the matrices of C overlap");
    p = right(), p.batch = 1 << 20, p.m = 1 << 20, p.stride_c = 1, refused_problem(p, "too many tiles");
}

// What an alpha of 0 does not read may be anywhere.
Test(library_refuses, no_operands_that_are_not_read)
{
    gemm_steps_problem p = right();
    p.alpha = 0, p.A = 0, p.B = C;
    cr_expect_eq(gemm_steps_gemm(h, &p), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    float c[4] = { 1, 2, 3, 4 };
    cr_expect_eq(gemm_steps_f32_host(h, 2, 2, 2, 0, NULL, NULL, 0.5f, c), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    cr_expect(c[0] == 0.5f && c[3] == 2, "%g %g", c[0], c[3]);
}

// A and C may have columns of their own in the same rows.
Test(library_refuses, a_slice_that_overlaps)
{
    gemm_steps_problem p = right();
    p.lda = 16, p.ldc = 16, p.C = A + 2 * sizeof(float);
    cr_expect_eq(gemm_steps_gemm(h, &p), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    p.C = A + sizeof(float);
    refused_problem(p, "C overlaps A");
}

Test(library_refuses, a_result_that_overlaps)
{
    refused(N, N, N, A, B, A, "C overlaps A");
    refused(N, N, N, A, B, B + 16, "C overlaps B");
    refused(N, N, N, C + 16, B, C, "C overlaps A");
    cr_expect_eq(gemm_steps_f32(h, 4, 4, 4, 1, A, B, 0, A + 64), GEMM_STEPS_OK, "side by side: %s",
                 gemm_steps_error(h));
}

Test(library_refuses, memory_that_is_none)
{
    gemm_steps_ptr p = 1;
    says(h, gemm_steps_alloc(h, 0, &p), GEMM_STEPS_BAD_ARGUMENT, "0 bytes");
    cr_expect_eq(p, 0);
    says(h, gemm_steps_alloc(h, 1, NULL), GEMM_STEPS_BAD_ARGUMENT, "NULL");
    says(h, gemm_steps_alloc(h, SIZE_MAX / 2, &p), GEMM_STEPS_OUT_OF_MEMORY, "needs");
    says(h, gemm_steps_free(h, A + 16), GEMM_STEPS_FAILED, "not the start of an allocation");
    cr_expect_eq(gemm_steps_free(h, 0), GEMM_STEPS_OK);
    char byte = 0;
    says(h, gemm_steps_upload(h, 0, &byte, 1), GEMM_STEPS_BAD_ARGUMENT, "null pointer");
    says(h, gemm_steps_download(h, NULL, A, 1), GEMM_STEPS_BAD_ARGUMENT, "null pointer");
    says(h, gemm_steps_upload(h, A + sizeof(float) * N * N, &byte, 1), GEMM_STEPS_FAILED, "");
}

Test(library_refuses, a_workspace_that_cannot_be)
{
    says(h, gemm_steps_set_workspace(h, A + 4, 64), GEMM_STEPS_BAD_ARGUMENT, "begins at no multiple of 256");
    says(h, gemm_steps_set_workspace(h, A, SIZE_MAX), GEMM_STEPS_BAD_ARGUMENT, "ends past all memory");
    cr_expect_eq(gemm_steps_set_workspace(h, A, 64), GEMM_STEPS_OK);
    says(h, gemm_steps_free(h, A), GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_free: the handle uses this memory");
    cr_expect_eq(gemm_steps_set_workspace(h, 0, 0), GEMM_STEPS_OK);
}

Test(library_refuses, what_is_not_on_the_device)
{
    says(h, gemm_steps_f32(h, N, N, N, 1, A, B, 0, 0x1000), GEMM_STEPS_FAILED, "0x1000");
}

// --- Handles ---

Test(library_errors, a_handle_needs_a_place_and_a_device)
{
    says(NULL, gemm_steps_create(GEMM_STEPS_SIMULATED, NULL), GEMM_STEPS_BAD_ARGUMENT, "NULL");
    h = (gemm_steps *)&h;
    says(NULL, gemm_steps_create(-4, &h), GEMM_STEPS_BAD_ARGUMENT, "there is no device -4");
    cr_expect_null(h);
    says(NULL, gemm_steps_create(GEMM_STEPS_CURRENT, &h), GEMM_STEPS_NO_DEVICE, "no GPU: ");
    says(NULL, gemm_steps_create(1000000, &h), GEMM_STEPS_NO_DEVICE, "no GPU: ");
    cr_expect_null(h);
}

Test(library_errors, a_handle_of_null_is_refused)
{
    gemm_steps_ptr p;
    const float x[1] = { 0 };
    float y[1];
    const struct {
        const char *name;
        gemm_steps_status status;
    } calls[] = {
        { "gemm_steps_f16", gemm_steps_f16(NULL, 1, 1, 1, 1, 16, 32, 0, 48) },
        { "gemm_steps_f32", gemm_steps_f32(NULL, 1, 1, 1, 1, 16, 32, 0, 48) },
        { "gemm_steps_f32_host", gemm_steps_f32_host(NULL, 1, 1, 1, 1, x, x, 0, y) },
        { "gemm_steps_gemm", gemm_steps_gemm(NULL, &(gemm_steps_problem){ .m = 1 }) },
        { "gemm_steps_prepare", gemm_steps_prepare(NULL, &(gemm_steps_problem){ .m = 1 }) },
        { "gemm_steps_set_workspace", gemm_steps_set_workspace(NULL, 256, 256) },
        { "gemm_steps_wait", gemm_steps_wait(NULL) },
        { "gemm_steps_set_stream", gemm_steps_set_stream(NULL, NULL) },
        { "gemm_steps_set_workspace_limit", gemm_steps_set_workspace_limit(NULL, 0) },
        { "gemm_steps_alloc", gemm_steps_alloc(NULL, 1, &p) },
        { "gemm_steps_free", gemm_steps_free(NULL, 16) },
        { "gemm_steps_upload", gemm_steps_upload(NULL, 16, x, 1) },
        { "gemm_steps_download", gemm_steps_download(NULL, y, 16, 1) },
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        cr_expect_eq(calls[i].status, GEMM_STEPS_BAD_ARGUMENT, "%s", calls[i].name);
    says(NULL, calls[12].status, GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_download: the handle is NULL");
    cr_expect_eq(gemm_steps_workspace(NULL), 0);
    cr_expect_str_empty(gemm_steps_kernel(NULL));
    cr_expect_str_empty(gemm_steps_device(NULL));
    gemm_steps_destroy(NULL);
}

Test(library_errors, a_new_handle_has_no_error_and_no_kernel)
{
    cr_assert_eq(gemm_steps_create(GEMM_STEPS_SIMULATED, &h), GEMM_STEPS_OK);
    cr_expect_str_empty(gemm_steps_error(h));
    cr_expect_str_empty(gemm_steps_kernel(h));
    cr_expect_str_eq(gemm_steps_device(h), "simulated GPU");
    gemm_steps_destroy(h);
}
