#include "lines.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t lines_cut(char *line, char *cell[], size_t most)
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; p && n < most; p = strchr(p, '\t')) {
        if (n)
            *p++ = '\0';
        cell[n++] = p;
    }
    return n;
}

void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, format, args);
    va_end(args);
    cr_assert_lt(t->n, sizeof t->p);
}
