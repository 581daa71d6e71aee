// The main program of every test. As Criterion's own, but a program in which no test is found fails. Criterion finds
// its tests through /proc: if that is not mounted there are none, and "nothing failed" would be all that is said.
//
// What a setup of Meson starts notes in the file SKIPPED which tests are skipped, and why: Meson's own screen has only
// how many.
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    if (stats->test_status != CR_STATUS_SKIPPED || !stats->message || !getenv("GEMM_STEPS_TESTS"))
        return;
    FILE *out = fopen(SKIPPED, "a");
    if (!out)
        return;
    fprintf(out, "%d %s: %.*s\n", (int)getppid(), program_invocation_short_name, (int)strcspn(stats->message, "\n"),
            stats->message);
    fclose(out);
}

int main(int argc, char **argv)
{
    struct criterion_test_set *tests = criterion_initialize();
    int status = 0;
    if (criterion_handle_args(argc, argv, true)) {
        if (tests->tests) {
            status = !criterion_run_all_tests(tests);
        } else {
            printf("Bail out! Criterion finds no test in %s. Is /proc mounted?\n", argv[0]);
            status = 1;
        }
    }
    criterion_finalize(tests);
    return status;
}
