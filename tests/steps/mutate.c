// See mutate.h.
#include "mutate.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mutate_text.h"

static void blank(struct mutants *s, size_t from, size_t n)
{
    for (size_t i = from; i < from + n && i < s->size; i++)
        s->code[i] = s->code[i] == '\n' ? '\n' : ' ';
}

// What stands for one file must not include another, nor be told to come once.
static void blank_lines_with(char *text, const char *what)
{
    for (char *p = text; (p = strstr(p, what));) {
        while (p > text && p[-1] != '\n')
            p--;
        memset(p, ' ', strcspn(p, "\n"));
    }
}

static void append(struct mutants *s, const char *folder, const char *name, size_t length)
{
    struct mutant_file *f = &s->files[s->n_files++];
    size_t size;
    cr_assert_leq(s->n_files, MUTANT_FILES);
    f->begins = s->size;
    snprintf(f->path, sizeof f->path, "%s%s%.*s", folder, *folder ? "/" : "", (int)length, name);
    f->name = strrchr(f->path, '/') + 1;
    char *text = file_read_bytes(f->path, &size);
    cr_assert(text, "%s", f->path);
    s->text = realloc(s->text, s->size + size + 1);
    cr_assert(s->text);
    memcpy(s->text + s->size, text, size + 1);
    s->size += size;
    free(text);
}

static void append_headers(struct mutants *s, const char *folder, const char *kernel)
{
    static const char include[] = "#include \"";
    char *text = file_read(kernel);
    cr_assert(text, "%s", kernel);
    for (const char *p = text; (p = strstr(p, include));) {
        p += strlen(include);
        append(s, folder, p, strcspn(p, "\""));
    }
    free(text);
}

// The text with blanks for comments, strings and directives.
static void find_code(struct mutants *s)
{
    s->code = strdup(s->text);
    s->in_for = calloc(1, s->size + 1);
    cr_assert(s->code && s->in_for);
    for (size_t i = 0; i < s->size; i++) {
        if (s->code[i] == '#' || code_starts(s, i, "//"))
            blank(s, i, strcspn(s->code + i, "\n"));
        else if (s->code[i] == '"')
            blank(s, i, 2 + strcspn(s->code + i + 1, "\""));
    }
    for (size_t i = 0; i < s->size; i++)
        if (code_word_at(s, i, "for"))
            memset(s->in_for + i, 1, code_closing(s, i + strlen("for ")) - i);
}

struct mutants mutants_read(const char *folder, const char *kernel)
{
    struct mutants s = { 0 };
    append_headers(&s, folder, kernel);
    s.kernel = s.size;
    append(&s, "", kernel, strlen(kernel));
    blank_lines_with(s.text, "#pragma once");
    blank_lines_with(s.text, "#include \"");
    find_code(&s);
    mutate_by_rules(&s);
    mutate_hopper(&s);
    return s;
}

void mutants_free(struct mutants *s)
{
    free(s->text);
    free(s->code);
    free(s->in_for);
}

static void print_range(FILE *out, const struct mutants *s, const struct mutant *m, size_t from, size_t to)
{
    for (size_t e = 0; m && e < m->n_edits; e++) {
        const struct edit *x = &m->edits[e];
        fwrite(s->text + from, 1, x->from - from, out);
        fputs(x->with, out);
        for (from = x->from; from < x->to; from++)
            if (s->text[from] == '\n')
                putc('\n', out);
    }
    fwrite(s->text + from, 1, to - from, out);
}

void mutants_print(FILE *out, const struct mutants *s, const struct mutant *m)
{
    for (unsigned i = 0; i < s->n_files; i++) {
        fprintf(out, "#line 1 \"%s\"\n", s->files[i].path);
        print_range(out, s, m && m->file == i ? m : NULL, s->files[i].begins,
                    i + 1 < s->n_files ? s->files[i + 1].begins : s->size);
    }
}

void mutants_diff(FILE *out, const struct mutants *s, const struct mutant *m)
{
    static const char *const names[] = { "barrier",  "index", "guard", "initialiser", "copy", "stage",
                                         "mbarrier", "tma",   "wgmma", "store",       "role", "place" };
    size_t from = code_line_begins(s, m->edits[0].from);
    const size_t to = code_line_ends(s, m->edits[m->n_edits - 1].to);
    from += strspn(s->text + from, " ");
    fprintf(out, "%s, %s line %u:\n  - %.*s\n  + ", names[m->rule], s->files[m->file].name, m->line, (int)(to - from),
            s->text + from);
    print_range(out, s, m, from, to);
    putc('\n', out);
}

static bool line_has(const struct mutants *s, const struct mutant *place, const struct mutant *m, const char *text)
{
    char *line;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    cr_assert(out);
    print_range(out, s, m, code_line_begins(s, place->edits[0].from),
                code_line_ends(s, place->edits[place->n_edits - 1].to));
    fclose(out);
    const bool has = strstr(line, text);
    free(line);
    return has;
}

bool mutants_makes(const struct mutants *s, const struct mutant *m, const char *file, const char *before,
                   const char *after)
{
    return !strcmp(s->files[m->file].name, file) && line_has(s, m, NULL, before) && line_has(s, m, m, after);
}
