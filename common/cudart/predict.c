// How long a launch takes on the card, asked of the clock (simt/simt.h). What it finds in memory matters, so a copy of
// that is made before it runs; and the clock is asked when it has ended, since some never do. A launch with the shape
// and the arguments of one before takes as long as that.
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

struct cudart_prediction {
    struct cudart_prediction *next;
    const void *host;
    unsigned grid[3], block[3];
    size_t shared, bytes;
    unsigned char *arguments;
    struct simt_array *arrays;  // what memory holds before it runs, until the clock has been asked
    size_t n_arrays;
    bool asked;
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

static bool same(const struct cudart_prediction *a, const struct cudart_prediction *b)
{
    return a->host == b->host && !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->block, b->block, sizeof a->block) && a->shared == b->shared && a->bytes == b->bytes &&
           !memcmp(a->arguments, b->arguments, a->bytes);
}

static void ask(const struct cudart_launch *l, struct cudart_prediction *p)
{
    const char *device, *ptx = cudart_kernel_ptx(l->host, &device);
    p->ms = -1;
    error_set(p->bound, "its PTX cannot be written to a file");
    if (!ptx)
        return;
    const struct simt_timing t = {
        .ptx = ptx, .kernel = device, .launch = l->how, .arrays = p->arrays, .n_arrays = p->n_arrays
    };
    struct simt_prediction *made = simt_predict(&t, cudart_card(), p->bound);
    if (made) {
        p->ms = simt_predicted_ms(made);
        snprintf(p->bound, sizeof p->bound, "%s", simt_predicted_bound(made));
    }
    simt_prediction_free(made);
}

struct cudart_prediction *cudart_prediction_begin(const struct cudart_launch *l)
{
    static struct cudart_prediction *all;
    struct cudart_prediction *p = calloc(1, sizeof *p), *old = all;
    if (!p)
        return NULL;
    *p = (struct cudart_prediction){ .next = all, .host = l->host, .shared = l->how->shared };
    memcpy(p->grid, l->how->grid, sizeof p->grid);
    memcpy(p->block, l->how->block, sizeof p->block);
    p->bytes = pack(l->how, &p->arguments);
    while (p->arguments && old && !same(old, p))
        old = old->next;
    if (old || !p->arguments) {
        free(p->arguments);
        free(p);
        return old;
    }
    p->n_arrays = cudart_memory_copy(&p->arrays);
    return all = p;
}

double cudart_predicted(struct cudart_prediction *p, const struct cudart_launch *l, const char **bound)
{
    *bound = p ? p->bound : "out of memory";
    if (p && !p->asked) {
        ask(l, p);
        p->asked = true;
        cudart_memory_free(p->arrays, p->n_arrays);
        p->arrays = NULL;
    }
    return p ? p->ms : -1;
}
