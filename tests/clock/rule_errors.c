// See rule_errors.h.
#include "rule_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/steps.h"
#include "base/error.h"
#include "clock_measured.h"
#include "tester/predict.h"

#define MEASURED .mark = MARK_MEASURED
#define PUBLISHED .mark = MARK_PUBLISHED
#define FITTED(value) .mark = MARK_FITTED, .neutral = (value)
#define ASSUMED(value) .mark = MARK_ASSUMED, .neutral = (value)

const struct rule_row rule_rows[] = {
#define RULE(name_, mark_, basis, text)                                                                                \
    { .kind = "rule", .name = #name_, .source = basis, .mark = MARK_##mark_, .rule = RULE_##name_ },
#include "simt/clock/rules.def"
#undef RULE
#define CONSTANT(name_, value, its_mark, unit, basis)                                                                  \
    { .kind = "constant",                                                                                              \
      .name = #name_,                                                                                                  \
      .source = basis,                                                                                                 \
      .rule = RULES,                                                                                                   \
      .at = offsetof(struct sm_constants, name_),                                                                      \
      its_mark },
#include "simt/clock/constants.def"
#undef CONSTANT
};
const size_t n_rule_rows = sizeof rule_rows / sizeof *rule_rows;

const char *rule_mark_name(enum rule_mark m)
{
    static const char *const names[] = { "measured", "published", "fitted", "assumed" };
    return names[m];
}

bool rule_has_errors(const struct rule_row *r)
{
    return r->mark == MARK_FITTED || r->mark == MARK_ASSUMED;
}

static struct simt_prediction *predict_without(const struct simt_timing *t, const struct card *card, const void *how,
                                               char error[DEV_ERROR_MAX])
{
    const struct rule_row *r = how;
    struct clock_launch l = clock_launch_of(t);
    struct sm_constants k = clock_constants(card);
    struct simt_prediction *p = malloc(sizeof *p);
    if (!p) {
        error_set(error, "out of memory");
        return NULL;
    }
    if (r && r->rule < RULES)
        l.without = 1ull << r->rule;
    else if (r)
        memcpy((char *)&k + r->at, &r->neutral, sizeof r->neutral);
    l.constants = &k;
    if (clock_predict(&l, card, p, error))
        return p;
    free(p);
    return NULL;
}

bool rule_predict(const struct rule_row *r, const struct card *card, const struct result *all, size_t n, int size,
                  struct rule_errors *out, char error[DEV_ERROR_MAX])
{
    double count = 0, sum = 0;
    *out = (struct rule_errors){ 0 };
    for (size_t i = 0; i < n_steps && i < RULE_STEPS; i++) {
        struct tester_options o = tester_defaults;
        const double ms = measured_ms(all, n, steps[i]->name, size);
        o.m = o.n = o.k = size;
        if (ms <= 0)
            continue;
        struct simt_prediction *p = predict_step_by(steps[i], &o, card, predict_without, r, error);
        if (!p)
            return false;
        const double wrong = 100 * fabs(p->ms / ms - 1);
        out->ms[i] = p->ms;
        out->worst = fmax(out->worst, wrong);
        sum += wrong;
        count++;
        simt_prediction_free(p);
    }
    out->mean = count > 0 ? sum / count : 0;
    return true;
}
