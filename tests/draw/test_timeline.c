// Timelines in cycles. What the clock records: each warp does one thing in each cycle, what is known beforehand comes
// out exactly, and all cycles add up to the clock's own table. Which cycles are shown; and the picture has what was
// recorded. SIMT and STEPS_PTX (a folder) are paths that the build defines.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"
#include "simt/clock/sm_record.h"
#include "simt/draw/cycles_window.h"
#include "xml.h"

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
                                .constants = clock_constants(card_named("H200")),
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
        { STATE_LONG_SCOREBOARD, 2, 0 }, { STATE_SELECTED, 2, 1 }, { STATE_SELECTED, 3, 1 }, { STATE_WAIT, 4, 4 },
        { STATE_BARRIER, 4, 0 },         { STATE_SELECTED, 4, 1 },
    };
    const size_t n = sizeof expected / sizeof *expected;
    struct toy t;
    run_toy(&t, 0, 10000);
    for (unsigned warp = 0; warp < 4; warp++) {
        uint64_t at =
            (uint64_t)(warp * clock_constants(card_named("H200")).warp_gap);  // they begin one after the other
        for (unsigned i = 0; i < n; i++) {
            const struct sm_span *s = span_of(&t.recorder, warp, i);
            cr_assert(s, "warp %u has %u spans", warp, i);
            cr_expect(s->kind == expected[i].kind && s->pc == expected[i].pc && s->from == at, "%u, %u: %u at %u, %d",
                      warp, i, s->kind, s->pc, (int)s->from);
            if (expected[i].cycles)
                cr_expect_eq(s->to - s->from, expected[i].cycles, "%u, %u: %d cycles", warp, i, (int)(s->to - s->from));
            else if (s->kind == STATE_LONG_SCOREBOARD)
                cr_expect((double)s->to >= clock_constants(card_named("H200")).dram_latency, "%d cycles",
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
    run_toy(&part, 2, 40);
    for (unsigned warp = 0; warp < 4; warp++) {
        const uint64_t begins = (uint64_t)(warp * clock_constants(card_named("H200")).warp_gap);
        const unsigned before = warp ? 1 : 0;  // the first warp has issued its first instruction when the part begins
        const struct sm_span *first = span_of(&part.recorder, warp, before);
        const struct sm_span *last = span_of(&part.recorder, warp, before + 3);
        cr_assert(first && last && !span_of(&part.recorder, warp, before + 4));
        cr_expect(first->kind == STATE_WAIT && first->from == (warp ? begins + 1 : 2) && first->to == begins + 4);
        cr_expect(last->kind == STATE_LONG_SCOREBOARD && last->to == 40);
    }
    cr_expect_float_eq(all.result.cycles, part.result.cycles, 0);
    free_toy(&all);
    free_toy(&part);
}

// --- which cycles are shown ---

#define CODE 100

// Two blocks, each with `trips` trips of a loop of 10 cycles, instructions 20 to 40; every fifth one also turns in the
// loop around it, 10 to 60, which has few instructions of its own.
struct turns {
    struct sm_recorder recorder;
    struct sm_result run;
};

static void make_turns(struct turns *t, unsigned trips)
{
    *t = (struct turns){ .run = { .cycles = 2.0 * 10 * trips + 100, .line_issued = calloc(CODE, sizeof(uint64_t)) } };
    for (unsigned i = 0; i < CODE; i++)
        t->run.line_issued[i] = i >= 20 && i <= 40 ? 1000 : i >= 10 && i <= 60 ? 10 : 1;
    for (uint64_t block = 0; block < 2; block++) {
        const uint64_t begin = block * 10 * trips;
        sm_record_turn(&t->recorder, &(struct sm_turn){ begin, block, SM_BLOCK_BEGINS, SM_BLOCK_BEGINS, 0 });
        for (uint64_t i = 0; i < trips; i++)
            for (uint8_t warp = 1; warp < 3; warp++) {
                const bool outer = i % 5 == 4;
                sm_record_turn(&t->recorder, &(struct sm_turn){ begin + 10 * i + warp, block, outer ? 60 : 40,
                                                                outer ? 10 : 20, warp });
            }
    }
}

static void free_turns(struct turns *t)
{
    free(t->run.line_issued);
    sm_record_free(&t->recorder);
}

Test(timeline, trips_of_the_inner_loop_are_taken_from_the_middle)
{
    struct turns t;
    struct cycles_window w;
    char error[CLOCK_ERROR] = "";
    make_turns(&t, 20);
    cr_assert(cycles_choose(&t.recorder, &t.run, &(struct simt_cycles){ 0 }, 8, &w, error), "%s", error);
    cr_expect(w.loop.first == 20 && w.loop.last == 40 && w.warp == 1 && w.trips == 2 && !w.blocks);
    // Warp 1 turns 16 times there in the second block: those before and behind the eighth.
    cr_expect(w.from == 200 + 10 * 8 + 1 && w.to == 200 + 10 * 11 + 1, "%d to %d", (int)w.from, (int)w.to);
    cr_expect_eq(w.middle, 10, "%g: trips during which the loop around turns take 20, and are fewer", w.middle);
    free_turns(&t);
}

Test(timeline, trips_of_the_outer_loop_and_blocks_are_shown_when_asked_for)
{
    struct turns t;
    struct cycles_window w;
    char error[CLOCK_ERROR] = "";
    make_turns(&t, 20);
    cr_assert(cycles_choose(&t.recorder, &t.run, &(struct simt_cycles){ .outer = true }, 8, &w, error), "%s", error);
    cr_expect(w.loop.first == 10 && w.loop.last == 60 && w.to - w.from == 2 * 50 && !w.blocks && w.middle == 50);
    free_turns(&t);
    make_turns(&t, 4);  // the outer loop does not turn: a block is what repeats
    cr_assert(cycles_choose(&t.recorder, &t.run, &(struct simt_cycles){ .outer = true }, 8, &w, error), "%s", error);
    cr_expect(w.blocks && w.trips == 1 && w.from == 0 && w.to == 40, "%d to %d", (int)w.from, (int)w.to);
    free_turns(&t);
}

Test(timeline, cycles_that_are_not_there_are_refused)
{
    static const struct {
        struct simt_cycles asked;
        const char *error;
    } cases[] = {
        { { .from = 10, .to = 100000 }, "the clock ran the SM for 500 cycles: --cycles FROM-TO within them" },
        { { .trips = 16 }, "a warp turns in its loop 16 times here, too few for 16 whole trips" },
        { { .trips = 4, .outer = true }, "a warp turns in its loop 4 times here, too few for 4 whole trips" },
    };
    struct turns t;
    struct cycles_window w;
    make_turns(&t, 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[CLOCK_ERROR] = "";
        cr_expect_not(cycles_choose(&t.recorder, &t.run, &cases[i].asked, 8, &w, error));
        cr_expect(!strncmp(error, cases[i].error, strlen(cases[i].error)), "%s", error);
    }
    t.recorder.n_turns = 0;
    char error[CLOCK_ERROR] = "";
    cr_expect(cycles_choose(&t.recorder, &t.run, &(struct simt_cycles){ 0 }, 8, &w, error));
    cr_expect(w.from == 0 && w.to == 500 && !w.trips);
    cr_expect_not(cycles_choose(&t.recorder, &t.run, &(struct simt_cycles){ .trips = 1 }, 8, &w, error));
    cr_expect_str_eq(error, "the kernel has no loop");
    t.run.cycles = 1e6;
    cr_expect_not(cycles_choose(&t.recorder, &t.run, &(struct simt_cycles){ 0 }, 8, &w, error));
    cr_expect(strstr(error, "1000000 cycles are too many for a picture"), "%s", error);
    free_turns(&t);
}

// --- the picture ---

#define STEP_06 STEPS_PTX "/06_warp_tile/06_warp_tile.ptx"
#define SIDE 512
#define SIZES "i32:512 i32:512 i32:512 f32:1 'f32[262144]=uninit' 'f32[262144]=uninit' f32:0 'f32[262144]=uninit'"

// 06 at 512 x 512 x 512, where 16 SMs have one block each. Where matrices lie does not matter.
struct step_06 {
    int32_t side;
    float one;
    uint64_t array;
    struct dev_arg args[8];
    struct dev_launch how;
    struct simt_timing timing;
    struct clock_launch launch;
};

static void make_step_06(struct step_06 *s)
{
    *s = (struct step_06){ .side = SIDE, .one = 1, .array = 1ull << 40 };
    const struct dev_arg side = DEV_ARG(s->side), one = DEV_ARG(s->one), array = DEV_ARG(s->array);
    const struct dev_arg args[8] = { side, side, side, one, array, array, one, array };
    memcpy(s->args, args, sizeof args);
    s->how = (struct dev_launch){ .grid = { SIDE / 128, SIDE / 128 }, .block = { 256 }, .args = s->args, .n_args = 8 };
    s->timing = (struct simt_timing){ .ptx = STEP_06, .kernel = "gemm", .launch = &s->how };
    s->launch = clock_launch_of(&s->timing);
}

// The number before a name in the legend; -1: it is not there.
static double legend_of(const char *svg, const char *name)
{
    char text[100];
    snprintf(text, sizeof text, " %%  %s", name);
    const char *at = strstr(svg, text), *from = at;
    while (from && from > svg && from[-1] != '>')
        from--;
    return at ? atof(from) : -1;
}

// The area of all pieces of a colour.
static double area_of(const char *svg, const char *class)
{
    char text[40];
    double area = 0;
    snprintf(text, sizeof text, "<path class=\"%s\" d=\"", class);
    for (const char *at = strstr(svg, text); at; at = strstr(at + 1, text)) {
        const char *end = strstr(at, "/>");
        for (const char *h = strchr(at + strlen(text), 'h'); h && h < end;
             h = strchr(h, 'z'), h = h ? strchr(h, 'h') : NULL) {
            int width, height;
            cr_assert_eq(sscanf(h, "h%dv-%dh", &width, &height), 2, "%.40s", h);
            area += (double)width * height;
        }
    }
    return area;
}

Test(timeline, the_picture_has_the_shares_of_the_record)
{
    NEEDS_NVCC("ptxas may be missing");
    static const struct {
        unsigned kind;
        const char *name, *class;
    } shown[] = { { STATE_SELECTED, "selected", "l5" },
                  { STATE_LONG_SCOREBOARD, "long_scoreboard: global", "l0" },
                  { STATE_BARRIER, "barrier: other warps", "l1" } };
    struct step_06 s;
    struct sm_recorder r;
    struct simt_prediction p;
    char error[DEV_ERROR_MAX];
    double of[SM_KINDS] = { 0 }, all = 0, area = 0;
    const struct simt_cycles what = { .from = 4000, .to = 14000 };
    make_step_06(&s);
    char *svg = simt_draw_cycles(&s.timing, card_named("H200"), &what, error);
    cr_assert(svg, "%s", error);
    check_xml(svg);
    cr_expect(strlen(svg) < 100000, "%zu bytes", strlen(svg));
    cr_expect(strstr(svg, "The warps of an SM in time: 10,000 cycles<"));
    s.launch.recorder = &r;
    cr_assert(sm_record_begin(&r, 4000, 14000) && clock_predict(&s.launch, card_named("H200"), &p, error), "%s", error);
    for (size_t i = 0; i < r.n_spans; i++) {
        of[r.spans[i].kind] += (double)(r.spans[i].to - r.spans[i].from);
        all += (double)(r.spans[i].to - r.spans[i].from);
    }
    cr_expect_float_eq(all, 8 * 10000, 1e-9, "eight warps, each does one thing in each cycle: %g", all);
    area = all / 10000 * 950 * 22;  // of the rows
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const double share = 100 * of[shown[i].kind] / all;
        cr_expect(share > 1, "%s: %g", shown[i].name, share);
        cr_expect_leq(fabs(legend_of(svg, shown[i].name) - share), 0.5, "%s: %g, %g", shown[i].name,
                      legend_of(svg, shown[i].name), share);
        // The legend has a box of each colour; it is a rect and no path.
        cr_expect_leq(fabs(100 * area_of(svg, shown[i].class) / area - share), 2, "%s: %g, %g", shown[i].name,
                      100 * area_of(svg, shown[i].class) / area, share);
    }
    cr_expect_lt(legend_of(svg, "long_scoreboard: an mbarrier"), 0, "06 has no mbarrier");
    clock_free(&p);
    sm_record_free(&r);
    free(svg);
}

// --- the program ---

static char text[1 << 18];

// Runs `simt draw` and returns its exit status; text gets what it wrote, stderr too.
static int draw(const char *arguments)
{
    char command[4000];
    snprintf(command, sizeof command, "exec 2>&1; '%s' draw '%s' gemm --grid 4,4 --block 256 --out - %s " SIZES, SIMT,
             STEP_06, arguments);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    const int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(timeline, the_program_draws_trips_warps_and_a_large_one)
{
    NEEDS_NVCC("ptxas may be missing");
    cr_assert_eq(draw("--timeline --card H200"), 0, "%s", text);
    check_xml(text);
    cr_expect(strstr(text, "cycles a trip of the loop<") && strstr(text, "for the H200, at 1.98 GHz"));
    cr_expect_eq(count(text, "<g class=\"warp\">"), 8);
    cr_assert_eq(draw("--timeline --warps 2-3 --large"), 0, "%s", text);
    check_xml(text);
    cr_expect_eq(count(text, "<g class=\"warp\">"), 2);
    cr_expect(strstr(text, "f32 pipe") && !strstr(text, "issue slots"));
    cr_assert_eq(draw("--timeline"), 0, "%s", text);
    cr_expect(strstr(text, "What a warp does, in order"), "without a card it is that of instructions");
}

Test(timeline, the_program_refuses_what_is_not_there_in_one_line)
{
    NEEDS_NVCC("ptxas may be missing");
    static const char *const cases[][2] = {
        { "--trips 2 --walk", "--cycles, --trips, --outer and --warps go with --timeline" },
        { "--timeline --cycles 50-40", "--cycles \"50-40\": must be " },
        { "--timeline --cycles 5-5", "--cycles \"5-5\": must be " },
        { "--timeline --cycles 0-9999999", ": must be " },
        { "--timeline --cycles 0-1000 --outer", "--cycles says itself what is shown" },
        { "--timeline --cycles 90000000-90000010", "the clock ran the SM for" },
        { "--timeline --trips 0", "--trips \"0\": must be " },
        { "--timeline --trips 900", "too few for 900 whole trips" },
        { "--timeline --warps 8", "the SM runs 8 warps at a time: --warps A-B among 0 to 7" },
        { "--timeline --warps 2-", ": must be " },
        { "--timeline --card Voodoo", "Voodoo" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int status = draw(cases[i][0]);
        cr_expect_eq(status, 2, "%s: status %d", cases[i][0], status);
        cr_expect(strstr(text, cases[i][1]), "%s: %s", cases[i][0], text);
        cr_expect_eq(count(text, "\n"), 1, "%s: %s", cases[i][0], text);
    }
}
