// Chapter 00: four small kernels that show the machine. Each is to be run alone, with build/simt.

// Each thread writes who it is, and on which SM it runs.
extern "C" __global__ void who(int *block, int *warp, int *lane, int *sm)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;  // this thread's number in the grid
    int here;
    asm("mov.u32 %0, %%smid;" : "=r"(here));
    block[i] = blockIdx.x;
    warp[i] = threadIdx.x / 32;
    lane[i] = threadIdx.x % 32;
    sm[i] = here;
}

// Global memory: neighbouring lanes read words that are `stride` words apart.
extern "C" __global__ void sectors(int stride, const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];
}

constexpr int WORDS = 2048;  // of a shared array for one warp

// Shared memory: the same, for one warp. stride is at most 64.
extern "C" __global__ void banks(int stride, float *out)
{
    __shared__ float tile[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += 32)
        tile[i] = i;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * stride];
}

// The same with 128 bits a lane. stride counts pieces of 16 bytes, and is at most 16.
extern "C" __global__ void banks_wide(int stride, float4 *out)
{
    __shared__ float4 wide[WORDS / 4];
    for (int i = threadIdx.x; i < WORDS / 4; i += 32)
        wide[i] = make_float4(i, i, i, i);
    __syncthreads();
    out[threadIdx.x] = wide[threadIdx.x * stride];
}
