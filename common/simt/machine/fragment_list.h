// The matrix operands that there are: shapes and element types of mma.sync and wmma, and which of them ldmatrix fills.
// Sources: as fragment.h's.
#pragma once

#include "fragment.h"

struct fragment_shape {
    uint8_t bytes, m, n, k;  // bytes: of a factor's element
    bool wmma;               // of wmma only; f64's m8n8k4 is both wmma's and mma.sync's
};

struct fragment_type {
    const char *name;
    uint8_t bytes, factor, factor2;  // of an element; of C's type, those of the elements of A and B that it belongs to
    bool c;                          // of C and D, not of A and B
};

// The i-th one, counted from 0; NULL after the last.
const struct fragment_shape *fragment_shape(unsigned i);
const struct fragment_type *fragment_type(unsigned i);

// Is there an instruction of this shape with an operand of this type?
bool fragment_fits(const struct fragment_type *type, const struct fragment_shape *shape);
// Does an instruction that multiplies elements of this type sum them in that type?
bool fragment_sums(const struct fragment_type *factor, const struct fragment_type *sum);

// As fragment_of, for an operand from the lists, with the registers that the instruction repeats.
bool fragment_named(enum fragment_role role, const struct fragment_shape *shape, const struct fragment_type *type,
                    struct fragment *f);

// Can ldmatrix fill the operand from a matrix that lies by rows, or by columns, in shared memory? trans: only with
// .trans.
bool fragment_ldmatrix(enum fragment_role role, const struct fragment *f, bool by_columns, bool *trans);

// Row i (0 to 7) of the 8 x 8 matrix that goes to register r: its first element. The row has 16 bytes.
static inline void fragment_strip(const struct fragment *f, unsigned r, unsigned i, bool by_columns, unsigned *row,
                                  unsigned *col)
{
    *row = f->base[r].row + (by_columns ? 0 : i);
    *col = f->base[r].col + (by_columns ? i : 0);
}

// The lane that names the address of that row. An ldmatrix takes 4 matrices at most; further ones are another's.
static inline unsigned fragment_strip_lane(unsigned r, unsigned i)
{
    return (8 * r + i) % 32;
}
