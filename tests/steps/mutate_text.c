// See mutate_text.h.
#include "mutate_text.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const code_tiles[] = { "As", "Bs", "Cs", "Ps", NULL };
const char *const code_barriers[] = { "full", "empty", NULL };

bool code_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool code_starts(const struct mutants *s, size_t at, const char *what)
{
    return !strncmp(s->code + at, what, strlen(what));
}

bool code_ends(const struct mutants *s, size_t at, const char *what)
{
    return at >= strlen(what) && code_starts(s, at - strlen(what), what);
}

bool code_word_at(const struct mutants *s, size_t at, const char *word)
{
    return code_starts(s, at, word) && !code_is_word(s->code[at + strlen(word)]) &&
           (!at || !code_is_word(s->code[at - 1]));
}

size_t code_skip_blanks(const struct mutants *s, size_t at)
{
    return at + strspn(s->code + at, " \n");
}

int code_depth_of(char c)
{
    return strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
}

// The bracket that closes the one at `at`.
size_t code_closing(const struct mutants *s, size_t at)
{
    int depth = 0;
    for (; at < s->size && (depth += code_depth_of(s->code[at])) > 0;)
        at++;
    return at;
}

static unsigned file_of(const struct mutants *s, size_t at)
{
    unsigned file = s->n_files - 1;
    while (at < s->files[file].begins)
        file--;
    return file;
}

static unsigned line_of(const struct mutants *s, size_t at)
{
    unsigned line = 1;
    for (size_t i = s->files[file_of(s, at)].begins; i < at; i++)
        line += s->text[i] == '\n';
    return line;
}

size_t code_line_begins(const struct mutants *s, size_t at)
{
    while (at && s->text[at - 1] != '\n')
        at--;
    return at;
}

size_t code_line_ends(const struct mutants *s, size_t at)
{
    return at + strcspn(s->text + at, "\n");
}

bool code_line_has(const struct mutants *s, size_t at, const char *word)
{
    for (size_t i = code_line_begins(s, at), end = code_line_ends(s, at); i < end; i++)
        if (code_word_at(s, i, word))
            return true;
    return false;
}

static bool line_has_any(const struct mutants *s, size_t at, const char *const words[])
{
    for (int k = 0; words[k]; k++)
        if (code_line_has(s, at, words[k]))
            return true;
    return false;
}

bool mutants_line_has(const struct mutants *s, unsigned line, const char *word)
{
    size_t at = s->kernel;
    for (unsigned i = 1; i < line && at < s->size; i++)
        at = code_line_ends(s, at) + 1;
    if (!line || at >= s->size || word)
        return line && at < s->size && code_line_has(s, at, word);
    return line_has_any(s, at, code_tiles) || line_has_any(s, at, code_barriers);
}

// --- what the kernel uses of its headers ---

// The name of the function of a header whose body has `at`: the word before the first parenthesis of the last line
// above that begins with a letter.
static size_t function_of(const struct mutants *s, size_t at, size_t *length)
{
    size_t line = code_line_begins(s, at);
    while (line && !(code_is_word(s->code[line]) && memchr(s->code + line, '(', code_line_ends(s, line) - line)))
        line = code_line_begins(s, line - 1);
    const size_t end = line + strcspn(s->code + line, "(");
    size_t from = end;
    while (from > line && code_is_word(s->code[from - 1]))
        from--;
    *length = end - from;
    return from;
}

// Does the kernel call the function that has `at`, itself or through another one? A kernel of a header is launched.
static bool is_used(const struct mutants *s, size_t at)
{
    char name[64];
    size_t length;
    if (at >= s->kernel)
        return true;
    const size_t from = function_of(s, at, &length);
    if (code_line_has(s, from, "__global__"))
        return true;
    snprintf(name, sizeof name, "%.*s", (int)length, s->code + from);
    for (size_t i = s->kernel; i < s->size; i++)
        if (code_word_at(s, i, name))
            return true;
    for (size_t i = 0; i < s->kernel; i++) {
        size_t other_length;
        if (!code_word_at(s, i, name))
            continue;
        const size_t other = function_of(s, i, &other_length);
        const bool itself = other_length == length && !strncmp(s->code + other, name, length);
        if (!itself && is_used(s, i))
            return true;
    }
    return false;
}

struct mutant *mutants_add(struct mutants *s, enum mutant_rule rule, size_t n, const struct edit *edits)
{
    cr_assert(s->n < MUTANTS_MAX && n <= MUTANT_EDITS);
    struct mutant *m = &s->all[s->n];
    s->n += is_used(s, edits->from);
    *m =
        (struct mutant){ .rule = rule, .n_edits = n, .file = file_of(s, edits->from), .line = line_of(s, edits->from) };
    memcpy(m->edits, edits, n * sizeof *edits);
    return m;
}
