// See why_scene.h.
#include "why_scene.h"

#include <stdlib.h>
#include <string.h>

// --- the scene ---

static bool see(void *context, uint64_t moment, const struct simt_look *look)
{
    struct scene *s = context;
    struct watch_mbarrier m;
    s->n_warps = simt_look_warps(look);
    for (uint32_t i = 0; i < s->n_warps; i++) {
        struct stand *t = &s->warps[i];
        t->ended = simt_look_ended(look, i);
        t->polls = simt_look_wait(look, i, &t->at, &t->parity, &t->lane);
        while (t->n < GROUPS && simt_look_standing(look, i, t->n, &t->groups[t->n]))
            t->n++;
    }
    for (uint32_t i = 0; i < WATCH_BARRIERS; i++)
        simt_look_barrier(look, i, &s->barriers[i]);
    while (watch_mbarrier(s->w, moment, look, (uint32_t)s->n_mbarriers, &m)) {
        void *all = watch_grow(s->mbarriers, s->n_mbarriers, &s->mbarriers_room, sizeof m);
        if (!all)
            return s->failed = true;
        s->mbarriers = all;
        s->mbarriers[s->n_mbarriers++] = m;
    }
    return false;
}

static void find_last_steps(struct scene *s)
{
    for (uint32_t i = 0; i < s->n_warps; i++)
        s->warps[i].last = WATCH_NONE;
    for (uint64_t i = 0; i <= s->moment; i++)
        s->warps[step_warp(s->w, i)].last = i;
}

const struct watch_mbarrier *why_mbarrier_at(const struct scene *s, uint32_t at)
{
    for (size_t i = 0; i < s->n_mbarriers; i++)
        if (s->mbarriers[i].at == at)
            return &s->mbarriers[i];
    return NULL;
}

// --- the list ---

uint32_t why_add(struct scene *s, struct watch_reason r)
{
    struct watch_reason *all = watch_grow(s->reasons, s->n, &s->room, sizeof *all);
    if (!all) {
        s->failed = true;
        return 0;
    }
    s->reasons = all;
    r.line = r.instruction == UINT32_MAX ? 0 : watch_line(s->w, r.instruction);
    if (r.kind == WATCH_WAITS)
        r.of = (uint32_t)s->n;
    all[s->n] = r;
    return (uint32_t)s->n++;
}

struct watch_reason why_about(const struct scene *s, uint32_t of, enum watch_reason_kind kind, uint32_t instruction)
{
    struct watch_reason r = s->reasons[of];
    r.kind = kind;
    r.of = of;
    r.to = UINT32_MAX;
    r.warps = r.lanes = 0;
    r.instruction = instruction;
    r.moment = WATCH_NONE;
    return r;
}

// What a group of lanes waits for: false if it runs.
static bool wait_of(const struct scene *s, uint32_t warp, uint32_t group, struct watch_reason *r)
{
    const struct stand *t = &s->warps[warp];
    const struct simt_lanes *g = &t->groups[group];
    *r = (struct watch_reason){
        .kind = WATCH_WAITS, .warps = 1u << warp, .to = UINT32_MAX, .instruction = g->next, .moment = t->last
    };
    if (g->standing == SIMT_AT_BARRIER) {
        const struct simt_barrier *b = &s->barriers[g->barrier];
        r->wait = SIMT_FOR_BARRIER;
        r->at = g->barrier;
        r->expected = b->expected;
        r->pending = b->expected > b->arrived ? b->expected - b->arrived : 0;
    } else if (g->standing != SIMT_RUNS) {
        r->wait = g->standing == SIMT_AT_CLUSTER_BARRIER ? SIMT_FOR_CLUSTER : SIMT_FOR_LANES;
        r->lanes = g->lanes;
    } else {
        static const struct watch_mbarrier unmade = { 0 };
        const struct watch_mbarrier *m = why_mbarrier_at(s, t->at);
        if (!t->polls || !(g->lanes >> t->lane & 1) || (m && m->phase % 2 != t->parity))
            return false;  // it runs, or what it waits for has come
        m = m ? m : &unmade;
        r->wait = SIMT_FOR_MBARRIER;
        r->at = t->at;
        r->parity = t->parity;
        r->pending = m->pending;
        r->expected = m->expected;
        r->bytes = m->bytes;
        for (uint64_t i = t->last; i != WATCH_NONE && s->w->code[r->instruction].kind != OP_LOOK; i--)
            if (step_warp(s->w, i) == warp)
                r->instruction = step_instruction(s->w, i);
    }
    return true;
}

// The wait that a warp is part of, or NULL.
static struct watch_reason *wait_with(const struct scene *s, uint32_t warp)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->reasons[i].kind == WATCH_WAITS && s->reasons[i].warps >> warp & 1)
            return &s->reasons[i];
    return NULL;
}

static void add_waits(struct scene *s)
{
    for (uint32_t warp = 0; warp < s->n_warps; warp++)
        for (uint32_t g = 0; g < s->warps[warp].n; g++) {
            struct watch_reason r;
            bool known = false;
            if (!wait_of(s, warp, g, &r))
                continue;
            for (size_t i = 0; i < s->n && !known; i++) {
                struct watch_reason *o = &s->reasons[i];
                known = o->wait == r.wait && o->at == r.at && o->parity == r.parity && o->lanes == r.lanes &&
                        o->instruction == r.instruction;
                o->warps |= known ? r.warps : 0;
            }
            if (!known)
                why_add(s, r);
        }
}

// --- who should have come ---

// Where a warp stands that has not come to the instruction, and what led it past it.
static void explain_stand(struct scene *s, uint32_t of, uint32_t warps, uint32_t lane, uint64_t since)
{
    const uint32_t warp = (uint32_t)__builtin_ctz(warps), instruction = s->reasons[of].instruction;
    const struct stand *t = &s->warps[warp];
    const struct watch_reason *own = wait_with(s, warp);
    struct watch_reason r = { .kind = WATCH_STANDS,
                              .of = of,
                              .to = own ? own->of : UINT32_MAX,
                              .warps = warps,
                              .wait = t->ended >> lane & 1 ? SIMT_ENDED
                                      : own                ? own->wait
                                                           : SIMT_FOR_VALUE,
                              .instruction = UINT32_MAX,
                              .moment = t->last };
    if (t->last != WATCH_NONE)
        r.instruction = own ? own->instruction : step_instruction(s->w, t->last);
    if (r.wait == SIMT_ENDED)
        r.to = UINT32_MAX;
    why_add(s, r);
    const struct why_lane who = { warp, lane, r.wait == SIMT_ENDED, since, s->moment };
    uint32_t by, *far = why_distances(s->w, instruction, own && !who.ended ? own->instruction : WHY_NEVER);
    const uint64_t passed = far ? why_passed(s->w, far, instruction, &who, &by) : WATCH_NONE;
    s->failed |= !far;
    free(far);
    if (passed == WATCH_NONE)
        return;
    r = (struct watch_reason){ .kind = WATCH_DECIDED,
                               .of = of,
                               .to = UINT32_MAX,
                               .warps = 1u << warp,
                               .lanes = 1u << lane,
                               .instruction = by,
                               .moment = passed };
    why_condition(s->w, passed, by, warp, lane, r.condition, sizeof r.condition);
    why_add(s, r);
}

// Warps that stand in the same way, of those that are missing: each kind is explained once.
void why_explain_stands(struct scene *s, uint32_t of, uint32_t warps, const uint32_t lanes[WATCH_WARPS],
                        const uint64_t since[WATCH_WARPS])
{
    while (warps) {
        const uint32_t first = (uint32_t)__builtin_ctz(warps);
        const struct watch_reason *own = wait_with(s, first);
        uint32_t alike = 0;
        for (uint32_t i = first; i < s->n_warps; i++)
            if (warps >> i & 1 && wait_with(s, i) == own && !s->warps[i].ended == !s->warps[first].ended)
                alike |= 1u << i;
        explain_stand(s, of, alike, (uint32_t)__builtin_ctz(lanes[first]), since[first]);
        warps &= ~alike;
    }
}

bool why_look(struct scene *s, char error[DEV_ERROR_MAX])
{
    if (s->moment >= s->w->n || !watch_run(s->w, s->moment, s->moment, see, s, error))
        return false;
    find_last_steps(s);
    add_waits(s);
    return true;
}
