// Ways through a kernel: how far an instruction is from others, and where a lane that could have come to it went past.
#include <stdlib.h>

#include "why_inside.h"

static uint32_t nearer(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// From instruction i, by the distances of those that may follow it.
static uint32_t distance(const struct watch *w, const uint32_t *far, uint32_t i)
{
    const struct instruction *in = &w->code[i];
    const bool falls = in->guarded || (in->kind != OP_BRANCH && in->kind != OP_END);
    const bool jumps = in->kind == OP_BRANCH && in->target < w->n_code;
    const uint32_t next = falls && i + 1 < w->n_code ? far[i + 1] : WHY_NEVER;
    const uint32_t best = nearer(next, jumps ? far[in->target] : WHY_NEVER);
    return best == WHY_NEVER ? WHY_NEVER : best + 1;
}

uint32_t *why_distances(const struct watch *w, uint32_t instruction, uint32_t wall)
{
    uint32_t *far = malloc((w->n_code + 1) * sizeof *far);
    bool more = far;
    for (uint32_t i = 0; far && i < w->n_code; i++)
        far[i] = i == instruction ? 0 : WHY_NEVER;
    while (more) {
        more = false;
        for (uint32_t i = w->n_code; i-- > 0;) {
            const uint32_t now = i == wall ? far[i] : nearer(far[i], distance(w, far, i));
            more |= now != far[i];
            far[i] = now;
        }
    }
    return far;
}

static bool is_step_of(const struct watch *w, uint64_t moment, const struct why_lane *l)
{
    return step_warp(w, moment) == l->warp && w->lanes[moment] >> l->lane & 1;
}

// The branch or guard that led a lane from the step of instruction `from` on to that of `to`: one that it took, or that
// kept it. *other: where it would have come otherwise. WHY_NEVER: nothing was decided in between.
static uint32_t decision(const struct watch *w, const uint32_t *far, uint32_t from, uint32_t to, uint32_t instruction,
                         uint32_t *other)
{
    *other = from + 1;
    if (w->code[from].kind == OP_BRANCH && w->code[from].guarded)
        return from;
    *other = instruction;
    if (from < instruction && instruction < to && w->code[instruction].guarded)
        return instruction;
    for (uint32_t i = to; i-- > from + 1;)
        if (w->code[i].kind == OP_BRANCH && w->code[i].guarded && far[w->code[i].target] != WHY_NEVER) {
            *other = w->code[i].target;
            return i;
        }
    return WHY_NEVER;
}

uint64_t why_passed(const struct watch *w, const uint32_t *far, uint32_t instruction, const struct why_lane *l,
                    uint32_t *decided)
{
    uint64_t before = WATCH_NONE, passed = WATCH_NONE;
    uint32_t best = WHY_NEVER;
    for (uint64_t i = l->since == WATCH_NONE ? 0 : l->since; i <= l->moment; i++) {
        if (!is_step_of(w, i, l))
            continue;
        const uint32_t to = step_instruction(w, i);
        const uint32_t from = before == WATCH_NONE ? instruction : step_instruction(w, before);
        uint32_t other, by = from == instruction ? WHY_NEVER : decision(w, far, from, to, instruction, &other);
        // Who has ended went past for good; who stands somewhere went by, forwards, and was not as near again.
        const bool lost = by != WHY_NEVER && far[other] < far[to] && (l->ended ? far[to] == WHY_NEVER : to > from);
        if (lost && (l->ended || far[other] <= best)) {
            best = far[other];
            passed = before;
            *decided = by;
        }
        before = i;
    }
    return passed;
}
