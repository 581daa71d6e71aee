// Clusters: their barrier, and who uses another block's shared memory. See check.h.
//
// - A block's shared memory is there from when the block begins, which others know after a barrier of the cluster, or
//   after anything else that a thread of that block has told them; and until its last thread ends, so that one of its
//   threads has to know of each access from another block before that. Source: CUDA C++ Programming Guide, distributed
//   shared memory; PTX ISA 8, and barrier.cluster.
// - barrier.cluster.arrive is a release and barrier.cluster.wait an acquire, with the scope of the cluster. With
//   .relaxed, an arrival tells what its thread's last fence covered, and that its block has begun.
#include "check_state.h"

#include <stdlib.h>

// --- the barrier ---

void check_cluster_arrives(struct warp *w, uint32_t lanes, bool relaxed)
{
    struct worker *worker = w->block->worker;
    struct vclock_pool *pool = &worker->check->pool;
    for (; lanes; lanes &= lanes - 1) {
        struct vclock *k = check_release_clock(w, (uint32_t)__builtin_ctz(lanes), !relaxed, true);
        vclock_join(pool, &worker->cluster->arrived, k);
        vclock_drop(pool, &k);
    }
    tick(worker->check);
}

void check_cluster_opens(struct worker *worker)
{
    struct cluster *c = worker->cluster;
    vclock_drop(&worker->check->pool, &c->opened);
    c->opened = c->arrived;
    c->arrived = NULL;
}

void check_cluster_waits(struct block *b, uint32_t warp, uint32_t lanes)
{
    struct worker *worker = b->worker;
    for (; lanes; lanes &= lanes - 1) {
        struct view *v = &b->check->views[warp * LANES + (uint32_t)__builtin_ctz(lanes)];
        vclock_join(&worker->check->pool, &v->clocks[VIEW_ORDERED], worker->cluster->opened);
        v->begun = UINT32_MAX;
    }
    b->check->views_used = true;
}

void check_cluster_drop(struct worker *worker)
{
    vclock_drop(&worker->check->pool, &worker->cluster->arrived);
    vclock_drop(&worker->check->pool, &worker->cluster->opened);
}

// --- descriptors ---

// The address in a descriptor has 18 bits, and the field of the leading offset follows. Rank r, from bit 24 of the
// address on, adds 16 r to it: other than in the block of rank 0, where the same instruction ran before.
void check_descriptor(struct warp *w, const struct uop *u, int matrix, uint64_t descriptor)
{
    struct cluster *c = w->block->worker->cluster;
    const uint32_t rank = w->block->rank, lead = (uint32_t)(descriptor >> 16) & 0x3fff;
    const uint64_t number = (uint64_t)(u - w->block->worker->grid->code->uops);
    const size_t i = number % (sizeof c->leads / sizeof *c->leads);
    if (!rank) {
        c->leads[i].lead[0] = c->leads[i].u == u ? c->leads[i].lead[0] : 0;
        c->leads[i].u = u;
        c->leads[i].lead[matrix] = lead;
        return;
    }
    const uint32_t first = c->leads[i].lead[matrix];
    if (c->leads[i].u != u || lead == first ||
        (lead != (first | rank << 4) && lead != ((first + (rank << 4)) & 0x3fff)))
        return;
    const struct fault f = check_site(w, u->inst, 0, FAULT_DESCRIPTOR_RANK);
    check_note(w->block->worker->check, &f);
}

// --- another block's memory ---

static void note(struct checker *c, const struct block *b, uint32_t inst, uint32_t thread, const struct block *home,
                 bool ended)
{
    const struct fault f = { .kind = FAULT_HOME,
                             .inst = inst,
                             .other_inst = inst,
                             .warp = thread / LANES,
                             .lane = thread % LANES,
                             .block = b->linear,
                             .other_block = home->linear,
                             .home = home->linear,
                             .remote = true,
                             .store = ended };
    check_note(c, &f);
}

// Has home begun, by anything that one of its threads did and that the view has?
static bool has_begun(const struct vclock_pool *pool, const struct view *v, const struct block *home)
{
    const uint32_t threads = home->worker->grid->threads;
    bool found = false;
    for (uint32_t t = 0; !found && t < threads; t++)
        found = vclock_at(pool, v->clocks[VIEW_ORDERED], home->linear, t) >= home->check->start ||
                vclock_at(pool, v->clocks[VIEW_UNFENCED], home->linear, t) >= home->check->start ||
                vclock_at(pool, v->clocks[VIEW_COMPLETED], home->linear, t) >= home->check->start;
    return found;
}

void check_visits(struct warp *w, const struct uop *u, uint32_t lane, struct block *home)
{
    struct worker *worker = w->block->worker;
    struct checker *c = worker->check;
    const uint32_t threads = c->grid->threads;
    struct view *v = w->block->check->views ? view_of(w, lane) : NULL;
    if (!home->check->remote_accesses)
        home->check->remote_accesses =
            calloc((size_t)threads * worker->cluster->n, sizeof *home->check->remote_accesses);
    if (home->check->remote_accesses)
        home->check->remote_accesses[w->block->rank * threads + w->index * LANES + lane] =
            (struct remote_access){ c->now, u->inst };
    else
        c->failed = true;
    const bool ended = worker->cluster->ended[home->rank];
    const bool begun = v && (v->begun >> home->rank & 1 || has_begun(&c->pool, v, home));
    if (!begun || ended)
        note(c, w->block, u->inst, w->index * LANES + lane, home, ended);
    if (v)
        v->begun |= 1u << home->rank;
}

void check_block_ends(struct worker *worker)
{
    struct block *home = &worker->block;
    struct checker *c = worker->check;
    const struct block_check *k = home->check;
    const uint32_t threads = c->grid->threads;
    struct vclock *all = NULL;
    if (!k->remote_accesses)
        return;
    for (uint32_t t = 0; k->views && t < threads; t++) {
        vclock_join(&c->pool, &all, k->views[t].clocks[VIEW_ORDERED]);
        vclock_join(&c->pool, &all, k->views[t].clocks[VIEW_UNFENCED]);
        vclock_join(&c->pool, &all, k->views[t].clocks[VIEW_COMPLETED]);
    }
    for (uint32_t i = 0; i < threads * worker->cluster->n; i++) {
        const struct remote_access *g = &k->remote_accesses[i];
        const struct block *b = worker->cluster->blocks[i / threads];
        const uint32_t thread = i % threads;
        if (g->at < k->start || vclock_at(&c->pool, all, b->linear, thread) >= g->at)
            continue;
        note(c, b, g->inst, thread, home, true);
    }
    vclock_drop(&c->pool, &all);
}
