// malloc and free in a kernel: blocks of one allocation in device memory, the heap, which lives as long as the
// simulated GPU. Source: CUDA C++ Programming Guide, dynamic global memory allocation: 8 MB unless the host says
// otherwise; blocks aligned to 16 bytes; NULL where there is no room.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/launch.h"
#include "simt/check/check.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"
#include "simt/machine/memory.h"

#define HEAP_ALIGN 16u

struct piece {
    uint64_t at, bytes;
    bool used;
};

struct heap {
    uint64_t address;  // of the allocation
    uint64_t end;      // bytes that have been given out so far, also those that came back
    struct piece *pieces;
    size_t n, room;
};

struct heap *heap_new(struct memory *m)
{
    struct heap *h = calloc(1, sizeof *h);
    if (h && !(h->address = memory_alloc(m, "the heap", HEAP_BYTES))) {
        free(h);
        return NULL;
    }
    if (h)
        memset(memory_at(m, h->address, HEAP_BYTES), DEV_UNWRITTEN, HEAP_BYTES);
    return h;
}

void heap_free(struct heap *h)
{
    if (h)
        free(h->pieces);
    free(h);
}

// A piece that came back and has the size; 0 where there is none.
static uint64_t take_again(struct heap *h, uint64_t bytes)
{
    for (size_t i = 0; i < h->n; i++) {
        if (h->pieces[i].used || h->pieces[i].bytes != bytes)
            continue;
        h->pieces[i].used = true;
        return h->address + h->pieces[i].at;
    }
    return 0;
}

// A piece that was never given out; 0 if there is no room.
static uint64_t take_new(struct heap *h, uint64_t bytes)
{
    if (bytes > HEAP_BYTES - h->end)
        return 0;
    if (h->n == h->room) {
        const size_t room = h->room ? 2 * h->room : 64;
        struct piece *more = realloc(h->pieces, room * sizeof *more);
        if (!more)
            return 0;
        h->pieces = more;
        h->room = room;
    }
    h->pieces[h->n++] = (struct piece){ h->end, bytes, true };
    h->end += bytes;
    return h->address + h->end - bytes;
}

// The checks tell what two threads do to one address best where it is not given out twice.
static uint64_t take(struct heap *h, uint64_t bytes, struct checker *check)
{
    bytes = bytes ? (bytes + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN : HEAP_ALIGN;
    uint64_t at = check ? take_new(h, bytes) : take_again(h, bytes);
    if (at)
        return at;
    at = check ? take_again(h, bytes) : take_new(h, bytes);
    if (at && check)
        check_forget(check, at, bytes);
    return at;
}

static bool give_back(struct heap *h, uint64_t address)
{
    for (size_t i = 0; i < h->n; i++) {
        if (!h->pieces[i].used || h->address + h->pieces[i].at != address)
            continue;
        h->pieces[i].used = false;
        return true;
    }
    return !address;
}

// The bytes at that offset of the thread's local memory.
static unsigned char *local(const struct warp *w, uint32_t lane, uint32_t offset)
{
    const struct worker *worker = w->block->worker;
    return worker->local + ((uint64_t)w->index * LANES + lane) * worker->grid->code->local_bytes + offset;
}

bool warp_malloc(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct call *call = u->warp->more;
    struct heap *h = w->block->worker->grid->heap;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t bytes;
        if (!(active >> lane & 1))
            continue;
        memcpy(&bytes, local(w, lane, call->argument[0]), sizeof bytes);
        const uint64_t address = bytes > HEAP_BYTES ? 0 : take(h, bytes, w->block->worker->check);
        memcpy(local(w, lane, call->result), &address, sizeof address);
    }
    return true;
}

bool warp_free(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct call *call = u->warp->more;
    struct worker *worker = w->block->worker;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t address;
        if (!(active >> lane & 1))
            continue;
        memcpy(&address, local(w, lane, call->argument[0]), sizeof address);
        if (give_back(worker->grid->heap, address))
            continue;
        warp_fault(w, u, FAULT_REFUSED, 1u << lane, 0);
        snprintf(worker->fault.text, sizeof worker->fault.text,
                 "free of 0x%llx, which malloc did not return, or which has been freed already",
                 (unsigned long long)address);
        return false;
    }
    return true;
}
