// What a program that runs on the simulated GPU counts for `simt exec`, which started it: numbers in a file that both
// map, so that they are there however the program ends: also what it was at when a signal ended it.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct tally {
    _Atomic uint64_t programs;  // that have come to the runtime
    _Atomic uint64_t findings;  // of the checks, without advices
    _Atomic uint64_t failed;    // calls that returned an error, and said where and why
    _Atomic uint64_t launches;  // that have begun
    _Atomic uint64_t looked;    // of these, launches that are checked, counted or timed
    _Atomic uint64_t work;      // warp instructions of those that have ended
    // Of the last one:
    char kernel[256];
    double began;                   // in seconds of the monotonic clock
    _Atomic uint64_t done, blocks;  // 0 of 0: it has ended
};

// A new one, all zero, whose place the programs that are started from now on find in their environment. NULL, with
// errno, if that fails.
struct tally *tally_new(void);
// That of the program that started this one; NULL if there is none.
struct tally *tally_given(void);
