// simt run, profile, check and draw: arrays and variables into device memory, the launches one after the other, and
// what they have to show.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/options.h"
#include "command.h"
#include "simt/ptx/demangle.h"
#include "simt/draw/draw.h"

struct session {
    struct simt *simt;
    struct simt_module *module;
    struct command *c;
    FILE *json;  // NULL: none
    struct json writer;
    char *error;
};

static bool fail(struct session *s, const char *format, const char *a, const char *b)
{
    snprintf(s->error, DEV_ERROR_MAX, format, a, b);
    return false;
}

// --- before the launches ---

static bool find_kernels(struct session *s)
{
    for (size_t i = 0; i < s->c->n_launches; i++) {
        struct launch *l = &s->c->launches[i];
        l->kernel = simt_search(s->module, l->name, s->error);
        if (!l->kernel)
            return false;
        if (!l->kernel->code)
            return fail(s, "%s%s", l->kernel->error, "");
    }
    return true;
}

static bool check_args(struct session *s)
{
    for (size_t i = 0; i < s->c->n_launches; i++) {
        const struct launch *l = &s->c->launches[i];
        const struct ptx_func *f = l->kernel->func;
        if (l->n_args != f->n_params) {
            snprintf(s->error, DEV_ERROR_MAX, "kernel %.200s takes %u argument%s, %zu were given", l->kernel->name,
                     f->n_params, f->n_params == 1 ? "" : "s", l->n_args);
            return false;
        }
        for (size_t k = 0; k < l->n_args; k++) {
            char place[64];
            snprintf(place, sizeof place, i ? "argument %zu of launch %zu" : "argument %zu", k, i + 1);
            if (!arg_fits(&l->args[k], &s->module->ptx->vars[f->params[k]], place, s->error))
                return false;
        }
    }
    return true;
}

static bool place_buffers(struct session *s)
{
    struct memory *memory = &s->simt->memory;
    for (size_t i = 0; i < s->c->buffers.n; i++) {
        struct buffer *b = &s->c->buffers.all[i];
        b->address = b->bytes <= s->simt->memory_limit ? memory_alloc(memory, b->name, b->bytes) : 0;
        if (!b->address) {
            snprintf(s->error, DEV_ERROR_MAX, "%s: %zu bytes do not fit in memory", b->name, b->bytes);
            return false;
        }
        const size_t from = b->from * (b->bytes / b->count), to = b->to * (b->bytes / b->count);
        unsigned char *data = memory_at(memory, b->address, b->bytes);
        memset(data, DEV_UNWRITTEN, b->bytes);  // uninitialised: the same odd bytes in every run
        if (from == to)
            continue;
        memcpy(data + from, b->data + from, to - from);
        memory_write(memory, b->address + from, to - from);
    }
    return true;
}

// Makes the variables what --set says; they are in device memory since the module was loaded.
static bool set_variable(struct session *s, const struct request *q)
{
    uint64_t address = 0;
    size_t from, to;
    struct arg value;
    const struct ptx_var *v = simt_variable(s->module, q->what, &address, s->error);
    if (!v)
        return false;
    bool ok = arg_parse_content(q->value, &s->c->buffers, &value, &from, &to, s->error);
    if (ok && value.bytes > v->bytes) {
        snprintf(s->error, DEV_ERROR_MAX, "--set %.100s: '%.200s' has %zu bytes, the variable has %" PRIu64, q->what,
                 q->value, value.bytes, v->bytes);
        ok = false;
    }
    if (ok && value.type && v->bytes == ptx_type_bytes(v->type))
        ok = arg_fits(&value, v, "--set", s->error);
    if (ok) {
        arg_link(&value, &s->c->buffers);
        memcpy(memory_at(&s->simt->memory, address + from, to - from), value.data + from, to - from);
    }
    arg_free(&value);
    return ok;
}

static bool set_variables(struct session *s)
{
    for (size_t i = 0; i < s->c->sets.n; i++)
        if (!set_variable(s, &s->c->sets.all[i]))
            return false;
    return true;
}

static bool names_variable(const struct ptx_operand *o, uint32_t var)
{
    bool names = o->var == (int32_t)var;
    for (uint32_t i = 0; i < o->count && !names; i++)
        names = names_variable(&o->list[i], var);
    return names;
}

static bool uses_variable(const struct ptx_func *f, uint32_t var)
{
    for (uint32_t i = 0; i < f->n_insts; i++)
        for (uint32_t k = 0; k < f->insts[i].n_operands; k++)
            if (names_variable(&f->insts[i].operand[k], var))
                return true;
    return false;
}

static bool is_set(struct session *s, uint64_t address)
{
    char ignored[DEV_ERROR_MAX];
    uint64_t set;
    for (size_t i = 0; i < s->c->sets.n; i++)
        if (simt_variable(s->module, s->c->sets.all[i].what, &set, ignored) && set == address)
            return true;
    return false;
}

// A __constant__ that neither the file nor the user gives a value is zero, which is seldom meant.
static void hint_constants(struct session *s, const struct launch *l)
{
    const struct ptx_module *m = s->module->ptx;
    for (uint32_t i = 0; i < m->n_vars; i++) {
        const struct ptx_var *v = &m->vars[i];
        char name[DEMANGLED_MAX], source[DEMANGLED_MAX];
        if (v->space != SPACE_CONST || v->init || !v->bytes || v->local || !uses_variable(l->kernel->func, i) ||
            is_set(s, s->module->globals[i]))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)v->name.n, v->name.p);
        demangle(name, source);
        fprintf(stderr, "simt: note: __constant__ %s holds zeros: --set %s=... gives it a value\n", source, source);
    }
}

// --- arrays and variables that the user asks for ---

struct place {
    char name[300];
    const struct arg_type *type;
    unsigned char *data;
    size_t count, bytes;
};

// An array by its name or its argument's number (in the first launch), or a variable. False, with one line in error,
// where there is no such thing.
static bool find_place(struct session *s, const char *what, struct place *out)
{
    struct buffers *all = &s->c->buffers;
    uint64_t number, address = 0;
    const struct buffer *b = NULL;
    const bool numeric = options_whole(what, 0, MAX_ARGS - 1, &number);
    for (size_t i = 0; i < all->n && !b; i++)
        if (all->all[i].named && !strcmp(all->all[i].name, what))
            b = &all->all[i];
    if (!b && numeric) {
        const struct launch *l = &s->c->launches[0];
        const struct arg *a = number < l->n_args ? &l->args[number] : NULL;
        if (!a || !a->array)
            return fail(s, "argument %s is not an array%s", what, "");
        b = &all->all[a->pointers[0].buffer];
    }
    if (b) {
        *out = (struct place){ .type = b->type, .count = b->count, .bytes = b->bytes };
        out->data = memory_at(&s->simt->memory, b->address, b->bytes);
        snprintf(out->name, sizeof out->name, "%s", b->name);
        return true;
    }
    const struct ptx_var *v = simt_variable(s->module, what, &address, s->error);
    if (!v)
        return fail(s, "there is no array and no variable '%.200s': see simt inspect%s", what, "");
    *out = (struct place){ .type = arg_type_of(v->type), .bytes = v->bytes };
    out->count = out->bytes / arg_type_bytes(out->type);
    out->data = memory_at(&s->simt->memory, address, v->bytes);
    snprintf(out->name, sizeof out->name, "%.*s", (int)(v->name.n < 250 ? v->name.n : 250), v->name.p);
    return true;
}

static bool find_requests(struct session *s)
{
    struct place p;
    for (size_t i = 0; i < s->c->dumps.n; i++)
        if (!find_place(s, s->c->dumps.all[i].what, &p))
            return false;
    for (size_t i = 0; i < s->c->shows.n; i++) {
        const struct request *q = &s->c->shows.all[i];
        if (!find_place(s, q->what, &p))
            return false;
        if (q->to != SIZE_MAX && q->to > p.count) {
            snprintf(s->error, DEV_ERROR_MAX, "--show %s: it has %zu elements", q->what, p.count);
            return false;
        }
    }
    return true;
}

static bool dump(struct session *s)
{
    for (size_t i = 0; i < s->c->dumps.n; i++) {
        const struct request *q = &s->c->dumps.all[i];
        struct place p;
        FILE *f = find_place(s, q->what, &p) ? fopen(q->value, "wb") : NULL;
        bool ok = f && fwrite(p.data, 1, p.bytes, f) == p.bytes;
        if (f && fclose(f))
            ok = false;
        if (!ok)
            return fail(s, "%.300s: %s", q->value, strerror(errno));
    }
    return true;
}

static void show(const struct place *p, size_t from, size_t to)
{
    printf("%s, %s[%zu]:", p->name, arg_type_name(p->type), p->count);
    arg_print(stdout, p->type, p->data, from, to);
}

static void show_arrays(struct session *s)
{
    for (size_t i = 0; i < s->c->shows.n; i++) {
        const struct request *q = &s->c->shows.all[i];
        struct place p;
        if (!find_place(s, q->what, &p))
            continue;
        show(&p, q->from, q->to == SIZE_MAX ? p.count : q->to);
        putchar('\n');
    }
    for (size_t i = 0; i < s->c->buffers.n && !s->c->shows.n; i++) {
        const struct buffer *b = &s->c->buffers.all[i];
        struct place p = { .type = b->type, .count = b->count };
        p.data = memory_at(&s->simt->memory, b->address, b->bytes);
        snprintf(p.name, sizeof p.name, "%s", b->name);
        show(&p, 0, b->count < 8 ? b->count : 8);
        printf("%s\n", b->count > 8 ? " ..." : "");
    }
}

// --- after a launch ---

static void write_json(struct session *s)
{
    json_object(&s->writer, NULL);
    profile_json(&s->writer, &s->simt->profile, &s->simt->findings, "simulated GPU");
    json_end(&s->writer);
}

static void report(struct session *s, const struct launch *l)
{
    const struct command *c = s->c;
    struct simt *simt = s->simt;
    if (s->json)
        write_json(s);
    if (s->json == stdout)
        return;
    if (c->n_launches > 1 && c->verb != VERB_RUN)
        printf("%s--- launch %zu: %s\n", l > c->launches ? "\n" : "", (size_t)(l - c->launches) + 1, l->kernel->name);
    if (c->verb == VERB_CHECK) {
        findings_print(stdout, &simt->findings);
    } else if (c->verb == VERB_PROFILE) {
        profile_print(stdout, &simt->profile);
        occupancy_print(stdout, &simt->profile, c->file, c->card ? c->card : card_named("H200"));
        if (c->by_line)
            profile_print_lines(stdout, &simt->profile, 20);
    }
}

// The usual reason for an access beyond a dynamic array in shared memory.
static void hint_shared(const struct launch *l)
{
    const struct code *code = l->kernel->code;
    for (uint32_t i = 0; i < code->n_shared_vars && !l->shared; i++) {
        if (code->shared_vars[i].bytes)
            continue;
        fprintf(stderr, "simt: note: '%s' is extern __shared__, and this launch gives it no bytes: --shared BYTES\n",
                code->shared_vars[i].name);
        return;
    }
}

static char *draw_launch(const struct draw_launch *l, enum draw_view view, char error[DEV_ERROR_MAX])
{
    static char *(*const views[])(const struct draw_launch *, char[DEV_ERROR_MAX]) = {
        [DRAW_TILES] = draw_tiles,
        [DRAW_WALK] = draw_walk,
        [DRAW_TIMELINE] = draw_timeline,
        [DRAW_BITS] = draw_bits,
    };
    return views[view](l, error);
}

static bool draw(struct session *s, const struct launch *l, const unsigned char *params)
{
    const struct draw_command *d = &s->c->draw;
    const struct draw_launch what = { s->simt,  (struct simt_kernel *)l->kernel, l->grid, l->block, l->shared, params,
                                      &d->place };
    char *svg = d->view ? draw_launch(&what, d->view, s->error)
                        : draw_line(s->simt, l->kernel, l->grid, l->block, l->shared, params, &d->place, s->error);
    bool ok = svg && draw_write(d, svg, s->error);
    free(svg);
    return ok;
}

// One launch and its report; the exit status.
static int launch(struct session *s, struct launch *l)
{
    struct dev_arg args[MAX_ARGS];
    for (size_t i = 0; i < l->n_args; i++) {
        arg_link(&l->args[i], &s->c->buffers);
        args[i] = (struct dev_arg){ l->args[i].data, l->args[i].bytes };
    }
    unsigned char *params = simt_pack(l->kernel, args, l->n_args, s->error);
    const bool drawing = s->c->verb == VERB_DRAW;
    s->simt->faulted = false;
    bool ok = params && (drawing ? draw(s, l, params)
                                 : simt_launch(s->simt, l->kernel, l->grid, l->block, l->shared, params, s->error));
    free(params);
    const bool wrong = s->simt->faulted || (ok && s->simt->findings.n);
    if (ok && !drawing)
        report(s, l);
    if (wrong)
        hint_shared(l);
    return wrong ? EXIT_FAULT : ok ? EXIT_CLEAN : EXIT_UNABLE;
}

static int launch_all(struct session *s)
{
    struct command *c = s->c;
    int status = EXIT_CLEAN;
    if (s->json) {
        json_open(&s->writer, s->json);
        if (c->n_launches > 1)
            json_array(&s->writer, NULL);
    }
    for (size_t i = 0; i < c->n_launches && !*s->error; i++) {
        hint_constants(s, &c->launches[i]);
        const int result = launch(s, &c->launches[i]);
        status = result > status ? result : status;
    }
    if (s->json && c->n_launches > 1)
        json_end(&s->writer);
    if (s->json && !*s->error && !json_close(&s->writer)) {
        fail(s, "%.300s: %s", c->json, strerror(errno));
        return EXIT_UNABLE;
    }
    if (*s->error || c->verb == VERB_DRAW)
        return status;
    if (c->verb == VERB_RUN)
        show_arrays(s);
    return dump(s) ? status : EXIT_UNABLE;
}

int command_run(struct simt *simt, struct simt_module *m, struct command *c)
{
    char error[DEV_ERROR_MAX] = "";
    struct session s = { .simt = simt, .module = m, .c = c, .error = error };
    int status = EXIT_UNABLE;
    if (find_kernels(&s) && check_args(&s) && place_buffers(&s) && set_variables(&s) && find_requests(&s) &&
        options_open_json(c->json, &s.json, error))
        status = launch_all(&s);
    if (s.json && s.json != stdout)
        fclose(s.json);
    if (*error)
        fprintf(stderr, "simt: %s\n", error);
    return status;
}
