// See finding_waits.h.
#include "finding_waits.h"

#include <inttypes.h>
#include <string.h>

#include "simt/code/mbarrier.h"

bool finding_is_mbarrier(const struct simt_finding *f)
{
    return f->object.space == SIMT_SHARED && f->here.instruction && text_begins(f->here.instruction, "mbarrier.");
}

void finding_mbarrier(struct text_end *t, const struct simt_object *o)
{
    const int64_t size = 8, index = o->at >= 0 ? o->at / size : (o->at - size + 1) / size;
    if (!o->name)
        text_add(t, "at byte %" PRIu64 " of shared memory", o->address);
    else if (o->at % size)
        text_add(t, "%s + %" PRId64, o->name, o->at);
    else if (o->at < 0 || (uint64_t)o->at >= o->bytes)
        text_add(t, "%s[%" PRId64 "] (%s has %" PRIu64 " of them)", o->name, index, o->name, o->bytes / 8);
    else if (o->bytes == 8)
        text_add(t, "%s", o->name);
    else
        text_add(t, "%s[%" PRId64 "]", o->name, index);
}

bool finding_wait_is_unmade(const struct simt_wait *w)
{
    return w->what == SIMT_FOR_MBARRIER && mbarrier_is_unmade(w->expected);
}

// What the phase of an mbarrier still waits for.
static void say_missing(struct text_end *t, const struct simt_wait *w)
{
    if (finding_wait_is_unmade(w)) {
        text_add(t, "it was never initialised");
        return;
    }
    if (w->arrivals)
        text_add(t, "%u arrival%s", w->arrivals, text_plural(w->arrivals));
    if (w->bytes)
        text_add(t, "%s%" PRId64 " bytes", w->arrivals ? " and " : "", w->bytes < 0 ? -w->bytes : w->bytes);
    if (w->bytes < 0)
        text_add(t, " more than were expected have come (expect_tx names too few)");
    else if (w->arrivals || w->bytes)
        text_add(t, " %s missing%s", w->arrivals == 1 && !w->bytes ? "is" : "are",
                 w->arrivals ? "" : " (expect_tx names too many, or a copy reports to another mbarrier)");
    else
        text_add(t, "it has not been completed again");
}

static void say_mbarrier(struct text_end *t, const struct simt_wait *w)
{
    const struct simt_object *o = &w->mbarrier.object;
    text_add(t, " for phase %d of the mbarrier ", w->mbarrier.phase);
    finding_mbarrier(t, o);
    text_add(t, ": ");
    say_missing(t, w);
}

static void say_wait(struct text_end *t, const struct simt_wait *w)
{
    if (w->what == SIMT_ENDED)
        text_add(t, "it has ended");
    if (w->what == SIMT_ENDED || w->what == SIMT_FOR_VALUE)
        return;
    text_add_warps(t, w->warps);
    text_add(t, w->warps & (w->warps - 1) ? " wait" : " waits");
    if (w->what == SIMT_FOR_MBARRIER)
        say_mbarrier(t, w);
    else if (w->what == SIMT_FOR_BARRIER)
        text_add(t, " at barrier %u, where %u threads have arrived", w->number, w->arrived);
    else if (w->what == SIMT_FOR_LANES)
        text_add(t, " in front of a barrier for lanes of the same warp");
    else
        text_add(t, " at the cluster's barrier, where %u of %u threads have arrived", w->arrived, w->expected);
}

enum { WAITS_TEXT = 600 };

void finding_waits(struct text_end *t, const struct simt_finding *f)
{
    char text[WAITS_TEXT] = "";
    struct text_end l = { text, sizeof text };
    for (const struct simt_wait *w = f->waits; w < f->waits + f->n_waits; w++) {
        text_add(&l, w > f->waits ? "; " : "");
        if (f->of_cluster && (w == f->waits || memcmp(w->block, w[-1].block, sizeof w->block) != 0)) {
            text_add(&l, "block (%u,%u,%u): ", w->block[0], w->block[1], w->block[2]);
        }
        say_wait(&l, w);
    }
    text_add(t, " waits here for ever. Of its %s, %s", f->of_cluster ? "cluster" : "block", text);
}
