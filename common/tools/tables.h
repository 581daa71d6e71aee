// The tables of steps/results: what `ladder --csv` writes, counters and trials. steps/results/README.md says what is in
// which file.
//
// Readers fill a list that the caller frees with free(). They return false, with one line in error that names the file
// and the line, where a table cannot be read or a row is not what its header promises.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/device.h"

#define RESULT_TEXT 128

struct result {
    char date[16], device[RESULT_TEXT], detail[RESULT_TEXT], baseline[RESULT_TEXT], l2[16];
    char step[RESULT_TEXT], type[8];
    int runs, m, n, k;
    unsigned sms, mhz;              // of the device, from the detail: SMs, and their highest clock
    double ms, ms_min, ms_max;      // median, fastest, slowest
    double tflops;                  // of the median
    double baseline_tflops, after;  // of cuBLAS, beside this step and the last one; 0: none
};

struct counter {
    char step[RESULT_TEXT], name[RESULT_TEXT];
    double value;  // of one launch: at 256 x 256 x 256, and in the table of stalls at 4096
};

struct trial {
    char id[32];                                           // by which texts quote it
    char device[RESULT_TEXT], step[RESULT_TEXT], type[8];  // step: "instruction" where it is none
    int size;                                              // 0: not written down
    double low, high;                                      // TFLOP/s; the same where it is one figure
    char variant[2 * RESULT_TEXT];                         // what differed from the step
};

bool results_read(const char *path, struct result **list, size_t *n, char error[DEV_ERROR_MAX]);
bool counters_read(const char *path, struct counter **list, size_t *n, char error[DEV_ERROR_MAX]);
bool stalls_read(const char *path, struct counter **list, size_t *n, char error[DEV_ERROR_MAX]);
bool trials_read(const char *path, struct trial **list, size_t *n, char error[DEV_ERROR_MAX]);
