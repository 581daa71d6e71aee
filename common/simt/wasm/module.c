// What JavaScript calls of the simulated GPU: simt/simt.h with numbers, pointers into the module's memory, and texts.
//
// A function that fails returns 0, and simt_wasm_error() has the reason. Texts are valid until the next call that
// returns one. Arguments of a kernel are its parameters as bytes, each where simt_wasm_describe says that it begins.
#include <emscripten.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "simt/simt.h"

enum { ARGS_MAX = 256 };

static char last_error[DEV_ERROR_MAX], *last_text;

EMSCRIPTEN_KEEPALIVE const char *simt_wasm_error(void)
{
    return last_error;
}

// --- texts ---

static FILE *begin(struct json *j, size_t *bytes)
{
    free(last_text);
    last_text = NULL;
    FILE *f = open_memstream(&last_text, bytes);
    if (f) {
        json_open(j, f);
        json_object(j, NULL);
    }
    return f;
}

static const char *finish(struct json *j, FILE *f)
{
    json_end(j);
    json_close(j);
    fclose(f);
    return last_text;
}

// --- a GPU, its memory, modules ---

EMSCRIPTEN_KEEPALIVE struct simt *simt_wasm_open(void)
{
    struct simt *s = simt_open();
    if (!s)
        error_set(last_error, "out of memory");
    return s;
}

EMSCRIPTEN_KEEPALIVE void simt_wasm_close(struct simt *s)
{
    simt_close(s);
}

EMSCRIPTEN_KEEPALIVE void simt_wasm_set_checks(struct simt *s, bool on)
{
    simt_set_checks(s, on);
}

EMSCRIPTEN_KEEPALIVE void simt_wasm_set_budget(struct simt *s, double warp_instructions)
{
    simt_set_budget(s, (uint64_t)warp_instructions);
}

EMSCRIPTEN_KEEPALIVE uint64_t simt_wasm_alloc(struct simt *s, const char *name, size_t bytes)
{
    uint64_t address = 0;
    return simt_alloc(s, name, bytes, &address, last_error) ? address : 0;
}

EMSCRIPTEN_KEEPALIVE bool simt_wasm_free(struct simt *s, uint64_t address)
{
    return simt_free(s, address, last_error);
}

EMSCRIPTEN_KEEPALIVE bool simt_wasm_write(struct simt *s, uint64_t to, const void *from, size_t bytes)
{
    return simt_write(s, to, from, bytes, last_error);
}

EMSCRIPTEN_KEEPALIVE bool simt_wasm_read(struct simt *s, void *to, uint64_t from, size_t bytes)
{
    return simt_read(s, to, from, bytes, last_error);
}

// text[bytes] is 0.
EMSCRIPTEN_KEEPALIVE struct simt_module *simt_wasm_load(struct simt *s, const char *name, const char *text,
                                                        size_t bytes)
{
    return simt_load(s, name, text, bytes, last_error);
}

EMSCRIPTEN_KEEPALIVE struct simt_kernel *simt_wasm_kernel(struct simt_module *m, const char *name)
{
    return simt_kernel_search(m, name, last_error);
}

static void describe_kernel(struct json *j, const struct simt_kernel *k)
{
    const struct simt_kernel_about a = simt_kernel_about(k);
    struct simt_parameter p;
    json_object(j, NULL);
    json_string(j, "name", a.name);
    if (a.error)
        json_string(j, "error", a.error);
    json_uint(j, "shared", a.shared);
    json_uint(j, "instructions", a.instructions);
    json_array(j, "parameters");
    for (uint32_t i = 0; simt_parameter(k, i, &p); i++) {
        json_object(j, NULL);
        json_string(j, "type", p.scalar ? p.type.name : "b8");
        json_uint(j, "bytes", p.bytes);
        json_uint(j, "at", p.at);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

// {"file", "version", "target", "kernels": [{"name", "error", "shared", "instructions", "parameters": [{"type",
// "bytes", "at"}]}], "variables": [{"name", "type", "bytes", "address", "constant"}]}; addresses are texts of digits.
EMSCRIPTEN_KEEPALIVE const char *simt_wasm_describe(struct simt_module *m)
{
    const struct simt_module_about a = simt_module_about(m);
    struct json j;
    struct simt_variable v;
    size_t bytes;
    FILE *f = begin(&j, &bytes);
    if (!f)
        return NULL;
    json_string(&j, "file", a.file);
    json_string(&j, "version", a.version);
    json_string(&j, "target", a.target);
    json_array(&j, "kernels");
    for (uint32_t i = 0; i < a.kernels; i++)
        describe_kernel(&j, simt_kernel_at(m, i));
    json_end(&j);
    json_array(&j, "variables");
    for (uint32_t i = 0; simt_variable_at(m, i, &v); i++) {
        char address[24];
        snprintf(address, sizeof address, "%llu", (unsigned long long)v.address);
        json_object(&j, NULL);
        json_string(&j, "name", v.name);
        json_string(&j, "type", v.type.name);
        json_uint(&j, "bytes", v.bytes);
        json_string(&j, "address", address);
        json_bool(&j, "constant", v.constant);
        json_end(&j);
    }
    json_end(&j);
    return finish(&j, f);
}

// The text and the source lines of every instruction: [{"text", "line", "file"}], its own line first where it was
// inlined: "calls" has the others.
EMSCRIPTEN_KEEPALIVE const char *simt_wasm_instructions(const struct simt_kernel *k)
{
    struct json j;
    struct simt_instruction in;
    size_t bytes;
    FILE *f = begin(&j, &bytes);
    if (!f)
        return NULL;
    json_array(&j, "instructions");
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++) {
        struct simt_place p;
        char text[300];
        snprintf(text, sizeof text, "%.*s", (int)in.text_bytes, in.text);
        json_object(&j, NULL);
        json_string(&j, "text", text);
        json_array(&j, "places");
        for (uint32_t at = 0; simt_instruction_place(k, i, at, &p); at++) {
            json_object(&j, NULL);
            json_string(&j, "file", p.file);
            json_uint(&j, "line", p.line);
            json_end(&j);
        }
        json_end(&j);
        json_end(&j);
    }
    json_end(&j);
    return finish(&j, f);
}

// --- launches ---

// sizes: blocks in x, y, z, threads in x, y, z, blocks of a cluster in x, y, z, bytes of dynamic shared memory.
static struct dev_launch launch_of(const struct simt_kernel *k, const uint32_t sizes[10], const unsigned char *params,
                                   struct dev_arg args[ARGS_MAX])
{
    struct dev_launch l = { .shared = sizes[9], .args = args };
    struct simt_parameter p;
    memcpy(l.grid, sizes, sizeof l.grid);
    memcpy(l.block, sizes + 3, sizeof l.block);
    memcpy(l.cluster, sizes + 6, sizeof l.cluster);
    for (; l.n_args < ARGS_MAX && simt_parameter(k, (uint32_t)l.n_args, &p); l.n_args++)
        args[l.n_args] = (struct dev_arg){ params + p.at, p.bytes };
    return l;
}

EMSCRIPTEN_KEEPALIVE bool simt_wasm_launch(struct simt *s, struct simt_kernel *k, const uint32_t sizes[10],
                                           const unsigned char *params)
{
    struct dev_arg args[ARGS_MAX];
    const struct dev_launch l = launch_of(k, sizes, params, args);
    const bool ok = simt_launch(s, k, &l, last_error);
    simt_sync(s);
    return ok;
}

// What `simt profile --json` and `simt check --json` write of the last launch.
EMSCRIPTEN_KEEPALIVE const char *simt_wasm_result(struct simt *s)
{
    struct json j;
    size_t bytes;
    const struct profile *p = simt_profile(s);
    FILE *f = p ? begin(&j, &bytes) : NULL;
    if (!f)
        return NULL;
    profile_json(&j, p, SIMT_DEVICE);
    simt_findings_json(&j, simt_findings(s), NULL);
    return finish(&j, f);
}

// --- pictures ---

// view: enum simt_view; where: block in x, y, z, warp, nth. An SVG.
EMSCRIPTEN_KEEPALIVE const char *simt_wasm_draw(struct simt *s, struct simt_kernel *k, const uint32_t sizes[10],
                                                const unsigned char *params, enum simt_view view, unsigned line,
                                                const uint32_t where[5], bool global, bool large)
{
    struct dev_arg args[ARGS_MAX];
    const struct dev_launch l = launch_of(k, sizes, params, args);
    const struct simt_picture what = { .view = view,
                                       .line = line,
                                       .nth = where[4],
                                       .warp = where[3],
                                       .block = { where[0], where[1], where[2] },
                                       .global = global,
                                       .large = large };
    free(last_text);
    return last_text = simt_draw(s, k, &l, &what, last_error);
}

// --- a warp, instruction by instruction ---

struct watched {
    struct json *j;
    uint64_t from, end;
};

static void tell_operand(struct json *j, const struct simt_operand *o)
{
    static const char *const roles[] = { [SIMT_READ] = "read", [SIMT_WRITTEN] = "written", [SIMT_ADDRESS] = "address" };
    char text[100];
    snprintf(text, sizeof text, "%.*s", (int)o->name_bytes, o->name);
    json_object(j, NULL);
    json_string(j, "role", roles[o->role]);
    json_string(j, "name", text);
    json_string(j, "type", o->type.name);
    json_array(j, "value");
    for (int lane = 0; lane < 32; lane++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)o->value[lane]);
        json_string(j, NULL, text);
    }
    json_end(j);
    json_end(j);
}

static bool tell(void *context, enum simt_event event, const struct simt_look *l)
{
    struct watched *w = context;
    struct simt_operand o;
    const uint64_t step = simt_look_step(l);
    if (step < w->from && event == SIMT_STEP)
        return true;
    json_object(w->j, NULL);
    json_uint(w->j, "step", step);
    json_bool(w->j, "error", event == SIMT_ERROR);
    json_uint(w->j, "instruction", simt_look_instruction(l));
    json_uint(w->j, "lanes", simt_look_lanes(l));
    json_array(w->j, "operands");
    for (uint32_t i = 0; simt_look_operand(l, i, &o); i++)
        tell_operand(w->j, &o);
    json_end(w->j);
    json_end(w->j);
    return step + 1 < w->end;
}

// Steps from .. from + count - 1 of a warp, and the launch ends behind them: {"steps": [{"step", "error",
// "instruction", "lanes", "operands": [{"role", "name", "type", "value"}]}], "failed"}; values by lane, their bits as
// texts of digits; failed: why the launch did not end, where it did not.
EMSCRIPTEN_KEEPALIVE const char *simt_wasm_watch(struct simt *s, struct simt_kernel *k, const uint32_t sizes[10],
                                                 const unsigned char *params, double block, uint32_t warp, double from,
                                                 double count)
{
    struct dev_arg args[ARGS_MAX];
    const struct dev_launch l = launch_of(k, sizes, params, args);
    struct json j;
    struct watched watched = { &j, (uint64_t)from, (uint64_t)(from + count) };
    const struct simt_watch w = { (uint64_t)block, warp, tell, &watched };
    size_t bytes;
    FILE *f = begin(&j, &bytes);
    if (!f)
        return NULL;
    json_array(&j, "steps");
    const bool ok = simt_watch(s, k, &l, &w, last_error);
    json_end(&j);
    if (!ok)
        json_string(&j, "failed", last_error);
    return finish(&j, f);
}
