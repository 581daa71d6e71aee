// A learner's mistakes in the steps' kernels (edits.def), each compiled and run as a learner would: the driver must
// find the result wrong, and for nearly all of them its message must name the cause. The course's text is given to
// those rows alone that quote it. The step is that of step_case.h. The sample (sample.h) has one in three. Run by
// itself, without --tap, it shows what is said about each.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "file_text.h"
#include "kernel_copy.h"
#include "sample.h"
#include "step_case.h"
#include "learner_edit.h"

TestSuite(edits, .init = copy_folder_make, .fini = copy_folder_remove, .timeout = 300);

enum { EDIT_WORDS = 3, OPTIONS = 128 };

static const struct kernel_edit {
    struct learner_edit edit;
    const char *options, *says[EDIT_WORDS];
} kernel_edits[] = {
#define EDIT(step, what, options, from, to, ...) { { step, what, from, to }, options, { __VA_ARGS__ } },
#include "edits.def"
#undef EDIT
};
static const size_t n_kernel_edits = sizeof kernel_edits / sizeof *kernel_edits;

// Whether it is to be compared with the course's kernel.
static bool is_compared(const struct kernel_edit *e)
{
    return e->says[0] && strstr(e->says[0], "the course has");
}

static bool names_the_cause(const struct kernel_edit *e, const char *said)
{
    for (int i = 0; i < EDIT_WORDS && e->says[i]; i++)
        if (!strstr(said, e->says[i]))
            return false;
    return e->says[0];
}

// Clang folds what a variable without a value goes into: nothing may be left of that mistake but a wrong result. Its
// PTX does not say from where a line was called.
static bool must_be_named(const struct kernel_edit *e)
{
    // clang unrolls the loop of the one, so that its stores are eight, and masks the row of the other in 16 bits.
    static const char *const by_nvcc_alone[] = { "all rows of a thread stored in its first",
                                                 "the thread's row in 8 bits" };
    if (!e->says[0] || BY_NVCC)
        return e->says[0];
    for (size_t i = 0; i < sizeof by_nvcc_alone / sizeof *by_nvcc_alone; i++)
        if (!strcmp(e->edit.what, by_nvcc_alone[i]))
            return false;
    for (int i = 0; i < EDIT_WORDS && e->says[i]; i++)
        if (!strcmp(e->says[i], "uninitialised") || !strncmp(e->says[i], "called from", 11))
            return false;
    return true;
}

enum { ONE_IN = 3 };

// Whether the step's edit at this place is in the sample.
static bool in_sample(int place)
{
    return sample_has(STEP.name, (size_t)place % ONE_IN, ONE_IN) && sample_brief_step(STEP.name, 0);
}

// How many edits of this step are in the sample, or are not.
static int count(bool sample)
{
    int n = 0, place = 0;
    for (size_t i = 0; i < n_kernel_edits; i++)
        if (learner_edit_is_of_step(&kernel_edits[i].edit))
            n += in_sample(place++) == sample;
    return n;
}

static void try_edits(bool sample)
{
    int named = 0, caught = 0, all = 0, place = 0;
    for (size_t i = 0; i < n_kernel_edits; i++) {
        const struct kernel_edit *e = &kernel_edits[i];
        int status;
        if (!learner_edit_is_of_step(&e->edit) || in_sample(place++) != sample)
            continue;
        learner_edit_build(&e->edit);
        char options[OPTIONS];
        snprintf(options, sizeof options, "%s%s", e->options, is_compared(e) ? "" : " --course /dev/null");
        char *said = learner_edit_run(options, &status);
        // What is only advised leaves the exit status at 0.
        const bool is_advised = status == 0 && strstr(said, "\nadvice: ");
        const bool is_caught = status == 1 || status == 2 || is_advised, is_named = names_the_cause(e, said);
        fprintf(stderr, "--- %s, %s: %s\n%s", e->edit.step, e->edit.what,
                !is_caught ? "NOT CAUGHT"
                : is_named ? "named"
                           : "caught",
                said);
        cr_expect(is_caught, "%s, %s: exit status %d\n%s", e->edit.step, e->edit.what, status, said);
        cr_expect(is_named || !must_be_named(e), "%s, %s: the cause is not named\n%s", e->edit.step, e->edit.what,
                  said);
        all++, caught += is_caught, named += is_named;
        free(said);
    }
    fprintf(stderr, "%s: %d edits, %d caught, %d named\n", STEP.name, all, caught, named);
}

Test(edits, of_the_sample_are_caught_and_named)
{
    if (!count(true)) {
        copy_folder_remove();  // a skipped test does not end with .fini
        cr_skip_test("%s has no edits in the sample; %d in all", STEP.name, count(false));
    }
    try_edits(true);
}

Test(edits, of_the_rest_are_caught_and_named)
{
    if (sample_asked() != SAMPLE_ALL || !count(false)) {
        copy_folder_remove();
        cr_skip_test("%d of %d edits wait for meson test --setup long", count(false), count(true) + count(false));
    }
    try_edits(false);
}

// Over all steps: as many as the course promises. Each row that names a cause is held to it above.
Test(edits, are_forty_and_nearly_all_name_their_cause)
{
    size_t named = 0;
    for (size_t i = 0; i < n_kernel_edits; i++)
        named += kernel_edits[i].says[0] != NULL;
    cr_expect_geq(n_kernel_edits, 40, "%zu edits", n_kernel_edits);
    cr_expect_geq(10 * named, 9 * n_kernel_edits, "%zu of %zu", named, n_kernel_edits);
}

// A producer that asks for the first tiles before the others are ready must not depend on when it goes on: here it
// waits until all stages were given back. K is as deep as the stages are, so no other copy is needed meanwhile.
Test(edits, a_producer_that_comes_late_stops_no_warp)
{
    static const struct learner_edit late = {
        .what = "the producer comes late",
        .from = "int early = STAGES;",
        .to = "int early = STAGES;\n        if (tid == CONSUMERS)\n"
              "            mbarrier_wait(&empty[min(STAGES, tiles) - 1], 0);\n",
    };
    char *text = file_text(step_kernel());
    int status;
    const bool asks_early = strstr(text, late.from);
    free(text);
    if (!asks_early)
        return;
    learner_edit_build(&late);
    char *said = learner_edit_run("--m 200 --n 136 --k 256 --once", &status);
    cr_expect_eq(status, 0, "%s", said);
    free(said);
}
