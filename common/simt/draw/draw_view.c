// simt_draw: runs a kernel for the picture that is asked for.
#include "base/launch.h"
#include "draw.h"

// Is all of it in one allocation?
static bool is_there(const struct memory *memory, const struct simt_matrix *m, char error[DEV_ERROR_MAX])
{
    uint64_t bytes;
    return (m->rows && m->columns && m->bytes && !__builtin_mul_overflow(m->rows, m->columns, &bytes) &&
            !__builtin_mul_overflow(bytes, m->bytes, &bytes) && memory_at(memory, m->address, bytes)) ||
           error_set(error, "matrix %.40s is not in device memory", m->name);
}

static bool product_fits(const struct memory *memory, const struct simt_product *p, char error[DEV_ERROR_MAX])
{
    const struct simt_matrix *const l = &p->left, *const r = &p->right, *const c = &p->result;
    if (l->columns != r->rows || c->rows != l->rows || c->columns != r->columns)
        return error_set(error, "%.40s, %.40s and %.40s are no product: their rows and columns do not go together",
                         l->name, r->name, c->name);
    return is_there(memory, l, error) && is_there(memory, r, error) && is_there(memory, c, error);
}

char *simt_draw(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, const struct simt_picture *what,
                char error[DEV_ERROR_MAX])
{
    static char *(*const views[])(const struct draw_launch *, char[DEV_ERROR_MAX]) = {
        [SIMT_DRAW_ACCESS] = draw_line,       [SIMT_DRAW_TILES] = draw_tiles, [SIMT_DRAW_WALK] = draw_walk,
        [SIMT_DRAW_TIMELINE] = draw_timeline, [SIMT_DRAW_BITS] = draw_bits,
    };
    struct dev_launch how = *launch;
    s->failure.kind = SIMT_NOTHING;
    if (!launch_settle(&how, SIMT_DEVICE, THREADS_MAX, SHARED_MAX, error))
        return NULL;
    if (what->product && !product_fits(&s->memory, what->product, error))
        return NULL;
    return views[what->view](&(struct draw_launch){ s, k, &how, what }, error);
}
