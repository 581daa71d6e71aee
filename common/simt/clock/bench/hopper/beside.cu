// Reads of shared memory beside copies of TMA that write there.
#include "hopper.h"

enum {
    WARPS = 8,  // that read; one more copies
    BOXES = 8,  // of 16 KB, that are under way
    ROUNDS = 512,
    READ_ROWS = 256  // of 64 halves, that the warps read again and again: 32 KB
};

// Copies boxes until the others are done. Returns how many have come.
__device__ u64 copy_on(half *to, const CUtensorMap *map, uint64_t *full, const volatile int *done)
{
    auto load = [&](u64 i) {
        mbarrier_expect(&full[i % BOXES], BOX_ROWS * 128);
        tma_load(to + i % BOXES * BOX_ROWS * 64, map, &full[i % BOXES], int(i % 64) * BOX_ROWS, 0);
    };
    u64 come = 0;
    for (u64 i = 0; i < BOXES; i++)
        load(i);
    for (; *done < WARPS; come++) {
        mbarrier_wait(&full[come % BOXES], come / BOXES & 1);
        load(come + BOXES);
    }
    for (u64 i = 0; i < BOXES; i++)
        mbarrier_wait(&full[(come + i) % BOXES], (come + i) / BOXES & 1);
    return come;
}

// As ldmatrix, but the compiler must not leave it out.
__device__ void read_matrices(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(row)));
}

// Eight reads of 16 x 16 halves by each warp in a round, without bank conflicts.
__global__ void run_beside(const __grid_constant__ CUtensorMap map, bool copies, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[BOXES];
    __shared__ volatile int done;
    half *boxes = shared + READ_ROWS * 64;
    fill_shared(shared, READ_ROWS * 64);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < BOXES; i++)
            mbarrier_init(&full[i], 1);
        mbarrier_init_fence();
        done = 0;
    }
    __syncthreads();
    if (warp == WARPS) {
        const u64 begin = clock64();
        const u64 come = lane == 0 && copies ? copy_on(boxes, &map, full, &done) : 0;
        if (lane == 0 && blockIdx.x == 0)
            out[1] = come, out[2] = clock64() - begin;
        return;
    }
    unsigned x[8][4] = {};
    const half *from = shared + (warp * 32 + lane % 16) * 64;
    auto place = [&](int i) { return from + i % 2 * 16 * 64 + ((i / 2 * 16 + lane / 16 * 8) ^ lane % 8 * 8); };
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = clock64();
#pragma unroll 1
        for (int round = 0; round < ROUNDS; round++)
#pragma unroll
            for (int i = 0; i < 8; i++)
                read_matrices(x[i], place(i));
        begin = clock64() - begin;
    }
    unsigned all = 0;
    for (int i = 0; i < 8; i++)
        all ^= x[i][0] ^ x[i][1] ^ x[i][2] ^ x[i][3];
    if (all == 12345)
        out[3] = 1;
    if (lane == 0)
        atomicAdd(const_cast<int *>(&done), 1);
    if (lane == 0 && warp == 0 && blockIdx.x == 0)
        out[0] = begin;
}

void measure_beside(half *matrix)
{
    const CUtensorMap map = make_map(matrix, ROWS, BOX_ROWS);
    allow_shared(run_beside);
    for (int blocks : { 1, sms })
        for (bool copies : { false, true }) {
            const std::string n =
                std::string("ldmatrix") + (copies ? "_beside_copies_" : "_alone_") + std::to_string(blocks) + "_sms";
            run_beside<<<blocks, (WARPS + 1) * 32, SHARED>>>(map, copies, out);
            const std::vector<u64> r = results();
            row(n, "cycles of an SM for one of 512 bytes", double(r[0]) / ROUNDS / (WARPS * 8));
            if (copies)
                row(n + "_bytes", "bytes a cycle that are copied", double(r[1]) * BOX_ROWS * 128 / double(r[2]));
        }
}
