// What the two files share that run the uops of decode/shadow.c: check_shadow.c follows undefined bits through
// registers, check_shadow_memory.c through memory. A value is a register's slot, of an enum slot_class, in one lane.
#pragma once

#include "simt/code/shadow.h"
#include "simt/code/warp.h"

#define EACH(lanes, i)                                                                                                 \
    for (uint32_t left_ = (lanes), i = 0; left_ && ((i = (uint32_t)__builtin_ctz(left_)), true); left_ &= left_ - 1)

static inline uint64_t shadow_get(const struct warp *w, uint32_t at, unsigned class, uint32_t lane)
{
    const unsigned char *slot = w->regs + at;
    return class == SLOT_64   ? ((const u64 *)slot)[lane]
           : class == SLOT_32 ? ((const u32 *)slot)[lane]
                              : *(const u32 *)slot >> lane & 1;
}

static inline void shadow_put(const struct warp *w, uint32_t at, unsigned class, uint32_t lane, uint64_t v)
{
    unsigned char *slot = w->regs + at;
    if (class == SLOT_64)
        ((u64 *)slot)[lane] = v;
    else if (class == SLOT_32)
        ((u32 *)slot)[lane] = (uint32_t)v;
    else
        *(u32 *)slot = (*(u32 *)slot & ~(1u << lane)) | (uint32_t)(v & 1) << lane;
}

// All bits of a value of that size in bytes; 0 stands for a predicate.
static inline uint64_t shadow_mask(unsigned bytes)
{
    return bytes == 0 ? 1 : bytes >= 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
}

// Has a slot of undefined bits none, in any lane?
static inline bool shadow_all_defined(const struct warp *w, uint32_t at, unsigned class)
{
    const u32 *slot = (const u32 *)(w->regs + at);
    const int words = class == SLOT_64 ? 2 * LANES : class == SLOT_32 ? LANES : 1;
    uint32_t any = 0;
    for (int i = 0; i < words; i++)
        any |= slot[i];
    return !any;
}

// The origin of undefined bits, with u as the uop that used them last.
static inline uint64_t shadow_used_by(uint64_t origin, const struct uop *u)
{
    return origin >> 32 ? origin : origin | (u->inst + 1ull) << 32;
}

// check_shadow_memory.c: a finding, the lane used undefined bits of that origin.
void shadow_report(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t origin, enum shadow_sink sink);

// check_shadow_memory.c: loads; stores; what whole warps, atomics and asynchronous copies access; what printf returns
bool shadow_load(const struct warp *w, const struct uop *u, uint32_t active);
bool shadow_store(const struct warp *w, const struct uop *u, uint32_t active);
bool shadow_rows(const struct warp *w, const struct uop *u, uint32_t active);
bool shadow_call(const struct warp *w, const struct uop *u, uint32_t active);

// WARP_shadow (code/warp_op.def)
bool warp_shadow(struct warp *w, const struct uop *u, uint32_t active);
