// As orders.cu, of the threads of one block: who comes last, barriers and pipelines of the library, groups of more than
// a warp.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#define KERNEL(name) extern "C" __global__ void name(int *out, int *in)

using block_int = cuda::atomic_ref<int, cuda::thread_scope_block>;

// --- the last thread to come reads what all wrote ---

template <typename Count> static __device__ void last_reads(int *out, Count last)
{
    __shared__ int data[128], count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;
    if (last(&count))
        for (int i = 0; i < 128; i++)
            out[128 * blockIdx.x + i] = data[i];
}

KERNEL(right_last_thread)
{
    last_reads(out, [](int *n) { return block_int(*n).fetch_add(1, cuda::memory_order_acq_rel) == 127; });
}

KERNEL(right_last_thread_with_fences)
{
    last_reads(out, [](int *n) {
        __threadfence_block();
        const bool last = atomicAdd(n, 1) == 127;
        __threadfence_block();
        return last;
    });
}

KERNEL(wrong_last_thread_without_fences)
{
    last_reads(out, [](int *n) { return atomicAdd(n, 1) == 127; });
}

KERNEL(wrong_last_thread_relaxed)
{
    last_reads(out, [](int *n) { return block_int(*n).fetch_add(1, cuda::memory_order_relaxed) == 127; });
}

// --- barriers and pipelines of the library ---
#pragma nv_diag_suppress static_var_with_dynamic_init

static __device__ void turns(int *out, bool twice, int makers)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int data[128];
    if (threadIdx.x < makers)
        init(&bar, blockDim.x);
    __syncthreads();
    for (int turn = 0; turn < 3; turn++) {
        data[threadIdx.x] = threadIdx.x + turn;
        bar.arrive_and_wait();
        out[128 * blockIdx.x + threadIdx.x] += data[127 - threadIdx.x];
        if (twice)
            bar.arrive_and_wait();
    }
}

KERNEL(right_barrier)
{
    turns(out, true, 1);
}

KERNEL(right_barrier_that_several_make_alike)
{
    turns(out, true, 3);
}

KERNEL(wrong_barrier_once_a_turn)
{
    turns(out, false, 1);
}

KERNEL(right_pipeline)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int data[2][128];
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const auto load = [&](int k) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, data[k % 2], in + 128 * k, sizeof data[0], pipe);
        pipe.producer_commit();
    };
    load(0);
    load(1);
    for (int k = 0; k < 6; k++) {
        pipe.consumer_wait();
        out[128 * (6 * blockIdx.x + k) + threadIdx.x] = data[k % 2][127 - threadIdx.x];
        pipe.consumer_release();
        if (k < 4)
            load(k + 2);
    }
}

// --- groups of more than a warp: cooperative groups keeps what they wait by in shared memory that the system gives ---
// It has them since CUDA 12.

#if __CUDACC_VER_MAJOR__ >= 12
KERNEL(right_tile_of_two_warps)
{
    __shared__ int data[128];
    const auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    data[threadIdx.x] = in[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = data[threadIdx.x ^ 32];
}

KERNEL(wrong_tile_of_two_warps_for_four)
{
    __shared__ int data[128];
    const auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    data[threadIdx.x] = in[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = data[threadIdx.x ^ 64];
}
#endif
