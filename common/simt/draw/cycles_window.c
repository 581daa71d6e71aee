// See cycles_window.h.
#include "cycles_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/text.h"

#define TRIPS 2   // that are shown
#define LOOPS 64  // of a kernel
#define SLOTS 32  // blocks at a time

// The loops that warps turn in, each once. A loop begins where a turn leads to, and ends at the last one that leads
// there.
static size_t list_loops(const struct sm_recorder *r, const struct sm_result *run, struct cycles_loop all[LOOPS])
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_turns; i++) {
        const struct sm_turn *turn = &r->turns[i];
        size_t k = turn->to == SM_BLOCK_BEGINS ? LOOPS : 0;
        while (k < n && all[k].first != turn->to)
            k++;
        if (k == n && n < LOOPS)
            all[n++] = (struct cycles_loop){ .first = turn->to };
        if (k < n && turn->from > all[k].last)
            all[k].last = turn->from;
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t at = all[i].first; at <= all[i].last; at++)
            all[i].issued += run->line_issued[at];
    return n;
}

static bool is_within(const struct cycles_loop *inner, const struct cycles_loop *outer)
{
    return inner->first >= outer->first && inner->last <= outer->last &&
           (inner->first > outer->first || inner->last < outer->last);
}

// The kernel's loop, by what was recorded of its turns: the outermost with most instructions, or the innermost within
// it that has half of them still. False where there is none.
static bool find_loop(const struct sm_recorder *r, const struct sm_result *run, bool outer, struct cycles_loop *out)
{
    struct cycles_loop all[LOOPS];
    const size_t n = list_loops(r, run, all);
    const struct cycles_loop *most = NULL, *inner = NULL;
    for (size_t i = 0; i < n; i++)
        if (!most || all[i].issued > most->issued)
            most = &all[i];
    do {
        most = inner ? inner : most;
        inner = NULL;
        for (size_t i = 0; i < n && !outer; i++)
            if (is_within(&all[i], most) && 2 * all[i].issued >= most->issued &&
                (!inner || all[i].issued > inner->issued))
                inner = &all[i];
    } while (inner);
    if (most)
        *out = *most;
    return most;
}

// --- trips ---

struct trips {  // turns of one warp, of one block or, where blocks are the trips, of all
    const struct sm_recorder *r;
    uint32_t to;  // of a turn
    unsigned warp;
    uint64_t block;
};

static bool is_trip(const struct trips *t, const struct sm_turn *turn)
{
    return turn->to == t->to && turn->warp == t->warp && (t->to == SM_BLOCK_BEGINS || turn->block == t->block);
}

static uint64_t count_trips(const struct trips *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->r->n_turns; i++)
        n += is_trip(t, &t->r->turns[i]);
    return n;
}

static uint64_t cycle_of(const struct trips *t, uint64_t nth)
{
    for (size_t i = 0; i < t->r->n_turns; i++)
        if (is_trip(t, &t->r->turns[i]) && !nth--)
            return t->r->turns[i].cycle;
    return 0;
}

// The block in the middle of those that ran one after the other; later ones find their data in the caches.
static uint64_t middle_block(const struct trips *t)
{
    uint64_t blocks = 0, middle = t->block, last = UINT64_MAX;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t n = 0;
        for (size_t i = 0; i < t->r->n_turns; i++) {
            const struct sm_turn *turn = &t->r->turns[i];
            if (turn->to != t->to || turn->warp != t->warp || (n && turn->block == last))
                continue;
            last = turn->block;
            if (pass && n == blocks / 2)
                middle = last;
            n++;
        }
        blocks = n;
    }
    return middle;
}

// The cycles of the trips of the warp that has t's place in its block, of the blocks of a slot, while every slot has
// one.
static size_t list_trips(const struct trips *t, const struct sm_result *run, unsigned warps_of_block, unsigned slot,
                         double *cycles)
{
    const double end = run->full_to > 0 ? run->full_to : run->cycles;
    const struct sm_turn *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t->r->n_turns; i++) {
        const struct sm_turn *turn = &t->r->turns[i];
        if (turn->to != t->to || turn->warp % warps_of_block != t->warp || turn->warp / warps_of_block != slot ||
            (double)turn->cycle > end)
            continue;
        if (last && (t->to == SM_BLOCK_BEGINS || last->block == turn->block))
            cycles[n++] = (double)(turn->cycle - last->cycle);
        last = turn;
    }
    return n;
}

// The cycles of a trip, the middle one of all, since the first and the last ones of a block differ: by the pace of all
// slots together, because blocks that share an SM do not run at the same one.
static double middle_trip(const struct trips *t, const struct sm_result *run, unsigned warps_of_block)
{
    double *cycles = calloc(t->r->n_turns + 1, sizeof *cycles), pace = 0, slots = 0;
    for (unsigned slot = 0; cycles && slot < SLOTS; slot++) {
        const size_t n = list_trips(t, run, warps_of_block, slot, cycles);
        if (n) {
            pace += 1 / median(cycles, n);
            slots++;
        }
    }
    free(cycles);
    return slots > 0 ? slots / pace : 0;
}

static bool choose_trips(const struct sm_recorder *r, const struct sm_result *run, const struct simt_cycles *asked,
                         unsigned warps_of_block, struct cycles_window *out, char error[CLOCK_ERROR])
{
    struct trips t = { .r = r, .to = out->blocks ? SM_BLOCK_BEGINS : out->loop.first, .warp = UINT32_MAX };
    for (size_t i = 0; i < r->n_turns; i++)
        if (r->turns[i].to == t.to && r->turns[i].warp < t.warp)
            t.warp = r->turns[i].warp;
    t.block = middle_block(&t);
    const uint64_t turns = count_trips(&t), trips = asked->trips ? asked->trips : turns > TRIPS ? TRIPS : 1;
    if (turns < trips + 1) {
        snprintf(error, CLOCK_ERROR,
                 "%s %" PRIu64 " times here, too few for %" PRIu64
                 " whole trip%s: --cycles FROM-TO, or a larger launch",
                 out->blocks ? "a block begins" : "a warp turns in its loop", turns, trips, text_plural(trips));
        return false;
    }
    const uint64_t first = (turns - trips) / 2;
    out->from = cycle_of(&t, first);
    out->to = cycle_of(&t, first + trips);
    out->trips = trips;
    out->middle = middle_trip(&t, run, warps_of_block);
    if (out->middle <= 0)
        out->middle = (double)(out->to - out->from) / (double)trips;
    out->warp = t.warp;
    return true;
}

// Whether the outermost loop has one within it that counts. If not, its trips are those of the loop, and blocks are
// shown.
static bool has_inner(const struct sm_recorder *r, const struct sm_result *run, const struct cycles_loop *outer)
{
    struct cycles_loop all[LOOPS];
    const size_t n = list_loops(r, run, all);
    for (size_t i = 0; outer && i < n; i++)
        if (is_within(&all[i], outer) && 10 * all[i].issued >= outer->issued)
            return true;
    return false;
}

bool cycles_choose(const struct sm_recorder *r, const struct sm_result *run, const struct simt_cycles *asked,
                   unsigned warps_of_block, struct cycles_window *out, char error[CLOCK_ERROR])
{
    const uint64_t end = (uint64_t)run->cycles;
    *out = (struct cycles_window){ .from = asked->from, .to = asked->to };
    const bool found = find_loop(r, run, asked->outer, &out->loop);
    if (asked->from < asked->to) {
        if (asked->to > end)
            snprintf(error, CLOCK_ERROR, "the clock ran the SM for %" PRIu64 " cycles: --cycles FROM-TO within them",
                     end);
        return asked->to <= end;
    }
    out->blocks = asked->outer && !has_inner(r, run, found ? &out->loop : NULL);
    if (!found && asked->trips && !asked->outer) {
        snprintf(error, CLOCK_ERROR, "the kernel has no loop");
        return false;
    }
    if (!found && !asked->outer)
        out->to = end;
    else if (!choose_trips(r, run, asked, warps_of_block, out, error))
        return false;
    if (out->to - out->from > SIMT_CYCLES_MOST)
        snprintf(error, CLOCK_ERROR, "%" PRIu64 " cycles are too many for a picture: --cycles FROM-TO, at most %d",
                 out->to - out->from, SIMT_CYCLES_MOST);
    return out->to - out->from <= SIMT_CYCLES_MOST;
}
