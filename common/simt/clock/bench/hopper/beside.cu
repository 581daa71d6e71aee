// Reads of shared memory, and products by mma.sync that need them, beside copies of TMA that write there.
#include "ampere.cuh"
#include "hopper.h"

enum {
    WARPS = 8,   // that read and multiply; one more copies
    BOXES = 8,   // of 16 KB, that are under way
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

// A round: PRODUCTS times 16 x 16 x 16 by a warp, and 8 reads of 16 x 16 halves, each right after the last product that
// needs what it overwrites. No bank conflicts.
template <int PRODUCTS>
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
    unsigned a[4][4] = {}, b[4][4] = {};
    float acc[4][4][8] = {};
    const half *from = shared + (warp * 32 + lane % 16) * 64;
    auto place = [&](int i) { return from + i % 2 * 16 * 64 + ((i / 2 * 16 + lane / 16 * 8) ^ lane % 8 * 8); };
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = clock64();
#pragma unroll 1
        for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (PRODUCTS)
                        mma(acc[i][j], a[i], b[j]);
                    if (i == 3)
                        read_matrices(b[j], place(j + 4));
                }
                read_matrices(a[i], place(i));
            }
        }
        begin = clock64() - begin;
    }
    float sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 8; e++)
                sum += acc[i][j][e] + float(a[i][e % 4] ^ b[j][e % 4]);
    if (sum == 12345)
        out[3] = 1;
    if (lane == 0)
        atomicAdd(const_cast<int *>(&done), 1);
    if (lane == 0 && warp == 0 && blockIdx.x == 0)
        out[0] = begin;
}

template <int PRODUCTS>
static void beside(const std::string &name, const CUtensorMap &map, const char *unit, double per_round)
{
    allow_shared(run_beside<PRODUCTS>);
    for (int blocks : { 1, sms })
        for (bool copies : { false, true }) {
            const std::string n = name + (copies ? "_beside_copies_" : "_alone_") + std::to_string(blocks) + "_sms";
            run_beside<PRODUCTS><<<blocks, (WARPS + 1) * 32, SHARED>>>(map, copies, out);
            const std::vector<u64> r = results();
            row(n, unit, double(r[0]) / ROUNDS / per_round);
            if (copies)
                row(n + "_bytes", "bytes a cycle that are copied", double(r[1]) * BOX_ROWS * 128 / double(r[2]));
        }
}

void measure_beside(half *matrix)
{
    const CUtensorMap map = make_map(matrix, ROWS, BOX_ROWS);
    beside<0>("ldmatrix", map, "cycles of an SM for one of 512 bytes", WARPS * 8.0);
    beside<1>("mma_ldmatrix", map, "cycles of a sub-core for a product of 16 x 8 x 16", WARPS / 4 * 32.0);
}
