// Races inside a block, and uninitialised reads, in global memory; between blocks, too, where they take turns.
// See check.h.
//
// A warp that goes through memory in order uses 8 granules alike: lane after lane, each this many granules. One record
// for such a line says it all, until a part of it is used, or in another way; then each granule has its own.
#include "check_global.h"

#include "check_state.h"
#include "check_shadow.h"
#include "simt/machine/memory.h"

#define FETCHED 32  // lines at once

// --- an access ---

struct visit {  // an access in hand
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    enum use use;
    bool reads;         // it uses what was there before
    bool between;       // look at other blocks, too
    uint32_t interval;  // the block's
    struct mark mark;
};

// An access by a lane to a granule, or by some lanes to a line in order.
struct piece {
    struct line *line;
    uint32_t *redundant_in;  // the line's
    uint32_t i;              // the granule, or 0
    uint64_t address;        // of it
    struct mark mark;
    bool whole;
};

static bool writes(const struct visit *v)
{
    return v->use == USE_WRITE || v->use == USE_STRONG_WRITE;
}

// Is what m stands for ordered before the access in hand? For a whole line: false where the granules may differ.
static bool before(const struct visit *v, const struct piece *p, const struct mark *m)
{
    const uint32_t lane = p->mark.thread % LANES;
    if (m->block != p->mark.block)
        return !p->whole && check_clock_covers(v->w, lane, m->block - 1, m->thread, m->at);
    if (m->at <= v->w->block->check->synced_block || (m->thread == p->mark.thread && m->spread == p->mark.spread))
        return true;
    return !p->whole && check_ordered(v->w, lane, m->thread, m->at);
}

// Do two strong accesses reach each other by their scopes?
static bool morally_strong(const struct mark *a, const struct mark *b)
{
    return a->flags & b->flags & MARK_STRONG && (a->block == b->block || !((a->flags | b->flags) & MARK_NARROW));
}

// Does the access in hand race with m's, one of the two being a write?
static bool races(const struct visit *v, const struct piece *p, const struct mark *m)
{
    if (!m->block || (m->block != p->mark.block && !v->between))
        return false;
    if (morally_strong(m, &p->mark))
        return false;
    return !before(v, p, m);
}

struct fault check_side(const struct checker *c, const struct mark *m, uint32_t i, enum use use, uint64_t address,
                        enum fault_kind kind)
{
    const uint32_t thread = check_thread(m, i);
    return (struct fault){ .kind = kind,
                           .store = use == USE_WRITE || use == USE_STRONG_WRITE,
                           .atomic = m->flags & MARK_ATOMIC,
                           .inst = m->inst,
                           .warp = thread / LANES,
                           .lane = thread % LANES,
                           .block = m->block - 1,
                           .address = address,
                           .bytes = 1u << c->grid->code->global_shift,
                           .space = SPACE_GLOBAL };
}

void check_other_side(struct fault *f, const struct mark *m, uint32_t i, enum use use)
{
    f->other_inst = m->inst;
    f->other_thread = check_thread(m, i);
    f->other_block = m->block - 1;
    f->other_store = use == USE_WRITE || use == USE_STRONG_WRITE;
    f->other_atomic = m->flags & MARK_ATOMIC;
}

static void note(const struct visit *v, const struct piece *p, const struct mark *m, enum use use, enum fault_kind kind)
{
    struct fault f = check_side(v->c, &p->mark, 0, v->use, p->address, kind);
    check_other_side(&f, m, 0, use);
    check_note(v->c, &f);
}

static void note_race(const struct visit *v, const struct piece *p, const struct mark *m, enum use use)
{
    note(v, p, m, use, m->block == p->mark.block ? FAULT_RACE : FAULT_RACE_BLOCKS);
}

// Is what is stored there what the store before, of the same kind, has left?
static bool same_value(const struct visit *v, const struct piece *p)
{
    const unsigned shift = v->c->grid->code->global_shift;
    const struct stores *s = *check_line_stores(p->line, v->use);
    uint32_t value = 0;
    return s && !(s->unknown >> p->i & 1) && writes(v) &&
           check_stored(v->w, v->u, p->mark.thread % LANES, p->address, shift, (unsigned char *)&value) &&
           value == s->values[p->i];
}

// Has a strong read seen the strong write m, and is ordered before the access in hand? Then so is the write itself:
// observation order, then causality (PTX ISA 8.10, "observation order", "causality order"). Of what its thread did
// before, that says nothing.
static bool observed(const struct visit *v, const struct piece *p, const struct mark *m)
{
    const struct record *reads = check_record_at(p->line, USE_STRONG_READ, p->i);
    const struct mark *r = reads ? &reads->last : NULL;
    return r && r->block && r->at > m->at && (v->between || r->block == p->mark.block) && morally_strong(r, m) &&
           before(v, p, r);
}

// The accesses that may race with the one in hand: the first that does, and its use. NULL: there is none.
static const struct mark *rival(const struct visit *v, const struct piece *p, enum use *use)
{
    static const enum use order[] = { USE_WRITE, USE_STRONG_WRITE, USE_READ, USE_STRONG_READ };
    for (int k = 0; k < (writes(v) ? 4 : 2); k++) {
        const struct record *r = check_record_at(p->line, *use = order[k], p->i);
        if (!r)
            continue;
        if (races(v, p, &r->last) && !(*use == USE_WRITE && v->use == USE_WRITE && !p->whole && same_value(v, p)) &&
            !(*use == USE_STRONG_WRITE && observed(v, p, &r->last)))
            return &r->last;
        if (*use == USE_READ && races(v, p, &r->other))
            return &r->other;
    }
    return NULL;
}

// The strong write that nothing orders with the one in hand, both of which reach each other; one of the two is no
// atomic. NULL where both leave the same, and where the one in hand, or a loop since the other one, waits for a value.
static const struct mark *unordered(const struct visit *v, const struct piece *p)
{
    const struct record *r = check_record_at(p->line, USE_STRONG_WRITE, p->i);
    const struct record *reads = check_record_at(p->line, USE_STRONG_READ, p->i);
    const struct mark *m = p->mark.flags & MARK_ATOMIC ? &r->other : &r->last;
    if (!m->block || (m->block != p->mark.block && !v->between) || p->mark.flags & MARK_POLLS ||
        !morally_strong(m, &p->mark) || (reads && reads->polled > m->at))
        return NULL;
    return before(v, p, m) || observed(v, p, m) || same_value(v, p) ? NULL : m;
}

// A read of what another block wrote, and told of: is it taken for ordered only since a barrier stands in for a fence?
// And a strong read, which makes no race: would the write be known if there were a fence behind it?
static void look_for_fences(const struct visit *v, const struct piece *p)
{
    const uint32_t lane = p->mark.thread % LANES;
    for (enum use use = USE_WRITE; use < USE_EARLY; use = (enum use)(use + USE_STRONG_WRITE - USE_WRITE)) {
        const struct record *r = check_record_at(p->line, use, p->i);
        const struct mark *m = r ? &r->last : NULL;
        if (!m || !m->block || m->block == p->mark.block)
            continue;
        if (v->use == USE_READ && check_ordered_unfenced(v->w, lane, m->block - 1, m->thread, m->at))
            note(v, p, m, use, FAULT_RELAXED_WAIT);
        if (v->use == USE_STRONG_READ && use == USE_STRONG_WRITE && !(p->mark.flags & (MARK_POLLS | MARK_ATOMIC)) &&
            morally_strong(m, &p->mark) && !before(v, p, m) &&
            check_ordered_if_acq_rel(v->w, lane, m->block - 1, m->thread, m->at))
            note(v, p, m, use, FAULT_RELAXED_READ);
    }
}

// --- what is remembered of it ---

// between: in the order in which they come, whatever their blocks
static void note_ends(bool between, struct record *r, const struct mark *m)
{
    r->narrow |= m->flags & MARK_NARROW;
    if (!r->first.block || m->block < r->first.block)
        r->first = *m;
    if (between || m->block >= r->last.block)
        r->last = *m;
}

static uint32_t warp_of(const struct mark *m)
{
    return m->thread / LANES;
}

// Has it been written, where that may still race with a read?
static bool stirred(const struct visit *v, const struct piece *p, enum use use)
{
    const struct record *r = check_record_at(p->line, use, p->i);
    const struct mark *m = r ? &r->last : NULL;
    return m && m->block && (v->between || (m->block == p->mark.block && m->at > v->w->block->check->synced_block));
}

// Of many readers two are kept that nothing orders: of different blocks if there are, or of different warps.
static void note_read(const struct visit *v, const struct piece *p, struct record *r)
{
    const struct mark *m = &p->mark;
    struct mark *last = &r->last, *other = &r->other;
    const bool last_lives = last->block && (v->between || last->block == m->block) && !before(v, p, last);
    const bool other_lives = other->block && (v->between || other->block == m->block) && !before(v, p, other);
    if (!other_lives)
        other->block = 0;
    if (!last_lives) {
        note_ends(v->between, r, m);
        return;
    }
    if (other_lives && warp_of(other) != warp_of(last) && !stirred(v, p, USE_WRITE) && !stirred(v, p, USE_STRONG_WRITE))
        *(p->whole ? p->redundant_in : &r->redundant_in) = v->w->block->check->interval;
    const bool wider = other->block == last->block &&
                       (m->block != last->block || (warp_of(other) == warp_of(last) && warp_of(m) != warp_of(last)));
    if (!other_lives || wider)
        *other = *m;
}

// known: value is what is stored to granule i; again: another store did so before.
static void note_value(struct stores *s, uint32_t i, uint32_t value, bool known, bool again)
{
    const uint8_t bit = (uint8_t)(1u << i);
    if (again && (!known || s->unknown & bit || s->values[i] != value))
        s->differ |= bit;
    s->unknown = known ? s->unknown & (uint8_t)~bit : s->unknown | bit;
    s->values[i] = value;
}

// What a store puts into the piece's granules. Lanes follow each other, and most store several of them.
static void note_values(const struct visit *v, const struct piece *p, bool again)
{
    const unsigned shift = v->c->grid->code->global_shift;
    const uint32_t end = p->whole ? LINE : p->i + 1;
    struct stores *stores = *check_line_stores(p->line, v->use);
    struct stored s = { 0 };
    uint32_t last = UINT32_MAX;
    bool at_hand = false;
    for (uint32_t i = p->i; i < end; i++) {
        const uint32_t thread = check_thread(&p->mark, i - p->i);
        const uint64_t address = p->address + ((uint64_t)(i - p->i) << shift);
        uint32_t value = 0;
        if (thread != last)
            at_hand = check_stores(v->w, v->u, thread % LANES, &s);
        last = thread;
        const bool known = at_hand && check_stored_part(&s, address, shift, (unsigned char *)&value);
        note_value(stores, i, value, known, again);
    }
}

static void stir(const struct piece *p)
{
    struct record *reads = check_record_at(p->line, USE_READ, p->i);
    *p->redundant_in = 0;
    if (reads)
        reads->redundant_in = 0;
}

static void note_write(const struct visit *v, const struct piece *p, struct record *r)
{
    struct stores **s = check_line_stores(p->line, v->use);
    const bool again = r->first.block;
    if (!*s && !(*s = check_take(v->c, sizeof **s)))
        return;
    note_values(v, p, again);
    note_ends(v->between, r, &p->mark);
    r->sets |= !v->reads;
    stir(p);
    if (v->use == USE_STRONG_WRITE && !(p->mark.flags & MARK_ATOMIC) && (v->between || p->mark.block >= r->other.block))
        r->other = p->mark;
}

// Has the block written granule i of a line - or, where blocks take turns, any block?
static bool written(const struct checker *c, uint32_t block, const struct line *line, uint32_t i)
{
    const struct record *weak = check_record_at(line, USE_WRITE, i);
    const struct record *strong = check_record_at(line, USE_STRONG_WRITE, i);
    return (weak && weak->last.block && (c->grid->turns || weak->last.block == block)) ||
           (strong && strong->last.block && (c->grid->turns || strong->last.block == block));
}

// Is what it loads looked at when it is used (shadow.h)?
static bool is_followed(const struct uop *u)
{
    return u->kind == UOP_LOAD && u->mem->ahead_of_use;
}

// A read of what neither the host nor the block wrote?
static bool early(const struct visit *v, const struct piece *p, const struct record *r, uint32_t granules)
{
    if (!v->reads || is_followed(v->u) || (v->use != USE_STRONG_WRITE && r->last.block == p->mark.block))
        return false;
    return !written(v->c, p->mark.block, p->line, p->i) &&
           !memory_written(v->c->grid->memory, p->address, (uint64_t)granules << v->c->grid->code->global_shift);
}

static void visit_granule(const struct visit *v, const struct piece *p)
{
    struct record *all = check_record(v->c, p->line, v->use), *r = all ? &all[p->i] : NULL;
    if (!r || (v->use == USE_READ && r->redundant_in == v->interval))
        return;
    if (early(v, p, r, 1)) {
        struct record *unset = check_record(v->c, p->line, USE_EARLY);
        if (unset)
            note_ends(v->between, &unset[p->i], &p->mark);
    }
    enum use use;
    const bool contended = writes(v) || p->line->of[USE_WRITE] || p->line->of[USE_STRONG_WRITE];
    const struct mark *m = contended ? rival(v, p, &use) : NULL;
    if (m)
        note_race(v, p, m, use);
    if (v->use == USE_STRONG_WRITE && (m = unordered(v, p)))
        note(v, p, m, USE_STRONG_WRITE, FAULT_STRONG_WRITES);
    if (v->between && contended && !writes(v))
        look_for_fences(v, p);
    if (writes(v))
        note_write(v, p, r);
    else if (v->use == USE_READ)
        note_read(v, p, r);
    else
        note_ends(v->between, r, &p->mark);
    if (p->mark.flags & MARK_POLLS && v->use == USE_STRONG_READ)
        r->polled = p->mark.at;
}

// The first read of granules from address on, which r is about, by their block since the last barrier of all, if there
// are no writes: most of those that are not redundant.
static inline bool read_first(const struct warp *w, const struct line *line, struct record *r, const struct mark *m,
                              uint64_t address, uint32_t granules)
{
    const struct grid *g = w->block->worker->grid;
    if (g->turns || line->of[USE_WRITE] || line->of[USE_STRONG_WRITE] || r->last.block > m->block)
        return false;
    if (r->last.block == m->block ? r->last.at > w->block->check->synced_block
                                  : !memory_written(g->memory, address, (uint64_t)granules << g->code->global_shift))
        return false;
    r->last = *m;
    if (!r->first.block)
        r->first = *m;
    r->other.block = 0;
    return true;
}

// False where the granules have to be looked at one by one.
static bool visit_line(const struct visit *v, const struct piece *p)
{
    enum use use;
    struct record *r = check_record(v->c, p->line, v->use);
    if (r && v->use == USE_READ && read_first(v->w, p->line, r, &p->mark, p->address, LINE))
        return true;
    const bool contended = writes(v) || p->line->of[USE_WRITE] || p->line->of[USE_STRONG_WRITE];
    if (!r || (contended && rival(v, p, &use)) || early(v, p, r, LINE))
        return false;
    if (v->use == USE_WRITE)
        note_write(v, p, r);
    else
        note_read(v, p, r);
    return true;
}

// The same of one granule, which touch's lanes read. m: what is the same for all lanes.
static inline bool touch_first(const struct warp *w, const struct line *line, struct record *r, struct mark m,
                               const struct touch *touch, uint64_t address)
{
    m.spread = ONE_THREAD;
    m.thread = (uint16_t)(w->index * LANES + touch->lane);
    if (!read_first(w, line, r, &m, address, 1))
        return false;
    if (touch->lane2 != NO_LANE) {
        r->other = m;
        r->other.thread = (uint16_t)(w->index * LANES + touch->lane2);
    }
    return true;
}

// Granule i of a line, which touch's lanes use; at address.
static void visit_touch(const struct visit *v, struct line *line, uint32_t *redundant_in, uint32_t i,
                        const struct touch *touch, uint64_t address)
{
    struct record *all = check_record(v->c, line, v->use);
    if (all && v->use == USE_READ && touch_first(v->w, line, &all[i], v->mark, touch, address))
        return;
    struct piece p = { line, redundant_in, i, address, v->mark, false };
    p.mark.spread = ONE_THREAD;
    p.mark.thread = (uint16_t)(v->w->index * LANES + touch->lane);
    visit_granule(v, &p);
    if (touch->lane2 == NO_LANE || p.mark.flags & MARK_ATOMIC)
        return;
    const struct mark first = p.mark;
    p.mark.thread = (uint16_t)(v->w->index * LANES + touch->lane2);
    if (!writes(v))
        visit_granule(v, &p);
    else if (!same_value(v, &p))
        note(v, &p, &first, v->use, v->use == USE_WRITE ? FAULT_RACE : FAULT_STRONG_WRITES);
}

// Does the run go through the whole line from its granule k on, in order?
static bool in_order(const struct visit *v, const struct run *run, uint32_t k)
{
    if (run->n - k < LINE || run->spread == NO_SPREAD || v->mark.flags & MARK_STRONG)
        return false;
    return run->spread >= LINE_SHIFT || k % (1u << run->spread) == 0;
}

// Are reads of n granules from i on redundant?
static bool are_redundant(const struct visit *v, const struct line *line, uint32_t i, uint32_t n)
{
    const struct record *all = line->of[USE_READ];
    if (v->use != USE_READ || !all)
        return false;
    for (uint32_t j = 0; j < n; j++)
        if (all[i + j].redundant_in != v->interval)
            return false;
    return true;
}

// The page of granule g, which the run reaches; NULL if memory runs out, or no allocation is there.
static inline struct page *page_of(struct checker *c, struct run *run, uint64_t g)
{
    const uint64_t number = g >> (LINE_SHIFT + PAGE_SHIFT);
    if (!run->page || run->page_number != number) {
        run->page = check_page(c, g << c->grid->code->global_shift);
        run->page_number = number;
    }
    return run->page;
}

static void visit_run(const struct visit *v, struct touches *t, struct run *run, uint64_t g)
{
    const unsigned shift = v->c->grid->code->global_shift;
    for (uint32_t k = 0, n; k < run->n; k += n, g += n) {
        const uint32_t i = g & (LINE - 1), at = (uint32_t)(g >> LINE_SHIFT) & (PAGE - 1);
        struct page *page = page_of(v->c, run, g);
        n = run->n - k < LINE - i ? run->n - k : LINE - i;
        if (!page)
            return;
        if (v->use == USE_READ && page->redundant_in[at] == v->interval)
            continue;
        struct line *line = &page->lines[at];
        if (!i && !line->split && in_order(v, run, k)) {
            struct piece p = { line, &page->redundant_in[at], 0, g << shift, v->mark, true };
            p.mark.spread = run->spread >= LINE_SHIFT ? ONE_THREAD : run->spread;
            p.mark.thread = (uint16_t)(v->w->index * LANES + run->lane + (k >> run->spread));
            if (visit_line(v, &p))
                continue;
        }
        if (!line->split && !check_split(v->c, line))
            return;
        if (are_redundant(v, line, i, n)) {
            page->redundant_in[at] = n == LINE ? v->interval : page->redundant_in[at];
            continue;
        }
        for (uint32_t j = 0; j < n; j++)
            visit_touch(v, line, &page->redundant_in[at], i + j, &t->all[run->first + k + j], (g + j) << shift);
    }
}

// Are reads of all that the run reaches from granule g on redundant?
static inline bool all_redundant(struct checker *c, struct run *run, uint64_t g, uint32_t interval)
{
    const uint32_t line = (uint32_t)(g >> LINE_SHIFT) % PAGE, end = line + ((g % LINE + run->n - 1) >> LINE_SHIFT) + 1;
    const struct page *page = end <= PAGE ? page_of(c, run, g) : NULL;
    if (!page)
        return false;
    for (uint32_t i = line; i < end; i++)
        if (page->redundant_in[i] != interval)
            return false;
    return true;
}

// The lines of runs in many rows lie far apart in the host's memory: they are asked for at once, not one by one.
static void fetch_lines(struct checker *c, struct touches *t, uint64_t from, enum use use)
{
    const struct line *lines[FETCHED];
    const uint32_t n = t->n_runs < FETCHED ? t->n_runs : FETCHED;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t line = (from + (uint64_t)t->runs[i].at) >> LINE_SHIFT;
        struct page *page = page_of(c, &t->runs[i], line << LINE_SHIFT);
        lines[i] = page ? &page->lines[line % PAGE] : NULL;
        __builtin_prefetch(page ? &page->redundant_in[line % PAGE] : NULL);
        __builtin_prefetch(page ? &lines[i]->of[use] : NULL);
    }
    for (uint32_t i = 0; i < n; i++)
        __builtin_prefetch(lines[i] ? lines[i]->of[use] : NULL);
}

// Of a strong access.
static uint8_t flags_of(const struct uop *u, enum check_op op)
{
    const bool atomic = check_atomic(op);
    const uint8_t scope = atomic ? u->warp->mem.scope : u->mem->order != ORDER_WEAK ? u->mem->scope : SCOPE_SYS;
    return (uint8_t)(MARK_STRONG | (scope < SCOPE_GPU ? MARK_NARROW : 0) | (atomic ? MARK_ATOMIC : 0) |
                     (check_polls(u, op) ? MARK_POLLS : 0));
}

// Are plain reads all that may be looked at together?
static inline bool is_plain_read(const struct checker *c, const struct uop *u, enum check_op op)
{
    return !check_writes(op) && !check_strong(u, op) && !c->grid->early;
}

// The access's mark, but for the thread.
static inline struct mark mark_of(const struct warp *w, const struct uop *u, uint8_t flags)
{
    const struct checker *c = w->block->worker->check;
    return (struct mark){ .block = (uint32_t)w->block->linear + 1, .at = c->now, .inst = u->inst, .flags = flags };
}

// A plain read of a run that is granule g alone, which is not redundant; its page is at hand. False if it has to be
// looked at closely.
static inline bool read_granule(const struct warp *w, const struct uop *u, const struct touches *t,
                                const struct run *run, uint64_t g)
{
    struct checker *c = w->block->worker->check;
    struct line *line = run->page ? &run->page->lines[(g >> LINE_SHIFT) % PAGE] : NULL;
    struct record *all = line && line->split ? check_record(c, line, USE_READ) : NULL, *r = all ? &all[g % LINE] : NULL;
    return r && (r->redundant_in == w->block->check->interval ||
                 touch_first(w, line, r, mark_of(w, u, 0), &t->all[run->first], g << c->grid->code->global_shift));
}

// From run number begin on: those before are redundant.
static __attribute__((noinline)) void visit_runs(struct warp *w, const struct uop *u, struct touches *t, uint64_t from,
                                                 enum check_op op, uint32_t begin)
{
    struct checker *c = w->block->worker->check;
    const bool strong = check_strong(u, op), write = check_writes(op), skips = is_plain_read(c, u, op);
    const struct visit v = { .w = w,
                             .u = u,
                             .c = c,
                             .use = strong  ? write ? USE_STRONG_WRITE : USE_STRONG_READ
                                    : write ? USE_WRITE
                                            : USE_READ,
                             .reads = check_reads(u, op),
                             .between = c->grid->turns,
                             .interval = w->block->check->interval,
                             .mark = mark_of(w, u, strong ? flags_of(u, op) : 0) };
    if (t->n_runs > 2)
        fetch_lines(c, t, from, v.use);
    for (uint32_t r = begin; r < t->n_runs; r++) {
        struct run *run = &t->runs[r];
        const uint64_t g = from + (uint64_t)run->at;
        if (c->grid->early)
            check_launch_before(w, u, run->lane, g << c->grid->code->global_shift, write);
        if (!skips ||
            ((r == begin || !all_redundant(c, run, g, v.interval)) && (run->n > 1 || !read_granule(w, u, t, run, g))))
            visit_run(&v, t, run, g);
    }
    if (v.use == USE_STRONG_WRITE)
        tick(c);  // whoever reads it there does so later
}

static inline void visit_all(struct warp *w, const struct uop *u, struct touches *t, uint64_t first, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const uint64_t from = first >> c->grid->code->global_shift;
    const bool plain = is_plain_read(c, u, op);
    uint32_t begin = 0;  // the first run that is not redundant
    while (plain && begin < t->n_runs &&
           all_redundant(c, &t->runs[begin], from + (uint64_t)t->runs[begin].at, w->block->check->interval))
        begin++;
    if (begin < t->n_runs && !(plain && t->n == 1 && read_granule(w, u, t, t->runs, from)))
        visit_runs(w, u, t, from, op, begin);
}

void check_global(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    struct touches *t = check_touches(c, index, active, address, bytes, c->grid->code->global_shift);
    if (t)
        visit_all(w, u, t, address[__builtin_ctz(active)], op);
}

bool check_global_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op)
{
    struct touches *t = w->block->worker->check->touches[index];
    if (!t || t->pattern != pattern)
        return false;
    visit_all(w, u, t, first, op);
    return true;
}

uint64_t check_global_unset(const struct block *b, uint64_t address, uint32_t bytes)
{
    struct checker *c = b->worker->check;
    const unsigned shift = c->grid->code->global_shift;
    uint64_t unset = 0;
    if (memory_written(c->grid->memory, address, bytes))
        return 0;
    struct page **page = check_page_slot(c, address);
    for (uint32_t i = 0; i < bytes; i++) {
        const uint64_t g = (address + i) >> shift;
        const struct line *line = page && *page ? &(*page)->lines[g >> LINE_SHIFT & (PAGE - 1)] : NULL;
        if (!memory_written(c->grid->memory, address + i, 1) &&
            !(line && written(c, (uint32_t)b->linear + 1, line, g & (LINE - 1))))
            unset |= shadow_mask(1) << 8 * i;
    }
    return unset;
}

void check_global_early(const struct warp *w, uint32_t lane, uint32_t inst, uint64_t address)
{
    struct checker *c = w->block->worker->check;
    const uint64_t g = address >> c->grid->code->global_shift;
    const struct mark m = { .block = (uint32_t)w->block->linear + 1,
                            .at = c->now,
                            .inst = inst,
                            .thread = (uint16_t)(w->index * LANES + lane),
                            .spread = ONE_THREAD };
    struct page *page = check_page(c, address);
    struct line *line = page ? &page->lines[g >> LINE_SHIFT & (PAGE - 1)] : NULL;
    struct record *unset = line && check_split(c, line) ? check_record(c, line, USE_EARLY) : NULL;
    if (unset)
        note_ends(c->grid->turns, &unset[g & (LINE - 1)], &m);
}
