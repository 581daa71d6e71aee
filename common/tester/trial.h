// A kernel that is tried with other numbers: its PTX is loaded once more, and to what its instructions for whole
// numbers compute with, numbers of a table are added. As long as the table is 0 it is the same kernel; one number in it
// makes of tid / 8 a tid / 16, of K an N, or lets a wait wait for all groups.
#ifndef COMMON_TRIAL_H
#define COMMON_TRIAL_H

#include <stdbool.h>

#include "probe.h"

enum trial_what {
    TRIAL_NUMBER,   // that stands there: `is` in its place
    TRIAL_SIZE,     // M, N or K: `is` (0, 1, 2) in its place
    TRIAL_UP,       // the result times 2 to the power `is`
    TRIAL_DOWN,     // the result divided by it
    TRIAL_MORE,     // the result, and `is` more
    TRIAL_ROWS,     // the result, and `is` times the block's row in the grid
    TRIAL_COLUMNS,  // the same of its column
    TRIAL_WHATS
};

// What the instruction does with the number that stands in it.
enum trial_use {
    TRIAL_ADDS,
    TRIAL_MULTIPLIES,
    TRIAL_SHIFTS_UP,
    TRIAL_SHIFTS_DOWN,
    TRIAL_MASKS,
    TRIAL_COMPARES,
    TRIAL_SETS,
    TRIAL_COUNTS,   // arrivals of an mbarrier, or threads of a barrier
    TRIAL_EXPECTS,  // bytes at an mbarrier
    TRIAL_WAITS,    // until at most n groups are under way; another number: until none is
    TRIAL_PARITY,   // another number: the other phase
    TRIAL_NONE      // no number stands in it
};

struct trial {
    unsigned site;
    enum trial_what what;
    long is;
};

struct trial_site {
    unsigned line, says;  // of the kernel's own file: the instruction's, and the one that has what it is made of, or 0
    uint32_t number;      // of the instruction
    bool ran;
    enum trial_use use;
    unsigned op;     // instructions of one kind have the same
    unsigned group;  // those that are changed together
    long was;        // the number
    int size;        // M, N or K as an operand: 0, 1, 2; -1: none
    bool result;     // whose result may be changed
};

enum { TRIAL_SITES = 2048, TRIAL_LINES = 4096 };

struct trials {
    struct probe probe;  // the kernel, on the device of another probe
    struct trial_site sites[TRIAL_SITES];
    unsigned n_sites;
    uint64_t table;
};

// file: the kernel's own. ran, by instruction: those that count. False if it cannot be done. To be closed in any case,
// before p.
bool trials_open(struct trials *t, const struct probe *p, const char *file, const unsigned char *ran);
void trials_close(struct trials *t);

// Puts it into the kernel, or takes it out again.
bool trials_set(struct trials *t, const struct trial *x, bool on);

#endif
