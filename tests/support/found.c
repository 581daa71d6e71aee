// See found.h.
#include "found.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "device/sim.h"

static bool is_name(const char *want, const char *name)
{
    return !want || !strcmp(name ? name : "", want);
}

static bool is(uint64_t want, uint64_t value)
{
    return !want || want == value;
}

static bool is_the(uint64_t want, int64_t value)
{
    return !want || (int64_t)want - 1 == value;
}

static bool is_side(const struct found_side *want, const struct simt_side *s)
{
    return is(want->line, s->place.line) && is_the(want->thread, s->warp * 32 + s->lane) &&
           is(want->access, s->access) && is(want->by, s->by);
}

static bool waits_for(const struct simt_finding *f, const struct found_wait *want)
{
    bool found = !want->mbarrier;
    for (size_t i = 0; i < f->n_waits; i++) {
        const struct simt_wait *w = &f->waits[i];
        found |= !found && w->mbarrier.object.name && !strcmp(w->mbarrier.object.name, want->mbarrier) &&
                 is(want->warps, w->warps) && is_the(want->phase, w->mbarrier.phase) &&
                 is(want->arrivals, w->arrivals) && (!want->bytes || want->bytes == w->bytes);
    }
    return found;
}

static bool is_at(const char *want, const struct simt_finding_place *place)
{
    char text[SIMT_FINDING_TEXT];
    simt_finding_place_text(place, text, sizeof text);
    return is_name(want, text);
}

bool found_is(const struct simt_finding *f, const struct found *w)
{
    const struct simt_object *o = f->object.space ? &f->object : &f->mbarrier.object;
    return w->kind == f->kind && is_side(&w->here, &f->here) && is_side(&w->there, &f->there) &&
           is_the(w->block, f->here.block[0]) && is_name(w->object, o->name) &&
           is_name(w->reports_to, f->mbarrier.object.name) && is(w->space, o->space) && is_the(w->at, o->at) &&
           is(w->size, o->bytes) && is(w->freed, o->freed) && is(w->owner, o->owner) && is(w->bytes, f->bytes) &&
           is(w->count, f->count) && is(w->expected, f->expected) && is(w->seen, f->seen) && is(w->left, f->left) &&
           is(w->lanes, f->lanes) && is_the(w->phase, f->mbarrier.phase) &&
           is_name(w->instruction, f->here.instruction) && is_name(w->detail, f->detail) &&
           is_at(w->place, &f->here.place) && is_the(w->use, f->use) && is(w->used_line, f->used.line) &&
           waits_for(f, &w->wait);
}

const struct simt_finding *found_among(const struct simt_findings *all, const struct found *want)
{
    for (size_t i = 0; all && i < all->n + all->n_advice; i++)
        if (found_is(&all->all[i], want))
            return &all->all[i];
    return NULL;
}

void found_expect(const struct simt_findings *all, const struct found *want, const char *what)
{
    cr_expect(found_among(all, want), "no such %s, line %u and %u, of %s:\n%s\nof\n%s", simt_finding_id(want->kind),
              want->here.line, want->there.line, want->object ? want->object : "anything", found_text(all), what);
}

void found_failed(const struct dev *d, const struct found *want)
{
    const struct simt_finding *f = simt_failure(device_simt(d));
    cr_expect(f && found_is(f, want), "not %s%s%s: %s", simt_finding_id(want->kind), want->place ? " at " : "",
              want->place ? want->place : "", dev_error(d));
    cr_expect_null(strchr(dev_error(d), '\n'), "more than a line: %s", dev_error(d));
}

void found_fails(const char *text, struct ptx_shape shape, uint64_t budget, const struct found *want)
{
    static uint32_t out[1024];
    const uint32_t in[256] = { 0 };
    const size_t n = (size_t)shape.blocks * shape.threads;
    struct dev *d = ptx_simulator();
    cr_assert_leq(n, sizeof out / sizeof *out);
    dev_set_budget(d, budget);
    cr_assert_not(ptx_run(d, text, shape, out, n, in, sizeof in / sizeof *in), "it ran to its end:\n%s", text);
    found_failed(d, want);
    dev_close(d);
}

const char *found_first(const struct simt_findings *all)
{
    static char text[SIMT_FINDING_TEXT];
    *text = '\0';
    if (all && all->n + all->n_advice)
        simt_finding_text(&all->all[0], text, sizeof text);
    return text;
}

const char *found_text(const struct simt_findings *all)
{
    static char *text;
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    if (all)
        simt_findings_print(out, all, NULL);
    fclose(out);
    return text;
}
