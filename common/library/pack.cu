// Copies a matrix into rows that begin at multiples of 128 bytes, for what needs whole 16 bytes.
#include <cstdint>

#if __CUDA_ARCH__ >= 900
#include "hopper.cuh"
#endif

// `rows` rows of `columns` elements, `ld` apart; matrix z begins `next` elements after the one before, its copy `to_next`
// after the copy before. Of the copy, rows are `pitch` elements apart, a multiple of EACH. Blocks: x is the row, y counts along it.
template <class T> __device__ void copy(int rows, int columns, int matrices, const T *from, int64_t ld, int64_t next, T *to, int64_t pitch)
{
    constexpr int EACH = 16 / sizeof(T);
    for (int z = blockIdx.z; z < matrices; z += gridDim.z)
        for (int col = (blockIdx.y * blockDim.x + threadIdx.x) * EACH; col < columns; col += gridDim.y * blockDim.x * EACH) {
            const T *x = &from[z * next + blockIdx.x * ld + col];
            alignas(16) T v[EACH];
            for (int e = 0; e < EACH; e++)
                v[e] = col + e < columns ? x[e] : T(0);
            *reinterpret_cast<uint4 *>(&to[(int64_t(z) * rows + blockIdx.x) * pitch + col]) = *reinterpret_cast<uint4 *>(v);
        }
}

// Where launches can overlap, the next one may begin; this one ends after the one before it, which may be the copy of another
// matrix.
__device__ inline void begin()
{
#if __CUDA_ARCH__ >= 900
    launch_next();
#endif
}

__device__ inline void end()
{
#if __CUDA_ARCH__ >= 900
    launch_wait();
#endif
}

#define KERNEL(name, T)                                                                                                \
    extern "C" __global__ void name(int rows, int columns, int matrices, const T *from, int64_t ld, int64_t next, T *to, \
                                    int64_t pitch)                                                                     \
    {                                                                                                                  \
        begin();                                                                                                       \
        copy(rows, columns, matrices, from, ld, next, to, pitch);                                                      \
        end();                                                                                                         \
    }
KERNEL(pack2, unsigned short)
KERNEL(pack4, float)
