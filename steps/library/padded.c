// See padded.h, and pack.cu for the kernels.
#include "padded.h"

#include <string.h>

enum { UNIT = 4, THREADS = 256, COLS = 4 * THREADS };  // floats in 16 bytes; of a block: threads, columns it copies

static int whole(int n)
{
    return (n + UNIT - 1) / UNIT * UNIT;
}

// Bytes of a matrix, so that the next one may begin behind it.
static size_t bytes_of(int rows, int cols)
{
    const size_t bytes = (size_t)rows * (size_t)cols * sizeof(float);
    return (bytes + 255) / 256 * 256;
}

// What is copied: A if its rows are odd, B too if it needs more rows then, C if its rows are odd.
static bool copies_a(int k)
{
    return k % UNIT != 0;
}

static bool copies_b(int n, int k)
{
    return n % UNIT != 0 || k % UNIT != 0;
}

static size_t room_a(int m, int k)
{
    return copies_a(k) ? bytes_of(m, whole(k)) : 0;
}

static size_t room_b(int n, int k)
{
    return copies_b(n, k) ? bytes_of(whole(k), whole(n)) : 0;
}

size_t padded_room(int m, int n, int k)
{
    return room_a(m, k) + room_b(n, k) + (n % UNIT ? bytes_of(m, whole(n)) : 0);
}

// pack4(rows, cols, from, ld, to), a block for each row of the copy.
static void add_copy(struct padded *p, int rows, int cols, dev_ptr from, int rows_to, int ld, dev_ptr to)
{
    struct padded_copy *c = &p->copies[p->n_copies++];
    c->rows = rows, c->cols = cols, c->ld = ld, c->from = from, c->to = to;
    const struct dev_arg args[PADDED_COPY_ARGS] = { DEV_ARG(c->rows), DEV_ARG(c->cols), DEV_ARG(c->from),
                                                    DEV_ARG(c->ld), DEV_ARG(c->to) };
    memcpy(c->args, args, sizeof args);
    c->launch = (struct dev_launch){ .grid = { (unsigned)rows_to, (unsigned)(ld - 1) / COLS + 1 },
                                     .block = { THREADS },
                                     .args = c->args,
                                     .n_args = PADDED_COPY_ARGS };
}

// finish4(cols, P, ld, beta, C), a block for each row of C.
static void add_finish(struct padded *p, int cols, dev_ptr C)
{
    p->finish = true;
    p->cols = cols, p->to = C;
    const struct dev_arg args[PADDED_COPY_ARGS] = { DEV_ARG(p->cols), DEV_ARG(p->C), DEV_ARG(p->n), DEV_ARG(p->beta),
                                                    DEV_ARG(p->to) };
    memcpy(p->args, args, sizeof args);
    p->launch = (struct dev_launch){ .grid = { (unsigned)p->m, (unsigned)(cols - 1) / COLS + 1 },
                                     .block = { THREADS },
                                     .args = p->args,
                                     .n_args = PADDED_COPY_ARGS };
}

bool padded_open(struct padded *p, struct dev *d, struct dev_module *pack, int m, int n, int k, dev_ptr A, dev_ptr B,
                 dev_ptr C, dev_ptr room)
{
    *p = (struct padded){ .m = m, .n = whole(n), .k = whole(k), .A = A, .B = B, .C = C };
    p->pack = dev_kernel(d, pack, "pack4");
    p->last = dev_kernel(d, pack, "finish4");
    if (copies_a(k)) {
        p->A = room;
        add_copy(p, m, k, A, m, p->k, p->A);
    }
    if (copies_b(n, k)) {
        p->B = room + room_a(m, k);
        add_copy(p, k, n, B, p->k, p->n, p->B);
    }
    if (n % UNIT) {
        p->C = room + room_a(m, k) + room_b(n, k);
        add_finish(p, n, C);
    }
    return p->pack && p->last;
}

bool padded_before(const struct padded *p, struct dev *d)
{
    bool ok = true;
    for (int i = 0; ok && i < p->n_copies; i++)
        ok = dev_launch(d, p->pack, &p->copies[i].launch);
    return ok;
}

bool padded_after(const struct padded *p, struct dev *d)
{
    return !p->finish || dev_launch(d, p->last, &p->launch);
}
