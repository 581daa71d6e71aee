// See changed.h.
#include "changed.h"
#include <stdio.h>

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/ptx_file.h"
#include "base/source.h"
#include "base/text.h"
#include "cause.h"
#include "course_text.h"
#include "kernel_text.h"

// The first source of the PTX that is no header: the kernel.
static bool find_kernel(const char *ptx, char path[PTX_SOURCE])
{
    unsigned i = 0;
    while (ptx && ptx_file_source(ptx, i, path) && source_is_header(path))
        i++;
    return ptx && ptx_file_source(ptx, i, path);
}

static bool has_source(const char *ptx, const char *path)
{
    char other[PTX_SOURCE] = "";
    unsigned i = 0;
    while (ptx_file_source(ptx, i, other) && strcmp(other, path) != 0)
        i++;
    return !strcmp(other, path);
}

static bool has_line(const struct diff_place *p, const unsigned lines[TESTER_LINES])
{
    for (int i = 0; i < TESTER_LINES && lines[i]; i++)
        if (lines[i] >= p->line && lines[i] <= p->last)
            return true;
    return false;
}

// Adds the places of a file.
static void compare(struct changed *d, const char *path, const char *then, const unsigned *lines)
{
    enum { MOST = DIFF_TOKENS };
    struct diff_place places[MOST];
    char *now = file_read(path);
    const size_t n = then && now ? text_diff(then, now, places, MOST) : 0;
    free(now);
    if (n > MOST)
        return;
    for (size_t i = 0; i < n && d->n < CHANGED_PLACES; i++) {
        struct changed_place *p = &d->all[d->n];
        if (d->n + n > CHANGED_PLACES && !has_line(&places[i], lines))
            continue;
        *p = (struct changed_place){ .own = !source_is_header(path), .at = places[i] };
        snprintf(p->file, sizeof p->file, "%s", source_base_name(path));
        d->n++;
    }
}

// What the page has given.
static void compare_given(struct changed *d, const char *path, const char *course, const unsigned *lines)
{
    char *then = file_read(course);
    compare(d, path, then, lines);
    free(then);
}

// What the course has of the kernel by git, and of its own headers that are in it. A mistake that is wrong for sure
// and whose text is the newest one that is known was committed.
static void compare_by_git(struct changed *d, const struct step *step, const unsigned *lines, bool wrong)
{
    static const unsigned no_lines[TESTER_LINES] = { 0 };
    char path[PTX_SOURCE] = "";
    struct course_text t = { 0 };
    if (find_kernel(step->built, path))
        t = course_text_find(path);
    compare(d, d->kernel, t.text, lines);
    for (unsigned i = 0; ptx_file_source(step->built, i, path); i++)
        if (source_is_header(path) && has_source(step->ptx, path)) {
            struct course_text header = course_text_find(path);
            compare(d, path, header.text, no_lines);
            free(header.text);
        }
    if (!d->n && wrong && t.text && !t.published && find_kernel(step->built, path)) {
        char *now = file_read(d->kernel), *then = now ? course_text_before(path, now) : NULL;
        compare(d, d->kernel, then, no_lines);
        free(then);
        free(now);
    }
    free(t.text);
}

void changed_find(struct changed *d, const struct step *step, const struct tester_options *o,
                  const unsigned lines[TESTER_LINES], bool wrong)
{
    *d = (struct changed){ 0 };
    if (!find_kernel(step->ptx, d->kernel) || strstr(d->kernel, "/exercises/"))
        *d->kernel = '\0';
    else if (o->course)
        compare_given(d, d->kernel, o->course, lines);
    else if (step->built && !ptx_file_is_older(step->ptx, d->kernel))
        compare_by_git(d, step, lines, wrong);
}

// --- Is it the cause? ---

// Those that the cause sends to, and those that its text has: "kernel.cu:38", "line 38".
static void lines_of(struct kernel_chain *l, const struct cause *c)
{
    char name[CHANGED_NAME];
    unsigned line;
    snprintf(name, sizeof name, "%s:", source_base_name(c->lines.file));
    for (int i = 0; i < CAUSE_LINES; i++)
        kernel_chain_add(l, c->look[i]);
    for (const char *p = c->text; *p; p++) {
        const size_t n = text_begins(p, name) ? strlen(name) : text_begins(p, "line ") ? strlen("line ") : 0;
        if (n && sscanf(p + n, "%u", &line) == 1)
            kernel_chain_add(l, line);
    }
}

static bool is_near(const struct diff_place *p, unsigned line)
{
    return line + 1 >= p->line && line <= p->last + 1;
}

// A statement that came or went, as a barrier, has a part in all that its outermost loop does, and one outside of loops
// in all that they do.
static bool is_in_loop_of(const char *file, const struct diff_place *p, unsigned line)
{
    unsigned of_place[KERNEL_LOOPS], of_line[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(file, p->line, of_place), m = kernel_text_loops(file, line, of_line);
    return p->kind != DIFF_OTHER && (!n || (m && of_place[n - 1] == of_line[m - 1]));
}

// Whether the place uses what the line sets.
static bool uses_it(const char *file, const struct diff_place *p, unsigned line)
{
    unsigned makers[KERNEL_MAKERS];
    struct kernel_unset unset[KERNEL_UNSET];
    const unsigned n = kernel_text_makers(file, p->line, makers), n_unset = kernel_text_unset(file, p->line, unset);
    for (unsigned i = 0; i < n; i++)
        if (makers[i] == line)
            return true;
    for (unsigned i = 0; i < n_unset; i++)
        if (unset[i].set == line)
            return true;
    return false;
}

// Whether the place calls the lambda that the line is in, or has called it.
static bool calls_it(const char *file, const struct diff_place *p, unsigned line)
{
    char name[KERNEL_NAME], call[KERNEL_NAME + 1], text[256];
    if (!kernel_text_lambda(file, line, name))
        return false;
    snprintf(call, sizeof call, "%s(", name);
    source_text(file, p->line, text, sizeof text);
    return strstr(text, call) || strstr(p->now, call) || strstr(p->then, call);
}

static bool reaches(const struct changed_place *p, const struct kernel_chain *l, unsigned named, const char *file)
{
    for (unsigned i = 0; i < l->n; i++)
        if (is_near(&p->at, l->line[i]) || calls_it(file, &p->at, l->line[i]) ||
            (i < named && (is_in_loop_of(file, &p->at, l->line[i]) || uses_it(file, &p->at, l->line[i]))))
            return true;
    return !p->own;
}

bool changed_explains(const struct changed *d, const struct cause *c)
{
    struct kernel_chain l = { .n = 0 };
    lines_of(&l, c);
    const unsigned named = l.n;
    if (d->n)
        kernel_chain_follow(&l, c->lines.file);
    for (size_t i = 0; i < d->n; i++)
        if (reaches(&d->all[i], &l, named, c->lines.file))
            return true;
    return !d->n || !named;
}

bool changed_is_near(const struct changed_place *p, const char *words)
{
    unsigned from = 0;
    for (const char *at = words; (at = strpbrk(at, "0123456789"));) {
        char *end;
        const unsigned line = (unsigned)strtoul(at, &end, 10);
        if (is_near(&p->at, line) || (from && strstr(words, "between") && from <= p->at.line && p->at.line <= line))
            return true;
        from = line;
        at = end;
    }
    return false;
}

static void say(struct text_end *t, const struct changed_place *p)
{
    const struct diff_place *at = &p->at;
    switch (at->kind) {
    case DIFF_OTHER:
        text_add(t, "%s:%u has `%s` where the course has `%s`", p->file, at->line, at->now, at->then);
        break;
    case DIFF_MORE:
        text_add(t, "%s:%u has `%s`, which the course does not have", p->file, at->line, at->now);
        break;
    case DIFF_TWICE:
        text_add(t, "%s:%u has `%s` once more than the course", p->file, at->line, at->now);
        break;
    case DIFF_MISSING:
        text_add(t, "%s:%u: before this line the course has `%s`", p->file, at->line, at->then);
        break;
    case DIFF_MOVED:
        text_add(t, "%s:%u has `%s`, which the course has before line %u", p->file, at->line, at->now, at->from);
        break;
    }
}

void changed_say(const struct changed *d, const char *guess, char *text, size_t size)
{
    struct text_end t = { text, size };
    *text = '\0';
    for (size_t i = 0; i < d->n; i++) {
        say(&t, &d->all[i]);
        text_add(&t, "%s%s\n", d->n == 1 && *guess ? ": " : "", d->n == 1 ? guess : "");
    }
    if (d->n > 1 && *guess)
        text_add(&t, "what the run shows: %s\n", guess);
}
