// The register file of a sub-core: two banks, even registers and odd ones. Each reads one register and writes one in a
// cycle. The rules were read off an H200 by kernels whose machine code was changed register by register
// (bench/registers).
#include "sm_parts.h"

#define READ_CYCLES 2   // for the operands of an instruction
#define WRITE_CYCLES 4  // until the result of a fixed latency is written
#define PATIENCE 16     // cycles that a result from memory waits for a write port that is free
#define BOTH_BANKS 3u
#define MMA_WRITE_CYCLES 18  // not measured; it makes no difference which

static struct sm_ahead *cycle_ahead(struct sm_registers *r, uint64_t cycle)
{
    struct sm_ahead *a = &r->ahead[cycle % AHEAD];
    if (a->cycle != (uint32_t)cycle + 1)
        *a = (struct sm_ahead){ .cycle = (uint32_t)cycle + 1 };
    return a;
}

// From which cycle on it has to be looked at what is written down, up to `until`.
static uint64_t first_unseen(uint64_t seen, uint64_t until)
{
    return seen + AHEAD > until ? seen + 1 : until + 1 - AHEAD;
}

// --- reads ---

// The reuse cache of a sub-core has a place for each bank and operand, whichever warp reads: it names the warp, too.
static uint32_t cache_tag(const struct sm *sm, const struct sm_warp *w, unsigned reg)
{
    return (uint32_t)(w - sm->warps) << 8 | (reg + 1u);
}

static bool is_load(const struct sass *s)
{
    return s->pipe >= PIPE_SHARED && s->pipe <= PIPE_LOCAL && s->effect != EFFECT_STORE &&
           s->effect != EFFECT_STORE_MATRIX && s->effect != EFFECT_STORE_LOCAL;
}

// How many operands each bank has to read; there: by place, those that the cache has, and those that are none. An
// access to memory reads its address so, if it has no data to read.
static void count_reads(const struct sm *sm, const struct sm_warp *w, const struct sm_registers *r,
                        const struct sass *s, unsigned reads[2], bool there[3])
{
    reads[0] = reads[1] = 0;
    there[0] = there[1] = there[2] = true;
    for (unsigned i = 0; i < s->source; i++) {
        bool known = r->cached[s->sources[i] & 1][s->slots[i]] == cache_tag(sm, w, s->sources[i]);
        there[s->slots[i]] = known;
        for (unsigned j = 0; j < i; j++)
            known |= s->sources[j] == s->sources[i];
        reads[s->sources[i] & 1] += !known;
    }
    if (is_load(s) && s->a != SASS_RZ)
        reads[s->a & 1]++;
}

// What stores have read up to the cycle came before the operands of its instruction.
static void pass_stores(struct sm_registers *r, uint64_t cycle)
{
    for (uint64_t c = first_unseen(r->read, cycle); c <= cycle; c++)
        for (unsigned i = 0; i < 2 && r->ahead[c % AHEAD].cycle == (uint32_t)c + 1; i++)
            r->bank[i] = (r->bank[i] > (double)c ? r->bank[i] : (double)c) + r->ahead[c % AHEAD].reads[i];
    r->read = cycle;
}

void sm_read_stored(struct sm_subcore *c, const struct sass *s, double at)
{
    struct sm_ahead *a = cycle_ahead(&c->registers, (uint64_t)at);
    const unsigned data = sass_bits(s, 32, 8), registers = s->bytes < 4 ? 1 : s->bytes / 4u;
    if (data == SASS_RZ)
        return;
    if (s->a != SASS_RZ)
        a->reads[s->a & 1]++;
    for (unsigned i = 0; i < registers; i++)
        a->reads[(data + i) & 1]++;
}

// --- writes ---

static void push_results(struct sm_registers *r, uint64_t cycle)
{
    const struct sm_ahead *a = &r->ahead[cycle % AHEAD];
    if (a->cycle != (uint32_t)cycle + 1)
        return;
    for (unsigned banks = 1; banks <= BOTH_BANKS; banks++)
        for (unsigned i = 0; i < a->results[banks] && r->n < RESULTS; i++)
            r->results[(r->first + r->n++) % RESULTS] = (struct sm_result_due){ cycle, banks };
}

static void pop_result(struct sm_registers *r)
{
    r->first = (r->first + 1) % RESULTS;
    r->n--;
}

static bool is_taken(const struct sm_registers *r, uint64_t cycle)
{
    const struct sm_ahead *a = &r->ahead[cycle % AHEAD];
    return a->cycle == (uint32_t)cycle + 1 && a->taken;
}

// An instruction would write to the bank in the cycle: when it does. Results from memory are written in cycles without
// such a write. One that has waited for too long goes first.
static uint64_t write_result(struct sm_registers *r, uint64_t cycle, unsigned bank)
{
    for (;; cycle++) {
        for (uint64_t c = first_unseen(r->written, cycle); c <= cycle; c++) {
            push_results(r, c);
            if (c < cycle && r->n && !is_taken(r, c))
                pop_result(r);
        }
        r->written = cycle;
        if (is_taken(r, cycle))
            continue;
        if (!r->n)
            return cycle;
        const struct sm_result_due *due = &r->results[r->first];
        const bool other = !(due->banks >> bank & 1);
        if (!other && cycle < due->since + PATIENCE)
            return cycle;
        pop_result(r);
        if (other)
            return cycle;
    }
}

static void due_result(struct sm_subcore *c, double at, unsigned d, bool both)
{
    if (d != SASS_RZ)
        cycle_ahead(&c->registers, (uint64_t)at)->results[both ? BOTH_BANKS : 1u << (d & 1)]++;
}

// --- instructions ---

// The operands are read within two cycles, a bank one in each; three of them from the cycle before on. Where that does
// not fit, the instruction stands in the way of the next one, whichever warp that is from (arXiv 2503.20481 has such a
// rule): when it begins.
static double read_banks(struct sm_registers *r, double begins, const unsigned reads[2])
{
    const unsigned all = reads[0] + reads[1], early = all > READ_CYCLES ? all - READ_CYCLES : 0;
    for (unsigned i = 0; i < 2; i++)
        if (reads[i] && r->bank[i] + reads[i] > begins + READ_CYCLES)
            begins = r->bank[i] + reads[i] - READ_CYCLES;
    for (unsigned i = 0; i < 2; i++)
        if (reads[i])
            r->bank[i] = (r->bank[i] > begins - early ? r->bank[i] : begins - early) + reads[i];
    return begins;
}

// mma reads pairs of registers, from both banks at once: a beside b, then c. Instructions behind it that read registers
// wait for that. Pairs of its result take both write ports.
static void multiply(struct sm_registers *r, double begins, const struct sass *s, const bool there[3])
{
    const unsigned a = there[0] ? 0 : sass_bits(s, 75, 1) ? 2 : 1, b = there[1] ? 0 : 1;
    const unsigned of_c = sass_bits(s, 76, 1) ? 2 : 1, pairs = (a > b ? a : b) + (there[2] ? 0 : of_c);
    for (unsigned i = 0; i < 2 && pairs; i++)
        r->bank[i] = (r->bank[i] > begins + 1 ? r->bank[i] : begins + 1) + pairs + 1;
    for (unsigned i = 0; i < of_c && s->d != SASS_RZ; i++)
        cycle_ahead(r, (uint64_t)begins + MMA_WRITE_CYCLES + i)->taken = true;
}

// An instruction that has to leave its write port to a result from memory stands in the way of the next one, too.
void sm_read_operands(struct sm *sm, struct sm_warp *w, struct sm_subcore *c, const struct sass *s)
{
    struct sm_registers *r = &c->registers;
    unsigned reads[2];
    bool there[3];
    double begins = sm->now;
    count_reads(sm, w, r, s, reads, there);
    pass_stores(r, (uint64_t)begins);
    if (s->code == CODE_HMMA)
        multiply(r, begins, s, there);
    else
        begins = read_banks(r, begins, reads);
    if (s->fixed)
        begins = (double)write_result(r, (uint64_t)begins + WRITE_CYCLES, s->d & 1) - WRITE_CYCLES;
    r->operands = begins + 1;
    for (unsigned i = 0; i < s->source; i++)
        r->cached[s->sources[i] & 1][s->slots[i]] = s->reuse >> s->slots[i] & 1 ? cache_tag(sm, w, s->sources[i]) : 0;
}

// --- results from memory ---

// The sub-core takes the registers of a result one by one, the first one number d. Two of them are written together,
// to both banks. What comes from farther away comes in any order, and finds the next free turn.
double sm_give_far_back(const struct sm *sm, struct sm_subcore *c, double at, unsigned d, unsigned registers)
{
    const unsigned step = (unsigned)sm->k->return_interval;
    uint64_t cycle = (uint64_t)at, last = cycle;
    for (unsigned i = 0; i < registers; i++, cycle += step) {
        while (c->returns[cycle / step % AHEAD] == (uint32_t)(cycle / step) + 1)
            cycle += step;
        c->returns[cycle / step % AHEAD] = (uint32_t)(cycle / step) + 1;
        if (i % 2 || i + 1 == registers)
            due_result(c, (double)cycle, d, i % 2);
        last = cycle;
    }
    return (double)last;
}

// What comes from shared memory comes in order.
double sm_give_back(const struct sm *sm, struct sm_subcore *c, double at, unsigned d, unsigned registers)
{
    const double begin = c->back > at ? c->back : at;
    c->back = begin + sm->k->return_interval * registers;
    for (unsigned i = 0; i < registers; i++)
        if (i % 2 || i + 1 == registers)
            due_result(c, begin + sm->k->return_interval * i, d, i % 2);
    return begin + sm->k->return_interval * (registers - 1);
}
