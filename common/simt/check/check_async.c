// The asynchronous proxy: bulk copies (TMA) and wgmma, which read and write shared memory after the instruction that
// started them. See check.h.
//
// - A bulk load writes from its start until its bytes have come, and whoever waits on its mbarrier knows of it.
// - A bulk store reads until its thread has waited for its group; wgmma reads until a warp of its warpgroup has. Each
//   warp may tell others of it, but only once it has waited itself.
// - A block's shared memory is given to another block when it ends: neither kind may still be under way.
// - What a thread has stored becomes known to the asynchronous proxy by a fence.proxy.async (check_proxy.c).
// - A copy reports to its mbarrier by the generic proxy: a barrier after mbarrier.init is enough. PTX says so from 9.3
//   on, and promised nothing before: a missing fence is worth an advice.
// Source: PTX ISA 8 (proxies), 9.7.9.25 (asynchronous copies), 9.7.16 (wgmma); 9.4, cp.async.bulk (the mbarrier).
#include "check_state.h"
#include "fold.h"
#include "simt/code/mbarrier.h"
#include "simt/code/warp_op.h"
#include "simt/code/wgmma.h"

#include <string.h>

#define WARPS 4      // of a warpgroup
#define GROUP 128    // threads of one
#define OUTCOMES 32  // granules that a look remembers: as many as has_outcome has bits

// The thread as which a bulk load is kept.
static uint32_t copier_of(const struct warp *w, const struct who *who)
{
    return check_copier(w->block->worker->check, who->thread, who->flags >> WHO_TAG & (TAGS - 1));
}

// When did a warp wait for its warpgroup's products whose reads of shared memory were over at that time? Of those that
// are long ago nothing is kept: it has waited.
static uint32_t waited(const struct block *b, uint32_t warp, uint32_t at)
{
    const struct wgmmas *g = b->warps[warp / WARPS * WARPS].wgmmas;
    for (uint32_t i = 0; g && i < WGMMA_KEPT; i++)
        if (g->ends[i].at == at)
            return g->ends[i].waited[warp % WARPS] ? g->ends[i].waited[warp % WARPS] : READ_UNDER_WAY;
    return at;
}

// What a thread of another block of the cluster did: is it ordered by that clock?
static bool clock_has(const struct warp *w, const struct vclock *clock, const struct who *who, uint32_t at)
{
    const struct vclock_pool *pool = &w->block->worker->check->pool;
    const struct block *b = check_block_of(w->block, who);
    const uint32_t thread = who->flags & WHO_LOAD ? copier_of(w, who) : who->thread;
    if (at >= READ_UNDER_WAY)
        return false;
    if (!(who->flags & WHO_WGMMA))
        return vclock_at(pool, clock, b->linear, thread) >= at;
    bool found = false;
    for (uint32_t i = 0; !found && i < GROUP; i++) {
        const uint32_t since = waited(b, (thread + i) / LANES, at);
        found = since < READ_UNDER_WAY && vclock_at(pool, clock, b->linear, thread + i) >= since;
    }
    return found;
}

bool check_ordered_reader(const struct warp *w, uint32_t lane, const struct who *who, uint32_t at)
{
    const struct block_check *k = w->block->check;
    if (check_ordered_who(w, lane, who, at))
        return true;
    return k->views && clock_has(w, k->views[w->index * LANES + lane].clocks[VIEW_COMPLETED], who, at);
}

bool check_ordered_who(const struct warp *w, uint32_t lane, const struct who *who, uint32_t at)
{
    const struct block_check *k = w->block->check;
    if (who->flags >> WHO_RANK != w->block->rank)
        return k->views && (clock_has(w, k->views[w->index * LANES + lane].clocks[VIEW_ORDERED], who, at) ||
                            clock_has(w, k->views[w->index * LANES + lane].clocks[VIEW_UNFENCED], who, at));
    if (!(who->flags & WHO_ASYNC))
        return check_ordered(w, lane, who->thread, at);
    if (at >= READ_UNDER_WAY)
        return false;
    if (at <= k->synced_block)
        return true;
    if (who->flags & WHO_LOAD)
        return k->views_used && check_clock_covers(w, lane, w->block->linear, copier_of(w, who), at);
    if (!(who->flags & WHO_WGMMA))
        return check_ordered(w, lane, who->thread, at);
    // Any thread of the warpgroup may tell that it has waited for the product.
    bool found = false;
    for (uint32_t i = 0; !found && i < GROUP; i++) {
        const uint32_t since = waited(w->block, (who->thread + i) / LANES, at);
        found = since < READ_UNDER_WAY && check_ordered(w, lane, who->thread + i, since);
    }
    return found;
}

struct look {  // at a range of granules
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    struct block *home;     // whose shared memory it is
    struct block_check *k;  // home's
    uint32_t lane;
    struct who me;
    struct who ordered;  // the last that was found ordered, and when; most neighbours are the same
    uint32_t ordered_at;
    bool clean;            // the granule that is looked at says all, and had no finding
    uint32_t has_outcome;  // a bit for each of outcomes
    struct outcome {
        struct granule before, after;  // a granule, and what became of it
    } outcomes[OUTCOMES];
};

typedef void look_fn(struct look *l, uint32_t g, struct granule *x);  // at granule g; x says what it is

static uint32_t shift_of(const struct look *l)
{
    return l->c->grid->code->shared_shift;
}

static void note(struct look *l, enum fault_kind kind, uint32_t g, bool store, const struct who *who, bool other_store)
{
    struct fault f = check_site(l->w, l->u->inst, l->lane, kind);
    f.store = store;
    f.async = true;
    f.wgmma = l->me.flags & WHO_WGMMA;
    f.space = SPACE_SHARED;
    f.address = ((uint64_t)g << shift_of(l)) + l->home->window;
    f.bytes = 1u << shift_of(l);
    check_other(&f, l->w->block, l->home, who, other_store);
    check_note(l->c, &f);
    l->clean = false;
}

static bool within(const struct look *l, uint32_t at)
{
    return at >= l->k->start;
}

static bool ordered(struct look *l, const struct who *who, uint32_t at, bool reader)
{
    if (at == l->ordered_at && who->thread == l->ordered.thread && who->flags == l->ordered.flags)
        return true;
    struct block_check *mine = l->w->block->check;
    const uint32_t me = l->w->index * LANES + l->lane, i = (at * 31 + who->thread * 7 + me) % ORDERED_CACHE;
    const bool cached = mine->ordered_cache[i].at == at && mine->ordered_cache[i].me == me &&
                        mine->ordered_cache[i].thread == who->thread && mine->ordered_cache[i].flags == who->flags;
    if (!cached && !(reader ? check_ordered_reader : check_ordered_who)(l->w, l->lane, who, at))
        return false;
    mine->ordered_cache[i].at = at;
    mine->ordered_cache[i].me = me;
    mine->ordered_cache[i].thread = who->thread;
    mine->ordered_cache[i].flags = who->flags;
    l->ordered = *who;
    l->ordered_at = at;
    return true;
}

static bool same_thread(const struct who *a, const struct who *b)
{
    return a->thread == b->thread && a->flags >> WHO_RANK == b->flags >> WHO_RANK;
}

// The outcomes are left as they are: has_outcome says which there are.
static void look_at(struct look *l, struct warp *w, const struct uop *u, uint32_t thread, uint16_t flags,
                    struct block *home)
{
    l->w = w;
    l->u = u;
    l->c = w->block->worker->check;
    l->home = home;
    l->k = home->check;
    l->lane = thread % LANES;
    l->me = (struct who){ .inst = u->inst,
                          .thread = (uint16_t)thread,
                          .flags = (uint16_t)(flags | w->block->rank << WHO_RANK) };
    l->ordered = (struct who){ 0 };
    l->ordered_at = 0;
    l->has_outcome = 0;
}

// Granules of a tile are read by several wgmma and then written at once: they differ in who read them.
static struct outcome *place_of(struct look *l, const struct granule *x)
{
    const uint32_t times = x->write_at * 7 + x->read_at * 3 + x->many_at;
    return &l->outcomes[(times + x->reader.inst * 5 + x->other.inst * 11) % OUTCOMES];
}

// What a granule was, and what became of it. NULL: such a granule has not been looked at.
static const struct outcome *recall(struct look *l, const struct granule *x)
{
    const struct outcome *s = place_of(l, x);
    return l->has_outcome >> (s - l->outcomes) & 1 && !memcmp(x, &s->before, sizeof *x) ? s : NULL;
}

// The same, after a look at granule g if there was none at its like; x says what it is. NULL: that look does not say
// all, and x is what became of it.
static const struct outcome *look_closely(struct look *l, uint32_t g, struct granule *x, look_fn *one)
{
    const struct outcome *same = recall(l, x);
    if (same)
        return same;
    struct outcome *s = place_of(l, x);
    const uint32_t bit = 1u << (s - l->outcomes);
    s->before = *x;
    l->clean = true;
    one(l, g, x);
    s->after = *x;
    l->has_outcome = l->clean ? l->has_outcome | bit : l->has_outcome & ~bit;
    return l->clean ? s : NULL;
}

// The folds behind the one of granule g, n granules each, as far as they are what that one was. Returns the granule
// behind them.
static uint32_t visit_folds(struct block_check *k, uint32_t g, uint32_t end, uint32_t n, const struct outcome *s)
{
    uint32_t f = g / n;
    do {
        k->wholes[f] = s->after;
        k->whole_redundant_in[f++] = 0;
    } while (f < end / n && k->folded[f] && !memcmp(&k->wholes[f], &s->before, sizeof s->before));
    return f * n;
}

// The same of granules that are no folds: now they are.
static uint32_t visit_granules(struct block_check *k, unsigned shift, uint32_t g, uint32_t end, const struct outcome *s)
{
    const uint32_t first = g;
    do {
        k->granules[g] = s->after;
        k->redundant_in[g++] = 0;
    } while (g < end && !fold_holds(k, shift, g) && !memcmp(&k->granules[g], &s->before, sizeof s->before));
    fold_close(k, shift, first, g);
    return g;
}

// Most granules are like one that was looked at before, and like their neighbours: what became of that one becomes of
// them.
static void visit(struct look *l, uint32_t address, uint32_t bytes, look_fn *one)
{
    struct block_check *k = l->k;
    const unsigned shift = shift_of(l);
    const uint32_t end = (address + bytes) >> shift;
    k->redundant_version = ++l->c->intervals;
    for (uint32_t g = address >> shift; g < end;) {
        const uint32_t n = fold_size(k, shift, g, end);
        const bool folded = fold_holds(k, shift, g);
        struct granule *x = fold_granule(k, shift, g), before = *x;
        const struct outcome *s = look_closely(l, g, x, one);
        if (s) {
            g = folded ? visit_folds(k, g, end, n, s) : visit_granules(k, shift, g, end, s);
            continue;
        }
        if (folded) {  // of the others in the fold that look said nothing
            const struct granule after = *x;
            *x = before;
            fold_open(k, shift, g, g + 1);
            k->granules[g] = after;
        }
        k->redundant_in[g++] = 0;
    }
}

// --- writes: bulk loads ---

static void write_one(struct look *l, uint32_t g, struct granule *x)
{
    const bool twice = x->write_at == UNDER_WAY && x->writer.inst == l->me.inst && same_thread(&x->writer, &l->me);
    if (x->write_at == RED_ZONE)
        note(l, FAULT_OUT_OF_BOUNDS, g, true, NULL, false);
    else if (x->write_at == UNDER_WAY)
        note(l, FAULT_COPY_PENDING, g, true, twice ? &l->me : &x->writer, true);
    else if (within(l, x->read_at) && !ordered(l, &x->reader, x->read_at, true))
        note(l, FAULT_RACE, g, true, &x->reader, false);
    else if (within(l, x->many_at) && !ordered(l, &x->other, x->many_at, true))
        note(l, FAULT_RACE, g, true, &x->other, false);
    else if (within(l, x->write_at) && !ordered(l, &x->writer, x->write_at, x->writer.flags & WHO_ASYNC))
        note(l, FAULT_RACE, g, true, &x->writer, true);
    x->read_at = x->many_at = 0;
    x->writer = l->me;
    x->write_at = UNDER_WAY;
}

// Does the copying thread know that the mbarrier was initialised?
static void check_barrier(struct look *l, uint32_t barrier)
{
    const uint32_t g = barrier >> shift_of(l);
    const struct granule *x = &l->k->granules[g];
    fold_open(l->k, shift_of(l), g, g + 1);
    if (x->writer.flags & WHO_ASYNC || !within(l, x->write_at))
        return;
    if (!ordered(l, &x->writer, x->write_at, false))
        note(l, FAULT_RACE_INIT, g, true, &x->writer, true);
    else if (!check_proxy_fenced(l->w, &x->writer, x->write_at))
        note(l, FAULT_INIT_FENCE, g, true, &x->writer, true);
}

static bool is_init(const struct code *code, uint32_t inst)
{
    for (const struct uop *u = code->uops; u < code->uops + code->n_uops; u++)
        if (u->inst == inst && u->kind == UOP_WARP && u->warp->kind == WARP_mbarrier)
            return u->warp->op == MBARRIER_INIT;
    return false;
}

// "The behavior of performing an mbarrier.init operation on a memory location containing a valid mbarrier object is
// undefined; invalidate the mbarrier object using mbarrier.inval first." Arrivals leave the granule's last weak write.
// Source: PTX ISA 9.7.13.15 (mbarrier.init).
void check_mbarrier_valid(struct warp *w, const struct uop *u, uint32_t lane, uint32_t address, bool valid)
{
    const struct checker *c = w->block->worker->check;
    struct block *home = cluster_block(w->block->worker, address);
    const uint32_t g = cluster_offset(address) >> c->grid->code->shared_shift;
    struct granule *x = &home->check->granules[g];
    fold_open(home->check, c->grid->code->shared_shift, g, g + 1);
    if (x->write_at < home->check->start || x->write_at >= READ_UNDER_WAY ||
        x->writer.flags & (WHO_ASYNC | WHO_INVALID) || !is_init(c->grid->code, x->writer.inst))
        return;
    if (!valid) {
        x->writer.flags |= WHO_INVALID;
        return;
    }
    struct fault f = check_site(w, u->inst, lane, FAULT_INIT_AGAIN);
    f.space = SPACE_SHARED;
    f.address = address;
    check_other(&f, w->block, home, &x->writer, true);
    check_note(w->block->worker->check, &f);
}

void check_bulk_load(struct warp *w, const struct uop *u, const struct bulk_place *p, struct block *home)
{
    struct look l;
    const uint32_t tag = check_tag(p->barrier);
    uint32_t *reported = &home->check->reported[tag];
    *reported = *reported && *reported != 1 + p->barrier ? UINT32_MAX : 1 + p->barrier;
    look_at(&l, w, u, p->thread, (uint16_t)(WHO_ASYNC | WHO_LOAD | tag << WHO_TAG), home);
    if (home != w->block)
        check_visits(w, u, l.lane, home);
    check_barrier(&l, p->barrier);
    visit(&l, p->address, p->bytes, write_one);
    check_bulk_starts(w, l.lane, p, home);
}

void check_bulk_arrives(struct block *b, const struct bulk_place *p, bool completes)
{
    struct checker *c = b->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    const uint32_t end = (p->address + p->bytes) >> shift;
    for (uint32_t g = p->address >> shift, n; g < end; g += n) {
        n = fold_size(b->check, shift, g, end);
        struct granule *x = fold_granule(b->check, shift, g);
        if (x->write_at == UNDER_WAY && x->writer.thread == p->thread && x->writer.flags >> WHO_RANK == p->from)
            x->write_at = c->now;
    }
    check_bulk_arrival(b, p, completes);
}

void check_bulk_left(struct block *b, const struct uop *u, const struct bulk_place *p, bool load)
{
    struct fault f = check_site(&b->warps[p->thread / LANES], u->inst, p->thread % LANES, FAULT_UNWAITED);
    f.block = b->worker->cluster->blocks[p->from]->linear;
    f.home = b->linear;
    f.remote = p->from != b->rank;
    f.store = load;
    f.address = p->address + b->window;
    f.space = SPACE_SHARED;
    f.bytes = p->bytes;
    f.other_inst = u->inst;
    f.other_block = f.block;
    check_note(b->worker->check, &f);
    check_bulk_stopped(b);
}

void check_bulk_stopped(struct block *b)
{
    b->check->copies = true;
}

void check_bulk_early(struct block *b, const struct uop *u, const struct bulk_place *p, uint64_t bytes)
{
    const struct block *from = b->worker->cluster->blocks[p->from];
    struct fault f = check_site(&b->warps[p->thread / LANES], u->inst, p->thread % LANES, FAULT_PHASE_BYTES);
    f.block = from->linear;
    f.home = b->linear;
    f.remote = from != b;
    f.address = p->barrier + b->window;
    f.phase = 2 - (uint32_t)mbarrier_read(b->worker->cluster->shared[b->rank] + p->barrier).phase;  // the one before
    f.space = SPACE_SHARED;
    f.bytes = (uint32_t)bytes;
    f.other_inst = u->inst;
    f.other_block = f.block;
    check_note(b->worker->check, &f);
}

// --- reads: bulk stores, wgmma ---

static void read_one(struct look *l, uint32_t g, struct granule *x)
{
    const struct block_check *k = l->k;
    const bool strong = k->strong && within(l, k->strong[g].write_at);
    l->clean &= within(l, x->write_at);  // else strong decides, which is not in the granule
    if (x->write_at == RED_ZONE)
        note(l, FAULT_OUT_OF_BOUNDS, g, false, NULL, false);
    else if (x->write_at == UNDER_WAY)
        note(l, FAULT_COPY_PENDING, g, false, &x->writer, true);
    else if (!within(l, x->write_at) && !strong)
        note(l, FAULT_UNINIT_MEMORY, g, false, NULL, false);
    else if (within(l, x->write_at) && !ordered(l, &x->writer, x->write_at, false))
        note(l, FAULT_RACE, g, false, &x->writer, true);
    else if (within(l, x->write_at) && !(x->writer.flags & WHO_ASYNC) &&
             !check_proxy_knows(l->w, l->me.thread, &x->writer, x->write_at))
        note(l, FAULT_PROXY_FENCE, g, false, &x->writer, true);
    if (within(l, x->read_at) && !same_thread(&x->reader, &l->me) && x->read_at > k->synced_block) {
        x->other = l->me;
        x->many_at = READ_UNDER_WAY;
        return;
    }
    x->reader = l->me;
    x->read_at = READ_UNDER_WAY;
}

void check_async_reads(struct warp *w, const struct uop *u, uint32_t thread, const struct bulk_range *ranges,
                       uint32_t n, bool group)
{
    struct look l;
    look_at(&l, w, u, thread, (uint16_t)(WHO_ASYNC | (group ? WHO_WGMMA : 0)), w->block);
    for (const struct bulk_range *r = ranges; r < ranges + n; r++) {
        visit(&l, r->address, r->bytes, read_one);
        w->block->check->read_under_way += r->bytes;
    }
}

// What the first warp of a warpgroup knows the others may not, and each multiplies for itself. Of a matrix the first
// granule is asked about, which a copy writes together with the rest.
void check_async_knows(struct warp *w, const struct uop *u, uint32_t address)
{
    struct look l;
    look_at(&l, w, u, w->index * LANES, WHO_ASYNC | WHO_WGMMA, w->block);
    const uint32_t g = address >> shift_of(&l);
    const struct granule *x = fold_granule(l.k, shift_of(&l), g);
    if (x->write_at == UNDER_WAY)
        note(&l, FAULT_COPY_PENDING, g, false, &x->writer, true);
    else if (x->write_at < UNDER_WAY && within(&l, x->write_at) && !ordered(&l, &x->writer, x->write_at, false))
        note(&l, FAULT_RACE, g, false, &x->writer, true);
}

static void read_is_over(struct granule *x, uint32_t thread, uint32_t now)
{
    if (x->read_at == READ_UNDER_WAY && x->reader.thread == thread)
        x->read_at = now;
    if (x->many_at == READ_UNDER_WAY && x->other.thread == thread)
        x->many_at = now;
}

void check_async_read(struct block *b, uint32_t thread, const struct bulk_range *ranges, uint32_t n)
{
    const struct checker *c = b->worker->check;
    const unsigned shift = c->grid->code->shared_shift;
    for (const struct bulk_range *r = ranges; r < ranges + n; r++) {
        const uint32_t end = (r->address + r->bytes) >> shift;
        b->check->read_under_way -= r->bytes;
        for (uint32_t g = r->address >> shift, n; g < end; g += n) {
            n = fold_size(b->check, shift, g, end);
            read_is_over(fold_granule(b->check, shift, g), thread, c->now);
        }
    }
}
