// Roles of a kernel's lines, and its declarations. See kernel_text.h.
#include "kernel_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/source.h"
#include "kernel_words.h"

// A comparison of an index with a size of C.
static bool is_guard(const char *text, const char *size)
{
    for (const char *p = text; (p = kernel_find_word(p, size)); p++) {
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
        if (!line[set[i].role] && kernel_has_behind(text, set[i].name, "=") &&
            (i >= DEFINED || kernel_find_word(text, "int")))
            line[set[i].role] = number;
    if (!line[LINE_GEOMETRY] && kernel_find_word(text, "geometry"))
        line[LINE_GEOMETRY] = number;
    const bool moves_on = kernel_find_word(text, "left") || kernel_find_word(text, "depth") ||
                          kernel_find_word(text, "BK") ||
                          kernel_has_behind(text, "A", "+=") == kernel_has_behind(text, "B", "+=");
    if (kernel_find_word(text, "for") && (kernel_find_word(text, "tile") || kernel_find_word(text, "K")) &&
        (kernel_find_word(text, "tiles") || kernel_find_word(text, "K")) && !kernel_find_word(text, "min"))
        line[LINE_LOOP] = number;
    if (!line[LINE_LOOP_K] && kernel_find_word(text, "for") && kernel_find_word(text, "k"))
        line[LINE_LOOP_K] = number;
    for (int i = 0; i < 2; i++) {
        if (!line[LINE_BASE_A + i] && !moves_on && kernel_has_behind(text, pointer[i], "+="))
            line[LINE_BASE_A + i] = number;
        if ((kernel_has_behind(text, "A", "+=") || kernel_has_behind(text, "B", "+=")) && moves_on)
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

// The name before a [ that stands first in the text and that use has as well.
static bool names_array(const char *text, const char *use, char *name, size_t size)
{
    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        const char *begin = at;
        while (begin > text && kernel_is_word(begin[-1]))
            begin--;
        snprintf(name, size, "%.*s", (int)(at - begin), begin);
        if (*name && kernel_find_word(use, name))
            return true;
    }
    return false;
}

// Whether the line defines a pointer that use has with a [ behind it, before any place of the name.
static bool is_pointer_before(const char *line, const char *use, const char *name)
{
    const char *end = kernel_find_word(use, name);
    for (const char *at = strchr(use, '['); at && (!end || at < end); at = strchr(at + 1, '[')) {
        char pointer[64], star[80];
        const char *begin = at;
        while (begin > use && kernel_is_word(begin[-1]))
            begin--;
        snprintf(pointer, sizeof pointer, "%.*s", (int)(at - begin), begin);
        snprintf(star, sizeof star, "*%s", pointer);
        if (*pointer && strstr(line, star) && kernel_has_behind(line, pointer, "="))
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
        if (kernel_find_word(line, "__shared__") && !kernel_find_word(line, "extern") &&
            names_array(line, text, name, size))
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

bool kernel_text_is_limit(const char *file, unsigned line, const char *size)
{
    char text[256];
    source_text(file, line, text, sizeof text);
    return kernel_find_word(text, size) && kernel_find_word(text, "int") && !kernel_has_behind(text, "A", "+=") &&
           !kernel_has_behind(text, "B", "+=");
}

unsigned kernel_text_condition(const char *file, unsigned line)
{
    char text[256];
    const unsigned first = source_statement(file, line);
    source_text(file, first - 1, text, sizeof text);
    return first > 1 && kernel_find_word(text, "if") && !strchr(text, ';') ? first - 1 : 0;
}

unsigned kernel_text_defines(const char *file, const char *name)
{
    unsigned found = 0;
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && !found && getline(&line, &room, in) >= 0; number++)
        if (kernel_has_behind(line, name, "=") &&
            (kernel_find_word(line, "half") || kernel_find_word(line, "float") || strchr(line, '*')))
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
        if (strstr(line, "descriptor") && kernel_find_word(line, name))
            found = number;
    free(line);
    if (in)
        fclose(in);
    return found;
}

unsigned kernel_text_call(const char *file, unsigned of)
{
    char text[256], name[64], call[80];
    unsigned found = 0;
    source_text(file, of, text, sizeof text);
    const char *at = kernel_find_word(text, "auto"), *lambda = strstr(text, "= [&]");
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

bool kernel_text_narrow(const char *file, unsigned line, char name[KERNEL_NAME], char type[KERNEL_NAME])
{
    static const char *const types[] = { "bool", "char", "short", "int8_t", "uint8_t", "int16_t", "uint16_t" };
    char text[256];
    source_text(file, line, text, sizeof text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *at = kernel_find_word(text, types[i]);
        if (!at || sscanf(at + strlen(types[i]), " %63[A-Za-z_0-9] =", name) != 1 ||
            !kernel_has_behind(text, name, "="))
            continue;
        snprintf(type, KERNEL_NAME, "%s", types[i]);
        const char *value = strchr(at, '=') + 1;
        return i > 0 || strcspn(value, "<>!=&|") >= strcspn(value, ",;");
    }
    return false;
}

unsigned kernel_text_early_return(const char *file)
{
    unsigned found = 0, guard = 0;
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && !found && getline(&line, &room, in) >= 0; number++) {
        if (kernel_find_word(line, "if") && (is_guard(line, "M") || is_guard(line, "N")))
            guard = number;
        if (kernel_has_behind(line, "return", ";") && guard && guard + 1 >= number)
            found = guard;
    }
    free(line);
    if (in)
        fclose(in);
    return found;
}
