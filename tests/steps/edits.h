// Edits by hand of the steps' kernels, as a learner's mistakes are: each makes the result wrong or breaks a rule of the
// machine, at a size that a learner would use.
#ifndef TESTS_EDITS_H
#define TESTS_EDITS_H

#include <stddef.h>

enum { EDIT_WORDS = 3 };

struct kernel_edit {
    const char *step;              // "02": the number of the step
    const char *what;              // the mistake, in a few words
    const char *from, *to;         // the text of kernel.cu, which occurs once, and what stands in its place
    const char *options;           // of the driver's command line, beside the device
    const char *says[EDIT_WORDS];  // what the message holds if it names the cause; none: the edit is caught, no more
};

extern const struct kernel_edit kernel_edits[];
extern const size_t n_kernel_edits;

#endif
