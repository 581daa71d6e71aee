// See predict.h.
#include "predict.h"

#include <string.h>

#include "base/error.h"
#include "choose.h"
#include "gemm.h"
#include "simt/machine/tensor_map.h"

enum { PARAMS = 1024 };  // bytes: room for three tensor maps, each at a multiple of its size

struct predicted_launch {
    struct gemm gemm;
    char kernel[GEOMETRY_KERNEL];
    struct clock_launch launch;
    unsigned char params[PARAMS];
    uint32_t param_at[GEMM_ARGS];
};

static bool make_maps(struct gemm *c, enum dev_type type, const struct geometry *g, char error[DEV_ERROR_MAX])
{
    struct gemm_tensor tensors[GEMM_TENSORS];
    size_t n;
    if (!gemm_tensors(c, type, g, tensors, &n, error))
        return false;
    for (size_t i = 0; i < n; i++)
        tensor_map_make(&tensors[i].tensor, tensors[i].map);
    return true;
}

// Matrices as far apart as those of a GPU; where they lie does not matter.
static bool prepare(const struct step *step, const struct tester_options *o, const struct card *card,
                    struct predicted_launch *p, char error[DEV_ERROR_MAX])
{
    struct geometries all;
    p->gemm = (struct gemm){ .m = o->m, .n = o->n, .k = o->k, .alpha = o->alpha, .beta = o->beta };
    p->gemm.sms = (int)card->sms;
    p->gemm.A = (dev_ptr)1 << 40;
    p->gemm.B = (dev_ptr)2 << 40;
    p->gemm.C = (dev_ptr)3 << 40;
    const char *ptx = o->ptx ? o->ptx : step->ptx;
    if (!geometries_read(ptx, &all, error))
        return false;
    const struct geometry g = choose_geometry(&all, o->m, o->n, o->k, p->gemm.sms);
    if (!gemm_prepare(&p->gemm, step->type, &g, error) || !make_maps(&p->gemm, step->type, &g, error))
        return false;
    memcpy(p->kernel, g.kernel, sizeof p->kernel);
    const struct dev_launch *l = &p->gemm.launch;
    p->launch = (struct clock_launch){ .ptx = ptx, .kernel = p->kernel, .shared = (unsigned)l->shared };
    memcpy(p->launch.grid, l->grid, sizeof l->grid);
    memcpy(p->launch.block, l->block, sizeof l->block);
    size_t at = 0;
    for (size_t i = 0; i < l->n_args; i++) {
        const size_t bytes = l->args[i].bytes;
        at = (at + bytes - 1) / bytes * bytes;  // a parameter is aligned to its size
        if (at + bytes > PARAMS)
            return error_set(error, "%s: its parameters take more than %d bytes", ptx, PARAMS);
        memcpy(p->params + at, l->args[i].value, bytes);
        p->param_at[i] = (uint32_t)at;
        at += bytes;
    }
    p->launch.params = p->params;
    p->launch.param_bytes = at;
    p->launch.param_at = p->param_at;
    p->launch.n_params = l->n_args;
    return true;
}

bool predict_step(const struct step *step, const struct tester_options *o, const struct card *card,
                  struct clock_prediction *out, char error[DEV_ERROR_MAX])
{
    struct predicted_launch p;
    *out = (struct clock_prediction){ 0 };
    return prepare(step, o, card, &p, error) && clock_predict(&p.launch, card, out, error);
}

bool predict_counts(const struct step *step, const struct tester_options *o, const struct card *card,
                    struct clock_counts *out, char error[DEV_ERROR_MAX])
{
    struct predicted_launch p;
    return prepare(step, o, card, &p, error) && clock_count(&p.launch, card, out, error);
}
