// A second list of a learner's mistakes in the steps' kernels (mistakes.def), each compiled and run as a learner would:
// with the driver's defaults, and what is right there with --sanitize. Mistakes must be caught, harmless changes
// neither be wrong nor accused. The step is that of step_case.h; the sample (sample.h) has one in five. Run by itself,
// it tries all of a step; with MISTAKES_TO=FOLDER in the environment, it writes for each the commands, their exit
// status and what they said to a file there.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_copy.h"
#include "learner_edit.h"
#include "sample.h"
#include "step_case.h"

TestSuite(mistakes, .init = copy_folder_make, .fini = copy_folder_remove, .timeout = 300);

// What tells that the kernel was changed.
enum told_by {
    TOLD_BY_DEFAULTS,  // the driver's defaults
    TOLD_BY_SANITIZE,  // --sanitize, if they do not
    TOLD_BY_OPTIONS,   // other options, if neither does
    TOLD_BY_NOTHING,
};

// Where edges, the rest of K, alpha and beta show.
#define HARMLESS_OPTIONS "--m 200 --n 261 --k 331 --alpha 0.5 --beta 2 --sanitize"

static const struct change {
    struct learner_edit edit;
    bool is_mistake;
    enum told_by told_by;  // at the latest
    const char *options;
} changes[] = {
#define MISTAKE(step, what, from, to) { { step, what, from, to }, true, TOLD_BY_DEFAULTS, "" },
#define MISTAKE_SANITIZE(step, what, from, to) { { step, what, from, to }, true, TOLD_BY_SANITIZE, "" },
#define MISTAKE_AT(step, what, options, from, to) { { step, what, from, to }, true, TOLD_BY_OPTIONS, options },
#define HARMLESS(step, what, from, to) { { step, what, from, to }, false, TOLD_BY_NOTHING, HARMLESS_OPTIONS },
#include "mistakes.def"
#undef MISTAKE
#undef MISTAKE_SANITIZE
#undef MISTAKE_AT
#undef HARMLESS
};
static const size_t n_changes = sizeof changes / sizeof *changes;

// --- what was said ---

// NULL unless MISTAKES_TO asks for it.
static FILE *record_begin(const struct change *c, int place)
{
    const char *folder = getenv("MISTAKES_TO");
    char *path;
    if (!folder)
        return NULL;
    cr_assert(asprintf(&path, "%s/%s-%02d.txt", folder, c->edit.step, place + 1) > 0);
    FILE *record = fopen(path, "w");
    cr_assert(record, "MISTAKES_TO: %s cannot be written", path);
    free(path);
    fprintf(record, "%s, %s: %s\n--- from\n%s\n--- to\n%s\n", c->edit.step, c->is_mistake ? "a mistake" : "harmless",
            c->edit.what, c->edit.from, c->edit.to);
    return record;
}

// Whether the driver finds something with these options. What the checks of --sanitize only advise leaves the exit
// status at 0.
static bool tells(const char *options, FILE *record)
{
    int status;
    char *said = learner_edit_run(options, &status);
    const bool told = status == 1 || status == 2 || (strstr(options, "--sanitize") && strstr(said, "\nadvice: "));
    if (record)
        fprintf(record, "--- %s --device=sim %s\n%s--- exit status %d\n", STEP.name, options, said, status);
    free(said);
    return told;
}

// --- the list ---

enum { ONE_IN = 5 };

static bool in_sample(int place)
{
    return sample_has(STEP.name, (size_t)place % ONE_IN, ONE_IN) && sample_brief_step(STEP.name, 3);
}

static int count(bool sample)
{
    int n = 0, place = 0;
    for (size_t i = 0; i < n_changes; i++)
        if (learner_edit_is_of_step(&changes[i].edit))
            n += in_sample(place++) == sample;
    return n;
}

static void try_one(const struct change *c, int place)
{
    FILE *record = record_begin(c, place);
    learner_edit_build(&c->edit);
    const bool by_defaults = tells("", record), by_sanitize = !by_defaults && tells("--sanitize", record);
    const bool by_options = !by_defaults && !by_sanitize && *c->options && tells(c->options, record);
    const enum told_by told_by = by_defaults   ? TOLD_BY_DEFAULTS
                                 : by_sanitize ? TOLD_BY_SANITIZE
                                 : by_options  ? TOLD_BY_OPTIONS
                                               : TOLD_BY_NOTHING;
    static const char *const words[] = { "the defaults", "--sanitize", "the options of its row", "nothing" };
    fprintf(stderr, "%s, %s: told by %s\n", c->edit.step, c->edit.what, words[told_by]);
    if (c->is_mistake)
        cr_expect_leq(told_by, c->told_by, "%s, %s: told by %s", c->edit.step, c->edit.what, words[told_by]);
    else
        cr_expect_eq(told_by, TOLD_BY_NOTHING, "%s, %s: harmless, and accused", c->edit.step, c->edit.what);
    if (record)
        cr_assert(!fclose(record));
}

static void try_changes(bool sample)
{
    int place = 0;
    for (size_t i = 0; i < n_changes; i++)
        if (learner_edit_is_of_step(&changes[i].edit)) {
            if (in_sample(place) == sample)
                try_one(&changes[i], place);
            place++;
        }
}

Test(mistakes, of_the_sample_are_caught_and_harmless_changes_are_not)
{
    if (!count(true)) {
        copy_folder_remove();  // a skipped test does not end with .fini
        cr_skip_test("%s has no changes in the sample; %d in all", STEP.name, count(false));
    }
    try_changes(true);
}

Test(mistakes, of_the_rest_are_caught_and_harmless_changes_are_not)
{
    if (sample_asked() != SAMPLE_ALL || !count(false)) {
        copy_folder_remove();
        cr_skip_test("%d of %d changes wait for meson test --setup long", count(false), count(true) + count(false));
    }
    try_changes(false);
}

// The rule at the head of mistakes.def.
Test(mistakes, are_as_many_for_each_step_and_none_is_an_edit)
{
    static const struct {
        const char *step, *from, *to;
    } edits[] = {
#define EDIT(step, what, options, from, to, ...) { step, from, to },
#include "edits.def"
#undef EDIT
    };
    int mistakes = 0, harmless = 0;
    for (size_t i = 0; i < n_changes; i++) {
        const struct learner_edit *e = &changes[i].edit;
        for (size_t j = 0; j < sizeof edits / sizeof *edits; j++)
            cr_expect(strcmp(e->step, edits[j].step) || strcmp(e->from, edits[j].from) || strcmp(e->to, edits[j].to),
                      "%s, %s: a row of edits.def", e->step, e->what);
        if (learner_edit_is_of_step(e))
            ++*(changes[i].is_mistake ? &mistakes : &harmless);
    }
    if (mistakes + harmless) {  // the steps of the course
        cr_expect_eq(mistakes, atoi(STEP.name) == 20 ? 9 : 7, "%s: %d", STEP.name, mistakes);
        cr_expect_eq(harmless, 3, "%s: %d", STEP.name, harmless);
    }
}
