// cp.async: copies from global to shared memory that a thread starts and waits for later. Source: PTX ISA 9.7.9.25.
//
// The bytes are taken when the copy starts and arrive when its thread waits for its group - as late as PTX allows, so
// that a kernel which reads too early, or waits for the wrong group, sees it.
#include <stdlib.h>
#include <string.h>

#include "simt/code/access.h"
#include "simt/check/check.h"
#include "warp_fn.h"

struct copy {
    unsigned char *to;
    uint32_t bytes, lane, group, address;
    unsigned char data[16];
};

struct copies {  // of a warp, in the order in which they were started
    struct copy *all;
    uint32_t n, room;
    uint32_t group[LANES];   // groups that each lane has committed
    uint32_t waited[LANES];  // and that it has waited for
};

void copies_reset(struct copies *c)
{
    if (!c)
        return;
    c->n = 0;
    memset(c->group, 0, sizeof c->group);
    memset(c->waited, 0, sizeof c->waited);
}

void copies_open(const struct copies *c, uint32_t lane, uint32_t *groups, uint32_t *loose)
{
    *groups = c ? c->group[lane] - c->waited[lane] : 0;
    *loose = 0;
    for (uint32_t i = 0; c && i < c->n; i++)
        *loose += c->all[i].lane == lane && c->all[i].group == c->group[lane];
}

void copies_free(struct copies *c)
{
    if (c)
        free(c->all);
    free(c);
}

static struct copies *copies_of(struct warp *w)
{
    if (!w->copies)
        w->copies = calloc(1, sizeof *w->copies);
    return w->copies;
}

static bool add(struct copies *c, const struct copy *new)
{
    if (c->n == c->room) {
        uint32_t room = 2 * c->room + 64;
        struct copy *all = realloc(c->all, room * sizeof *all);
        if (!all)
            return false;
        c->all = all;
        c->room = room;
    }
    c->all[c->n++] = *new;
    return true;
}

// --- what .cg copies of 16 bytes cost; the rule fits the twelve patterns that were read off an H200 (tests/truth) ---

struct lines {
    const uint64_t *from;  // global addresses
    const uint32_t *to;    // shared ones
    uint32_t mask;
};

enum unit { SECTOR = 5, HALF_LINE = 6, LINE = 7 };  // 1 << unit bytes

// Distinct pairs of global and shared addresses among lanes, the former in units of from, the latter in units of to.
static uint32_t pairs(const struct lines *c, uint32_t lanes, enum unit from, enum unit to)
{
    uint32_t n = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        bool again = false;
        for (uint32_t before = lanes & ((1u << i) - 1); before && !again; before &= before - 1) {
            const uint32_t j = (uint32_t)__builtin_ctz(before);
            again = c->from[j] >> from == c->from[i] >> from && c->to[j] >> to == c->to[i] >> to;
        }
        n += !again;
    }
    return n;
}

// The lanes whose global address lies in lane i's unit.
static uint32_t same_unit(const struct lines *c, uint32_t i, enum unit unit)
{
    uint32_t lanes = 0;
    for (uint32_t j = 0; j < LANES; j++)
        lanes |= (uint32_t)(c->mask >> j & 1 && c->from[j] >> unit == c->from[i] >> unit) << j;
    return lanes;
}

// Wavefronts of half a line, 64 bytes of global memory. Moved in one piece, each line of shared memory that it reaches
// takes one, or two where its sectors of 32 bytes are shifted against those of global memory, and an end that lies in
// one sector takes one. Scattered, each pair of sectors takes its own.
static uint32_t half_line(const struct lines *c, uint32_t lanes)
{
    const uint32_t first = (uint32_t)__builtin_ctz(lanes), shift = c->to[first] - (uint32_t)c->from[first];
    uint32_t waves = 0, left = lanes;
    for (uint32_t i = 0; i < LANES; i++)
        if (lanes >> i & 1 && c->to[i] - (uint32_t)c->from[i] != shift)
            return pairs(c, lanes, SECTOR, SECTOR);
    while (left) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        uint32_t line = 0;
        for (uint32_t j = i; j < LANES; j++)
            line |= (uint32_t)(left >> j & 1 && c->to[j] >> LINE == c->to[i] >> LINE) << j;
        waves += shift % 32 && (line & (line - 1)) ? 2 : 1;
        left &= ~line;
    }
    return waves;
}

static void count_cg(const struct lines *c, struct shared_cost *cost, uint32_t *sectors)
{
    for (uint32_t left = c->mask; left;) {
        const uint32_t i = (uint32_t)__builtin_ctz(left), line = same_unit(c, i, LINE);
        left &= ~line;
        const uint32_t written = pairs(c, line, LINE, SECTOR), moved = pairs(c, line, SECTOR, SECTOR);
        *sectors += written;
        if (written == moved && pairs(c, line, LINE, LINE) == 1 && pairs(c, line, SECTOR, LINE) == moved) {
            cost->waves++;  // it lands in one line of shared memory, sector by sector in whatever order
            continue;
        }
        for (uint32_t rest = line; rest;) {
            const uint32_t half = same_unit(c, (uint32_t)__builtin_ctz(rest), HALF_LINE);
            cost->waves += half_line(c, half);
            rest &= ~half;
        }
    }
    cost->ideal = ((uint32_t)__builtin_popcount(c->mask) * 16 + 127) / 128;
    cost->ideal = cost->ideal < cost->waves ? cost->ideal : cost->waves;
}

// --- what .ca copies cost, and .cg copies of zeros alone ---

// The lanes without those whose address an earlier one has.
static uint32_t first_at(const uint64_t address[LANES], uint32_t lanes)
{
    uint32_t first = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        bool again = false;
        for (uint32_t before = first; before && !again; before &= before - 1)
            again = address[__builtin_ctz(before)] == address[i];
        first |= (uint32_t)!again << i;
    }
    return first;
}

// How many of the lanes meet in the busiest place of a line of 128 bytes.
static uint32_t busiest(const uint64_t address[LANES], uint32_t lanes, uint32_t bytes)
{
    uint8_t n[LANES] = { 0 };
    uint32_t most = 0;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t place = (uint32_t)(address[__builtin_ctz(lanes)] / bytes % (128 / bytes));
        most = ++n[place] > most ? n[place] : most;
    }
    return most;
}

// A phase is 128 bytes, as of a store. It takes as many wavefronts as the busiest bank has words to write, or as the
// busiest bank of L1 has words to read. Source: 129 patterns of 4, 8 and 16 bytes on an H200, with none, some or all
// lanes zeros; 115 follow, the others, scattered at random on both sides, take up to four more.
static struct shared_cost count_ca(const uint64_t from[LANES], const uint64_t to[LANES], uint32_t active, uint32_t read,
                                   uint32_t bytes)
{
    struct shared_cost cost = { 0 };
    const uint32_t width = 128 / bytes;
    for (uint32_t i = 0; i < LANES; i += width) {
        const uint32_t phase = (width < LANES ? (1u << width) - 1 : ALL_LANES) << i;
        const uint32_t writes = busiest(to, active & phase, bytes);
        const uint32_t reads = busiest(from, first_at(from, read & phase), bytes);
        const uint32_t waves = writes > reads ? writes : reads;
        cost.waves += waves;
        cost.conflicts += waves ? waves - 1 : 0;
    }
    cost.ideal = ((uint32_t)__builtin_popcount(active) * bytes + 127) / 128;
    cost.ideal = cost.ideal < cost.waves ? cost.ideal : cost.waves;
    return cost;
}

// What a copy reads: with a size given, its other bytes are zeros.
static void check_sources(struct warp *w, const struct uop *u, uint32_t active, const uint64_t from[LANES])
{
    const struct warpop *op = u->warp;
    const uint32_t bytes = op->mem.bytes, index = w->block->worker->grid->code->n_memops + op->mem.index;
    uint32_t whole = active;
    for (uint32_t i = 0; i < LANES && op->n_in > 1; i++) {
        const uint32_t size = ((const u32 *)(w->regs + op->in[1]))[i];
        if (!(active >> i & 1) || size >= bytes)
            continue;
        whole &= ~(1u << i);
        if (size)
            check_global(w, u, index, 1u << i, from, size, CHECK_READ);
    }
    if (whole)
        check_global(w, u, index, whole, from, bytes, CHECK_READ);
}

struct places {  // of a warp's copies, by lane
    uint64_t from[LANES];
    uint32_t to[LANES];
    uint32_t active, read;  // lanes that copy; those of them that read at least a byte
};

// Reads what a lane copies; it arrives later. False on a fault that ends the launch. With checks a wrong address is a
// finding, and the lane copies nothing.
static bool start_copy(struct warp *w, const struct uop *u, uint32_t lane, struct copies *c, struct places *l)
{
    const struct warpop *op = u->warp;
    const uint32_t bytes = op->mem.bytes;
    enum ptx_space global = SPACE_GLOBAL, shared = SPACE_SHARED;
    const uint64_t at = access_address(w, &op->mem, lane) & MEMORY_OFFSET;
    const uint64_t from = ((const u64 *)(w->regs + op->in[0]))[lane] + op->shape;
    uint32_t size = op->n_in > 1 ? ((const u32 *)(w->regs + op->in[1]))[lane] : bytes;
    size = size < bytes ? size : bytes;
    l->from[lane] = from;
    l->to[lane] = (uint32_t)at;
    struct copy new = { .to = access_place(w, lane, &shared, at, bytes),
                        .bytes = bytes,
                        .lane = lane,
                        .group = c ? c->group[lane] : 0,
                        .address = (uint32_t)at };
    const unsigned char *source = size ? access_place(w, lane, &global, from, size) : new.data;
    bool fits = true;
    if (at % bytes || !new.to)
        fits = access_fault(w, u, at % bytes ? FAULT_MISALIGNED : FAULT_OUT_OF_BOUNDS, true, lane, at, bytes,
                            SPACE_SHARED);
    else if (from % bytes)
        fits = access_fault(w, u, FAULT_MISALIGNED, false, lane, from, bytes, SPACE_GLOBAL);
    else if (!source)
        fits = access_fault(w, u, FAULT_OUT_OF_BOUNDS, false, lane, from, size, SPACE_GLOBAL);
    if (!fits) {
        if (!w->block->worker->check)
            return false;
        check_fault(w->block->worker);
        l->active &= ~(1u << lane);
        return true;
    }
    memcpy(new.data, source, size);
    l->read |= (uint32_t)(size > 0) << lane;
    if (c && add(c, &new))
        return true;
    warp_fault(w, u, FAULT_REFUSED, l->active, 0);
    strcpy(w->block->worker->fault.text, "the simulated GPU ran out of memory for asynchronous copies");
    return false;
}

// .cg copies of which some lanes read and some do not: in each phase of 8 lanes what is read costs twice, and zeros
// alone what a store does. Source: two patterns, read by other lanes each time, on an H200 (tests/truth).
static void count_mixed(const struct places *l, const uint64_t to[LANES], struct shared_cost *cost, uint32_t *sectors)
{
    const uint32_t read = l->read, phase = 0xff;
    uint32_t begun = 0, zeros = 0;
    struct shared_cost data = { 0 };
    count_cg(&(struct lines){ l->from, l->to, read }, &data, sectors);
    for (uint32_t i = 0; i < LANES; i += 8) {
        begun += (read & phase << i) != 0;
        zeros += read & phase << i ? 0 : busiest(to, l->active & phase << i, 16);
    }
    cost->waves = 2 * data.waves + zeros;
    cost->conflicts = data.waves > begun ? data.waves - begun : 0;
    cost->ideal = ((uint32_t)__builtin_popcount(read) * 16 + 127) / 128 +
                  ((uint32_t)__builtin_popcount(l->active) * 16 + 127) / 128;
    cost->ideal = cost->ideal < cost->waves ? cost->ideal : cost->waves;
}

static void count_copies(struct warp *w, const struct warpop *op, const struct places *l)
{
    struct shared_cost cost = { 0 };
    uint64_t to[LANES];
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < LANES; i++)
        to[i] = l->to[i];
    if (op->op && l->read == l->active) {
        count_cg(&(struct lines){ l->from, l->to, l->read }, &cost, &sectors);
    } else if (op->op && l->read) {
        count_mixed(l, to, &cost, &sectors);
    } else {
        cost = count_ca(l->from, to, l->active, l->read, op->mem.bytes);
        sectors = cost_sectors(l->from, l->read);
    }
    access_count_shared(w, &op->mem, &cost);
    if (l->read)  // zeros alone are no request: an H200 counts none
        access_count_global(w, &op->mem, sectors);
}

bool warp_copy(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct copies *c = copies_of(w);
    struct places l = { .active = active };
    for (uint32_t i = 0; i < LANES; i++)
        if (active >> i & 1 && !start_copy(w, u, i, c, &l))
            return false;
    if (!l.active)
        return true;
    count_copies(w, op, &l);
    if (w->block->worker->check) {
        uint64_t wide[LANES];
        for (uint32_t i = 0; i < LANES; i++)
            wide[i] = l.to[i];
        check_shared(w, u, op->mem.index, l.active, wide, op->mem.bytes, CHECK_COPY);
        check_sources(w, u, l.active, l.from);
    }
    return true;
}

bool warp_commit(struct warp *w, const struct uop *u, uint32_t active)
{
    struct copies *c = copies_of(w);
    (void)u;
    for (uint32_t i = 0; c && i < LANES; i++)
        c->group[i] += active >> i & 1;
    return true;
}

bool warp_wait(struct warp *w, const struct uop *u, uint32_t active)
{
    struct copies *c = copies_of(w);
    const uint64_t outstanding = u->warp->op;
    uint32_t kept = 0;
    for (uint32_t i = 0; c && i < c->n; i++) {
        const struct copy *a = &c->all[i];
        bool done = u->warp->shape || (uint64_t)a->group + outstanding < c->group[a->lane];
        if (active >> a->lane & 1 && done) {
            memcpy(a->to, a->data, a->bytes);
            if (w->block->worker->check)
                check_delivered(w, a->lane, a->address, a->bytes);
        } else
            c->all[kept++] = *a;
    }
    if (c)
        c->n = kept;
    for (uint32_t i = 0; c && i < LANES; i++)
        if (active >> i & 1 && c->waited[i] + outstanding < c->group[i])
            c->waited[i] = c->group[i] - (uint32_t)outstanding;
    return true;
}
