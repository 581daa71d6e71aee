// The kernels that are timed, and at which sizes: see worth.h.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "steps.h"
#include "worth.h"

const int worth_sizes[WORTH_SIZES] = { 512, 1024, WORTH_SMALL, 4096, 8192 };

bool worth_has_size(const struct worth_kernel *k, int size)
{
    return size >= WORTH_SMALL || k->of == 20 || (k->of == 19 && !k->variant);
}

static const struct step *step_called(const char *name)
{
    for (size_t i = 0; i < n_steps; i++)
        if (!strcmp(steps[i]->name, name))
            return steps[i];
    return NULL;
}

// False if it has no step here, or memory runs out.
static bool add_kernel(struct worth *w, const struct step *step, const struct variant *v, int of)
{
    struct worth_kernel *k = &w->kernels[w->n];
    *k = (struct worth_kernel){ .variant = v, .of = of };
    char *ptx;
    const int n = v ? asprintf(&ptx, "%s/variants/%s.ptx", w->folder, v->name)
                    : asprintf(&ptx, "%s/%s/%s.ptx", w->folder, step->name, step->name);
    if (n < 0)
        return false;
    k->step = *step;
    k->step.ptx = ptx;
    k->step.name = v ? v->name : step->name;
    k->step.owner = NULL;
    w->n++;
    return true;
}

// The variants that belong to a step come behind it, so that they are timed close to it.
static bool add_all(struct worth *w)
{
    bool ok = true;
    for (size_t i = 0; i < n_steps && ok; i++) {
        const int of = atoi(steps[i]->name);
        if (steps[i]->type == DEV_F64)
            continue;
        ok = add_kernel(w, steps[i], NULL, of);
        for (size_t j = 0; j < w->variants.n && ok; j++) {
            const struct variant *v = &w->variants.all[j];
            const struct step *step = step_called(v->step);
            if (v->of == of && v->kind != VARIANT_WRONG && step)
                ok = add_kernel(w, step, v, of);
        }
    }
    return ok;
}

bool worth_open(struct worth *w, const char *variants, const char *folder, char error[DEV_ERROR_MAX])
{
    *w = (struct worth){ .folder = strdup(folder) };
    if (!variants_read(&w->variants, variants, error)) {
        worth_close(w);
        return false;
    }
    w->kernels = calloc(w->variants.n + n_steps, sizeof *w->kernels);
    if (w->folder && w->kernels && add_all(w))
        return true;
    worth_close(w);
    return error_set(error, "out of memory");
}

void worth_close(struct worth *w)
{
    for (size_t i = 0; i < w->n; i++)
        free((char *)w->kernels[i].step.ptx);
    free(w->kernels);
    free(w->folder);
    variants_free(&w->variants);
    *w = (struct worth){ 0 };
}
