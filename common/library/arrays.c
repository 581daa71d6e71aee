// Products of arrays in the host's memory. See gemm-steps/gemm.h.
#include "handle.h"

static size_t whole(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static gemm_steps_status run(gemm_steps *h, gemm_steps_problem *p, const void *A, const void *B, void *C)
{
    gemm_steps_problem settled = *p;
    size_t bytes[PROBLEM_OPERANDS];
    if (!problem_settle(&settled, true, h->error))
        return GEMM_STEPS_BAD_ARGUMENT;
    if (!A || !B || !C)
        return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c is a null pointer", !A ? 'A' : !B ? 'B' : 'C');
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        const struct operand x = problem_operand(&settled, i);
        bytes[i] = (size_t)problem_bytes(&x);
    }
    if (!handle_grow(h, &h->arrays, "the copies of A, B and C", whole(bytes[0]) + whole(bytes[1]) + whole(bytes[2])))
        return handle_fail_dev(h, GEMM_STEPS_OUT_OF_MEMORY);
    p->A = h->arrays.at, p->B = p->A + whole(bytes[0]), p->C = p->B + whole(bytes[1]);
    struct dev *d = h->dev;
    if (!dev_upload(d, p->A, A, bytes[0]) || !dev_upload(d, p->B, B, bytes[1]) ||
        (p->beta != 0 && !dev_upload(d, p->C, C, bytes[2])))
        return handle_fail_dev(h, GEMM_STEPS_FAILED);
    const gemm_steps_status s = product_run(h, p, true);
    return s != GEMM_STEPS_OK || dev_download(d, C, p->C, bytes[2]) ? s : handle_fail_dev(h, GEMM_STEPS_FAILED);
}

static gemm_steps_status product(gemm_steps *h, const char *function, gemm_steps_problem p, const void *A,
                                 const void *B, void *C)
{
    const gemm_steps_status s = handle_enter(h, function);
    return s != GEMM_STEPS_OK ? s : handle_leave(h, run(h, &p, A, B, C));
}

gemm_steps_status gemm_steps_f16_host(gemm_steps *handle, int m, int n, int k, float alpha, const uint16_t *A,
                                      const uint16_t *B, float beta, uint16_t *C)
{
    return product(handle, __func__, problem_of(GEMM_STEPS_F16, m, n, k, alpha, 0, 0, beta, 0), A, B, C);
}

gemm_steps_status gemm_steps_f32_host(gemm_steps *handle, int m, int n, int k, float alpha, const float *A,
                                      const float *B, float beta, float *C)
{
    return product(handle, __func__, problem_of(GEMM_STEPS_F32, m, n, k, alpha, 0, 0, beta, 0), A, B, C);
}
