// wgmma: issue, commit, wait. Source: PTX ISA 9.7.16.
//
// A product is computed when its warp waits for its group: as late as PTX allows, so that a kernel which reads its
// accumulators too early, or lets its tiles be overwritten, sees it. Only where the code moves accumulators while they
// are under way (compilers may, and ptxas then sees to it) it is computed at once.
#include <stdlib.h>
#include <string.h>

#include "simt/check/check.h"
#include "simt/code/warp.h"
#include "simt/code/wgmma.h"

void wgmmas_reset(struct wgmmas *g)
{
    if (g)
        g->n = g->group = 0;
}

void wgmmas_free(struct wgmmas *g)
{
    if (g)
        free(g->all);
    free(g);
}

static struct wgmmas *wgmmas_of(struct warp *w)
{
    if (!w->wgmmas)
        w->wgmmas = calloc(1, sizeof *w->wgmmas);
    return w->wgmmas;
}

static struct wgmma_job *add(struct wgmmas *g)
{
    if (g->n == g->room) {
        const uint32_t room = 2 * g->room + 8;
        struct wgmma_job *all = realloc(g->all, room * sizeof *all);
        if (!all)
            return NULL;
        g->all = all;
        g->room = room;
    }
    return &g->all[g->n++];
}

static bool fail(struct warp *w, const struct uop *u, const char *what)
{
    warp_fault(w, u, FAULT_OTHER, ALL_LANES, 0);
    strncpy(w->block->worker->fault.text, what, sizeof w->block->worker->fault.text - 1);
    return false;
}

static bool run(struct warp *w, const struct wgmma_job *job)
{
    const struct wgmma *m = job->u->warp->more;
    w->wgmmas->current = job;
    if (m->compute(w, job->u, ALL_LANES))
        return true;
    if (!w->block->worker->check)
        return false;
    check_fault(w->block->worker);  // a finding, and the product stays as it was
    return true;
}

bool warp_wgmma(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct wgmma *m = op->more;
    struct wgmmas *g = wgmmas_of(w);
    struct wgmma_job *job = g ? add(g) : NULL;
    uint32_t next = 1;
    (void)active;  // all of them
    if (!job)
        return fail(w, u, "the simulated GPU ran out of memory for wgmma");
    job->u = u;
    job->group = g->group;
    job->a = 0;
    job->b = *(const u64 *)(w->regs + op->in[0]);
    if (m->a_in_registers) {
        for (uint32_t i = 0; i < 4; i++)
            memcpy(job->regs + 4 * LANES * i, w->regs + op->in[next++], 4 * LANES);
    } else {
        job->a = *(const u64 *)(w->regs + op->in[next++]);
    }
    job->add = m->scale_d == WGMMA_ADD || (m->scale_d == WGMMA_ADD_IF && *(const u32 *)(w->regs + op->in[next]) & 1);
    if ((!m->a_in_registers && wgmma_describe(job->a, false).base) || wgmma_describe(job->b, false).base)
        return fail(w, u,
                    "wgmma: a descriptor's matrix base offset is not 0, which is not supported: begin each tile "
                    "at a multiple of 1024 bytes");
    if (w->block->n_warps < 4 || w->index / 4 * 4 + 4 > w->block->n_warps)
        return fail(w, u, "wgmma takes a warpgroup: four whole warps, from a warp whose number is a multiple of 4");
    if (!w->block->worker->grid->code->wgmma_now)
        return true;
    const bool done = run(w, job);
    g->n--;
    return done;
}

bool warp_wgmma_commit(struct warp *w, const struct uop *u, uint32_t active)
{
    struct wgmmas *g = wgmmas_of(w);
    (void)u, (void)active;
    if (g)
        g->group++;
    return true;
}

bool warp_wgmma_wait(struct warp *w, const struct uop *u, uint32_t active)
{
    struct wgmmas *g = wgmmas_of(w);
    const uint32_t outstanding = u->warp->op;
    uint32_t done = 0;
    (void)active;
    for (; g && done < g->n && (uint64_t)g->all[done].group + outstanding < g->group; done++)
        if (!run(w, &g->all[done]))
            return false;
    if (done) {
        g->n -= done;
        memmove(g->all, g->all + done, g->n * sizeof *g->all);
    }
    return true;
}
