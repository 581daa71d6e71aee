// simt run, profile, check and draw: arrays and variables into device memory, the launches one after the other, and
// what they have to show.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/options.h"
#include "base/text.h"
#include "command.h"
#include "simt/ptx/demangle.h"
#include "simt/draw/draw.h"

struct session {
    struct dev *dev;
    struct dev_module *loaded;
    struct simt_module *module;  // the same, as the simulated GPU has it
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

static bool device_failed(struct session *s)
{
    return fail(s, "%s%s", dev_error(s->dev), "");
}

// --- before the launches ---

static bool find_kernels(struct session *s)
{
    for (size_t i = 0; i < s->c->n_launches; i++) {
        struct launch *l = &s->c->launches[i];
        l->kernel = simt_search(s->module, l->name, s->error);
        if (!l->kernel)
            return false;
        l->launched = dev_kernel(s->dev, s->loaded, l->kernel->name);
        if (!l->launched)
            return device_failed(s);
    }
    return true;
}

static bool check_args(struct session *s)
{
    for (size_t i = 0; i < s->c->n_launches; i++) {
        const struct launch *l = &s->c->launches[i];
        const struct ptx_func *f = l->kernel->func;
        if (l->n_args != f->n_params) {
            snprintf(s->error, DEV_ERROR_MAX, "kernel %.200s takes %u argument%s, %zu %s given", l->kernel->name,
                     f->n_params, text_plural(f->n_params), l->n_args, l->n_args == 1 ? "was" : "were");
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

// With the checks on, so that what is not initialised holds the same odd bytes in every run.
static bool place_buffers(struct session *s)
{
    dev_set_checks(s->dev, true);
    for (size_t i = 0; i < s->c->buffers.n; i++) {
        struct buffer *b = &s->c->buffers.all[i];
        const size_t each = b->bytes / b->count, from = b->from * each, to = b->to * each;
        if (!dev_alloc(s->dev, b->name, b->bytes, &b->address)) {
            snprintf(s->error, DEV_ERROR_MAX, "%s: %zu bytes do not fit in memory", b->name, b->bytes);
            return false;
        }
        if (from < to && !dev_upload(s->dev, b->address + from, b->data + from, to - from))
            return device_failed(s);
    }
    dev_set_checks(s->dev, s->c->verb == VERB_CHECK);
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
    if (ok)
        ok = (arg_link(s->dev, &value, &s->c->buffers) &&
              dev_upload(s->dev, address + from, value.data + from, to - from)) ||
             device_failed(s);
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
    dev_ptr address;
    size_t count, bytes;
};

// s->error says which variables there are; the arrays that have names come before it.
static bool complain_of_place(struct session *s, const char *what)
{
    const struct buffers *all = &s->c->buffers;
    char names[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < all->n && used < sizeof names; i++)
        if (all->all[i].named)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", all->all[i].name);
    char variables[DEV_ERROR_MAX];
    snprintf(variables, sizeof variables, "%s", s->error);
    snprintf(s->error, DEV_ERROR_MAX, "there is no array '%.150s'%s%.250s, and %.400s", what,
             *names ? "; the command names " : ": the command names none", names, variables);
    return false;
}

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
        *out = (struct place){ .type = b->type, .address = b->address, .count = b->count, .bytes = b->bytes };
        snprintf(out->name, sizeof out->name, "%s", b->name);
        return true;
    }
    const struct ptx_var *v = simt_variable(s->module, what, &address, s->error);
    if (!v)
        return complain_of_place(s, what);
    *out = (struct place){ .type = arg_type_of(v->type), .address = address, .bytes = v->bytes };
    out->count = out->bytes / arg_type_bytes(out->type);
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

// What is there now; the caller frees it. NULL, with one line in error, if it cannot be had.
static unsigned char *download(struct session *s, const struct place *p)
{
    unsigned char *data = malloc(p->bytes + 1);
    if (!data)
        fail(s, "%s%s", "out of memory", "");
    else if (dev_download(s->dev, data, p->address, p->bytes))
        return data;
    else
        device_failed(s);
    free(data);
    return NULL;
}

static bool dump_to(struct session *s, const struct place *p, const char *path)
{
    unsigned char *data = download(s, p);
    if (!data)
        return false;
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, p->bytes, f) == p->bytes;
    if (f && fclose(f))
        ok = false;
    free(data);
    return ok || fail(s, "%.300s: %s", path, strerror(errno));
}

static bool dump(struct session *s)
{
    struct place p;
    for (size_t i = 0; i < s->c->dumps.n; i++) {
        const struct request *q = &s->c->dumps.all[i];
        if (!find_place(s, q->what, &p) || !dump_to(s, &p, q->value))
            return false;
    }
    return true;
}

static void show(struct session *s, const struct place *p, size_t from, size_t to)
{
    unsigned char *data = download(s, p);
    if (!data)
        return;
    printf("%s, %s[%zu]:", p->name, arg_type_name(p->type), p->count);
    arg_print(stdout, p->type, data, from, to);
    free(data);
}

static void show_arrays(struct session *s)
{
    for (size_t i = 0; i < s->c->shows.n; i++) {
        const struct request *q = &s->c->shows.all[i];
        struct place p;
        if (!find_place(s, q->what, &p))
            continue;
        show(s, &p, q->from, q->to == SIZE_MAX ? p.count : q->to);
        putchar('\n');
    }
    for (size_t i = 0; i < s->c->buffers.n && !s->c->shows.n; i++) {
        const struct buffer *b = &s->c->buffers.all[i];
        const size_t shown = b->count < 8 ? b->count : 8;
        struct place p = { .type = b->type, .address = b->address, .count = b->count };
        p.bytes = shown * (b->bytes / b->count);
        snprintf(p.name, sizeof p.name, "%s", b->name);
        show(s, &p, 0, shown);
        printf("%s\n", b->count > 8 ? " ..." : "");
    }
}

// --- after a launch ---

// p: NULL where nothing is predicted.
static void write_json(struct session *s, const struct clock_prediction *p)
{
    json_object(&s->writer, NULL);
    profile_json(&s->writer, dev_profile(s->dev), dev_findings(s->dev), dev_about(s->dev)->name);
    if (p) {
        json_object(&s->writer, "prediction");
        clock_json(&s->writer, p, s->c->card);
        json_end(&s->writer);
    }
    json_end(&s->writer);
}

static void report(struct session *s, const struct launch *l, const struct clock_prediction *p)
{
    const struct command *c = s->c;
    const struct profile *profile = dev_profile(s->dev);
    if (s->json)
        write_json(s, p);
    if (s->json == stdout)
        return;
    if (c->n_launches > 1 && c->verb != VERB_RUN)
        printf("%s--- launch %zu: %s\n", l > c->launches ? "\n" : "", (size_t)(l - c->launches) + 1, l->kernel->name);
    if (c->verb == VERB_CHECK) {
        findings_print(stdout, dev_findings(s->dev));
    } else if (c->verb == VERB_PROFILE) {
        profile_print(stdout, profile);
        occupancy_print(stdout, profile, c->file, c->card ? c->card : card_named("H200"));
        if (p)
            clock_print(stdout, p, c->card, c->by_line);
        if (c->by_line)
            profile_print_lines(stdout, profile, 20);
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

static bool draw_in_cycles(struct session *s, const struct launch *l, const struct dev_arg *args)
{
    struct clock_launch what;
    uint32_t at[MAX_ARGS];
    struct draw_cycles cycles = s->c->draw.cycles;
    cycles.card = s->c->card ? s->c->card : card_named("H200");
    char *svg = command_clock_launch(s->c, l, args, &what, at, s->error) ? draw_cycles(&what, &cycles, s->error) : NULL;
    const bool ok = svg && draw_write(&s->c->draw, svg, s->error);
    free(svg);
    free((void *)what.params);
    return ok;
}

static bool draw(struct session *s, const struct launch *l, const struct dev_arg *args)
{
    const struct draw_command *d = &s->c->draw;
    if (d->view == DRAW_TIMELINE && (d->in_cycles || s->c->card))
        return draw_in_cycles(s, l, args);
    struct simt *simt = simt_of(s->dev);
    unsigned char *params = simt_pack(l->kernel, args, l->n_args, s->error);
    if (!params)
        return false;
    const struct draw_launch what = { simt, l->kernel, l->grid, l->block, l->cluster, l->shared, params, &d->place };
    char *svg = d->view ? draw_launch(&what, d->view, s->error) : draw_line(&what, s->error);
    bool ok = svg && draw_write(d, svg, s->error);
    free(svg);
    free(params);
    return ok;
}

static bool run(struct session *s, const struct launch *l, const struct dev_arg *args)
{
    const struct dev_launch what = { .grid = { l->grid[0], l->grid[1], l->grid[2] },
                                     .block = { l->block[0], l->block[1], l->block[2] },
                                     .cluster = { l->cluster[0], l->cluster[1], l->cluster[2] },
                                     .shared = l->shared,
                                     .args = args,
                                     .n_args = l->n_args };
    return (dev_launch(s->dev, l->launched, &what) && dev_sync(s->dev)) || device_failed(s);
}

// One launch and its report; the exit status.
static int launch(struct session *s, struct launch *l)
{
    struct dev_arg args[MAX_ARGS];
    for (size_t i = 0; i < l->n_args; i++) {
        if (!arg_link(s->dev, &l->args[i], &s->c->buffers)) {
            device_failed(s);
            return EXIT_UNABLE;
        }
        args[i] = (struct dev_arg){ l->args[i].data, l->args[i].bytes };
    }
    const bool drawing = s->c->verb == VERB_DRAW;
    const bool ok = drawing ? draw(s, l, args) : run(s, l, args);
    const struct findings *found = dev_findings(s->dev);
    const bool wrong = simt_of(s->dev)->faulted || (ok && found && found->n);
    struct clock_prediction p;
    const bool predicts = ok && s->c->verb == VERB_PROFILE && s->c->card && !wrong;
    char error[DEV_ERROR_MAX] = "";
    const bool predicted = predicts && command_predict(s->c, l, args, &p, error);
    if (ok && !drawing)
        report(s, l, predicted ? &p : NULL);
    if (predicted)
        clock_free(&p);
    else if (predicts)
        fprintf(stderr, "simt: note: no time is predicted: %s\n", error);
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

int command_run(struct dev *d, struct dev_module *m, struct command *c)
{
    char error[DEV_ERROR_MAX] = "";
    struct session s = { .dev = d, .loaded = m, .module = simt_module_of(m), .c = c, .error = error };
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
