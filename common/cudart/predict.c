// How long a launch takes on the card, asked of the clock (simt/simt.h) before it runs, since what it finds in memory
// matters. A launch with the shape and the arguments of one before takes as long as that.
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

struct predicted {
    struct predicted *next;
    const void *host;
    unsigned grid[3], block[3];
    size_t shared, bytes;
    unsigned char *arguments;
    double ms;  // negative: it cannot be predicted
    char bound[DEV_ERROR_MAX];
};

static size_t pack(const struct dev_launch *l, unsigned char **out)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_args; i++)
        n += l->args[i].bytes;
    unsigned char *to = *out = malloc(n + 1);
    for (size_t i = 0; to && i < l->n_args; to += l->args[i++].bytes)
        memcpy(to, l->args[i].value, l->args[i].bytes);
    return n;
}

static bool same(const struct predicted *a, const struct predicted *b)
{
    return a->host == b->host && !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->block, b->block, sizeof a->block) && a->shared == b->shared && a->bytes == b->bytes &&
           !memcmp(a->arguments, b->arguments, a->bytes);
}

static void predict(const struct cudart_launch *l, struct predicted *p)
{
    struct simt_array *arrays = NULL;
    const char *device, *ptx = cudart_kernel_ptx(l->host, &device);
    p->ms = -1;
    error_set(p->bound, "its PTX cannot be written to a file");
    if (!ptx)
        return;
    const size_t n = cudart_memory_copy(&arrays);
    const struct simt_timing t = { .ptx = ptx, .kernel = device, .launch = l->how, .arrays = arrays, .n_arrays = n };
    struct simt_prediction *made = simt_predict(&t, cudart_card(), p->bound);
    if (made) {
        p->ms = simt_predicted_ms(made);
        snprintf(p->bound, sizeof p->bound, "%s", simt_predicted_bound(made));
    }
    simt_prediction_free(made);
    cudart_memory_free(arrays, n);
}

double cudart_predict(const struct cudart_launch *l, const char **bound)
{
    static struct predicted *all;
    struct predicted *p = calloc(1, sizeof *p), *old = all;
    *bound = "out of memory";
    if (!p)
        return -1;
    *p = (struct predicted){ .next = all, .host = l->host, .shared = l->how->shared };
    memcpy(p->grid, l->how->grid, sizeof p->grid);
    memcpy(p->block, l->how->block, sizeof p->block);
    p->bytes = pack(l->how, &p->arguments);
    while (p->arguments && old && !same(old, p))
        old = old->next;
    if (old || !p->arguments) {
        free(p->arguments);
        free(p);
        p = old;
    } else {
        predict(l, p);
        all = p;
    }
    *bound = p ? p->bound : *bound;
    return p ? p->ms : -1;
}
