// The simulated GPU behind the interface of common/base/device.h.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/backend.h"
#include "base/text.h"
#include "simt.h"
#include "simt/machine/tensor_map.h"

struct simt_dev {
    struct dev dev;
    struct simt *simt;
    struct timespec started;
    bool timing;
};

const struct dev_about simt_about = { .name = "simulated GPU",
                                      .simulated = true,
                                      .cc_major = 9,
                                      .cc_minor = 0,
                                      .shared_per_block = SHARED_MAX,
                                      .max_threads = THREADS_MAX };

struct simt *simt_of(const struct dev *d)
{
    return ((const struct simt_dev *)d)->simt;
}

struct simt_module *simt_module_of(struct dev_module *m)
{
    return (struct simt_module *)m;
}

static void describe(struct simt_dev *s, unsigned jobs)
{
    long threads = jobs ? (long)jobs : sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(s->dev.about.detail, sizeof s->dev.about.detail, "PTX executed on %ld host thread%s, %s", threads,
             text_plural((uint64_t)threads), s->simt->exec->isa);
}

static struct dev *sim_open(char error[DEV_ERROR_MAX])
{
    struct simt_dev *s = calloc(1, sizeof *s);
    if (!s || !(s->simt = simt_new())) {
        snprintf(error, DEV_ERROR_MAX, "the simulated GPU: out of memory");
        free(s);
        return NULL;
    }
    s->dev.about = simt_about;
    s->dev.about.memory = s->simt->memory_limit;
    describe(s, 0);
    return &s->dev;
}

static void sim_close(struct dev *d)
{
    simt_free(simt_of(d));
    free(d);
}

static void sim_set_jobs(struct dev *d, unsigned jobs)
{
    jobs = jobs < SIMT_JOBS_MAX ? jobs : SIMT_JOBS_MAX;
    simt_of(d)->jobs = jobs;
    describe((struct simt_dev *)d, jobs);
}

static void sim_set_tensor_cores(struct dev *d, unsigned sm)
{
    simt_of(d)->sm = sm < 90 ? 80 : 90;
}

static void sim_set_budget(struct dev *d, uint64_t warp_instructions)
{
    simt_of(d)->budget = warp_instructions ? warp_instructions : SIMT_BUDGET;
}

static void sim_set_progress(struct dev *d, dev_progress *show)
{
    simt_of(d)->progress = show;
}

static void sim_set_checks(struct dev *d, bool on)
{
    simt_of(d)->checks = on;
}

static const struct findings *sim_findings(const struct dev *d)
{
    return simt_of(d)->checks && simt_of(d)->profiled ? &simt_of(d)->findings : NULL;
}

static bool sim_alloc(struct dev *d, const char *name, size_t bytes, dev_ptr *out)
{
    struct simt *s = simt_of(d);
    uint64_t left = s->memory_limit > s->memory.used ? s->memory_limit - s->memory.used : 0;
    *out = bytes <= left ? memory_alloc(&s->memory, name, bytes) : 0;
    if (!*out)
        return backend_fail(d, "%s needs %zu bytes, and the simulated GPU has %" PRIu64 " left", name, bytes, left);
    if (simt_of(d)->checks)  // what is never written is the same in every run
        memset(memory_at(&simt_of(d)->memory, *out, bytes), DEV_UNWRITTEN, bytes);
    return true;
}

static bool sim_free(struct dev *d, dev_ptr p)
{
    if (!memory_release(&simt_of(d)->memory, p))
        return backend_fail(d, "0x%" PRIx64 " is not the start of an allocation, or has been freed already", p);
    return true;
}

static unsigned char *host_view(struct dev *d, dev_ptr p, size_t bytes, const char *what)
{
    char place[200];
    unsigned char *at = memory_at(&simt_of(d)->memory, p, bytes);
    if (!at) {
        memory_describe(&simt_of(d)->memory, p, place, sizeof place);
        backend_fail(d, "%s of %zu bytes goes out of bounds: it starts at %s", what, bytes, place);
    }
    return at;
}

static bool sim_upload(struct dev *d, dev_ptr to, const void *from, size_t bytes)
{
    unsigned char *at = host_view(d, to, bytes, "an upload");
    if (!at)
        return false;
    memcpy(at, from, bytes);
    memory_write(&simt_of(d)->memory, to, bytes);
    memory_settle(&simt_of(d)->memory);
    return true;
}

static bool sim_download(struct dev *d, void *to, dev_ptr from, size_t bytes)
{
    const unsigned char *at = host_view(d, from, bytes, "a download");
    if (at)
        memcpy(to, at, bytes);
    memory_settle(&simt_of(d)->memory);
    return at != NULL;
}

static bool sim_clear(struct dev *d, dev_ptr p, size_t bytes)
{
    unsigned char *at = host_view(d, p, bytes, "a clear");
    if (!at)
        return false;
    memset(at, 0, bytes);
    memory_write(&simt_of(d)->memory, p, bytes);
    memory_settle(&simt_of(d)->memory);
    return true;
}

static struct dev_module *sim_load(struct dev *d, const char *name, const char *text, size_t bytes)
{
    return (struct dev_module *)simt_load(simt_of(d), name, text, bytes, d->error);
}

static void sim_unload(struct dev *d, struct dev_module *m)
{
    simt_unload(simt_of(d), simt_module_of(m));
}

static struct dev_kernel *sim_kernel(struct dev *d, struct dev_module *m, const char *name)
{
    struct simt_kernel *k = simt_find(simt_module_of(m), name);
    if (!k)
        backend_fail(d, "%.300s has no kernel named '%.200s'", simt_module_of(m)->ptx->file, name);
    else if (!k->code)
        backend_fail(d, "%s", k->error);
    return k && k->code ? (struct dev_kernel *)k : NULL;
}

static bool sim_launch(struct dev *d, struct dev_kernel *kernel, const struct dev_launch *launch)
{
    struct simt_kernel *k = (struct simt_kernel *)kernel;
    unsigned char *params = simt_pack(k, launch->args, launch->n_args, d->error);
    bool ok = params && simt_launch_clusters(simt_of(d), k, launch, params, d->error);
    free(params);
    return ok;
}

static bool sim_tensor_map(struct dev *d, const struct dev_tensor *t, struct dev_tensor_map *map)
{
    (void)d;
    tensor_map_make(t, map);
    return true;
}

static bool sim_sync(struct dev *d)
{
    memory_settle(&simt_of(d)->memory);  // a launch has ended when sim_launch returns
    return true;
}

static bool sim_timer_start(struct dev *d)
{
    struct simt_dev *s = (struct simt_dev *)d;
    s->timing = true;
    return !clock_gettime(CLOCK_MONOTONIC, &s->started);
}

static bool sim_timer_stop(struct dev *d, double *ms)
{
    const struct timespec *a = &((struct simt_dev *)d)->started;
    struct timespec b;
    if (!((struct simt_dev *)d)->timing)
        return backend_fail(d, "the timer was not started");
    clock_gettime(CLOCK_MONOTONIC, &b);
    *ms = (double)(b.tv_sec - a->tv_sec) * 1e3 + (double)(b.tv_nsec - a->tv_nsec) / 1e6;
    return true;
}

static const struct profile *sim_profile(const struct dev *d)
{
    return simt_of(d)->profiled ? &simt_of(d)->profile : NULL;
}

const struct backend simt_backend = {
    .open = sim_open,
    .close = sim_close,
    .set_jobs = sim_set_jobs,
    .set_progress = sim_set_progress,
    .set_budget = sim_set_budget,
    .set_tensor_cores = sim_set_tensor_cores,
    .set_checks = sim_set_checks,
    .findings = sim_findings,
    .alloc = sim_alloc,
    .free = sim_free,
    .upload = sim_upload,
    .download = sim_download,
    .clear = sim_clear,
    .load = sim_load,
    .unload = sim_unload,
    .kernel = sim_kernel,
    .launch = sim_launch,
    .tensor_map = sim_tensor_map,
    .sync = sim_sync,
    .timer_start = sim_timer_start,
    .timer_stop = sim_timer_stop,
    .profile = sim_profile,
};
