// The 8 bytes of an mbarrier in shared memory. What they hold is not the kernel's business; here: the phase (bit 63),
// the bytes that are expected and have not come (21 bits, signed), the arrivals that are expected and those still
// pending, 20 bits each. Source: PTX ISA 9.7.13.15.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/launch.h"

enum { MBARRIER_COUNT_BITS = 20, MBARRIER_TX_BITS = 21, MBARRIER_MAX = (1 << MBARRIER_COUNT_BITS) - 1 };

struct mbarrier_state {
    uint64_t phase;
    uint32_t expected, pending;
    int64_t tx;
};

static inline struct mbarrier_state mbarrier_new(uint32_t count)
{
    return (struct mbarrier_state){ .expected = count, .pending = count };
}

static inline uint64_t mbarrier_pack(const struct mbarrier_state *s)
{
    const uint64_t tx = (uint64_t)s->tx & ((1ull << MBARRIER_TX_BITS) - 1);
    return s->phase << 63 | tx << 2 * MBARRIER_COUNT_BITS | (uint64_t)s->expected << MBARRIER_COUNT_BITS | s->pending;
}

static inline struct mbarrier_state mbarrier_read(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return (struct mbarrier_state){ .phase = v >> 63,
                                    .expected = (uint32_t)(v >> MBARRIER_COUNT_BITS) & MBARRIER_MAX,
                                    .pending = (uint32_t)v & MBARRIER_MAX,
                                    .tx = (int64_t)(v << (63 - 2 * MBARRIER_COUNT_BITS - MBARRIER_TX_BITS + 1)) >>
                                          (64 - MBARRIER_TX_BITS) };
}

// Whether a count of expected arrivals stands in memory that nothing wrote: arrivals do not change it, and no block has
// as many threads.
static inline bool mbarrier_is_unmade(uint32_t expected)
{
    return expected == (DEV_UNWRITTEN * UINT64_C(0x0101010101010101) >> MBARRIER_COUNT_BITS & MBARRIER_MAX);
}

static inline void mbarrier_write(unsigned char *p, const struct mbarrier_state *s)
{
    const uint64_t bits = mbarrier_pack(s);
    memcpy(p, &bits, sizeof bits);
}

// A phase is complete when all have arrived and all bytes have come. Then the next one begins.
static inline bool mbarrier_completes(struct mbarrier_state *s)
{
    if (!s->expected || s->pending || s->tx)
        return false;
    s->phase ^= 1;
    s->pending = s->expected;
    return true;
}
