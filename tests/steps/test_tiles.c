// A learner changes one number in a kernel.cu, builds and runs: every step stays right. Copies of one step's kernel
// with another BM, BN or BK go through the compiler and the tester on the simulated GPU, with its checks. Sizes that
// cannot work end in one clear line. The sample (sample.h) changes one of the three. The step is that of step_case.h.
#include <criterion/criterion.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "found.h"
#include "file_text.h"
#include "kernel_copy.h"
#include "sample.h"
#include "shapes.h"
#include "step_case.h"
#include "device/open.h"

TestSuite(tiles, .init = copy_folder_make, .fini = copy_folder_remove, .timeout = 120);

// Where the value of a constant begins: "constexpr int BM = 128, BN = 128;" has two. NULL: there is none.
static const char *find_value(const char *text, const char *name)
{
    char wanted[16];
    snprintf(wanted, sizeof wanted, " %s = ", name);
    const char *at = strstr(text, wanted);
    return at && isdigit((unsigned char)at[strlen(wanted)]) ? at + strlen(wanted) : NULL;
}

static const char *value_of(const char *text, const char *name)
{
    const char *at = find_value(text, name);
    cr_assert(at, "%s has no '%s = ' and a number", step_kernel(), name);
    return at;
}

// A file with a kernel for each tile has no such constant: skips the test.
static void needs_one_tile(const char *name)
{
    struct geometries all;
    char error[DEV_ERROR_MAX], *text = file_text(step_kernel());
    const bool has = find_value(text, name);
    free(text);
    cr_assert(geometries_read(STEP.ptx, &all, error), "%s", error);
    if (has || all.n == 1)
        return;
    copy_folder_remove();  // a skipped test does not end with .fini
    cr_skip_test("%s has %d kernels, each with a %s of its own", STEP.name, all.n, name);
}

static int constant(const char *name)
{
    char *text = file_text(step_kernel());
    const int value = atoi(value_of(text, name));
    free(text);
    return value;
}

// The kernel with that constant alone changed. Returns whether the compiler takes it; *said is what it says, to be
// freed.
static bool compile(const char *name, int value, char **said)
{
    char *text = file_text(step_kernel());
    const char *at = value_of(text, name);
    FILE *out = fopen(copy_cu, "w");
    cr_assert(out && fprintf(out, "%.*s%d%s", (int)(at - text), text, value, at + strspn(at, "0123456789")) > 0);
    cr_assert(!fclose(out));
    free(text);
    return step_compile(copy_cu, copy_ptx, said);
}

// --- runs ---

// C = alpha * A * B + beta * C with the copy; true if it is right and the checks find nothing, else why says what is
// wrong. *ran: whether it could be run at all.
static bool try_shape(struct shape s, double beta, bool *ran, char why[DEV_ERROR_MAX])
{
    struct step step = STEP;
    struct tester_options o = tester_defaults;
    struct tester_result r;
    struct dev *d = dev_open(DEV_SIM, why);
    cr_assert(d, "%s", why);
    step.ptx = copy_ptx;
    o.m = s.m, o.n = s.n, o.k = s.k;
    o.beta = beta;
    o.sanitize = true;
    dev_set_checks(d, true);
    *ran = tester_run(d, &step, &o, &r, why);
    const struct simt_findings *f = *ran ? dev_findings(d) : NULL;
    const bool right = *ran && f && !f->n && r.verdict == TESTER_RIGHT;
    if (*ran && !right)
        snprintf(why, DEV_ERROR_MAX, "M %d, N %d, K %d: %.900s", s.m, s.n, s.k, f && f->n ? found_first(f) : r.what);
    dev_close(d);
    return right;
}

// Past the edges of one block, with rows of odd length and with rows of whole 16 bytes.
static bool try_copy(bool *ran, char why[DEV_ERROR_MAX])
{
    struct geometry g;
    *ran = false;
    if (!geometry_read(copy_ptx, &g, why))
        return false;
    const int depth = g.bk ? g.bk : 8;
    return try_shape((struct shape){ g.bm + 3, g.bn - 5, 2 * depth + 1 }, 0, ran, why) &&
           try_shape((struct shape){ g.bm - 1, g.bn + 8, 3 * depth + 8 }, 0.5, ran, why);
}

// Whether the first thing that the compiler complains about is a static_assert, whose text says why: "static assertion
// failed with" (nvcc), "static_assert failed due to" (clang 14), "static assertion failed due to" (clang 16).
static bool is_clear(const char *said)
{
    const char *first = strstr(said, "error: ");
    return first && (!strncmp(first, "error: static assertion failed ", 31) ||
                     !strncmp(first, "error: static_assert failed ", 28));
}

// Half or twice as much: one of them has to work. If tiles come in boxes, a tile of A is one box wide, so that BK is
// fixed, and BN may be as wide as the instruction; then a static_assert has to say so of both.
static void halve_or_double(const char *name)
{
    char notes[2 * DEV_ERROR_MAX + 256] = "";
    const int was = constant(name);
    bool works = false, fixed = geometry_of(&STEP).box && strcmp(name, "BM");
    for (int i = 0; i < 2 && !works; i++) {
        char *said, why[DEV_ERROR_MAX] = "";
        bool ran = false;
        const int value = i ? 2 * was : was / 2;
        const bool compiled = compile(name, value, &said);
        works = compiled && try_copy(&ran, why);
        cr_assert(!ran || works, "%s with %s = %d alone: %s", STEP.name, name, value, why);
        fixed &= !compiled && is_clear(said);
        const size_t n = strlen(notes);
        snprintf(notes + n, sizeof notes - n, "\n%s = %d: %.900s", name, value, compiled ? why : said);
        free(said);
    }
    cr_assert(works || fixed, "%s can have neither half its %s nor twice as much:%s", STEP.name, name, notes);
}

static void try_another(const char *name, size_t place)
{
    const bool has_k = geometry_of(&STEP).bk;
    if (!strcmp(name, "BK") && !has_k) {
        copy_folder_remove();  // a skipped test does not end with .fini
        cr_skip_test("%s has no tiles along K", STEP.name);
    }
    const bool sample = sample_has(STEP.name, place, has_k ? 3 : 2) && sample_brief_step(STEP.name, 2);
    if (sample_asked() != SAMPLE_ALL && !sample) {
        copy_folder_remove();
        cr_skip_test("another %s waits for meson test --setup long", name);
    }
    needs_one_tile(name);
    halve_or_double(name);
}

Test(tiles, another_BM_alone_is_right)
{
    try_another("BM", 0);
}

Test(tiles, another_BN_alone_is_right)
{
    try_another("BN", 1);
}

Test(tiles, another_BK_alone_is_right)
{
    try_another("BK", 2);
}

static int lines_of(const char *text)
{
    int n = 1;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

// Three rows, or far too many: it works, or the compiler says which static_assert it breaks, or the tester why it
// cannot work.
Test(tiles, that_cannot_work_end_in_one_clear_line)
{
    needs_one_tile("BM");
    if (!sample_brief_step(STEP.name, 1)) {
        copy_folder_remove();
        cr_skip_test("waits for meson test");
    }
    const int values[] = { 3, 64 * constant("BM") };
    int refused = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *said, why[DEV_ERROR_MAX] = "";
        bool ran = false;
        if (!compile("BM", values[i], &said)) {
            cr_expect(is_clear(said), "%s with BM = %d: no static_assert says why before all else:\n%s", STEP.name,
                      values[i], said);
            refused++;
        } else if (!try_copy(&ran, why)) {
            cr_expect(!ran && lines_of(why) == 1, "%s with BM = %d: %s", STEP.name, values[i], why);
            refused++;
        }
        fprintf(stderr, "%s, BM = %d: %s%s", STEP.name, values[i], *why ? why : said, *why ? "\n" : "");
        free(said);
    }
    cr_assert(refused, "every BM works");
}
