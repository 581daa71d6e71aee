// Products of arrays in the host's memory. See gemm-steps/gemm.h.
#include "handle.h"

static size_t whole(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static gemm_steps_status run(gemm_steps *h, enum dev_type type, int m, int n, int k, float alpha, const void *A,
                             const void *B, float beta, void *C)
{
    size_t bytes[3];
    gemm_steps_status s = product_sizes(h, type, m, n, k, bytes);
    if (s != GEMM_STEPS_OK)
        return s;
    if (!A || !B || !C)
        return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c is a null pointer", !A ? 'A' : !B ? 'B' : 'C');
    if (!handle_grow(h, &h->arrays, "the copies of A, B and C", whole(bytes[0]) + whole(bytes[1]) + whole(bytes[2])))
        return handle_fail_dev(h, GEMM_STEPS_OUT_OF_MEMORY);
    const dev_ptr a = h->arrays.at, b = a + whole(bytes[0]), c = b + whole(bytes[1]);
    struct dev *d = h->dev;
    if (!dev_upload(d, a, A, bytes[0]) || !dev_upload(d, b, B, bytes[1]) ||
        (beta != 0 && !dev_upload(d, c, C, bytes[2])))
        return handle_fail_dev(h, GEMM_STEPS_FAILED);
    s = product_queue(h, type, m, n, k, alpha, a, b, beta, c);
    if (s == GEMM_STEPS_OK && !dev_download(d, C, c, bytes[2]))
        s = handle_fail_dev(h, GEMM_STEPS_FAILED);
    return s;
}

static gemm_steps_status product(gemm_steps *h, const char *function, enum dev_type type, int m, int n, int k,
                                 float alpha, const void *A, const void *B, float beta, void *C)
{
    gemm_steps_status s = handle_enter(h, function);
    if (s != GEMM_STEPS_OK)
        return s;
    s = run(h, type, m, n, k, alpha, A, B, beta, C);
    return handle_leave(h, s);
}

gemm_steps_status gemm_steps_f16_host(gemm_steps *handle, int m, int n, int k, float alpha, const uint16_t *A,
                                      const uint16_t *B, float beta, uint16_t *C)
{
    return product(handle, __func__, DEV_F16, m, n, k, alpha, A, B, beta, C);
}

gemm_steps_status gemm_steps_f32_host(gemm_steps *handle, int m, int n, int k, float alpha, const float *A,
                                      const float *B, float beta, float *C)
{
    return product(handle, __func__, DEV_F32, m, n, k, alpha, A, B, beta, C);
}
