// The simulated GPU as a backend of base/device.h, by way of simt/simt.h.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/backend.h"
#include "base/host.h"
#include "base/text.h"
#include "sim.h"
#include "simt/simt.h"

struct simt_dev {
    struct dev dev;
    struct simt *simt;
    double started;  // seconds
    bool timing;
};

struct simt *device_simt(const struct dev *d)
{
    return d->about.simulated ? ((const struct simt_dev *)d)->simt : NULL;
}

static void describe(struct simt_dev *s, unsigned jobs)
{
    const unsigned threads = jobs ? jobs : host_processors();
    snprintf(s->dev.about.detail, sizeof s->dev.about.detail, "PTX executed on %u host thread%s, %s", threads,
             text_plural(threads), simt_limits(s->simt).isa);
}

static struct dev *sim_open(char error[DEV_ERROR_MAX])
{
    struct simt_dev *s = calloc(1, sizeof *s);
    if (!s || !(s->simt = simt_open())) {
        snprintf(error, DEV_ERROR_MAX, "the simulated GPU: out of memory");
        free(s);
        return NULL;
    }
    const struct simt_limits l = simt_limits(s->simt);
    s->dev.about = (struct dev_about){ .name = SIMT_DEVICE,
                                       .simulated = true,
                                       .cc_major = 9,
                                       .memory = l.memory,
                                       .shared_per_block = l.shared_per_block,
                                       .max_threads = l.max_threads };
    describe(s, 0);
    return &s->dev;
}

static void sim_close(struct dev *d)
{
    simt_close(device_simt(d));
    free(d);
}

static void sim_set_jobs(struct dev *d, unsigned jobs)
{
    simt_set_jobs(device_simt(d), jobs);
    describe((struct simt_dev *)d, jobs < SIMT_JOBS_MAX ? jobs : SIMT_JOBS_MAX);
}

static void sim_set_tensor_cores(struct dev *d, unsigned sm)
{
    simt_set_tensor_cores(device_simt(d), sm);
}

static void sim_set_budget(struct dev *d, uint64_t warp_instructions)
{
    simt_set_budget(device_simt(d), warp_instructions);
}

static void sim_set_progress(struct dev *d, dev_progress *show)
{
    simt_set_progress(device_simt(d), show);
}

static void sim_set_checks(struct dev *d, bool on)
{
    simt_set_checks(device_simt(d), on);
}

static const struct simt_findings *sim_findings(const struct dev *d)
{
    return simt_findings(device_simt(d));
}

static const struct simt_finding *sim_failure(const struct dev *d)
{
    return simt_failure(device_simt(d));
}

static const struct profile *sim_profile(const struct dev *d)
{
    return simt_profile(device_simt(d));
}

static bool sim_alloc(struct dev *d, const char *name, size_t bytes, dev_ptr *out)
{
    return simt_alloc(device_simt(d), name, bytes, out, d->error);
}

static bool sim_free(struct dev *d, dev_ptr p)
{
    return simt_free(device_simt(d), p, d->error);
}

static bool sim_upload(struct dev *d, dev_ptr to, const void *from, size_t bytes)
{
    return simt_write(device_simt(d), to, from, bytes, d->error);
}

static bool sim_download(struct dev *d, void *to, dev_ptr from, size_t bytes)
{
    return simt_read(device_simt(d), to, from, bytes, d->error);
}

static bool sim_clear(struct dev *d, dev_ptr p, size_t bytes)
{
    return simt_clear(device_simt(d), p, bytes, d->error);
}

static struct dev_module *sim_load(struct dev *d, const char *name, const char *text, size_t bytes)
{
    return (struct dev_module *)simt_load(device_simt(d), name, text, bytes, d->error);
}

static void sim_unload(struct dev *d, struct dev_module *m)
{
    simt_unload(device_simt(d), (struct simt_module *)m);
}

static struct dev_kernel *sim_kernel(struct dev *d, struct dev_module *module, const char *name)
{
    struct simt_module *m = (struct simt_module *)module;
    struct simt_kernel *k = simt_kernel(m, name);
    const char *error = k ? simt_kernel_about(k).error : NULL;
    if (!k)
        backend_fail(d, "%.300s has no kernel named '%.200s'", simt_module_about(m).file, name);
    else if (error)
        backend_fail(d, "%s", error);
    return k && !error ? (struct dev_kernel *)k : NULL;
}

static bool sim_launch(struct dev *d, struct dev_kernel *k, const struct dev_launch *launch)
{
    return simt_launch(device_simt(d), (struct simt_kernel *)k, launch, d->error);
}

static bool sim_tensor_map(struct dev *d, const struct dev_tensor *t, struct dev_tensor_map *map)
{
    return simt_tensor_map(t, map, d->error);
}

static bool sim_sync(struct dev *d)
{
    simt_sync(device_simt(d));
    return true;
}

static bool sim_timer_start(struct dev *d)
{
    struct simt_dev *s = (struct simt_dev *)d;
    s->timing = true;
    s->started = host_seconds();
    return true;
}

static bool sim_timer_stop(struct dev *d, double *ms)
{
    const struct simt_dev *s = (struct simt_dev *)d;
    if (!s->timing)
        return backend_fail(d, "the timer was not started");
    *ms = 1e3 * (host_seconds() - s->started);
    return true;
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
    .failure = sim_failure,
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
