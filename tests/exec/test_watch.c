// Stop, look, go on: what simt_watch tells of the instructions of a warp. STEPS_PTX is a folder that the build defines.
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "ptx_case.h"
#include "simt/simt.h"

// Each warp writes its part of s; behind the barrier a thread reads what the other warp wrote.
static const char text[] =
    PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %l<4>;\n"
             ".shared .align 4 .b8 s[256];\n"
             "mov.u32 %r1, %tid.x;\n"                                         // 0
             "shl.b32 %r2, %r1, 2;\n"                                         // 1
             "mov.u32 %r3, s;\n"                                              // 2
             "add.s32 %r4, %r3, %r2;\n"                                       // 3
             "st.shared.u32 [%r4], %r1;\n"                                    // 4
             "bar.sync 0;\n"                                                  // 5
             "xor.b32 %r5, %r2, 128;\nadd.s32 %r5, %r3, %r5;\n"               // 6, 7
             "ld.shared.u32 %r6, [%r5];\nsetp.lt.u32 %p1, %r1, 8;\n"          // 8, 9
             "@%p1 add.s32 %r6, %r6, 1000;\n"                                 // 10
             "ld.param.u64 %l1, [out];\nmul.wide.u32 %l2, %r1, 4;\n"          // 11, 12
             "add.s64 %l3, %l1, %l2;\nst.global.u32 [%l3], %r6;\nret;\n}\n";  // 13, 14, 15

enum {
    INSTRUCTIONS = 16,
    THREADS = 64,
    LANES = 32,
    STORE = 4,
    BARRIER = 5,
    ADD = 7,
    LOAD = 8,
    GUARDED = 10,
    GLOBAL_STORE = 14,
    FMAS = 4096
};

struct bench {
    struct simt *simt;
    struct simt_kernel *kernel;
    uint64_t out;
    struct dev_arg args[1];
    struct dev_launch launch;
    char error[DEV_ERROR_MAX];
};

static void open_bench(struct bench *b, const char *ptx)
{
    *b = (struct bench){ .simt = simt_open() };
    simt_set_checks(b->simt, true);
    struct simt_module *m = simt_load(b->simt, "watch.ptx", ptx, strlen(ptx), b->error);
    cr_assert(m, "%s", b->error);
    b->kernel = simt_kernel(m, "k");
    cr_assert(simt_alloc(b->simt, "out", 4 * THREADS, &b->out, b->error), "%s", b->error);
    b->args[0] = (struct dev_arg)DEV_ARG(b->out);
    b->launch = (struct dev_launch){ .block = { THREADS }, .args = b->args, .n_args = 1 };
}

static struct simt_operand operand(const struct simt_look *l, uint32_t i)
{
    struct simt_operand o = { 0 };
    cr_expect(simt_look_operand(l, i, &o), "instruction %u has no operand %u", simt_look_instruction(l), i);
    return o;
}

static void expect_name(const struct simt_operand *o, enum simt_role role, const char *name)
{
    cr_expect(o->role == role && o->name_bytes == strlen(name) && !strncmp(o->name, name, strlen(name)),
              "%d %.*s, not %d %s", (int)o->role, (int)o->name_bytes, o->name, (int)role, name);
}

// --- what is told ---

struct seen {
    uint32_t steps, errors, stop_at;
    uint32_t instructions[64];
};

static void look_at_values(const struct simt_look *l)
{
    struct simt_operand d = operand(l, 0), a = operand(l, 1);
    uint64_t value[LANES];
    expect_name(&d, SIMT_WRITTEN, "%r5");
    expect_name(&a, SIMT_READ, "%r3");
    const struct simt_operand b = operand(l, 2);
    expect_name(&b, SIMT_READ, "%r5");
    for (uint32_t lane = 0; lane < LANES; lane++) {
        cr_expect_eq(b.value[lane], 4 * (LANES + lane) ^ 128);
        cr_expect_eq(d.value[lane], a.value[lane] + b.value[lane]);
    }
    cr_expect(simt_look_register(l, "%r1", value));
    cr_expect_eq(value[3], LANES + 3);
    cr_expect_not(simt_look_register(l, "%r99", value));
    cr_expect_not(simt_look_register(l, "%l3", value), "nothing wrote it yet");
}

static void look_at_shared(const struct simt_look *l)
{
    const struct simt_operand address = operand(l, 1);
    struct simt_shared_variable s;
    uint32_t word, thread, inst;
    expect_name(&address, SIMT_ADDRESS, "%r5");
    cr_assert(simt_look_shared_variable(l, 0, &s));
    cr_expect_str_eq(s.name, "s");
    cr_expect_eq(s.bytes, 256);
    cr_assert(simt_look_shared(l, (uint32_t)address.value[5], &word, sizeof word));
    cr_expect_eq(word, 5);
    cr_expect(simt_look_writer(l, s.at + 4 * 5, &thread, &inst));
    cr_expect(thread == 5 && inst == STORE, "thread %u, instruction %u", thread, inst);
    cr_expect_not(simt_look_shared(l, simt_look_shared_bytes(l) - 2, &word, sizeof word));
}

static void look_at_memory(const struct simt_look *l)
{
    const struct simt_operand address = operand(l, 0), stored = operand(l, 1);
    uint32_t word;
    expect_name(&address, SIMT_ADDRESS, "%l3");
    cr_assert(simt_look_memory(l, address.value[7], &word, sizeof word));
    cr_expect_eq(word, stored.value[7]);
    cr_expect_not(simt_look_memory(l, address.value[LANES - 1] + 2, &word, sizeof word), "it ends after the last word");
}

static bool note(void *context, enum simt_event event, const struct simt_look *l)
{
    struct seen *seen = context;
    seen->errors += event == SIMT_ERROR;
    if (event == SIMT_ERROR)
        return true;
    cr_expect_eq(simt_look_warp(l), 1);
    cr_expect_eq(simt_look_step(l), seen->steps);
    seen->instructions[seen->steps++] = simt_look_instruction(l);
    if (simt_look_instruction(l) == ADD)
        look_at_values(l);
    if (simt_look_instruction(l) == LOAD)
        look_at_shared(l);
    if (simt_look_instruction(l) == GLOBAL_STORE)
        look_at_memory(l);
    return seen->steps != seen->stop_at;
}

Test(watch, each_instruction_of_a_warp_is_told_with_its_operands)
{
    struct bench b;
    struct seen seen = { 0 };
    struct profile plain;
    uint32_t out[THREADS];
    open_bench(&b, text);
    cr_assert(simt_launch(b.simt, b.kernel, &b.launch, b.error), "%s", b.error);
    plain = *simt_profile(b.simt);
    const struct simt_watch w = { .warp = 1, .tell = note, .context = &seen };
    cr_assert(simt_watch(b.simt, b.kernel, &b.launch, &w, b.error), "%s", b.error);
    // Lanes 32 to 63 do not execute the guarded addition.
    cr_expect_eq(seen.steps, INSTRUCTIONS - 1, "%u", seen.steps);
    for (uint32_t i = 0; i < seen.steps; i++)
        cr_expect_eq(seen.instructions[i], i < GUARDED ? i : i + 1);
    cr_assert_not_null(simt_profile(b.simt));
    cr_expect(!memcmp(plain.total, simt_profile(b.simt)->total, sizeof plain.total), "watched, it counts the same");
    cr_assert(simt_read(b.simt, out, b.out, sizeof out, b.error));
    for (uint32_t i = 0; i < THREADS; i++)
        cr_expect_eq(out[i], (i ^ LANES) + (i < 8 ? 1000 : 0));
    simt_close(b.simt);
}

Test(watch, a_launch_ends_where_who_watches_has_seen_enough)
{
    struct bench b;
    struct seen seen = { .stop_at = 4 };
    uint32_t out;
    open_bench(&b, text);
    const struct simt_watch w = { .warp = 1, .tell = note, .context = &seen };
    cr_assert(simt_watch(b.simt, b.kernel, &b.launch, &w, b.error), "%s", b.error);
    cr_expect_eq(seen.steps, 4);
    cr_expect_null(simt_profile(b.simt));
    cr_expect_null(simt_findings(b.simt));
    cr_expect_null(simt_failure(b.simt));
    cr_assert(simt_read(b.simt, &out, b.out, sizeof out, b.error));
    cr_expect_eq(out, 0xcbcbcbcb, "nothing was stored");
    // And once more, to the end: a step back is another launch.
    seen = (struct seen){ 0 };
    cr_assert(simt_watch(b.simt, b.kernel, &b.launch, &w, b.error), "%s", b.error);
    cr_expect_eq(seen.steps, INSTRUCTIONS - 1);
    simt_close(b.simt);
}

// --- who stands where ---

static bool at_the_barrier(void *context, enum simt_event event, const struct simt_look *l)
{
    struct simt_lanes lanes;
    struct simt_barrier barrier;
    uint32_t *arrived = context;
    if (event != SIMT_STEP || simt_look_instruction(l) != BARRIER)
        return true;
    cr_expect_eq(simt_look_warps(l), 2);
    cr_assert(simt_look_barrier(l, 0, &barrier));
    cr_expect_not(simt_look_barrier(l, 16, &barrier));
    arrived[simt_look_warp(l)] = barrier.arrived;
    if (simt_look_warp(l))
        return true;
    cr_assert(simt_look_standing(l, 0, 0, &lanes));
    cr_expect(lanes.standing == SIMT_AT_BARRIER && lanes.barrier == 0 && lanes.next == BARRIER && lanes.lanes == ~0u,
              "%d %u %u", (int)lanes.standing, lanes.barrier, lanes.next);
    cr_assert(simt_look_standing(l, 1, 0, &lanes));
    cr_expect(lanes.standing == SIMT_RUNS && lanes.next == 0);
    cr_expect_not(simt_look_standing(l, 1, 1, &lanes));
    return true;
}

Test(watch, warps_that_wait_stand_at_their_barrier)
{
    struct bench b;
    uint32_t arrived[2] = { 0 };
    open_bench(&b, text);
    const struct simt_watch w = { .warp = SIMT_ALL_WARPS, .tell = at_the_barrier, .context = arrived };
    cr_assert(simt_watch(b.simt, b.kernel, &b.launch, &w, b.error), "%s", b.error);
    cr_expect_eq(arrived[0], LANES, "%u", arrived[0]);
    cr_expect_eq(arrived[1], THREADS, "%u", arrived[1]);
    simt_close(b.simt);
}

static bool at_the_error(void *context, enum simt_event event, const struct simt_look *l)
{
    uint32_t *errors = context;
    struct simt_lanes lanes;
    if (event == SIMT_STEP)
        return true;
    (*errors)++;
    cr_expect_eq(simt_look_warp(l), 0);
    cr_expect(simt_look_standing(l, 0, 0, &lanes) && lanes.standing == SIMT_AT_BARRIER);
    cr_expect_not(simt_look_standing(l, 1, 0, &lanes), "warp 1 has ended");
    cr_expect_eq(simt_look_ended(l, 1), ~0u);
    return true;
}

Test(watch, a_hang_can_be_looked_at)
{
    static const char hangs[] = PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n"
                                         "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;\n@%p1 ret;\n"
                                         "bar.sync 0, 64;\nret;\n}\n";
    for (int checks = 0; checks < 2; checks++) {
        struct bench b;
        uint32_t errors = 0;
        open_bench(&b, hangs);
        simt_set_checks(b.simt, checks);
        const struct simt_watch w = { .warp = 0, .tell = at_the_error, .context = &errors };
        cr_expect_eq(simt_watch(b.simt, b.kernel, &b.launch, &w, b.error), checks, "%s", b.error);
        const struct simt_finding *failure = simt_failure(b.simt);
        cr_expect_eq(failure == NULL, checks);
        if (failure) {
            char text[SIMT_FINDING_TEXT];
            simt_finding_text(failure, text, sizeof text);
            cr_expect_eq(failure->kind, SIMT_BARRIER_STUCK);
            cr_expect(!strncmp(b.error, "kernel k, ", 10) && !strcmp(b.error + 10, text), "the same in words");
        }
        cr_expect_eq(errors, 1, "%u", errors);
        simt_close(b.simt);
    }
}

// --- a whole step ---

static bool recompute(void *context, enum simt_event event, const struct simt_look *l)
{
    uint32_t *fmas = context;
    struct simt_operand o[4];
    (void)event;
    if (!simt_look_operand(l, 3, &o[3]) || o[3].type.number != SIMT_FLOAT || o[3].type.bytes != 4)
        return true;
    for (uint32_t i = 0; i < 3; i++)
        o[i] = operand(l, i);
    if (o[0].role != SIMT_WRITTEN || o[1].role != SIMT_READ || simt_look_operand(l, 4, &(struct simt_operand){ 0 }))
        return true;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float x[4];
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t bits = (uint32_t)o[i].value[lane];
            memcpy(&x[i], &bits, sizeof bits);
        }
        cr_assert_eq(x[0], fmaf(x[1], x[2], x[3]), "step %llu, lane %u", (unsigned long long)simt_look_step(l), lane);
    }
    return ++*fmas < FMAS;
}

Test(watch, the_products_of_a_step_are_what_its_operands_give)
{
    struct simt *s = simt_open();
    char error[DEV_ERROR_MAX];
    size_t bytes;
    char *ptx = ptx_file_read(STEPS_PTX "/06_warp_tile/06_warp_tile.ptx", &bytes, error);
    cr_assert(ptx, "%s", error);
    struct simt_module *m = simt_load(s, "06", ptx, bytes, error);
    cr_assert(m, "%s", error);
    const int side = 128;
    const float alpha = 1, beta = 0;
    uint64_t at[3];
    float *values = malloc(4 * 128 * 128);
    for (int i = 0; i < side * side; i++)
        values[i] = (float)(i % 97) / 7;
    for (int i = 0; i < 3; i++)
        cr_assert(simt_alloc(s, "matrix", 4 * 128 * 128, &at[i], error) &&
                  simt_write(s, at[i], values, 4 * 128 * 128, error));
    const struct dev_arg args[] = { DEV_ARG(side),  DEV_ARG(side),  DEV_ARG(side), DEV_ARG(alpha),
                                    DEV_ARG(at[0]), DEV_ARG(at[1]), DEV_ARG(beta), DEV_ARG(at[2]) };
    const struct dev_launch launch = { .block = { 256 }, .args = args, .n_args = 8 };
    uint32_t fmas = 0;
    const struct simt_watch w = { .warp = 3, .tell = recompute, .context = &fmas };
    cr_assert(simt_watch(s, simt_kernel(m, "gemm"), &launch, &w, error), "%s", error);
    cr_expect_eq(fmas, FMAS, "%u products were seen", fmas);
    free(values);
    free(ptx);
    simt_close(s);
}
