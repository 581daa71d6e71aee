// Who should have come to an mbarrier that warps wait at, or which bytes. See why.h.
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "why_scene.h"

enum { LACKING = 6 };

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

static void add_missing(struct scene *s, uint32_t of, const struct missing *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct watch_reason r = why_about(s, of, WATCH_LACKS, all[i].instruction);
        r.warps = all[i].warps;
        r.lanes = all[i].lanes[__builtin_ctz(all[i].warps)];
        const uint32_t number = why_add(s, r);
        why_explain_stands(s, number, all[i].warps, all[i].lanes, all[i].since);
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
        const uint32_t number = why_add(s, why_about(s, of, WATCH_LACKS, i));
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
        why_explain_stands(s, number, warps, lanes, since);
    }
    if (!n)
        why_add(s,
                why_about(s, of, WATCH_NOBODY, m->init == WATCH_NONE ? UINT32_MAX : step_instruction(s->w, m->init)));
}

// Bytes: who said how many, and what the copies of the phase bring.
static void add_bytes(struct scene *s, uint32_t of, const struct watch_mbarrier *m)
{
    struct watch_arrival a, last = { .instruction = UINT32_MAX };
    for (uint32_t i = 0; watch_arrival(s->w, s->moment, m->at, i, &a); i++)
        if (a.phase == m->phase && a.what != WATCH_ARRIVES &&
            (last.instruction == UINT32_MAX || a.what == WATCH_EXPECTS))
            last = a;
    struct watch_reason r = why_about(s, of, WATCH_BYTES, last.instruction);
    r.warps = last.instruction == UINT32_MAX ? 0 : 1u << last.warp;
    r.lanes = last.lanes;
    why_add(s, r);
}

// More are expected than ever came: who did, in the phase in hand.
static void add_count(struct scene *s, uint32_t of, const struct watch_mbarrier *m)
{
    const uint32_t number = why_add(s, why_about(s, of, WATCH_COUNT, step_instruction(s->w, m->init)));
    struct watch_arrival a;
    for (uint32_t i = 0; watch_arrival(s->w, s->moment, m->at, i, &a); i++) {
        bool known = !a.arrives || a.phase != m->phase;
        for (size_t k = number + 1; k < s->n && !known; k++) {
            known = s->reasons[k].line == watch_line(s->w, a.instruction);
            s->reasons[k].warps |= known ? 1u << a.warp : 0;
        }
        if (known)
            continue;
        struct watch_reason r = why_about(s, number, WATCH_CAME, a.instruction);
        r.warps = 1u << a.warp;
        r.moment = a.moment;
        why_add(s, r);
    }
}

void why_explain_mbarrier(struct scene *s, uint32_t of)
{
    const struct watch_mbarrier *m = why_mbarrier_at(s, s->reasons[of].at);
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
        why_add(s, why_about(s, of, WATCH_PARITY, s->reasons[of].instruction));
}
