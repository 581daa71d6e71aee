// The walk along K: which elements of A and B a block reads in each step. A stands left of C and B above it, as in a
// product by hand. A step ends at a barrier; of a kernel that reads A and B without barriers, a step is a pass of its
// loop: an instruction that a warp executes once more belongs to the next.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "draw_area.h"
#include "draw_run.h"

#define WIDTH 1200
#define MARGIN 28
#define TOP 130
#define GAP 44    // between A, B and C
#define DEEP 210  // pixels along K
#define TALL 260  // pixels along M, and at most along N
#define LISTED 4  // steps that are described
#define GREY 7    // the number whose colour is grey
#define ELEMENTS_MAX ((uint64_t)1 << 24)

struct read {           // of A or of B
    uint32_t *barrier;  // by element: 1 + how many barriers its first reader had passed; 0: not read
    uint32_t *pass;     // by element: 1 + how often its first reader had executed the instruction
    uint64_t lanes;     // elements that lanes asked for, repeated ones included
    uint64_t elements;  // different ones
};

struct walk {
    struct draw_matrices matrices;
    struct read a, b;
    uint32_t *c;      // by element: 1 + GREY where the block stores it
    uint32_t *times;  // by PTX instruction and warp: executions
    uint32_t warps, n_insts;
    bool bulk;  // there are bulk copies
};

// --- from the run ---

static void note_element(struct walk *w, uint64_t address, uint32_t barriers, uint32_t passes, bool store)
{
    uint64_t row, col;
    const struct draw_matrix *m = draw_element(&w->matrices, address, &row, &col);
    if (m && store && m->name == 'C')
        w->c[row * m->cols + col] = 1 + GREY;
    if (!m || store || m->name == 'C')
        return;
    struct read *r = m->name == 'A' ? &w->a : &w->b;
    const uint64_t i = row * m->cols + col;
    r->lanes++;
    if (r->barrier[i])
        return;
    r->elements++;
    r->barrier[i] = 1 + barriers;
    r->pass[i] = 1 + passes;
}

static uint32_t element_bytes(const struct walk *w, uint64_t address)
{
    uint64_t row, col;
    const struct draw_matrix *m = draw_element(&w->matrices, address, &row, &col);
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

// Numbers what keys holds (0: nothing) from 1 in its order; returns how many numbers there are.
static uint32_t renumber(uint32_t *a, uint64_t na, uint32_t *b, uint64_t nb)
{
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

static uint64_t elements_of(const struct draw_matrix *m)
{
    return m->rows * m->cols;
}

// --- the picture ---

static struct panel panel_of(struct svg *svg, const struct draw_matrix *m, const uint32_t *key, double width,
                             double height)
{
    return (struct panel){ .svg = svg,
                           .key = key,
                           .pitch = m->cols,
                           .area = { 0, 0, m->rows, m->cols },
                           .width = width,
                           .height = height,
                           .chosen = UINT32_MAX,
                           .colours = true,
                           .word = "step" };
}

static void matrix(struct panel *p, const struct draw_matrix *m)
{
    svg_rect(p->svg, p->x, p->y, p->width, p->height, "frame edge");
    panel_draw(p);
    svg_text(p->svg, p->x, p->y - 10, "large big", "%c: %" PRIu64 " x %" PRIu64, m->name, m->rows, m->cols);
}

// What one step reads of a matrix: "128 x 8 of A".
static void part(const struct panel *p, const struct draw_matrix *m, uint32_t step, char *text, size_t size)
{
    const struct area a = area_bounds(p->key, m->rows, m->cols, 0, step);
    uint64_t n = 0;
    for (uint64_t i = 0; i < elements_of(m); i++)
        n += p->key[i] == step + 1;
    if (!n)
        snprintf(text, size, "nothing of %c", m->name);
    else if (n == a.rows * a.cols)
        snprintf(text, size, "%" PRIu64 " x %" PRIu64 " of %c", a.rows, a.cols, m->name);
    else
        snprintf(text, size, "%" PRIu64 " elements of %c", n, m->name);
}

static const char *times_text(const struct read *r, char text[40])
{
    const double times = r->elements ? (double)r->lanes / (double)r->elements : 0;
    if (times == 1)
        return "once";
    snprintf(text, 40, times == (double)(uint64_t)times ? "%.0f times" : "%.2f times", times);
    return text;
}

static bool whole_times(const struct read *r)
{
    return !r->elements || r->lanes % r->elements == 0;
}

static void words(struct svg *svg, double x, const struct walk *w, const struct panel *a, const struct panel *b,
                  uint32_t steps, bool by_barrier)
{
    char of_a[80], of_b[80], times[2][40];
    double y = TOP + 20;
    svg_text(svg, x, y, "large big", "What the block reads, step by step");
    for (uint32_t i = 0; i < steps && i < LISTED; i++) {
        char class[16];
        y += 42;
        snprintf(class, sizeof class, "l%u piece", i % 8);
        svg_rect(svg, x, y - 22, 32, 30, class);
        svg_text(svg, x + 16, y, "large ink mid", "%u", i);
        part(a, &w->matrices.a, i, of_a, sizeof of_a);
        part(b, &w->matrices.b, i, of_b, sizeof of_b);
        svg_text(svg, x + 46, y, "large", "%s, %s", of_a, of_b);
    }
    if (steps > LISTED)
        svg_text(svg, x + 46, y += 36, "large dim", "and so on, %u steps in all", steps);
    y += 58;
    const bool even = whole_times(&w->a) && whole_times(&w->b);
    svg_text(svg, x, y, "large", "From global memory, lanes load%s", even ? "" : ", on average,");
    svg_text(svg, x, y + 30, "large", "each of these elements of A %s,", times_text(&w->a, times[0]));
    svg_text(svg, x, y + 60, "large", "each of B %s.", times_text(&w->b, times[1]));
    svg_text(svg, x, y + 106, "large dim",
             by_barrier ? "A step ends at a barrier." : "A step is one pass of the loop.");
}

static char *paint(const struct draw_launch *l, const struct walk *w)
{
    const struct draw_matrix *A = &w->matrices.a, *B = &w->matrices.b, *C = &w->matrices.c;
    struct svg svg;
    char title[240], of_a[80], of_b[80], times[2][40];
    if (!svg_open(&svg))
        return NULL;
    uint32_t steps = renumber(w->a.barrier, elements_of(A), w->b.barrier, elements_of(B));
    const bool by_barrier = steps > 1;
    if (!by_barrier)
        steps = renumber(w->a.pass, elements_of(A), w->b.pass, elements_of(B));
    double wide = TALL * (double)C->cols / (double)C->rows, tall = TALL;
    if (wide > 1.4 * TALL) {
        tall = tall * 1.4 * TALL / wide > 90 ? tall * 1.4 * TALL / wide : 90;
        wide = 1.4 * TALL;
    }
    struct panel a = panel_of(&svg, A, by_barrier ? w->a.barrier : w->a.pass, DEEP, tall);
    struct panel b = panel_of(&svg, B, by_barrier ? w->b.barrier : w->b.pass, wide, DEEP);
    struct panel c = panel_of(&svg, C, w->c, wide, tall);
    a.x = MARGIN;
    b.x = c.x = MARGIN + DEEP + GAP;
    b.y = TOP;
    a.y = c.y = TOP + DEEP + GAP;
    c.chosen = GREY;
    c.unnamed = true;
    part(&a, A, 0, of_a, sizeof of_a);
    part(&b, B, 0, of_b, sizeof of_b);
    snprintf(title, sizeof title, "The walk along K: %u step%s, the first with %s and %s", steps, text_plural(steps),
             of_a, of_b);
    svg_text(&svg, MARGIN, 48, "huge", "%s", title);
    svg_text(&svg, MARGIN, 82, "large dim",
             "Block (%" PRIu64 ",%" PRIu64 ") computes the framed tile of C: rows of A (left) times columns of B "
             "(above).",
             l->place->block[0], l->place->block[1]);
    matrix(&a, A);
    matrix(&b, B);
    matrix(&c, C);
    words(&svg, b.x + wide + 56, w, &a, &b, steps, by_barrier);
    svg_describe(&svg,
                 "A stands left of C, B above it. Block (%" PRIu64 ",%" PRIu64
                 ") reads parts of A and B in %u steps along K. Lanes load each element of A %s and each of B %s.",
                 l->place->block[0], l->place->block[1], steps, times_text(&w->a, times[0]),
                 times_text(&w->b, times[1]));
    const double bottom = a.y + tall + MARGIN;
    return svg_close(&svg, WIDTH, bottom > 530 ? bottom : 530, title);
}

static bool open_walk(const struct draw_launch *l, struct walk *w, char error[DEV_ERROR_MAX])
{
    if (!draw_find_matrices(l, &w->matrices, error))
        return false;
    const uint64_t na = elements_of(&w->matrices.a), nb = elements_of(&w->matrices.b), nc = elements_of(&w->matrices.c);
    if (na > ELEMENTS_MAX || nb > ELEMENTS_MAX || nc > ELEMENTS_MAX) {
        snprintf(error, DEV_ERROR_MAX, "A, B and C are too large for a picture: at most 2^24 elements each");
        return false;
    }
    w->n_insts = l->kernel->func->n_insts;
    w->warps = (l->how->block[0] * l->how->block[1] * l->how->block[2] + LANES - 1) / LANES;
    w->a.barrier = calloc(na, sizeof *w->a.barrier);
    w->a.pass = calloc(na, sizeof *w->a.pass);
    w->b.barrier = calloc(nb, sizeof *w->b.barrier);
    w->b.pass = calloc(nb, sizeof *w->b.pass);
    w->c = calloc(nc, sizeof *w->c);
    w->times = calloc((size_t)(w->n_insts + 1) * w->warps, sizeof *w->times);
    if (!w->a.barrier || !w->a.pass || !w->b.barrier || !w->b.pass || !w->c || !w->times) {
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
        return false;
    }
    return true;
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
            text = !w.bulk && w.a.elements + w.b.elements ? paint(l, &w) : NULL;
            if (!text)
                snprintf(error, DEV_ERROR_MAX,
                         w.bulk ? "that block reads A and B by bulk copies (TMA): this picture shows what threads load"
                                : "that block reads nothing of A and B");
        }
        record_free(r);
    }
    free(r);
    free(w.a.barrier);
    free(w.a.pass);
    free(w.b.barrier);
    free(w.b.pass);
    free(w.c);
    free(w.times);
    return text;
}
