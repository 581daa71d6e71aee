// See cycles_rows.h.
#include "cycles_rows.h"

#include <stdlib.h>
#include <string.h>

#define ROW 26      // pixels
#define LEVELS 11   // into which a column is divided
#define LEVEL 2     // pixels
#define ASK 7       // height of the mark
#define SEEN 0.005  // the least share that is named
#define LEGEND_LEFT 62
#define LEGEND_COLUMN 560
#define LEGEND_ROW 28

// In the order from below: issues, could issue, waits for its own arithmetic, for memory, for others.
static const struct {
    unsigned kind;  // enum sm_state or sm_kind
    const char *class, *name, *text;
} kinds[] = {
    { STATE_SELECTED, "l5", "selected", "issues an instruction" },
    { STATE_NOT_SELECTED, "k1", "not_selected", "another warp was chosen" },
    { STATE_DISPATCH, "k2", "dispatch_stall", "the register file's banks" },
    { STATE_MATH, "l6", "math_pipe_throttle", "a pipe of arithmetic" },
    { STATE_WAIT, "l7", "wait", "a fixed latency" },
    { STATE_BRANCH, "k3", "branch_resolving", "a jump" },
    { STATE_NO_INSTRUCTION, "k6", "no_instruction", "code that has not come" },
    { STATE_SHORT_SCOREBOARD, "l2", "short_scoreboard", "shared memory" },
    { STATE_MIO, "k4", "mio_throttle", "room to ask shared memory" },
    { STATE_LG, "k5", "lg_throttle", "room to ask global memory" },
    { STATE_LONG_SCOREBOARD, "l0", "long_scoreboard", "global memory" },
    { KIND_MBARRIER_WAIT, "l4", "long_scoreboard", "an mbarrier" },
    { STATE_BARRIER, "l1", "barrier", "other warps" },
    { KIND_PRODUCT_WAIT, "l3", "barrier", "products (wgmma)" },
};
#define KINDS (sizeof kinds / sizeof *kinds)

void cycles_style(struct svg *s)
{
    fputs("<style>\n"
          "  .k1 { fill: #b5e3d5 } .k2 { fill: #aaaa00 } .k3 { fill: #999999 } .k4 { fill: #ddaa33 }\n"
          "  .k5 { fill: #4477aa } .k6 { fill: #bb5566 } .ask { fill: #111111 } .busy { fill: #7d8590 }\n"
          "</style>\n",
          s->out);
}

// --- what a row holds ---

double cycles_place(const struct cycles_axis *a, uint64_t cycle)
{
    return CYCLES_LEFT + (double)(cycle - a->from) * a->columns * CYCLES_COLUMN / (double)(a->to - a->from);
}

uint64_t cycles_of_column(const struct cycles_axis *a, unsigned column)
{
    return a->from + (a->to - a->from) * column / a->columns;
}

static bool asks_global(const struct sass *s)
{
    return (s->pipe == PIPE_GLOBAL && s->effect == EFFECT_LOAD) || s->effect == EFFECT_COPY ||
           s->effect == EFFECT_TMA_LOAD || s->effect == EFFECT_BULK;
}

// Column c, or one behind it, holds the first of these cycles.
static void add_span(const struct cycles_axis *a, struct cycles_row *row, const struct sm_span *s)
{
    unsigned c = (unsigned)((s->from - a->from) * a->columns / (a->to - a->from));
    while (c + 1 < a->columns && cycles_of_column(a, c + 1) <= s->from)
        c++;
    if (s->kind == STATE_SELECTED && asks_global(&a->cubin->code[s->pc]))
        row->asks[c] = true;
    for (uint64_t at = s->from; at < s->to; c++) {
        const uint64_t next = cycles_of_column(a, c + 1), end = next < s->to ? next : s->to;
        row->column[(size_t)c * SM_KINDS + s->kind] += (double)(end - at);
        at = end;
    }
    row->all[s->kind] += (double)(s->to - s->from);
}

bool cycles_row_fill(const struct cycles_axis *a, unsigned warp, struct cycles_row *row)
{
    *row = (struct cycles_row){ .warp = warp, .column = calloc((size_t)a->columns * SM_KINDS, sizeof(double)) };
    row->asks = calloc(a->columns, sizeof *row->asks);
    for (size_t i = 0; row->column && row->asks && i < a->record->n_spans; i++)
        if (a->record->spans[i].warp == warp)
            add_span(a, row, &a->record->spans[i]);
    return row->column && row->asks;
}

void cycles_row_free(struct cycles_row *row)
{
    free(row->column);
    free(row->asks);
}

static double sum_of(const struct cycles_row *row)
{
    double sum = 0;
    for (unsigned i = 0; i < SM_KINDS; i++)
        sum += row->all[i];
    return sum;
}

double cycles_row_runs(const struct cycles_row *row)
{
    return sum_of(row);
}

// --- a row ---

// Up to which level each kind fills the column; cycles in which the warp does not run stay empty.
static void find_levels(const struct cycles_axis *a, const struct cycles_row *row, unsigned c, uint8_t out[KINDS + 1])
{
    const double cycles = (double)(cycles_of_column(a, c + 1) - cycles_of_column(a, c));
    double sum = 0;
    out[0] = 0;
    for (size_t k = 0; k < KINDS; k++) {
        sum += row->column[(size_t)c * SM_KINDS + kinds[k].kind];
        out[k + 1] = (uint8_t)(sum / cycles * LEVELS + 0.5);
    }
}

// One kind's part of a row, whose lower edge is at `bottom`: neighbours that are alike are one piece.
static void paint_kind(const struct cycles_axis *a, uint8_t (*levels)[KINDS + 1], size_t k, int bottom)
{
    int x = 0, y = 0;
    bool open = false;
    for (unsigned c = 0, end; c < a->columns; c = end) {
        const int low = levels[c][k], high = levels[c][k + 1];
        for (end = c + 1; end < a->columns && levels[end][k] == low && levels[end][k + 1] == high; end++)
            ;
        if (low == high)
            continue;
        const int to_x = CYCLES_LEFT + (int)c * CYCLES_COLUMN, to_y = bottom - low * LEVEL;
        const int width = (int)(end - c) * CYCLES_COLUMN;
        if (!open)
            fprintf(a->svg->out, "<path class=\"%s\" d=\"M%d %d", kinds[k].class, to_x, to_y);
        else
            fprintf(a->svg->out, "m%d %d", to_x - x, to_y - y);
        fprintf(a->svg->out, "h%dv-%dh-%dz", width, (high - low) * LEVEL, width);
        open = true;
        x = to_x;
        y = to_y;
    }
    if (open)
        fputs("\"/>\n", a->svg->out);
}

static void say_shares(const struct cycles_row *row, char *text, size_t size)
{
    const double all = sum_of(row);
    size_t n = 0;
    *text = '\0';
    for (size_t k = 0; k < KINDS && n < size; k++)
        if (row->all[kinds[k].kind] > SEEN * all)
            n += (size_t)snprintf(text + n, size - n, "%s%s (%s) %.0f %%", n ? ", " : "", kinds[k].name, kinds[k].text,
                                  100 * row->all[kinds[k].kind] / all);
}

double cycles_row_paint(const struct cycles_axis *a, const struct cycles_row *row, const char *name, double y)
{
    uint8_t(*levels)[KINDS + 1] = malloc(a->columns * sizeof *levels);
    char text[800];
    say_shares(row, text, sizeof text);
    svg_group(a->svg, "warp", "%s: %s", name, text);
    svg_rect(a->svg, CYCLES_LEFT, y + 2, a->columns * CYCLES_COLUMN, LEVELS * LEVEL, "frame");
    for (unsigned c = 0; levels && c < a->columns; c++)
        find_levels(a, row, c, levels[c]);
    for (size_t k = 0; levels && k < KINDS; k++)
        paint_kind(a, levels, k, (int)y + 2 + LEVELS * LEVEL);
    svg_bars(a->svg, "ask", CYCLES_LEFT, y + 2, CYCLES_COLUMN, ASK, row->asks, a->columns);
    svg_text(a->svg, CYCLES_LEFT - 12, y + ROW - 6, "large end", "%s", name);
    svg_end(a->svg);
    free(levels);
    return y + ROW;
}

// --- what the colours mean ---

double cycles_legend(const struct cycles_axis *a, const struct cycles_row *rows, unsigned n, double seen, double y)
{
    double of[SM_KINDS] = { 0 }, all = 0;
    unsigned at = 0;
    bool asks = false;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < SM_KINDS; k++)
            of[k] += rows[i].all[k];
        all += sum_of(&rows[i]);
        for (unsigned c = 0; c < a->columns; c++)
            asks |= rows[i].asks[c];
    }
    for (size_t k = 0; k <= KINDS; k++) {
        const unsigned across = at % 2, down = at / 2;
        const double x = LEGEND_LEFT + across * LEGEND_COLUMN, row = y + down * LEGEND_ROW;
        if (k == KINDS ? !asks : of[kinds[k].kind] <= seen * all)
            continue;
        svg_rect(a->svg, x, row, 26, 20, kinds[k < KINDS ? k : 0].class);
        if (k == KINDS)
            svg_rect(a->svg, x + 10, row, CYCLES_COLUMN, ASK, "ask");
        if (k == KINDS)
            svg_text(a->svg, x + 36, row + 17, "large", "asks global memory for something");
        else
            svg_text(a->svg, x + 36, row + 17, "large", "%.0f %%  %s: %s", 100 * of[kinds[k].kind] / all, kinds[k].name,
                     kinds[k].text);
        at++;
    }
    const unsigned all_down = (at + 1) / 2;
    return y + all_down * LEGEND_ROW;
}
