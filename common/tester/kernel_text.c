// See kernel_text.h.
#include "kernel_text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/source.h"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// The next place of the name as a whole word, before a comment; NULL: there is none.
static const char *find_word(const char *text, const char *name)
{
    const size_t n = strlen(name);
    const char *comment = strstr(text, "//");
    for (const char *p = text; (p = strstr(p, name)) && (!comment || p < comment); p += n)
        if ((p == text || !is_word(p[-1])) && !is_word(p[n]))
            return p;
    return NULL;
}

// Whether an operator stands behind a place of the name: "=", and no "==", or "+=".
static bool has_behind(const char *text, const char *name, const char *operator)
{
    for (const char *p = text; (p = find_word(p, name)); p += strlen(name)) {
        const char *q = p + strlen(name) + strspn(p + strlen(name), " ");
        if (!strncmp(q, operator, strlen(operator)) && q[strlen(operator)] != '=')
            return true;
    }
    return false;
}

// A comparison of an index with a size of C.
static bool is_guard(const char *text, const char *size)
{
    for (const char *p = text; (p = find_word(p, size)); p++) {
        const char *before = p;
        while (before > text && before[-1] == ' ')
            before--;
        if (before > text && (before[-1] == '<' || (before > text + 1 && !strncmp(before - 2, ">=", 2))))
            return true;
    }
    return false;
}

static void read_line(const char *text, unsigned number, unsigned line[LINE_ROLES])
{
    static const struct {
        enum line_role role;
        const char *name;
    } set[] = { { LINE_ROW, "row" },      { LINE_COL, "col" },     { LINE_TILES, "tiles" },
                { LINE_BROW, "brow" },    { LINE_BCOL, "bcol" },   { LINE_FACTORS, "alpha" },
                { LINE_FACTORS, "beta" }, { LINE_DEPTH, "depth" }, { LINE_SHARED, "SHARED" } };
    enum { DEFINED = 3 };  // those before it are set where they are defined alone
    static const char *const pointer[] = { "A", "B" }, *const size[] = { "M", "N" };
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (!line[set[i].role] && has_behind(text, set[i].name, "=") && (i >= DEFINED || find_word(text, "int")))
            line[set[i].role] = number;
    if (!line[LINE_GEOMETRY] && find_word(text, "geometry"))
        line[LINE_GEOMETRY] = number;
    const bool moves_on = find_word(text, "left") || find_word(text, "depth") || find_word(text, "BK") ||
                          has_behind(text, "A", "+=") == has_behind(text, "B", "+=");
    if (find_word(text, "for") && (find_word(text, "tile") || find_word(text, "K")) &&
        (find_word(text, "tiles") || find_word(text, "K")) && !find_word(text, "min"))
        line[LINE_LOOP] = number;
    if (!line[LINE_LOOP_K] && find_word(text, "for") && find_word(text, "k"))
        line[LINE_LOOP_K] = number;
    for (int i = 0; i < 2; i++) {
        if (!line[LINE_BASE_A + i] && !moves_on && has_behind(text, pointer[i], "+="))
            line[LINE_BASE_A + i] = number;
        if ((has_behind(text, "A", "+=") || has_behind(text, "B", "+=")) && moves_on)
            line[LINE_STEP_A + i] = number;
        if (!line[LINE_GUARD_M + i] && is_guard(text, size[i]))
            line[LINE_GUARD_M + i] = number;
    }
}

void kernel_text_read(const char *file, unsigned line[LINE_ROLES])
{
    FILE *in = fopen(file, "r");
    char *text = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && getline(&text, &room, in) >= 0; number++)
        read_line(text, number, line);
    free(text);
    if (in)
        fclose(in);
}

// Whether the line sets one of the names that stand in text, by =, += or ^=, and is no loop's head.
static bool sets_one_of(const char *line, const char *text)
{
    enum { NAME = 64 };
    char name[NAME];
    if (find_word(line, "for"))
        return false;
    for (const char *p = text; *p;) {
        size_t n = 0;
        while (is_word(p[n]))
            n++;
        const bool counts = n == 1 && *p >= 'i' && *p <= 'k';  // an index of many loops
        if (n && n < NAME && !counts && !isdigit((unsigned char)*p)) {
            memcpy(name, p, n);
            name[n] = 0;
            if (has_behind(line, name, "=") || has_behind(line, name, "^=") || has_behind(line, name, "+="))
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
            (wanted != FIRST_CHANGE || !find_word(line, "int")))
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

// The name before a [ that stands first in the text and that use has as well.
static bool names_array(const char *text, const char *use, char *name, size_t size)
{
    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        const char *begin = at;
        while (begin > text && is_word(begin[-1]))
            begin--;
        snprintf(name, size, "%.*s", (int)(at - begin), begin);
        if (*name && find_word(use, name))
            return true;
    }
    return false;
}

// Whether the line defines a pointer that use has with a [ behind it, before any place of the name.
static bool is_pointer_before(const char *line, const char *use, const char *name)
{
    const char *end = find_word(use, name);
    for (const char *at = strchr(use, '['); at && (!end || at < end); at = strchr(at + 1, '[')) {
        char pointer[64], star[80];
        const char *begin = at;
        while (begin > use && is_word(begin[-1]))
            begin--;
        snprintf(pointer, sizeof pointer, "%.*s", (int)(at - begin), begin);
        snprintf(star, sizeof star, "*%s", pointer);
        if (*pointer && strstr(line, star) && has_behind(line, pointer, "="))
            return true;
    }
    return false;
}

unsigned kernel_text_shared(const char *file, unsigned use, char *name, size_t size)
{
    char text[256];
    unsigned found = 0;
    bool pointer = false;
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    source_text(file, use, text, sizeof text);
    for (unsigned number = 1; in && !found && getline(&line, &room, in) >= 0; number++)
        if (find_word(line, "__shared__") && !find_word(line, "extern") && names_array(line, text, name, size))
            found = number;
    if (in)
        rewind(in);
    while (found && in && !pointer && getline(&line, &room, in) >= 0)
        pointer = is_pointer_before(line, text, name);
    free(line);
    if (in)
        fclose(in);
    return pointer ? 0 : found;
}

// --- Loops ---

struct scopes {
    struct scope {
        bool loop;  // or a block
        unsigned line;
    } all[64];
    unsigned n, parens;
    unsigned head;  // of the for statement whose parentheses are open; 0: none
};

static void scope_begin(struct scopes *s, bool loop, unsigned line)
{
    if (s->n < sizeof s->all / sizeof *s->all)
        s->all[s->n++] = (struct scope){ loop, line };
}

// Loops whose body has ended are left.
static void end_loops(struct scopes *s)
{
    while (s->n && s->all[s->n - 1].loop)
        s->n--;
}

static void end_block(struct scopes *s)
{
    end_loops(s);
    s->n -= s->n > 0;
    end_loops(s);
}

// Strings are no part of the kernels' loops, and comments end the line.
static void read_scopes(struct scopes *s, const char *text, unsigned number)
{
    for (const char *p = text; *p && strncmp(p, "//", 2) != 0; p++) {
        if (!s->head && (p == text || !is_word(p[-1])) && !strncmp(p, "for", 3) && !is_word(p[3])) {
            s->head = number;
            s->parens = 0;
        } else if (s->head && *p == '(') {
            s->parens++;
        } else if (s->head && *p == ')' && !--s->parens) {
            scope_begin(s, true, s->head);
            s->head = 0;
        } else if (!s->head && *p == '{') {
            scope_begin(s, false, number);
        } else if (!s->head && *p == '}') {
            end_block(s);
        } else if (!s->head && *p == ';') {
            end_loops(s);
        }
    }
}

unsigned kernel_text_loops(const char *file, unsigned line, unsigned heads[KERNEL_LOOPS])
{
    struct scopes s = { .n = 0 };
    unsigned n = 0;
    FILE *in = fopen(file, "r");
    char *text = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && number < line && getline(&text, &room, in) >= 0; number++)
        read_scopes(&s, text, number);
    for (unsigned i = s.n; i-- > 0 && n < KERNEL_LOOPS;)
        if (s.all[i].loop)
            heads[n++] = s.all[i].line;
    free(text);
    if (in)
        fclose(in);
    return n;
}

unsigned kernel_text_loop(const char *file, unsigned use)
{
    char text[256], head[256], name[64];
    unsigned heads[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(file, use, heads);
    source_text(file, use, text, sizeof text);
    for (unsigned i = 0; i < n; i++) {
        source_text(file, heads[i], head, sizeof head);
        const char *end = strchr(head, '=');
        while (end && end > head && !is_word(end[-1]))
            end--;
        const char *begin = end;
        while (begin && begin > head && is_word(begin[-1]))
            begin--;
        snprintf(name, sizeof name, "%.*s", begin ? (int)(end - begin) : 0, begin ? begin : "");
        if (*name && find_word(text, name))
            return heads[i];
    }
    return 0;
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

// --- Statements ---

// The statement that has this line, in one line of text, without comments; where it begins.
static unsigned statement_at(const char *file, unsigned line, char *text, size_t size)
{
    enum { LINES = 4 };
    const unsigned first = source_statement(file, line);
    size_t n = 0;
    *text = 0;
    for (unsigned i = first; i < first + LINES && n + 1 < size; i++) {
        source_text(file, i, text + n, size - n);
        char *comment = strstr(text + n, "//");
        if (comment)
            *comment = 0;
        n = strlen(text);
        if (i >= line && n && strchr(";{}", text[n - 1 - (text[n - 1] == ' ')]))
            break;
        if (n + 1 < size)
            text[n++] = ' ', text[n] = 0;
    }
    return first;
}

// Whether the line is the head of a loop over a counter, of more than one letter or not, that the text has.
static bool counts_one_of(const char *line, const char *text)
{
    char name[64];
    const char *head = find_word(line, "for"), *end = head ? strchr(head, '=') : NULL;
    while (end && end > head && !is_word(end[-1]))
        end--;
    const char *begin = end;
    while (begin && begin > head && is_word(begin[-1]))
        begin--;
    snprintf(name, sizeof name, "%.*s", begin ? (int)(end - begin) : 0, begin ? begin : "");
    return *name && find_word(text, name);
}

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
    const unsigned first = statement_at(file, use, statement, sizeof statement);
    const unsigned n_heads = kernel_text_loops(file, use, heads);
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && getline(&line, &room, in) >= 0; number++) {
        bool around = false;
        for (unsigned i = 0; i < n_heads; i++)
            around = around || heads[i] == number;
        const bool before = number + 1 == first && find_word(line, "if") && !strchr(line, ';');
        if (number != use && (before || sets_one_of(line, text) || (around && counts_one_of(line, text))))
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
    statement_at(file, use, text, sizeof text);
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
    statement_at(file, use, text, sizeof text);
    return index_in(text, index, sizeof index) ? makers_of(file, use, index, lines) : 0;
}

bool kernel_text_is_limit(const char *file, unsigned line, const char *size)
{
    char text[256];
    source_text(file, line, text, sizeof text);
    return find_word(text, size) && find_word(text, "int") && !has_behind(text, "A", "+=") &&
           !has_behind(text, "B", "+=");
}

unsigned kernel_text_condition(const char *file, unsigned line)
{
    char text[256];
    const unsigned first = source_statement(file, line);
    source_text(file, first - 1, text, sizeof text);
    return first > 1 && find_word(text, "if") && !strchr(text, ';') ? first - 1 : 0;
}

unsigned kernel_text_defines(const char *file, const char *name)
{
    unsigned found = 0;
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && !found && getline(&line, &room, in) >= 0; number++)
        if (has_behind(line, name, "=") && (find_word(line, "half") || find_word(line, "float") || strchr(line, '*')))
            found = number;
    free(line);
    if (in)
        fclose(in);
    return found;
}

unsigned kernel_text_pointer(const char *file, unsigned line)
{
    char text[256];
    source_text(file, line, text, sizeof text);
    for (const char *p = text; (p = strstr(p, "s[")); p++) {
        if (p == text || !isupper((unsigned char)p[-1]))
            continue;
        const char name[] = { p[-1], 's', 0 };
        return kernel_text_defines(file, name);
    }
    return 0;
}

// The line that makes wgmma's descriptor of the matrix's tile, As or Bs; 0: none.
unsigned kernel_text_descriptor(const char *file, char matrix)
{
    const char name[] = { matrix, 's', 0 };
    unsigned found = 0;
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && !found && getline(&line, &room, in) >= 0; number++)
        if (strstr(line, "descriptor") && find_word(line, name))
            found = number;
    free(line);
    if (in)
        fclose(in);
    return found;
}

// --- Variables without a value ---

// Whether the line declares the name without one: a type before it, and a , or ; behind it and its size.
static bool declares_unset(const char *line, const char *name)
{
    static const char *const types[] = { "float", "double", "half",     "half2",    "half8",   "float4",
                                         "REAL",  "int",    "unsigned", "uint64_t", "fragment" };
    const char *at = find_word(line, name);
    bool type = false;
    for (size_t i = 0; at && i < sizeof types / sizeof *types; i++) {
        const char *t = find_word(line, types[i]);
        type = type || (t && t < at);
    }
    if (!type || find_word(line, "for") || find_word(line, "__shared__") || memchr(line, '(', (size_t)(at - line)) ||
        memchr(line, '{', (size_t)(at - line)))
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
    const char *at = find_word(line, name);
    const char *index = at ? strchr(at, ']') : NULL;
    char call[80], address[80];
    snprintf(call, sizeof call, "(%s[", name);
    snprintf(address, sizeof address, "(&%s[", name);
    if (!at || find_word(line, "for"))
        return false;
    if (has_behind(line, name, "=") || strstr(line, call))
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
    statement_at(file, use, text, sizeof text);
    for (const char *p = text; *p && n < KERNEL_UNSET;) {
        struct kernel_unset u = { .declared = 0 };
        size_t length = 0;
        bool known = false;
        while (is_word(p[length]))
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

unsigned kernel_text_call(const char *file, unsigned of)
{
    char text[256], name[64], call[80];
    unsigned found = 0;
    source_text(file, of, text, sizeof text);
    const char *at = find_word(text, "auto"), *lambda = strstr(text, "= [&]");
    if (!at || !lambda)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 5, " ="), at + 5);
    snprintf(call, sizeof call, "%s(", name);
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && !found && getline(&line, &room, in) >= 0; number++)
        if (number > of && strstr(line, call))
            found = number;
    free(line);
    if (in)
        fclose(in);
    return found;
}

bool kernel_text_has_constant_index(const char *file, unsigned line)
{
    char text[256] = "";
    bool found = false, more = line > 0;
    for (unsigned i = line; more && i < line + 2; i++) {
        source_text(file, i, text, sizeof text);
        for (const char *p = text; (p = strchr(p, '[')) && !found; p++) {
            const size_t n = strspn(p + 1, "0123456789");
            found = n && p[n + 1] == ']';
        }
        more = !strchr(text, ';');
    }
    return found;
}
