// See memory.h.
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct memory *m, uint32_t capacity)
{
    struct allocation *all = realloc(m->all, capacity * sizeof *all);
    if (!all)
        return false;
    memset(all + m->capacity, 0, (capacity - m->capacity) * sizeof *all);
    m->all = all;
    m->capacity = capacity;
    return true;
}

static uint64_t make(struct memory *m, uint32_t number, const char *name, uint64_t bytes)
{
    struct allocation a = { .bytes = bytes, .name = bytes > MEMORY_MAX ? NULL : strdup(name) };
    if (!a.name || posix_memalign((void **)&a.data, 256, bytes)) {
        free(a.name);
        return 0;
    }
    free(m->all[number].name);
    m->all[number] = a;
    m->used += bytes;
    m->whole_to = number < m->whole_to ? number : m->whole_to;
    return (uint64_t)number << MEMORY_SHIFT;
}

uint64_t memory_alloc(struct memory *m, const char *name, uint64_t bytes)
{
    if (!m->count)
        m->count = 1;
    if ((m->count >= m->capacity && !make_room(m, m->capacity ? 2 * m->capacity : 64)) ||
        m->count >= WINDOW_SHARED >> MEMORY_SHIFT)
        return 0;
    const uint64_t address = make(m, m->count, name, bytes);
    m->count += address > 0;
    return address;
}

bool memory_keep_low(struct memory *m)
{
    if (!make_room(m, 2 * MEMORY_LOW))
        return false;
    m->count = MEMORY_LOW;
    m->low = 1;
    return true;
}

uint64_t memory_alloc_low(struct memory *m, const char *name, uint64_t bytes)
{
    if (!m->low)
        return memory_alloc(m, name, bytes);
    uint32_t number = m->low, tried = 1;
    while (m->all[number].data && tried++ < MEMORY_LOW)
        number = number + 1 < MEMORY_LOW ? number + 1 : 1;
    if (m->all[number].data)
        return 0;
    m->low = number + 1 < MEMORY_LOW ? number + 1 : 1;
    return make(m, number, name, bytes);
}

static void open_too(struct memory *m, uint32_t number)
{
    const bool first = m->open_from >= m->open_to;
    m->open_from = first || number < m->open_from ? number : m->open_from;
    m->open_to = first || number >= m->open_to ? number + 1 : m->open_to;
}

void memory_write(struct memory *m, uint64_t address, uint64_t bytes)
{
    struct allocation *a = &m->all[address >> MEMORY_SHIFT];
    const uint64_t from = address & MEMORY_OFFSET;
    a->fresh = true;
    open_too(m, (uint32_t)(address >> MEMORY_SHIFT));
    if (bytes == a->bytes)
        a->whole = true;
    if (a->whole)
        return;
    if (!a->written && !(a->written = calloc(a->bytes / 8 + 1, 1))) {
        a->whole = true;  // rather silent than wrong
        return;
    }
    for (uint64_t i = from; i < from + bytes;) {
        bool eight = i % 8 == 0 && from + bytes - i >= 8;
        a->written[i / 8] |= eight ? 0xff : (unsigned char)(1u << i % 8);
        i += eight ? 8 : 1;
    }
}

void memory_write_all(struct memory *m)
{
    for (; m->whole_to < m->count; m->whole_to++)
        m->all[m->whole_to].whole = true;
}

void memory_begin_launch(struct memory *m, bool early, bool waited)
{
    for (uint32_t i = m->open_from; i < m->open_to; i++) {
        struct allocation *a = &m->all[i];
        const bool older = a->pending && !waited;
        a->pending = !early ? SETTLED : older ? PENDING_OLDER : a->fresh ? PENDING_LAST : SETTLED;
        a->fresh = false;
    }
    if (!early)
        m->open_to = 0;
}

void memory_settle(struct memory *m)
{
    for (uint32_t i = m->open_from; i < m->open_to; i++)
        m->all[i].fresh = false, m->all[i].pending = SETTLED;
    m->open_to = 0;
}

bool memory_written_bytes(const struct memory *m, uint64_t address, uint64_t bytes)
{
    const struct allocation *a = &m->all[address >> MEMORY_SHIFT];
    const uint64_t from = address & MEMORY_OFFSET;
    for (uint64_t i = from; a->written && i < from + bytes; i++)
        if (!(a->written[i / 8] >> i % 8 & 1))
            return false;
    return a->written;
}

static void free_data(struct allocation *a)
{
    if (!a->lent)
        free(a->data);
    a->data = NULL;
}

void memory_lend(struct memory *m, uint64_t address, unsigned char *data)
{
    struct allocation *a = &m->all[address >> MEMORY_SHIFT];
    free_data(a);
    a->data = data;
    a->lent = a->whole = true;
}

bool memory_resize(struct memory *m, uint64_t address, uint64_t bytes)
{
    const uint64_t number = address >> MEMORY_SHIFT;
    struct allocation *a = &m->all[number], was = *a;
    const uint64_t kept = bytes < a->bytes ? bytes : a->bytes;
    void *data = NULL;
    if (bytes > MEMORY_MAX || posix_memalign(&data, 256, bytes + !bytes))
        return false;
    memcpy(data, was.data, kept);
    a->data = data;
    a->bytes = bytes;
    a->written = NULL;
    a->whole = false;
    m->used += bytes - was.bytes;
    m->whole_to = number < m->whole_to ? (uint32_t)number : m->whole_to;
    if (was.whole && kept)
        memory_write(m, address, kept);
    else if (was.written && kept && (a->written = calloc(bytes / 8 + 1, 1)))
        memcpy(a->written, was.written, kept / 8 + (kept % 8 > 0));
    else
        a->whole = was.written && kept;  // rather silent than wrong
    free(was.written);
    free(was.data);
    return true;
}

bool memory_release(struct memory *m, uint64_t address)
{
    uint64_t number = address >> MEMORY_SHIFT;
    if (number >= m->count || (address & MEMORY_OFFSET) || !m->all[number].data)
        return false;
    free(m->all[number].written);
    m->all[number].written = NULL;
    free_data(&m->all[number]);  // the name stays, so that a later access can say what it was
    m->used -= m->all[number].bytes;
    return true;
}

void memory_destroy(struct memory *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        free_data(&m->all[i]);
        free(m->all[i].written);
        free(m->all[i].name);
    }
    free(m->all);
    *m = (struct memory){ 0 };
}

const struct allocation *memory_near(const struct memory *m, uint64_t address, int64_t *at)
{
    uint64_t number = address >> MEMORY_SHIFT;
    const uint64_t offset = address & MEMORY_OFFSET;
    *at = (int64_t)offset;
    // A small step back from the start of an allocation shows up at the far end of the number before.
    if (offset > MEMORY_OFFSET - ((uint64_t)1 << 34) && number + 1 < m->count && number + 1 > 0) {
        *at = -(int64_t)(MEMORY_OFFSET + 1 - offset);
        number++;
    }
    return number == 0 || number >= m->count || !m->all[number].name ? NULL : &m->all[number];
}

// --- kept and put back ---

struct memory_copy {
    uint32_t count;
    struct allocation all[];  // their data are copies
};

static void *copy_of(const void *from, uint64_t bytes, bool *ok)
{
    void *to = from ? malloc(bytes) : NULL;
    *ok &= !from == !to;
    if (to)
        memcpy(to, from, bytes);
    return to;
}

struct memory_copy *memory_save(const struct memory *m)
{
    struct memory_copy *copy = calloc(1, sizeof *copy + m->count * sizeof *copy->all);
    bool ok = copy;
    for (; ok && copy->count < m->count; copy->count++) {
        struct allocation *to = &copy->all[copy->count];
        const struct allocation *from = &m->all[copy->count];
        *to = *from;
        to->data = copy_of(from->data, from->bytes, &ok);
        to->written = copy_of(from->written, from->bytes / 8 + 1, &ok);
    }
    if (ok)
        return copy;
    memory_copy_free(copy);
    return NULL;
}

void memory_restore(struct memory *m, const struct memory_copy *copy)
{
    for (; m->count > copy->count && !m->all[m->count - 1].data; m->count--) {  // so that addresses repeat, too
        free(m->all[m->count - 1].name);
        m->all[m->count - 1] = (struct allocation){ 0 };
    }
    m->whole_to = 0;
    for (uint32_t i = 0; i < copy->count; i++) {
        const struct allocation *from = &copy->all[i];
        struct allocation *to = &m->all[i];
        if (!to->data || !from->data || to->bytes != from->bytes)
            continue;
        memcpy(to->data, from->data, from->bytes);
        to->whole = from->whole;
        to->fresh = from->fresh;
        to->pending = from->pending;
        if (to->fresh || to->pending)
            open_too(m, i);
        if (to->written && from->written)
            memcpy(to->written, from->written, from->bytes / 8 + 1);
        else if (to->written)
            memset(to->written, 0, to->bytes / 8 + 1);
    }
}

void memory_copy_free(struct memory_copy *copy)
{
    for (uint32_t i = 0; copy && i < copy->count; i++) {
        free(copy->all[i].data);
        free(copy->all[i].written);
    }
    free(copy);
}
