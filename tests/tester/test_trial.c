// A kernel with a table of other numbers: as long as nothing stands in it, the kernel does what it did; and a number
// that stands in the kernel can be another one, there and back.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tester/trial.h"

static const struct {
    const char *name;
    enum dev_type type;
} steps[] = {
    { "01_naive", DEV_F32 },      { "03_thread_tile_1d", DEV_F32 }, { "06_warp_tile", DEV_F32 },
    { "09_wmma_smem", DEV_F16 },  { "13_async_copy", DEV_F16 },     { "14_tma", DEV_F16 },
    { "18_persistent", DEV_F16 }, { "20_any_shape", DEV_F16 },
};
static const size_t n_steps_tried = sizeof steps / sizeof *steps;

struct tried {
    struct probe probe;
    struct trials *trials;
    struct probe_data x;
};

static void open_step(struct tried *t, const char *name, enum dev_type type)
{
    char ptx[256], file[256], error[DEV_ERROR_MAX];
    struct geometry g;
    snprintf(ptx, sizeof ptx, STEPS_PTX "/%s/%s.ptx", name, name);
    snprintf(file, sizeof file, STEPS_FOLDER "/%s/kernel.cu", name);
    const struct step step = { .name = name, .type = type, .ptx = ptx };
    const struct tester_options o = { .m = 40, .n = 72, .k = 136, .alpha = 1, .seed = 1 };
    cr_assert(geometry_read(ptx, &g, error), "%s", error);
    cr_assert(probe_open(&t->probe, &step, &g, true, 1) && probe_fill(&t->x, type, &o));
    t->trials = calloc(1, sizeof *t->trials);
    unsigned char *ran = malloc(1 << 16);
    cr_assert(t->trials && ran);
    memset(ran, 1, 1 << 16);
    cr_assert(trials_open(t->trials, &t->probe, file, ran), "%s: %s", name, dev_error(t->probe.dev));
    free(ran);
}

static void close_step(struct tried *t)
{
    trials_close(t->trials);
    free(t->trials);
    probe_release(&t->x);
    probe_close(&t->probe);
}

static bool is_right(struct tried *t, bool checked)
{
    const struct probe_product r = { 1, 0, &t->x.A, &t->x.B, NULL };
    struct probe *p = &t->trials->probe;
    const struct simt_findings *found = checked ? probe_check(p, &r, &t->x.C) : NULL;
    if (checked ? !found || found->n : !probe_run(p, &r, &t->x.C))
        return false;
    return matrix_check(&t->x.C, 1, &t->x.A, &t->x.B, 0, NULL).right;
}

Test(trial, nothing_in_the_table_changes_nothing)
{
    for (size_t i = 0; i < n_steps_tried; i++) {
        struct tried t;
        open_step(&t, steps[i].name, steps[i].type);
        cr_expect_gt(t.trials->n_sites, 10, "%s: %u", steps[i].name, t.trials->n_sites);
        cr_expect(is_right(&t, false), "%s: %s", steps[i].name, t.trials->probe.error);
        cr_expect(is_right(&t, true), "%s: the checks find something", steps[i].name);
        close_step(&t);
    }
}

// Not all numbers matter: one that is as good stands in each of them, such as how much of K a loop is unrolled for.
Test(trial, another_number_is_wrong_until_it_is_taken_out)
{
    for (size_t i = 0; i < n_steps_tried; i++) {
        struct tried t;
        unsigned wrong = 0, tried = 0;
        open_step(&t, steps[i].name, steps[i].type);
        for (unsigned site = 0; site < t.trials->n_sites && tried < 20; site++) {
            const struct trial_site *s = &t.trials->sites[site];
            const struct trial x = { site, TRIAL_NUMBER, s->was + 1 };
            if (s->use != TRIAL_SHIFTS_UP || s->group != site)
                continue;
            tried++;
            trials_set(t.trials, &x, true);
            wrong += !is_right(&t, false);
            trials_set(t.trials, &x, false);
        }
        cr_expect(wrong > 0 && 3 * wrong >= tried, "%s: %u of %u numbers matter", steps[i].name, wrong, tried);
        cr_expect(is_right(&t, false), "%s: it is not taken out", steps[i].name);
        close_step(&t);
    }
}
