// Whether a finding of the checks fits a mutant (mutate.h): it names the mutated line, or one where that shows. And the
// mutants that no check can find, because the program computes the same: each with the reason.
#pragma once

#include "simt/simt.h"
#include "mutate.h"

// UNKNOWN: the bits are the same, and no reason is given. ELSEWHERE: there are findings, and none fits. WRONG: there
// is none, and the result is wrong. SHOWS: one names a line that uses what the mutated line left wrong.
enum verdict { EQUIVALENT, UNKNOWN, MISSED, ELSEWHERE, WRONG, SHOWS, FOUND, VERDICTS };

enum verdict mutant_fits(const struct mutants *s, const struct mutant *m, const struct simt_finding *f);

// What breaks no rule of the machine: another stage, box, matrix or tile, or a loop that is left out. Its result tells.
bool mutant_in_result(const struct mutants *s, const struct mutant *m);

// Why the kernel of this step (its number) leaves the same bits with the mutant (mutate_same.def); NULL: no reason is
// given. The table has the steps from MUTANT_SAME_FIRST on.
#define MUTANT_SAME_FIRST 16
const char *mutant_same(const struct mutants *s, const struct mutant *m, int step);

// A change that such a reason is given for in this step, and that no mutant makes; NULL: there is none.
const char *mutant_same_unused(const struct mutants *s, int step);
