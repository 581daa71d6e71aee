// simt profile --card: what the launch would take on the card. And what the clock is told of a launch.
#include <stdlib.h>
#include <string.h>

#include "command.h"

bool command_clock_launch(const struct command *c, const struct launch *l, const struct dev_arg *args,
                          struct clock_launch *out, uint32_t at[MAX_ARGS], char error[DEV_ERROR_MAX])
{
    *out = (struct clock_launch){ .ptx = c->file, .kernel = l->kernel->name, .shared = (unsigned)l->shared };
    memcpy(out->grid, l->grid, sizeof out->grid);
    memcpy(out->block, l->block, sizeof out->block);
    out->params = simt_pack(l->kernel, args, l->n_args, error);
    out->param_bytes = l->kernel->code->param_bytes;
    out->param_at = at;
    out->n_params = out->params ? l->n_args : 0;
    for (uint32_t i = 0; i < out->n_params; i++)
        at[i] = simt_param_at(l->kernel, i);
    return out->params;
}

// What the arrays held at first: the clock follows branches and addresses that depend on it.
static size_t known_arrays(const struct buffers *b, struct walk_array out[MAX_ARGS])
{
    size_t n = 0;
    for (size_t i = 0; i < b->n && n < MAX_ARGS; i++)
        if (b->all[i].data && b->all[i].address)
            out[n++] = (struct walk_array){ b->all[i].address, b->all[i].bytes, b->all[i].data };
    return n;
}

bool command_predict(const struct command *c, const struct launch *l, const struct dev_arg *args,
                     struct clock_prediction *out, char error[DEV_ERROR_MAX])
{
    struct clock_launch what;
    uint32_t at[MAX_ARGS];
    struct walk_array arrays[MAX_ARGS];
    bool ok = command_clock_launch(c, l, args, &what, at, error);
    if (ok) {
        what.arrays = arrays;
        what.n_arrays = known_arrays(&c->buffers, arrays);
        ok = clock_predict(&what, c->card, out, error);
    }
    free((void *)what.params);
    return ok;
}
