// Kernels whose strong accesses (volatile, relaxed, atomic) are ordered, or are not, for test_check_order.c. A name
// that begins with "right" has no finding, one that begins with "advice" no error, but an advice. All arrays are zeros
// at first.
#include <cuda/atomic>

#define KERNEL(name) extern "C" __global__ void name(int *out, int *in)

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

static __device__ volatile int *strong(int *p)
{
    return p;
}

// --- two strong writes of one place ---

KERNEL(advice_blocks_that_store)
{
    if (threadIdx.x == 0)
        *strong(out) = blockIdx.x;
}

KERNEL(right_blocks_that_store_one_value)
{
    if (threadIdx.x == 0)
        *strong(out) = 7;
}

KERNEL(advice_blocks_of_which_one_stores_and_others_add)
{
    if (threadIdx.x == 0 && blockIdx.x == 1)
        *strong(out) = 5;
    else if (threadIdx.x == 0)
        atomicAdd(out, 1);
}

// As above where blocks take turns, since results of atomics are used.
KERNEL(advice_a_store_among_tickets)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 1)
        *strong(out) = 5;
    in[blockIdx.x] = atomicAdd(out, 1);
}

KERNEL(advice_warps_that_store_relaxed)
{
    if (threadIdx.x % 32 == 0)
        device_int(out[blockIdx.x]).store(threadIdx.x + 1, cuda::memory_order_relaxed);
}

KERNEL(right_warps_that_store_with_a_barrier_between)
{
    if (threadIdx.x == 0)
        *strong(&out[blockIdx.x]) = 1;
    __syncthreads();
    if (threadIdx.x == 32)
        *strong(&out[blockIdx.x]) = 2;
}

KERNEL(advice_lanes_that_store)
{
    *strong(&out[blockIdx.x]) = threadIdx.x % 32;
}

KERNEL(advice_warps_that_store_to_shared_memory)
{
    __shared__ int word;
    if (threadIdx.x % 32 == 0)
        *strong(&word) = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = word;
}

KERNEL(advice_a_counter_of_the_block_that_is_set_while_others_add)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        *strong(&count) = 0;
    atomicAdd(&count, 1);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

KERNEL(right_counter_of_the_block_that_is_set_before)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        *strong(&count) = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

KERNEL(right_warps_that_store_one_value_to_shared_memory)
{
    __shared__ int any;
    if (threadIdx.x == 0)
        any = 0;
    __syncthreads();
    if (in[threadIdx.x] == 0)
        *strong(&any) = 1;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = any;
}

KERNEL(right_lock_that_a_store_opens)
{
    if (threadIdx.x)
        return;
    while (atomicCAS(out, 0, 1))
        ;
    __threadfence();
    out[1]++;
    __threadfence();
    *strong(out) = 0;
}

KERNEL(right_lock_acquired_and_released)
{
    device_int mutex(out[0]);
    if (threadIdx.x)
        return;
    while (mutex.exchange(1, cuda::memory_order_acquire))
        ;
    out[1]++;
    mutex.store(0, cuda::memory_order_release);
}

// A word that blocks pass on; all who wait look at it.
KERNEL(right_turns_of_blocks)
{
    if (threadIdx.x)
        return;
    for (int round = 0; round < 3; round++) {
        const int mine = round * gridDim.x + blockIdx.x;
        while (*strong(out) != mine)
            ;
        *strong(out) = mine + 1;
    }
}

// --- the last block adds up: in[0] is the count ---

template <bool before, bool behind> static __device__ void add_up(int *out, int *in)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        *strong(&out[blockIdx.x]) = blockIdx.x;
        if (before)
            __threadfence();
        last = atomicAdd(in, 1) == gridDim.x - 1;
        if (behind)
            __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[gridDim.x + threadIdx.x] = *strong(&out[threadIdx.x]);
    if (last && threadIdx.x == 0)
        *strong(in) = 0;
}

KERNEL(right_last_block)
{
    add_up<true, false>(out, in);
}

KERNEL(right_last_block_with_both_fences)
{
    add_up<true, true>(out, in);
}

KERNEL(advice_last_block_without_a_fence)
{
    add_up<false, false>(out, in);
}

KERNEL(advice_last_block_with_a_fence_behind)
{
    add_up<false, true>(out, in);
}

// The writer's fence is enough to be left alone: whoever has seen the flag reads strongly, too.
KERNEL(right_volatile_word_behind_a_flag)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        *strong(&out[1]) = 1;
        __threadfence();
        atomicExch(&out[0], 1);
    } else {
        while (!atomicAdd(&out[0], 0))
            ;
        in[blockIdx.x] = *strong(&out[1]);
    }
}

// Nobody has told the other block of anything: a word that is looked at while others change it.
KERNEL(right_word_that_is_only_looked_at)
{
    if (threadIdx.x == 0 && *strong(&out[0]) < (int)blockIdx.x)
        atomicMax(&out[0], (int)blockIdx.x);
}

// --- a flag that thread 0 waits for, and a barrier: out[64 + b] is the flag of block b ---

template <bool fence> static __device__ void wait_for_the_block_before(int *out, int *in, cuda::memory_order get)
{
    const int b = blockIdx.x;
    if (b > 0) {
        if (threadIdx.x == 0)
            while (!device_int(out[64 + b - 1]).load(get))
                ;
        if (fence)
            __threadfence();
        __syncthreads();
    }
    in[64 * b + threadIdx.x] = b ? in[64 * (b - 1) + (threadIdx.x ^ 33)] + 1 : 1;
    __syncthreads();
    if (threadIdx.x == 0)
        device_int(out[64 + b]).store(1, cuda::memory_order_release);
}

KERNEL(right_wait_that_acquires)
{
    wait_for_the_block_before<false>(out, in, cuda::memory_order_acquire);
}

KERNEL(right_wait_with_a_fence)
{
    wait_for_the_block_before<true>(out, in, cuda::memory_order_relaxed);
}

KERNEL(advice_wait_with_a_barrier_alone)
{
    wait_for_the_block_before<false>(out, in, cuda::memory_order_relaxed);
}

KERNEL(advice_lock_taken_for_a_block_with_a_barrier_alone)
{
    if (threadIdx.x == 0)
        while (atomicCAS(out, 0, 1))
            ;
    __syncthreads();
    out[1 + threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(out, 0);
    }
}

// --- decoupled look-back: each block tells its sum, then the sum of all up to it ---

enum { NONE, OWN, ALL };

KERNEL(right_decoupled_look_back)
{
    const int b = blockIdx.x;
    if (threadIdx.x)
        return;
    int *state = out, *sum = out + 64, *all = out + 128, before = 0;
    *strong(&sum[b]) = in[b] + 1;
    __threadfence();
    *strong(&state[b]) = OWN;
    for (int i = b - 1, seen = OWN; i >= 0 && seen == OWN; i--) {
        while (!(seen = *strong(&state[i])))
            ;
        __threadfence();
        before += seen == ALL ? *strong(&all[i]) : *strong(&sum[i]);
    }
    *strong(&all[b]) = before + in[b] + 1;
    __threadfence();
    *strong(&state[b]) = ALL;
}
