// How the data of a warp's access moves, between its registers and the host's memory: from one address, or one for each
// half or quarter of the warp, by broadcasts; lane after lane by memcpy; four words a lane by a transpose; else element
// by element. Lane i's is at p + delta[i]. For exec_mem.c.
#pragma once

#include <string.h>

#include "simt/code/access.h"

struct access {
    struct warp *w;
    const struct uop *u;
    const struct memop *m;
    struct mem_memo *memo;
    const union deltas *deltas;  // of its pattern
    uint32_t active, first;      // first: the first active lane
    uint64_t address;            // of that lane
    uint32_t total;              // bytes a lane
    bool load;
};

#define MOVE_LANES(active, body)                                                                                       \
    if ((active) == ALL_LANES) {                                                                                       \
        for (int i = 0; i < LANES; i++)                                                                                \
            body                                                                                                       \
    } else {                                                                                                           \
        for (uint32_t lanes = (active); lanes; lanes &= lanes - 1) {                                                   \
            int i = __builtin_ctz(lanes);                                                                              \
            body                                                                                                       \
        }                                                                                                              \
    }

// What follows is compiled twice, for addresses of 32 and of 64 bits: wide is a constant wherever it is called.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static inline u64 narrow_load(const unsigned char *p, uint32_t bytes, bool sign)
{
    switch (bytes) {
    case 1:
        return sign ? (u64)(s64)(s8)*p : *p;
    case 2: {
        uint16_t v;
        memcpy(&v, p, 2);
        return sign ? (u64)(s64)(s16)v : v;
    }
    default:
        return sign ? (u64)(s64) * (const s32 *)p : *(const u32 *)p;
    }
}

ALWAYS_INLINE s64 lane_delta(const union deltas *deltas, bool wide, int i)
{
    return wide ? (s64)deltas->d64[i] : (s32)deltas->d32[i];
}

// Four words a lane: 4 x 4 words are turned at a time, from lane by lane to register by register, or back.
typedef u32 v4u __attribute__((vector_size(16), aligned(4), may_alias));

ALWAYS_INLINE void turn(v4u x[4])
{
    const v4u low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const v4u low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const v4u high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const v4u high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// All lanes, four words each, each in a register of its own.
ALWAYS_INLINE bool is_fours(const struct access *a)
{
    const struct memop *m = a->m;
    bool all = a->active == ALL_LANES && m->n == 4 && m->bytes == 4;
    for (int e = 0; e < 4; e++)
        all = all && m->reg_class[e] == SLOT_32;
    return all;
}

ALWAYS_INLINE void move_fours(const struct access *a, unsigned char *p, bool wide, bool load)
{
    const union deltas *deltas = a->deltas;
    v4u *reg[4];
    for (int k = 0; k < 4; k++)
        reg[k] = (v4u *)(a->w->regs + a->m->reg[k]);
    for (int i = 0; i < LANES; i += 4) {
        v4u *lane[4], x[4];
        for (int k = 0; k < 4; k++) {
            lane[k] = (v4u *)(p + lane_delta(deltas, wide, i + k));
            x[k] = load ? *lane[k] : reg[k][i / 4];
        }
        turn(x);
        for (int k = 0; k < 4; k++)
            *(load ? &reg[k][i / 4] : lane[k]) = x[k];
    }
}

ALWAYS_INLINE void load_lanes(const struct access *a, const unsigned char *p, bool wide)
{
    const union deltas *deltas = a->deltas;
    const struct memop *m = a->m;
    const bool sign = m->extend == EXTEND_SIGN;
    for (uint32_t e = 0; e < m->n; e++, p += m->bytes) {
        u32 *d = (u32 *)(a->w->regs + m->reg[e]);
        u64 *d64 = (u64 *)(a->w->regs + m->reg[e]);
        if (m->reg_class[e] == SLOT_NONE)
            continue;
        if (m->reg_class[e] == SLOT_64 && m->bytes == 8) {
            MOVE_LANES(a->active, { d64[i] = *(const u64 *)(p + lane_delta(deltas, wide, i)); });
        } else if (m->reg_class[e] == SLOT_64) {
            MOVE_LANES(a->active, { d64[i] = narrow_load(p + lane_delta(deltas, wide, i), m->bytes, sign); });
        } else if (m->bytes == 4) {
            MOVE_LANES(a->active, { d[i] = *(const u32 *)(p + lane_delta(deltas, wide, i)); });
        } else {
            MOVE_LANES(a->active, { d[i] = (u32)narrow_load(p + lane_delta(deltas, wide, i), m->bytes, sign); });
        }
    }
}

ALWAYS_INLINE void store_lanes(const struct access *a, unsigned char *p, bool wide)
{
    const union deltas *deltas = a->deltas;
    const struct memop *m = a->m;
    for (uint32_t e = 0; e < m->n; e++, p += m->bytes) {
        const u32 *d = (const u32 *)(a->w->regs + m->reg[e]);
        const u64 *d64 = (const u64 *)(a->w->regs + m->reg[e]);
        if (m->reg_class[e] == SLOT_64) {
            MOVE_LANES(a->active, { memcpy(p + lane_delta(deltas, wide, i), &d64[i], m->bytes); });
        } else if (m->bytes == 4) {
            MOVE_LANES(a->active, { *(u32 *)(p + lane_delta(deltas, wide, i)) = d[i]; });
        } else {
            MOVE_LANES(a->active, { memcpy(p + lane_delta(deltas, wide, i), &d[i], m->bytes); });
        }
    }
}

ALWAYS_INLINE void move_either(const struct access *a, unsigned char *p, bool wide)
{
    if (is_fours(a) && a->load)
        move_fours(a, p, wide, true);
    else if (is_fours(a))
        move_fours(a, p, wide, false);
    else if (a->load)
        load_lanes(a, p, wide);
    else
        store_lanes(a, p, wide);
}

// Not by an access's address: so what callers know of it can stay in registers.
static void move_lanes(struct warp *w, const struct memop *m, const union deltas *deltas, uint32_t active, bool load,
                       unsigned char *p)
{
    const struct access a = { .w = w, .m = m, .deltas = deltas, .active = active, .load = load };
    if (m->base_class == SLOT_32)
        move_either(&a, p, false);
    else
        move_either(&a, p, true);
}

// Each group of neighbouring lanes has one address: elements of 4 or 8 bytes in slots of their own width.
ALWAYS_INLINE void load_groups(const struct access *a, const unsigned char *p, int group)
{
    const struct memop *m = a->m;
    const bool wide = m->base_class == SLOT_64;
    for (uint32_t e = 0; e < m->n; e++, p += m->bytes) {
        for (int first = 0; first < LANES; first += group) {
            const unsigned char *at = p + lane_delta(a->deltas, wide, first);
            if (m->bytes == 4) {
                u32 *d = (u32 *)(a->w->regs + m->reg[e]) + first, v = *(const u32 *)at;
                for (int i = 0; i < group; i++)
                    d[i] = v;
            } else {
                u64 *d = (u64 *)(a->w->regs + m->reg[e]) + first, v = *(const u64 *)at;
                for (int i = 0; i < group; i++)
                    d[i] = v;
            }
        }
    }
}

ALWAYS_INLINE void copy_linear(unsigned char *p, unsigned char *slot, size_t bytes, bool load)
{
    if (load)
        memcpy(slot, p, bytes);
    else
        memcpy(p, slot, bytes);
}

ALWAYS_INLINE void move(const struct access *a, unsigned char *p)
{
    unsigned char *slot = a->w->regs + a->m->reg[0];
    switch (a->memo->move) {
    case MOVE_LINEAR_4:
        copy_linear(p, slot, LANES * sizeof(u32), a->load);
        break;
    case MOVE_LINEAR_8:
        copy_linear(p, slot, LANES * sizeof(u64), a->load);
        break;
    case MOVE_SAME:
        load_groups(a, p, LANES);
        break;
    case MOVE_HALVES:
        load_groups(a, p, LANES / 2);
        break;
    case MOVE_QUARTERS:
        load_groups(a, p, LANES / 4);
        break;
    case MOVE_LANES:
        move_lanes(a->w, a->m, a->deltas, a->active, a->load, p);
        break;
    }
}
