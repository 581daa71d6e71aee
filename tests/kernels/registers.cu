// Kernels that forget to give a variable a value, and kernels that only look as if they did, for test_registers.c: one
// block of 64 threads; thread i reads in[...] and writes out[i]. The lines that end in "// here" are to be named; of what
// begins with folded_, as nvcc 13 makes it.
#include <cuda_fp16.h>
#include <mma.h>

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in)

// --- forgotten. A bool that is only ever set to true is no example: nvcc takes it to be true from the start ---

KERNEL(folded_sum)  // nvcc unrolls the loop, and writes a NaN in place of the sum's first value
{
    float sum;
    for (int k = 0; k < 16; k++)
        sum += float(in[k]);  // here
    out[threadIdx.x] = unsigned(sum);
}

KERNEL(forgets_count)  // an integer, which reaches the loop's condition
{
    const unsigned i = threadIdx.x;
    unsigned n, steps = 0;
    if (in[i] == 12345)
        n = in[i + 1];
    for (unsigned k = in[i]; k < n && steps < 10; k++)  // here
        steps++;
    out[i] = steps;
}

KERNEL(folded_best)  // nvcc drops the loop: whichever value is kept, it may say that it is the first
{
    float best;
    for (int k = 0; k < 16; k++) {
        const float x = float(in[k]);
        if (x > best)
            best = x;
    }
    out[threadIdx.x] = unsigned(best);  // here
}

KERNEL(forgets_patch)  // a loop that stays one
{
    const unsigned i = threadIdx.x;
    float acc[2][4];
    for (int k = 0; k < 16; k++)
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 4; c++)
                acc[r][c] += float(in[k + r]) * float(in[k + c]);  // here
    float sum = 0;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 4; c++)
            sum += acc[r][c];
    out[i] = unsigned(sum);
}

KERNEL(forgets_pair)  // the upper half of a half2
{
    half2 sum;
    sum.x = half(0.0f);
    for (int k = 0; k < 8; k++)
        sum = __hadd2(sum, __floats2half2_rn(float(in[k]), 1.0f));  // here
    out[threadIdx.x] = unsigned(float(sum.x) + float(sum.y));
}

KERNEL(forgets_element)  // of an array in local memory, which an index reads
{
    const unsigned i = threadIdx.x;
    unsigned v[8];
    for (unsigned k = 0; k < 7; k++)
        v[(k + in[0]) % 8] = in[k];
    unsigned sum = 0;
    for (unsigned k = 0; k < 8; k++)
        sum += v[(k + i) % 8];  // here
    out[i] = sum;
}

KERNEL(forgets_mask)
{
    unsigned mask;
    for (unsigned k = 0; k < in[16]; k++)
        mask |= 1u << in[k] % 32;  // here
    out[threadIdx.x] = mask;
}

KERNEL(forgets_fragment)
{
    using namespace nvcuda;
    __shared__ half a[256];
    __shared__ float c[256];
    for (unsigned i = threadIdx.x; i < 256; i += 64)
        a[i] = half(float(in[i % 64]));
    __syncthreads();
    if (threadIdx.x < 32) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, a, 16);
        wmma::mma_sync(fc, fa, fb, fc);  // here
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    }
    __syncthreads();
    out[threadIdx.x] = unsigned(c[threadIdx.x]);
}

KERNEL(folded_first_load)  // nvcc drops the first iteration's store, so that it is shared memory that is not written
{
    __shared__ float tile[64];
    const unsigned i = threadIdx.x;
    float next, sum = 0;
    for (unsigned k = 0; k < 4; k++) {
        tile[i] = next;
        __syncthreads();
        sum += tile[63 - i];  // here
        __syncthreads();
        next = float(in[k + i]);
    }
    out[i] = unsigned(sum);
}

// --- harmless ---

KERNEL(keeps_to_its_lanes)
{
    const unsigned i = threadIdx.x;
    unsigned v;
    if (i % 2)
        v = in[i] * 3;
    __syncthreads();
    v += 5;
    if (i % 2)
        out[i] = v;
}

KERNEL(knows_the_first)
{
    bool any = false;
    unsigned best;
    for (int k = 0; k < 16; k++) {
        if (in[k] % 3 == 1 && (!any || in[k] > best)) {
            best = in[k];
            any = true;
        }
    }
    out[threadIdx.x] = any ? best : 0;
}

KERNEL(packs_bytes)
{
    uchar4 v;
    v.x = (unsigned char)in[0];
    v.z = (unsigned char)in[1];
    v.y = v.x + 1;
    v.w = v.z + 1;
    out[threadIdx.x] = *(unsigned *)&v;
}

KERNEL(packs_fields)
{
    struct {
        unsigned a : 5, b : 11, c : 16;
    } v;
    v.a = in[0];
    v.c = in[1];
    v.b = in[2];
    out[threadIdx.x] = v.a + v.b + v.c;
}

KERNEL(uses_a_half)
{
    half2 v;
    v.x = half(float(in[threadIdx.x]));
    v = __hmul2(v, v);
    out[threadIdx.x] = unsigned(float(v.x));
}

struct padded {
    unsigned char kind;
    unsigned long long value;
    short more;
};

KERNEL(copies_padding)  // through local memory
{
    const unsigned i = threadIdx.x;
    padded all[4];
    for (unsigned k = 0; k < 4; k++) {
        all[(k + in[i]) % 4].kind = 1;
        all[(k + in[i]) % 4].value = k;
        all[(k + in[i]) % 4].more = 2;
    }
    const padded mine = all[i % 4];
    all[(i + 1) % 4] = mine;
    out[i] = mine.kind + unsigned(mine.value) + all[i % 4].more;
}

KERNEL(fills_what_it_reads)
{
    const unsigned i = threadIdx.x;
    unsigned v[16], n = in[i] % 8 + 1, sum = 0;
    for (unsigned k = 0; k < n; k++)
        v[k] = in[k];
    for (unsigned k = 0; k < n; k++)
        sum += v[n - 1 - k];
    out[i] = sum;
}

KERNEL(reduces_a_few_lanes)
{
    const unsigned i = threadIdx.x;
    unsigned v;
    if (i % 32 < 8)
        v = in[i];
    for (int by = 4; by > 0; by /= 2)
        v += __shfl_down_sync(0xffffffff, v, by);
    if (i % 32 == 0)
        out[i] = v;
}

KERNEL(sorts_pairs)
{
    const unsigned i = threadIdx.x;
    unsigned before;
    for (unsigned k = 0; k < 4; k++) {
        if (k > 0)
            out[i] = before + in[k];
        before = in[i] * k;
    }
}

__device__ __noinline__ unsigned smaller(const unsigned *v, unsigned n, unsigned *at)
{
    unsigned least = 0xffffffff;
    for (unsigned k = 0; k < n; k++) {
        if (v[k] < least) {
            least = v[k];
            *at = k;
        }
    }
    return least;
}

KERNEL(fills_by_pointer)
{
    unsigned at, least = smaller(in, 16, &at);
    out[threadIdx.x] = least + at;
}
