// The check of exercise 10.
#include <stdio.h>

#include "../exercise.h"

enum { BM = 64, THREADS = 64, HALVES = 2, CHUNK = 8, PLACES = 8, ROWS = 33 };

// The kernels, and sizes to run each with: more than one block in each direction, more than one tile of K.
static const struct shape {
    const char *kernel;
    int bn, bk, m, n, k;
} shapes[] = {
    { "gemm_64x32", 64, 32, 64, 128, 64 },
    { "gemm_40x64", 40, 64, 128, 40, 128 },
    { "gemm_72x16", 72, 16, 64, 144, 48 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int paddings[ROWS];  // halves that the learner adds to a row of 8 * index

static void read_paddings(struct ex *x)
{
    dev_ptr out = ex_buffer(x, "paddings", NULL, sizeof paddings);
    const struct dev_arg args[] = { DEV_ARG(out) };
    ex_launch(x, "paddings", &(struct dev_launch){ .block = { ROWS }, .args = args, .n_args = 1 });
    ex_read(x, paddings, out, sizeof paddings);
    for (int i = 1; i < ROWS; i++)
        cr_assert(paddings[i] >= 0, "padding(%d) = %d: a row cannot be shorter than its data", i * CHUNK, paddings[i]);
}

static int padding(int row)
{
    return paddings[row / CHUNK];
}

// Of the eight rows of a matrix, how many begin at the busiest of the eight places of 16 bytes that 128 bytes have.
static int meet(int pitch)
{
    int rows[PLACES] = { 0 }, most = 0;
    for (int r = 0; r < PLACES; r++)
        if (++rows[r * pitch / CHUNK % PLACES] > most)
            most = rows[r * pitch / CHUNK % PLACES];
    return most;
}

// The least that lets all eight rows of a matrix apart.
static int least(int row)
{
    int pad = 0;
    while (meet(row + pad) > 1)
        pad += CHUNK;
    return pad;
}

static const struct profile *launch(struct ex *x, const struct shape *s, dev_ptr A, dev_ptr B, dev_ptr C, bool again)
{
    const struct dev_arg args[] = { DEV_ARG(s->n), DEV_ARG(s->k), DEV_ARG(A), DEV_ARG(B), DEV_ARG(C) };
    const struct dev_launch l = {
        .grid = { (unsigned)(s->n / s->bn), (unsigned)(s->m / BM) }, .block = { THREADS }, .args = args, .n_args = 5
    };
    return again ? ex_relaunch(x, s->kernel, &l) : ex_launch(x, s->kernel, &l);
}

static const struct profile *count(struct ex *x, const struct shape *s)
{
    struct matrix A = ex_whole_numbers(DEV_F16, s->m, s->k, 1), B = ex_whole_numbers(DEV_F16, s->k, s->n, 2);
    dev_ptr a = ex_buffer(x, "A", A.data, matrix_bytes(&A)), b = ex_buffer(x, "B", B.data, matrix_bytes(&B));
    dev_ptr c = ex_buffer(x, "C", NULL, (size_t)s->m * s->n * sizeof(float));
    matrix_free(&A);
    matrix_free(&B);
    return launch(x, s, a, b, c, true);
}

static void is_right(enum dev_kind kind)
{
    struct ex x = ex_open(kind);
    read_paddings(&x);
    for (const struct shape *s = shapes; s < shapes + SHAPES; s++) {
        struct matrix A = ex_whole_numbers(DEV_F16, s->m, s->k, 3), B = ex_whole_numbers(DEV_F16, s->k, s->n, 4),
                      C = matrix_new(DEV_F32, s->m, s->n);
        cr_assert(C.data, "out of memory");
        matrix_fill_nan(&C);
        dev_ptr a = ex_buffer(&x, "A", A.data, matrix_bytes(&A)), b = ex_buffer(&x, "B", B.data, matrix_bytes(&B));
        dev_ptr c = ex_buffer(&x, "C", C.data, matrix_bytes(&C));
        launch(&x, s, a, b, c, false);
        ex_read(&x, C.data, c, matrix_bytes(&C));
        for (int row = 0; row < s->m; row++)
            for (int col = 0; col < s->n; col++) {
                double want = 0;
                for (int k = 0; k < s->k; k++)
                    want += matrix_get(&A, row, k) * matrix_get(&B, k, col);
                cr_assert_eq(matrix_get(&C, row, col), want,
                             "%s on %s, M %d, N %d, K %d: the first wrong element is C[%d][%d] of warp %d: it is %g "
                             "and should be %g. In shared memory rows of As are %d halves apart, rows of Bs %d: does "
                             "each load_matrix_sync say so, and begin at its warp's rows and at k?",
                             s->kernel, dev_about(x.dev)->name, s->m, s->n, s->k, row, col, row % BM / 32,
                             matrix_get(&C, row, col), want, s->bk + padding(s->bk), s->bn + padding(s->bn));
            }
        matrix_free(&A);
        matrix_free(&B);
        matrix_free(&C);
    }
    ex_close(&x);
}

Test(check, 1_the_result_is_right)
{
    is_right(DEV_SIM);
}

Test(check, 2_the_result_is_right_on_the_GPU)
{
    is_right(DEV_GPU);
}

// Which rows of how many halves make the conflicts of this shape, or -1.
static int row_to_blame(const struct shape *s)
{
    return meet(s->bk + padding(s->bk)) > 1 ? s->bk : meet(s->bn + padding(s->bn)) > 1 ? s->bn : -1;
}

Test(check, 3_ldmatrix_has_no_conflicts)
{
    struct ex x = ex_open(DEV_SIM);
    read_paddings(&x);
    for (const struct shape *s = shapes; s < shapes + SHAPES; s++) {
        const struct profile *p = count(&x, s);
        const uint64_t conflicts = p->total[METRIC_LDSM_CONF], waves = p->total[METRIC_LDSM_WAVE];
        const int row = row_to_blame(s);
        if (!conflicts)
            continue;
        cr_assert(row >= 0, "%s: %" PRIu64 " conflicts, with rows that begin at eight different places", s->kernel,
                  conflicts);
        const int pitch = row + padding(row), most = meet(pitch);
        char places[3 * PLACES] = "";
        for (int r = 0; r < PLACES; r++)
            snprintf(places + 2 * r, sizeof places - 2 * (size_t)r, " %d", r * pitch / CHUNK % PLACES);
        cr_assert(
            false,
            "right result, but ldmatrix takes %" PRIu64 " wavefronts where %" PRIu64 " are possible, in %s; look "
            "at %s: padding(%d) = %d, so its rows are %d bytes apart. 128 bytes, all the banks, have eight places "
            "of 16 bytes: the eight rows of a matrix begin at places%s. %s row is back where one was: %d "
            "wavefronts a matrix. How far apart must rows be, in steps of 16 bytes, so that eight of them take "
            "eight places?",
            waves, waves - conflicts, s->kernel, row == s->bk ? "As" : "Bs", row, padding(row), pitch * HALVES, places,
            most == 8   ? "Each"
            : most == 4 ? "Every second"
                        : "Every fourth",
            most);
    }
    ex_close(&x);
}

Test(check, 4_and_not_a_byte_is_wasted)
{
    struct ex x = ex_open(DEV_SIM);
    read_paddings(&x);
    for (const struct shape *s = shapes; s < shapes + SHAPES; s++) {
        const unsigned wanted = (unsigned)(BM * (s->bk + least(s->bk)) + s->bk * (s->bn + least(s->bn))) * HALVES;
        const struct profile *p = count(&x, s);
        if (p->total[METRIC_LDSM_CONF])
            cr_skip_test("first the conflicts have to go");
        const int row = padding(s->bk) > least(s->bk) ? s->bk : s->bn;
        cr_assert(p->shared <= wanted,
                  "no conflicts, but %u bytes more than needed in each block of %s: padding(%d) = %d where %d will do",
                  p->shared - wanted, s->kernel, row, padding(row), least(row));
        cr_assert_eq(p->shared, wanted, "%s has %u bytes of shared memory; As and Bs padded as little as can be are %u",
                     s->kernel, p->shared, wanted);
    }
    // The rows of other tiles.
    for (int row = CHUNK; row < ROWS * CHUNK; row += CHUNK)
        cr_assert(padding(row) == least(row),
                  "these three shapes are right, but a row of %d halves gets padding(%d) = %d, and with %d it would "
                  "have %s",
                  row, row, padding(row), least(row), meet(row + padding(row)) > 1 ? "no conflicts" : "none either");
    ex_close(&x);
}
