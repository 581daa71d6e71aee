// What runs the instructions of a whole warp (code/warp_op.def), and what else their files share.
#pragma once

#include "simt/code/warp.h"

// For the active lanes. False on a fault, which is then in the worker.
#define WARP(id) bool warp_##id(struct warp *w, const struct uop *u, uint32_t active);
#define WARP_ISA(id)
#include "simt/code/warp_op.def"

// warp_lanes.c: the active lanes' fault of an instruction, with the lanes it is about; false
bool warp_fault(struct warp *w, const struct uop *u, enum fault_kind kind, uint32_t active, uint32_t lanes);

// warp_poll.c: u waits for other warps of the block, and is tried again; why: what it is if that never ends
bool warp_hold(struct warp *w, const struct uop *u, enum fault_kind why);

// warp_async.c: cp.async under way
struct copies;
void copies_reset(struct copies *c);  // when a block starts; NULL is allowed
void copies_free(struct copies *c);
// What a lane has open of cp.async: groups that it has committed and not waited for, and copies that are in none yet.
void copies_open(const struct copies *c, uint32_t lane, uint32_t *groups, uint32_t *loose);

// warp_wgmma.c
// An accumulator may be touched here: tells the checks if its product is under way.
void wgmma_touched(struct warp *w, const struct uop *u, uint32_t active);
struct wgmmas;
void wgmmas_reset(struct wgmmas *g);  // when a block starts; NULL is allowed
void wgmmas_free(struct wgmmas *g);

void wgmma_finish(struct block *b);  // warp_wgmma.c: the block ends, and tells the checks what is under way
bool wgmma_apart(const struct warp *w, struct fault *f);  // f, of a warp whose wait never ends, says why, if it can
void setmaxnreg_finish(struct block *b);                  // warp_proxy.c: tells the checks what does not fit
bool setmaxnreg_lacks(const struct warp *w, struct fault *f);

// warp_heap.c
#define HEAP_BYTES ((uint64_t)8 << 20)
struct heap;
struct heap *heap_new(struct memory *m);  // NULL when memory runs out
void heap_free(struct heap *h);           // its allocation stays; NULL is allowed
