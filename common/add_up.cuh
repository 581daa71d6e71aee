// What the blocks of a cluster do together: they add up.
#pragma once
#include "edges.cuh"
#include "hopper.cuh"

// --- Add up: the blocks of a cluster have a sum each, of the same tile of C ---
// Each writes its own to Ps[BM][BN + 8] in its shared memory, where the stages were, and stores a share of the
// elements.
template <int BM, int BN, int CONSUMERS>
__device__ inline void add_up(float *Ps, const float (&acc)[BN / 2], half *C, int M, int N, int brow, int bcol,
                              float alpha, float beta)
{
    const int tid = threadIdx.x, lane = tid % 32, parts = cluster_size(), LD = BN + 8;  // + 8: no bank conflicts
    named_barrier(1, CONSUMERS);  // all have multiplied: the stages are free
#pragma unroll
    for (int j = 0; j < BN / 2; j += 2)
        *reinterpret_cast<float2 *>(
            &Ps[(tid / 32 * 16 + lane / 4 + j / 2 % 2 * 8) * LD + j / 4 * 8 + lane % 4 * 2]) = { acc[j], acc[j + 1] };
    cluster_barrier();  // all sums are there
#pragma unroll 2
    for (int i = (cluster_rank() * CONSUMERS + tid) * 4; i < BM * BN; i += parts * CONSUMERS * 4) {
        float sum[4] = {};
#pragma unroll 4
        for (int rank = 0; rank < parts; rank++) {
            const float4 x = load_from(&Ps[i / BN * LD + i % BN], rank);
            for (int e = 0; e < 4; e++)
                sum[e] += (&x.x)[e];
        }
        for (int e = 0; e < 4; e++) {
            half v;
            scale<1>(&v, C, M, N, brow + i / BN, bcol + i % BN + e, alpha, &sum[e], beta);
            if (brow + i / BN < M && bcol + i % BN + e < N)
                C[size_t(brow + i / BN) * N + bcol + i % BN + e] = v;
        }
    }
    cluster_barrier();  // shared memory must last until all have read it
}
