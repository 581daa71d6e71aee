// cuRAND: numbers of its host interface, and those of curand_kernel.h in a kernel, which are the same.
#include <curand.h>
#include <curand_kernel.h>

#include <cstdio>
#include <vector>

static const int N = 10000, SEED = 1234;

static void tell(const char *what, curandStatus_t s)
{
    printf("%s: %d\n", what, (int)s);
}

// In the documented order of the host interface, number i is the first of the sequence i, for the first 4,096 of them.
template <typename State> __global__ void first_of_sequence(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    State state;
    curand_init(SEED, i, 0, &state);
    if (i < n)
        x[i] = curand_uniform(&state);
}

// Philox's numbers come in fours.
__global__ void fours(float4 *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(SEED, i, 0, &state);
    if (i < n)
        x[i] = curand_uniform4(&state);
}

static std::vector<float> made(curandGenerator_t g, bool on_host,
                               curandStatus_t (*make)(curandGenerator_t, float *, size_t))
{
    std::vector<float> host(N);
    float *device;
    cudaMalloc(&device, N * sizeof *device);
    const curandStatus_t s = make(g, on_host ? host.data() : device, N);
    if (!on_host)
        cudaMemcpy(host.data(), device, N * sizeof *device, cudaMemcpyDeviceToHost);
    cudaFree(device);
    if (s)
        tell("made", s);
    return host;
}

static curandStatus_t normal(curandGenerator_t g, float *x, size_t n)
{
    return curandGenerateNormal(g, x, n, 1, 2);
}

static void kind(const char *name, curandRngType_t type)
{
    curandGenerator_t device, host;
    curandCreateGenerator(&device, type);
    curandCreateGeneratorHost(&host, type);
    curandSetPseudoRandomGeneratorSeed(device, SEED);
    curandSetPseudoRandomGeneratorSeed(host, SEED);
    const std::vector<float> a = made(device, false, curandGenerateUniform);
    const bool same = a == made(host, true, curandGenerateUniform);
    const bool later = made(device, false, normal) == made(host, true, normal);
    printf("%s: %.4f %.4f %.4f %.4f %.4f, as on the host: %s, %s\n", name, a[0], a[1], a[2], a[3], a[4],
           same ? "yes" : "no", later ? "yes" : "no");
    curandDestroyGenerator(device);
    curandDestroyGenerator(host);
}

static void in_a_kernel(const char *name, curandRngType_t type, void (*kernel)(float *, int), int n)
{
    curandGenerator_t g;
    curandCreateGeneratorHost(&g, type);
    curandSetPseudoRandomGeneratorSeed(g, SEED);
    const std::vector<float> a = made(g, true, curandGenerateUniform);
    float *device;
    std::vector<float> b(n);
    cudaMalloc(&device, n * sizeof *device);
    kernel(device, n);
    cudaMemcpy(b.data(), device, n * sizeof *device, cudaMemcpyDeviceToHost);
    int same = 0;
    for (int i = 0; i < n; i++)
        same += a[i] == b[i];
    printf("%s in a kernel: %d of %d the same\n", name, same, n);
    cudaFree(device);
    curandDestroyGenerator(g);
}

int main()
{
    kind("XORWOW", CURAND_RNG_PSEUDO_XORWOW);
    kind("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A);
    kind("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10);
    in_a_kernel(
        "XORWOW", CURAND_RNG_PSEUDO_XORWOW, [](float *x, int n) { first_of_sequence<curandState><<<2, 64>>>(x, n); },
        128);
    in_a_kernel(
        "MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A,
        [](float *x, int n) { first_of_sequence<curandStateMRG32k3a><<<2, 64>>>(x, n); }, 128);
    in_a_kernel(
        "Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, [](float *x, int n) { fours<<<1, 32>>>((float4 *)x, n / 4); }, 128);

    curandGenerator_t g;
    float *x;
    cudaMalloc(&x, N);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
    tell("an odd number of them", curandGenerateNormal(g, x, 11, 0, 1));
    tell("no generator", curandGenerateUniform(nullptr, x, 10));
    tell("too small", curandGenerateUniform(g, x, N));
    return 0;
}
