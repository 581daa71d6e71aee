// Groups of lanes and votes of a block, for test_groups.c: two blocks of 128 threads, thread i of the launch reads in[i]
// and writes out[i].
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in)
#define HERE const unsigned tid = threadIdx.x, lane = tid % 32, i = blockIdx.x * blockDim.x + tid

// What a tile of that size says: the sum of its values, who is odd, who has the same value modulo 4.
template <unsigned size>
__device__ unsigned tile(unsigned x)
{
    const auto group = cg::tiled_partition<size>(cg::this_thread_block());
    unsigned sum = x;
    for (unsigned by = size / 2; by > 0; by /= 2)
        sum += group.shfl_xor(sum, by);
    group.sync();
    return sum + 10000 * __popc(group.ballot(x & 1)) + 1000000 * __popc(group.match_any(x % 4)) +
           100000000 * group.any(x % 16 == 3) + 200000000 * group.all(x % 8 != 5);
}

KERNEL(tiles_of_4)
{
    HERE;
    (void)lane;
    out[i] = tile<4>(in[i]);
}

KERNEL(tiles_of_8)
{
    HERE;
    (void)lane;
    out[i] = tile<8>(in[i]);
}

KERNEL(tiles_of_16)
{
    HERE;
    (void)lane;
    out[i] = tile<16>(in[i]);
}

KERNEL(reduced)  // redux, by groups of 8
{
    HERE;
    const unsigned group = 0xffu << (lane & 24);
    out[i] = __reduce_add_sync(group, in[i]) + 100000 * __reduce_max_sync(group, in[i] % 100);
}

KERNEL(loops)  // groups of 8 take different numbers of turns
{
    HERE;
    const unsigned group = 0xffu << (lane & 24);
    unsigned x = in[i];
    for (unsigned turn = 0; turn <= lane / 8; turn++)
        x += __shfl_sync(group, x, turn, 8);
    out[i] = x;
}

KERNEL(shared)  // __syncwarp for half a warp each, at different places
{
    HERE;
    __shared__ unsigned s[128];
    if (lane < 16) {
        s[tid] = in[i];
        __syncwarp(0x0000ffff);
        out[i] = s[tid ^ 5];
    } else {
        s[tid] = 2 * in[i];
        __syncwarp(0xffff0000);
        out[i] = s[tid ^ 9];
    }
}

KERNEL(parted)  // by value; each part reduces itself
{
    HERE;
    (void)lane;
    const auto part = cg::binary_partition(cg::tiled_partition<32>(cg::this_thread_block()), in[i] % 3 == 0);
    unsigned sum = 0;
    for (unsigned k = 0; k < part.size(); k++)
        sum += part.shfl(in[i], k);
    out[i] = sum + 100000 * part.thread_rank();
}

KERNEL(counted)  // all threads of the block
{
    HERE;
    (void)lane;
    const unsigned x = in[i];
    unsigned n = __syncthreads_count(x % 2);
    n += 1000 * __syncthreads_count(x % 7 == 0);
    n += 1000000 * (__syncthreads_and(x < 1000) != 0) + 2000000 * (__syncthreads_and(x != 78) != 0);
    n += 4000000 * (__syncthreads_or(x == 78) != 0) + 8000000 * (__syncthreads_or(x > 1000) != 0);
    out[i] = n;
}
