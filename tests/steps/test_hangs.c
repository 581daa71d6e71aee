// A learner's mistakes after which the steps' kernels wait for ever (hangs.def), each compiled and watched as a learner
// would: the watch must name the barrier, and the line whose arrival is missing there. The step is that of step_case.h.
// Run by itself, without --tap, it shows what is said about each.
#include <criterion/criterion.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "file_text.h"
#include "kernel_copy.h"
#include "learner_edit.h"
#include "sample.h"
#include "step_case.h"

TestSuite(hangs, .init = copy_folder_make, .fini = copy_folder_remove, .timeout = 600);

static const struct hang {
    const char *what, *from, *to, *barrier, *line;
} hangs[] = {
#define HANG(what, from, to, barrier, line) { what, from, to, barrier, line },
#include "hangs.def"
#undef HANG
};
enum { HANGS = sizeof hangs / sizeof *hangs };

static bool is_of_step(const char *kernel, const struct hang *h)
{
    const char *at = strstr(kernel, h->from);
    return at && !strstr(at + 1, h->from);
}

// Whether a reason in what is said names that line, or a finding where the arrival was too much: the step that is shown
// stands at the beginning of a line.
static bool names_line(const char *said, unsigned line)
{
    static const char *const ways[] = { "at kernel.cu:%u  ", ": kernel.cu:%u  ", "called from kernel.cu:%u: " };
    char text[40];
    bool named = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(text, sizeof text, ways[i], line);
        named |= strstr(said, text) != NULL;
    }
    return named;
}

static void try_hang(const struct hang *h)
{
    const struct learner_edit edit = { STEP.name, h->what, h->from, h->to };
    int status;
    learner_edit_build(&edit);
    char *kernel = file_text(copy_cu), *said = learner_edit_run("--watch --m 128 --n 256 --k 1024", &status);
    const char *at = strstr(kernel, h->line);
    cr_assert(at, "%s: there is no line with \"%s\"", h->what, h->line);
    fprintf(stderr, "--- %s, %s\n%s", STEP.name, h->what, said);
    cr_expect(strstr(said, h->barrier), "%s, %s: %s is not named\n%s", STEP.name, h->what, h->barrier, said);
    cr_expect(names_line(said, text_line(kernel, at)), "%s, %s: line %u is not named\n%s", STEP.name, h->what,
              text_line(kernel, at), said);
    free(kernel);
    free(said);
}

enum { ONE_IN = 4 };

// The mistakes of this step, those of the sample or the others; -1: none. How many there are.
static int try_all(bool sample, bool run)
{
    char *kernel = file_text(step_kernel());
    int n = 0, place = 0;
    for (int i = 0; i < HANGS; i++) {
        if (!is_of_step(kernel, &hangs[i]))
            continue;
        const bool in = sample_has(STEP.name, (size_t)place++ % ONE_IN, ONE_IN) && sample_brief_step(STEP.name, 4);
        if (in != sample)
            continue;
        n++;
        if (run)
            try_hang(&hangs[i]);
    }
    free(kernel);
    return n;
}

Test(hangs, of_the_sample_are_explained)
{
    if (!try_all(true, false)) {
        copy_folder_remove();  // a skipped test does not end with .fini
        cr_skip_test("%s has no such mistake in the sample; %d in all", STEP.name, try_all(false, false));
    }
    try_all(true, true);
}

Test(hangs, of_the_rest_are_explained)
{
    if (sample_asked() != SAMPLE_ALL || !try_all(false, false)) {
        copy_folder_remove();
        cr_skip_test("%d of %d mistakes wait for meson test --setup long", try_all(false, false),
                     try_all(false, false) + try_all(true, false));
    }
    try_all(false, true);
}

// Over all steps, so that no text gets lost.
Test(hangs, are_more_than_twenty)
{
    int n = 0;
    glob_t kernels;
    cr_assert_not(glob(STEPS_FOLDER "/*/kernel.cu", 0, NULL, &kernels));
    for (size_t k = 0; k < kernels.gl_pathc; k++) {
        char *kernel = file_text(kernels.gl_pathv[k]);
        for (int i = 0; i < HANGS; i++)
            n += is_of_step(kernel, &hangs[i]);
        free(kernel);
    }
    globfree(&kernels);
    cr_expect_geq(n, 20, "%d", n);
}
