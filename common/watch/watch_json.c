// What there is to see at a moment, as JSON.
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "inside.h"
#include "matrix.h"

struct telling {
    struct watch *w;
    struct json *j;
};

static void tell_text(struct json *j, const char *key, const char *text, uint32_t bytes)
{
    char copy[WATCH_TEXT];
    snprintf(copy, sizeof copy, "%.*s", (int)bytes, text);
    json_string(j, key, copy);
}

static void tell_operand(const struct telling *t, const struct simt_look *look, const struct simt_operand *o)
{
    static const char *const roles[] = { [SIMT_READ] = "read", [SIMT_WRITTEN] = "written", [SIMT_ADDRESS] = "address" };
    struct json *j = t->j;
    char digits[24];
    uint32_t at;
    bool shared = false;
    json_object(j, NULL);
    json_string(j, "role", roles[o->role]);
    tell_text(j, "name", o->name, o->name_bytes);
    json_string(j, "type", o->role == SIMT_ADDRESS ? o->type.name : watch_type(t->w, o->number).name);
    json_array(j, "value");
    for (uint32_t lane = 0; lane < WATCH_LANES; lane++) {
        snprintf(digits, sizeof digits, "%" PRIu64, o->value[lane]);
        json_string(j, NULL, digits);
        shared |= simt_look_lanes(look) >> lane & 1 && simt_look_shared_at(look, o, lane, &at);
    }
    json_end(j);
    if (shared) {
        json_array(j, "shared");
        for (uint32_t lane = 0; lane < WATCH_LANES; lane++)
            json_int(j, NULL, simt_look_shared_at(look, o, lane, &at) ? (int64_t)at : -1);
        json_end(j);
    }
    if (o->role == SIMT_ADDRESS)
        json_uint(j, "bytes", o->bytes);
    json_end(j);
}

static void tell_step(const struct telling *t, uint64_t moment, const struct simt_look *look)
{
    const uint32_t number = simt_look_instruction(look);
    struct simt_instruction in = { .guard = SIMT_NO_REGISTER };
    struct simt_register guard;
    struct simt_operand o;
    json_uint(t->j, "moment", moment);
    json_uint(t->j, "warp", simt_look_warp(look));
    json_uint(t->j, "step", simt_look_step(look));
    json_uint(t->j, "instruction", number);
    if (simt_instruction(t->w->kernel, number, &in))
        tell_text(t->j, "text", in.text, in.text_bytes);
    if (simt_register(t->w->kernel, in.guard, &guard)) {
        json_string(t->j, "guard", guard.name);
        json_bool(t->j, "unless", in.unless);
    }
    json_uint(t->j, "line", t->w->code[number].line);
    json_uint(t->j, "lanes", simt_look_lanes(look));
    json_array(t->j, "operands");
    for (uint32_t i = 0; simt_look_operand(look, i, &o); i++)
        tell_operand(t, look, &o);
    json_end(t->j);
}

static void tell_place(const struct telling *t, const char *key, uint32_t at)
{
    char text[WATCH_TEXT];
    watch_shared_text(t->w, at, text);
    json_string(t->j, key, text);
}

static void tell_warp(const struct telling *t, const struct simt_look *look, uint32_t warp)
{
    static const char *const standings[] = { [SIMT_RUNS] = "runs",
                                             [SIMT_AT_BARRIER] = "barrier",
                                             [SIMT_AT_CLUSTER_BARRIER] = "cluster",
                                             [SIMT_AWAITS_LANES] = "lanes" };
    struct simt_lanes g;
    uint32_t at, parity, lane, lanes, left = UINT32_MAX;
    char text[WATCH_TEXT];
    json_object(t->j, NULL);
    json_uint(t->j, "ended", simt_look_ended(look, warp));
    json_uint(t->j, "products", simt_look_products(look, warp));
    json_array(t->j, "groups");
    for (uint32_t i = 0; simt_look_standing(look, warp, i, &g); i++) {
        json_object(t->j, NULL);
        json_uint(t->j, "lanes", g.lanes);
        json_uint(t->j, "next", g.next);
        json_uint(t->j, "line", watch_line(t->w, g.next));
        json_string(t->j, "standing", standings[g.standing]);
        if (g.standing == SIMT_AT_BARRIER)
            json_uint(t->j, "barrier", g.barrier);
        json_end(t->j);
    }
    json_end(t->j);
    json_array(t->j, "open");
    while ((lanes = watch_groups(look, warp, &left, text))) {
        json_object(t->j, NULL);
        json_uint(t->j, "lanes", lanes);
        json_string(t->j, "text", text);
        json_end(t->j);
    }
    json_end(t->j);
    if (simt_look_wait(look, warp, &at, &parity, &lane)) {
        json_object(t->j, "waits");
        json_uint(t->j, "at", at);
        tell_place(t, "name", at);
        json_uint(t->j, "parity", parity);
        json_end(t->j);
    }
    json_end(t->j);
}

static void tell_barriers(const struct telling *t, uint64_t moment, const struct simt_look *look)
{
    struct simt_barrier b;
    struct watch_mbarrier m;
    json_array(t->j, "barriers");
    for (uint32_t i = 0; simt_look_barrier(look, i, &b); i++) {
        if (!b.arrived)
            continue;
        json_object(t->j, NULL);
        json_uint(t->j, "number", i);
        json_uint(t->j, "arrived", b.arrived);
        json_uint(t->j, "expected", b.expected);
        json_end(t->j);
    }
    json_end(t->j);
    json_array(t->j, "mbarriers");
    for (uint32_t i = 0; watch_mbarrier(t->w, moment, look, i, &m); i++) {
        json_object(t->j, NULL);
        json_uint(t->j, "at", m.at);
        tell_place(t, "name", m.at);
        json_uint(t->j, "expected", m.expected);
        json_uint(t->j, "pending", m.pending);
        json_int(t->j, "bytes", m.bytes);
        json_uint(t->j, "phase", m.phase);
        json_end(t->j);
    }
    json_end(t->j);
}

static void tell_copies(const struct telling *t, const struct simt_look *look)
{
    struct simt_copy c;
    json_array(t->j, "copies");
    for (uint32_t i = 0; simt_look_copy(look, i, &c); i++) {
        json_object(t->j, NULL);
        json_uint(t->j, "thread", c.thread);
        json_uint(t->j, "instruction", c.instruction);
        json_uint(t->j, "line", watch_line(t->w, c.instruction));
        json_uint(t->j, "at", c.at);
        json_uint(t->j, "bytes", c.bytes);
        if (c.comes)
            json_uint(t->j, "mbarrier", c.mbarrier);
        json_end(t->j);
    }
    json_end(t->j);
}

static void tell_variables(const struct telling *t)
{
    json_array(t->j, "variables");
    for (uint32_t i = 0; i < t->w->n_variables; i++) {
        json_object(t->j, NULL);
        json_string(t->j, "name", t->w->variables[i].name);
        json_uint(t->j, "at", t->w->variables[i].at);
        json_uint(t->j, "bytes", t->w->variables[i].bytes);
        json_end(t->j);
    }
    json_end(t->j);
}

static bool see(void *context, uint64_t moment, const struct simt_look *look)
{
    const struct telling *t = context;
    tell_step(t, moment, look);
    json_array(t->j, "warps");
    for (uint32_t i = 0; i < simt_look_warps(look); i++)
        tell_warp(t, look, i);
    json_end(t->j);
    tell_barriers(t, moment, look);
    tell_copies(t, look);
    tell_variables(t);
    return false;
}

bool watch_json(struct watch *w, uint64_t moment, struct json *j, char error[DEV_ERROR_MAX])
{
    struct telling t = { w, j };
    if (moment >= w->n)
        return error_set(error, "the block takes %" PRIu64 " steps", w->n);
    return watch_run(w, moment, moment, see, &t, error) && watch_matrices_json(w, moment, j, error);
}
