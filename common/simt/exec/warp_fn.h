// What runs the instructions of a whole warp (code/warp_op.def), and what else their files share.
#ifndef SIMT_WARP_FN_H
#define SIMT_WARP_FN_H

#include "simt/code/warp.h"

// For the active lanes. False on a fault, which is then in the worker.
#define WARP(id) bool warp_##id(struct warp *w, const struct uop *u, uint32_t active);
#define WARP_ISA(id)
#include "simt/code/warp_op.def"

// warp_lanes.c: the active lanes' fault of an instruction, with the lanes it is about; false
bool warp_fault(struct warp *w, const struct uop *u, enum fault_kind kind, uint32_t active, uint32_t lanes);

// warp_async.c: cp.async under way
struct copies;
void copies_reset(struct copies *c);  // when a block starts; NULL is allowed
void copies_free(struct copies *c);

// warp_wgmma.c
// An accumulator may be touched here: tells the checks if its product is under way.
void wgmma_touched(struct warp *w, const struct uop *u, uint32_t active);
struct wgmmas;
void wgmmas_reset(struct wgmmas *g);  // when a block starts; NULL is allowed
void wgmmas_free(struct wgmmas *g);

void setmaxnreg_finish(struct block *b);  // warp_proxy.c: tells the checks what did not fit

// warp_heap.c
#define HEAP_BYTES ((uint64_t)8 << 20)
struct heap;
struct heap *heap_new(struct memory *m);  // NULL when memory runs out
void heap_free(struct heap *h);           // its allocation stays; NULL is allowed

#endif
