// What the two programs have in common that read the clock's constants off a GPU, measure.cu and hopper/hopper.cu: the
// rows that they print, and the parts that they run. The command line names parts; without names, all run.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

typedef unsigned long long u64;

struct part {
    const char *name;
    void (*measure)();
};

// Ends the program with a message if a call of CUDA failed.
inline void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check(call, #call)

// Prints a row of the table.
inline void row(const std::string &name, const char *unit, double value)
{
    printf("%s,%s,%.5g\n", name.c_str(), unit, value);
    fflush(stdout);
}

// Prints the first rows, which say what GPU this is. Returns how many streaming multiprocessors it has.
inline int begin_table()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("name,unit,value\ndevice,,%s\ncompute_capability,,%d.%d\n", p.name, p.major, p.minor);
    return p.multiProcessorCount;
}

// Runs the parts that are asked for, in the order of the table.
template <size_t n> void run_parts(const part (&parts)[n], int argc, char **argv)
{
    for (const part &p : parts) {
        bool asked = argc == 1;
        for (int i = 1; i < argc; i++)
            asked |= !strcmp(argv[i], p.name);
        if (asked)
            p.measure();
    }
    CHECK(cudaDeviceSynchronize());
}
