// Vector addition that checks itself. With an argument, it forgets to copy b to the device.
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];  // line 9, as the test expects it
}

static float *on_device(const std::vector<float> &v, bool copied)
{
    float *p = nullptr;
    cudaMalloc(&p, v.size() * sizeof(float));
    if (copied)
        cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice);
    return p;
}

int main(int argc, char **)
{
    const int n = 1000;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i + 1;
    }
    float *da = on_device(a, true), *db = on_device(b, argc == 1), *dc = on_device(c, false);
    add<<<(n + 127) / 128, 128>>>(da, db, dc, n);
    cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost);
    const cudaError_t e = cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    printf("%s, %d wrong\n", cudaGetErrorString(e), wrong);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return wrong != 0;
}
