// The simulated GPU against a real one, in one process: results bit for bit, and counters where Nsight Compute (ncu) is
// on the PATH and may read them. Skipped without a GPU. The step is that of step_case.h.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "copies.h"
#include "file_text.h"
#include "base/profile.h"
#include "base/program.h"
#include "tools/tables.h"
#include "shapes.h"
#include "step_case.h"
#include "tester/gemm.h"

// --- bits ---

static void upload(struct dev *d, const char *name, const struct matrix *m, dev_ptr *p)
{
    cr_assert(dev_alloc(d, name, matrix_bytes(m), p) && dev_upload(d, *p, m->data, matrix_bytes(m)), "%s",
              dev_error(d));
}

// C as the device leaves it.
static void product(struct dev *d, struct shape s, double alpha, const struct matrix *A, const struct matrix *B,
                    double beta, struct matrix *C)
{
    struct gemm call = { .m = s.m, .n = s.n, .k = s.k, .alpha = alpha, .beta = beta };
    char error[DEV_ERROR_MAX];
    const struct geometry g = geometry_of(&STEP);
    upload(d, "A", A, &call.A);
    upload(d, "B", B, &call.B);
    upload(d, "C", C, &call.C);
    struct dev_module *m = dev_load(d, STEP.ptx);
    cr_assert(m, "%s", dev_error(d));
    cr_assert(gemm_open(&call, d, m, g.kernel, STEP.type, &g, error), "%s", error);
    cr_assert(gemm_queue(&call, d) && dev_sync(d) && dev_download(d, C->data, call.C, matrix_bytes(C)), "%s",
              dev_error(d));
    gemm_close(&call, d);
    dev_unload(d, m);
    cr_assert(dev_free(d, call.A) && dev_free(d, call.B) && dev_free(d, call.C), "%s", dev_error(d));
}

Test(agreement, bits)
{
    static const struct shape shapes[] = {
        { 1, 1, 1 }, { 256, 256, 256 }, { 130, 258, 70 }, { 33, 65, 9 }, { 61, 67, 71 }, { 129, 127, 1 },
    };
    struct dev *gpu = device_or_skip(DEV_GPU, &STEP), *sim = device_or_skip(DEV_SIM, &STEP);
    const unsigned sm = (unsigned)(10 * dev_about(gpu)->cc_major + dev_about(gpu)->cc_minor);
    if (STEP.type == DEV_F16 && (sm < 80 || sm > 90))
        cr_skip_test("how the tensor cores of an sm_%u round is not modelled", sm);
    dev_set_tensor_cores(sim, sm);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct shape s = shapes[i];
        struct matrix A = matrix_new(STEP.type, s.m, s.k), B = matrix_new(STEP.type, s.k, s.n);
        struct matrix C[2] = { matrix_new(STEP.type, s.m, s.n), matrix_new(STEP.type, s.m, s.n) };
        matrix_fill_random(&A, 1 + i);
        matrix_fill_random(&B, 100 + i);
        for (int j = 0; j < 2; j++) {
            matrix_fill_random(&C[j], 200 + i);
            product(j ? gpu : sim, s, 1.25, &A, &B, i % 2 ? -0.75 : 0, &C[j]);
        }
        for (int row = 0; row < s.m; row++)
            for (int col = 0; col < s.n; col++) {
                size_t at = ((size_t)row * (size_t)s.n + (size_t)col) * type_size(STEP.type);
                cr_assert(!memcmp((char *)C[0].data + at, (char *)C[1].data + at, type_size(STEP.type)),
                          "%d x %d x %d: C[%d][%d] is %.17g simulated, %.17g on the GPU", s.m, s.n, s.k, row, col,
                          matrix_get(&C[0], row, col), matrix_get(&C[1], row, col));
            }
        matrix_free(&A);
        matrix_free(&B);
        matrix_free(&C[0]);
        matrix_free(&C[1]);
    }
    dev_close(gpu);
    dev_close(sim);
}

// --- counters ---

enum { SIZE = 256, COLUMNS = 4096 };
#define SIZE_TEXT "256"

// What must be equal. The others are shown: of l1tex__data_bank_conflicts Nsight Compute's figure includes waiting for
// the pipe, which changes from run to run; instructions are the PTX's here and the machine code's there; and a few
// HFMA2.MMA, with which ptxas sets registers to constants, count as tensor-core instructions.
static bool must_agree(enum profile_metric m, uint64_t simulated)
{
    const char *name = profile_metric_name(m);
    if (m == METRIC_HMMA)
        return simulated > 0;
    return m != METRIC_INST && m != METRIC_THREAD_INST && m != METRIC_DIVERGED &&
           strncmp(name, "l1tex__data_bank_conflicts", 26);
}

static bool is_ncu_metric(enum profile_metric m)
{
    return strncmp(profile_metric_name(m), "simt__", 6);
}

// The next cell of a line of CSV whose cells may be in quotes; *line moves on behind it. NULL after the last one.
static char *cell(char **line)
{
    char *from = *line, *end;
    if (!from)
        return NULL;
    bool quoted = *from == '"';
    end = quoted ? strchr(++from, '"') : strpbrk(from, ",\n");
    char *next = end && quoted ? end + 1 : end;
    if (end)
        *end = '\0';
    *line = next && (quoted ? *next == ',' : next < from + strlen(from) + 1) ? next + 1 : NULL;
    return from;
}

// The column headed name in a table of CSV whose first line is head and third (the second has units) is values.
static bool value_of(const char *head, const char *values, const char *name, uint64_t *value)
{
    char *heads = strdup(head), *cells = strdup(values), *h = heads, *c = cells, *title, *text;
    bool found = false;
    while (!found && (title = cell(&h)) && (text = cell(&c))) {
        if (strcmp(title, name))
            continue;
        char digits[64];
        size_t n = 0;
        for (; *text && n < sizeof digits - 1; text++)
            if (*text != ',')
                digits[n++] = *text;
        digits[n] = '\0';
        *value = (uint64_t)strtod(digits, NULL);
        found = n > 0;
    }
    free(heads);
    free(cells);
    return found;
}

// Runs ncu with these arguments; what it said, which the caller frees. Skips the test where it may not look.
static char *run_ncu(const char *const *argv)
{
    char *said;
    int status;
    if (!program_run((char *const *)argv, &said, &status))
        cr_skip_test("ncu is not on the PATH");
    if (strstr(said, "ERR_NVGPUCTRPERM")) {
        free(said);
        cr_skip_test("ncu may not read this GPU's counters");
    }
    cr_assert_eq(status, 0, "ncu failed:\n%s", said);
    return said;
}

// What ncu says of the driver's one launch: its table of counters, and its page of the machine code.
static void ask_ncu(char **raw, char **page)
{
    char metrics[8192] = "", report[] = "/tmp/agreement_XXXXXX", file[64];
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (!is_ncu_metric((enum profile_metric)m))
            continue;
        size_t n = strlen(metrics);
        snprintf(metrics + n, sizeof metrics - n, "%s%s", n ? "," : "", profile_metric_name((enum profile_metric)m));
    }
    cr_assert(mkdtemp(report), "no folder %s", report);
    snprintf(file, sizeof file, "%s/r.ncu-rep", report);
    const char *measure[] = { "ncu",
                              "--clock-control",
                              "none",
                              "--launch-count",
                              "1",
                              "--section",
                              "SourceCounters",
                              "--metrics",
                              metrics,
                              "-f",
                              "-o",
                              file,
                              step_driver(),
                              "--device",
                              "gpu",
                              "--size",
                              SIZE_TEXT,
                              "--warmup",
                              "0",
                              "--iterations",
                              "1",
                              "--no-check",
                              NULL };
    const char *table[] = { "ncu", "--import", file, "--page", "raw", "--csv", "--print-units", "base", NULL };
    const char *source[] = { "ncu", "--import", file, "--page", "source", "--csv", NULL };
    free(run_ncu(measure));
    *raw = run_ncu(table);
    *page = run_ncu(source);
    unlink(file);
    rmdir(report);
}

// ptx: in place of the step's own, or NULL.
static struct dev *simulate(const char *ptx)
{
    char error[DEV_ERROR_MAX];
    struct tester_result r;
    struct tester_options o = tester_defaults;
    struct step step = STEP;
    struct dev *d = device_or_skip(DEV_SIM, &STEP);
    o.m = o.n = o.k = SIZE;
    o.check = false;
    step.ptx = ptx ? ptx : step.ptx;
    cr_assert(tester_run(d, &step, &o, &r, error), "%s", error);
    return d;
}

// What ncu counts of the kernel where the simulated GPU is right, by metric: see copies.h.
static void simulate_as_ncu(const char *ptx, const char *page, uint64_t total[METRIC_COUNT])
{
    const struct copies copies = page ? copies_read(page) : (struct copies){ 0 };
    struct dev *d = simulate(ptx);
    memcpy(total, dev_profile(d)->total, METRIC_COUNT * sizeof *total);
    dev_close(d);
    if (!copies.n_zeros)
        return;
    d = simulate(copies_edit(ptx, &copies));
    for (int m = 0; m < METRIC_COUNT; m++)
        if (copies_matter(profile_metric_name((enum profile_metric)m)))
            total[m] = dev_profile(d)->total[m];
    dev_close(d);
}

Test(agreement, counters, .fini = copies_forget)
{
    dev_close(device_or_skip(DEV_GPU, &STEP));
    char *said, *page;
    ask_ncu(&said, &page);
    char *head = strstr(said, "\"ID\""), *units = head ? strchr(head, '\n') : NULL;
    char *values = units ? strchr(units + 1, '\n') : NULL;
    cr_assert(values, "no table in:\n%s", said);
    uint64_t total[METRIC_COUNT];
    simulate_as_ncu(STEP.ptx, page, total);
    int differ = 0;
    *units = '\0';
    for (int m = 0; m < METRIC_COUNT; m++) {
        uint64_t real = 0;
        const char *name = profile_metric_name((enum profile_metric)m);
        if (!is_ncu_metric((enum profile_metric)m) || (!value_of(head, values + 1, name, &real) && total[m] == 0))
            continue;
        const bool equal = real == total[m], must = must_agree((enum profile_metric)m, total[m]);
        fprintf(stderr, "# %s, %s, %" PRIu64 ", %" PRIu64 "%s\n", STEP.name, name, real, total[m],
                equal  ? ""
                : must ? ", DIFFERS"
                       : ", differs as it may");
        differ += must && !equal;
    }
    cr_assert_eq(differ, 0, "%d counters differ from Nsight Compute's: see the lines above", differ);
    free(said);
    free(page);
}

// ncu leaves the column out if the kernel does not use shared memory.
Test(agreement, a_page_without_wavefronts_has_no_copies)
{
    const struct copies c = copies_read("\"Address\",\"Source\",\"# Samples\"\n\"1\",\"LDG.E R1, [R2]\",\"3\"\n");
    cr_expect_eq(c.n, 0);
    cr_expect_eq(c.waves, 0);
}

// Compares what an H200 counted of a kernel with what is counted here; how many counters were compared, or -1 if the
// table does not have the kernel.
static int compare_counters(const char *name, const uint64_t total[METRIC_COUNT])
{
    char error[DEV_ERROR_MAX];
    struct counter *list;
    size_t n;
    int compared = 0, known = 0;
    cr_assert(counters_read(COUNTERS, &list, &n, error), "%s", error);
    for (const struct counter *c = list; c < list + n; c++) {
        const uint64_t real = (uint64_t)c->value;
        if (strcmp(c->step, name))
            continue;
        known++;
        for (int m = 0; m < METRIC_COUNT; m++) {
            if (strcmp(c->name, profile_metric_name((enum profile_metric)m)) ||
                !must_agree((enum profile_metric)m, total[m]))
                continue;
            cr_expect_eq(total[m], real, "%s: %s is %" PRIu64 ", an H200 counted %" PRIu64, c->step, c->name, total[m],
                         real);
            compared++;
        }
    }
    free(list);
    return known ? compared : -1;
}

// Which lanes of a copy ptxas puts first is its own choice: of step 13 ncu's page of the machine code was kept, too.
Test(agreement, counters_of_an_h200, .fini = copies_forget)
{
    NEEDS_NVCC_13;
    uint64_t total[METRIC_COUNT];
    char *page = strcmp(STEP.name, "13_async_copy") ? NULL : file_text(COPIES_13);
    simulate_as_ncu(STEP.ptx, page, total);
    const int compared = compare_counters(STEP.name, total);
    if (compared < 0)
        cr_skip_test("%s was not measured: it is not in %s", STEP.name, COUNTERS);
    cr_assert_geq(compared, 15, "only %d counters of %s in %s", compared, STEP.name, COUNTERS);
    if (page)
        cr_expect_eq(total[METRIC_LDGSTS_WAVE], copies_read(page).waves);
    free(page);
}
