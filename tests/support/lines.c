#include "lines.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

void truth_open(struct table *t, const char *path)
{
    static char error[DEV_ERROR_MAX];
    cr_assert(table_open(t, path, error), "%s", error);
}

bool truth_next(struct table *t)
{
    bool more;
    cr_assert(table_next(t, &more), "%s", t->error);
    return more;
}

void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, format, args);
    va_end(args);
    cr_assert_lt(t->n, sizeof t->p);
}
