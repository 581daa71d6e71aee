// See launch_list.h.
#include "launch_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "device/open.h"
#include "cli/command.h"

enum { MAX_WORDS = MAX_ARGS + 16, WARMUP = 2, RUNS = 15, PATH = 1000, WORD = 200 };

struct launch_device {
    struct dev *dev;
    struct dev *simulated;  // knows the kernels' parameters; the same as dev if that is simulated
    char path[PATH];        // of what is loaded
    struct dev_module *module, *known;
    dev_ptr flush;  // twice the L2 cache
};

// --- the list ---

static bool add_line(struct launch_list *l, const char *text, char error[DEV_ERROR_MAX])
{
    char ptx[WORD], kernel[WORD];
    int behind = 0;
    struct launch_item item = { 0 };
    if (sscanf(text, "%63s %n%199s %199s", item.name, &behind, ptx, kernel) != 3)
        return error_set(error, "'%.100s': a line is NAME PTX KERNEL ...", text);
    struct launch_item *grown = realloc(l->all, (l->n + 1) * sizeof *grown);
    item.line = strdup(text + behind);
    if (grown)
        l->all = grown;
    if (!grown || !item.line) {
        free(item.line);
        return error_set(error, "out of memory");
    }
    l->all[l->n++] = item;
    return true;
}

bool launch_list_read(struct launch_list *l, const char *path, char error[DEV_ERROR_MAX])
{
    char *line = NULL;
    size_t room = 0;
    *l = (struct launch_list){ 0 };
    FILE *f = fopen(path, "r");
    bool ok = f || error_set(error, "%.300s cannot be read", path);
    while (ok && getline(&line, &room, f) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line && *line != '#')
            ok = add_line(l, line, error);
    }
    free(line);
    if (f)
        fclose(f);
    if (!ok)
        launch_list_free(l);
    return ok;
}

void launch_list_free(struct launch_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->all[i].line);
    free(l->all);
    *l = (struct launch_list){ 0 };
}

// --- devices ---

struct launch_device *launch_device_open(enum dev_kind kind, char error[DEV_ERROR_MAX])
{
    struct launch_device *d = calloc(1, sizeof *d);
    if (!d) {
        error_set(error, "out of memory");
        return NULL;
    }
    d->dev = dev_open(kind, error);
    if (d->dev)
        d->simulated = dev_about(d->dev)->simulated ? d->dev : dev_open(DEV_SIM, error);
    if (d->simulated)
        return d;
    launch_device_close(d);
    return NULL;
}

void launch_device_close(struct launch_device *d)
{
    if (d && d->simulated != d->dev)
        dev_close(d->simulated);
    if (d)
        dev_close(d->dev);
    free(d);
}

static bool load(struct launch_device *d, const char *path, char error[DEV_ERROR_MAX])
{
    if (!strcmp(d->path, path))
        return true;
    *d->path = '\0';
    if (d->module && d->module != d->known)
        dev_unload(d->dev, d->module);
    if (d->known)
        dev_unload(d->simulated, d->known);
    d->known = dev_load(d->simulated, path);
    d->module = d->known && d->dev != d->simulated ? dev_load(d->dev, path) : d->known;
    if (!d->known || !d->module)
        return error_set(error, "%s", dev_error(d->known ? d->dev : d->simulated));
    snprintf(d->path, sizeof d->path, "%s", path);
    return true;
}

// --- one launch ---

struct one {
    struct command *c;
    struct launch *l;  // the only one of c
    struct dev_kernel *launched;
    char *words;  // what c's strings are parts of
    char path[PATH];
    struct dev_arg args[MAX_ARGS];
};

static void close_one(struct one *o)
{
    if (o->c)
        command_free(o->c);
    free(o->c);
    free(o->words);
}

// TYPE[COUNT]=... becomes TYPE[COUNT]=uninit, for which nothing is written; integers stay, since they may be addresses.
static char *without_content(char *word, char room[WORD])
{
    const char *end = strstr(word, "]=");
    if (!end || *word == 'i' || *word == 'u')
        return word;
    snprintf(room, WORD, "%.*s=uninit", (int)(end + 1 - word), word);
    return room;
}

static bool parse(struct one *o, const struct launch_item *item, const char *folder, bool contents,
                  char error[DEV_ERROR_MAX])
{
    char *argv[MAX_WORDS] = { (char *)"simt", (char *)"profile" }, *save = NULL;
    static char rooms[MAX_WORDS][WORD];
    int argc = 2;
    *o = (struct one){ .c = calloc(1, sizeof *o->c), .words = strdup(item->line) };
    if (!o->c || !o->words)
        return error_set(error, "out of memory");
    for (char *w = strtok_r(o->words, " ", &save); w && argc < MAX_WORDS; w = strtok_r(NULL, " ", &save), argc++)
        argv[argc] = contents ? w : without_content(w, rooms[argc]);
    snprintf(o->path, sizeof o->path, "%.700s/%.200s.ptx", folder, argv[2]);
    argv[2] = o->path;
    if (!command_parse(o->c, argc, argv, error))
        return false;
    o->l = &o->c->launches[0];
    return true;
}

static bool find_kernel(struct one *o, struct launch_device *d, char error[DEV_ERROR_MAX])
{
    if (!load(d, o->path, error))
        return false;
    o->l->kernel = simt_kernel_search((struct simt_module *)d->known, o->l->name, error);
    if (!o->l->kernel)
        return false;
    o->l->about = simt_kernel_about(o->l->kernel);
    if (o->l->n_args != o->l->about.parameters)
        return error_set(error, "%.200s takes %u arguments, %zu were given", o->l->name, o->l->about.parameters,
                         o->l->n_args);
    o->launched = dev_kernel(d->dev, d->module, o->l->about.name);
    return o->launched || error_set(error, "%s", dev_error(d->dev));
}

static bool link_args(struct one *o, struct launch_device *d, char error[DEV_ERROR_MAX])
{
    for (size_t i = 0; i < o->l->n_args; i++) {
        struct arg *a = &o->l->args[i];
        struct dev_tensor_map map;
        arg_link(a, &o->c->buffers);
        if (a->map && !dev_tensor_map(d->dev, &a->tensor, &map))
            return error_set(error, "%s", dev_error(d->dev));
        if (a->map)
            memcpy(a->data, &map, sizeof map);
        o->args[i] = (struct dev_arg){ a->data, a->bytes };
    }
    return true;
}

static struct dev_launch launch_of(const struct one *o)
{
    struct dev_launch l = { .shared = o->l->shared, .args = o->args, .n_args = o->l->n_args };
    memcpy(l.grid, o->l->grid, sizeof l.grid);
    memcpy(l.block, o->l->block, sizeof l.block);
    return l;
}

struct simt_prediction *launch_predict(struct launch_device *simulated, const struct launch_item *item,
                                       const char *folder, const struct card *card, char error[DEV_ERROR_MAX])
{
    struct simt_prediction *p = NULL;
    struct one o;
    bool ok = parse(&o, item, folder, false, error) && find_kernel(&o, simulated, error);
    for (size_t i = 0; ok && i < o.c->buffers.n; i++)
        o.c->buffers.all[i].address = (uint64_t)(i + 1) << 40;  // where they lie does not matter
    ok = ok && link_args(&o, simulated, error);
    if (ok) {
        const struct dev_launch how = launch_of(&o);
        o.c->card = card;
        p = command_predict(o.c, o.l, &how, error);
    }
    close_one(&o);
    return p;
}

// --- on a GPU ---

static bool place_arrays(struct one *o, struct launch_device *d)
{
    for (size_t i = 0; i < o->c->buffers.n; i++) {
        struct buffer *b = &o->c->buffers.all[i];
        const size_t each = b->bytes / b->count, from = b->from * each, to = b->to * each;
        if (!dev_alloc(d->dev, b->name, b->bytes, &b->address) || !dev_clear(d->dev, b->address, b->bytes) ||
            (from < to && !dev_upload(d->dev, b->address + from, b->data + from, to - from)))
            return false;
    }
    return true;
}

static void free_arrays(struct one *o, struct launch_device *d)
{
    for (size_t i = 0; i < o->c->buffers.n; i++)
        if (o->c->buffers.all[i].address)
            dev_free(d->dev, o->c->buffers.all[i].address);
}

static bool time_runs(const struct one *o, struct launch_device *d, double *us)
{
    const size_t bytes = 2 * dev_about(d->dev)->l2;
    const struct dev_launch what = launch_of(o);
    double ms[RUNS];
    if (!d->flush && bytes && !dev_alloc(d->dev, "what empties the L2 cache", bytes, &d->flush))
        return false;
    for (int i = 0; i < WARMUP; i++)
        if (!dev_launch(d->dev, o->launched, &what))
            return false;
    if (!dev_sync(d->dev))
        return false;
    for (int i = 0; i < RUNS; i++)
        if ((bytes && !dev_clear(d->dev, d->flush, bytes)) || !dev_timer_start(d->dev) ||
            !dev_launch(d->dev, o->launched, &what) || !dev_timer_stop(d->dev, &ms[i]))
            return false;
    *us = 1000 * median(ms, RUNS);
    return true;
}

bool launch_measure(struct launch_device *gpu, const struct launch_item *item, const char *folder, double *us,
                    char error[DEV_ERROR_MAX])
{
    struct one o;
    bool ok = parse(&o, item, folder, true, error) && find_kernel(&o, gpu, error);
    if (ok) {
        ok = place_arrays(&o, gpu) || error_set(error, "%s", dev_error(gpu->dev));
        ok = ok && link_args(&o, gpu, error);
        ok = ok && (time_runs(&o, gpu, us) || error_set(error, "%s", dev_error(gpu->dev)));
        free_arrays(&o, gpu);
    }
    close_one(&o);
    return ok;
}
