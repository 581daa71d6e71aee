// See pick.h. A model of the time, in cycles of an SM of an H200, tries every way of every kernel that can compute the
// product.
#include "pick.h"

#include <math.h>

#include "args.h"

enum { LINE = 128, UNIT = 16 };  // bytes: of a copy's row a multiple, and what is loaded at once
enum {
    STEP_ROWS_MOST = 65535,
    PART_UNIT = 16,
    LEAST_PART = 32,
    ROWS_MOST = 8,
    COLUMNS_T = 32,
    LEAST_STEPS = 2,
    EACH_MOST = 16
};
static const double UNITS_MOST = 1 << 30;

// --- What can be computed how? ---

bool pick_aligned(const struct operand *x, size_t bytes)
{
    return x->at % bytes == 0 && (x->rows == 1 || (uint64_t)x->ld * x->element % bytes == 0) &&
           (x->matrices == 1 || (uint64_t)x->next * x->element % bytes == 0);
}

size_t pick_pitch(const struct operand *x)
{
    return ((size_t)x->columns * x->element + LINE - 1) / LINE * LINE;
}

size_t pick_copy_bytes(const struct operand *x)
{
    return ((size_t)x->rows * pick_pitch(x) * (size_t)x->matrices + 255) / 256 * 256;
}

static double sums_of(const gemm_steps_problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const double tile = (double)k->m * k->n * sizeof(float);
    if (k->kind == KERNEL_HOPPER)
        return (double)w->parts * (w->each + 2) * tile;
    if (w->parts == 1 || k->kind == KERNEL_STEP)
        return 0;
    return k->kind == KERNEL_ANY ? tile * w->blocks : (double)p->batch * w->parts * p->m * p->n * sizeof(float);
}

bool pick_meets(const struct way *w)
{
    return w->kernel->kind == KERNEL_HOPPER ? w->parts > 0 : w->parts > 1;
}

size_t pick_room(const gemm_steps_problem *p, const struct way *w)
{
    size_t bytes = (size_t)sums_of(p, w);
    for (int i = 0; i < 2; i++) {
        const struct operand x = problem_operand(p, i);
        bytes += w->copy[i] ? pick_copy_bytes(&x) : 0;
    }
    return bytes;
}

gemm_steps_problem pick_exchange(const gemm_steps_problem *p, bool exchanged)
{
    gemm_steps_problem q = *p;
    if (!exchanged)
        return q;
    q.m = p->n, q.n = p->m;
    q.A = p->B, q.lda = p->ldb, q.stride_a = p->stride_b, q.transpose_a = !p->transpose_b;
    q.B = p->A, q.ldb = p->lda, q.stride_b = p->stride_a, q.transpose_b = !p->transpose_a;
    q.bias_kind = p->bias_kind == GEMM_STEPS_BIAS_ROW      ? GEMM_STEPS_BIAS_COLUMN
                  : p->bias_kind == GEMM_STEPS_BIAS_COLUMN ? GEMM_STEPS_BIAS_ROW
                                                           : GEMM_STEPS_NO_BIAS;
    return q;
}

// Its lines have whole groups of so many bytes, too, if they are not along K.
static bool in_groups(const struct operand *x, size_t bytes, bool along_k)
{
    return pick_aligned(x, bytes) && (along_k || (size_t)x->columns * x->element % bytes == 0);
}

// Copies have room behind their last columns.
bool pick_wide(const gemm_steps_problem *p, const struct way *w)
{
    const struct operand a = problem_operand(p, 0), b = problem_operand(p, 1);
    if (w->kernel->kind == KERNEL_ROWS)
        return in_groups(&b, UNIT, p->transpose_b);
    return (w->copy[0] || in_groups(&a, 4 * a.element, !p->transpose_a)) &&
           (w->copy[1] || in_groups(&b, 4 * b.element, p->transpose_b));
}

// What a step's driver can state: no gaps, nothing around it.
static bool can_step(const struct kernel *k, const gemm_steps_problem *p)
{
    const bool plain = p->type_c == p->type && !p->transpose_a && !p->transpose_b && p->batch == 1 && !p->bias_kind &&
                       !p->activation && p->alpha != 0;
    bool whole = true;
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        const struct operand x = problem_operand(p, i);
        whole &= x.at % UNIT == 0 && (x.rows == 1 || x.ld == x.columns) &&
                 (!k->aligned || (size_t)x.columns * x.element % UNIT == 0);
    }
    return plain && whole && (p->m - 1) / k->m < STEP_ROWS_MOST;
}

static bool can(struct pick_card card, const struct kernel *k, const gemm_steps_problem *p)
{
    const bool type = k->type ? k->type == (int)p->type : p->type != GEMM_STEPS_F32;
    if (!type || card.sm < k->oldest || card.sm > k->newest || !module_texts[k->module].ptx)
        return false;
    switch (k->kind) {
    case KERNEL_STEP:
    case KERNEL_LAST_STEP:
        return can_step(k, p);
    case KERNEL_ROWS:
        return p->alpha != 0 && (p->m <= ROWS_MOST || p->n <= ROWS_MOST);
    case KERNEL_HOPPER:
        return p->alpha != 0;
    default:
        return true;
    }
}

// --- How long does it take? ---
// Those of floats were fitted to 85 shapes between 64 and 8192, run in 1,925 ways; those of Hopper's to 41 shapes (step
// 20).

static const double FETCH = 890;       // any.cu: cycles of a tile of K in which a block waits: its next is on its way
static const double ODD_FETCH = 3000;  // the same, if elements are fetched one by one
static const double DEEP = 1.35;       // that many times longer, if a tile is 16 deep and not 8
static const double BLOCK = 8000;      // a block begins and ends
static const double MEET = 5000;       // a part is told to others, and the last one begins to add
static const double ADD = 30;          // bytes of other parts that an SM reads in a cycle
static const double COPY = 6000;       // a launch more: most of it is the wait for the one before
static const double MOVED = 15;        // bytes that a copy moves in a cycle, for each SM
static const double READ = 18;         // bytes that come from memory in a cycle, for each SM
static const double L2 = 50e6;         // bytes of the L2 cache
static const double STEP = 100;        // hopper.cu: cycles between one step along K and the next
static const double LEAST = 362;       // of a step along K at least: its tiles come, a barrier is waited for
static const double ROW = 1.4;         // a row of a box, 128 bytes, comes from L2: at least
static const double ROWS = 3;          // that many times longer, if it lies in two lines of L2
static const double BESIDE = 0.1;      // the share of what goes on beside something longer that adds to it
static const double DOUBT = 1.05;      // hopper.cu: tiles are cut only for more than 5 %
static const double SHORTER = 0.97;    // step 20, if its driver's rule chooses as well
static const double START = 6500;      // a launch, and the first tiles come
static const double STORE = 4;         // elements of C that are stored in a cycle
static const double ROW_STEP = 300;    // rows.cu: 32 rows of B
static const double ROW_PART = 60;     // and a part more to add
static const double NEXT = 1000;       // from a tile to the next

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

static double tiles_of(const struct kernel *k, const gemm_steps_problem *p)
{
    return ceil_div(p->m, k->m) * ceil_div(p->n, k->n) * p->batch;
}

// Multiply-adds of floats that an SM issues in a cycle. Source: CUDA C++ Programming Guide, arithmetic instructions.
static double lanes(int sm)
{
    return sm == 75 || sm == 80 ? 64 : 128;
}

static double copy_cycles(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    double cycles = 0;
    for (int i = 0; i < 2; i++) {
        const struct operand x = problem_operand(p, i);
        cycles += w->copy[i] ? COPY + 2 * (double)pick_copy_bytes(&x) / (MOVED * card.sms) : 0;
    }
    return cycles;
}

// At least as long as it takes to read A, B and C; L2 is full of what others have written, which goes to memory first.
static double read_cycles(struct pick_card card, const gemm_steps_problem *p)
{
    double bytes = 0;
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        const struct operand x = problem_operand(p, i);
        bytes += (double)x.rows * x.columns * x.matrices * (double)x.element;
    }
    return (bytes + fmin(bytes, L2)) / (READ * card.sms);
}

// Two things that take that long and overlap, if not quite.
static double both(double a, double b)
{
    return fmax(a, b) + BESIDE * fmin(a, b);
}

// A block takes turns with the others of its SM: with `together` of them, each takes that much longer.
static double any_cycles(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const double of_sm = ceil_div(w->blocks, card.sms), rounds = floor(of_sm / k->least),
                 left = of_sm - rounds * k->least;
    const double work =
        (double)k->m * k->n * k->k / k->products * (p->type == GEMM_STEPS_F32 ? 128 / lanes(card.sm) : 1);
    const double fetch = (pick_wide(p, w) ? FETCH : ODD_FETCH) * (k->k > 8 ? DEEP : 1), steps = ceil_div(w->part, k->k);
    double cycles = rounds * (BLOCK + steps * (fetch + k->least * work));
    cycles += left > 0 ? BLOCK + steps * (fetch + left * work) : 0;
    const double meetings = w->parts > 8 ? 2 : w->parts > 1, reads = w->parts > 8 ? 8 + w->parts / 8.0 : w->parts;
    return both(cycles + meetings * MEET + (meetings ? (reads + meetings) * 4.0 * k->m * k->n / ADD : 0),
                read_cycles(card, p));
}

// Rows of a box lie in one line of L2 if rows of the matrix begin at multiples of 128 bytes.
static double row_cycles(const gemm_steps_problem *p, const struct way *w, int which)
{
    const struct operand x = problem_operand(p, which);
    return w->copy[which] || pick_aligned(&x, LINE) ? ROW : ROW * ROWS;
}

static double hopper_cycles(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const double area = (double)k->m * k->n, loads = k->m * row_cycles(p, w, 0) + k->n * row_cycles(p, w, 1);
    const double step = fmax(loads, fmax(LEAST, area * 64 / k->products + STEP));
    const double deep = ceil_div(p->k, k->k), whole = ceil_div(tiles_of(k, p) - w->parts, w->blocks);
    double cycles = whole * (deep * step + NEXT) + area / STORE;
    if (w->parts)
        cycles = DOUBT * (cycles + w->part * step + NEXT + MEET + (w->each + 2) * 4 * area / ADD);
    return START + both(cycles, read_cycles(card, p));
}

// As hopper.cu without cuts, but with fewer instructions between its products. At squares of 1024 to 8192 it has 1.02
// to 1.08 times the speed of cuBLAS (steps/results), and hopper.cu had 0.84 to 1.01.
static double last_step_cycles(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    double least = INFINITY;
    (void)w;
    for (const struct kernel *k = kernels; k < kernels + n_kernels; k++) {
        const struct way uncut = { .kernel = k, .blocks = (int)fmin(tiles_of(k, p), card.sms) };
        least = k->kind == KERNEL_HOPPER ? fmin(least, hopper_cycles(card, p, &uncut)) : least;
    }
    return SHORTER * least;
}

static double rows_cycles(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    const gemm_steps_problem q = pick_exchange(p, w->exchanged);
    const double narrow = pick_wide(&q, w) ? 1 : 4, block = w->part / 32.0 * ROW_STEP;
    const double rounds = ceil_div(w->blocks, 4.0 * card.sms);
    return BLOCK + both(read_cycles(card, p) * narrow, rounds * block) +
           (w->parts > 1 ? MEET + w->parts * ROW_PART : 0);
}

static double step_cycles(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const double at_once = card.sms * k->least, rounds = ceil_div(tiles_of(k, p), at_once);
    const double narrow = p->type == GEMM_STEPS_F32 || (p->n % 8 == 0 && p->k % 8 == 0) ? 1 : 4;
    return BLOCK +
           rounds * ceil_div(p->k, k->k) * (STEP + (double)k->m * k->n * k->k * k->least / k->products * narrow);
}

static double cycles_of(struct pick_card card, const gemm_steps_problem *p, const struct way *w)
{
    typedef double model(struct pick_card, const gemm_steps_problem *, const struct way *);
    static model *const models[] = { [KERNEL_STEP] = step_cycles,
                                     [KERNEL_ANY] = any_cycles,
                                     [KERNEL_ROWS] = rows_cycles,
                                     [KERNEL_HOPPER] = hopper_cycles,
                                     [KERNEL_LAST_STEP] = last_step_cycles };
    return models[w->kernel->kind](card, p, w) + copy_cycles(card, p, w);
}

// --- All ways ---

struct search {
    struct pick_card card;
    const gemm_steps_problem *p;
    size_t limit;
    void (*f)(void *data, const struct way *w, double cycles);
    void *data;
};

static void offer(const struct search *s, const struct way *w)
{
    if (pick_room(s->p, w) <= s->limit)
        s->f(s->data, w, cycles_of(s->card, s->p, w));
}

static int part_of(int k, int parts, int most)
{
    const int part = ((k - 1) / parts / PART_UNIT + 1) * PART_UNIT;
    return part < most ? part : most;
}

// K in parts of the same length but the last; groups: blocks of each part.
static void offer_parts(const struct search *s, struct way w, double groups, int most, double counters)
{
    static const int parts[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
    int before = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const int k = s->p->alpha != 0 ? s->p->k : 1;
        w.part = part_of(k, parts[i], most);
        w.parts = (k - 1) / w.part + 1;
        if (w.parts == before || (w.parts > 1 && (w.part < LEAST_PART || counters > ARGS_COUNTERS)))
            continue;
        before = w.parts;
        w.blocks = (int)groups * w.parts;
        if (groups * w.parts < UNITS_MOST)
            offer(s, &w);
    }
}

static void offer_any(const struct search *s, struct way w)
{
    const double tiles = tiles_of(w.kernel, s->p);
    for (int copy = 0; copy < 2; copy++) {
        for (int i = 0; i < 2; i++) {
            const struct operand x = problem_operand(s->p, i);
            w.copy[i] = copy && !pick_aligned(&x, UNIT);
        }
        if (copy && (s->p->type != GEMM_STEPS_F32 || s->p->alpha == 0 || (!w.copy[0] && !w.copy[1])))
            continue;
        offer_parts(s, w, tiles, s->p->k, tiles * ARGS_MEETINGS);
    }
}

static void offer_rows(const struct search *s, struct way w)
{
    for (int turn = 0; turn < 2; turn++) {
        const gemm_steps_problem q = pick_exchange(s->p, turn);
        if (q.m > ROWS_MOST)
            continue;
        w.exchanged = turn;
        const int each = UNIT / (int)problem_type_bytes(q.type);
        const int columns = q.transpose_b ? COLUMNS_T : w.kernel->n / (pick_wide(&q, &w) ? 1 : each);
        const double groups = ceil_div(q.n, columns) * q.batch;
        int before = 0;
        for (int of_sm = 2; of_sm <= 16; of_sm *= 2) {  // blocks, about
            const double enough = of_sm * s->card.sms / groups;
            w.part = part_of(q.k, enough > 1 ? (int)enough : 1, w.kernel->k);
            w.parts = (q.k - 1) / w.part + 1;
            w.blocks = (int)groups * w.parts;
            if (w.parts != before && (w.parts == 1 || groups <= ARGS_COUNTERS) && groups * w.parts < UNITS_MOST)
                offer(s, &w);
            before = w.parts;
        }
    }
}

// The first `cut` tiles are cut, so that so many blocks have a part.
static void offer_cut(const struct search *s, struct way w, double cut, double blocks)
{
    const double deep = ceil_div(s->p->k, w.kernel->k);
    if (cut * deep >= UNITS_MOST || cut * w.kernel->m / 64 > ARGS_COUNTERS)
        return;
    w.parts = (int)cut, w.blocks = (int)blocks;
    w.part = cut > 0 ? (int)ceil_div(cut * deep, blocks) : 0;
    w.each = cut > 0 ? (int)(blocks / cut) : 0;
    while (w.each > 1 && (w.each - 1) * w.part >= deep)
        w.each--;
    if (cut == 0 || (w.part >= LEAST_STEPS && w.part < deep))
        offer(s, &w);
}

static void offer_hopper(const struct search *s, struct way w)
{
    const double tiles = tiles_of(w.kernel, s->p), sms = s->card.sms, left = fmod(tiles, sms);
    for (int i = 0; i < 2; i++) {
        const struct operand x = problem_operand(s->p, i);
        w.copy[i] = !pick_aligned(&x, UNIT);
    }
    offer_cut(s, w, 0, fmin(tiles, sms));
    if (left > 0)
        offer_cut(s, w, left, sms);
    for (int parts = 2; parts <= EACH_MOST && tiles * parts <= sms; parts++)
        offer_cut(s, w, tiles, tiles * parts);
}

void pick_each(struct pick_card card, const gemm_steps_problem *p, size_t limit,
               void (*f)(void *data, const struct way *w, double cycles), void *data)
{
    const struct search s = { card, p, limit, f, data };
    for (const struct kernel *k = kernels; k < kernels + n_kernels; k++) {
        const struct way w = { .kernel = k, .parts = 1, .part = p->k };
        if (!can(card, k, p))
            continue;
        if (k->kind == KERNEL_STEP || k->kind == KERNEL_LAST_STEP)
            offer(&s, &w);
        else if (k->kind == KERNEL_ANY)
            offer_any(&s, w);
        else if (k->kind == KERNEL_ROWS)
            offer_rows(&s, w);
        else
            offer_hopper(&s, w);
    }
}

struct best {
    struct way way;
    double cycles;
};

static void keep_best(void *data, const struct way *w, double cycles)
{
    struct best *b = data;
    if (cycles < b->cycles)
        *b = (struct best){ *w, cycles };
}

struct way pick_way(struct pick_card card, const gemm_steps_problem *p, size_t limit)
{
    struct best b = { .cycles = INFINITY };
    pick_each(card, p, limit, keep_best, &b);
    return b.way;
}
