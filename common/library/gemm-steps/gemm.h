// gemm-steps as a library: C = activation(alpha * A * B + beta * C + bias) on an NVIDIA GPU, or on the simulated GPU.
//
//     gemm_steps *h;
//     if (gemm_steps_create(GEMM_STEPS_ANY, &h) != GEMM_STEPS_OK)
//         puts(gemm_steps_error(NULL));
//     gemm_steps_f32_host(h, m, n, k, 1, A, B, 0, C);
//     gemm_steps_destroy(h);
//
// A is m x k (rows x columns), B is k x n, C is m x n, row-major: element (row, column) of A is A[row * lda + column].
// Elements are floats (f32), IEEE halves (f16) or bf16; sums are kept in floats. If beta is 0, C is not read; if alpha
// is 0, A and B are not, and may be NULL. What is stored is rounded once, at the end.
//
// Column-major matrices, as CBLAS and cuBLAS have them: what is column-major with a leading dimension is, row-major,
// its transpose with the same one. So exchange A with B (with their transposes, leading dimensions and strides), m with
// n, and a row's bias with a column's; all else stays.
//
// A handle chooses a kernel for the card and the shape, and owns what that needs: compiled kernels, tensor maps, a
// workspace. It may be used by one thread at a time; it need not be the one that created it. Threads that work at the
// same time have a handle each. The kernels are inside of the library. Link with pkg-config --libs gemm-steps. CUDA's
// own libraries are not needed to build or link; the driver's (libcuda.so.1) is opened when a handle is created on a
// GPU.
#ifndef GEMM_STEPS_GEMM_H
#define GEMM_STEPS_GEMM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GEMM_STEPS_API __attribute__((visibility("default")))
#else
#define GEMM_STEPS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gemm_steps gemm_steps;  // a handle

// An address in the device's memory: a CUdeviceptr, or what cudaMalloc gives, cast to an integer.
typedef uint64_t gemm_steps_ptr;

// Every function that can fail returns one of these, and leaves a line of English in gemm_steps_error.
typedef enum gemm_steps_status {
    GEMM_STEPS_OK,
    GEMM_STEPS_BAD_ARGUMENT,   // nothing was done
    GEMM_STEPS_NO_DEVICE,      // no driver, no such device, or no context is current
    GEMM_STEPS_UNSUPPORTED,    // the card is older than the kernels: they need sm_75, Turing
    GEMM_STEPS_OUT_OF_MEMORY,  // the host's, or the device's
    GEMM_STEPS_FAILED,         // the device refused, or an earlier kernel of this context went wrong
    GEMM_STEPS_NOT_PREPARED    // the stream is being captured, and something would have to be loaded or allocated
} gemm_steps_status;

// Where to create a handle: the number of a CUDA device (its primary context, which the CUDA runtime uses, too), or one
// of these.
enum {
    GEMM_STEPS_CURRENT = -1,    // the CUDA context that is current in the calling thread; it must outlive the handle
    GEMM_STEPS_SIMULATED = -2,  // the simulated GPU, which runs the same kernels on the host's processors
    GEMM_STEPS_ANY = -3         // CUDA device 0 if it answers, else the simulated GPU
};

// Sets *handle, to NULL on failure. A kernel is compiled by the driver when it is first needed, which takes a moment.
GEMM_STEPS_API gemm_steps_status gemm_steps_create(int device, gemm_steps **handle);

// Waits for the products that were queued, and frees all that the handle has. NULL is allowed.
GEMM_STEPS_API void gemm_steps_destroy(gemm_steps *handle);

// One line about the last call with this handle that failed, "" before the first. NULL: about this thread's last
// gemm_steps_create that failed, or its last call with a handle of NULL.
GEMM_STEPS_API const char *gemm_steps_error(const gemm_steps *handle);

// --- Products ---

typedef enum gemm_steps_type { GEMM_STEPS_F32 = 1, GEMM_STEPS_F16, GEMM_STEPS_BF16 } gemm_steps_type;
typedef enum gemm_steps_bias {
    GEMM_STEPS_NO_BIAS,
    GEMM_STEPS_BIAS_ROW,    // n elements, a row that is added to each row of C
    GEMM_STEPS_BIAS_COLUMN  // m elements, a column that is added to each column of C
} gemm_steps_bias;
typedef enum gemm_steps_activation {
    GEMM_STEPS_NO_ACTIVATION,
    GEMM_STEPS_RELU,  // 0 in place of what is below it
    GEMM_STEPS_GELU   // by its tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
} gemm_steps_activation;

// A product, or a batch of them. Begin with { 0 }: what is 0 then stands for the usual thing. Distances are in
// elements.
typedef struct gemm_steps_problem {
    int m, n, k;                   // 1 to 2^30
    int batch;                     // how many products, up to 2^20; 0 stands for 1
    gemm_steps_type type;          // of A and B
    gemm_steps_type type_c;        // of C and bias: that of A and B, or f32. 0: the former
    int transpose_a, transpose_b;  // not 0: A lies as k x m, B as n x k, and is used transposed
    float alpha, beta;
    // At multiples of an element's size. C overlaps none of A, B and bias; but A or B may lie in gaps of C, with the
    // same leading dimension.
    gemm_steps_ptr A, B, C;
    int64_t lda, ldb, ldc;  // leading dimensions: from a row, as it lies, to the next, up to 2^38. 0: there are no gaps
    int64_t stride_a, stride_b, stride_c;  // from a matrix of the batch to the next; A and B: 0 if all use the same
    gemm_steps_bias bias_kind;
    gemm_steps_activation activation;
    gemm_steps_ptr bias;  // the same for all of a batch
} gemm_steps_problem;

// Queues the product and returns. Bad arguments are refused before anything is queued. An error of the kernel itself is
// found later, by gemm_steps_wait or by CUDA. Every product is computed on every card: gemm_steps_kernel says how.
GEMM_STEPS_API gemm_steps_status gemm_steps_gemm(gemm_steps *handle, const gemm_steps_problem *problem);

// Loads and allocates what this product needs, and queues nothing. Afterwards alpha and beta may change, but for an
// alpha of 0, and so may the pointers, as long as they stay multiples of 16 bytes, or are the same. A pointer that is 0
// stands for a multiple of 16 bytes.
//
// A product that has been prepared, or was queued before, can be captured into a CUDA graph: nothing is then allocated,
// loaded or waited for. The graph uses the handle's kernels and workspace, so the handle must outlive it, and its
// replays must not run at the same time as other products of the handle that use the workspace.
GEMM_STEPS_API gemm_steps_status gemm_steps_prepare(gemm_steps *handle, const gemm_steps_problem *problem);

// The short calls: C = alpha * A * B + beta * C, without gaps.
GEMM_STEPS_API gemm_steps_status gemm_steps_f16(gemm_steps *handle, int m, int n, int k, float alpha, gemm_steps_ptr A,
                                                gemm_steps_ptr B, float beta, gemm_steps_ptr C);
GEMM_STEPS_API gemm_steps_status gemm_steps_f32(gemm_steps *handle, int m, int n, int k, float alpha, gemm_steps_ptr A,
                                                gemm_steps_ptr B, float beta, gemm_steps_ptr C);

// The same for arrays in the host's memory: copies A, B and, if beta is not 0, C to the device, and C back. C is
// complete when the function returns. f16: elements are the 16 bits of IEEE binary16.
GEMM_STEPS_API gemm_steps_status gemm_steps_f16_host(gemm_steps *handle, int m, int n, int k, float alpha,
                                                     const uint16_t *A, const uint16_t *B, float beta, uint16_t *C);
GEMM_STEPS_API gemm_steps_status gemm_steps_f32_host(gemm_steps *handle, int m, int n, int k, float alpha,
                                                     const float *A, const float *B, float beta, float *C);

// Waits until everything in the handle's stream is done.
GEMM_STEPS_API gemm_steps_status gemm_steps_wait(gemm_steps *handle);

// --- The handle ---

// The stream of the products and copies from now on: a CUstream or cudaStream_t, cast to void *. NULL, as at first, is
// the default stream. Products that share the handle's workspace wait for each other across streams; what else has to
// wait is the caller's to say. The simulated GPU has no streams: products are done when their calls return.
GEMM_STEPS_API gemm_steps_status gemm_steps_set_stream(gemm_steps *handle, void *stream);

// The workspace is memory on the device for copies of matrices whose rows do not begin at multiples of 16 bytes, and
// for sums of tiles that several blocks share. It grows when a product needs more than any before; then the call waits
// for the products before it. With a limit, kernels that need no more run in place of those that would; they are
// slower. At first there is no limit (SIZE_MAX). Setting one below what the handle has frees it. The limit holds for
// memory of the caller's, too, and stays when that comes or goes.
GEMM_STEPS_API gemm_steps_status gemm_steps_set_workspace_limit(gemm_steps *handle, size_t bytes);
GEMM_STEPS_API size_t gemm_steps_workspace(const gemm_steps *handle);  // bytes that the handle has; 0 for NULL

// Memory of the caller's in place of the handle's own, at a multiple of 256 bytes: no more than that is used. It must
// stay until another is set. 0 gives the handle its own again.
GEMM_STEPS_API gemm_steps_status gemm_steps_set_workspace(gemm_steps *handle, gemm_steps_ptr memory, size_t bytes);

// What the last product ran, or would run if it was prepared: "20_any_shape, 64 x 128, K in 2 parts, B copied" is a
// kernel after that step of the course, its tile of C, the parts of K that blocks share so that more SMs have work, and
// what was copied first; "" before the first product.
GEMM_STEPS_API const char *gemm_steps_kernel(const gemm_steps *handle);
GEMM_STEPS_API const char *gemm_steps_device(const gemm_steps *handle);  // "NVIDIA H200", "simulated GPU"

// --- Device memory ---
// On a GPU CUDA's own functions will do. The simulated GPU's memory is to be had here alone. It begins at a multiple of
// 256 bytes. Sizes are in bytes. The copies wait until they are done. What is not freed is freed with the handle.

GEMM_STEPS_API gemm_steps_status gemm_steps_alloc(gemm_steps *handle, size_t bytes, gemm_steps_ptr *memory);
GEMM_STEPS_API gemm_steps_status gemm_steps_free(gemm_steps *handle, gemm_steps_ptr memory);  // 0 is allowed
GEMM_STEPS_API gemm_steps_status gemm_steps_upload(gemm_steps *handle, gemm_steps_ptr to, const void *from,
                                                   size_t bytes);
GEMM_STEPS_API gemm_steps_status gemm_steps_download(gemm_steps *handle, void *to, gemm_steps_ptr from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
