// The record of a block: the launch runs once, and every step of the block is noted. To look at a moment it runs again.
#include <stdlib.h>
#include <string.h>

#include "inside.h"

// --- the first run ---

static bool add_step(struct watch *w, const struct simt_look *look)
{
    if (w->n == w->room) {
        const uint64_t room = w->room ? 2 * w->room : 1 << 12;
        uint32_t *what = room <= WATCH_MOST ? realloc(w->what, room * sizeof *what) : NULL;
        w->what = what ? what : w->what;
        uint32_t *lanes = what ? realloc(w->lanes, room * sizeof *lanes) : NULL;
        w->lanes = lanes ? lanes : w->lanes;
        if (!lanes)
            return false;
        w->room = room;
    }
    w->what[w->n] = simt_look_warp(look) << (32 - WATCH_WARP_BITS) | simt_look_instruction(look);
    w->lanes[w->n++] = simt_look_lanes(look);
    return true;
}

static bool read_variables(struct watch *w, const struct simt_look *look)
{
    struct simt_shared_variable v;
    uint32_t n = 0;
    w->shared_bytes = simt_look_shared_bytes(look);
    while (simt_look_shared_variable(look, n, &v))
        n++;
    w->variables = calloc(n + 1, sizeof *w->variables);
    for (; w->variables && w->n_variables < n; w->n_variables++)
        simt_look_shared_variable(look, w->n_variables, &w->variables[w->n_variables]);
    return w->variables;
}

// The checks found something in this step, or in another block since the last one.
static bool note_growth(struct watch *w, const struct simt_look *look)
{
    const uint64_t found = simt_look_found(look);
    struct growth *all = watch_grow(w->growths, w->n_growths, &w->growths_room, sizeof *all);
    if (!all)
        return false;
    w->growths = all;
    if (found > w->found)
        all[w->n_growths++] = (struct growth){ w->n - 1, simt_look_warp(look), simt_look_instruction(look) };
    w->found = found;
    return true;
}

static bool record(void *context, enum simt_event event, const struct simt_look *look)
{
    struct watch *w = context;
    if (!w->n) {
        w->warps = simt_look_warps(look);
        w->found = event == SIMT_STEP ? 0 : simt_look_found(look);
    }
    if (event == SIMT_ERROR) {
        w->stopped = true;
        w->stopped_warp = simt_look_warp(look);
        w->stopped_instruction = simt_look_instruction(look);
        return true;
    }
    w->failed |= !(w->variables || read_variables(w, look)) || !add_step(w, look) ||
                 !watch_note_events(w, w->n - 1, look) || !watch_note_types(w, look) || !note_growth(w, look);
    return !w->failed;
}

// --- what was found ---

static uint64_t linear(const struct watch *w, const uint32_t block[3])
{
    const uint64_t x = w->launch.grid[0] ? w->launch.grid[0] : 1, y = w->launch.grid[1] ? w->launch.grid[1] : 1;
    return block[0] + x * (block[1] + y * block[2]);
}

// When the checks found it: as soon as they had something new of that warp and instruction, or of the other side.
static uint64_t when_found(const struct watch *w, const struct simt_finding *f)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < w->n_growths; i++) {
            const struct simt_side *s = side ? &f->there : &f->here;
            if (w->growths[i].warp == s->warp && w->growths[i].instruction == s->number)
                return w->growths[i].moment;
        }
    for (uint64_t i = 0; i < w->n; i++)
        if (step_warp(w, i) == f->here.warp && step_instruction(w, i) == f->here.number)
            return i;
    return w->n ? w->n - 1 : WATCH_NONE;
}

static struct watch_side side_of(const struct watch *w, const struct simt_side *s, uint64_t found)
{
    struct watch_side side = { s->warp, s->lane, s->number, WATCH_NONE };
    for (uint64_t i = linear(w, s->block) == w->block && found != WATCH_NONE ? found + 1 : 0;
         i-- > 0 && side.moment == WATCH_NONE;)
        if (step_warp(w, i) == s->warp && step_instruction(w, i) == s->number)
            side.moment = i;
    return side;
}

static bool add_finding(struct watch *w, const struct simt_finding *f)
{
    struct watch_finding *out = &w->findings[w->n_findings];
    char text[SIMT_FINDING_TEXT];
    simt_finding_text(f, text, sizeof text);
    *out = (struct watch_finding){ .moment = WATCH_NONE,
                                   .block = linear(w, f->here.block),
                                   .warp = f->here.warp,
                                   .lane = f->here.lane,
                                   .instruction = f->here.number,
                                   .text = strdup(text),
                                   .advice = simt_finding_is_advice(f->kind) };
    const bool ours = out->block == w->block;
    out->ends = ours && w->stopped && !out->advice && out->warp == w->stopped_warp &&
                out->instruction == w->stopped_instruction;
    if (ours)
        out->moment = out->ends && w->n ? w->n - 1 : when_found(w, f);
    out->meets = f->there.place.file && f->there.access;
    out->sides[0] = side_of(w, &f->here, out->moment);
    out->sides[1] = side_of(w, &f->there, out->moment);
    w->n_findings += out->text != NULL;
    return out->text;
}

static bool read_findings(struct watch *w)
{
    const struct simt_findings *f = simt_findings(w->simt);
    const struct simt_finding *failure = simt_failure(w->simt);
    const size_t n = f ? f->n + f->n_advice : 0;
    w->findings = calloc(n + 2, sizeof *w->findings);
    bool ok = w->findings;
    for (size_t i = 0; ok && i < n; i++)
        ok = add_finding(w, &f->all[i]);
    return ok && (!failure || add_finding(w, failure));
}

// --- open, close ---

static bool copy_arguments(struct watch *w, const struct dev_launch *launch)
{
    size_t bytes = 0;
    for (size_t i = 0; i < launch->n_args; i++)
        bytes += launch->args[i].bytes;
    w->launch = *launch;
    w->args = calloc(launch->n_args + 1, sizeof *w->args);
    w->values = malloc(bytes + 1);
    if (!w->args || !w->values)
        return false;
    unsigned char *at = w->values;
    for (size_t i = 0; i < launch->n_args; at += launch->args[i++].bytes) {
        memcpy(at, launch->args[i].value, launch->args[i].bytes);
        w->args[i] = (struct dev_arg){ at, launch->args[i].bytes };
    }
    w->launch.args = w->args;
    return true;
}

static bool run_once(struct watch *w, char error[DEV_ERROR_MAX])
{
    const struct simt_watch all = { w->block, SIMT_ALL_WARPS, record, w };
    const bool ok = simt_watch(w->simt, w->kernel, &w->launch, &all, error);
    if (w->failed)
        return error_set(error, "%s",
                         w->n < WATCH_MOST / 2 ? "out of memory for the steps of the block"
                                               : "the block takes more than 16 million steps: choose a smaller size");
    if (!ok && !simt_failure(w->simt))
        return false;
    if (!w->n)
        return error_set(error, "block %llu takes no steps: the launch has fewer blocks, or ended before",
                         (unsigned long long)w->block);
    watch_settle_types(w);
    return read_findings(w) || error_set(error, "out of memory");
}

struct watch *watch_open(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, uint64_t block,
                         char error[DEV_ERROR_MAX])
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w) {
        error_set(error, "out of memory");
        return NULL;
    }
    w->simt = s;
    w->kernel = k;
    w->block = block;
    bool ok = copy_arguments(w, launch) && watch_read_code(w) && watch_read_registers(w) && (w->saved = simt_save(s));
    ok = ok ? run_once(w, error) : error_set(error, "out of memory");
    if (w->saved)
        simt_restore(s, w->saved);
    if (ok)
        return w;
    watch_close(w);
    return NULL;
}

void watch_close(struct watch *w)
{
    if (!w)
        return;
    if (w->saved)
        simt_restore(w->simt, w->saved);
    for (uint32_t i = 0; i < w->n_findings; i++)
        free((char *)w->findings[i].text);
    simt_saved_free(w->saved);
    free(w->args);
    free(w->values);
    free(w->what);
    free(w->lanes);
    free(w->code);
    free(w->file);
    free(w->holds);
    free(w->links);
    free(w->variables);
    free(w->events);
    free(w->mbarriers);
    free(w->growths);
    free(w->findings);
    free(w);
}

// --- the record ---

const struct simt_kernel *watch_kernel(const struct watch *w)
{
    return w->kernel;
}

uint64_t watch_block(const struct watch *w)
{
    return w->block;
}

uint32_t watch_warps(const struct watch *w)
{
    return w->warps;
}

uint64_t watch_steps(const struct watch *w)
{
    return w->n;
}

struct watch_step watch_step(const struct watch *w, uint64_t moment)
{
    const uint32_t instruction = step_instruction(w, moment);
    return (struct watch_step){ step_warp(w, moment), instruction, w->lanes[moment], w->code[instruction].line };
}

uint64_t watch_step_of_warp(const struct watch *w, uint64_t moment, uint32_t warp)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < moment; i++)
        n += step_warp(w, i) == warp;
    return n;
}

bool watch_finding(const struct watch *w, uint32_t i, struct watch_finding *out)
{
    if (i >= w->n_findings)
        return false;
    *out = w->findings[i];
    return true;
}

bool watch_first_finding(const struct watch *w, uint32_t *i)
{
    uint32_t first = w->n_findings;
    for (*i = 0; *i < w->n_findings; ++*i) {
        const struct watch_finding *f = &w->findings[*i];
        if (f->moment != WATCH_NONE && f->ends)
            return true;
        if (f->moment != WATCH_NONE && first == w->n_findings)
            first = *i;
    }
    *i = first;
    return first < w->n_findings;
}

static bool fits(const struct watch *w, uint64_t moment, unsigned line, const struct watch_search *search)
{
    const uint32_t instruction = step_instruction(w, moment);
    const struct instruction *in = &w->code[instruction];
    if (search->warp != SIMT_ALL_WARPS && search->warp != step_warp(w, moment))
        return false;
    switch (search->stop) {
    case WATCH_STEP:
        return true;
    case WATCH_LINE:
        return in->line && in->line != line;
    case WATCH_AT_LINE:
        return in->line == search->number;
    case WATCH_AT:
        return instruction == search->number;
    case WATCH_BARRIER:
        return in->kind == OP_BARRIER || in->kind == OP_LOOK || in->kind == OP_WAIT;
    }
    return false;
}

uint64_t watch_next(const struct watch *w, uint64_t from, const struct watch_search *search)
{
    const unsigned line = from == WATCH_NONE ? 0 : watch_step(w, from).line;
    if (search->back)
        for (uint64_t i = from == WATCH_NONE ? w->n : from; i-- > 0;)
            if (fits(w, i, line, search))
                return i;
    for (uint64_t i = from == WATCH_NONE ? 0 : from + 1; !search->back && i < w->n; i++)
        if (fits(w, i, line, search))
            return i;
    return WATCH_NONE;
}

// --- going there ---

struct going {
    uint64_t moment, from, to;
    watch_see *see;
    void *context;
};

static bool go(void *context, enum simt_event event, const struct simt_look *look)
{
    struct going *g = context;
    if (event == SIMT_ERROR)
        return true;
    const uint64_t moment = g->moment++;
    return (moment < g->from || g->see(g->context, moment, look)) && moment < g->to;
}

bool watch_run(struct watch *w, uint64_t from, uint64_t to, watch_see *see, void *context, char error[DEV_ERROR_MAX])
{
    struct going g = { 0, from, to, see, context };
    const struct simt_watch all = { w->block, SIMT_ALL_WARPS, go, &g };
    simt_restore(w->simt, w->saved);
    return simt_watch(w->simt, w->kernel, &w->launch, &all, error) || simt_failure(w->simt);
}
