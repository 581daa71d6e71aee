// From a launch to cycles and milliseconds: occupancy, waves of blocks, which loads other blocks share, and what bounds
// the kernel.
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 4000000  // warp instructions to run; the rest is counted

// --- the card ---

// The SMs that have a block share the bandwidth of L2 and DRAM, and the power that tensor cores may draw.
static void share_bandwidth(struct sm_job *job, const struct card *card, uint64_t blocks)
{
    struct sm_constants *k = &job->constants;
    const double idle = blocks < card->sms ? (double)card->sms / (double)blocks : 1;
    k->full_card = 1 + (k->full_card - 1) / idle;
    if (!sm_follows(job, RULE_l2_share))
        k->l2_rate = k->tma_l2_rate = k->tma_shared_rate = k->fill_rate;
    k->l2_rate = k->l2_rate * idle < k->fill_rate ? k->l2_rate * idle : k->fill_rate;
    k->tma_l2_rate = k->tma_l2_rate * idle < k->tma_rate ? k->tma_l2_rate * idle : k->tma_rate;
    k->tma_shared_rate = k->tma_shared_rate * idle < k->tma_rate ? k->tma_shared_rate * idle : k->tma_rate;
    // What one SM takes from DRAM at most was not measured: as much as its accelerator asks for.
    const double most = sm_follows(job, RULE_dram_alone) ? k->tma_rate : k->dram_rate * idle;
    k->dram_rate = k->dram_rate * idle < most ? k->dram_rate * idle : most;
    k->block_interval /= idle;
    const double alone = 1 / idle > k->store_alone ? 1 / idle : k->store_alone;
    k->store_line *= alone;
    k->local_line *= alone;
    k->store_sector *= alone;
    k->store_part *= alone;
}

// Cards differ in what the table of cards has; the rest is taken as that of the card on which it was measured.
struct sm_constants clock_constants(const struct card *card)
{
    const struct card *of = card_named(card->measured);
    struct sm_constants k = {
#define CONSTANT(name, value, mark, unit, source) .name = value,
#include "constants.def"
#undef CONSTANT
    };
    k.ghz = card->ghz;
    double *const rates[] = { &k.tensor_ghz, &k.wgmma_ghz_50, &k.wgmma_ghz_75, &k.wgmma_ghz_90, &k.wgmma_ghz_94 };
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        *rates[i] *= card->ghz / of->ghz;
    k.fma_interval = 32.0 / (card->f32 / 4.0);
    k.fp64_interval = 32.0 / (card->f64 / 4.0);
    k.mma_interval = card->mma_interval;
    k.mma_small_interval = card->mma_interval * k.mma_small_interval / of->mma_interval;
    k.dram_rate = (double)card->dram / card->sms / k.ghz;
    k.l2_rate *= card->sms > of->sms ? (double)of->sms / card->sms : 1;
    return k;
}

// What a block asks for, in bytes. The cubin counts what the card reserves for each block, from 9.0 on.
static uint64_t shared_of(const struct cubin *cubin, uint64_t dynamic, const struct card *card)
{
    const uint64_t reserved = card->cc >= 90 ? card->shared_reserved : 0;
    return (cubin->shared > reserved ? cubin->shared - reserved : 0) + dynamic;
}

static uint64_t l1_bytes(const struct card *card, uint64_t shared)
{
    unsigned i = 0;
    while (card->carve_outs[i] < card->shared_kib && card->carve_outs[i] * 1024ull < shared)
        i++;
    return (card->l1_kib - card->carve_outs[i]) * 1024ull;
}

// What L2 can keep of what this SM's blocks load: the others load theirs at the same time. What both of its halves ask
// for, each of them keeps. *share: of all its bytes, an SM's part.
static uint64_t l2_bytes(const struct card *card, const struct sm_load *loads, uint32_t n, uint64_t blocks,
                         uint64_t *share)
{
    double alone = 0, count = 0;
    for (uint32_t i = 0; i < n; i++) {
        alone += loads[i].seen ? 1 / loads[i].sharers : 0;
        count += loads[i].seen;
    }
    const double busy = blocks < card->sms ? (double)blocks : card->sms;
    alone = count > 0 ? alone / count : 1;
    const double others = busy * alone > 1 ? busy * alone : 1;
    *share = (uint64_t)(card->l2_kept_mb * 1e6 / busy);
    return (uint64_t)(card->l2_kept_mb * 1e6 / (2 - alone) / others);
}

// --- what bounds it ---

static const char *const count_names[COUNTS] = {
    [COUNT_FMA] = "the f32 pipe",
    [COUNT_ALU] = "the integer and logic pipe",
    [COUNT_TENSOR] = "the tensor cores",
    [COUNT_FP64] = "the f64 pipe",
    [COUNT_XU] = "the pipe of rare functions",
    [COUNT_WAVES] = "the data pipe of L1 and shared memory",
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

static void describe(struct simt_prediction *p)
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

static void find_shares(struct simt_prediction *p, const struct sm_constants *k, const struct card *card)
{
    const struct sm_result *r = &p->sm;
    for (unsigned i = 0; i < COUNTS; i++) {
        p->peak[i] = i <= COUNT_XU ? 4 : i == COUNT_L2 ? k->l2_rate : i == COUNT_DRAM ? k->dram_rate : 1;
        p->share[i] = r->cycles > 0 ? r->busy[i] / r->cycles / p->peak[i] : 0;
    }
    p->issue = r->cycles > 0 ? (double)r->issued / r->cycles / 4 : 0;
    p->l2_gb_s = r->busy[COUNT_L2] / r->cycles * card->sms * p->ghz;
    p->dram_gb_s = r->busy[COUNT_DRAM] / r->cycles * card->sms * p->ghz;
}

// --- waves ---

// How many of the SM's blocks to run: whole rounds of resident blocks, as the budget allows.
static uint64_t blocks_to_run(uint64_t blocks, unsigned resident, uint64_t instructions_of_block, uint64_t budget)
{
    uint64_t rounds = budget / (instructions_of_block * resident + 1);
    rounds = rounds < 1 ? 1 : rounds;
    return rounds * resident < blocks ? rounds * resident : blocks;
}

// The cycles of all blocks of the busiest SM: those that were run, and for the others the pace while all slots were
// full. Blocks of one SM end at different times, so that pace is counted in instructions.
static double extrapolate(const struct sm_job *job, const struct sm_result *r, uint64_t blocks)
{
    if (!sm_follows(job, RULE_full_pace))
        return r->cycles * (double)blocks / (double)r->blocks;
    const double left = (double)(blocks - r->blocks), of_block = (double)r->issued / (double)r->blocks;
    return r->cycles + left * of_block * (r->full_to - r->full_from) / (double)r->full_issued;
}

// The clock that the card runs at: it lowers it while tensor cores draw power, with wgmma the more the busier they are.
static double clock_rate(const struct sm_result *r, const struct sm_constants *k)
{
    const double busy = r->busy[COUNT_TENSOR] / r->cycles / 4;
    const double at[] = { 0.5, 0.75, 0.9, 0.94 };
    const double ghz[] = { k->wgmma_ghz_50, k->wgmma_ghz_75, k->wgmma_ghz_90, k->wgmma_ghz_94 };
    if (busy <= 0.1)
        return k->ghz;
    if (!r->products)
        return k->tensor_ghz;
    unsigned i = 1;
    while (i < 3 && busy > at[i])
        i++;
    const double part = (busy - at[i - 1]) / (at[i] - at[i - 1]);
    return ghz[i - 1] + (ghz[i] - ghz[i - 1]) * (part < 0 ? 0 : part > 1 ? 1 : part);
}

static bool run(struct simt_prediction *p, const struct walk_launch *l, const struct card *card,
                const struct clock_launch *what)
{
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    struct sm_job job = { .launch = l, .stride = card->sms, .recorder = what->recorder, .without = what->without };
    job.constants = what->constants ? *what->constants : clock_constants(card);
    share_bandwidth(&job, card, blocks);
    job.resident = p->occupancy.blocks;
    p->blocks_of_sm = (blocks + card->sms - 1) / card->sms;
    if (job.resident > p->blocks_of_sm)
        job.resident = (unsigned)p->blocks_of_sm;
    job.l1_bytes = l1_bytes(card, (shared_of(p->cubin, l->shared, card) + card->shared_reserved) * job.resident);
    uint64_t executed;
    struct sm_load *loads = share_loads(l, (uint64_t)card->sms * job.resident, &executed);
    for (uint32_t i = 0; loads && !sm_follows(&job, RULE_shared_loads) && i < l->cubin->n; i++)
        loads[i].sharers = sass_is_atomic(&l->cubin->code[i]) ? loads[i].sharers : 1;
    const unsigned warps = (l->block[0] * l->block[1] * l->block[2] + WALK_LANES - 1) / WALK_LANES;
    job.blocks = blocks_to_run(p->blocks_of_sm, job.resident, executed * warps, what->budget ? what->budget : BUDGET);
    if (sm_follows(&job, RULE_unequal_blocks))
        pick_blocks(l, p->blocks_of_sm, &job);
    job.loads = loads;
    job.l2_bytes = loads ? l2_bytes(card, loads, l->cubin->n, blocks, &job.l2_share) : 0;
    const bool ok = loads && sm_run(&job, &p->sm);
    free(loads);
    if (!ok)
        return false;
    p->cycles = extrapolate(&job, &p->sm, p->blocks_of_sm);
    p->scale = p->cycles / p->sm.cycles;
    const struct sm_constants *k = &job.constants;
    p->ghz = clock_rate(&p->sm, k);
    p->ms = p->cycles / p->ghz * 1e-6 + k->launch_us * 1e-3;
    find_shares(p, k, card);
    describe(p);
    return true;
}

bool clock_predict(const struct clock_launch *l, const struct card *card, struct simt_prediction *out,
                   char error[CLOCK_ERROR])
{
    *out = (struct simt_prediction){ .card = card, .cubin = clock_assemble(l->ptx, l->kernel, card, error) };
    if (!out->cubin)
        return false;
    unsigned char *params = clock_place_params(l, out->cubin, error);
    struct walk_launch w = { .cubin = out->cubin, .shared = l->shared, .params = params };
    w.arrays = l->arrays;
    w.n_arrays = l->n_arrays;
    memcpy(w.grid, l->grid, sizeof w.grid);
    memcpy(w.block, l->block, sizeof w.block);
    const unsigned threads = w.block[0] * w.block[1] * w.block[2];
    out->occupancy = occupancy_of(card, threads, out->cubin->registers, shared_of(out->cubin, l->shared, card));
    bool ok = false;
    if (params && !out->occupancy.blocks)
        snprintf(error, CLOCK_ERROR, "not one block fits on an SM of the %s, by its %s", card->name,
                 out->occupancy.limit);
    else if (params && !(ok = run(out, &w, card, l)))
        snprintf(error, CLOCK_ERROR, "the machine code could not be followed");
    free(params);
    if (!ok)
        clock_free(out);
    return ok;
}

void clock_free(struct simt_prediction *p)
{
    sm_free(&p->sm);
    cubin_free(p->cubin);
    *p = (struct simt_prediction){ 0 };
}
