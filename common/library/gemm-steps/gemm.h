// gemm-steps as a library: C = alpha * A * B + beta * C on an NVIDIA GPU, or on the simulated GPU.
//
//     gemm_steps *h;
//     if (gemm_steps_create(GEMM_STEPS_ANY, &h) != GEMM_STEPS_OK)
//         puts(gemm_steps_error(NULL));
//     gemm_steps_f32_host(h, m, n, k, 1, A, B, 0, C);
//     gemm_steps_destroy(h);
//
// A is m x k (rows x columns), B is k x n, C is m x n. All are row-major without gaps: element (row, column) of A is
// A[row * k + column]. Elements are floats (f32) or IEEE halves (f16); sums are kept in floats. If beta is 0, C is not
// read. A product of f16 is rounded once, when it is stored.
//
// A handle chooses a kernel of the course for the card and the shape, and owns what that needs: compiled kernels,
// tensor maps, a workspace. It may be used by one thread at a time; it need not be the one that created it. The kernels
// are inside of the library. Link with pkg-config --libs gemm-steps. CUDA's own libraries are not needed to build or
// link; the driver's (libcuda.so.1) is opened when a handle is created on a GPU.
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
    GEMM_STEPS_FAILED          // the device refused, or an earlier kernel of this context went wrong
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

// Queues C = alpha * A * B + beta * C and returns. A, B and C are in the device's memory and begin at multiples of 16
// bytes, as all allocations do; C overlaps neither A nor B. m, n and k are from 1 to 2^30. Bad arguments are refused
// before anything is queued. An error of the kernel itself is found later, by gemm_steps_wait or by CUDA.
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
// for sums of split products. It grows when a product needs more than any before; then the call waits for the products
// before it. With a limit, kernels that need no workspace run in place of those that would need more than the limit;
// they are slower. At first there is no limit (SIZE_MAX). Setting one below what the handle has frees it.
GEMM_STEPS_API gemm_steps_status gemm_steps_set_workspace_limit(gemm_steps *handle, size_t bytes);
GEMM_STEPS_API size_t gemm_steps_workspace(const gemm_steps *handle);  // bytes that the handle has; 0 for NULL

// What the last product ran, "20_any_shape, 64 x 128, K in 2 parts": a step of the course, its tile of C; "" before the
// first.
GEMM_STEPS_API const char *gemm_steps_kernel(const gemm_steps *handle);
GEMM_STEPS_API const char *gemm_steps_device(const gemm_steps *handle);  // "NVIDIA H200", "simulated GPU"

// --- Device memory ---
// On a GPU CUDA's own functions will do. The simulated GPU's memory is to be had here alone. Sizes are in bytes. The
// copies wait until they are done. What is not freed is freed with the handle.

GEMM_STEPS_API gemm_steps_status gemm_steps_alloc(gemm_steps *handle, size_t bytes, gemm_steps_ptr *memory);
GEMM_STEPS_API gemm_steps_status gemm_steps_free(gemm_steps *handle, gemm_steps_ptr memory);  // 0 is allowed
GEMM_STEPS_API gemm_steps_status gemm_steps_upload(gemm_steps *handle, gemm_steps_ptr to, const void *from,
                                                   size_t bytes);
GEMM_STEPS_API gemm_steps_status gemm_steps_download(gemm_steps *handle, void *to, gemm_steps_ptr from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
