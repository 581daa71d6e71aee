// See exercise.h.
#include "exercise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/source.h"
#include "device/open.h"
#include "tester/meaning.h"
#include "tester/tester_explain.h"
#include "tester/tester_report.h"

// Warp instructions of a block before the simulated GPU gives up on it: no solution needs a tenth of them.
enum { BUDGET = 4000000 };

enum { SHOWN = 2 };  // findings in full: the others mostly follow from them

enum { RANKS = 4 };

// Which findings are shown before others: wrong barriers, then copies without a wait. Races follow from both. What is
// only advised comes last.
static int rank_of(const struct simt_finding *f)
{
    if (simt_finding_is_advice(f->kind))
        return RANKS - 1;
    if (simt_finding_check(f->kind) == SIMT_SYNCCHECK)
        return 0;
    return simt_finding_class(f->kind) == SIMT_CLASS_COPY ? 1 : 2;
}

// All findings, those first that explain most; to be freed.
static struct simt_finding *by_rank(const struct simt_findings *f, size_t n)
{
    struct simt_finding *all = calloc(n, sizeof *all), *end = all;
    cr_assert(all, "out of memory");
    for (int rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < n; i++)
            if (rank_of(&f->all[i]) == rank)
                *end++ = f->all[i];
    return all;
}

// The kinds and places of those that are not printed in full.
static void print_more(FILE *out, const struct simt_finding *more, size_t n)
{
    char place[SIMT_FINDING_TEXT];
    fprintf(out, "\nand %zu more, elsewhere:\n", n);
    for (size_t i = 0; i < n; i++) {
        simt_finding_place_text(&more[i].here.place, place, sizeof place);
        fprintf(out, "%s: %s\n", simt_finding_name(more[i].kind), place);
    }
}

// What the checks found, as the report prints it, to be freed; NULL where there is nothing. advice may be NULL.
static char *found_text(struct dev *d, const struct simt_advice *advice)
{
    const struct simt_findings *f = dev_findings(d);
    char *text = NULL;
    size_t size;
    const size_t n = f ? f->n + f->n_advice : 0;  // what is only advised is asked for here, too
    if (!n)
        return NULL;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out, "out of memory");
    struct simt_finding *all = by_rank(f, n);
    const struct simt_findings first = { .kernel = f->kernel, .all = all, .n = n < SHOWN ? n : SHOWN };
    simt_findings_print(out, &first, advice);
    if (n > first.n)
        print_more(out, all + first.n, n - first.n);
    free(all);
    fclose(out);
    return text;
}

static struct dev *open_device(enum dev_kind kind)
{
    char error[DEV_ERROR_MAX];
    if (kind == DEV_GPU && getenv("EXERCISE_GRADE"))
        return NULL;  // a grade does not depend on the machine
    struct dev *d = dev_open(kind, error);
    if (!d && kind == DEV_GPU)
        return NULL;
    cr_assert(d, "%s", error);
    dev_set_checks(d, true);
    dev_set_budget(d, BUDGET);
    return d;
}

// --- kernels named gemm ---

struct geometry ex_geometry(void)
{
    struct geometry g;
    char error[DEV_ERROR_MAX];
    cr_assert(geometry_read(EX_PTX, &g, error), "%s", error);
    return g;
}

void ex_needs(const struct geometry *given)
{
    char has[GEOMETRY_TEXT], wanted[GEOMETRY_TEXT];
    const struct geometry g = ex_geometry();
    geometry_text(&g, has);
    geometry_text(given, wanted);
    cr_assert(!strcmp(has, wanted),
              "kernel.cu has %s. The result may well be right with that, but what is counted here is worked out for "
              "%s: set the sizes back to these",
              has, wanted);
}

// What is wrong, what the checks saw of it and what led to it, as a driver says it; to be freed.
static char *cause_text(struct tester_result *r, const struct step *s, const struct tester_options *o, struct dev *d)
{
    const struct geometry g = ex_geometry();
    char *text = NULL;
    size_t size;
    if (r->verdict == TESTER_RIGHT) {
        snprintf(r->what, sizeof r->what, "the result is right by chance: ");
        tester_explain_found(r, s, &g, o, dev_findings(d));
    }
    FILE *out = open_memstream(&text, &size);
    cr_assert(out, "out of memory");
    fprintf(out, "%s\n", r->what);
    report_look(out, r);
    fclose(out);
    return text;
}

// Both texts are freed, and are one then.
static char *with_cause(char *found, char *cause)
{
    char *both;
    cr_assert(asprintf(&both, "%s\n%s", found, cause) > 0);
    free(found);
    free(cause);
    return both;
}

// Whether it is right, with *found NULL; or what is wrong.
static const char *run_gemm(struct dev *d, const struct ex_gemm *gemm, int m, int n, int k, double alpha, double beta,
                            bool sanitize, char **found)
{
    static char error[DEV_ERROR_MAX];
    static struct tester_result r;
    const struct step s = { .name = "gemm", .type = gemm->type, .ptx = EX_PTX, .owner = gemm->owner };
    struct tester_options o = tester_defaults;
    o.m = m;
    o.n = n;
    o.k = k;
    o.alpha = alpha;
    o.beta = beta;
    o.seed = (uint64_t)m * 31 + (uint64_t)n * 7 + (uint64_t)k;
    o.warmup = 0;
    o.iterations = dev_about(d)->simulated ? 0 : 1;  // 0: one launch, which finds C as it was allocated
    o.sanitize = sanitize;
    const struct simt_advice advice = meaning_advice(&o);
    const bool ran = tester_run(d, &s, &o, &r, error);
    *found = ran && sanitize ? found_text(d, &advice) : NULL;
    if (*found && dev_findings(d)->n)
        *found = with_cause(*found, cause_text(&r, &s, &o, d));
    return !ran ? error : r.verdict == TESTER_RIGHT ? NULL : r.what;
}

// A kernel of the learner's; fails where there is none of that name.
static struct dev_kernel *kernel_named(struct dev *d, struct dev_module *m, const char *name)
{
    cr_assert(m, "%s", dev_error(d));
    struct dev_kernel *k = dev_kernel(d, m, name);
    cr_assert(k || !strstr(dev_error(d), "has no kernel"),
              "kernel.cu has no kernel named %s: it begins with extern \"C\" __global__ void %s(", name, name);
    cr_assert(k, "%s", dev_error(d));
    return k;
}

static void right_on(enum dev_kind kind, const struct ex_gemm *gemm, int m, int n, int k, double alpha, double beta)
{
    char *found;
    struct dev *d = open_device(kind);
    if (!d)
        return;
    if (kind == DEV_GPU && dev_needs(d, EX_PTX)) {  // an older GPU, or one that is not Hopper
        dev_close(d);
        return;
    }
    struct dev_module *module = dev_load(d, EX_PTX);
    kernel_named(d, module, "gemm");
    dev_unload(d, module);
    const bool checked = dev_about(d)->simulated;
    const char *wrong = run_gemm(d, gemm, m, n, k, alpha, beta, checked, &found);
    if (checked && wrong && !found)  // once more with poison in C, which tells what was never written
        wrong = run_gemm(d, gemm, m, n, k, alpha, beta, false, &found);
    cr_assert(!found, "M %d, N %d, K %d: the checks of the simulated GPU found this:\n%s", m, n, k, found);
    cr_assert(!wrong, "M %d, N %d, K %d, alpha %g, beta %g on %s: %s", m, n, k, alpha, beta, dev_about(d)->name, wrong);
    dev_close(d);
}

void ex_is_right(const struct ex_gemm *gemm, int m, int n, int k, double alpha, double beta)
{
    right_on(DEV_SIM, gemm, m, n, k, alpha, beta);
    right_on(DEV_GPU, gemm, m, n, k, alpha, beta);
}

const struct profile *ex_count(const struct ex_gemm *gemm, int m, int n, int k)
{
    static struct dev *d;  // keeps the profile
    char *found;
    ex_needs(&gemm->given);
    dev_close(d);
    d = open_device(DEV_SIM);
    const char *wrong = run_gemm(d, gemm, m, n, k, 1, 0, true, &found);
    if (found || wrong)
        cr_skip_test("first the result has to be right");
    const struct profile *p = dev_profile(d);
    cr_assert(p, "no counters");
    return p;
}

void ex_is_right_at_edges(const struct ex_gemm *gemm)
{
    ex_is_right(gemm, gemm->given.bm, gemm->given.bn, gemm->given.bk, 1, 0);
    ex_is_right(gemm, 100, 75, 20, -0.5, 2);
    ex_is_right(gemm, 3, 5, 9, 1, 0);
}

struct ex_shape ex_whole_shape(const struct ex_gemm *gemm, int i)
{
    const struct geometry *g = &gemm->given;
    return i ? (struct ex_shape){ 2 * g->bm, g->bn, 5 * g->bk } : (struct ex_shape){ g->bm, 2 * g->bn, 3 * g->bk };
}

const struct profile *ex_count_whole(const struct ex_gemm *gemm, int i)
{
    const struct ex_shape s = ex_whole_shape(gemm, i);
    return ex_count(gemm, s.m, s.n, s.k);
}

void ex_reads_the_tiles(const struct ex_gemm *gemm)
{
    const int bm = gemm->given.bm, bn = gemm->given.bn, bk = gemm->given.bk;
    const int wanted = bm * bk / 32 + bk * bn / 32;
    for (int i = 0; i < EX_WHOLE_SHAPES; i++) {
        const struct ex_shape s = ex_whole_shape(gemm, i);
        const struct profile *p = ex_count_whole(gemm, i);
        const double tiles = (double)s.m / bm * s.n / bn * s.k / bk;
        cr_assert_leq(
            p->total[METRIC_GLD_REQ], tiles * wanted,
            "right result, but a block makes %.3g requests to A and B for a tile, where the %d of its copies do: "
            "look at the product, which should find all it needs in As and Bs",
            p->total[METRIC_GLD_REQ] / tiles, wanted);
    }
}

void ex_keeps_to_registers(const struct ex_gemm *gemm)
{
    ex_count_whole(gemm, 0);  // is it right?
    char *ptx = file_read(EX_PTX);
    cr_assert(ptx, "%s cannot be read", EX_PTX);
    const char *begin = strstr(ptx, ".entry gemm"), *end = begin ? strstr(begin, "\n}") : NULL;
    int accesses = 0;
    for (const char *p = begin; end && (p = strstr(p, ".local.")) && p < end; p++)
        accesses += !strncmp(p - 2, "ld", 2) || !strncmp(p - 2, "st", 2);
    free(ptx);
    cr_assert_eq(
        accesses, 0,
        "right result, but gemm reads and writes local memory, which is memory, in %d places: an array can be in "
        "registers only if each of its indices is known when it is compiled, and if it is not volatile",
        accesses);
}

uint64_t ex_shared_reads(const struct profile *p)
{
    uint64_t reads = p->total[METRIC_SLD_INST];
    for (size_t i = 0; i < p->n_lines; i++)
        reads += p->lines[i].merged;
    return reads;
}

double ex_reads_for_a_multiply_add(const struct ex_gemm *gemm, int i)
{
    const struct ex_shape s = ex_whole_shape(gemm, i);
    return (double)ex_shared_reads(ex_count_whole(gemm, i)) / ((double)s.m * s.n * s.k / 32);
}

// --- other kernels ---

struct matrix ex_whole_numbers(enum dev_type type, int rows, int cols, uint64_t seed)
{
    struct matrix x = matrix_new(type, rows, cols);
    cr_assert(x.data, "out of memory");
    for (int i = 0; i < rows * cols; i++)
        matrix_set(&x, i / cols, i % cols, (double)(matrix_hash(seed, (uint64_t)i) % 9) - 4);
    return x;
}

struct ex ex_open(enum dev_kind kind)
{
    struct ex x = { .dev = open_device(kind) };
    if (!x.dev)
        cr_skip_test(EX_NO_GPU);
    x.module = dev_load(x.dev, EX_PTX);
    cr_assert(x.module, "%s", dev_error(x.dev));
    return x;
}

void ex_close(struct ex *x)
{
    dev_close(x->dev);
    *x = (struct ex){ 0 };
}

dev_ptr ex_buffer(struct ex *x, const char *name, const void *data, size_t bytes)
{
    dev_ptr p;
    cr_assert(dev_alloc(x->dev, name, bytes, &p), "%s", dev_error(x->dev));
    cr_assert(!data || dev_upload(x->dev, p, data, bytes), "%s", dev_error(x->dev));
    return p;
}

void ex_read(struct ex *x, void *to, dev_ptr from, size_t bytes)
{
    cr_assert(dev_download(x->dev, to, from, bytes), "%s", dev_error(x->dev));
}

const struct profile *ex_launch(struct ex *x, const char *kernel, const struct dev_launch *launch)
{
    struct dev_kernel *k = kernel_named(x->dev, x->module, kernel);
    const bool ran = dev_launch(x->dev, k, launch) && dev_sync(x->dev);
    char *found = found_text(x->dev, NULL);
    cr_assert(!found, "%s: the checks of the simulated GPU found this:\n%s", kernel, found);
    cr_assert(ran, "%s: %s", kernel, dev_error(x->dev));
    return dev_profile(x->dev);
}

struct ex_product ex_product_open(enum dev_kind kind, int m, int n, int k, float beta)
{
    struct ex_product p = { .x = ex_open(kind), .m = m, .n = n, .k = k };
    p.A = ex_whole_numbers(DEV_F32, m, k, 1);
    p.B = ex_whole_numbers(DEV_F32, k, n, 2);
    p.C = ex_whole_numbers(DEV_F32, m, n, 3);
    if (beta == 0)
        matrix_fill_nan(&p.C);
    p.a = ex_buffer(&p.x, "A", p.A.data, matrix_bytes(&p.A));
    p.b = ex_buffer(&p.x, "B", p.B.data, matrix_bytes(&p.B));
    p.c = ex_buffer(&p.x, "C", p.C.data, matrix_bytes(&p.C));
    return p;
}

void ex_product_close(struct ex_product *p)
{
    matrix_free(&p->A);
    matrix_free(&p->B);
    matrix_free(&p->C);
    ex_close(&p->x);
}

// Element (row, col) of alpha * A * B + beta * C.
static double wanted_at(const struct ex_product *p, int row, int col, float alpha, float beta)
{
    double sum = beta == 0 ? 0 : beta * matrix_get(&p->C, row, col);
    for (int i = 0; i < p->k; i++)
        sum += alpha * matrix_get(&p->A, row, i) * matrix_get(&p->B, i, col);
    return sum;
}

void ex_product_is_right(struct ex_product *p, float alpha, float beta, int parts, const char *what)
{
    struct matrix got = matrix_new(DEV_F32, p->m, p->n);
    cr_assert(got.data, "out of memory");
    ex_read(&p->x, got.data, p->c, matrix_bytes(&got));
    for (int row = 0; row < p->m; row++)
        for (int col = 0; col < p->n; col++) {
            const double is = matrix_get(&got, row, col), want = wanted_at(p, row, col, alpha, beta);
            cr_assert(
                !isnan(is),
                "M %d, N %d, K %d, %d %s, alpha %g, beta %g: C[%d][%d] is NaN. When beta is 0, C may hold anything "
                "before, and must not be read",
                p->m, p->n, p->k, parts, what, alpha, beta, row, col);
            cr_assert_eq(is, want,
                         "M %d, N %d, K %d, %d %s, alpha %g, beta %g: C[%d][%d] is wrong: %g, and should be %g", p->m,
                         p->n, p->k, parts, what, alpha, beta, row, col, is, want);
        }
    matrix_free(&got);
}

uint64_t ex_on_lines(const struct profile *p, enum profile_metric metric, const char *text)
{
    char line[512];
    uint64_t sum = 0;
    for (size_t i = 0; i < p->n_lines; i++) {
        source_text(p->lines[i].file, p->lines[i].line, line, sizeof line);
        if (!text || strstr(line, text))
            sum += p->lines[i].metric[metric];
    }
    return sum;
}

const struct profile *ex_relaunch(struct ex *x, const char *kernel, const struct dev_launch *launch)
{
    struct dev_kernel *k = dev_kernel(x->dev, x->module, kernel);
    const bool ran = k && dev_launch(x->dev, k, launch) && dev_sync(x->dev);
    char *found = ran ? found_text(x->dev, NULL) : NULL;
    if (!ran || found)
        cr_skip_test("first the checks of the simulated GPU have to find nothing");
    return dev_profile(x->dev);
}
