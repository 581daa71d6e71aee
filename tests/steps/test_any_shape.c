// Each kernel of step 20, at shapes that its tiles do not fit, in as many parts as a cluster may have: right, with
// nothing found by the checks. (The rule that picks one is tested in test_geometry.c.)
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "found.h"
#include "sample.h"
#include "shapes.h"
#include "tester/choose.h"
#include "tester/gemm.h"

static const struct shape shapes[] = { { 1, 1, 1 }, { 131, 270, 600 }, { 65, 136, 577 }, { 200, 72, 1030 } };

static dev_ptr upload(struct dev *d, const char *name, const struct matrix *m)
{
    dev_ptr p;
    cr_assert(dev_alloc(d, name, matrix_bytes(m), &p) && dev_upload(d, p, m->data, matrix_bytes(m)), "%s",
              dev_error(d));
    return p;
}

static void try_one(struct dev *d, struct dev_module *module, const struct geometry *g, struct shape s, double beta)
{
    struct matrix A = matrix_new(DEV_F16, s.m, s.k), B = matrix_new(DEV_F16, s.k, s.n),
                  C0 = matrix_new(DEV_F16, s.m, s.n);
    struct matrix C = matrix_new(DEV_F16, s.m, s.n);
    struct gemm call = { .m = s.m, .n = s.n, .k = s.k, .alpha = 1.25, .beta = beta };
    char error[DEV_ERROR_MAX];
    matrix_fill_random(&A, 1);
    matrix_fill_random(&B, 2);
    matrix_fill_random(&C0, 3);
    call.A = upload(d, "A", &A);
    call.B = upload(d, "B", &B);
    call.C = upload(d, "C", &C0);
    cr_assert(gemm_open(&call, d, module, g->kernel, DEV_F16, g, error), "%s", error);
    cr_assert(gemm_queue(&call, d) && dev_sync(d) && dev_download(d, C.data, call.C, matrix_bytes(&C)), "%s in %d: %s",
              g->kernel, g->parts, dev_error(d));
    const struct simt_findings *f = dev_findings(d);
    cr_expect(!f || !f->n, "%s in %d: %s", g->kernel, g->parts, found_first(f));
    const struct matrix_verdict v = matrix_check(&C, 1.25, &A, &B, beta, beta != 0 ? &C0 : NULL);
    cr_expect(v.right, "%s in %d, %d x %d x %d, beta %g: C[%d][%d] is wrong", g->kernel, g->parts, s.m, s.n, s.k, beta,
              v.row, v.col);
    gemm_close(&call, d);
    cr_assert(dev_free(d, call.A) && dev_free(d, call.B) && dev_free(d, call.C));
    struct matrix *const all[] = { &A, &B, &C0, &C };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        matrix_free(all[i]);
}

static void try_all(enum dev_kind kind)
{
    extern const struct step step_20_any_shape;
    struct dev *d = device_or_skip(kind, &step_20_any_shape);
    struct geometries list;
    size_t place = 0;
    char error[DEV_ERROR_MAX];
    struct dev_module *module = dev_load(d, step_20_any_shape.ptx);
    cr_assert(module, "%s", dev_error(d));
    cr_assert(geometries_read(step_20_any_shape.ptx, &list, error), "%s", error);
    cr_assert_geq(list.n, 6);
    if (kind == DEV_SIM)
        dev_set_checks(d, true);
    for (int i = 0; i < list.n; i++)
        for (int parts = list.all[i].split ? 2 : 1; parts <= (list.all[i].split ? CHOOSE_PARTS : 1); parts *= 2)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                struct geometry g = list.all[i];
                g.parts = parts;
                if (sample_brief(place++, 3))
                    try_one(d, module, &g, shapes[s], s % 2 ? -0.75 : 0);
            }
    dev_unload(d, module);
    dev_close(d);
}

Test(any_shape, each_kernel_is_right_on_the_simulated_gpu, .timeout = 120)
{
    try_all(DEV_SIM);
}

Test(any_shape, each_kernel_is_right_on_a_gpu, .timeout = 120)
{
    try_all(DEV_GPU);
}
