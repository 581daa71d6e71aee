// Clusters: their barrier, and who uses another block's shared memory. See check.h.
//
// - A block's shared memory is there from when the block begins, which others know after a barrier of the cluster, or
//   after anything else that a thread of that block has told them; and until its last thread ends, so that one of its
//   threads has to know of each access from another block before that. Source: CUDA C++ Programming Guide, distributed
//   shared memory; PTX ISA 8, and barrier.cluster.
// - barrier.cluster.arrive is a release and barrier.cluster.wait an acquire, with the scope of the cluster. With
//   .relaxed, an arrival tells what its thread's last fence covered, and that its block has begun.
#include "check_order.h"

#include <stdlib.h>

// --- the barrier ---

void check_cluster_arrives(struct warp *w, uint32_t lanes, bool relaxed)
{
    struct worker *worker = w->block->worker;
    struct known_pool *pool = &worker->check->pool;
    for (; lanes; lanes &= lanes - 1) {
        struct known *k = check_told(w, (uint32_t)__builtin_ctz(lanes), !relaxed);
        known_join(pool, &worker->cluster->arrived, k);
        known_drop(pool, &k);
    }
    worker->check->now += worker->check->now < READ_UNDER_WAY - 1;
}

void check_cluster_opens(struct worker *worker)
{
    struct cluster *c = worker->cluster;
    known_drop(&worker->check->pool, &c->opened);
    c->opened = c->arrived;
    c->arrived = NULL;
}

void check_cluster_waits(struct block *b, uint32_t warp, uint32_t lanes)
{
    struct worker *worker = b->worker;
    for (; lanes; lanes &= lanes - 1) {
        struct view *v = &b->check->views[warp * LANES + (uint32_t)__builtin_ctz(lanes)];
        known_join(&worker->check->pool, &v->seen, worker->cluster->opened);
        v->met = UINT32_MAX;
    }
    b->check->informed = true;
}

void check_cluster_drop(struct worker *worker)
{
    known_drop(&worker->check->pool, &worker->cluster->arrived);
    known_drop(&worker->check->pool, &worker->cluster->opened);
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

// Does the view hold anything that a thread of home did since it began?
static bool knows_of(const struct known_pool *pool, const struct view *v, const struct block *home)
{
    const uint32_t threads = home->worker->grid->threads;
    bool found = false;
    for (uint32_t t = 0; !found && t < threads; t++)
        found = known_when(pool, v->seen, home->linear, t) >= home->check->start ||
                known_when(pool, v->lent, home->linear, t) >= home->check->start ||
                known_when(pool, v->reads, home->linear, t) >= home->check->start;
    return found;
}

void check_visits(struct warp *w, const struct uop *u, uint32_t lane, struct block *home)
{
    struct worker *worker = w->block->worker;
    struct checker *c = worker->check;
    const uint32_t threads = c->grid->threads;
    struct view *v = w->block->check->views ? view_of(w, lane) : NULL;
    if (!home->check->guests)
        home->check->guests = calloc((size_t)threads * worker->cluster->n, sizeof *home->check->guests);
    if (home->check->guests)
        home->check->guests[w->block->rank * threads + w->index * LANES + lane] = (struct guest){ c->now, u->inst };
    else
        c->failed = true;
    const bool ended = worker->cluster->ended[home->rank];
    const bool begun = v && (v->met >> home->rank & 1 || knows_of(&c->pool, v, home));
    if (!begun || ended)
        note(c, w->block, u->inst, w->index * LANES + lane, home, ended);
    if (v)
        v->met |= 1u << home->rank;
}

void check_block_ends(struct worker *worker)
{
    struct block *home = &worker->block;
    struct checker *c = worker->check;
    const struct block_check *k = home->check;
    const uint32_t threads = c->grid->threads;
    struct known *all = NULL;
    if (!k->guests)
        return;
    for (uint32_t t = 0; k->views && t < threads; t++) {
        known_join(&c->pool, &all, k->views[t].seen);
        known_join(&c->pool, &all, k->views[t].lent);
        known_join(&c->pool, &all, k->views[t].reads);
    }
    for (uint32_t i = 0; i < threads * worker->cluster->n; i++) {
        const struct guest *g = &k->guests[i];
        const struct block *b = worker->cluster->blocks[i / threads];
        const uint32_t thread = i % threads;
        if (g->at < k->start || known_when(&c->pool, all, b->linear, thread) >= g->at)
            continue;
        note(c, b, g->inst, thread, home, true);
    }
    known_drop(&c->pool, &all);
}
