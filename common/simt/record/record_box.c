// See record_box.h.
#include "record_box.h"

#include "simt/code/access.h"
#include "simt/code/bulk_op.h"

static uint64_t value32(const struct warp *w, uint32_t slot, uint32_t lane)
{
    return ((const u32 *)(w->regs + slot))[lane];
}

static uint64_t value64(const struct warp *w, uint32_t slot, uint32_t lane)
{
    return ((const u64 *)(w->regs + slot))[lane];
}

bool record_box_read(const struct warp *w, const struct uop *u, uint32_t lane, struct record_box *box)
{
    const struct warpop *op = u->warp;
    const struct bulk_op *b = op->more;
    const uint64_t place = value64(w, op->in[0], lane);
    enum ptx_space space = SPACE_GENERIC;
    if (b->kind != BULK_LOAD)
        return false;
    *box = (struct record_box){ .tensor = b->tensor, .global = place };
    box->shared = cluster_offset(access_address(w, &op->mem, lane));
    box->mbarrier = cluster_offset((b->barrier_wide ? value64 : value32)(w, op->in[b->barrier], lane));
    if (!b->tensor) {
        box->chunks = (uint32_t)value32(w, op->in[b->size], lane) / BOX_CHUNK;
        return true;
    }
    const unsigned char *bytes = access_place(w, lane, &space, place, DEV_MAP_BYTES);
    if (!bytes || !tensor_map_read(bytes, &box->map) || box->map.rank != b->rank)
        return false;
    for (uint32_t i = 0; i < b->rank; i++)
        box->at[i] = (int32_t)value32(w, op->in[b->at + i], lane);
    box->chunks = tensor_map_box_bytes(&box->map) / BOX_CHUNK;
    return true;
}

// The global address of byte `at` of the box, its rows one behind the other; 0 outside of the matrix.
static uint64_t origin_of(const struct record_box *box, uint32_t at)
{
    const struct tensor_map *m = &box->map;
    const uint32_t size = (uint32_t)m->stride[0];
    uint64_t address = m->address + at % size;
    at /= size;
    for (unsigned d = 0; d < m->rank; d++) {
        const int64_t x = box->at[d] + (int64_t)(at % m->box[d]) * m->step[d];
        if (x < 0 || x > (int64_t)m->last[d])
            return 0;
        address += (uint64_t)x * m->stride[d];
        at /= m->box[d];
    }
    return address;
}

uint32_t record_box_chunk(const struct record_box *box, uint32_t i, uint64_t origin[BOX_CHUNK])
{
    const uint32_t at = i * BOX_CHUNK;
    for (uint32_t b = 0; b < BOX_CHUNK; b++)
        origin[b] = box->tensor ? origin_of(box, at + b) : box->global + at + b;
    return box->tensor ? tensor_map_swizzle(box->map.swizzle, box->shared + at) : box->shared + at;
}
