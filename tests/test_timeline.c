// What the clock records for timelines: each warp does one thing in each cycle, what is known beforehand comes out
// exactly, and all cycles add up to the clock's own table.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simt/clock/sm_record.h"

// --- a kernel of five instructions, by hand ---

static struct sass decoded(uint64_t lo, uint64_t hi, unsigned stall, unsigned waits)
{
    struct sass s;
    sass_decode(lo, hi, 90, &s);
    s.stall = (uint8_t)stall;
    s.waits = (uint8_t)waits;
    s.guard = 7;
    s.guard_not = false;
    return s;
}

struct toy {
    struct sass code[5];
    struct cubin cubin;
    struct walk_launch launch;
    struct sm_recorder recorder;
    struct sm_result result;
};

// The words are from listings of nvdisasm. All four warps wait for a load, and then for each other.
static void run_toy(struct toy *t, uint64_t from, uint64_t to)
{
    *t = (struct toy){ .code = {
                           decoded(0x000000061a087211, 0x080fe400078210ff, 4, 0),  // LEA R8, P1, R26, R6, 0x2
                           decoded(0x0000000c08178981, 0x0002a8000c1e1900, 2, 0),  // LDG.E R23, [R8.64]: scoreboard 2
                           decoded(0x000000061a087211, 0x080fe400078210ff, 1, 1 << 2),  // waits for it
                           decoded(0x0102000000007b1d, 0x000fe20000010000, 5, 0),       // BAR.SYNC 0x4, 0x80
                           decoded(0x000000000000794d, 0x000fea0003800000, 1, 0),       // EXIT
                       } };
    t->cubin = (struct cubin){ .code = t->code, .n = 5, .cc = 90 };
    t->launch = (struct walk_launch){ .cubin = &t->cubin, .grid = { 1, 1, 1 }, .block = { 128, 1, 1 } };
    const struct sm_job job = { .launch = &t->launch,
                                .constants = sm_constants_h200,
                                .resident = 1,
                                .blocks = 1,
                                .stride = 1,
                                .l1_bytes = 1 << 17,
                                .l2_bytes = 1 << 20,
                                .recorder = &t->recorder };
    cr_assert(sm_record_begin(&t->recorder, from, to));
    cr_assert(sm_run(&job, &t->result));
    cr_assert(!t->recorder.failed);
}

static void free_toy(struct toy *t)
{
    sm_record_free(&t->recorder);
    sm_free(&t->result);
}

// The n-th span of a warp; NULL: it has fewer.
static const struct sm_span *span_of(const struct sm_recorder *r, unsigned warp, unsigned n)
{
    for (size_t i = 0; i < r->n_spans; i++)
        if (r->spans[i].warp == warp && !n--)
            return &r->spans[i];
    return NULL;
}

Test(timeline, a_kernel_of_five_instructions_does_what_its_words_say)
{
    static const struct {
        unsigned kind, pc, cycles;  // 0 cycles: as long as it takes
    } expected[] = {
        { STATE_SELECTED, 0, 1 },        { STATE_WAIT, 1, 3 },     { STATE_SELECTED, 1, 1 }, { STATE_WAIT, 2, 1 },
        { STATE_LONG_SCOREBOARD, 2, 0 }, { STATE_SELECTED, 2, 1 }, { STATE_SELECTED, 3, 1 }, { STATE_BARRIER, 4, 0 },
        { STATE_SELECTED, 4, 1 },
    };
    const size_t n = sizeof expected / sizeof *expected;
    struct toy t;
    run_toy(&t, 0, 10000);
    for (unsigned warp = 0; warp < 4; warp++) {
        uint64_t at = 0;
        for (unsigned i = 0; i < n; i++) {
            const struct sm_span *s = span_of(&t.recorder, warp, i);
            cr_assert(s, "warp %u has %u spans", warp, i);
            cr_expect(s->kind == expected[i].kind && s->pc == expected[i].pc && s->from == at, "%u, %u: %u at %u, %d",
                      warp, i, s->kind, s->pc, (int)s->from);
            if (expected[i].cycles)
                cr_expect_eq(s->to - s->from, expected[i].cycles, "%u, %u: %d cycles", warp, i, (int)(s->to - s->from));
            else if (s->kind == STATE_LONG_SCOREBOARD)
                cr_expect((double)(s->to - s->from) >= sm_constants_h200.dram_latency, "%d cycles",
                          (int)(s->to - s->from));
            at = s->to;
        }
        cr_expect_null(span_of(&t.recorder, warp, (unsigned)n));
        cr_expect_eq(at, span_of(&t.recorder, 0, (unsigned)n - 1)->to, "the barrier lets all go at once");
    }
    free_toy(&t);
}

Test(timeline, spans_add_up_to_the_clocks_table_and_busy_to_its_pipes)
{
    struct toy t;
    double state[SM_KINDS] = { 0 }, busy[COUNTS] = { 0 };
    run_toy(&t, 0, 10000);
    for (size_t i = 0; i < t.recorder.n_spans; i++)
        state[t.recorder.spans[i].kind] += (double)(t.recorder.spans[i].to - t.recorder.spans[i].from);
    for (size_t i = 0; i < 10000 * COUNTS; i++)
        busy[i % COUNTS] += t.recorder.busy[i];
    for (unsigned i = 0; i < STATES; i++)
        cr_expect_float_eq(state[i], t.result.state[i], 1e-9, "%s", sm_state_name((enum sm_state)i));
    for (unsigned i = 0; i < COUNTS; i++)
        cr_expect_float_eq(busy[i], t.result.busy[i], 1e-6, "%u: %g, %g", i, busy[i], t.result.busy[i]);
    cr_expect(busy[COUNT_ALU] > 0 && busy[COUNT_DRAM] > 0);
    free_toy(&t);
}

Test(timeline, only_the_cycles_asked_for_are_kept)
{
    struct toy all, part;
    run_toy(&all, 0, 10000);
    run_toy(&part, 2, 20);
    for (unsigned warp = 0; warp < 4; warp++) {
        const struct sm_span *first = span_of(&part.recorder, warp, 0), *last = span_of(&part.recorder, warp, 3);
        cr_assert(first && last && !span_of(&part.recorder, warp, 4));
        cr_expect(first->kind == STATE_WAIT && first->from == 2 && first->to == 4);
        cr_expect(last->kind == STATE_LONG_SCOREBOARD && last->to == 20);
    }
    cr_expect_float_eq(all.result.cycles, part.result.cycles, 0);
    free_toy(&all);
    free_toy(&part);
}
