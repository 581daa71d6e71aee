// Where the machine code expects a launch's parameters. PTX aligns each to its own needs; ptxas aligns them together
// with the bytes that stand before them in the constant bank, so that there may be gaps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

unsigned char *clock_place_params(const struct clock_launch *l, const struct cubin *c, char error[CLOCK_ERROR])
{
    unsigned char *out = calloc(1, c->param_bytes + 1);
    bool fit = out && l->n_args == c->n_params;
    for (uint32_t i = 0; fit && i < c->n_params; i++) {
        const struct cubin_param *p = &c->params[i];
        fit = l->args[i].bytes == p->bytes && p->at + p->bytes <= c->param_bytes;
        if (fit)
            memcpy(out + p->at, l->args[i].value, p->bytes);
    }
    if (fit)
        return out;
    snprintf(error, CLOCK_ERROR, "the kernel takes %u parameters of %u bytes, %zu arguments were given", c->n_params,
             c->param_bytes, l->n_args);
    free(out);
    return NULL;
}
