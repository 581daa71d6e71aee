// What happens to the mbarriers of the block: who initialised them, who came, when a phase ended.
#include <stdlib.h>
#include <string.h>

#include "inside.h"

static struct mbarrier *find(const struct watch *w, uint32_t at)
{
    for (size_t i = 0; i < w->n_mbarriers; i++)
        if (w->mbarriers[i].at == at)
            return &w->mbarriers[i];
    return NULL;
}

static struct mbarrier *add_mbarrier(struct watch *w, uint32_t at)
{
    struct mbarrier *all = watch_grow(w->mbarriers, w->n_mbarriers, &w->mbarriers_room, sizeof *all);
    if (!all)
        return NULL;
    w->mbarriers = all;
    all[w->n_mbarriers] = (struct mbarrier){ .at = at };
    return &all[w->n_mbarriers++];
}

static bool add(struct watch *w, enum event_kind kind, uint32_t at, const struct watch_arrival *arrival)
{
    struct event *all = watch_grow(w->events, w->n_events, &w->events_room, sizeof *all);
    if (!all)
        return false;
    w->events = all;
    all[w->n_events++] = (struct event){ kind, at, *arrival };
    return true;
}

// The lanes whose address is the same byte as that of the first of `left`.
static uint32_t same(const struct simt_look *look, const struct simt_operand *address, uint32_t left, uint32_t *at)
{
    uint32_t lanes = 0, other;
    const uint32_t first = (uint32_t)__builtin_ctz(left);
    if (!simt_look_shared_at(look, address, first, at))
        return 0;
    for (uint32_t lane = first; lane < WATCH_LANES; lane++)
        if (left >> lane & 1 && simt_look_shared_at(look, address, lane, &other) && other == *at)
            lanes |= 1u << lane;
    return lanes;
}

// What the lanes of a step do to the mbarrier at a byte; and whether a phase of it has ended since it was seen last.
static bool note(struct watch *w, uint64_t moment, const struct simt_look *look, uint32_t at, uint32_t lanes)
{
    const uint32_t instruction = simt_look_instruction(look);
    const struct instruction *in = &w->code[instruction];
    const enum event_kind kind = in->kind == OP_INIT ? EVENT_INIT : EVENT_ARRIVAL;
    struct simt_phase now;
    struct mbarrier *m = find(w, at);
    if (!m && !(m = add_mbarrier(w, at)))
        return false;
    if (kind == EVENT_INIT)
        m->phase = 0;
    const struct watch_arrival arrival = {
        .moment = moment,
        .what = in->kind == OP_COPY     ? WATCH_COPIES
                : in->kind == OP_EXPECT ? WATCH_EXPECTS
                                        : WATCH_ARRIVES,
        .arrives = in->arrives,
        .warp = simt_look_warp(look),
        .lanes = lanes,
        .instruction = instruction,
        .phase = m->phase,
    };
    if (in->kind != OP_LOOK && !add(w, kind, at, &arrival))
        return false;
    if (!simt_look_mbarrier(look, at, &now) || now.parity == m->phase % 2)
        return true;
    m->phase++;
    return add(w, EVENT_FLIP, at, &arrival);
}

bool watch_note_events(struct watch *w, uint64_t moment, const struct simt_look *look)
{
    const enum op_kind kind = w->code[simt_look_instruction(look)].kind;
    struct simt_operand address;
    uint32_t seen = 0, left = simt_look_lanes(look), at;
    bool ok = true;
    if (kind < OP_INIT || kind >= OP_WAIT)
        return true;
    // The last address of a copy is that of its mbarrier; the others have only one.
    for (uint32_t i = 0; simt_look_operand(look, i, &address); i++)
        if (address.role == SIMT_ADDRESS)
            seen = i + 1;
    if (!seen || !simt_look_operand(look, seen - 1, &address))
        return true;
    for (uint32_t lanes; ok && left; left &= ~(lanes | (left & -left))) {
        lanes = same(look, &address, left, &at);
        ok = !lanes || note(w, moment, look, at, lanes);
    }
    return ok;
}

bool watch_has_mbarrier(const struct watch *w, const struct simt_shared_variable *v)
{
    enum { ARRAY = 512 };  // bytes: a larger one has something else as well
    for (size_t i = 0; i < w->n_mbarriers; i++)
        if (v->bytes <= ARRAY && w->mbarriers[i].at - v->at < v->bytes)
            return true;
    return false;
}

bool watch_mbarrier(const struct watch *w, uint64_t moment, const struct simt_look *look, uint32_t i,
                    struct watch_mbarrier *out)
{
    struct simt_phase now = { 0 };
    if (i >= w->n_mbarriers)
        return false;
    *out = (struct watch_mbarrier){ .at = w->mbarriers[i].at, .init = WATCH_NONE };
    for (size_t k = 0; k < w->n_events && w->events[k].arrival.moment <= moment; k++) {
        const struct event *e = &w->events[k];
        if (e->at != out->at)
            continue;
        out->init = e->kind == EVENT_INIT ? e->arrival.moment : out->init;
        out->phase = e->kind == EVENT_INIT ? 0 : out->phase + (e->kind == EVENT_FLIP);
    }
    if (out->init == WATCH_NONE)
        return watch_mbarrier(w, moment, look, i + 1, out);
    simt_look_mbarrier(look, out->at, &now);
    out->expected = now.expected;
    out->pending = now.pending;
    out->bytes = now.bytes;
    return true;
}

bool watch_arrival(const struct watch *w, uint64_t moment, uint32_t at, uint32_t i, struct watch_arrival *out)
{
    for (size_t k = 0; k < w->n_events && w->events[k].arrival.moment <= moment; k++) {
        const struct event *e = &w->events[k];
        if (e->at != at || e->kind != EVENT_ARRIVAL || i--)
            continue;
        *out = e->arrival;
        return true;
    }
    return false;
}
