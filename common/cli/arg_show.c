// The types of arguments, and their numbers as text. See args.h.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "args.h"

static const struct arg_type types[] = {
    { "i8", 1, SIGNED },  { "u8", 1, UNSIGNED },  { "i16", 2, SIGNED }, { "u16", 2, UNSIGNED },
    { "i32", 4, SIGNED }, { "u32", 4, UNSIGNED }, { "i64", 8, SIGNED }, { "u64", 8, UNSIGNED },
    { "f16", 2, HALF },   { "bf16", 2, BFLOAT },  { "f32", 4, FLOAT },  { "f64", 8, DOUBLE },
};

const struct arg_type *arg_type_named(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && !strncmp(name, types[i].name, n))
            return &types[i];
    return NULL;
}

const struct arg_type *arg_type_of(const struct simt_type *t)
{
    const char *ptx = t->name;
    char name[16];
    snprintf(name, sizeof name, "%c%s", *ptx == 's' ? 'i' : *ptx == 'b' && ptx[1] != 'f' ? 'u' : *ptx, ptx + 1);
    const struct arg_type *found = arg_type_named(name, strlen(name));
    return found ? found : &types[1];
}

const char *arg_type_name(const struct arg_type *t)
{
    return t->name;
}

size_t arg_type_bytes(const struct arg_type *t)
{
    return t->bytes;
}

uint16_t arg_bfloat(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return f != f ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Integers are read as such, so that u64 and i64 keep all their bits.
bool arg_number(const struct arg_type *t, const char *text, void *at)
{
    char *end;
    errno = 0;
    if (t->number == SIGNED) {
        long long v = strtoll(text, &end, 0);
        long long top = t->bytes == 8 ? INT64_MAX : (1ll << (8 * t->bytes - 1)) - 1;
        if (end == text || *end || errno || v > top || v < -top - 1)
            return false;
        memcpy(at, &v, t->bytes);
        return true;
    }
    if (t->number == UNSIGNED) {
        unsigned long long v = strtoull(text, &end, 0);
        if (end == text || *end || errno || *text == '-' || (t->bytes < 8 && v >> 8 * t->bytes))
            return false;
        memcpy(at, &v, t->bytes);
        return true;
    }
    double v = strtod(text, &end);
    if (end == text || *end)
        return false;
    const float f = (float)v;
    const uint16_t small = t->number == HALF ? half_from_double(f) : arg_bfloat(f);
    memcpy(at, t->number == DOUBLE ? (const void *)&v : t->number == FLOAT ? (const void *)&f : &small, t->bytes);
    return true;
}

static void print_number(FILE *out, const struct arg_type *t, const unsigned char *at)
{
    uint64_t bits = 0;
    double d;
    float f;
    memcpy(&bits, at, t->bytes);
    switch (t->number) {
    case SIGNED:
        fprintf(out, "%" PRId64, (int64_t)(bits << (64 - 8 * t->bytes)) >> (64 - 8 * t->bytes));
        return;
    case UNSIGNED:
        fprintf(out, "%" PRIu64, bits);
        return;
    case HALF:
        d = half_to_double((uint16_t)bits);
        break;
    case BFLOAT:  // the upper half of a float
    case FLOAT:
        bits <<= t->number == BFLOAT ? 16 : 0;
        memcpy(&f, &bits, sizeof f);
        d = f;
        break;
    case DOUBLE:
        memcpy(&d, &bits, sizeof d);
        break;
    }
    fprintf(out, "%.9g", d);
}

void arg_print(FILE *out, const struct arg_type *t, const unsigned char *data, size_t from, size_t to)
{
    const bool lines = to - from > 8;
    for (size_t i = from; i < to; i++) {
        if (lines && (i - from) % 8 == 0)
            fprintf(out, "\n  %zu:", i);
        fputc(' ', out);
        print_number(out, t, data + i * t->bytes);
    }
}
