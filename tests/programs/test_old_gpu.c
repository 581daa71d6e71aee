// What a GPU that is too old for a kernel leads to: one line that says so, before the GPU is asked. The GPU is the fake
// of fake_device.h; the ladder and its kernels are the real ones.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/open.h"
#include "capture.h"
#include "fake_device.h"
#include "base/file.h"
#include "base/ptx_file.h"
#include "tools/ladder.h"
#include "tools/steps.h"
#include "tester/tester.h"

int ladder_main(int argc, char **argv);  // tools/ladder.c

static struct dev *gpu_of(int cc)
{
    char error[DEV_ERROR_MAX];
    fake.has_gpu = true;
    fake.cc = cc;
    struct dev *d = dev_open(DEV_GPU, error);
    cr_assert(d, "%s", error);
    return d;
}

static bool takes(struct dev *d, const char *ptx)
{
    struct dev_module *m = dev_load_text(d, "mine.ptx", ptx, strlen(ptx));
    if (m)
        dev_unload(d, m);
    return m;
}

Test(old_gpu, is_told_by_the_target_of_the_ptx)
{
    static const struct {
        const char *ptx;
        unsigned sm;
        bool alone;
    } texts[] = {
        { "//\n// .target sm_52\n//\n.version 9.0\n.target sm_75\n.address_size 64\n", 75, false },
        { ".version 8.0\r\n\t.target\tsm_90a, debug\r\n", 90, true },
        { ".version 8.8 .target sm_80", 0, false },
        { ".version 8.8\n.targets sm_80", 0, false },
        { ".target texmode_independent\n.target sm_80", 0, false },
        { ".target sm_99999999999", 0, false },
        { "", 0, false },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool alone;
        cr_expect_eq(ptx_text_target(texts[i].ptx, &alone), texts[i].sm, "text %zu", i);
        cr_expect_eq(alone, texts[i].alone, "text %zu", i);
    }
}

// A step of one's own stands behind the last one of the course, and not under its heading.
Test(ladder, a_part_begins_and_ends_where_its_steps_do)
{
    static const struct {
        enum dev_type type;
        const char *target, *says;
    } rows[] = {
        { DEV_F32, "sm_75", "" },
        { DEV_F64, "sm_75", "" },
        { DEV_F16, "sm_80", "from here on A, B and C are halves, multiplied by tensor cores and summed in float:\n" },
        { DEV_F16, "sm_90a", "from here on the kernels use what Hopper alone has:\n" },
        { DEV_F16, "sm_90a", "" },
        { DEV_F16, "sm_80", "from here on the kernels are not for Hopper alone:\n" },
        { DEV_F32, "sm_75", "from here on A, B and C are no halves:\n" },
    };
    enum { N = sizeof rows / sizeof *rows };
    struct scratch files[N];
    struct step all[N] = { 0 };
    struct ladder l = { .steps = all };
    for (size_t i = 0; i < N; i++) {
        char ptx[64], *said;
        size_t size;
        snprintf(ptx, sizeof ptx, ".version 8.0\n.target %s\n", rows[i].target);
        cr_assert(scratch_open(&files[i], "k.ptx", ptx));
        all[i].type = rows[i].type;
        all[i].ptx = files[i].path;
        l.out = open_memstream(&said, &size);
        ladder_print_part(&l, i);
        fclose(l.out);
        cr_expect_str_eq(said, rows[i].says, "row %zu: %s", i, said);
        free(said);
    }
    for (size_t i = 0; i < N; i++)
        scratch_close(&files[i]);
}

static const char *said_by(void (*print)(const struct ladder *), struct ladder *l)
{
    static char *said;
    size_t size;
    free(said);
    l->out = open_memstream(&said, &size);
    print(l);
    fclose(l->out);
    return said;
}

// Which steps that are is made up by tests/meson.build.
Test(ladder, names_the_steps_that_the_build_left_out_with_the_reason)
{
    struct ladder l = { 0 };
    cr_expect_str_eq(said_by(ladder_print_left_out, &l),
                     "\nNot in this build: 97_made_up, 98_made_up:\nthey need another compiler.\n");
}

static void print_next(const struct ladder *l)
{
    ladder_print_next(l, "build/course");
}

Test(ladder, says_what_comes_next_and_where_a_mistake_is_looked_for)
{
    struct row *rows = calloc(n_steps, sizeof *rows);
    struct ladder l = { .rows = rows };
    cr_assert(rows);
    for (size_t i = 0; i < n_steps; i++)
        rows[i] = (struct row){ .step = steps[i], .ran = true, .result = { .verdict = TESTER_RIGHT } };
    const char *said = said_by(print_next, &l);
    cr_expect(strstr(said, "build/course run 1 --profile ") && strstr(said, "build/course next ") &&
                  !strstr(said, "wrong"),
              "%s", said);
    rows[3].result.verdict = TESTER_WRONG;
    said = said_by(print_next, &l);
    cr_expect(strstr(said, "build/course run 03 --device=sim --sanitize  what is wrong with 03_thread_tile_1d"), "%s",
              said);
    char path[LADDER_PATH];
    cr_expect(!ladder_course(path), "there is no course beside this test: %s", path);
    free(rows);
}

// How long the simulation takes says nothing of a kernel: better kernels may take longer.
Test(ladder, shows_the_time_of_the_simulation_only_if_it_is_asked_for)
{
    char why[DEV_ERROR_MAX];
    struct row row = {
        .step = steps[0], .ran = true, .counted = true, .result = { .verdict = TESTER_RIGHT, .ms = 123 }
    };
    struct ladder l = {
        .dev = dev_open(DEV_SIM, why), .rows = &row, .steps = calloc(n_steps, sizeof *l.steps), .o = tester_defaults
    };
    cr_assert(l.dev && l.steps, "%s", why);
    for (size_t i = 0; i < n_steps; i++)
        l.steps[i] = *steps[i];
    l.o.m = l.o.n = l.o.k = 64;
    for (int timed = 0; timed < 2; timed++) {
        size_t size;
        char *said;
        l.timed = timed;
        l.out = open_memstream(&said, &size);
        ladder_print_head(&l);
        ladder_print_row(&l, &row);
        fclose(l.out);
        cr_expect(!strstr(said, " time ") == !timed && !strstr(said, "123 ms") == !timed, "%s", said);
        cr_expect(strstr(said, " inst ") && strstr(said, " right "), "%s", said);
        free(said);
    }
    free(l.steps);
    dev_close(l.dev);
}

Test(old_gpu, gets_no_kernel_for_a_newer_one)
{
    struct dev *d = gpu_of(75);
    cr_expect(takes(d, ".target sm_75\n") && takes(d, ".target sm_70\n") && takes(d, ".version 8.0\n"), "%s",
              dev_error(d));
    cr_expect(!takes(d, ".target sm_80\n"));
    cr_expect_str_eq(dev_error(d),
                     "mine.ptx needs an sm_80 or newer, and Fake H100 is an sm_75: --device=sim runs it on "
                     "the simulated GPU");
    dev_close(d);
    d = gpu_of(100);
    cr_expect(takes(d, ".target sm_90\n") && !takes(d, ".target sm_90a\n"));
    cr_expect(strstr(dev_error(d), "needs an sm_90, and Fake H100 is an sm_100"), "%s", dev_error(d));
    dev_close(d);
    d = gpu_of(0);
    cr_expect(takes(d, ".target sm_80\n"), "a GPU that does not say what it is: %s", dev_error(d));
    dev_close(d);
    char error[DEV_ERROR_MAX];
    d = dev_open(DEV_SIM, error);
    cr_expect(takes(d, ".target sm_100\n"), "the simulated GPU: %s", dev_error(d));
    dev_close(d);
}

static struct output climb(int cc)
{
    static char *argv[] = { "ladder", "--size", "64", "--warmup", "0", "--iterations", "1", NULL };
    fake.has_gpu = true;
    fake.cc = cc;
    capture_begin();
    const int status = ladder_main(sizeof argv / sizeof *argv - 1, argv);
    struct output *o = capture_end();
    o->status = status;
    return *o;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
        n++;
    return n;
}

// Of each step a row, and of them all one line.
Test(old_gpu, gets_one_line_from_the_ladder)
{
    static const char line[] =
        "Fake H100 is an sm_70: --device=sim runs the steps that need more on the simulated GPU.\n";
    const struct output o = climb(70);
    cr_expect(o.status == 2 && !o.err[0], "exit status %d: %s", o.status, o.err);
    cr_expect_eq(count(o.out, "needs sm_"), n_steps, "%s", o.out);
    cr_expect(strstr(o.out, "01_naive                 f32   needs sm_75\n"), "%s", o.out);
    cr_expect(strstr(o.out, "12_mma_swizzle           f16   needs sm_80\n"), "%s", o.out);
    cr_expect_eq(count(o.out, line), 1, "%s", o.out);
    cr_expect_eq(fake.launches, 0);
}

// The fake cannot multiply halves, so its launches fail: those steps are rows of their own, and still lines below.
Test(old_gpu, runs_what_it_can)
{
    fake.fault = FAKE_LAUNCH_FAILS;
    const struct output o = climb(75);
    cr_expect_eq(o.status, 2);
    cr_expect(strstr(o.out, "10_wmma_padding          f16   FAILED\n"), "%s", o.out);
    cr_expect(strstr(o.out, "12_mma_swizzle           f16   needs sm_80\n"), "%s", o.out);
    cr_expect_eq(count(o.out, "out-of-bounds read\n"), n_steps - count(o.out, " needs sm_"), "%s", o.out);
    cr_expect_eq(count(o.out, "Fake H100 is an sm_75: "), 1, "%s", o.out);
}
