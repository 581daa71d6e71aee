// See bulk.h.
#include "bulk.h"

#include <stdlib.h>
#include <string.h>

#include "bulk_reduce.h"
#include "simt/check/check.h"
#include "simt/code/mbarrier.h"
#include "simt/code/warp_op.h"
#include "simt/machine/memory.h"

#define THREADS 1024
#define CHUNK 16
#define ROW_MAX 2048  // bytes of a row of a box: 256 elements of 8

struct bulks {
    struct bulk *all;  // in the order in which they were started
    uint32_t n, room;
    uint32_t group[THREADS];   // groups that each thread has committed
    uint32_t waited[THREADS];  // and that it has waited for
};

void bulk_reset(struct bulks *s)
{
    if (!s)
        return;
    s->n = 0;
    memset(s->group, 0, sizeof s->group);
    memset(s->waited, 0, sizeof s->waited);
}

bool bulk_under_way(const struct bulks *s)
{
    return s && s->n;
}

const struct bulk *bulk_at(const struct block *b, uint32_t i)
{
    return b->bulks && i < b->bulks->n ? &b->bulks->all[i] : NULL;
}

void bulk_free(struct bulks *s)
{
    if (s)
        free(s->all);
    free(s);
}

static struct bulks *bulks_of(struct block *b)
{
    if (!b->bulks)
        b->bulks = calloc(1, sizeof *b->bulks);
    return b->bulks;
}

bool bulk_add(struct block *b, const struct bulk *copy)
{
    struct bulks *s = bulks_of(b);
    if (s && s->n == s->room) {
        const uint32_t room = 2 * s->room + 16;
        struct bulk *all = realloc(s->all, room * sizeof *all);
        if (!all)
            return false;
        s->all = all;
        s->room = room;
    }
    if (!s)
        return false;
    s->all[s->n] = *copy;
    s->all[s->n++].group = s->group[copy->thread];
    return true;
}

static bool is_load(const struct bulk *c)
{
    return bulk_brings(c->u->warp->more);
}

const struct bulk *bulk_overlap(const struct block *b, const struct bulk *copy)
{
    const struct bulks *s = b->bulks;
    for (uint32_t i = 0; i + 1 < s->n; i++) {
        const struct bulk *c = &s->all[i];
        const bool meets = c->shared < copy->shared + copy->bytes && copy->shared < c->shared + c->bytes;
        if (meets && is_load(c) && (c->shared != copy->shared || c->bytes != copy->bytes))
            return c;
    }
    return NULL;
}

void bulk_commit(struct block *b, uint32_t thread)
{
    struct bulks *s = bulks_of(b);
    if (s)
        s->group[thread]++;
}

void bulk_open(const struct block *b, uint32_t thread, uint32_t *groups, uint32_t *loose)
{
    const struct bulks *s = b->bulks;
    *groups = s ? s->group[thread] - s->waited[thread] : 0;
    *loose = 0;
    for (uint32_t i = 0; s && i < s->n; i++)
        *loose += !is_load(&s->all[i]) && s->all[i].thread == thread && s->all[i].group == s->group[thread];
}

static void take_out(struct bulks *s, uint32_t i)
{
    memmove(&s->all[i], &s->all[i + 1], (s->n - i - 1) * sizeof *s->all);
    s->n--;
}

// --- tensors ---

struct row {               // of a box: its elements lie step[0] apart
    uint64_t address;      // of its first element, whether that is in bounds or not
    uint32_t first, last;  // elements in bounds: first <= i < last
};

// The row of the box at index[1..]; all out of bounds where one of these is.
static struct row find_row(const struct bulk *c, const uint32_t index[DEV_MAP_RANK])
{
    const struct tensor_map *m = &c->map;
    struct row r = { m->address, 0, m->box[0] };
    for (unsigned i = 0; i < m->rank; i++) {
        const int64_t x = c->at[i] + (i ? (int64_t)index[i] * m->step[i] : 0);
        r.address += (uint64_t)x * m->stride[i];
        if (i && (x < 0 || x > (int64_t)m->last[i]))
            r.last = 0;
    }
    while (r.first < r.last && c->at[0] + (int64_t)r.first * m->step[0] < 0)
        r.first++;
    while (r.first < r.last && c->at[0] + (int64_t)(r.last - 1) * m->step[0] > (int64_t)m->last[0])
        r.last--;
    return r;
}

static bool next_row(const struct tensor_map *m, uint32_t index[DEV_MAP_RANK])
{
    for (unsigned i = 1; i < m->rank; i++) {
        if (++index[i] < m->box[i])
            return true;
        index[i] = 0;
    }
    return false;
}

#define SECTOR 32
#define PIECE 16

static uint32_t sectors_of(uint64_t address, uint64_t bytes)
{
    return (uint32_t)((address + bytes + SECTOR - 1) / SECTOR - address / SECTOR);
}

uint32_t bulk_sectors(const struct bulk *c)
{
    const struct bulk_op *op = c->u->warp->more;
    const struct tensor_map *m = &c->map;
    uint32_t index[DEV_MAP_RANK] = { 0 }, sectors = 0;
    if (op->kind > BULK_REDUCE || !op->tensor)
        return op->kind > BULK_REDUCE ? 0 : sectors_of(c->global, c->bytes);
    const uint64_t size = m->stride[0], pitch = size * m->step[0];
    do {
        const struct row r = find_row(c, index);
        if (r.first < r.last)
            sectors += sectors_of(r.address + r.first * pitch, (r.last - r.first - 1) * pitch + size);
    } while (next_row(m, index));
    return sectors;
}

static bool is_inside(const struct bulk *c)
{
    const struct tensor_map *m = &c->map;
    for (unsigned i = 0; i < m->rank; i++)
        if (c->at[i] < 0 || c->at[i] + (int64_t)(m->box[i] - 1) * m->step[i] > (int64_t)m->last[i])
            return false;
    return true;
}

void bulk_inside(const struct bulk *c, bulk_range *each, void *arg)
{
    const struct tensor_map *m = &c->map;
    uint32_t index[DEV_MAP_RANK] = { 0 }, at = c->shared;
    if (!((const struct bulk_op *)c->u->warp->more)->tensor || is_inside(c)) {
        each(arg, c->shared, c->bytes);
        return;
    }
    do {
        const struct row r = find_row(c, index);
        const uint32_t size = (uint32_t)m->stride[0], last = r.last * size;
        for (uint32_t i = r.first * size, end; i < last; i = end) {
            end = i / CHUNK * CHUNK + CHUNK;
            end = end < last ? end : last;
            each(arg, tensor_map_swizzle(m->swizzle, at + i), end - i);
        }
        at += m->box[0] * size;
    } while (next_row(m, index));
}

// What is out of bounds: 0, or NaN where the map says so and the type has it.
static void fill(const struct tensor_map *m, unsigned char *to, uint32_t elements)
{
    static const unsigned char nan[8] = { 0xff, 0x7f, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    const uint32_t size = (uint32_t)m->stride[0];
    const bool real = m->type >= DEV_MAP_F16;
    for (uint32_t i = 0; i < elements; i++)
        for (uint32_t k = 0; k < size; k++)
            to[i * size + k] = m->nan && real ? (size == 4 ? nan[4 + k] : nan[k]) : 0;
}

static void read_row(const struct bulk *c, const struct memory *memory, const uint32_t index[DEV_MAP_RANK],
                     unsigned char *to)
{
    const struct tensor_map *m = &c->map;
    const struct row r = find_row(c, index);
    const uint32_t size = (uint32_t)m->stride[0];
    const uint64_t pitch = (uint64_t)size * m->step[0];
    if (r.first < r.last) {
        const uint64_t span = (uint64_t)(r.last - r.first - 1) * pitch + size;
        const unsigned char *from = memory_at(memory, r.address + r.first * pitch, span);
        for (uint32_t i = r.first; pitch > size && i < r.last; i++)
            memcpy(to + i * size, from + (i - r.first) * pitch, size);
        if (pitch == size)
            memcpy(to + r.first * size, from, span);
        fill(m, to, r.first);
        fill(m, to + r.last * size, m->box[0] - r.last);
    } else {
        fill(m, to, m->box[0]);
    }
}

// A store writes whole pieces of 16 bytes: the piece in which a row of the matrix ends, too, with what the box has
// there. (An H200 does so; PTX does not say it. Of a box with steps and of a reduction it is not known.)
static uint32_t stored_to(const struct bulk *c, const struct memory *memory, const struct row *r)
{
    const struct tensor_map *m = &c->map;
    const struct bulk_op *op = c->u->warp->more;
    const uint64_t size = m->stride[0], first = r->address + r->first * size;
    if (op->kind != BULK_STORE || m->step[0] != 1 || r->first == r->last)
        return r->last;
    const uint64_t end = ((uint64_t)c->at[0] + r->last) * size, whole = (end + PIECE - 1) / PIECE * PIECE;
    uint32_t last = r->last + (uint32_t)((whole - end) / size);
    last = last < m->box[0] ? last : m->box[0];
    return memory_at(memory, first, (last - r->first) * size) ? last : r->last;
}

static void write_row(const struct bulk *c, const struct memory *memory, const uint32_t index[DEV_MAP_RANK],
                      const unsigned char *from, bool checked)
{
    const struct tensor_map *m = &c->map;
    const struct bulk_op *op = c->u->warp->more;
    struct row r = find_row(c, index);
    const uint32_t size = (uint32_t)m->stride[0];
    const uint64_t pitch = (uint64_t)size * m->step[0];
    r.last = stored_to(c, memory, &r);
    for (uint32_t i = r.first; i < r.last; i++) {
        unsigned char *to = memory_at(memory, r.address + i * pitch, size);
        if (checked)
            memory_write((struct memory *)memory, r.address + i * pitch, pitch == size ? (r.last - i) * size : size);
        if (op->kind == BULK_REDUCE) {
            bulk_reduce((enum atomic)op->reduce, bulk_type((enum dev_map_type)m->type), to, from + i * size, 1);
        } else if (pitch == size) {
            memcpy(to, from + i * size, (r.last - i) * size);
            return;
        } else {
            memcpy(to, from + i * size, size);
        }
    }
}

static void move_box(const struct block *b, const struct bulk *c, unsigned char *shared)
{
    const struct tensor_map *m = &c->map;
    const struct memory *memory = b->worker->grid->memory;
    const uint32_t bytes = m->box[0] * (uint32_t)m->stride[0];
    const bool load = ((const struct bulk_op *)c->u->warp->more)->kind == BULK_LOAD;
    unsigned char row[ROW_MAX];
    uint32_t index[DEV_MAP_RANK] = { 0 }, at = c->shared;
    do {
        if (load)
            read_row(c, memory, index, row);
        for (uint32_t i = 0; i < bytes; i += CHUNK) {
            unsigned char *place = shared + tensor_map_swizzle(m->swizzle, at + i);
            memcpy(load ? place : row + i, load ? row + i : place, CHUNK);
        }
        if (!load)
            write_row(c, memory, index, row, b->worker->check != NULL);
        at += bytes;
    } while (next_row(m, index));
}

static void move(struct block *b, const struct bulk *c)
{
    const struct bulk_op *op = c->u->warp->more;
    unsigned char *shared = b->worker->shared;
    if (op->tensor) {
        move_box(b, c, shared);
        return;
    }
    if (op->kind == BULK_REMOTE) {
        memcpy(shared + c->shared, b->worker->cluster->shared[c->from] + c->global, c->bytes);
        return;
    }
    if (op->kind == BULK_VALUE) {
        const uint32_t n = c->bytes / ptx_type_bytes(op->type);
        if (op->reduce == ATOMIC_EXCH)
            memcpy(shared + c->shared, c->at, c->bytes);
        else
            bulk_reduce((enum atomic)op->reduce, op->type, shared + c->shared, (const unsigned char *)c->at, n);
        return;
    }
    unsigned char *global = memory_at(b->worker->grid->memory, c->global, c->bytes);
    if (b->worker->check && op->kind != BULK_LOAD)
        memory_write((struct memory *)b->worker->grid->memory, c->global, c->bytes);
    if (op->kind == BULK_LOAD)
        memcpy(shared + c->shared, global, c->bytes);
    else if (op->kind == BULK_STORE)
        memcpy(global, shared + c->shared, c->bytes);
    else
        bulk_reduce((enum atomic)op->reduce, op->type, global, shared + c->shared, c->bytes / ptx_type_bytes(op->type));
}

// --- arriving ---

static struct bulk_place place_of(const struct bulk *c)
{
    return (struct bulk_place){ c->thread, c->from, c->shared, c->bytes, c->barrier, c->u->inst };
}

// Bytes that are on their way to the mbarrier.
static uint64_t bulk_pending(const struct block *b, uint32_t barrier)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; b->bulks && i < b->bulks->n; i++)
        if (is_load(&b->bulks->all[i]) && b->bulks->all[i].barrier == barrier)
            bytes += b->bulks->all[i].bytes;
    return bytes;
}

static void tell_arrival(struct block *b, const struct bulk *c, bool completes)
{
    const struct bulk_place p = place_of(c);
    const uint64_t rest = bulk_pending(b, c->barrier);
    check_bulk_arrives(b, &p, completes);
    if (completes && rest)
        check_bulk_early(b, c->u, &p, rest);
}

// Bytes have come to an mbarrier of the block. True where that completes its phase.
static bool report_bytes(struct block *b, uint32_t barrier, uint32_t bytes)
{
    unsigned char *p = b->worker->shared + barrier;
    struct mbarrier_state s = mbarrier_read(p);
    s.tx -= bytes;
    const bool completes = mbarrier_completes(&s);
    mbarrier_write(p, &s);
    return completes;
}

bool bulk_deliver(struct block *b, uint32_t barrier)
{
    struct bulks *s = b->bulks;
    for (uint32_t i = 0; s && i < s->n; i++) {
        const struct bulk c = s->all[i];
        if (!is_load(&c) || c.barrier != barrier)
            continue;
        move(b, &c);
        take_out(s, i);
        const bool completes = report_bytes(b, barrier, c.bytes);
        if (b->worker->check)
            tell_arrival(b, &c, completes);
        return true;
    }
    return false;
}

struct read {  // of shared memory, by a copy that a thread of the block has started
    struct block *b;
    uint32_t thread;
};

static void tell_read(void *arg, uint32_t address, uint32_t bytes)
{
    const struct read *r = arg;
    const struct bulk_range range = { address, bytes };
    check_async_read(r->b, r->thread, &range, 1);
}

void bulk_wait(struct block *b, uint32_t thread, uint32_t outstanding)
{
    struct bulks *s = b->bulks;
    if (s && (uint64_t)s->waited[thread] + outstanding < s->group[thread])
        s->waited[thread] = s->group[thread] - outstanding;
    for (uint32_t i = 0; s && i < s->n;) {
        const struct bulk c = s->all[i];
        if (is_load(&c) || c.thread != thread || (uint64_t)c.group + outstanding >= s->group[thread]) {
            i++;
            continue;
        }
        move(b, &c);
        take_out(s, i);
        if (b->worker->check)
            bulk_inside(&c, tell_read, &(struct read){ b, thread });
    }
}

void bulk_finish(struct block *b)
{
    struct bulks *s = b->bulks;
    for (uint32_t i = 0; s && i < s->n; i++) {
        const struct bulk_place p = place_of(&s->all[i]);
        const bool load = is_load(&s->all[i]);
        if (!load)
            move(b, &s->all[i]);
        if (b->worker->check)
            check_bulk_left(b, s->all[i].u, &p, load);
    }
    bulk_reset(s);
}
