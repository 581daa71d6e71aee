// Slips in the steps' kernels (slips.def, habits.def, judged.def), each compiled and run as a learner would: the driver
// finds them, and says where the kernel differs from the course's; of some it says the cause without that, too, as in
// an exercise; of harmless changes it says nothing. The step is that of step_case.h; the sample (sample.h) has one in
// six. Run by itself, it tries all of a step and shows what is said.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compiler.h"
#include "file_text.h"
#include "kernel_copy.h"
#include "learner_edit.h"
#include "sample.h"
#include "step_case.h"

TestSuite(slips, .init = copy_folder_make, .fini = copy_folder_remove, .timeout = 300);

#define OTHER_SIZES "--m 200 --n 261 --k 331 --alpha 0.5 --beta 2 --sanitize"

static const struct slip {
    struct learner_edit edit;
    const char *options, *says;  // says NULL: it is harmless
    const char *alone;           // what is said without the course's text; NULL: anything
} slips[] = {
#define SLIP(step, what, from, to, says) { { step, what, from, to }, "", says, NULL },
#define SLIP_SANITIZE(step, what, from, to, says) { { step, what, from, to }, "--sanitize", says, NULL },
#define SLIP_AT(step, what, from, to, says) { { step, what, from, to }, OTHER_SIZES, says, NULL },
#define JUDGED(step, what, from, to, says, alone) { { step, what, from, to }, "", says, alone },
#define JUDGED_SANITIZE(step, what, from, to, says, alone) { { step, what, from, to }, "--sanitize", says, alone },
#define HARMLESS(step, what, from, to) { { step, what, from, to }, NULL, NULL, NULL },
#include "slips.def"
#include "habits.def"
#include "judged.def"
#undef SLIP
#undef SLIP_SANITIZE
#undef SLIP_AT
#undef JUDGED
#undef JUDGED_SANITIZE
#undef HARMLESS
};
static const size_t n_slips = sizeof slips / sizeof *slips;

// --- what is said ---

// The line of the copy at which it differs from the kernel as it was.
static unsigned line_of_edit(void)
{
    char *was = file_text(copy_course), *is = file_text(copy_cu);
    size_t n = 0;
    while (was[n] && was[n] == is[n])
        n++;
    const unsigned line = text_line(is, is + n);
    free(was);
    free(is);
    return line;
}

// Whether a line of it has these words about a line that is near this one: two statements in the other order are said
// to have changed at either of them.
static bool says_there(const char *said, const char *words, unsigned line)
{
    enum { NEAR = 3 };
    const char *at = strstr(said, words);
    unsigned number;
    while (at && at > said && at[-1] != '\n')
        at--;
    return at && sscanf(at, " kernel.cu:%u", &number) == 1 && number + NEAR >= line && number <= line + NEAR;
}

static bool is_told(const char *said, int status)
{
    return status == 1 || status == 2 || (status == 0 && strstr(said, "\nadvice: "));
}

static void try_slip(const struct slip *s)
{
    int status;
    char *said = learner_edit_run(s->options, &status);
    const unsigned line = line_of_edit();
    fprintf(stderr, "--- %s, %s, line %u:\n%s", s->edit.step, s->edit.what, line, said);
    cr_expect(is_told(said, status), "%s, \"%s\": exit status %d\n%s", s->edit.step, s->edit.to, status, said);
    cr_expect(says_there(said, s->says, line), "%s, \"%s\", line %u: not said is \"%s\"\n%s", s->edit.step, s->edit.to,
              line, s->says, said);
    free(said);
    if (!s->alone)
        return;
    said = learner_edit_run_alone(s->options, &status);
    cr_expect(strstr(said, s->alone), "%s, \"%s\": not said without the course's text is \"%s\"\n%s", s->edit.step,
              s->edit.to, s->alone, said);
    cr_expect(!strstr(said, "the course"), "%s, \"%s\": the course's text is known\n%s", s->edit.step, s->edit.to,
              said);
    free(said);
}

static void try_harmless(const struct slip *s)
{
    static const char *const options[] = { "", "--sanitize", OTHER_SIZES };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int status;
        char *said = learner_edit_run(options[i], &status);
        cr_expect(!is_told(said, status) && !strstr(said, "the course"), "%s, \"%s\" is harmless:\n%s", s->edit.step,
                  s->edit.to, said);
        free(said);
    }
}

// --- the list ---

enum { ONE_IN = 6 };

static bool in_sample(int place)
{
    return sample_has(STEP.name, (size_t)place % ONE_IN, ONE_IN) && sample_brief_step(STEP.name, 2);
}

// Tries those of the step that are in the sample, or are not. Returns how many there are.
static int each(bool sample, bool is_tried)
{
    int n = 0, place = 0;
    for (size_t i = 0; i < n_slips; i++) {
        if (!learner_edit_is_of_step(&slips[i].edit) || in_sample(place++) != sample)
            continue;
        n++;
        if (is_tried) {
            learner_edit_build(&slips[i].edit);
            slips[i].says ? try_slip(&slips[i]) : try_harmless(&slips[i]);
        }
    }
    return n;
}

static void skip_unless_by_nvcc(void)
{
    if (BY_NVCC)
        return;
    copy_folder_remove();  // a skipped test does not end with .fini
    cr_skip_test("the slips were judged where nvcc compiles the kernels");
}

Test(slips, of_the_sample_are_told_with_their_place)
{
    skip_unless_by_nvcc();
    if (!each(true, false)) {
        copy_folder_remove();
        cr_skip_test("%s has no slips in the sample; %d in all", STEP.name, each(false, false));
    }
    each(true, true);
}

Test(slips, of_the_rest_are_told_with_their_place)
{
    skip_unless_by_nvcc();
    if (sample_asked() != SAMPLE_ALL || !each(false, false)) {
        copy_folder_remove();
        cr_skip_test("%d slips of %s wait for meson test --setup long", each(false, false), STEP.name);
    }
    each(false, true);
}

// The rules at the heads of the lists: seven slots a step, four, and 90 that were judged.
Test(slips, are_as_many_as_the_rules_say)
{
    size_t real = 0;
    for (size_t i = 0; i < n_slips; i++)
        real += slips[i].says != NULL;
    cr_expect(real >= 290 && real <= 310, "%zu", real);
    cr_expect_geq(n_slips - real, 85, "%zu", n_slips - real);
}
