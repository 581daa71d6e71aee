// See cause.h.
#include "cause.h"

#include <string.h>

#include "look.h"
#include "meaning.h"
#include "probe.h"

// --- Under the checks ---

// The place's line in the kernel's own file.
static void add_place(struct cause *c, const struct simt_finding_place *p)
{
    if (p->file && !strcmp(p->file, c->lines.file))
        cause_add_line(c, p->line);
    else if (p->caller_file && !strcmp(p->caller_file, c->lines.file))
        cause_add_line(c, p->caller);
}

// Whether it is an uninitialised read, which may be due to another mistake.
static bool tell(struct cause *c, const struct simt_findings *found, const struct tester_options *o)
{
    const struct simt_finding *first = &found->all[0];
    char text[SIMT_FINDING_TEXT];
    for (size_t i = 1; i < found->n; i++)
        if (meaning_rank(&found->all[i]) < meaning_rank(first))
            first = &found->all[i];
    simt_finding_text(first, text, sizeof text);
    cause_say(c, "%s (%s): %s", meaning_text(first, o), simt_finding_name(first->kind), text);
    add_place(c, &first->here.place);
    add_place(c, &first->there.place);
    return first->kind == SIMT_UNINIT_MEMORY;
}

// --- The smallest product that shows the error ---

struct size {
    int m, n, k;
};

// A size with the same rest by its tile, of at least least, not above size.
static int shrink(int size, int tile, int least)
{
    const int rest = size % tile, tiles = least > rest ? (least - rest + tile - 1) / tile : 0;
    const int s = rest + tiles * tile;
    return s && s < size ? s : size;
}

enum { STEPS = 3, DEPTH = 48, COST = 1 << 25 };  // tiles along K; K where there are none; multiply-adds of a product

// Enough rows and columns to see each k (look.h), and two blocks each way.
static struct size small(const struct geometry *g, const struct tester_options *o)
{
    struct size s;
    const int step = g->bk ? g->bk : 16;
    s.k = shrink(o->k, step, g->bk && STEPS * g->bk > DEPTH ? STEPS * g->bk : DEPTH);
    s.m = shrink(o->m, g->bm, s.k > g->bm + 1 ? s.k : g->bm + 1);
    s.n = shrink(o->n, g->bn, s.k > g->bn + 1 ? s.k : g->bn + 1);
    return s;
}

enum outcome { RIGHT, WRONG, UNWRITTEN_READ, EXPLAINED, FAILED };

// One product of this size: is it wrong, and what do the checks say?
static enum outcome try_size(struct cause *c, struct probe *p, const struct size *s, const struct tester_options *o,
                             bool checks)
{
    struct probe_data x;
    struct tester_options sized = *o;
    enum outcome outcome = FAILED;
    sized.m = s->m, sized.n = s->n, sized.k = s->k;
    if (probe_fill(&x, p->type, &sized)) {
        const struct probe_product r = { o->alpha, o->beta, &x.A, &x.B, o->beta != 0 ? &x.C0 : NULL };
        if (probe_run(p, &r, &x.C))  // a size that cannot be run tells about itself alone
            outcome = matrix_check(&x.C, o->alpha, &x.A, &x.B, o->beta, r.C0).right ? RIGHT : WRONG;
        const struct simt_findings *found = checks && outcome != FAILED ? probe_check(p, &r, &x.C) : NULL;
        if (found && found->n)
            outcome = tell(c, found, o) ? UNWRITTEN_READ : EXPLAINED;
    }
    probe_release(&x);
    return outcome;
}

static void look(struct cause *c, struct probe *p, const struct size *s)
{
    struct look l = { 0 };
    if (s->m > LOOK_MAX || s->n > LOOK_MAX || s->k > LOOK_MAX)
        return;
    if (look_take(&l, p, s->m, s->n, s->k) && !cause_of_place(c, p, &l))
        cause_of_value(c, p, s->m, s->n, s->k);
    look_free(&l);
}

// Mistaken rows of a tile lead to uninitialised reads, too: that says more.
static void look_behind(struct cause *c, struct probe *p, const struct size *s)
{
    struct cause other = { .lines = c->lines, .boxes = c->boxes };
    struct look l = { 0 };
    if (s->m <= LOOK_MAX && s->n <= LOOK_MAX && s->k <= LOOK_MAX && look_take(&l, p, s->m, s->n, s->k) &&
        cause_of_place(&other, p, &l) && other.certain)
        *c = other;
    look_free(&l);
}

// On one device: the simulated GPU, which has checks, or the real one.
static void find_on(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                    bool simulated)
{
    const struct size whole = { o->m, o->n, o->k }, part = small(g, o);
    struct probe p;
    if (probe_open(&p, step, g, simulated, o->jobs)) {
        const bool checks = simulated && !o->sanitize;  // with --sanitize they have found nothing in all of it
        struct size s = part;
        enum outcome outcome = try_size(c, &p, &s, o, checks);
        if ((outcome == RIGHT || outcome == FAILED) && (double)whole.m * whole.n * whole.k <= COST) {
            s = whole;
            outcome = try_size(c, &p, &s, o, checks);
        }
        if (outcome == WRONG)
            look(c, &p, &s);
        if (outcome == UNWRITTEN_READ)
            look_behind(c, &p, &s);
    }
    probe_close(&p);
}

// Rows of C that are multiples of 16 bytes are stored by TMA, if the kernel has a map of C.
static void choose_store(struct cause *c, const struct step *step, const struct geometry *g,
                         const struct tester_options *o)
{
    c->boxes = g->cbox && (size_t)o->n * type_size(step->type) % 16 == 0 && c->lines.line[LINE_STORE_BOX];
    if (c->boxes)
        c->lines.line[LINE_STORE_C] = c->lines.line[LINE_STORE_BOX];
}

void cause_find(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                bool simulated)
{
    *c = (struct cause){ 0 };
    kernel_lines_read(&c->lines, step->ptx);
    choose_store(c, step, g, o);
    find_on(c, step, g, o, true);
    if (!*c->text && !simulated)
        find_on(c, step, g, o, false);
}
