// The variants of the steps: kernels with one thing changed, of a file whose head says what a row has
// (steps/variants/variants.txt).
#pragma once

#include <stddef.h>

#include "base/device.h"

enum variant_kind { VARIANT_ONLY, VARIANT_WITHOUT, VARIANT_WITH, VARIANT_WRONG };
extern const char *const variant_kinds[];

struct variant_edit {
    const char *from, *to;  // NULL: the edits of the variant `from`
    int line;               // where it stands in the file
};

struct variant {
    const char *name, *step;  // the step whose kernel is edited
    int of;                   // the number of the step whose gain is in question
    enum variant_kind kind;
    const char *part, *words;
    struct variant_edit *edits;
    size_t n;
};

// What no row leaves out of a step, where rows name all that it changes.
struct variant_other {
    int of;
    const char *part;
};

struct variants {
    char *path, *text;
    struct variant_other *others;
    size_t n_others;
    struct variant *all;
    size_t n;
};

// False, with one line in error that names the file's line, if a row is not as it must be.
bool variants_read(struct variants *v, const char *path, char error[DEV_ERROR_MAX]);
void variants_free(struct variants *v);
const char *variants_other(const struct variants *v, int of);                     // NULL: not all has a name
const struct variant *variants_find(const struct variants *v, const char *name);  // NULL: there is none

// The kernel's text with the edits made, to be freed. NULL, with one line in error that names the edit, if what it
// changes does not stand there once.
char *variants_apply(const struct variants *v, const struct variant *one, const char *kernel,
                     char error[DEV_ERROR_MAX]);
