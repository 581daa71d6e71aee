// How long a launch takes, by events.
#pragma once

#include "measure.h"

#include <algorithm>
#include <vector>

// What L2 holds when a measured launch begins.
enum before {
    WRITTEN,  // what was stored and has not gone to DRAM yet
    READ,     // what was loaded
    ITSELF    // what the same launch left
};

// streams.cu: 2 GiB of zeros, for the kernels; fills L2 with other data.
extern uint4 *field;
constexpr size_t FIELD = size_t(1) << 31;
void fill_l2(before what);

// Microseconds from the begin of the launch to its end, the median of `times`. What a launch takes by itself is in it.
template <class LAUNCH> double time_us(const LAUNCH &launch, before what, int times = 7)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> all(times);
    launch();
    for (float &ms : all) {
        fill_l2(what);
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(all.begin(), all.end());
    return 1e3 * all[times / 2];
}
