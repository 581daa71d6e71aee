// Exercise 4b: occupancy by hand. How many blocks of a kernel fit on an SM of an H200 at the same time?
//
// What an SM has (CUDA C++ Programming Guide, technical specifications, compute capability 9.0):
constexpr int WARPS = 64;            // warps
constexpr int BLOCKS = 32;           // blocks
constexpr int REGISTERS = 65536;     // registers of 32 bits: a quarter of them for each of its four schedulers
constexpr int SHARED = 228 * 1024;   // bytes of shared memory
constexpr int UNIT = 256;            // a warp gets registers in units of so many
constexpr int SHARED_UNIT = 128;     // a block gets shared memory in units of so many bytes,
constexpr int SYSTEM_SHARED = 1024;  // and the system takes this much more of it for each block

__host__ __device__ constexpr int least(int a, int b)
{
    return a < b ? a : b;
}

// Blocks on an SM, for blocks of so many threads, registers a thread and bytes of shared memory.
__host__ __device__ constexpr int blocks_of_sm(int threads, int registers, int shared)
{
    // >>> yours, 6 lines: each resource allows a number of blocks, and the scarcest one decides
    return BLOCKS;
    // <<<
}

// Occupancy of an SM in percent: warps that are there, of those that there can be.
__host__ __device__ constexpr int percent_of_warps(int threads, int registers, int shared)
{
    // >>> yours, 1 line
    return 0;
    // <<<
}

// The answers, for the check: of launch i, the blocks in out[2 * i] and the occupancy in out[2 * i + 1].
extern "C" __global__ void answer(const int *threads, const int *registers, const int *shared, int *out)
{
    const int i = threadIdx.x;
    out[2 * i] = blocks_of_sm(threads[i], registers[i], shared[i]);
    out[2 * i + 1] = percent_of_warps(threads[i], registers[i], shared[i]);
}
