// Which granules an access touches, and what it stores there. See check.h.
#include "check_state.h"
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "simt/code/mbarrier.h"
#include "simt/code/warp_op.h"

bool check_stores(const struct warp *w, const struct uop *u, uint32_t lane, struct stored *s)
{
    const bool init = u->kind == UOP_WARP && u->warp->kind == WARP_mbarrier && u->warp->op == MBARRIER_INIT;
    if (!init && u->kind != UOP_STORE)
        return false;
    const struct memop *m = init ? &u->warp->mem : u->mem;
    if (init) {
        const struct mbarrier_state state = mbarrier_new(((const u32 *)(w->regs + u->warp->in[0]))[lane]);
        mbarrier_write(s->data, &state);
    }
    for (uint32_t e = 0; !init && e < m->n; e++) {
        const uint32_t size = m->reg_class[e] == SLOT_64 ? 8 : 4;
        memcpy(s->data + e * m->bytes, w->regs + m->reg[e] + lane * size, m->bytes);
    }
    const unsigned char *slot = w->regs + m->base;
    const uint64_t base = m->base_class == SLOT_32 ? ((const u32 *)slot)[lane] : ((const u64 *)slot)[lane];
    s->address = base + m->offset;
    return true;
}

bool check_stored_part(const struct stored *s, uint64_t address, unsigned shift, unsigned char *bytes)
{
    const uint32_t from = (uint32_t)address - (uint32_t)s->address;
    if (from > sizeof s->data - (1u << shift))
        return false;
    memcpy(bytes, s->data + from, 1u << shift);
    return true;
}

bool check_stored(const struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, unsigned shift,
                  unsigned char *bytes)
{
    struct stored s;
    return check_stores(w, u, lane, &s) && check_stored_part(&s, address, shift, bytes);
}

struct place {
    int64_t at;
    struct touch by;
};

// The active lanes by where they begin, and then by their numbers; returns how many.
static uint32_t sort_lanes(uint8_t lanes[LANES], const struct touches *t)
{
    uint32_t n = 0;
    for (uint32_t active = t->active; active; active &= active - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(active);
        uint32_t i = n++;
        for (; i && (int64_t)t->delta[lanes[i - 1]] > (int64_t)t->delta[lane]; i--)
            lanes[i] = lanes[i - 1];
        lanes[i] = (uint8_t)lane;
    }
    return n;
}

// Of the lanes that touch a granule the first two are kept.
static void add_lane(struct touch *by, uint8_t lane)
{
    const uint8_t second = lane < by->lane ? by->lane : lane;
    by->lane = lane < by->lane ? lane : by->lane;
    by->lane2 = second < by->lane2 ? second : by->lane2;
}

// The distinct granules, ascending; returns how many. Where lanes overlap, a granule is found near the end.
static uint32_t sort_places(struct place places[PATTERN_UNITS], const struct touches *t, unsigned shift)
{
    uint8_t lanes[LANES];
    const uint32_t n_lanes = sort_lanes(lanes, t);
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_lanes; k++) {
        for (uint32_t b = 0; b < t->bytes; b += 1u << shift) {
            const int64_t at = (int64_t)(t->delta[lanes[k]] + b) >> shift;
            uint32_t i = n;
            while (i && places[i - 1].at > at)
                i--;
            if (i && places[i - 1].at == at)
                add_lane(&places[i - 1].by, lanes[k]);
            else
                places[n++] = (struct place){ at, { lanes[k], NO_LANE } };
        }
    }
    return n;
}

// Do the lanes go through the run in order, each touching this many granules?
static void find_spread(struct run *run, const struct touch *all, uint32_t each)
{
    run->lane = all[run->first].lane;
    run->spread = each ? (uint8_t)__builtin_ctz(each) : 0;
    for (uint32_t i = 0; i < run->n && run->spread != NO_SPREAD; i++) {
        const struct touch *touch = &all[run->first + i];
        if (touch->lane2 != NO_LANE || touch->lane != run->lane + (i >> run->spread))
            run->spread = NO_SPREAD;
    }
}

// Are the granules of a run alike by folds, if it begins with one?
static bool is_by_folds(const struct run *run, const struct touch *all, uint32_t fold)
{
    bool alike = run->n % fold == 0;
    for (uint32_t i = 0; alike && i < run->n; i++) {
        const struct touch *touch = &all[run->first + i], *first = &all[run->first + i / fold * fold];
        alike = touch->lane == first->lane && touch->lane2 == first->lane2;
    }
    return alike;
}

static bool set_touches(struct touches *t, const uint64_t address[LANES], uint32_t active, uint32_t bytes,
                        unsigned shift)
{
    struct place places[PATTERN_UNITS + 1];
    t->active = active;
    t->bytes = bytes;
    t->n_runs = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        t->delta[lane] = address[lane] - address[__builtin_ctz(active)];
    const uint32_t n = t->n = sort_places(places, t, shift);
    if (n > t->room) {
        free(t->runs);
        free(t->all);
        free(t->at);
        t->at = malloc(n * sizeof *t->at);
        t->runs = malloc(n * sizeof *t->runs);
        t->all = malloc(n * sizeof *t->all);
        t->room = t->runs && t->all && t->at ? n : 0;
        if (!t->room)
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!i || places[i].at != places[i - 1].at + 1)
            t->runs[t->n_runs++] = (struct run){ .at = places[i].at, .first = i };
        t->runs[t->n_runs - 1].n++;
        t->all[i] = places[i].by;
        t->at[i] = (uint32_t)places[i].at;
    }
    t->first = t->all[0];
    t->folds = true;
    for (uint32_t i = 0; i < t->n_runs; i++) {
        find_spread(&t->runs[i], t->all, bytes >> shift);
        t->runs[i].folds = is_by_folds(&t->runs[i], t->all, 1u << (FOLD_BITS - shift));
        t->folds = t->folds && t->runs[i].folds;
    }
    return true;
}

// One lane touches what another one touched alone. False where it was not so, or not alone.
static bool take_turn(struct touches *t, uint32_t active, uint32_t bytes)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(active), before = t->active;
    if (active & (active - 1) || before & (before - 1) || !before || t->bytes != bytes || t->n_runs != 1)
        return false;
    t->active = active;
    t->delta[lane] = 0;
    t->runs[0].lane = (uint8_t)lane;
    for (uint32_t i = 0; i < t->n; i++)
        t->all[i].lane = (uint8_t)lane;
    t->first = t->all[0];
    return true;
}

static bool is_it(const struct touches *t, uint32_t active, const uint64_t address[LANES], uint32_t bytes)
{
    const uint64_t first = address[__builtin_ctz(active)];
    uint64_t differs = (t->active ^ active) | (t->bytes ^ bytes);
    for (uint32_t i = 0; !differs && i < LANES; i++)
        differs |= active >> i & 1 ? (address[i] - first) ^ t->delta[i] : 0;
    return !differs;
}

// What touched the same before, or room for it, is made the memop's first. NULL when memory runs out.
static struct touches *to_front(struct touches **first, uint32_t active, const uint64_t address[LANES], uint32_t bytes)
{
    struct touches **at = first, *t;
    for (uint32_t n = 1; *at && !is_it(*at, active, address, bytes) && ((*at)->next || n < TOUCHES); n++)
        at = &(*at)->next;
    if (!*at && (*at = aligned_alloc(_Alignof(struct touches), sizeof **at)))
        memset(*at, 0, sizeof **at);
    if (!(t = *at))
        return NULL;
    *at = t->next;
    t->next = *first;
    *first = t;
    return t;
}

struct touches *check_touches(struct checker *c, uint32_t index, uint32_t active, const uint64_t address[LANES],
                              uint32_t bytes, unsigned shift)
{
    struct touches *t = c->touches[index];
    if (!t || !take_turn(t, active, bytes))
        t = to_front(&c->touches[index], active, address, bytes);
    if (t && !is_it(t, active, address, bytes) && !set_touches(t, address, active, bytes, shift)) {
        t->active = 0;
        t = NULL;
    }
    if (t) {
        t->pattern = 0;
        memset(t->redundant, 0, sizeof t->redundant);
    }
    c->failed |= !t;
    return t;
}

void check_pattern(struct warp *w, uint32_t index, uint32_t pattern)
{
    struct touches *t = w->block->worker->check->touches[index];
    if (t)
        t->pattern = pattern;
}

void check_touches_free(struct touches *t)
{
    while (t) {
        struct touches *next = t->next;
        free(t->runs);
        free(t->all);
        free(t->at);
        free(t);
        t = next;
    }
}
