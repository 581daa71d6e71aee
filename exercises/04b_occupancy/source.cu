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
    const int warps = (threads + 31) / 32;                               // of a block
    const int a_warp = (registers * 32 + UNIT - 1) / UNIT * UNIT;        // registers that a warp gets
    const int by_registers = REGISTERS / 4 / a_warp * 4 / warps;         // whole warps of each scheduler
    const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    const int by_shared = SHARED / a_block;
    return least(least(BLOCKS, WARPS / warps), least(by_registers, by_shared));
    // --- stub
    //| return BLOCKS;
    // --- bug registers forgotten: "registers decide" "65,536 registers"
    //| const int warps = (threads + 31) / 32;
    //| const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    //| return least(least(BLOCKS, WARPS / warps), SHARED / a_block);
    // --- bug warps rounded down: "33 threads" "a block of 33 threads has 2 warps"
    //| const int warps = threads / 32;
    //| const int a_warp = (registers * 32 + UNIT - 1) / UNIT * UNIT;
    //| const int by_registers = REGISTERS / 4 / a_warp * 4 / warps;
    //| const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    //| return least(least(BLOCKS, WARPS / warps), least(by_registers, SHARED / a_block));
    // --- bug registers of the block, not of its warps: "in units of 256"
    //| const int warps = (threads + 31) / 32;
    //| const int by_registers = REGISTERS / (registers * threads);
    //| const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    //| return least(least(BLOCKS, WARPS / warps), least(by_registers, SHARED / a_block));
    // --- bug one pool of registers: "four schedulers"
    //| const int warps = (threads + 31) / 32;
    //| const int a_warp = (registers * 32 + UNIT - 1) / UNIT * UNIT;
    //| const int by_registers = REGISTERS / a_warp / warps;
    //| const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    //| return least(least(BLOCKS, WARPS / warps), least(by_registers, SHARED / a_block));
    // --- bug the system's kilobyte forgotten: "shared memory decides" "1,024 bytes more"
    //| const int warps = (threads + 31) / 32;
    //| const int a_warp = (registers * 32 + UNIT - 1) / UNIT * UNIT;
    //| const int by_registers = REGISTERS / 4 / a_warp * 4 / warps;
    //| const int by_shared = shared > 0 ? SHARED / shared : BLOCKS;
    //| return least(least(BLOCKS, WARPS / warps), least(by_registers, by_shared));
    // --- bug no limit of blocks: "the number of blocks decides"
    //| const int warps = (threads + 31) / 32;
    //| const int a_warp = (registers * 32 + UNIT - 1) / UNIT * UNIT;
    //| const int by_registers = REGISTERS / 4 / a_warp * 4 / warps;
    //| const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    //| return least(WARPS / warps, least(by_registers, SHARED / a_block));
    // --- bug warps forgotten: "the number of warps decides"
    //| const int warps = (threads + 31) / 32;
    //| const int a_warp = (registers * 32 + UNIT - 1) / UNIT * UNIT;
    //| const int by_registers = REGISTERS / 4 / a_warp * 4 / warps;
    //| const int a_block = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT + SYSTEM_SHARED;
    //| return least(BLOCKS, least(by_registers, SHARED / a_block));
    // <<<
}

// Occupancy of an SM in percent: warps that are there, of those that there can be.
__host__ __device__ constexpr int percent_of_warps(int threads, int registers, int shared)
{
    // >>> yours, 1 line
    return 100 * blocks_of_sm(threads, registers, shared) * ((threads + 31) / 32) / WARPS;
    // --- stub
    //| return 0;
    // --- bug blocks, not warps: "occupancy" "warps that are resident"
    //| return 100 * blocks_of_sm(threads, registers, shared) / BLOCKS;
    // <<<
}

// The answers, for the check: of launch i, the blocks in out[2 * i] and the occupancy in out[2 * i + 1].
extern "C" __global__ void answer(const int *threads, const int *registers, const int *shared, int *out)
{
    const int i = threadIdx.x;
    out[2 * i] = blocks_of_sm(threads[i], registers[i], shared[i]);
    out[2 * i + 1] = percent_of_warps(threads[i], registers[i], shared[i]);
}
