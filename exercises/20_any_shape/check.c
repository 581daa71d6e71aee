// The check of exercise 20.
#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 16, THREADS = 256 };

struct launched {
    struct ex_product p;
    int parts;
    dev_ptr stored;
};

static unsigned tiles(int size, int tile)
{
    return (unsigned)((size + tile - 1) / tile);
}

static unsigned blocks(const struct launched *l)
{
    return tiles(l->p.m, BM) * tiles(l->p.n, BN) * (unsigned)l->parts;
}

static struct launched begin(enum dev_kind kind, int m, int n, int k, int parts, float beta)
{
    static const int none[64];
    struct launched l = { .p = ex_product_open(kind, m, n, k, beta), .parts = parts };
    l.stored = ex_buffer(&l.p.x, "stored", none, blocks(&l) * sizeof *none);
    return l;
}

// launch is ex_launch, or ex_relaunch.
static const struct profile *run(struct launched *l, float alpha, float beta,
                                 const struct profile *(*launch)(struct ex *, const char *, const struct dev_launch *))
{
    const struct dev_arg args[] = { DEV_ARG(l->p.m), DEV_ARG(l->p.n), DEV_ARG(l->p.k),
                                    DEV_ARG(alpha),  DEV_ARG(l->p.a), DEV_ARG(l->p.b),
                                    DEV_ARG(beta),   DEV_ARG(l->p.c), DEV_ARG(l->stored) };
    return launch(&l->p.x, "gemm",
                  &(struct dev_launch){ .grid = { tiles(l->p.n, BN), tiles(l->p.m, BM), (unsigned)l->parts },
                                        .cluster = { 1, 1, (unsigned)l->parts },
                                        .block = { THREADS },
                                        .args = args,
                                        .n_args = 9 });
}

static void is_right(enum dev_kind kind, int m, int n, int k, int parts, float alpha, float beta)
{
    struct launched l = begin(kind, m, n, k, parts, beta);
    run(&l, alpha, beta, ex_launch);
    ex_product_is_right(&l.p, alpha, beta, parts, "blocks a tile");
    ex_product_close(&l.p);
}

// One block, several, more than there are tiles along K; and tiles of which a part is outside.
Test(check, 1_the_result_is_right)
{
    is_right(DEV_SIM, 64, 64, 32, 1, 1, 0);
    is_right(DEV_SIM, 64, 64, 64, 2, 1, 0);
    is_right(DEV_SIM, 100, 70, 104, 4, -0.5F, 2);
    is_right(DEV_SIM, 64, 64, 128, 8, 1, 0);
    is_right(DEV_SIM, 64, 64, 40, 4, 1, 0);
}

Test(check, 2_the_result_is_right_on_the_GPU)
{
    is_right(DEV_GPU, 100, 70, 104, 4, -0.5F, 2);
}

Test(check, 3_every_block_stores_a_share)
{
    enum { PARTS = 4, SHARE = BM * BN / PARTS };
    struct launched l = begin(DEV_SIM, BM, BN, PARTS * BK, PARTS, 0);
    int stored[PARTS];
    run(&l, 1, 0, ex_relaunch);
    ex_read(&l.p.x, stored, l.stored, sizeof stored);
    ex_product_close(&l.p);
    for (int i = 0; i < PARTS; i++)
        cr_assert_eq(stored[i], SHARE,
                     "right result, but block %d of the cluster stores %d elements of the tile's %d, where a share is "
                     "%d: all blocks are to add up, and none what another one does",
                     i, stored[i], BM * BN, SHARE);
}

// The products read shared memory as often however K is split. What is left is the adding up.
Test(check, 4_sums_are_loaded_once_by_fours)
{
    enum { PARTS = 4, EACH = BM * BN / 4 / 32 };
    uint64_t loads[2];
    for (int i = 0; i < 2; i++) {
        struct launched l = begin(DEV_SIM, BM, BN, PARTS * BK, i ? PARTS : 1, 0);
        loads[i] = run(&l, 1, 0, ex_relaunch)->total[METRIC_SLD_INST];
        ex_product_close(&l.p);
    }
    const uint64_t more = loads[1] - loads[0], want = (uint64_t)(PARTS - 1) * EACH;
    cr_assert_leq(more, want,
                  "right result, but three more blocks take %" PRIu64
                  " more loads from shared memory (of a warp), where %" PRIu64
                  " hold their sums: load_from brings four floats at a time, and each float is needed once",
                  more, want);
}
