// The rules of shared-memory banks and global sectors.
//
// Shared memory has 32 banks of 4 bytes; a bank delivers one word a pass ("wavefront"). An access is served in phases:
// all 32 lanes at once up to 4 bytes a lane, half-warps for 8 bytes, quarter-warps for 16. A phase takes as many
// passes as its busiest bank has distinct words. Two neighbouring phases of a load (not of a store) become one when
// every active lane i finds lane i^1 inactive or at its own address, or every one lane i^2. The conflicts that Nsight
// Compute reports are the passes beyond one in each phase; its "ideal" is the bytes that the active lanes ask for over
// 128 a pass, and never more than the passes taken.
// ldmatrix and stmatrix have a phase for each 8x8 matrix, eight rows of 16 bytes, and their phases never merge.
// Every figure of tests/truth for ld, st, ldmatrix and stmatrix follows from these lines.
#include "cost.h"

#include <string.h>

void cost_passes(const uint32_t address[32], uint32_t lanes, uint32_t bytes, struct shared_passes *out)
{
    out->n = 0;
    memset(out->words, 0, sizeof out->words);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint32_t last = (address[lane] + bytes - 1) / 4;
        for (uint32_t word = address[lane] / 4; word <= last; word++) {
            uint32_t bank = word % 32, i = 0;
            while (i < out->words[bank] && out->word[i][bank] != word)
                i++;
            if (i < out->words[bank])
                continue;
            out->word[out->words[bank]++][bank] = word;
            out->n = i + 1 > out->n ? i + 1 : out->n;
        }
    }
}

// Does every active lane find its partner (lane ^ step) inactive or at its own address?
static bool paired(const uint32_t address[32], uint32_t mask, uint32_t step)
{
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes), partner = lane ^ step;
        if (mask >> partner & 1 && address[partner] != address[lane])
            return false;
    }
    return true;
}

uint32_t cost_phases(const uint32_t address[32], uint32_t mask, uint32_t bytes, bool load, uint32_t lanes[4])
{
    uint32_t phases = bytes <= 4 ? 1 : bytes == 8 ? 2 : 4, width = 32 / phases, n = 0;
    uint32_t phase = width == 32 ? ~0u : (1u << width) - 1;
    for (uint32_t i = 0; i < phases; i++) {
        lanes[n] = mask & phase << i * width;
        if (load && phases > 1 && i % 2 == 0) {
            uint32_t both = lanes[n] | (mask & phase << (i + 1) * width);
            if (paired(address, both, 1) || paired(address, both, 2)) {
                lanes[n] = both;
                i++;
            }
        }
        n++;
    }
    return n;
}

static void add_phase(struct shared_cost *cost, const uint32_t address[32], uint32_t lanes, uint32_t bytes)
{
    struct shared_passes passes;
    cost_passes(address, lanes, bytes, &passes);
    cost->waves += passes.n;
    cost->conflicts += passes.n ? passes.n - 1 : 0;
}

struct shared_cost cost_shared(const uint32_t address[32], uint32_t mask, uint32_t bytes, bool load)
{
    struct shared_cost cost = { 0 };
    uint32_t lanes[4], n = cost_phases(address, mask, bytes, load, lanes);
    for (uint32_t i = 0; i < n; i++)
        add_phase(&cost, address, lanes[i], bytes);
    uint32_t fewest = ((uint32_t)__builtin_popcount(mask) * bytes + 127) / 128;
    cost.ideal = fewest < cost.waves ? fewest : cost.waves;
    return cost;
}

struct shared_cost cost_matrices(const uint32_t address[32], uint32_t matrices)
{
    struct shared_cost cost = { .ideal = matrices };
    for (uint32_t i = 0; i < matrices; i++)
        add_phase(&cost, address, COST_ROWS(i), 16);
    return cost;
}

uint32_t cost_sectors(const uint64_t address[32], uint32_t mask)
{
    uint64_t seen[32];
    uint32_t n = 0;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        uint64_t sector = address[__builtin_ctz(lanes)] / 32;
        uint32_t i = 0;
        while (i < n && seen[i] != sector)
            i++;
        if (i == n)
            seen[n++] = sector;
    }
    return n;
}
