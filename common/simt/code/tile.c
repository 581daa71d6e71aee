// See tile.h.
#include "tile.h"

// One instruction for each register or, of accumulators that lie side by side, each pair, as an H200 does it
// (tests/truth): 16-bit operands go as rows of 16 bytes whichever way the matrix lies, and are transposed on the way;
// from shared memory that is ldmatrix, four registers at once.
void tile_accesses(const struct tile *t, struct tile_accesses *out)
{
    const struct fragment *f = t->f;
    const bool straight = t->by_columns == f->swapped, in_rows = !f->paired && (f->bytes == 2 || straight);
    const unsigned step = f->paired && straight ? 2 : 1, parts = in_rows ? 1 : f->pack;
    out->n = 0;
    out->bytes = in_rows ? f->bytes * f->pack : step * f->bytes;
    for (unsigned r = 0; r < f->distinct * parts; r += step, out->n++) {
        const unsigned block = r / parts;
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned row, col, across = t->ldsm ? lane % 8 : lane / 4, along = t->ldsm ? 0 : lane % 4 * f->pack;
            fragment_at(f, block, lane, r % parts, &row, &col);
            if (in_rows) {  // across: in the direction in which rows of memory follow each other
                row = f->base[block].row + (t->by_columns ? along : across);
                col = f->base[block].col + (t->by_columns ? across : along);
            }
            out->address[out->n][lane] = t->address + tile_element(t, row, col);
        }
    }
}
