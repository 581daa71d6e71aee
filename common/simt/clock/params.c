// Where the machine code expects a launch's parameters. PTX aligns each to its own needs; ptxas aligns them together
// with the bytes that stand before them in the constant bank, so that there may be gaps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

unsigned char *clock_place_params(const struct clock_launch *l, const struct cubin *c, char error[CLOCK_ERROR])
{
    unsigned char *out = calloc(1, c->param_bytes + 1);
    const bool by_number = c->n_params > 0 && l->n_params == c->n_params;
    bool fit = out && (by_number || l->param_bytes >= c->param_bytes);
    for (uint32_t i = 0; fit && by_number && i < c->n_params; i++) {
        const struct cubin_param *p = &c->params[i];
        fit = l->param_at[i] + p->bytes <= l->param_bytes && p->at + p->bytes <= c->param_bytes;
        if (fit)
            memcpy(out + p->at, l->params + l->param_at[i], p->bytes);
    }
    if (fit && !by_number)
        memcpy(out, l->params, c->param_bytes);
    if (fit)
        return out;
    snprintf(error, CLOCK_ERROR, "the kernel takes %u bytes of parameters, %zu were given", c->param_bytes,
             l->param_bytes);
    free(out);
    return NULL;
}
