// One step (step_case.h), on every shape of the shared table, on every device that is there.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "base/profile.h"
#include "shapes.h"
#include "step_case.h"

static bool sanitize;  // run_shape with the checks on

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
    o.seed = (uint64_t)s.m * 31 + (uint64_t)s.n * 7 + (uint64_t)s.k;
    o.warmup = 0;
    o.iterations = 1;
    o.sanitize = sanitize;
    bool ran = tester_run(d, &STEP, &o, &r, error);
    cr_assert(ran, "%s %d x %d x %d on %s: %s", STEP.name, s.m, s.n, s.k, dev_about(d)->name, error);
    cr_assert(r.verdict == TESTER_RIGHT, "%s %d x %d x %d, alpha %g, beta %g on %s: %s", STEP.name, s.m, s.n, s.k,
              alpha, beta, dev_about(d)->name, r.what);
}

// With beta = 0 the tester fills C with NaN, so a kernel that reads C there is wrong everywhere.
static void every_shape(enum dev_kind kind)
{
    struct shape shapes[SHAPES_MAX];
    struct dev *d = device_or_skip(kind, &STEP);
    size_t n = shapes_of(&STEP, shapes);
    for (size_t i = 0; i < n; i++)
        run_shape(d, shapes[i], 1, 0);
    dev_close(d);
}

static void every_scale(enum dev_kind kind)
{
    static const double scales[][2] = { { 1, 1 }, { -0.5, 2 }, { 0, 0 }, { 0, 1 }, { 3, -0.25 }, { 1e-3, 0 } };
    struct dev *d = device_or_skip(kind, &STEP);
    const struct geometry g = geometry_of(&STEP);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        run_shape(d, (struct shape){ 67, 45, 33 }, scales[i][0], scales[i][1]);
        run_shape(d, (struct shape){ g.bm, g.bn, 32 }, scales[i][0], scales[i][1]);
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

// --- the simulator's own promises, on the real kernel ---

Test(step, counts_the_same_for_any_number_of_host_threads)
{
    const struct geometry g = geometry_of(&STEP);
    struct shape s = { 2 * g.bm + 1, 2 * g.bn - 1, 37 };
    struct profile first = { 0 };
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        struct dev *d = device_or_skip(DEV_SIM, &STEP);
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

// The tester runs with fresh memory for C where beta is 0, so that reading it would be found, too.
Test(step, gives_the_checks_nothing_to_find)
{
    struct shape shapes[SHAPES_MAX];
    struct dev *d = device_or_skip(DEV_SIM, &STEP);
    size_t n = shapes_of(&STEP, shapes);
    dev_set_checks(d, sanitize = true);
    for (size_t i = 0; i < n; i++) {
        run_shape(d, shapes[i], 1, i % 2 ? 0.5 : 0);
        const struct simt_findings *f = dev_findings(d);
        cr_assert_not_null(f);
        cr_assert_eq(f->n, 0, "%d x %d x %d: %s", shapes[i].m, shapes[i].n, shapes[i].k, found_text(f));
    }
    dev_close(d);
}

// What must be stored is known: C once, element by element or 16 bytes at a time.
Test(step, stores_every_element_of_C_once)
{
    struct dev *d = device_or_skip(DEV_SIM, &STEP);
    const struct geometry g = geometry_of(&STEP);
    int m = 2 * g.bm, n = g.bn;
    run_shape(d, (struct shape){ m, n, 16 }, 1, 0);
    const struct profile *p = dev_profile(d);
    uint64_t narrow = (uint64_t)m * (uint64_t)n / 32, wide = narrow * type_size(STEP.type) / 16;
    uint64_t stores = p->total[METRIC_GST_INST];
    if (g.cbox)  // TMA stores C
        cr_assert_eq(stores, 0, "%llu store instructions beside the boxes of C", (unsigned long long)stores);
    else
        cr_assert(stores == narrow || stores == wide,
                  "%llu store instructions, expected %llu, or %llu of 16 bytes a lane", (unsigned long long)stores,
                  (unsigned long long)narrow, (unsigned long long)wide);
    dev_close(d);
}
