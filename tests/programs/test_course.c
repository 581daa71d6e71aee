// The program that leads through the course: each command starts what it names, and a bad one is a line on stderr.
// COURSE is its path.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "program_case.h"
#include "tools/steps.h"

Test(course, alone_lists_its_commands_and_what_comes_next)
{
    shows(0, "\n  diff STEP ", COURSE, NULL);
    shows(0, "\nNext: read ", COURSE, NULL);
    shows(0, "\n  diff STEP ", COURSE, "--help", NULL);
    shows(0, "Next: read ", COURSE, "next", NULL);
}

Test(course, runs_a_step_by_its_number_or_name_with_its_options)
{
    static const char *const names[] = { "1", "01", "01_naive" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        shows(0, "M 33, N 20, K 7", COURSE, "run", names[i], "--device=sim", "--size", "33x20x7", NULL);
    shows(0, "Compares the steps", COURSE, "ladder", "--help", NULL);
    shows(0, "usage: simt", COURSE, "simt", "--help", NULL);
}

Test(course, a_diff_begins_with_both_kernels_and_the_first_step_has_none)
{
    shows(1, "--- steps/01_naive/kernel.cu", COURSE, "diff", "2", NULL);
    shows(1, "\n+++ steps/02_smem_tile/kernel.cu", COURSE, "diff", "02_smem_tile_double", NULL);
    shows(1, "--- steps/02_smem_tile/kernel.cu", COURSE, "diff", "03", NULL);
    shows(0, " is the first step", COURSE, "diff", steps[0]->name, NULL);  // one's own, if it stands before 01
}

Test(course, exercises_are_those_of_progress)
{
    shows(0, "01_coalescing ", COURSE, "list", NULL);
    refuses("exercise", "there is no exercise '99'", COURSE, "check", "99", NULL);
    refuses("exercise", "which exercise", COURSE, "hint", NULL);
    refuses("exercises", "one exercise at a time", COURSE, "check", "5", "6", NULL);
}

Test(course, compiles_a_kernel_of_ones_own_beside_its_source)
{
    static const char kernel[] = "extern \"C\" __global__ void one(int *a) { a[threadIdx.x] = 1; }\n";
    char folder[] = "/tmp/course-XXXXXX", source[64], ptx[64];
    cr_assert(mkdtemp(folder));
    snprintf(source, sizeof source, "%s/my.one.cu", folder);
    snprintf(ptx, sizeof ptx, "%s/my.one.ptx", folder);
    cr_assert(file_write(source, kernel));
    shows(0, "", COURSE, "ptx", source, NULL);
    shows(0, "1 1 1", SIMT, "run", ptx, "one", "--block", "3", "--show", "0", "i32[3]=zeros", NULL);
    refuses("target", "compute_75, compute_80", COURSE, "ptx", "--target", "sm_80", source, NULL);
    unlink(source);
    unlink(ptx);
    rmdir(folder);
}

Test(course, what_it_does_not_know_is_one_line)
{
    refuses("command", "there is no command 'fly'", COURSE, "fly", NULL);
    refuses("no step", "which step?", COURSE, "run", NULL);
    refuses("step", "there is no step '77'", COURSE, "run", "77", NULL);
    refuses("step", "there is no step '7x'", COURSE, "diff", "7x", NULL);
    refuses("file", "which file?", COURSE, "ptx", NULL);
}
