// See violation.h.
#include "violation.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/findings.h"
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

void violation_run(const char *text, const struct violation_launch *l, struct violation_edit a, struct violation_edit b,
                   char said[VIOLATION_SAID])
{
    static char changed[VIOLATION_TEXT];
    uint32_t *out = calloc(l->n_out, sizeof *out);
    struct dev *d = ptx_simulator();
    snprintf(changed, sizeof changed, "%s", text);
    violation_change(changed, a);
    violation_change(changed, b);
    dev_set_checks(d, true);
    *said = '\0';
    if (!ptx_run(d, changed, (struct ptx_shape){ l->blocks, l->threads, 0 }, out, l->n_out, l->in, l->n_in))
        snprintf(said, VIOLATION_SAID, "%s\n", dev_error(d));
    const struct findings *f = dev_findings(d);
    for (size_t i = 0; i < f->n + f->n_advice; i++)
        snprintf(said + strlen(said), VIOLATION_SAID - strlen(said), "[%s%s] %s {%s}\n",
                 f->all[i].advice ? "advice: " : "", f->all[i].kind, f->all[i].text, f->all[i].look);
    dev_close(d);
    free(out);
}

void violations_expect(const char *text, const struct violation_launch *l, const struct violation *v, size_t n)
{
    static char said[VIOLATION_SAID];
    violation_run(text, l, (struct violation_edit){ 0 }, (struct violation_edit){ 0 }, said);
    cr_expect_str_eq(said, "", "found in the correct kernel: %s", said);
    for (size_t i = 0; i < n; i++) {
        violation_run(text, l, v[i].a, v[i].b, said);
        for (size_t k = 0; k < 4 && v[i].said[k]; k++)
            cr_expect(strstr(said, v[i].said[k]), "%zu: '%s' is not in: %s", i, v[i].said[k], said);
    }
}
