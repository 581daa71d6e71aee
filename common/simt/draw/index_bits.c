// See index_bits.h. The map is fixed by the elements whose row or column is a power of two; all others check it.
#include "index_bits.h"

#include <string.h>

static unsigned width(uint32_t n)
{
    unsigned bits = 0;
    while (bits < 32 && n >> bits)
        bits++;
    return bits;
}

// The power's exponent, where (row, col) is one of the elements that fix the map.
static bool is_unit(uint32_t x, unsigned *bit)
{
    *bit = width(x) - 1;
    return x && !(x & (x - 1)) && *bit < INDEX_BITS;
}

uint32_t index_bits_byte(const struct index_bits *b, uint32_t row, uint32_t col)
{
    uint32_t byte = 0;
    for (unsigned i = 0; i < INDEX_BITS; i++)
        byte ^= (row >> i & 1 ? b->of_row[i] : 0) ^ (col >> i & 1 ? b->of_col[i] : 0);
    return byte;
}

bool index_bits_swizzled(const struct index_bits *b)
{
    uint32_t once = 0, again = 0;
    for (unsigned i = 0; i < INDEX_BITS; i++) {
        again |= once & b->of_row[i];
        once |= b->of_row[i];
        again |= once & b->of_col[i];
        once |= b->of_col[i];
    }
    return again;
}

bool index_bits_fit(const struct index_place *places, size_t n, struct index_bits *out)
{
    uint32_t seen_row = 0, seen_col = 0, origin = 0, most_row = 0, most_col = 0;
    memset(out, 0, sizeof *out);
    out->wanted = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        most_row = places[i].row > most_row ? places[i].row : most_row;
        most_col = places[i].col > most_col ? places[i].col : most_col;
        if (places[i].row || places[i].col)
            continue;
        origin = 1;
        out->first = places[i].byte;
    }
    out->rows = most_row + 1;
    out->cols = most_col + 1;
    out->row_bits = width(most_row);
    out->col_bits = width(most_col);
    if (!origin || out->row_bits > INDEX_BITS || out->col_bits > INDEX_BITS)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned bit;
        const struct index_place *p = &places[i];
        if (!p->col && is_unit(p->row, &bit)) {
            out->of_row[bit] = p->byte - out->first;
            seen_row |= 1u << bit;
        } else if (!p->row && is_unit(p->col, &bit)) {
            out->of_col[bit] = p->byte - out->first;
            seen_col |= 1u << bit;
        }
    }
    if (seen_row != (1u << out->row_bits) - 1 || seen_col != (1u << out->col_bits) - 1)
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t byte = out->first + index_bits_byte(out, places[i].row, places[i].col);
        if (byte == places[i].byte)
            continue;
        out->odd = places[i];
        out->wanted = byte;
        return false;
    }
    return true;
}

bool index_steps_fit(const struct index_place *places, size_t n, const struct index_bits *out, int64_t *by_row,
                     int64_t *by_col)
{
    *by_row = *by_col = 0;
    for (size_t i = 0; i < n; i++) {
        if (places[i].row == 1 && !places[i].col)
            *by_row = (int64_t)places[i].byte - out->first;
        if (places[i].col == 1 && !places[i].row)
            *by_col = (int64_t)places[i].byte - out->first;
    }
    for (size_t i = 0; i < n; i++)
        if ((int64_t)places[i].byte != out->first + *by_row * places[i].row + *by_col * places[i].col)
            return false;
    return n > 0;
}
