// Which lanes run an instruction of the warp together. Source: PTX ISA 9.7.9 (shfl.sync), 9.7.13
// (bar.warp.sync), 9.7.14 (vote.sync and the like).
//
// Lanes that name the same members are a group. A group runs as soon as all its members that have not ended are there,
// whatever other groups do: lanes 0 to 7 may pass 0x000000ff and lanes 8 to 15 pass 0x0000ff00 in one instruction.
#include "gather.h"

#include "simt/check/check.h"
#include "simt/code/count.h"
#include "simt/code/split.h"
#include "warp_fn.h"

static uint32_t alive_lanes(const struct warp *w)
{
    return w->lanes & ~w->exited;
}

static const u32 *members_of(const struct warp *w, const struct uop *u)
{
    return (const u32 *)(w->regs + u->warp->in[u->warp->n_in - 1]);
}

// The lanes among left that name the same live members as its first lane.
static uint32_t group_of(const u32 members[LANES], uint32_t alive, uint32_t left)
{
    const uint32_t named = members[__builtin_ctz(left)] & alive;
    uint32_t group = 0;
    for (uint32_t i = 0; i < LANES; i++)
        group |= (uint32_t)((members[i] & alive) == named) << i;
    return group & left;
}

// All of here are in their own member masks? Else a fault, and false.
static bool name_themselves(struct warp *w, const struct uop *u, const u32 members[LANES], uint32_t here)
{
    for (uint32_t left = here; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!(members[lane] >> lane & 1))
            return warp_fault(w, u, FAULT_NOT_MEMBER, 1u << lane, members[lane]);
    }
    return true;
}

// Which of the lanes here, all of them at u, are in a group that is complete.
static uint32_t complete_groups(const struct warp *w, const struct uop *u, uint32_t here)
{
    const uint32_t alive = alive_lanes(w);
    const u32 *members = members_of(w, u);
    uint32_t ready = 0;
    for (uint32_t left = here; left;) {
        const uint32_t named = members[__builtin_ctz(left)] & alive, group = group_of(members, alive, left);
        left &= ~group;
        ready |= named & ~group ? 0 : group;
    }
    return ready;
}

// The same for any instruction that gathers. False on a fault.
static bool find_ready(struct warp *w, const struct uop *u, uint32_t here, uint32_t *ready)
{
    if (u->warp->gather == GATHER_ALL) {
        const uint32_t alive = alive_lanes(w);
        *ready = here == ALL_LANES ? here : 0;
        return alive == ALL_LANES || warp_fault(w, u, FAULT_LANES_MISSING, here, ~alive);
    }
    if (!name_themselves(w, u, members_of(w, u), here))
        return false;
    *ready = complete_groups(w, u, here);
    return true;
}

bool gather_lanes(struct warp *w, const struct uop *u, struct split *s, uint32_t *active)
{
    *active |= split_join(w, s, WAITS_HERE);
    uint32_t ready;
    if (!find_ready(w, u, *active, &ready))
        return false;
    const uint32_t rest = *active & ~ready;
    if (rest)
        split_insert(w, (struct split){ s->pc, rest, WAITS_HERE });
    s->mask &= ~rest;
    *active = ready;
    return true;
}

bool gather_run(struct warp *w, const struct uop *u, warp_fn run, uint32_t active)
{
    if (u->warp->gather == GATHER_NONE || u->warp->gather == GATHER_ALL)
        return run(w, u, active);
    const uint32_t alive = alive_lanes(w);
    for (uint32_t left = active; left;) {
        const uint32_t group = group_of(members_of(w, u), alive, left);
        left &= ~group;
        if (w->block->worker->check)
            (u->warp->gather == GATHER_SYNC ? check_warp_syncs : check_warp_exchanges)(w, group);
        if (!run(w, u, group))
            return false;
    }
    return true;
}

// --- bar.warp.sync: the members may stand at different ones ---

// The lanes that wait at some bar.warp.sync, and whom each of them names. False on a fault.
static bool find_synced(struct warp *w, u32 members[LANES], uint32_t *synced)
{
    const struct uop *uops = w->block->worker->grid->code->uops;
    *synced = 0;
    for (uint32_t i = 0; i < w->n_splits; i++) {
        const struct split *s = &w->splits[i];
        const struct uop *u = &uops[s->pc];
        if (s->barrier != WAITS_HERE || u->warp->gather != GATHER_SYNC)
            continue;
        if (!name_themselves(w, u, members_of(w, u), s->mask))
            return false;
        for (uint32_t left = s->mask; left; left &= left - 1)
            members[__builtin_ctz(left)] = members_of(w, u)[__builtin_ctz(left)];
        *synced |= s->mask;
    }
    return true;
}

static void pass(struct warp *w, uint32_t group)
{
    struct worker *worker = w->block->worker;
    if (worker->check)
        check_warp_syncs(w, group);
    for (uint32_t i = 0; i < w->n_splits;) {
        const struct split s = w->splits[i];
        const uint32_t lanes = s.mask & group;
        if (s.barrier != WAITS_HERE || !lanes) {
            i++;
            continue;
        }
        worker->uop_counts[s.pc].warps++;
        worker->uop_counts[s.pc].idle += (uint32_t)(LANES - __builtin_popcount(lanes));
        split_take(w, i, lanes);
        split_insert(w, (struct split){ s.pc + 1, lanes, 0 });
        i = 0;
    }
}

static bool wake_synced(struct warp *w)
{
    const uint32_t alive = alive_lanes(w);
    u32 members[LANES] = { 0 };
    uint32_t synced;
    if (!find_synced(w, members, &synced))
        return false;
    for (uint32_t left = synced; left;) {
        const uint32_t named = members[__builtin_ctz(left)] & alive, group = group_of(members, alive, left);
        left &= ~group;
        if (named & ~group)
            continue;
        pass(w, group);
        return true;
    }
    return false;
}

bool gather_wake(struct warp *w)
{
    const struct uop *uops = w->block->worker->grid->code->uops;
    for (uint32_t i = 0; i < w->n_splits; i++) {
        const struct split s = w->splits[i];
        uint32_t ready;
        if (s.barrier != WAITS_HERE || uops[s.pc].warp->gather == GATHER_SYNC)
            continue;
        if (!find_ready(w, &uops[s.pc], s.mask, &ready))
            return false;
        if (!ready)
            continue;
        split_take(w, i, ready);
        split_insert(w, (struct split){ s.pc, ready, 0 });
        return true;
    }
    return wake_synced(w);
}

void gather_stuck(struct warp *w, const struct uop *u, uint32_t waiting)
{
    const uint32_t alive = alive_lanes(w);
    uint32_t named = ALL_LANES, group = waiting;
    if (u->warp->gather != GATHER_ALL) {
        named = members_of(w, u)[__builtin_ctz(waiting)] & alive;
        group = group_of(members_of(w, u), alive, waiting);
    }
    warp_fault(w, u, FAULT_LANES_MISSING, group, named & ~group);
}
