// The main program of every test. As Criterion's own, but a program in which no test is found fails. Criterion finds
// its tests through /proc: if that is not mounted there are none, and "nothing failed" would be all that is said.
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdio.h>

#include "skipped.h"

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    if (stats->test_status == CR_STATUS_SKIPPED && stats->message)
        note_skipped(stats->message);
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
