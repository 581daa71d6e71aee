// See predict.h.
#include "predict.h"

#include <string.h>

#include "base/error.h"
#include "choose.h"
#include "gemm.h"

struct predicted_launch {
    struct gemm gemm;
    const char *ptx;
    char kernel[GEOMETRY_KERNEL];
};

static bool make_maps(struct gemm *c, enum dev_type type, const struct geometry *g, char error[DEV_ERROR_MAX])
{
    struct gemm_tensor tensors[GEMM_TENSORS];
    size_t n;
    if (!gemm_tensors(c, type, g, tensors, &n, error))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!simt_tensor_map(&tensors[i].tensor, tensors[i].map, error))
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
    p->ptx = o->ptx ? o->ptx : step->ptx;
    if (!geometries_read(p->ptx, &all, error))
        return false;
    const struct geometry g = choose_geometry(&all, o->m, o->n, o->k, p->gemm.sms);
    if (!gemm_prepare(&p->gemm, step->type, &g, error))
        return false;
    if (g.box)
        gemm_plan_packs(&p->gemm, step->type, (dev_ptr)4 << 40, (dev_ptr)5 << 40);
    memcpy(p->kernel, g.kernel, sizeof p->kernel);
    return make_maps(&p->gemm, step->type, &g, error);
}

static struct simt_timing timing_of(const struct predicted_launch *p)
{
    return (struct simt_timing){ .ptx = p->ptx, .kernel = p->kernel, .launch = &p->gemm.launch };
}

struct simt_prediction *predict_step_by(const struct step *step, const struct tester_options *o,
                                        const struct card *card, predict_launch *predict, const void *how,
                                        char error[DEV_ERROR_MAX])
{
    struct predicted_launch p;
    if (!prepare(step, o, card, &p, error))
        return NULL;
    const struct simt_timing main = timing_of(&p);
    const struct gemm_operand *both[] = { &p.gemm.a, &p.gemm.b };
    struct simt_prediction *all = predict(&main, card, how, error);
    for (int i = 0; all && i < 2; i++) {
        if (!both[i]->packed)
            continue;
        const struct simt_timing t = { .ptx = p.ptx, .kernel = "pack", .launch = &both[i]->launch };
        struct simt_prediction *pack = predict(&t, card, how, error);
        if (!pack) {
            simt_prediction_free(all);
            return NULL;
        }
        simt_prediction_after(all, pack);
        simt_prediction_free(pack);
    }
    return all;
}

static struct simt_prediction *as_ever(const struct simt_timing *t, const struct card *card, const void *how,
                                       char error[DEV_ERROR_MAX])
{
    (void)how;
    return simt_predict(t, card, error);
}

struct simt_prediction *predict_step(const struct step *step, const struct tester_options *o, const struct card *card,
                                     char error[DEV_ERROR_MAX])
{
    return predict_step_by(step, o, card, as_ever, NULL, error);
}

bool predict_counts(const struct step *step, const struct tester_options *o, const struct card *card,
                    struct simt_counts *out, char error[DEV_ERROR_MAX])
{
    struct predicted_launch p;
    if (!prepare(step, o, card, &p, error))
        return false;
    const struct simt_timing t = timing_of(&p);
    return simt_count(&t, card, out, error);
}
