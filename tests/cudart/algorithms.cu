// More of CUB at sizes that no tile divides, each beside the host's: reductions, selections, runs, histograms.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/device_vector.h>

using numbers = std::vector<int>;
using device_numbers = thrust::device_vector<int>;

struct is_odd {
    __host__ __device__ bool operator()(int x) const
    {
        return x & 1;
    }
};

static bool all_right = true;

// The first numbers of got are the expected ones, and count, where there is one, says how many.
static void same(const char *what, const numbers &expected, const device_numbers &got, const device_numbers *count)
{
    numbers v(expected.size());
    thrust::copy(got.begin(), got.begin() + v.size(), v.begin());
    const bool right = v == expected && (!count || (*count)[0] == (int)v.size());
    printf("%s: %s\n", what, right ? "right" : "wrong");
    all_right &= right;
}

static int *at(device_numbers &v)
{
    return thrust::raw_pointer_cast(v.data());
}

template <class F> static void in_two_calls(F work)
{
    size_t bytes = 0;
    work(nullptr, bytes);
    thrust::device_vector<char> room(bytes);
    work(thrust::raw_pointer_cast(room.data()), bytes);
}

static void reduce(const numbers &h, device_numbers &in, int n)
{
    device_numbers out(1), ends(41), sums(40);
    in_two_calls([&](void *t, size_t &b) { cub::DeviceReduce::Sum(t, b, at(in), at(out), n); });
    same("sum", { std::accumulate(h.begin(), h.end(), 0) }, out, nullptr);
    in_two_calls([&](void *t, size_t &b) { cub::DeviceReduce::Max(t, b, at(in), at(out), n); });
    same("max", { *std::max_element(h.begin(), h.end()) }, out, nullptr);
    numbers begins(41), expected(40);
    for (int i = 0; i <= 40; i++)
        begins[i] = n * i / 40;
    for (int i = 0; i < 40; i++)
        expected[i] = std::accumulate(h.begin() + begins[i], h.begin() + begins[i + 1], 0);
    ends = begins;
    in_two_calls([&](void *t, size_t &b) {
        cub::DeviceSegmentedReduce::Sum(t, b, at(in), at(sums), 40, at(ends), at(ends) + 1);
    });
    same("sums of segments", expected, sums, nullptr);
}

static void select(const numbers &h, device_numbers &in, int n)
{
    device_numbers out(n), lengths(n), count(1);
    numbers expected, of_runs;
    in_two_calls([&](void *t, size_t &b) { cub::DeviceSelect::If(t, b, at(in), at(out), at(count), n, is_odd()); });
    std::copy_if(h.begin(), h.end(), std::back_inserter(expected), is_odd());
    same("odd ones", expected, out, &count);
    in_two_calls([&](void *t, size_t &b) { cub::DeviceSelect::Unique(t, b, at(in), at(out), at(count), n); });
    expected.clear();
    std::unique_copy(h.begin(), h.end(), std::back_inserter(expected));
    same("without repeats", expected, out, &count);
    in_two_calls([&](void *t, size_t &b) {
        cub::DeviceRunLengthEncode::Encode(t, b, at(in), at(out), at(lengths), at(count), n);
    });
    for (int i = 0; i < n; i++) {
        if (!i || h[i] != h[i - 1])
            of_runs.push_back(0);
        of_runs.back()++;
    }
    same("runs", expected, out, &count);
    same("lengths of runs", of_runs, lengths, &count);
}

static void histogram(const numbers &h, device_numbers &in, int n)
{
    enum { BINS = 16, MOST = 64 };
    device_numbers out(BINS);
    numbers expected(BINS);
    in_two_calls([&](void *t, size_t &b) {
        cub::DeviceHistogram::HistogramEven(t, b, at(in), at(out), BINS + 1, 0, (int)MOST, n);
    });
    for (int x : h)
        expected[x * BINS / MOST]++;
    same("histogram", expected, out, nullptr);
}

int main()
{
    for (int n : { 1, 31, 1000, 5003, 20001 }) {
        numbers h(n);
        uint32_t x = (uint32_t)n;
        for (int &number : h)
            number = (int)((x = x * 1664525u + 1013904223u) >> 26);
        device_numbers in = h;
        printf("%d numbers\n", n);
        if (n >= 40)
            reduce(h, in, n);
        select(h, in, n);
        histogram(h, in, n);
    }
    return !all_right || cudaDeviceSynchronize() != cudaSuccess;
}
