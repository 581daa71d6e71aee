// Which number of the kernel is wrong: another one in its place makes the result right (trial.h). See cause.h.
//
// A result that is right for one number of many, in each of some thousand elements, is no chance; but two lines may do
// for one another, as where a value is made and where it is used, so all that are found are told, as far as they are
// few.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/source.h"
#include "cause.h"
#include "cause_size.h"
#include "device/sim.h"
#include "kernel_text.h"
#include "probe.h"
#include "trial.h"

enum { SAMPLE = 32, FOUND = 4, FAR = 3 };
#define TRIAL_SECONDS 2.0

struct trying {
    struct trials *t;
    struct probe_data x;
    struct probe_product product;
    bool checked;  // what is wrong is that the checks find something
    int row[SAMPLE], col[SAMPLE];
    double want[SAMPLE];  // of C there
    struct trial found[FOUND];
    unsigned n_found;
    unsigned char rank[TRIAL_LINES];  // of each line: how far it is from those that the cause sends to; FAR: farther
    unsigned sites_of[TRIAL_LINES];   // of each line
};

// --- What is executed ---

struct executed {
    unsigned char *ran;
    uint32_t n;
    uint64_t now;
    const struct probe *p;
};

static bool note(void *context, enum simt_event event, const struct simt_look *l)
{
    enum { EVERY = 4096 };
    struct executed *e = context;
    const uint32_t number = simt_look_instruction(l);
    if (event == SIMT_STEP && number < e->n)
        e->ran[number] = 1;
    return ++e->now % EVERY || !probe_over(e->p);
}

static uint64_t tiles_of(const struct matrix *C, const struct geometry *g)
{
    const int across = (C->cols - 1) / g->bn + 1, down = (C->rows - 1) / g->bm + 1;
    return (uint64_t)across * (uint64_t)down;
}

// By instruction, in the first block and in that at C's last edges; NULL: it is not known. The caller frees it.
static unsigned char *executed(struct probe *p, const struct probe_product *x, struct matrix *C, bool checked)
{
    const struct geometry *g = &p->geometry;
    const struct simt_kernel *k = (const struct simt_kernel *)dev_kernel(p->dev, p->module, g->kernel);
    struct executed e = { .n = k ? simt_kernel_about(k).instructions : 0, .p = p };
    const uint64_t last = g->blocks || g->parts > 1 ? 0 : tiles_of(C, g) - 1;
    const uint64_t blocks[] = { 0, last };
    e.ran = calloc(e.n + 1, 1);
    for (int i = 0; e.ran && i < (blocks[1] ? 2 : 1); i++) {
        struct probe_watch w = { .checked = checked };
        w.watch = (struct simt_watch){ .block = blocks[i], .warp = SIMT_ALL_WARPS, .tell = note, .context = &e };
        probe_look(p, x, C, &w);  // it fails where the kernel does
    }
    return e.ran;
}

// --- Right or wrong ---

static void take_sample(struct trying *t, const struct tester_options *o)
{
    for (int i = 0; i < SAMPLE; i++) {
        t->row[i] = (int)(matrix_hash(1, (uint64_t)i) % (uint64_t)o->m);
        t->col[i] = (int)(matrix_hash(2, (uint64_t)i) % (uint64_t)o->n);
        double sum = 0;
        for (int k = 0; k < o->k; k++)
            sum += matrix_get(&t->x.A, t->row[i], k) * matrix_get(&t->x.B, k, t->col[i]);
        t->want[i] = o->alpha * sum + (o->beta != 0 ? o->beta * matrix_get(&t->x.C0, t->row[i], t->col[i]) : 0);
    }
}

static bool sample_fits(const struct trying *t)
{
    for (int i = 0; i < SAMPLE; i++)
        if (!(fabs(matrix_get(&t->x.C, t->row[i], t->col[i]) - t->want[i]) <= 0.01 * (1 + fabs(t->want[i]))))
            return false;
    return true;
}

// Whether the kernel has computed no more products than it takes, with what lies beyond the edges: one that reads zeros
// there, tile for tile, is no cure.
static bool takes_no_more(const struct trying *t, const struct probe *p)
{
    const struct geometry *g = &p->geometry;
    const struct profile *ran = dev_profile(p->dev);
    const int depth = g->bk ? g->bk : 1, k = (t->x.A.cols - 1) / depth * depth + depth;
    const double most = 2.0 * (double)tiles_of(&t->x.C, g) * g->bm * g->bn * (k + depth + 4);
    return !ran || (double)ran->total[METRIC_FLOP] <= most;
}

// checked: the checks have to find nothing.
static bool is_right(struct trying *t, struct probe *p, bool checked)
{
    const struct probe_product *r = &t->product;
    const struct simt_findings *found;
    if (!probe_run(p, r, &t->x.C) || !sample_fits(t) || !takes_no_more(t, p) ||
        !matrix_check(&t->x.C, r->alpha, r->A, r->B, r->beta, r->C0).right)
        return false;
    return !checked || ((found = probe_check(p, r, &t->x.C)) && !found->n);
}

// --- Other numbers ---

static void try_one(struct trying *t, unsigned site, enum trial_what what, long is)
{
    const struct trial x = { site, what, is };
    if (t->n_found == FOUND || !t->t->sites[site].says || probe_over(&t->t->probe))
        return;
    if (trials_set(t->t, &x, true) && is_right(t, &t->t->probe, true))
        t->found[t->n_found++] = x;
    trials_set(t->t, &x, false);
}

static void try_shifts(struct trying *t, unsigned site, long was)
{
    enum { MOST = 6, END = 16 };
    for (int by = 1; by <= MOST; by++)
        for (int sign = -1; sign <= 1; sign += 2)
            if (was + sign * by >= 0 && was + sign * by < END)
                try_one(t, site, TRIAL_NUMBER, was + sign * by);
}

// Of tid % 32 the compiler makes tid & 31, or tid - (tid & -32).
static void try_masks(struct trying *t, unsigned site, long was)
{
    enum { END = 12 };
    const bool low = was > 0 && !(was & (was + 1)), high = was < 0 && !(-was & (-was - 1));
    for (long bit = 1; bit < 1 << END && (low || high); bit *= 2)
        if ((low ? bit - 1 : -bit) != was)
            try_one(t, site, TRIAL_NUMBER, low ? bit - 1 : -bit);
    if (low || high)
        return;
    try_one(t, site, TRIAL_NUMBER, was & (was - 1));
    for (int by = 1; by <= 3; by++) {
        try_one(t, site, TRIAL_NUMBER, was << by);
        try_one(t, site, TRIAL_NUMBER, was >> by);
    }
}

static void try_factors(struct trying *t, unsigned site, long was)
{
    enum { MOST = 16 };
    for (long by = 2; by <= MOST; by *= 2) {
        try_one(t, site, TRIAL_NUMBER, was * by);
        if (was % by == 0)
            try_one(t, site, TRIAL_NUMBER, was / by);
    }
}

static void try_sums(struct trying *t, unsigned site, long was)
{
    try_one(t, site, TRIAL_NUMBER, was + 1);
    try_one(t, site, TRIAL_NUMBER, was - 1);
    const int tile = t->t->probe.geometry.bk;
    if (tile && t->t->sites[site].use == TRIAL_COMPARES) {
        try_one(t, site, TRIAL_NUMBER, was + tile);
        try_one(t, site, TRIAL_NUMBER, was - tile);
    }
    if (was) {
        try_one(t, site, TRIAL_NUMBER, 0);
        try_one(t, site, TRIAL_NUMBER, -was);
        try_one(t, site, TRIAL_NUMBER, 2 * was);
    }
}

// First what a block or its warps, all of them or all but a warpgroup, would be.
static void try_counts(struct trying *t, unsigned site, long was)
{
    enum { MOST = 8, GROUP = 128, WARP = 32 };
    const long threads = t->t->probe.geometry.threads, others = threads - GROUP;
    const long likely[] = { threads, others, threads / WARP, others / WARP, threads / GROUP, others / GROUP };
    const unsigned before = t->n_found;
    for (size_t i = 0; i < sizeof likely / sizeof *likely && t->n_found == before; i++)
        if (likely[i] > 0 && likely[i] != was)
            try_one(t, site, TRIAL_NUMBER, likely[i]);
    for (long is = 1; is <= MOST && t->n_found == before; is++)
        if (is != was)
            try_one(t, site, TRIAL_NUMBER, is);
}

static void try_number(struct trying *t, unsigned site)
{
    const struct trial_site *s = &t->t->sites[site];
    switch (s->use) {
    case TRIAL_SHIFTS_UP:
    case TRIAL_SHIFTS_DOWN:
        try_shifts(t, site, s->was);
        break;
    case TRIAL_MASKS:
        try_masks(t, site, s->was);
        break;
    case TRIAL_MULTIPLIES:
    case TRIAL_EXPECTS:
        try_factors(t, site, s->was);
        break;
    case TRIAL_ADDS:
    case TRIAL_COMPARES:
    case TRIAL_SETS:
        try_sums(t, site, s->was);
        break;
    case TRIAL_COUNTS:
        try_counts(t, site, s->was);
        break;
    case TRIAL_WAITS:
    case TRIAL_PARITY:
        try_one(t, site, TRIAL_NUMBER, s->was + 1);
        break;
    case TRIAL_NONE:
        break;
    }
}

static void try_sizes(struct trying *t, unsigned site)
{
    const int size = t->t->sites[site].size;
    for (int by = 1; size >= 0 && by < 3; by++)
        try_one(t, site, TRIAL_SIZE, (size + by) % 3);
}

static void try_result(struct trying *t, unsigned site)
{
    enum { MOST = 6 };
    const struct geometry *g = &t->t->probe.geometry;
    if (!t->t->sites[site].result || !t->t->sites[site].ran)
        return;
    for (int by = 1; by <= MOST; by++)
        try_one(t, site, TRIAL_UP, by);
    for (int by = 1; by <= MOST; by++)
        try_one(t, site, TRIAL_DOWN, by);
    for (int sign = -1; sign <= 1; sign += 2) {
        try_one(t, site, TRIAL_MORE, sign);
        try_one(t, site, TRIAL_ROWS, sign * g->bm);
        try_one(t, site, TRIAL_COLUMNS, sign * g->bn);
    }
}

// --- In words ---

static void say_number(struct cause *c, const struct trial_site *s, long is)
{
    const long was = s->was;
    char text[256];
    source_text(c->lines.file, s->says, text, sizeof text);
    if ((s->use == TRIAL_SETS || s->use == TRIAL_COMPARES || s->use == TRIAL_ADDS) && !strncmp(text, "for", 3)) {
        cause_say(c, "another number of rounds of the loop");
        return;
    }
    switch (s->use) {
    case TRIAL_SHIFTS_UP:
        cause_say(c, "* %ld in place of * %ld", 1L << is, 1L << was);
        break;
    case TRIAL_SHIFTS_DOWN:
        cause_say(c, "/ %ld in place of / %ld", 1L << is, 1L << was);
        break;
    case TRIAL_MASKS:
        if (was > 0 && !(was & (was + 1)))
            cause_say(c, "%% %ld in place of %% %ld", is + 1, was + 1);
        else if (was < 0)
            cause_say(c, "%ld in place of %ld", -is, -was);
        else
            cause_say(c, "other bits of the index");
        break;
    case TRIAL_COMPARES:
        cause_say(c, "what is compared, %ld %s,", labs(is - was), is > was ? "less" : "more");
        break;
    case TRIAL_WAITS:
        cause_say(c, "a wait for all groups");
        break;
    case TRIAL_PARITY:
        cause_say(c, "the other parity");
        break;
    default:
        cause_say(c, "%ld in place of %ld", is, was);
        break;
    }
}

static void say_trial(struct cause *c, const struct trial_site *s, const struct trial *x)
{
    switch (x->what) {
    case TRIAL_NUMBER:
        say_number(c, s, x->is);
        break;
    case TRIAL_SIZE:
        cause_say(c, "%c in place of %c", "MNK"[x->is], "MNK"[s->size]);
        break;
    case TRIAL_UP:
        cause_say(c, "%ld times what is computed", 1L << x->is);
        break;
    case TRIAL_DOWN:
        cause_say(c, "what is computed, divided by %ld,", 1L << x->is);
        break;
    case TRIAL_MORE:
        cause_say(c, "%s 1", x->is > 0 ? "+" : "-");
        break;
    default:
        cause_say(c, "%s the block's first %s", x->is > 0 ? "+" : "-", x->what == TRIAL_ROWS ? "row" : "column");
        break;
    }
}

static bool is_result(const struct trial *x)
{
    return x->what != TRIAL_NUMBER && x->what != TRIAL_SIZE;
}

// One for each line; where a number that stands in the kernel is found, that alone.
static void say_found(struct cause *c, const struct trying *t)
{
    unsigned said[FOUND], n = 0;
    for (unsigned i = 0; i < t->n_found; i++) {
        const struct trial_site *s = &t->t->sites[t->found[i].site];
        bool new = !is_result(&t->found[i]) || is_result(&t->found[0]);
        for (unsigned j = 0; j < n; j++)
            new = new &&said[j] != s->says;
        if (!new)
            continue;
        cause_say(c, "%s", n ? ", or with " : "with ");
        say_trial(c, s, &t->found[i]);
        cause_say(c, " at %s:%u", source_base_name(c->lines.file), s->says);
        said[n++] = s->says;
    }
    if (n)
        cause_say(c, " the result is right");
    cause_look_first(c, said, n);
}

// --- In which order ---

// The lines that make what lines of that rank have come next.
static void rank_makers(struct trying *t, const struct cause *c, unsigned char from)
{
    unsigned makers[KERNEL_MAKERS];
    for (unsigned line = 1; line < TRIAL_LINES; line++) {
        const unsigned n = t->rank[line] == from ? kernel_text_makers(c->lines.file, line, makers) : 0;
        for (unsigned i = 0; i < n; i++)
            if (makers[i] < TRIAL_LINES && t->rank[makers[i]] == FAR)
                t->rank[makers[i]] = (unsigned char)(from + 1);
    }
}

static void rank_lines(struct trying *t, const struct cause *c)
{
    memset(t->rank, FAR, sizeof t->rank);
    for (int i = 0; i < CAUSE_LINES && c->look[i]; i++)
        t->rank[c->look[i] % TRIAL_LINES] = 0;
    for (unsigned char from = 0; from + 1 < FAR; from++)
        rank_makers(t, c, from);
    for (unsigned i = 0; i < t->t->n_sites; i++)
        t->sites_of[t->t->sites[i].says % TRIAL_LINES] += t->t->sites[i].group == i;
}

// What counts and waits is near, wherever it stands.
static unsigned char rank_of(const struct trying *t, unsigned site)
{
    const struct trial_site *s = &t->t->sites[site];
    return s->use >= TRIAL_COUNTS && s->use < TRIAL_NONE ? FAR - 1 : t->rank[s->says % TRIAL_LINES];
}

static void try_numbers_of(struct trying *t, unsigned rank)
{
    for (unsigned i = 0; i < t->t->n_sites; i++)
        if (rank_of(t, i) == rank && t->t->sites[i].group == i) {
            try_number(t, i);
            try_sizes(t, i);
        }
}

// Of lines that compute much, no result is likelier than another.
static void try_results_of(struct trying *t, unsigned rank)
{
    enum { MANY = 16 };
    for (unsigned i = 0; i < t->t->n_sites; i++)
        if (rank_of(t, i) == rank && t->t->sites[i].group == i && t->sites_of[t->t->sites[i].says % TRIAL_LINES] < MANY)
            try_result(t, i);
}

// First the numbers of the nearest lines; then what these lines compute; then the numbers of the others.
static void try_all(struct trying *t, const struct cause *c)
{
    rank_lines(t, c);
    for (unsigned rank = 0; rank < FAR; rank++)
        try_numbers_of(t, rank);
    for (unsigned rank = 0; rank < FAR; rank++)
        try_results_of(t, rank);
    try_numbers_of(t, FAR);
}

// --- All of it ---

// Whether the kernel, as it is now, is right or wrong at that size.
enum outcome { UNKNOWN, RIGHT, WRONG };

static enum outcome outcome_at(struct trying *t, struct probe *p, const struct tester_options *o, const struct size *s)
{
    struct tester_options sized = *o;
    sized.m = s->m, sized.n = s->n, sized.k = s->k;
    probe_release(&t->x);
    if (size_cost(s) > SIZE_COST || !probe_fill(&t->x, p->type, &sized))
        return UNKNOWN;
    t->product = (struct probe_product){ o->alpha, o->beta, &t->x.A, &t->x.B, o->beta != 0 ? &t->x.C0 : NULL };
    take_sample(t, &sized);
    return is_right(t, p, t->checked) ? RIGHT : WRONG;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

// The smallest of some sizes at which the kernel is wrong. False: it is so at none that costs little.
static bool choose_size(struct trying *t, struct probe *p, const struct tester_options *o)
{
    const struct geometry *g = &p->geometry;
    const struct size whole = { o->m, o->n, o->k }, part = size_small(&whole, g);
    const struct size tiny = { least(g->bm / 2 + 8, part.m), least(g->bn / 2 + 16, part.n),
                               least(3 * (g->bk ? g->bk : 8), part.k) };
    const struct size *const sizes[] = { &tiny, &part, &whole };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (outcome_at(t, p, o, sizes[i]) == WRONG)
            return true;
    return false;
}

// Four times what a kernel as kernels are takes.
static uint64_t budget(const struct trying *t)
{
    const struct geometry *g = &t->t->probe.geometry;
    return (uint64_t)g->bm * (uint64_t)g->bn * (uint64_t)t->x.A.cols / 4 * (g->blocks ? tiles_of(&t->x.C, g) : 1) +
           (1 << 16);
}

// What is found at a small size must not be wrong at the others.
static void confirm(struct trying *t, const struct tester_options *o)
{
    const struct size whole = { o->m, o->n, o->k }, part = size_small(&whole, &t->t->probe.geometry);
    unsigned n = 0;
    for (unsigned i = 0; i < t->n_found; i++) {
        const struct trial x = t->found[i];
        trials_set(t->t, &x, true);
        if (outcome_at(t, &t->t->probe, o, &part) != WRONG && outcome_at(t, &t->t->probe, o, &whole) != WRONG)
            t->found[n++] = x;
        trials_set(t->t, &x, false);
    }
    t->n_found = n;
}

static void try_kernel(struct trying *t, struct cause *c, struct probe *p, const struct tester_options *o)
{
    unsigned char *ran = choose_size(t, p, o) ? executed(p, &t->product, &t->x.C, t->checked) : NULL;
    if (ran && trials_open(t->t, p, c->lines.file, ran)) {
        struct probe *trial = &t->t->probe;
        probe_limit(trial, TRIAL_SECONDS);
        trial->budget = budget(t);
        try_all(t, c);
        probe_limit(trial, TRIAL_SECONDS);
        trial->budget = 0;
        confirm(t, o);
        say_found(c, t);
    }
    trials_close(t->t);
    free(ran);
}

bool cause_of_trials(struct cause *c, struct probe *p, const struct tester_options *o, bool checked)
{
    struct trying *t = calloc(1, sizeof *t);
    bool found = false;
    const bool can = device_simt(p->dev) && *c->lines.file;
    if (t && can && (t->t = calloc(1, sizeof *t->t))) {
        t->checked = checked;
        try_kernel(t, c, p, o);
        found = t->n_found;
        probe_release(&t->x);
        free(t->t);
    }
    free(t);
    return found;
}
