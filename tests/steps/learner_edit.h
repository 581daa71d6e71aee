// An edit of a step's kernel, compiled and run as a learner would: what the tests of edits.def and mistakes.def share.
// The step is that of step_case.h, the copy that of kernel_copy.h.
#pragma once

#include <stdbool.h>

struct learner_edit {
    const char *step, *what, *from, *to;  // the number of its step; `from` occurs once in the kernel, and becomes `to`
};

bool learner_edit_is_of_step(const struct learner_edit *e);

// Writes the copy with the edit, and the kernel as it was, and compiles it. Fails the test if either cannot be done.
void learner_edit_build(const struct learner_edit *e);

// What the driver says about the copy with these options; the caller frees it. *status: its exit status.
char *learner_edit_run(const char *options, int *status);

// The same without the course's text, as in an exercise: the copy is compared with itself.
char *learner_edit_run_alone(const char *options, int *status);
