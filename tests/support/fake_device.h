// Two fake backends, "sim" and "gpu", that multiply on the host in C, so that the tester can be tested without a
// simulator, a GPU or nvcc, and made to fail in every way.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_fault {
    FAKE_RIGHT,
    FAKE_UNWRITTEN,     // one element is not written
    FAKE_LAST_PRODUCT,  // one element lacks its last product
    FAKE_NO_BETA,       // beta * C is left out
    FAKE_READS_C,       // C is read although beta is 0
    FAKE_SWAPPED_ROWS,  // two neighbouring rows are swapped
    FAKE_TRANSPOSED,    // C's transpose is written (square C)
    FAKE_LOAD_FAILS,    // dev_load answers false
    FAKE_LAUNCH_FAILS,  // the launch returns false
};

// What the fake device does; set it before dev_open.
extern struct fake {
    enum fake_fault fault;
    int row, col;  // the element that a fault is about
    bool has_gpu;
    int cc;                         // its compute capability: 75; 0 stands for one that has not been asked
    double launch_ms;               // what the timer says a launch took
    size_t memory;                  // of the device; 0: 1 TiB
    uint64_t budget;                // as it was last set
    const char *warnings;           // of its driver's compiler
    int launches, baselines, live;  // launches and baseline products so far; allocations and modules not freed
} fake;
