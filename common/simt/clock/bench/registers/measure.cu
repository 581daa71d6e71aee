// Times the patterns of the register file on the GPU at hand, as CSV: cycles of an SM for a round of the template's
// loop, which four warps of each sub-core go through.
//
//   nvcc -O3 -arch=native -o measure_registers measure.cu patterns.c rewrite.c ../../cubin.c \
//       ../../cubin_line.c ../../sass.c -lcuda && ./measure_registers template.cubin > mine.csv
//
// A cubin runs on cards of its own compute capability, 9.0. A child process measures the patterns; if one of them
// fails, another child goes on behind it.
#include "../parts.h"
#include "patterns.h"

#include <algorithm>
#include <cuda.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

constexpr int FEW = 100, MANY = 400;  // rounds
constexpr int TIMES = 5;

static void check_driver(CUresult status, const char *what)
{
    const char *name = nullptr;
    if (status == CUDA_SUCCESS)
        return;
    cuGetErrorName(status, &name);
    fprintf(stderr, "%s: %s\n", what, name ? name : "unknown error");
    exit(1);
}
#define CHECK_DRIVER(call) check_driver(call, #call)

static std::vector<unsigned char> read_file(const char *path)
{
    std::vector<unsigned char> all(1 << 22);
    FILE *f = fopen(path, "rb");
    all.resize(f ? fread(all.data(), 1, all.size(), f) : 0);
    if (f)
        fclose(f);
    return all;
}

// From the first warp's begin to the last warp's end.
static double cycles_of(CUfunction kernel, int rounds, CUdeviceptr times, CUdeviceptr sink)
{
    u64 all[2 * TEMPLATE_WARPS], begin = ~0ull, end = 0;
    void *params[] = { &rounds, &times, &sink };
    CHECK_DRIVER(cuLaunchKernel(kernel, 1, 1, 1, TEMPLATE_THREADS, 1, 1, 0, nullptr, params, nullptr));
    CHECK_DRIVER(cuMemcpyDtoH(all, times, sizeof all));
    for (int i = 0; i < TEMPLATE_WARPS; i++) {
        begin = std::min(begin, all[2 * i]);
        end = std::max(end, all[2 * i + 1]);
    }
    return double(end - begin);
}

static void measure(const register_pattern &p, std::vector<unsigned char> cubin)
{
    char error[200];
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr times, sink;
    if (!register_rewrite(cubin.data(), cubin.size(), &p, error)) {
        fprintf(stderr, "%s: %s\n", p.name, error);
        exit(1);
    }
    CHECK_DRIVER(cuModuleLoadData(&module, cubin.data()));
    CHECK_DRIVER(cuModuleGetFunction(&kernel, module, TEMPLATE_KERNEL));
    CHECK_DRIVER(cuMemAlloc(&times, 2 * TEMPLATE_WARPS * sizeof(u64)));
    CHECK_DRIVER(cuMemAlloc(&sink, TEMPLATE_THREADS * sizeof(float)));
    std::vector<double> of_round(TIMES);
    cycles_of(kernel, FEW, times, sink);
    for (double &each : of_round)
        each = (cycles_of(kernel, MANY, times, sink) - cycles_of(kernel, FEW, times, sink)) / (MANY - FEW);
    std::sort(of_round.begin(), of_round.end());
    row(p.name, "cycles", of_round[TIMES / 2]);
    CHECK_DRIVER(cuMemFree(times));
    CHECK_DRIVER(cuMemFree(sink));
    CHECK_DRIVER(cuModuleUnload(module));
}

// *next: the pattern that is under way; until then it is left alone.
static int measure_from(size_t first, volatile size_t *next, const std::vector<unsigned char> &cubin)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(nullptr));
    if (!first)
        begin_table();
    for (*next = first; *next < n_register_patterns; *next = *next + 1)
        measure(register_patterns[*next], cubin);
    return 0;
}

int main(int argc, char **argv)
{
    const std::vector<unsigned char> cubin = argc == 2 ? read_file(argv[1]) : std::vector<unsigned char>();
    if (cubin.empty()) {
        fprintf(stderr, "usage: %s TEMPLATE.cubin\n", argv[0]);
        return 2;
    }
    void *shared = mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    volatile size_t *next = static_cast<volatile size_t *>(shared);
    bool failed = false;
    for (size_t first = 0; first < n_register_patterns; first = *next + 1) {
        int status = 1;
        *next = n_register_patterns;
        const pid_t child = fork();
        if (!child)
            return measure_from(first, next, cubin);
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return 1;
        failed |= status != 0;
        if (status && *next < n_register_patterns)
            fprintf(stderr, "%s failed\n", register_patterns[*next].name);
    }
    return failed;
}
