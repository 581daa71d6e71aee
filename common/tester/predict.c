// See predict.h.
#include "predict.h"

#include <string.h>

#include "base/error.h"
#include "choose.h"
#include "gemm.h"
#include "simt/machine/tensor_map.h"

enum { PARAMS = 1024 };  // bytes: room for three tensor maps, each at a multiple of its size

struct laid_out {  // a launch, as the clock wants it
    struct clock_launch launch;
    unsigned char params[PARAMS];
    uint32_t param_at[GEMM_ARGS];
};

struct predicted_launch {
    struct gemm gemm;
    char kernel[GEOMETRY_KERNEL];
    struct laid_out main, packs[2];
    int n_packs;  // that run before it
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

static bool lay_out(struct laid_out *out, const char *ptx, const char *kernel, const struct dev_launch *l,
                    char error[DEV_ERROR_MAX])
{
    size_t at = 0;
    out->launch = (struct clock_launch){ .ptx = ptx, .kernel = kernel, .shared = (unsigned)l->shared };
    for (int i = 0; i < 3; i++) {
        out->launch.grid[i] = l->grid[i] ? l->grid[i] : 1;
        out->launch.block[i] = l->block[i] ? l->block[i] : 1;
    }
    for (size_t i = 0; i < l->n_args; i++) {
        const size_t bytes = l->args[i].bytes;
        at = (at + bytes - 1) / bytes * bytes;  // a parameter is aligned to its size
        if (at + bytes > PARAMS)
            return error_set(error, "%s: its parameters take more than %d bytes", ptx, PARAMS);
        memcpy(out->params + at, l->args[i].value, bytes);
        out->param_at[i] = (uint32_t)at;
        at += bytes;
    }
    out->launch.params = out->params;
    out->launch.param_bytes = at;
    out->launch.param_at = out->param_at;
    out->launch.n_params = l->n_args;
    return true;
}

static bool lay_out_packs(struct predicted_launch *p, const char *ptx, char error[DEV_ERROR_MAX])
{
    const struct gemm_operand *both[] = { &p->gemm.a, &p->gemm.b };
    p->n_packs = 0;
    for (int i = 0; i < 2; i++)
        if (both[i]->packed && !lay_out(&p->packs[p->n_packs++], ptx, "pack", &both[i]->launch, error))
            return false;
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
    if (!gemm_prepare(&p->gemm, step->type, &g, error))
        return false;
    if (g.box)
        gemm_plan_packs(&p->gemm, step->type, (dev_ptr)4 << 40, (dev_ptr)5 << 40);
    memcpy(p->kernel, g.kernel, sizeof p->kernel);
    return make_maps(&p->gemm, step->type, &g, error) && lay_out(&p->main, ptx, p->kernel, &p->gemm.launch, error) &&
           lay_out_packs(p, ptx, error);
}

bool predict_step(const struct step *step, const struct tester_options *o, const struct card *card,
                  struct clock_prediction *out, char error[DEV_ERROR_MAX])
{
    struct predicted_launch p;
    *out = (struct clock_prediction){ 0 };
    if (!prepare(step, o, card, &p, error) || !clock_predict(&p.main.launch, card, out, error))
        return false;
    for (int i = 0; i < p.n_packs; i++) {
        struct clock_prediction pack;
        if (!clock_predict(&p.packs[i].launch, card, &pack, error)) {
            clock_free(out);
            return false;
        }
        clock_put_before(out, &pack);
        clock_free(&pack);
    }
    return true;
}

bool predict_counts(const struct step *step, const struct tester_options *o, const struct card *card,
                    struct clock_counts *out, char error[DEV_ERROR_MAX])
{
    struct predicted_launch p;
    return prepare(step, o, card, &p, error) && clock_count(&p.main.launch, card, out, error);
}
