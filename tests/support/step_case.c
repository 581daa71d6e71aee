// See step_case.h. PTX_COMPILER compiles the kernels, with PTX_FLAGS for all of them and, for each target, the flags in
// PTX_TARGETS. STEPS_FOLDER has the sources of the steps.
#include "step_case.h"

#include <criterion/criterion.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/steps.h"
#include "base/program.h"

const struct step *step_asked(void)
{
    const char *name = getenv("STEP");
    cr_assert(name, "STEP names no step: run this by meson test, or as STEP=01_naive build/tests/...");
    for (size_t i = 0; i < n_steps; i++)
        if (!strcmp(steps[i]->name, name))
            return steps[i];
    cr_assert_fail("STEP=%s: there is no such step; build/ladder --list has all", name);
    return NULL;
}

// --- where it is ---

// The folder of the sources has the name of the folder that its PTX is in: 02_smem_tile for 02_smem_tile_double.
static const char *file_of_step(char path[PATH_MAX], const char *file)
{
    char ptx[PATH_MAX];
    snprintf(ptx, sizeof ptx, "%s", STEP.ptx);
    const int n = snprintf(path, PATH_MAX, "%s/%s%s%s", STEPS_FOLDER, basename(dirname(ptx)), *file ? "/" : "", file);
    cr_assert_lt(n, PATH_MAX);
    return path;
}

const char *step_folder(void)
{
    static char path[PATH_MAX];
    return file_of_step(path, "");
}

const char *step_kernel(void)
{
    static char path[PATH_MAX];
    return file_of_step(path, "kernel.cu");
}

// It lies beside its PTX, and has the same name without the ending.
const char *step_driver(void)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", BUILD, STEP.name);
    return path;
}

// --- how it is compiled ---

enum { FLAGS_OF_TARGET = 8 };

static const struct {
    const char *step, *flags[FLAGS_OF_TARGET];
} targets[] = { PTX_TARGETS };

static const char *const *target_flags(void)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].step, STEP.name))
            return targets[i].flags;
    cr_assert_fail("%s has no target of its own: it is another type of a step", STEP.name);
    return NULL;
}

bool step_compile(const char *cu, const char *ptx, char **said)
{
    static const char *const flags[] = { PTX_FLAGS };
    enum { FLAGS = sizeof flags / sizeof *flags };
    const char *argv[1 + FLAGS + FLAGS_OF_TARGET + 4] = { PTX_COMPILER };
    int n = 1, status;
    for (int i = 0; i < FLAGS; i++)
        argv[n++] = flags[i];
    for (const char *const *flag = target_flags(); *flag; flag++)
        argv[n++] = *flag;
    argv[n++] = "-o";
    argv[n++] = ptx;
    argv[n] = cu;
    cr_assert(program_run((char *const *)argv, said, &status), "%s cannot be started", PTX_COMPILER);
    return !status;
}
