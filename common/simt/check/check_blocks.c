// Global memory, when a launch is over: puts the host threads' notes together, and finds the races between blocks where
// nothing can order those, and uninitialised reads. See check.h.
//
// A use's lowest and highest block are enough to tell whether different blocks had it, and putting notes together is
// taking minima and maxima: nothing depends on which thread ran which block.
#include <string.h>

#include "check_global.h"
#include "simt/machine/memory.h"

// --- putting together ---

static void add_record(struct record *sum, const struct record *r)
{
    if (!r->first.block)
        return;
    sum->narrow |= r->narrow;
    sum->sets |= r->sets;
    if (!sum->first.block || r->first.block < sum->first.block)
        sum->first = r->first;
    if (r->last.block > sum->last.block)
        sum->last = r->last;
    if (r->other.block > sum->other.block)
        sum->other = r->other;
}

// Which of the line's granules have been written, by strong stores or by weak ones: a bit for each.
static uint8_t stored_granules(const struct line *line, bool strong)
{
    uint8_t all = 0;
    for (uint32_t i = 0; i < LINE; i++) {
        const struct record *r = check_record_at(line, strong ? USE_STRONG_WRITE : USE_WRITE, i);
        all |= (uint8_t)((r && r->first.block) << i);
    }
    return all;
}

// first, next: which granules sum and s are of.
static void add_stores(struct stores *sum, uint8_t first, const struct stores *s, uint8_t next)
{
    const uint8_t both = first & next;
    sum->differ |= s->differ | (both & (sum->unknown | s->unknown));
    sum->unknown |= s->unknown;
    for (uint32_t i = 0; i < LINE; i++) {
        if (both >> i & 1)
            sum->differ |= (uint8_t)((sum->values[i] != s->values[i]) << i);
        else if (next >> i & 1)
            sum->values[i] = s->values[i];
    }
}

static void add_line(struct checker *c, struct line *sum, struct line *line)
{
    if (sum->split != line->split && (!check_split(c, sum) || !check_split(c, line)))
        return;
    for (int strong = 0; strong < 2; strong++) {
        if (!sum->stores[strong])
            sum->stores[strong] = line->stores[strong];
        else if (line->stores[strong])
            add_stores(sum->stores[strong], stored_granules(sum, strong), line->stores[strong],
                       stored_granules(line, strong));
    }
    for (int use = 0; use < USES; use++) {
        if (!sum->of[use])
            sum->of[use] = line->of[use];
        else if (line->of[use])
            for (uint32_t i = 0; i < (sum->split ? LINE : 1); i++)
                add_record(&sum->of[use][i], &line->of[use][i]);
    }
}

void check_global_add(struct checker *sum, struct checker *c)
{
    const unsigned shift = sum->grid->code->global_shift + LINE_SHIFT + PAGE_SHIFT;
    for (uint32_t a = 0; a < c->n_allocations; a++) {
        for (uint32_t k = 0; c->pages[a] && k < c->n_pages[a]; k++) {
            struct page **from = &c->pages[a][k];
            struct page **to = *from ? check_page_slot(sum, (uint64_t)a << MEMORY_SHIFT | (uint64_t)k << shift) : NULL;
            if (to && *to) {
                for (uint32_t i = 0; i < PAGE; i++)
                    add_line(sum, &(*to)->lines[i], &(*from)->lines[i]);
            } else if (to) {
                *to = *from;
                *from = NULL;
            }
        }
    }
    check_slabs_move(sum, c);
}

// --- judging ---

struct side {
    const struct mark *mark;
    enum use use;
};

struct spot {  // granule i of a line
    struct checker *c;
    const struct line *line;
    uint32_t i;
    uint64_t address;
};

// Two marks of different blocks, of the uses x and y; the lower block first. False where there are none.
static bool apart(const struct spot *s, enum use x, enum use y, struct side side[2])
{
    const struct record *a = check_record_at(s->line, x, s->i), *b = check_record_at(s->line, y, s->i);
    if (!a || !b || !a->first.block || !b->first.block)
        return false;
    struct side one = { &a->first, x }, two = { &b->last, y };
    if (one.mark->block == two.mark->block) {
        one = (struct side){ &a->last, x };
        two = (struct side){ &b->first, y };
    }
    side[one.mark->block > two.mark->block] = one;
    side[one.mark->block <= two.mark->block] = two;
    return one.mark->block != two.mark->block;
}

static bool narrow(const struct spot *s, enum use use)
{
    const struct record *r = check_record_at(s->line, use, s->i);
    return r && r->narrow;
}

// Were different values stored there, by strong stores or by weak ones?
static bool differs(const struct spot *s, bool strong)
{
    const struct stores *stores = s->line->stores[strong];
    return stores && stores->differ >> s->i & 1;
}

// May uses x and y by different blocks race? Stores of one value do not, nor do strong accesses that reach each other.
static bool conflict(const struct spot *s, enum use x, enum use y)
{
    if (x == USE_WRITE && y == USE_WRITE)
        return differs(s, false);
    if (x == USE_STRONG_WRITE && y != USE_READ)
        return narrow(s, x) || narrow(s, y);
    return true;
}

static void note_sides(const struct spot *s, const struct side side[2], enum fault_kind kind)
{
    struct fault f = check_side(s->c, side[0].mark, s->i, side[0].use, s->address, kind);
    check_other_side(&f, side[1].mark, s->i, side[1].use);
    check_note(s->c, &f);
}

// Strong writes of several blocks, of which one at least is no atomic, and that do not all leave the same.
static void judge_strong(const struct spot *s)
{
    const struct record *r = check_record_at(s->line, USE_STRONG_WRITE, s->i);
    if (!r || !r->other.block || !differs(s, true))
        return;
    const struct side store = { &r->other, USE_STRONG_WRITE };
    const struct side end = { r->first.block < store.mark->block ? &r->first : &r->last, USE_STRONG_WRITE };
    if (end.mark->block < store.mark->block)
        note_sides(s, (struct side[]){ end, store }, FAULT_STRONG_WRITES);
    else if (end.mark->block > store.mark->block)
        note_sides(s, (struct side[]){ store, end }, FAULT_STRONG_WRITES);
}

static void judge_blocks(const struct spot *s)
{
    static const enum use pairs[][2] = {
        { USE_WRITE, USE_WRITE },
        { USE_WRITE, USE_READ },
        { USE_WRITE, USE_STRONG_WRITE },
        { USE_STRONG_WRITE, USE_READ },
        { USE_WRITE, USE_STRONG_READ },
        { USE_STRONG_WRITE, USE_STRONG_WRITE },
        { USE_STRONG_WRITE, USE_STRONG_READ },
    };
    struct side side[2];
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (!conflict(s, pairs[k][0], pairs[k][1]) || !apart(s, pairs[k][0], pairs[k][1], side))
            continue;
        note_sides(s, side, FAULT_RACE_BLOCKS);
        return;
    }
    judge_strong(s);
}

// Did another block than the one that read too early write it? What that would have written is not known to come first.
// Atomics that all use what was there do not count: whichever comes first reads too early.
static bool by_others(const struct spot *s, enum use use, uint32_t block)
{
    const struct record *r = check_record_at(s->line, use, s->i);
    return r && r->first.block && (use == USE_WRITE || r->sets) && (r->first.block != block || r->last.block != block);
}

static void judge_early(const struct spot *s)
{
    const struct record *early = check_record_at(s->line, USE_EARLY, s->i);
    if (!early || !early->first.block || by_others(s, USE_WRITE, early->first.block) ||
        by_others(s, USE_STRONG_WRITE, early->first.block))
        return;
    struct fault f = check_side(s->c, &early->first, s->i, USE_EARLY, s->address, FAULT_UNINIT_MEMORY);
    f.other_inst = f.inst;
    f.other_block = f.block;
    check_note(s->c, &f);
}

// Have different blocks used granule i of a line? Only then some of what they did may race.
static bool by_several(const struct line *line, uint32_t i)
{
    uint32_t first = UINT32_MAX, last = 0;
    for (int use = USE_READ; use < USE_EARLY; use++) {
        const struct record *r = check_record_at(line, (enum use)use, i);
        if (!r || !r->first.block)
            continue;
        first = r->first.block < first ? r->first.block : first;
        last = r->last.block > last ? r->last.block : last;
    }
    return first < last;
}

static void judge(struct checker *c, const struct line *line, uint64_t address, struct memory *memory, bool whole)
{
    const unsigned shift = c->grid->code->global_shift;
    const struct record *write = line->of[USE_WRITE], *strong = line->of[USE_STRONG_WRITE];
    bool several = false;
    for (uint32_t i = 0; (write || strong || line->of[USE_EARLY]) && i < LINE; i++) {
        const struct spot s = { c, line, i, address + ((uint64_t)i << shift) };
        several = line->split || i == 0 ? by_several(line, i) : several;
        if (whole && !c->grid->turns && several)
            judge_blocks(&s);
        if (whole && line->of[USE_EARLY])
            judge_early(&s);
    }
    const uint8_t stored = stored_granules(line, false) | stored_granules(line, true);
    for (uint32_t i = 0, n = LINE; (write || strong) && i < LINE; i += n, n = LINE - i) {
        for (uint32_t k = 1; k < n; k++)
            n = (stored >> (i + k) ^ stored >> i) & 1 ? k : n;
        if (stored >> i & 1)
            memory_write(memory, address + ((uint64_t)i << shift), (uint64_t)n << shift);
    }
}

void check_finish(struct checker *c, struct memory *memory, bool whole)
{
    const unsigned shift = c->grid->code->global_shift + LINE_SHIFT;
    for (uint32_t a = 0; a < c->n_allocations; a++) {
        for (uint32_t k = 0; c->pages[a] && k < c->n_pages[a]; k++) {
            const struct page *p = c->pages[a][k];
            for (uint32_t i = 0; p && i < PAGE; i++) {
                const uint64_t address = (uint64_t)a << MEMORY_SHIFT | ((uint64_t)k << PAGE_SHIFT | i) << shift;
                judge(c, &p->lines[i], address, memory, whole);
            }
        }
    }
}
