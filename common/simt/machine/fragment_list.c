// See fragment_list.h.
#include "fragment_list.h"

#include <stddef.h>
#include <string.h>

static const struct fragment_shape shapes[] = {
    { 2, 16, 8, 16, false }, { 2, 16, 8, 8, false },  { 2, 16, 16, 16, true }, { 2, 32, 8, 16, true },
    { 2, 8, 32, 16, true },  { 4, 16, 8, 8, false },  { 4, 16, 8, 4, false },  { 4, 16, 16, 8, true },
    { 8, 8, 8, 4, false },   { 8, 16, 8, 4, false },  { 8, 16, 8, 8, false },  { 8, 16, 8, 16, false },
    { 1, 16, 8, 32, false }, { 1, 16, 8, 16, false }, { 1, 8, 8, 16, false },  { 1, 16, 16, 16, true },
    { 1, 32, 8, 16, true },  { 1, 8, 32, 16, true },
};

static const struct fragment_type types[] = {
    { "f16", 2, 2, 2, false }, { "bf16", 2, 2, 2, false }, { "tf32", 4, 4, 4, false }, { "f64", 8, 8, 8, false },
    { "s8", 1, 1, 1, false },  { "u8", 1, 1, 1, false },   { "f32", 4, 2, 4, true },   { "f16", 2, 2, 2, true },
    { "s32", 4, 1, 1, true },  { "f64", 8, 8, 8, true },
};

const struct fragment_shape *fragment_shape(unsigned i)
{
    return i < sizeof shapes / sizeof *shapes ? &shapes[i] : NULL;
}

const struct fragment_type *fragment_type(unsigned i)
{
    return i < sizeof types / sizeof *types ? &types[i] : NULL;
}

bool fragment_fits(const struct fragment_type *type, const struct fragment_shape *shape)
{
    return shape->bytes == type->factor || shape->bytes == type->factor2;
}

bool fragment_sums(const struct fragment_type *factor, const struct fragment_type *sum)
{
    if (factor->c || !sum->c || (factor->bytes != sum->factor && factor->bytes != sum->factor2))
        return false;
    return sum->bytes != 2 || !strcmp(factor->name, "f16");  // bf16 is summed in f32 only
}

bool fragment_named(enum fragment_role role, const struct fragment_shape *shape, const struct fragment_type *type,
                    struct fragment *f)
{
    const bool repeats = shape->wmma && !type->c && !strcmp(type->name, "f16");  // PTX ISA 9.7.15: eight .f16x2
    return type->c == (role == FRAGMENT_C) && fragment_fits(type, shape) &&
           fragment_of(role, shape->m, shape->n, shape->k, type->bytes, repeats ? 8 : 0, f);
}

bool fragment_ldmatrix(enum fragment_role role, const struct fragment *f, bool by_columns, bool *trans)
{
    *trans = by_columns != f->swapped;
    return role != FRAGMENT_C && !f->paired && f->bytes <= 4 && (!*trans || f->bytes == 2);
}
