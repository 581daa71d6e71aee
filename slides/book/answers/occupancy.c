// The occupancy page's answers, compiled to WebAssembly with common/base/occupancy.c, whose cards and rules they are.
#include "base/occupancy.h"

enum { MOST_THREADS = 1024, MOST_REGISTERS = 255 };  // of a block, of a thread: on every card

// What a block asks for.
struct fit_use {
    uint32_t threads, registers, shared;
};

struct fit {
    uint32_t value;  // of the resource
    uint32_t blocks, warps;
};

struct fit_answer {
    uint32_t blocks, warps, max;
    const char *limit;
    uint32_t by_threads, by_registers, by_shared, by_blocks;
    // Of threads, registers, shared: the most with which more blocks fit, and the least with which fewer do; the value
    // is UINT32_MAX if there is none.
    struct fit less[3], more[3];
} fit_answer;

struct fit_card {
    const char *name;
    uint32_t cc, sms, threads, blocks, registers, shared_kib;
} fit_card;

// Warps of an SM along one resource, the others as asked for: fit_curve's.
uint16_t fit_warps[4096];

// Fills fit_card with card i, counted from 0. False after the last.
bool fit_choose(uint32_t i)
{
    const struct card *c = card_at(i);
    if (!c)
        return false;
    fit_card =
        (struct fit_card){ c->name, (uint32_t)c->cc, c->sms, c->threads, c->blocks, c->registers, c->shared_kib };
    return true;
}

static struct occupancy with(const struct card *card, struct fit_use use, uint32_t resource, uint32_t value)
{
    *(resource == 0 ? &use.threads : resource == 1 ? &use.registers : &use.shared) = value;
    return occupancy_of(card, use.threads, use.registers, use.shared);
}

static struct fit fit_of(const struct card *card, struct fit_use use, uint32_t resource, uint32_t value)
{
    const struct occupancy o = with(card, use, resource, value);
    return (struct fit){ value, o.blocks, o.warps };
}

// Of more of a resource never more blocks fit. So the edge is found by halving: low has what high has not.
static uint32_t edge(const struct card *card, struct fit_use use, uint32_t resource, uint32_t low, uint32_t high,
                     uint32_t least)
{
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (with(card, use, resource, middle).blocks >= least)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void steps(const struct card *card, struct fit_use use, uint32_t resource, uint32_t now, uint32_t blocks)
{
    const uint32_t most[] = { MOST_THREADS, MOST_REGISTERS, card->shared_kib * 1024 };
    const uint32_t first = resource == 2 ? 0 : 1, last = most[resource];
    struct fit *less = &fit_answer.less[resource], *more = &fit_answer.more[resource];
    *less = *more = (struct fit){ .value = UINT32_MAX };
    if (with(card, use, resource, first).blocks > blocks)
        *less = fit_of(card, use, resource, edge(card, use, resource, first, now, blocks + 1));
    if (now < last && with(card, use, resource, last).blocks < blocks)
        *more = fit_of(card, use, resource, edge(card, use, resource, now, last, blocks) + 1);
}

// Fills fit_answer with what fits of such blocks. threads: 1 to 1,024; registers of a thread: 1 to 255; shared: bytes.
void fit_show(uint32_t card, uint32_t threads, uint32_t registers, uint32_t shared)
{
    const struct card *c = card_at(card);
    const struct fit_use use = { threads, registers, shared };
    const struct occupancy o = occupancy_of(c, threads, registers, shared);
    fit_answer = (struct fit_answer){ .blocks = o.blocks,
                                      .warps = o.warps,
                                      .max = o.max,
                                      .limit = o.limit,
                                      .by_threads = o.by_threads,
                                      .by_registers = o.by_registers,
                                      .by_shared = o.by_shared,
                                      .by_blocks = o.by_blocks };
    steps(c, use, 0, threads, o.blocks);
    steps(c, use, 1, registers, o.blocks);
    steps(c, use, 2, shared, o.blocks);
}

// Fills fit_warps: i-th value is that at first + i * step of the resource (0 threads, 1 registers, 2 shared).
void fit_curve(uint32_t card, uint32_t threads, uint32_t registers, uint32_t shared, uint32_t resource, uint32_t first,
               uint32_t step, uint32_t n)
{
    const struct fit_use use = { threads, registers, shared };
    for (uint32_t i = 0; i < n && i < sizeof fit_warps / sizeof *fit_warps; i++)
        fit_warps[i] = (uint16_t)with(card_at(card), use, resource, first + i * step).warps;
}
