// Which loads touch what other blocks that run at the same time touch, too.
#include "base/sort.h"
#include "clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COPY_MAX 20000  // of one warp, until it has asked for its first boxes
#define COPIES 32       // instructions that ask for boxes
#define SOON 1000       // instructions of a warp
#define SECTOR 32

// --- loads by address: the first warps of three neighbours are compared ---

struct first {  // of an instruction: the first address of the warp, the least and the largest one
    uint64_t address, least, most;
    bool seen;
};

static void note_address(struct first *f, const struct walk_event *e)
{
    if (!f->seen)
        *f = (struct first){ .address = e->address[__builtin_ctz(e->mask)], .least = UINT64_MAX, .seen = true };
    for (unsigned i = 0; i < WALK_LANES && sass_is_atomic(e->s); i++) {
        const uint64_t at = e->address[i];
        f->least = e->mask >> i & 1 && at < f->least ? at : f->least;
        f->most = e->mask >> i & 1 && at > f->most ? at : f->most;
    }
}

// Returns the instructions that the first warp of the block executes; 0 when memory runs out.
static uint64_t walk_first(const struct walk_launch *l, const unsigned block[3], struct first *out)
{
    struct walk_warp w = { 0 };
    struct walk_event e;
    uint32_t pc;
    bool ok = walk_begin(&w, l, block, 0);
    for (uint64_t n = 0; ok && n < WALK_MAX && walk_next(&w, &pc); n++) {
        walk_step(&w, &e);
        const bool global = e.s->pipe == PIPE_GLOBAL || e.s->pipe == PIPE_COPY;
        if (global && e.has_address && e.mask)
            note_address(&out[pc], &e);
    }
    const uint64_t executed = ok ? w.executed : 0;
    walk_end(&w);
    return executed;
}

// Blocks that run at once form some rows of the grid. A load that begins at the same address in the next block of the
// row is shared by the blocks of a row; likewise for the next row. *executed: instructions of the first warp.
static struct sm_load *share_addresses(const struct walk_launch *l, uint64_t at_once, uint64_t *executed)
{
    const uint32_t n = l->cubin->n;
    struct first *here = calloc(n, sizeof *here), *right = calloc(n, sizeof *here), *below = calloc(n, sizeof *here);
    struct sm_load *loads = calloc(n, sizeof *loads);
    const unsigned origin[3] = { 0 }, next_x[3] = { 1, 0, 0 }, next_y[3] = { 0, 1, 0 };
    const bool wide = l->grid[0] > 1, high = l->grid[1] > 1;
    bool ok = here && right && below && loads;
    *executed = ok ? walk_first(l, origin, here) : 0;
    ok = *executed && (!wide || walk_first(l, next_x, right)) && (!high || walk_first(l, next_y, below));
    const double columns = at_once < l->grid[0] ? (double)at_once : l->grid[0];
    double rows = (double)at_once / l->grid[0];
    rows = rows < 1 ? 1 : rows > l->grid[1] ? l->grid[1] : rows;
    for (uint32_t i = 0; ok && i < n; i++) {
        loads[i].sharers = loads[i].groups = 1;
        const uint64_t groups = (here[i].most - here[i].least) / SM_ATOMIC_GROUP + 1;
        if (here[i].seen && sass_is_atomic(&l->cubin->code[i]))
            loads[i].groups = (float)groups;
        loads[i].seen = here[i].seen && l->cubin->code[i].effect != EFFECT_STORE;
        if (wide && here[i].seen && right[i].seen && here[i].address == right[i].address)
            loads[i].sharers *= (float)columns;
        if (high && here[i].seen && below[i].seen && here[i].address == below[i].address)
            loads[i].sharers *= (float)rows;
    }
    free(here);
    free(right);
    free(below);
    if (!ok) {
        free(loads);
        return NULL;
    }
    return loads;
}

// --- loads by sector: the first warps of all blocks that run at once ---

static bool is_load(const struct sass *s)
{
    return s->pipe == PIPE_GLOBAL && s->effect == EFFECT_LOAD;
}

// The sector of the first lane of each load that the block's first warp comes to soon, by the load's place; as number
// and 1.
static bool first_sectors(const struct walk_launch *l, uint64_t number, const uint32_t *place, struct walk_warp *w,
                          uint64_t *sectors)
{
    const unsigned block[3] = { (unsigned)(number % l->grid[0]), (unsigned)(number / l->grid[0] % l->grid[1]),
                                (unsigned)(number / l->grid[0] / l->grid[1]) };
    struct walk_event e;
    uint32_t pc;
    if (!walk_begin(w, l, block, 0))
        return false;
    for (unsigned n = 0; n < SOON && walk_next(w, &pc); n++) {
        walk_step(w, &e);
        if (is_load(e.s) && e.has_address && e.mask && !sectors[place[pc]])
            sectors[place[pc]] = e.address[__builtin_ctz(e.mask)] / SECTOR + 1;
    }
    return true;
}

// As many of them as there are distinct ones, on average.
static double sharers_of(uint64_t *sectors, uint64_t n)
{
    uint64_t distinct = 0;
    qsort(sectors, n, sizeof *sectors, by_number);
    for (uint64_t i = 0; i < n; i++)
        distinct += !i || sectors[i] != sectors[i - 1];
    return distinct ? (double)n / (double)distinct : 1;
}

// Blocks far apart in the grid may load different words of the same sectors: neighbours in a column of a matrix, say.
static bool share_sectors(const struct walk_launch *l, uint64_t at_once, struct sm_load *loads)
{
    const uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], blocks = at_once < all ? at_once : all;
    const struct cubin *c = l->cubin;
    uint32_t *place = calloc(c->n, sizeof *place), n = 0;
    for (uint32_t i = 0; place && i < c->n; i++)
        place[i] = is_load(&c->code[i]) ? n++ : 0;
    uint64_t *sectors = calloc(blocks * n + 1, sizeof *sectors), *one = calloc(blocks, sizeof *one);
    struct walk_warp w = { 0 };
    bool ok = place && sectors && one;
    for (uint64_t b = 0; ok && n && b < blocks; b++)
        ok = first_sectors(l, b, place, &w, sectors + b * n);
    walk_end(&w);
    for (uint32_t i = 0; ok && i < c->n; i++) {
        uint64_t there = 0;
        for (uint64_t b = 0; b < blocks && is_load(&c->code[i]); b++)
            if (sectors[b * n + place[i]])
                one[there++] = sectors[b * n + place[i]];
        loads[i].sharers = fmaxf(loads[i].sharers, (float)sharers_of(one, there));
    }
    free(place);
    free(sectors);
    free(one);
    return ok;
}

// --- boxes: every block that runs at once is asked for its first ones ---

struct box {
    const unsigned char *map;
    int32_t from[5];
    uint64_t global;
};

struct copies {  // instructions of a kernel that ask for boxes, and the warp that does
    uint32_t pc[COPIES], n;
    unsigned warp[COPIES];
};

static bool is_copy(const struct sass *s)
{
    return s->effect == EFFECT_TMA_LOAD || s->effect == EFFECT_BULK;
}

// The first box of each of n instructions, as far as this warp asks for them. Returns how many were found.
static uint32_t first_boxes(const struct walk_launch *l, uint64_t number, unsigned warp, struct copies *c, bool collect,
                            struct box *boxes)
{
    struct walk_warp w = { 0 };
    struct walk_event e;
    uint32_t pc, found = 0, wanted = 0;
    bool seen[COPIES] = { false };
    const unsigned block[3] = { (unsigned)(number % l->grid[0]), (unsigned)(number / l->grid[0] % l->grid[1]),
                                (unsigned)(number / l->grid[0] / l->grid[1]) };
    for (uint32_t i = 0; i < c->n; i++)
        wanted += c->warp[i] == warp;
    bool ok = walk_begin(&w, l, block, warp);
    for (unsigned n = 0; ok && n < COPY_MAX && (collect || found < wanted) && walk_next(&w, &pc); n++) {
        walk_step(&w, &e);
        if (!is_copy(e.s) || !e.mask || !e.async.load)
            continue;
        uint32_t i = 0;
        while (i < c->n && c->pc[i] != pc)
            i++;
        if (i == c->n && collect && c->n < COPIES) {
            c->pc[c->n] = pc;
            c->warp[c->n++] = warp;
        }
        if (i >= c->n || seen[i])
            continue;
        seen[i] = true;
        found++;
        boxes[i] = (struct box){ .map = e.async.map, .global = e.async.global };
        memcpy(boxes[i].from, e.async.from, sizeof boxes[i].from);
    }
    walk_end(&w);
    return found;
}

static bool same_box(const struct box *a, const struct box *b)
{
    return a->map == b->map && a->global == b->global && !memcmp(a->from, b->from, sizeof a->from);
}

static double count_distinct(const struct box *boxes, uint64_t blocks, uint32_t which)
{
    double distinct = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t j = 0;
        while (j < i && !same_box(&boxes[j * COPIES + which], &boxes[i * COPIES + which]))
            j++;
        distinct += j == i;
    }
    return distinct;
}

static bool share_boxes(const struct walk_launch *l, uint64_t at_once, struct sm_load *loads)
{
    const uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], blocks = at_once < all ? at_once : all;
    const unsigned warps = (l->block[0] * l->block[1] * l->block[2] + WALK_LANES - 1) / WALK_LANES;
    struct copies c = { .n = 0 };
    bool any = false;
    for (uint32_t i = 0; i < l->cubin->n; i++)
        any |= is_copy(&l->cubin->code[i]);
    if (!any)
        return true;
    struct box *boxes = calloc(blocks * COPIES, sizeof *boxes);
    if (!boxes)
        return false;
    for (unsigned warp = 0; warp < warps; warp++)
        first_boxes(l, 0, warp, &c, true, boxes);
    for (uint64_t b = 1; b < blocks; b++)
        for (uint32_t i = 0; i < c.n; i++)
            if (!i || c.warp[i] != c.warp[i - 1])
                first_boxes(l, b, c.warp[i], &c, false, boxes + b * COPIES);
    for (uint32_t i = 0; i < c.n; i++)
        loads[c.pc[i]] =
            (struct sm_load){ .sharers = (float)((double)blocks / count_distinct(boxes, blocks, i)), .seen = true };
    free(boxes);
    return true;
}

struct sm_load *share_loads(const struct walk_launch *l, uint64_t at_once, uint64_t *executed)
{
    struct sm_load *loads = share_addresses(l, at_once, executed);
    if (loads && share_sectors(l, at_once, loads) && share_boxes(l, at_once, loads))
        return loads;
    free(loads);
    return NULL;
}
