// Memory that is freed all at once, and a map from names to numbers that lives in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

struct arena *arena_new(size_t limit);  // of so many bytes at most; NULL when memory runs out
void arena_free(struct arena *a);
// How much memory a text of so many bytes may take: ample, but a few bytes of text cannot ask for gigabytes.
size_t arena_limit(size_t text);
// bytes of zeroed memory, aligned to 16; NULL when memory runs out, or would exceed the limit
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Doubles an array when full: returns items, moved if need be, with room for one more of size bytes.
void *arena_grow(struct arena *a, void *items, uint32_t count, size_t size);

struct map {
    struct map_slot *slots;
    uint32_t used, size;  // size is a power of two, or 0
};

bool map_put(struct arena *a, struct map *m, struct str key, uint32_t value);  // false if the key is there already
bool map_get(const struct map *m, struct str key, uint32_t *value);
