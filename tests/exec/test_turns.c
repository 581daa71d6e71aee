// Blocks that wait for one another: kernels/turns.cu on every device. On the simulated GPU nothing depends on the
// number of host threads, waiting is cheap, and a wait that never ends is called so (the suite endless).
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"
#include "sample.h"

enum { THREADS = 64, MOST = 300 * THREADS, WORDS = 1024 };

static uint32_t in[MOST], out[MOST + WORDS];

struct setup {
    unsigned blocks, jobs;
    bool checks;
};

// Runs the kernel; out has its threads' words, then WORDS more. False where it ends in an error.
static bool run(struct dev *d, const char *name, struct setup s)
{
    const size_t bytes = ((size_t)s.blocks * THREADS + WORDS) * sizeof *out;
    dev_ptr to = 0, from = 0;
    for (uint32_t i = 0; i < MOST; i++)
        in[i] = (i * 2654435761u >> 20) % 500 + 1;
    memset(out, 0, sizeof out);
    dev_set_jobs(d, s.jobs);
    dev_set_checks(d, s.checks);
    struct dev_module *m = dev_load(d, TURNS_PTX);
    struct dev_kernel *k = m ? dev_kernel(d, m, name) : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from) };
    struct dev_launch launch = { .grid = { s.blocks }, .block = { THREADS }, .args = args, .n_args = 2 };
    return k && dev_alloc(d, "out", bytes, &to) && dev_alloc(d, "in", sizeof in, &from) &&
           dev_upload(d, from, in, sizeof in) && dev_upload(d, to, out, bytes) && dev_launch(d, k, &launch) &&
           dev_sync(d) && dev_download(d, out, to, bytes);
}

// On every device, out[i] == want(i, blocks) for all i below blocks * THREADS + words.
static void expect(const char *name, unsigned blocks, uint32_t words, uint32_t (*want)(uint32_t i, uint32_t blocks))
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices_from(d, 80, false);
    for (size_t k = 0; k < devices; k++) {
        cr_expect(run(d[k], name, (struct setup){ blocks, 0, false }), "%s: %s", dev_about(d[k])->name,
                  dev_error(d[k]));
        for (uint32_t i = 0; i < blocks * THREADS + words; i++)
            cr_assert_eq(out[i], want(i, blocks), "%s: %s[%u] is %u, not %u", dev_about(d[k])->name, name, i, out[i],
                         want(i, blocks));
        dev_close(d[k]);
    }
}

static uint32_t sum_of(uint32_t from, uint32_t to)
{
    uint32_t sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += in[i];
    return sum;
}

static uint32_t down(uint32_t i, uint32_t blocks)
{
    return sum_of(i / THREADS, blocks);
}

static uint32_t locked(uint32_t i, uint32_t blocks)
{
    return i == blocks * THREADS + 1 ? sum_of(0, blocks) : 0;
}

static uint32_t locked_lanes(uint32_t i, uint32_t blocks)
{
    return i == blocks * THREADS + 1 ? sum_of(0, blocks * THREADS) : 0;
}

static uint32_t turned(uint32_t i, uint32_t blocks)
{
    return in[(i + 3 * THREADS) % (blocks * THREADS)] + 3;
}

static uint32_t chained(uint32_t i, uint32_t blocks)
{
    (void)blocks;
    return i / 32 ? i / 32 + 2 : 2;
}

static uint32_t index_of(uint32_t i, uint32_t blocks)
{
    return i < blocks * THREADS ? i : 1;
}

static uint32_t given_up(uint32_t i, uint32_t blocks)
{
    (void)blocks;
    return i ? in[0] : 0;
}

Test(endless, who_looks_at_the_clock_may_stop_waiting)
{
    expect("gives_up", 1, 1, given_up);
    expect("gives_up", 3, 1, given_up);
}

Test(turns, blocks_that_wait_for_one_another_get_what_they_wait_for)
{
    expect("downwards", 40, 0, down);
    expect("plain", 40, 40, index_of);
    expect("lock", 40, 2, locked);
    expect("locks_of_lanes", 3, 2, locked_lanes);
    expect("acquired", 20, 0, chained);
    expect("all_wait_for_the_last", 300, 1, index_of);
}

// A GPU runs such a kernel only by a cooperative launch.
Test(turns, the_threads_of_a_grid_synchronise)
{
    struct dev *d = ptx_simulator();
    for (unsigned blocks = 1; blocks <= 300; blocks = 3 * blocks + 1) {
        cr_assert(run(d, "grid_sync", (struct setup){ blocks, 0, false }), "%s", dev_error(d));
        for (uint32_t i = 0; i < blocks * THREADS; i++)
            cr_assert_eq(out[i], turned(i, blocks), "%u of %u blocks: %u, not %u", i, blocks, out[i],
                         turned(i, blocks));
    }
    dev_close(d);
}

Test(turns, the_last_block_sees_what_the_others_wrote)
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices_from(d, 80, false);
    for (size_t k = 0; k < devices; k++) {
        cr_expect(run(d[k], "last_one", (struct setup){ 40, 0, false }), "%s", dev_error(d[k]));
        const uint32_t sum = out[40 * THREADS + 41];
        cr_expect_eq(sum, sum_of(0, 40 * THREADS), "%s: %u", dev_about(d[k])->name, sum);
        dev_close(d[k]);
    }
}

// --- the simulated GPU alone ---

static uint64_t instructions(const struct dev *d)
{
    return dev_profile(d)->total[METRIC_INST];
}

Test(turns, nothing_depends_on_the_number_of_host_threads)
{
    static const char *const names[] = { "downwards", "plain",     "lock",    "locks_of_lanes",
                                         "last_one",  "grid_sync", "acquired" };
    static uint32_t first[MOST + WORDS];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (int checks = 0; checks < 2; checks++) {
            uint64_t count = 0;
            char *found = NULL;
            for (unsigned jobs = 1; jobs <= 5; jobs += 2) {
                struct dev *d = ptx_simulator();
                cr_assert(run(d, names[k], (struct setup){ 12, jobs, checks }), "%s: %s", names[k], dev_error(d));
                char *text = strdup(found_text(dev_findings(d)));
                if (jobs == 1) {
                    memcpy(first, out, sizeof first);
                    count = instructions(d);
                    found = text;
                } else {
                    cr_expect(!memcmp(first, out, sizeof first), "%s with %u jobs has other results", names[k], jobs);
                    cr_expect_eq(instructions(d), count, "%s with %u jobs", names[k], jobs);
                    cr_expect_str_eq(text, found, "%s with %u jobs", names[k], jobs);
                    free(text);
                }
                dev_close(d);
            }
            free(found);
        }
    }
}

Test(turns, waiting_is_cheap)
{
    static const struct {
        const char *name;
        unsigned blocks;
        uint64_t most;  // warp instructions
    } cases[] = { { "downwards", 40, 100000 },      { "plain", 40, 100000 },    { "lock", 300, 50000 },
                  { "locks_of_lanes", 20, 200000 }, { "grid_sync", 40, 60000 }, { "acquired", 20, 10000 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct dev *d = ptx_simulator();
        cr_assert(run(d, cases[k].name, (struct setup){ cases[k].blocks, 1, false }), "%s", dev_error(d));
        cr_expect_leq(instructions(d), cases[k].most, "%s took %llu instructions", cases[k].name,
                      (unsigned long long)instructions(d));
        dev_close(d);
    }
}

Test(endless, a_wait_that_never_ends_is_called_so)
{
    const struct found *want = SUCH(SIMT_ENDLESS_WAIT, .block = THE(3), .here.thread = THE(0));
    for (unsigned jobs = 1; jobs <= (sample_asked() == SAMPLE_BRIEF ? 1 : 3); jobs += 2) {
        struct dev *d = ptx_simulator();
        cr_assert_not(run(d, "never", (struct setup){ 40, jobs, false }), "it ran to its end");
        found_failed(d, want);
        cr_assert(run(d, "never", (struct setup){ 40, jobs, true }), "%s", dev_error(d));
        found_expect(dev_findings(d), want, "never");
        dev_close(d);
    }
}

// An H200 holds 32 blocks of 64 threads on each of its 132 SMs.
Test(endless, blocks_that_wait_for_one_that_cannot_begin_are_named)
{
    struct dev *d = ptx_simulator();
    dev_ptr to;
    struct dev_module *m = dev_load(d, TURNS_PTX);
    struct dev_kernel *k = m ? dev_kernel(d, m, "all_wait_for_the_last") : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(to) };
    struct dev_launch launch = { .grid = { 5000 }, .block = { THREADS }, .args = args, .n_args = 2 };
    const size_t bytes = 4 * (5000 * THREADS + 1);
    cr_assert(k && dev_alloc(d, "out", bytes, &to) && dev_clear(d, to, bytes), "%s", dev_error(d));
    cr_assert_not(dev_launch(d, k, &launch));
    found_failed(d, SUCH(SIMT_ENDLESS_WAIT, .block = THE(0), .here.thread = THE(0), .seen = 4224, .left = 776));
    launch.grid[0] = 4224;
    cr_expect(dev_clear(d, to, bytes) && dev_launch(d, k, &launch), "%s", dev_error(d));
    dev_close(d);
}
