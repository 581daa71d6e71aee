// cuBLAS as programs call it: each product beside one of the host, and what is not there. With an argument: wrong,
// calls that fail.
#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

static cublasHandle_t handle;

static void tell(const char *what, cublasStatus_t s)
{
    printf("%s: %s\n", what, cublasGetStatusName(s));
}

// Column-major, with more rows in memory than are used.
template <typename T> struct matrix {
    int rows, columns, ld, batch;
    std::vector<T> host;
    T *device;
    matrix(int m, int n, int pad = 0, int many = 1)
        : rows(m), columns(n), ld(m + pad), batch(many), host((size_t)ld * n * many)
    {
        for (T &x : host)
            x = (T)(float)(rand() % 9 - 4);
        cudaMalloc(&device, host.size() * sizeof(T));
        up();
    }
    matrix(const matrix &) = delete;
    ~matrix()
    {
        cudaFree(device);
    }
    void up()
    {
        cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    void down()
    {
        cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
    }
    size_t stride() const
    {
        return (size_t)ld * columns;
    }
    float at(int i, int j, int b = 0) const
    {
        return (float)host[b * stride() + (size_t)j * ld + i];
    }
};

template <typename T> static float element(const matrix<T> &x, cublasOperation_t op, int i, int j, int b)
{
    return op == CUBLAS_OP_N ? x.at(i, j, b) : x.at(j, i, b);
}

// Compares c, on the device, with alpha * op(a) * op(b) + beta * c, which it still is on the host; then both are new.
template <typename T, typename U>
static bool right(matrix<U> &c, const matrix<T> &a, cublasOperation_t op_a, const matrix<T> &b, cublasOperation_t op_b,
                  float alpha, float beta, float (*after)(float, int) = nullptr)
{
    const std::vector<U> before = c.host;
    const int k = op_a == CUBLAS_OP_N ? a.columns : a.rows;
    bool same = true;
    c.down();
    for (int batch = 0; batch < c.batch; batch++)
        for (int j = 0; j < c.columns; j++)
            for (int i = 0; i < c.rows; i++) {
                float sum = 0;
                for (int l = 0; l < k; l++)
                    sum += element(a, op_a, i, l, batch) * element(b, op_b, l, j, batch);
                float want = alpha * sum + beta * (float)before[batch * c.stride() + (size_t)j * c.ld + i];
                want = after ? after(want, i) : want;
                same &= std::fabs(c.at(i, j, batch) - want) <= 0.01f * std::fabs(want) + 1e-3f;
            }
    return same;
}

static void verdict(const char *what, cublasStatus_t s, bool right)
{
    printf("%s: %s\n", what, s ? cublasGetStatusName(s) : right ? "right" : "wrong");
}

static const cublasOperation_t N = CUBLAS_OP_N, T = CUBLAS_OP_T;

static void floats()
{
    const float alpha = 2, beta = -1;
    for (int i = 0; i < 4; i++) {
        const cublasOperation_t op_a = i & 1 ? T : N, op_b = i & 2 ? T : N;
        matrix<float> a(op_a == N ? 37 : 21, op_a == N ? 21 : 37, 3), b(op_b == N ? 21 : 45, op_b == N ? 45 : 21, 1),
            c(37, 45, 5);
        const cublasStatus_t s =
            cublasSgemm(handle, op_a, op_b, 37, 45, 21, &alpha, a.device, a.ld, b.device, b.ld, &beta, c.device, c.ld);
        verdict(i == 0   ? "Sgemm NN"
                : i == 1 ? "Sgemm TN"
                : i == 2 ? "Sgemm NT"
                         : "Sgemm TT",
                s, right(c, a, op_a, b, op_b, alpha, beta));
    }
    matrix<float> a(20, 12, 0, 3), b(12, 8, 0, 3), c(20, 8, 0, 3);
    cublasStatus_t s = cublasSgemmStridedBatched(handle, N, N, 20, 8, 12, &alpha, a.device, 20, a.stride(), b.device,
                                                 12, b.stride(), &beta, c.device, 20, c.stride(), 3);
    verdict("strided", s, right(c, a, N, b, N, alpha, beta));
    float *lists[9], **device;
    for (int i = 0; i < 3; i++) {
        lists[i] = a.device + i * a.stride();
        lists[3 + i] = b.device + i * b.stride();
        lists[6 + i] = c.device + i * c.stride();
    }
    cudaMalloc(&device, sizeof lists);
    cudaMemcpy(device, lists, sizeof lists, cudaMemcpyHostToDevice);
    s = cublasSgemmBatched(handle, N, N, 20, 8, 12, &alpha, device, 20, device + 3, 12, &beta, device + 6, 20, 3);
    verdict("batched", s, right(c, a, N, b, N, alpha, beta));
    float *scalars, both[] = { alpha, beta };
    cudaMalloc(&scalars, sizeof both);
    cudaMemcpy(scalars, both, sizeof both, cudaMemcpyHostToDevice);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    s = cublasSgemmStridedBatched(handle, N, N, 20, 8, 12, scalars, a.device, 20, a.stride(), b.device, 12, b.stride(),
                                  scalars + 1, c.device, 20, c.stride(), 3);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    verdict("alpha on the device", s, right(c, a, N, b, N, alpha, beta));
}

template <typename X, typename C>
static void mixed(const char *what, cudaDataType in, cudaDataType out, cublasComputeType_t compute = CUBLAS_COMPUTE_32F)
{
    const float alpha = 0.5f, beta = 1;
    matrix<X> a(48, 40), b(40, 56);
    matrix<C> c(48, 56);
    const cublasStatus_t s = cublasGemmEx(handle, N, N, 48, 56, 40, &alpha, a.device, in, a.ld, b.device, in, b.ld,
                                          &beta, c.device, out, c.ld, compute, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
    verdict(what, s, right(c, a, N, b, N, alpha, beta));
}

static void halves()
{
    const __half alpha = 0.5f, beta = 1.f;
    mixed<__half, __half>("GemmEx of halves", CUDA_R_16F, CUDA_R_16F);
    mixed<__half, float>("GemmEx of halves to floats", CUDA_R_16F, CUDA_R_32F);
    mixed<__nv_bfloat16, __nv_bfloat16>("GemmEx of bf16", CUDA_R_16BF, CUDA_R_16BF);
    cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER);
    mixed<float, float>("GemmEx of emulated floats", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
    matrix<__half> a(48, 40), b(56, 40), c(48, 56);
    const cublasStatus_t s =
        cublasHgemm(handle, N, T, 48, 56, 40, &alpha, a.device, a.ld, b.device, b.ld, &beta, c.device, c.ld);
    verdict("Hgemm", s, right(c, a, N, b, T, 0.5f, 1));
}

static void vectors()
{
    const float alpha = 2, beta = -1;
    float result;
    matrix<float> a(30, 17, 2), x(1, 17 * 2), y(1, 30 * 3), xs(1, 17), u(100, 1), v(100, 1);
    for (int i = 0; i < 17; i++)
        xs.host[i] = x.host[2 * i];
    cublasStatus_t s = cublasSgemv(handle, N, 30, 17, &alpha, a.device, a.ld, x.device, 2, &beta, y.device, 3);
    const std::vector<float> before = y.host;
    y.down();
    bool same = true;
    for (int i = 0; i < 30; i++) {
        float sum = 0;
        for (int j = 0; j < 17; j++)
            sum += a.at(i, j) * xs.host[j];
        same &= y.host[3 * i] == alpha * sum + beta * before[3 * i];
        same &= i == 29 || y.host[3 * i + 1] == before[3 * i + 1];
    }
    verdict("Sgemv with steps", s, same);
    float dot = 0, norm = 0;
    for (int i = 0; i < 100; i++) {
        dot += u.host[i] * v.host[i];
        norm += u.host[i] * u.host[i];
    }
    s = cublasSdot(handle, 100, u.device, 1, v.device, 1, &result);
    verdict("Sdot", s, result == dot);
    s = cublasSnrm2(handle, 100, u.device, 1, &result);
    verdict("Snrm2", s, std::fabs(result - std::sqrt(norm)) < 1e-4f);
    s = cublasSaxpy(handle, 100, &alpha, u.device, 1, v.device, 1);
    for (int i = 0; i < 100; i++)
        v.host[i] += alpha * u.host[i];
    std::vector<float> want = v.host;
    v.down();
    verdict("Saxpy", s, v.host == want);
    s = cublasSscal(handle, 100, &alpha, v.device, 1);
    v.down();
    for (int i = 0; i < 100; i++)
        want[i] *= alpha;
    verdict("Sscal", s, v.host == want);
}

// All that floats have, and what goes once over its elements.
static void doubles()
{
    const double alpha = 2, beta = -1;
    for (int i = 0; i < 4; i++) {
        const cublasOperation_t op_a = i & 1 ? T : N, op_b = i & 2 ? T : N;
        matrix<double> a(op_a == N ? 37 : 21, op_a == N ? 21 : 37, 3), b(op_b == N ? 21 : 45, op_b == N ? 45 : 21, 1),
            c(37, 45, 5);
        const cublasStatus_t s =
            cublasDgemm(handle, op_a, op_b, 37, 45, 21, &alpha, a.device, a.ld, b.device, b.ld, &beta, c.device, c.ld);
        verdict(i == 0   ? "Dgemm NN"
                : i == 1 ? "Dgemm TN"
                : i == 2 ? "Dgemm NT"
                         : "Dgemm TT",
                s, right(c, a, op_a, b, op_b, alpha, beta));
    }
    matrix<double> a(20, 300, 0, 3), b(300, 8, 0, 3), c(20, 8, 0, 3), column(20, 1);
    cublasStatus_t s = cublasDgemmStridedBatched(handle, N, N, 20, 8, 300, &alpha, a.device, 20, a.stride(), b.device,
                                                 300, b.stride(), &beta, c.device, 20, c.stride(), 3);
    verdict("long sums, strided", s, right(c, a, N, b, N, alpha, beta));
    s = cublasDgemv(handle, N, 20, 300, &alpha, a.device, 20, b.device, 1, &beta, column.device, 1);
    matrix<double> first(300, 1);
    first.host.assign(b.host.begin(), b.host.begin() + 300);
    matrix<double> one(20, 300);
    one.host.assign(a.host.begin(), a.host.begin() + 20 * 300);
    verdict("Dgemv", s, right(column, one, N, first, N, alpha, beta));
}

static void elements()
{
    const double alpha = 2, beta = -1;
    const float three = 3, minus = -1;
    int place = 0, least = 0;
    double dot = 0, norm = 0, sum = 0, want_dot = 0, want_sum = 0;
    matrix<double> u(100, 1), v(100, 1);
    u.host[70] = -40, u.host[90] = 40, u.up();
    for (int i = 0; i < 100; i++) {
        want_dot += u.host[i] * v.host[i];
        want_sum += std::fabs(u.host[i]);
    }
    cublasStatus_t s = cublasDdot(handle, 100, u.device, 1, v.device, 1, &dot);
    verdict("Ddot", s, dot == want_dot);
    s = cublasDnrm2(handle, 100, u.device, 1, &norm);
    cublasDdot(handle, 100, u.device, 1, u.device, 1, &dot);
    verdict("Dnrm2", s, norm == std::sqrt(dot));
    s = cublasDasum(handle, 100, u.device, 1, &sum);
    verdict("Dasum", s, sum == want_sum);
    s = cublasIdamax(handle, 100, u.device, 1, &place);
    cublasIdamin(handle, 100, u.device, 1, &least);
    verdict("Idamax and Idamin", s,
            place == 71 && u.host[least - 1] == 0 &&
                std::find(u.host.begin(), u.host.end(), 0.) == u.host.begin() + least - 1);
    std::vector<double> want = v.host;
    for (int i = 0; i < 100; i++)
        want[i] = (want[i] + alpha * u.host[i]) * beta;
    cublasDaxpy(handle, 100, &alpha, u.device, 1, v.device, 1);
    s = cublasDscal(handle, 100, &beta, v.device, 1);
    v.down();
    verdict("Daxpy and Dscal", s, v.host == want);
    s = cublasDswap(handle, 100, u.device, 1, v.device, 1);
    u.down();
    verdict("Dswap", s, u.host == want);

    v.down();
    want_dot = 0;
    for (int i = 0; i < 100; i++)
        want_dot += std::pow(v.host[i] + beta * (beta * u.host[i]), 2);
    s = cublasScalEx(handle, 100, &beta, CUDA_R_64F, u.device, CUDA_R_64F, 1, CUDA_R_64F);
    s = s ? s
          : cublasAxpyEx(handle, 100, &beta, CUDA_R_64F, u.device, CUDA_R_64F, 1, v.device, CUDA_R_64F, 1, CUDA_R_64F);
    s = s ? s
          : cublasDotEx(handle, 100, v.device, CUDA_R_64F, 1, v.device, CUDA_R_64F, 1, &dot, CUDA_R_64F, CUDA_R_64F);
    s = s ? s : cublasNrm2Ex(handle, 100, v.device, CUDA_R_64F, 1, &norm, CUDA_R_64F, CUDA_R_64F);
    verdict("with types", s, std::fabs(dot - want_dot) <= 1e-12 * want_dot && norm == std::sqrt(dot));

    matrix<float> x(9, 17, 2), y(17, 9), z(17, 9);
    s = cublasSgeam(handle, T, N, 17, 9, &three, x.device, x.ld, &minus, y.device, y.ld, z.device, z.ld);
    z.down();
    bool same = true;
    for (int j = 0; j < 9; j++)
        for (int i = 0; i < 17; i++)
            same &= z.at(i, j) == 3 * x.at(j, i) - y.at(i, j);
    verdict("Sgeam", s, same);
    float single = 0;
    s = cublasSasum(handle, 9, x.device, 1, &single);
    verdict("Sasum", s, single == std::accumulate(x.host.begin(), x.host.begin() + 9, 0.f, [](float a, float b) {
                            return a + std::fabs(b);
                        }));
}

static float bias_values[33];
static float relu_bias(float x, int row)
{
    return std::fmax(x + bias_values[row], 0.f);
}

static void light()
{
    const float alpha = 1, beta = 2;
    matrix<float> a(19, 33), b(19, 26), c(33, 26), bias(33, 1);
    for (int i = 0; i < 33; i++)
        bias_values[i] = bias.host[i];
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    size_t workspace = 1 << 20;
    int n = 0;
    cublasLtCreate(&lt);
    cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &T, sizeof T);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.device, sizeof bias.device);
    cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, 19, 33, 19);
    cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, 19, 26, 19);
    cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, 33, 26, 33);
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                         sizeof workspace);
    tell("heuristic", cublasLtMatmulAlgoGetHeuristic(lt, operation, la, lb, lc, lc, preference, 1, &found, &n));
    float *d;
    cudaMalloc(&d, c.host.size() * sizeof(float));
    const cublasStatus_t s = cublasLtMatmul(lt, operation, &alpha, a.device, la, b.device, lb, &beta, c.device, lc, d,
                                            lc, &found.algo, nullptr, 0, nullptr);
    cudaMemcpy(c.device, d, c.host.size() * sizeof(float), cudaMemcpyDeviceToDevice);
    verdict("Lt with bias and ReLU, into D", s, n == 1 && right(c, a, T, b, N, alpha, beta, relu_bias));
    // The same memory by rows is the transposed product.
    const int32_t rows = CUBLASLT_ORDER_ROW;
    const cublasLtEpilogue_t none = CUBLASLT_EPILOGUE_DEFAULT;
    cublasLtMatrixLayout_t ra, rb, rc;
    cublasLtMatrixLayoutCreate(&ra, CUDA_R_32F, 26, 19, 19);
    cublasLtMatrixLayoutCreate(&rb, CUDA_R_32F, 33, 19, 19);
    cublasLtMatrixLayoutCreate(&rc, CUDA_R_32F, 26, 33, 33);
    for (cublasLtMatrixLayout_t l : { ra, rb, rc })
        cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &N, sizeof N);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &T, sizeof T);
    cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &none, sizeof none);
    const cublasStatus_t t = cublasLtMatmul(lt, operation, &alpha, b.device, ra, a.device, rb, &beta, c.device, rc,
                                            c.device, rc, nullptr, nullptr, 0, nullptr);
    verdict("Lt by rows", t, right(c, a, T, b, N, alpha, beta));
    cublasLtMatrixLayoutDestroy(la);
    cublasLtMatmulDescDestroy(operation);
    cublasLtDestroy(lt);
}

// Descriptions that contradict themselves, or are of types that cuBLAS has not: each status.
static void light_and_wrong()
{
    struct wanted {
        const char *what;
        cublasComputeType_t compute;
        cudaDataType scale, type, type_c;
        int batch_b;
        long long ld_a, ld_c;
        size_t workspace;
        bool in_place, biased;
    };
    const wanted all[] = {
        { "floats", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 2, 8, 8, 0, false, false },
        { "one C for all", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 2, 8, 0, 0, false, false },
        { "halves, alpha a float", CUBLAS_COMPUTE_16F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 2, 8, 8, 0, false, false },
        { "floats in halves", CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, 2, 8, 8, 0, false, false },
        { "halves in TF32", CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 2, 8, 8, 0, false,
          false },
        { "batches", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 1, 8, 8, 0, false, false },
        { "lda", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 2, 7, 8, 0, false, false },
        { "C is D", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 2, 8, 0, 0, true, false },
        { "workspace", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 2, 8, 8, 8, false, false },
        { "bias", CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 2, 8, 8, 0, false, true },
        { "doubles", CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 2, 8, 8, 0, false, false },
    };
    const long long stride = 64;
    const cublasLtEpilogue_t bias = CUBLASLT_EPILOGUE_BIAS;
    const double one = 1;
    const float one_f = 1;
    double *p;
    cublasLtHandle_t lt;
    cublasLtCreate(&lt);
    cudaMalloc(&p, 4 * 2 * stride * sizeof *p);
    for (const wanted &w : all) {
        cublasLtMatmulDesc_t operation;
        cublasLtMatrixLayout_t l[4];
        const void *const scalar = w.scale == CUDA_R_64F ? (const void *)&one : (const void *)&one_f;
        cudaMemset(p, 0, 4 * 2 * stride * sizeof *p);
        cublasLtMatmulDescCreate(&operation, w.compute, w.scale);
        if (w.biased)
            cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &bias, sizeof bias);
        for (int i = 0; i < 4; i++) {
            const int batch = i == 1 ? w.batch_b : 2;
            cublasLtMatrixLayoutCreate(&l[i], i < 2 ? w.type : w.type_c, 8, 8, i == 0 ? w.ld_a : i == 2 ? w.ld_c : 8);
            cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
            cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
        }
        double *const c = p + 2 * 2 * stride, *const d = w.in_place ? c : p + 3 * 2 * stride;
        tell(w.what, cublasLtMatmul(lt, operation, scalar, p, l[0], p + 2 * stride, l[1], scalar, c, l[2], d, l[3],
                                    nullptr, (char *)p + w.workspace, 0, nullptr));
    }
    // D = A * A + C of doubles, all elements of C 1
    double host[64], host_d[64];
    for (double &x : host)
        x = 1;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t l;
    cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_64F, CUDA_R_64F);
    cublasLtMatrixLayoutCreate(&l, CUDA_R_64F, 8, 8, 8);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    cublasLtMatmul(lt, operation, &one, p, l, p, l, &one, p, l, p + 64, l, nullptr, nullptr, 0, nullptr);
    cudaMemcpy(host_d, p + 64, sizeof host_d, cudaMemcpyDeviceToHost);
    printf("doubles: %g\n", host_d[63]);
    cublasLtDestroy(lt);
}

static void of_the_host()
{
    const float alpha = 2, beta = 1;
    matrix<float> a(24, 20), b(20, 28), c(24, 28);
    std::vector<float> result = c.host;
    cublasXtHandle_t xt;
    int device = 0;
    cublasXtCreate(&xt);
    cublasXtDeviceSelect(xt, 1, &device);
    const cublasStatus_t s =
        cublasXtSgemm(xt, N, N, 24, 28, 20, &alpha, a.host.data(), 24, b.host.data(), 20, &beta, result.data(), 24);
    cudaMemcpy(c.device, result.data(), result.size() * sizeof(float), cudaMemcpyHostToDevice);
    verdict("Xt", s, right(c, a, N, b, N, alpha, beta));
    cublasXtDestroy(xt);
}

static void in_a_graph()
{
    const float alpha = 1, beta = 1;
    matrix<float> a(16, 16), b(16, 16), c(16, 16);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cublasSetStream(handle, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    const cublasStatus_t s =
        cublasSgemm(handle, N, N, 16, 16, 16, &alpha, a.device, 16, b.device, 16, &beta, c.device, 16);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    verdict("in a graph", s, right(c, a, N, b, N, alpha, beta));
    cublasSetStream(handle, nullptr);
}

static void wrong()
{
    const float alpha = 1, beta = 0;
    const double d = 1;
    matrix<float> a(16, 16), b(16, 16), c(8, 8);
    tell("lda", cublasSgemm(handle, N, N, 16, 16, 16, &alpha, a.device, 8, b.device, 16, &beta, c.device, 16));
    tell("no handle", cublasSgemm(nullptr, N, N, 1, 1, 1, &alpha, a.device, 1, b.device, 1, &beta, c.device, 1));
    const cuDoubleComplex z = { 1, 0 };
    tell("Dgemm", cublasDgemm(handle, N, N, 4, 4, 4, &d, nullptr, 1, nullptr, 4, &d, nullptr, 4));
    for (int i = 0; i < 2; i++)
        tell("Zgemm", cublasZgemm(handle, N, N, 1, 1, 1, &z, nullptr, 1, nullptr, 1, &z, nullptr, 1));
    tell("bytes", cublasGemmEx(handle, N, N, 16, 16, 16, &alpha, a.device, CUDA_R_8I, 16, b.device, CUDA_R_8I, 16,
                               &beta, c.device, CUDA_R_32I, 16, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
    cublasSgemm(handle, N, N, 16, 16, 16, &alpha, a.device, 16, b.device, 16, &beta, c.device, 16);
    printf("a C that is too small: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

int main(int argc, char **)
{
    tell("create", cublasCreate(&handle));
    if (argc > 1) {
        light_and_wrong();
        wrong();
        return 0;
    }
    floats();
    halves();
    vectors();
    doubles();
    elements();
    light();
    of_the_host();
    in_a_graph();
    tell("destroy", cublasDestroy(handle));
    return 0;
}
