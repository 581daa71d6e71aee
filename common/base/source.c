// See source.h.
#include "source.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "text.h"

void source_text(const char *file, unsigned line, char *text, size_t room)
{
    text[0] = '\0';
    FILE *in = line > 0 ? fopen(file, "r") : NULL;
    if (!in)
        return;
    char *buffer = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    for (unsigned i = 0; i < line && length >= 0; i++)
        length = getline(&buffer, &capacity, in);
    if (length > 0) {
        char *start = buffer + strspn(buffer, " \t");
        size_t n = strcspn(start, "\r\n");
        while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\t'))
            n--;
        bool cut = n > room - 1;
        snprintf(text, room, "%.*s", (int)(cut ? room - 1 : n), start);
        if (cut && room > 4)
            memcpy(text + room - 4, "...", 4);
        text_one_line(text, ' ');
    }
    free(buffer);
    fclose(in);
}

// Whether a statement goes on after this line. What follows "for (...)" is a statement of its own.
static bool goes_on(const char *text)
{
    static const char *const heads[] = { "for (", "if (", "while (", "else", "} else" };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (text_begins(text, heads[i]))
            return false;
    const char *comment = strstr(text, "//");
    size_t n = comment ? (size_t)(comment - text) : strlen(text);
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return n > 0 && text[0] != '#' && !strchr(";{}:", text[n - 1]);
}

unsigned source_statement(const char *file, unsigned line)
{
    enum { LINES = 4 };
    char text[256];
    for (int i = 0; i < LINES && line > 1; i++, line--) {
        source_text(file, line - 1, text, sizeof text);
        if (!goes_on(text))
            break;
    }
    return line;
}

const char *source_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool source_is_header(const char *path)
{
    static const char *const endings[] = { ".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".ipp" };
    const char *dot = strrchr(source_base_name(path), '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}
