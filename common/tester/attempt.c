// See attempt.h.
#include "attempt.h"

#include <math.h>
#include <string.h>

#include "base/profile.h"
#include "cause.h"
#include "cause_size.h"
#include "kernel_text.h"

#define ATTEMPT_SECONDS 2.0

static int least(int a, int b)
{
    return a < b ? a : b;
}

static uint64_t tiles_of(const struct matrix *C, const struct geometry *g)
{
    const int across = (C->cols - 1) / g->bn + 1, down = (C->rows - 1) / g->bm + 1;
    return (uint64_t)across * (uint64_t)down;
}

// --- Right or wrong ---

static void take_sample(struct attempt *a, const struct tester_options *o)
{
    for (int i = 0; i < ATTEMPT_SAMPLE; i++) {
        a->row[i] = (int)(matrix_hash(1, (uint64_t)i) % (uint64_t)o->m);
        a->col[i] = (int)(matrix_hash(2, (uint64_t)i) % (uint64_t)o->n);
        double sum = 0;
        for (int k = 0; k < o->k; k++)
            sum += matrix_get(&a->x.A, a->row[i], k) * matrix_get(&a->x.B, k, a->col[i]);
        a->want[i] = o->alpha * sum + (o->beta != 0 ? o->beta * matrix_get(&a->x.C0, a->row[i], a->col[i]) : 0);
    }
}

static bool sample_fits(const struct attempt *a)
{
    for (int i = 0; i < ATTEMPT_SAMPLE; i++)
        if (!(fabs(matrix_get(&a->x.C, a->row[i], a->col[i]) - a->want[i]) <= 0.01 * (1 + fabs(a->want[i]))))
            return false;
    return true;
}

// Whether the kernel has computed no more products than it takes, with what lies beyond the edges: one that reads zeros
// there, tile for tile, is no cure.
static bool takes_no_more(const struct attempt *a, const struct probe *p)
{
    const struct geometry *g = &p->geometry;
    const struct profile *ran = dev_profile(p->dev);
    const int depth = g->bk ? g->bk : 1, k = (a->x.A.cols - 1) / depth * depth + depth;
    const double most = 2.0 * (double)tiles_of(&a->x.C, g) * g->bm * g->bn * (k + depth + 4);
    return !ran || (double)ran->total[METRIC_FLOP] <= most;
}

static bool is_right(struct attempt *a, struct probe *p, bool checked)
{
    const struct probe_product *r = &a->product;
    const struct simt_findings *found;
    if (!probe_run(p, r, &a->x.C) || !sample_fits(a) || !takes_no_more(a, p) ||
        !matrix_check(&a->x.C, r->alpha, r->A, r->B, r->beta, r->C0).right)
        return false;
    return !checked || ((found = probe_check(p, r, &a->x.C)) && !found->n);
}

bool attempt_is_right(struct attempt *a, struct probe *p)
{
    return is_right(a, p, true);
}

// --- Sizes ---

enum outcome { UNKNOWN, RIGHT, WRONG };

static enum outcome outcome_at(struct attempt *a, struct probe *p, const struct tester_options *o, const struct size *s)
{
    struct tester_options sized = *o;
    sized.m = s->m, sized.n = s->n, sized.k = s->k;
    probe_release(&a->x);
    if (size_cost(s) > SIZE_COST || !probe_fill(&a->x, p->type, &sized))
        return UNKNOWN;
    a->product = (struct probe_product){ o->alpha, o->beta, &a->x.A, &a->x.B, o->beta != 0 ? &a->x.C0 : NULL };
    take_sample(a, &sized);
    return is_right(a, p, a->checked) ? RIGHT : WRONG;
}

bool attempt_open(struct attempt *a, struct probe *p, const struct tester_options *o, bool checked)
{
    const struct geometry *g = &p->geometry;
    const struct size whole = { o->m, o->n, o->k }, part = size_small(&whole, g);
    const int depth = g->bk ? g->bk : 8;
    const struct size tile = { least(g->bm / 2 + 8, part.m), least(g->bn / 2 + 16, part.n), least(depth, part.k) };
    const struct size tiles = { tile.m, tile.n, least(3 * depth, part.k) };
    const struct size *const sizes[] = { &tile, &tiles, &part, &whole };
    *a = (struct attempt){ .checked = checked };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (outcome_at(a, p, o, sizes[i]) == WRONG)
            return true;
    return false;
}

void attempt_close(struct attempt *a)
{
    probe_release(&a->x);
}

bool attempt_holds(struct attempt *a, struct probe *p, const struct tester_options *o)
{
    const struct size whole = { o->m, o->n, o->k }, part = size_small(&whole, &p->geometry);
    const struct probe before = *p;
    p->budget = 0;  // of instructions and time there are enough for this
    probe_limit(p, ATTEMPT_SECONDS);
    const bool holds = outcome_at(a, p, o, &part) != WRONG && outcome_at(a, p, o, &whole) != WRONG;
    p->budget = before.budget;
    p->end = before.end;
    p->work = before.work;
    p->most_work = before.most_work;
    return holds;
}

uint64_t attempt_budget(const struct attempt *a, const struct geometry *g)
{
    return (uint64_t)g->bm * (uint64_t)g->bn * (uint64_t)a->x.A.cols * (g->blocks ? tiles_of(&a->x.C, g) : 1) +
           (1 << 20);
}

// --- Lines ---

// The lines that make what lines of that rank have come next.
static void rank_makers(unsigned char rank[ATTEMPT_LINES], const struct cause *c, unsigned char from)
{
    unsigned makers[KERNEL_MAKERS];
    for (unsigned line = 1; line < ATTEMPT_LINES; line++) {
        const unsigned n = rank[line] == from ? kernel_text_makers(c->lines.file, line, makers) : 0;
        for (unsigned i = 0; i < n; i++)
            if (makers[i] < ATTEMPT_LINES && rank[makers[i]] == ATTEMPT_RANKS - 1)
                rank[makers[i]] = (unsigned char)(from + 1);
    }
}

static void rank_line(unsigned char rank[ATTEMPT_LINES], unsigned line, unsigned char as)
{
    if (line && line < ATTEMPT_LINES && rank[line] > as)
        rank[line] = as;
}

// If nothing is known: where results are stored, and of which rows and columns they are.
static void rank_stores(const struct cause *c, unsigned char rank[ATTEMPT_LINES])
{
    static const enum line_role roles[] = { LINE_STORE_C, LINE_WRITE_C, LINE_READ_C, LINE_ROW,   LINE_COL,
                                            LINE_BROW,    LINE_BCOL,    LINE_LOAD_A, LINE_LOAD_B };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        rank_line(rank, c->lines.line[roles[i]], 1);
}

void attempt_rank_lines(const struct cause *c, unsigned char rank[ATTEMPT_LINES])
{
    memset(rank, ATTEMPT_RANKS - 1, ATTEMPT_LINES);
    for (int i = 0; i < CAUSE_LINES && c->look[i]; i++) {
        unsigned heads[KERNEL_LOOPS];
        const unsigned n = kernel_text_loops(c->lines.file, c->look[i], heads);
        rank_line(rank, c->look[i], i > 0);
        for (unsigned j = 0; j < n; j++)
            rank_line(rank, heads[j], 1);
    }
    if (!c->look[0])
        rank_stores(c, rank);
    for (unsigned char from = 0; from + 2 < ATTEMPT_RANKS; from++)
        rank_makers(rank, c, from);
}
