// Prints steps/results/clock_rules.csv: each rule and constant of the clock with its mark, and for those that were
// neither measured nor published the errors of the clock without them, over all steps of a card's table of times. A
// second card is two words more:
//   build/tests/clock_rules H200 steps/results/h200_2026-11-27.csv [CARD TABLE ...]
// It takes half an hour. ONLY=NAME in the environment prints the line of that rule or constant; ONLY=clock that of the
// whole.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/steps.h"
#include "rule_errors.h"

enum { SIZES = 4 };
static const int sizes[SIZES] = { 1024, 2048, 4096, 8192 };
#define LEAST 0.05  // percent: a smaller change is none

struct report {
    const struct card *card;
    struct result *all;
    size_t n;
    struct rule_errors with[SIZES];  // all rules
    char error[DEV_ERROR_MAX];
};

// The step whose predicted time changes most without the rule.
struct change {
    double percent;
    const char *step;
    int size;
};

static bool is_asked(const char *name)
{
    const char *only = getenv("ONLY");
    const size_t length = strlen(name);
    for (const char *at = only; at && (at = strstr(at, name)); at++)
        if ((at == only || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return !only;
}

static void find_change(const struct rule_errors *with, const struct rule_errors *without, int size,
                        struct change *most)
{
    for (size_t i = 0; i < n_steps && i < RULE_STEPS; i++) {
        const double percent = with->ms[i] > 0 ? 100 * (without->ms[i] / with->ms[i] - 1) : 0;
        if (fabs(percent) > fabs(most->percent))
            *most = (struct change){ percent, steps[i]->name, size };
    }
}

static void print_errors(const struct rule_errors *e)
{
    printf(",%.2f,%.1f", e->mean, e->worst);
}

static bool print_rule(struct report *r, const struct rule_row *row)
{
    struct change most = { 0 };
    printf("%s,%s,%s,%s", r->card->name, row->kind, row->name, rule_mark_name(row->mark));
    for (int s = 0; s < SIZES; s++) {
        struct rule_errors e;
        if (!rule_has_errors(row)) {
            printf(",,");
            continue;
        }
        if (!rule_predict(row, r->card, r->all, r->n, sizes[s], &e, r->error))
            return false;
        print_errors(&e);
        find_change(&r->with[s], &e, sizes[s], &most);
    }
    if (fabs(most.percent) >= LEAST)
        printf(",%+.1f,%s %d", most.percent, most.step, most.size);
    else
        printf(rule_has_errors(row) ? ",0," : ",,");
    printf(",\"%s\"\n", row->source);
    fflush(stdout);
    return true;
}

static bool print_card(struct report *r)
{
    for (int s = 0; s < SIZES; s++)
        if (!rule_predict(NULL, r->card, r->all, r->n, sizes[s], &r->with[s], r->error))
            return false;
    if (is_asked("all")) {
        printf("%s,clock,all,", r->card->name);
        for (int s = 0; s < SIZES; s++)
            print_errors(&r->with[s]);
        printf(",,,\"\"\n");
    }
    for (size_t i = 0; i < n_rule_rows; i++)
        if (is_asked(rule_rows[i].name) && !print_rule(r, &rule_rows[i]))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc % 2 == 0) {
        fprintf(stderr, "usage: clock_rules CARD TABLE [CARD TABLE ...], the tables as ladder --csv writes them\n");
        return 2;
    }
    if (is_asked("card")) {
        printf("card,kind,name,mark");
        for (int s = 0; s < SIZES; s++)
            printf(",mean_%d,worst_%d", sizes[s], sizes[s]);
        printf(",change_percent,change_at,source\n");
    }
    for (int i = 1; i < argc; i += 2) {
        struct report r = { 0 };
        r.card = card_named(argv[i]);
        if (!r.card)
            error_set(r.error, "there is no card '%.100s': simt profile --card x lists them", argv[i]);
        const bool ok = r.card && results_read(argv[i + 1], &r.all, &r.n, r.error) && print_card(&r);
        if (!ok) {
            fprintf(stderr, "clock_rules: %s\n", r.error);
            return 1;
        }
        free(r.all);
    }
    return 0;
}
