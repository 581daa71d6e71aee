// The constants of the simulated GPU's clock, read off the GPU at hand, as CSV. It needs a GPU and less than a minute.
// Close what else uses the GPU.
//
//   nvcc -O3 -std=c++17 -arch=native -o measure *.cu && ./measure > mine.csv
#include "measure.h"

#include <cstdio>
#include <cstdlib>

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

int main()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("name,unit,value\ndevice,,%s\ncompute_capability,,%d.%d\n", p.name, p.major, p.minor);
    sms = p.multiProcessorCount;
    CHECK(cudaMalloc(&cycles, 1 << 20));
    CHECK(cudaMalloc(&sink, 1 << 20));
    measure_instructions();
    measure_tensor_cores();
    measure_memory();
    measure_code();
    measure_l2();
    measure_launches();
    measure_clock_rate();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
