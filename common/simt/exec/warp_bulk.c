// cp.async.bulk, cp.reduce.async.bulk and their groups: what a lane asks for is looked at and noted; bulk.c moves it.
#include <stdio.h>
#include <string.h>

#include "bulk.h"
#include "simt/check/check.h"
#include "simt/code/access.h"
#include "warp_fn.h"

#define MAP_ALIGN 64
#define BOX_ALIGN 128

static bool complain(struct warp *w, const struct uop *u, uint32_t lane, const char *what)
{
    struct fault *f = &w->block->worker->fault;
    warp_fault(w, u, FAULT_REFUSED, 1u << lane, 0);
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

// "tensorMap specifies the generic address of an opaque tensor-map object which resides in .param space, .const space
// or .global space." A parameter that is not __grid_constant__ is copied to local memory. Source: PTX ISA 9.7.9.27
// (cp.async.bulk.tensor).
static bool read_map(struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, struct tensor_map *map)
{
    const struct bulk_op *op = u->warp->more;
    enum ptx_space space = SPACE_GENERIC;
    const unsigned char *p = access_place(w, lane, &space, address, DEV_MAP_BYTES);
    char text[160];
    if (!p)
        return access_fault(w, u, FAULT_OUT_OF_BOUNDS, false, lane, address, DEV_MAP_BYTES, space);
    if (space != SPACE_GLOBAL)
        return complain(w, u, lane,
                        "the tensor map is in local or shared memory, where no card reads it: a kernel's parameter has "
                        "to be `const __grid_constant__ CUtensorMap`, and to be used where it is");
    if (address % MAP_ALIGN)
        return access_fault(w, u, FAULT_MISALIGNED, false, lane, address, MAP_ALIGN, space);
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
    return access_fault(w, u, FAULT_OUT_OF_BOUNDS, store, lane, begins ? last : first, (uint32_t)m->stride[0],
                        SPACE_GLOBAL);
}

static bool check_plain(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c)
{
    const bool store = ((const struct bulk_op *)u->warp->more)->kind != BULK_LOAD;
    if (c->bytes % 16)
        return complain(w, u, lane, "a bulk copy moves a multiple of 16 bytes");
    if (((const struct bulk_op *)u->warp->more)->kind == BULK_REMOTE) {
        const uint32_t limit = w->block->worker->grid->shared_bytes;
        if (c->global % 16)
            return access_fault(w, u, FAULT_MISALIGNED, false, lane, c->global + w->block->window, 16, SPACE_SHARED);
        return (c->global <= limit && c->bytes <= limit - c->global) ||
               access_fault(w, u, FAULT_OUT_OF_BOUNDS, false, lane, c->global + w->block->window, c->bytes,
                            SPACE_SHARED);
    }
    if (c->global % 16)
        return access_fault(w, u, FAULT_MISALIGNED, store, lane, c->global, 16, SPACE_GLOBAL);
    return memory_at(w->block->worker->grid->memory, c->global, c->bytes) ||
           access_fault(w, u, FAULT_OUT_OF_BOUNDS, store, lane, c->global, c->bytes, SPACE_GLOBAL);
}

// Where the copy goes in shared memory, and its mbarrier.
static bool check_shared_side(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c,
                              uint32_t barrier_rank)
{
    const struct bulk_op *op = u->warp->more;
    const bool load = bulk_brings(op);
    const uint32_t window = c->rank << CLUSTER_SHIFT;
    const uint32_t limit = w->block->worker->grid->shared_bytes;
    const uint32_t align = op->tensor ? BOX_ALIGN : op->kind == BULK_VALUE ? c->bytes : 16;
    if (c->shared % align)
        return access_fault(w, u, FAULT_MISALIGNED, load, lane, c->shared + window, align, SPACE_SHARED);
    if (c->shared > limit || c->bytes > limit - c->shared || c->rank >= w->block->worker->cluster->n)
        return access_fault(w, u, FAULT_OUT_OF_BOUNDS, load, lane, c->shared + window, c->bytes, SPACE_SHARED);
    if (!load)
        return c->rank == w->block->rank ||
               complain(w, u, lane, "the source of this copy lies in another block's shared memory");
    if (barrier_rank != c->rank)
        return complain(w, u, lane, "the copy's destination and its mbarrier lie in different blocks of the cluster");
    if (c->barrier % 8)
        return access_fault(w, u, FAULT_MISALIGNED, true, lane, c->barrier + window, 8, SPACE_SHARED);
    return (c->barrier <= limit && 8 <= limit - c->barrier) ||
           access_fault(w, u, FAULT_OUT_OF_BOUNDS, true, lane, c->barrier + window, 8, SPACE_SHARED);
}

// Where a box may begin. (An H200 asks for it; PTX does not say it.)
static bool check_corner(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c)
{
    const bool load = ((const struct bulk_op *)u->warp->more)->kind == BULK_LOAD;
    for (uint32_t i = 0; i < c->map.rank && !load; i++)
        if (c->at[i] < 0)
            return complain(w, u, lane,
                            "a tensor store begins at a negative coordinate, which an H200 calls an illegal "
                            "instruction: only loads may begin out of bounds there");
    return (int64_t)c->at[0] * (int64_t)c->map.stride[0] % 16 == 0 ||
           complain(w, u, lane,
                    "a box begins at a column that is no multiple of 16 bytes, which an H200 calls an illegal "
                    "instruction");
}

static bool describe(struct warp *w, const struct uop *u, uint32_t lane, struct bulk *c)
{
    const struct warpop *op = u->warp;
    const struct bulk_op *b = op->more;
    const uint64_t place = (b->source_wide ? value64 : value32)(w, op->in[0], lane);
    *c = (struct bulk){ .u = u, .thread = w->index * LANES + lane, .from = w->block->rank };
    const uint64_t shared = access_address(w, &op->mem, lane);
    const uint64_t barrier = bulk_brings(b) ? (b->barrier_wide ? value64 : value32)(w, op->in[b->barrier], lane) : 0;
    c->shared = cluster_offset(shared);
    c->rank = cluster_rank(shared);
    c->barrier = cluster_offset(barrier);
    if (!b->tensor) {
        c->global = b->kind == BULK_REMOTE ? place - w->block->window : place;
        c->bytes = (uint32_t)value32(w, op->in[b->size], lane);
        return check_plain(w, u, lane, c) && check_shared_side(w, u, lane, c, cluster_rank(barrier));
    }
    if (!read_map(w, u, lane, place, &c->map))
        return false;
    for (uint32_t i = 0; i < b->rank; i++)
        c->at[i] = (int32_t)value32(w, op->in[b->at + i], lane);
    if (b->kind <= BULK_STORE && !check_corner(w, u, lane, c))
        return false;
    c->bytes = tensor_map_box_bytes(&c->map);
    return check_tensor(w, u, lane, c) && check_shared_side(w, u, lane, c, cluster_rank(barrier));
}

struct reader {
    struct warp *w;
    const struct uop *u;
    uint32_t thread;
};

static void tell_range(void *arg, uint32_t address, uint32_t bytes)
{
    const struct reader *r = arg;
    const struct bulk_range range = { address, bytes };
    check_async_reads(r->w, r->u, r->thread, &range, 1, false);
}

// Two copies to places that overlap: which bytes stay is chance.
static void check_overlap(struct warp *w, const struct uop *u, const struct bulk *c, struct block *home)
{
    const struct bulk *other = bulk_overlap(home, c);
    if (!other)
        return;
    struct fault f = check_site(w, u->inst, c->thread % LANES, FAULT_COPIES_OVERLAP);
    f.store = f.async = f.other_store = f.other_async = true;
    f.space = SPACE_SHARED;
    f.address = c->shared + home->window;
    f.bytes = c->bytes;
    f.seen = other->bytes;
    f.left = other->shared;
    f.home = home->linear;
    f.remote = home != w->block;
    f.other_inst = other->u->inst;
    f.other_thread = other->thread;
    f.other_block = w->block->worker->cluster->blocks[other->from]->linear;
    check_note(w->block->worker->check, &f);
}

static void tell(struct warp *w, const struct uop *u, const struct bulk *c, struct block *home)
{
    const struct bulk_place p = { c->thread, c->from, c->shared, c->bytes, c->barrier, u->inst };
    struct reader r = { w, u, c->thread };
    if (bulk_brings(u->warp->more)) {
        check_overlap(w, u, c, home);
        check_bulk_load(w, u, &p, home);
    } else
        bulk_inside(c, tell_range, &r);
}

// The copy starts in each of the blocks that it goes to: one, or those of the mask.
static bool start(struct warp *w, const struct uop *u, uint32_t lane, const struct bulk *c)
{
    const struct bulk_op *op = u->warp->more;
    const struct cluster *cluster = w->block->worker->cluster;
    uint32_t mask = op->multicast ? (uint32_t)value32(w, u->warp->in[op->mask], lane) : 1u << c->rank;
    if (mask >> cluster->n)
        return complain(w, u, lane, "the mask of this copy names blocks that the cluster does not have");
    if (w->block->worker->grid->early && op->kind != BULK_REMOTE && op->kind != BULK_VALUE)
        check_launch_before(w, u, lane, op->tensor ? c->map.address : c->global, !bulk_brings(op));
    for (; mask; mask &= mask - 1) {
        struct bulk one = *c;
        one.rank = (uint32_t)__builtin_ctz(mask);
        w->block->worker->mem_counts[u->warp->mem.index].sectors += bulk_sectors(c);
        if (!bulk_add(cluster->blocks[one.rank], &one))
            return complain(w, u, lane, "the simulated GPU ran out of memory for bulk copies");
        if (w->block->worker->check)
            tell(w, u, &one, cluster->blocks[one.rank]);
        else if (w->block->worker->grid->eager && cluster->blocks[one.rank] == w->block)
            bulk_deliver(w->block, one.barrier);
    }
    return true;
}

bool warp_bulk(struct warp *w, const struct uop *u, uint32_t active)
{
    struct worker *worker = w->block->worker;
    for (uint32_t left = active; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct bulk c;
        if (describe(w, u, lane, &c) && start(w, u, lane, &c))
            continue;
        if (!worker->check)
            return false;
        check_fault(worker);  // a finding, and nothing is copied
    }
    return true;
}

// A lane's store to another block's shared memory, which arrives with its bytes at an mbarrier there.
static bool store(struct warp *w, const struct uop *u, uint32_t lane)
{
    const struct warpop *op = u->warp;
    const struct bulk_op *b = op->more;
    const uint64_t place = access_address(w, &op->mem, lane);
    const uint64_t barrier = (b->barrier_wide ? value64 : value32)(w, op->in[b->barrier], lane);
    struct bulk c = { .u = u, .thread = w->index * LANES + lane, .from = w->block->rank };
    c.shared = cluster_offset(place);
    c.rank = cluster_rank(place);
    c.barrier = cluster_offset(barrier);
    c.bytes = op->shape * op->mem.bytes;
    for (uint32_t i = 0; i < op->shape; i++) {
        const uint64_t value = (op->mem.bytes == 8 ? value64 : value32)(w, op->in[1 + i], lane);
        memcpy((unsigned char *)c.at + i * op->mem.bytes, &value, op->mem.bytes);
    }
    return check_shared_side(w, u, lane, &c, cluster_rank(barrier)) && start(w, u, lane, &c);
}

bool warp_remote_store(struct warp *w, const struct uop *u, uint32_t active)
{
    for (uint32_t left = active; left; left &= left - 1) {
        if (store(w, u, (uint32_t)__builtin_ctz(left)))
            continue;
        if (!w->block->worker->check)
            return false;
        check_fault(w->block->worker);
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
