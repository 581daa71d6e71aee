// See args.h.
#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../matrix.h"
#include "alu_math.h"

enum number { SIGNED, UNSIGNED, HALF, BFLOAT, FLOAT, DOUBLE };

struct arg_type {
    const char *name;
    size_t bytes;
    enum number number;
};

static const struct arg_type types[] = {
    { "i8", 1, SIGNED },  { "u8", 1, UNSIGNED },  { "i16", 2, SIGNED }, { "u16", 2, UNSIGNED },
    { "i32", 4, SIGNED }, { "u32", 4, UNSIGNED }, { "i64", 8, SIGNED }, { "u64", 8, UNSIGNED },
    { "f16", 2, HALF },   { "bf16", 2, BFLOAT },  { "f32", 4, FLOAT },  { "f64", 8, DOUBLE },
};

const char *arg_type_name(const struct arg *a)
{
    return a->type->name;
}

static void put(const struct arg_type *t, unsigned char *at, double v)
{
    float f = (float)v;
    uint64_t bits = 0;
    switch (t->number) {
    case SIGNED:
        bits = (uint64_t)(int64_t)v;
        break;
    case UNSIGNED:
        bits = v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
        break;
    case HALF:
        bits = f16_of_f32(bits_of(f));
        break;
    case BFLOAT:
        bits = bf16_of_f32(bits_of(f));
        break;
    case FLOAT:
        bits = bits_of(f);
        break;
    case DOUBLE:
        memcpy(&bits, &v, sizeof bits);
        break;
    }
    memcpy(at, &bits, t->bytes);
}

double arg_element(const struct arg *a, const unsigned char *data, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, data + i * a->type->bytes, a->type->bytes);
    uint32_t low = (uint32_t)bits;
    float f;
    double d;
    switch (a->type->number) {
    case SIGNED:
        return (double)((int64_t)(bits << (64 - 8 * a->type->bytes)) >> (64 - 8 * a->type->bytes));
    case UNSIGNED:
        return (double)bits;
    case HALF:
        low = f32_of_f16(low);
        break;
    case BFLOAT:
        low <<= 16;
        break;
    case FLOAT:
        break;
    case DOUBLE:
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    memcpy(&f, &low, sizeof f);
    return f;
}

// A scalar is read by its own type, so that u64 and i64 keep all their bits.
static bool scalar(const struct arg_type *t, const char *text, unsigned char *at)
{
    char *end;
    errno = 0;
    if (t->number == SIGNED) {
        long long v = strtoll(text, &end, 0);
        long long top = t->bytes == 8 ? INT64_MAX : (1ll << (8 * t->bytes - 1)) - 1;
        if (end == text || *end || errno || v > top || v < -top - 1)
            return false;
        memcpy(at, &v, t->bytes);
    } else if (t->number == UNSIGNED) {
        unsigned long long v = strtoull(text, &end, 0);
        if (end == text || *end || errno || *text == '-' || (t->bytes < 8 && v >> 8 * t->bytes))
            return false;
        memcpy(at, &v, t->bytes);
    } else {
        double v = strtod(text, &end);
        if (end == text || *end)
            return false;
        put(t, at, v);
    }
    return true;
}

static bool read_file(const char *path, struct arg *a, char error[DEV_ERROR_MAX])
{
    FILE *f = fopen(path, "rb");
    size_t got = f ? fread(a->data, 1, a->bytes, f) : 0;
    bool more = f && got == a->bytes && fgetc(f) != EOF;
    if (!f)
        snprintf(error, DEV_ERROR_MAX, "%.300s: %s", path, strerror(errno));
    else if (got != a->bytes || more)
        snprintf(error, DEV_ERROR_MAX, "%.300s: the array needs %zu bytes, the file has %s", path, a->bytes,
                 more ? "more" : "fewer");
    if (f)
        fclose(f);
    return f && got == a->bytes && !more;
}

// The array's contents from the text after '='.
static bool fill(const char *how, struct arg *a, char error[DEV_ERROR_MAX])
{
    bool normal = !strncmp(how, "normal:", 7), uniform = !strncmp(how, "uniform:", 8);
    if (!strcmp(how, "uninit"))
        return true;
    a->data = calloc(a->count, a->type->bytes);
    if (!a->data) {
        snprintf(error, DEV_ERROR_MAX, "%zu bytes do not fit in memory", a->bytes);
        return false;
    }
    if (*how == '@')
        return read_file(how + 1, a, error);
    if (!strcmp(how, "zeros"))
        return true;
    if (!strcmp(how, "ones") || !strcmp(how, "iota")) {
        for (size_t i = 0; i < a->count; i++)
            put(a->type, a->data + i * a->type->bytes, *how == 'o' ? 1 : (double)i);
        return true;
    }
    char *end = NULL;
    const char *digits = strchr(how, ':');
    uint64_t seed = digits ? strtoull(digits + 1, &end, 10) : 0;
    if ((!normal && !uniform) || end == digits + 1 || *end) {
        snprintf(error, DEV_ERROR_MAX,
                 "'%.200s': an array holds normal:SEED, uniform:SEED, iota, zeros, ones, uninit or @file", how);
        return false;
    }
    struct matrix row = matrix_new(DEV_F64, 1, (int)a->count);
    if (!row.data) {
        snprintf(error, DEV_ERROR_MAX, "%zu elements do not fit in memory", a->count);
        return false;
    }
    matrix_fill_random(&row, seed);
    bool whole = a->type->number == SIGNED || a->type->number == UNSIGNED;
    for (size_t i = 0; i < a->count; i++) {
        double v = ((double *)row.data)[i];
        if (uniform)
            v = 0.5 * erfc(-v / sqrt(2.0));  // the normal distribution's own function makes it uniform in (0, 1)
        if (whole)
            v = uniform ? floor(100 * v) : rint(10 * v);
        put(a->type, a->data + i * a->type->bytes, whole && a->type->number == UNSIGNED ? fabs(v) : v);
    }
    matrix_free(&row);
    return true;
}

bool arg_parse(const char *text, struct arg *out, char error[DEV_ERROR_MAX])
{
    *out = (struct arg){ .count = 1 };
    size_t n = strcspn(text, ":[");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && !strncmp(text, types[i].name, n))
            out->type = &types[i];
    if (!out->type || !text[n]) {
        snprintf(error, DEV_ERROR_MAX,
                 "argument '%.200s': write TYPE:VALUE or TYPE[COUNT]=CONTENT, such as i32:7 or "
                 "f32[64]=normal:1 (types: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64)",
                 text);
        return false;
    }
    if (text[n] == ':') {
        out->bytes = out->type->bytes;
        out->data = calloc(1, 8);
        if (out->data && scalar(out->type, text + n + 1, out->data))
            return true;
        snprintf(error, DEV_ERROR_MAX, "argument '%.200s': '%.100s' is no %s", text, text + n + 1, out->type->name);
        return false;
    }
    char *end, why[DEV_ERROR_MAX];
    errno = 0;
    unsigned long long count = strtoull(text + n + 1, &end, 10);
    if (errno || end == text + n + 1 || text[n + 1] == '-' || end[0] != ']' || end[1] != '=' || !count ||
        count > INT32_MAX) {
        snprintf(error, DEV_ERROR_MAX, "argument '%.200s': an array is written TYPE[COUNT]=CONTENT, COUNT 1 to %d",
                 text, INT32_MAX);
        return false;
    }
    out->array = true;
    out->count = (size_t)count;
    out->bytes = out->count * out->type->bytes;
    if (fill(end + 2, out, why))
        return true;
    snprintf(error, DEV_ERROR_MAX, "argument '%.200s': %.700s", text, why);
    return false;
}
