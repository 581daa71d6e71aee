// simt profile --card: what the launch would take on the card.
#include <stdlib.h>
#include <string.h>

#include "command.h"

bool command_predict(const struct command *c, const struct launch *l, const struct dev_arg *args,
                     struct clock_prediction *out, char error[DEV_ERROR_MAX])
{
    unsigned char *params = simt_pack(l->kernel, args, l->n_args, error);
    struct clock_launch what = { .ptx = c->file, .kernel = l->kernel->name, .shared = (unsigned)l->shared };
    memcpy(what.grid, l->grid, sizeof what.grid);
    memcpy(what.block, l->block, sizeof what.block);
    what.params = params;
    what.param_bytes = l->kernel->code->param_bytes;
    uint32_t at[MAX_ARGS];
    what.param_at = at;
    what.n_params = params ? l->n_args : 0;
    for (uint32_t i = 0; i < what.n_params; i++)
        at[i] = simt_param_at(l->kernel, i);
    const bool ok = params && clock_predict(&what, c->card, out, error);
    free(params);
    return ok;
}
