// See cut.h.
#include "base/text.h"
#include "cut.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mark { PLAIN, OPEN, STUB, BUG, CLOSE };

struct line {
    const char *text, *end;  // without the newline
    const char *body;        // without the blanks before it
    enum mark mark;
};

static bool next(const char **p, struct line *l)
{
    if (!**p)
        return false;
    l->text = l->body = *p;
    l->end = *p + strcspn(*p, "\n");
    *p = l->end + (*l->end == '\n');
    while (l->body < l->end && (*l->body == ' ' || *l->body == '\t'))
        l->body++;
    l->mark = text_begins(l->body, "// >>>")        ? OPEN
              : text_begins(l->body, "// --- stub") ? STUB
              : text_begins(l->body, "// --- bug ") ? BUG
              : text_begins(l->body, "// <<<")      ? CLOSE
                                                    : PLAIN;
    return true;
}

// "// --- bug name: "text" "text""
static void read_bug(const struct line *l, struct cut_bug *bug)
{
    const char *p = l->body + strlen("// --- bug "), *colon = memchr(p, ':', (size_t)(l->end - p));
    const char *name_end = colon ? colon : l->end;
    *bug = (struct cut_bug){ 0 };
    snprintf(bug->name, sizeof bug->name, "%.*s", (int)(name_end - p), p);
    for (p = name_end; bug->n < CUT_EXPECTS_MAX;) {
        const char *begin = memchr(p, '"', (size_t)(l->end - p));
        const char *end = begin ? memchr(begin + 1, '"', (size_t)(l->end - begin - 1)) : NULL;
        if (!end)
            return;
        snprintf(bug->expects[bug->n++], CUT_TEXT_MAX, "%.*s", (int)(end - begin - 1), begin + 1);
        p = end + 1;
    }
}

static void put(FILE *out, const struct line *l, bool alternative)
{
    if (!alternative) {
        fprintf(out, "%.*s\n", (int)(l->end - l->text), l->text);
        return;
    }
    const char *rest = l->body + 3;  // after "//|"
    rest += rest < l->end && *rest == ' ';
    if (rest == l->end)
        fputc('\n', out);
    else
        fprintf(out, "%.*s%.*s\n", (int)(l->body - l->text), l->text, (int)(l->end - rest), rest);
}

// The part of a region that is copied: PLAIN for the solution. A bug that has no part in it leaves the solution.
static enum mark part_of(const char *p, enum cut kind, const char *bug)
{
    struct line l;
    struct cut_bug b;
    if (kind != CUT_BUG)
        return kind == CUT_STUB ? STUB : PLAIN;
    while (next(&p, &l) && l.mark != CLOSE)
        if (l.mark == BUG) {
            read_bug(&l, &b);
            if (!strcmp(b.name, bug))
                return BUG;
        }
    return PLAIN;
}

// Where a cut stands: in which part of which region, and whether its lines are taken.
struct cutter {
    FILE *out;
    enum cut kind;
    const char *bug;
    bool in_region, taken, stub;  // stub: this region's has been seen
    bool found;                   // the bug that is wanted
    enum mark wanted, part;
    int regions;
};

// What is wrong with a line at this place; NULL: nothing.
static const char *wrong_with(const struct cutter *c, const struct line *l)
{
    if (l->mark == OPEN ? c->in_region : l->mark != PLAIN && !c->in_region)
        return "a mark out of order: >>>, --- stub, --- bug ..., <<<";
    if (l->mark == STUB && (c->part != PLAIN || c->stub))
        return "a region has one stub, before its bugs";
    if ((l->mark == CLOSE || l->mark == BUG) && !c->stub)
        return "a region without a stub";
    if (c->in_region && c->part != PLAIN && l->mark == PLAIN && !text_begins(l->body, "//|"))
        return "a line of a stub or a bug begins with //|";
    return NULL;
}

// One line; rest: what comes after it.
static void cut_line(struct cutter *c, const struct line *l, const char *rest)
{
    struct cut_bug b;
    switch (l->mark) {
    case OPEN:
        c->in_region = true;
        c->stub = false;
        c->part = PLAIN;
        c->regions++;
        c->wanted = part_of(rest, c->kind, c->bug);
        c->taken = c->wanted == PLAIN;
        put(c->out, l, false);
        break;
    case STUB:
        c->stub = true;
        c->part = STUB;
        c->taken = c->wanted == STUB;
        break;
    case BUG:
        read_bug(l, &b);
        c->part = BUG;
        c->taken = c->wanted == BUG && !strcmp(b.name, c->bug);
        c->found |= c->taken;
        break;
    case CLOSE:
        c->in_region = false;
        c->part = PLAIN;
        c->taken = true;
        put(c->out, l, false);
        break;
    default:
        if (c->taken)
            put(c->out, l, c->part != PLAIN);
    }
}

static bool cut_into(FILE *out, const char *source, enum cut kind, const char *bug, char error[CUT_ERROR_MAX])
{
    const char *p = source;
    struct cutter c = { .out = out, .kind = kind, .bug = bug, .taken = true, .wanted = PLAIN, .part = PLAIN };
    struct line l;
    for (int number = 1; next(&p, &l); number++) {
        const char *wrong = wrong_with(&c, &l);
        if (wrong) {
            snprintf(error, CUT_ERROR_MAX, "line %d: %s", number, wrong);
            return false;
        }
        cut_line(&c, &l, p);
    }
    if (c.in_region || !c.regions)
        snprintf(error, CUT_ERROR_MAX,
                 c.in_region ? "the last region has no <<<" : "no region, which begins with // >>>");
    else if (kind == CUT_BUG && !c.found)
        snprintf(error, CUT_ERROR_MAX, "no bug has the name '%s'", bug);
    else
        return true;
    return false;
}

char *cut_text(const char *source, enum cut kind, const char *bug, char error[CUT_ERROR_MAX])
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        snprintf(error, CUT_ERROR_MAX, "out of memory");
        return NULL;
    }
    const bool done = cut_into(out, source, kind, bug, error);
    if (!fclose(out) && done)
        return text;
    free(text);
    return NULL;
}

size_t cut_bugs(const char *source, struct cut_bug bugs[CUT_BUGS_MAX])
{
    struct line l;
    size_t n = 0;
    while (n < CUT_BUGS_MAX && next(&source, &l)) {
        if (l.mark != BUG)
            continue;
        read_bug(&l, &bugs[n]);
        struct cut_bug *first = bugs;  // of that name
        while (strcmp(first->name, bugs[n].name))
            first++;
        if (first == &bugs[n])
            n++;
        else
            for (size_t e = 0; e < bugs[n].n && first->n < CUT_EXPECTS_MAX; e++)
                memcpy(first->expects[first->n++], bugs[n].expects[e], CUT_TEXT_MAX);
    }
    return n;
}
