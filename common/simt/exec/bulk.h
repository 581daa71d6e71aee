// Bulk copies under way: cp.async.bulk and cp.async.bulk.tensor (TMA). Source: PTX ISA 9.7.9.25 (asynchronous copies).
//
// A copy to shared memory arrives when a thread waits for its mbarrier and would otherwise not get on: one copy after
// the other, as late as PTX allows. A copy from shared memory is made when its thread waits for its group, or at the
// end of the block. So a kernel that reads or overwrites too early sees it.
#pragma once

#include "simt/code/bulk_op.h"
#include "simt/code/warp.h"
#include "simt/machine/tensor_map.h"

struct bulk {  // a copy
    const struct uop *u;
    uint64_t global;  // no tensor: the address; BULK_REMOTE: the source's
    uint32_t thread, group, barrier, shared, bytes;
    uint32_t from, rank;  // in the cluster: the block of the thread; the one whose shared memory and mbarrier are meant
    int32_t at[DEV_MAP_RANK];  // BULK_VALUE: the values
    struct tensor_map map;
};

// Adds a copy that a thread has started, to its block, or to the one that it brings something; its group is filled in.
// False when memory runs out.
bool bulk_add(struct block *b, const struct bulk *copy);
// A copy under way to b's shared memory that covers some of the bytes of this one, the last that was added, and not
// just the same; NULL if there is none.
const struct bulk *bulk_overlap(const struct block *b, const struct bulk *copy);
uint32_t bulk_sectors(const struct bulk *copy);  // of 32 bytes, in global memory
// The bytes in shared memory whose elements lie within the tensor, range by range; without a tensor all of them.
typedef void bulk_range(void *arg, uint32_t address, uint32_t bytes);
void bulk_inside(const struct bulk *copy, bulk_range *each, void *arg);
void bulk_commit(struct block *b, uint32_t thread);
// Makes the copies from shared memory whose groups are older than the thread's latest `outstanding` ones.
void bulk_wait(struct block *b, uint32_t thread, uint32_t outstanding);
// What a thread has open: groups that it has committed and not waited for, and copies from shared memory in none yet.
void bulk_open(const struct block *b, uint32_t thread, uint32_t *groups, uint32_t *loose);
// Lets the first copy arrive that is to report to the mbarrier. False if there is none.
bool bulk_deliver(struct block *b, uint32_t barrier);
void bulk_finish(
    struct block *b);              // the block has ended: what it stores arrives, and the checks are told of every copy
void bulk_reset(struct bulks *s);  // when a block starts; NULL is allowed
const struct bulk *bulk_at(const struct block *b, uint32_t i);  // copy i under way, or NULL
bool bulk_under_way(const struct bulks *s);                     // whether copies are under way; NULL is allowed
void bulk_free(struct bulks *s);
