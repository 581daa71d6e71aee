// See again.h.
#include "again.h"

#include <stdio.h>
#include <string.h>

#include "base/source.h"
#include "choose.h"
#include "device/sim.h"
#include "index_bits.h"
#include "kernel_lines.h"
#include "probe.h"
#include "simt/simt.h"
#include "tester_explain.h"

// --- The shapes ---

// Bytes of static shared memory that a block can have: where a kernel asks for no dynamic one, its stages have no more.
enum { STATIC_SHARED = 48 * 1024 };
// Multiply-adds that cost little under the checks: some milliseconds, or some ten for one shape. What lies beyond an
// edge is multiplied, too.
enum { CHEAP = 1 << 20, CHEAP_ONCE = 1 << 23 };

static int ceil_div(int a, int b)
{
    return (a - 1) / b + 1;
}

static int depth_of(const struct geometry *g)
{
    return g->bk ? g->bk : 16;
}

// As many as there is room for.
static int stages_of(const struct geometry *g, enum dev_type type)
{
    const double tile = (double)(g->bm + g->bn) * depth_of(g) * (double)type_size(type);
    const int stages = (int)((g->shared ? g->shared : STATIC_SHARED) / tile);
    return g->bk && stages > 1 ? stages : 1;
}

static int at_least_1(int size)
{
    return size > 1 ? size : 1;
}

static struct again_shape shape(const struct geometry *g, int m, int n, int k, int cheap)
{
    const int parts = g->parts > 1 ? g->parts : 1, depth = depth_of(g);
    const double tiles = (double)ceil_div(at_least_1(m), g->bm) * ceil_div(at_least_1(n), g->bn);
    const double work = tiles * g->bm * g->bn * ceil_div(at_least_1(k), depth) * depth;
    return (struct again_shape){
        .geometry = *g,
        .m = at_least_1(m),
        .n = at_least_1(n),
        .k = at_least_1(k),
        .checks = parts == 1 && work <= cheap,
    };
}

// Two tiles each way, one of them with more than half its rows, and rows that are read 16 bytes at a time to their end.
static struct again_shape broad(const struct geometry *g, enum dev_type type)
{
    const int unit = 16 / (int)type_size(type), depth = depth_of(g);
    const int part = (depth / 2 / unit + 1) * unit, rest = part < depth ? part : unit;
    return shape(g, g->bm + g->bm / 2 + 5, g->bn + 3 * unit, rest, CHEAP);
}

// The same with hardly an edge, a row and a column; rows of B and C cannot be read so, and those of A can. Where blocks
// are not too large, it is this one that runs under the checks.
static struct again_shape odd(const struct geometry *g, enum dev_type type)
{
    return shape(g, g->bm + 1, g->bn + 1, broad(g, type).k, CHEAP);
}

// Each block of one multiprocessor walks over two tiles, with as many tiles along K as stages: the second one uses
// every stage again that the first one leaves.
static struct again_shape walk(const struct geometry *g, enum dev_type type)
{
    const struct again_shape one = broad(g, type);
    struct again_shape s =
        shape(g, one.m + (g->blocks - 2) * g->bm, one.n, (stages_of(g, type) - 1) * depth_of(g) + one.k, CHEAP);
    s.sms = 1;
    return s;
}

// Every stage is used twice, and more; rows of A cannot be read 16 bytes at a time, and those of B and C can. Few rows
// and columns of the tile are there: more would show the same. Blocks that walk over tiles come to all stages again
// elsewhere.
static struct again_shape deep(const struct geometry *g, enum dev_type type)
{
    const int unit = 16 / (int)type_size(type), again = g->blocks ? 0 : 3;
    return shape(g, g->bm / 4 + 5, g->bn / 4 + unit, (stages_of(g, type) + again) * depth_of(g) + 1, CHEAP);
}

// The file's other kernels have the same lines: a tile and the edge of the next one is enough.
static struct again_shape other(const struct geometry *g, enum dev_type type)
{
    const int unit = 16 / (int)type_size(type);
    return shape(g, g->bm / 4 + 5, g->bn + 3 * unit, broad(g, type).k, 0);
}

// A tile of as many blocks as can share one, where some have one tile along K, and others two.
static struct again_shape split(const struct geometry *g, enum dev_type type)
{
    struct geometry shared = *g;
    const int unit = 16 / (int)type_size(type);
    shared.parts = CHOOSE_PARTS;
    return shape(&shared, g->bm / 4 + 5, g->bn / 4 + unit, (CHOOSE_PARTS + CHOOSE_PARTS / 2) * depth_of(g) + unit, 0);
}

// Rows, or columns, that 16 bits cannot count. Only the last tile is computed, so before it A, B and C are 0.
static struct again_shape far(const struct geometry *g, enum dev_type type, bool rows)
{
    enum { FAR = 1 << 16, FEW = 5, ALL_TILES = 1 << 20 };  // a block for each tile
    const int unit = 16 / (int)type_size(type), least = unit < depth_of(g) ? unit : 1;
    const int row = rows ? ceil_div(FAR, g->bm) * g->bm : 0, col = rows ? 0 : ceil_div(FAR, g->bn) * g->bn;
    struct again_shape s = shape(g, row + FEW, col + unit, least, 0);
    s.checks = !rows;
    s.sms = ALL_TILES;
    s.first_row = row;
    s.first_col = col;
    return s;
}

size_t again_shapes(const struct geometries *all, enum dev_type type, struct again_shape out[AGAIN_SHAPES])
{
    const struct geometry *first = &all->all[0];
    size_t n = 0;
    out[n++] = first->blocks ? walk(first, type) : broad(first, type);
    out[n++] = odd(first, type);
    out[n++] = deep(first, type);
    out[n++] = far(first, type, true);
    out[n++] = far(first, type, false);
    for (int i = 1; i < all->n; i++)
        out[n++] = all->all[i].split ? split(&all->all[i], type) : other(&all->all[i], type);
    return n;
}

// --- A run ---

static void append(char *text, size_t size, const char *before, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? before : "", more);
}

static void name_shape(const struct again_shape *s, bool checked, char *text, size_t size)
{
    snprintf(text, size, "%d x %d x %d%s%s%s", s->m, s->n, s->k, strcmp(s->geometry.kernel, "gemm") ? " by " : "",
             strcmp(s->geometry.kernel, "gemm") ? s->geometry.kernel : "", checked ? " (checked)" : "");
}

// Whether the launch took place: one that fails is tried under the checks, which say more.
static bool launch(struct probe *p, const struct probe_product *x, struct matrix *C, bool *checked,
                   const struct simt_findings **found)
{
    *found = NULL;
    if (!*checked && probe_run(p, x, C))
        return true;
    *checked = true;
    *found = probe_check(p, x, C);
    return *found || !(probe_over(p) || *p->error);  // a device without checks finds nothing
}

static bool is_far(const struct again_shape *s)
{
    return s->first_row || s->first_col;
}

enum outcome { FAILED, RIGHT, WRONG };

static enum outcome judge(struct tester_result *r, const struct again_shape *s, const struct step *step,
                          const struct tester_options *shaped, const struct tester_seen *seen)
{
    char name[96];
    name_shape(s, shaped->sanitize, name, sizeof name);
    if (seen->verdict->right && !(seen->found && seen->found->n)) {
        if (!is_far(s) && !strcmp(s->geometry.kernel, "gemm"))  // one shape each of the others is not worth a line
            append(r->what, sizeof r->what, ", ", name);
        return RIGHT;
    }
    snprintf(r->what, sizeof r->what, "%s" AGAIN_SCALARS ": ", name);
    if (seen->verdict->right) {
        snprintf(r->what + strlen(r->what), sizeof r->what - strlen(r->what), "the result is right by chance: ");
        tester_explain_found(r, step, &s->geometry, shaped, seen->found);
    } else if (is_far(s) && !seen->found) {
        tester_explain_far(r, step, &s->geometry, shaped, s->first_row, s->first_col);
    } else {
        tester_explain_wrong(r, step, &s->geometry, shaped, seen);
    }
    return WRONG;
}

// *to: the matrix `from` behind that many rows and columns of zeros. False if there is no memory.
static bool put_behind(struct matrix *to, const struct matrix *from, int rows, int cols)
{
    *to = matrix_new(from->type, rows + from->rows, cols + from->cols);
    if (!to->data)
        return false;
    memset(to->data, 0, matrix_bytes(to));
    for (int i = 0; i < from->rows; i++)
        for (int j = 0; j < from->cols; j++)
            matrix_set(to, rows + i, cols + j, matrix_get(from, i, j));
    return true;
}

// The launch of the whole product, of which x is the last tile.
static bool launch_far(struct probe *p, const struct again_shape *s, const struct probe_product *x, struct matrix *C,
                       bool *checked, const struct simt_findings **found)
{
    struct probe_data all = { 0 };
    const struct probe_product whole = { x->alpha, x->beta, &all.A, &all.B, &all.C0 };
    bool ok = put_behind(&all.A, x->A, s->first_row, 0) && put_behind(&all.B, x->B, 0, s->first_col) &&
              put_behind(&all.C0, x->C0, s->first_row, s->first_col);
    all.C = ok ? matrix_new(C->type, s->m, s->n) : all.C;
    ok = ok && all.C.data && launch(p, &whole, &all.C, checked, found);
    for (int i = 0; ok && i < C->rows; i++)
        for (int j = 0; j < C->cols; j++)
            matrix_set(C, i, j, matrix_get(&all.C, s->first_row + i, s->first_col + j));
    probe_release(&all);
    return ok;
}

static enum outcome try_shape(struct tester_result *r, struct probe *p, const struct again_shape *s,
                              const struct step *step, const struct tester_options *o)
{
    struct tester_options shaped = *o;
    struct probe_data data;
    const struct simt_findings *found;
    enum outcome outcome = FAILED;
    shaped.m = s->m - s->first_row, shaped.n = s->n - s->first_col, shaped.k = s->k;
    shaped.alpha = AGAIN_ALPHA, shaped.beta = AGAIN_BETA;
    shaped.sanitize = s->checks || o->sanitize;
    shaped.eager = p->eager = true;
    shaped.sms = p->sms = s->sms;
    p->geometry = s->geometry;
    p->last = is_far(s);
    const struct tester_product product = { shaped.alpha, shaped.beta, &data.A, &data.B, &data.C0, &data.C };
    const struct probe_product x = { shaped.alpha, shaped.beta, &data.A, &data.B, &data.C0 };
    if (probe_fill(&data, p->type, &shaped) && (p->last ? launch_far(p, s, &x, &data.C, &shaped.sanitize, &found)
                                                        : launch(p, &x, &data.C, &shaped.sanitize, &found))) {
        const struct matrix_verdict v = matrix_check(&data.C, shaped.alpha, &data.A, &data.B, shaped.beta, &data.C0);
        const struct tester_seen seen = { &v, &product, found, true };
        shaped.m = s->m, shaped.n = s->n;
        outcome = judge(r, s, step, &shaped, &seen);
    }
    probe_release(&data);
    return outcome;
}

// No shape that is small has an index of more than 32 bits: the PTX tells.
static void advise(struct tester_result *r, struct dev *d, struct dev_module *module, const char *kernel)
{
    const struct simt_kernel *k = (const struct simt_kernel *)dev_kernel(d, module, kernel);
    const char *file = k && device_simt(d) ? kernel_lines_file(k) : NULL;
    unsigned line;
    if (file && index_bits_few(k, file, &line) && line)
        snprintf(r->advice, sizeof r->advice,
                 "%s:%u multiplies an index by M, N or K in 32 bits, too few for a matrix of 2^31 elements: "
                 "size_t(...) makes them 64",
                 source_base_name(file), line);
}

bool again_run(struct tester_result *result, struct dev *d, struct dev_module *module, const struct step *step,
               const struct tester_options *o, char error[DEV_ERROR_MAX])
{
    struct geometries all;
    struct again_shape shapes[AGAIN_SHAPES];
    struct probe p;
    enum outcome outcome = RIGHT;
    *result = (struct tester_result){ .verdict = TESTER_RIGHT };
    if (!geometries_read(step->ptx, &all, error))
        return false;
    probe_borrow(&p, d, module, step->type);
    const size_t n = again_shapes(&all, step->type, shapes);
    for (size_t i = 0; i < n && outcome == RIGHT && !probe_over(&p); i++)
        outcome = try_shape(result, &p, &shapes[i], step, o);
    if (outcome == FAILED && !probe_over(&p))
        return error_set(error, "%s", p.error);
    if (outcome == RIGHT)
        advise(result, d, module, all.all[0].kernel);
    if (outcome == WRONG)
        result->verdict = TESTER_WRONG;
    else if (all.n > 1)
        append(result->what, sizeof result->what, " ", "and by each of its other kernels");
    return true;
}
