// What NVIDIA's libraries make of numbers at a size that no tile divides: CUB's radix sort and scan, thrust's sort with
// a comparison of the program's own, which is a merge sort. Each is compared with the host's.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

using numbers = std::vector<uint32_t>;

struct by_last_digits {
    __host__ __device__ bool operator()(uint32_t a, uint32_t b) const
    {
        return a % 1000 < b % 1000;
    }
};

static numbers random_numbers(size_t n)
{
    numbers v(n);
    uint32_t x = 1;
    for (auto &number : v)
        number = (x = x * 1664525u + 1013904223u) ^ x >> 15;
    return v;
}

static bool same(const char *what, const numbers &expected, const thrust::device_vector<uint32_t> &got)
{
    numbers v(got.size());
    thrust::copy(got.begin(), got.end(), v.begin());
    const bool right = v == expected && cudaDeviceSynchronize() == cudaSuccess;
    printf("%s of %zu: %s\n", what, v.size(), right ? "right" : "wrong");
    return right;
}

// CUB asks for a room of so many bytes in a first call, and works in the second.
template <class F> static void in_two_calls(F work)
{
    size_t bytes = 0;
    work(nullptr, bytes);
    thrust::device_vector<char> room(bytes);
    work(thrust::raw_pointer_cast(room.data()), bytes);
}

int main()
{
    const numbers in = random_numbers(5003);
    const int n = (int)in.size();
    numbers expected = in;
    thrust::device_vector<uint32_t> from = in, to(n);
    const uint32_t *p = thrust::raw_pointer_cast(from.data());
    uint32_t *q = thrust::raw_pointer_cast(to.data());

    in_two_calls([&](void *room, size_t &bytes) { cub::DeviceRadixSort::SortKeys(room, bytes, p, q, n); });
    std::sort(expected.begin(), expected.end());
    bool right = same("radix sort", expected, to);

    in_two_calls([&](void *room, size_t &bytes) { cub::DeviceScan::InclusiveSum(room, bytes, p, q, n); });
    std::partial_sum(in.begin(), in.end(), expected.begin());
    right &= same("scan", expected, to);

    expected = in;
    thrust::stable_sort(from.begin(), from.end(), by_last_digits());
    std::stable_sort(expected.begin(), expected.end(), by_last_digits());
    right &= same("merge sort", expected, from);
    return !right;
}
