// The tensor memory accelerator: latency, requests and bandwidth of its loads and stores.
#include "hopper.h"

// Box t of a matrix of COLS columns, BOX_ROWS x 64 halves each, is number t in reading order.
__device__ void load_box(half *to, const CUtensorMap *map, uint64_t *full, unsigned t, int rows)
{
    mbarrier_expect(full, rows * 128);
    tma_load(to, map, full, t / (COLS / 64) * rows, t % (COLS / 64) * 64);
}

// One box after the other; the second pass finds them in L2.
__global__ void run_tma_latency(const __grid_constant__ CUtensorMap map, int rows, int first, int boxes, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full;
    mbarrier_init(&full, 1);
    mbarrier_init_fence();
    int parity = 0;
    for (int pass = 0; pass < 2; pass++) {
        const u64 begin = clock64();
        for (int i = 0; i < boxes; i++, parity ^= 1) {
            load_box(shared, &map, &full, first + i * 67, rows);
            mbarrier_wait(&full, parity);
        }
        out[pass] = clock64() - begin;
    }
}

// As many at once as fit: how long a request of a small box keeps the unit busy.
__global__ void run_tma_issue(const __grid_constant__ CUtensorMap map, int rows, int boxes, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full;
    mbarrier_init(&full, boxes);
    mbarrier_init_fence();
    for (int pass = 0; pass < 2; pass++) {
        const u64 begin = clock64();
        for (int i = 0; i < boxes; i++)
            load_box(shared + i % 4 * rows * 64, &map, &full, i % 32, rows);
        out[2 * pass] = clock64() - begin;
        mbarrier_wait(&full, pass);
        out[2 * pass + 1] = clock64() - begin;
    }
}

enum { STAGES = 8 };

// Each SM streams boxes of 16 KB: 2^group neighbours the same ones, the last + 1 of them again and again.
__global__ void run_tma_stream(const __grid_constant__ CUtensorMap map, unsigned boxes, int group, unsigned last,
                               u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[STAGES];
    for (int s = 0; s < STAGES; s++)
        mbarrier_init(&full[s], 1);
    mbarrier_init_fence();
    auto load = [&](unsigned i) {
        const unsigned t = (blockIdx.x >> group) * (last + 1) + (i & last);
        load_box(shared + i % STAGES * BOX_ROWS * 64, &map, &full[i % STAGES], t, BOX_ROWS);
    };
    u64 begin = 0, ns = 0;
    for (unsigned i = 0; i < STAGES; i++)
        load(i);
    for (unsigned i = 0; i < boxes; i++) {
        if (i == boxes / 4)
            begin = clock64(), ns = nanoseconds();
        mbarrier_wait(&full[i % STAGES], i / STAGES & 1);
        if (i + STAGES < boxes)
            load(i + STAGES);
    }
    out[2 * blockIdx.x] = clock64() - begin;
    out[2 * blockIdx.x + 1] = nanoseconds() - ns;
}

// What a multiply of 128 x 256 tiles loads, without the multiply: the SM's box of A is shared by a row of SMs, its
// four of B, of 64 x 64, by a column.
__global__ void run_tma_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, int tiles,
                             u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    __shared__ uint64_t full[4];
    for (int s = 0; s < 4; s++)
        mbarrier_init(&full[s], 1);
    mbarrier_init_fence();
    auto load = [&](int i) {
        half *to = shared + i % 4 * 24576;
        mbarrier_expect(&full[i % 4], 49152);
        tma_load(to, &a, &full[i % 4], blockIdx.x % 8 * 128, i % 64 * 64);
        for (int j = 0; j < 4; j++)
            tma_load(to + 8192 + j * 4096, &b, &full[i % 4], 8192 + i % 64 * 64, blockIdx.x / 8 % 16 * 256 + j * 64);
    };
    u64 begin = 0, ns = 0;
    for (int i = 0; i < 4; i++)
        load(i);
    for (int i = 0; i < tiles; i++) {
        if (i == tiles / 4)
            begin = clock64(), ns = nanoseconds();
        mbarrier_wait(&full[i % 4], i / 4 & 1);
        if (i + 4 < tiles)
            load(i + 4);
    }
    out[2 * blockIdx.x] = clock64() - begin;
    out[2 * blockIdx.x + 1] = nanoseconds() - ns;
}

__global__ void run_tma_store(const __grid_constant__ CUtensorMap map, int boxes, int at_once, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    u64 begin = 0, read = 0, ns = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = clock64(), ns = nanoseconds();
        for (int i = 0; i < boxes; i++) {
            const int t = (blockIdx.x * boxes + i) % 16384;
            tma_store(&map, shared + i % 8 * 8192, t / 64 * BOX_ROWS, t % 64 * 64);
            bulk_commit();
            if (at_once == 1)
                bulk_wait_read<0>();
            else
                bulk_wait_read<3>();
        }
        bulk_wait_read<0>();
        read = clock64() - begin;
        bulk_wait<0>();
    }
    out[4 * blockIdx.x] = clock64() - begin;
    out[4 * blockIdx.x + 1] = nanoseconds() - ns;
    out[4 * blockIdx.x + 2] = read;
}

// One box after the other: until it has been read from shared memory, or until it is where it was to go.
__global__ void run_tma_store_each(const __grid_constant__ CUtensorMap map, int boxes, int read_only, u64 *out)
{
    extern __shared__ __align__(1024) half shared[];
    u64 begin = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = clock64();
        for (int i = 0; i < boxes; i++) {
            const int t = (blockIdx.x * boxes + i) % 16384;
            tma_store(&map, shared + i % 8 * 8192, t / 64 * BOX_ROWS, t % 64 * 64);
            bulk_commit();
            if (read_only)
                bulk_wait_read<0>();
            else
                bulk_wait<0>();
        }
        out[2 * blockIdx.x] = clock64() - begin;
        bulk_wait<0>();
    }
    out[2 * blockIdx.x + 1] = 1;
}

static void stream_rows(const std::string &name, int blocks, double bytes, int words)
{
    const std::vector<u64> r = results();
    double cycles = 0, ns = 0;
    for (int i = 0; i < blocks; i++) {
        cycles += double(r[words * i]) / blocks;
        ns += double(r[words * i + 1]) / blocks;
    }
    row(name, "bytes a cycle and SM", bytes / cycles);
    row(name + "_gb_s", "GB/s", bytes / ns * blocks);
}

void measure_copies(half *matrix)
{
    for (int rows : { 8, 64, 128, 256 }) {
        const CUtensorMap map = make_map(matrix, ROWS, unsigned(rows));
        const std::string r = std::to_string(rows);
        empty_l2(matrix);
        allow_shared(run_tma_latency);
        run_tma_latency<<<1, 1, SHARED>>>(map, rows, 0, 20, out);
        const std::vector<u64> all = results();
        row("tma_latency_dram_" + r + "_rows", "cycles", double(all[0]) / 20);
        row("tma_latency_l2_" + r + "_rows", "cycles", double(all[1]) / 20);
        allow_shared(run_tma_issue);
        run_tma_issue<<<1, 1, SHARED>>>(map, rows, 32, out);
        row("tma_issue_" + r + "_rows", "cycles a request of 32 to issue", double(results()[2]) / 32);
        row("tma_requests_" + r + "_rows", "cycles a request of 32 to arrive", double(results()[3]) / 32);
    }
    const CUtensorMap a = make_map(matrix, ROWS, BOX_ROWS), b = make_map(matrix, ROWS, 64);
    allow_shared(run_tma_stream);
    for (int blocks : { 1, sms / 4, sms }) {
        const std::string n = std::to_string(blocks) + "_sms";
        run_tma_stream<<<blocks, 1, SHARED>>>(a, 1024, 0, 7, out);
        stream_rows("tma_l2_alone_" + n, blocks, 768.0 * 16384, 2);
        for (int group = 1; group <= 4; group++) {
            run_tma_stream<<<blocks, 1, SHARED>>>(a, 1024, group, 31, out);
            stream_rows("tma_l2_shared_by_" + std::to_string(1 << group) + "_" + n, blocks, 768.0 * 16384, 2);
        }
        empty_l2(matrix);
        run_tma_stream<<<blocks, 1, SHARED>>>(a, 120, 0, 127, out);
        stream_rows("tma_dram_" + n, blocks, 90.0 * 16384, 2);
        allow_shared(run_tma_gemm);
        run_tma_gemm<<<blocks, 1, SHARED>>>(a, b, 512, out);
        stream_rows("tma_gemm_" + n, blocks, 384.0 * 49152, 2);
        allow_shared(run_tma_store);
        run_tma_store<<<blocks, 1, SHARED>>>(a, 64, 4, out);
        stream_rows("tma_store_" + n, blocks, 64.0 * 16384, 4);
    }
    allow_shared(run_tma_store_each);
    for (int rows : { 8, 64, 128 })
        for (int blocks : { 1, sms })
            for (int read_only : { 1, 0 }) {
                run_tma_store_each<<<blocks, 1, SHARED>>>(make_map(matrix, ROWS, unsigned(rows)), 32, read_only, out);
                const std::vector<u64> r = results();
                double sum = 0;
                for (int i = 0; i < blocks; i++)
                    sum += double(r[2 * i]) / blocks;
                row("tma_store_" + std::string(read_only ? "read_" : "done_") + std::to_string(rows) + "_rows_" +
                        std::to_string(blocks) + "_sms",
                    "cycles a box", sum / 32);
            }
    run_tma_store<<<1, 1, SHARED>>>(a, 1, 1, out);
    row("tma_store_read", "cycles", double(results()[2]));
    row("tma_store_done", "cycles", double(results()[0]));
}
