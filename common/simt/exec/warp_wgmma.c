// wgmma: issue, commit, wait. Source: PTX ISA 9.7.16.
//
// A product is computed when a warp of its warpgroup waits for its group: as late as PTX allows, so that a kernel which
// reads its accumulators too early, or lets its tiles be overwritten, sees it. Only where the code moves accumulators
// while they are under way (compilers may, and ptxas then sees to it) it is computed at once.
#include <stdlib.h>
#include <string.h>

#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/wgmma.h"

void wgmmas_reset(struct wgmmas *g)
{
    if (!g)
        return;
    g->n = g->group = g->told = g->gone = 0;
    memset(g->ends, 0, sizeof g->ends);
}

void wgmmas_free(struct wgmmas *g)
{
    if (g)
        free(g->all);
    free(g);
}

static struct wgmmas *wgmmas_of(struct warp *w)
{
    if (!w->wgmmas)
        w->wgmmas = calloc(1, sizeof *w->wgmmas);
    return w->wgmmas;
}

static struct wgmma_job *add(struct wgmmas *g)
{
    if (g->n == g->room) {
        const uint32_t room = 2 * g->room + 8;
        struct wgmma_job *all = realloc(g->all, room * sizeof *all);
        if (!all)
            return NULL;
        g->all = all;
        g->room = room;
    }
    return &g->all[g->n++];
}

static bool fail(struct warp *w, const struct uop *u, const char *what)
{
    warp_fault(w, u, FAULT_REFUSED, ALL_LANES, 0);
    strncpy(w->block->worker->fault.text, what, sizeof w->block->worker->fault.text - 1);
    return false;
}

static bool run(struct warp *w, const struct wgmma_job *job)
{
    w->wgmmas->current = job;
    if (w->block->worker->grid->exec->wgmma(w, 1))
        return true;
    if (!w->block->worker->check)
        return false;
    check_fault(w->block->worker);  // a finding, and the product stays as it was
    return true;
}

#define RANGES 512  // of a matrix: 256 rows of two chunks, or 16 of 32

// Where a matrix lies in shared memory, as far as it does; chunks that lie side by side at once. Returns how many
// ranges.
static uint32_t find_ranges(const struct wgmma_matrix *m, uint32_t rows, uint32_t chunks, uint32_t limit,
                            struct bulk_range out[RANGES])
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < chunks; i++) {
            const uint32_t at = wgmma_chunk(m, row, i);
            struct bulk_range *last = &out[n - (n > 0)];
            const bool behind = n && at == last->address + last->bytes, before = n && at + 16 == last->address;
            if (at + 16 > limit)
                continue;
            if (before)
                last->address = at;
            if (behind || before)
                last->bytes += 16;
            else if (n < RANGES)
                out[n++] = (struct bulk_range){ at, 16 };
        }
    return n;
}

// Tells the checks that the warpgroup begins to read a matrix, or that it has read it.
static void tell_matrix(struct warp *w, const struct wgmma_job *job, const struct wgmma_matrix *m, uint32_t rows,
                        uint32_t chunks, bool begins)
{
    struct bulk_range ranges[RANGES];
    const uint32_t n = find_ranges(m, rows, chunks, w->block->worker->grid->shared_bytes, ranges);
    const uint32_t thread = w->index / 4 * 4 * LANES;
    if (begins)
        check_async_reads(w, job->u, thread, ranges, n, true);
    else
        check_async_read(w->block, thread, ranges, n);
}

// What a warp has waited for, each asks for itself.
static void tell_known(struct warp *w, const struct wgmma_job *job)
{
    const struct wgmma *m = job->u->warp->more;
    const struct wgmma_matrix a = wgmma_describe(job->a, m->trans_a), b = wgmma_describe(job->b, m->trans_b);
    const uint32_t at[] = { wgmma_chunk(&b, 0, 0), wgmma_chunk(&a, 0, 0) };
    for (uint32_t i = 0; i < (m->a_in_registers ? 1 : 2); i++)
        if (at[i] + 16 <= w->block->worker->grid->shared_bytes)
            check_async_knows(w, job->u, at[i]);
}

// Of all else the first warp of a warpgroup speaks for all four.
static void tell(struct warp *w, const struct wgmma_job *job, bool begins)
{
    const struct wgmma *m = job->u->warp->more;
    const struct wgmma_matrix a = wgmma_describe(job->a, m->trans_a), b = wgmma_describe(job->b, m->trans_b);
    if (!m->a_in_registers)
        tell_matrix(w, job, &a, m->trans_a ? m->k : 64, m->trans_a ? 8 : 2, begins);
    tell_matrix(w, job, &b, m->trans_b ? m->k : m->n, m->trans_b ? m->n / 8u : 2, begins);
}

// A finding about registers of the wgmma at other.
static struct fault registers_of(const struct warp *w, enum fault_kind kind, uint32_t inst, uint32_t lane,
                                 uint32_t other)
{
    struct fault f = check_site(w, inst, lane, kind);
    f.other_inst = other;
    f.other_thread = w->index * LANES + lane;
    f.other_block = f.block;
    return f;
}

static void tell_unfenced(struct warp *w, uint32_t inst, uint32_t writer)
{
    const struct fault f = registers_of(w, FAULT_WGMMA_FENCE, inst, 0, writer);
    check_note(w->block->worker->check, &f);
}

static void tell_touched(struct warp *w, uint32_t inst, uint32_t lane, const struct wgmma_job *job)
{
    const bool open = job->missed || job->group == w->wgmmas->group;
    struct fault f = registers_of(w, open ? FAULT_WGMMA_UNCOMMITTED : FAULT_WGMMA_WAIT, inst, lane, job->u->inst);
    f.seen = job->missed;
    check_note(w->block->worker->check, &f);
}

static bool is_accumulator(const struct wgmma_job *job, uint32_t slot)
{
    const struct warpop *op = job->u->warp;
    for (uint32_t i = 0; i < op->n_wide_out; i++)
        if (op->wide_out[i] == slot)
            return true;
    return false;
}

static bool touches(const struct uop *u, const struct wgmma_job *job)
{
    const struct memop *m = u->kind == UOP_LOAD || u->kind == UOP_STORE ? u->mem : NULL;
    bool found = u->kind == UOP_ALU && (is_accumulator(job, u->d) || is_accumulator(job, u->a) ||
                                        is_accumulator(job, u->b) || is_accumulator(job, u->c));
    for (uint32_t i = 0; m && i < m->n; i++)
        found |= m->reg_class[i] != SLOT_NONE && is_accumulator(job, m->reg[i]);
    for (uint32_t i = 0; u->kind == UOP_WARP && i < u->warp->n_in; i++)
        found |= is_accumulator(job, u->warp->in[i]);
    for (uint32_t i = 0; u->kind == UOP_WARP && i < u->warp->n_out; i++)
        found |= is_accumulator(job, u->warp->out[i]);
    return found;
}

void wgmma_touched(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct wgmmas *g = w->wgmmas;
    for (uint32_t i = 0; g && i < g->n; i++) {
        if (!touches(u, &g->all[i]))
            continue;
        tell_touched(w, u->inst, (uint32_t)__builtin_ctz(active), &g->all[i]);
        return;
    }
}

// --- All four warps of a warpgroup do the same. Source: PTX ISA 9.7.16: "the contents of a matrix descriptor must be
// same across all the warps in the warpgroup"; .aligned: "all threads in the warpgroup must execute the same" wgmma,
// commit_group, wait_group ---

static struct fault apart(const struct warp *w, const struct warp *other, const struct uop *u, enum fault_kind kind)
{
    struct fault f = check_site(w, u->inst, 0, kind);
    f.other_inst = u->inst;
    f.other_thread = other->index * LANES;
    f.other_block = f.block;
    return f;
}

// Warp i of w's warpgroup and its products, if it is another one and has had any; else NULL.
static const struct wgmmas *partner(const struct warp *w, uint32_t i, const struct warp **other)
{
    const uint32_t at = w->index / 4 * 4 + i;
    *other = at < w->block->n_warps && at != w->index ? &w->block->warps[at] : NULL;
    return *other ? (*other)->wgmmas : NULL;
}

static void tell_descriptors(const struct warp *w, const struct warp *other, const struct uop *u, int matrix,
                             uint64_t mine, uint64_t others)
{
    struct fault f = apart(w, other, u, FAULT_WGMMA_DIFFERS);
    f.seen = mine;
    f.expected = others;
    f.left = (uint64_t)matrix;
    if (mine != others)
        check_note(w->block->worker->check, &f);
}

// The last product of w has the descriptors that the other warps give.
static void check_same(const struct warp *w)
{
    const struct wgmma_job *job = &w->wgmmas->all[w->wgmmas->n - 1];
    const uint32_t number = w->wgmmas->gone + w->wgmmas->n - 1;
    for (uint32_t i = 0; i < 4; i++) {
        const struct warp *other;
        const struct wgmmas *g = partner(w, i, &other);
        if (!g || number < g->gone || number - g->gone >= g->n || g->all[number - g->gone].u != job->u)
            continue;
        tell_descriptors(w, other, job->u, 0, job->a, g->all[number - g->gone].a);
        tell_descriptors(w, other, job->u, 1, job->b, g->all[number - g->gone].b);
        return;
    }
}

// As many products belong to the group that w has committed now, or to one before it, as with the other warps.
static void check_counts(const struct warp *w, const struct uop *u)
{
    const uint32_t group = w->wgmmas->group - 1;
    for (uint32_t i = 0; i < 4; i++) {
        const struct warp *other;
        const struct wgmmas *g = partner(w, i, &other);
        if (!g || g->group <= group || g->group - group > WGMMA_KEPT)
            continue;
        struct fault f = apart(w, other, u, FAULT_WGMMA_APART);
        f.seen = w->wgmmas->issued[group % WGMMA_KEPT];
        f.expected = g->issued[group % WGMMA_KEPT];
        if (f.seen != f.expected)
            check_note(w->block->worker->check, &f);
        return;
    }
}

// A warp that has run fewer products and waits for an mbarrier waits for something else.
bool wgmma_apart(const struct warp *w, struct fault *f)
{
    const struct wgmmas *mine = w->wgmmas;
    for (uint32_t i = 0; i < 4; i++) {
        const struct warp *other;
        const struct wgmmas *g = partner(w, i, &other);
        const uint32_t groups = g ? g->group : 0, issued = g ? g->gone + g->n : 0;
        if (!other || !other->n_splits || groups >= mine->group || (other->waits && issued < mine->gone + mine->n))
            continue;
        f->seen = mine->group;
        f->expected = groups;
        f->other_inst = f->inst;
        f->other_thread = other->index * LANES;
        f->other_block = f->block;
        return true;
    }
    return false;
}

// --- the instructions ---

bool warp_wgmma(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct warpop *op = u->warp;
    const struct wgmma *m = op->more;
    struct wgmmas *g = wgmmas_of(w);
    struct wgmma_job *job = g ? add(g) : NULL;
    uint32_t next = 1;
    (void)active;  // all of them
    if (!job)
        return fail(w, u, "the simulated GPU ran out of memory for wgmma");
    job->u = u;
    job->group = g->group;
    job->missed = 0;
    job->a = 0;
    job->b = *(const u64 *)(w->regs + op->in[0]);
    if (m->a_in_registers) {
        for (uint32_t i = 0; i < 4; i++)
            memcpy(job->regs + 4 * LANES * i, w->regs + op->in[next++], 4 * LANES);
    } else {
        job->a = *(const u64 *)(w->regs + op->in[next++]);
    }
    job->add = m->scale_d == WGMMA_ADD || (m->scale_d == WGMMA_ADD_IF && *(const u32 *)(w->regs + op->in[next]) & 1);
    if ((!m->a_in_registers && wgmma_describe(job->a, false).base) || wgmma_describe(job->b, false).base)
        return fail(w, u,
                    "wgmma: a descriptor's matrix base offset is not 0, which is not supported: begin each tile "
                    "at a multiple of 1024 bytes");
    if (w->block->n_warps < 4 || w->index / 4 * 4 + 4 > w->block->n_warps)
        return fail(w, u, "wgmma takes a warpgroup: four whole warps, from a warp whose number is a multiple of 4");
    if (w->block->worker->check && op->shape)
        tell_unfenced(w, u->inst, op->shape - 1);
    if (w->block->worker->check && w->index % 4 == 0) {
        if (!m->a_in_registers)
            check_descriptor(w, u, 0, job->a);
        check_descriptor(w, u, 1, job->b);
        tell(w, job, true);
    } else if (w->block->worker->check) {
        tell_known(w, job);
    }
    if (w->block->worker->check)
        check_same(w);
    job->ran = w->block->worker->grid->code->wgmma_now;
    return !job->ran || run(w, job);
}

bool warp_wgmma_commit(struct warp *w, const struct uop *u, uint32_t active)
{
    struct wgmmas *g = wgmmas_of(w);
    (void)active;
    if (!g)
        return true;
    g->issued[g->group++ % WGMMA_KEPT] = g->gone + g->n;
    if (w->block->worker->check)
        check_counts(w, u);
    return true;
}

// What is kept for the whole warpgroup.
static struct wgmmas *of_group(const struct warp *w)
{
    struct wgmmas *first = w->block->warps[w->index / 4 * 4].wgmmas;
    return first ? first : w->wgmmas;
}

// A warp has waited for a product. The first of the warpgroup that does tells the checks that it has been read, for
// all; but only what comes after a warp's own wait comes after the reads.
static void tell_end(struct warp *w, const struct wgmma_job *job)
{
    struct wgmmas *all = of_group(w);
    struct wgmma_end *end = &all->ends[job->group % WGMMA_KEPT];
    if (job->group >= all->told) {
        tell(w, job, false);
        *end = (struct wgmma_end){ .at = check_now(w->block->worker->check) };
    }
    if (job->group + WGMMA_KEPT >= all->told)
        end->waited[w->index % 4] = check_now(w->block->worker->check);
}

// Has every warp of the warpgroup that has not ended committed as many groups? The product is all four's.
static bool all_there(const struct warp *w)
{
    const struct block *b = w->block;
    const uint32_t first = w->index / 4 * 4;
    for (uint32_t i = first; i < first + 4 && i < b->n_warps; i++) {
        const struct warp *other = &b->warps[i];
        if (other->n_splits && (!other->wgmmas || other->wgmmas->group < w->wgmmas->group))
            return false;
    }
    return true;
}

// The product of that number, if it is the next one that w has to compute, and in a group before end; else NULL.
static struct wgmma_job *next_job(const struct warp *w, uint32_t number, uint32_t end)
{
    const struct wgmmas *g = w->wgmmas;
    const uint32_t i = g ? number - g->gone : 0;
    if (!g || i >= g->n || g->all[i].ran || g->all[i].group >= end || (i && !g->all[i - 1].ran))
        return NULL;
    return &g->all[i];
}

// Computes a product of all four warps together. False where they have not the same one to compute, or on a fault.
static bool run_together(struct warp *first, uint32_t number, uint32_t end)
{
    struct worker *worker = first->block->worker;
    const struct wgmma_job *like = next_job(first, number, end);
    struct wgmma_job *job[4];
    for (uint32_t i = 0; i < 4; i++) {
        job[i] = like ? next_job(&first[i], number, end) : NULL;
        if (!job[i] || job[i]->u != like->u || job[i]->b != like->b)
            return false;
        first[i].wgmmas->current = job[i];
    }
    if (!worker->grid->exec->wgmma(first, 4)) {
        worker->fault.kind = FAULT_NONE;  // it comes again, from the warp whose it is
        return false;
    }
    for (uint32_t i = 0; i < 4; i++)
        job[i]->ran = true;
    return true;
}

static void run_all_together(struct warp *first, uint32_t end)
{
    const struct wgmmas *g = first->wgmmas;
    uint32_t i = 0;
    while (g && i < g->n && g->all[i].ran)
        i++;
    while (g && run_together(first, g->gone + i, end))
        i++;
}

// A product is complete when all four warps' rows are: the first warp that waits sees to that, so that it may overwrite
// what they read.
static bool run_groups(const struct warp *w, uint32_t end)
{
    const uint32_t first = w->index / 4 * 4;
    run_all_together(&w->block->warps[first], end);
    for (uint32_t i = first; i < first + 4 && i < w->block->n_warps; i++) {
        struct wgmmas *g = w->block->warps[i].wgmmas;
        for (uint32_t j = 0; g && j < g->n && g->all[j].group < end; j++) {
            if (!g->all[j].ran && !run(&w->block->warps[i], &g->all[j]))
                return false;
            g->all[j].ran = true;
        }
    }
    return true;
}

bool warp_wgmma_wait(struct warp *w, const struct uop *u, uint32_t active)
{
    struct wgmmas *g = wgmmas_of(w);
    const uint32_t outstanding = u->warp->op;
    uint32_t done = 0;
    (void)active;
    w->held = FAULT_NONE;
    if (g && g->n && !all_there(w))
        return warp_hold(w, u, FAULT_COMMITS_APART);
    for (uint32_t i = g && !outstanding ? g->n : 0; i && g->all[i - 1].group == g->group; i--)
        g->all[i - 1].missed = u->inst + 1;
    if (g && g->group > outstanding && !run_groups(w, g->group - outstanding))
        return false;
    for (; g && done < g->n && (uint64_t)g->all[done].group + outstanding < g->group; done++) {
        if (w->block->worker->check)
            tell_end(w, &g->all[done]);
    }
    if (w->block->worker->check && done && of_group(w)->told <= g->all[done - 1].group)
        of_group(w)->told = g->all[done - 1].group + 1;
    if (w->block->worker->check)
        check_warp_waited(w);
    if (done) {
        g->n -= done;
        g->gone += done;
        memmove(g->all, g->all + done, g->n * sizeof *g->all);
    }
    return true;
}

// A warpgroup's first warp speaks for all four.
void wgmma_finish(struct block *b)
{
    for (uint32_t i = 0; b->worker->check && i < b->n_warps; i += 4) {
        const struct wgmmas *g = b->warps[i].wgmmas;
        for (uint32_t k = 0; g && k < g->n; k++) {
            struct fault f = check_site(&b->warps[i], g->all[k].u->inst, 0, FAULT_WGMMA_LEFT);
            f.seen = g->all[k].group < g->group;
            check_note(b->worker->check, &f);
        }
    }
}
