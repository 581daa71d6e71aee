// See table.h.
#include "base/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool table_refuse(const struct table *t, const char *format, ...)
{
    va_list args;
    int n = snprintf(t->error, DEV_ERROR_MAX, "%.300s:%u: ", t->path, t->line);
    va_start(args, format);
    vsnprintf(t->error + n, DEV_ERROR_MAX - (size_t)n, format, args);
    va_end(args);
    return false;
}

static bool refuse_file(const struct table *t, const char *why)
{
    return error_set(t->error, "%.300s: %s", t->path, why);
}

static bool refuse_reading(const struct table *t)
{
    return error_set(t->error, "%.300s: cannot read it: %s", t->path, strerror(errno));
}

static bool by_tabs(const struct table *t)
{
    const size_t n = strlen(t->path);
    return n >= 4 && !strcmp(t->path + n - 4, ".tsv");
}

// Cuts the line in place into n fields. False if it has another number of them, or if a quote stays open.
static bool cut(char *line, char comma, char **field, size_t n)
{
    const char end_of_field[] = { comma, '\0' };
    char *p = line;
    for (size_t i = 0; i < n; i++) {
        const bool quoted = comma == ',' && *p == '"';
        char *end = quoted ? strchr(p + 1, '"') : p + strcspn(p, end_of_field);
        if (!end)
            return false;
        field[i] = p + quoted;
        p = end + quoted;
        const char after = *p;
        *end = '\0';
        if (after != (i + 1 < n ? comma : '\0'))
            return false;
        p++;
    }
    return true;
}

// The next line of the file, in t->row, without its end.
static bool next_line(struct table *t, bool *more)
{
    errno = 0;
    *more = getline(&t->row, &t->room, t->file) >= 0;
    if (!*more)
        return (!errno && !ferror(t->file)) || refuse_reading(t);
    t->line++;
    t->row[strcspn(t->row, "\r\n")] = '\0';
    return true;
}

static bool read_header(struct table *t)
{
    const char comma = by_tabs(t) ? '\t' : ',';
    bool more;
    if (!next_line(t, &more))
        return false;
    if (!more)
        return refuse_file(t, "there are no rows in it");
    t->columns = 1;
    for (const char *p = t->row; *p; p++)
        t->columns += *p == comma;
    t->header = strdup(t->row);
    t->names = strdup(t->row);
    t->name = calloc(t->columns, sizeof *t->name);
    t->field = calloc(t->columns, sizeof *t->field);
    if (!t->header || !t->names || !t->name || !t->field)
        return refuse_file(t, "out of memory");
    return cut(t->names, comma, t->name, t->columns) || table_refuse(t, "the names of the columns cannot be read");
}

bool table_open(struct table *t, const char *path, char error[DEV_ERROR_MAX])
{
    *t = (struct table){ .path = path, .error = error, .file = fopen(path, "r") };
    return t->file ? read_header(t) : refuse_reading(t);
}

bool table_next(struct table *t, bool *more)
{
    if (!next_line(t, more))
        return false;
    if (!*more)
        return t->line > 1 || refuse_file(t, "there are no rows in it");
    return cut(t->row, by_tabs(t) ? '\t' : ',', t->field, t->columns) ||
           table_refuse(t, "not a row of this table, whose header is \"%s\"", t->header);
}

void table_close(struct table *t)
{
    if (t->file)
        fclose(t->file);
    free(t->header);
    free(t->names);
    free(t->name);
    free(t->field);
    free(t->row);
}
