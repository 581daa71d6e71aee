// See why.h.
#include "why.h"

#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "why_inside.h"

enum { GROUPS = WATCH_LANES, LACKING = 6 };

struct stand {  // a warp, at the moment
    uint32_t ended, n;
    struct simt_lanes groups[GROUPS];
    bool polls;
    uint32_t at, parity, lane;  // of the mbarrier that it waits for
    uint64_t last;              // its last step, or WATCH_NONE
};

struct scene {  // what there is to see at the moment
    struct watch *w;
    uint64_t moment;
    uint32_t n_warps;
    struct stand warps[WATCH_WARPS];
    struct simt_barrier barriers[WATCH_BARRIERS];
    struct watch_mbarrier *mbarriers;
    size_t n_mbarriers, mbarriers_room;
    struct watch_reason *reasons;
    size_t n, room;
    bool failed;  // out of memory
};

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

static const struct watch_mbarrier *mbarrier_at(const struct scene *s, uint32_t at)
{
    for (size_t i = 0; i < s->n_mbarriers; i++)
        if (s->mbarriers[i].at == at)
            return &s->mbarriers[i];
    return NULL;
}

// --- the list ---

static uint32_t add(struct scene *s, struct watch_reason r)
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
        const struct watch_mbarrier *m = mbarrier_at(s, t->at);
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
                add(s, r);
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
    add(s, r);
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
    add(s, r);
}

// Warps that stand in the same way, of those that are missing: each kind is explained once.
static void explain_stands(struct scene *s, uint32_t of, uint32_t warps, const uint32_t lanes[WATCH_WARPS],
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

// --- mbarriers ---

struct missing {                  // arrivals of one instruction
    uint32_t instruction, warps;  // of several copies of a line, the one that was executed last
    uint32_t lanes[WATCH_WARPS];
    uint64_t since[WATCH_WARPS];  // when each warp came last to that mbarrier with it
};

// Who arrived at mbarriers of the same array (or at this one alone) in the past, and has not in the phase in hand.
static size_t find_missing(const struct scene *s, const struct watch_mbarrier *m, bool this_one, bool *any,
                           struct missing out[LACKING])
{
    const struct simt_shared_variable *v = watch_variable_at(s->w, m->at);
    size_t n = 0;
    for (size_t k = 0; k < s->w->n_events && s->w->events[k].arrival.moment <= s->moment; k++) {
        const struct event *e = &s->w->events[k];
        const struct watch_arrival *a = &e->arrival;
        size_t i = 0;
        if (e->kind != EVENT_ARRIVAL || !a->arrives ||
            (this_one ? e->at != m->at : watch_variable_at(s->w, e->at) != v))
            continue;
        *any = true;
        while (i < n && watch_line(s->w, out[i].instruction) != watch_line(s->w, a->instruction))
            i++;
        if (i == LACKING)
            continue;
        if (i == n) {
            out[n++] = (struct missing){ .instruction = a->instruction };
            memset(out[i].since, 0xff, sizeof out[i].since);
        }
        out[i].instruction = a->instruction;
        out[i].warps |= 1u << a->warp;
        out[i].lanes[a->warp] |= a->lanes;
        if (e->at == m->at)
            out[i].since[a->warp] = a->moment;
    }
    for (size_t k = 0; k < s->w->n_events && s->w->events[k].arrival.moment <= s->moment; k++) {
        const struct event *e = &s->w->events[k];
        const struct watch_arrival *a = &e->arrival;
        for (size_t i = 0; i < n; i++)  // has come, whatever instruction it came with
            if (e->kind == EVENT_ARRIVAL && a->arrives && e->at == m->at && a->phase == m->phase)
                out[i].lanes[a->warp] &= ~a->lanes;
    }
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t warp = 0; warp < WATCH_WARPS; warp++)
            if (!out[i].lanes[warp])
                out[i].warps &= ~(1u << warp);
        if (out[i].warps)
            out[left++] = out[i];
    }
    return left;
}

static struct watch_reason about(const struct scene *s, uint32_t of, enum watch_reason_kind kind, uint32_t instruction)
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

static void add_missing(struct scene *s, uint32_t of, const struct missing *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct watch_reason r = about(s, of, WATCH_LACKS, all[i].instruction);
        r.warps = all[i].warps;
        r.lanes = all[i].lanes[__builtin_ctz(all[i].warps)];
        const uint32_t number = add(s, r);
        explain_stands(s, number, all[i].warps, all[i].lanes, all[i].since);
    }
}

// Does a line of the source that the instruction stands at, or is called from, name the variable?
static bool names_it(const struct watch *w, uint32_t instruction, const char *name)
{
    char text[300];
    struct simt_place p;
    const size_t n = strlen(name);
    for (uint32_t i = 0; simt_instruction_place(w->kernel, instruction, i, &p); i++) {
        source_text(p.file, p.line, text, sizeof text);
        for (const char *at = text; (at = strstr(at, name)); at++)
            if (strspn(at + n, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == 0 &&
                (at == text || strchr(" &*([,!", at[-1])))
                return true;
    }
    return false;
}

// Nobody has come yet: the instructions that would arrive there, as the source says. Each is explained by a warp that
// can still come to it, or else by the one that went past it last.
static void add_untried(struct scene *s, uint32_t of, const struct watch_mbarrier *m)
{
    const struct simt_shared_variable *v = watch_variable_at(s->w, m->at);
    uint32_t seen[LACKING], n = 0;
    for (uint32_t i = 0; v && i < s->w->n_code && n < LACKING; i++) {
        bool again = !s->w->code[i].arrives || s->w->code[i].kind == OP_OTHER || !names_it(s->w, i, v->name);
        for (uint32_t k = 0; k < n; k++)
            again |= watch_line(s->w, seen[k]) == watch_line(s->w, i);
        if (again)
            continue;
        seen[n++] = i;
        const uint32_t number = add(s, about(s, of, WATCH_LACKS, i));
        uint32_t *far = why_distances(s->w, i, WHY_NEVER);
        uint32_t lanes[WATCH_WARPS], warps = 0;
        uint64_t since[WATCH_WARPS];
        s->failed |= !far;
        for (uint32_t warp = 0; far && warp < s->n_warps; warp++) {
            const struct stand *t = &s->warps[warp];
            lanes[warp] = 1;
            since[warp] = WATCH_NONE;
            for (uint32_t g = 0; g < t->n; g++)
                warps |= (uint32_t)(far[t->groups[g].next] != WHY_NEVER) << warp;
        }
        free(far);
        if (!warps && s->n_warps)
            warps = UINT32_MAX >> (32 - s->n_warps);
        explain_stands(s, number, warps, lanes, since);
    }
    if (!n)
        add(s, about(s, of, WATCH_NOBODY, m->init == WATCH_NONE ? UINT32_MAX : step_instruction(s->w, m->init)));
}

// Bytes: who said how many, and what the copies of the phase bring.
static void add_bytes(struct scene *s, uint32_t of, const struct watch_mbarrier *m)
{
    struct watch_arrival a, last = { .instruction = UINT32_MAX };
    for (uint32_t i = 0; watch_arrival(s->w, s->moment, m->at, i, &a); i++)
        if (a.phase == m->phase && a.what != WATCH_ARRIVES &&
            (last.instruction == UINT32_MAX || a.what == WATCH_EXPECTS))
            last = a;
    struct watch_reason r = about(s, of, WATCH_BYTES, last.instruction);
    r.warps = last.instruction == UINT32_MAX ? 0 : 1u << last.warp;
    r.lanes = last.lanes;
    add(s, r);
}

// More are expected than ever came: who did, in the phase in hand.
static void add_count(struct scene *s, uint32_t of, const struct watch_mbarrier *m)
{
    const uint32_t number = add(s, about(s, of, WATCH_COUNT, step_instruction(s->w, m->init)));
    struct watch_arrival a;
    for (uint32_t i = 0; watch_arrival(s->w, s->moment, m->at, i, &a); i++) {
        bool known = !a.arrives || a.phase != m->phase;
        for (size_t k = number + 1; k < s->n && !known; k++) {
            known = s->reasons[k].line == watch_line(s->w, a.instruction);
            s->reasons[k].warps |= known ? 1u << a.warp : 0;
        }
        if (known)
            continue;
        struct watch_reason r = about(s, number, WATCH_CAME, a.instruction);
        r.warps = 1u << a.warp;
        r.moment = a.moment;
        add(s, r);
    }
}

static void explain_mbarrier(struct scene *s, uint32_t of)
{
    const struct watch_mbarrier *m = mbarrier_at(s, s->reasons[of].at);
    struct missing all[LACKING];
    bool any = false;
    if (!m)
        return;  // there is no more to say
    if (m->pending) {
        size_t n = find_missing(s, m, true, &any, all);
        n = n ? n : find_missing(s, m, false, &any, all);
        if (n)
            add_missing(s, of, all, n);
        else if (any)
            add_count(s, of, m);
        else
            add_untried(s, of, m);
    }
    if (m->bytes)
        add_bytes(s, of, m);
    if (!m->phase && m->pending == m->expected && !m->bytes && !s->reasons[of].parity)
        add(s, about(s, of, WATCH_PARITY, s->reasons[of].instruction));
}

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
        add(s, about(s, of, WATCH_COUNT, s->reasons[of].instruction));
        return;
    }
    for (uint32_t i = 0; i < WATCH_WARPS; i++) {
        lanes[i] = UINT32_MAX;
        since[i] = WATCH_NONE;
    }
    for (uint64_t i = 0; i <= s->moment; i++)
        if (step_instruction(s->w, i) == s->reasons[of].instruction)
            since[step_warp(s->w, i)] = i;
    struct watch_reason r = about(s, of, WATCH_LACKS, s->reasons[of].instruction);
    r.warps = warps;
    explain_stands(s, add(s, r), warps, lanes, since);
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
    r = about(s, (uint32_t)__builtin_ctzll(circle), WATCH_CIRCLE, UINT32_MAX);
    for (uint32_t i = 0; i < n_waits && i < 64; i++)
        r.warps |= circle >> i & 1 ? s->reasons[i].warps : 0;
    add(s, r);
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
    if (moment >= w->n || !watch_run(w, moment, moment, see, &s, error))
        return 0;
    find_last_steps(&s);
    add_waits(&s);
    const uint32_t n_waits = (uint32_t)s.n;
    for (uint32_t i = 0; i < n_waits; i++) {
        if (s.reasons[i].wait == SIMT_FOR_MBARRIER)
            explain_mbarrier(&s, i);
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
