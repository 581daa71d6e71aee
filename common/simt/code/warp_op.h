// What exactly an instruction of the whole warp does: its op, by its kind (warp_op.def).
#pragma once

#include <stdint.h>

enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum redux { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };
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
enum fence { FENCE_CTA, FENCE_CLUSTER, FENCE_WIDE };
enum proxy_fence { PROXY_ASYNC, PROXY_MBARRIER_INIT };
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
enum end { END_STACK, END_POINTER };

struct call {               // of the system
    uint32_t argument[8];   // byte offsets in the thread's local memory
    uint32_t result;        // the same
    uint32_t result_bytes;  // 0: it has none, or it is not asked for
};
