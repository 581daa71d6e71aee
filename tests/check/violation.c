// See violation.h.
#include "violation.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"

void violation_change(char text[VIOLATION_TEXT], struct violation_edit e)
{
    char *at = e.from ? strstr(text, e.from) : NULL;
    cr_assert(!e.from || at, "'%s' is not there", e.from);
    if (!at)
        return;
    char *rest = strdup(at + strlen(e.from));
    sprintf(at, "%s%s", e.to, rest);
    free(rest);
}

const uint32_t *violation_numbers(void)
{
    static uint32_t in[VIOLATION_NUMBERS];
    for (unsigned i = 0; i < VIOLATION_NUMBERS; i++)
        in[i] = i;
    return in;
}

const struct simt_findings *violation_run(const char *text, const struct violation_launch *l, struct violation_edit a,
                                          struct violation_edit b)
{
    static char changed[VIOLATION_TEXT];
    static struct dev *d;  // keeps the findings
    uint32_t *out = calloc(l->n_out, sizeof *out);
    dev_close(d);
    d = ptx_simulator();
    snprintf(changed, sizeof changed, "%s", text);
    violation_change(changed, a);
    violation_change(changed, b);
    dev_set_checks(d, true);
    cr_assert(ptx_run(d, changed, (struct ptx_shape){ l->blocks, l->threads, 0 }, out, l->n_out, l->in, l->n_in), "%s",
              dev_error(d));
    free(out);
    return dev_findings(d);
}

void violation_expect_none(const char *text, const struct violation_launch *l, struct violation_edit a,
                           struct violation_edit b)
{
    const struct simt_findings *f = violation_run(text, l, a, b);
    cr_expect_eq(f->n + f->n_advice, 0, "found with '%s', '%s': %s", a.to ? a.to : "", b.to ? b.to : "", found_text(f));
}

void violations_expect(const char *text, const struct violation_launch *l, const struct violation *v, size_t n)
{
    const struct violation_edit none = { 0 };
    violation_expect_none(text, l, none, none);
    for (size_t i = 0; i < n; i++) {
        const struct simt_findings *f = violation_run(text, l, v[i].a, v[i].b);
        found_expect(f, &v[i].found[0], v[i].a.to);
        if (v[i].found[1].kind)
            found_expect(f, &v[i].found[1], v[i].a.to);
    }
}
