// What an array argument holds at first. See args.h.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "args.h"

static void put(const struct arg_type *t, unsigned char *at, double v)
{
    const float f = (float)v;
    uint64_t bits = 0;
    switch (t->number) {
    case SIGNED:
        bits = (uint64_t)(int64_t)v;
        break;
    case UNSIGNED:
        bits = v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
        break;
    case HALF:
        bits = half_from_double(f);
        break;
    case BFLOAT:
        bits = arg_bfloat(f);
        break;
    case FLOAT:
        memcpy(&bits, &f, sizeof f);
        break;
    case DOUBLE:
        memcpy(&bits, &v, sizeof bits);
        break;
    }
    memcpy(at, &bits, t->bytes);
}

static bool read_file(const char *path, struct buffer *b, char error[DEV_ERROR_MAX])
{
    const size_t want = (b->to - b->from) * b->type->bytes;
    FILE *f = fopen(path, "rb");
    size_t got = f ? fread(b->data + b->from * b->type->bytes, 1, want, f) : 0;
    bool more = f && got == want && fgetc(f) != EOF;
    if (!f || ferror(f))
        snprintf(error, DEV_ERROR_MAX, "%.300s: %s", path, strerror(errno));
    else if (more)
        snprintf(error, DEV_ERROR_MAX, "%.300s: the array needs %zu bytes, the file has more", path, want);
    else if (got != want)
        snprintf(error, DEV_ERROR_MAX, "%.300s: the array needs %zu bytes, the file has %zu", path, want, got);
    if (f)
        fclose(f);
    return f && got == want && !more;
}

static bool fill_random(const char *how, struct buffer *b, char error[DEV_ERROR_MAX])
{
    const bool uniform = *how == 'u', whole = b->type->number == SIGNED || b->type->number == UNSIGNED;
    const char *digits = strchr(how, ':') + 1;
    char *end = NULL;
    const uint64_t seed = strtoull(digits, &end, 10);
    if (end == digits || *end)
        return error_set(error, "'%.200s': a seed is a whole number", how);
    struct matrix row = matrix_new(DEV_F64, 1, (int)b->count);
    if (!row.data)
        return error_set(error, "%zu elements do not fit in memory", b->count);
    matrix_fill_random(&row, seed);
    for (size_t i = 0; i < b->count; i++) {
        double v = ((double *)row.data)[i];
        if (uniform)
            v = 0.5 * erfc(-v / sqrt(2.0));  // the normal distribution's own function makes it uniform in (0, 1)
        if (whole)
            v = uniform ? floor(100 * v) : rint(10 * v);
        put(b->type, b->data + i * b->type->bytes, whole && b->type->number == UNSIGNED ? fabs(v) : v);
    }
    matrix_free(&row);
    return true;
}

// {1,2,3}: the first elements; the others stay uninitialised
static bool fill_list(char *list, struct buffer *b, char error[DEV_ERROR_MAX])
{
    size_t n = 0;
    char *save = NULL;
    list[strlen(list) - 1] = '\0';
    for (char *part = strtok_r(list + 1, ",", &save); part; part = strtok_r(NULL, ",", &save), n++) {
        if (n == b->count)
            return error_set(error, "more than the %zu elements of the array", b->count);
        if (!arg_number(b->type, part, b->data + n * b->type->bytes))
            return error_set(error, "'%.100s' is no %s", part, b->type->name);
    }
    b->to = b->to < n ? b->to : n;
    b->from = b->from < b->to ? b->from : b->to;
    return true;
}

// [FROM:TO] at the end of how, which it takes off: the elements that are initialised.
static bool take_range(char *how, struct buffer *b, char error[DEV_ERROR_MAX])
{
    char *open = strrchr(how, '['), *end;
    const size_t n = strlen(how);
    b->from = 0;
    b->to = b->count;
    if (!open || how[n - 1] != ']')
        return true;
    errno = 0;
    unsigned long long from = strtoull(open + 1, &end, 10), to = 0;
    bool ok = end > open + 1 && *end == ':';
    const char *second = end + 1;
    if (ok)
        to = strtoull(second, &end, 10);
    if (!ok || end == second || strcmp(end, "]") || errno || from > to || to > b->count)
        return error_set(error, "'%.100s': the elements to initialise are written [FROM:TO], 0 <= FROM <= TO <= %zu",
                         open, b->count);
    *open = '\0';
    b->from = (size_t)from;
    b->to = (size_t)to;
    return true;
}

static bool fill(char *how, struct buffer *b, char error[DEV_ERROR_MAX])
{
    const size_t n = strlen(how);
    unsigned char number[8];
    if (!take_range(how, b, error))
        return false;
    if (!strcmp(how, "uninit")) {
        b->from = b->to = 0;
        return true;
    }
    b->data = calloc(b->count, b->type->bytes);
    if (!b->data)
        return error_set(error, "%zu bytes do not fit in memory", b->bytes);
    if (*how == '@')
        return read_file(how + 1, b, error);
    if (*how == '{' && n > 1 && how[n - 1] == '}')
        return fill_list(how, b, error);
    if (!strncmp(how, "normal:", 7) || !strncmp(how, "uniform:", 8))
        return fill_random(how, b, error);
    const bool iota = !strcmp(how, "iota"), same = arg_number(b->type, how, number);
    if (!iota && !same && strcmp(how, "zeros") && strcmp(how, "ones")) {
        snprintf(
            error, DEV_ERROR_MAX,
            "'%.200s': an array holds normal:SEED, uniform:SEED, iota, zeros, ones, a number, {1,2,...}, uninit or "
            "@file",
            how);
        return false;
    }
    for (size_t i = 0; i < b->count; i++) {
        unsigned char *at = b->data + i * b->type->bytes;
        if (same)
            memcpy(at, number, b->type->bytes);
        else
            put(b->type, at, iota ? (double)i : *how == 'o');
    }
    return true;
}

bool arg_fill(const char *content, struct buffer *b, char error[DEV_ERROR_MAX])
{
    char *how = strdup(content);
    const bool ok = how ? fill(how, b, error) : error_set(error, "out of memory");
    free(how);
    return ok;
}
