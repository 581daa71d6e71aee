// The video instructions, for alu.def: one, two or four numbers in a register. Source: PTX ISA 9.7.17 and 9.7.18.
#pragma once

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVERAGE,
    VIDEO_EQ,  // comparisons: 1 or 0
    VIDEO_NE,
    VIDEO_LT,
    VIDEO_LE,
    VIDEO_GT,
    VIDEO_GE
};
enum video_second { VIDEO_ALONE, VIDEO_PLUS, VIDEO_MIN_OF, VIDEO_MAX_OF };  // what is done with the result and c

// How an instruction works, as a number: uop->target.
#define VIDEO(op, lanes, sd, sa, sb, sat, second)                                                                      \
    ((u32)(op) | (u32)(lanes) << 4 | (u32)(sd) << 8 | (u32)(sa) << 9 | (u32)(sb) << 10 | (u32)(sat) << 11 |            \
     (u32)(second) << 12)

static inline s64 video_part(u32 x, u32 i, u32 bits, bool is_signed)
{
    const u64 part = x >> (i * bits) & (bits == 32 ? 0xffffffffu : (1u << bits) - 1);
    return is_signed ? (s64)(part << (64 - bits)) >> (64 - bits) : (s64)part;
}

static inline s64 video_clamp(s64 v, u32 bits, bool is_signed)
{
    const s64 top = (s64)((1ull << (is_signed ? bits - 1 : bits)) - 1), low = is_signed ? -top - 1 : 0;
    return v < low ? low : v > top ? top : v;
}

static inline s64 video_result(enum video_op op, s64 a, s64 b)
{
    switch (op) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_AVERAGE:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_EQ:
        return a == b;
    case VIDEO_NE:
        return a != b;
    case VIDEO_LT:
        return a < b;
    case VIDEO_LE:
        return a <= b;
    case VIDEO_GT:
        return a > b;
    case VIDEO_GE:
        return a >= b;
    }
    return 0;
}

static inline u32 video(u32 a, u32 b, u32 c, u32 how)
{
    const enum video_op op = (enum video_op)(how & 15);
    const enum video_second second = (enum video_second)(how >> 12);
    const u32 lanes = how >> 4 & 15, bits = 32 / lanes;
    const bool sd = how >> 8 & 1;
    u32 d = second == VIDEO_PLUS ? c : 0;
    for (u32 i = 0; i < lanes; i++) {
        s64 v = video_result(op, video_part(a, i, bits, how >> 9 & 1), video_part(b, i, bits, how >> 10 & 1));
        v = how >> 11 & 1 ? video_clamp(v, bits, sd) : v;
        if (second == VIDEO_PLUS) {
            d += (u32)v;
        } else if (second == VIDEO_ALONE) {
            d |= (u32)((u64)v & (bits == 32 ? 0xffffffffu : (1u << bits) - 1)) << (i * bits);
        } else {  // of one number: with c, as the destination's type
            const s64 x = sd ? (s64)(s32)(u32)v : (s64)(u32)v, y = sd ? (s64)(s32)c : (s64)c;
            d = (u32)((second == VIDEO_MIN_OF) == (x < y) ? x : y);
        }
    }
    return d;
}
