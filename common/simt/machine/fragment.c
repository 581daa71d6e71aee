// See fragment.h. The order of the registers: 16 rows make a group, within which rows come first, then blocks along K
// (A), or columns (C); B has its blocks along K first, then columns.
#include "fragment.h"

static bool fits(struct fragment *f, int distinct, int regs)
{
    f->distinct = (uint8_t)distinct;
    f->n = (uint8_t)(regs ? regs : distinct);
    return distinct >= 1 && distinct <= FRAGMENT_REGS && f->n >= distinct && f->n <= FRAGMENT_REGS &&
           f->n % distinct == 0;
}

// An operand of rows x k, or of k x rows where swapped: what the mma instruction takes as its A.
static bool tall(struct fragment *f, int rows, int k, int regs)
{
    int width = 4 * f->pack, along = k / width, group = rows < 16 ? 1 : 2;
    if (k % width || !fits(f, rows / 8 * along, regs))
        return false;
    for (int r = 0; r < f->distinct; r++) {
        int across = 8 * (r % group) + 16 * (r / (group * along)), at = width * (r / group % along);
        f->base[r].row = (uint8_t)(f->swapped ? at : across);
        f->base[r].col = (uint8_t)(f->swapped ? across : at);
    }
    return true;
}

// An operand of k x cols, or of cols x k where not swapped: what it takes as its B.
static bool wide(struct fragment *f, int cols, int k, int regs)
{
    int width = 4 * f->pack, along = k / width;
    if (k % width || !fits(f, cols / 8 * along, regs))
        return false;
    for (int r = 0; r < f->distinct; r++) {
        int across = 8 * (r / along), at = width * (r % along);
        f->base[r].row = (uint8_t)(f->swapped ? at : across);
        f->base[r].col = (uint8_t)(f->swapped ? across : at);
    }
    return true;
}

static bool accumulator(struct fragment *f, int m, int n, int regs)
{
    f->paired = f->pack == 1;
    if (!fits(f, m / 8 * (n / 8) * (f->paired ? 2 : 1), regs))
        return false;
    for (int r = 0; r < f->distinct; r++) {
        int block = f->paired ? r / 2 : r;
        f->base[r].row = (uint8_t)(n == 8 ? 8 * block : m == 8 ? 0 : 8 * (block % 2));
        f->base[r].col = (uint8_t)(n == 8 ? 0 : m == 8 ? 8 * block : 8 * (block / 2));
    }
    return true;
}

bool fragment_of(enum fragment_role role, int m, int n, int k, int bytes, int regs, struct fragment *f)
{
    bool transposed = m == 8 && n == 32;  // computed as the transposed product
    *f = (struct fragment){ .bytes = (uint8_t)bytes, .pack = (uint8_t)(bytes < 4 ? 4 / bytes : 1) };
    f->rows = (uint8_t)(role == FRAGMENT_B ? k : m);
    f->cols = (uint8_t)(role == FRAGMENT_A ? k : n);
    switch (role) {
    case FRAGMENT_A:
        f->swapped = false;
        return transposed ? wide(f, m, k, regs) : tall(f, m, k, regs);
    case FRAGMENT_B:
        f->swapped = true;
        return transposed ? tall(f, n, k, regs) : wide(f, n, k, regs);
    case FRAGMENT_C:
        f->swapped = transposed;
        return accumulator(f, m, n, regs);
    }
    return false;
}
