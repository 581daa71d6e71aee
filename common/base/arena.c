// See arena.h.
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

struct arena {
    struct chunk *chunks;
    size_t left;  // bytes that its chunks may still take
};

struct arena *arena_new(size_t limit)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a)
        a->left = limit;
    return a;
}

size_t arena_limit(size_t text)
{
    const size_t base = (size_t)128 << 20, most = (size_t)2 << 30;
    return text < (most - base) / 2048 ? base + 2048 * text : most;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (!a->chunks || a->chunks->size - a->chunks->used < bytes) {
        size_t size = bytes > 65536 ? bytes : 65536;
        struct chunk *c = size <= a->left ? calloc(1, sizeof *c + size) : NULL;
        if (!c)
            return NULL;
        a->left -= size;
        c->size = size;
        c->next = a->chunks;
        a->chunks = c;
    }
    void *p = a->chunks->data + a->chunks->used;
    a->chunks->used += bytes;
    return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *s = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (s)
        vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    return s;
}

// The capacity is implied: 16, and then every power of two that count reaches.
void *arena_grow(struct arena *a, void *items, uint32_t count, size_t size)
{
    bool full = count == 0 || (count >= 16 && (count & (count - 1)) == 0);
    if (!full)
        return items;
    void *moved = arena_alloc(a, (count ? 2 * (size_t)count : 16) * size);
    if (moved && count)
        memcpy(moved, items, count * size);
    return moved;
}

struct map_slot {
    struct str key;
    uint32_t value;
};

static uint32_t hash(struct str s)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h;
}

static struct map_slot *find(const struct map *m, struct str key)
{
    for (uint32_t i = hash(key);; i++) {
        struct map_slot *slot = &m->slots[i & (m->size - 1)];
        if (!slot->key.p || (slot->key.n == key.n && !memcmp(slot->key.p, key.p, key.n)))
            return slot;
    }
}

bool map_put(struct arena *a, struct map *m, struct str key, uint32_t value)
{
    if (2 * (m->used + 1) > m->size) {
        struct map bigger = { .used = m->used, .size = m->size ? 2 * m->size : 16 };
        bigger.slots = arena_alloc(a, bigger.size * sizeof *bigger.slots);
        if (!bigger.slots)
            return false;
        for (uint32_t i = 0; i < m->size; i++)
            if (m->slots[i].key.p)
                *find(&bigger, m->slots[i].key) = m->slots[i];
        *m = bigger;
    }
    struct map_slot *slot = find(m, key);
    if (slot->key.p)
        return false;
    *slot = (struct map_slot){ key, value };
    m->used++;
    return true;
}

bool map_get(const struct map *m, struct str key, uint32_t *value)
{
    if (!m->size)
        return false;
    const struct map_slot *slot = find(m, key);
    if (!slot->key.p)
        return false;
    *value = slot->value;
    return true;
}
