// A text that grows: see print.h.
#include "irptx/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_put(struct text *t, const char *format, ...)
{
    for (;;) {
        va_list args;
        va_start(args, format);
        const size_t left = t->room - t->used;
        const size_t n = (size_t)vsnprintf(t->p ? t->p + t->used : NULL, left, format, args);
        va_end(args);
        if (n < left) {
            t->used += n;
            return;
        }
        t->room = 2 * (t->used + n) + 256;
        char *bigger = ir_new(t->m, t->room);
        if (t->used)
            memcpy(bigger, t->p, t->used);
        t->p = bigger;
    }
}
