// The constants of the simulated GPU's clock, read off the GPU at hand, as CSV. It needs a GPU and about a minute.
// Close what else uses the GPU. With names of parts (the list below has them), only those: ./measure code local
//
//   nvcc -O3 -std=c++17 -arch=native -o measure *.cu && ./measure > mine.csv
#include "timing.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int sms;
u64 *cycles;
unsigned *sink;

void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "measure: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

void row(const std::string &name, const char *unit, double value)
{
    printf("%s,%s,%.5g\n", name.c_str(), unit, value);
    fflush(stdout);
}

double taken()
{
    u64 c = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&c, cycles, sizeof c, cudaMemcpyDeviceToHost));
    return double(c);
}

static const struct {
    const char *name;
    void (*measure)();
} parts[] = {
    { "instructions", measure_instructions },
    { "tensor_cores", measure_tensor_cores },
    { "memory", measure_memory },
    { "code", measure_code },
    { "local", measure_local },
    { "queue", measure_queue },
    { "barriers", measure_barriers },
    { "mix", measure_mix },
    { "l2", measure_l2 },
    { "launches", measure_launches },
    { "pipes", measure_pipes },
    { "stores", measure_stores },
    { "starts", measure_starts },
    { "streams", measure_streams },
    { "clock_rate", measure_clock_rate },
};

static bool asked(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("name,unit,value\ndevice,,%s\ncompute_capability,,%d.%d\n", p.name, p.major, p.minor);
    sms = p.multiProcessorCount;
    CHECK(cudaMalloc(&cycles, 1 << 20));
    CHECK(cudaMalloc(&sink, 1 << 20));
    CHECK(cudaMalloc(&field, FIELD));
    CHECK(cudaMemset(field, 0, FIELD));
    for (const auto &part : parts)
        if (asked(part.name, argc, argv))
            part.measure();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
