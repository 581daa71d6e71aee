// Copies A and B, or one of them, into rows that begin at multiples of 128 bytes, for what needs whole 16 bytes.
#include "hopper.cuh"
#include "library/args.h"

// Chunks of 16 bytes, row by row, of one matrix: the threads have neighbours.
template <class T> __device__ void copy(const copy_args &c)
{
    constexpr int EACH = 16 / sizeof(T);
    const unsigned across = (c.columns - 1) / EACH + 1, all = c.rows * across;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
        const unsigned row = i / across, col = i % across * EACH;
        for (int z = blockIdx.y; z < c.matrices; z += gridDim.y) {
            const T *x = static_cast<const T *>(c.from) + z * c.next + row * c.ld + col;
            alignas(16) T v[EACH];
            for (int e = 0; e < EACH; e++)
                v[e] = col + e < c.columns ? x[e] : T(0);
            T *to = static_cast<T *>(c.to) + (int64_t(z) * c.rows + row) * c.pitch + col;
            *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<uint4 *>(v);
        }
    }
}

extern "C" __global__ void pack_halves(const __grid_constant__ pack_args p)
{
    launch_next();  // the product may begin, and waits for this
    for (int i = 0; i < 2; i++)
        if (p.of[i].rows > 0)
            copy<unsigned short>(p.of[i]);
}
