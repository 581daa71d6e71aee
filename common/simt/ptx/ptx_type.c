// See ptx_type.h.
#include "ptx_type.h"

#include <stddef.h>

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
