// The memory pipe. A sub-core hands over an access every few cycles; the SM's one data pipe moves a wavefront a
// cycle (128 bytes); results return to the sub-core a register every two cycles. Loads of global memory return in
// order: one that hits L1 waits for an earlier one that misses. A sector that L1 lacks passes L2's share of bandwidth,
// and DRAM's where L2 lacks it, too.
#include "simt/machine/cost.h"
#include "sm_parts.h"

#include <string.h>

bool sm_has_room(struct sm *sm, struct sm_subcore *c, double *at)
{
    struct sm_queue *q = &c->queue;
    const unsigned limit = QUEUE < sm->k->memory_queue ? QUEUE : (unsigned)sm->k->memory_queue;
    unsigned gone = 0;
    while (gone < q->n && q->begin[gone] <= sm->now)  // they begin in order
        gone++;
    q->n -= gone;
    memmove(q->begin, q->begin + gone, q->n * sizeof *q->begin);
    if (q->n < limit)
        return true;
    *at = q->begin[q->n - limit];
    return false;
}

static unsigned count_waves(const struct sass *s, const uint32_t *at, uint32_t mask, unsigned bytes)
{
    if (s->effect == EFFECT_LOAD_MATRIX || s->effect == EFFECT_STORE_MATRIX)
        return cost_matrices(at, bytes / 4).waves;
    return cost_shared(at, mask, bytes, s->effect == EFFECT_LOAD).waves;
}

// A warp that comes back to an instruction mostly finds its lanes in the same places to each other.
static unsigned shared_waves(struct sm *sm, const struct sass *s, const uint64_t *address, unsigned bytes)
{
    const struct walk_event *e = &sm->event;
    if (!e->has_address)
        return bytes < 4 ? 1 : bytes / 4;
    struct sm_pattern *p = &sm->patterns[e->pc % PATTERNS];
    const uint32_t first = (uint32_t)address[0];
    uint32_t from_first[WALK_LANES], differ = 0;
    for (unsigned i = 0; i < WALK_LANES; i++) {
        from_first[i] = (uint32_t)address[i] - first;
        differ |= from_first[i] ^ p->from_first[i];
    }
    if (p->s == s && p->mask == e->mask && !differ && first % 4 == 0)
        return p->waves;
    uint32_t at[WALK_LANES];
    for (unsigned i = 0; i < WALK_LANES; i++)
        at[i] = (uint32_t)address[i];
    *p = (struct sm_pattern){ .s = first % 4 ? NULL : s, .mask = e->mask, .waves = count_waves(s, at, e->mask, bytes) };
    memcpy(p->from_first, from_first, sizeof from_first);
    return p->waves;
}

// Distinct sectors of a global access; without addresses: side by side.
static unsigned find_sectors(const struct sm *sm, const struct sass *s, uint64_t sectors[4 * WALK_LANES])
{
    const struct walk_event *e = &sm->event;
    unsigned n = 0;
    for (unsigned i = 0; i < WALK_LANES; i++) {
        const uint64_t at = e->has_address ? e->address[i] / 32 : (0xffffffffull + sm->random + i * s->bytes) / 32;
        unsigned j = n;
        if (!(e->mask >> i & 1))
            continue;
        while (j && sectors[j - 1] != at)
            j--;
        if (!j)
            sectors[n++] = at;
    }
    return n;
}

static unsigned count_lines(const uint64_t *sectors, unsigned n)
{
    unsigned lines = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned j = 0;
        while (j < i && sectors[j] / 4 != sectors[i] / 4)
            j++;
        lines += j == i;
    }
    return lines;
}

// Strong accesses bypass L1.
static bool passes_l1(const struct sm *sm, const struct sass *s)
{
    return sm->job->launch->cubin->cc >= 80 && sass_bits(s, 77, 3) == 7;
}

// Half of what DRAM holds is behind the far half of L2. The latency is the mean of near and far; a load of many sectors
// waits for the slowest, which is all but surely far.
static double slowest_of(const struct sm *sm, unsigned sectors)
{
    return sm->k->far_latency * (1 - 1.0 / (1ull << ((sectors < 32 ? sectors : 32) - 1)));
}

double sm_fetch(struct sm *sm, const uint64_t *sectors, unsigned n, double at, float sharers, double rate, bool keep)
{
    const struct sm_constants *k = sm->k;
    double arrives = at + k->l1_latency;
    for (unsigned i = 0; i < n; i++) {
        if (keep && l1_has(sm->l1, sectors[i] * 32, true))
            continue;
        double latency = k->l2_latency;
        sm->l2 = (sm->l2 > at ? sm->l2 : at) + 32 / rate;
        sm_busy(sm, COUNT_L2, 32 * k->l2_rate / rate, sm->l2 - 32 / rate, 32 / rate);  // as a share of what L2 gives
        if (!l1_has(sm->far, sectors[i] * 32, true)) {
            // DRAM gives 64 bytes at a time (useful bytes a second halve with each stride up to 64 bytes, and hardly
            // beyond: dram_read_stride_16, _32), so that the sector beside it comes, too. The blocks that share the
            // sector come for it at the same time: all wait for DRAM, which is asked once.
            l1_has(sm->far, (sectors[i] ^ 1) * 32, true);
            sm->dram = (sm->dram > at ? sm->dram : at) + 64 / k->dram_rate / sharers;
            sm_busy(sm, COUNT_DRAM, 64 / sharers, sm->dram - 64 / k->dram_rate / sharers, 64 / k->dram_rate / sharers);
            latency = k->dram_latency + slowest_of(sm, n);
            arrives = sm->dram + latency > arrives ? sm->dram + latency : arrives;
        }
        arrives = sm->l2 + latency > arrives ? sm->l2 + latency : arrives;
    }
    return arrives;
}

double sm_write(struct sm *sm, const uint64_t *sectors, unsigned n, double at)
{
    const struct sm_constants *k = sm->k;
    sm->l2 = (sm->l2 > at ? sm->l2 : at) + n * 32 / k->l2_rate;
    sm_busy(sm, COUNT_L2, n * 32.0, sm->l2 - n * 32 / k->l2_rate, n * 32 / k->l2_rate);
    for (unsigned i = 0; i < n; i++) {
        l1_has(sm->far, sectors[i] * 32, true);
        if (l1_has(sm->written, sectors[i] * 32, true))
            continue;
        sm->dram = (sm->dram > at ? sm->dram : at) + 32 / k->dram_rate;
        sm_busy(sm, COUNT_DRAM, 32, sm->dram - 32 / k->dram_rate, 32 / k->dram_rate);
    }
    return sm->l2;
}

static double begin_access(struct sm *sm, struct sm_subcore *c, double waves)
{
    double begin = sm->now + 2;
    begin = c->port > begin ? c->port : begin;
    begin = sm->lsu > begin ? sm->lsu : begin;
    c->port = begin + sm->k->memory_interval;
    // The operands of products that are under way take their turns, too.
    sm->lsu = begin + (begin < sm->tensor ? waves / (1 - sm->tensor_waves) : waves);
    sm_busy(sm, COUNT_WAVES, waves, begin, waves);
    if (c->queue.n < QUEUE)
        c->queue.begin[c->queue.n++] = begin;
    return begin;
}

// The sub-core takes the registers of a result one by one, the first one number d. Each takes the write port of its
// bank for a cycle.
static double give_back(const struct sm *sm, struct sm_subcore *c, double *port, double at, unsigned d,
                        unsigned registers)
{
    const double begin = *port > at ? *port : at;
    *port = begin + sm->k->return_interval * registers;
    for (unsigned i = 0; i < registers && d != SASS_RZ; i++) {
        const uint64_t cycle = (uint64_t)(begin + sm->k->return_interval * i);
        c->written[(d + i) & 1][cycle % AHEAD] = (uint32_t)cycle;
    }
    return begin + sm->k->return_interval * (registers - 1);
}

static void global_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    uint64_t sectors[4 * WALK_LANES];
    const unsigned n = find_sectors(sm, s, sectors), lanes = (unsigned)__builtin_popcount(sm->event.mask);
    const unsigned lines = count_lines(sectors, n);
    const bool load = s->effect != EFFECT_STORE;
    unsigned waves = (lanes * s->bytes + 127) / 128;  // the data; and each line takes a turn at the tags
    waves = lines > waves ? lines : waves;
    if (s->effect == EFFECT_COPY)
        waves = 1;  // nothing comes back to registers: the data take their turns when they are stored in shared memory
    const double begin = begin_access(sm, c, waves ? waves : 1);
    // l1tex__data_pipe_lsu_wavefronts leaves copies out: of 13 at 4096 it has what ldmatrix, ld and st make, exactly.
    if (s->effect == EFFECT_COPY)
        sm_busy(sm, COUNT_WAVES, -(double)waves, begin, waves);
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_LONG);
    if (!load) {
        sm_write(sm, sectors, n, begin);
        return;
    }
    const float sharers = sm->job->loads ? sm->job->loads[sm->event.pc].sharers : 1;
    double arrives = sm_fetch(sm, sectors, n, begin, sharers, sm->k->l2_rate, !passes_l1(sm, s));
    sm->in_order = arrives > sm->in_order ? arrives : sm->in_order;
    if (s->effect == EFFECT_COPY) {
        const unsigned stores = shared_waves(sm, s, sm->event.to, s->bytes);
        sm->lsu += stores;
        w->pending_copy = sm->in_order > w->pending_copy ? sm->in_order : w->pending_copy;
        sm_release(w, s->writes, sm->in_order, KIND_LONG);
        return;
    }
    arrives = give_back(sm, c, &c->far_back, sm->in_order, s->d, s->bytes < 4 ? 1 : s->bytes / 4u);
    sm_release(w, s->writes, arrives, KIND_LONG);
}

static void local_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const unsigned words = s->bytes < 4 ? 1 : s->bytes / 4u;
    const double begin = begin_access(sm, c, words);
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_LONG);
    if (s->effect == EFFECT_LOAD_LOCAL) {
        const double arrives = begin + words - 1 + sm->k->l1_latency;
        sm->in_order = arrives > sm->in_order ? arrives : sm->in_order;
        sm_release(w, s->writes, give_back(sm, c, &c->far_back, sm->in_order, s->d, words), KIND_LONG);
    }
}

static void shared_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const unsigned waves = shared_waves(sm, s, sm->event.address, s->bytes);
    const double begin = begin_access(sm, c, waves ? waves : 1);
    const bool load = s->effect != EFFECT_STORE && s->effect != EFFECT_STORE_MATRIX;
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_SHORT);
    const double there = begin + (waves ? waves - 1 : 0) + sm->k->shared_latency - 2;
    if (load)
        sm_release(w, s->writes, give_back(sm, c, &c->back, there, s->d, s->bytes < 4 ? 1 : s->bytes / 4u), KIND_SHORT);
    else
        sm_release(w, s->writes, there, KIND_SHORT);
}

static void other_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const struct sm_constants *k = sm->k;
    const bool shuffle = s->pipe == PIPE_SHUFFLE;
    const double begin = begin_access(sm, c, shuffle ? 1 : 0);
    const double latency = shuffle ? k->shuffle_latency : s->pipe == PIPE_LDC ? k->constant_latency : k->system_latency;
    if (shuffle)
        c->port = begin + k->shuffle_interval;
    sm_release(w, s->reads, begin + k->read_latency, KIND_SHORT);
    sm_release(w, s->writes, give_back(sm, c, &c->back, begin + latency - 2, s->d, 1), KIND_SHORT);
}

void sm_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c)
{
    const struct sass *s = sm->event.s;
    if (!sm->event.mask) {  // no lane takes part: the scoreboards are free at once
        sm_release(w, s->writes, sm->now + sm->k->read_latency, KIND_SHORT);
        sm_release(w, s->reads, sm->now + sm->k->read_latency, KIND_SHORT);
        return;
    }
    if (s->effect >= EFFECT_LOAD && s->effect <= EFFECT_COPY)
        sm->out->unknown_addresses += !sm->event.has_address;
    if (s->pipe == PIPE_SHARED)
        shared_access(sm, w, c, s);
    else if (s->pipe == PIPE_GLOBAL || s->pipe == PIPE_COPY)
        global_access(sm, w, c, s);
    else if (s->pipe == PIPE_LOCAL)
        local_access(sm, w, c, s);
    else if (s->pipe == PIPE_ASYNC)
        sm_async(sm, w);
    else
        other_access(sm, w, c, s);
}
