// simt_draw: runs a kernel for the picture that is asked for.
#include <stdlib.h>

#include "base/launch.h"
#include "draw.h"

char *simt_draw(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, const struct simt_picture *what,
                char error[DEV_ERROR_MAX])
{
    static char *(*const views[])(const struct draw_launch *, char[DEV_ERROR_MAX]) = {
        [SIMT_DRAW_ACCESS] = draw_line,       [SIMT_DRAW_TILES] = draw_tiles, [SIMT_DRAW_WALK] = draw_walk,
        [SIMT_DRAW_TIMELINE] = draw_timeline, [SIMT_DRAW_BITS] = draw_bits,
    };
    struct dev_launch how = *launch;
    s->faulted = false;
    if (!launch_settle(&how, SIMT_DEVICE, THREADS_MAX, SHARED_MAX, error))
        return NULL;
    unsigned char *params = params_pack(k, &how, error);
    const struct draw_launch l = { s, k, &how, params, what };
    char *svg = params ? views[what->view](&l, error) : NULL;
    free(params);
    return svg;
}
