// The clock's constants of what only Hopper has, read off the GPU at hand, as CSV: products of a warpgroup, barriers in
// shared memory, copies of the tensor memory accelerator. It needs a Hopper GPU and less than a minute. Close what else
// uses the GPU.
//
//   cd common/simt/clock/bench/hopper
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I ../../../.. -Xlinker -zmuldefs -o hopper *.cu
//   ./hopper > mine.csv
//
// -zmuldefs: the kernel `pack` of hopper.cuh, which nothing here runs, is in each file.
#include "hopper.h"

int sms;
u64 *out;

std::vector<u64> results()
{
    std::vector<u64> all(WORDS);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(all.data(), out, sizeof(u64) * WORDS, cudaMemcpyDeviceToHost));
    return all;
}

CUtensorMap make_map(half *matrix, u64 rows, unsigned box_rows)
{
    typedef CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                               CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void *f = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    CUtensorMap map;
    const cuuint64_t size[] = { COLS, rows }, pitch[] = { COLS * 2 };
    const cuuint32_t box[] = { 64, box_rows }, step[] = { 1, 1 };
    const CUresult made = encode(f)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, size, pitch, box, step,
                                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", made);
        exit(1);
    }
    return map;
}

void empty_l2(half *matrix)
{
    CHECK(cudaMemset(matrix + size_t(ROWS / 2) * COLS, 1, size_t(ROWS / 2) * COLS * 2));
}

__global__ void fill_matrix(half *m, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        m[i] = random_half(unsigned(i));
}

static half *matrix;

static void fill()
{
    fill_matrix<<<sms * 8, 256>>>(matrix, size_t(ROWS) * COLS);
    CHECK(cudaDeviceSynchronize());
}

static const part parts[] = {
    { "launches", measure_launches },
    { "code", [] { measure_code(matrix); } },
    { "beside", [] { measure_beside(matrix); } },
    { "products", measure_products },
    { "barriers", measure_barriers },
    { "copies", [] { measure_copies(matrix), fill(); } },  // stores change the matrix
    { "blocks", measure_blocks },
    { "clock_rate", [] { measure_clock_rate(matrix); } },
};

int main(int argc, char **argv)
{
    sms = begin_table();
    CHECK(cudaMalloc(&out, sizeof(u64) * WORDS));
    CHECK(cudaMalloc(&matrix, size_t(ROWS) * COLS * 2));
    fill();
    run_parts(parts, argc, argv);
    return 0;
}
