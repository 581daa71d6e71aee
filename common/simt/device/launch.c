// A launch: host threads take blocks in order until none is left, each with its own registers, shared memory and
// counters. Counters are sums, and of several faults the one in the lowest block counts, so nothing depends on how many
// threads there are. Where blocks may wait for one another, one host thread runs them all, in turns (turns.h).
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simt/check/check.h"
#include "simt.h"
#include "simt/exec/turns.h"
#include "simt/report/report.h"

struct crew {  // what the threads of a launch share
    const struct exec *exec;
    const struct grid *grid;
    uint64_t n_blocks;
    dev_progress *progress;
    uint64_t resident;      // blocks that are on the card at a time, where they take turns
    _Atomic uint64_t next;  // the next block to take
    _Atomic uint64_t stop;  // blocks from here on need not run: a lower one has faulted
};

struct hand {
    _Alignas(256) struct crew *crew;  // so that no two threads write to one line of the host's caches
    struct worker worker;
    pthread_t thread;
    bool first;        // of the thread that launches
    struct seat seat;  // where blocks do not take turns
    void *memory[2];
};

static void *take(struct hand *h, unsigned slot, size_t count, size_t size)
{
    void *p = NULL;
    if (posix_memalign(&p, 128, count * size + 128))
        return NULL;
    memset(p, 0, count * size);
    return h->memory[slot] = p;
}

static bool hire(struct hand *h, struct crew *crew, bool checks)
{
    const struct grid *g = crew->grid;
    const struct code *c = g->code;
    struct worker *w = &h->worker;
    h->crew = crew;
    w->grid = g;
    w->uop_counts = take(h, 0, c->n_uops, sizeof *w->uop_counts + sizeof *w->runs);
    w->mem_counts = take(h, 1, c->n_memops + 1, sizeof *w->mem_counts + sizeof *w->memos);
    if (!w->uop_counts || !w->mem_counts)
        return false;
    if (checks && !(w->check = check_new(g, c->n_memops)))
        return false;
    w->runs = (uint64_t *)(w->uop_counts + c->n_uops);
    w->memos = (struct mem_memo *)(w->mem_counts + c->n_memops + 1);
    return crew->resident || seat_new(&h->seat, w);
}

static void dismiss(struct hand *h)
{
    seat_free(&h->seat);
    check_free(h->worker.check);
    for (size_t i = 0; i < sizeof h->memory / sizeof *h->memory; i++)
        free(h->memory[i]);
}

static void *work(void *arg)
{
    struct hand *h = arg;
    struct crew *crew = h->crew;
    struct worker *w = &h->worker;
    seat_enter(&h->seat, w);
    for (;;) {
        uint64_t i = atomic_fetch_add(&crew->next, 1);
        if (i >= crew->n_blocks || i >= atomic_load(&crew->stop))
            return NULL;
        seat_place(w, i);
        if (i && h->first && crew->progress)
            crew->progress(i, crew->n_blocks);
        crew->exec->run_block(w);
        const enum fault_kind kind = w->fault.kind;
        if (kind != FAULT_NONE && w->check)
            check_fault(w);
        if (kind == FAULT_NONE || (w->check && kind != FAULT_BUDGET && kind != FAULT_WAIT))
            continue;
        uint64_t stop = atomic_load(&crew->stop);
        while (i < stop && !atomic_compare_exchange_weak(&crew->stop, &stop, i))
            ;
        return NULL;
    }
}

static void add_counts(struct worker *sum, const struct worker *w, const struct code *c)
{
    for (uint32_t i = 0; i < c->n_uops; i++) {
        sum->uop_counts[i].warps += w->uop_counts[i].warps;
        sum->uop_counts[i].idle += w->uop_counts[i].idle;
        sum->uop_counts[i].split += w->uop_counts[i].split;
        sum->runs[i] += w->runs[i];
    }
    for (uint32_t i = 0; i < c->n_memops; i++) {
        sum->mem_counts[i].requests += w->mem_counts[i].requests;
        sum->mem_counts[i].sectors += w->mem_counts[i].sectors;
        sum->mem_counts[i].waves += w->mem_counts[i].waves;
        sum->mem_counts[i].conflicts += w->mem_counts[i].conflicts;
        sum->mem_counts[i].ideal += w->mem_counts[i].ideal;
        sum->mem_counts[i].extra += w->mem_counts[i].extra;
        sum->mem_counts[i].loads += w->mem_counts[i].loads;
        sum->mem_counts[i].load_waves += w->mem_counts[i].load_waves;
    }
}

static uint64_t memory_left(const struct simt *s)
{
    return s->memory_limit > s->memory.used ? s->memory_limit - s->memory.used : 0;
}

// At least 1, as many as there is memory for.
static unsigned count_jobs(const struct simt *s, const struct grid *g, const struct crew *crew)
{
    if (crew->resident)
        return 1;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = s->jobs ? s->jobs : online > 0 ? (uint64_t)online : 1;
    uint64_t room = memory_left(s) / (seat_bytes(g->code, g->threads, 0) + 1);
    jobs = jobs < crew->n_blocks ? jobs : crew->n_blocks;
    jobs = jobs < room ? jobs : room;
    return jobs > SIMT_JOBS_MAX ? SIMT_JOBS_MAX : jobs ? (unsigned)jobs : 1;
}

unsigned char *simt_pack(const struct simt_kernel *k, const struct dev_arg *args, size_t n, char error[DEV_ERROR_MAX])
{
    const struct ptx_func *f = k->func;
    if (n != f->n_params) {
        snprintf(error, DEV_ERROR_MAX, "kernel %.200s takes %u arguments, %zu were given", k->name, f->n_params, n);
        return NULL;
    }
    unsigned char *params = calloc(1, k->code->param_bytes + 16u);
    if (!params)
        snprintf(error, DEV_ERROR_MAX, "out of memory");
    uint64_t at = 0;
    for (uint32_t i = 0; params && i < n; i++) {
        const struct ptx_var *v = &k->module->ptx->vars[f->params[i]];
        if (args[i].bytes != v->bytes) {
            snprintf(error, DEV_ERROR_MAX, "kernel %.200s: argument %u has %zu bytes, the parameter has %llu", k->name,
                     i, args[i].bytes, (unsigned long long)v->bytes);
            free(params);
            return NULL;
        }
        at = (at + v->align - 1) / v->align * v->align;
        memcpy(params + at, args[i].value, v->bytes);
        at += v->bytes;
    }
    return params;
}

static void run_crew(struct hand *hands, unsigned jobs)
{
    unsigned started = 0;
    struct crew *crew = hands[0].crew;
    if (crew->resident) {
        const struct turns turns = { crew->exec, &hands[0].worker, crew->n_blocks, crew->resident, crew->progress };
        atomic_store(&crew->stop, turns_run(&turns));
        return;
    }
    for (unsigned i = 1; i < jobs && !pthread_create(&hands[i].thread, NULL, work, &hands[i]); i++)
        started = i;
    work(&hands[0]);
    for (unsigned i = 1; i <= started; i++)
        pthread_join(hands[i].thread, NULL);
}

// The findings of all hands, in hands[0]'s checker. False when memory ran out.
static bool collect(struct simt *s, const struct simt_kernel *k, struct crew *crew, struct hand *hands, unsigned jobs)
{
    const uint64_t stop = atomic_load(&crew->stop);
    struct checker *sum = hands[0].worker.check;
    size_t n;
    for (unsigned i = 1; i < jobs; i++)
        check_add(sum, hands[i].worker.check);
    check_finish(sum, &s->memory, stop == UINT64_MAX);
    struct found *found = check_found(sum, stop, &n);
    bool ok =
        found && check_complete(sum) && report_findings(&s->findings, &s->findings_arena, k, crew->grid, found, n);
    free(found);
    return ok;
}

// After the last block: the counters of all hands, and what went wrong.
static bool conclude(struct simt *s, const struct simt_kernel *k, struct crew *crew, struct hand *hands, unsigned jobs,
                     char error[DEV_ERROR_MAX])
{
    const struct fault *first = NULL;
    for (unsigned i = 0; i < jobs; i++) {
        const struct fault *f = &hands[i].worker.fault;
        if (f->kind != FAULT_NONE && (!first || f->block < first->block))
            first = f;
        if (i)
            add_counts(&hands[0].worker, &hands[i].worker, crew->grid->code);
    }
    s->faulted = first != NULL;
    if (first) {
        report_fault(k, crew->grid, first, error);
        return false;
    }
    if (s->checks && !collect(s, k, crew, hands, jobs)) {
        snprintf(error, DEV_ERROR_MAX, "kernel %.200s: out of memory for what the checks remember", k->name);
        return false;
    }
    if (!s->checks)
        memory_write_all(&s->memory);
    s->profiled = report_profile(&s->profile, &s->profile_names, k, crew->grid, &hands[0].worker);
    if (!s->profiled)
        snprintf(error, DEV_ERROR_MAX, "out of memory for the counters");
    return s->profiled;
}

// Are the grid and its blocks what the card, and the kernel, allow?
static bool fits(const struct simt_kernel *k, const unsigned grid[3], const unsigned block[3],
                 char error[DEV_ERROR_MAX])
{
    const struct ptx_func *f = k->func;
    const uint32_t allowed = f->max_threads ? f->max_threads : SIMT_THREADS_MAX;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    bool ok = block[2] <= SIMT_THREADS_Z_MAX;
    for (int i = 0; i < 3; i++)
        ok = ok && block[i] <= SIMT_THREADS_MAX && (!i || grid[i] <= SIMT_GRID_YZ_MAX);
    if (!ok) {
        snprintf(error, DEV_ERROR_MAX,
                 "grid %u,%u,%u of blocks %u,%u,%u: along y and z a grid has at most %d blocks, "
                 "a block at most %d threads, of which at most %d along z",
                 grid[0], grid[1], grid[2], block[0], block[1], block[2], SIMT_GRID_YZ_MAX, SIMT_THREADS_MAX,
                 SIMT_THREADS_Z_MAX);
        return false;
    }
    if (f->required[0] && memcmp(f->required, block, sizeof f->required)) {
        snprintf(error, DEV_ERROR_MAX,
                 "kernel %.200s: blocks of %u,%u,%u threads were asked for, it can only run with %u,%u,%u: its "
                 ".reqntid says so",
                 k->name, block[0], block[1], block[2], f->required[0], f->required[1], f->required[2]);
        return false;
    }
    if (threads > allowed) {
        snprintf(error, DEV_ERROR_MAX,
                 "kernel %.200s: a block of %llu threads was asked for, its launch bounds allow %u", k->name,
                 (unsigned long long)threads, allowed);
        return false;
    }
    return true;
}

bool simt_launch(struct simt *s, struct simt_kernel *k, const unsigned grid[3], const unsigned block[3], size_t shared,
                 const unsigned char *params, char error[DEV_ERROR_MAX])
{
    s->profiled = s->faulted = false;
    s->findings.n = 0;
    if (!k->code) {
        snprintf(error, DEV_ERROR_MAX, "%s", k->error);
        return false;
    }
    if (!fits(k, grid, block, error))
        return false;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (k->code->shared_bytes > SIMT_STATIC_SHARED_MAX) {
        snprintf(error, DEV_ERROR_MAX,
                 "kernel %.200s declares %u bytes of __shared__ arrays, ptxas allows %d: more is to be had only as "
                 "extern __shared__, by the launch",
                 k->name, (unsigned)k->code->shared_bytes, SIMT_STATIC_SHARED_MAX);
        return false;
    }
    if (shared > SIMT_SHARED_MAX || k->code->shared_bytes + shared > SIMT_SHARED_MAX) {
        snprintf(error, DEV_ERROR_MAX, "kernel %.200s needs %zu bytes of shared memory a block, there are %d", k->name,
                 k->code->shared_bytes + shared, SIMT_SHARED_MAX);
        return false;
    }
    const struct code *code = s->checks ? simt_checked_code(s, k) : k->code;
    if (!code) {
        snprintf(error, DEV_ERROR_MAX, "kernel %.200s: out of memory for the checks", k->name);
        return false;
    }
    const uint64_t bytes = seat_bytes(code, threads, 0);
    if (bytes > memory_left(s)) {
        snprintf(error, DEV_ERROR_MAX,
                 "kernel %.200s: a block of %llu threads needs %llu MiB for its registers and "
                 "local memory, which is more than there is",
                 k->name, (unsigned long long)threads, (unsigned long long)(bytes >> 20));
        return false;
    }
    struct grid g = { .code = code,
                      .memory = &s->memory,
                      .params = params,
                      .threads = (uint32_t)threads,
                      .shared_bytes = code->shared_bytes + (uint32_t)shared,
                      .budget = s->budget,
                      .trace = s->trace };
    memcpy(g.grid, grid, sizeof g.grid);
    memcpy(g.block, block, sizeof g.block);
    struct crew crew = {
        .exec = s->exec, .grid = &g, .n_blocks = (uint64_t)grid[0] * grid[1] * grid[2], .progress = s->progress
    };
    atomic_store(&crew.stop, UINT64_MAX);
    g.turns = code->ordered || code->orders_blocks;
    if (g.turns) {
        const uint64_t resident = turns_resident(g.threads, k->code->shared_bytes + shared);
        const uint64_t room = memory_left(s) / seat_bytes(code, threads, g.shared_bytes);
        crew.resident = resident < room ? resident : room ? room : 1;
    }
    unsigned jobs = count_jobs(s, &g, &crew);
    struct hand *hands = aligned_alloc(_Alignof(struct hand), jobs * sizeof *hands);
    bool ready = hands != NULL && launch_memory_place(s, &g);
    if (hands)
        memset(hands, 0, jobs * sizeof *hands);
    for (unsigned i = 0; ready && i < jobs; i++)
        ready = hire(&hands[i], &crew, s->checks);
    if (crew.progress)
        crew.progress(0, crew.n_blocks);
    if (ready) {
        hands[0].first = true;
        run_crew(hands, jobs);
    } else
        snprintf(error, DEV_ERROR_MAX, "out of memory for %u host threads", jobs);
    if (crew.progress)
        crew.progress(crew.n_blocks, crew.n_blocks);
    bool ok = ready && conclude(s, k, &crew, hands, jobs, error);
    for (unsigned i = 0; hands && i < jobs; i++)
        dismiss(&hands[i]);
    free(hands);
    launch_memory_release(s, &g);
    return ok;
}
