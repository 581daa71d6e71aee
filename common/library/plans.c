// See plan.h.
#include "handle.h"

#include <stdio.h>
#include <string.h>

#include "base/matrix.h"
#include "gpu/gpu.h"

// --- What the kernels are told ---

static struct args args_of(const struct problem *p, const struct way *w)
{
    const struct operand *a = &p->x[0], *b = &p->x[1], *c = &p->x[2];
    struct args x = { .m = p->m, .n = p->n, .k = p->alpha != 0 ? p->k : 0, .batch = p->batch };
    x.c_type = (int)p->type_c, x.bias_kind = (int)p->bias_kind, x.activation = (int)p->activation;
    x.parts = w->parts, x.part = w->part, x.tall = w->tall / 2, x.broad = w->broad / 2;  // of 1, 2, 4
    x.wide_a = pick_wide(p, w, 0), x.wide_b = pick_wide(p, w, 1), x.wide_c = pick_aligned(c, 4 * c->element);
    x.A = a->at, x.B = b->at, x.C = c->at, x.bias = p->bias;
    x.a_row = a->turned ? 1 : a->ld, x.a_col = a->turned ? a->ld : 1, x.a_next = a->next;
    x.b_row = b->turned ? 1 : b->ld, x.b_col = b->turned ? b->ld : 1, x.b_next = b->next;
    x.c_row = c->turned ? 1 : c->ld, x.c_col = c->turned ? c->ld : 1, x.c_next = c->next;
    return x;
}

// --- Copies ---

// The operand's copy lies at `to`, and is what is read. Returns where it ends.
static dev_ptr copy_operand(struct operand *x, struct copy_args *copy, dev_ptr to)
{
    const int64_t pitch = (int64_t)(pick_pitch(x) / x->element);
    *copy = (struct copy_args){ x->rows, x->columns, x->matrices, x->at, to, x->ld, x->next, pitch };
    x->at = to, x->ld = pitch, x->next = x->next ? pitch * x->rows : 0;
    return to + pick_copy_bytes(x);
}

static unsigned within(uint64_t x, unsigned least, unsigned most)
{
    return x < least ? least : x > most ? most : (unsigned)x;
}

// The launch that makes the copies, if there are any.
static bool open_pack(gemm_steps *h, struct plan *plan)
{
    enum { EACH = 8, THREADS = 256, MOST = 8192, MOST_Y = 4096 };
    unsigned x = 0, y = 0;
    for (int i = 0; i < 2; i++) {
        const struct copy_args *c = &plan->copies.of[i];
        const uint64_t chunks = (uint64_t)c->rows * (((uint64_t)c->columns + EACH - 1) / EACH);
        x = within((chunks + THREADS - 1) / THREADS, x, MOST), y = within((uint64_t)c->matrices, y, MOST_Y);
    }
    if (!x)
        return true;
    plan->pack_arg = (struct dev_arg)DEV_ARG(plan->copies);
    plan->pack_launch =
        (struct dev_launch){ .grid = { x, y, 1 }, .block = { THREADS }, .args = &plan->pack_arg, .n_args = 1 };
    struct dev_module *m = handle_module(h, PTX_pack, 0);
    return m && handle_did(h, (plan->pack = dev_kernel(h->dev, m, "pack_halves")), GEMM_STEPS_FAILED) == GEMM_STEPS_OK;
}

// --- Launches ---

// Of hopper.cu: C does not go straight to memory while the next tile is multiplied, so there is one tile for each
// cluster.
static bool adds_up(const struct plan *plan)
{
    return plan->args.parts > 1 || plan->args.c_type == ARGS_F32;
}

static bool make_map(gemm_steps *h, struct plan *plan, int which, const struct operand *x, const struct geometry *g)
{
    const struct args *a = &plan->args;  // of what several blocks need, each loads some rows
    const bool turned = plan->problem.x[0].turned;
    const int rows[PLAN_MAPS] = { (turned ? g->bk : a->a_rows) >> a->broad, g->box >> a->tall, g->cbox,
                                  (turned ? g->bk : a->a_last) >> a->broad };
    const uint64_t row = x->rows > 1 ? (uint64_t)x->ld * x->element : pick_pitch(x);
    const struct dev_tensor t = {
        .address = x->at,
        .type = plan->problem.type == GEMM_STEPS_F16 ? DEV_MAP_F16 : DEV_MAP_BF16,
        .rank = 3,
        .size = { (uint64_t)x->columns, (uint64_t)x->rows, (uint64_t)x->matrices },
        .stride = { row, x->matrices > 1 ? (uint64_t)x->next * x->element : row },
        .box = { (uint32_t)g->box, (uint32_t)rows[which], 1 },
        .swizzle = DEV_SWIZZLE_128,
    };
    return dev_tensor_map(h->dev, &t, &plan->maps[which]);
}

static int round_up(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

static bool open_hopper(gemm_steps *h, struct plan *plan, const struct problem *p, const struct geometry *g)
{
    const struct operand *c = &p->x[2];  // TMA stores whole 16 bytes, past the end of a row, too
    const struct way *w = &plan->way;
    const int cluster = pick_cluster(w), unit = p->x[0].turned ? g->box : 8 * w->broad, rest = p->m % g->bm;
    plan->args.a_rows = rest && p->m < g->bm ? round_up(rest, unit) : g->bm;
    plan->args.a_last = rest ? round_up(rest, unit) : g->bm;
    plan->args.across = (p->n - 1) / (g->bn * w->broad) + 1, plan->args.down = (p->m - 1) / (g->bm * w->tall) + 1;
    plan->args.units = plan->args.across * plan->args.down * p->batch;
    if (cluster > 1)
        memcpy(plan->launch.cluster, (unsigned[]){ (unsigned)cluster, 1, 1 }, sizeof plan->launch.cluster);
    plan->args.once_a = pick_once(p, w, 0), plan->args.once_b = pick_once(p, w, 1);
    plan->args.stored = c->element == 2 && pick_aligned(c, 16) && c->columns % 8 == 0;
    bool ok = true;
    for (int i = 0; ok && i < PLAN_MAPS; i++)
        ok = (i == 2 && !plan->args.stored) || make_map(h, plan, i, &p->x[i % PROBLEM_OPERANDS], g);
    for (int i = 0; i < PLAN_MAPS; i++)
        plan->product_args[1 + i] = (struct dev_arg)DEV_ARG(plan->maps[i]);
    plan->launch.n_args = 1 + PLAN_MAPS;
    if (adds_up(plan))
        plan->launch.grid[0] = (unsigned)(plan->args.units * cluster);
    return ok;
}

// adds: to C, by a beta.
static void kernel_name(const struct plan *plan, const struct problem *p, bool adds, char name[GEOMETRY_KERNEL])
{
    const char a = p->x[0].turned ? 't' : 'n', b = p->x[1].turned ? 't' : 'n';
    const enum kernel_kind kind = plan->way.kernel->kind;
    const bool plain = !adds && !p->bias_kind && !p->activation;
    if (kind == KERNEL_ROWS)
        snprintf(name, GEOMETRY_KERNEL, "rows%d_%c", pick_rows(p), b);
    else if (kind == KERNEL_ANY)
        snprintf(name, GEOMETRY_KERNEL, "gemm_%c%c", a, b);
    else if (kind == KERNEL_MMA)
        snprintf(name, GEOMETRY_KERNEL, "gemm%s",
                 plain && p->type_c == p->type && plan->way.parts == 1 ? "_alone" : "");
    else
        snprintf(name, GEOMETRY_KERNEL, "gemm%s",
                 kind == KERNEL_STEP                                  ? ""
                 : adds_up(plan)                                      ? "_added_up"
                 : adds                                               ? "_with_beta"
                 : !plain                                             ? "_adjusted"
                 : plan->args.stored && pick_cluster(&plan->way) == 1 ? "_alone"
                                                                      : "");
}

// How kernel_words makes the kernel's PTX fit the product.
static int words_of(const struct plan *plan)
{
    const struct problem *p = &plan->problem;
    const struct way *w = &plan->way;
    static const int halvings[] = { [8] = 0, [4] = 1, [2] = 2, [1] = 3 };  // of 8 neighbours that are copied at once
    const bool mma = w->kernel->kind == KERNEL_MMA;
    if (!mma && w->kernel->kind != KERNEL_HOPPER)
        return 0;
    return (p->type == GEMM_STEPS_BF16) * WORDS_BF16 | p->x[0].turned * WORDS_TURN_A | p->x[1].turned * WORDS_TURN_B |
           mma * (halvings[pick_wide(p, w, 0)] * WORDS_NARROW_A | halvings[pick_wide(p, w, 1)] * WORDS_NARROW_B);
}

// A step's kernel is gemm(M, N, K, alpha, A, B, beta, C), with a block for each tile.
static void open_step(struct plan *plan, const struct geometry *g)
{
    struct args *a = &plan->args;
    const struct dev_arg args[PLAN_ARGS] = { DEV_ARG(a->m), DEV_ARG(a->n), DEV_ARG(a->k),    DEV_ARG(a->alpha),
                                             DEV_ARG(a->A), DEV_ARG(a->B), DEV_ARG(a->beta), DEV_ARG(a->C) };
    memcpy(plan->product_args, args, sizeof args);
    plan->launch.n_args = PLAN_ARGS;
    plan->launch.grid[0] = ((unsigned)a->n - 1) / (unsigned)g->bn + 1;
    plan->launch.grid[1] = ((unsigned)a->m - 1) / (unsigned)g->bm + 1;
}

static bool open_kernels(gemm_steps *h, struct plan *plan, struct dev_module *m, const struct geometry *g)
{
    const struct way *w = &plan->way;
    struct problem p = pick_exchange(&plan->problem, w->exchanged);
    dev_ptr room = h->work.at;
    for (int i = 0; i < 2; i++)
        if (w->copy[i])
            room = copy_operand(&p.x[i], &plan->copies.of[i], room);
    plan->args = args_of(&p, w);
    plan->args.sums = room, plan->args.counters = h->counters.at;
    plan->product_args[0] = (struct dev_arg)DEV_ARG(plan->args);
    plan->launch = (struct dev_launch){ .grid = { (unsigned)w->blocks },
                                        .block = { (unsigned)g->threads },
                                        .shared = (size_t)g->shared,
                                        .args = plan->product_args,
                                        .n_args = 1,
                                        .early = w->copy[0] || w->copy[1] };
    if (w->kernel->kind == KERNEL_STEP)
        open_step(plan, g);
    plan->budget = ((uint64_t)1 << 24) + (uint64_t)4096 * (uint64_t)p.k * ((uint64_t)p.batch + 1);
    char name[GEOMETRY_KERNEL];
    bool ok = w->kernel->kind != KERNEL_HOPPER || open_hopper(h, plan, &p, g);
    for (int adds = 0; ok && adds < 2; adds++) {
        kernel_name(plan, &p, adds, name);
        ok = (plan->product[adds] = dev_kernel(h->dev, m, name));
    }
    return handle_did(h, ok, GEMM_STEPS_FAILED) == GEMM_STEPS_OK && open_pack(h, plan);
}

static void write_name(struct plan *plan)
{
    const struct way *w = &plan->way;
    const struct kernel *k = w->kernel;
    static const char *const copied[] = { "", ", A copied", ", B copied", ", A and B copied" };
    const char *floats = k->kind == KERNEL_ANY && plan->problem.type != GEMM_STEPS_F32 ? ", multiplied as floats" : "";
    char parts[40] = "", shares[40] = "";
    if (w->parts > 1)
        snprintf(parts, sizeof parts, ", K in %d parts", w->parts);
    if (w->tall * w->broad > 1)
        snprintf(shares, sizeof shares, ", %d x %d share", w->tall, w->broad);
    snprintf(plan->name, sizeof plan->name, "%s, %d x %d%s%s%s%s", k->step, k->m, k->n, parts, shares, floats,
             copied[w->copy[0] + 2 * w->copy[1]]);
}

bool plan_open(gemm_steps *h, struct plan *plan, const struct problem *p, const struct way *way)
{
    *plan = (struct plan){ .problem = *p, .way = *way, .works = pick_room(p, way) > 0 };
    write_name(plan);
    const enum kernel_id id = (enum kernel_id)(way->kernel - kernels);
    struct dev_module *m = handle_module(h, id, words_of(plan));
    return plan->ready = m && open_kernels(h, plan, m, &h->geometries[id]);
}

// --- Plans ---

bool plan_room(gemm_steps *h, const struct problem *p, const struct way *way)
{
    const size_t bytes = ARGS_COUNTERS * sizeof(unsigned);
    if (pick_meets(way) && !h->counters.at &&
        !(handle_grow(h, &h->counters, "counters", bytes) && dev_clear(h->dev, h->counters.at, bytes) &&
          dev_sync(h->dev)))
        return false;
    return handle_grow(h, &h->work, "the workspace", pick_room(p, way));
}

struct plan *plan_of(gemm_steps *h, const struct problem *p)
{
    _Static_assert(sizeof *p == 10 * 4 + 8 + 3 * (3 * 8 + 4 * 4 + 8), "there are no bytes between the fields");
    struct problem q = *p;
    q.alpha = p->alpha != 0, q.beta = 0;  // else of any value: plan_queue is told
    struct plan *plan = h->plans;
    for (; plan < h->plans + PLANS; plan++) {
        const void *has = &plan->problem, *asked = &q;
        if (plan->ready && !memcmp(has, asked, sizeof q))
            return plan;
    }
    const size_t limit = h->work.lent && h->work.bytes < h->limit ? h->work.bytes : h->limit;
    struct way way = pick_way(h->card, &q, limit);
    if (!plan_room(h, &q, &way))
        way = pick_way(h->card, &q, 0);
    plan = &h->plans[h->next++ % PLANS];
    return plan_open(h, plan, &q, &way) ? plan : NULL;
}

bool plan_queue(gemm_steps *h, struct plan *plan, float alpha, float beta)
{
    struct dev *d = h->dev;
    const bool marks = plan->works && h->gpu;
    h->captured |= marks && gpu_capturing(d);
    plan->args.alpha = alpha, plan->args.beta = beta;
    dev_set_budget(d, plan->budget);
    return (!marks || gpu_wait_mark(d)) && (!plan->pack || dev_launch(d, plan->pack, &plan->pack_launch)) &&
           dev_launch(d, plan->product[beta != 0], &plan->launch) && (!marks || gpu_mark(d));
}
