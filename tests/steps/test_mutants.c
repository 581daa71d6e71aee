// Mutants of one step's kernel (mutate.h): the checks of the simulated GPU must find every one that changes what the
// kernel means, and name the line; a wrong stage, box or descriptor may show in the result alone. The sample (sample.h)
// has one mutant of each rule. The step is that of step_case.h. Run by itself, without --tap, it lists the mutants;
// with MUTANTS=EXPRESSION in the environment, it tries only those whose printed difference fits that (extended) regular
// expression.
#include <criterion/criterion.h>

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "found.h"
#include "mutate_judge.h"
#include "sample.h"
#include "shapes.h"
#include "step_case.h"
#include "device/open.h"
#include "tester/gemm.h"
#include "tester/tester.h"

// --- building ---

// The kernels that are run: gemm, and of a file with several the first one whose blocks share a tile. For a mutant of
// the wgmma() of some columns, those whose tile has so many.
enum { KERNELS = 2 };
static struct geometry run_kernels[KERNELS];
static int n_kernels;

static struct geometries kernels_of_step(void)
{
    struct geometries all;
    char error[DEV_ERROR_MAX];
    cr_assert(geometries_read(STEP.ptx, &all, error), "%s", error);
    return all;
}

static void choose_kernels(int columns)
{
    const struct geometries all = kernels_of_step();
    bool chosen[KERNELS] = { false };
    n_kernels = 1;
    run_kernels[0] = all.all[0];
    for (int i = 1; i < all.n; i++) {
        const int which = all.all[i].split ? 1 : 0;
        const bool fits = columns && all.all[i].bn == columns && !chosen[which];
        if (fits || (which && n_kernels == 1))
            run_kernels[which] = all.all[i];
        chosen[which] |= fits;
        n_kernels = which ? KERNELS : n_kernels;
    }
}

// The columns of the wgmma() in a header that the mutant changes; 0: of none, or of one that gemm calls.
static int columns_of(const struct mutants *s, const struct mutant *m)
{
    static const char begin[] = "void wgmma(float (&d)[";
    const char *function = NULL, *at = s->code + m->edits[0].from;
    for (const char *p = s->code; (p = strstr(p, begin)) && p < at; p++)
        function = p + strlen(begin);
    if (!function || memmem(function, (size_t)(at - function), "\n}", 2) || m->edits[0].from >= s->kernel)
        return 0;
    const int columns = 2 * atoi(function);
    return columns == kernels_of_step().all[0].bn ? 0 : columns;
}

// Leaves out the mutants that no kernel of the step calls.
static void leave_out_uncalled(struct mutants *s)
{
    const struct geometries all = kernels_of_step();
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        const int columns = columns_of(s, &s->all[i]);
        bool called = !columns;
        for (int k = 0; k < all.n; k++)
            called |= all.all[k].bn == columns;
        if (called)
            s->all[kept++] = s->all[i];
    }
    s->n = kept;
}

// Keeps those with these columns.
static void keep_columns(struct mutants *s, int columns)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        if (columns_of(s, &s->all[i]) == columns)
            s->all[kept++] = s->all[i];
    s->n = kept;
}

// The other kernels of the file are left out: nvcc takes long for each.
static void leave_out_others(struct mutants *s)
{
    static const char makes[] = "\nKERNEL(";
    for (char *p = s->text; (p = strstr(p, makes)); p++) {
        char *name = p + strlen(makes);
        const size_t length = strcspn(name, ",");
        bool keep = false;
        for (int i = 0; i < n_kernels; i++)
            keep |= strlen(run_kernels[i].kernel) == length && !strncmp(name, run_kernels[i].kernel, length);
        if (!keep)
            memset(p + 1, ' ', strcspn(p + 1, "\n"));
    }
}

// All in one file, which takes less time than a file each: kernel gemm_0 is the original, gemm_1 the first mutant. The
// kernel that packs for them (gemm.h) is pack, pack_1, ...
static void write_batch(const struct mutants *s, const char *path)
{
    FILE *out = fopen(path, "w");
    cr_assert(out, "%s", path);
    for (const char *p = s->text; (p = strstr(p, "#include")); p++)  // outside of the namespaces
        fprintf(out, "%.*s\n", (int)strcspn(p, "\n"), p);
    for (size_t i = 0; i <= s->n; i++) {
        for (int k = 0; k < n_kernels; k++)
            fprintf(out, "#define %s %s_%zu\n", run_kernels[k].kernel, run_kernels[k].kernel, i);
        if (i)
            fprintf(out, "#define pack pack_%zu\n", i);
        fprintf(out, "namespace mutant_%zu\n{\n", i);
        mutants_print(out, s, i ? &s->all[i - 1] : NULL);
        for (int k = 0; k < n_kernels; k++)
            fprintf(out, "%s\n#undef %s\n", k ? "" : "}", run_kernels[k].kernel);
        fprintf(out, "#undef pack\n#undef KERNEL\n");
    }
    cr_assert(!fclose(out));
}

static struct dev_module *build(struct dev *d, const struct mutants *s)
{
    char folder[] = "/tmp/mutants_XXXXXX", cu[64], ptx[64], *said;
    cr_assert(mkdtemp(folder), "%s", folder);
    snprintf(cu, sizeof cu, "%s/mutants.cu", folder);
    snprintf(ptx, sizeof ptx, "%s/mutants.ptx", folder);
    write_batch(s, cu);
    cr_assert(step_compile(cu, ptx, &said), "%s:\n%s", cu, said);
    free(said);
    struct dev_module *m = dev_load(d, ptx);
    cr_assert(m, "%s", dev_error(d));
    cr_expect(!unlink(cu) && !unlink(ptx) && !rmdir(folder), "%s", folder);
    return m;
}

// gemm_<number> of the module, or another kernel of that number, and what packs for it.
struct mutant_kernel {
    struct dev_module *module;
    size_t number;
    char pack[32];
};

static struct mutant_kernel kernel(struct dev_module *m, size_t number)
{
    struct mutant_kernel k = { .module = m, .number = number };
    snprintf(k.pack, sizeof k.pack, number ? "pack_%zu" : "pack", number);
    return k;
}

// --- running ---

enum { SHARED = 2, SHAPES = 8 + SHARED };

static bool in_groups;  // the tiles of C are computed in groups of rows

// The last ones are for blocks that share a tile, the one before for groups of rows of tiles.
static size_t n_shapes(void)
{
    return !in_groups ? SHAPES - SHARED - 1 : n_kernels == 1 ? SHAPES - SHARED : SHAPES;
}

struct data {
    int m, n, k;
    double beta;
    int parts;                            // blocks that share a tile; 0: the kernel is gemm
    struct matrix A, B, C0, C, original;  // C0: NaNs where beta = 0
    dev_ptr a, b;
};

static void fill(struct dev *d, struct data *x, uint64_t seed)
{
    x->A = matrix_new(STEP.type, x->m, x->k);
    x->B = matrix_new(STEP.type, x->k, x->n);
    x->C0 = matrix_new(STEP.type, x->m, x->n);
    x->C = matrix_new(STEP.type, x->m, x->n);
    x->original = matrix_new(STEP.type, x->m, x->n);
    matrix_fill_random(&x->A, seed);
    matrix_fill_random(&x->B, seed + 1);
    if (x->beta != 0)
        matrix_fill_random(&x->C0, seed + 2);
    else
        matrix_fill_nan(&x->C0);
    cr_assert(dev_alloc(d, "A", matrix_bytes(&x->A), &x->a) && dev_alloc(d, "B", matrix_bytes(&x->B), &x->b) &&
                  dev_upload(d, x->a, x->A.data, matrix_bytes(&x->A)) &&
                  dev_upload(d, x->b, x->B.data, matrix_bytes(&x->B)),
              "%s", dev_error(d));
}

// Blocks both ways, and several tiles along K.
static void fill_all(struct dev *d, struct data all[SHAPES])
{
    const struct geometry g = run_kernels[0], *shared = &run_kernels[1];
    const int m = g.bm, n = g.bn, k = g.bk ? g.bk : 8;
    const int wide = STEP.type == DEV_F16 ? 8 : 4;  // elements in 16 bytes
    const int deep = g.box ? 10 : 6;                // more tiles than stages; tensor maps: all stages more than twice
    const struct data shapes[SHAPES] = {
        { .m = m + 2, .n = n + wide, .k = deep * k },                       // rows of 16 bytes
        { .m = m / 2 - 3, .n = n / 2 - 1, .k = k + 1, .beta = 0.5 },        // one block, all odd
        { .m = m - 2, .n = n, .k = 2 * k + wide, .beta = 0.5 },             // the same, K ends inside a tile; C is read
        { .m = m + 2, .n = n + wide, .k = k + 1 },                          // those of A are odd
        { .m = m + 2, .n = n + 1, .k = k + wide },                          // those of B are odd
        { .m = m, .n = n, .k = wide },                                      // K ends inside the first tile
        { .m = m, .n = n + 1, .k = wide },                                  // the same, rows of B and C are odd
        { .m = 17 * m + 2, .n = n + wide, .k = wide },                      // more than a group of rows of tiles
        { .m = shared->bm + 2, .n = shared->bn, .k = 20 * k, .parts = 2 },  // more tiles than stages for each part
        { .m = shared->bm - 3, .n = shared->bn - 1, .k = 3 * k + 1, .beta = 0.5, .parts = 4 },
    };
    for (size_t i = 0; i < n_shapes(); i++) {
        all[i] = shapes[i];
        fill(d, &all[i], 3 * i);
    }
}

static void free_all(struct data all[SHAPES])
{
    for (size_t i = 0; i < n_shapes(); i++) {
        struct matrix *own[] = { &all[i].A, &all[i].B, &all[i].C0, &all[i].C, &all[i].original };
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            matrix_free(own[k]);
    }
}

// C as the kernel leaves it. Checked and with beta = 0, nobody has written C before; otherwise it holds C0. False where
// the kernel failed.
static bool run(struct dev *d, const struct mutant_kernel *k, struct data *x, bool checked)
{
    struct gemm call = { .m = x->m, .n = x->n, .k = x->k, .alpha = 1, .beta = x->beta, .A = x->a, .B = x->b };
    char error[DEV_ERROR_MAX];
    char name[GEOMETRY_KERNEL + 8];
    struct geometry g = run_kernels[x->parts ? 1 : 0];
    g.parts = x->parts;
    snprintf(name, sizeof name, "%s_%zu", g.kernel, k->number);
    const size_t bytes = matrix_bytes(&x->C);
    const bool fresh = checked && x->beta == 0;
    dev_set_checks(d, checked);
    cr_assert(dev_alloc(d, "C", bytes, &call.C) && (fresh || dev_upload(d, call.C, x->C0.data, bytes)), "%s",
              dev_error(d));
    cr_assert(gemm_open(&call, d, k->module, name, STEP.type, &g, error), "%s", error);
    if (call.pack)
        call.pack = dev_kernel(d, k->module, k->pack);
    const bool ran = gemm_queue(&call, d) && dev_sync(d);
    gemm_close(&call, d);
    cr_assert(dev_download(d, x->C.data, call.C, bytes) && dev_free(d, call.C), "%s", dev_error(d));
    return ran;
}

// The kernel itself: without findings, and what it leaves in C.
static void run_original(struct dev *d, const struct mutant_kernel *k, struct data all[SHAPES])
{
    for (struct data *x = all; x < all + n_shapes(); x++) {
        cr_assert(run(d, k, x, true), "%s", dev_error(d));
        cr_assert_eq(dev_findings(d)->n + dev_findings(d)->n_advice, 0, "%d x %d x %d: %s", x->m, x->n, x->k,
                     found_first(dev_findings(d)));
        cr_assert(run(d, k, x, false), "%s", dev_error(d));
        memcpy(x->original.data, x->C.data, matrix_bytes(&x->C));
    }
}

// --- judging ---

static const char *const verdict_names[] = {
    "equivalent",
    "THE SAME BITS, and no reason for it in mutate_same.def",
    "MISSED",
    "FOUND ELSEWHERE",
    "found by its result",
    "found where it shows",
    "found",
};

// clang may fold what nvcc does not.
static bool needs_reason(void)
{
    return BY_NVCC && atoi(STEP.name) >= MUTANT_SAME_FIRST;
}

// The best finding on any shape is printed to notes; where none fits, all are.
static enum verdict judge(struct dev *d, const struct mutants *s, const struct mutant *m, const struct mutant_kernel *k,
                          struct data all[SHAPES], FILE *notes)
{
    enum verdict best = MISSED;
    for (struct data *x = all; x < all + n_shapes() && best != FOUND; x++) {
        cr_assert(run(d, k, x, true), "%s", dev_error(d));
        const struct simt_findings *f = dev_findings(d);
        for (size_t i = 0; i < f->n + f->n_advice; i++) {
            const enum verdict v = mutant_fits(s, m, &f->all[i]);
            char text[SIMT_FINDING_TEXT];
            simt_finding_text(&f->all[i], text, sizeof text);
            if (v > best || v == ELSEWHERE)
                fprintf(notes, "  %s: %s\n", simt_finding_name(f->all[i].kind), text);
            best = v > best ? v : best;
        }
    }
    if (best != MISSED || m->rule == MUTANT_BARRIER)
        return best;
    for (struct data *x = all; x < all + n_shapes(); x++)
        if (!run(d, k, x, false) || memcmp(x->C.data, x->original.data, matrix_bytes(&x->C)))
            return mutant_in_result(s, m) ? WRONG : MISSED;
    return mutant_same(s, m, atoi(STEP.name)) || !needs_reason() ? EQUIVALENT : UNKNOWN;
}

static enum verdict report(struct dev *d, const struct mutants *s, const struct mutant *m,
                           const struct mutant_kernel *k, struct data all[SHAPES])
{
    char *notes;
    size_t size;
    FILE *memory = open_memstream(&notes, &size);
    cr_assert(memory);
    const enum verdict v = judge(d, s, m, k, all, memory);
    mutants_diff(memory, s, m);
    const char *why = v == EQUIVALENT ? mutant_same(s, m, atoi(STEP.name)) : NULL;
    if (why)
        fprintf(memory, "  %s\n", why);
    fclose(memory);
    fprintf(stderr, "%s\n%s", verdict_names[v], notes);
    cr_expect(v != UNKNOWN && v != MISSED && v != ELSEWHERE, "%s\n%s", verdict_names[v], notes);
    free(notes);
    return v;
}

// Whether nothing may be left of a sum without an initialiser: clang folds it, unless tensor cores add it up.
static bool folded(void)
{
    return !BY_NVCC && STEP.type != DEV_F16;
}

// Keeps those of the sample, or those of the rest; how many there were before.
static size_t keep(struct mutants *s, bool sample)
{
    size_t rules[MUTANT_RULES] = { 0 }, places[MUTANT_RULES] = { 0 }, kept = 0;
    const size_t all = s->n;
    for (size_t i = 0; i < s->n; i++)
        rules[s->all[i].rule]++;
    cr_expect(rules[MUTANT_GUARD] && (rules[MUTANT_INITIALISER] || rules[MUTANT_WGMMA]) &&
                  (!geometry_of(&STEP).bk || (rules[MUTANT_BARRIER] && rules[MUTANT_INDEX])),
              "a rule fits nothing");
    cr_expect(rules[MUTANT_COPY] || rules[MUTANT_TMA] || !strstr(s->text + s->kernel, " commit();"),
              "no mutant of its copies");
    cr_expect((rules[MUTANT_ROLE] || !strstr(s->text + s->kernel, "more_registers<")) &&
                  (rules[MUTANT_PLACE] || !strstr(s->text + s->kernel, "auto place = ")) &&
                  (rules[MUTANT_STORE] || !strstr(s->text + s->kernel, "tma_store(")),
              "no mutant of its roles, its order of tiles, or its stores");
    cr_expect(!geometry_of(&STEP).box || (rules[MUTANT_MBARRIER] && rules[MUTANT_TMA] && rules[MUTANT_STAGE]),
              "no mutant of its tensor maps");
    for (size_t i = 0; i < s->n; i++) {
        const enum mutant_rule rule = s->all[i].rule;
        if (rule == MUTANT_INITIALISER && folded())
            continue;
        if (sample_has(STEP.name, places[rule]++, rules[rule]) == sample)
            s->all[kept++] = s->all[i];
    }
    s->n = kept;
    return all;
}

// Keeps those that MUTANTS asks for.
static void keep_asked(struct mutants *s)
{
    const char *asked = getenv("MUTANTS");
    regex_t wanted;
    size_t kept = 0;
    if (!asked)
        return;
    cr_assert(!regcomp(&wanted, asked, REG_EXTENDED | REG_NOSUB), "MUTANTS=%s is no regular expression", asked);
    for (size_t i = 0; i < s->n; i++) {
        char *diff;
        size_t size;
        FILE *out = open_memstream(&diff, &size);
        cr_assert(out);
        mutants_diff(out, s, &s->all[i]);
        fclose(out);
        if (!regexec(&wanted, diff, 0, NULL, 0))
            s->all[kept++] = s->all[i];
        free(diff);
    }
    s->n = kept;
    regfree(&wanted);
}

static void try_all(struct mutants *s)
{
    char error[DEV_ERROR_MAX];
    struct data all[SHAPES];
    size_t counts[VERDICTS] = { 0 };
    struct dev *d = dev_open(DEV_SIM, error);
    cr_assert(d, "%s", error);
    struct dev_module *module = build(d, s);
    in_groups = strstr(s->code + s->kernel, " GROUP = ");
    fill_all(d, all);
    struct mutant_kernel k = kernel(module, 0);
    run_original(d, &k, all);
    for (size_t i = 0; i < s->n; i++) {
        k = kernel(module, i + 1);
        counts[report(d, s, &s->all[i], &k, all)]++;
    }
    fprintf(stderr, "%s: %zu mutants, %zu found (%zu where it shows, %zu by its result), %zu equivalent\n", STEP.name,
            s->n, counts[FOUND] + counts[SHOWS] + counts[WRONG], counts[SHOWS], counts[WRONG], counts[EQUIVALENT]);
    free_all(all);
    dev_close(d);
}

// All of the sample, or of the rest; those of other wgmma() in a file of their own. Returns how many there are in all.
static size_t try_columns(bool sample)
{
    const struct geometries kernels = kernels_of_step();
    size_t tried = 0;
    for (int i = -1; i < kernels.n; i++) {
        const int columns = i < 0 ? 0 : kernels.all[i].bn;
        bool before = false;
        for (int k = 0; k < i; k++)
            before |= kernels.all[k].bn == columns;
        struct mutants s = mutants_read(COMMON_FOLDER, step_kernel());
        choose_kernels(columns);
        leave_out_others(&s);
        leave_out_uncalled(&s);
        keep(&s, sample);
        keep_columns(&s, columns);
        keep_asked(&s);
        if (s.n && !before)
            try_all(&s);
        tried += before ? 0 : s.n;
        mutants_free(&s);
    }
    return tried;
}

Test(mutants, of_the_sample_are_found)
{
    if (!sample_brief_step(STEP.name, 3))
        cr_skip_test("the mutants of this step wait for meson test");
    const size_t tried = try_columns(true), least = (geometry_of(&STEP).bk ? 4 : 2) - folded();
    cr_assert(getenv("MUTANTS") || tried >= least, "%zu mutants", tried);
}

Test(mutants, of_the_rest_are_found)
{
    struct mutants s = mutants_read(COMMON_FOLDER, step_kernel());
    leave_out_uncalled(&s);
    const size_t all = keep(&s, false), rest = s.n;
    mutants_free(&s);
    if (sample_asked() != SAMPLE_ALL)
        cr_skip_test("%zu of %zu mutants wait for meson test --setup long", rest, all);
    try_columns(false);
}

Test(mutants, that_change_nothing_are_there)
{
    struct mutants s = mutants_read(COMMON_FOLDER, step_kernel());
    const char *unused = mutant_same_unused(&s, atoi(STEP.name));
    cr_expect(!unused, "mutate_same.def has '%s', and no mutant of %s makes it", unused, STEP.name);
    mutants_free(&s);
}
