// See bulk_reduce.h.
#include "bulk_reduce.h"

#include <string.h>

#include "simt/code/alu_math.h"

enum ptx_type bulk_type(enum dev_map_type type)
{
    static const enum ptx_type types[DEV_MAP_TYPES] = { PTX_U8,  PTX_U16, PTX_U32,  PTX_S32, PTX_U64, PTX_S64, PTX_F16,
                                                        PTX_F32, PTX_F64, PTX_BF16, PTX_F32, PTX_F32, PTX_F32 };
    return types[type];
}

static u64 whole(enum atomic op, u64 a, u64 b, bool less)
{
    switch (op) {
    case ATOMIC_ADD:
        return a + b;
    case ATOMIC_MIN:
        return less ? a : b;
    case ATOMIC_MAX:
        return less ? b : a;
    case ATOMIC_AND:
        return a & b;
    case ATOMIC_OR:
        return a | b;
    case ATOMIC_XOR:
        return a ^ b;
    case ATOMIC_INC:
        return (u32)a >= (u32)b ? 0 : a + 1;
    case ATOMIC_DEC:
        return !(u32)a || (u32)a > (u32)b ? b : a - 1;
    default:
        return b;
    }
}

static f64 real(enum atomic op, f64 a, f64 b)
{
    return op == ATOMIC_MIN ? (a < b ? a : b) : op == ATOMIC_MAX ? (a > b ? a : b) : a + b;
}

static u64 combine(enum atomic op, enum ptx_type type, u64 a, u64 b)
{
    f64 x, y;
    f32 f;
    switch (type) {
    case PTX_F16:
        return f16_of_f32(bits_of((f32)real(op, float_of(f32_of_f16((u32)a)), float_of(f32_of_f16((u32)b)))));
    case PTX_BF16:
        return bf16_of_f32(bits_of((f32)real(op, float_of(f32_of_bf16((u32)a)), float_of(f32_of_bf16((u32)b)))));
    case PTX_F32:
        f = (f32)real(op, float_of((u32)a), float_of((u32)b));
        return bits_of(f);
    case PTX_F64:
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x = real(op, x, y);
        memcpy(&a, &x, sizeof a);
        return a;
    case PTX_S32:
        return whole(op, a, b, (s32)a < (s32)b);
    case PTX_S64:
        return whole(op, a, b, (s64)a < (s64)b);
    default:
        return whole(op, a, b, a < b);
    }
}

void bulk_reduce(enum atomic op, enum ptx_type type, unsigned char *to, const unsigned char *from, uint32_t n)
{
    const uint32_t size = ptx_type_bytes(type);
    for (uint32_t i = 0; i < n; i++) {
        u64 a = 0, b = 0;
        memcpy(&a, to + i * size, size);
        memcpy(&b, from + i * size, size);
        a = combine(op, type, a, b);
        memcpy(to + i * size, &a, size);
    }
}
