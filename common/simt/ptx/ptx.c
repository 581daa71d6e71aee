// Types by name, messages about places of the text, and declarations that were passed over. See ptx.h.
#include "ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"

static const struct {
    const char *name;
    enum ptx_type type;
    uint32_t bytes;
} types[] = {
    { "pred", PTX_PRED, 0 }, { "u8", PTX_U8, 1 },         { "u16", PTX_U16, 2 },   { "u32", PTX_U32, 4 },
    { "u64", PTX_U64, 8 },   { "s8", PTX_S8, 1 },         { "s16", PTX_S16, 2 },   { "s32", PTX_S32, 4 },
    { "s64", PTX_S64, 8 },   { "b8", PTX_B8, 1 },         { "b16", PTX_B16, 2 },   { "b32", PTX_B32, 4 },
    { "b64", PTX_B64, 8 },   { "b128", PTX_B128, 16 },    { "f16", PTX_F16, 2 },   { "f16x2", PTX_F16X2, 4 },
    { "bf16", PTX_BF16, 2 }, { "bf16x2", PTX_BF16X2, 4 }, { "tf32", PTX_TF32, 4 }, { "f32", PTX_F32, 4 },
    { "f64", PTX_F64, 8 },
};

bool str_is(struct str s, const char *literal)
{
    return s.n == strlen(literal) && !memcmp(s.p, literal, s.n);
}

enum ptx_type ptx_type_named(struct str name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(name, types[i].name))
            return types[i].type;
    return PTX_NONE;
}

uint32_t ptx_type_bytes(enum ptx_type t)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == t)
            return types[i].bytes;
    return 0;
}

const char *ptx_type_name(enum ptx_type t)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == t)
            return types[i].name;
    return "none";
}

static const char *line_start(const struct ptx_module *m, const char *at)
{
    while (at > m->text && at[-1] != '\n')
        at--;
    return at;
}

size_t ptx_error_args(const struct ptx_module *m, const char *at, char error[DEV_ERROR_MAX], const char *format,
                      va_list args)
{
    unsigned line = 1;
    for (const char *p = m->text; (p = memchr(p, '\n', (size_t)(at - p))); p++)
        line++;
    long column = at - line_start(m, at) + 1;
    int n = snprintf(error, DEV_ERROR_MAX, "%.400s:%u:%ld: ", m->file, line, column);
    vsnprintf(error + n, DEV_ERROR_MAX - (size_t)n, format, args);
    for (char *c = error; *c; c++)  // names from the text may hold anything
        if ((unsigned char)*c < ' ')
            *c = '?';
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
        if (m->skipped[i].name.n && m->skipped[i].name.n == name.n && !memcmp(m->skipped[i].name.p, name.p, name.n))
            return &m->skipped[i];
    return NULL;
}
