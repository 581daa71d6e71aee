// See host_threads.h.
#include "host_threads.h"

#include <stdlib.h>
#include <string.h>

#include "simt/check/check.h"
#include "simt/code/count.h"
#include "simt/exec/cluster_run.h"
#include "simt/exec/turns.h"

static void *zeroed(struct host_thread *h, unsigned slot, size_t count, size_t size)
{
    return h->memory[slot] = seat_memory(count, size);
}

static bool start(struct host_thread *h, struct job *job, bool checks)
{
    const struct grid *g = job->grid;
    const struct code *c = g->code;
    struct worker *w = &h->worker;
    h->job = job;
    w->grid = g;
    w->uop_counts = zeroed(h, 0, c->n_uops, sizeof *w->uop_counts + sizeof *w->runs);
    w->mem_counts = zeroed(h, 1, c->n_memops + 1, sizeof *w->mem_counts + sizeof *w->memos);
    if (!w->uop_counts || !w->mem_counts)
        return false;
    if (checks && !(w->check = check_new(g, c->n_memops)))
        return false;
    w->runs = (uint64_t *)(w->uop_counts + c->n_uops);
    w->memos = (struct mem_memo *)(w->mem_counts + c->n_memops + 1);
    return job->resident || seats_new(&h->seats, w);
}

struct host_thread *host_threads_new(struct job *job, unsigned n, bool checks)
{
    struct host_thread *all = aligned_alloc(_Alignof(struct host_thread), n * sizeof *all);
    bool ready = all != NULL;
    if (all)
        memset(all, 0, n * sizeof *all);
    for (unsigned i = 0; ready && i < n; i++)
        ready = start(&all[i], job, checks);
    if (ready) {
        all[0].first = true;
        return all;
    }
    host_threads_free(all, n);
    return NULL;
}

void host_threads_free(struct host_thread *all, unsigned n)
{
    for (unsigned i = 0; all && i < n; i++) {
        seats_free(&all[i].seats);
        check_free(all[i].worker.check);
        for (size_t k = 0; k < sizeof all[i].memory / sizeof *all[i].memory; k++)
            free(all[i].memory[k]);
    }
    free(all);
}

// A block that is alone in its cluster, which is in the worker. False where the launch ends with it.
static bool run_alone(struct host_thread *h, uint64_t number)
{
    struct worker *w = &h->worker;
    h->seats.cluster.came = false;
    if (w->check)
        check_cluster_drop(w);
    seat_place(w, number);
    w->grid->exec->run_block(w);
    return cluster_survives(w);
}

static bool run_cluster(struct host_thread *h, uint64_t number)
{
    cluster_begin(&h->seats, &h->worker, number);
    while (cluster_turn(&h->seats, &h->worker))
        ;
    return !h->seats.stopped;
}

static void take_clusters(struct host_thread *h)
{
    struct job *job = h->job;
    const uint32_t size = job->grid->cluster_blocks;
    for (;;) {
        uint64_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->n_clusters || i >= atomic_load(&job->stop))
            return;
        if (i && h->first && job->progress)
            job->progress(i * size, job->n_clusters * size);
        if (size > 1 ? run_cluster(h, i) : run_alone(h, i))
            continue;
        uint64_t stop = atomic_load(&job->stop);
        while (i < stop && !atomic_compare_exchange_weak(&job->stop, &stop, i))
            ;
        return;
    }
}

static void *run_clusters(void *arg)
{
    struct host_thread *h = arg;
    seats_enter(&h->seats, 0, &h->worker);
    take_clusters(h);
    if (h->seats.cluster.n == 1)
        seats_leave(&h->seats, 0, &h->worker);  // so that seats_free finds what the blocks allocated
    return NULL;
}

void host_threads_run(struct host_thread *all, unsigned n)
{
    unsigned started = 0;
    struct job *job = all[0].job;
    if (job->resident) {
        const struct turns turns = { &all[0].worker, job->n_clusters, job->resident, job->progress };
        atomic_store(&job->stop, turns_run(&turns));
        return;
    }
    for (unsigned i = 1; i < n && !pthread_create(&all[i].thread, NULL, run_clusters, &all[i]); i++)
        started = i;
    run_clusters(&all[0]);
    for (unsigned i = 1; i <= started; i++)
        pthread_join(all[i].thread, NULL);
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

const struct fault *host_threads_sum(struct host_thread *all, unsigned n)
{
    const struct grid *g = all[0].job->grid;
    const struct fault *first = NULL;
    for (unsigned i = 0; i < n; i++) {
        const struct fault *f = &all[i].worker.fault;
        if (f->kind != FAULT_NONE && (!first || cluster_number(g, f->block) < cluster_number(g, first->block)))
            first = f;
        if (i)
            add_counts(&all[0].worker, &all[i].worker, g->code);
    }
    return first;
}
