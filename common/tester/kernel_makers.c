// Which lines of a kernel's text make what another one has. See kernel_text.h.
#include "kernel_text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/source.h"
#include "kernel_words.h"

// --- What a line sets ---

// Whether the line sets one of the names that stand in text, by =, += or ^=, and is no loop's head.
static bool sets_one_of(const char *line, const char *text)
{
    enum { NAME = 64 };
    char name[NAME];
    if (kernel_find_word(line, "for"))
        return false;
    for (const char *p = text; *p;) {
        size_t n = 0;
        while (kernel_is_word(p[n]))
            n++;
        const bool counts = n == 1 && *p >= 'i' && *p <= 'k';  // an index of many loops
        if (n && n < NAME && !counts && !isdigit((unsigned char)*p)) {
            memcpy(name, p, n);
            name[n] = 0;
            if (kernel_has_behind(line, name, "=") || kernel_has_behind(line, name, "^=") ||
                kernel_has_behind(line, name, "+="))
                return true;
        }
        p += n ? n : 1;
    }
    return false;
}

enum wanted { FIRST, LAST, FIRST_CHANGE };

// Of the lines from first on, but not beyond last, that set a name which line `use` has: the first, or the last one, or
// the first that is no definition.
static unsigned find_set(const char *file, unsigned use, unsigned first, unsigned last, enum wanted wanted)
{
    char text[256];
    unsigned found = 0;
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    source_text(file, use, text, sizeof text);
    for (unsigned number = 1; in && number <= last && getline(&line, &room, in) >= 0; number++)
        if (number >= first && number != use && (!found || wanted == LAST) && sets_one_of(line, text) &&
            (wanted != FIRST_CHANGE || !kernel_find_word(line, "int")))
            found = number;
    free(line);
    if (in)
        fclose(in);
    return found;
}

unsigned kernel_text_sets(const char *file, unsigned use, unsigned from)
{
    const unsigned found = find_set(file, use, from + 1, UINT_MAX, FIRST);
    return found ? found : find_set(file, use, 1, from, LAST);
}

bool kernel_text_sets_for(const char *file, unsigned line, unsigned use)
{
    char sets[256], text[256];
    source_text(file, line, sets, sizeof sets);
    source_text(file, use, text, sizeof text);
    return line != use && sets_one_of(sets, text);
}

unsigned kernel_text_changes(const char *file, unsigned use)
{
    return find_set(file, use, 1, UINT_MAX, FIRST_CHANGE);
}

// --- What makes a statement ---

static unsigned away(unsigned line, unsigned use)
{
    return line > use ? 2 * (line - use) : use - line;  // what stands before it is nearer
}

static void insert_maker(unsigned lines[KERNEL_MAKERS], unsigned *n, unsigned line, unsigned use)
{
    unsigned i = *n < KERNEL_MAKERS ? (*n)++ : KERNEL_MAKERS - 1;
    for (; i > 0 && away(lines[i - 1], use) > away(line, use); i--)
        lines[i] = lines[i - 1];
    lines[i] = line;
}

// Of the names in text.
static unsigned makers_of(const char *file, unsigned use, const char *text, unsigned lines[KERNEL_MAKERS])
{
    char statement[512];
    unsigned heads[KERNEL_LOOPS], n = 0;
    const unsigned first = kernel_statement(file, use, statement, sizeof statement);
    const unsigned n_heads = kernel_text_loops(file, use, heads);
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && getline(&line, &room, in) >= 0; number++) {
        bool around = false;
        for (unsigned i = 0; i < n_heads; i++)
            around = around || heads[i] == number;
        const bool before = number + 1 == first && kernel_find_word(line, "if") && !strchr(line, ';');
        if (number != use && (before || sets_one_of(line, text) || (around && kernel_counts(line, text))))
            insert_maker(lines, &n, number, use);
    }
    free(line);
    if (in)
        fclose(in);
    return n;
}

unsigned kernel_text_makers(const char *file, unsigned use, unsigned lines[KERNEL_MAKERS])
{
    char text[512];
    kernel_statement(file, use, text, sizeof text);
    return makers_of(file, use, text, lines);
}

// The index, or the indices, behind the first name of a shared array, or behind A or B.
static bool index_in(const char *text, char *index, size_t size)
{
    for (const char *p = text; (p = strchr(p, '[')); p++) {
        int depth = 0;
        size_t n = 0;
        const bool shared = p > text + 1 && p[-1] == 's' && isupper((unsigned char)p[-2]);
        if (!shared && (p == text || (p[-1] != 'A' && p[-1] != 'B')))
            continue;
        for (; p[n] && (depth || !n || p[n] == '['); n++)
            depth += p[n] == '[' ? 1 : p[n] == ']' ? -1 : 0;
        snprintf(index, size, "%.*s", (int)n, p);
        return true;
    }
    return false;
}

unsigned kernel_text_index_makers(const char *file, unsigned use, unsigned lines[KERNEL_MAKERS])
{
    char text[512], index[512];
    kernel_statement(file, use, text, sizeof text);
    return index_in(text, index, sizeof index) ? makers_of(file, use, index, lines) : 0;
}

// The argument, up to the comma or parenthesis that ends it.
static size_t argument(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (depth || (text[n] != ',' && text[n] != ')')); n++)
        depth += strchr("([{", text[n]) ? 1 : strchr(")]}", text[n]) ? -1 : 0;
    return n;
}

unsigned kernel_text_place_makers(const char *file, unsigned use, bool column, unsigned lines[KERNEL_MAKERS])
{
    static const char call[] = "(C, M, N, ", by_index[] = "* N +";
    char text[512];
    kernel_statement(file, use, text, sizeof text);
    char *row = strstr(text, call), *index = strstr(text, "C["), *behind = index ? strstr(index, by_index) : NULL;
    if (row) {
        row += strlen(call);
        char *place = column ? row + argument(row) + 1 : row;
        if (!row[argument(row)])
            return 0;
        place[argument(place)] = 0;
        return makers_of(file, use, place, lines);
    }
    if (!behind)
        return 0;
    char *end = strchr(behind, ']');
    if (end)
        *end = 0;
    *behind = 0;
    return makers_of(file, use, column ? behind + strlen(by_index) : index, lines);
}

// --- Variables without a value ---

// Whether the line declares the name without one: a type before it, and a , or ; behind it and its size.
static bool declares_unset(const char *line, const char *name)
{
    static const char *const types[] = { "float", "double", "half",     "half2",    "half8",   "float4",
                                         "REAL",  "int",    "unsigned", "uint64_t", "fragment" };
    const char *at = kernel_find_word(line, name);
    bool type = false;
    for (size_t i = 0; at && i < sizeof types / sizeof *types; i++) {
        const char *t = kernel_find_word(line, types[i]);
        type = type || (t && t < at);
    }
    if (!type || kernel_find_word(line, "for") || kernel_find_word(line, "__shared__") ||
        memchr(line, '(', (size_t)(at - line)) || memchr(line, '{', (size_t)(at - line)))
        return false;
    for (const char *p = at; p > line && *p != ','; p--)
        if (*p == '=')  // it is the value of another
            return false;
    const char *p = at + strlen(name);
    while (*p == '[')
        p += strcspn(p, "]") + 1;
    return *p == ',' || *p == ';';
}

// By =, or as the first argument of a call.
static bool gives_value(const char *line, const char *name)
{
    const char *at = kernel_find_word(line, name);
    const char *index = at ? strchr(at, ']') : NULL;
    char call[80], address[80];
    snprintf(call, sizeof call, "(%s[", name);
    snprintf(address, sizeof address, "(&%s[", name);
    if (!at || kernel_find_word(line, "for"))
        return false;
    if (kernel_has_behind(line, name, "=") || strstr(line, call))
        return true;
    return at[strlen(name)] == '[' && index && strstr(index, " = ") &&
           (!strstr(line, " = ") || strstr(line, " = ") >= index);
}

static void find_unset(const char *file, struct kernel_unset *u)
{
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && getline(&line, &room, in) >= 0; number++) {
        if (!u->declared && declares_unset(line, u->name))
            u->declared = number;
        else if (u->declared && !u->set && gives_value(line, u->name))
            u->set = number;
    }
    free(line);
    if (in)
        fclose(in);
    u->loop = u->set ? kernel_text_loop(file, u->set) : 0;
}

unsigned kernel_text_unset(const char *file, unsigned use, struct kernel_unset out[KERNEL_UNSET])
{
    char text[512];
    unsigned n = 0;
    kernel_statement(file, use, text, sizeof text);
    for (const char *p = text; *p && n < KERNEL_UNSET;) {
        struct kernel_unset u = { .declared = 0 };
        size_t length = 0;
        bool known = false;
        while (kernel_is_word(p[length]))
            length++;
        if (length && length < sizeof u.name && !isdigit((unsigned char)*p)) {
            memcpy(u.name, p, length);
            for (unsigned i = 0; i < n; i++)
                known = known || !strcmp(out[i].name, u.name);
            if (!known)
                find_unset(file, &u);
            if (u.declared && u.declared != use)
                out[n++] = u;
        }
        p += length ? length : 1;
    }
    return n;
}

void kernel_chain_add(struct kernel_chain *c, unsigned line)
{
    for (unsigned i = 0; i < c->n; i++)
        if (c->line[i] == line)
            return;
    if (line && c->n < KERNEL_CHAIN)
        c->line[c->n++] = line;
}

void kernel_chain_follow(struct kernel_chain *c, const char *file)
{
    enum { STEPS = 3 };
    unsigned makers[KERNEL_MAKERS], done = 0;
    struct kernel_unset unset[KERNEL_UNSET];
    for (int step = 0; step < STEPS; step++)
        for (const unsigned end = c->n; done < end; done++) {
            const unsigned n = kernel_text_makers(file, c->line[done], makers);
            const unsigned n_unset = kernel_text_unset(file, c->line[done], unset);
            for (unsigned i = 0; i < n; i++)
                kernel_chain_add(c, makers[i]);
            for (unsigned i = 0; i < n_unset; i++)
                kernel_chain_add(c, unset[i].declared);
        }
}
