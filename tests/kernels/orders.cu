// Kernels whose threads order themselves by more than barriers, right ones and wrong ones, for test_check_order.c: a
// name that begins with "right" has no race, one that begins with "wrong" has one. All arrays are zeros at first. Those
// of a block's own barriers and pipelines are in orders_block.cu.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

#define KERNEL(name) extern "C" __global__ void name(int *out, int *in)

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
using block_int = cuda::atomic_ref<int, cuda::thread_scope_block>;

// --- locks: out[0] is the lock, out[1] what it guards ---

static __device__ void lock(int *mutex)
{
    while (atomicCAS(mutex, 0, 1)) {
    }
}

static __device__ void unlock(int *mutex)
{
    atomicExch(mutex, 0);
}

KERNEL(right_lock)
{
    if (threadIdx.x)
        return;
    lock(&out[0]);
    __threadfence();
    out[1]++;
    __threadfence();
    unlock(&out[0]);
}

KERNEL(wrong_lock_without_fences)
{
    if (threadIdx.x)
        return;
    lock(&out[0]);
    out[1]++;
    unlock(&out[0]);
}

KERNEL(wrong_lock_with_fences_of_the_block)
{
    if (threadIdx.x)
        return;
    lock(&out[0]);
    __threadfence_block();
    out[1]++;
    __threadfence_block();
    unlock(&out[0]);
}

KERNEL(wrong_lock_by_some)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x % 2)
        lock(&out[0]);
    __threadfence();
    out[1]++;
    __threadfence();
    if (blockIdx.x % 2)
        unlock(&out[0]);
}

KERNEL(right_lock_acquire_and_release)
{
    if (threadIdx.x)
        return;
    device_int mutex(out[0]);
    int none = 0;
    while (!mutex.compare_exchange_weak(none, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
        none = 0;
    out[1]++;
    mutex.store(0, cuda::memory_order_release);
}

// --- the last block adds up: in[0] is the count ---

static __device__ bool last_to_come(int *count)
{
    return atomicAdd(count, 1) == gridDim.x - 1;
}

KERNEL(right_last_block)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = last_to_come(in);
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[gridDim.x + threadIdx.x] = out[threadIdx.x];
}

KERNEL(right_last_block_where_all_fence)
{
    __shared__ bool last;
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = last_to_come(in);
    __syncthreads();
    for (int i = 0; last && i < gridDim.x; i++)
        in[1 + threadIdx.x] += out[i * blockDim.x + threadIdx.x];
}

KERNEL(right_last_block_by_atomics)
{
    __shared__ bool last;
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        last = device_int(in[0]).fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    __syncthreads();
    for (int i = 0; last && i < gridDim.x; i++)
        in[1 + threadIdx.x] += out[i * blockDim.x + threadIdx.x];
}

KERNEL(wrong_last_block_without_a_fence_before)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = blockIdx.x;
        last = last_to_come(in);
        if (last)
            __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[gridDim.x + threadIdx.x] = out[threadIdx.x];
}

KERNEL(wrong_last_block_that_nobody_waits_for)
{
    __shared__ bool last;
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        __threadfence();
        last = last_to_come(in);
    }
    __syncthreads();
    for (int i = 0; last && i < gridDim.x; i++)
        in[1 + threadIdx.x] += out[i * blockDim.x + threadIdx.x];
}

// --- flags: block 0 sets out[0], the others wait for it ---

KERNEL(right_volatile_flag)
{
    volatile int *flag = &out[0];
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        out[1] = 7;
        __threadfence();
        *flag = 1;
    } else {
        while (!*flag) {
        }
        __threadfence();
        out[1 + blockIdx.x] = out[1];
    }
}

KERNEL(wrong_volatile_flag_without_a_fence)
{
    volatile int *flag = &out[0];
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        out[1] = 7;
        *flag = 1;
    } else {
        while (!*flag) {
        }
        __threadfence();
        out[1 + blockIdx.x] = out[1];
    }
}

template <typename Flag> static __device__ void hand_over(int *out, cuda::memory_order set, cuda::memory_order get)
{
    Flag flag(out[0]);
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        out[1] = 7;
        flag.store(1, set);
    } else {
        while (!flag.load(get)) {
        }
        out[1 + blockIdx.x] = out[1];
    }
}

KERNEL(right_flag_released_and_acquired)
{
    hand_over<device_int>(out, cuda::memory_order_release, cuda::memory_order_acquire);
}

KERNEL(wrong_flag_for_the_block_alone)
{
    hand_over<block_int>(out, cuda::memory_order_release, cuda::memory_order_acquire);
}

KERNEL(wrong_flag_relaxed)
{
    hand_over<device_int>(out, cuda::memory_order_relaxed, cuda::memory_order_relaxed);
}

KERNEL(wrong_flag_acquired_but_not_released)
{
    hand_over<device_int>(out, cuda::memory_order_relaxed, cuda::memory_order_acquire);
}

// --- a flag that its reader stores to, plainly: who has seen a strong write comes after that write itself ---

static __device__ void take_back(int *flag, cuda::memory_order get)
{
    while (device_int(*flag).load(get) != 1)
        ;
    *flag = 2;
}

KERNEL(right_flag_that_was_seen_is_taken_back)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
        device_int(out[0]).fetch_add(1, cuda::memory_order_relaxed);
    } else if (blockIdx.x == 1) {
        take_back(&out[0], cuda::memory_order_acquire);
    }
}

KERNEL(right_flag_that_was_stored_is_taken_back)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 1)
        device_int(out[0]).store(1, cuda::memory_order_relaxed);
    else if (blockIdx.x == 0)
        take_back(&out[0], cuda::memory_order_relaxed);
}

KERNEL(right_flag_that_one_has_seen_for_its_block)
{
    if (blockIdx.x == 1 && threadIdx.x == 0)
        device_int(out[0]).store(1, cuda::memory_order_relaxed);
    while (blockIdx.x == 0 && threadIdx.x == 31 && device_int(out[0]).load(cuda::memory_order_relaxed) != 1)
        ;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        out[0] = 2;
}

KERNEL(wrong_flag_that_nobody_has_seen_is_taken_back)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0)
        device_int(out[0]).store(1, cuda::memory_order_relaxed);
    else if (blockIdx.x == 1)
        out[0] = 2;
}

KERNEL(wrong_data_of_a_flag_that_was_seen_is_taken_back)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        device_int(out[1]).store(1, cuda::memory_order_relaxed);
        device_int(out[0]).store(1, cuda::memory_order_relaxed);
    } else if (blockIdx.x == 1) {
        take_back(&out[0], cuda::memory_order_acquire);
        out[1] = 2;
    }
}

// A word that goes from thread to thread, changed by atomics of the block and of the device: the fences after each wait
// are what orders those that do not reach each other.
static __device__ void pass_on(int *flag, int from)
{
    while (atomicAdd(flag, 0) != from)
        ;
}

KERNEL(right_order_through_atomics_of_both_scopes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        atomicExch_block(&out[0], 1);
        __threadfence_block();
        atomicExch(&out[1], 1);
    } else if (i == 32) {
        pass_on(&out[1], 1);
        __threadfence();
        atomicExch(&out[0], 2);
        __threadfence();
        atomicExch(&out[1], 2);
    } else if (i == 64) {
        pass_on(&out[1], 2);
        __threadfence();
        atomicExch_block(&out[0], 3);
        __threadfence_block();
        atomicExch(&out[1], 3);
    } else if (i == 96) {
        pass_on(&out[1], 3);
        atomicExch(&out[0], 4);
    }
}

KERNEL(wrong_order_through_atomics_of_both_scopes_without_fences)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        atomicExch(&out[0], 2);
        atomicExch(&out[1], 2);
    } else if (i == 64) {
        pass_on(&out[1], 2);
        atomicExch_block(&out[0], 3);
    }
}

KERNEL(right_word_of_the_block_that_was_seen_is_taken_back)
{
    __shared__ int word;
    if (threadIdx.x == 0)
        word = 0;
    __syncthreads();
    if (threadIdx.x == 32)
        block_int(word).store(1, cuda::memory_order_relaxed);
    if (threadIdx.x != 0)
        return;
    while (block_int(word).load(cuda::memory_order_relaxed) != 1)
        ;
    word = 2;
}

KERNEL(wrong_word_of_the_block_that_nobody_has_seen_is_taken_back)
{
    __shared__ int word;
    if (threadIdx.x == 0)
        word = 0;
    __syncthreads();
    if (threadIdx.x == 32)
        block_int(word).store(1, cuda::memory_order_relaxed);
    if (threadIdx.x == 0)
        word = 2;
}

// --- blocks that wait for a later one: out[b] is block b's flag, out[64 + b] what it hands over ---

template <typename flag> static __device__ void hand_down(int *out, cuda::memory_order write, cuda::memory_order read)
{
    const unsigned b = blockIdx.x;
    if (threadIdx.x == 0) {
        int value = 1;
        if (b + 1 < gridDim.x) {
            while (!flag(out[b + 1]).load(read))
                ;
            value += out[64 + b + 1];
        }
        out[64 + b] = value;
        flag(out[b]).store(1, write);
    }
    __syncthreads();
}

KERNEL(right_wait_for_a_later_block)
{
    hand_down<device_int>(out, cuda::memory_order_release, cuda::memory_order_acquire);
}

KERNEL(wrong_wait_for_a_later_block_relaxed)
{
    hand_down<device_int>(out, cuda::memory_order_relaxed, cuda::memory_order_relaxed);
}

KERNEL(wrong_in_a_block_that_others_came_before)  // block 0 ends last; two of its warps write one word
{
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
        while (!device_int(out[blockIdx.x + 1]).load(cuda::memory_order_relaxed))
            ;
    __syncthreads();
    if (threadIdx.x % 32 == 0 && (blockIdx.x == 0 || threadIdx.x == 0))
        out[64 + blockIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        device_int(out[blockIdx.x]).store(1, cuda::memory_order_relaxed);
}

// --- counters ---

KERNEL(right_histogram_that_is_read_while_it_grows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    device_int bin(out[in[i] & 7]);
    bin.fetch_add(1, cuda::memory_order_relaxed);
    in[i] = bin.load(cuda::memory_order_relaxed);
}

KERNEL(wrong_histogram_that_is_read_plainly)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, bin = in[i] & 7;
    atomicAdd(&out[bin], 1);
    in[i] = out[bin];
}

// --- lanes that exchange values ---

// Lane 0 waits for the block before, and tells its warp.
KERNEL(right_wait_of_one_lane_for_its_warp)
{
    const int block = blockIdx.x, i = threadIdx.x;
    int ready = block == 0;
    while (!__shfl_sync(~0u, ready, 0))
        ready = i == 0 && device_int(out[block]).load(cuda::memory_order_acquire);
    if (block > 0)
        in[32 * block + i] = in[32 * (block - 1) + (i ^ 1)] + 1;
    __threadfence();
    __syncwarp();
    if (i == 0)
        device_int(out[block + 1]).store(1, cuda::memory_order_release);
}

KERNEL(wrong_wait_of_one_lane_for_its_warp_relaxed)
{
    const int block = blockIdx.x, i = threadIdx.x;
    int ready = block == 0;
    while (!__shfl_sync(~0u, ready, 0))
        ready = i == 0 && device_int(out[block]).load(cuda::memory_order_relaxed);
    if (block > 0)
        in[32 * block + i] = in[32 * (block - 1) + (i ^ 1)] + 1;
    __threadfence();
    __syncwarp();
    if (i == 0)
        device_int(out[block + 1]).store(1, cuda::memory_order_release);
}

KERNEL(right_fence_after_the_vote)
{
    const int block = blockIdx.x, i = threadIdx.x;
    int ready = block == 0;
    while (!__any_sync(~0u, ready))
        ready = i == 0 && device_int(out[block]).load(cuda::memory_order_relaxed);
    __threadfence();
    if (block > 0)
        in[32 * block + i] = in[32 * (block - 1) + (i ^ 1)] + 1;
    __threadfence();
    __syncwarp();
    if (i == 0)
        device_int(out[block + 1]).store(1, cuda::memory_order_release);
}

KERNEL(wrong_lanes_that_only_exchange_values)
{
    __shared__ int data[32];
    data[threadIdx.x] = in[threadIdx.x];
    const int sum = __shfl_xor_sync(~0u, in[threadIdx.x], 1);
    out[threadIdx.x] = sum + data[threadIdx.x ^ 1];
}

// The library keeps what its tiles of several warps tell each other in reserved shared memory. It has them since
// CUDA 12.
#if __CUDACC_VER_MAJOR__ >= 12
KERNEL(right_sums_of_tiles_of_several_warps)
{
    namespace cg = cooperative_groups;
    __shared__ cg::block_tile_memory<128> memory;
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = cg::reduce(tile, in[i], cg::plus<int>());
    tile.sync();
    in[i] = cg::reduce(tile, out[i ^ 63], cg::greater<int>());
}
#endif

// --- a plain load that a compare-and-swap confirms or refuses, and others ---

static __device__ void keep_larger(float *to, float v)
{
    int *p = (int *)to, old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, __float_as_int(fmaxf(v, __int_as_float(seen))));
    } while (old != seen);
}

KERNEL(right_larger_by_compare_and_swap)
{
    keep_larger((float *)out + (threadIdx.x & 3), threadIdx.x);
}

KERNEL(right_sums_by_compare_and_swap)
{
    __shared__ double sums[4];
    if (threadIdx.x < 4)
        sums[threadIdx.x] = 0;
    __syncthreads();
    double old = sums[1], seen;
    do {
        seen = old;
        old = __longlong_as_double(atomicCAS((unsigned long long *)&sums[1], __double_as_longlong(seen),
                                             __double_as_longlong(seen + threadIdx.x)));
    } while (old != seen);
    __syncthreads();
    out[blockIdx.x] = (int)sums[1];
}

KERNEL(right_pairs_by_compare_and_swap)
{
    unsigned long long *p = (unsigned long long *)out, old = *p, seen;
    do {
        seen = old;
        float2 pair = *(const float2 *)&seen;
        pair.x += threadIdx.x;
        pair.y -= threadIdx.x;
        old = atomicCAS(p, seen, *(const unsigned long long *)&pair);
    } while (old != seen);
}

KERNEL(right_larger_along_an_array)
{
    for (int i = 0, n = 8 + in[0]; i < n; i++)
        keep_larger((float *)out + i, threadIdx.x);
}

KERNEL(wrong_larger_behind_a_plain_guard)
{
    if (out[0] < (int)threadIdx.x)
        atomicMax(&out[0], (int)threadIdx.x);
}

KERNEL(wrong_slot_taken_behind_a_plain_guard)
{
    if (out[0] == 0)
        atomicCAS(&out[0], 0, (int)threadIdx.x + 1);
}

KERNEL(wrong_compare_and_swap_at_another_place)
{
    atomicAdd(&out[1], 1);
    atomicCAS(&out[0], out[1], 1);
}

KERNEL(wrong_compare_and_swap_with_a_plain_store)
{
    int old = out[0];
    if (threadIdx.x == 0)
        out[0] = in[1] + 1;
    else
        atomicCAS(&out[0], old, old + 2);
}

KERNEL(wrong_guess_from_half_of_it)
{
    const unsigned old = *(unsigned short *)out;
    atomicCAS((unsigned *)out, old, old + 1);
}

// Nobody writes out[0]: each finds another value than the one it looks for.
KERNEL(right_reads_of_what_compare_and_swap_leaves_alone)
{
    in[blockIdx.x * blockDim.x + threadIdx.x] = out[0] + atomicCAS(&out[0], 7, 8);
}

KERNEL(wrong_reads_of_what_compare_and_swap_changes)
{
    in[blockIdx.x * blockDim.x + threadIdx.x] = out[0] + atomicCAS(&out[0], 0, 8);
}

KERNEL(wrong_histogram_with_atomics_of_the_block)
{
    atomicAdd_block(&out[in[threadIdx.x] & 7], 1);
}

KERNEL(right_histogram_of_each_block)
{
    atomicAdd_block(&out[8 * blockIdx.x + (in[threadIdx.x] & 7)], 1);
}

KERNEL(wrong_counter_set_plainly_before)
{
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
        atomicAdd(&count, 1);
    } else {
        atomicAdd(&count, 1);
    }
}
