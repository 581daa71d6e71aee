// Races between blocks, and uninitialised reads, in global memory. See check.h.
//
// A host thread takes its blocks in ascending order, so the first block and the last that touch a granule are enough to
// tell whether different blocks do, and putting the host threads' notes together is taking minima and maxima: nothing
// depends on which thread ran which block.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"

#define PAGE_SHIFT 10
#define PAGE (1u << PAGE_SHIFT)
#define THREAD_BITS 10  // of a place; the rest is the instruction

enum { READ, WRITE, ATOMIC, EARLY, KINDS };  // early: a read of what was not initialised and the block had not written

struct ends {
    uint32_t first[PAGE], last[PAGE];              // blocks, from 1; 0: none
    uint32_t first_place[PAGE], last_place[PAGE];  // instruction and thread
};

struct page {
    struct ends of[KINDS];
};

bool check_global_new(struct checker *c)
{
    const struct memory *m = c->grid->memory;
    c->n_allocations = m->count;
    c->pages = calloc(m->count + 1, sizeof *c->pages);
    c->n_pages = calloc(m->count + 1, sizeof *c->n_pages);
    return c->pages && c->n_pages;
}

void check_global_free(struct checker *c)
{
    for (uint32_t i = 0; c->pages && i < c->n_allocations; i++) {
        for (uint32_t k = 0; c->pages[i] && k < c->n_pages[i]; k++)
            free(c->pages[i][k]);
        free(c->pages[i]);
    }
    free(c->pages);
    free(c->n_pages);
}

static struct page *page_of(struct checker *c, uint64_t address)
{
    const uint64_t number = address >> MEMORY_SHIFT, offset = address & MEMORY_OFFSET;
    const unsigned shift = c->grid->code->global_shift + PAGE_SHIFT;
    if (number >= c->n_allocations)
        return NULL;
    struct page ***pages = &c->pages[number];
    if (!*pages) {
        c->n_pages[number] = (uint32_t)(c->grid->memory->all[number].bytes >> shift) + 1;
        *pages = calloc(c->n_pages[number], sizeof **pages);
    }
    struct page **page = *pages ? &(*pages)[offset >> shift] : NULL;
    if (page && !*page)
        *page = calloc(1, sizeof **page);
    if (!page || !*page)
        c->failed = true;
    return page ? *page : NULL;
}

// Of several notes in one block the first stays.
static void touch(struct ends *e, uint32_t i, uint32_t block, uint32_t place)
{
    if (e->last[i] == block)
        return;
    e->last[i] = block;
    e->last_place[i] = place;
    if (!e->first[i]) {
        e->first[i] = block;
        e->first_place[i] = place;
    }
}

struct visit {
    struct warp *w;
    const struct uop *u;
    struct checker *c;
    int kind;
    uint32_t block;
};

// The granules touches[0] to touches[n - 1], which lie side by side in page, from granule g on.
static void visit(const struct visit *v, struct page *page, const struct touch *touches, uint64_t g, uint32_t n)
{
    const unsigned shift = v->c->grid->code->global_shift;
    const uint32_t *last = &page->of[v->kind].last[g & (PAGE - 1)];
    uint32_t news = 0;
    for (uint32_t i = 0; i < n; i++)
        news |= last[i] ^ v->block;
    for (uint32_t k = 0; news && k < n; k++) {
        const uint32_t i = (uint32_t)(g + k) & (PAGE - 1);
        if (last[k] == v->block)
            continue;
        const uint32_t place = v->u->inst << THREAD_BITS | (v->w->index * LANES + touches[k].lane);
        touch(&page->of[v->kind], i, v->block, place);
        if (v->kind != WRITE && page->of[WRITE].last[i] != v->block &&
            (v->kind == ATOMIC || page->of[ATOMIC].last[i] != v->block) &&
            !memory_written(v->c->grid->memory, (g + k) << shift, 1u << shift))
            touch(&page->of[EARLY], i, v->block, place);
    }
}

static void visit_all(struct warp *w, const struct uop *u, const struct touches *t, uint64_t first, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const unsigned shift = c->grid->code->global_shift;
    const int kind = op == CHECK_READ ? READ : op == CHECK_ATOMIC ? ATOMIC : WRITE;
    const struct visit v = { w, u, c, kind, (uint32_t)w->block->linear + 1 };
    for (uint32_t r = 0; r < t->n_runs; r++) {
        const struct run *run = &t->runs[r];
        uint64_t g = (first >> shift) + (uint64_t)run->at;
        for (uint32_t i = 0, n; i < run->n; i += n, g += n) {
            const uint32_t left = PAGE - (uint32_t)(g & (PAGE - 1));
            struct page *page = page_of(c, g << shift);
            if (!page)
                return;
            n = run->n - i < left ? run->n - i : left;
            visit(&v, page, &t->all[run->first + i], g, n);
        }
    }
}

void check_global(struct warp *w, const struct uop *u, uint32_t index, uint32_t active, const uint64_t address[LANES],
                  uint32_t bytes, enum check_op op)
{
    struct checker *c = w->block->worker->check;
    const struct touches *t = check_touches(c, index, active, address, bytes, c->grid->code->global_shift);
    if (t)
        visit_all(w, u, t, address[__builtin_ctz(active)], op);
}

bool check_global_again(struct warp *w, const struct uop *u, uint32_t index, uint32_t pattern, uint64_t first,
                        enum check_op op)
{
    const struct touches *t = w->block->worker->check->touches[index];
    if (!t || t->pattern != pattern)
        return false;
    visit_all(w, u, t, first, op);
    return true;
}

// --- afterwards ---

static void add_ends(struct ends *sum, const struct ends *e)
{
    for (uint32_t i = 0; i < PAGE; i++) {
        if (!e->first[i])
            continue;
        if (!sum->first[i] || e->first[i] < sum->first[i]) {
            sum->first[i] = e->first[i];
            sum->first_place[i] = e->first_place[i];
        }
        if (e->last[i] > sum->last[i]) {
            sum->last[i] = e->last[i];
            sum->last_place[i] = e->last_place[i];
        }
    }
}

void check_global_add(struct checker *sum, const struct checker *c)
{
    const unsigned shift = sum->grid->code->global_shift + PAGE_SHIFT;
    for (uint32_t a = 0; a < c->n_allocations; a++) {
        for (uint32_t k = 0; c->pages[a] && k < c->n_pages[a]; k++) {
            if (!c->pages[a][k])
                continue;
            struct page *to = page_of(sum, (uint64_t)a << MEMORY_SHIFT | (uint64_t)k << shift);
            for (int kind = 0; to && kind < KINDS; kind++)
                add_ends(&to->of[kind], &c->pages[a][k]->of[kind]);
        }
    }
}

struct side {
    uint32_t block, place;
    int kind;
};

// Two notes of different blocks, of the kinds x and y; the lower block first. False where there are none.
static bool differ(const struct page *p, uint32_t i, int x, int y, struct side side[2])
{
    const struct ends *a = &p->of[x], *b = &p->of[y];
    struct side first = { a->first[i], a->first_place[i], x }, last = { b->last[i], b->last_place[i], y };
    if (!a->first[i] || !b->first[i])
        return false;
    if (first.block == last.block) {
        first = (struct side){ a->last[i], a->last_place[i], x };
        last = (struct side){ b->first[i], b->first_place[i], y };
    }
    side[first.block > last.block] = first;
    side[first.block <= last.block] = last;
    return first.block != last.block;
}

static struct fault fault_at(const struct checker *c, const struct side *s, uint64_t address, enum fault_kind kind)
{
    const uint32_t thread = s->place & ((1u << THREAD_BITS) - 1);
    return (struct fault){ .kind = kind,
                           .store = s->kind != READ && s->kind != EARLY,
                           .atomic = s->kind == ATOMIC,
                           .inst = s->place >> THREAD_BITS,
                           .warp = thread / LANES,
                           .lane = thread % LANES,
                           .block = s->block - 1,
                           .address = address,
                           .bytes = 1u << c->grid->code->global_shift,
                           .space = SPACE_GLOBAL };
}

static void judge(struct checker *c, const struct page *p, uint32_t i, uint64_t address)
{
    static const int pairs[][2] = { { WRITE, WRITE }, { WRITE, READ }, { WRITE, ATOMIC }, { ATOMIC, READ } };
    struct side side[2];
    bool race = false;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && !race && !c->grid->code->orders_blocks; k++) {
        if (!(race = differ(p, i, pairs[k][0], pairs[k][1], side)))
            continue;
        struct fault f = fault_at(c, &side[0], address, FAULT_RACE_BLOCKS);
        f.other_inst = side[1].place >> THREAD_BITS;
        f.other_thread = side[1].place & ((1u << THREAD_BITS) - 1);
        f.other_block = side[1].block - 1;
        f.other_store = side[1].kind != READ;
        f.other_atomic = side[1].kind == ATOMIC;
        check_note(c, &f);
    }
    // Early reads count where no other block wrote: what it would have written is not known to come first.
    const struct ends *early = &p->of[EARLY];
    const bool by_others = (p->of[WRITE].first[i] &&
                            (p->of[WRITE].first[i] != early->first[i] || p->of[WRITE].last[i] != early->first[i])) ||
                           (p->of[ATOMIC].first[i] &&
                            (p->of[ATOMIC].first[i] != early->first[i] || p->of[ATOMIC].last[i] != early->first[i]));
    if (early->first[i] && !by_others) {
        const struct side s = { early->first[i], early->first_place[i], EARLY };
        struct fault f = fault_at(c, &s, address, FAULT_UNINIT);
        f.other_inst = f.inst;
        f.other_block = f.block;
        check_note(c, &f);
    }
}

void check_finish(struct checker *c, struct memory *memory, bool whole)
{
    const unsigned shift = c->grid->code->global_shift;
    for (uint32_t a = 0; a < c->n_allocations; a++) {
        for (uint32_t k = 0; c->pages[a] && k < c->n_pages[a]; k++) {
            const struct page *p = c->pages[a][k];
            for (uint32_t i = 0; p && i < PAGE; i++) {
                const uint64_t address = (uint64_t)a << MEMORY_SHIFT | ((uint64_t)k << PAGE_SHIFT | i) << shift;
                if (whole)
                    judge(c, p, i, address);
                if (p->of[WRITE].first[i] || p->of[ATOMIC].first[i])
                    memory_write(memory, address, 1u << shift);
            }
        }
    }
}
