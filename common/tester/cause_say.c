// What is said of a cause, and which lines it sends the reader to. See cause.h.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/source.h"
#include "cause.h"

void cause_say(struct cause *c, const char *format, ...)
{
    const size_t used = strlen(c->text);
    va_list args;
    va_start(args, format);
    vsnprintf(c->text + used, sizeof c->text - used, format, args);
    va_end(args);
}

bool cause_add_line(struct cause *c, unsigned line)
{
    int i = 0;
    while (i < CAUSE_LINES && c->look[i] && c->look[i] != line)
        i++;
    if (!line || i == CAUSE_LINES || c->look[i])
        return false;
    c->look[i] = line;
    return true;
}

const enum line_role CAUSE_NO_LINES[] = { LINE_ROLES };

void cause_look_at_most(struct cause *c, const enum line_role *roles, int most)
{
    const char *before = c->look[0] ? ", " : "; look at ";
    for (; *roles != LINE_ROLES && most; roles++)
        if (cause_add_line(c, c->lines.line[*roles])) {
            cause_say(c, "%s%s:%u", before, source_base_name(c->lines.file), c->lines.line[*roles]);
            before = ", ";
            most--;
        }
}

void cause_look_at(struct cause *c, const enum line_role *roles)
{
    cause_look_at_most(c, roles, CAUSE_LINES);
}
