// The check of exercise 26.
#include <math.h>

#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 16, THREADS = 256, PARTS_MAX = 8 };

struct launched {
    struct ex x;
    int m, n, k, parts;
    dev_ptr a, b, c, stored;
    struct matrix A, B, C;
};

static unsigned tiles(int size, int tile)
{
    return (unsigned)((size + tile - 1) / tile);
}

static unsigned blocks(const struct launched *l)
{
    return tiles(l->m, BM) * tiles(l->n, BN) * (unsigned)l->parts;
}

static struct launched begin(enum dev_kind kind, int m, int n, int k, int parts, float beta)
{
    static const int none[64];
    struct launched l = { .x = ex_open(kind), .m = m, .n = n, .k = k, .parts = parts };
    l.A = ex_whole_numbers(DEV_F32, m, k, 1), l.B = ex_whole_numbers(DEV_F32, k, n, 2),
    l.C = ex_whole_numbers(DEV_F32, m, n, 3);
    if (beta == 0)
        matrix_fill_nan(&l.C);
    l.a = ex_buffer(&l.x, "A", l.A.data, matrix_bytes(&l.A));
    l.b = ex_buffer(&l.x, "B", l.B.data, matrix_bytes(&l.B));
    l.c = ex_buffer(&l.x, "C", l.C.data, matrix_bytes(&l.C));
    l.stored = ex_buffer(&l.x, "stored", none, blocks(&l) * sizeof *none);
    return l;
}

static void end(struct launched *l)
{
    matrix_free(&l->A), matrix_free(&l->B), matrix_free(&l->C);
    ex_close(&l->x);
}

// launch is ex_launch, or ex_relaunch.
static const struct profile *run(struct launched *l, float alpha, float beta,
                                 const struct profile *(*launch)(struct ex *, const char *, const struct dev_launch *))
{
    const struct dev_arg args[] = { DEV_ARG(l->m), DEV_ARG(l->n), DEV_ARG(l->k), DEV_ARG(alpha),    DEV_ARG(l->a),
                                    DEV_ARG(l->b), DEV_ARG(beta), DEV_ARG(l->c), DEV_ARG(l->stored) };
    return launch(&l->x, "gemm",
                  &(struct dev_launch){ .grid = { tiles(l->n, BN), tiles(l->m, BM), (unsigned)l->parts },
                                        .cluster = { 1, 1, (unsigned)l->parts },
                                        .block = { THREADS },
                                        .args = args,
                                        .n_args = 9 });
}

static void is_right(enum dev_kind kind, int m, int n, int k, int parts, float alpha, float beta)
{
    struct launched l = begin(kind, m, n, k, parts, beta);
    struct matrix got = matrix_new(DEV_F32, m, n);
    cr_assert(got.data, "out of memory");
    run(&l, alpha, beta, ex_launch);
    ex_read(&l.x, got.data, l.c, matrix_bytes(&got));
    for (int row = 0; row < m; row++)
        for (int col = 0; col < n; col++) {
            double want = beta == 0 ? 0 : beta * matrix_get(&l.C, row, col);
            for (int i = 0; i < k; i++)
                want += alpha * matrix_get(&l.A, row, i) * matrix_get(&l.B, i, col);
            const double is = matrix_get(&got, row, col);
            cr_assert(is == want,
                      "M %d, N %d, K %d, %d blocks a tile, alpha %g, beta %g: C[%d][%d] is wrong: %g, and should be %g",
                      m, n, k, parts, alpha, beta, row, col, is, want);
        }
    matrix_free(&got);
    end(&l);
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
    ex_read(&l.x, stored, l.stored, sizeof stored);
    end(&l);
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
        end(&l);
    }
    const uint64_t more = loads[1] - loads[0], want = (uint64_t)(PARTS - 1) * EACH;
    cr_assert_leq(more, want,
                  "right result, but three more blocks take %" PRIu64
                  " more loads from shared memory (of a warp), where %" PRIu64
                  " hold their sums: load_from brings four floats at a time, and each float is needed once",
                  more, want);
}
