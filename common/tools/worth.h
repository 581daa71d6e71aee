// What the files of `worth` share: worth.c reads the command, worth_time.c times, worth_count.c predicts and counts,
// worth_report.c says what each part of a step is worth, worth_fall.c what each part of each step is.
#pragma once

#include <stdio.h>

#include "tester/step.h"
#include "variants.h"

enum { WORTH_SIZES = 5, WORTH_SMALL = 2048, WORTH_ROUNDS = 3 };
extern const int worth_sizes[WORTH_SIZES];

// A step as it is, or a variant of one: what is timed, in the order of the steps whose gains are in question.
struct worth_kernel {
    const struct variant *variant;  // NULL: a step as it is
    int of;                         // the number of the step whose gain is in question
    struct step step;               // its name is the variant's
};

struct worth {
    struct variants variants;
    struct worth_kernel *kernels;
    size_t n;
    char *folder;  // of the PTX: FOLDER/STEP/STEP.ptx and FOLDER/variants/NAME.ptx
};

// All kernels that are timed. False, with one line in error, if the variants cannot be read.
bool worth_open(struct worth *w, const char *variants, const char *folder, char error[DEV_ERROR_MAX]);
void worth_close(struct worth *w);
// Whether the kernel is timed at this size: those of step 20, and the step before it, also at small ones.
bool worth_has_size(const struct worth_kernel *k, int size);

// Times all kernels at a size on the GPU, in turn, three rounds, each beside cuBLAS, and appends a row for each to out.
// Asked to check, it does so in the first round. False, with one line in error, if one cannot run or is wrong: it has
// no row, and a line on stderr.
bool worth_time(const struct worth *w, int size, bool check, FILE *out, char error[DEV_ERROR_MAX]);
void worth_time_head(FILE *out);

// Registers, spills, counters of the simulated GPU and the clock's predictions of one kernel: a row. The head is
// NULL's.
bool worth_count(const struct worth_kernel *k, FILE *out, char error[DEV_ERROR_MAX]);

// What the tables say of each kernel, in the order of the list. A gain is the middle one of the rounds.
struct worth_rates {
    double tflops[WORTH_ROUNDS];  // 0: not in the table
    double cublas[WORTH_ROUNDS];  // beside it
    char device[64];
    unsigned spilled;  // bytes
};
// To be freed. NULL, with one line in error, if a table cannot be read or has no times at this size.
struct worth_rates *worth_rates_read(const struct worth *w, int size, const char *times, const char *counts,
                                     char error[DEV_ERROR_MAX]);
double worth_rate(const struct worth_rates *r);                               // TFLOP/s
double worth_gain(const struct worth_rates *a, const struct worth_rates *b);  // how many times as fast a is as b
int worth_step(const struct worth *w, int of);  // where the step itself stands in the list; -1: nowhere

// What each part of a step has of its gain, as factors: the geometric mean of what it brings in pairs of timed kernels
// that differ in it alone (worth_shares.c says how they are weighed). Kernels that spill are not counted.
enum { WORTH_PARTS = 64, WORTH_NAME = 48 };
#define WORTH_NOTHING 0.01  // what is less than this share is within what two runs differ by

struct worth_share {
    char name[WORTH_NAME];
    double factor;
    double alone, last;  // in the step before, and in the step; 0: not timed
    int pairs;           // 0: no two kernels differ in it alone, so that it is in the rest
};

struct worth_shares {
    struct worth_share part[WORTH_PARTS];  // the largest gain first, the largest loss last
    size_t n;
    double tflops,
        total;      // of the step; over the step before, or 0 where that multiplies another type or none is there
    double rest;    // what the parts do not multiply to
    bool complete;  // no part of the step is without a name: the rest is how they help or hinder each other
};

// False if the step has no times, or too many parts.
bool worth_shares(const struct worth *w, const struct worth_rates *r, int of, struct worth_shares *s);
// Leaves parts without pairs to the rest, and puts those that are nothing together as one.
void worth_shares_lump(struct worth_shares *s);
bool worth_is_nothing(double factor);
const char *worth_rest_name(const struct worth_shares *s);

// Says what the parts of a step are worth at a size: as text, and as a picture, whose text the caller frees.
void worth_report(const struct worth *w, const struct worth_rates *r, int of, int size, FILE *out);
char *worth_draw(const struct worth *w, const struct worth_rates *r, int of, int size);
// For programs, of one step, or of 0: all. False if it could not be written.
bool worth_json(const struct worth *w, const struct worth_rates *r, int of, FILE *out);
// What all steps are worth, from the first to the last; the picture for a page, a phone, or a slide, whose letters are
// larger and which has no title.
enum worth_place { WORTH_PAGE, WORTH_PHONE, WORTH_SLIDE };
void worth_fall(const struct worth *w, const struct worth_rates *r, int size, FILE *out);
char *worth_fall_draw(const struct worth *w, const struct worth_rates *r, int size, enum worth_place place);
