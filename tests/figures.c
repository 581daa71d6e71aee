// See figures.h.
#include "figures.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tester_report.h"

enum { WORDS = 1000, PARAGRAPH = 16384 };

// --- the tables ---

void figures_open(struct figures *f, const char *folder)
{
    char error[DEV_ERROR_MAX], path[1000];
    glob_t found;
    *f = (struct figures){ 0 };
    snprintf(path, sizeof path, "%s/h200_*[0-9].csv", folder);
    cr_assert(!glob(path, 0, NULL, &found), "no table of times in %s", folder);
    cr_assert(results_read(found.gl_pathv[found.gl_pathc - 1], &f->results, &f->n_results, error), "%s", error);
    globfree(&found);
    snprintf(path, sizeof path, "%s/h200_trials.csv", folder);
    cr_assert(trials_read(path, &f->trials, &f->n_trials, error), "%s", error);
    snprintf(path, sizeof path, "%s/h200_bounds.csv", folder);
    cr_assert(bounds_read(path, &f->bounds, &f->n_bounds, error), "%s", error);
    snprintf(path, sizeof path, "%s/h200_*_stalls.csv", folder);
    cr_assert(!glob(path, 0, NULL, &found), "no stalls in %s", folder);
    cr_assert(stalls_read(found.gl_pathv[found.gl_pathc - 1], &f->stalls, &f->n_stalls, error), "%s", error);
    globfree(&found);
    f->trial_quoted = calloc(f->n_trials + f->n_bounds, sizeof *f->trial_quoted);
    f->bound_quoted = f->trial_quoted + f->n_trials;
    cr_assert(f->trial_quoted);
}

void figures_close(struct figures *f)
{
    free(f->results);
    free(f->trials);
    free(f->bounds);
    free(f->stalls);
    free(f->trial_quoted);
}

// --- formulas ---

struct formula {
    const char *p;
    double sms, ghz;
};

static double sum(struct formula *f);

static double factor(struct formula *f)
{
    double value;
    char *end;
    f->p += strspn(f->p, " ");
    if (*f->p == '(') {
        f->p++;
        value = sum(f);
        f->p += strspn(f->p, " ");
        return *f->p == ')' ? (f->p++, value) : NAN;
    }
    if (!strncmp(f->p, "sms", 3) || !strncmp(f->p, "ghz", 3)) {
        value = *f->p == 's' ? f->sms : f->ghz;
        f->p += 3;
        return value;
    }
    if (!isdigit((unsigned char)*f->p))
        return NAN;
    value = strtod(f->p, &end);
    f->p = end;
    return value;
}

static double product(struct formula *f)
{
    double value = factor(f);
    for (f->p += strspn(f->p, " "); *f->p == '*' || *f->p == '/'; f->p += strspn(f->p, " ")) {
        const bool by = *f->p++ == '*';
        const double next = factor(f);
        value = by ? value * next : value / next;
    }
    return value;
}

static double sum(struct formula *f)
{
    double value = product(f);
    while (*f->p == '+' || *f->p == '-') {
        const bool plus = *f->p++ == '+';
        const double next = product(f);
        value = plus ? value + next : value - next;
    }
    return value;
}

double figures_formula(const char *formula, double sms, double ghz)
{
    struct formula f = { formula, sms, ghz };
    const double value = sum(&f);
    return *f.p ? NAN : value;
}

// --- one figure ---

struct passage {
    struct figures *f;
    const char *own;
    char text[PARAGRAPH];
    bool quoted;  // its end stands between backquotes
    void (*complain)(const char *figure, const char *where);
    size_t n;
};

// Whether the text has the two digits as a word of their own.
static bool names(const char *text, const char *digits)
{
    for (const char *at = text; (at = strstr(at, digits)); at++)
        if ((at == text || !strchr("0123456789.,", at[-1])) && !isdigit((unsigned char)at[2]) &&
            !(strchr(".,", at[2]) && isdigit((unsigned char)at[3])))
            return true;
    return false;
}

static bool may_quote(const struct passage *p, const char *step)
{
    char digits[3] = { step[0], step[1], '\0' };
    return !isdigit((unsigned char)*step) || !strncmp(step, p->own, strlen(p->own)) || names(p->text, digits);
}

static bool reads(double value, const char *figure)
{
    const char *point = strchr(figure, '.');
    char text[64];
    snprintf(text, sizeof text, "%.*f", point ? (int)strlen(point + 1) : 0, value);
    return !strcmp(text, figure);
}

static bool speed_found(const struct passage *p, const char *figure, int size)
{
    struct figures *f = p->f;
    bool found = false;
    for (size_t i = 0; i < f->n_results; i++) {
        const struct result *r = &f->results[i];
        if (may_quote(p, r->step) && (!size || r->m == size))
            found |= reads(r->tflops, figure) || reads(r->baseline_tflops, figure);
    }
    for (size_t i = 0; i < f->n_trials; i++) {
        const struct trial *t = &f->trials[i];
        if (may_quote(p, t->step) && (!size || !t->size || t->size == size) &&
            (reads(t->low, figure) || reads(t->high, figure)))
            found = f->trial_quoted[i] = true;
    }
    for (size_t i = 0; i < f->n_bounds; i++)
        if (may_quote(p, f->bounds[i].step) && !strcmp(f->bounds[i].tflops, figure))
            found = f->bound_quoted[i] = true;
    return found;
}

static bool time_found(const struct passage *p, const char *figure, const char *unit, int size)
{
    char said[64], time[REPORT_TIME];
    snprintf(said, sizeof said, "%s %s", figure, unit);
    for (size_t i = 0; i < p->f->n_results; i++) {
        const struct result *r = &p->f->results[i];
        if (may_quote(p, r->step) && (!size || r->m == size) && !strcmp(report_time(r->ms, time), said))
            return true;
    }
    return false;
}

static bool share_found(const struct passage *p, const char *figure, bool percent, int size)
{
    for (size_t i = 0; i < p->f->n_results; i++) {
        const struct result *r = &p->f->results[i];
        if (may_quote(p, r->step) && (!size || r->m == size) && r->baseline_tflops > 0 &&
            reads((percent ? 100 : 1) * r->tflops / r->baseline_tflops, figure))
            return true;
    }
    return false;
}

// "2.1 times 08 at 4096": of a step of the text itself over the one that is named.
static bool ratio_found(const struct passage *p, const char *figure, const char *over, int size)
{
    for (size_t i = 0; i < p->f->n_results; i++) {
        const struct result *r = &p->f->results[i];
        if (strncmp(r->step, p->own, strlen(p->own)) || r->m != size)
            continue;
        for (size_t j = 0; j < p->f->n_results; j++) {
            const struct result *s = &p->f->results[j];
            if (!strncmp(s->step, over, 2) && s->m == size && !strcmp(r->type, s->type) &&
                reads(r->tflops / s->tflops, figure))
                return true;
        }
    }
    return false;
}

// The clock at which a step ran, or the highest one of the card.
static bool clock_found(const struct passage *p, const char *figure)
{
    for (size_t i = 0; i < p->f->n_stalls; i++) {
        const struct counter *c = &p->f->stalls[i];
        if (may_quote(p, c->step) && strstr(c->name, ".per_second") && reads(1e-9 * c->value, figure))
            return true;
    }
    return p->f->n_results && reads(1e-3 * p->f->results[0].mhz, figure);
}

// A share of a pipe's peak. Or the clocks of a reason to wait, or of all reasons of a step.
static bool stall_found(const struct passage *p, const char *figure, bool percent)
{
    double sum = 0;
    for (size_t i = 0; i < p->f->n_stalls; i++) {
        const struct counter *c = &p->f->stalls[i];
        const bool last = i + 1 == p->f->n_stalls || strcmp(c->step, c[1].step);
        const bool share = strstr(c->name, ".pct_"), clocks = strstr(c->name, ".ratio");
        sum += clocks ? c->value : 0;
        if (may_quote(p, c->step) &&
            (((percent ? share : clocks) && reads(c->value, figure)) || (!percent && last && reads(sum, figure))))
            return true;
        sum = last ? 0 : sum;
    }
    return false;
}

static bool has_stalls(const struct passage *p)
{
    for (size_t i = 0; i < p->f->n_stalls; i++)
        if (!strncmp(p->f->stalls[i].step, p->own, strlen(p->own)))
            return true;
    return false;
}

static void report(struct passage *p, bool found, const char *figure)
{
    p->n++;
    if (!found)
        p->complain(figure, p->text);
}

// --- prose ---

struct word {
    char text[64];  // without what follows it
    char after;     // '\0', or the comma, full stop, ... behind it
};

static size_t split(const char *text, struct word *words)
{
    size_t n = 0;
    while (*(text += strspn(text, " \n*(\"")) && n < WORDS) {
        struct word *w = &words[n++];
        size_t length = strcspn(text, " \n"), end = length;
        while (end > 1 && strchr(",.;:)*?\"", text[end - 1]))
            end--;
        snprintf(w->text, sizeof w->text, "%.*s", (int)end, text);
        w->after = end < length ? text[end] : '\0';
        text += length;
    }
    cr_assert_lt(n, WORDS, "a paragraph of more than %d words", WORDS);
    return n;
}

static bool is_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits && (!text[digits] || (text[digits] == '.' && text[digits + 1] &&
                                        !text[digits + 1 + strspn(text + digits + 1, "0123456789")]));
}

static bool is(const struct word *words, size_t n, size_t i, const char *text)
{
    return i < n && !strcmp(words[i].text, text);
}

// The size in "at 4096" at word i; 0 for none.
static int size_at(const struct word *words, size_t n, size_t i)
{
    return is(words, n, i, "at") && i + 1 < n && is_number(words[i + 1].text) && strlen(words[i + 1].text) == 4
               ? atoi(words[i + 1].text)
               : 0;
}

static bool has_unit(const char *word)
{
    static const char *const units[] = {
        "%", "GHz", "MHz", "TB/s", "KB", "clocks", "million", "rounds", "times", "of"
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(word, units[i]))
            return true;
    return false;
}

// Marks the numbers of the list that ends before word i, which is TFLOP/s. "at 4096" and a step, "03", end it.
static void mark_list(const struct word *words, size_t i, bool *speeds)
{
    while (i > 0 && is_number(words[i - 1].text) && !(i > 1 && speeds[i] && size_at(words, i, i - 2)) &&
           !(words[i - 1].text[0] == '0' && words[i - 1].text[1] != '.')) {
        speeds[--i] = true;
        if (i > 0 && (is(words, i, i - 1, "and") || is(words, i, i - 1, "to") || is(words, i, i - 1, "or")))
            i--;
        else if (!(i > 0 && words[i - 1].after == ','))
            return;
    }
}

static void check_prose(struct passage *p)
{
    static struct word words[WORDS];
    bool speeds[WORDS] = { false }, says = false;
    const size_t n = split(p->text, words);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i].text, "TFLOP/s"))
            continue;
        says = true;
        mark_list(words, i, speeds);
    }
    const bool busy = !says && strstr(p->text, "Nsight Compute") && strstr(p->text, "busy") && has_stalls(p);
    for (size_t i = 0; i < n; i++) {
        const char *figure = words[i].text, *next = i + 1 < n && !words[i].after ? words[i + 1].text : "";
        if (!is_number(figure))
            continue;
        const size_t of = i + 1 + !strcmp(next, "%");
        if (is(words, n, of, "of") && is(words, n, of + 1, "cuBLAS"))
            report(p, share_found(p, figure, !strcmp(next, "%"), size_at(words, n, of + 2)), figure);
        else if (!strcmp(next, "times") && size_at(words, n, i + 3) && is_number(words[i + 2].text))
            report(p, ratio_found(p, figure, words[i + 2].text, size_at(words, n, i + 3)), figure);
        else if (says && (!strcmp(next, "ms") || !strcmp(next, "us")))
            report(p, time_found(p, figure, next, size_at(words, n, i + 2)), figure);
        else if (busy && (!strcmp(next, "%") || (strchr(figure, '.') && strcmp(next, "GHz"))))
            report(p, stall_found(p, figure, !strcmp(next, "%")), figure);
        else if (!strcmp(next, "GHz"))
            report(p, clock_found(p, figure), figure);
        else if (speeds[i] || (says && strchr(figure, '.') && !has_unit(next)))
            report(p, speed_found(p, figure, size_at(words, n, i + 1 + !strcmp(next, "TFLOP/s"))), figure);
    }
}

// --- tables ---

enum { COLUMNS = 16 };

// Splits "| a | b |" in place, without the blanks around each.
static int cells(char *row, char *cell[COLUMNS])
{
    int n = 0;
    char *text;
    strsep(&row, "|");
    while ((text = strsep(&row, "|")) && row && n < COLUMNS) {
        text += strspn(text, " ");
        for (char *end = text + strlen(text); end > text && end[-1] == ' '; *--end = '\0')
            ;
        cell[n++] = text;
    }
    return n;
}

static void check_table(struct passage *p)
{
    char text[PARAGRAPH], *save = NULL;
    char *cell[COLUMNS];
    bool speeds[COLUMNS] = { false };
    strcpy(text, p->text);
    for (char *row = strtok_r(text, "\n", &save), *head = row; row; row = strtok_r(NULL, "\n", &save)) {
        const bool first = row == head;
        const int n = cells(row, cell);
        for (int i = 0; i < n; i++) {
            static struct word words[WORDS];
            if (first)
                speeds[i] = speeds[0] || strstr(cell[i], "TFLOP/s");
            const size_t many = first || !speeds[i] ? 0 : split(cell[i], words);
            for (size_t w = 0; w < many; w++)
                if (is_number(words[w].text) && (i > 0 || !speeds[0]))
                    report(p, speed_found(p, words[w].text, is_number(cell[0]) ? atoi(cell[0]) : 0), words[w].text);
        }
    }
}

// --- a text ---

static void flush(struct passage *p)
{
    if (*p->text == '|')
        check_table(p);
    else
        check_prose(p);
    *p->text = '\0';
    p->quoted = false;
}

// Appends a line, without what stands between backquotes.
static void append(struct passage *p, const char *line, size_t length)
{
    size_t n = strlen(p->text);
    cr_assert_lt(n + length + 2, PARAGRAPH, "a paragraph of more than %d bytes", PARAGRAPH);
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '`')
            p->quoted = !p->quoted;
        else if (!p->quoted)
            p->text[n++] = line[i];
    }
    p->text[n++] = '\n';
    p->text[n] = '\0';
}

size_t figures_check(struct figures *f, const char *text, const char *own,
                     void (*complain)(const char *figure, const char *where))
{
    struct passage p = { .f = f, .own = own, .complain = complain };
    bool code = false;
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const bool fence = !strncmp(line, "```", 3), item = !strncmp(line, "- ", 2);
        if (fence || !length || *line == '#' || item || ((*line == '|') != (*p.text == '|')))
            flush(&p);
        code ^= fence;
        if (!fence && !code && length)
            append(&p, line, length);
        if (*line == '#')
            flush(&p);
        line += length + (line[length] != '\0');
    }
    flush(&p);
    return p.n;
}
