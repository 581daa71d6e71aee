// The bits of an index: whether the byte at which an element (row, column) lies is an XOR of bits of its row and its
// column, and of which. Tiles by rows or by columns are, if their sizes are powers of two, and so are XOR swizzles.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_BITS 16  // of a row, of a column

struct index_place {  // of an element; row and column count from the tile's first
    uint32_t row, col, byte;
};

struct index_bits {
    uint32_t rows, cols, first;   // sizes of the tile; the byte of element (0, 0)
    unsigned row_bits, col_bits;  // how many bits a row's and a column's number has
    uint32_t of_row[INDEX_BITS];  // bits of the byte, counted from first, that the row's bit i turns over
    uint32_t of_col[INDEX_BITS];  // the same for the column's
    struct index_place odd;       // where there is no such XOR: an element that is not where it would have to be,
    uint32_t wanted;              // and the byte where that is
};

// Fits them to the places of a tile's elements. False if there is no such XOR: odd and wanted say where it fails, or
// wanted is UINT32_MAX where an element that is needed is missing.
bool index_bits_fit(const struct index_place *places, size_t n, struct index_bits *out);
// The byte of an element, counted from first.
uint32_t index_bits_byte(const struct index_bits *b, uint32_t row, uint32_t col);
bool index_bits_swizzled(const struct index_bits *b);  // some bit of the byte is the XOR of several

// Whether the byte is first + row * *by_row + col * *by_col, as in padded tiles. out has sizes and first.
bool index_steps_fit(const struct index_place *places, size_t n, const struct index_bits *out, int64_t *by_row,
                     int64_t *by_col);
