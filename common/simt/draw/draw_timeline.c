// A timeline of a block: in which order each warp fetches from global memory, puts into shared memory, reads it,
// multiplies, waits at barriers and stores. The x axis counts the PTX instructions that the warp has executed; it has
// no cycles. One warp is shown in rows, one for each kind of work, and below it all warps, a strip each.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "draw_run.h"
#include "base/svg.h"

#define WIDTH 1200
#define MARGIN 28
#define LEFT 140  // where the axis begins
#define ROW 34    // height of a row of the warp in detail
#define STRIP 26  // of a warp's strip
#define STRIPS 8  // as many are shown of a block that has more than STRIPS_ALL
#define STRIPS_ALL 12
#define BIN 2.0  // pixels
#define BINS ((uint32_t)((WIDTH - LEFT - MARGIN) / BIN))
#define LONGEST (1u << 24)  // instructions of a warp

enum work { WORK_OTHER, WORK_READ, WORK_MULTIPLY, WORK_STORE, WORK_PUT, WORK_FETCH, WORK_BARRIER, WORKS };

static const struct {
    const char *name, *class;
} kinds[WORKS] = { { "other", "l7" }, { "read", "l2" },  { "multiply", "l5" }, { "store", "l3" },
                   { "put", "l1" },   { "fetch", "l0" }, { "barrier", "wall" } };
static const enum work shown[] = { WORK_FETCH, WORK_PUT, WORK_READ, WORK_MULTIPLY, WORK_STORE };
#define SHOWN (sizeof shown / sizeof *shown)

struct line {             // of a warp
    unsigned char *work;  // by instruction: enum work
    uint32_t n, room;
};

struct timeline {
    struct line *warp;
    uint32_t warps;
    bool failed, long_one;
};

// --- from the run ---

static enum work work_of(const struct record_event *e)
{
    const bool global = e->space == SPACE_GLOBAL;
    switch (e->kind) {
    case RECORD_LOAD:
        return global ? WORK_FETCH : WORK_READ;
    case RECORD_STORE:
        return global ? WORK_STORE : WORK_PUT;
    case RECORD_MULTIPLY:
        return WORK_MULTIPLY;
    case RECORD_BARRIER:
        return WORK_BARRIER;
    case RECORD_OTHER:
        break;
    }
    return WORK_OTHER;
}

static void note(void *context, const struct record *r, const struct record_event *e)
{
    struct timeline *t = context;
    if (e->block != r->block || !e->counts || e->warp >= t->warps || t->failed)
        return;
    struct line *w = &t->warp[e->warp];
    if (w->n == w->room) {
        const uint32_t room = 2 * w->room + 1024;
        unsigned char *more = w->n < LONGEST ? realloc(w->work, room) : NULL;
        t->long_one |= w->n >= LONGEST;
        t->failed |= !more;
        if (!more)
            return;
        w->work = more;
        w->room = room;
    }
    w->work[w->n++] = (unsigned char)work_of(e);
}

// --- the picture ---

struct picture {
    struct svg svg;
    const struct timeline *t;
    uint32_t longest;  // instructions
    double y;
};

static double place(const struct picture *p, uint32_t instruction)
{
    return LEFT + (double)instruction * BINS * BIN / p->longest;
}

static uint32_t bin_of(const struct picture *p, uint32_t instruction)
{
    return (uint32_t)((uint64_t)instruction * BINS / p->longest);
}

static uint32_t count(const struct line *w, enum work what, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++)
        n += w->work[i] == what;
    return n;
}

static uint32_t next_barrier(const struct line *w, uint32_t from)
{
    while (from < w->n && w->work[from] != WORK_BARRIER)
        from++;
    return from;
}

// The number of instructions of a kind between two barriers: on its bar, or beside it where that is too short.
static void numbers(struct picture *p, const struct line *w, enum work what)
{
    for (uint32_t from = 0, to; from < w->n; from = to + 1) {
        to = next_barrier(w, from);
        const uint32_t n = count(w, what, from, to);
        const double half = n > 999 ? 26 : n > 99 ? 20 : n > 9 ? 14 : 8;
        uint32_t first = from, last = to;
        while (first < to && w->work[first] != what)
            first++;
        while (last > first && w->work[last - 1] != what)
            last--;
        const double left = place(p, first) - 6, right = place(p, last) + 6;
        const bool on = right - left > 2 * half + 12;
        const bool after = right + 2 * half<place(p, to) - 2, before = left - 2 * half> place(p, from) + 2;
        const double x = on ? (left + right) / 2 : after ? right + half : left - half;
        if (!n || (!on && !after && !before))
            continue;
        if (on)
            svg_rect(&p->svg, x - half, p->y + 5, 2 * half, ROW - 10, "pill");
        svg_text(&p->svg, x, p->y + ROW - 10, on ? "large ink mid" : "large mid", "%u", n);
    }
}

// The bins that have such an instruction; of a rare kind with their neighbours, so that one instruction can be seen.
static void bins(const struct picture *p, const struct line *w, enum work what, bool on[BINS])
{
    const uint32_t more = what == WORK_MULTIPLY || what == WORK_READ ? 0 : 1;
    memset(on, 0, BINS * sizeof *on);
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t bin = bin_of(p, i);
        for (uint32_t k = bin < more ? 0 : bin - more; w->work[i] == what && k <= bin + more && k < BINS; k++)
            on[k] = true;
    }
}

static void row(struct picture *p, const struct line *w, enum work what)
{
    bool on[BINS];
    bins(p, w, what, on);
    svg_group(&p->svg, "row", NULL);
    svg_rect(&p->svg, LEFT, p->y + 2, BINS * BIN, ROW - 4, "frame");
    svg_bars(&p->svg, kinds[what].class, LEFT, p->y + 2, BIN, ROW - 4, on, BINS);
    numbers(p, w, what);
    svg_text(&p->svg, LEFT - 12, p->y + ROW - 10, "large end", "%s", kinds[what].name);
    svg_end(&p->svg);
    p->y += ROW;
}

static const char *grouped(uint32_t n, char text[24])
{
    if (n < 1000)
        snprintf(text, 24, "%u", n);
    else if (n < 1000000)
        snprintf(text, 24, "%u,%03u", n / 1000, n % 1000);
    else
        snprintf(text, 24, "%u,%03u,%03u", n / 1000000, n / 1000 % 1000, n % 1000);
    return text;
}

static void barriers(struct picture *p, const struct line *w, double top, double bottom, bool numbered)
{
    uint32_t n = 0;
    double last = 0;
    for (uint32_t i = next_barrier(w, 0); i < w->n; i = next_barrier(w, i + 1)) {
        const double x = place(p, i);
        svg_line(&p->svg, x, top, x, bottom, "wall");
        n++;
        if (numbered && x - last > 28) {
            svg_text(&p->svg, x, top - 6, "large mid", "%u", n);
            last = x;
        }
    }
}

static void detail(struct picture *p, uint32_t warp)
{
    const struct line *w = &p->t->warp[warp];
    const double top = p->y;
    if (count(w, WORK_BARRIER, 0, w->n))
        svg_text(&p->svg, LEFT - 12, p->y - 6, "large end", "barrier");
    for (size_t i = 0; i < SHOWN; i++)
        if (count(w, shown[i], 0, w->n))
            row(p, w, shown[i]);
    barriers(p, w, top, p->y, true);
}

// One strip: where several kinds share a bin, the last by the order of enum work, which is the rarest.
static void strip(struct picture *p, uint32_t warp)
{
    const struct line *w = &p->t->warp[warp];
    bool on[BINS], taken[BINS];
    memset(taken, 0, sizeof taken);
    svg_group(&p->svg, "strip", NULL);
    svg_rect(&p->svg, LEFT, p->y + 2, place(p, w->n) - LEFT, STRIP - 4, "frame");
    for (int what = WORK_BARRIER - 1; what >= WORK_READ; what--) {
        bool any = false;
        bins(p, w, (enum work)what, on);
        for (uint32_t i = 0; i < BINS; i++) {
            on[i] &= !taken[i];
            taken[i] |= on[i];
            any |= on[i];
        }
        if (any)
            svg_bars(&p->svg, kinds[what].class, LEFT, p->y + 2, BIN, STRIP - 4, on, BINS);
    }
    barriers(p, w, p->y + 2, p->y + STRIP - 2, false);
    svg_text(&p->svg, LEFT - 12, p->y + STRIP - 6, "large end", "warp %u", warp);
    svg_end(&p->svg);
    p->y += STRIP;
}

static void strips(struct picture *p)
{
    const uint32_t n = p->t->warps <= STRIPS_ALL ? p->t->warps : STRIPS;
    for (uint32_t i = 0; i < n; i++)
        strip(p, i);
    if (n < p->t->warps) {
        p->y += 26;
        svg_text(&p->svg, LEFT, p->y, "large dim", "and %u more warps", p->t->warps - n);
    }
}

static char *paint(const struct draw_launch *l, const struct timeline *t)
{
    struct picture p = { .t = t, .y = 186 };
    const uint32_t warp = (uint32_t)l->place->warp;
    const struct line *w = &t->warp[warp];
    char title[200], kernel[120], number[24];
    if (!svg_open(&p.svg))
        return NULL;
    for (uint32_t i = 0; i < t->warps; i++)
        p.longest = t->warp[i].n > p.longest ? t->warp[i].n : p.longest;
    const uint32_t n_barriers = count(w, WORK_BARRIER, 0, w->n), multiplies = count(w, WORK_MULTIPLY, 0, w->n);
    snprintf(title, sizeof title, "What a warp does, in order: %s instructions, %u barrier%s", grouped(w->n, number),
             n_barriers, text_plural(n_barriers));
    svg_text(&p.svg, MARGIN, 48, "huge", "%s", title);
    svg_text(&p.svg, MARGIN, 84, "large dim",
             "From left to right: the PTX instructions that the warp executes. Not to "
             "scale in time: an instruction");
    svg_text(&p.svg, MARGIN, 110, "large dim",
             "may wait. Gaps are other instructions, such as addresses. Numbers: "
             "instructions between two barriers.");
    svg_text(&p.svg, MARGIN, 146, "large big", "Warp %u of block (%" PRIu64 ",%" PRIu64 ")", warp, l->place->block[0],
             l->place->block[1]);
    detail(&p, warp);
    p.y += 46;
    svg_text(&p.svg, MARGIN, p.y, "large big",
             "All warps of the block (where kinds share a place, the rarer one shows)");
    p.y += 12;
    strips(&p);
    snprintf(kernel, sizeof kernel, "%.100s", l->kernel->name);
    svg_describe(&p.svg,
                 "Warp %u of kernel %s executes %u PTX instructions: %u fetch from global memory, %u put into shared "
                 "memory, %u read it, %u multiply, %u store to global memory, with %u barriers. Below, a strip for "
                 "each of %u warps.",
                 warp, kernel, w->n, count(w, WORK_FETCH, 0, w->n), count(w, WORK_PUT, 0, w->n),
                 count(w, WORK_READ, 0, w->n), multiplies, count(w, WORK_STORE, 0, w->n), n_barriers, t->warps);
    return svg_close(&p.svg, WIDTH, p.y + MARGIN, title);
}

char *draw_timeline(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    struct timeline t = { .warps = (l->how->block[0] * l->how->block[1] * l->how->block[2] + LANES - 1) / LANES };
    struct record *r = calloc(1, sizeof *r);
    char *text = NULL;
    t.warp = calloc(t.warps, sizeof *t.warp);
    if (!r || !t.warp) {
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    } else {
        r->tell = note;
        r->context = &t;
        if (draw_record(l, r, error)) {
            text = t.failed ? NULL : paint(l, &t);
            if (!text)
                snprintf(error, DEV_ERROR_MAX, "%s",
                         t.long_one ? "a warp executes more than 2^24 instructions, too many for a picture: take a "
                                      "smaller launch"
                                    : "out of memory for the picture");
        }
        record_free(r);
    }
    for (uint32_t i = 0; t.warp && i < t.warps; i++)
        free(t.warp[i].work);
    free(t.warp);
    free(r);
    return text;
}
