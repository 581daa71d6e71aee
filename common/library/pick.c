// See pick.h. A model of the time, in cycles of an SM of an H200, tries every way of every kernel that can compute the
// product.
#include "pick.h"

#include <math.h>

#include "args.h"

enum {
    LINE = 128,
    SECTOR = 32,
    UNIT = 16
};  // bytes: of a copy's row a multiple, what L2 has in one piece, and what is loaded at once
enum { STEP_ROWS_MOST = 65535, PART_UNIT = 32, ROWS_MOST = 8, COLUMNS_T = 32, CLUSTER_MOST = 8, SHARE_MOST = 4 };
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

bool pick_meets(const struct way *w)
{
    return w->kernel->kind != KERNEL_HOPPER && w->parts > 1;
}

size_t pick_room(const struct problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const double sums = !pick_meets(w)           ? 0
                        : k->kind == KERNEL_ROWS ? (double)p->batch * w->parts * p->m * p->n
                                                 : (double)k->m * k->n * w->blocks;
    size_t bytes = (size_t)(sums * sizeof(float));
    for (int i = 0; i < 2; i++)
        bytes += w->copy[i] ? pick_copy_bytes(&p->x[i]) : 0;
    return bytes;
}

struct problem pick_exchange(const struct problem *p, bool exchanged)
{
    struct problem q = *p;
    if (!exchanged)
        return q;
    q.m = p->n, q.n = p->m, q.x[0] = p->x[1], q.x[1] = p->x[0];
    for (int i = 0; i < PROBLEM_OPERANDS; i++)
        q.x[i].turned ^= 1;
    q.bias_kind = p->bias_kind == GEMM_STEPS_BIAS_ROW      ? GEMM_STEPS_BIAS_COLUMN
                  : p->bias_kind == GEMM_STEPS_BIAS_COLUMN ? GEMM_STEPS_BIAS_ROW
                                                           : GEMM_STEPS_NO_BIAS;
    return q;
}

// Its lines are whole groups of that many elements.
static bool in_groups(const struct operand *x, int n)
{
    return pick_aligned(x, (size_t)n * x->element) && x->columns % n == 0;
}

int pick_wide(const struct problem *p, const struct way *w, int which)
{
    const struct operand *x = &p->x[which];
    int n = UNIT / (int)x->element;
    if (w->kernel->kind == KERNEL_ROWS)
        return (p->x[1].turned ? pick_aligned(x, UNIT) : in_groups(x, n)) ? n : 1;
    while (n > 1 && !in_groups(x, n))
        n /= 2;
    return n;
}

int pick_rows(const struct problem *p)
{
    return p->m > 4 ? 8 : p->m > 2 ? 4 : p->m;
}

// What a step's driver can state: no gaps, nothing around it.
static bool can_step(const struct kernel *k, const struct problem *p)
{
    bool can = p->type_c == p->type && p->batch == 1 && !p->bias_kind && !p->activation && p->alpha != 0 &&
               (p->m - 1) / k->m < STEP_ROWS_MOST;
    for (const struct operand *x = p->x; x < p->x + PROBLEM_OPERANDS; x++)
        can &= !x->turned && x->at % UNIT == 0 && (x->rows == 1 || x->ld == x->columns) &&
               (size_t)x->columns * x->element % UNIT == 0;
    return can;
}

static bool can(struct pick_card card, const struct kernel *k, const struct problem *p)
{
    const bool type = k->type ? k->type == (int)p->type : p->type != GEMM_STEPS_F32;
    const bool all = k->kind == KERNEL_ANY || k->kind == KERNEL_MMA;  // the others multiply, whatever alpha is
    return type && card.sm >= k->oldest && card.sm <= k->newest && *k->ptx && (all || p->alpha != 0) &&
           (k->kind != KERNEL_STEP || can_step(k, p));
}

// --- How long does it take? ---

static const double L2 = 50e6;  // bytes: an H100's L2 cache, and most of an H200's

double rule[] = {
#define RULE(name, value, what) value,
#include "rule.def"
#undef RULE
};

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

// Bytes that come from memory in a cycle.
static double memory_bytes(struct pick_card card)
{
    return card.memory * 1e6 / PICK_KHZ;
}

int pick_cluster(const struct way *w)
{
    return w->kernel->kind == KERNEL_HOPPER ? w->parts * w->tall * w->broad : 1;
}

// Tiles of C, or those that a cluster of hopper.cu has together.
static double units_of(const struct problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    return ceil_div(p->m, k->m * w->tall) * ceil_div(p->n, k->n * w->broad) * p->batch;
}

static double bytes_of(const struct operand *x)
{
    return (double)x->rows * x->columns * x->matrices * (double)x->element;
}

bool pick_once(const struct problem *p, const struct way *w, int which)
{
    const struct operand *x = &p->x[which];
    const bool one_tile = which ? p->m <= w->kernel->m * w->tall : p->n <= w->kernel->n * w->broad;
    const bool once = units_of(p, w) * pick_cluster(w) <= w->blocks || (one_tile && x->matrices == p->batch);
    const bool too_large = bytes_of(x) > L2 / 2 && bytes_of(x) < L2 * 4;
    return w->kernel->kind == KERNEL_HOPPER && !w->copy[which] && once && too_large;
}

static double copy_cycles(struct pick_card card, const struct problem *p, const struct way *w)
{
    double cycles = 0;
    for (int i = 0; i < 2; i++)
        if (w->copy[i])
            cycles += (cycles > 0 ? 0 : rule[COPY]) +
                      2 * (double)pick_copy_bytes(&p->x[i]) / (rule[MOVED] * memory_bytes(card));
    return cycles;
}

// At least as long as it takes to read A and B, and to write C, and sums that meet. L2 is full of what others have
// written, which goes to memory first, but not for what is read once.
static double read_cycles(struct pick_card card, const struct problem *p, const struct way *w)
{
    double once = 0, bytes = bytes_of(&p->x[2]) + (pick_meets(w) ? 4.0 * p->m * p->n * p->batch * w->parts : 0);
    for (int i = 0; i < 2; i++)
        if (pick_once(p, w, i))
            once += bytes_of(&p->x[i]);
        else
            bytes += bytes_of(&p->x[i]);
    return ((bytes + fmin(bytes, L2)) / rule[READ] + once / rule[READ_ONCE]) / memory_bytes(card);
}

// Things that take that long and overlap, if not quite where they take equally long: there are no edges that a rule
// could be fitted to by chance.
static double both(double a, double b)
{
    return sqrt(sqrt(a * a * a * a + b * b * b * b));
}

// That many times longer mma.cu takes for what it can load of an operand at once.
static double narrow_times(const struct problem *p, const struct way *w, int which)
{
    const int wide = pick_wide(p, w, which);
    return wide == 8 ? 1 : wide == 1 ? rule[SINGLES] : rule[PAIRS];
}

// What any.cu can copy four at a time: an operand whose lines do not lie along K. A step copies four at once or not at
// all.
static bool in_fours(const struct problem *p, const struct way *w)
{
    return w->kernel->kind == KERNEL_STEP ||
           ((p->x[0].turned || !p->x[1].turned) && (!p->x[0].turned || pick_wide(p, w, 0) == 4) &&
            (p->x[1].turned || pick_wide(p, w, 1) == 4));
}

// All but Hopper's: a block takes turns with the others of its SM.
static double turns_cycles(struct pick_card card, const struct problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const bool floats = p->type == GEMM_STEPS_F32;
    // Some SMs issue half as many multiply-adds of floats. Source: CUDA C++ Programming Guide, arithmetic instructions.
    const double slower = floats                  ? (card.sm == 75 || card.sm == 80 ? 2 : 1)
                          : k->kind == KERNEL_MMA ? (narrow_times(p, w, 0) + narrow_times(p, w, 1)) / 2
                                                  : 1;
    const double of_sm = ceil_div(w->blocks, card.sms), rounds = floor(of_sm / k->of_sm),
                 left = of_sm - rounds * k->of_sm;
    const double steps = ceil_div(w->part, k->k) * slower, alone = rule[k->costs + ALONE],
                 busy = rule[k->costs + BUSY] + (floats && !in_fours(p, w) ? rule[SINGLES_F32] * k->n * k->k : 0);
    const double store = rule[AGAIN] + (double)k->m * k->n / rule[floats ? STORED_F32 : STORED] *
                                           (p->n % 4 == 0 ? 1 : rule[floats ? ODD_F32 : ODD]);
    double cycles = rule[BLOCK] + rounds * (k->of_sm * store + steps * hypot(alone, k->of_sm * busy));
    cycles += left > 0 ? left * store + steps * hypot(alone, left * busy) : 0;
    const double meetings = w->parts > 8 ? 2 : w->parts > 1, reads = w->parts > 8 ? 8 + w->parts / 8.0 : w->parts;
    return both(cycles + meetings * rule[MEET] + (meetings ? (reads + meetings) * 4.0 * k->m * k->n / rule[ADD] : 0),
                read_cycles(card, p, w));
}

// How many times longer a row of an operand takes if it lies in two lines of L2, begins in the midst of a sector (odd),
// or was copied just before. Where the first begins is not asked: a product is prepared for all pointers at multiples
// of 16.
static double row_times(const struct problem *p, const struct way *w, int which, double odd)
{
    struct operand x = p->x[which];
    x.at = 0;
    return w->copy[which] ? rule[FRESH]
                          : (pick_aligned(&x, LINE) ? 1 : rule[LINES]) * (pick_aligned(&x, SECTOR) ? 1 : odd);
}

// Rows of A and B that a block loads for a step along K.
static double rows_loaded(const struct problem *p, const struct way *w, double odd)
{
    return fmin(w->kernel->m, p->m) / w->broad * row_times(p, w, 0, odd) +
           fmin(w->kernel->n, p->n) / w->tall * row_times(p, w, 1, odd);
}

// How many clusters ask for the same line of A, and of B, as soon as they run. One slice of L2 has it, and probably
// they wait for each other there. How long depends on the address as well; the rule has the mean.
static double readers(const struct problem *p, const struct way *w)
{
    const int at_once = w->blocks / pick_cluster(w);
    return fmin(ceil_div(p->n, w->kernel->n * w->broad), at_once) * row_times(p, w, 0, 1) +
           fmin(ceil_div(p->m, w->kernel->m * w->tall), at_once) * row_times(p, w, 1, 1);
}

// Clusters that run at the same time. The blocks of one lie in one part of the GPU (a GPC), of which some have fewer
// SMs than others, so that some are left over: of an H200's 132 as many work (cudaOccupancyMaxActiveClusters).
static double clusters(struct pick_card card, const struct way *w)
{
    static const int work[] = { 0, 132, 132, 117, 120, 110, 102, 105, 120 };
    const int blocks = pick_cluster(w);
    const int at_once = card.sms * work[blocks] / work[1] / blocks;
    return at_once > 1 ? at_once : 1;
}

// Three things overlap in a step along K: L2 is asked by all blocks, the SM asks for its rows, its tensor cores
// multiply, and later if blocks share. What SMs near each other ask for at the same time comes from L2 once, but not if
// they have other parts of K and share nothing. What is added up and stored at the end does not overlap with memory's
// reads.
static double hopper_cycles(struct pick_card card, const struct problem *p, const struct way *w)
{
    const struct kernel *k = w->kernel;
    const bool shared = w->tall * w->broad > 1, split = w->parts > 1;
    const double area = (double)k->m * k->n, zeros = fmax(0, k->n - p->n) / w->tall;  // columns of B that are not there
    const double taken = rows_loaded(p, w, rule[TAKEN_ODD]) * rule[TAKEN] + zeros * rule[ZERO];
    const double asked = rows_loaded(p, w, 1) * rule[ROW] * (split && !shared ? rule[APART] : 1) * w->blocks / card.sms;
    const double step = both(both(asked, taken), rule[k->costs + BUSY] + (shared ? rule[SHARED] : 0));
    const double deep = ceil_div(ceil_div(p->k, k->k), w->parts), rounds = ceil_div(units_of(p, w), clusters(card, w));
    const double end = area / rule[STORE] * (split ? 2 : 1) + (split ? rule[SPLIT] : 0) + (shared ? rule[SHARE] : 0);
    return rule[k->costs + ALONE] + rule[READERS] * readers(p, w) +
           both(rounds * (deep * step + area / rule[NEXT]), read_cycles(card, p, w)) + end;
}

static double rows_cycles(struct pick_card card, const struct problem *p, const struct way *w)
{
    const struct problem q = pick_exchange(p, w->exchanged);
    const int wide = pick_wide(&q, w, 1), rows = pick_rows(&q);
    const double crowd = wide == 1 ? rule[ROW_NARROW] : fmax(1, rows * wide / 16.0);  // of sums in registers
    const double block =
        rows * rule[ROW_END] + w->part / 32.0 * (q.x[1].turned ? rule[ROW_TURNED] * rows : rule[ROW_STEP] * crowd);
    const double rounds = ceil_div(w->blocks, 4.0 * card.sms);
    return rule[BLOCK] + both(read_cycles(card, p, w), rounds * block) +
           (w->parts > 1 ? rule[MEET] + w->parts * rule[ROW_PART] : 0);
}

// --- All ways ---

struct search {
    struct pick_card card;
    const struct problem *p;
    size_t limit;
    struct way *ways;
    int n;
};

static void offer(struct search *s, struct way w)
{
    if (pick_room(s->p, &w) > s->limit || s->n == WAYS_MOST)
        return;
    w.cycles = pick_cycles(s->card, s->p, &w);
    s->ways[s->n++] = w;
}

static int part_of(int k, int parts, int most)
{
    const int part = ((k - 1) / parts / PART_UNIT + 1) * PART_UNIT;
    return part < most ? part : most;
}

// Steps, any.cu, mma.cu: K in parts of the same length but the last.
static void offer_turns(struct search *s, struct way w)
{
    static const int parts[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
    const double tiles = units_of(s->p, &w);
    const int k = s->p->alpha != 0 ? s->p->k : 1;
    int before = 0;
    for (size_t i = 0; i < (w.kernel->kind == KERNEL_STEP ? 1 : sizeof parts / sizeof *parts); i++) {
        w.part = part_of(k, parts[i], k);
        w.parts = (k - 1) / w.part + 1;
        if (w.parts == before || tiles * w.parts >= UNITS_MOST ||
            (w.parts > 1 && tiles * ARGS_MEETINGS > ARGS_COUNTERS))
            continue;
        before = w.parts;
        w.blocks = (int)tiles * w.parts;
        offer(s, w);
    }
}

static void offer_rows(struct search *s, struct way w)
{
    for (int turn = 0; turn < 2; turn++) {
        const struct problem q = pick_exchange(s->p, turn);
        if (q.m > ROWS_MOST)
            continue;
        w.exchanged = turn;
        const int each = UNIT / (int)problem_type_bytes(q.type);
        const int columns = q.x[1].turned ? COLUMNS_T : w.kernel->n / (pick_wide(&q, &w, 1) > 1 ? 1 : each);
        const double groups = ceil_div(q.n, columns) * q.batch;
        int before = 0;
        for (int of_sm = 2; of_sm <= 16; of_sm *= 2) {  // blocks, about
            const double enough = of_sm * s->card.sms / groups;
            w.part = part_of(q.k, enough > 1 ? (int)enough : 1, w.kernel->k);
            w.parts = (q.k - 1) / w.part + 1;
            if (w.parts != before && (w.parts == 1 || groups <= ARGS_COUNTERS) && groups * w.parts < UNITS_MOST) {
                w.blocks = (int)groups * w.parts;
                offer(s, w);
            }
            before = w.parts;
        }
    }
}

// Parts only if all tiles are computed at once.
static void offer_clusters(struct search *s, struct way w)
{
    for (w.parts = 1; pick_cluster(&w) <= CLUSTER_MOST && w.parts <= ceil_div(s->p->k, w.kernel->k); w.parts++) {
        const double units = units_of(s->p, &w), room = clusters(s->card, &w);
        w.blocks = pick_cluster(&w) * (int)fmin(units, room);
        if (units < UNITS_MOST && w.blocks <= s->card.sms && (w.parts == 1 || units <= room))
            offer(s, w);
    }
}

// Blocks share tiles only if there are as many; of few rows of A no block can load some. Boxes of an A that is
// transposed have 64.
static void offer_hopper(struct search *s, struct way w)
{
    if (s->p->x[0].turned && w.kernel->m % w.kernel->k)
        return;
    for (int i = 0; i < 2; i++)
        w.copy[i] = !pick_aligned(&s->p->x[i], UNIT);
    for (w.tall = 1; w.tall <= SHARE_MOST && w.tall <= ceil_div(s->p->m, w.kernel->m); w.tall *= 2)
        for (w.broad = 1; w.broad <= SHARE_MOST && w.broad <= ceil_div(s->p->n, w.kernel->n); w.broad *= 2)
            if (w.broad == 1 || s->p->m >= w.kernel->m)
                offer_clusters(s, w);
}

// Of each kind, a model of its time, and what offers its ways. pack.cu multiplies nothing.
static const struct {
    double (*cycles)(struct pick_card, const struct problem *, const struct way *);
    void (*offer)(struct search *, struct way);
} kinds[] = {
    [KERNEL_STEP] = { turns_cycles, offer_turns },
    [KERNEL_ANY] = { turns_cycles, offer_turns },
    [KERNEL_MMA] = { turns_cycles, offer_turns },
    [KERNEL_ROWS] = { rows_cycles, offer_rows },
    [KERNEL_PACK] = { NULL, NULL },
    [KERNEL_HOPPER] = { hopper_cycles, offer_hopper },
};

double pick_cycles(struct pick_card card, const struct problem *p, const struct way *w)
{
    return kinds[w->kernel->kind].cycles(card, p, w) + copy_cycles(card, p, w);
}

int pick_ways(struct pick_card card, const struct problem *p, size_t limit, struct way ways[WAYS_MOST])
{
    struct search s = { card, p, limit, ways, 0 };
    for (const struct kernel *k = kernels; k < kernels + KERNELS; k++)
        if (kinds[k->kind].offer && can(card, k, p))
            kinds[k->kind].offer(&s, (struct way){ .kernel = k, .parts = 1, .part = p->k, .tall = 1, .broad = 1 });
    return s.n;
}

struct way pick_way(struct pick_card card, const struct problem *p, size_t limit)
{
    struct way ways[WAYS_MOST];
    const int n = pick_ways(card, p, limit, ways);
    int best = 0;
    for (int i = 1; i < n; i++)
        if (ways[i].cycles < ways[best].cycles)
            best = i;
    return ways[best];
}
