// See floats.h, and f32.cu and pack.cu for the kernels.
#include "floats.h"

#include <string.h>

enum { UNIT = 4, EACH = 4, WARP = 32, THREADS_MOST = 256, PART_UNIT = 16 };  // UNIT: floats in 16 bytes

static int whole(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

int floats_part(int k, int parts)
{
    return whole((k - 1) / parts + 1, PART_UNIT);
}

static int count_parts(int k, int parts)
{
    return (k - 1) / floats_part(k, parts) + 1;
}

// Bytes of a matrix, so that the next one may begin behind it.
static size_t bytes_of(size_t rows, int cols)
{
    const size_t bytes = rows * (size_t)cols * sizeof(float);
    return (bytes + 255) / 256 * 256;
}

static size_t copy_room(bool copy, int rows, int cols)
{
    return copy && cols % UNIT ? bytes_of((size_t)rows, whole(cols, UNIT)) : 0;
}

static size_t parts_room(struct floats_shape s, int parts)
{
    const int n = count_parts(s.k, parts);
    return n > 1 ? bytes_of((size_t)n * (size_t)s.m, whole(s.n, UNIT)) : 0;
}

size_t floats_room(struct floats_shape s, struct floats_way way)
{
    return copy_room(way.copy, s.m, s.k) + copy_room(way.copy, s.k, s.n) + parts_room(s, way.parts);
}

// The threads of a block that copies or adds rows of that number of columns; each thread takes EACH of them.
static unsigned threads_for(int cols)
{
    const int threads = whole((cols - 1) / EACH + 1, WARP);
    return (unsigned)(threads < THREADS_MOST ? threads : THREADS_MOST);
}

static void set_blocks(struct dev_launch *l, int rows, int cols)
{
    l->block[0] = threads_for(cols);
    l->grid[0] = (unsigned)rows;
    l->grid[1] = (unsigned)(cols - 1) / (EACH * l->block[0]) + 1;
}

// pack4(cols, from, ld, begin, to). behind: the matrix lies at the end of its rows' copies, else at their beginning.
static void add_copy(struct floats *f, int rows, int cols, dev_ptr from, bool behind, dev_ptr to)
{
    struct floats_copy *c = &f->copies[f->n_copies++];
    *c = (struct floats_copy){ .cols = cols, .ld = whole(cols, UNIT), .from = from, .to = to };
    c->begin = behind ? c->ld - cols : 0;
    const struct dev_arg args[FLOATS_COPY_ARGS] = { DEV_ARG(c->cols), DEV_ARG(c->from), DEV_ARG(c->ld),
                                                    DEV_ARG(c->begin), DEV_ARG(c->to) };
    memcpy(c->args, args, sizeof args);
    c->launch = (struct dev_launch){ .args = c->args, .n_args = FLOATS_COPY_ARGS };
    set_blocks(&c->launch, rows, c->ld);
}

// gemm(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, part)
static void set_product(struct floats *f, const struct geometry *g)
{
    struct floats_shape *s = &f->shape;
    const struct dev_arg args[FLOATS_ARGS] = {
        DEV_ARG(s->m),
        DEV_ARG(s->n),
        DEV_ARG(s->k),
        DEV_ARG(f->alpha),
        DEV_ARG(f->A),
        DEV_ARG(f->lda),
        DEV_ARG(f->B),
        DEV_ARG(f->ldb),
        f->parts > 1 ? (struct dev_arg)DEV_ARG(f->no_beta) : (struct dev_arg)DEV_ARG(f->beta),
        DEV_ARG(f->C),
        DEV_ARG(f->ldc),
        DEV_ARG(f->part),
    };
    memcpy(f->args, args, sizeof args);
    f->launch = (struct dev_launch){ .grid = { (unsigned)(s->n - 1) / (unsigned)g->bn + 1,
                                               (unsigned)(s->m - 1) / (unsigned)g->bm + 1, (unsigned)f->parts },
                                     .block = { (unsigned)g->threads },
                                     .shared = (size_t)g->shared,
                                     .args = f->args,
                                     .n_args = FLOATS_ARGS };
}

// sum4(rows, cols, parts, P, ld, beta, C)
static void set_sum(struct floats *f)
{
    struct floats_shape *s = &f->shape;
    const struct dev_arg args[FLOATS_SUM_ARGS] = { DEV_ARG(s->m),   DEV_ARG(s->n),    DEV_ARG(f->parts), DEV_ARG(f->C),
                                                   DEV_ARG(f->ldc), DEV_ARG(f->beta), DEV_ARG(f->to) };
    memcpy(f->sum_args, args, sizeof args);
    f->sum_launch = (struct dev_launch){ .args = f->sum_args, .n_args = FLOATS_SUM_ARGS };
    set_blocks(&f->sum_launch, s->m, s->n);
}

bool floats_open(struct floats *f, struct dev *d, struct dev_module *gemm, const struct geometry *g,
                 struct dev_module *pack, struct floats_shape s, struct floats_way way, dev_ptr A, dev_ptr B, dev_ptr C,
                 dev_ptr room)
{
    *f = (struct floats){ .shape = s, .lda = s.k, .ldb = s.n, .ldc = s.n, .A = A, .B = B, .C = C, .to = C };
    f->part = floats_part(s.k, way.parts);
    f->parts = count_parts(s.k, way.parts);
    if (copy_room(way.copy, s.m, s.k)) {
        add_copy(f, s.m, s.k, A, true, room);
        f->A = room;
        f->lda = whole(s.k, UNIT);
        room += copy_room(way.copy, s.m, s.k);
    }
    if (copy_room(way.copy, s.k, s.n)) {
        add_copy(f, s.k, s.n, B, false, room);
        f->B = room;
        f->ldb = whole(s.n, UNIT);
        room += copy_room(way.copy, s.k, s.n);
    }
    if (f->parts > 1) {
        f->C = room;
        f->ldc = whole(s.n, UNIT);
    }
    set_product(f, g);
    set_sum(f);
    f->gemm = dev_kernel(d, gemm, "gemm");
    f->pack = dev_kernel(d, pack, "pack4");
    f->sum = dev_kernel(d, pack, "sum4");
    return f->gemm && f->pack && f->sum;
}

bool floats_queue(const struct floats *f, struct dev *d)
{
    const uint64_t generous = 4096;  // warp instructions of a block for each of K; the largest takes some 700
    bool ok = true;
    dev_set_budget(d, (1u << 22) + generous * (uint64_t)f->part);
    for (int i = 0; ok && i < f->n_copies; i++)
        ok = dev_launch(d, f->pack, &f->copies[i].launch);
    return ok && dev_launch(d, f->gemm, &f->launch) && (f->parts == 1 || dev_launch(d, f->sum, &f->sum_launch));
}
