// Where the checks keep what they remember of global memory: pages of lines, and their records. See check_global.h.
#include "check_global.h"

#include <stdlib.h>

#include "simt/machine/memory.h"

#define SLAB_BYTES (64u << 10)
#define CACHE_LINE 64

struct slab {
    struct slab *next;
    size_t used;
    unsigned char bytes[SLAB_BYTES];
};

void *check_take(struct checker *c, size_t bytes)
{
    bytes = (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
    if (!c->slabs || SLAB_BYTES - c->slabs->used < bytes) {
        struct slab *new = calloc(1, sizeof *new);
        if (!new) {
            c->failed = true;
            return NULL;
        }
        new->next = c->slabs;
        new->used = -(uintptr_t) new->bytes % CACHE_LINE;
        c->slabs = new;
    }
    void *p = c->slabs->bytes + c->slabs->used;
    c->slabs->used += bytes;
    return p;
}

void check_slabs_move(struct checker *to, struct checker *from)
{
    struct slab **end = &from->slabs;
    while (*end)
        end = &(*end)->next;
    *end = to->slabs;
    to->slabs = from->slabs;
    from->slabs = NULL;
}

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
    for (uint32_t i = 0; c->pages && i < c->n_allocations; i++)
        free(c->pages[i]);
    free(c->pages);
    free(c->n_pages);
    while (c->slabs) {
        struct slab *next = c->slabs->next;
        free(c->slabs);
        c->slabs = next;
    }
}

struct page **check_page_slot(struct checker *c, uint64_t address)
{
    const uint64_t number = address >> MEMORY_SHIFT, offset = address & MEMORY_OFFSET;
    const unsigned shift = c->grid->code->global_shift + LINE_SHIFT + PAGE_SHIFT;
    if (number >= c->n_allocations)
        return NULL;
    struct page ***pages = &c->pages[number];
    if (!*pages) {
        c->n_pages[number] = (uint32_t)(c->grid->memory->all[number].bytes >> shift) + 1;
        *pages = calloc(c->n_pages[number], sizeof **pages);
        c->failed |= !*pages;
    }
    return *pages ? &(*pages)[offset >> shift] : NULL;
}

struct page *check_page(struct checker *c, uint64_t address)
{
    struct page **page = check_page_slot(c, address);
    if (page && !*page)
        *page = check_take(c, sizeof **page);
    return page ? *page : NULL;
}

struct record *check_record_new(struct checker *c, struct line *line, enum use use)
{
    return line->of[use] = check_take(c, (line->split ? LINE : 1) * sizeof(struct record));
}

void check_forget(struct checker *c, uint64_t address, uint64_t bytes)
{
    const unsigned shift = c->grid->code->global_shift;
    for (uint64_t g = address >> shift; g < (address + bytes) >> shift; g++) {
        const uint32_t at = (uint32_t)(g >> LINE_SHIFT) & (PAGE - 1), i = g & (LINE - 1);
        struct page **page = check_page_slot(c, g << shift);
        if (!page || !*page)
            continue;
        struct line *line = &(*page)->lines[at];
        if (!check_split(c, line))
            return;
        for (int use = 0; use < USES; use++)
            if (use != USE_EARLY && line->of[use])
                line->of[use][i] = (struct record){ 0 };
        for (int strong = 0; strong < 2; strong++)
            if (line->stores[strong])
                line->stores[strong]->differ &= (uint8_t) ~(1u << i);
        (*page)->redundant_in[at] = 0;
    }
}

static void single_out(struct mark *m, uint32_t i)
{
    m->thread = (uint16_t)check_thread(m, i);
    m->spread = ONE_THREAD;
}

bool check_split(struct checker *c, struct line *line)
{
    for (int use = 0; !line->split && use < USES; use++) {
        struct record *all = line->of[use] ? check_take(c, LINE * sizeof *all) : NULL;
        if (!line->of[use])
            continue;
        if (!all)
            return false;
        for (uint32_t i = 0; i < LINE; i++) {
            all[i] = *line->of[use];
            single_out(&all[i].first, i);
            single_out(&all[i].last, i);
            single_out(&all[i].other, i);
        }
        line->of[use] = all;
    }
    line->split = true;
    return true;
}
