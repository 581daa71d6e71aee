// See launch.h.
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"

enum { WORDS = 1 << 14 };  // of an array

static bool new_array(struct simt *s, uint64_t *address, char error[DEV_ERROR_MAX])
{
    float *host = malloc(WORDS * sizeof *host);
    for (int i = 0; host && i < WORDS; i++)
        host[i] = (float)i;
    const bool ok = host ? simt_alloc(s, "array", WORDS * sizeof *host, address, error) &&
                               simt_write(s, *address, host, WORDS * sizeof *host, error)
                         : error_set(error, "out of memory");
    free(host);
    return ok;
}

static bool fill_in(struct launch *l, int number, char error[DEV_ERROR_MAX])
{
    struct simt_parameter p;
    l->launch = (struct dev_launch){ .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .args = l->args };
    for (size_t i = 0; i < LAUNCH_ARGS && simt_parameter(l->kernel, (uint32_t)i, &p); i++) {
        l->values[i] = (uint64_t)number;
        if (p.bytes == sizeof l->values[i] && !new_array(l->simt, &l->values[i], error))
            return false;
        l->args[i] = (struct dev_arg){ &l->values[i], p.bytes };
        l->launch.n_args = i + 1;
    }
    return true;
}

bool launch_run(struct launch *l, const char *ptx, const char *name, int number, char error[DEV_ERROR_MAX])
{
    size_t bytes;
    char *text = ptx_file_read(ptx, &bytes, error);
    *l = (struct launch){ .simt = text ? simt_open() : NULL };
    bool ok = l->simt;
    if (ok) {
        simt_set_jobs(l->simt, 1);
        simt_set_checks(l->simt, true);
        struct simt_module *module = simt_load(l->simt, ptx, text, bytes, error);
        ok = module && (l->kernel = simt_kernel_search(module, name, error)) && fill_in(l, number, error) &&
             simt_launch(l->simt, l->kernel, &l->launch, error);
        simt_sync(l->simt);
    }
    free(text);
    return ok;
}

void launch_json(struct json *j, const struct launch *l)
{
    if (simt_profile(l->simt))
        profile_json(j, simt_profile(l->simt), SIMT_DEVICE);
    simt_findings_json(j, simt_findings(l->simt), NULL);
}

void launch_close(struct launch *l)
{
    simt_close(l->simt);
    *l = (struct launch){ 0 };
}
