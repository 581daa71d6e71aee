// See variants.h. A row is a line that begins with a letter or a digit; the lines below it are its edits.
#include "variants.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

const char *const variant_kinds[] = { "only", "without", "with", "wrong" };
enum { KINDS = sizeof variant_kinds / sizeof *variant_kinds };

// --- the file ---

struct reader {
    struct variants *v;
    char *rest;  // of the text, at the beginning of a line
    int line;    // its number
    char *error;
};

static bool fail(const struct reader *r, const char *what)
{
    return error_set(r->error, "%s:%d: %s", r->v->path, r->line, what);
}

// The line, ended by a NUL in place; NULL at the end.
static char *take_line(struct reader *r)
{
    char *line = r->rest, *end = strchrnul(line, '\n');
    if (!*line)
        return NULL;
    r->rest = *end ? end + 1 : end;
    *end = 0;
    r->line++;
    return line;
}

static char *take_word(char **at)
{
    char *word = *at + strspn(*at, " ");
    *at = word + strcspn(word, " ");
    if (**at)
        *(*at)++ = 0;
    return word;
}

static bool read_head(struct reader *r, char *line, struct variant *v)
{
    v->name = take_word(&line);
    v->step = take_word(&line);
    v->of = atoi(take_word(&line));
    const char *kind = take_word(&line);
    int i = 0;
    while (i < KINDS && strcmp(kind, variant_kinds[i]) != 0)
        i++;
    char *colon = strstr(line, ": ");
    if (i == KINDS || v->of < 1 || !colon || colon == line)
        return fail(r, "a row is NAME STEP OF KIND PART: WORDS, where KIND is only, without, with or wrong");
    *colon = 0;
    v->kind = (enum variant_kind)i;
    v->part = line;
    v->words = colon + 2;
    return !variants_find(r->v, v->name) || fail(r, "this name stands above, too");
}

// The lines from here on that begin with the sign, as one text in place of them.
static char *take_text(struct reader *r, char *line, char sign)
{
    char *text = line + (line[1] ? 2 : 1), *end = text + strlen(text);
    while (*r->rest == sign) {
        const char *more = take_line(r);
        more += more[1] ? 2 : 1;
        *end++ = '\n';
        memmove(end, more, strlen(more) + 1);
        end += strlen(end);
    }
    return text;
}

static bool add_edit(struct reader *r, char *line)
{
    struct variant *v = &r->v->all[r->v->n - 1];
    struct variant_edit *grown = reallocarray(v->edits, v->n + 1, sizeof *grown);
    if (!grown)
        return fail(r, "out of memory");
    v->edits = grown;
    struct variant_edit *e = &grown[v->n++];
    *e = (struct variant_edit){ .line = r->line };
    if (*line == '&') {
        e->from = line + 2;
        return variants_find(r->v, e->from) || fail(r, "there is no such variant above");
    }
    if (*line != '-' || line[1] != ' ')
        return fail(r, "an edit is lines that begin with '- ', and then lines that begin with '+ '");
    e->from = take_text(r, line, '-');
    line = take_line(r);
    if (!line || *line != '+')
        return fail(r, "behind the lines of '- ' those of '+ ' are missing, or a '+' alone");
    e->to = take_text(r, line, '+');
    return true;
}

static bool add_variant(struct reader *r, char *line)
{
    struct variants *v = r->v;
    struct variant *grown = reallocarray(v->all, v->n + 1, sizeof *grown);
    if (!grown)
        return fail(r, "out of memory");
    v->all = grown;
    struct variant one = { 0 };
    if (!read_head(r, line, &one))
        return false;
    grown[v->n++] = one;
    return true;
}

// "= OF PART"
static bool add_other(struct reader *r, char *line)
{
    struct variants *v = r->v;
    struct variant_other *grown = reallocarray(v->others, v->n_others + 1, sizeof *grown);
    if (!grown)
        return fail(r, "out of memory");
    v->others = grown;
    line++;
    struct variant_other *other = &grown[v->n_others];
    *other = (struct variant_other){ .of = atoi(take_word(&line)), .part = line };
    if (other->of < 1 || !*other->part)
        return fail(r, "behind '=' stand the number of a step and a part");
    if (variants_other(v, other->of))
        return fail(r, "this step has one above, too");
    v->n_others++;
    return true;
}

bool variants_read(struct variants *v, const char *path, char error[DEV_ERROR_MAX])
{
    *v = (struct variants){ .path = strdup(path), .text = file_read(path) };
    struct reader r = { .v = v, .rest = v->text, .error = error };
    bool ok = (v->path && v->text) || error_set(error, "%s: %s", path, strerror(errno));
    for (char *line; ok && (line = take_line(&r));)
        if (*line && *line != '#')
            ok = isalnum((unsigned char)*line) ? add_variant(&r, line)
                 : *line == '='                ? add_other(&r, line)
                 : v->n                        ? add_edit(&r, line)
                                               : fail(&r, "an edit without a row above it");
    if (!ok)
        variants_free(v);
    return ok;
}

void variants_free(struct variants *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->all[i].edits);
    free(v->all);
    free(v->others);
    free(v->text);
    free(v->path);
    *v = (struct variants){ 0 };
}

const char *variants_other(const struct variants *v, int of)
{
    for (size_t i = 0; i < v->n_others; i++)
        if (v->others[i].of == of)
            return v->others[i].part;
    return NULL;
}

const struct variant *variants_find(const struct variants *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->all[i].name, name))
            return &v->all[i];
    return NULL;
}

// --- a kernel ---

static int times_in(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

// *text with the edit made, in place of the old one, which is freed.
static bool make_edit(const struct variants *v, const struct variant_edit *e, const char *step, char **text,
                      char error[DEV_ERROR_MAX])
{
    const int times = times_in(*text, e->from);
    if (times != 1)
        return error_set(error, "%s:%d: '%.*s' stands %d times in the kernel of %s, and has to stand there once",
                         v->path, e->line, (int)strcspn(e->from, "\n"), e->from, times, step);
    const char *at = strstr(*text, e->from);
    char *changed;
    if (asprintf(&changed, "%.*s%s%s", (int)(at - *text), *text, e->to, at + strlen(e->from)) < 0)
        return error_set(error, "out of memory");
    free(*text);
    *text = changed;
    return true;
}

static bool make_edits(const struct variants *v, const struct variant *one, const char *step, char **text,
                       char error[DEV_ERROR_MAX])
{
    bool ok = true;
    for (size_t i = 0; i < one->n && ok; i++) {
        const struct variant_edit *e = &one->edits[i];
        ok = e->to ? make_edit(v, e, step, text, error) : make_edits(v, variants_find(v, e->from), step, text, error);
    }
    return ok;
}

char *variants_apply(const struct variants *v, const struct variant *one, const char *kernel, char error[DEV_ERROR_MAX])
{
    char *text = strdup(kernel);
    if (!text || !make_edits(v, one, one->step, &text, error)) {
        free(text);
        return NULL;
    }
    return text;
}
