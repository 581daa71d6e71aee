// See kernel_words.h.
#include "kernel_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/source.h"

bool kernel_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *kernel_find_word(const char *text, const char *name)
{
    const size_t n = strlen(name);
    const char *comment = strstr(text, "//");
    for (const char *p = text; (p = strstr(p, name)) && (!comment || p < comment); p += n)
        if ((p == text || !kernel_is_word(p[-1])) && !kernel_is_word(p[n]))
            return p;
    return NULL;
}

bool kernel_has_behind(const char *text, const char *name, const char *operator)
{
    for (const char *p = text; (p = kernel_find_word(p, name)); p += strlen(name)) {
        const char *q = p + strlen(name) + strspn(p + strlen(name), " ");
        if (!strncmp(q, operator, strlen(operator)) && q[strlen(operator)] != '=')
            return true;
    }
    return false;
}

bool kernel_counts(const char *line, const char *text)
{
    char name[64];
    const char *head = kernel_find_word(line, "for"), *end = head ? strchr(head, '=') : NULL;
    while (end && end > head && !kernel_is_word(end[-1]))
        end--;
    const char *begin = end;
    while (begin && begin > head && kernel_is_word(begin[-1]))
        begin--;
    snprintf(name, sizeof name, "%.*s", begin ? (int)(end - begin) : 0, begin ? begin : "");
    return *name && kernel_find_word(text, name);
}

unsigned kernel_statement(const char *file, unsigned line, char *text, size_t size)
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
