// The matrices that pictures of a product show, by a rule: a kernel takes M, N and K first of all integers, and A, B
// and C first of all arrays; a tensor map stands for its array.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

struct product_args {
    uint64_t sizes[3];
    const struct buffer *arrays[3];
    uint64_t addresses[3];
    int n_sizes, n_arrays;
};

static const struct buffer *buffer_at(const struct buffers *all, uint64_t address)
{
    for (size_t i = 0; i < all->n; i++)
        if (address - all->all[i].address < all->all[i].bytes)
            return &all->all[i];
    return NULL;
}

static void take(struct product_args *f, const struct buffers *all, const struct arg *a, const struct simt_parameter *p)
{
    uint64_t x = a->map ? a->tensor.address : 0;
    if (!a->map && (p->bytes > 8 || p->type.number == SIMT_FLOAT))
        return;
    if (!a->map)
        memcpy(&x, a->data, p->bytes);
    if (p->bytes == 4 && f->n_sizes < 3)
        f->sizes[f->n_sizes++] = x;
    const struct buffer *array = p->bytes >= 8 && f->n_arrays < 3 ? buffer_at(all, x) : NULL;
    if (array) {
        f->arrays[f->n_arrays] = array;
        f->addresses[f->n_arrays++] = x;
    }
}

static bool make(struct simt_matrix *m, const struct product_args *f, int i, const char *name, uint64_t rows,
                 uint64_t columns, char error[DEV_ERROR_MAX])
{
    const uint64_t elements = rows * columns, bytes = f->arrays[i]->bytes, each = elements ? bytes / elements : 0;
    *m = (struct simt_matrix){ name, f->addresses[i], rows, columns, (uint32_t)each };
    return (elements && bytes % elements == 0 && each <= 8 && !(each & (each - 1))) ||
           error_set(error,
                     "array %s has %" PRIu64 " bytes, which is no matrix of %" PRIu64 " x %" PRIu64
                     " elements: the picture takes M, N, K for the first three integers and A, B, C for the first "
                     "three arrays among the parameters",
                     name, bytes, rows, columns);
}

bool draw_find_product(const struct launch *l, const struct buffers *all, struct simt_picture *picture,
                       struct simt_product *out, char error[DEV_ERROR_MAX])
{
    struct product_args f = { 0 };
    struct simt_parameter p;
    for (uint32_t i = 0; i < l->n_args && simt_parameter(l->kernel, i, &p); i++)
        take(&f, all, &l->args[i], &p);
    const bool complete = f.n_sizes == 3 && f.n_arrays == 3;
    picture->product = complete ? out : NULL;
    if (!complete)
        return picture->view == SIMT_DRAW_TILES ||
               error_set(error,
                         "kernel %.200s has %d integers and %d arrays among its parameters; the picture needs M, N, K "
                         "and A, B, C",
                         l->about.name, f.n_sizes, f.n_arrays);
    const uint64_t m = f.sizes[0], n = f.sizes[1], k = f.sizes[2];
    return make(&out->left, &f, 0, "A", m, k, error) && make(&out->right, &f, 1, "B", k, n, error) &&
           make(&out->result, &f, 2, "C", m, n, error);
}
