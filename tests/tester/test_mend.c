// A kernel in other words: as long as none is chosen, it does what it did; one that is wrong makes it wrong, and it is
// right again afterwards.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tester/mend.h"

TestSuite(mend, .timeout = 120);

enum { LINES = 400 };

static const struct {
    const char *name;
    enum dev_type type;
} steps[] = {
    { "01_naive", DEV_F32 }, { "05_vectorized", DEV_F32 }, { "13_async_copy", DEV_F16 }, { "14_tma", DEV_F16 }
};
static const size_t n_steps = sizeof steps / sizeof *steps;

struct tried {
    struct probe probe;
    struct mends mends;
    struct probe_data x;
};

static void open_step(struct tried *t, const char *name, enum dev_type type)
{
    static unsigned char rank[LINES];
    char ptx[256], file[256], error[DEV_ERROR_MAX];
    struct geometry g;
    snprintf(ptx, sizeof ptx, STEPS_PTX "/%s/%s.ptx", name, name);
    snprintf(file, sizeof file, STEPS_FOLDER "/%s/kernel.cu", name);
    const struct step step = { .name = name, .type = type, .ptx = ptx };
    const struct tester_options o = { .m = 40, .n = 72, .k = 136, .alpha = 1, .seed = 1 };
    memset(rank, MEND_RANKS - 1, sizeof rank);
    cr_assert(geometry_read(ptx, &g, error), "%s", error);
    cr_assert(probe_open(&t->probe, &step, &g, true, 1) && probe_fill(&t->x, type, &o));
    cr_assert(mends_open(&t->mends, &t->probe, file, rank, LINES), "%s cannot be compiled in other words", name);
    t->mends.probe.budget = 1 << 22;
}

static void close_step(struct tried *t)
{
    mends_close(&t->mends);
    probe_release(&t->x);
    probe_close(&t->probe);
}

static bool is_right(struct tried *t, const struct mend *x, bool checked)
{
    const struct probe_product r = { 1, 0, &t->x.A, &t->x.B, NULL };
    struct probe *p = &t->mends.probe;
    p->end = t->probe.end + 60;
    cr_assert(mends_set(&t->mends, x));
    const struct simt_findings *found = checked ? probe_check(p, &r, &t->x.C) : NULL;
    if (checked ? !found || found->n : !probe_run(p, &r, &t->x.C))
        return false;
    return matrix_check(&t->x.C, 1, &t->x.A, &t->x.B, 0, NULL).right;
}

Test(mend, a_kernel_is_itself_and_wrong_in_other_words)
{
    enum { ENOUGH = 12 };
    struct tried *t = calloc(1, sizeof *t);
    for (size_t s = 0; s < n_steps; s++) {
        unsigned tried = 0, wrong = 0;
        open_step(t, steps[s].name, steps[s].type);
        cr_expect(is_right(t, NULL, true), "%s: not right as it is: %s", steps[s].name, t->mends.probe.error);
        for (unsigned i = 0; i < t->mends.n && tried < ENOUGH; i++) {
            const struct mend *x = &t->mends.all[i];
            if (x->dropped || x->kind != MEND_SIGN || x->doubt)
                continue;
            tried++;
            wrong += !is_right(t, x, false);
        }
        cr_expect(2 * wrong > tried && tried == ENOUGH, "%s: %u of %u other operators make it wrong", steps[s].name,
                  wrong, tried);
        cr_expect(is_right(t, NULL, false), "%s: not right afterwards", steps[s].name);
        close_step(t);
    }
    free(t);
}

// The words for a place in step 01, whose text says: tid % BN.
Test(mend, it_is_said_what_stands_where)
{
    struct tried *t = calloc(1, sizeof *t);
    bool sign = false, name = false, without = false;
    open_step(t, "01_naive", DEV_F32);
    for (unsigned i = 0; i < t->mends.n; i++) {
        char text[1024];
        mend_say(&t->mends, &t->mends.all[i], text, sizeof text);
        sign = sign || !strcmp(text, "with tid / BN in place of tid % BN");
        name = name || !strcmp(text, "with BN in place of BM");
        without = without || !strcmp(text, "without acc += A[size_t(row) * K + k] * B[size_t(k) * N + col]");
    }
    cr_expect(sign && name && without, "%d %d %d", sign, name, without);
    close_step(t);
    free(t);
}
