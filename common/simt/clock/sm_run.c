// The schedulers: which warp issues, and what the others wait for. A scheduler goes on with the warp that it chose
// last, and else takes the oldest that can issue; or the other way round, if ptxas says so: bit 45 of an instruction is
// 0. On the H200 the two warps of a sub-core that run 14 change places right behind such instructions, and nowhere else
// as long as none of them waits (stall samples of Nsight Compute, by instruction).
#include "sm_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN 0.6180339887498949

static const struct {
    const char *name, *text;
} states[] = {
#define X(id, name, text) { name, text },
    SM_STATES(X)
#undef X
};

const char *sm_state_name(enum sm_state s)
{
    return states[s].name;
}

const char *sm_state_text(enum sm_state s)
{
    return states[s].text;
}

// --- blocks ---

static void block_index(const struct sm *sm, uint64_t number, unsigned out[3])
{
    const unsigned *grid = sm->job->launch->grid;
    out[0] = (unsigned)(number % grid[0]);
    out[1] = (unsigned)(number / grid[0] % grid[1]);
    out[2] = (unsigned)(number / grid[0] / grid[1]);
}

static uint64_t next_block(const struct sm *sm)
{
    const struct sm_job *j = sm->job;
    const unsigned *grid = j->launch->grid;
    const uint64_t all = (uint64_t)grid[0] * grid[1] * grid[2];
    const double at = GOLDEN * (double)sm->begun;
    if (j->n_picked)
        return j->picked[sm->begun % j->n_picked];
    if (!j->spread)
        return (j->first + sm->begun * j->stride) % all;
    return (uint64_t)(((double)sm->begun + at - floor(at)) / (double)j->blocks * (double)all) % all;
}

// Warps take turns among the sub-cores.
static void place_warp(struct sm *sm, struct sm_warp *w)
{
    const unsigned number = (unsigned)(w - sm->warps);
    w->home = &sm->sub[number % SUBCORES];
    w->place = number / SUBCORES;
}

// The warps of a block begin one after the other.
static bool begin_block(struct sm *sm, unsigned slot, double at)
{
    const struct walk_launch *l = sm->job->launch;
    unsigned index[3];
    block_index(sm, next_block(sm), index);
    struct sm_slot *b = &sm->slots[slot];
    *b = (struct sm_slot){
        .number = sm->begun++, .warps = sm->warps_of_block, .live = sm->warps_of_block, .used = true
    };
    for (unsigned i = 0; i < sm->warps_of_block; i++) {
        struct sm_warp *w = &sm->warps[slot * sm->warps_of_block + i];
        const struct walk_warp kept = w->walk;
        const double begins = floor(at + i * sm->k->warp_gap);  // in whole cycles, as all that a warp does
        *w = (struct sm_warp){ .walk = kept, .active = true, .slot = slot, .ready = begins, .since = begins };
        place_warp(sm, w);
        sm_sleep(w, begins);
        w->why = STATE_WAIT;
        w->at_barrier = w->awaits = -1;
        if (!walk_begin(&w->walk, l, index, i))
            return false;
        w->next = walk_next(&w->walk, &w->pc);
    }
    if (sm->job->recorder) {
        const unsigned warp = slot * sm->warps_of_block;
        const struct sm_turn t = { (uint64_t)at, b->number, SM_BLOCK_BEGINS, SM_BLOCK_BEGINS, (uint8_t)warp };
        sm_record_turn(sm->job->recorder, &t);
    }
    return true;
}

// --- can the warp issue? ---

static double pipe_interval(const struct sm *sm, const struct sass *s)
{
    const struct sm_constants *k = sm->k;
    switch (s->pipe) {
    case PIPE_FMA:
        return k->fma_interval;
    case PIPE_IMAD:
        return k->imad_interval;
    case PIPE_IMAD_WIDE:
        return k->imad_wide_interval;
    case PIPE_HALF:
        return k->half_interval;
    case PIPE_UNIFORM:
        return k->uniform_interval;
    case PIPE_XU:
        return k->xu_interval;
    case PIPE_FP64:
        return k->fp64_interval;
    case PIPE_TENSOR:
        return s->code == CODE_HMMA && !sass_bits(s, 75, 1) ? k->mma_small_interval : k->mma_interval;
    case PIPE_ALU:
    case PIPE_UNKNOWN:
        return k->alu_interval;
    default:
        return 0;
    }
}

// Pipes that are the same: integer multiply-adds take one half of the lanes of f32's, with which halves share, too.
static unsigned pipe_of(const struct sass *s)
{
    return s->pipe == PIPE_IMAD_WIDE || s->pipe == PIPE_HALF ? PIPE_IMAD : s->pipe == PIPE_UNKNOWN ? PIPE_ALU : s->pipe;
}

static bool is_memory(const struct sass *s)
{
    return s->pipe >= PIPE_SHARED && s->pipe <= PIPE_SYSTEM;
}

static bool waits_for_group(const struct sm_warp *w, const struct sass *s, double *until)
{
    if (s->effect != EFFECT_DEPBAR)
        return false;
    const unsigned left = sass_bits(s, 38, 6);
    if (w->groups <= left)
        return false;
    *until = w->group[(w->groups - 1 - left) % GROUPS];
    return true;
}

// Warps that wait for room in the queue of accesses get it in the order in which they came. With the oldest warp first,
// one runs ahead and fetches for the others what they would wait for: 01 came out another 3 % too fast. And the blocks
// of an SM would come apart, so that one block works while the other one waits at its barrier: 02 with one barrier
// (02_one_barrier) came out 5 % too fast where L1 has its tiles.
static bool is_first_in_line(const struct sm *sm, const struct sm_warp *w, const struct sm_subcore *c, double *until)
{
    for (unsigned i = (unsigned)(c - sm->sub); i < SM_WARPS && sm_follows(sm->job, RULE_first_in_line); i += SUBCORES)
        if (sm->warps[i].active && sm->warps[i].ticket && sm->warps[i].ticket < w->ticket) {
            *until = sm->now + 1;
            return false;
        }
    return true;
}

// The pipe takes the warp's next instruction now; or why not, and until when at least.
static bool pipe_takes(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, double *until)
{
    const struct sass *s = w->next;
    if (is_memory(s)) {
        w->why = STATE_DISPATCH;
        *until = c->registers.operands;
        if (*until > sm->now && sm_follows(sm->job, RULE_banks_hold_accesses))
            return false;
        w->why = s->pipe == PIPE_GLOBAL || s->pipe == PIPE_LOCAL || s->pipe == PIPE_COPY ? STATE_LG : STATE_MIO;
        if (!w->ticket)
            w->ticket = ++c->tickets;
        return sm_has_room(sm, c, until) && is_first_in_line(sm, w, c, until);
    }
    w->why = STATE_MATH;
    *until = c->free[pipe_of(s)];
    if (*until > sm->now || (s->effect == EFFECT_WGMMA && !sm_has_product_room(sm, w)))
        return false;
    w->why = STATE_DISPATCH;
    *until = c->registers.operands;
    return *until <= sm->now;
}

// A barrier does not stop a warp that has arrived: it goes on until it would access memory or branch. On the H200 all
// samples of warps that wait at the barriers of 05 and 07 are at such instructions, up to 33 behind the barrier; and of
// a loop with a barrier and nothing but arithmetic some warps end the second pass before others have begun it
// (turns_16_warps).
static bool stops_at_barrier(const struct sass *s)
{
    return s->pipe >= PIPE_SHARED && s->pipe <= PIPE_WGMMA;
}

// The warp has arrived at a barrier that keeps it from going on; *until: when it opens.
static bool waits_at_barrier(const struct sm_warp *w, const struct sass *s, double *until)
{
    if (!stops_at_barrier(s) || (w->at_barrier < 0 && w->opens <= *until))
        return false;
    *until = w->at_barrier < 0 ? w->opens : NEVER;
    return true;
}

// Looks at the warp's next instruction: true if it can issue now; else why not, and when to look again.
static bool can_issue(struct sm *sm, struct sm_warp *w, struct sm_subcore *c)
{
    const struct sass *s = w->next;
    double until = sm->now;
    sm_sleep(w, sm->now + 1);
    w->at_mbarrier = w->at_products = false;
    for (unsigned i = 0; i < SCOREBOARDS; i++)
        if (s->waits >> i & 1 && w->scoreboard[i] > until) {
            until = w->scoreboard[i];
            w->why = w->kind[i] == KIND_SHORT ? STATE_SHORT_SCOREBOARD : STATE_LONG_SCOREBOARD;
            w->at_mbarrier = w->kind[i] == KIND_MBARRIER;
        }
    if (waits_for_group(w, s, &until) && until > sm->now) {
        w->why = STATE_LONG_SCOREBOARD;
        w->at_mbarrier = false;
    }
    if (waits_at_barrier(w, s, &until)) {
        w->why = STATE_BARRIER;
        w->at_mbarrier = false;
    }
    if ((w->at_products = sm_waits_for_products(sm, w, s, &until)))
        w->why = STATE_BARRIER;  // so Nsight Compute counts it: in 15 and 16 all its other names together lack the time
    if (until > sm->now || !pipe_takes(sm, w, c, &until)) {
        sm_sleep(w, until > sm->now ? until : sm->now + 1);
        return false;
    }
    return true;
}

// --- issue ---

// Bit 77 of a barrier: the warp arrives and goes on.
static void arrive(struct sm *sm, struct sm_warp *w)
{
    const unsigned number = sm->event.barrier % NAMED_BARRIERS;
    struct sm_named *b = &sm->slots[w->slot].named[number];
    const double came = (sm->barrier_free > sm->now ? sm->barrier_free : sm->now) + sm->k->barrier_interval;
    sm->barrier_free = came;
    b->opens = came + sm->k->barrier_latency;
    b->needs = (sm->event.threads + WALK_LANES - 1) / WALK_LANES;
    b->arrived++;
    sm->pace.together = true;
    if (!sass_bits(sm->event.s, 77, 1))
        w->at_barrier = (int)number;
}

static void open_barriers(struct sm *sm, unsigned slot)
{
    struct sm_slot *b = &sm->slots[slot];
    for (int number = 0; number < NAMED_BARRIERS; number++) {
        struct sm_named *n = &b->named[number];
        if (!n->arrived || n->arrived < (n->needs ? n->needs : b->live))
            continue;
        n->arrived = 0;
        for (unsigned i = 0; i < b->warps; i++) {
            struct sm_warp *w = &sm->warps[slot * b->warps + i];
            if (w->at_barrier != number)
                continue;
            w->at_barrier = -1;
            w->opens = n->opens > sm->now ? n->opens : sm->now + 1;
            if (sm_sleeps(w))
                sm_sleep(w, w->opens);
        }
    }
}

static void count(struct sm *sm, const struct sass *s, double interval)
{
    static const int8_t counts[PIPES] = {
        [PIPE_FMA] = COUNT_FMA, [PIPE_IMAD] = COUNT_FMA, [PIPE_IMAD_WIDE] = COUNT_FMA, [PIPE_HALF] = COUNT_FMA,
        [PIPE_ALU] = COUNT_ALU, [PIPE_XU] = COUNT_XU,    [PIPE_FP64] = COUNT_FP64,     [PIPE_TENSOR] = COUNT_TENSOR
    };
    if (s->pipe <= PIPE_TENSOR && s->pipe != PIPE_UNIFORM)
        sm_busy(sm, (enum sm_count)counts[s->pipe], interval, sm->now, interval);
    sm->out->issued++;
    sm->out->thread_instructions += (unsigned)__builtin_popcount(sm->event.mask);
    sm->out->line_issued[sm->event.pc]++;
}

static void arithmetic(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const struct sm_constants *k = sm->k;
    const double interval = pipe_interval(sm, s);
    // A pipe that was waited for has begun in between cycles.
    double *free = &c->free[pipe_of(s)];
    *free = (*free > sm->now - 1 ? *free : sm->now) + (s->pipe == PIPE_TENSOR ? interval * k->full_card : interval);
    const double latency = s->pipe == PIPE_TENSOR ? k->mma_latency
                           : s->pipe == PIPE_FP64 ? k->fp64_latency
                                                  : k->xu_latency;
    sm_release(w, s->writes, sm->now + latency, KIND_SHORT);
    sm_release(w, s->reads, sm->now + k->read_latency, KIND_SHORT);
    sm_read_operands(sm, w, c, s);
    count(sm, s, interval);
}

static void special(struct sm *sm, struct sm_warp *w, const struct sass *s)
{
    if (s->effect == EFFECT_WGMMA)
        sm_wgmma(sm, w);
    if (s->effect == EFFECT_COPY_GROUP || s->effect == EFFECT_BULK_GROUP) {
        w->group[w->groups++ % GROUPS] = w->pending_copy;
        w->pending_copy = 0;
    }
    if (s->effect == EFFECT_BARRIER && sm->event.mask)
        arrive(sm, w);
}

// A block has ended. All slots are full until one has no block to follow; the first round warms the caches, so what
// ends with it is left out if there is more.
static void note_full(struct sm *sm)
{
    struct sm_result *r = sm->out;
    const bool warm = sm->ended == 1 && sm->job->blocks > sm->job->resident;
    if (warm) {
        r->full_from = sm->now;
        sm->issued_before = r->issued;
    } else if (sm->begun >= sm->job->blocks && r->full_to <= 0) {
        r->full_to = sm->now;
        r->full_issued = r->issued - sm->issued_before;
    }
}

static bool end_warp(struct sm *sm, struct sm_warp *w)
{
    struct sm_slot *b = &sm->slots[w->slot];
    w->active = false;
    sm_sleep(w, NEVER);
    sm->out->unknown_branches += w->walk.unknown_branches;
    sm->out->failed |= w->walk.failed;
    b->live--;
    open_barriers(sm, w->slot);
    if (b->live)
        return true;
    b->used = false;
    sm->ended++;
    note_full(sm);
    // All SMs together can end a block in 1.2 cycles.
    sm->block_ended =
        sm->block_ended + sm->k->block_interval > sm->now ? sm->block_ended + sm->k->block_interval : sm->now;
    // Its place stays taken until its stores have left the SM.
    const bool drains = b->drained > sm->block_ended && sm_follows(sm->job, RULE_drain);
    const double free = drains ? b->drained : sm->block_ended;
    return sm->begun >= sm->job->blocks || begin_block(sm, w->slot, free + sm->k->block_gap);
}

static void note_span(const struct sm *sm, const struct sm_warp *w, enum sm_state why, double until)
{
    const unsigned kind = why == STATE_LONG_SCOREBOARD && w->at_mbarrier ? KIND_MBARRIER_WAIT
                          : why == STATE_BARRIER && w->at_products       ? KIND_PRODUCT_WAIT
                                                                         : (unsigned)why;
    const struct sm_span s = { (uint64_t)w->since, (uint64_t)until, w->pc, (uint8_t)(w - sm->warps), (uint8_t)kind };
    sm_record_span(sm->job->recorder, &s);
}

// The warp has jumped back, from `from`.
static void note_turn(const struct sm *sm, const struct sm_warp *w, uint32_t from)
{
    const struct sm_turn t = { (uint64_t)sm->now, sm->slots[w->slot].number, from, w->pc, (uint8_t)(w - sm->warps) };
    sm_record_turn(sm->job->recorder, &t);
}

// The cycles since the warp was last looked at were spent in state `why`.
static void account(struct sm *sm, struct sm_warp *w, enum sm_state why, double until)
{
    if (until <= w->since)
        return;
    sm->out->state[why] += until - w->since;
    sm->out->line_state[(size_t)w->pc * STATES + why] += until - w->since;
    if (sm->job->recorder)
        note_span(sm, w, why, until);
    w->since = until;
}

// The warp goes on with another line of code than that of the instruction that it has issued.
static void fetch(struct sm *sm, struct sm_warp *w)
{
    if (!w->next || w->pc / LINE_INSTRUCTIONS == sm->event.pc / LINE_INSTRUCTIONS)
        return;
    const double there = sm_code_there(sm, w->pc, w->ready);
    if (there <= w->ready || sm_sleeps(w))
        return;
    w->why = STATE_NO_INSTRUCTION;
    w->ready = there;
    sm_sleep(w, there);
}

static bool issue(struct sm *sm, struct sm_warp *w, struct sm_subcore *c)
{
    const struct sass *s = w->next;
    w->ticket = 0;
    account(sm, w, STATE_SELECTED, sm->now + 1);
    walk_step(&w->walk, &sm->event);
    w->ready = sm->now + (s->stall > 1 ? s->stall : 1);
    w->why = STATE_WAIT;
    if (sm->event.jumped) {
        const double there = sm->now + sm->k->branch_latency;
        w->why = STATE_BRANCH;
        w->ready = there > w->ready ? there : w->ready;
    }
    sm_sleep(w, w->ready);
    if (is_memory(s)) {
        count(sm, s, 0);
        sm_read_operands(sm, w, c, s);
        sm_access(sm, w, c);
    } else {
        arithmetic(sm, w, c, s);
    }
    special(sm, w, s);
    c->last = w;
    c->yields = !s->yield && sm_follows(sm->job, RULE_yield);
    w->next = walk_next(&w->walk, &w->pc);
    fetch(sm, w);
    if (sm->job->recorder && w->next && w->pc <= sm->event.pc)
        note_turn(sm, w, sm->event.pc);
    if (!w->next)
        return end_warp(sm, w);
    if (s->effect == EFFECT_BARRIER)
        open_barriers(sm, w->slot);
    return true;
}

// Looks at a warp whose turn it is. Once one is chosen, the others wait.
static void look_at(struct sm *sm, struct sm_subcore *c, struct sm_warp *w, struct sm_warp **chosen)
{
    if (!*chosen || w->why != STATE_NOT_SELECTED)
        account(sm, w, w->why, sm->now);
    if (*chosen) {
        w->why = STATE_NOT_SELECTED;
        sm_sleep(w, sm->now + 1);
    } else if (can_issue(sm, w, c)) {
        *chosen = w;
    }
}

// One scheduler's turn.
static bool schedule(struct sm *sm, unsigned which)
{
    struct sm_subcore *c = &sm->sub[which];
    struct sm_warp *chosen = NULL, *last = c->last;
    const bool again = last && c->wake[last->place] <= sm->now;
    if (again && !c->yields)
        look_at(sm, c, last, &chosen);
    for (unsigned i = 0; i < HOME_WARPS; i++)
        if (c->wake[i] <= sm->now && &sm->warps[i * SUBCORES + which] != last)
            look_at(sm, c, &sm->warps[i * SUBCORES + which], &chosen);
    if (again && c->yields)
        look_at(sm, c, last, &chosen);
    if (chosen && !issue(sm, chosen, c))
        return false;
    c->soonest = c->wake[0];
    for (unsigned i = 1; i < HOME_WARPS; i++)
        c->soonest = c->wake[i] < c->soonest ? c->wake[i] : c->soonest;
    return true;
}

static bool run(struct sm *sm)
{
    for (unsigned i = 0; i < SUBCORES; i++)
        for (unsigned j = 0; j < HOME_WARPS; j++)
            sm->sub[i].wake[j] = NEVER;
    for (unsigned i = 0; i < sm->job->resident && sm->begun < sm->job->blocks; i++)
        if (!begin_block(sm, i, 0))
            return false;
    while (sm->ended < sm->begun) {
        double wake = NEVER;
        for (unsigned i = 0; i < SUBCORES; i++)
            if (sm->sub[i].soonest <= sm->now && !schedule(sm, i))
                return false;
        for (unsigned i = 0; i < SUBCORES; i++)  // a sub-core may have put warps of another one back to work
            wake = sm->sub[i].soonest < wake ? sm->sub[i].soonest : wake;
        if (wake >= NEVER && sm->ended < sm->begun)
            return false;  // all wait at a barrier that does not open
        sm->out->cycles = sm->now + 1;
        sm->now = wake > sm->now + 1 && wake < NEVER ? (double)(uint64_t)(wake + 0.999) : sm->now + 1;
    }
    return true;
}

bool sm_run(const struct sm_job *job, struct sm_result *out)
{
    struct sm *sm = calloc(1, sizeof *sm);
    const uint32_t n = job->launch->cubin->n;
    *out = (struct sm_result){ .line_state = calloc((size_t)n * STATES, sizeof(double)),
                               .line_issued = calloc(n, sizeof(uint64_t)) };
    const unsigned *b = job->launch->block;
    bool ok = sm && out->line_state && out->line_issued;
    if (ok) {
        sm->job = job;
        sm->k = &job->constants;
        sm->out = out;
        sm->unwritten = sm->k->l2_stored * (double)job->l2_share;
        sm->warps_of_block = (b[0] * b[1] * b[2] + WALK_LANES - 1) / WALK_LANES;
        sm->l1 = l1_new(job->l1_bytes, sm_follows(job, RULE_l1_keeps) ? L1_WAYS : L1_WAYS / 4);
        sm->far = l1_new(job->l2_bytes, L1_WAYS);
        sm->written = l1_new(job->l2_bytes, L1_WAYS);
        sm->pace.last_block = calloc(n, sizeof(uint32_t));
        ok = sm->pace.last_block && sm->l1 && sm->far && sm->written &&
             sm->warps_of_block * job->resident <= SM_WARPS && job->resident <= 32 && run(sm);
        out->blocks = sm->ended;
        out->cycles = fmax(out->cycles, fmax(fmax(sm->l2_in, sm->atomic), sm->block_ended));
        for (unsigned i = 0; i < SM_WARPS; i++)
            walk_end(&sm->warps[i].walk);
        l1_free(sm->l1);
        l1_free(sm->far);
        l1_free(sm->written);
        free(sm->pace.last_block);
    }
    free(sm);
    out->failed |= !ok;
    return !out->failed;
}

void sm_free(struct sm_result *r)
{
    free(r->line_state);
    free(r->line_issued);
}
