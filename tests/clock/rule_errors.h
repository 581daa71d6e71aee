// The rules and constants of the clock with their marks, and the errors of the clock without one of them: for
// clock_rules.c and test_clock_rules.c.
#pragma once

#include "tools/tables.h"
#include "simt/clock/clock.h"

#define RULE_STEPS 64  // at most
#define RULE_LINE 600

enum rule_mark { MARK_MEASURED, MARK_PUBLISHED, MARK_FITTED, MARK_ASSUMED };

struct rule_row {  // of rules.def or constants.def
    const char *kind, *name, *source;
    enum rule_mark mark;
    unsigned rule;   // RULES: it is a constant,
    size_t at;       // at this place of struct sm_constants,
    double neutral;  // which has no say with this value
};

extern const struct rule_row rule_rows[];
extern const size_t n_rule_rows;

const char *rule_mark_name(enum rule_mark m);
// The clock can be asked without it.
bool rule_has_errors(const struct rule_row *r);

struct rule_errors {
    double mean, worst;     // percent, without signs
    double ms[RULE_STEPS];  // predicted, by step; 0: it was not measured
};

// Predicts all steps that the table has at the size. NULL in r's place: with all rules.
bool rule_predict(const struct rule_row *r, const struct card *card, const struct result *all, size_t n, int size,
                  struct rule_errors *out, char error[DEV_ERROR_MAX]);
