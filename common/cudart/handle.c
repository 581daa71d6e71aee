// See handle.h. Cells come in blocks that are never given back; a cell that is dropped is used again.
#include "handle.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { CELLS = 1024 };

struct cell {
    enum handle_kind kind;
    void *object;  // of a dropped one: the next of these
};

static struct block {
    struct block *next;
    size_t used;
    struct cell cells[CELLS];
} * blocks;

static struct cell *dropped;

static struct cell *new_cell(void)
{
    struct cell *c = dropped;
    if (c) {
        dropped = c->object;
        return c;
    }
    if (!blocks || blocks->used == CELLS) {
        struct block *b = calloc(1, sizeof *b);
        if (!b)
            return NULL;
        b->next = blocks;
        blocks = b;
    }
    return &blocks->cells[blocks->used++];
}

void *handle_new(enum handle_kind kind, void *object)
{
    struct cell *c = object ? new_cell() : NULL;
    if (c)
        *c = (struct cell){ kind, object };
    return c;
}

static struct cell *find(const void *handle)
{
    const uintptr_t at = (uintptr_t)handle;
    for (struct block *b = blocks; b; b = b->next) {
        const uintptr_t first = (uintptr_t)b->cells;
        if (at >= first && at < first + b->used * sizeof *b->cells)
            return (at - first) % sizeof *b->cells ? NULL : (struct cell *)handle;
    }
    return NULL;
}

void *handle_object(const void *handle, enum handle_kind kind)
{
    const struct cell *c = find(handle);
    return c && c->kind == kind ? c->object : NULL;
}

void handle_drop(void *handle)
{
    struct cell *c = find(handle);
    if (!c || c->kind == HANDLE_NONE)
        return;
    *c = (struct cell){ HANDLE_NONE, dropped };
    dropped = c;
}
