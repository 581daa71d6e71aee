// See probe.h.
#include "probe.h"

#include <time.h>

#include "device/open.h"
#include "device/sim.h"
#include "gemm.h"

// Of this process, all its threads together: it does not depend on what else the computer does.
static double now(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

bool probe_open(struct probe *p, const struct step *step, const struct geometry *g, bool simulated, int jobs)
{
    char ignored[DEV_ERROR_MAX];
    *p = (struct probe){ .type = step->type, .geometry = *g, .ptx = step->ptx, .end = now() + PROBE_SECONDS };
    p->dev = dev_open(simulated ? DEV_SIM : DEV_GPU, ignored);
    if (!p->dev)
        return false;
    dev_set_jobs(p->dev, (unsigned)jobs);
    p->module = dev_load(p->dev, step->ptx);
    return p->module;
}

void probe_close(struct probe *p)
{
    if (p->module)
        dev_unload(p->dev, p->module);
    dev_close(p->dev);
}

void probe_borrow(struct probe *p, struct dev *d, struct dev_module *module, enum dev_type type)
{
    *p = (struct probe){ .dev = d, .module = module, .type = type, .end = now() + PROBE_SECONDS };
}

bool probe_fill(struct probe_data *x, enum dev_type type, const struct tester_options *o)
{
    *x = (struct probe_data){ matrix_new(type, o->m, o->k), matrix_new(type, o->k, o->n), matrix_new(type, o->m, o->n),
                              matrix_new(type, o->m, o->n) };
    if (!x->A.data || !x->B.data || !x->C0.data || !x->C.data)
        return false;
    matrix_fill_random(&x->A, matrix_hash(o->seed, 1));
    matrix_fill_random(&x->B, matrix_hash(o->seed, 2));
    matrix_fill_random(&x->C0, matrix_hash(o->seed, 3));
    return true;
}

void probe_release(struct probe_data *x)
{
    matrix_free(&x->A);
    matrix_free(&x->B);
    matrix_free(&x->C0);
    matrix_free(&x->C);
}

bool probe_over(const struct probe *p)
{
    return now() >= p->end;
}

static bool upload(struct dev *d, const char *name, const struct matrix *m, dev_ptr *to)
{
    return dev_alloc(d, name, matrix_bytes(m), to) && dev_upload(d, *to, m->data, matrix_bytes(m));
}

static bool watch(struct probe *p, const struct gemm *call, struct probe_watch *w)
{
    bool go_on;
    dev_set_budget(p->dev, call->budget);
    w->call = call;
    w->kernel = (struct simt_kernel *)call->kernel;
    return device_simt(p->dev) && gemm_queue_copies(call, p->dev, &go_on) && go_on &&
           simt_watch(device_simt(p->dev), (struct simt_kernel *)call->kernel, &call->launch, &w->watch, p->error);
}

static bool open_call(struct probe *p, struct gemm *call)
{
    if (!gemm_open(call, p->dev, p->module, p->geometry.kernel, p->type, &p->geometry, p->error))
        return false;
    const unsigned *grid = call->launch.grid;
    call->launch.first = p->last ? (uint64_t)grid[0] * grid[1] - 1 : 0;
    call->launch.eager = p->eager;
    return true;
}

// Under the checks and without C0, C is uninitialised before the launch. w: NULL, or who looks on.
static bool launch(struct probe *p, const struct probe_product *x, struct matrix *C, bool checked,
                   struct probe_watch *w)
{
    struct dev *d = p->dev;
    *p->error = 0;
    struct gemm call = {
        .m = C->rows, .n = C->cols, .k = x->A->cols, .alpha = x->alpha, .beta = x->beta, .sms = p->sms
    };
    dev_set_checks(d, checked);
    bool ok = upload(d, "A", x->A, &call.A) && upload(d, "B", x->B, &call.B);
    if (x->C0) {
        ok = ok && upload(d, "C", x->C0, &call.C);
    } else {
        matrix_fill_nan(C);
        ok = ok && (checked ? dev_alloc(d, "C", matrix_bytes(C), &call.C) : upload(d, "C", C, &call.C));
    }
    ok = ok && open_call(p, &call) && (w ? watch(p, &call, w) : gemm_queue(&call, d)) && dev_sync(d) &&
         dev_download(d, C->data, call.C, matrix_bytes(C));
    if (!ok && !*p->error)
        error_set(p->error, "%s", dev_error(d));
    gemm_close(&call, d);
    const dev_ptr all[] = { call.A, call.B, call.C };
    for (int i = 0; i < 3; i++)
        if (all[i])
            dev_free(d, all[i]);
    return ok;
}

bool probe_run(struct probe *p, const struct probe_product *x, struct matrix *C)
{
    return !probe_over(p) && launch(p, x, C, false, NULL);
}

const struct simt_findings *probe_check(struct probe *p, const struct probe_product *x, struct matrix *C)
{
    return !probe_over(p) && launch(p, x, C, true, NULL) ? dev_findings(p->dev) : NULL;
}

bool probe_look(struct probe *p, const struct probe_product *x, struct matrix *C, struct probe_watch *w)
{
    return !probe_over(p) && launch(p, x, C, w->checked, w);
}
