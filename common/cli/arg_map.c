// A tensor map as an argument: map:NAME[ROWS,COLUMNS]box[ROWS,COLUMNS]swizzleBYTES, of an array that was named before.
#include "arg_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "[a,b]", 1 to 5 numbers, the last one the fastest. The text behind it, or NULL.
static const char *sizes(const char *text, uint64_t out[DEV_MAP_RANK], unsigned *n)
{
    uint64_t all[DEV_MAP_RANK];
    *n = 0;
    if (*text++ != '[')
        return NULL;
    for (;;) {
        char *end;
        const unsigned long long v = strtoull(text, &end, 10);
        if (end == text || *text == '-' || *n == DEV_MAP_RANK)
            return NULL;
        all[(*n)++] = v;
        text = end + 1;
        if (*end == ']')
            break;
        if (*end != ',')
            return NULL;
    }
    for (unsigned i = 0; i < *n; i++)
        out[i] = all[*n - 1 - i];
    return text;
}

static bool read_swizzle(const char *text, enum dev_swizzle *swizzle)
{
    static const char *const names[] = { "", "swizzle32", "swizzle64", "swizzle128" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]))
            continue;
        *swizzle = (enum dev_swizzle)i;
        return true;
    }
    return false;
}

static bool map_type(const char *name, enum dev_map_type *type)
{
    static const struct {
        const char *name;
        enum dev_map_type type;
    } types[] = { { "i8", DEV_MAP_U8 },   { "u8", DEV_MAP_U8 },   { "i16", DEV_MAP_U16 },   { "u16", DEV_MAP_U16 },
                  { "i32", DEV_MAP_S32 }, { "u32", DEV_MAP_U32 }, { "i64", DEV_MAP_S64 },   { "u64", DEV_MAP_U64 },
                  { "f16", DEV_MAP_F16 }, { "f32", DEV_MAP_F32 }, { "bf16", DEV_MAP_BF16 }, { "f64", DEV_MAP_F64 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(name, types[i].name))
            continue;
        *type = types[i].type;
        return true;
    }
    return false;
}

bool arg_map_parse(const char *text, const char *element, size_t count, struct dev_tensor *t, char error[DEV_ERROR_MAX])
{
    uint64_t box[DEV_MAP_RANK] = { 0 }, bytes;
    unsigned n_box = 0;
    const char *rest = sizes(text, t->size, &t->rank);
    rest = rest && !strncmp(rest, "box", 3) ? sizes(rest + 3, box, &n_box) : NULL;
    if (!rest || n_box != t->rank || !read_swizzle(rest, &t->swizzle) || !map_type(element, &t->type))
        return error_set(error,
                         "a tensor map is written map:NAME[ROWS,COLUMNS]box[ROWS,COLUMNS]swizzle128 (or swizzle64, "
                         "swizzle32, or nothing), with 1 to 5 dimensions");
    bytes = dev_map_type_bytes(t->type);
    for (unsigned i = 0; i < t->rank; i++) {
        t->box[i] = (uint32_t)(box[i] < 1000000 ? box[i] : 1000000);
        if (t->size[i] > (uint64_t)1 << 32 || bytes > (uint64_t)count * dev_map_type_bytes(t->type))
            return error_set(error, "the tensor is larger than its array");
        bytes *= t->size[i];
        if (i + 1 < t->rank)
            t->stride[i] = bytes;
    }
    if (bytes > (uint64_t)count * dev_map_type_bytes(t->type))
        return error_set(error, "the tensor is larger than its array");
    return true;
}
