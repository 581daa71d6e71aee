// Messages about places of the text, and declarations that were passed over. See ptx.h.
#include "ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

static const char *line_start(const struct ptx_module *m, const char *at)
{
    while (at > m->text && at[-1] != '\n')
        at--;
    return at;
}

size_t ptx_error_args(const struct ptx_module *m, const char *at, char error[DEV_ERROR_MAX], const char *format,
                      va_list args)
{
    long column = at - line_start(m, at) + 1;
    int n = snprintf(error, DEV_ERROR_MAX, "%.400s:%u:%ld: ", m->file, ptx_line(m, at), column);
    vsnprintf(error + n, DEV_ERROR_MAX - (size_t)n, format, args);
    text_one_line(error, '?');  // names from the text may hold anything
    return (size_t)n;
}

void ptx_error_at(const struct ptx_module *m, const char *at, char error[DEV_ERROR_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptx_error_args(m, at, error, format, args);
    va_end(args);
}

void ptx_caret(const struct ptx_module *m, const char *at, char *out, size_t size)
{
    const char *start = line_start(m, at), *end = m->text + m->bytes;
    if (at - start > 60)
        start = at - 60;
    int before = (int)(at - start), all = before;
    while (start + all < end && start[all] != '\n' && all < 120)
        all++;
    snprintf(out, size, "  %.*s\n  %*s^\n", all, start, before, "");
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\n')
            *c = ' ';
}

const struct ptx_skipped *ptx_find_skipped(const struct ptx_module *m, struct str name)
{
    for (uint32_t i = 0; i < m->n_skipped; i++)
        if (name.n && str_same(m->skipped[i].name, name))
            return &m->skipped[i];
    return NULL;
}

unsigned ptx_line(const struct ptx_module *m, const char *at)
{
    const size_t page = (size_t)(at - m->text) / PTX_PAGE;
    return m->pages[page] + text_line(m->text + page * PTX_PAGE, at) - 1;
}

bool ptx_count_lines(struct ptx_module *m)
{
    const size_t n = m->bytes / PTX_PAGE + 1;
    m->pages = arena_alloc(m->arena, n * sizeof *m->pages);
    if (!m->pages)
        return false;
    m->pages[0] = 1;
    for (size_t i = 1; i < n; i++) {
        const char *page = m->text + (i - 1) * PTX_PAGE;
        m->pages[i] = m->pages[i - 1] + text_line(page, page + PTX_PAGE) - 1;
    }
    return true;
}

const struct ptx_loc *ptx_loc_of(const struct ptx_module *m, const struct ptx_inst *in)
{
    return in->loc ? &m->locs[in->loc - 1] : NULL;
}

const struct ptx_loc *ptx_caller(const struct ptx_module *m, const struct ptx_loc *loc)
{
    return loc->at ? &m->locs[loc->at - 1] : NULL;
}

const char *ptx_source_name(const struct ptx_module *m, uint32_t number)
{
    return number < m->n_files && m->files[number] ? m->files[number] : m->file;
}
