// Why warps wait: for mbarriers (why_mbarrier.c), for barriers, and in a circle for each other. See why.h.
#include <stdlib.h>
#include <string.h>

#include "why_scene.h"

// --- barriers ---

// The warps that do not stand at the barrier: those that came to its instruction before, or can come to it yet; else
// all that have not ended, or if none is left, all.
static uint32_t missing_warps(const struct scene *s, uint32_t of)
{
    const struct watch_reason *r = &s->reasons[of];
    uint32_t before = 0, can = 0, live = 0, others = 0, there = 0;
    uint32_t *far = why_distances(s->w, r->instruction, WHY_NEVER);
    for (size_t i = 0; i < s->n; i++)
        if (s->reasons[i].kind == WATCH_WAITS && s->reasons[i].wait == SIMT_FOR_BARRIER && s->reasons[i].at == r->at)
            there |= s->reasons[i].warps;
    for (uint64_t i = 0; i <= s->moment; i++)
        before |= (uint32_t)(step_instruction(s->w, i) == r->instruction) << step_warp(s->w, i);
    for (uint32_t warp = 0; warp < s->n_warps; warp++) {
        for (uint32_t g = 0; far && g < s->warps[warp].n; g++)
            can |= (uint32_t)(far[s->warps[warp].groups[g].next] != WHY_NEVER) << warp;
        live |= (uint32_t)(s->warps[warp].n > 0) << warp;
        others |= 1u << warp;
    }
    free(far);
    const uint32_t choices[] = { before & ~there, can & ~there, live & ~there, others & ~there };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i])
            return choices[i];
    return 0;
}

static void explain_barrier(struct scene *s, uint32_t of)
{
    const uint32_t warps = missing_warps(s, of);
    uint32_t lanes[WATCH_WARPS];
    uint64_t since[WATCH_WARPS];
    if (!warps) {
        why_add(s, why_about(s, of, WATCH_COUNT, s->reasons[of].instruction));
        return;
    }
    for (uint32_t i = 0; i < WATCH_WARPS; i++) {
        lanes[i] = UINT32_MAX;
        since[i] = WATCH_NONE;
    }
    for (uint64_t i = 0; i <= s->moment; i++)
        if (step_instruction(s->w, i) == s->reasons[of].instruction)
            since[step_warp(s->w, i)] = i;
    struct watch_reason r = why_about(s, of, WATCH_LACKS, s->reasons[of].instruction);
    r.warps = warps;
    why_explain_stands(s, why_add(s, r), warps, lanes, since);
}

// --- circles ---

// The waits that wait number i leads to, and those that they lead to: a bit for each of the first 64 reasons.
static uint64_t leads_to(const struct scene *s, uint32_t i)
{
    uint64_t all = 0, before;
    do {
        before = all;
        for (size_t k = 0; k < s->n && k < 64; k++) {
            const struct watch_reason *r = &s->reasons[k];
            const uint32_t from = r->kind == WATCH_STANDS ? s->reasons[r->of].of : UINT32_MAX;
            if (from != UINT32_MAX && r->to < 64 && (from == i || all >> from & 1))
                all |= 1ull << r->to;
        }
    } while (all != before);
    return all;
}

// The waits that lead back to themselves: a bit for each of the first 64.
static uint64_t circular(const struct scene *s, uint32_t n_waits)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < n_waits && i < 64; i++)
        all |= leads_to(s, i) & 1ull << i;
    return all;
}

static void add_circle(struct scene *s, uint32_t n_waits)
{
    const uint64_t circle = circular(s, n_waits);
    struct watch_reason r = { .kind = WATCH_CIRCLE };
    for (uint32_t i = 0; i < n_waits && i < 64; i++)
        r.warps |= circle >> i & 1 ? s->reasons[i].warps : 0;
    if (!(r.warps & (r.warps - 1)))
        return;
    r = why_about(s, (uint32_t)__builtin_ctzll(circle), WATCH_CIRCLE, UINT32_MAX);
    for (uint32_t i = 0; i < n_waits && i < 64; i++)
        r.warps |= circle >> i & 1 ? s->reasons[i].warps : 0;
    why_add(s, r);
}

// Where a warp waits for others that are to blame, it does not matter what it did before: only of those that have
// ended, or wait in a circle, it is said what led them past an instruction.
static bool matters(const struct scene *s, const struct watch_reason *decided, uint64_t circle)
{
    for (const struct watch_reason *r = s->reasons; r < decided; r++)
        if (r->kind == WATCH_STANDS && r->of == decided->of && r->warps & decided->warps)
            return r->wait == SIMT_ENDED || (r->to < 64 && circle >> r->to & 1);
    return true;
}

// Puts what explains a wait behind it, and leaves out what does not matter.
static bool put_in_order(struct scene *s, uint32_t n_waits)
{
    struct watch_reason *all = calloc(s->n + 1, sizeof *all);
    uint32_t *number = calloc(s->n + 1, sizeof *number);
    const uint64_t circle = circular(s, n_waits);
    size_t n = 0;
    for (uint32_t i = 0; all && number && i < n_waits; i++)
        for (uint32_t k = i, root; k < s->n; k = k == i && k < n_waits ? n_waits : k + 1) {
            for (root = k; s->reasons[root].of != root;)
                root = s->reasons[root].of;
            if (root != i || (s->reasons[k].kind == WATCH_DECIDED && !matters(s, &s->reasons[k], circle)) ||
                (s->reasons[k].kind == WATCH_PARITY && !(i < 64 && circle >> i & 1)))
                continue;
            number[k] = (uint32_t)n;
            all[n++] = s->reasons[k];
        }
    for (size_t i = 0; number && i < n; i++) {
        all[i].of = number[all[i].of];
        all[i].to = all[i].to == UINT32_MAX ? UINT32_MAX : number[all[i].to];
    }
    const bool ok = all && number;
    free(number);
    free(ok ? s->reasons : all);
    s->reasons = ok ? all : s->reasons;
    s->n = ok ? n : s->n;
    return ok;
}

size_t watch_why(struct watch *w, uint64_t moment, struct watch_reason **all, char error[DEV_ERROR_MAX])
{
    struct scene s = { .w = w, .moment = moment };
    *error = '\0';
    *all = NULL;
    if (!why_look(&s, error))
        return 0;
    const uint32_t n_waits = (uint32_t)s.n;
    for (uint32_t i = 0; i < n_waits; i++) {
        if (s.reasons[i].wait == SIMT_FOR_MBARRIER)
            why_explain_mbarrier(&s, i);
        else if (s.reasons[i].wait == SIMT_FOR_BARRIER)
            explain_barrier(&s, i);
    }
    add_circle(&s, n_waits);
    s.failed |= !put_in_order(&s, n_waits);
    free(s.mbarriers);
    if (s.failed) {
        error_set(error, "out of memory");
        free(s.reasons);
        return 0;
    }
    *all = s.reasons;
    return s.n;
}
