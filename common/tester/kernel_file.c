// See kernel_file.h.
#include "kernel_file.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/ptx_file.h"
#include "simt/device/simt.h"
#include "tester_report.h"

// A module as the simulated GPU reads it, without running anything.
struct reading {
    char *text;
    struct simt *simt;
    struct simt_module *module;  // NULL if the simulated GPU cannot read it
};

static bool open_reading(struct reading *r, const char *path, char error[DEV_ERROR_MAX])
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    *r = (struct reading){ .text = ptx_file_read(path, &bytes, error) };
    if (!r->text)
        return false;
    r->simt = simt_new();
    r->module = r->simt ? simt_load(r->simt, path, r->text, bytes, ignored) : NULL;
    return true;
}

static void close_reading(struct reading *r)
{
    simt_free(r->simt);
    free(r->text);
}

static bool takes(const struct simt_kernel *k, enum dev_type type, bool maps)
{
    const uint64_t factor = type == DEV_F64 ? 8 : 4, matrix = maps ? DEV_MAP_BYTES : 8;
    const uint64_t bytes[] = { 4, 4, 4, factor, matrix, matrix, factor, 8 };
    const uint32_t n = sizeof bytes / sizeof *bytes;
    bool same = k->func->n_params == n;
    for (uint32_t i = 0; same && i < n; i++)
        same = k->module->ptx->vars[k->func->params[i]].bytes == bytes[i];
    return same;
}

// Says which parameters gemm is to have.
static bool fail_parameters(const char *path, enum dev_type type, bool maps, char error[DEV_ERROR_MAX])
{
    static const char *const names[] = { [DEV_F32] = "float", [DEV_F64] = "double", [DEV_F16] = "half" };
    const char *t = names[type], *factor = type == DEV_F64 ? "double" : "float";
    char matrices[128] = "const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B";
    if (!maps)
        snprintf(matrices, sizeof matrices, "const %s *A, const %s *B", t, t);
    snprintf(error, DEV_ERROR_MAX, "%.300s: its gemm does not take int M, int N, int K, %s alpha, %s, %s beta, %s *C",
             path, factor, matrices, factor, t);
    return false;
}

bool kernel_file_fits(const char *path, enum dev_type type, char error[DEV_ERROR_MAX])
{
    char no_geometry[DEV_ERROR_MAX];
    struct geometry g = { 0 };
    struct reading r;
    if (!open_reading(&r, path, error))
        return false;
    const bool has_geometry = geometry_read(path, &g, no_geometry), maps = has_geometry && g.box;
    const struct simt_kernel *k = r.module ? simt_find(r.module, "gemm") : NULL;
    bool ok = true;
    if (r.module && !k) {
        char list[SIMT_LIST_MAX];
        simt_kernel_list(r.module, list);
        snprintf(error, DEV_ERROR_MAX,
                 "%.300s: it has no kernel named gemm, extern \"C\" __global__ void gemm(...); it has %s", path,
                 *list ? list : "none at all");
        ok = false;
    } else if (k && !takes(k, type, maps)) {
        ok = fail_parameters(path, type, maps, error);
    } else if (!has_geometry) {
        snprintf(error, DEV_ERROR_MAX, "%s", no_geometry);
        ok = false;
    }
    close_reading(&r);
    return ok;
}

bool kernel_file_describe(FILE *out, const struct step *step, char error[DEV_ERROR_MAX])
{
    struct json j;
    struct geometry g;
    struct reading r;
    if (!geometry_read(step->ptx, &g, error) || !open_reading(&r, step->ptx, error))
        return false;
    const struct simt_kernel *k = r.module ? simt_find(r.module, "gemm") : NULL;
    json_open(&j, out);
    json_object(&j, NULL);
    json_string(&j, "name", step->name);
    json_string(&j, "type", type_name(step->type));
    json_string(&j, "ptx", step->ptx);
    geometry_json(&j, "geometry", &g);
    if (k && k->code)
        json_uint(&j, "static_shared", k->code->shared_bytes);
    json_end(&j);
    close_reading(&r);
    return json_close(&j) || report_write_error("--describe", "stdout", error);
}
