// See moves.h.
//
// A law has one number. For some it is tried from a list, for the others the first elements that moved propose it. A
// law holds if nine of ten moved elements follow it: the ends of K, or the edges of C, may be the exception.
#include "moves.h"

#include <stdlib.h>

static bool moved(const struct move *m)
{
    return m->to_y != m->y || m->to_x != m->x;
}

// In row-major order, with rows that are length elements apart: where (y, x) stands.
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

// An index may be wrong all the way from the matrix's first row, or from the first row of each tile or fragment on, the
// rest of it being right.
enum { FRAGMENT = 16 };

static int start_of(const struct moves *m, int y, int from)
{
    const int rows[] = { 0, m->tile_y, FRAGMENT };
    return rows[from] ? y - y % rows[from] : 0;
}

enum { STARTS = 3 };

// Whether an element is found where rows are by elements apart.
static bool by_stride(const struct moves *m, const struct move *e, int by)
{
    for (int from = 0; from < STARTS; from++) {
        const int y = start_of(m, e->y, from);
        if (place(e->to_y, e->to_x, m->length) == place(y, 0, m->length) + place(e->y - y, e->x, by))
            return true;
    }
    return false;
}

// The same in a tile, whose rows have their own length; swapped: the column is taken for the row.
static bool by_tile_stride(const struct moves *m, const struct move *e, int by, bool swapped)
{
    if (!m->tile_y || !m->tile_x)
        return false;
    const int y = e->y % m->tile_y, x = e->x % m->tile_x, size = m->tile_y * m->tile_x;
    const int to = place(e->to_y % m->tile_y, e->to_x % m->tile_x, m->tile_x);
    if (swapped)
        return place(x, y, by) % size == to;
    const int start = y - y % FRAGMENT;
    return place(y, x, by) % size == to || (place(start, x, m->tile_x) + place(y - start, 0, by)) % size == to;
}

// The tile's rows are pad elements longer than they are taken to be, in all of it or in each fragment.
static bool by_padding(const struct moves *m, const struct move *e, int pad)
{
    if (!m->tile_y || !m->tile_x || !in_tile(e->to_x, e->x, m->tile_x))
        return false;
    const int x = e->x % m->tile_x, to_x = e->to_x % m->tile_x, length = m->tile_x + pad;
    for (int from = 1; from < STARTS; from++) {
        const int y = start_of(m, e->y, from);
        if (place(e->y - y, x, m->tile_x) == place(e->to_y - y, to_x, length))
            return true;
    }
    return false;
}

// Every tile along K begins by elements after the one before it.
static bool by_step(const struct moves *m, const struct move *e, int by)
{
    const int tile = m->along_y ? m->tile_y : m->tile_x, from = m->along_y ? e->y : e->x;
    if (!tile)
        return false;
    const int first = m->along_y ? place(e->y % tile, e->x, m->length) : place(e->y, e->x % tile, m->length);
    return place(e->to_y, e->to_x, m->length) == first + from / tile * by;
}

static int along_k(const struct moves *m, const struct move *e)
{
    return m->along_y ? e->y : e->x;
}

// By elements further on along K; past its end there is no telling.
static bool is_ahead(const struct moves *m, const struct move *e, int by)
{
    const int from = along_k(m, e), to = m->along_y ? e->to_y : e->to_x;
    const bool same = m->along_y ? e->to_x == e->x : e->to_y == e->y;
    return from + by >= m->depth || from + by < 0 || (same && to == from + by);
}

// A law of whole rows, or of whole columns: the one that belongs at from is to. tile: how many of them a tile has.
static bool follows_line(enum law law, int from, int to, int tile, int by)
{
    switch (law) {
    case LAW_FIRST_TILE_Y:
    case LAW_FIRST_TILE_X:
        return tile && to == from % tile;
    case LAW_TILE_Y:
    case LAW_TILE_X:
        return tile && (to - from) % tile == 0;
    case LAW_SHIFT_Y:
    case LAW_SHIFT_X:
        return to - from == by;
    case LAW_SAME_Y:
    case LAW_SAME_X:
        return to == from - from % by;
    case LAW_REST_Y:
    case LAW_REST_X:
        return tile && to == from - from % tile + from % by;
    case LAW_XOR_Y:
    case LAW_XOR_X:
        return to == (from ^ by);
    default:  // LAW_ORDER_Y, LAW_ORDER_X
        return in_tile(to, from, tile);
    }
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
    case LAW_BOXES:
        return e->to_y == x - x % by + y % by && e->to_x == y - y % by + x % by;
    case LAW_AHEAD:
        return is_ahead(m, e, by);
    case LAW_QUARTERS:
        exchange(&y, &x, by);
        return e->to_y == y && e->to_x == x;
    case LAW_FIRST_TILE_Y:
    case LAW_TILE_Y:
    case LAW_SHIFT_Y:
    case LAW_SAME_Y:
    case LAW_REST_Y:
    case LAW_XOR_Y:
    case LAW_ORDER_Y:
        return same_x && follows_line(law, y, e->to_y, m->tile_y, by);
    case LAW_FIRST_TILE_X:
    case LAW_TILE_X:
    case LAW_SHIFT_X:
    case LAW_SAME_X:
    case LAW_REST_X:
    case LAW_XOR_X:
    case LAW_ORDER_X:
        return same_y && follows_line(law, x, e->to_x, m->tile_x, by);
    case LAW_CHUNKS:
        return same_y && e->to_x % by == x % by && in_tile(e->to_x, x, m->tile_x);
    case LAW_STRIDE:
        return by_stride(m, e, by);
    case LAW_SWAPPED:
        return place(e->to_y, e->to_x, m->length) == place(x, y, by);
    case LAW_TILE_STRIDE:
        return by_tile_stride(m, e, by, false);
    case LAW_TILE_SWAPPED:
        return by_tile_stride(m, e, by, true);
    case LAW_PADDED:
        return by_padding(m, e, by);
    case LAW_STEP:
        return by_step(m, e, by);
    case LAW_PIECES:
        return e->to_x % m->chunk == x % m->chunk;
    case LAW_STARTS:  // has_starts has looked
        return true;
    case LAW_MIXED:
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

static int tile_proposal(const struct moves *m, const struct move *e, enum law law, int from)
{
    const bool swapped = law == LAW_TILE_SWAPPED;
    if (!m->tile_y || !m->tile_x)
        return -1;
    const int row = e->y % m->tile_y, col = e->x % m->tile_x, start = from == 2 ? row - row % FRAGMENT : 0;
    const int y = swapped ? col : row - start, x = swapped ? row : place(start, col, m->tile_x);
    const int p = place(e->to_y % m->tile_y, e->to_x % m->tile_x, m->tile_x) - x;
    return y && p > 0 && p % y == 0 ? p / y : -1;
}

static int step_proposal(const struct moves *m, const struct move *e)
{
    const int tile = m->along_y ? m->tile_y : m->tile_x, from = m->along_y ? e->y : e->x;
    if (!tile || from / tile != 1)
        return -1;
    const int first = m->along_y ? place(e->y % tile, e->x, m->length) : place(e->y, e->x % tile, m->length);
    const int by = place(e->to_y, e->to_x, m->length) - first;
    return by > 0 ? by : -1;
}

// The number that one moved element proposes for a law; -1 if there is none.
static int proposal(const struct moves *m, const struct move *e, enum law law, int from)
{
    int p, y;
    switch (law) {
    case LAW_AHEAD:
        p = m->along_y ? e->to_y - e->y : e->to_x - e->x;
        return p % 8 == 0 && p > -m->depth / 2 && p < m->depth / 2 && p ? p : -1;
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
        y = e->y - start_of(m, e->y, from);
        p = place(e->to_y, e->to_x, m->length) - place(e->y - y, e->x, m->length);
        return y && p > 0 && p % y == 0 ? p / y : -1;
    case LAW_SWAPPED:
        p = place(e->to_y, e->to_x, m->length) - e->y;
        return e->x && p > 0 && p % e->x == 0 ? p / e->x : -1;
    case LAW_STEP:
        return step_proposal(m, e);
    case LAW_TILE_STRIDE:
    case LAW_TILE_SWAPPED:
        return tile_proposal(m, e, law, from);
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
        for (int from = 0; from < STARTS; from++) {
            *by = proposal(m, &m->all[i], law, from);
            if (*by != -1 && holds(m, n_moved, law, *by))
                return true;
        }
    }
    return false;
}

static bool listed(const struct moves *m, size_t n_moved, enum law law, int *by)
{
    static const int sizes[] = { 2, 4, 8, 16, 32, 64, 128, 1 };
    *by = 0;
    if (law == LAW_TRANSPOSED && holds(m, n_moved, law, 0))
        return true;
    const size_t n = sizeof sizes / sizeof *sizes - (law != LAW_PADDED);  // a piece of one element is none
    for (size_t i = 0; i < n; i++) {
        *by = sizes[i];
        if (holds(m, n_moved, law, *by))
            return true;
    }
    return false;
}

// --- Laws with no number ---

// Whether no two elements of a row are found in the same place.
static bool is_order(const struct moves *m)
{
    int rows = 0;
    for (size_t i = 0; i < m->n; i++)
        rows = m->all[i].y >= rows ? m->all[i].y + 1 : rows;
    int *user = calloc((size_t)rows * (size_t)m->length, sizeof *user);  // x + 1 of who is found there
    bool order = user;
    for (size_t i = 0; order && i < m->n; i++) {
        const struct move *e = &m->all[i];
        int *at = &user[place(e->y, e->to_x, m->length)];
        order = !*at || *at == e->x + 1;
        *at = e->x + 1;
    }
    free(user);
    return order;
}

// Whether all of a row that moved goes on as it should, element after element, from where it begins: and that is not
// its own row, or a multiple of 16 bytes further on.
static bool has_starts(const struct moves *m)
{
    int y = -1, start = 0, rows = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct move *e = &m->all[i];
        const int from = place(e->to_y, e->to_x, m->length) - e->x;
        if (e->y == y && from != start)
            return false;
        rows += e->y != y && from % m->length != 0;
        y = e->y;
        start = from;
    }
    return rows > 0;
}

enum { BITS = 10 };

// Bit b of the row and, from BITS on, of the column.
static int bit(int y, int x, int b)
{
    return (b < BITS ? y >> b : x >> (b - BITS)) & 1;
}

// The bit of (y, x) that bit b of (to_y, to_x) always is; -1: none.
static int origin(const struct moves *m, int b)
{
    for (int i = 0; i < 2 * BITS; i++) {
        const int from = (b + i) % (2 * BITS);
        size_t n = 0;
        while (n < m->n && bit(m->all[n].to_y, m->all[n].to_x, b) == bit(m->all[n].y, m->all[n].x, from))
            n++;
        if (n == m->n)
            return from;
    }
    return -1;
}

static bool is_mixed(const struct moves *m)
{
    bool crossed = false;
    for (int b = 0; b < 2 * BITS; b++) {
        const int from = origin(m, b);
        if (from < 0)
            return false;
        crossed = crossed || (from < BITS) != (b < BITS);
    }
    return crossed;
}

// Whether some elements at a k that others have moved from are in their place.
static bool some_are_right(const struct moves *m, size_t n_moved)
{
    return m->depth > FRAGMENT && 10 * n_moved < 9 * m->n;
}

enum law moves_law(const struct moves *m, int *by, struct move *example)
{
    enum { FROM_LIST, PROPOSED, ALONE };
    static const struct {
        enum law law;
        int how;
    } order[] = {
        { LAW_TRANSPOSED, FROM_LIST }, { LAW_BOXES, FROM_LIST },      { LAW_QUARTERS, FROM_LIST },
        { LAW_AHEAD, PROPOSED },       { LAW_FIRST_TILE_Y, ALONE },   { LAW_FIRST_TILE_X, ALONE },
        { LAW_TILE_Y, ALONE },         { LAW_TILE_X, ALONE },         { LAW_SHIFT_Y, PROPOSED },
        { LAW_SHIFT_X, PROPOSED },     { LAW_SAME_Y, FROM_LIST },     { LAW_SAME_X, FROM_LIST },
        { LAW_REST_Y, FROM_LIST },     { LAW_REST_X, FROM_LIST },     { LAW_XOR_Y, PROPOSED },
        { LAW_XOR_X, PROPOSED },       { LAW_CHUNKS, ALONE },         { LAW_STRIDE, PROPOSED },
        { LAW_SWAPPED, PROPOSED },     { LAW_TILE_STRIDE, PROPOSED }, { LAW_TILE_SWAPPED, PROPOSED },
        { LAW_PADDED, FROM_LIST },     { LAW_STEP, PROPOSED },        { LAW_STARTS, ALONE },
        { LAW_ORDER_Y, ALONE },        { LAW_ORDER_X, ALONE },        { LAW_PIECES, ALONE },
    };
    size_t n_moved = 0;
    for (size_t i = 0; i < m->n; i++)
        if (moved(&m->all[i]) && !n_moved++)
            *example = m->all[i];
    *by = 0;
    for (size_t i = 0; n_moved && i < sizeof order / sizeof *order; i++) {
        const enum law law = order[i].law;
        if (law == LAW_AHEAD && !some_are_right(m, n_moved))
            continue;
        if (law == LAW_STARTS && !has_starts(m))
            continue;
        *by = m->chunk;  // of LAW_CHUNKS; those that stand alone besides have no number
        if (order[i].how == FROM_LIST  ? listed(m, n_moved, law, by)
            : order[i].how == PROPOSED ? proposed(m, n_moved, law, by)
                                       : holds(m, n_moved, law, *by) && (law != LAW_CHUNKS || is_order(m)))
            return law;
    }
    return n_moved && is_mixed(m) ? LAW_MIXED : LAW_NONE;
}
