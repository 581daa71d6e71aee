// The constants of the simulated GPU's clock, read off the GPU at hand, as CSV. It needs a GPU and about a minute.
// Close what else uses the GPU. With names of parts (the list below has them), only those: ./measure code local
//
//   nvcc -O3 -std=c++17 -arch=native -o measure *.cu && ./measure > mine.csv
#include "timing.h"

int sms;
u64 *cycles;
unsigned *sink;

double taken()
{
    u64 c = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&c, cycles, sizeof c, cudaMemcpyDeviceToHost));
    return double(c);
}

static const part parts[] = {
    { "instructions", measure_instructions },
    { "tensor_cores", measure_tensor_cores },
    { "memory", measure_memory },
    { "l1", measure_l1 },
    { "code", measure_code },
    { "local", measure_local },
    { "queue", measure_queue },
    { "barriers", measure_barriers },
    { "mix", measure_mix },
    { "l2", measure_l2 },
    { "bursts", measure_bursts },
    { "constants", measure_constants },
    { "launches", measure_launches },
    { "pipes", measure_pipes },
    { "stores", measure_stores },
    { "starts", measure_starts },
    { "streams", measure_streams },
    { "clock_rate", measure_clock_rate },
};

int main(int argc, char **argv)
{
    sms = begin_table();
    CHECK(cudaMalloc(&cycles, 1 << 20));
    CHECK(cudaMalloc(&sink, 1 << 20));
    CHECK(cudaMalloc(&field, FIELD));
    CHECK(cudaMemset(field, 0, FIELD));
    run_parts(parts, argc, argv);
    return 0;
}
