// Which words of the kernel are wrong: others in their place make the result right (mend.h). See cause.h.
//
// A result that is right for one change of some hundred, in each of some thousand elements, is no chance; but two
// places may do for one another, as where a value is made and where it is used, so the first few that are found are
// told.
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "base/source.h"
#include "cause.h"
#include "device/sim.h"
#include "mend.h"

enum { FOUND = 3 };
#define MEND_SECONDS 1.6

struct mending {
    struct attempt attempt, larger;
    const struct tester_options *o;
    struct mends mends;
    const struct mend *found[FOUND];
    unsigned n_found;
    unsigned char rank[ATTEMPT_LINES];
};

static void try_one(struct mending *w, const struct mend *x)
{
    if (x->dropped || w->n_found == FOUND || probe_over(&w->mends.probe))
        return;
    struct probe *p = &w->mends.probe;
    if (mends_set(&w->mends, x) && attempt_is_right(&w->attempt, p) && attempt_holds(&w->larger, p, w->o))
        w->found[w->n_found++] = x;
}

// The nearest lines first, and of each what is most often mistaken.
static void try_all(struct mending *w)
{
    for (unsigned order = 0; order < MEND_ORDERS; order++)
        for (unsigned i = 0; i < w->mends.n; i++)
            if (mend_order(&w->mends.all[i]) == order)
                try_one(w, &w->mends.all[i]);
}

// Of two that read alike, as where a statement stands twice on a line, one is told.
static void say_found(struct cause *c, const struct mending *w)
{
    unsigned lines[FOUND];
    char text[FOUND][3 * MEND_WORDS];
    for (unsigned i = 0; i < w->n_found; i++) {
        bool new = true;
        lines[i] = w->found[i]->line;
        mend_say(&w->mends, w->found[i], text[i], sizeof text[i]);
        for (unsigned j = 0; j < i; j++)
            new = new && (lines[j] != lines[i] || strcmp(text[j], text[i]) != 0);
        if (new)
            cause_say(c, "%s%s at %s:%u", i ? ", or " : "", text[i], source_base_name(c->lines.file), lines[i]);
    }
    if (w->n_found)
        cause_say(c, " the result is right");
    cause_look_first(c, lines, w->n_found);
}

static void mend_kernel(struct mending *w, struct cause *c, struct probe *p, const struct tester_options *o,
                        bool checked)
{
    attempt_rank_lines(c, w->rank);
    if (attempt_open(&w->attempt, p, o, checked) && mends_open(&w->mends, p, c->lines.file, w->rank, ATTEMPT_LINES)) {
        struct probe *tried = &w->mends.probe;
        tried->end = p->end;
        probe_limit(tried, MEND_SECONDS);
        tried->budget = attempt_budget(&w->attempt, &p->geometry);
        w->larger = (struct attempt){ .checked = checked };
        w->o = o;
        mends_set(&w->mends, NULL);
        if (!attempt_is_right(&w->attempt, tried)) {  // otherwise the file is not what was run
            try_all(w);
            say_found(c, w);
        }
    }
    mends_close(&w->mends);
    attempt_close(&w->attempt);
    attempt_close(&w->larger);
}

bool cause_of_mends(struct cause *c, struct probe *p, const struct tester_options *o, bool checked)
{
    struct mending *w = calloc(1, sizeof *w);
    if (w && device_simt(p->dev) && *c->lines.file)
        mend_kernel(w, c, p, o, checked);
    const bool found = w && w->n_found;
    free(w);
    return found;
}
