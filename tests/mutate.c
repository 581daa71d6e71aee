// See mutate.h.
#include "mutate.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const tiles[] = MUTANT_TILES;
enum { TILES = sizeof tiles / sizeof *tiles };

// --- the text ---

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool starts(const struct mutants *s, size_t at, const char *what)
{
    return !strncmp(s->code + at, what, strlen(what));
}

static bool ends(const struct mutants *s, size_t at, const char *what)
{
    return at >= strlen(what) && starts(s, at - strlen(what), what);
}

static bool word_at(const struct mutants *s, size_t at, const char *word)
{
    return starts(s, at, word) && !is_word(s->code[at + strlen(word)]) && (!at || !is_word(s->code[at - 1]));
}

static size_t skip_blanks(const struct mutants *s, size_t at)
{
    return at + strspn(s->code + at, " \n");
}

static int depth_of(char c)
{
    return strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
}

// The bracket that closes the one at `at`.
static size_t closing(const struct mutants *s, size_t at)
{
    int depth = 0;
    for (; at < s->size && (depth += depth_of(s->code[at])) > 0;)
        at++;
    return at;
}

static unsigned line_of(const struct mutants *s, size_t at)
{
    unsigned line = 1;
    for (size_t i = at < s->kernel ? 0 : s->kernel; i < at; i++)
        line += s->text[i] == '\n';
    return line;
}

static size_t line_begins(const struct mutants *s, size_t at)
{
    while (at && s->text[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_ends(const struct mutants *s, size_t at)
{
    return at + strcspn(s->text + at, "\n");
}

static bool line_at_has(const struct mutants *s, size_t at, const char *word)
{
    for (size_t i = line_begins(s, at), end = line_ends(s, at); i < end; i++)
        if (word_at(s, i, word))
            return true;
    return false;
}

bool mutants_line_has(const struct mutants *s, unsigned line, const char *word)
{
    size_t at = s->kernel;
    for (unsigned i = 1; i < line && at < s->size; i++)
        at = line_ends(s, at) + 1;
    bool has = false;
    for (int k = 0; k < TILES && !word && !has; k++)
        has = line_at_has(s, at, tiles[k]);
    return line && at < s->size && (word ? line_at_has(s, at, word) : has);
}

// --- what the kernel uses of edges.cuh ---

// The name of the function of edges.cuh whose body has `at`: the word before the first parenthesis of the last line
// above that begins with a letter.
static size_t function_of(const struct mutants *s, size_t at, size_t *length)
{
    size_t line = line_begins(s, at);
    while (line && !(is_word(s->code[line]) && memchr(s->code + line, '(', line_ends(s, line) - line)))
        line = line_begins(s, line - 1);
    const size_t end = line + strcspn(s->code + line, "(");
    size_t from = end;
    while (from > line && is_word(s->code[from - 1]))
        from--;
    *length = end - from;
    return from;
}

// Does the kernel call the function that has `at`, itself or through another one?
static bool is_used(const struct mutants *s, size_t at)
{
    char name[64];
    size_t length;
    if (at >= s->kernel)
        return true;
    const size_t from = function_of(s, at, &length);
    snprintf(name, sizeof name, "%.*s", (int)length, s->code + from);
    for (size_t i = s->kernel; i < s->size; i++)
        if (word_at(s, i, name))
            return true;
    for (size_t i = 0; i < s->kernel; i++) {
        size_t other_length;
        if (!word_at(s, i, name))
            continue;
        const size_t other = function_of(s, i, &other_length);
        const bool itself = other_length == length && !strncmp(s->code + other, name, length);
        if (!itself && is_used(s, i))
            return true;
    }
    return false;
}

// --- the rules ---

// A mutant of what the kernel does not use is made, but not kept.
static struct mutant *add(struct mutants *s, enum mutant_rule rule, size_t n, const struct edit *edits)
{
    cr_assert(s->n < MUTANTS_MAX && n <= MUTANT_EDITS);
    struct mutant *m = &s->all[s->n];
    s->n += is_used(s, edits->from);
    *m = (struct mutant){
        .rule = rule, .n_edits = n, .in_edges = edits->from < s->kernel, .line = line_of(s, edits->from)
    };
    memcpy(m->edits, edits, n * sizeof *edits);
    return m;
}

static void remove_barriers(struct mutants *s)
{
    for (size_t i = 0; i < s->size; i++)
        if (word_at(s, i, "__syncthreads") || word_at(s, i, "__syncwarp"))
            add(s, MUTANT_BARRIER, 1, &(struct edit){ i, i + strcspn(s->code + i, ";"), "" });
}

// As[r][c]: two mutants.
static void shift_indices(struct mutants *s)
{
    for (size_t i = 0; i < s->size; i++)
        for (int k = 0; k < TILES; k++) {
            if (!word_at(s, i, tiles[k]) || line_at_has(s, i, "__shared__"))
                continue;
            for (size_t at = i + 2; s->code[at] == '['; at++) {
                at = closing(s, at);
                memcpy(add(s, MUTANT_INDEX, 1, &(struct edit){ at, at, " + 1" })->array, tiles[k], 3);
            }
        }
}

static size_t left_operand(const struct mutants *s, size_t at)
{
    for (int depth = 0; at; at--) {
        const char c = s->code[at - 1];
        depth -= depth_of(c);
        if (depth < 0 ||
            (!depth && (strchr(",;=?:", c) || ends(s, at, "&&") || ends(s, at, "||") || ends(s, at, "return "))))
            break;
    }
    return skip_blanks(s, at);
}

static size_t right_operand(const struct mutants *s, size_t at)
{
    for (int depth = 0; at < s->size; at++) {
        const char c = s->code[at];
        depth += depth_of(c);
        if (depth < 0 || (!depth && (strchr(",;?:", c) || starts(s, at, "&&") || starts(s, at, "||"))))
            break;
    }
    while (isspace((unsigned char)s->code[at - 1]))
        at--;
    return at;
}

// K % 4, which is 0 where rows start at multiples of 16 bytes.
static bool is_remainder(const struct mutants *s, size_t at, struct edit *out)
{
    if (!(word_at(s, at, "K") || word_at(s, at, "N")) || !starts(s, at + 1, " % "))
        return false;
    *out = (struct edit){ at, right_operand(s, at), "0" };
    return !memmem(s->code + at, out->to - at, "==", 2) && !line_at_has(s, at, "static_assert");
}

// A comparison that guards: not a loop's and not a constant's. == and != only with 0: beta, or a remainder.
static bool is_comparison(const struct mutants *s, size_t at, struct edit *out)
{
    static const char *const operators[] = { " < ", " > ", " <= ", " >= ", " == 0", " != 0" };
    size_t k = 0;
    while (k < 6 && !starts(s, at, operators[k]))
        k++;
    if (k == 6 || line_at_has(s, at, "static_assert") || line_at_has(s, at, "constexpr"))
        return false;
    *out = (struct edit){ left_operand(s, at), right_operand(s, at + (k < 2 ? 3 : 4)), "true" };
    const bool beta = word_at(s, out->from, "beta"),
               outside = starts(s, out->to + strcspn(s->code + out->to, "?;"), "? 0");
    if (ends(s, out->from, "whole || ") || ends(s, out->from, "== BK || "))
        return true;  // whole || c < depth: without a question
    if (outside)      // i >= rows ? 0 : ...
        out->with = "false";
    else if (starts(s, skip_blanks(s, out->to), "||") || ends(s, out->from, "|| ") || (beta && k == 4))
        out->with = "false";
    return beta || !s->in_for[at];
}

static bool joined(const struct mutants *s, const struct edit *a, const struct edit *b)
{
    const size_t at = skip_blanks(s, a->to);
    return (starts(s, at, "&&") || starts(s, at, "||")) && skip_blanks(s, at + 2) == b->from;
}

// Each condition alone, and all that are joined by && or || at once.
static void remove_conditions(struct mutants *s)
{
    struct edit group[MUTANT_EDITS], next;
    size_t n = 0;
    for (size_t i = 0; i <= s->size; i++) {
        const bool found = i < s->size && (is_comparison(s, i, &next) || is_remainder(s, i, &next));
        const bool joins = found && n && joined(s, &group[n - 1], &next);
        if (n > 1 && (i == s->size || (found && !joins)))
            add(s, MUTANT_GUARD, n, group);
        if (found) {
            add(s, MUTANT_GUARD, 1, &next);
            n = joins ? n : 0;
            cr_assert(n < MUTANT_EDITS);
            group[n++] = next;
        }
    }
}

// min(i, n - 1) -> (i); return inside ? ... -> return true ? ...; how many there are, left - acol or cols -> 8.
static void remove_other_guards(struct mutants *s)
{
    static const char *const counts[] = { "left - ", "first - ", "depth - ", "cols - ", "N - ", "cols :" };
    for (size_t i = 0; i < s->size; i++) {
        if (word_at(s, i, "min"))
            add(s, MUTANT_GUARD, 2,
                (struct edit[]){ { i, i + 3, "" }, { right_operand(s, i + 4), closing(s, i + 3), "" } });
        const size_t name = i + strlen("return ");
        size_t end = name;
        while (word_at(s, i, "return") && is_word(s->code[end]))
            end++;
        if (end > name && starts(s, end, " ? "))
            add(s, MUTANT_GUARD, 1, &(struct edit){ name, end, "true" });
        for (int k = 0; k < 6; k++)
            if (starts(s, i, counts[k]) && (ends(s, i, "? ") || (k < 2 && ends(s, i, ", "))))
                add(s, MUTANT_GUARD, 1, &(struct edit){ i, right_operand(s, i), "8" });
    }
}

static void remove_initialisers(struct mutants *s)
{
    for (size_t i = 0; i < s->size; i++)
        if ((starts(s, i, " = {};") || starts(s, i, " = 0;")) && line_at_has(s, i, "acc"))
            add(s, MUTANT_INITIALISER, 1, &(struct edit){ i, i + strcspn(s->code + i, ";"), "" });
}

// wait<n>(): removed, wait<n + 1>(), and behind the barrier that follows it. commit(): removed.
static void break_copies(struct mutants *s)
{
    for (size_t i = s->kernel; i < s->size; i++) {
        const size_t end = i + strcspn(s->code + i, ";"), barrier = end < s->size ? skip_blanks(s, end + 1) : end;
        if (ends(s, i, "void "))  // the function itself
            continue;
        if (word_at(s, i, "wait") && starts(s, i, "wait<")) {
            const size_t count = i + strcspn(s->code + i, ">");
            add(s, MUTANT_COPY, 1, &(struct edit){ i, end, "" });
            add(s, MUTANT_COPY, 1, &(struct edit){ count, count, " + 1" });
            if (starts(s, barrier, "__syncthreads();"))
                add(s, MUTANT_COPY, 2,
                    (struct edit[]){ { i, i, "__syncthreads(), " },
                                     { barrier, barrier + strlen("__syncthreads()"), "" } });
        }
        if (word_at(s, i, "commit") && starts(s, i, "commit()"))
            add(s, MUTANT_COPY, 1, &(struct edit){ i, i + strlen("commit()"), "0" });
    }
}

// stage = ... and free = ...: where the tile is that is multiplied, and where the next one goes.
static void keep_stages(struct mutants *s)
{
    for (size_t i = s->kernel; i < s->size; i++)
        if (((word_at(s, i, "stage") && starts(s, i, "stage = ")) ||
             (word_at(s, i, "free") && starts(s, i, "free = "))) &&
            !line_at_has(s, i, "int"))
            add(s, MUTANT_STAGE, 1, &(struct edit){ i, i + strcspn(s->code + i, ";"), "" });
}

// --- in and out ---

static char *read_all(const char *path, size_t *size)
{
    FILE *in = fopen(path, "r"), *out;
    char *text = NULL;
    cr_assert(in && (out = open_memstream(&text, size)), "%s", path);
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(in);
    fclose(out);
    return text;
}

static void blank(struct mutants *s, size_t from, size_t n)
{
    for (size_t i = from; i < from + n && i < s->size; i++)
        s->code[i] = s->code[i] == '\n' ? '\n' : ' ';
}

// What stands for one file must not include the other, nor be told to come once.
static void blank_lines_with(char *text, const char *what)
{
    for (char *p = text; (p = strstr(p, what));) {
        while (p > text && p[-1] != '\n')
            p--;
        memset(p, ' ', strcspn(p, "\n"));
    }
}

struct mutants mutants_read(const char *edges, const char *kernel)
{
    struct mutants s = { .paths = { edges, kernel } };
    size_t size;
    char *second = read_all(kernel, &size);
    s.text = read_all(edges, &s.kernel);
    s.size = s.kernel + size;
    s.text = realloc(s.text, s.size + 1);
    cr_assert(s.text);
    memcpy(s.text + s.kernel, second, size + 1);
    free(second);
    blank_lines_with(s.text, "#pragma once");
    blank_lines_with(s.text, "#include \"edges.cuh\"");
    s.code = strdup(s.text);
    s.in_for = calloc(1, s.size + 1);
    cr_assert(s.code && s.in_for);
    for (size_t i = 0; i < s.size; i++) {
        if (s.code[i] == '#' || starts(&s, i, "//"))
            blank(&s, i, strcspn(s.code + i, "\n"));
        else if (s.code[i] == '"')
            blank(&s, i, 2 + strcspn(s.code + i + 1, "\""));
    }
    for (size_t i = 0; i < s.size; i++)
        if (word_at(&s, i, "for"))
            memset(s.in_for + i, 1, closing(&s, i + strlen("for ")) - i);
    remove_barriers(&s);
    shift_indices(&s);
    remove_conditions(&s);
    remove_other_guards(&s);
    remove_initialisers(&s);
    break_copies(&s);
    keep_stages(&s);
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
    fprintf(out, "#line 1 \"%s\"\n", s->paths[0]);
    print_range(out, s, m && m->in_edges ? m : NULL, 0, s->kernel);
    fprintf(out, "#line 1 \"%s\"\n", s->paths[1]);
    print_range(out, s, m && !m->in_edges ? m : NULL, s->kernel, s->size);
}

void mutants_diff(FILE *out, const struct mutants *s, const struct mutant *m)
{
    static const char *const names[] = { "barrier", "index", "guard", "initialiser", "copy", "stage" };
    size_t from = line_begins(s, m->edits[0].from);
    const size_t to = line_ends(s, m->edits[m->n_edits - 1].to);
    from += strspn(s->text + from, " ");
    fprintf(out, "%s, %s line %u:\n  - %.*s\n  + ", names[m->rule], m->in_edges ? "edges.cuh" : "kernel.cu", m->line,
            (int)(to - from), s->text + from);
    print_range(out, s, m, from, to);
    putc('\n', out);
}
