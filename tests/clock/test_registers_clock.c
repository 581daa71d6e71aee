// The clock's register file beside an H200's: the patterns of the clock's benchmark (bench/registers), the same machine
// code on both. TEMPLATE_CUBIN is its kernel, REGISTERS_CSV what the H200 took.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measured.h"
#include "simt/clock/bench/registers/patterns.h"
#include "simt/clock/clock.h"

#define FEW 10  // rounds of the loop
#define MANY 40
#define MAX_BYTES (1 << 20)

struct bytes {
    unsigned char *data;
    size_t n;
};

static struct bytes template_cubin(void)
{
    struct bytes b = { malloc(MAX_BYTES), 0 };
    FILE *f = fopen(TEMPLATE_CUBIN, "rb");
    cr_assert(f && b.data, "%s", TEMPLATE_CUBIN);
    b.n = fread(b.data, 1, MAX_BYTES, f);
    fclose(f);
    return b;
}

static struct cubin *decoded(const struct bytes *b)
{
    char error[200];
    struct cubin *c = cubin_read(b->data, b->n, TEMPLATE_KERNEL, error);
    cr_assert(c, "%s", error);
    return c;
}

// The template's kernel with the pattern; NULL: as it is.
static struct cubin *kernel_with(const struct register_pattern *p)
{
    struct bytes b = template_cubin();
    char error[200] = "";
    cr_assert(!p || register_rewrite(b.data, b.n, p, error), "%s: %s", p ? p->name : "", error);
    struct cubin *c = decoded(&b);
    free(b.data);
    return c;
}

static double cycles_of(const struct cubin *c, int rounds)
{
    unsigned char params[64] = { 0 };
    const uint64_t times = 1ull << 40, sink = 1ull << 41;
    cr_assert(c->n_params == 3 && c->param_bytes <= sizeof params);
    memcpy(params + c->params[0].at, &rounds, sizeof rounds);
    memcpy(params + c->params[1].at, &times, sizeof times);
    memcpy(params + c->params[2].at, &sink, sizeof sink);
    const struct walk_launch l = {
        .cubin = c, .grid = { 1, 1, 1 }, .block = { TEMPLATE_THREADS, 1, 1 }, .params = params
    };
    const struct sm_job job = { .launch = &l,
                                .constants = clock_constants(card_named("H200")),
                                .resident = 1,
                                .blocks = 1,
                                .stride = 1,
                                .l1_bytes = 1 << 17,
                                .l2_bytes = 1 << 20,
                                .l2_share = 1 << 20 };
    struct sm_result r;
    const bool ok = sm_run(&job, &r);
    sm_free(&r);
    cr_assert(ok);
    return r.cycles;
}

static double round_of(const struct register_pattern *p)
{
    struct cubin *c = kernel_with(p);
    const double cycles = (cycles_of(c, MANY) - cycles_of(c, FEW)) / (MANY - FEW);
    cubin_free(c);
    return cycles;
}

// --- the rewriting ---

static unsigned count(const struct cubin *c, const char *name)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        n += !strcmp(sass_name(&c->code[i]), name);
    return n;
}

// What stands in place of a multiply-add writes to registers that the template's multiply-adds write to, and reads some
// that the kernel has. All else is as it was.
static void expect_safe(const struct register_pattern *p, const struct cubin *before)
{
    struct cubin *c = kernel_with(p);
    bool accumulators[256] = { [SASS_RZ] = true };
    cr_assert(c->n == before->n);
    for (uint32_t i = 0; i < c->n; i++)
        if (before->code[i].effect == EFFECT_FFMA)
            accumulators[before->code[i].d] = true;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct sass *s = &c->code[i], *was = &before->code[i];
        const bool load = !strcmp(sass_name(s), "LDS"), mma = !strcmp(sass_name(s), "HMMA");
        if (s->lo == was->lo && s->hi == was->hi)
            continue;
        cr_assert(was->effect == EFFECT_FFMA, "%s: instruction %u", p->name, i);
        for (unsigned j = 0; j < (load ? s->bytes / 4u : mma ? 4 : s->effect == EFFECT_FFMA); j++)
            cr_assert(s->d == SASS_RZ || accumulators[s->d + j], "%s writes to R%u", p->name, s->d + j);
        for (unsigned j = 0; j < s->source; j++)
            cr_assert(s->sources[j] + 4u <= c->registers, "%s reads R%u", p->name, s->sources[j]);
        cr_assert(s->stall == 1 && s->yield && s->writes == SASS_NO_SCOREBOARD && s->reads == SASS_NO_SCOREBOARD &&
                  !s->waits && s->guard == 7);
    }
    cubin_free(c);
}

Test(registers_clock, only_accumulators_change)
{
    struct cubin *before = kernel_with(NULL);
    for (size_t i = 0; i < n_register_patterns; i++)
        expect_safe(&register_patterns[i], before);
    cubin_free(before);
}

Test(registers_clock, instructions_are_those_of_the_pattern)
{
    const struct register_pattern p = { "", "0',2,1 -,-,-", "2*17 -", 48, "lds64 8" };
    struct cubin *before = kernel_with(NULL), *c = kernel_with(&p);
    const struct sass *all[4];
    unsigned n = 0;
    for (uint32_t i = 0; i < c->n && n < 4; i++)
        if (c->code[i].effect == EFFECT_FFMA && c->code[i].lo != before->code[i].lo)
            all[n++] = &c->code[i];
    cr_assert_eq(n, 4);
    const unsigned base = all[0]->a;
    cr_expect(base % 4 == 0 && all[0]->b == base + 2 && all[0]->c == base + 1 && all[0]->reuse == 1);
    cr_expect(all[1]->source == 0 && all[1]->reuse == 0 && all[0]->d == base + 17 && all[1]->d == base + 17);
    cr_expect(all[2]->d == SASS_RZ && all[3]->d == base + 17 && all[3]->source == 0);
    cr_expect_eq(count(c, "LDS"), 5);
    cr_expect_eq(count(before, "LDS"), 0);
    cr_expect_eq(count(c, "FFMA"), count(before, "FFMA") - 5);
    for (uint32_t i = 0; i < c->n; i++)
        if (!strcmp(sass_name(&c->code[i]), "LDS"))
            cr_expect(c->code[i].bytes == 8 && c->code[i].d == base + 8 && c->code[i].a == SASS_RZ &&
                      c->code[i].offset >= 1024 && (unsigned)c->code[i].offset < c->shared);
    cubin_free(before);
    cubin_free(c);
}

Test(registers_clock, what_is_no_pattern_is_refused)
{
    static const struct register_pattern wrong[] = {
        { "an operand too few", "0,-", "-", 0, NULL },    { "an operand too many", "0,-,-,-", "-", 0, NULL },
        { "no such register", "40,-,-", "-", 0, NULL },   { "no number", "x,-,-", "-", 0, NULL },
        { "nothing to read", "", "-", 0, NULL },          { "nothing to write", "-,-,-", " ", 0, NULL },
        { "no times", "0*0,-,-", "-", 0, NULL },          { "too many", "65*0,-,-", "-", 0, NULL },
        { "no such width", "-,-,-", "-", 48, "lds16 8" }, { "no register", "-,-,-", "-", 48, "sts32" },
        { "no result", "-,-,-", "-", 48, "mma 0,4,8" },   { "no such instruction", "-,-,-", "-", 48, "ldg32 8" },
        { "not aligned", "-,-,-", "-", 48, "lds64 9" },   { "behind the last", "-,-,-", "-", 48, "mma -,-,->38" },
        { "more than one", "-,-,-", "-", 48, "nop nop" }, { "two results", "-,-,-", "1,2", 0, NULL },
    };
    struct bytes b = template_cubin();
    char error[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error[0] = '\0';
        cr_expect(!register_rewrite(b.data, b.n, &wrong[i], error) && error[0], "%s", wrong[i].name);
    }
    cr_expect(!register_rewrite(b.data, 100, &register_patterns[0], error));
    free(b.data);
}

// --- the H200 ---

static double measured(const char *name)
{
    return measured_value(REGISTERS_CSV, name);
}

// Patterns that the clock is known to time wrongly, and by how many percent at most.
static const struct {
    const char *name;
    double percent;
} exceptions[] = {
    { "lds32_among_even", 3.4 },
    { "lds32_odd_among_odd", 3.4 },
    { "lds32_free_after_24", 2.0 },
    { "lds32_free_at_28", 1.6 },
    { "lds32_free_at_36", 3.5 },
    { "lds64_among_even", 3.4 },
    { "lds64_among_odd", 3.4 },
    { "lds64_among_both", 3.4 },
    { "lds64_free_after_24", 2.8 },
    { "lds128_among_even", 2.0 },
    { "lds128_among_both", 1.9 },
    { "lds128_free_after_24", 3.5 },
    { "sts32_among_even", 1.3 },
    { "sts32_among_both", 1.2 },
    { "sts64_among_even", 1.2 },
    { "sts64_among_both", 2.8 },
    { "sts128_among_even", 1.6 },
    { "sts128_among_odd", 2.0 },
    { "sts128_among_both", 4.3 },
    { "sts128_among_even_and_none", 0.9 },
    { "mma_a", 1.0 },
    { "mma_c", 0.8 },
    { "mma_a_b", 1.1 },
    { "mma_a_b_c_reuse_a", 2.6 },
    { "mma_a_b_c_among_none", 0.7 },
};

#define PERCENT 0.5  // all others
#define MEAN 1.0

static double limit_of(const char *name)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (!strcmp(exceptions[i].name, name))
            return exceptions[i].percent;
    return PERCENT;
}

Test(registers_clock, patterns_take_as_long_as_on_the_h200)
{
    double sum = 0;
    for (size_t i = 0; i < n_register_patterns; i++) {
        const struct register_pattern *p = &register_patterns[i];
        const double cycles = round_of(p), wanted = measured(p->name), limit = limit_of(p->name);
        const double percent = 100 * fabs(cycles / wanted - 1);
        cr_expect(percent <= limit, "%s: %.1f cycles predicted, %.1f measured", p->name, cycles, wanted);
        cr_expect(percent > PERCENT || limit == PERCENT,
                  "%s is no exception any more: %.1f cycles predicted, %.1f measured", p->name, cycles, wanted);
        sum += percent;
    }
    const double mean = sum / (double)n_register_patterns;
    cr_expect(mean <= MEAN, "mean %.2f %%", mean);
}
