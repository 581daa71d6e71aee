// What a test program skips when a setup of Meson runs it is noted in the file SKIPPED, and said at the end of the run
// by skipped.sh: Meson's own screen has only how many.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// why: its first line counts.
static inline void note_skipped(const char *why)
{
    FILE *out = getenv("GEMM_STEPS_TESTS") ? fopen(SKIPPED, "a") : NULL;
    if (!out)
        return;
    fprintf(out, "%d %s: %.*s\n", (int)getppid(), program_invocation_short_name, (int)strcspn(why, "\n"), why);
    fclose(out);
}
