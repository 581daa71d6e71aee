// A timeline in cycles, from the clock's own run of one SM: what each warp issues or waits for, and how busy the pipes
// are. Nothing is computed, so the data of the launch do not matter. Above, a row for each warp (cycles_rows.h); below,
// how busy the schedulers and the pipes are.
#include "cycles_window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cycles_rows.h"

#define WIDTH 1200
#define MARGIN 28
#define COLUMNS 190  // at most
#define PIPE_ROW 34
#define PIPE 28         // height of its curve
#define SHOWN_WARPS 16  // of one block alone where the SM has more
#define MOST_WARPS 32
#define SEEN_SMALL 0.005  // the least share of cycles that the legend names
#define SEEN_LARGE 0.03
#define SEEN 0.02  // the least share of a pipe that is shown
#define TICKS 8
#define RUNS 0.05       // a warp that runs for less of the time is shown if it is asked for
#define BUDGET 1500000  // instructions of the SM: enough to find the loop in full swing

struct picture {
    struct svg svg;
    const struct simt_prediction *p;
    const struct cycles_window *w;
    const char *card;
    struct cycles_axis axis;
    struct cycles_row rows[MOST_WARPS];
    unsigned n_rows, warps_of_block, slots;  // slots: blocks at a time
    bool large;
    double y;
};

// --- below the warps ---

static const char *grouped(uint64_t n, char text[32])
{
    if (n < 1000)
        snprintf(text, 32, "%" PRIu64, n);
    else if (n < 1000000)
        snprintf(text, 32, "%" PRIu64 ",%03" PRIu64, n / 1000, n % 1000);
    else
        snprintf(text, 32, "%" PRIu64 ",%03" PRIu64 ",%03" PRIu64, n / 1000000, n / 1000 % 1000, n % 1000);
    return text;
}

// A step of 1, 2 or 5 times a power of ten, so that there are at most TICKS.
static uint64_t tick_step(uint64_t cycles)
{
    uint64_t step = 1;
    for (unsigned i = 0; cycles / step > TICKS; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static void axis(struct picture *p)
{
    const uint64_t cycles = p->w->to - p->w->from, step = tick_step(cycles);
    char text[32];
    p->y += 6;
    for (uint64_t at = 0; at <= cycles; at += step) {
        const double x = cycles_place(&p->axis, p->w->from + at);
        svg_line(&p->svg, x, p->y, x, p->y + 8, "edge");
        svg_text(&p->svg, x, p->y + 28, at ? "large dim mid" : "large dim", "%s", grouped(at, text));
    }
    svg_text(&p->svg, CYCLES_LEFT - 12, p->y + 28, "large dim end", "cycle");
    p->y += 40;
}

// A curve of shares from 0 to 1, by column.
static void curve(struct picture *p, const char *name, const double *share, double mean)
{
    int last = 0;
    svg_rect(&p->svg, CYCLES_LEFT, p->y, p->axis.columns * CYCLES_COLUMN, PIPE, "frame");
    fprintf(p->svg.out, "<path class=\"busy\" d=\"M%d %g", CYCLES_LEFT, p->y + PIPE);
    for (unsigned c = 0, end; c < p->axis.columns; c = end) {
        const int high = (int)((share[c] < 1 ? share[c] : 1) * PIPE + 0.5);
        for (end = c + 1; end < p->axis.columns && (int)((share[end] < 1 ? share[end] : 1) * PIPE + 0.5) == high; end++)
            ;
        fprintf(p->svg.out, "v%dh%u", last - high, (end - c) * CYCLES_COLUMN);
        last = high;
    }
    fprintf(p->svg.out, "V%gz\"/>\n", p->y + PIPE);
    svg_text(&p->svg, CYCLES_LEFT - 12, p->y + 21, "large end", "%s %.0f %%", name, 100 * mean);
    p->y += PIPE_ROW;
}

// The instructions issued of each column, as a share of what four schedulers can issue.
static void issue_shares(const struct picture *p, double *out)
{
    const struct sm_recorder *r = p->axis.record;
    const struct cycles_axis *a = &p->axis;
    for (size_t i = 0; i < r->n_spans; i++)
        if (r->spans[i].kind == STATE_SELECTED) {
            unsigned c = (unsigned)((r->spans[i].from - a->from) * a->columns / (a->to - a->from));
            out[c] += 0.25 / (double)(cycles_of_column(a, c + 1) - cycles_of_column(a, c));
        }
}

static void pipe_shares(const struct picture *p, unsigned which, double *out)
{
    const struct cycles_axis *a = &p->axis;
    for (unsigned c = 0; c < a->columns; c++) {
        const uint64_t first = cycles_of_column(a, c), end = cycles_of_column(a, c + 1);
        for (uint64_t at = first; at < end; at++)
            out[c] += a->record->busy[(at - a->from) * COUNTS + which] / p->p->peak[which] / (double)(end - first);
    }
}

static double mean_of(const struct picture *p, const double *share)
{
    double sum = 0;
    for (unsigned c = 0; c < p->axis.columns; c++)
        sum += share[c] * (double)(cycles_of_column(&p->axis, c + 1) - cycles_of_column(&p->axis, c));
    return sum / (double)(p->w->to - p->w->from);
}

static void pipes(struct picture *p)
{
    static const char *const names[COUNTS] = { "f32 pipe",  "integer pipe", "tensor cores", "f64 pipe",
                                               "rare ones", "shared mem.",  "L2",           "DRAM" };
    double share[COUNTS + 1][COLUMNS] = { { 0 } };
    unsigned busiest = 0;
    for (unsigned i = 0; i < COUNTS; i++)
        pipe_shares(p, i, share[i]);
    issue_shares(p, share[COUNTS]);
    for (unsigned i = 1; i <= COUNT_TENSOR; i++)
        busiest = mean_of(p, share[i]) > mean_of(p, share[busiest]) ? i : busiest;
    if (p->large) {
        p->y += 8;
        curve(p, names[busiest], share[busiest], mean_of(p, share[busiest]));
        return;
    }
    p->y += 30;
    svg_text(&p->svg, MARGIN, p->y, "large big",
             "How busy the SM is in the cycles shown: schedulers, pipes, its share of L2 and DRAM");
    p->y += 12;
    curve(p, "issue slots", share[COUNTS], mean_of(p, share[COUNTS]));
    for (unsigned i = 0; i < COUNTS; i++)
        if (mean_of(p, share[i]) >= SEEN)
            curve(p, names[i], share[i], mean_of(p, share[i]));
}

// --- the warps ---

// Vertical lines where the warp's trips begin.
static void trips(struct picture *p, double top)
{
    const struct sm_recorder *r = p->axis.record;
    for (size_t i = 0; i < r->n_turns; i++) {
        const struct sm_turn *t = &r->turns[i];
        if (t->warp != p->w->warp || t->to != (p->w->blocks ? SM_BLOCK_BEGINS : p->w->loop.first) ||
            t->cycle < p->w->from || t->cycle > p->w->to || !p->w->trips)
            continue;
        const double x = cycles_place(&p->axis, t->cycle);
        svg_line(&p->svg, x, top - 4, x, p->y + 4, "wall");
    }
}

static void warps(struct picture *p)
{
    const double top = p->y;
    for (unsigned i = 0; i < p->n_rows; i++) {
        char name[32];
        const unsigned warp = p->rows[i].warp;
        if (i && warp / p->warps_of_block != p->rows[i - 1].warp / p->warps_of_block)
            p->y += 10;
        if (p->rows[p->n_rows - 1].warp < p->warps_of_block)
            snprintf(name, sizeof name, "warp %u", warp);
        else
            snprintf(name, sizeof name, "block %u, warp %u", warp / p->warps_of_block, warp % p->warps_of_block);
        p->y = cycles_row_paint(&p->axis, &p->rows[i], name, p->y);
    }
    trips(p, top);
}

static void explain(struct picture *p, const char *title)
{
    const double cycles = p->w->trips ? p->w->middle : (double)(p->w->to - p->w->from);
    char from[32], middle[80] = "";
    if (p->w->trips)
        snprintf(middle, sizeof middle, ": %.2f us a %s, the middle one of all", cycles / p->p->ghz / 1000,
                 p->w->blocks ? "block" : "trip");
    svg_text(&p->svg, MARGIN, 48, "huge", "%s", title);
    svg_text(&p->svg, MARGIN, 84, "large dim", "As the clock predicts for the %s, at %.2f GHz%s.", p->card, p->p->ghz,
             middle);
    p->y = 98;
    if (p->large)
        return;
    svg_text(&p->svg, MARGIN, 110, "large dim",
             "%u block%s of %u warp%s run at a time. This is from cycle %s of the SM on.%s", p->slots,
             text_plural(p->slots), p->warps_of_block, text_plural(p->warps_of_block), grouped(p->w->from, from),
             p->w->blocks  ? " At a line a block begins."
             : p->w->trips ? " At a line a new trip begins."
                           : "");
    svg_text(&p->svg, MARGIN, 136, "large dim",
             "A column is %.3g cycle%s. The height of a colour is its share of them.",
             (double)(p->w->to - p->w->from) / p->axis.columns, p->w->to - p->w->from > p->axis.columns ? "s" : "");
    p->y = 154;
}

static char *paint(struct picture *p)
{
    char title[200], number[32];
    if (!svg_open(&p->svg))
        return NULL;
    p->axis.svg = &p->svg;
    cycles_style(&p->svg);
    const double cycles = p->w->trips ? p->w->middle : (double)(p->w->to - p->w->from);
    snprintf(title, sizeof title, "The warps of an SM in time: %s cycles%s", grouped((uint64_t)(cycles + 0.5), number),
             p->w->blocks  ? " a block"
             : p->w->trips ? " a trip of the loop"
                           : "");
    explain(p, title);
    warps(p);
    axis(p);
    if (p->large)
        pipes(p);
    p->y = cycles_legend(&p->axis, p->rows, p->n_rows, p->large ? SEEN_LARGE : SEEN_SMALL, p->y + 8);
    if (!p->large)
        pipes(p);
    svg_describe(&p->svg, "%s, predicted for the %s. %u warps are shown, and below how busy the pipes are.", title,
                 p->card, p->n_rows);
    return svg_close(&p->svg, WIDTH, p->y + MARGIN - 10, title);
}

// --- what is shown ---

static unsigned warps_of(const struct clock_launch *l)
{
    return (l->block[0] * l->block[1] * l->block[2] + WALK_LANES - 1) / WALK_LANES;
}

static bool fill_rows(struct picture *p, const struct simt_cycles *what, char error[CLOCK_ERROR])
{
    const unsigned slots =
        p->p->sm.blocks < p->p->occupancy.blocks ? (unsigned)p->p->sm.blocks : p->p->occupancy.blocks;
    const unsigned all = slots * p->warps_of_block;
    const uint64_t first = what->some_warps ? what->first_warp : 0;
    const uint64_t last =
        what->some_warps ? what->last_warp : (all <= SHOWN_WARPS && !p->large ? all : p->warps_of_block) - 1;
    if (last >= all || last - first >= MOST_WARPS) {
        snprintf(error, CLOCK_ERROR, "the SM runs %u warps at a time: --warps A-B among 0 to %u, at most %d of them",
                 all, all - 1, MOST_WARPS);
        return false;
    }
    for (uint64_t i = first; i <= last; i++) {
        struct cycles_row *row = &p->rows[p->n_rows];
        const bool ok = cycles_row_fill(&p->axis, (unsigned)i, row);
        if (ok && cycles_row_runs(row) > (what->some_warps ? 0 : (double)(p->w->to - p->w->from) * RUNS)) {
            p->n_rows++;
            continue;
        }
        cycles_row_free(row);
        if (!ok)
            return false;
    }
    if (!p->n_rows)
        snprintf(error, CLOCK_ERROR, "none of these warps does anything in these cycles");
    return p->n_rows;
}

static char *paint_window(const struct simt_prediction *p, const struct clock_launch *l, const struct simt_cycles *what,
                          const struct sm_recorder *r, const struct cycles_window *w, char error[CLOCK_ERROR])
{
    const uint64_t cycles = w->to - w->from;
    struct picture *picture = calloc(1, sizeof *picture);
    char *svg = NULL;
    if (!picture)
        return NULL;
    picture->p = p;
    picture->w = w;
    picture->card = p->card->name;
    picture->warps_of_block = warps_of(l);
    picture->slots = p->sm.blocks < p->occupancy.blocks ? (unsigned)p->sm.blocks : p->occupancy.blocks;
    picture->large = what->large;
    picture->axis = (struct cycles_axis){ .cubin = p->cubin, .record = r, .from = w->from, .to = w->to };
    picture->axis.columns = cycles < COLUMNS ? (unsigned)cycles : COLUMNS;
    if (fill_rows(picture, what, error))
        svg = paint(picture);
    for (unsigned i = 0; i < picture->n_rows; i++)
        cycles_row_free(&picture->rows[i]);
    free(picture);
    return svg;
}

// The clock runs twice: first to see where the loop turns, and once more to record the cycles that are shown.
char *simt_draw_cycles(const struct simt_timing *t, const struct card *card, const struct simt_cycles *what,
                       char error[DEV_ERROR_MAX])
{
    struct sm_recorder r = { 0 };
    struct clock_launch launch = clock_launch_of(t);
    struct simt_prediction p;
    struct cycles_window w;
    char *svg = NULL;
    launch.recorder = &r;
    launch.budget = BUDGET;
    if (!clock_predict(&launch, card, &p, error)) {
        sm_record_free(&r);
        return NULL;
    }
    bool ok = cycles_choose(&r, &p.sm, what, warps_of(&launch), &w, error);
    clock_free(&p);
    sm_record_free(&r);
    if (!ok)
        return NULL;
    *error = '\0';
    if (sm_record_begin(&r, w.from, w.to) && clock_predict(&launch, card, &p, error)) {
        if (!r.failed)
            svg = paint_window(&p, &launch, what, &r, &w, error);
        clock_free(&p);
    }
    sm_record_free(&r);
    if (!svg && !*error)
        snprintf(error, CLOCK_ERROR, "out of memory for the picture");
    return svg;
}
