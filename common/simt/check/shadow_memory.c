// See shadow_memory.h. A byte of a space has a byte that says which of its bits are undefined, and each eight of them
// share the origin of those that were stored last.
#include "shadow_memory.h"

#include <stdlib.h>
#include <string.h>

#include "simt/code/shadow.h"

struct cell {                       // eight bytes of global memory, some of which may be undefined
    uint64_t number, bits, origin;  // number: address / 8; 0: empty, which is no allocation's
};

struct shadows {
    uint64_t local_bytes, threads, shared_bytes;  // of a thread; of the block
    uint64_t *local, *local_origin;               // by eight bytes, thread after thread
    uint64_t *shared, *shared_origin;
    struct cell *cells;  // a hash table of size, a power of two, or 0
    uint32_t size, used;
    uint64_t *noted;  // addresses, of which n are in use
    uint32_t n_noted, room;
    bool any_shared;  // some of shared memory's bytes are undefined, or were in this block
    bool failed;
};

static uint64_t *take(struct shadows *s, uint64_t bytes)
{
    uint64_t *p = calloc(bytes / 8 + 1, sizeof *p);
    s->failed |= !p;
    return p;
}

struct shadows *shadows_new(const struct grid *g)
{
    struct shadows *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    if (g->code->shadows_local) {
        s->local_bytes = g->code->local_bytes;
        s->threads = (g->threads + LANES - 1) / LANES * LANES;
        s->local = take(s, s->local_bytes * s->threads);
        s->local_origin = take(s, s->local_bytes * s->threads);
    }
    if (g->code->shadows_memory) {
        s->shared_bytes = g->shared_bytes;
        s->shared = take(s, s->shared_bytes + 8);
        s->shared_origin = take(s, s->shared_bytes + 8);
    }
    if (!s->failed)
        return s;
    shadows_free(s);
    return NULL;
}

void shadows_free(struct shadows *s)
{
    if (!s)
        return;
    free(s->local);
    free(s->local_origin);
    free(s->shared);
    free(s->shared_origin);
    free(s->cells);
    free(s->noted);
    free(s);
}

void shadows_start(struct shadows *s)
{
    if (s->local) {
        memset(s->local, 0xff, s->local_bytes * s->threads);
        memset(s->local_origin, 0, s->local_bytes * s->threads);
    }
    if (s->shared)
        memset(s->shared, 0, s->shared_bytes + 8);
    s->any_shared = false;
    if (s->used)
        memset(s->cells, 0, s->size * sizeof *s->cells);
    s->used = s->n_noted = 0;
}

uint32_t shadows_note(struct shadows *s, uint64_t address)
{
    if (s->n_noted && s->noted[s->n_noted - 1] == address)
        return s->n_noted;
    if (s->n_noted == s->room) {
        const uint32_t room = 2 * s->room + 256;
        uint64_t *noted = room <= ORIGIN_NUMBER ? realloc(s->noted, room * sizeof *noted) : NULL;
        if (!noted)
            return 0;
        s->noted = noted;
        s->room = room;
    }
    s->noted[s->n_noted++] = address;
    return s->n_noted;
}

uint64_t shadows_noted(const struct shadows *s, uint32_t number)
{
    return s->noted[number - 1];
}

static uint32_t find(const struct shadows *s, uint64_t number)
{
    uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) & (s->size - 1);
    while (s->cells[i].number && s->cells[i].number != number)
        i = (i + 1) & (s->size - 1);
    return i;
}

static bool grow(struct shadows *s)
{
    struct cell *old = s->cells;
    const uint32_t n = s->size, size = n ? 2 * n : 1024;
    struct cell *cells = calloc(size, sizeof *cells);
    if (!cells)
        return false;
    s->cells = cells;
    s->size = size;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].number)
            cells[find(s, old[i].number)] = old[i];
    free(old);
    return true;
}

// The eight bytes around a place: their undefined bits, and the origin. NULL where all of them are defined, or, to be
// changed, where memory runs out.
static uint64_t *cell_of(struct shadows *s, const struct shadow_place *p, bool change, uint64_t **origin)
{
    static uint64_t nowhere;
    uint64_t i = p->address / 8;
    *origin = &nowhere;
    if (p->space == SPACE_LOCAL && s->local) {
        i += s->local_bytes / 8 * p->thread;
        *origin = &s->local_origin[i];
        return &s->local[i];
    }
    if (p->space == SPACE_SHARED && s->shared) {
        *origin = &s->shared_origin[i];
        return &s->shared[i];
    }
    if (p->space != SPACE_GLOBAL || (!change && !s->used))
        return NULL;
    if (change && 2 * (s->used + 1) > s->size && !grow(s))
        return NULL;
    struct cell *c = &s->cells[find(s, i)];
    if (!c->number && !change)
        return NULL;
    s->used += !c->number;
    c->number = i;
    *origin = &c->origin;
    return &c->bits;
}

static uint64_t mask_of(uint32_t bytes)
{
    return bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
}

bool shadows_none(const struct shadows *s, enum ptx_space space)
{
    return (space == SPACE_SHARED && !s->any_shared) || (space == SPACE_GLOBAL && !s->used);
}

uint64_t shadows_get(const struct shadows *s, const struct shadow_place *p, uint32_t bytes, uint64_t *origin)
{
    uint64_t *from;
    const uint64_t *bits = cell_of((struct shadows *)s, p, false, &from);
    *origin = bits ? *from : 0;
    return bits ? *bits >> p->address % 8 * 8 & mask_of(bytes) : 0;
}

bool shadows_set(struct shadows *s, const struct shadow_place *p, uint32_t bytes, uint64_t bits, uint64_t origin)
{
    uint64_t *to;
    uint64_t *cell = cell_of(s, p, false, &to);
    if (!cell && !bits)
        return true;
    if (!cell && !(cell = cell_of(s, p, true, &to)))
        return p->space != SPACE_GLOBAL;
    const unsigned shift = p->address % 8 * 8;
    *cell = (*cell & ~(mask_of(bytes) << shift)) | (bits & mask_of(bytes)) << shift;
    if (bits)
        *to = origin;
    s->any_shared |= bits && p->space == SPACE_SHARED;
    return true;
}
