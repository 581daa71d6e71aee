// The check of exercise 4b: the learner's answers against common/base/occupancy.c, kernel by kernel.
#include <stdio.h>

#include "../exercise.h"
#include "base/occupancy.h"

// Launches that differ in what decides. The first three are those of the course's own kernels.
static const struct use {
    const char *what;
    int threads, registers, shared;
} uses[] = {
    { "step 04 without the second number of __launch_bounds__", 256, 180, 8192 },
    { "step 04", 256, 128, 8192 },
    { "step 12", 256, 244, 49152 },
    { "a small kernel", 128, 32, 0 },
    { "blocks of one warp", 32, 32, 0 },
    { "blocks of 33 threads", 33, 40, 0 },
    { "a count of registers that is no multiple of 8", 256, 65, 0 },
    { "many registers in blocks of three warps", 96, 168, 0 },
    { "tiles of 32 KB", 64, 32, 32768 },
    { "a shared array of 100 bytes", 32, 16, 100 },
    { "few registers", 256, 16, 0 },
    { "blocks of 1,024 threads", 1024, 32, 0 },
};
enum { USES = sizeof uses / sizeof *uses };

static struct occupancy known(const struct use *u)
{
    const struct card *h200 = card_named("H200");
    cr_assert(h200, "the table of cards has no H200");
    return occupancy_of(h200, (unsigned)u->threads, (unsigned)u->registers, (uint64_t)u->shared);
}

struct answer {  // the learner's
    int blocks, percent;
    const struct use *u;
    struct occupancy o;  // the right one
};

static void ask(enum dev_kind kind, struct answer answers[USES])
{
    int out[2 * USES];
    int threads[USES], registers[USES], shared[USES];
    for (int i = 0; i < USES; i++) {
        threads[i] = uses[i].threads;
        registers[i] = uses[i].registers;
        shared[i] = uses[i].shared;
    }
    struct ex x = ex_open(kind);
    dev_ptr t = ex_buffer(&x, "threads", threads, sizeof threads);
    dev_ptr r = ex_buffer(&x, "registers", registers, sizeof registers);
    dev_ptr s = ex_buffer(&x, "shared", shared, sizeof shared);
    dev_ptr o = ex_buffer(&x, "out", NULL, 2 * sizeof threads);
    const struct dev_arg args[] = { DEV_ARG(t), DEV_ARG(r), DEV_ARG(s), DEV_ARG(o) };
    ex_launch(&x, "answer", &(struct dev_launch){ .block = { USES }, .args = args, .n_args = 4 });
    ex_read(&x, out, o, 2 * sizeof threads);
    ex_close(&x);
    for (int i = 0; i < USES; i++)
        answers[i] = (struct answer){ out[2 * i], out[2 * i + 1], &uses[i], known(&uses[i]) };
}

// What decides in this launch, and the arithmetic that leads there.
static const char *why(const struct use *u, const struct occupancy *o)
{
    static char text[400];
    const int warps = (u->threads + 31) / 32, a_warp = (u->registers * 32 + 255) / 256 * 256;
    int n = 0;
    if (u->threads % 32)
        n = snprintf(text, sizeof text, "a block of %d threads has %d warps; ", u->threads, warps);
    char *at = text + n;
    const size_t room = sizeof text - (size_t)n;
    if (!strcmp(o->limit, "registers"))
        snprintf(
            at, room,
            "the registers decide: an SM has 65,536 registers, 16,384 for each of its four schedulers. A warp needs "
            "32 x %d, and gets them in units of 256: %d. How many whole warps has one scheduler, how many have all "
            "four, and how many blocks of %d warps is that?",
            u->registers, a_warp, warps);
    else if (!strcmp(o->limit, "shared memory"))
        snprintf(
            at, room,
            "the shared memory decides: an SM has 233,472 bytes. A block needs %d, rounded up to a multiple of 128, "
            "and the system takes 1,024 bytes more for each block",
            u->shared);
    else if (!strcmp(o->limit, "threads"))
        snprintf(at, room, "the number of warps decides: an SM has room for 64, and a block has %d", warps);
    else
        snprintf(at, room, "the number of blocks decides: an SM has room for 32, however small they are");
    return text;
}

Test(check, 1_the_blocks_of_an_SM)
{
    struct answer answers[USES];
    ask(DEV_SIM, answers);
    for (const struct answer *a = answers; a < answers + USES; a++)
        cr_assert_eq((unsigned)a->blocks, a->o.blocks,
                     "%s (%d threads, %d registers a thread, %d bytes of shared memory): not %d blocks an SM. Here %s",
                     a->u->what, a->u->threads, a->u->registers, a->u->shared, a->blocks, why(a->u, &a->o));
}

Test(check, 2_the_occupancy_in_percent)
{
    struct answer answers[USES];
    ask(DEV_SIM, answers);
    for (const struct answer *a = answers; a < answers + USES; a++) {
        if ((unsigned)a->blocks != a->o.blocks)
            cr_skip_test("first the number of blocks has to be right");
        cr_assert_eq(
            (unsigned)a->percent, 100 * a->o.warps / a->o.max,
            "%s: %d blocks an SM is right, but the occupancy is not %d percent. It is the share of warps that are "
            "resident: how many warps has a block, and how many has an SM room for?",
            a->u->what, a->blocks, a->percent);
    }
}

Test(check, 3_a_GPU_says_the_same)
{
    struct answer gpu[USES], sim[USES];
    ask(DEV_GPU, gpu);
    ask(DEV_SIM, sim);
    for (int i = 0; i < USES; i++) {
        cr_assert_eq(gpu[i].blocks, sim[i].blocks, "%s: the GPU computes %d and the simulated one %d", uses[i].what,
                     gpu[i].blocks, sim[i].blocks);
        cr_assert_eq(gpu[i].percent, sim[i].percent, "%s: the GPU computes %d and the simulated one %d", uses[i].what,
                     gpu[i].percent, sim[i].percent);
    }
}
