// See moves.h.
//
// A law has one number. For some it is tried from a list, for the others the first elements that moved propose it. A
// law holds if nine of ten moved elements follow it: the ends of K, or the edges of C, may be the exception.
#include "moves.h"

#include <stdbool.h>
#include <stdlib.h>

static bool moved(const struct move *m)
{
    return m->to_y != m->y || m->to_x != m->x;
}

// In row-major order of a tile whose rows are length elements apart: where (y, x) stands.
static int place(int y, int x, int length)
{
    return y * length + x;
}

static bool in_tile(int to, int from, int tile)
{
    return !tile || to / tile == from / tile;
}

// Exchanges the bit by of a and b.
static void exchange(int *a, int *b, int by)
{
    const int x = (*a ^ *b) & by;
    *a ^= x;
    *b ^= x;
}

// Whether an element of a tile is found where rows are by elements apart, in a tile that has another row length;
// swapped: its column is taken for its row.
static bool by_tile_stride(const struct moves *m, const struct move *e, int by, bool swapped)
{
    if (!m->tile_y || !m->tile_x)
        return false;
    const int y = e->y % m->tile_y, x = e->x % m->tile_x;
    const int from = swapped ? place(x, y, by) : place(y, x, by);
    return from % (m->tile_y * m->tile_x) == place(e->to_y % m->tile_y, e->to_x % m->tile_x, m->tile_x);
}

static bool follows(const struct moves *m, const struct move *e, enum law law, int by)
{
    int y = e->y, x = e->x;
    const bool same_y = e->to_y == y, same_x = e->to_x == x;
    switch (law) {
    case LAW_TRANSPOSED:
        if (!by)
            return e->to_y == x && e->to_x == y;
        return e->to_y == y - y % by + x % by && e->to_x == x - x % by + y % by;
    case LAW_QUARTERS:
        exchange(&y, &x, by);
        return e->to_y == y && e->to_x == x;
    case LAW_FIRST_TILE_Y:
        return same_x && m->tile_y && e->to_y == y % m->tile_y;
    case LAW_FIRST_TILE_X:
        return same_y && m->tile_x && e->to_x == x % m->tile_x;
    case LAW_TILE_Y:
        return same_x && m->tile_y && (e->to_y - y) % m->tile_y == 0;
    case LAW_TILE_X:
        return same_y && m->tile_x && (e->to_x - x) % m->tile_x == 0;
    case LAW_SHIFT_Y:
        return same_x && e->to_y - y == by;
    case LAW_SHIFT_X:
        return same_y && e->to_x - x == by;
    case LAW_SAME_Y:
        return same_x && e->to_y == y - y % by;
    case LAW_SAME_X:
        return same_y && e->to_x == x - x % by;
    case LAW_XOR_Y:
        return same_x && e->to_y == (y ^ by);
    case LAW_XOR_X:
        return same_y && e->to_x == (x ^ by);
    case LAW_CHUNKS:
        return same_y && e->to_x % by == x % by && in_tile(e->to_x, x, m->tile_x);
    case LAW_STRIDE:
        return place(e->to_y, e->to_x, m->length) == place(y, x, by);
    case LAW_TILE_STRIDE:
        return by_tile_stride(m, e, by, false);
    case LAW_TILE_SWAPPED:
        return by_tile_stride(m, e, by, true);
    case LAW_ORDER_Y:
        return same_x && in_tile(e->to_y, y, m->tile_y);
    case LAW_ORDER_X:
        return same_y && in_tile(e->to_x, x, m->tile_x);
    case LAW_NONE:
        break;
    }
    return false;
}

static bool holds(const struct moves *m, size_t n_moved, enum law law, int by)
{
    size_t off = 0;
    for (size_t i = 0; i < m->n; i++)
        if (moved(&m->all[i]) && !follows(m, &m->all[i], law, by) && 10 * ++off > n_moved)
            return false;
    return true;
}

// --- Which numbers to try ---

static bool is_power(int x)
{
    return x > 0 && !(x & (x - 1));
}

// The number that one moved element proposes for a law; -1 if there is none.
static int proposal(const struct moves *m, const struct move *e, enum law law)
{
    const int ty = m->tile_y, tx = m->tile_x;
    int p;
    switch (law) {
    case LAW_SHIFT_Y:
        return e->to_y - e->y;
    case LAW_SHIFT_X:
        return e->to_x - e->x;
    case LAW_XOR_Y:
        p = e->to_y ^ e->y;
        return is_power(p) ? p : -1;
    case LAW_XOR_X:
        p = e->to_x ^ e->x;
        return is_power(p) ? p : -1;
    case LAW_STRIDE:
        p = place(e->to_y, e->to_x, m->length) - e->x;
        return e->y && p > 0 && p % e->y == 0 ? p / e->y : -1;
    case LAW_TILE_STRIDE:
    case LAW_TILE_SWAPPED:
        if (!ty || !tx)
            return -1;
        p = place(e->to_y % ty, e->to_x % tx, tx);
        const int y = law == LAW_TILE_STRIDE ? e->y % ty : e->x % tx,
                  x = law == LAW_TILE_STRIDE ? e->x % tx : e->y % ty;
        return y && p > x && (p - x) % y == 0 ? (p - x) / y : -1;
    default:
        return -1;
    }
}

enum { PROPOSERS = 64 };

// Tries what moved elements from all over the matrix propose.
static bool proposed(const struct moves *m, size_t n_moved, enum law law, int *by)
{
    const size_t every = n_moved / PROPOSERS + 1;
    size_t seen = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (!moved(&m->all[i]) || seen++ % every)
            continue;
        *by = proposal(m, &m->all[i], law);
        if (*by != -1 && holds(m, n_moved, law, *by))
            return true;
    }
    return false;
}

static bool listed(const struct moves *m, size_t n_moved, enum law law, int *by)
{
    static const int sizes[] = { 2, 4, 8, 16, 32, 64, 128 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *by = sizes[i];
        if (holds(m, n_moved, law, *by))
            return true;
    }
    *by = 0;
    return law == LAW_TRANSPOSED && holds(m, n_moved, law, 0);
}

enum law moves_law(const struct moves *m, int *by, struct move *example)
{
    enum { FROM_LIST, PROPOSED, ALONE };
    static const struct {
        enum law law;
        int how;
    } order[] = {
        { LAW_TRANSPOSED, FROM_LIST },  { LAW_QUARTERS, FROM_LIST }, { LAW_FIRST_TILE_Y, ALONE },
        { LAW_FIRST_TILE_X, ALONE },    { LAW_TILE_Y, ALONE },       { LAW_TILE_X, ALONE },
        { LAW_SHIFT_Y, PROPOSED },      { LAW_SHIFT_X, PROPOSED },   { LAW_SAME_Y, FROM_LIST },
        { LAW_SAME_X, FROM_LIST },      { LAW_XOR_Y, PROPOSED },     { LAW_XOR_X, PROPOSED },
        { LAW_CHUNKS, ALONE },          { LAW_STRIDE, PROPOSED },    { LAW_TILE_STRIDE, PROPOSED },
        { LAW_TILE_SWAPPED, PROPOSED }, { LAW_ORDER_Y, ALONE },      { LAW_ORDER_X, ALONE },
    };
    size_t n_moved = 0;
    for (size_t i = 0; i < m->n; i++)
        if (moved(&m->all[i]) && !n_moved++)
            *example = m->all[i];
    *by = 0;
    for (size_t i = 0; n_moved && i < sizeof order / sizeof *order; i++) {
        const enum law law = order[i].law;
        *by = m->chunk;  // of LAW_CHUNKS; those that stand alone besides have no number
        if (order[i].how == FROM_LIST  ? listed(m, n_moved, law, by)
            : order[i].how == PROPOSED ? proposed(m, n_moved, law, by)
                                       : holds(m, n_moved, law, *by))
            return law;
    }
    return LAW_NONE;
}
