// The memory pipe. A sub-core hands over an access every few cycles; the SM's one data pipe moves a wavefront a
// cycle (128 bytes); results return to the sub-core a register every two cycles. Accesses to global memory take
// turns at the tags of L1, too; a load that hits does not wait for those that miss. A sector that L1 lacks passes L2's
// share of bandwidth, and DRAM's where L2 lacks it, too.
#include "simt/machine/cost.h"
#include "sm_parts.h"

#include <string.h>

// Addresses of local memory, as the caches here see them: nothing else lies there.
#define LOCAL_BASE (1ull << 52)
#define LOCAL_OF_THREAD (1u << 19)  // bytes
#define LOCAL_OF_WARP ((uint64_t)LOCAL_OF_THREAD * WALK_LANES)

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

// Atomic operations on a bank take turns, those on the same word, too. ATOMS.POPC.INC counts the lanes that add one to
// a word: they take one turn.
static unsigned count_turns(const struct sass *s, const uint32_t *at, uint32_t mask)
{
    unsigned turns[WALK_LANES] = { 0 }, most = 1;
    for (unsigned i = 0; i < WALK_LANES; i++) {
        const unsigned bank = at[i] / 4 % WALK_LANES;
        if (mask >> i & 1 && ++turns[bank] > most)
            most = turns[bank];
    }
    return sass_bits(s, 87, 4) == 11 ? cost_shared(at, mask, 4, true).waves : most;
}

static unsigned count_waves(const struct sass *s, const uint32_t *at, uint32_t mask, unsigned bytes)
{
    if (s->effect == EFFECT_ATOMIC)
        return count_turns(s, at, mask);
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

// The distinct sectors of a global access, and the bytes of them; without addresses: side by side.
static void find_sectors(const struct sm *sm, const struct sass *s, struct sm_sectors *out)
{
    const struct walk_event *e = &sm->event;
    const uint32_t bytes = s->bytes >= 32 ? UINT32_MAX : (1u << s->bytes) - 1;
    out->n = out->lines = 0;
    out->more = 0;
    out->joins = s->effect == EFFECT_STORE && !sass_is_atomic(s) && sm_follows(sm->job, RULE_stores_join);
    for (unsigned i = 0; i < WALK_LANES; i++) {
        const uint64_t first = e->has_address ? e->address[i] : 0x1fffffffe0ull + i * s->bytes, at = first / 32;
        unsigned j = out->n, k = out->n;
        if (!(e->mask >> i & 1))
            continue;
        while (j && out->at[j - 1] != at)
            j--;
        if (!j) {
            while (k && out->at[k - 1] / 4 != at / 4)
                k--;
            out->lines += !k;
            out->at[out->n] = at;
            out->stored[out->n++] = 0;
            j = out->n;
        }
        out->stored[j - 1] |= bytes << first % 32;
    }
}

// Strong accesses bypass L1.
static bool passes_l1(const struct sm *sm, const struct sass *s)
{
    return sm->job->launch->cubin->cc >= 80 && sass_bits(s, 77, 3) == 7;
}

// When the turns of an access in the data pipe begin: at `soonest`, or later. While the port of one sub-core is not
// free, accesses of the others pass. Otherwise 02 without loads and barriers takes 9 % longer than on the H200, with it
// 0.2 %: two accesses of one sub-core, one behind the other, would leave a turn free each time.
static double take_turns(struct sm *sm, double soonest, double turns)
{
    for (unsigned i = 0; i < GAPS && sm_follows(sm->job, RULE_take_turns); i++) {
        struct sm_gap *g = &sm->gaps[i];
        const double begin = g->from > soonest ? g->from : soonest;
        if (begin + turns <= g->to) {
            g->from = begin + turns;
            return begin;
        }
    }
    const double begin = sm->lsu > soonest ? sm->lsu : soonest;
    if (begin > sm->lsu)
        sm->gaps[sm->next_gap++ % GAPS] = (struct sm_gap){ sm->lsu, begin };
    sm->lsu = begin + turns;
    return begin;
}

static double begin_access(struct sm *sm, struct sm_subcore *c, double waves)
{
    const double soonest = c->port > sm->now + 2 ? c->port : sm->now + 2;
    // The operands of products that are under way take their turns, too.
    const bool beside =
        (sm->lsu > soonest ? sm->lsu : soonest) < sm->tensor && sm_follows(sm->job, RULE_beside_products);
    const double begin = take_turns(sm, soonest, beside ? waves / (1 - sm->tensor_waves) : waves);
    c->port = begin + sm->k->memory_interval;
    sm_busy(sm, COUNT_WAVES, waves, begin, waves);
    if (c->queue.n < QUEUE)
        c->queue.begin[c->queue.n++] = begin;
    return begin;
}

// Stores wait in L1's queue until L2 takes them. Where that is full, accesses behind them wait, too.
static void store(struct sm *sm, const struct sm_warp *w, const struct sm_sectors *s, double at)
{
    const double taken = sm_write(sm, s, at), full = taken - sm->k->store_queue;
    struct sm_slot *b = &sm->slots[w->slot];
    b->drained = taken > b->drained ? taken : b->drained;
    sm->lsu = full > sm->lsu ? full : sm->lsu;
}

// How often the lanes of an atomic operation that lie in the same group as lane i name one word, at most, and how many
// lanes lie there; *first: no lane before it does.
static unsigned count_group(const struct walk_event *e, unsigned i, unsigned *lanes, bool *first)
{
    unsigned most = 1;
    *lanes = 0;
    *first = true;
    for (unsigned j = 0; j < WALK_LANES; j++) {
        unsigned same = 0;
        if (!(e->mask >> j & 1) || e->address[j] / SM_ATOMIC_GROUP != e->address[i] / SM_ATOMIC_GROUP)
            continue;
        *first &= j >= i;
        ++*lanes;
        for (unsigned n = 0; n < WALK_LANES; n++)
            same += e->mask >> n & 1 && e->address[n] == e->address[j];
        most = same > most ? same : most;
    }
    return most;
}

// L2 takes `turn` cycles for operations on words of a group, asked for at `at`: when it begins. Those of other SMs come
// between: they are spread over all groups that the instruction goes through, so that the fewer these are, the more of
// them stand at the same one.
static double pass_group(struct sm *sm, uint64_t group, double turn, double at)
{
    struct sm_due *g = &sm->groups[group % ATOMIC_GROUPS];
    const double begin = g->number == group + 1 && g->at > at ? g->at : at;
    *g = (struct sm_due){ group + 1, begin + turn };
    sm->atomic = g->at > sm->atomic ? g->at : sm->atomic;
    return begin;
}

// Operations on one word are carried out one after the other, by whichever SM, and so are those on words side by side:
// when the last one of this instruction has been. Stores and operations behind it wait for a place in a group's queue.
static double do_atomic(struct sm *sm, const struct sass *s, struct sm_sectors *sectors, const struct sm_load *load,
                        double at)
{
    const struct sm_constants *k = sm->k;
    const struct walk_event *e = &sm->event;
    const double sms = (double)load->sharers / sm->job->resident;
    const double others = sms > 1 ? 1 + (sms - 1) / load->groups : 1;
    double done = at;
    unsigned packets = 0;
    for (unsigned i = 0; i < WALK_LANES && e->mask; i++) {
        unsigned lanes;
        bool first;
        if (!(e->mask >> i & 1))
            continue;
        const unsigned most = e->has_address ? count_group(e, i, &lanes, &first) : 1;
        if (e->has_address && !first)
            continue;
        if (!e->has_address)
            lanes = (unsigned)__builtin_popcount(e->mask);
        const double turn = most * (sass_is_float_atomic(s) ? k->atomic_float : k->atomic_integer);
        const double line = k->atomic_line * lanes / WALK_LANES, all = (turn > line ? turn : line) * others;
        const double begin = pass_group(sm, e->has_address ? e->address[i] / SM_ATOMIC_GROUP : 0, all, at);
        done = begin + all > done ? begin + all : done;
        sm->lsu = begin > sm->lsu ? begin : sm->lsu;
        packets += sass_is_float_atomic(s) ? most - 1 : 0;
        if (!e->has_address)
            break;
    }
    sectors->more = __builtin_popcount(e->mask) * k->atomic_lane + packets * (k->store_line + k->store_part);
    return done;
}

// Turns at the tags of L1: accesses to global memory take them one after the other, and those to shared memory pass by.
static double count_tags(const struct sm *sm, const struct sass *s, const struct sm_sectors *sectors)
{
    const struct sm_constants *k = sm->k;
    if (s->effect == EFFECT_LOAD)
        return sectors->lines * (s->bytes == 16 ? k->tag_wide : 1);
    return s->effect == EFFECT_STORE && !sass_is_atomic(s)
               ? sectors->n * k->tag_store_sector + sectors->lines * k->tag_store_line
               : 0;
}

// It stays in the queue until its turn has come, and those behind it may begin before.
static double pass_tags(struct sm *sm, struct sm_subcore *c, double at, double turns)
{
    const double begin = sm->tags > at ? sm->tags : at;
    sm->tags = begin + turns;
    if (c->queue.n)
        c->queue.begin[c->queue.n - 1] = begin;
    return begin;
}

static void global_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    struct sm_sectors sectors;
    const unsigned lanes = (unsigned)__builtin_popcount(sm->event.mask);
    const bool load = s->effect != EFFECT_STORE;
    const bool copy_turns = s->effect == EFFECT_COPY && sm_follows(sm->job, RULE_copy_turns);
    unsigned waves = (lanes * s->bytes + 127) / 128;  // the data; and each line takes a turn at the tags
    find_sectors(sm, s, &sectors);
    waves = sectors.lines > waves ? sectors.lines : waves;
    if (copy_turns)
        waves = 1;  // nothing comes back to registers: the data take their turns when they are stored in shared memory
    const double begin = pass_tags(sm, c, begin_access(sm, c, waves ? waves : 1), count_tags(sm, s, &sectors));
    // l1tex__data_pipe_lsu_wavefronts leaves copies out: of 13 at 4096 it has what ldmatrix, ld and st make, exactly.
    if (s->effect == EFFECT_COPY)
        sm_busy(sm, COUNT_WAVES, -(double)waves, begin, waves);
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_LONG);
    static const struct sm_load alone = { .sharers = 1, .groups = 1 };
    const struct sm_load *shared = sm->job->loads ? &sm->job->loads[sm->event.pc] : &alone;
    const float sharers = shared->sharers;
    const double done = sass_is_atomic(s) ? do_atomic(sm, s, &sectors, shared, begin) : 0;
    if (s->effect == EFFECT_STORE)
        sm_read_stored(c, s, begin);
    if (!load || sass_is_atomic(s))
        store(sm, w, &sectors, begin);
    if (!load)
        return;
    sm->first_before = sm_first_before(sm, w, sharers);
    double arrives = sm_fetch(sm, sectors.at, sectors.n, begin, sharers, sm->k->l2_rate, !passes_l1(sm, s) && !done);
    sm->first_before = 0;
    if (sharers > 1)
        sm_note_round(sm, w, arrives);
    arrives = done + sm->k->l2_latency > arrives ? done + sm->k->l2_latency : arrives;
    if (s->effect == EFFECT_COPY) {
        const unsigned stores = shared_waves(sm, s, sm->event.to, s->bytes);
        sm->lsu += copy_turns ? stores : 0;
        w->pending_copy = arrives > w->pending_copy ? arrives : w->pending_copy;
        sm_release(w, s->writes, arrives, KIND_LONG);
        return;
    }
    arrives = sm_give_far_back(sm, c, arrives, s->d, s->bytes < 4 ? 1 : s->bytes / 4u);
    sm_release(w, s->writes, arrives, KIND_LONG);
}

// Word i of a thread's local memory lies beside word i of the warp's other threads.
static void find_local(const struct sm *sm, const struct sm_warp *w, unsigned words, struct sm_sectors *out)
{
    const struct walk_event *e = &sm->event;
    const uint64_t base = LOCAL_BASE + (uint64_t)(w - sm->warps) * LOCAL_OF_WARP;
    *out = (struct sm_sectors){ .n = 0 };
    for (unsigned i = 0; i < WALK_LANES * words; i++) {
        const unsigned lane = i % WALK_LANES;
        const uint64_t word = (e->has_address ? (uint32_t)e->address[lane] % LOCAL_OF_THREAD / 4 : 0) + i / WALK_LANES;
        const uint64_t at = (base + (word * WALK_LANES + lane) * 4) / 32;
        unsigned j = out->n;
        if (!(e->mask >> lane & 1))
            continue;
        while (j && out->at[j - 1] != at)
            j--;
        if (j)
            continue;
        out->stored[out->n] = UINT32_MAX;
        out->at[out->n++] = at;
    }
    out->lines = (out->n + 3) / 4;
    out->more = out->lines * (sm->k->local_line - sm->k->store_line);
}

// What is stored to local memory stays in L1, and goes to L2 at once: streams of stores are as slow where all of it
// would fit into L1 (local_store_32_24_kb_24_warps_1_sms).
static void local_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const unsigned words = s->bytes < 4 ? 1 : s->bytes / 4u;
    const double begin = begin_access(sm, c, words);
    struct sm_sectors sectors;
    find_local(sm, w, words, &sectors);
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_LONG);
    if (s->effect == EFFECT_STORE_LOCAL) {
        for (unsigned i = 0; i < sectors.n; i++)
            l1_has(sm->l1, sectors.at[i] * 32, true);
        store(sm, w, &sectors, begin);
        sm_read_stored(c, s, begin);
        return;
    }
    const double arrives = sm_fetch(sm, sectors.at, sectors.n, begin, 1, sm->k->l2_rate, true) + words - 1;
    sm_release(w, s->writes, sm_give_far_back(sm, c, arrives, s->d, words), KIND_LONG);
}

static void shared_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const unsigned waves = shared_waves(sm, s, sm->event.address, s->bytes);
    const double begin = begin_access(sm, c, waves ? waves : 1);
    const bool load = s->effect != EFFECT_STORE && s->effect != EFFECT_STORE_MATRIX;
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_SHORT);
    const double there = begin + (waves ? waves - 1 : 0) + sm->k->shared_latency - 2;
    if (load)
        sm_release(w, s->writes, sm_give_back(sm, c, there, s->d, s->bytes < 4 ? 1 : s->bytes / 4u), KIND_SHORT);
    else
        sm_release(w, s->writes, there, KIND_SHORT);
    if (!load)
        sm_read_stored(c, s, begin);
}

// The cache of constants answers for one place after the other, to all sub-cores; an instruction takes a turn even if
// its guard holds in no lane. Returns when the last turn is.
static double pass_constants(struct sm *sm, double at)
{
    const double turns = sm->event.constants * sm->k->constant_interval;
    sm->constants = (sm->constants > at ? sm->constants : at) + turns;
    return sm->constants - sm->k->constant_interval;
}

// Constants and special registers come from elsewhere: they do not wait for accesses to memory. At its end 07 loads an
// address from the constants between its stores; on the H200 nothing waits for that, and here 230 to 330 cycles each
// time passed without this rule.
static double begin_beside(const struct sm *sm, struct sm_subcore *c)
{
    const double begin = c->beside > sm->now + 2 ? c->beside : sm->now + 2;
    c->beside = begin + sm->k->memory_interval;
    return begin;
}

static void other_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const struct sm_constants *k = sm->k;
    const bool shuffle = s->pipe == PIPE_SHUFFLE;
    const bool beside = !shuffle && sm_follows(sm->job, RULE_constants_beside);
    const double begin = beside ? begin_beside(sm, c) : begin_access(sm, c, 1);
    const double latency = shuffle ? k->shuffle_latency : s->pipe == PIPE_LDC ? k->constant_latency : k->system_latency;
    if (shuffle)
        c->port = begin + k->shuffle_interval;
    sm_release(w, s->reads, begin + k->read_latency, KIND_SHORT);
    const double there = s->pipe == PIPE_LDC ? pass_constants(sm, begin) : begin;
    sm_release(w, s->writes, sm_give_back(sm, c, there + latency - 2, s->d, 1), KIND_SHORT);
}

// No lane takes part. In shared memory the access takes a turn of the data pipe nevertheless: of sample_reduce1 the
// H200 counts 325 wavefronts a block, 150 of accesses that lanes take part in, and the others are these.
static void empty_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    const bool shared = s->pipe == PIPE_SHARED && sm_follows(sm->job, RULE_empty_access);
    const double begin = shared ? begin_access(sm, c, 1) : sm->now;
    sm_release(w, s->reads, begin + sm->k->read_latency, KIND_SHORT);
    sm_release(w, s->writes, begin + (shared ? sm->k->shared_latency : sm->k->read_latency), KIND_SHORT);
}

void sm_access(struct sm *sm, struct sm_warp *w, struct sm_subcore *c)
{
    const struct sass *s = sm->event.s;
    if (!sm->event.mask && s->pipe != PIPE_LDC) {
        empty_access(sm, w, c, s);
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
