// See wait_text.h.
#include "wait_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bulk.h"
#include "cluster_barrier.h"
#include "simt/code/mbarrier.h"

struct line {
    char *text;
    size_t size, n;
};

static void __attribute__((format(printf, 2, 3))) say(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->n, l->size - l->n, format, args);
    va_end(args);
    l->n = n >= 0 && l->n + (size_t)n < l->size ? l->n + (size_t)n : l->size - 1;
}

static void say_place(struct line *l, const struct code *c, uint64_t address)
{
    for (uint32_t i = 0; i < c->n_shared_vars; i++) {
        const struct shared_var *v = &c->shared_vars[i];
        if (address < v->at || (address >= v->at + v->bytes && v->bytes))
            continue;
        say(l, address == v->at ? "%s" : "%s + %u", v->name, (uint32_t)(address - v->at));
        return;
    }
    say(l, "at byte %" PRIu64 " of shared memory", address);
}

// Warps, from a mask of them: "warps 0 to 3, 8".
static void say_warps(struct line *l, uint32_t warps)
{
    const char *between = "";
    say(l, warps & (warps - 1) ? "warps " : "warp ");
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t last = i;
        if (!(warps >> i & 1))
            continue;
        while (last + 1 < LANES && warps >> (last + 1) & 1)
            last++;
        say(l, last > i ? "%s%u to %u" : "%s%u", between, i, last);
        between = ", ";
        i = last;
    }
    say(l, warps & (warps - 1) ? " wait" : " waits");
}

static void say_missing(struct line *l, const struct block *b, uint64_t address)
{
    const struct mbarrier_state state = mbarrier_read(b->worker->cluster->shared[b->rank] + (uint32_t)address);
    const uint32_t arrivals = state.pending;
    const int64_t bytes = state.tx;
    if (arrivals)
        say(l, "%u arrival%s", arrivals, arrivals > 1 ? "s" : "");
    if (bytes)
        say(l, "%s%" PRId64 " bytes", arrivals ? " and " : "", bytes < 0 ? -bytes : bytes);
    if (bytes < 0)
        say(l, " more than were expected have come (expect_tx names too few)");
    else if (arrivals || bytes)
        say(l, " %s missing%s", arrivals == 1 && !bytes ? "is" : "are",
            arrivals ? "" : " (expect_tx names too many, or a copy reports to another mbarrier)");
    else
        say(l, "it has not been completed again");
}

static bool waits(const struct warp *w)
{
    return w->waits && w->n_splits;
}

// Those that wait for mbarriers. Returns how many there are.
static uint32_t say_mbarriers(struct line *l, const struct block *b)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        uint32_t warps = 0;
        if (!waits(w) || done >> i & 1)
            continue;
        for (uint32_t k = i; k < b->n_warps; k++)
            if (waits(&b->warps[k]) && b->warps[k].wait_at == w->wait_at && b->warps[k].wait_parity == w->wait_parity)
                warps |= 1u << k;
        say(l, "%s", done ? "; " : "");
        done |= warps;
        say_warps(l, warps);
        say(l, " for phase %u of the mbarrier ", w->wait_parity);
        say_place(l, b->worker->grid->code, w->wait_at);
        say(l, ": ");
        say_missing(l, b, w->wait_at);
    }
    return done;
}

// The warps that wait at a barrier, by its mark in a split.
static uint32_t waiting_at(const struct block *b, uint32_t barrier)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < b->n_warps; i++)
        for (uint32_t s = 0; s < b->warps[i].n_splits; s++)
            warps |= (uint32_t)(b->warps[i].splits[s].barrier == barrier) << i;
    return warps;
}

// Those that wait at barriers of the block; `more`: something is said before. Returns whether anything is said by then.
static bool say_barriers(struct line *l, const struct block *b, bool more)
{
    for (uint32_t number = 0; number < BARRIERS; number++) {
        const uint32_t warps = waiting_at(b, number + 1);
        if (!warps)
            continue;
        say(l, "%s", more ? "; " : "");
        say_warps(l, warps);
        say(l, " at barrier %u, where %u threads have arrived", number, b->barriers[number].arrived);
        more = true;
    }
    const uint32_t warps = waiting_at(b, WAITS_WARP);
    if (!warps)
        return more;
    say(l, "%s", more ? "; " : "");
    say_warps(l, warps);
    say(l, " in front of a barrier for lanes of the same warp");
    return true;
}

void wait_text(const struct block *b, char *text, size_t size)
{
    struct line l = { text, size, 0 };
    *text = '\0';
    if (say_mbarriers(&l, b))
        say_barriers(&l, b, true);
}

void wait_text_cluster(const struct cluster *c, char *text, size_t size)
{
    struct line l = { text, size, 0 };
    uint32_t came, all;
    *text = '\0';
    cluster_barrier_count(c, &came, &all);
    for (uint32_t rank = 0; rank < c->n; rank++) {
        const struct block *b = c->blocks[rank];
        const uint32_t here = waiting_at(b, WAITS_CLUSTER);
        say(&l, "%sblock (%u,%u,%u): ", rank ? "; " : "", b->id[0], b->id[1], b->id[2]);
        if (c->ended[rank]) {
            say(&l, "it has ended");
            continue;
        }
        const bool some = say_mbarriers(&l, b), more = say_barriers(&l, b, some);
        if (!here)
            continue;
        say(&l, "%s", more ? "; " : "");
        say_warps(&l, here);
        say(&l, " at the cluster's barrier, where %u of %u threads have arrived", came, all);
    }
}
