// The check of exercise 7b.
#include "../exercise.h"

enum { BM = 16, BN = 16, BK = 16, THREADS = BM * BN, PARTS_MAX = 12 };

static const int splits[][2] = { { 64, 1 }, { 64, 4 }, { 112, 4 }, { 100, 3 }, { 90, 6 }, { 40, 5 } };  // K, parts
enum { SPLITS = sizeof splits / sizeof *splits };

static void read_shares(int k, int parts, int out[PARTS_MAX][2])
{
    struct ex x = ex_open(DEV_SIM);
    const size_t bytes = (size_t)parts * sizeof *out;
    dev_ptr p = ex_buffer(&x, "out", NULL, bytes);
    const struct dev_arg args[] = { DEV_ARG(k), DEV_ARG(p) };
    ex_launch(&x, "shares", &(struct dev_launch){ .block = { (unsigned)parts }, .args = args, .n_args = 2 });
    ex_read(&x, out, p, bytes);
    ex_close(&x);
}

Test(check, 1_every_k_is_in_one_share)
{
    for (int i = 0; i < SPLITS; i++) {
        int out[PARTS_MAX][2], at = 0;
        const int k = splits[i][0], parts = splits[i][1];
        read_shares(k, parts, out);
        for (int p = 0; p < parts; p++) {
            cr_assert_eq(
                out[p][0], at,
                "K %d in %d parts: part %d begins at %d, and part %d ends at %d. The blocks are to form each product "
                "once",
                k, parts, p, out[p][0], p - 1, at);
            cr_assert_geq(out[p][1], at, "K %d in %d parts: part %d begins at %d and ends at %d", k, parts, p, at,
                          out[p][1]);
            at = out[p][1];
        }
        cr_assert_eq(at, k, "K %d in %d parts: the last part ends at %d. Is the short tile at the end counted?", k,
                     parts, at);
    }
}

Test(check, 2_the_shares_are_even)
{
    for (int i = 0; i < SPLITS; i++) {
        int out[PARTS_MAX][2];
        const int k = splits[i][0], parts = splits[i][1], tiles = (k + BK - 1) / BK, even = (tiles + parts - 1) / parts;
        read_shares(k, parts, out);
        for (int p = 0; p < parts; p++) {
            const int has = (out[p][1] - out[p][0] + BK - 1) / BK;
            cr_assert(
                out[p][0] % BK == 0 || out[p][0] == k,
                "K %d in %d parts: part %d begins at %d, which is no multiple of %d. Two blocks then have a short tile "
                "each, where one tile would do",
                k, parts, p, out[p][0], BK);
            cr_assert_leq(
                has, even,
                "K %d in %d parts: part %d has %d tiles, where %d would do. The others wait for it: make the shares "
                "as even as they can be",
                k, parts, p, has, even);
        }
    }
}

struct launched {
    struct ex_product p;
    int parts;
    dev_ptr sums;
};

static struct launched begin(enum dev_kind kind, int m, int n, int k, int parts, float beta)
{
    struct launched l = { .p = ex_product_open(kind, m, n, k, beta), .parts = parts };
    l.sums = ex_buffer(&l.p.x, "sums", NULL, (size_t)parts * matrix_bytes(&l.p.C));
    return l;
}

static const struct profile *split(struct launched *l)
{
    const struct dev_arg args[] = { DEV_ARG(l->p.m), DEV_ARG(l->p.n), DEV_ARG(l->p.k),
                                    DEV_ARG(l->p.a), DEV_ARG(l->p.b), DEV_ARG(l->sums) };
    return ex_launch(&l->p.x, "split",
                     &(struct dev_launch){ .grid = { (unsigned)((l->p.n + BN - 1) / BN),
                                                     (unsigned)((l->p.m + BM - 1) / BM), (unsigned)l->parts },
                                           .block = { THREADS },
                                           .args = args,
                                           .n_args = 6 });
}

static const struct profile *add(struct launched *l, float alpha, float beta)
{
    const struct dev_arg args[] = { DEV_ARG(l->p.m),  DEV_ARG(l->p.n), DEV_ARG(l->parts), DEV_ARG(alpha),
                                    DEV_ARG(l->sums), DEV_ARG(beta),   DEV_ARG(l->p.c) };
    return ex_launch(
        &l->p.x, "add",
        &(struct dev_launch){
            .grid = { (unsigned)((l->p.m * l->p.n + 127) / 128) }, .block = { 128 }, .args = args, .n_args = 7 });
}

static void is_right(enum dev_kind kind, int m, int n, int k, int parts, float alpha, float beta)
{
    struct launched l = begin(kind, m, n, k, parts, beta);
    split(&l);
    add(&l, alpha, beta);
    ex_product_is_right(&l.p, alpha, beta, parts, "parts");
    ex_product_close(&l.p);
}

Test(check, 3_the_result_is_right)
{
    is_right(DEV_SIM, 16, 16, 64, 1, 1, 0);
    is_right(DEV_SIM, 32, 16, 64, 4, 1, 0);
    is_right(DEV_SIM, 20, 37, 100, 3, -0.5F, 2);
    is_right(DEV_SIM, 16, 16, 40, 5, 1, 0);
}

Test(check, 4_the_result_is_right_on_the_GPU)
{
    is_right(DEV_GPU, 20, 37, 100, 3, -0.5F, 2);
}

Test(check, 5_more_blocks_read_no_more)
{
    uint64_t sectors[2];
    for (int i = 0; i < 2; i++) {
        struct launched l = begin(DEV_SIM, 32, 32, 256, i ? 8 : 1, 0);
        const struct profile *p = split(&l);
        sectors[i] = p->total[METRIC_GLD_SEC];
        ex_product_close(&l.p);
    }
    cr_assert_leq(sectors[1], sectors[0],
                  "right result, but 8 parts read %" PRIu64 " sectors of A and B, and 1 part %" PRIu64
                  ": each part is to read its own share alone",
                  sectors[1], sectors[0]);
}

Test(check, 6_the_sums_are_added_row_by_row)
{
    enum { SIDE = 32, PARTS = 8, WANTED = SIDE * SIDE * 4 / 32 * PARTS };
    struct launched l = begin(DEV_SIM, SIDE, SIDE, 256, PARTS, 0);
    split(&l);
    const struct profile *p = add(&l, 1, 0);
    const uint64_t sectors = p->total[METRIC_GLD_SEC];
    ex_product_close(&l.p);
    cr_assert_leq(sectors, WANTED,
                  "right result, but add reads %" PRIu64
                  " sectors of 32 bytes, where %d hold the sums: neighbouring threads "
                  "are to read neighbouring elements of one part",
                  sectors, WANTED);
}
