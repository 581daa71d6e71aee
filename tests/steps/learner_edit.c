// See learner_edit.h.
#include "learner_edit.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_text.h"
#include "kernel_copy.h"
#include "base/file.h"
#include "base/program.h"
#include "step_case.h"

bool learner_edit_is_of_step(const struct learner_edit *e)
{
    return !strncmp(STEP.name, e->step, strlen(e->step)) && STEP.name[strlen(e->step)] == '_';
}

// The kernel; what step 20 alone has in a header stands in it. The caller frees it.
static char *kernel_text(void)
{
    static const char line[] = "#include \"add_up.cuh\"", once[] = "#pragma once";
    char *text = file_text(step_kernel()), *at = strstr(text, line), *all;
    if (!at)
        return text;
    char *header = file_text(COMMON_FOLDER "/add_up.cuh");
    memset(strstr(header, once), ' ', strlen(once));
    cr_assert(asprintf(&all, "%.*s%s%s", (int)(at - text), text, header, at + strlen(line)) > 0);
    free(header);
    free(text);
    return all;
}

static void write_copy(const struct learner_edit *e)
{
    FILE *out = fopen(copy_cu, "w");
    char *text = kernel_text();
    cr_assert(out && file_write(copy_course, text));
    const char *at = strstr(text, e->from);
    cr_assert(at && !strstr(at + 1, e->from), "%s, %s: \"%s\" is not there once", e->step, e->what, e->from);
    cr_assert(fprintf(out, "%.*s%s%s", (int)(at - text), text, e->to, at + strlen(e->from)) > 0);
    cr_assert(!fclose(out));
    free(text);
}

void learner_edit_build(const struct learner_edit *e)
{
    char *said;
    write_copy(e);
    cr_assert(step_compile(copy_cu, copy_ptx, &said), "%s, %s:\n%s", e->step, e->what, said);
    free(said);
}

static char *run(const char *options, char *course, int *status)
{
    enum { OPTIONS = 16, FIRST = 6 };
    char *argv[FIRST + OPTIONS + 1] = { (char *)step_driver(), (char *)"--device=sim",
                                        (char *)"--ptx",       copy_ptx,
                                        (char *)"--course",    course };
    char words[128], *said;
    int n = FIRST;
    snprintf(words, sizeof words, "%s", options);
    for (char *word = strtok(words, " "); word && n < FIRST + OPTIONS; word = strtok(NULL, " "))
        argv[n++] = word;
    cr_assert(program_run(argv, &said, status), "%s cannot be started", argv[0]);
    return said;
}

char *learner_edit_run(const char *options, int *status)
{
    return run(options, copy_course, status);
}

char *learner_edit_run_alone(const char *options, int *status)
{
    return run(options, copy_cu, status);
}
