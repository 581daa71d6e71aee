// The walk along K: which elements of a product's factors a block reads in each step. They stand left of the result and
// above it, as in a product by hand. A step ends at a barrier; of a kernel that reads them without barriers, a step is
// a pass of its loop: an instruction that a warp executes once more belongs to the next.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "draw_area.h"
#include "draw_run.h"

#define WIDTH 1200
#define MARGIN 28
#define TOP 130
#define GAP 44    // between the matrices
#define DEEP 210  // pixels along K
#define TALL 260  // pixels along M, and at most along N
#define LISTED 4  // steps that are described
#define GREY 7    // the number whose colour is grey
#define ELEMENTS_MAX ((uint64_t)1 << 24)

struct factor {
    const struct simt_matrix *m;
    uint32_t *barrier;  // by element: 1 + how many barriers its first reader had passed; 0: not read
    uint32_t *pass;     // by element: 1 + how often its first reader had executed the instruction
    uint64_t lanes;     // elements that lanes asked for, repeated ones included
    uint64_t elements;  // different ones
};

struct walk {
    const struct simt_product *product;
    struct factor left, right;
    uint32_t *stored;  // by element of the result: 1 + GREY where the block stores it
    uint32_t *times;   // by PTX instruction and warp: executions
    uint32_t warps, n_insts;
    bool bulk;  // there are bulk copies
};

// --- from the run ---

static void note_element(struct walk *w, uint64_t address, uint32_t barriers, uint32_t passes, bool store)
{
    uint64_t row, col;
    const struct simt_matrix *m = draw_element(w->product, address, &row, &col);
    const bool result = m == &w->product->result;
    if (m && store && result)
        w->stored[row * m->columns + col] = 1 + GREY;
    if (!m || store || result)
        return;
    struct factor *f = m == w->left.m ? &w->left : &w->right;
    const uint64_t i = row * m->columns + col;
    f->lanes++;
    if (f->barrier[i])
        return;
    f->elements++;
    f->barrier[i] = 1 + barriers;
    f->pass[i] = 1 + passes;
}

static uint32_t element_bytes(const struct walk *w, uint64_t address)
{
    uint64_t row, col;
    const struct simt_matrix *m = draw_element(w->product, address, &row, &col);
    return m ? m->bytes : 1;
}

static void note(void *context, const struct record *r, const struct record_event *e)
{
    struct walk *w = context;
    const bool access = e->kind == RECORD_LOAD || e->kind == RECORD_STORE;
    if (!access || e->block != r->block || e->space != SPACE_GLOBAL || e->u->inst >= w->n_insts)
        return;
    w->bulk |= e->mbarrier != 0;
    uint32_t *times = &w->times[(size_t)e->u->inst * w->warps + e->warp];
    for (uint32_t i = 0; i < e->n; i++) {
        const struct trace_access *a = &e->access[i];
        for (uint32_t lanes = a->mask; lanes; lanes &= lanes - 1) {
            const uint64_t at = a->address[__builtin_ctz(lanes)];
            const uint32_t step = element_bytes(w, at);
            for (uint32_t b = 0; b < a->bytes; b += step)
                note_element(w, at + b, e->barriers, *times, e->kind == RECORD_STORE);
        }
    }
    ++*times;
}

// --- steps ---

static uint64_t elements_of(const struct simt_matrix *m)
{
    return m->rows * m->columns;
}

// Numbers what the factors' keys a and b hold (0: nothing) from 1 in its order; returns how many numbers there are.
static uint32_t renumber(const struct walk *w, uint32_t *a, uint32_t *b)
{
    const uint64_t na = elements_of(w->left.m), nb = elements_of(w->right.m);
    uint32_t most = 0, n = 0;
    for (uint64_t i = 0; i < na + nb; i++) {
        const uint32_t k = i < na ? a[i] : b[i - na];
        most = k > most ? k : most;
    }
    uint32_t *to = calloc((size_t)most + 1, sizeof *to);
    for (uint64_t i = 0; to && i < na + nb; i++)
        to[i < na ? a[i] : b[i - na]] = 1;
    for (uint32_t k = 1; to && k <= most; k++)
        to[k] = to[k] ? ++n : 0;
    for (uint64_t i = 0; to && i < na + nb; i++) {
        uint32_t *k = i < na ? &a[i] : &b[i - na];
        *k = *k ? to[*k] : 0;
    }
    free(to);
    return to ? n : 0;
}

// --- the picture ---

static struct panel panel_of(struct svg *svg, const struct simt_matrix *m, const uint32_t *key, double width,
                             double height)
{
    return (struct panel){ .svg = svg,
                           .key = key,
                           .pitch = m->columns,
                           .area = { 0, 0, m->rows, m->columns },
                           .width = width,
                           .height = height,
                           .chosen = UINT32_MAX,
                           .colours = true,
                           .word = "step" };
}

static void matrix(struct panel *p, const struct simt_matrix *m)
{
    svg_rect(p->svg, p->x, p->y, p->width, p->height, "frame edge");
    panel_draw(p);
    svg_text(p->svg, p->x, p->y - 10, "large big", "%.40s: %" PRIu64 " x %" PRIu64, m->name, m->rows, m->columns);
}

// What one step reads of a factor: "128 x 8 of A".
static void part(const struct panel *p, const struct simt_matrix *m, uint32_t step, char *text, size_t size)
{
    const struct area a = area_bounds(p->key, m->rows, m->columns, 0, step);
    uint64_t n = 0;
    for (uint64_t i = 0; i < elements_of(m); i++)
        n += p->key[i] == step + 1;
    if (!n)
        snprintf(text, size, "nothing of %.40s", m->name);
    else if (n == a.rows * a.cols)
        snprintf(text, size, "%" PRIu64 " x %" PRIu64 " of %.40s", a.rows, a.cols, m->name);
    else
        snprintf(text, size, "%" PRIu64 " elements of %.40s", n, m->name);
}

static const char *times_text(const struct factor *f, char text[40])
{
    const double times = f->elements ? (double)f->lanes / (double)f->elements : 0;
    if (times == 1)
        return "once";
    snprintf(text, 40, times == (double)(uint64_t)times ? "%.0f times" : "%.2f times", times);
    return text;
}

static bool whole_times(const struct factor *f)
{
    return !f->elements || f->lanes % f->elements == 0;
}

static void words(struct svg *svg, double x, const struct walk *w, const struct panel *left, const struct panel *right,
                  uint32_t steps, bool by_barrier)
{
    const struct simt_matrix *l = w->left.m, *r = w->right.m;
    char of_l[100], of_r[100], times[40];
    double y = TOP + 20;
    svg_text(svg, x, y, "large big", "What the block reads, step by step");
    for (uint32_t i = 0; i < steps && i < LISTED; i++) {
        char class[16];
        y += 42;
        snprintf(class, sizeof class, "l%u piece", i % 8);
        svg_rect(svg, x, y - 22, 32, 30, class);
        svg_text(svg, x + 16, y, "large ink mid", "%u", i);
        part(left, l, i, of_l, sizeof of_l);
        part(right, r, i, of_r, sizeof of_r);
        svg_text(svg, x + 46, y, "large", "%s, %s", of_l, of_r);
    }
    if (steps > LISTED)
        svg_text(svg, x + 46, y += 36, "large dim", "and so on, %u steps in all", steps);
    y += 58;
    const bool even = whole_times(&w->left) && whole_times(&w->right);
    svg_text(svg, x, y, "large", "From global memory, lanes load%s", even ? "" : ", on average,");
    svg_text(svg, x, y + 30, "large", "each of these elements of %.40s %s,", l->name, times_text(&w->left, times));
    svg_text(svg, x, y + 60, "large", "each of %.40s %s.", r->name, times_text(&w->right, times));
    svg_text(svg, x, y + 106, "large dim",
             by_barrier ? "A step ends at a barrier." : "A step is one pass of the loop.");
}

// How wide and tall C is drawn, within limits.
static void fit_result(const struct simt_matrix *C, double *wide, double *tall)
{
    *wide = TALL * (double)C->columns / (double)C->rows;
    *tall = TALL;
    if (*wide > 1.4 * TALL) {
        *tall = TALL * 1.4 * TALL / *wide > 90 ? TALL * 1.4 * TALL / *wide : 90;
        *wide = 1.4 * TALL;
    }
}

static void describe(struct svg *svg, const struct walk *w, const uint64_t block[3], uint32_t steps)
{
    const char *l = w->left.m->name, *r = w->right.m->name, *c = w->product->result.name;
    char times[2][40];
    svg_describe(svg,
                 "%.40s stands left of %.40s, %.40s above it. Block (%" PRIu64 ",%" PRIu64
                 ") reads parts of %.40s and %.40s in %u steps along K. Lanes load each element of %.40s %s and each "
                 "of %.40s %s.",
                 l, c, r, block[0], block[1], l, r, steps, l, times_text(&w->left, times[0]), r,
                 times_text(&w->right, times[1]));
}

static char *paint(const struct draw_launch *l, const struct walk *w)
{
    const struct simt_matrix *L = w->left.m, *R = w->right.m, *C = &w->product->result;
    const uint64_t *block = l->place->block;
    struct svg svg;
    char title[300], of_l[100], of_r[100];
    if (!svg_open(&svg))
        return NULL;
    uint32_t steps = renumber(w, w->left.barrier, w->right.barrier);
    const bool by_barrier = steps > 1;
    if (!by_barrier)
        steps = renumber(w, w->left.pass, w->right.pass);
    double wide, tall;
    fit_result(C, &wide, &tall);
    struct panel left = panel_of(&svg, L, by_barrier ? w->left.barrier : w->left.pass, DEEP, tall);
    struct panel right = panel_of(&svg, R, by_barrier ? w->right.barrier : w->right.pass, wide, DEEP);
    struct panel result = panel_of(&svg, C, w->stored, wide, tall);
    left.x = MARGIN;
    right.x = result.x = MARGIN + DEEP + GAP;
    right.y = TOP;
    left.y = result.y = TOP + DEEP + GAP;
    result.chosen = GREY;
    result.unnamed = true;
    part(&left, L, 0, of_l, sizeof of_l);
    part(&right, R, 0, of_r, sizeof of_r);
    snprintf(title, sizeof title, "The walk along K: %u step%s, the first with %s and %s", steps, text_plural(steps),
             of_l, of_r);
    svg_text(&svg, MARGIN, 48, "huge", "%s", title);
    svg_text(&svg, MARGIN, 82, "large dim",
             "Block (%" PRIu64 ",%" PRIu64 ") computes the framed tile of %.40s: rows of %.40s (left) times columns of "
             "%.40s (above).",
             block[0], block[1], C->name, L->name, R->name);
    matrix(&left, L);
    matrix(&right, R);
    matrix(&result, C);
    words(&svg, right.x + wide + 56, w, &left, &right, steps, by_barrier);
    describe(&svg, w, block, steps);
    const double bottom = left.y + tall + MARGIN;
    return svg_close(&svg, WIDTH, bottom > 530 ? bottom : 530, title);
}

static bool open_factor(struct factor *f, const struct simt_matrix *m)
{
    f->m = m;
    f->barrier = calloc(elements_of(m), sizeof *f->barrier);
    f->pass = calloc(elements_of(m), sizeof *f->pass);
    return f->barrier && f->pass;
}

static bool open_walk(const struct draw_launch *l, struct walk *w, char error[DEV_ERROR_MAX])
{
    const struct simt_product *p = w->product = draw_product(l, error);
    if (!p)
        return false;
    if (elements_of(&p->left) > ELEMENTS_MAX || elements_of(&p->right) > ELEMENTS_MAX ||
        elements_of(&p->result) > ELEMENTS_MAX)
        return error_set(error, "%.40s, %.40s and %.40s are too large for a picture: at most 2^24 elements each",
                         p->left.name, p->right.name, p->result.name);
    w->n_insts = l->kernel->func->n_insts;
    w->warps = (l->how->block[0] * l->how->block[1] * l->how->block[2] + LANES - 1) / LANES;
    w->stored = calloc(elements_of(&p->result), sizeof *w->stored);
    w->times = calloc((size_t)(w->n_insts + 1) * w->warps, sizeof *w->times);
    return (open_factor(&w->left, &p->left) && open_factor(&w->right, &p->right) && w->stored && w->times) ||
           error_set(error, "out of memory for the picture");
}

char *draw_walk(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    struct walk w = { 0 };
    struct record *r = calloc(1, sizeof *r);
    char *text = NULL;
    if (r && open_walk(l, &w, error)) {
        r->tell = note;
        r->context = &w;
        if (draw_record(l, r, error)) {
            text = !w.bulk && w.left.elements + w.right.elements ? paint(l, &w) : NULL;
            if (!text)
                error_set(error,
                          w.bulk ? "that block reads %.40s and %.40s by bulk copies (TMA): this picture shows what "
                                   "threads load"
                                 : "that block reads nothing of %.40s and %.40s",
                          w.left.m->name, w.right.m->name);
        }
        record_free(r);
    }
    free(r);
    free(w.left.barrier);
    free(w.left.pass);
    free(w.right.barrier);
    free(w.right.pass);
    free(w.stored);
    free(w.times);
    return text;
}
