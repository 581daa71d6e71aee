// From faults, as the executor and the checks note them, to findings. See report.h.
#include "report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "simt/check/check.h"
#include "simt/code/shadow.h"
#include "base/arena.h"

// --- kinds ---

// What a finding of a fault is about.
enum about { NOTHING, MEMORY, MBARRIER, COPIED_TO, BLOCK, VALUE };

// A row for each kind of fault: the kind of its finding, what that is about, and whether another instruction or another
// thread is a part of it.
static const struct {
    enum simt_finding_kind kind;
    enum about about;
    bool other;
} rules[] = {
    [FAULT_OUT_OF_BOUNDS] = { SIMT_OUT_OF_BOUNDS, MEMORY, false },
    [FAULT_MISALIGNED] = { SIMT_MISALIGNED, MEMORY, false },
    [FAULT_ENDLESS_LOOP] = { SIMT_ENDLESS_LOOP, NOTHING, false },
    [FAULT_BARRIER_STUCK] = { SIMT_BARRIER_STUCK, NOTHING, false },
    [FAULT_ENDLESS_WAIT] = { SIMT_ENDLESS_WAIT, NOTHING, false },
    [FAULT_TRAP] = { SIMT_TRAP, NOTHING, false },
    [FAULT_BARRIER_NUMBER] = { SIMT_BARRIER_NUMBER, NOTHING, false },
    [FAULT_BARRIER_COUNT] = { SIMT_BARRIER_COUNT, NOTHING, true },
    [FAULT_NOT_MEMBER] = { SIMT_NOT_MEMBER, NOTHING, false },
    [FAULT_LANES_MISSING] = { SIMT_LANES_MISSING, NOTHING, false },
    [FAULT_LANES_INACTIVE] = { SIMT_LANES_INACTIVE, NOTHING, false },
    [FAULT_ASSERTION] = { SIMT_ASSERTION, NOTHING, false },
    [FAULT_REFUSED] = { SIMT_REFUSED, NOTHING, false },
    [FAULT_ARRIVES_UNMADE] = { SIMT_ARRIVES_UNMADE, MBARRIER, false },
    [FAULT_EXPECTS_UNMADE] = { SIMT_EXPECTS_UNMADE, MBARRIER, false },
    [FAULT_ARRIVALS] = { SIMT_ARRIVALS, MBARRIER, false },
    [FAULT_RACE] = { SIMT_RACE, MEMORY, true },
    [FAULT_RACE_BLOCKS] = { SIMT_RACE_BLOCKS, MEMORY, true },
    [FAULT_STRONG_WRITES] = { SIMT_STRONG_WRITES, MEMORY, true },
    [FAULT_RELAXED_WAIT] = { SIMT_RELAXED_WAIT, MEMORY, true },
    [FAULT_RELAXED_READ] = { SIMT_RELAXED_READ, MEMORY, true },
    [FAULT_UNINIT_MEMORY] = { SIMT_UNINIT_MEMORY, MEMORY, false },
    [FAULT_COPIES_OVERLAP] = { SIMT_COPIES_OVERLAP, MEMORY, true },
    [FAULT_COPY_PENDING] = { SIMT_COPY_PENDING, COPIED_TO, true },
    [FAULT_PROXY_FENCE] = { SIMT_PROXY_FENCE, MEMORY, true },
    [FAULT_RACE_INIT] = { SIMT_RACE_INIT, MBARRIER, true },
    [FAULT_INIT_FENCE] = { SIMT_INIT_FENCE, MBARRIER, true },
    [FAULT_INIT_AGAIN] = { SIMT_INIT_AGAIN, MBARRIER, true },
    [FAULT_LATE_WAIT] = { SIMT_LATE_WAIT, MBARRIER, true },
    [FAULT_PHASE_BYTES] = { SIMT_PHASE_BYTES, MBARRIER, false },
    [FAULT_UNWAITED] = { SIMT_STORE_LEFT, MEMORY, false },
    [FAULT_WGMMA_FENCE] = { SIMT_WGMMA_FENCE, NOTHING, true },
    [FAULT_WGMMA_WAIT] = { SIMT_WGMMA_WAIT, NOTHING, true },
    [FAULT_WGMMA_UNCOMMITTED] = { SIMT_WGMMA_UNCOMMITTED, NOTHING, true },
    [FAULT_WGMMA_LEFT] = { SIMT_WGMMA_LEFT, NOTHING, false },
    [FAULT_REGISTERS_DIFFER] = { SIMT_REGISTERS_DIFFER, NOTHING, true },
    [FAULT_REGISTERS_LACK] = { SIMT_REGISTERS_LACK, NOTHING, false },
    [FAULT_REGISTERS_STEP] = { SIMT_REGISTERS_STEP, NOTHING, false },
    [FAULT_REGISTERS_IGNORED] = { SIMT_REGISTERS_IGNORED, NOTHING, false },
    [FAULT_WGMMA_DIFFERS] = { SIMT_WGMMA_DIFFERS, NOTHING, true },
    [FAULT_WGMMA_APART] = { SIMT_WGMMA_APART, NOTHING, true },
    [FAULT_COMMITS_APART] = { SIMT_COMMITS_APART, NOTHING, true },
    [FAULT_DESCRIPTOR_RANK] = { SIMT_DESCRIPTOR_RANK, NOTHING, false },
    [FAULT_HOME] = { SIMT_NOT_BEGUN, BLOCK, false },
    [FAULT_SPLIT] = { SIMT_BARRIER_SPLIT, NOTHING, true },
    [FAULT_BARRIER_LEFT] = { SIMT_BARRIER_LEFT, NOTHING, true },
    [FAULT_CONSTANT_STORE] = { SIMT_CONSTANT_STORE, MEMORY, false },
    [FAULT_LAUNCH_BEFORE] = { SIMT_LAUNCH_BEFORE, MEMORY, false },
    [FAULT_UNWRITTEN] = { SIMT_UNINIT_VALUE, VALUE, false },
};

static enum simt_finding_kind kind_of(const struct fault *f, const struct grid *g)
{
    switch (f->kind) {  // what depends on more
    case FAULT_TRAP:
        return g->code->syncs_grid && g->apart ? SIMT_NO_GRID : SIMT_TRAP;
    case FAULT_UNWAITED:
        return f->store ? SIMT_LOAD_LEFT : SIMT_STORE_LEFT;
    case FAULT_HOME:
        return f->store ? SIMT_MAY_HAVE_ENDED : SIMT_NOT_BEGUN;
    case FAULT_SPLIT:
        return f->lanes ? SIMT_LANES_SPLIT : SIMT_BARRIER_SPLIT;
    case FAULT_UNWRITTEN:
        return f->space == SPACE_CONST ? SIMT_UNINIT_NAN : SIMT_UNINIT_VALUE;
    default:
        return rules[f->kind].kind;
    }
}

// --- what is meant ---

static void put_block(uint32_t to[3], const struct grid *g, uint64_t block)
{
    to[0] = (uint32_t)(block % g->grid[0]);
    to[1] = (uint32_t)(block / g->grid[0] % g->grid[1]);
    to[2] = (uint32_t)(block / g->grid[0] / g->grid[1]);
}

// A byte of a block's shared memory: in the variable that it is in, or comes after. Where the check's code keeps
// variables apart, g->code knows where they are.
static struct simt_object shared_object(const struct grid *g, uint64_t address)
{
    const struct code *c = g->code;
    const struct shared_var *in = NULL;
    for (uint32_t i = 0; i < c->n_shared_vars; i++)
        if (c->shared_vars[i].at <= address && (!in || c->shared_vars[i].at >= in->at))
            in = &c->shared_vars[i];
    return (struct simt_object){ .space = SIMT_SHARED,
                                 .name = in ? in->name : NULL,
                                 .bytes = in && in->bytes ? in->bytes : g->shared_bytes - (in ? in->at : 0),
                                 .address = address,
                                 // addresses of shared memory have 32 bits: before its begin they wrap around
                                 .at = (int32_t)(uint32_t)(in ? address - in->at : address) };
}

// The same of an address, which says whose memory it is where blocks of a cluster share theirs.
static struct simt_object shared_object_of(const struct grid *g, const struct fault *f)
{
    const uint64_t address = f->address & MEMORY_OFFSET;
    const uint32_t rank = cluster_rank(address);
    if (g->cluster_blocks == 1)
        return shared_object(g, address);
    struct simt_object o = shared_object(g, cluster_offset(address));
    o.owner = rank >= g->cluster_blocks              ? SIMT_NO_BLOCK
              : f->remote                            ? SIMT_OTHER_BLOCK
              : rank != cluster_rank_of(g, f->block) ? SIMT_OTHER_WINDOW
                                                     : SIMT_OWN;
    o.rank = rank;
    o.blocks = g->cluster_blocks;
    if (o.owner == SIMT_OTHER_BLOCK)
        put_block(o.block, g, f->home);
    return o;
}

void report_memory(struct simt_object *o, const struct memory *m, uint64_t address)
{
    int64_t at;
    const struct allocation *a = memory_near(m, address, &at);
    *o = (struct simt_object){ .space = SIMT_GLOBAL, .address = address, .at = at };
    if (!a)
        return;
    o->name = a->name;
    o->bytes = a->bytes;
    o->freed = !a->data;
}

static struct simt_object memory_object(const struct grid *g, const struct fault *f)
{
    struct simt_object o;
    if (f->space == SPACE_SHARED)
        return shared_object_of(g, f);
    if (f->space == SPACE_LOCAL)
        return (struct simt_object){ .space = SIMT_LOCAL,
                                     .bytes = g->code->local_bytes,
                                     .address = f->address & MEMORY_OFFSET,
                                     .at = (int64_t)(f->address & MEMORY_OFFSET) };
    report_memory(&o, g->memory, f->address);
    return o;
}

// A register that nothing wrote; without a name the carry flag.
static struct simt_object register_object(struct arena *a, const struct simt_kernel *k, const struct fault *f)
{
    struct simt_object o = { .space = SIMT_REGISTER };
    if (f->address - 1 >= k->func->n_regs)
        return o;
    const struct ptx_reg *r = &k->func->regs[f->address - 1];
    o.name = r->ranged ? arena_printf(a, "%.*s%u", (int)r->name.n, r->name.p, r->number)
                       : arena_printf(a, "%.*s", (int)r->name.n, r->name.p);
    return o;
}

static struct simt_mbarrier mbarrier_at(const struct simt_object *o, uint32_t phase)
{
    return (struct simt_mbarrier){ .object = *o, .index = (uint32_t)(o->at / 8), .phase = (int)phase - 1 };
}

// What is accessed, or which mbarrier is meant, or whose memory.
static void put_object(struct simt_finding *x, struct arena *a, const struct simt_kernel *k, const struct grid *g,
                       const struct fault *f)
{
    struct simt_object o;
    switch (rules[f->kind].about) {
    case NOTHING:
        break;
    case MEMORY:
        x->object = memory_object(g, f);
        break;
    case MBARRIER:
        o = memory_object(g, f);
        x->mbarrier = mbarrier_at(&o, f->phase);
        break;
    case COPIED_TO:
        x->object = memory_object(g, f);
        if (!f->other_barrier || f->other_barrier == UINT32_MAX)
            break;
        o = shared_object(g, f->other_barrier - 1);  // in the block in which the copy puts it
        o.owner = x->object.owner;
        memcpy(o.block, x->object.block, sizeof o.block);
        x->mbarrier = mbarrier_at(&o, 0);
        break;
    case BLOCK:
        x->object = (struct simt_object){ .space = SIMT_SHARED, .owner = SIMT_OTHER_BLOCK };
        put_block(x->object.block, g, f->home);
        break;
    case VALUE:
        if (f->space != SPACE_CONST)
            x->object = f->space == SPACE_LOCAL ? memory_object(g, f) : register_object(a, k, f);
        break;
    }
}

// --- texts ---

// A text that belongs to the module or to an allocation, which may be gone when the finding is read.
static void keep(struct arena *a, const char **text, bool *ok)
{
    if (*text)
        *ok = (*text = arena_printf(a, "%s", *text)) && *ok;
}

// --- who ---

static enum simt_access access_of(bool store, bool atomic)
{
    return store && atomic ? SIMT_CHANGES : store ? SIMT_WRITES : atomic ? SIMT_COMPARES : SIMT_READS;
}

static enum simt_by by_of(bool async, bool wgmma, bool cp_async)
{
    return wgmma ? SIMT_BY_WGMMA : async ? SIMT_BY_BULK_COPY : cp_async ? SIMT_BY_CP_ASYNC : SIMT_BY_THREAD;
}

static struct simt_side side(struct arena *a, const struct simt_kernel *k, const struct grid *g, uint32_t inst,
                             uint64_t block, uint32_t thread)
{
    const struct str op = k->func->insts[inst].op;
    const unsigned *size = g->block;
    struct simt_side s = { .place = report_place(k, inst),
                           .instruction = arena_printf(a, "%.*s", (int)op.n, op.p),
                           .number = inst,
                           .thread = { thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1] },
                           .warp = thread / LANES,
                           .lane = thread % LANES };
    put_block(s.block, g, block);
    return s;
}

static void put_sides(struct simt_finding *x, struct arena *a, const struct simt_kernel *k, const struct grid *g,
                      const struct fault *f)
{
    x->here = side(a, k, g, f->inst, f->block, f->warp * LANES + f->lane);
    if (x->object.space && f->kind != FAULT_UNWRITTEN && f->kind != FAULT_HOME)
        x->here.access = access_of(f->store, f->atomic);
    x->here.by = by_of(f->async || f->kind == FAULT_UNWAITED, f->wgmma, f->cp_async);
    if (f->kind == FAULT_BARRIER_STUCK ? !f->lanes : !rules[f->kind].other)
        return;
    x->there = side(a, k, g, f->other_inst, f->other_block, f->other_thread);
    if (f->kind == FAULT_REGISTERS_DIFFER && !f->expected)
        x->there.place = (struct simt_finding_place){ 0 };
    if (x->here.access || f->other_store)
        x->there.access = access_of(f->other_store, f->other_atomic);
    x->there.by = by_of(f->other_async, f->other_wgmma, f->kind == FAULT_COPY_PENDING);
}

// --- numbers, words ---

static void put_numbers(struct simt_finding *x, const struct grid *g, const struct fault *f)
{
    x->bytes = f->bytes;
    x->lanes = f->kind == FAULT_UNWRITTEN ? 0 : f->lanes;
    x->seen = f->seen;
    x->left = f->left;
    x->expected = f->kind == FAULT_ENDLESS_LOOP ? g->budget : f->expected;
    if (f->kind == FAULT_BARRIER_STUCK || f->kind == FAULT_BARRIER_LEFT)
        x->expected = g->threads;
    x->orders_blocks = g->code->orders_blocks;
}

static void put_use(struct simt_finding *x, const struct simt_kernel *k, const struct fault *f)
{
    static const enum simt_use uses[] = { [SINK_DECIDES] = SIMT_USE_DECIDES,
                                          [SINK_ADDRESS] = SIMT_USE_ADDRESS,
                                          [SINK_OPERAND] = SIMT_USE_OPERAND,
                                          [SINK_STORED] = SIMT_USE_STORED,
                                          [SINK_READ] = SIMT_USE_READ };
    x->use = uses[f->lanes];
    if (f->other_inst != f->inst)
        x->used = report_place(k, f->other_inst);
}

static bool put_waits(struct simt_finding *x, struct arena *a, const struct grid *g, const struct fault *f)
{
    static const enum simt_wait_for whats[] = {
        [WAIT_VALUE] = SIMT_FOR_VALUE, [WAIT_MBARRIER] = SIMT_FOR_MBARRIER, [WAIT_BARRIER] = SIMT_FOR_BARRIER,
        [WAIT_LANES] = SIMT_FOR_LANES, [WAIT_CLUSTER] = SIMT_FOR_CLUSTER,   [WAIT_ENDED] = SIMT_ENDED
    };
    struct simt_wait *all = arena_alloc(a, f->n_waits * sizeof *all + 1);
    bool ok = all;
    x->waits = all;
    x->n_waits = all ? f->n_waits : 0;
    x->of_cluster = f->cluster;
    for (size_t i = 0; i < x->n_waits; i++) {
        const struct wait *w = &f->waits[i];
        all[i] = (struct simt_wait){ .what = whats[w->what], .warps = w->warps };
        put_block(all[i].block, g, w->block);
        if (w->what == WAIT_MBARRIER) {
            struct simt_object o = shared_object(g, w->at);
            keep(a, &o.name, &ok);
            all[i].mbarrier = mbarrier_at(&o, 1 + w->phase);
            all[i].arrivals = w->arrivals;
            all[i].bytes = w->bytes;
        } else {
            all[i].number = w->at;
            all[i].arrived = w->arrivals;
        }
        all[i].expected = w->expected;
    }
    return ok;
}

// --- all of it ---

static bool keep_names(struct arena *a, struct simt_finding *x)
{
    struct simt_finding_place *const places[] = { &x->here.place, &x->there.place, &x->used };
    bool ok = true;
    keep(a, &x->object.name, &ok);
    keep(a, &x->mbarrier.object.name, &ok);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        keep(a, &places[i]->file, &ok);
        keep(a, &places[i]->caller_file, &ok);
    }
    return ok;
}

// The fault as a finding, whose names are in a. False when memory runs out.
static bool make_finding(struct simt_finding *x, struct arena *a, const struct simt_kernel *k, const struct grid *g,
                         const struct fault *f)
{
    *x = (struct simt_finding){ .kind = kind_of(f, g), .count = 1 };
    put_object(x, a, k, g, f);
    put_sides(x, a, k, g, f);
    put_numbers(x, g, f);
    if (f->kind == FAULT_UNWRITTEN)
        put_use(x, k, f);
    if (f->kind == FAULT_WGMMA_UNCOMMITTED && f->seen)
        x->used = report_place(k, f->seen - 1);
    if (f->kind == FAULT_ASSERTION || f->kind == FAULT_REFUSED)
        x->detail = arena_printf(a, "%s", f->text);
    return keep_names(a, x) && (f->kind != FAULT_ENDLESS_WAIT || put_waits(x, a, g, f));
}

static bool same_file(const char *a, const char *b)
{
    return !a == !b && (!a || !strcmp(a, b));
}

static bool same_place(const struct simt_finding_place *a, const struct simt_finding_place *b)
{
    return a->line == b->line && a->caller == b->caller && same_file(a->file, b->file) &&
           same_file(a->caller_file, b->caller_file);
}

// Is it the same on the other side? One fence is missing before a copy, however many lines store what it reads.
static bool same_other(const struct simt_finding *a, const struct simt_finding *b)
{
    return a->kind == SIMT_PROXY_FENCE || same_place(&a->there.place, &b->there.place);
}

// The finding among n that is the same but for its PTX instruction: a line that was unrolled has many.
static struct simt_finding *find(struct simt_finding *all, size_t n, const struct simt_finding *f)
{
    for (size_t i = 0; i < n; i++)
        if (simt_finding_class(all[i].kind) == simt_finding_class(f->kind) &&
            simt_finding_is_advice(all[i].kind) == simt_finding_is_advice(f->kind) &&
            same_place(&all[i].here.place, &f->here.place) && same_other(&all[i], f))
            return &all[i];
    return NULL;
}

// Puts what is only advised behind the errors.
static void part(struct simt_findings *f, struct simt_finding *all, const struct simt_finding *found, size_t n)
{
    f->all = all;
    for (size_t i = 0; i < n; i++)
        if (!simt_finding_is_advice(found[i].kind))
            all[f->n++] = found[i];
    for (size_t i = 0; i < n; i++)
        if (simt_finding_is_advice(found[i].kind))
            all[f->n + f->n_advice++] = found[i];
}

bool report_findings(struct simt_findings *out, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                     const struct found *found, size_t n)
{
    arena_free(*names);
    struct arena *a = *names = arena_new(SIZE_MAX);
    struct simt_finding *all = a ? arena_alloc(a, (n + 1) * sizeof *all) : NULL;
    struct simt_finding *sorted = a ? arena_alloc(a, (n + 1) * sizeof *sorted) : NULL;
    size_t different = 0;
    *out = (struct simt_findings){ .kernel = k->name };
    if (!all || !sorted || !(out->kernel = arena_printf(a, "%s", k->name)))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct simt_finding x;
        if (!make_finding(&x, a, k, g, &found[i].fault))
            return false;
        x.count = found[i].count;
        struct simt_finding *again = find(all, different, &x);
        if (again)
            again->count += x.count;
        else
            all[different++] = x;
    }
    part(out, sorted, all, different);
    return true;
}

void report_fault(struct simt_finding *x, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                  const struct fault *f, char text[DEV_ERROR_MAX])
{
    arena_free(*names);
    *names = arena_new(SIZE_MAX);
    if (*names && make_finding(x, *names, k, g, f)) {
        const int n = snprintf(text, DEV_ERROR_MAX, "kernel %.200s, ", k->name);
        simt_finding_text(x, text + n, DEV_ERROR_MAX - (size_t)n);
        text_one_line(text, ' ');
    } else {
        *x = (struct simt_finding){ .kind = kind_of(f, g), .count = 1 };
        error_set(text, "kernel %.200s: out of memory for what went wrong", k->name);
    }
}
