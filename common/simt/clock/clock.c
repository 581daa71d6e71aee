// From a launch to cycles and milliseconds: occupancy, waves of blocks, which loads other blocks share, and what bounds
// the kernel.
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 4000000    // warp instructions to run; the rest is counted
#define WALK_MAX 4000000  // of one warp

// --- which loads touch what other blocks touch, too ---

struct first {  // of an instruction: the first address of the warp
    uint64_t address;
    bool seen;
};

// Returns the instructions that the first warp of the block executes; 0 when memory runs out.
static uint64_t walk_first(const struct walk_launch *l, const unsigned block[3], struct first *out)
{
    struct walk_warp w = { 0 };
    struct walk_event e;
    uint32_t pc;
    bool ok = walk_begin(&w, l, block, 0);
    for (uint64_t n = 0; ok && n < WALK_MAX && walk_next(&w, &pc); n++) {
        walk_step(&w, &e);
        const bool global = e.s->pipe == PIPE_GLOBAL || e.s->pipe == PIPE_COPY;
        if (global && e.has_address && e.mask && !out[pc].seen)
            out[pc] = (struct first){ e.address[__builtin_ctz(e.mask)], true };
    }
    const uint64_t executed = ok ? w.executed : 0;
    walk_end(&w);
    return executed;
}

// Blocks that run at once form some rows of the grid. A load that begins at the same address in the next block of the
// row is shared by the blocks of a row; likewise for the next row. *executed: instructions of the first warp.
static struct sm_load *find_sharers(const struct walk_launch *l, uint64_t at_once, uint64_t *executed)
{
    const uint32_t n = l->cubin->n;
    struct first *here = calloc(n, sizeof *here), *right = calloc(n, sizeof *here), *below = calloc(n, sizeof *here);
    struct sm_load *loads = calloc(n, sizeof *loads);
    const unsigned origin[3] = { 0 }, next_x[3] = { 1, 0, 0 }, next_y[3] = { 0, 1, 0 };
    const bool wide = l->grid[0] > 1, high = l->grid[1] > 1;
    bool ok = here && right && below && loads;
    *executed = ok ? walk_first(l, origin, here) : 0;
    ok = *executed && (!wide || walk_first(l, next_x, right)) && (!high || walk_first(l, next_y, below));
    const double columns = at_once < l->grid[0] ? (double)at_once : l->grid[0];
    double rows = (double)at_once / l->grid[0];
    rows = rows < 1 ? 1 : rows > l->grid[1] ? l->grid[1] : rows;
    for (uint32_t i = 0; ok && i < n; i++) {
        loads[i].sharers = 1;
        loads[i].seen = here[i].seen && l->cubin->code[i].effect != EFFECT_STORE;
        if (wide && here[i].seen && right[i].seen && here[i].address == right[i].address)
            loads[i].sharers *= (float)columns;
        if (high && here[i].seen && below[i].seen && here[i].address == below[i].address)
            loads[i].sharers *= (float)rows;
    }
    free(here);
    free(right);
    free(below);
    if (!ok) {
        free(loads);
        return NULL;
    }
    return loads;
}

// --- the card ---

// The SMs that have a block share the bandwidth of L2 and DRAM.
static void share_bandwidth(struct sm_constants *k, const struct card *card, uint64_t blocks)
{
    const double idle = blocks < card->sms ? (double)card->sms / (double)blocks : 1;
    k->l2_rate = k->l2_rate * idle < k->fill_rate ? k->l2_rate * idle : k->fill_rate;
    k->dram_rate = k->dram_rate * idle < k->fill_rate ? k->dram_rate * idle : k->fill_rate;
}

// Cards other than the H200 differ in the rates that the table of cards has; the rest is taken as the H200's.
static struct sm_constants constants_of(const struct card *card)
{
    struct sm_constants k = sm_constants_h200;
    const double ghz = 1.98, of_h200 = 132;
    k.fma_interval = 32.0 / (card->f32 / 4.0);
    k.fp64_interval = 32.0 / (card->f64 / 4.0);
    k.mma_interval = 2.0 * 16 * 8 * 16 / (card->tensor / 4.0) * (card->cc == 90 ? 1.5 : 1);
    k.mma_small_interval = k.mma_interval * sm_constants_h200.mma_small_interval / sm_constants_h200.mma_interval;
    if (card->dram != 4800)
        k.dram_rate = card->dram * 0.9 / card->sms / ghz;
    k.l2_rate = sm_constants_h200.l2_rate * (card->sms > of_h200 ? of_h200 / card->sms : 1);
    return k;
}

static uint64_t l1_bytes(const struct card *card, uint64_t shared)
{
    static const unsigned steps[] = { 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 };
    const unsigned all = card->cc == 90 ? 256 : card->cc == 80 ? 192 : card->cc == 75 ? 96 : 128;
    unsigned carved = card->shared_kib;
    for (unsigned i = sizeof steps / sizeof *steps; i-- > 0;)
        if (steps[i] * 1024ull >= shared && steps[i] <= card->shared_kib)
            carved = steps[i];
    return (all > carved ? all - carved : 8) * 1024ull;
}

// What L2 can keep of what this SM's blocks load: the others load theirs at the same time. Half of it, since each of
// its two halves keeps what its own SMs ask for.
static uint64_t l2_bytes(const struct card *card, const struct sm_load *loads, uint32_t n)
{
    const double mb = card->cc == 120  ? 96
                      : card->cc == 90 ? 60
                      : card->cc == 89 ? 72
                      : card->cc == 80 ? 40
                      : card->cc == 86 ? 6
                                       : 4;
    double alone = 0, count = 0;
    for (uint32_t i = 0; i < n; i++) {
        alone += loads[i].seen ? 1 / loads[i].sharers : 0;
        count += loads[i].seen;
    }
    const double others = count > 0 ? card->sms * alone / count : card->sms;
    return (uint64_t)(mb * 1e6 / 2 / (others > 1 ? others : 1));
}

// --- what bounds it ---

static const char *const count_names[COUNTS] = {
    [COUNT_FMA] = "the f32 pipe",
    [COUNT_ALU] = "the integer and logic pipe",
    [COUNT_TENSOR] = "the tensor cores",
    [COUNT_FP64] = "the f64 pipe",
    [COUNT_XU] = "the pipe of rare functions",
    [COUNT_WAVES] = "the shared-memory pipe",
    [COUNT_L2] = "the bandwidth of L2",
    [COUNT_DRAM] = "the bandwidth of DRAM",
};

static enum sm_state largest_stall(const struct sm_result *r)
{
    enum sm_state most = STATE_NOT_SELECTED;
    for (unsigned i = STATE_NOT_SELECTED + 1; i < STATES; i++)
        if (r->state[i] > r->state[most] || most == STATE_NOT_SELECTED)
            most = (enum sm_state)i;
    return most;
}

static void describe(struct clock_prediction *p)
{
    const struct sm_result *r = &p->sm;
    unsigned most = 0;
    double all = 0;
    for (unsigned i = 1; i < COUNTS; i++)
        most = p->share[i] > p->share[most] ? i : most;
    for (unsigned i = 0; i < STATES; i++)
        all += r->state[i];
    const enum sm_state why = largest_stall(r);
    const double waits = all > 0 ? 100 * r->state[why] / all : 0;
    if (p->issue > 0.75 && p->issue > p->share[most])
        snprintf(p->bound, sizeof p->bound, "bound by the schedulers: they issue in %.0f of 100 cycles",
                 100 * p->issue);
    else if (p->share[most] > 0.6)
        snprintf(p->bound, sizeof p->bound, "bound by %s: busy in %.0f of 100 cycles", count_names[most],
                 100 * p->share[most]);
    else
        snprintf(
            p->bound, sizeof p->bound,
            "bound by waiting: no pipe is busy in more than %.0f of 100 cycles, and a warp spends %.0f %% of its time "
            "waiting %s",
            100 * p->share[most], waits, sm_state_text(why));
}

static void find_shares(struct clock_prediction *p, const struct sm_constants *k, const struct card *card)
{
    const struct sm_result *r = &p->sm;
    for (unsigned i = 0; i < COUNTS && r->cycles > 0; i++)
        p->share[i] = r->busy[i] / r->cycles / (i <= COUNT_XU ? 4 : 1);
    p->share[COUNT_L2] /= k->l2_rate;
    p->share[COUNT_DRAM] /= k->dram_rate;
    p->issue = r->cycles > 0 ? (double)r->issued / r->cycles / 4 : 0;
    p->l2_gb_s = r->busy[COUNT_L2] / r->cycles * card->sms * p->ghz;
    p->dram_gb_s = r->busy[COUNT_DRAM] / r->cycles * card->sms * p->ghz;
}

// --- waves ---

// How many of the SM's blocks to run: whole rounds of resident blocks, as the budget allows.
static uint64_t blocks_to_run(uint64_t blocks, unsigned resident, uint64_t instructions_of_block)
{
    uint64_t rounds = BUDGET / (instructions_of_block * resident + 1);
    rounds = rounds < 1 ? 1 : rounds;
    return rounds * resident < blocks ? rounds * resident : blocks;
}

// The cycles of all blocks of the busiest SM: those that were run, and for the others the pace while all slots were
// full. Blocks of one SM end at different times, so that pace is counted in instructions.
static double extrapolate(const struct sm_result *r, uint64_t blocks)
{
    const double left = (double)(blocks - r->blocks), of_block = (double)r->issued / (double)r->blocks;
    return r->cycles + left * of_block * (r->full_to - r->full_from) / (double)r->full_issued;
}

static bool run(struct clock_prediction *p, const struct walk_launch *l, const struct card *card)
{
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const uint64_t shared = p->cubin->shared + l->shared;
    struct sm_job job = { .launch = l, .constants = constants_of(card), .stride = card->sms };
    share_bandwidth(&job.constants, card, blocks);
    job.resident = p->occupancy.blocks;
    p->blocks_of_sm = (blocks + card->sms - 1) / card->sms;
    if (job.resident > p->blocks_of_sm)
        job.resident = (unsigned)p->blocks_of_sm;
    job.l1_bytes = l1_bytes(card, (shared + 1024) * job.resident);
    uint64_t executed;
    struct sm_load *loads = find_sharers(l, (uint64_t)card->sms * job.resident, &executed);
    const unsigned warps = (l->block[0] * l->block[1] * l->block[2] + WALK_LANES - 1) / WALK_LANES;
    job.blocks = blocks_to_run(p->blocks_of_sm, job.resident, executed * warps);
    job.loads = loads;
    job.l2_bytes = loads ? l2_bytes(card, loads, l->cubin->n) : 0;
    const bool ok = loads && sm_run(&job, &p->sm);
    free(loads);
    if (!ok)
        return false;
    p->cycles = extrapolate(&p->sm, p->blocks_of_sm);
    p->scale = p->cycles / p->sm.cycles;
    const struct sm_constants *k = &job.constants;
    p->ghz = p->sm.busy[COUNT_TENSOR] / p->sm.cycles / 4 > 0.1 ? k->tensor_ghz : k->ghz;
    p->ms = p->cycles / p->ghz * 1e-6 + k->launch_us * 1e-3;
    find_shares(p, k, card);
    describe(p);
    return true;
}

bool clock_predict(const struct clock_launch *l, const struct card *card, struct clock_prediction *out,
                   char error[CLOCK_ERROR])
{
    *out = (struct clock_prediction){ .cubin = clock_assemble(l->ptx, l->kernel, card, error) };
    if (!out->cubin)
        return false;
    struct walk_launch w = { .cubin = out->cubin, .shared = l->shared, .params = l->params };
    memcpy(w.grid, l->grid, sizeof w.grid);
    memcpy(w.block, l->block, sizeof w.block);
    const unsigned threads = w.block[0] * w.block[1] * w.block[2];
    const unsigned reserved = card->cc >= 90 ? 1024 : 0;  // the cubin counts it, and so does occupancy_of
    const uint64_t declared = out->cubin->shared > reserved ? out->cubin->shared - reserved : 0;
    out->occupancy = occupancy_of(card, threads, out->cubin->registers, declared + l->shared);
    if (l->param_bytes < out->cubin->param_bytes)
        snprintf(error, CLOCK_ERROR, "the kernel takes %u bytes of parameters, %zu were given", out->cubin->param_bytes,
                 l->param_bytes);
    else if (!out->occupancy.blocks)
        snprintf(error, CLOCK_ERROR, "not one block fits on an SM of the %s, by its %s", card->name,
                 out->occupancy.limit);
    else if (run(out, &w, card))
        return true;
    else
        snprintf(error, CLOCK_ERROR, "the machine code could not be followed");
    clock_free(out);
    return false;
}

void clock_free(struct clock_prediction *p)
{
    sm_free(&p->sm);
    cubin_free(p->cubin);
    *p = (struct clock_prediction){ 0 };
}
