// A launch: whether it can be made, its blocks, and what it left. Counters are sums, and of several faults the one in
// the lowest block counts, so nothing depends on how many host threads there are.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "host_threads.h"
#include "state.h"
#include "simt/check/check.h"
#include "simt/exec/turns.h"
#include "simt/report/report.h"

uint32_t param_at(const struct simt_kernel *k, uint32_t i)
{
    uint64_t at = 0;
    for (uint32_t j = 0; j <= i; j++) {
        const struct ptx_var *v = &k->module->ptx->vars[k->func->params[j]];
        at = (at + v->align - 1) / v->align * v->align + (j < i ? v->bytes : 0);
    }
    return (uint32_t)at;
}

// The arguments laid out as the kernel's parameters, which the caller frees. NULL, with one line in error, where their
// number or sizes are not the kernel's.
static unsigned char *pack_params(const struct simt_kernel *k, const struct dev_launch *l, char error[DEV_ERROR_MAX])
{
    const struct ptx_func *f = k->func;
    if (l->n_args != f->n_params) {
        error_set(error, "kernel %.200s takes %u arguments, %zu were given", k->name, f->n_params, l->n_args);
        return NULL;
    }
    unsigned char *params = k->code ? calloc(1, k->code->param_bytes + 16u) : NULL;
    if (!params)
        error_set(error, "%s", k->code ? "out of memory" : k->error);
    for (uint32_t i = 0; params && i < l->n_args; i++) {
        const struct ptx_var *v = &k->module->ptx->vars[f->params[i]];
        if (l->args[i].bytes != v->bytes) {
            error_set(error, "kernel %.200s: argument %u has %zu bytes, the parameter has %llu", k->name, i,
                      l->args[i].bytes, (unsigned long long)v->bytes);
            free(params);
            return NULL;
        }
        memcpy(params + param_at(k, i), l->args[i].value, v->bytes);
    }
    return params;
}

// --- Can it be made? ---

static uint64_t threads_of(const unsigned block[3])
{
    return (uint64_t)block[0] * block[1] * block[2];
}

// Is the block what the kernel allows?
static bool shape_fits(const struct simt_kernel *k, const unsigned block[3], char error[DEV_ERROR_MAX])
{
    const struct ptx_func *f = k->func;
    if (f->required[0] && memcmp(f->required, block, sizeof f->required))
        return error_set(error,
                         "kernel %.200s: blocks of %u,%u,%u threads were asked for, it can only run with %u,%u,%u: its "
                         ".reqntid says so",
                         k->name, block[0], block[1], block[2], f->required[0], f->required[1], f->required[2]);
    if (f->max_threads && threads_of(block) > f->max_threads)
        return error_set(error, "kernel %.200s: a block of %llu threads was asked for, its launch bounds allow %u",
                         k->name, (unsigned long long)threads_of(block), f->max_threads);
    return true;
}

// Are the clusters what the kernel allows? Source: PTX ISA 11.7 (cluster dimension directives).
static bool clusters_fit(const struct simt_kernel *k, const unsigned cluster[3], char error[DEV_ERROR_MAX])
{
    const struct ptx_func *f = k->func;
    if (f->cluster[0] && memcmp(f->cluster, cluster, sizeof f->cluster))
        return error_set(error,
                         "kernel %.200s: clusters of %u,%u,%u blocks were asked for, it can only run with %u,%u,%u: "
                         "its .reqnctapercluster says so",
                         k->name, cluster[0], cluster[1], cluster[2], f->cluster[0], f->cluster[1], f->cluster[2]);
    if (f->explicit_cluster && !cluster[0])
        return error_set(error, "kernel %.200s is .explicitcluster: the launch has to say the clusters' size", k->name);
    if (f->max_rank && cluster[0] * cluster[1] * cluster[2] > f->max_rank)
        return error_set(error, "kernel %.200s: clusters of %u blocks were asked for, its .maxclusterrank allows %u",
                         k->name, cluster[0] * cluster[1] * cluster[2], f->max_rank);
    return true;
}

static bool shared_fits(const struct simt_kernel *k, size_t shared, char error[DEV_ERROR_MAX])
{
    if (k->code->shared_bytes > STATIC_SHARED_MAX)
        return error_set(
            error,
            "kernel %.200s declares %u bytes of __shared__ arrays, ptxas allows %d: more is to be had only as "
            "extern __shared__, by the launch",
            k->name, (unsigned)k->code->shared_bytes, STATIC_SHARED_MAX);
    if (k->code->shared_bytes + shared > SHARED_MAX)
        return error_set(error, "kernel %.200s needs %zu bytes of shared memory a block, there are %d", k->name,
                         k->code->shared_bytes + shared, SHARED_MAX);
    return true;
}

static uint64_t memory_left(const struct simt *s)
{
    return s->memory_limit > s->memory.used ? s->memory_limit - s->memory.used : 0;
}

// The code to run, or NULL with one line in error.
static const struct code *code_of(struct simt *s, struct simt_kernel *k, const struct dev_launch *l,
                                  char error[DEV_ERROR_MAX])
{
    if (!shape_fits(k, l->block, error) || !clusters_fit(k, l->cluster, error) || !shared_fits(k, l->shared, error))
        return NULL;
    const struct code *code = s->checks ? simt_checked_code(s, k) : k->code;
    if (!code) {
        error_set(error, "kernel %.200s: out of memory for the checks", k->name);
        return NULL;
    }
    const uint64_t threads = threads_of(l->block), bytes = seat_bytes(code, threads, 0);
    if (bytes > memory_left(s)) {
        error_set(
            error,
            "kernel %.200s: a block of %llu threads needs %llu MiB for its registers and local memory, which is more "
            "than there is",
            k->name, (unsigned long long)threads, (unsigned long long)(bytes >> 20));
        return NULL;
    }
    return code;
}

// --- Its blocks ---

// At least 1, as many as there is memory for.
static unsigned count_threads(const struct simt *s, const struct job *job)
{
    const struct grid *g = job->grid;
    if (job->resident)
        return 1;
    uint64_t n = s->jobs ? s->jobs : host_processors();
    uint64_t room = memory_left(s) / (g->cluster_blocks * seat_bytes(g->code, g->threads, 0) + 1);
    n = n < job->n_clusters ? n : job->n_clusters;
    n = n < room ? n : room;
    return n > SIMT_JOBS_MAX ? SIMT_JOBS_MAX : n ? (unsigned)n : 1;
}

// Clusters that are on the card at a time, where they take turns: as many as there is memory for, too.
static uint64_t count_resident(const struct simt *s, const struct grid *g, uint32_t shared)
{
    const uint64_t resident = turns_resident(g->threads, shared) / g->cluster_blocks;
    const uint64_t room = memory_left(s) / (g->cluster_blocks * seat_bytes(g->code, g->threads, g->shared_bytes));
    const uint64_t fits = resident < room ? resident : room;
    return fits ? fits : 1;
}

// --- What it left ---

// The findings of all threads, in all[0]'s checker. False when memory ran out.
static bool collect(struct simt *s, const struct simt_kernel *k, struct job *job, struct host_thread *all, unsigned n)
{
    const uint64_t stop = atomic_load(&job->stop);
    struct checker *sum = all[0].worker.check;
    size_t n_found;
    for (unsigned i = 1; i < n; i++)
        check_add(sum, all[i].worker.check);
    check_finish(sum, &s->memory, stop == UINT64_MAX);
    struct found *found = check_found(sum, stop, &n_found);
    bool ok =
        found && check_complete(sum) && report_findings(&s->findings, &s->findings_arena, k, job->grid, found, n_found);
    free(found);
    return ok;
}

// The counters of all threads, and what went wrong.
static bool finish(struct simt *s, const struct simt_kernel *k, struct job *job, struct host_thread *all, unsigned n,
                   char error[DEV_ERROR_MAX])
{
    const struct fault *first = host_threads_sum(all, n);
    if (first && first->kind == FAULT_STOPPED)
        return true;
    if (first) {
        report_fault(&s->failure, &s->findings_arena, k, job->grid, first, error);
        return false;
    }
    if (s->checks && !collect(s, k, job, all, n))
        return error_set(error, "kernel %.200s: out of memory for what the checks remember", k->name);
    if (!s->checks)
        memory_write_all(&s->memory);
    s->profiled = report_profile(&s->profile, &s->profile_names, k, job->grid, &all[0].worker);
    return s->profiled || error_set(error, "out of memory for the counters");
}

// From block `first` on.
static bool run(struct simt *s, const struct simt_kernel *k, struct grid *g, uint32_t shared, uint64_t first,
                char error[DEV_ERROR_MAX])
{
    struct job job = { .grid = g,
                       .n_clusters = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2] / g->cluster_blocks,
                       .resident = g->turns ? count_resident(s, g, shared) : 0,
                       .progress = s->progress };
    atomic_store(&job.next, first / g->cluster_blocks);
    atomic_store(&job.stop, UINT64_MAX);
    const unsigned n = count_threads(s, &job);
    struct host_thread *all = launch_memory_place(s, g) ? host_threads_new(&job, n, s->checks) : NULL;
    const uint64_t blocks = job.n_clusters * g->cluster_blocks;
    if (job.progress)
        job.progress(0, blocks);
    if (all)
        host_threads_run(all, n);
    if (job.progress)
        job.progress(blocks, blocks);
    s->waited = !g->early;
    for (unsigned i = 0; all && i < n; i++)
        s->waited |= all[i].worker.waited;
    bool ok = all ? finish(s, k, &job, all, n, error) : error_set(error, "out of memory for %u host threads", n);
    host_threads_free(all, n);
    launch_memory_release(s, g);
    return ok;
}

// The launch with its parameters laid out.
static bool launch(struct simt *s, struct simt_kernel *k, const struct dev_launch *l, const unsigned char *params,
                   char error[DEV_ERROR_MAX])
{
    const struct code *code = code_of(s, k, l, error);
    if (!code)
        return false;
    struct grid g = { .exec = s->exec,
                      .code = code,
                      .memory = &s->memory,
                      .params = params,
                      .clustered = l->cluster[0],
                      .cluster_blocks = 1,
                      .threads = (uint32_t)threads_of(l->block),
                      .shared_bytes = code->shared_bytes + (uint32_t)l->shared,
                      .budget = s->budget,
                      .out = s->out ? s->out : stdout,
                      .eager = l->eager,
                      .apart = l->apart,
                      .turns = code->ordered || code->orders_blocks,
                      .early = l->early && s->checks && code->waits_for_launch,
                      .trace = s->trace,
                      .watching = s->watching,
                      .observed = s->trace || s->watching };
    for (int i = 0; i < 3; i++) {
        g.grid[i] = l->grid[i];
        g.block[i] = l->block[i];
        g.cluster[i] = l->cluster[0] ? l->cluster[i] : 1;
        g.cluster_blocks *= g.cluster[i];
    }
    g.turns |= s->checks && code->orders_cluster && g.cluster_blocks > 1;  // it orders blocks in global memory, too
    memory_begin_launch(&s->memory, g.early, s->waited);
    return run(s, k, &g, k->code->shared_bytes + (uint32_t)l->shared, l->first, error);
}

bool simt_launch(struct simt *s, struct simt_kernel *k, const struct dev_launch *how, char error[DEV_ERROR_MAX])
{
    struct dev_launch l = *how;
    s->profiled = false;
    s->failure.kind = SIMT_NOTHING;
    s->findings.n = s->findings.n_advice = 0;
    if (!l.cluster[0] && !l.cluster[1] && !l.cluster[2])
        memcpy(l.cluster, k->func->cluster, sizeof l.cluster);
    if (!launch_settle(&l, SIMT_DEVICE, THREADS_MAX, SHARED_MAX, error))
        return false;
    unsigned char *params = pack_params(k, &l, error);
    const bool ok = params && launch(s, k, &l, params, error);
    free(params);
    return ok;
}

void simt_sync(struct simt *s)
{
    memory_settle(&s->memory);
}

const struct simt_finding *simt_failure(const struct simt *s)
{
    return s->failure.kind ? &s->failure : NULL;
}

const struct profile *simt_profile(const struct simt *s)
{
    return s->profiled ? &s->profile : NULL;
}

const struct simt_findings *simt_findings(const struct simt *s)
{
    return s->checks && s->profiled ? &s->findings : NULL;
}
