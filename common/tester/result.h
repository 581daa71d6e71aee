// What came of a run of a step.
#pragma once

#include "step.h"

enum tester_verdict { TESTER_WRONG, TESTER_RIGHT, TESTER_UNCHECKED };

enum { TESTER_WHAT = 1280, TESTER_CHANGED = 2048, TESTER_ADVICE = 256 };

struct tester_result {
    enum tester_verdict verdict;
    char what[TESTER_WHAT];  // one line: the first wrong element, its owner and the likely cause, or how it was checked
    char changed[TESTER_CHANGED];  // lines: where a wrong kernel differs from the course's, and the cause (changed.h)
    char advice[TESTER_ADVICE];    // of a right kernel: what large matrices would show; empty if there is nothing
    char source[1024];             // of a wrong kernel whose cause is known: its file, and
    unsigned look[TESTER_LOOK];    // lines of it to look at, the likeliest first; 0: no more
    double ms, ms_min, ms_max;     // median, fastest and slowest of the timed runs
    double gflops;                 // 2 * m * n * k over the median; 0 on the simulated GPU, whose time means nothing
    double baseline_ms;            // median of cuBLAS on the same data, in turn with the step; 0 if there is none
    char baseline_error[DEV_ERROR_MAX];  // why there is none, if it failed
    double worst;                        // largest error as a fraction of its bound; above 1 is wrong
};
