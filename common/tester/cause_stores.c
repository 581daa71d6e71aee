// Which thread of a block stores which elements of C, where some are never written: elements that get several values,
// and threads that store nothing. See unwritten.h.
#include "unwritten.h"

#include <string.h>

#include "base/source.h"
#include "base/text.h"
#include "cause.h"
#include "kernel_text.h"
#include "look.h"
#include "probe.h"
#include "slice.h"
#include "stores.h"

// Of the block that has the first such element: how many stores went to an element that had one, and how many elements
// had none, or some. The first of those that were stored most often.
struct stored {
    size_t surplus, missing, stored;
    size_t example;
    uint32_t most;
};

static struct stored survey_stores(const struct stores *s, const struct unwritten *u, const struct geometry *g)
{
    struct stored x = { .most = 0 };
    const int row = u->row / g->bm * g->bm, col = u->col / g->bn * g->bn, rows = (int)(s->elements / (size_t)s->n);
    for (size_t i = 0; i < s->elements; i++) {
        const struct store *e = &s->all[i];
        x.surplus += e->times > 1 ? e->times - 1 : 0;
        x.stored += e->times > 0;
        if (e->times > x.most) {
            x.most = e->times;
            x.example = i;
        }
    }
    for (int i = row; i < row + g->bm && i < rows; i++)
        for (int j = col; j < col + g->bn && j < s->n; j++)
            x.missing += !s->all[(size_t)i * (size_t)s->n + (size_t)j].times;
    return x;
}

// Whether that line makes what the store has as its row or column, or a line does that makes those.
static bool makes_place(const struct cause *c, unsigned store, unsigned line, bool column)
{
    unsigned lines[KERNEL_MAKERS], behind[KERNEL_MAKERS];
    const unsigned n = kernel_text_place_makers(c->lines.file, store, column, lines);
    for (unsigned i = 0; i < n; i++) {
        const unsigned n_behind = kernel_text_makers(c->lines.file, lines[i], behind);
        bool makes = lines[i] == line;
        for (unsigned j = 0; j < n_behind; j++)
            makes = makes || behind[j] == line;
        if (makes)
            return true;
    }
    return false;
}

// The innermost loop around the store whose counter is in neither its row nor its column; 0: there is none.
static unsigned loop_left_out(const struct cause *c, unsigned store)
{
    unsigned heads[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(c->lines.file, store, heads);
    for (unsigned i = 0; i < n; i++)
        if (!makes_place(c, store, heads[i], false) && !makes_place(c, store, heads[i], true))
            return heads[i];
    return 0;
}

// A line that tells a thread its row or column of C: it makes that, and is neither a loop nor the block's own.
static unsigned line_of_threads(const struct cause *c, unsigned store, bool column)
{
    unsigned lines[KERNEL_MAKERS];
    char text[256];
    const unsigned n = kernel_text_place_makers(c->lines.file, store, column, lines);
    for (unsigned i = 0; i < n; i++) {
        source_text(c->lines.file, lines[i], text, sizeof text);
        if (!strstr(text, "blockIdx") && !strstr(text, "for ("))
            return lines[i];
    }
    return 0;
}

static void say_missing(struct cause *c, const struct unwritten *u)
{
    const char *name;
    const struct unwritten_lines *lines = unwritten_of_tile(u, &name);
    if (!lines)
        return;
    cause_say(c, ", and no thread stores ");
    unwritten_say(c, lines, name);
    cause_say(c, " of each block's tile");
}

static void say_loop_left_out(struct cause *c, unsigned store, unsigned loop)
{
    cause_say(
        c,
        ". Row and column at line %u do not have the counter of the loop at line %u, so what it stores goes to one "
        "place, each over the one before",
        store, loop);
    cause_look_at_line(c, store);
    cause_look_at_line(c, loop);
}

// One thread stores the same element again and again.
static void say_again(struct cause *c, const struct unwritten *u, const struct stores *s, const struct stored *x,
                      unsigned store)
{
    const unsigned loop = loop_left_out(c, store);
    cause_say(c, "thread %u stores C[%zu][%zu] %u times", s->all[x->example].thread, x->example / (size_t)s->n,
              x->example % (size_t)s->n, x->most);
    say_missing(c, u);
    if (loop) {
        say_loop_left_out(c, store, loop);
        return;
    }
    cause_look_at_line(c, line_of_threads(c, store, unwritten_whole(&u->tile_cols)));
    cause_look_at_line(c, store);
}

// The same where the compiler has left out the stores whose value is overwritten. False: it is not so.
static bool say_overwritten(struct cause *c, const struct unwritten *u, const struct stores *s, const struct stored *x,
                            const struct look *l, unsigned store)
{
    const unsigned loop = loop_left_out(c, store);
    const uint32_t threads = stores_threads(s);
    const int row = (int)(x->example / (size_t)s->n), col = (int)(x->example % (size_t)s->n);
    const struct meeting t = look_meeting(l, row, col);
    if (!loop || !u->misplaced || x->stored % threads || (x->stored + x->missing) % threads)
        return false;
    cause_say(c, "each thread stores %zu element%s in place of %zu", x->stored / threads,
              text_plural(x->stored / threads), (x->stored + x->missing) / threads);
    if (t.a_row >= 0 && t.b_col >= 0 && (t.a_row != row || t.b_col != col))
        cause_say(c, ": C[%d][%d] has the sum of C[%d][%d]", row, col, t.a_row, t.b_col);
    say_missing(c, u);
    say_loop_left_out(c, store, loop);
    return true;
}

// Several threads store the same element.
static void say_shared(struct cause *c, const struct unwritten *u, const struct stores *s, const struct stored *x,
                       unsigned store)
{
    const char *name;
    const struct unwritten_lines *lines = unwritten_of_tile(u, &name);
    const bool cols = lines == &u->tile_cols, rows = lines == &u->tile_rows;
    const struct store *e = &s->all[x->example];
    const unsigned of_col = rows ? 0 : line_of_threads(c, store, true);
    const unsigned of_row = cols ? 0 : line_of_threads(c, store, false);
    cause_say(c, "C[%zu][%zu] is stored by threads %u and %u", x->example / (size_t)s->n, x->example % (size_t)s->n,
              e->thread, e->other);
    say_missing(c, u);
    cause_say(c, ". The %s of C that a thread has %s other threads', too", lines ? name : "row or the column",
              lines ? "is" : "are");
    cause_look_at_line(c, of_col);
    cause_look_at_line(c, of_row);
    cause_look_at_line(c, store);
}

// Where what some elements lack is stored to others. False: it is not so.
static bool say_stored_again(struct cause *c, const struct unwritten *u, const struct stores *s, const struct probe *p,
                             const struct look *l)
{
    const struct stored x = survey_stores(s, u, &p->geometry);
    const struct store *e = &s->all[x.example];
    const unsigned store = slice_line(cause_kernel(p), c->lines.file, e->number, NULL);
    if (!store)
        return false;
    if (2 * x.surplus < x.missing)
        return say_overwritten(c, u, s, &x, l, store);
    if (e->thread == e->other)
        say_again(c, u, s, &x, store);
    else
        say_shared(c, u, s, &x, store);
    return true;
}

// Whether the threads of a block take the elements of its tile in turn, and some of them store nothing.
static bool say_turns(struct cause *c, const struct look *l, const struct geometry *g, const struct stores *s)
{
    static const enum line_role roles[] = { LINE_STORE_C, LINE_WRITE_C, LINE_ROLES };
    int first = g->threads;  // of a round that is not written
    for (int i = 0; i < l->m && i < g->bm; i++)
        for (int j = 0; j < l->n && j < g->bn; j++) {
            const int turn = (i * g->bn + j) % g->threads;
            if (!look_meeting(l, i, j).written && turn < first)
                first = turn;
        }
    for (int i = 0; i < l->m && i < g->bm; i++)
        for (int j = 0; j < l->n && j < g->bn; j++)
            if (look_meeting(l, i, j).written != ((i * g->bn + j) % g->threads < first))
                return false;
    if (!first || first == g->threads || first % 32 || stores_threads(s) != (uint32_t)first)
        return false;
    cause_say(c,
              "of each %d elements of a tile only the first %d are written: the store's loop goes on by the %d threads "
              "of the block, and %d take part",
              g->threads, first, g->threads, first);
    cause_look_at(c, roles);
    return true;
}

bool cause_of_stored_again(struct cause *c, struct probe *p, int m, int n, int k)
{
    struct stores s;
    uint32_t times = 0;
    unsigned heads[KERNEL_LOOPS];
    bool alike = stores_take(&s, p, m, n, k, 0);
    for (size_t i = 0; alike && i < s.elements; i++) {
        const struct store *e = &s.all[i];
        times = times ? times : e->times;
        alike = !e->times || (e->times == times && e->thread == e->other);
    }
    if (alike && times > 1) {
        const unsigned store = slice_line(cause_kernel(p), c->lines.file, s.all[0].number, NULL);
        const unsigned loop = store && kernel_text_loops(c->lines.file, store, heads) ? heads[0] : 0;
        cause_say(
            c,
            "each element of C is stored %u times by its thread, and each time beta times what is there already is "
            "added: the store belongs behind the loop over K",
            times);
        cause_look_at_line(c, store);
        cause_look_at_line(c, loop);
    }
    stores_free(&s);
    return alike && times > 1;
}

bool unwritten_say_stores(struct cause *c, const struct unwritten *u, struct probe *p, const struct look *l)
{
    const struct geometry *g = &p->geometry;
    const uint64_t across = ((uint64_t)l->n - 1) / (uint64_t)g->bn + 1;
    struct stores s;
    const bool known =
        stores_take(&s, p, l->m, l->n, l->k, (uint64_t)(u->row / g->bm) * across + (uint64_t)(u->col / g->bn));
    const bool told = known && (say_stored_again(c, u, &s, p, l) || say_turns(c, l, g, &s));
    stores_free(&s);
    return told;
}
