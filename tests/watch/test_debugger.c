// The debugger of a block: forwards and back, who made a value, who wrote a byte, who came to an mbarrier.
#include <criterion/criterion.h>

#include <string.h>

#include "watch_case.h"

TestSuite(debugger);

// Of watch_case_text.
enum {
    THREADS = 64,
    ADD = 6,
    COUNT = 8,
    STORE = 14,
    BARRIER = 15,
    LOAD = 18,
    OF_A_WARP = 5 + 3 * 6 - 1 + 10
};  // a branch that no lane takes is no step

static uint64_t next(const struct watch_case *c, uint64_t from, enum watch_stop stop, uint32_t warp, uint32_t number,
                     bool back)
{
    const struct watch_search search = { .stop = stop, .back = back, .warp = warp, .number = number };
    return watch_next(c->watch, from, &search);
}

Test(debugger, records_every_step_of_every_warp)
{
    struct watch_case c;
    watch_case_open(&c, watch_case_text, THREADS);
    cr_expect_eq(watch_warps(c.watch), 2);
    cr_expect_eq(watch_steps(c.watch), 2 * OF_A_WARP);
    cr_expect_eq(watch_step_of_warp(c.watch, watch_steps(c.watch), 1), OF_A_WARP);
    const struct watch_step first = watch_step(c.watch, 0);
    cr_expect(first.warp == 0 && first.instruction == 0 && first.lanes == UINT32_MAX);
    watch_case_close(&c);
}

Test(debugger, finds_the_steps_before_and_after)
{
    struct watch_case c;
    watch_case_open(&c, watch_case_text, THREADS);
    const uint64_t third = next(&c, WATCH_NONE, WATCH_AT, 1, ADD, true);
    const uint64_t second = next(&c, third, WATCH_AT, 1, ADD, true);
    cr_assert_neq(second, WATCH_NONE);
    cr_expect_eq(next(&c, second, WATCH_AT, 1, ADD, false), third);
    cr_expect_eq(next(&c, third, WATCH_AT, 1, ADD, false), WATCH_NONE);
    cr_expect_eq(watch_step(c.watch, next(&c, third, WATCH_BARRIER, 1, 0, false)).instruction, BARRIER);
    cr_expect_eq(watch_step(c.watch, next(&c, third, WATCH_STEP, 1, 0, false)).instruction, ADD + 1);
    watch_case_close(&c);
}

// Each run begins with out as it was when the watch was opened.
Test(debugger, shows_the_same_values_forwards_and_back)
{
    struct watch_case c;
    watch_case_open(&c, watch_case_text, THREADS);
    uint64_t at[3], moment = WATCH_NONE;
    for (int i = 0; i < 3; i++)
        at[i] = moment = next(&c, moment, WATCH_AT, 1, ADD, false);
    for (int i = 0; i < 9; i++)
        cr_expect_eq(watch_case_value(&c, at[i * 2 % 3], 1, 5, "%r2"), (uint64_t)(i * 2 % 3) + 1);
    cr_expect_eq(watch_case_value(&c, at[2], 0, 5, "%r3"), 20, "of the warp that took no step there");
    watch_case_close(&c);
}

Test(debugger, goes_to_the_step_that_made_a_value)
{
    struct watch_case c;
    watch_case_open(&c, watch_case_text, THREADS);
    const uint64_t end = watch_steps(c.watch) - 1, store = next(&c, WATCH_NONE, WATCH_AT, 0, STORE, false);
    const int64_t number = simt_register_number(c.kernel, "%r2");
    const uint64_t made = watch_made(c.watch, store, 0, 3, (uint32_t)number, c.error);
    cr_expect_eq(made, next(&c, store, WATCH_AT, 0, ADD, true), "%s", c.error);
    cr_expect_eq(watch_made(c.watch, made - 2, 0, 3, (uint32_t)number, c.error),
                 next(&c, made - 2, WATCH_AT, 0, ADD, true));
    cr_expect_eq(watch_made(c.watch, 0, 0, 3, (uint32_t)number, c.error), WATCH_NONE);
    cr_expect(strstr(c.error, "nothing has written %r2"), "%s", c.error);
    cr_expect_neq(end, WATCH_NONE);
    watch_case_close(&c);
}

Test(debugger, goes_to_the_last_writer_of_a_byte)
{
    struct watch_case c;
    struct watch_writer who;
    uint32_t at;
    watch_case_open(&c, watch_case_text, THREADS);
    const uint64_t end = watch_steps(c.watch) - 1;
    cr_assert(watch_shared_named(c.watch, "s[40]", 4, &at, c.error), "%s", c.error);
    cr_assert(watch_wrote(c.watch, end, at, &who, c.error), "%s", c.error);
    cr_expect(who.thread == 40 && who.instruction == STORE);
    cr_expect_eq(who.asked, next(&c, WATCH_NONE, WATCH_AT, 1, STORE, false));
    cr_expect_eq(who.came, who.asked);
    cr_expect_not(watch_wrote(c.watch, who.asked - 1, at, &who, c.error), "it was not written before");
    cr_expect_not(watch_shared_named(c.watch, "s[64]", 4, &at, c.error), "it has 64 elements");
    watch_case_close(&c);
}
