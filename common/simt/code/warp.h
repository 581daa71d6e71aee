// Instructions of the whole warp, and those with more operands than an ALU uop has: their functions, by file.
// Those that are compiled for each instruction set are in enum warp_op (exec.h).
#ifndef SIMT_WARP_H
#define SIMT_WARP_H

#include "exec.h"

// warp_lanes.c: out[0] = d, in: operands, then the member mask
enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum redux { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };
bool warp_shuffle(struct warp *w, const struct uop *u, uint32_t active);  // op: enum shuffle; out[1]: the predicate
bool warp_vote(struct warp *w, const struct uop *u, uint32_t active);     // op: enum vote
bool warp_activemask(struct warp *w, const struct uop *u, uint32_t active);
bool warp_match(struct warp *w, const struct uop *u, uint32_t active);  // op: 1 for .all; type: bytes
bool warp_redux(struct warp *w, const struct uop *u, uint32_t active);  // op: enum redux; type: 1 for signed
bool warp_elect(struct warp *w, const struct uop *u, uint32_t active);
bool warp_nothing(struct warp *w, const struct uop *u, uint32_t active);  // bar.warp.sync: it was waited for

// warp_atomic.c: atom and red; in: the operands after the address
enum atomic {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC
};
bool warp_atomic(struct warp *w, const struct uop *u, uint32_t active);  // op: enum atomic, type: enum ptx_type
enum fence { FENCE_CTA, FENCE_CLUSTER, FENCE_WIDE };
bool warp_fence(struct warp *w, const struct uop *u, uint32_t active);  // op: enum fence

// warp_async.c: cp.async; in[0]: the global address, in[1]: bytes to copy, where given
bool warp_copy(struct warp *w, const struct uop *u, uint32_t active);  // mem: the shared address
bool warp_commit(struct warp *w, const struct uop *u, uint32_t active);
bool warp_wait(struct warp *w, const struct uop *u, uint32_t active);  // op: groups that may be outstanding
struct copies;
void copies_reset(struct copies *c);  // when a block starts; NULL is allowed
void copies_free(struct copies *c);

// warp_wgmma.c; more: struct wgmma
bool warp_wgmma(struct warp *w, const struct uop *u, uint32_t active);
bool warp_wgmma_commit(struct warp *w, const struct uop *u, uint32_t active);
bool warp_wgmma_wait(struct warp *w, const struct uop *u, uint32_t active);  // op: groups that may be outstanding
// An accumulator may be touched here: tells the checks if its product is under way.
void wgmma_touched(struct warp *w, const struct uop *u, uint32_t active);
struct wgmmas;
void wgmmas_reset(struct wgmmas *g);  // when a block starts; NULL is allowed
void wgmmas_free(struct wgmmas *g);

// warp_proxy.c: wgmma.fence
bool warp_wgmma_fence(struct warp *w, const struct uop *u, uint32_t active);

// warp_bulk.c; more: struct bulk_op, mem: the shared address, in: as bulk.h says
bool warp_bulk(struct warp *w, const struct uop *u, uint32_t active);
bool warp_remote_store(struct warp *w, const struct uop *u, uint32_t active);  // in: the mbarrier, shape values
bool warp_bulk_commit(struct warp *w, const struct uop *u, uint32_t active);
bool warp_bulk_wait(struct warp *w, const struct uop *u, uint32_t active);  // op: groups that may be outstanding

// warp_proxy.c: fences that only the checks look at. warp_setmaxnreg: op: 1 for inc, shape: registers
bool warp_setmaxnreg(struct warp *w, const struct uop *u, uint32_t active);
void setmaxnreg_finish(struct block *b);                                      // tells the checks what did not fit
bool warp_fence_proxy(struct warp *w, const struct uop *u, uint32_t active);  // op: enum proxy_fence
enum proxy_fence { PROXY_ASYNC, PROXY_MBARRIER_INIT };
bool warp_launch_wait(struct warp *w, const struct uop *u, uint32_t active);  // griddepcontrol.wait

// warp_mbarrier.c
enum mbarrier {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_DROP,
    MBARRIER_EXPECT_TX,
    MBARRIER_COMPLETE_TX,
    MBARRIER_TEST,
    MBARRIER_TEST_PARITY,
    MBARRIER_COUNT
};
bool warp_mbarrier(struct warp *w, const struct uop *u, uint32_t active);  // op: enum mbarrier
// The 8 bytes that a lane's mbarrier.init stores; false for any other instruction.
bool mbarrier_stored(const struct warp *w, const struct uop *u, uint32_t lane, unsigned char bytes[8]);

// warp_poll.c; in: the result, the address, an operand; type: two bits each, their slot_class; op: number of the poll;
// shape: 1 where the result is a predicate that ends the wait
bool warp_poll(struct warp *w, const struct uop *u, uint32_t active);

// warp_matrix.c: in[0]: a, out[0]: d
bool warp_movmatrix(struct warp *w, const struct uop *u, uint32_t active);

// warp_call.c
struct call {
    uint32_t argument[8];   // byte offsets in the thread's local memory
    uint32_t result;        // the same
    uint32_t result_bytes;  // 0: it has none, or it is not asked for
};
bool warp_printf(struct warp *w, const struct uop *u, uint32_t active);  // vprintf(format, values)
bool warp_assert(struct warp *w, const struct uop *u, uint32_t active);  // __assertfail(what, file, line, function, 1)

// warp_heap.c
#define HEAP_BYTES ((uint64_t)8 << 20)
struct heap;
struct heap *heap_new(struct memory *m);  // NULL when memory runs out
void heap_free(struct heap *h);           // its allocation stays; NULL is allowed
bool warp_malloc(struct warp *w, const struct uop *u, uint32_t active);
bool warp_free(struct warp *w, const struct uop *u, uint32_t active);

// warp_end.c: op: enum end
enum end { END_STACK, END_POINTER };
bool warp_end(struct warp *w, const struct uop *u, uint32_t active);  // false: the kernel cannot go on

// The active lanes' fault of an instruction, with the lanes it is about.
bool warp_fault(struct warp *w, const struct uop *u, enum fault_kind kind, uint32_t active, uint32_t lanes);

#endif
