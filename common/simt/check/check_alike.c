// Accesses to granules of shared memory that fare alike and have no finding. See check_alike.h.
#include "check_alike.h"

// Has this block made no strong access there?
static inline bool are_weak(const struct block_check *k, const struct side *s)
{
    const bool met = s->base + s->at[0] < k->strong_to && s->base + s->at[s->n - 1] >= k->strong_from;
    bool strong = false;
    for (uint32_t i = 0; met && i < s->n; i++) {
        const struct strong *x = &k->strong[s->base + s->at[i]];
        strong = strong || x->write_at >= k->start || x->read_at >= k->start;
    }
    return !strong;
}

static inline struct granule *granule_of(const struct side *s, uint32_t i)
{
    return &s->granules[side_at(s, i)];
}

static bool in_cluster(const struct warp *w)
{
    return w->block->worker->cluster->n > 1;
}

// Were they written in this block before its last barrier of all?
static inline bool are_old(const struct block_check *k, const struct side *s)
{
    const uint32_t start = k->start, times = k->synced_block + 1 - start;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits)
        if (granule_of(s, i)->write_at - start >= times)
            return false;
    return true;
}

static bool same_warp(const struct who *a, const struct who *b)
{
    return a->thread / LANES == b->thread / LANES && a->flags == b->flags;
}

// Were they written in this block all at once, by a warp, and before the lanes' accesses?
static bool are_ordered(const struct visit *v, const struct side *s)
{
    const struct who *writer = &granule_of(s, 0)->writer;
    const uint32_t at = granule_of(s, 0)->write_at;
    bool one = true;
    if (at >= READ_UNDER_WAY || !visit_within(v, at))
        return false;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits) {
        const struct granule *x = granule_of(s, i);
        one = one && x->writer.thread == writer->thread;
        if (x->write_at != at || !same_warp(&x->writer, writer))
            return false;
    }
    if (!one || check_granule_ordered_all(v, writer, at))
        return one || check_granule_synced(v, writer, at);
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits)
        if (!check_granule_ordered(v, writer, at, s->by[i].lane) ||
            (s->by[i].lane2 != NO_LANE && !check_granule_ordered(v, writer, at, s->by[i].lane2)))
            return false;
    return true;
}

// Have they not been read since the last barrier of all?
static bool are_unread(const struct visit *v, const struct side *s)
{
    const uint32_t synced = v->k->synced_block;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits)
        if (granule_of(s, i)->read_at > synced || granule_of(s, i)->many_at > synced)
            return false;
    return true;
}

// reader: who lane 0 is.
static void read_first(const struct side *s, struct who reader, uint32_t now)
{
    const uint16_t thread = reader.thread;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits) {
        struct granule *x = granule_of(s, i);
        const struct touch by = s->by[i];
        reader.thread = (uint16_t)(thread + by.lane);
        x->reader = reader;
        x->read_at = now;
        x->many_at = 0;
        if (by.lane2 == NO_LANE)
            continue;
        reader.thread = (uint16_t)(thread + by.lane2);
        x->other = reader;
        x->many_at = now;
    }
}

// Are they read by what one other warp alone has read since the last barrier of all, or that one and a third? reader:
// who lane 0 is.
static inline bool are_read(const struct block_check *k, const struct side *s, const struct who *reader)
{
    const struct granule like = *granule_of(s, 0);
    const uint32_t first = like.reader.thread / LANES, mine = reader->thread / LANES;
    const bool many = like.many_at > k->synced_block;
    if (like.reader.flags != reader->flags || first == mine || like.read_at <= k->synced_block ||
        like.read_at <= k->synced_warps[mine][first])
        return false;
    for (uint32_t i = 1u << s->bits; i < s->n; i += 1u << s->bits) {
        const struct granule *x = granule_of(s, i);
        if (x->read_at != like.read_at || x->many_at != like.many_at || !same_warp(&x->reader, &like.reader) ||
            (many && !same_warp(&x->other, &like.other)))
            return false;
    }
    return true;
}

// Nor is what their reader did ordered before a lane's access by anything but barriers.
static bool are_apart(const struct visit *v, const struct side *s)
{
    const uint32_t at = granule_of(s, 0)->read_at;
    for (uint32_t i = 0; v->k->views_used && i < s->n; i += 1u << s->bits) {
        const struct who *reader = &granule_of(s, i)->reader;
        if (check_granule_ordered(v, reader, at, s->by[i].lane) ||
            (s->by[i].lane2 != NO_LANE && check_granule_ordered(v, reader, at, s->by[i].lane2)))
            return false;
    }
    return true;
}

// Of many readers two are kept, of different warps.
static inline void read_again(struct block_check *k, const struct side *s, struct who reader, uint32_t now)
{
    const struct granule *first = granule_of(s, 0);
    const uint16_t thread = reader.thread;
    if (first->many_at > k->synced_block &&
        visit_warp(first->other.flags, first->other.thread) != visit_warp(first->reader.flags, first->reader.thread))
        return;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits) {
        struct granule *x = granule_of(s, i);
        reader.thread = (uint16_t)(thread + s->by[i].lane);
        x->other = reader;
        x->many_at = now;
        if (x->write_at <= k->synced_block && !k->strong)
            s->redundant_in[side_at(s, i)] = k->barrier;  // another read adds nothing
    }
}

// Reads of what is old and unread, as most are: there is nothing to compare with. False where it is not so.
static inline bool read_fresh(struct block_check *k, const struct side *s, struct who reader, uint32_t now)
{
    const uint32_t start = k->start, synced = k->synced_block, times = synced + 1 - start;
    bool fresh = true;
    for (uint32_t i = 0; fresh && i < s->n; i += 1u << s->bits) {
        const struct granule *x = granule_of(s, i);
        fresh = (x->write_at - start < times) & (x->read_at <= synced) & (x->many_at <= synced);
    }
    if (fresh)
        read_first(s, reader, now);
    return fresh;
}

// False where they have to be looked at one by one.
static bool read_alike(const struct visit *v, const struct side *s)
{
    if (v->strong || v->shared || !are_weak(v->k, s))
        return false;
    if (read_fresh(v->k, s, v->first, v->c->now))
        return true;
    if (!are_old(v->k, s) && !are_ordered(v, s))
        return false;
    if (are_unread(v, s))
        read_first(s, v->first, v->c->now);
    else if (!in_cluster(v->w) && are_read(v->k, s, &v->first) && are_apart(v, s))
        read_again(v->k, s, v->first, v->c->now);
    else
        return false;
    return true;
}

// Are they touched by nothing since the last barrier of all, and now by one lane each?
static bool are_untouched(const struct visit *v, const struct side *s)
{
    if (v->op != CHECK_WRITE && (v->op != CHECK_COPY || in_cluster(v->w)))
        return false;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits)
        if (granule_of(s, i)->write_at > v->k->synced_block || s->by[i].lane2 != NO_LANE)
            return false;
    return are_unread(v, s);
}

static bool same_use(const struct who *a, uint32_t at, const struct who *b, uint32_t b_at)
{
    return at == b_at && a->thread == b->thread && a->flags == b->flags;
}

// Were they used in this block in the same way, written by a warp, and is that over for all lanes?
static bool are_over(const struct visit *v, const struct side *s)
{
    const struct granule like = *granule_of(s, 0);
    bool one = true;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits) {
        const struct granule *x = granule_of(s, i);
        one = one && x->writer.thread == like.writer.thread;
        if (s->by[i].lane2 != NO_LANE || x->write_at != like.write_at || !same_warp(&x->writer, &like.writer) ||
            !same_use(&x->reader, x->read_at, &like.reader, like.read_at) ||
            !same_use(&x->other, x->many_at, &like.other, like.many_at))
            return false;
    }
    return v->op == CHECK_WRITE &&
           (!visit_within(v, like.write_at) ||
            (one ? check_granule_ordered_all : check_granule_synced)(v, &like.writer, like.write_at)) &&
           (!visit_within(v, like.read_at) || check_granule_completed(v, &like.reader, like.read_at)) &&
           (!visit_within(v, like.many_at) || check_granule_completed(v, &like.other, like.many_at));
}

// The same for writes: there is nothing to compare with.
static bool write_alike(const struct visit *v, const struct side *s)
{
    struct block_check *k = v->k;
    const uint32_t at = v->op == CHECK_COPY ? UNDER_WAY : v->c->now;
    const bool weak = !v->strong && !v->shared && are_weak(v->k, s), untouched = weak && are_untouched(v, s);
    if (!untouched && !(weak && are_over(v, s)))
        return false;
    if (!untouched)  // reads of some may have been redundant
        k->redundant_version = ++v->c->intervals;
    for (uint32_t i = 0; i < s->n; i += 1u << s->bits) {
        struct granule *x = granule_of(s, i);
        x->writer = visit_who(v, s->by[i].lane);
        x->write_at = at;
        x->read_at = x->many_at = s->redundant_in[side_at(s, i)] = 0;
    }
    k->copies |= v->op == CHECK_COPY;
    return true;
}

bool check_alike(const struct visit *v, const struct side *s)
{
    return check_writes(v->op) ? write_alike(v, s) : read_alike(v, s);
}

static inline __attribute__((always_inline)) bool read_side(const struct warp *w, struct touches *t,
                                                            const struct side *s, struct who reader, uint32_t now)
{
    struct block_check *k = w->block->check;
    const uint32_t base = s->base;
    if (s->n > 1 && check_redundant(k, s)) {
        t->redundant[check_redundant_slot(base)].version = k->redundant_version;
        t->redundant[check_redundant_slot(base)].base = base;
        return true;
    }
    if (k->folds || !are_weak(k, s))
        return false;
    if (read_fresh(k, s, reader, now))
        return true;
    const bool again = !k->views_used && !in_cluster(w) && are_old(k, s) && are_read(k, s, &reader);
    if (again)
        read_again(k, s, reader, now);
    return again;
}

bool check_read_at_once(const struct warp *w, struct touches *t, uint32_t base, struct who reader, uint32_t now)
{
    const struct block_check *k = w->block->check;
    const uint32_t here = 0;
    const struct side one = check_side_of(k, base, 1, &here, &t->first);
    const struct side all = check_side_of(k, base, t->n, t->at, t->all);
    return t->n == 1 ? read_side(w, t, &one, reader, now) : read_side(w, t, &all, reader, now);
}
