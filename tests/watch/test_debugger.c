// The debugger of a block: forwards and back, who made a value, who wrote a byte, who came to an mbarrier.
#include <criterion/criterion.h>

#include <string.h>

#include "watch/matrix.h"
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

// A warpgroup multiplies noughts: no value changes. Between a product and its wait %r1 is added to, which is 0 as well.
static const char products[] = WATCH_HEAD
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .f32 %f<5>;\n"
    ".reg .b64 %d<2>;\n.shared .align 1024 .b8 s[8192];\n"
    "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u64 %d1, 0;\nsetp.eq.u32 %p1, %r1, 0;\n"        // 0 to 3
    "mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\n"  // 4 to 7
    "$again:\nwgmma.fence.sync.aligned;\n"                                                 // 8
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d1, %p1, 1, 1, 0, 0;\n"
    "wgmma.commit_group.sync.aligned;\nadd.u32 %r1, %r1, 0;\n"                                      // 10, 11
    "wgmma.wait_group.sync.aligned 0;\nadd.u32 %r2, %r2, 1;\n"                                      // 12, 13
    "setp.lt.u32 %p2, %r2, 3;\n@%p2 bra $again;\nadd.f32 %f1, %f1, %f2;\nadd.u32 %r2, %r2, %r1;\n"  // 14 to 17
    "ret;\n}\n";

Test(debugger, goes_to_what_was_written_while_products_were_on_their_way)
{
    enum { IN_FLIGHT = 11, WAIT = 12, SUM = 16 };
    struct watch_case c;
    watch_case_open(&c, products, 128);
    const uint64_t sum = next(&c, WATCH_NONE, WATCH_AT, 2, SUM, false);
    const uint64_t wait = next(&c, sum, WATCH_AT, 2, WAIT, true), before = next(&c, wait, WATCH_AT, 2, WAIT, true);
    const uint32_t r1 = (uint32_t)simt_register_number(c.kernel, "%r1");
    const uint32_t f1 = (uint32_t)simt_register_number(c.kernel, "%f1");
    cr_assert_neq(sum, WATCH_NONE);
    cr_expect_eq(watch_made(c.watch, sum - 1, 2, 3, r1, c.error), next(&c, sum, WATCH_AT, 2, IN_FLIGHT, true));
    cr_expect_eq(watch_made(c.watch, wait, 2, 3, f1, c.error), wait, "the product is there after its wait");
    cr_expect_eq(watch_made(c.watch, wait - 1, 2, 3, f1, c.error), before, "and not before");
    cr_expect_eq(watch_made(c.watch, sum, 2, 3, f1, c.error), sum);
    watch_case_close(&c);
}

// A holds lane numbers in its low halves and 0.5 in its high ones; C is 100 * lane + register.
static const char multiplies[] =
    WATCH_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b16 %h<3>;\n.reg .f32 %f<9>;\n"
               "mov.u32 %r1, %laneid;\ncvt.rn.f16.u32 %h1, %r1;\nmov.b16 %h2, 0x3800;\nmov.b32 %r2, {%h1, %h2};\n"
               "cvt.rn.f32.u32 %f1, %r1;\nmul.f32 %f1, %f1, 0f42C80000;\nadd.f32 %f2, %f1, 0f3F800000;\n"
               "add.f32 %f3, %f1, 0f40000000;\nadd.f32 %f4, %f1, 0f40400000;\nmov.b32 %r3, 0;\n"
               "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r2, %r2, %r2, %r2}, "
               "{%r3, %r3}, {%f1, %f2, %f3, %f4};\nret;\n}\n";

// Source: PTX ISA 9.7.15, the fragments of m16n8k16.
Test(debugger, shows_registers_as_the_matrices_that_they_are)
{
    struct watch_case c;
    struct watch_matrix all[WATCH_MATRICES];
    watch_case_open(&c, multiplies, 32);
    const uint64_t mma = watch_steps(c.watch) - 2;
    cr_assert_eq(watch_matrices(c.watch, mma - 1, all, c.error), 0, "a mov has none");
    cr_assert_eq(watch_matrices(c.watch, mma, all, c.error), 4, "%s", c.error);
    cr_expect(all[0].name == 'D' && all[1].name == 'A' && all[2].name == 'B' && all[3].name == 'C');
    cr_expect(!all[0].read && all[1].read && all[2].read && all[3].read);
    cr_expect(all[1].rows == 16 && all[1].cols == 16 && all[2].rows == 16 && all[2].cols == 8 && all[3].cols == 8);
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t col = 0; col < 16; col++) {
            const struct watch_element *a = &all[1].at[row * 16 + col], *d = &all[0].at[row * 8 + col % 8];
            const uint32_t lane = row % 8 * 4 + col % 8 / 2, f = row / 8 * 2 + col % 2;
            cr_expect(a->lane == lane && a->part == col % 2, "A[%u][%u] is of lane %u", row, col, a->lane);
            cr_expect_eq(a->value, col % 2 ? 0.5 : lane);
            cr_expect(d->lane == lane && d->value == 100 * lane + f, "D[%u][%u] is %g", row, col, d->value);
            cr_expect_eq(d->number, simt_register_number(c.kernel, "%f5") + f);
        }
    watch_matrices_free(all, 4);
    watch_case_close(&c);
}

Test(debugger, shows_a_product_at_the_wait_that_brings_it)
{
    struct watch_case c;
    struct watch_matrix all[WATCH_MATRICES];
    watch_case_open(&c, products, 128);
    const uint64_t issued = next(&c, WATCH_NONE, WATCH_AT, 2, 9, false);
    const uint64_t wait = next(&c, issued, WATCH_AT, 2, 12, false);
    cr_assert_eq(watch_matrices(c.watch, issued, all, c.error), 0, "its factors are in shared memory");
    cr_assert_eq(watch_matrices(c.watch, wait, all, c.error), 1, "%s", c.error);
    cr_expect(all[0].name == 'D' && all[0].rows == 16 && all[0].cols == 8 && !strcmp(all[0].type, "f32"));
    cr_expect_eq(all[0].at[15 * 8 + 7].number, simt_register_number(c.kernel, "%f4"));
    cr_expect_eq(all[0].at[15 * 8 + 7].lane, 31);
    watch_matrices_free(all, 1);
    watch_case_close(&c);
}

// All registers are declared as bits. %r1 holds a float that a mov copies to where it is added; %r4 is added as an
// integer.
static const char bits[] = WATCH_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %l<4>;\n"
                                      "mov.b32 %r1, 0f3FC00000;\nmov.b32 %r2, %r1;\nadd.rn.f32 %r3, %r2, %r2;\n"
                                      "mov.b32 %r4, %laneid;\nmov.b32 %r5, %r4;\nadd.u32 %r5, %r5, 1;\n"
                                      "cvt.rn.f16x2.f32 %r6, %r3, %r1;\nmov.b64 %l1, 1;\nmov.b64 %l2, {%r1, %r5};\n"
                                      "add.f64 %l2, %l2, %l2;\nmov.b32 %r7, %r6;\nret;\n}\n";

Test(debugger, knows_what_registers_of_bits_hold)
{
    static const struct {
        const char *name, *type;
    } wanted[] = { { "%r1", "f32" },   { "%r2", "f32" },   { "%r3", "f32" }, { "%r4", "b32" }, { "%r5", "b32" },
                   { "%r6", "f16x2" }, { "%r7", "f16x2" }, { "%l1", "b64" }, { "%l2", "f64" } };
    struct watch_case c;
    watch_case_open(&c, bits, 32);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const uint32_t number = (uint32_t)simt_register_number(c.kernel, wanted[i].name);
        cr_expect_str_eq(watch_type(c.watch, number).name, wanted[i].type, "%s", wanted[i].name);
    }
    watch_case_close(&c);
}

Test(debugger, begins_with_what_was_found)
{
    struct watch_case c;
    uint32_t first;
    watch_case_open(&c, watch_case_text, THREADS);
    cr_expect_not(watch_first_finding(c.watch, &first));
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
    uint32_t by_byte;
    cr_expect(watch_shared_named(c.watch, "s+160", 4, &by_byte, c.error) && by_byte == at, "%s", c.error);
    cr_expect_not(watch_shared_named(c.watch, "s+256", 4, &by_byte, c.error), "it has 256 bytes");
    cr_expect_not(watch_shared_named(c.watch, "s[64]", 4, &at, c.error), "it has 64 elements");
    watch_case_close(&c);
}
