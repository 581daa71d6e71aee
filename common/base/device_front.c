// The front of device.h: checks arguments, reads files, calls the backend.
#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "ptx_file.h"
#include "text.h"

// An error is one line, whatever names and drivers' messages hold.
static void one_line(struct dev *d)
{
    text_one_line(d->error, ' ');
}

bool backend_fail(struct dev *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->error, sizeof d->error, format, args);
    va_end(args);
    one_line(d);
    return false;
}

void dev_close(struct dev *d)
{
    if (d)
        d->ops->close(d);
}

const struct dev_about *dev_about(const struct dev *d)
{
    return &d->about;
}

const char *dev_error(const struct dev *d)
{
    return d->error;
}

void dev_set_jobs(struct dev *d, unsigned jobs)
{
    if (d->ops->set_jobs)
        d->ops->set_jobs(d, jobs);
}

void dev_set_progress(struct dev *d, dev_progress *show)
{
    if (d->ops->set_progress)
        d->ops->set_progress(d, show);
}

void dev_set_budget(struct dev *d, uint64_t warp_instructions)
{
    if (d->ops->set_budget)
        d->ops->set_budget(d, warp_instructions);
}

void dev_set_tensor_cores(struct dev *d, unsigned sm)
{
    if (d->ops->set_tensor_cores)
        d->ops->set_tensor_cores(d, sm);
}

void dev_set_checks(struct dev *d, bool on)
{
    if (d->ops->set_checks)
        d->ops->set_checks(d, on);
}

bool dev_alloc(struct dev *d, const char *name, size_t bytes, dev_ptr *out)
{
    if (!name || !out || !bytes)
        return backend_fail(d, "an allocation needs a name and at least one byte");
    return d->ops->alloc(d, name, bytes, out);
}

bool dev_free(struct dev *d, dev_ptr p)
{
    if (!p)
        return backend_fail(d, "a null pointer cannot be freed");
    return d->ops->free(d, p);
}

bool dev_upload(struct dev *d, dev_ptr to, const void *from, size_t bytes)
{
    if (!bytes)
        return true;
    if (!to || !from)
        return backend_fail(d, "an upload of %zu bytes from or to a null pointer", bytes);
    return d->ops->upload(d, to, from, bytes);
}

bool dev_download(struct dev *d, void *to, dev_ptr from, size_t bytes)
{
    if (!bytes)
        return true;
    if (!to || !from)
        return backend_fail(d, "a download of %zu bytes from or to a null pointer", bytes);
    return d->ops->download(d, to, from, bytes);
}

bool dev_clear(struct dev *d, dev_ptr p, size_t bytes)
{
    if (!bytes)
        return true;
    if (!p)
        return backend_fail(d, "a null pointer and %zu bytes to clear", bytes);
    return d->ops->clear(d, p, bytes);
}

// The GPU that the PTX text needs, if d is another; *newer: or any newer one.
static unsigned needs(const struct dev *d, const char *text, bool *newer)
{
    const unsigned have = (unsigned)(10 * d->about.cc_major + d->about.cc_minor);
    bool alone;
    const unsigned wants = ptx_text_target(text, &alone);
    *newer = !alone;
    if (d->about.simulated || !have || wants == have || (wants < have && !alone))
        return 0;
    return wants;
}

unsigned dev_needs(const struct dev *d, const char *path)
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    bool newer;
    char *text = ptx_file_read(path, &bytes, ignored);
    const unsigned sm = text ? needs(d, text, &newer) : 0;
    free(text);
    return sm;
}

// The driver itself would only say that it has no image for this GPU.
static bool check_target(struct dev *d, const char *name, const char *text)
{
    bool newer;
    const unsigned sm = needs(d, text, &newer);
    if (!sm)
        return true;
    return backend_fail(d, "%.300s needs an sm_%u%s, and %s is an sm_%d%d: --device=sim runs it on the simulated GPU",
                        name, sm, newer ? " or newer" : "", d->about.name, d->about.cc_major, d->about.cc_minor);
}

struct dev_module *dev_load_text(struct dev *d, const char *name, const char *text, size_t bytes)
{
    if (!name || !text) {
        backend_fail(d, "a module needs a name and its PTX text");
        return NULL;
    }
    if (!ptx_text_ok(name, text, bytes, d->error)) {
        one_line(d);
        return NULL;
    }
    char *copy = malloc(bytes + 1);
    if (!copy) {
        backend_fail(d, "%.300s: out of memory", name);
        return NULL;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    struct dev_module *m = check_target(d, name, copy) ? d->ops->load(d, name, copy, bytes) : NULL;
    if (!m)
        one_line(d);
    free(copy);
    return m;
}

struct dev_module *dev_load(struct dev *d, const char *path)
{
    size_t bytes;
    if (!path) {
        backend_fail(d, "a module needs the path of its PTX file");
        return NULL;
    }
    char *text = ptx_file_read(path, &bytes, d->error);
    if (!text) {
        one_line(d);
        return NULL;
    }
    struct dev_module *m = dev_load_text(d, path, text, bytes);
    free(text);
    return m;
}

void dev_unload(struct dev *d, struct dev_module *m)
{
    if (m)
        d->ops->unload(d, m);
}

struct dev_kernel *dev_kernel(struct dev *d, struct dev_module *m, const char *name)
{
    if (!m || !name || !*name) {
        backend_fail(d, "a kernel needs a module and a name");
        return NULL;
    }
    return d->ops->kernel(d, m, name);
}

bool dev_launch(struct dev *d, struct dev_kernel *k, const struct dev_launch *launch)
{
    if (!k || !launch || (launch->n_args && !launch->args))
        return backend_fail(d, "a launch needs a kernel and its arguments");
    struct dev_launch l = *launch;
    const struct dev_about *about = &d->about;
    const bool done = launch_settle(&l, about->name, about->max_threads, about->shared_per_block, d->error) &&
                      d->ops->launch(d, k, &l);
    if (!done)
        one_line(d);
    return done;
}

bool dev_tensor_map(struct dev *d, const struct dev_tensor *tensor, struct dev_tensor_map *map)
{
    if (!tensor || !map)
        return backend_fail(d, "a tensor map needs a tensor and a place");
    struct dev_tensor t = *tensor;
    if (!tensor_settle(&t, d->error))
        return false;
    if (!d->ops->tensor_map)
        return backend_fail(d, "%s has no tensor maps", d->about.name);
    return d->ops->tensor_map(d, &t, map);
}

bool dev_sync(struct dev *d)
{
    return d->ops->sync(d);
}

bool dev_timer_start(struct dev *d)
{
    return d->ops->timer_start(d);
}

bool dev_timer_stop(struct dev *d, double *ms)
{
    if (!ms)
        return backend_fail(d, "the timer needs a place for its milliseconds");
    return d->ops->timer_stop(d, ms);
}

bool dev_baseline_gemm(struct dev *d, enum dev_type type, int M, int N, int K, double alpha, dev_ptr A, dev_ptr B,
                       double beta, dev_ptr C)
{
    if (!d->ops->gemm)
        return backend_fail(d, "%s has no matrix multiply of its own to compare with", d->about.name);
    if (M < 1 || N < 1 || K < 1 || !A || !B || !C)
        return backend_fail(d, "a product needs M, N, K of at least 1 and three matrices");
    return d->ops->gemm(d, type, M, N, K, alpha, A, B, beta, C);
}

const char *dev_baseline_name(struct dev *d)
{
    return d->ops->baseline_name ? d->ops->baseline_name(d) : NULL;
}

const struct profile *dev_profile(const struct dev *d)
{
    return d->ops->profile ? d->ops->profile(d) : NULL;
}

const struct simt_findings *dev_findings(const struct dev *d)
{
    return d->ops->findings ? d->ops->findings(d) : NULL;
}

const char *dev_warnings(const struct dev *d)
{
    return d->ops->warnings ? d->ops->warnings(d) : NULL;
}

const struct simt_finding *dev_failure(const struct dev *d)
{
    return d->ops->failure ? d->ops->failure(d) : NULL;
}
