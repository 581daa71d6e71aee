// A matrix operand that wmma.load or wmma.store moves, and the machine's accesses that move it.
#pragma once

#include "access.h"
#include "simt/machine/fragment.h"

struct tile {
    const struct fragment *f;
    bool by_columns;          // .col: columns lie one after the other
    uint64_t address, pitch;  // of element (0, 0); bytes from one row (or column) to the next
    bool store, shared, ldsm;
};

// The tile of a wmma.load or wmma.store that warp w is about to execute; shared is left to the caller.
static inline struct tile tile_of(const struct warp *w, const struct uop *u, bool store)
{
    const struct warpop *op = u->warp;
    const struct fragment *f = op->more;
    return (struct tile){ .f = f,
                          .by_columns = op->op,
                          .address = access_address(w, &op->mem, 0),
                          .pitch = (uint64_t)((const u32 *)(w->regs + op->in[0]))[0] * f->bytes,
                          .store = store,
                          .ldsm = op->mem.counted == MEM_LDSM };
}

// Byte offset of element (row, col) from the tile's address.
static inline uint64_t tile_element(const struct tile *t, unsigned row, unsigned col)
{
    return (t->by_columns ? col * t->pitch + row * t->f->bytes : row * t->pitch + col * t->f->bytes);
}

#define TILE_ACCESSES (4 * FRAGMENT_REGS)

struct tile_accesses {
    uint32_t n, bytes;                       // bytes: of a lane
    uint64_t address[TILE_ACCESSES][LANES];  // of ldmatrix: lanes 0 to 7, the rows of one 8 x 8 matrix
};

// The accesses that a wmma.load or wmma.store makes, in order.
void tile_accesses(const struct tile *t, struct tile_accesses *out);
