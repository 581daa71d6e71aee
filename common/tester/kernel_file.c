// See kernel_file.h.
#include "kernel_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/ptx_file.h"
#include "simt/simt.h"
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
    r->simt = simt_open();
    r->module = r->simt ? simt_load(r->simt, path, r->text, bytes, ignored) : NULL;
    return true;
}

static void close_reading(struct reading *r)
{
    simt_close(r->simt);
    free(r->text);
}

static bool takes(const struct simt_kernel *k, enum dev_type type, const struct geometry *g)
{
    const uint64_t map = sizeof(struct dev_tensor_map), factor = type == DEV_F64 ? 8 : 4;
    const uint64_t operand = g->box ? map : 8, bytes[] = { 4, 4, 4, factor, operand, operand, factor, 8, map };
    const uint32_t n = g->cbox ? 9 : 8;
    bool same = simt_kernel_about(k).parameters == n;
    struct simt_parameter p;
    for (uint32_t i = 0; same && i < n; i++)
        same = simt_parameter(k, i, &p) && p.bytes == bytes[i];
    return same;
}

static void describe_parameters(const char *path, enum dev_type type, const struct geometry *g,
                                char error[DEV_ERROR_MAX])
{
    static const char *const names[] = { [DEV_F32] = "float", [DEV_F64] = "double", [DEV_F16] = "half" };
    const char *t = names[type], *factor = type == DEV_F64 ? "double" : "float";
    char operands[128] = "const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B";
    if (!g->box)
        snprintf(operands, sizeof operands, "const %s *A, const %s *B", t, t);
    snprintf(error, DEV_ERROR_MAX, "%.300s: its gemm does not take int M, int N, int K, %s alpha, %s, %s beta, %s *C%s",
             path, factor, operands, factor, t, g->cbox ? ", const __grid_constant__ CUtensorMap of C" : "");
}

bool kernel_file_fits(const char *path, enum dev_type type, char error[DEV_ERROR_MAX])
{
    struct geometry g;
    struct reading r;
    if (!open_reading(&r, path, error))
        return false;
    const struct simt_kernel *k = r.module ? simt_kernel(r.module, "gemm") : NULL;
    bool ok;
    if (r.module && !k) {
        char list[SIMT_LIST_MAX];
        simt_kernel_list(r.module, list);
        snprintf(error, DEV_ERROR_MAX,
                 "%.300s: it has no kernel named gemm, extern \"C\" __global__ void gemm(...); it has %s", path,
                 *list ? list : "none at all");
        ok = false;
    } else {
        ok = geometry_read(path, &g, error);
    }
    if (ok && k && !takes(k, type, &g)) {
        describe_parameters(path, type, &g, error);
        ok = false;
    }
    close_reading(&r);
    return ok;
}

// Its __constant__ ints, by name. Its geometry is none of them, but an array.
static void constants_json(struct json *j, const struct simt_module *m)
{
    struct simt_variable v;
    json_object(j, "constants");
    for (uint32_t i = 0; m && simt_variable_at(m, i, &v); i++) {
        int32_t value = 0;
        if (!v.constant || v.type.number == SIMT_FLOAT || !v.scalar || v.bytes != sizeof value || v.n_pointers)
            continue;
        if (v.initial)
            memcpy(&value, v.initial, v.initial_bytes);
        json_int(j, v.name, value);
    }
    json_end(j);
}

bool kernel_file_describe(FILE *out, const struct step *step, char error[DEV_ERROR_MAX])
{
    struct json j;
    struct geometry g;
    struct reading r;
    if (!geometry_read(step->ptx, &g, error) || !open_reading(&r, step->ptx, error))
        return false;
    const struct simt_kernel *k = r.module ? simt_kernel(r.module, "gemm") : NULL;
    json_open(&j, out);
    json_object(&j, NULL);
    json_string(&j, "name", step->name);
    json_string(&j, "type", type_name(step->type));
    json_string(&j, "ptx", step->ptx);
    geometry_json(&j, "geometry", &g);
    constants_json(&j, r.module);
    if (k && !simt_kernel_about(k).error)
        json_uint(&j, "static_shared", simt_kernel_about(k).shared);
    json_end(&j);
    close_reading(&r);
    return json_close(&j) || report_write_error("--describe", "stdout", error);
}
