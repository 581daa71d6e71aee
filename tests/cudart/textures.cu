// Textures and surfaces, each read in a kernel and compared with what CUDA's programming guide says of it.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static const int W = 8, H = 6, D = 3, N = 64;

__global__ void read_1d(float *out, cudaTextureObject_t t, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<float>(t, i - 2);
}

__global__ void read_line(float *out, cudaTextureObject_t t, const float *x)
{
    out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}

template <typename T> __global__ void read_2d(T *out, cudaTextureObject_t t, const float *x, const float *y)
{
    out[threadIdx.x] = tex2D<T>(t, x[threadIdx.x], y[threadIdx.x]);
}

__global__ void read_3d(float *out, cudaTextureObject_t t, const float *x, const float *y)
{
    out[threadIdx.x] = tex3D<float>(t, x[threadIdx.x], y[threadIdx.x], 1.25f);
}

__global__ void read_layer(float *out, cudaTextureObject_t t, const float *x, const float *y)
{
    out[threadIdx.x] = tex2DLayered<float>(t, x[threadIdx.x], y[threadIdx.x], threadIdx.x % (D + 1));
}

__global__ void through_surface(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    const int x = threadIdx.x, y = threadIdx.y;
    float value;
    surf2Dread(&value, from, x * (int)sizeof value, y, cudaBoundaryModeZero);
    surf2Dwrite(value + 1, to, (W - 1 - x) * (int)sizeof value, y, cudaBoundaryModeZero);
}

__global__ void pairs(cudaSurfaceObject_t s)
{
    float2 v;
    surf2Dread(&v, s, (int)threadIdx.x * (int)sizeof v, 1);
    surf2Dwrite(make_float2(v.y, v.x), s, (int)threadIdx.x * (int)sizeof v, 1);
}

static void verdict(const char *what, bool right)
{
    printf("%s: %s (%s)\n", what, right ? "right" : "wrong", cudaGetErrorName(cudaGetLastError()));
}

template <typename T> struct buffer {
    T *at;
    std::vector<T> host;
    explicit buffer(size_t n) : host(n)
    {
        cudaMalloc(&at, n * sizeof(T));
    }
    buffer(const buffer &) = delete;
    ~buffer()
    {
        cudaFree(at);
    }
    void up()
    {
        cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    void down()
    {
        cudaMemcpy(host.data(), at, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

static float image(int x, int y, int z = 0)
{
    return (float)(x * x + 10 * y + 100 * z);
}

static cudaTextureObject_t texture_of(cudaArray_t a, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                                      bool normalized, cudaTextureReadMode read = cudaReadModeElementType)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    d.filterMode = filter;
    d.readMode = read;
    d.normalizedCoords = normalized;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
}

// Where an element lies that is out of bounds; -1: nowhere.
static int place(int i, int n, cudaTextureAddressMode mode)
{
    if (mode == cudaAddressModeBorder)
        return i < 0 || i >= n ? -1 : i;
    if (mode == cudaAddressModeClamp)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    const int period = mode == cudaAddressModeMirror ? 2 * n : n, at = ((i % period) + period) % period;
    return at < n ? at : 2 * n - 1 - at;
}

static float at(int x, int y, cudaTextureAddressMode mode)
{
    const int i = place(x, W, mode), j = place(y, H, mode);
    return i < 0 || j < 0 ? 0 : image(i, j);
}

static float filtered(float x, float y, cudaTextureAddressMode mode)
{
    const float u = x - 0.5f, v = y - 0.5f;
    const int i = (int)std::floor(u), j = (int)std::floor(v);
    const float a = u - i, b = v - j;
    return (1 - a) * (1 - b) * at(i, j, mode) + a * (1 - b) * at(i + 1, j, mode) + (1 - a) * b * at(i, j + 1, mode) +
           a * b * at(i + 1, j + 1, mode);
}

static cudaArray_t filled(buffer<float> &x, buffer<float> &y)
{
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    float host[H][W];
    cudaArray_t a;
    for (int j = 0; j < H; j++)
        for (int i = 0; i < W; i++)
            host[j][i] = image(i, j);
    for (int i = 0; i < N; i++)  // whole multiples of 1/16, so that a weight is exact
        x.host[i] = (i * 5 % 41 - 8) * 0.3125f, y.host[i] = (i * 3 % 23 - 4) * 0.4375f;
    x.up(), y.up();
    cudaMallocArray(&a, &one, W, H, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], sizeof host[0], H, cudaMemcpyHostToDevice);
    return a;
}

static void planes(cudaArray_t a, buffer<float> &x, buffer<float> &y)
{
    static const struct {
        const char *name;
        cudaTextureAddressMode mode;
        bool normalized;
    } all[] = { { "clamp", cudaAddressModeClamp, false },
                { "border", cudaAddressModeBorder, false },
                { "wrap", cudaAddressModeWrap, true },
                { "mirror", cudaAddressModeMirror, true } };
    buffer<float> out(N), u(N), v(N);
    for (const auto &m : all)
        for (const cudaTextureFilterMode filter : { cudaFilterModePoint, cudaFilterModeLinear }) {
            const cudaTextureObject_t t = texture_of(a, m.mode, filter, m.normalized);
            char what[64];
            bool right = true;
            for (int i = 0; i < N; i++) {
                u.host[i] = m.normalized ? x.host[i] / W : x.host[i];
                v.host[i] = m.normalized ? y.host[i] / H : y.host[i];
            }
            u.up(), v.up();
            read_2d<<<1, N>>>(out.at, t, u.at, v.at);
            out.down();
            for (int i = 0; i < N; i++) {
                const float px = m.normalized ? u.host[i] * W : x.host[i],
                            py = m.normalized ? v.host[i] * H : y.host[i];
                const float want = filter == cudaFilterModeLinear
                                       ? filtered(px, py, m.mode)
                                       : at((int)std::floor(px), (int)std::floor(py), m.mode);
                right &= std::fabs(out.host[i] - want) <= (m.normalized && filter ? 0.6f : 1e-4f);
            }
            snprintf(what, sizeof what, "2D, %s, %s", m.name, filter ? "linear" : "point");
            verdict(what, right);
            cudaDestroyTextureObject(t);
        }
}

static void bytes(buffer<float> &x, buffer<float> &y)
{
    const cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
    uchar4 host[H * W];
    cudaArray_t a;
    buffer<uchar4> raw(N);
    buffer<float4> out(N);
    for (int i = 0; i < H * W; i++)
        host[i] = make_uchar4(i, 255 - i, 7, 255);
    cudaMallocArray(&a, &four, W, H);
    cudaMemcpy2DToArray(a, 0, 0, host, W * sizeof *host, W * sizeof *host, H, cudaMemcpyHostToDevice);
    read_2d<<<1, N>>>(raw.at, texture_of(a, cudaAddressModeClamp, cudaFilterModePoint, false), x.at, y.at);
    read_2d<<<1, N>>>(out.at,
                      texture_of(a, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat),
                      x.at, y.at);
    raw.down(), out.down();
    bool same = true, floats = true;
    for (int i = 0; i < N; i++) {
        const int px = place((int)std::floor(x.host[i]), W, cudaAddressModeClamp);
        const int py = place((int)std::floor(y.host[i]), H, cudaAddressModeClamp);
        same &= !memcmp(&raw.host[i], &host[py * W + px], sizeof *host);
        floats &= out.host[i].x == host[py * W + px].x / 255.f && out.host[i].w == 1;
    }
    verdict("bytes", same);
    verdict("bytes as floats", floats);
    cudaFreeArray(a);
}

static void volumes(buffer<float> &x, buffer<float> &y)
{
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    const cudaExtent extent = { W, H, D };
    std::vector<float> host(W * H * D);
    buffer<float> out(N);
    for (int i = 0; i < W * H * D; i++)
        host[i] = image(i % W, i / W % H, i / W / H);
    for (const unsigned flags : { 0u, (unsigned)cudaArrayLayered }) {
        cudaArray_t a;
        cudaMemcpy3DParms p = {};
        cudaMalloc3DArray(&a, &one, extent, flags);
        p.srcPtr = make_cudaPitchedPtr(host.data(), W * sizeof(float), W, H);
        p.dstArray = a;
        p.extent = extent;
        p.kind = cudaMemcpyHostToDevice;
        cudaMemcpy3D(&p);
        const cudaTextureObject_t t = texture_of(a, cudaAddressModeClamp, cudaFilterModeLinear, false);
        if (flags)
            read_layer<<<1, N>>>(out.at, t, x.at, y.at);
        else
            read_3d<<<1, N>>>(out.at, t, x.at, y.at);
        out.down();
        bool right = true;
        for (int i = 0; i < N; i++) {
            const float plane = flags ? 100.f * (i % (D + 1) < D ? i % (D + 1) : D - 1) : 75.f;
            const float off = std::fabs(out.host[i] - plane - filtered(x.host[i], y.host[i], cudaAddressModeClamp));
            right &= off <= (flags ? 1e-3f : 310.f / 256);  // in three dimensions a weight may be off by 1/256
        }
        verdict(flags ? "layers" : "3D", right);
        cudaFreeArray(a);
    }
}

static void lines(buffer<float> &x)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    buffer<float> in(W), out(N);
    for (int i = 0; i < W; i++)
        in.host[i] = i + 1.f;
    in.up();
    r.resType = cudaResourceTypeLinear;
    r.res.linear = { in.at, cudaCreateChannelDesc<float>(), W * sizeof(float) };
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    read_1d<<<1, 32>>>(out.at, t, W + 4);
    out.down();
    bool right = true;
    for (int i = 0; i < W + 4; i++)
        right &= out.host[i] == (i >= 2 && i < W + 2 ? i - 1.f : 0);
    verdict("1D of linear memory", right);

    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    cudaArray_t a;
    cudaMallocArray(&a, &one, W);
    cudaMemcpy2DToArray(a, 0, 0, in.host.data(), W * sizeof(float), W * sizeof(float), 1, cudaMemcpyHostToDevice);
    read_line<<<1, N>>>(out.at, texture_of(a, cudaAddressModeClamp, cudaFilterModeLinear, false), x.at);
    out.down();
    right = true;
    for (int i = 0; i < N; i++)
        right &= std::fabs(out.host[i] - std::fmin(std::fmax(x.host[i] + 0.5f, 1.f), (float)W)) <= 1e-4f;
    verdict("1D, linear", right);
    read_line<<<1, N>>>(out.at, texture_of(a, cudaAddressModeBorder, cudaFilterModeLinear, false), x.at);
    out.down();
    right = true;
    for (int i = 0; i < N; i++) {  // the border is above the line, too, and half of what is read there
        const float u = x.host[i] - 0.5f, k = std::floor(u), b = u - k;
        const float left = k >= 0 && k < W ? k + 1 : 0, after = k >= -1 && k < W - 1 ? k + 2 : 0;
        right &= std::fabs(out.host[i] - ((1 - b) * left + b * after) / 2) <= 1e-4f;
    }
    verdict("1D, linear, border", right);
}

static void surfaces(cudaArray_t a)
{
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    cudaArray_t b;
    cudaSurfaceObject_t from, to;
    cudaResourceDesc r = {};
    float host[H][W];
    cudaMallocArray(&b, &one, W, H, cudaArraySurfaceLoadStore);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaCreateSurfaceObject(&from, &r);
    r.res.array.array = b;
    cudaCreateSurfaceObject(&to, &r);
    through_surface<<<1, dim3(W + 2, H + 1)>>>(from, to);
    cudaMemcpy2DFromArray(host, sizeof host[0], b, 0, 0, sizeof host[0], H, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            right &= host[y][x] == image(W - 1 - x, y) + 1;
    verdict("a surface", right);
    pairs<<<1, W / 2>>>(to);
    cudaMemcpy2DFromArray(host, sizeof host[0], b, 0, 0, sizeof host[0], H, cudaMemcpyDeviceToHost);
    for (int x = 0; x < W; x++)
        right &= host[1][x] == image(W - 1 - (x ^ 1), 1) + 1;
    verdict("pairs", right);
}

static void wrong(cudaArray_t a)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    char host[4096];
    r.resType = cudaResourceTypeMipmappedArray;
    printf("mipmaps: %s\n", cudaGetErrorName(cudaCreateTextureObject(&t, &r, &d, nullptr)));
    printf("beyond it: %s\n", cudaGetErrorName(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, H, cudaMemcpyHostToDevice)));
    printf("as memory: %s\n", cudaGetErrorName(cudaMemcpy(a, host, 64, cudaMemcpyDefault)));
    cudaFreeArray(a);
    printf("twice: %s\n", cudaGetErrorName(cudaFreeArray(a)));
}

int main()
{
    cudaDeviceProp about;
    cudaGetDeviceProperties(&about, 0);
    printf("at most %d x %d\n", about.maxTexture2D[0], about.maxTexture2D[1]);
    buffer<float> x(N), y(N);
    const cudaArray_t a = filled(x, y);
    lines(x);
    planes(a, x, y);
    bytes(x, y);
    volumes(x, y);
    surfaces(a);
    wrong(a);
    return 0;
}
