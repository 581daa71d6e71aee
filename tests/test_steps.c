// One step, on every shape of the shared table, on every device that is there. Built once for each step: STEP is its
// symbol.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "shapes.h"

extern const struct step STEP;

static struct dev *open_or_skip(enum dev_kind kind)
{
    char error[DEV_ERROR_MAX];
    struct dev *d = dev_open(kind, error);
    if (!d && kind == DEV_GPU)
        cr_skip_test("no GPU: %s", error);
    cr_assert(d, "%s", error);
    return d;
}

static void run_shape(struct dev *d, struct shape s, double alpha, double beta)
{
    char error[DEV_ERROR_MAX] = "";
    struct tester_result r;
    struct tester_options o = tester_defaults;
    o.m = s.m;
    o.n = s.n;
    o.k = s.k;
    o.alpha = alpha;
    o.beta = beta;
    o.seed = (uint64_t)(s.m * 31 + s.n * 7 + s.k);
    o.warmup = 0;
    o.iterations = 1;
    bool ran = tester_run(d, &STEP, &o, &r, error);
    cr_assert(ran, "%s %d x %d x %d on %s: %s", STEP.name, s.m, s.n, s.k, dev_about(d)->name, error);
    cr_assert(r.verdict == TESTER_RIGHT, "%s %d x %d x %d, alpha %g, beta %g on %s: %s", STEP.name, s.m, s.n, s.k,
              alpha, beta, dev_about(d)->name, r.what);
}

// With beta = 0 the tester fills C with NaN, so a kernel that reads C there is wrong everywhere.
static void every_shape(enum dev_kind kind)
{
    struct shape shapes[SHAPES_MAX];
    struct dev *d = open_or_skip(kind);
    size_t n = shapes_of(&STEP, shapes);
    for (size_t i = 0; i < n; i++)
        run_shape(d, shapes[i], 1, 0);
    dev_close(d);
}

static void every_scale(enum dev_kind kind)
{
    static const double scales[][2] = { { 1, 1 }, { -0.5, 2 }, { 0, 0 }, { 0, 1 }, { 3, -0.25 }, { 1e-3, 0 } };
    struct dev *d = open_or_skip(kind);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        run_shape(d, (struct shape){ 67, 45, 33 }, scales[i][0], scales[i][1]);
        run_shape(d, (struct shape){ STEP.tile.m, STEP.tile.n, 32 }, scales[i][0], scales[i][1]);
    }
    dev_close(d);
}

Test(step, is_right_on_every_shape_simulated)
{
    every_shape(DEV_SIM);
}

Test(step, is_right_on_every_shape_on_the_gpu)
{
    every_shape(DEV_GPU);
}

Test(step, scales_by_alpha_and_beta_simulated)
{
    every_scale(DEV_SIM);
}

Test(step, scales_by_alpha_and_beta_on_the_gpu)
{
    every_scale(DEV_GPU);
}

// --- the simulator against the GPU, bit for bit ---

static void upload(struct dev *d, const char *name, const struct matrix *m, dev_ptr *p)
{
    cr_assert(dev_alloc(d, name, matrix_bytes(m), p) && dev_upload(d, *p, m->data, matrix_bytes(m)), "%s",
              dev_error(d));
}

// C as the device leaves it.
static void product(struct dev *d, struct shape s, double alpha, const struct matrix *A, const struct matrix *B,
                    double beta, struct matrix *C)
{
    dev_ptr a, b, c;
    float alpha32 = (float)alpha, beta32 = (float)beta;
    bool wide = STEP.type == DEV_F64;
    const struct dev_arg args[] = {
        DEV_ARG(s.m),
        DEV_ARG(s.n),
        DEV_ARG(s.k),
        { wide ? (void *)&alpha : (void *)&alpha32, wide ? 8 : 4 },
        DEV_ARG(a),
        DEV_ARG(b),
        { wide ? (void *)&beta : (void *)&beta32, wide ? 8 : 4 },
        DEV_ARG(c),
    };
    const struct dev_launch launch = {
        .grid = { (unsigned)((s.n + STEP.tile.n - 1) / STEP.tile.n),
                  (unsigned)((s.m + STEP.tile.m - 1) / STEP.tile.m) },
        .block = { STEP.block },
        .shared = STEP.shared,
        .args = args,
        .n_args = sizeof args / sizeof *args,
    };
    upload(d, "A", A, &a);
    upload(d, "B", B, &b);
    upload(d, "C", C, &c);
    struct dev_module *m = dev_load(d, STEP.ptx);
    struct dev_kernel *k = m ? dev_kernel(d, m, "gemm") : NULL;
    cr_assert(k && dev_launch(d, k, &launch) && dev_sync(d) && dev_download(d, C->data, c, matrix_bytes(C)), "%s",
              dev_error(d));
    dev_unload(d, m);
    cr_assert(dev_free(d, a) && dev_free(d, b) && dev_free(d, c), "%s", dev_error(d));
}

Test(step, gives_the_gpus_bits_when_simulated)
{
    static const struct shape shapes[] = {
        { 1, 1, 1 }, { 256, 256, 256 }, { 130, 258, 70 }, { 33, 65, 9 }, { 61, 67, 71 }, { 129, 127, 1 },
    };
    struct dev *gpu = open_or_skip(DEV_GPU), *sim = open_or_skip(DEV_SIM);
    const unsigned sm = (unsigned)(10 * dev_about(gpu)->cc_major + dev_about(gpu)->cc_minor);
    if (STEP.type == DEV_F16 && (sm < 80 || sm > 90))
        cr_skip_test("how the tensor cores of an sm_%u round is not modelled", sm);
    dev_set_tensor_cores(sim, sm);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct shape s = shapes[i];
        struct matrix A = matrix_new(STEP.type, s.m, s.k), B = matrix_new(STEP.type, s.k, s.n);
        struct matrix C[2] = { matrix_new(STEP.type, s.m, s.n), matrix_new(STEP.type, s.m, s.n) };
        matrix_fill_random(&A, 1 + i);
        matrix_fill_random(&B, 100 + i);
        for (int j = 0; j < 2; j++) {
            matrix_fill_random(&C[j], 200 + i);
            product(j ? gpu : sim, s, 1.25, &A, &B, i % 2 ? -0.75 : 0, &C[j]);
        }
        for (int row = 0; row < s.m; row++)
            for (int col = 0; col < s.n; col++) {
                size_t at = ((size_t)row * (size_t)s.n + (size_t)col) * type_size(STEP.type);
                cr_assert(!memcmp((char *)C[0].data + at, (char *)C[1].data + at, type_size(STEP.type)),
                          "%d x %d x %d: C[%d][%d] is %.17g simulated, %.17g on the GPU", s.m, s.n, s.k, row, col,
                          matrix_get(&C[0], row, col), matrix_get(&C[1], row, col));
            }
        matrix_free(&A);
        matrix_free(&B);
        matrix_free(&C[0]);
        matrix_free(&C[1]);
    }
    dev_close(gpu);
    dev_close(sim);
}

// --- the simulator's own promises, on the real kernel ---

Test(step, counts_the_same_for_any_number_of_host_threads)
{
    struct shape s = { 2 * STEP.tile.m + 1, 2 * STEP.tile.n - 1, 37 };
    struct profile first = { 0 };
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        struct dev *d = open_or_skip(DEV_SIM);
        dev_set_jobs(d, jobs);
        run_shape(d, s, 1, 0);
        const struct profile *p = dev_profile(d);
        cr_assert(p, "no profile");
        if (jobs == 1)
            first = *p;
        for (int m = 0; m < METRIC_COUNT; m++)
            cr_assert_eq(p->total[m], first.total[m], "%s: %llu with 1 host thread, %llu with %u",
                         profile_metric_name(m), (unsigned long long)first.total[m], (unsigned long long)p->total[m],
                         jobs);
        dev_close(d);
    }
}

// What must be stored is known: C once, element by element or 16 bytes at a time.
Test(step, stores_every_element_of_C_once)
{
    struct dev *d = open_or_skip(DEV_SIM);
    int m = 2 * STEP.tile.m, n = STEP.tile.n;
    run_shape(d, (struct shape){ m, n, 16 }, 1, 0);
    const struct profile *p = dev_profile(d);
    uint64_t narrow = (uint64_t)m * (uint64_t)n / 32, wide = narrow * type_size(STEP.type) / 16;
    uint64_t stores = p->total[METRIC_GST_INST];
    cr_assert(stores == narrow || stores == wide, "%llu store instructions, expected %llu, or %llu of 16 bytes a lane",
              (unsigned long long)stores, (unsigned long long)narrow, (unsigned long long)wide);
    dev_close(d);
}
