// What came before an error that the simulated GPU names (history.h): who had arrived at an mbarrier, or reported to
// it, and what had been written to shared memory. See cause.h.
#include "cause.h"

#include <string.h>

#include "base/source.h"
#include "base/text.h"
#include "history.h"
#include "kernel_text.h"

// --- Lines ---

static void say_at(struct cause *c, const struct history_line *at)
{
    if (!at->line)
        return;
    cause_say(c, " at %s:%u", source_base_name(c->lines.file), at->line);
    if (at->call)
        cause_say(c, " (called from line %u)", at->call);
}

static void look_at(struct cause *c, const struct history_line *at)
{
    cause_add_line(c, at->call);
    cause_add_line(c, at->line);
}

static bool same(const struct history_line *a, const struct history_line *b)
{
    return a->line == b->line && a->call == b->call;
}

// Each place once, though it has several instructions.
static void say_sites(struct cause *c, const struct history_site *sites, uint32_t n, const char *before)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = 0;
        while (!same(&sites[j].at, &sites[i].at))
            j++;
        if (j < i)
            continue;
        cause_say(c, "%s", i ? " and" : before);
        say_at(c, &sites[i].at);
    }
}

static void look_at_sites(struct cause *c, const struct history_site *sites, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        look_at(c, &sites[i].at);
}

// --- mbarriers ---

static void say_name(struct cause *c, const struct simt_mbarrier *m, const struct history_bar *b)
{
    enum { BYTES = 8 };
    const struct simt_object *o = &m->object;
    const int64_t at = o->at + ((int64_t)b->at - (int64_t)o->address);
    if (o->name && o->bytes > BYTES)
        cause_say(c, "%s[%d]", o->name, (int)(at / BYTES));
    else
        cause_say(c, "%s", o->name ? o->name : "it");
}

// Another mbarrier of the same array.
static bool is_sibling(const struct simt_mbarrier *m, const struct history_bar *b)
{
    const int64_t at = m->object.at + ((int64_t)b->at - (int64_t)m->object.address);
    return b->at != m->object.address && at >= 0 && (uint64_t)at < m->object.bytes;
}

static void say_arrivals(struct cause *c, const struct history_bar *b)
{
    uint64_t times = 0;
    for (uint32_t i = 0; i < b->n_arrivals; i++)
        times += b->arrivals[i].times;
    cause_say(c, "%llu arrival%s come", (unsigned long long)times, times == 1 ? " has" : "s have");
    say_sites(c, b->arrivals, b->n_arrivals, ",");
}

// How many threads have ever arrived there, or at another of its array.
static uint32_t threads_that_came(const struct history *h, const struct simt_mbarrier *m, const struct history_bar *b)
{
    uint32_t n = 0;
    for (uint32_t warp = 0; warp < HISTORY_WARPS; warp++) {
        uint32_t lanes = b->came[warp];
        for (uint32_t i = 0; i < h->n_bars; i++)
            lanes |= is_sibling(m, &h->bars[i]) ? h->bars[i].came[warp] : 0;
        n += (uint32_t)__builtin_popcount(lanes);
    }
    return n;
}

// No thread has arrived: where others of its array were arrived at last.
static void say_siblings(struct cause *c, const struct history *h, const struct simt_mbarrier *m)
{
    const struct history_site *last = NULL;
    const struct history_bar *of = NULL;
    for (uint32_t i = 0; i < h->n_bars; i++)
        for (uint32_t j = 0; is_sibling(m, &h->bars[i]) && j < h->bars[i].n_arrivals; j++)
            if (!last || h->bars[i].arrivals[j].on > last->on) {
                last = &h->bars[i].arrivals[j];
                of = &h->bars[i];
            }
    cause_say(c, "no thread has arrived there");
    if (!last)
        return;
    cause_say(c, "; at ");
    say_name(c, m, of);
    cause_say(c, " somebody has,");
    say_at(c, &last->at);
    if (!cause_say_calls(c, last->at.line))
        cause_say(c, ": is the index right?");
    look_at(c, &last->at);
}

// The mbarrier of the array at which the warp began to wait before this one; NULL: this is the first.
static const struct history_bar *waited_before(const struct history *h, const struct simt_mbarrier *m,
                                               const struct history_bar *b, uint32_t warp)
{
    const struct history_bar *before = NULL;
    for (uint32_t i = 0; i < h->n_bars; i++) {
        const struct history_bar *x = &h->bars[i];
        if (is_sibling(m, x) && x->first_parity[warp] >= 0 && x->waited[warp] < b->waited[warp] &&
            (!before || x->waited[warp] > before->waited[warp]))
            before = x;
    }
    return before;
}

// From one mbarrier of an array to the next a warp waits for the same parity, and for the other one where the array
// begins again. Whether a warp's first wait here is for the wrong one.
static bool say_parity(struct cause *c, const struct history *h, const struct simt_wait *w, const struct history_bar *b)
{
    for (uint32_t warp = 0; warp < HISTORY_WARPS; warp++) {
        if (!(w->warps >> warp & 1) || b->first_parity[warp] < 0)
            continue;
        const struct history_bar *before = waited_before(h, &w->mbarrier, b, warp);
        if (!before || (before->first_parity[warp] != b->first_parity[warp]) == (b->at < before->at))
            continue;
        cause_say(c, "warp %u waits for phase %d of ", warp, before->first_parity[warp]);
        say_name(c, &w->mbarrier, before);
        cause_say(c, " and next for phase %d of ", b->first_parity[warp]);
        say_name(c, &w->mbarrier, b);
        cause_say(c, ": the parity has to turn where the stages begin again with 0, and nowhere else");
        return true;
    }
    return false;
}

// Whether all warps that have arrived there have ended.
static bool have_ended(const struct history *h, const struct history_bar *b)
{
    for (uint32_t i = 0; i < b->n_arrivals; i++)
        if (b->arrivals[i].warp >= 32 || !(h->ended >> b->arrivals[i].warp & 1))
            return false;
    return b->n_arrivals;
}

// Copies that report to another array than those which report here.
static void say_copies(struct cause *c, const struct history *h, const struct simt_mbarrier *m,
                       const struct history_bar *b)
{
    if (!b->n_copies)
        cause_say(c, "no copy reports there");
    say_sites(c, b->copies, b->n_copies, "copies that report there start");
    for (uint32_t i = 0; i < h->n_bars; i++) {
        const struct history_bar *other = &h->bars[i];
        if (other == b || is_sibling(m, other) || !other->n_copies)
            continue;
        cause_say(c, "; one that reports to another mbarrier starts");
        say_at(c, &other->copies[0].at);
        look_at_sites(c, other->copies, other->n_copies);
        return;
    }
    say_sites(c, b->arrivals, b->n_arrivals, "; the bytes are announced");
    cause_say(c, ": as many as all of its copies bring?");
    look_at_sites(c, b->arrivals, b->n_arrivals);
}

// What is wrong with it. A wait for somebody who waits as well is due to his: it tells nothing.
enum fault { OF_PARITY, OF_SIBLINGS, OF_COUNT, OF_ENDED, OF_BYTES, OF_NOTHING, UNKNOWN };

static enum fault fault_of(struct cause *c, const struct history *h, const struct simt_wait *w)
{
    struct cause ignored = { .lines = c->lines };
    const struct history_bar *b = history_bar_at(h, w->mbarrier.object.address);
    if (!b || !b->count)
        return UNKNOWN;
    return say_parity(&ignored, h, w, b)                                      ? OF_PARITY
           : !b->n_arrivals                                                   ? OF_SIBLINGS
           : !w->arrivals                                                     ? OF_BYTES
           : b->count > 1 && threads_that_came(h, &w->mbarrier, b) < b->count ? OF_COUNT
           : have_ended(h, b)                                                 ? OF_ENDED
                                                                              : OF_NOTHING;
}

static void say_count(struct cause *c, const struct history *h, const struct simt_wait *w, const struct history_bar *b)
{
    const uint32_t threads = threads_that_came(h, &w->mbarrier, b);
    cause_say(c, "It was initialised for %u arrival%s", b->count, b->count == 1 ? "" : "s");
    say_at(c, &b->made);
    if (threads < b->count) {
        cause_say(c, " and only %u thread%s arrive%s there", threads, threads == 1 ? "" : "s", threads == 1 ? "s" : "");
        say_sites(c, b->arrivals, b->n_arrivals, ",");
        cause_say(c, ": is that count right, or should more threads arrive?");
    } else {
        cause_say(c, " and ");
        say_arrivals(c, b);
        cause_say(c, ": is that count right, and do that many threads arrive in a phase?");
    }
    cause_add_line(c, b->made.line);
}

static void say_ended(struct cause *c, const struct history *h, const struct history_bar *b)
{
    cause_say(c, "Warp %u, which arrived there before", b->arrivals[0].warp);
    say_at(c, &b->arrivals[0].at);
    cause_say(c, " has ended, so this is a wait for more than it brings: do both loops have the same rounds?");
    look_at(c, &h->here);
}

static void say_fault(struct cause *c, const struct history *h, const struct simt_wait *w, enum fault fault,
                      unsigned here)
{
    const struct history_bar *b = history_bar_at(h, w->mbarrier.object.address);
    if (fault == OF_PARITY) {
        say_parity(c, h, w, b);
        cause_add_line(c, kernel_text_changes(c->lines.file, here));
        return;
    }
    if (fault == OF_SIBLINGS) {
        say_siblings(c, h, &w->mbarrier);
        return;
    }
    if (fault == OF_BYTES) {
        say_copies(c, h, &w->mbarrier, b);
        return;
    }
    if (fault == OF_ENDED)
        say_ended(c, h, b);
    else if (b->count > 1)
        say_count(c, h, w, b);
    else {
        cause_say(c, "Of that mbarrier ");
        say_arrivals(c, b);
        cause_say(c, ": does that thread come to it again, for this phase?");
    }
    for (uint32_t i = 0; i < b->n_arrivals; i++)
        cause_add_line(c, kernel_text_condition(c->lines.file, b->arrivals[i].at.line));
    look_at_sites(c, b->arrivals, b->n_arrivals);
}

// "warps 0 to 7 wait for came[0] at kernel.cu:66".
static void say_who(struct cause *c, const struct history *h, const struct simt_wait *w)
{
    const struct history_bar *b = history_bar_at(h, w->mbarrier.object.address);
    char warps[128] = "";
    struct text_end t = { warps, sizeof warps };
    text_add_warps(&t, w->warps);
    cause_say(c, "%s wait%s for ", warps, w->warps & (w->warps - 1) ? "" : "s");
    say_name(c, &w->mbarrier, b);
    say_at(c, &b->waits);
}

static bool is_told(const struct history *h, const struct simt_finding *f, const struct simt_wait *w)
{
    return w->what == SIMT_FOR_MBARRIER && !memcmp(w->block, f->here.block, sizeof w->block) &&
           history_bar_at(h, w->mbarrier.object.address);
}

// Which wait the others are due to, and then those. The wait of warps that others depend on stands last: that of the
// fewest warps, as a rule the producer's.
static void say_waits(struct cause *c, const struct history *h, const struct simt_finding *f)
{
    const unsigned here = cause_own_line(c, &f->here.place);
    const struct simt_wait *guilty = NULL;
    enum fault fault = UNKNOWN;
    for (size_t i = f->n_waits; i-- > 0;) {
        const struct simt_wait *w = &f->waits[i];
        const enum fault of = is_told(h, f, w) ? fault_of(c, h, w) : UNKNOWN;
        if (of >= fault)
            continue;
        guilty = w;
        fault = of;
    }
    if (!guilty)
        return;
    say_who(c, h, guilty);
    if (guilty->arrivals)
        cause_say(c, ", and %u of %u arrival%s %s missing", guilty->arrivals, guilty->expected,
                  text_plural(guilty->expected), guilty->arrivals == 1 ? "is" : "are");
    cause_say_sentence(c, "");
    say_fault(c, h, guilty, fault, here);
    for (size_t i = 0, n = 0; i < f->n_waits; i++)
        if (&f->waits[i] != guilty && is_told(h, f, &f->waits[i])) {
            if (n++)
                cause_say(c, ", and ");
            else
                cause_say_sentence(c, "Because of that ");
            say_who(c, h, &f->waits[i]);
        }
}

static void say_too_many(struct cause *c, const struct history *h, const struct simt_finding *f)
{
    const struct history_bar *b = history_bar_at(h, f->mbarrier.object.address);
    const struct history_site *last = NULL;
    for (uint32_t i = 0; b && i < b->n_arrivals; i++)
        last = !last || b->arrivals[i].on > last->on ? &b->arrivals[i] : last;
    if (!last)
        return;
    cause_say(c, "the arrival before this one came from warp %u", last->warp);
    say_at(c, &last->at);
    const bool here = last->number == f->here.number || same(&last->at, &h->here);
    const unsigned condition = kernel_text_condition(c->lines.file, last->at.call ? last->at.call : last->at.line);
    if (here && last->warp == f->here.warp)
        cause_say(c, ", from this line, too: it comes here again before it has waited for the phase to end");
    else if (here)
        cause_say(c, ", from this line, too: more threads come here than one phase has arrivals");
    else
        cause_say(c, ": one phase is arrived at from two places");
    if (here && condition)
        cause_say(c, "; they have passed the condition of line %u", condition);
    cause_add_line(c, here ? condition : 0);
    look_at(c, &last->at);
    look_at(c, &h->here);
}

// Where an mbarrier's bytes are announced.
static void say_bytes(struct cause *c, const struct history *h, const struct simt_finding *f)
{
    const struct history_bar *b = history_bar_at(h, f->mbarrier.object.address);
    if (!b || !b->n_arrivals)
        return;
    say_sites(c, b->arrivals, b->n_arrivals, "the bytes are announced");
    cause_say(c, ": as many as all of its copies bring?");
    look_at_sites(c, b->arrivals, b->n_arrivals);
}

// Threads that have returned are missing where others wait for them, or for what they copy.
static void say_early_return(struct cause *c)
{
    const unsigned early = kernel_text_early_return(c->lines.file);
    if (!early)
        return;
    cause_say(c, "; threads past an edge of C return at %s:%u: until the last copy and barrier all have to take part",
              source_base_name(c->lines.file), early);
    cause_look_first(c, &early, 1);
}

// --- Shared memory that nothing wrote ---

// The nearest line before it that makes what it has.
static void look_at_maker(struct cause *c, unsigned line)
{
    enum { NEAR = 8 };
    unsigned makers[KERNEL_MAKERS];
    const unsigned n = kernel_text_makers(c->lines.file, line, makers);
    for (unsigned i = 0; i < n; i++)
        if (makers[i] < line && makers[i] + NEAR >= line && kernel_text_sets_for(c->lines.file, makers[i], line)) {
            cause_add_line(c, makers[i]);
            return;
        }
}

static bool was_written(const struct history *h, uint32_t word)
{
    return h->first[word] && h->first[word] < h->error;
}

static void say_unwritten(struct cause *c, const struct history *h, const struct simt_finding *f)
{
    const struct simt_object *o = &f->object;
    const uint32_t at = (uint32_t)(o->address / 4), first = (uint32_t)((o->address - (uint64_t)o->at) / 4);
    const uint32_t end = o->bytes ? first + (uint32_t)(o->bytes / 4) : h->words;
    uint32_t low = end, high = first;
    if (at >= h->words || !h->error)
        return;
    for (uint32_t i = first; i < end && i < h->words; i++)
        if (was_written(h, i)) {
            low = low == end ? i : low;
            high = i;
        }
    const bool inside = low < end && at > low && at < high, later = h->first[at] != 0;
    uint32_t from = at, to = at;  // the first and last word of the gap around it
    while (inside && !was_written(h, from - 1))
        from--;
    while (inside && !was_written(h, to + 1))
        to++;
    const struct history_line *before = low < end ? &h->last[inside ? from - 1 : low] : NULL;
    if (before) {
        if (inside)
            cause_say(c, "before this read, bytes %u to %u were left out where those on both sides were written",
                      4 * (from - first), 4 * (to - first) + 3);
        else
            cause_say(c, "before this read, bytes %u to %u were written", 4 * (low - first), 4 * (high - first) + 3);
        say_at(c, before);
        cause_say(c, inside      ? ": which elements does that line cover, and what else should write there?"
                     : c->staged ? ": it may be the wrong stage that is written or read"
                                 : " and nothing further");
        look_at(c, before);
        look_at_maker(c, before->line);
        cause_add_line(c, cause_index_line(c, before->line));
    } else {
        cause_say(c, "nothing was written to it before this read");
    }
    if (later && !inside) {
        cause_say(c, "; it is written later");
        say_at(c, &h->by[at]);
        cause_say(c, ": is the first tile put there before the loop?");
        look_at(c, &h->by[at]);
    }
}

// --- All of it ---

void cause_of_history(struct cause *c, const struct history *h, const struct simt_finding *f)
{
    if (f->kind == SIMT_ENDLESS_WAIT)
        say_waits(c, h, f);
    else if (f->kind == SIMT_ARRIVALS)
        say_too_many(c, h, f);
    else if (f->kind == SIMT_PHASE_BYTES)
        say_bytes(c, h, f);
    else if (f->kind == SIMT_UNINIT_MEMORY)
        say_unwritten(c, h, f);
    if (f->kind == SIMT_ENDLESS_WAIT || f->kind == SIMT_UNINIT_MEMORY)
        say_early_return(c);
}
