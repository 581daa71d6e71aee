// Matrix accesses by a warp: ldmatrix, stmatrix, wmma.load and wmma.store. Compiled for each instruction set (isa.h).
// Source: PTX ISA 9.7.15 (ldmatrix, stmatrix, wmma.load, wmma.store).
//
// A register of 32 lanes is, in the host's memory, an 8 x 8 matrix of halves by rows: lane l has row l / 4, columns
// 2 (l % 4) and the next. So ldmatrix copies rows of 16 bytes, and its .trans form transposes.
#include <string.h>

#include "simt/code/access.h"
#include "simt/check/check.h"
#include "simt/machine/fragment.h"
#include "isa.h"
#include "simt/code/tile.h"

static void transpose_rows(u16 *to, const unsigned char *const row[8])
{
    for (int c = 0; c < 8; c++) {
        u16 from[8];
        memcpy(from, row[c], sizeof from);
        for (int q = 0; q < 8; q++)
            to[8 * q + c] = from[q];
    }
}

// --- ldmatrix, stmatrix: lanes 8 i to 8 i + 7 name the rows of matrix i ---

struct rows {
    uint32_t n;  // 8 a matrix
    unsigned char *at[LANES];
};

// Tells the checks. A row goes to several lanes, or comes from them; each row is put down to another one of its own.
// Row r of matrix i is lanes 4 r to 4 r + 3's; transposed, it is that of every lane l with l % 4 = r / 2.
static void tell_rows(struct warp *w, const struct uop *u, bool store, uint32_t n, const uint32_t address[LANES])
{
    const struct warpop *op = u->warp;
    uint64_t at[LANES] = { 0 };
    uint32_t lanes = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = k / 8, r = k % 8, lane = op->op ? 4 * (2 * i + r % 2) + r / 2 : 4 * r + i;
        at[lane] = address[k] + w->block->window;
        lanes |= 1u << lane;
    }
    check_shared(w, u, op->mem.index, lanes, at, 16, store ? CHECK_WRITE : CHECK_READ);
}

static bool find_rows(struct warp *w, const struct uop *u, bool store, struct rows *rows)
{
    const struct warpop *op = u->warp;
    const struct memop *m = &op->mem;
    struct worker *worker = w->block->worker;
    struct mem_memo *memo = &worker->memos[m->index];
    const uint32_t limit = worker->grid->shared_bytes;
    uint32_t address[LANES] = { 0 }, low = 0, most = 0, differs = memo->mask != ALL_LANES;
    rows->n = 8 * op->shape;
    for (uint32_t i = 0; i < rows->n; i++) {
        uint64_t a = access_address(w, m, i);
        if (m->space == SPACE_GENERIC && (a & ~MEMORY_OFFSET) != WINDOW_SHARED)
            return access_fault(w, u, FAULT_OUT_OF_BOUNDS, store, i, a, 16, SPACE_SHARED);
        a &= m->base_class == SLOT_32 ? UINT32_MAX : MEMORY_OFFSET;
        a -= w->block->window;
        if (a > UINT32_MAX - 16)
            return access_fault(w, u, FAULT_OUT_OF_BOUNDS, store, i, a + w->block->window, 16, SPACE_SHARED);
        address[i] = (uint32_t)a;
        low |= address[i];
        most = address[i] > most ? address[i] : most;
        differs |= (address[i] - address[0]) ^ memo->delta.d32[i];
    }
    for (uint32_t i = 0; (low & 15 || most + 16 > limit) && i < rows->n; i++) {
        if (address[i] & 15)
            return access_fault(w, u, FAULT_MISALIGNED, store, i, address[i] + w->block->window, 16, SPACE_SHARED);
        if (address[i] + 16 > limit)
            return access_fault(w, u, FAULT_OUT_OF_BOUNDS, store, i, address[i] + w->block->window, 16, SPACE_SHARED);
    }
    if (differs) {  // rows are whole multiples of 16 bytes apart, so the banks they share follow from their distances
        *memo = (struct mem_memo){ .mask = ALL_LANES, .shared = cost_matrices(address, op->shape) };
        for (uint32_t i = 0; i < rows->n; i++)
            memo->delta.d32[i] = address[i] - address[0];
    }
    access_count_shared(w, m, &memo->shared);
    if (worker->check)
        tell_rows(w, u, store, rows->n, address);
    for (uint32_t i = 0; i < rows->n; i++)
        rows->at[i] = worker->shared + address[i];
    return true;
}

// An access that went wrong. While checks are on that is a finding, and 0 is loaded, or nothing stored.
static bool excused(struct warp *w, const struct uop *u, uint32_t bytes)
{
    struct worker *worker = w->block->worker;
    if (!worker->check)
        return false;
    check_fault(worker);
    for (uint32_t i = 0; i < u->warp->n_out; i++)
        memset(w->regs + u->warp->out[i], 0, LANES * bytes);
    return true;
}

bool ISA(warp_ldmatrix)(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct rows rows;
    (void)active;  // all of them
    if (!find_rows(w, u, false, &rows))
        return excused(w, u, 4);
    for (uint32_t i = 0; i < op->shape; i++) {
        unsigned char *d = w->regs + op->out[i];
        if (op->op)
            transpose_rows((u16 *)d, (const unsigned char *const *)rows.at + 8 * i);
        else
            for (uint32_t r = 0; r < 8; r++)
                memcpy(d + 16 * r, rows.at[8 * i + r], 16);
    }
    return true;
}

bool ISA(warp_stmatrix)(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct rows rows;
    (void)active;
    if (!find_rows(w, u, true, &rows))
        return excused(w, u, 4);
    for (uint32_t i = 0; i < op->shape; i++) {
        const unsigned char *s = w->regs + op->in[i];
        u16 turned[64];
        if (op->op) {
            const unsigned char *row[8];
            for (uint32_t r = 0; r < 8; r++)
                row[r] = s + 16 * r;
            transpose_rows(turned, row);
            s = (const unsigned char *)turned;
        }
        for (uint32_t r = 0; r < 8; r++)
            memcpy(rows.at[8 * i + r], s + 16 * r, 16);
    }
    return true;
}

// --- wmma.load, wmma.store ---

// Adds the cost of the machine's instructions; returns how many there are.
static uint32_t add_cost(const struct tile *t, struct mem_memo *memo)
{
    struct tile_accesses all;
    tile_accesses(t, &all);
    for (uint32_t i = 0; i < all.n; i++) {
        uint32_t address[LANES];
        for (unsigned lane = 0; lane < LANES; lane++)
            address[lane] = (uint32_t)all.address[i][lane];
        struct shared_cost cost =
            t->ldsm ? cost_matrices(address, 1) : cost_shared(address, ALL_LANES, all.bytes, !t->store);
        memo->shared.waves += cost.waves;
        memo->shared.conflicts += cost.conflicts;
        memo->shared.ideal += cost.ideal;
        memo->sectors += cost_sectors(all.address[i], ALL_LANES);
    }
    return t->ldsm ? (all.n + 3) / 4 : all.n;
}

static void count_tile(struct warp *w, const struct tile *t, const struct memop *m)
{
    struct worker *worker = w->block->worker;
    struct mem_memo *memo = &worker->memos[m->index];
    struct mem_count *c = &worker->mem_counts[m->index];
    const uint32_t low = ((uint32_t)t->address & 127) | (uint32_t)t->shared << 7;
    if (memo->mask != ALL_LANES || memo->low != low || memo->delta.d64[0] != t->pitch) {
        *memo = (struct mem_memo){ .mask = ALL_LANES, .low = low, .number = memo->number + 1 };
        memo->delta.d64[0] = t->pitch;
        memo->max = add_cost(t, memo);
    }
    c->extra += (uint64_t)memo->max - 1;
    if (t->shared) {
        access_count_shared(w, m, &memo->shared);
    } else {
        access_count_global(w, m, memo->sectors);
        c->requests += (uint64_t)memo->max - 1;
    }
}

// A fault of the first element that is not there, in the order of the lanes' registers.
static bool misplaced(struct warp *w, const struct uop *u, const struct tile *t, enum ptx_space space)
{
    const struct fragment *f = t->f;
    for (unsigned k = 0; k < f->distinct * f->pack * LANES; k++) {
        unsigned lane = k % LANES, row, col;
        enum ptx_space where = space;
        fragment_at(f, k / LANES / f->pack, lane, k / LANES % f->pack, &row, &col);
        uint64_t address = t->address + tile_element(t, row, col);
        if (!access_place(w, lane, &where, address, f->bytes))
            return access_fault(w, u, FAULT_OUT_OF_BOUNDS, t->store, lane, address, f->bytes, where);
    }
    return access_fault(w, u, FAULT_OUT_OF_BOUNDS, t->store, 0, t->address, f->bytes, space);
}

#define TILE_PIECES 64  // of 16 bytes: 16 x 16 floats
#define TILE_PASSES 2

// Tells the checks, by pieces of 16 bytes. A piece has elements of several lanes; each is put down to one of them, and
// as many pieces as possible at once to different ones. A tile of the same pattern as the last is known again, pass by
// pass: the memo has how many there were (bits), and how far from the tile's address the second one begins (min).
static void tell_tile(struct warp *w, const struct uop *u, const struct tile *t, unsigned lines, unsigned length)
{
    const struct fragment *f = t->f;
    const unsigned across = length * f->bytes / 16, pieces = lines * across, elements = f->distinct * f->pack;
    struct mem_memo *memo = &w->block->worker->memos[u->warp->mem.index];
    const uint32_t index[TILE_PASSES] = { u->warp->mem.index,
                                          u->warp->mem.index + w->block->worker->grid->code->n_memops };
    const enum check_op op = t->store ? CHECK_WRITE : CHECK_READ;
    const uint64_t address = t->shared ? t->address & MEMORY_OFFSET : t->address;
    uint64_t at[TILE_PASSES][LANES] = { { 0 } };
    uint32_t lanes[TILE_PASSES] = { 0 };
    bool done[TILE_PIECES] = { false };
    unsigned told = 0;
    while (told < memo->bits && (t->shared ? check_shared_again : check_global_again)(
                                    w, u, index[told], memo->number, address + (told ? (uint64_t)memo->min : 0), op))
        told++;
    if (told && told == memo->bits)
        return;
    for (unsigned k = 0, left = pieces; left && k < LANES * (elements + pieces); k++) {
        unsigned lane = k % LANES, row, col, line, piece = k / LANES - elements;
        if (k < LANES * elements) {
            fragment_at(f, k / LANES / f->pack, lane, k / LANES % f->pack, &row, &col);
            line = t->by_columns ? col : row;
            piece = line * across + (t->by_columns ? row : col) * f->bytes / 16;
        }
        for (unsigned pass = 0; pass < TILE_PASSES && piece < TILE_PIECES && !done[piece]; pass++) {
            if (lanes[pass] >> lane & 1)
                continue;
            at[pass][lane] = address + piece / across * t->pitch + piece % across * 16;
            lanes[pass] |= 1u << lane;
            done[piece] = true;
            left--;
        }
    }
    const unsigned passes = lanes[1] ? 2 : 1;
    memo->bits = at[0][__builtin_ctz(lanes[0])] == address ? passes : 0;
    memo->min = lanes[1] ? (int64_t)(at[1][__builtin_ctz(lanes[1])] - address) : 0;
    for (unsigned pass = told; pass < passes; pass++) {
        (t->shared ? check_shared : check_global)(w, u, index[pass], lanes[pass], at[pass], 16, op);
        check_pattern(w, index[pass], memo->number);
    }
}

// Whose address it is that begins a line.
static uint32_t lane_of_line(const struct tile *t, uint64_t line)
{
    struct tile_accesses all;
    tile_accesses(t, &all);
    for (uint32_t k = 0; k < all.n * LANES; k++)
        if (all.address[k / LANES][k % LANES] == line)
            return k % LANES;
    return 0;
}

// Where the whole tile lies in the host's memory, or NULL after a fault.
static unsigned char *find_tile(struct warp *w, const struct uop *u, struct tile *t)
{
    const struct warpop *op = u->warp;
    const struct memop *m = &op->mem;
    enum ptx_space space = m->space;
    *t = tile_of(w, u, t->store);
    const struct fragment *f = t->f;
    const unsigned lines = t->by_columns ? f->cols : f->rows, length = t->by_columns ? f->rows : f->cols;
    if (t->address % 16 || t->pitch % 16) {
        const uint64_t line = t->address % 16 ? t->address : t->address + t->pitch;
        access_fault(w, u, FAULT_MISALIGNED, t->store, lane_of_line(t, line), line, 16, space);
        return NULL;
    }
    uint64_t extent = (lines - 1) * t->pitch + (uint64_t)length * f->bytes;
    unsigned char *p = extent <= UINT32_MAX ? access_place(w, 0, &space, t->address, (uint32_t)extent) : NULL;
    if (!p || space == SPACE_LOCAL) {
        misplaced(w, u, t, space == SPACE_LOCAL ? SPACE_GENERIC : space);
        return NULL;
    }
    t->shared = space == SPACE_SHARED;
    count_tile(w, t, m);
    if (w->block->worker->check)
        tell_tile(w, u, t, lines, length);
    return p;
}

bool ISA(warp_wmma_load)(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct tile t = { 0 };
    const unsigned char *p = find_tile(w, u, &t);
    const struct fragment *f = t.f;
    (void)active;
    if (!p)
        return excused(w, u, f->bytes == 8 ? 8 : 4);
    const bool straight = t.by_columns == f->swapped;
    for (unsigned r = 0; r < f->n; r++) {
        unsigned char *d = w->regs + op->out[r];
        const unsigned char *from = p + tile_element(&t, f->base[r % f->distinct].row, f->base[r % f->distinct].col);
        if (r >= f->distinct) {
            memcpy(d, w->regs + op->out[r % f->distinct], 4 * LANES);
        } else if (straight && !f->paired && f->bytes < 8) {
            for (unsigned q = 0; q < 8; q++)
                memcpy(d + 16 * q, from + q * t.pitch, 16);
        } else if (f->bytes == 2) {
            const unsigned char *row[8];
            for (unsigned c = 0; c < 8; c++)
                row[c] = from + c * t.pitch;
            transpose_rows((u16 *)d, row);
        } else {
            for (unsigned lane = 0; lane < LANES; lane++) {
                for (unsigned i = 0; i < f->pack; i++) {
                    unsigned row, col;
                    fragment_at(f, r, lane, i, &row, &col);
                    memcpy(d + (lane * f->pack + i) * f->bytes, p + tile_element(&t, row, col), f->bytes);
                }
            }
        }
    }
    return true;
}

bool ISA(warp_wmma_store)(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    struct tile t = { .store = true };
    unsigned char *p = find_tile(w, u, &t);
    const struct fragment *f = t.f;
    (void)active;
    if (!p)
        return excused(w, u, f->bytes == 8 ? 8 : 4);
    for (unsigned r = 0; r < f->n; r++) {
        const unsigned char *s = w->regs + op->in[1 + r];
        for (unsigned lane = 0; lane < LANES; lane++) {
            for (unsigned i = 0; i < f->pack; i++) {
                unsigned row, col;
                fragment_at(f, r, lane, i, &row, &col);
                memcpy(p + tile_element(&t, row, col), s + (lane * f->pack + i) * f->bytes, f->bytes);
            }
        }
    }
    return true;
}
