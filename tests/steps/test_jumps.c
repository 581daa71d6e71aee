// Back and forth in a step's kernel: what the watch shows after a jump is what a fresh run of the launch has there, bit
// for bit; and a value that an instruction reads is the one that watch_made's step left, and nothing has written it
// since. The step is that of step_case.h. A thousand jumps; the samples (sample.h) have fewer.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "device/open.h"
#include "device/sim.h"
#include "sample.h"
#include "simt/simt.h"
#include "step_case.h"
#include "tester/gemm.h"
#include "tester/tester.h"
#include "watch/watch.h"

TestSuite(jumps, .timeout = 900);

enum { JUMPS = 1000, MADE = 100, LANES = 32 };

struct bench {  // a simulated GPU of its own, with the step's launch
    struct dev *dev;
    struct tester *tester;
    struct gemm call;
    char error[DEV_ERROR_MAX];
};

static void open_bench(struct bench *b)
{
    struct tester_options o = tester_defaults;
    struct tester_result r;
    o.m = 72, o.n = 136, o.k = 200, o.device = DEV_SIM, o.sanitize = true, o.once = true;
    b->dev = dev_open(DEV_SIM, b->error);
    cr_assert(b->dev, "%s", b->error);
    dev_set_checks(b->dev, true);
    b->tester = tester_open(b->dev, STEP.type, &o, b->error);
    cr_assert(b->tester, "%s", b->error);
    cr_assert(tester_step(b->tester, &STEP, &r, b->error), "%s", b->error);
    cr_assert_eq(r.verdict, TESTER_RIGHT, "%s", r.what);
    cr_assert(tester_open_call(b->tester, &STEP, &b->call, b->error), "%s", b->error);
}

static void close_bench(struct bench *b)
{
    gemm_close(&b->call, b->dev);
    tester_close(b->tester);
    dev_close(b->dev);
}

// --- the state at a moment, as one number ---

static uint64_t add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x100000001b3;
}

static uint64_t add_registers(uint64_t hash, const struct simt_look *l, const struct simt_kernel *k, uint32_t warp)
{
    uint64_t value[LANES];
    struct simt_register r;
    for (uint32_t i = 0; simt_register(k, i, &r); i++)
        for (uint32_t lane = 0; simt_look_value(l, warp, i, value) && lane < LANES; lane++)
            hash = add(hash, value[lane]);
    return hash;
}

static uint64_t add_shared(uint64_t hash, const struct simt_look *l)
{
    const uint32_t bytes = simt_look_shared_bytes(l);
    unsigned char *shared = malloc(bytes + 1);
    cr_assert(shared && simt_look_shared(l, 0, shared, bytes));
    for (uint32_t i = 0; i < bytes; i++)
        hash = add(hash, shared[i]);
    free(shared);
    return hash;
}

static uint64_t add_waits(uint64_t hash, const struct simt_look *l)
{
    struct simt_lanes g;
    struct simt_barrier b;
    struct simt_copy c;
    uint32_t at, parity, lane;
    for (uint32_t warp = 0; warp < simt_look_warps(l); warp++) {
        for (uint32_t i = 0; simt_look_standing(l, warp, i, &g); i++)
            hash = add(add(add(hash, g.lanes), g.next), (uint64_t)g.standing << 8 | g.barrier);
        if (simt_look_wait(l, warp, &at, &parity, &lane))
            hash = add(add(hash, at), parity);
        hash = add(add(hash, simt_look_ended(l, warp)), simt_look_products(l, warp));
    }
    for (uint32_t i = 0; simt_look_barrier(l, i, &b); i++)
        hash = add(add(hash, b.arrived), b.expected);
    for (uint32_t i = 0; simt_look_copy(l, i, &c); i++)
        hash = add(add(add(hash, c.thread), c.at), c.mbarrier);
    return hash;
}

// The step, the registers of its warp and of another one, shared memory, and who waits where.
static uint64_t state(const struct simt_look *l, const struct simt_kernel *k, uint64_t moment)
{
    uint64_t hash = add(add(moment, simt_look_instruction(l)), simt_look_lanes(l));
    hash = add_registers(hash, l, k, simt_look_warp(l));
    hash = add_registers(hash, l, k, (uint32_t)(moment % simt_look_warps(l)));
    return add_waits(add_shared(hash, l), l);
}

// --- a fresh run, and jumps ---

struct fresh {
    const struct simt_kernel *kernel;
    uint64_t moment;
    const uint64_t *at;  // n moments, ascending
    uint64_t *state;
    size_t n, next;
};

static bool note(void *context, enum simt_event event, const struct simt_look *l)
{
    struct fresh *f = context;
    cr_assert_eq(event, SIMT_STEP);
    for (; f->next < f->n && f->at[f->next] == f->moment; f->next++)
        f->state[f->next] = state(l, f->kernel, f->moment);
    f->moment++;
    return f->next < f->n;
}

struct seen {
    const struct simt_kernel *kernel;
    uint64_t state;
};

static bool see(void *context, uint64_t moment, const struct simt_look *l)
{
    struct seen *s = context;
    s->state = state(l, s->kernel, moment);
    return false;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// --- who made what an instruction reads ---

struct reading {  // of a lane's register
    const struct simt_kernel *kernel;
    uint32_t warp, lane, number;
    uint64_t value, made, read;
    uint32_t again;  // how often it was written after `made`
};

// The step's last operand that it reads: the others are descriptors and addresses more often.
static bool see_read(void *context, uint64_t moment, const struct simt_look *l)
{
    struct reading *r = context;
    struct simt_operand o;
    r->warp = simt_look_warp(l);
    r->lane = (uint32_t)__builtin_ctz(simt_look_lanes(l));
    r->read = WATCH_NONE;
    for (uint32_t i = 0; simt_look_operand(l, i, &o); i++)
        if (o.role == SIMT_READ) {
            r->number = o.number;
            r->value = o.value[r->lane];
            r->read = moment;
        }
    return false;
}

static bool see_since(void *context, uint64_t moment, const struct simt_look *l)
{
    struct reading *r = context;
    struct simt_operand o;
    struct simt_instruction in;
    uint64_t value[LANES];
    simt_instruction(r->kernel, simt_look_instruction(l), &in);
    const bool product = !strncmp(in.op, "wgmma.mma", strlen("wgmma.mma"));  // the value comes later
    if (moment == r->made && simt_look_value(l, r->warp, r->number, value))
        cr_expect_eq(value[r->lane], r->value, "%s: step %llu did not make the value", STEP.name,
                     (unsigned long long)moment);
    const bool between = moment > r->made && moment < r->read && !product && simt_look_warp(l) == r->warp;
    for (uint32_t i = 0; between && simt_look_operand(l, i, &o); i++)
        r->again += o.role == SIMT_WRITTEN && o.number == r->number && (simt_look_lanes(l) >> r->lane & 1);
    return true;
}

static void expect_made(struct watch *w, uint64_t moment)
{
    struct reading r = { .kernel = watch_kernel(w) };
    char error[DEV_ERROR_MAX];
    cr_assert(watch_run(w, moment, moment, see_read, &r, error), "%s", error);
    if (r.read == WATCH_NONE)
        return;
    r.made = moment ? watch_made(w, moment - 1, r.warp, r.lane, r.number, error) : WATCH_NONE;
    cr_assert_neq(r.made, WATCH_NONE, "%s: %s", STEP.name, error);
    cr_assert(watch_run(w, r.made, moment, see_since, &r, error), "%s", error);
    cr_expect_eq(r.again, 0, "%s: step %llu reads what was written after step %llu", STEP.name,
                 (unsigned long long)moment, (unsigned long long)r.made);
}

static size_t jumps(void)
{
    return sample_asked() == SAMPLE_ALL ? JUMPS : sample_asked() == SAMPLE_SOME ? 30 : 10;
}

Test(jumps, back_and_forth_show_what_a_fresh_run_has)
{
    static uint64_t at[JUMPS], states[JUMPS];
    struct bench watched, fresh;
    uint64_t random = 1;
    open_bench(&watched);
    open_bench(&fresh);
    struct simt_kernel *k = (struct simt_kernel *)watched.call.kernel;
    struct watch *w = watch_open(device_simt(watched.dev), k, &watched.call.launch, 0, watched.error);
    cr_assert(w, "%s", watched.error);
    for (size_t i = 0; i < jumps(); i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        at[i] = (random >> 20) % watch_steps(w);
    }
    qsort(at, jumps(), sizeof *at, by_value);
    struct fresh f = { (struct simt_kernel *)fresh.call.kernel, 0, at, states, jumps(), 0 };
    const struct simt_watch all = { 0, SIMT_ALL_WARPS, note, &f };
    cr_assert(simt_watch(device_simt(fresh.dev), (struct simt_kernel *)fresh.call.kernel, &fresh.call.launch, &all,
                         fresh.error),
              "%s", fresh.error);
    cr_assert_eq(f.next, jumps());
    for (size_t i = 0; i < jumps(); i++) {
        const size_t to = i * 617 % jumps();  // 617 has no factor in common with a number of jumps
        struct seen s = { k, 0 };
        cr_assert(watch_run(w, at[to], at[to], see, &s, watched.error), "%s", watched.error);
        cr_expect_eq(s.state, states[to], "%s: step %llu of %llu differs", STEP.name, (unsigned long long)at[to],
                     (unsigned long long)watch_steps(w));
        if (i < MADE)
            expect_made(w, at[to]);
    }
    watch_close(w);
    close_bench(&watched);
    close_bench(&fresh);
}
