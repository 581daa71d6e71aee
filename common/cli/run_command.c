// simt run, profile, check, draw and watch: arrays and variables into device memory, the launches one after the other,
// and what they have to show.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/options.h"
#include "base/ptxas.h"
#include "base/text.h"
#include "command.h"
#include "watch/terminal.h"

struct session {
    struct simt *simt;
    struct simt_module *module;
    struct command *c;
    FILE *json;  // NULL: none
    struct json writer;
    char *error;
    bool hinted;  // at copies that simt run does not check
};

// --- before the launches ---

static bool find_kernels(struct session *s)
{
    for (size_t i = 0; i < s->c->n_launches; i++) {
        struct launch *l = &s->c->launches[i];
        l->kernel = simt_kernel_search(s->module, l->name, s->error);
        if (!l->kernel)
            return false;
        l->about = simt_kernel_about(l->kernel);
        if (l->about.error)
            return error_set(s->error, "%s", l->about.error);
    }
    return true;
}

static bool check_args(struct session *s)
{
    for (size_t i = 0; i < s->c->n_launches; i++) {
        const struct launch *l = &s->c->launches[i];
        const uint32_t takes = l->about.parameters;
        struct simt_parameter p;
        if (l->n_args != takes)
            return error_set(s->error, "kernel %.200s takes %u argument%s, %zu %s given", l->about.name, takes,
                             text_plural(takes), l->n_args, l->n_args == 1 ? "was" : "were");
        for (size_t k = 0; k < l->n_args; k++) {
            char place[64];
            snprintf(place, sizeof place, i ? "argument %zu of launch %zu" : "argument %zu", k, i + 1);
            if (!simt_parameter(l->kernel, (uint32_t)k, &p) ||
                !arg_fits(&l->args[k], &p.type, p.scalar, p.bytes, place, s->error))
                return false;
        }
    }
    return true;
}

// With the checks on, so that what is not initialised holds the same odd bytes in every run.
static bool place_buffers(struct session *s)
{
    simt_set_checks(s->simt, true);
    for (size_t i = 0; i < s->c->buffers.n; i++) {
        struct buffer *b = &s->c->buffers.all[i];
        const size_t each = b->bytes / b->count, from = b->from * each, to = b->to * each;
        if (!simt_alloc(s->simt, b->name, b->bytes, &b->address, s->error))
            return error_set(s->error, "%s: %zu bytes do not fit in memory", b->name, b->bytes);
        if (from < to && !simt_write(s->simt, b->address + from, b->data + from, to - from, s->error))
            return false;
    }
    simt_set_checks(s->simt, s->c->verb == VERB_CHECK || s->c->verb == VERB_WATCH);
    return true;
}

// Puts the addresses of its arrays into an argument.
static bool link_arg(struct session *s, struct arg *a)
{
    struct dev_tensor_map map;
    arg_link(a, &s->c->buffers);
    if (!a->map)
        return true;
    if (!simt_tensor_map(&a->tensor, &map, s->error))
        return false;
    memcpy(a->data, &map, sizeof map);
    return true;
}

// Makes the variables what --set says; they are in device memory since the module was loaded.
static bool set_variable(struct session *s, const struct request *q)
{
    size_t from, to;
    struct arg value;
    struct simt_variable v;
    if (!simt_variable_search(s->module, q->what, &v, s->error))
        return false;
    bool ok = arg_parse_content(q->value, &s->c->buffers, &value, &from, &to, s->error);
    if (ok && value.bytes > v.bytes) {
        ok = error_set(s->error, "--set %.100s: '%.200s' has %zu bytes, the variable has %" PRIu64, q->what, q->value,
                       value.bytes, v.bytes);
    }
    if (ok && value.type && v.scalar)
        ok = arg_fits(&value, &v.type, true, v.bytes, "--set", s->error);
    if (ok)
        ok = link_arg(s, &value) && simt_write(s->simt, v.address + from, value.data + from, to - from, s->error);
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

static bool is_set(struct session *s, uint64_t address)
{
    char ignored[DEV_ERROR_MAX];
    struct simt_variable v;
    for (size_t i = 0; i < s->c->sets.n; i++)
        if (simt_variable_search(s->module, s->c->sets.all[i].what, &v, ignored) && v.address == address)
            return true;
    return false;
}

// A __constant__ that neither the file nor the user gives a value is zero, which is seldom meant.
static void hint_constants(struct session *s, const struct launch *l)
{
    struct simt_variable v;
    for (uint32_t i = 0; simt_variable_at(s->module, i, &v); i++) {
        char source[SIMT_NAME_MAX];
        if (!v.constant || v.initial || !simt_kernel_uses(l->kernel, v.address) || is_set(s, v.address))
            continue;
        simt_source_name(v.name, source);
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
    return error_set(s->error, "there is no array '%.150s'%s%.250s, and %.400s", what,
                     *names ? "; the command names " : ": the command names none", names, variables);
}

// An array by its name or its argument's number (in the first launch), or a variable. False, with one line in error,
// where there is no such thing.
static bool find_place(struct session *s, const char *what, struct place *out)
{
    struct buffers *all = &s->c->buffers;
    uint64_t number;
    struct simt_variable v;
    const struct buffer *b = NULL;
    const bool numeric = options_whole(what, 0, MAX_ARGS - 1, &number);
    for (size_t i = 0; i < all->n && !b; i++)
        if (all->all[i].named && !strcmp(all->all[i].name, what))
            b = &all->all[i];
    if (!b && numeric) {
        const struct launch *l = &s->c->launches[0];
        const struct arg *a = number < l->n_args ? &l->args[number] : NULL;
        if (!a || !a->array)
            return error_set(s->error, "argument %s is not an array", what);
        b = &all->all[a->pointers[0].buffer];
    }
    if (b) {
        *out = (struct place){ .type = b->type, .address = b->address, .count = b->count, .bytes = b->bytes };
        snprintf(out->name, sizeof out->name, "%s", b->name);
        return true;
    }
    if (!simt_variable_search(s->module, what, &v, s->error))
        return complain_of_place(s, what);
    *out = (struct place){ .type = arg_type_of(&v.type), .address = v.address, .bytes = v.bytes };
    out->count = out->bytes / arg_type_bytes(out->type);
    snprintf(out->name, sizeof out->name, "%.250s", v.name);
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
        if (q->to != SIZE_MAX && q->to > p.count)
            return error_set(s->error, "--show %s: it has %zu elements", q->what, p.count);
    }
    return true;
}

// What is there now; the caller frees it. NULL, with one line in error, if it cannot be had.
static unsigned char *download(struct session *s, const struct place *p)
{
    unsigned char *data = malloc(p->bytes + 1);
    if (!data)
        error_set(s->error, "out of memory");
    else if (simt_read(s->simt, data, p->address, p->bytes, s->error))
        return data;
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
    return ok || error_set(s->error, "%.300s: %s", path, strerror(errno));
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
static void write_json(struct session *s, const struct simt_prediction *p)
{
    json_object(&s->writer, NULL);
    profile_json(&s->writer, simt_profile(s->simt), SIMT_DEVICE);
    simt_findings_json(&s->writer, simt_findings(s->simt), NULL);
    if (p) {
        json_object(&s->writer, "prediction");
        simt_prediction_json(&s->writer, p);
        json_end(&s->writer);
    }
    json_end(&s->writer);
}

static void print_findings(struct session *s, size_t number)
{
    char watch[64], *end = NULL;
    const bool several = s->c->n_launches > 1;
    snprintf(watch, sizeof watch, several ? "simt watch --launch %zu" : "simt watch", number);
    const bool can = s->c->again && asprintf(&end, " %s", s->c->again) > 0;
    const struct simt_advice advice = { .watch = can ? watch : NULL, .watch_end = end };
    simt_findings_print(stdout, simt_findings(s->simt), &advice);
    free(can ? end : NULL);
}

static void report(struct session *s, const struct launch *l, const struct simt_prediction *p)
{
    const struct command *c = s->c;
    const struct profile *profile = simt_profile(s->simt);
    if (s->json)
        write_json(s, p);
    if (s->json == stdout)
        return;
    if (c->n_launches > 1 && c->verb != VERB_RUN && c->verb != VERB_WATCH)
        printf("%s--- launch %zu: %s\n", l > c->launches ? "\n" : "", (size_t)(l - c->launches) + 1, l->about.name);
    if (c->verb == VERB_CHECK) {
        print_findings(s, (size_t)(l - c->launches) + 1);
    } else if (c->verb == VERB_PROFILE) {
        profile_print(stdout, profile);
        occupancy_print(stdout, profile, c->file, card_meant(c->card));
        if (p)
            simt_prediction_print(stdout, p, c->by_line);
        if (c->by_line)
            profile_print_lines(stdout, profile, 20);
    }
}

// The usual reason for an access beyond a dynamic array in shared memory.
static void hint_shared(const struct launch *l)
{
    if (l->about.dynamic && !l->shared)
        fprintf(stderr, "simt: note: '%s' is extern __shared__, and this launch gives it no bytes: --shared BYTES\n",
                l->about.dynamic);
}

// Whether a kernel waits for its asynchronous copies shows in its results by chance alone: that takes the checks.
static void hint_copies(struct session *s, const struct launch *l)
{
    struct simt_instruction in;
    bool copies = false;
    for (uint32_t i = 0; !copies && simt_instruction(l->kernel, i, &in); i++)
        copies = in.op_bytes > 8 && !memcmp(in.op, "cp.async", 8);
    if (copies && !s->hinted)
        fprintf(stderr, "simt: note: '%s' copies asynchronously: 'simt check' tells whether it waits for its copies\n",
                l->about.name);
    s->hinted |= copies;
}

// What the arrays held at first: the clock follows branches and addresses that depend on it.
static size_t known_arrays(const struct buffers *b, struct simt_array out[MAX_ARGS])
{
    size_t n = 0;
    for (size_t i = 0; i < b->n && n < MAX_ARGS; i++)
        if (b->all[i].data && b->all[i].address)
            out[n++] = (struct simt_array){ b->all[i].address, b->all[i].bytes, b->all[i].data };
    return n;
}

struct simt_prediction *command_predict(const struct command *c, const struct launch *l, const struct dev_launch *how,
                                        char error[DEV_ERROR_MAX])
{
    struct simt_array arrays[MAX_ARGS];
    const struct simt_timing t = { c->file, simt_kernel_about(l->kernel).name, how, arrays,
                                   known_arrays(&c->buffers, arrays) };
    return simt_predict(&t, c->card, error);
}

static bool draw(struct session *s, const struct launch *l, const struct dev_launch *how)
{
    struct draw_command *d = &s->c->draw;
    struct simt_product product;
    const enum simt_view view = d->place.view;
    const bool in_cycles = view == SIMT_DRAW_TIMELINE && (d->in_cycles || s->c->card);
    const struct simt_timing t = { .ptx = s->c->file, .kernel = l->about.name, .launch = how };
    const struct card *card = card_meant(s->c->card);
    if (view != SIMT_DRAW_ACCESS && view != SIMT_DRAW_TIMELINE &&
        !draw_find_product(l, &s->c->buffers, &d->place, &product, s->error))
        return false;
    char *svg = in_cycles ? simt_draw_cycles(&t, card, &d->cycles, s->error)
                          : simt_draw(s->simt, l->kernel, how, &d->place, s->error);
    d->place.product = NULL;
    const bool ok = svg && draw_write(d, svg, s->error);
    free(svg);
    return ok;
}

// The launches that are run: of a watch all up to the one that is watched.
static size_t count_launches(const struct command *c)
{
    return c->verb == VERB_WATCH && c->launch ? c->launch : c->n_launches;
}

static bool watch(struct session *s, const struct launch *l, const struct dev_launch *how)
{
    const struct simt_picture *at = &s->c->draw.place;
    const struct watch_begin begin = {
        .block = at->block[0] + (uint64_t)l->grid[0] * (at->block[1] + (uint64_t)l->grid[1] * at->block[2]),
        .finding = (uint32_t)s->c->finding,
        .place = at->line || at->warp != SIMT_ALL_WARPS,
        .warp = at->warp,
        .line = at->line,
    };
    return watch_terminal(s->simt, l->kernel, how, &begin, s->error);
}

// One launch and its report; the exit status.
static int launch(struct session *s, struct launch *l)
{
    struct dev_arg args[MAX_ARGS];
    struct dev_launch how = { .shared = l->shared, .args = args, .n_args = l->n_args };
    memcpy(how.grid, l->grid, sizeof how.grid);
    memcpy(how.block, l->block, sizeof how.block);
    memcpy(how.cluster, l->cluster, sizeof how.cluster);
    for (size_t i = 0; i < l->n_args; i++) {
        if (!link_arg(s, &l->args[i]))
            return EXIT_UNABLE;
        args[i] = (struct dev_arg){ l->args[i].data, l->args[i].bytes };
    }
    if (s->c->verb == VERB_WATCH && l + 1 == s->c->launches + count_launches(s->c))
        return watch(s, l, &how) ? EXIT_CLEAN : EXIT_UNABLE;
    const bool drawing = s->c->verb == VERB_DRAW;
    const bool ok = drawing ? draw(s, l, &how) : simt_launch(s->simt, l->kernel, &how, s->error);
    simt_sync(s->simt);
    const struct simt_findings *found = simt_findings(s->simt);
    const bool wrong = simt_failure(s->simt) || (ok && found && found->n);
    const bool predicts = ok && s->c->verb == VERB_PROFILE && s->c->card && !wrong;
    char error[DEV_ERROR_MAX] = "";
    struct simt_prediction *p = predicts ? command_predict(s->c, l, &how, error) : NULL;
    if (ok && !drawing)
        report(s, l, p);
    if (predicts && !p)
        fprintf(stderr, "simt: note: no time is predicted: %s\n", error);
    simt_prediction_free(p);
    if (wrong)
        hint_shared(l);
    else if (ok && s->c->verb == VERB_RUN)
        hint_copies(s, l);
    return wrong ? EXIT_FAULT : ok ? EXIT_CLEAN : EXIT_UNABLE;
}

// What ptxas warns of in a kernel that is checked: once for all its launches.
static void hint_warnings(const struct session *s, const struct launch *l)
{
    bool again = s->c->verb != VERB_CHECK;
    for (const struct launch *before = s->c->launches; !again && before < l; before++)
        again = !strcmp(before->about.name, l->about.name);
    char *warnings = again ? NULL : ptxas_warnings(s->c->file, l->about.name);
    if (warnings)
        ptxas_print(stderr, "simt: note: ", warnings);
    free(warnings);
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
    for (size_t i = 0; i < count_launches(c) && !*s->error; i++) {
        hint_constants(s, &c->launches[i]);
        const int result = launch(s, &c->launches[i]);
        hint_warnings(s, &c->launches[i]);
        status = result > status ? result : status;
    }
    if (s->json && c->n_launches > 1)
        json_end(&s->writer);
    if (s->json && !*s->error && !json_close(&s->writer)) {
        error_set(s->error, "%.300s: %s", c->json, strerror(errno));
        return EXIT_UNABLE;
    }
    if (*s->error || c->verb == VERB_DRAW)
        return status;
    if (c->verb == VERB_RUN)
        show_arrays(s);
    return dump(s) ? status : EXIT_UNABLE;
}

// Whether what the launches leave can be written where the options say.
static bool may_write(const struct session *s)
{
    for (size_t i = 0; i < s->c->dumps.n; i++)
        if (!options_may_write("--dump", s->c->dumps.all[i].value, s->error))
            return false;
    return options_may_write("--out", s->c->draw.out, s->error);
}

int command_run(struct simt *simt, struct simt_module *m, struct command *c)
{
    char error[DEV_ERROR_MAX] = "";
    struct session s = { .simt = simt, .module = m, .c = c, .error = error };
    int status = EXIT_UNABLE;
    if (find_kernels(&s) && check_args(&s) && may_write(&s) && place_buffers(&s) && set_variables(&s) &&
        find_requests(&s) && options_open_json(c->json, &s.json, error))
        status = launch_all(&s);
    if (s.json && s.json != stdout)
        fclose(s.json);
    if (*error)
        fprintf(stderr, "simt: %s\n", error);
    return status;
}
