// movmatrix: a matrix that the lanes of a warp hold is transposed. Source: PTX ISA 9.7.15 (movmatrix).
#include <string.h>

#include "warp_fn.h"

bool warp_movmatrix(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    uint16_t rows[8][8];  // lane l holds columns 2 (l % 4) and the next one of row l / 4
    u32 *d = (u32 *)(w->regs + op->out[0]);
    (void)active;  // all of them: GATHER_ALL
    memcpy(rows, w->regs + op->in[0], sizeof rows);
    for (uint32_t i = 0; i < LANES; i++)
        d[i] = rows[2 * (i % 4)][i / 4] | (u32)rows[2 * (i % 4) + 1][i / 4] << 16;
    return true;
}
