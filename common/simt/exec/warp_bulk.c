// cp.async.bulk, cp.reduce.async.bulk and their groups: what a lane asks for is looked at and noted; bulk.c moves it.
#include <stdio.h>
#include <string.h>

#include "bulk.h"
#include "simt/check/check.h"
#include "simt/code/access.h"
#include "simt/code/warp.h"

#define MAP_ALIGN 64
#define BOX_ALIGN 128

static bool complain(struct warp *w, const struct uop *u, uint32_t lane, const char *what)
{
    struct fault *f = &w->block->worker->fault;
    warp_fault(w, u, FAULT_OTHER, 1u << lane, 0);
    snprintf(f->text, sizeof f->text, "%s", what);
    return false;
}

static uint64_t value32(const struct warp *w, uint32_t slot, uint32_t lane)
{
    return ((const u32 *)(w->regs + slot))[lane];
}

static uint64_t value64(const struct warp *w, uint32_t slot, uint32_t lane)
{
    return ((const u64 *)(w->regs + slot))[lane];
}

static bool read_map(struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, struct tensor_map *map)
{
    const struct bulk_op *op = u->warp->more;
    enum ptx_space space = SPACE_GENERIC;
    const unsigned char *p = access_place(w, lane, &space, address, DEV_MAP_BYTES);
    char text[160];
    if (!p)
        return access_fault(w, u, FAULT_BOUNDS, false, lane, address, DEV_MAP_BYTES, space);
    if (address % MAP_ALIGN)
        return access_fault(w, u, FAULT_ALIGN, false, lane, address, MAP_ALIGN, space);
    if (!tensor_map_read(p, map))
        return complain(w, u, lane,
                        "what this address names is no tensor map: is the parameter `const __grid_constant__ "
                        "CUtensorMap`, and was the map passed?");
    if (map->rank == op->rank)
        return true;
    snprintf(text, sizeof text, "copies a box of %u dimensions, and the tensor map has %u", op->rank, map->rank);
    return complain(w, u, lane, text);
}

// Is the part of the box that is in bounds all in one allocation?
static bool check_tensor(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c)
{
    const struct tensor_map *m = &c->map;
    uint64_t first = m->address, last = m->address;
    for (unsigned i = 0; i < m->rank; i++) {
        const int64_t end = (int64_t)m->last[i], low = c->at[i];
        const int64_t high = low + (int64_t)(m->box[i] - 1) * m->step[i];
        if (high < 0 || low > end)
            return true;
        first += (uint64_t)(low < 0 ? 0 : low) * m->stride[i];
        last += (uint64_t)(high > end ? end : high) * m->stride[i];
    }
    if (memory_at(w->block->worker->grid->memory, first, last - first + m->stride[0]))
        return true;
    const bool store = ((const struct bulk_op *)u->warp->more)->kind != BULK_LOAD;
    const bool begins = memory_at(w->block->worker->grid->memory, first, 1) != NULL;
    return access_fault(w, u, FAULT_BOUNDS, store, lane, begins ? last : first, (uint32_t)m->stride[0], SPACE_GLOBAL);
}

static bool check_plain(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c)
{
    const bool store = ((const struct bulk_op *)u->warp->more)->kind != BULK_LOAD;
    if (c->bytes % 16)
        return complain(w, u, lane, "a bulk copy moves a multiple of 16 bytes");
    if (c->global % 16)
        return access_fault(w, u, FAULT_ALIGN, store, lane, c->global, 16, SPACE_GLOBAL);
    return memory_at(w->block->worker->grid->memory, c->global, c->bytes) ||
           access_fault(w, u, FAULT_BOUNDS, store, lane, c->global, c->bytes, SPACE_GLOBAL);
}

// Where the copy goes in shared memory, and its mbarrier.
static bool check_shared_side(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c)
{
    const struct bulk_op *op = u->warp->more;
    const bool load = op->kind == BULK_LOAD;
    const uint32_t limit = w->block->worker->grid->shared_bytes, align = op->tensor ? BOX_ALIGN : 16;
    if (c->shared % align)
        return access_fault(w, u, FAULT_ALIGN, load, lane, c->shared, align, SPACE_SHARED);
    if (c->shared > limit || c->bytes > limit - c->shared)
        return access_fault(w, u, FAULT_BOUNDS, load, lane, c->shared, c->bytes, SPACE_SHARED);
    if (!load)
        return true;
    if (c->barrier % 8)
        return access_fault(w, u, FAULT_ALIGN, true, lane, c->barrier, 8, SPACE_SHARED);
    return (c->barrier <= limit && 8 <= limit - c->barrier) ||
           access_fault(w, u, FAULT_BOUNDS, true, lane, c->barrier, 8, SPACE_SHARED);
}

static bool describe(struct warp *w, const struct uop *u, uint32_t lane, struct bulk *c)
{
    const struct warpop *op = u->warp;
    const struct bulk_op *b = op->more;
    const uint64_t place = value64(w, op->in[0], lane);
    *c = (struct bulk){ .u = u, .thread = w->index * LANES + lane };
    c->shared = (uint32_t)(access_address(w, &op->mem, lane) & MEMORY_OFFSET);
    if (b->kind == BULK_LOAD)
        c->barrier = (uint32_t)((b->barrier_wide ? value64 : value32)(w, op->in[b->barrier], lane) & MEMORY_OFFSET);
    if (!b->tensor) {
        c->global = place;
        c->bytes = (uint32_t)value32(w, op->in[b->size], lane);
        return check_plain(w, u, lane, c) && check_shared_side(w, u, lane, c);
    }
    if (!read_map(w, u, lane, place, &c->map))
        return false;
    for (uint32_t i = 0; i < b->rank; i++)
        c->at[i] = (int32_t)value32(w, op->in[b->at + i], lane);
    c->bytes = tensor_map_box_bytes(&c->map);
    return check_tensor(w, u, lane, c) && check_shared_side(w, u, lane, c);
}

bool warp_bulk(struct warp *w, const struct uop *u, uint32_t active)
{
    struct worker *worker = w->block->worker;
    for (uint32_t left = active; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct bulk c;
        if (!describe(w, u, lane, &c)) {
            if (!worker->check)
                return false;
            check_fault(worker);  // a finding, and nothing is copied
            continue;
        }
        if (!bulk_add(w->block, &c))
            return complain(w, u, lane, "the simulated GPU ran out of memory for bulk copies");
        if (!worker->check)
            continue;
        const struct bulk_place p = { c.thread, c.shared, c.bytes, c.barrier };
        if (((const struct bulk_op *)u->warp->more)->kind == BULK_LOAD)
            check_bulk_load(w, u, &p);
        else
            check_async_reads(w, u, &p, false);
    }
    return true;
}

bool warp_bulk_commit(struct warp *w, const struct uop *u, uint32_t active)
{
    (void)u;
    for (uint32_t left = active; left; left &= left - 1)
        bulk_commit(w->block, w->index * LANES + (uint32_t)__builtin_ctz(left));
    return true;
}

bool warp_bulk_wait(struct warp *w, const struct uop *u, uint32_t active)
{
    for (uint32_t left = active; left; left &= left - 1)
        bulk_wait(w->block, w->index * LANES + (uint32_t)__builtin_ctz(left), u->warp->op);
    return true;
}
