// Products of arrays in the device's memory, and in the host's. See gemm-steps/gemm.h.
#include <string.h>

#include "gpu/gpu.h"
#include "handle.h"

// Queues a product, or only makes a plan of it.
static gemm_steps_status run(gemm_steps *h, const struct problem *p, bool queue)
{
    struct plan *plan = plan_of(h, p);
    if (!plan)
        return h->gpu && gpu_capturing(h->dev) ? GEMM_STEPS_NOT_PREPARED : GEMM_STEPS_FAILED;
    memcpy(h->kernel, plan->name, sizeof h->kernel);
    return handle_did(h, !queue || plan_queue(h, plan, p->alpha, p->beta), GEMM_STEPS_FAILED);
}

static gemm_steps_status product(gemm_steps *h, const char *function, const gemm_steps_problem *given, bool queue)
{
    struct problem p;
    const gemm_steps_status s = handle_enter(h, function, given ? NULL : "the problem is NULL");
    if (s != GEMM_STEPS_OK)
        return s;
    return handle_leave(h, problem_settle(given, !queue, &p, h->error) ? run(h, &p, queue) : GEMM_STEPS_BAD_ARGUMENT);
}

gemm_steps_status gemm_steps_gemm(gemm_steps *handle, const gemm_steps_problem *problem)
{
    return product(handle, __func__, problem, true);
}

gemm_steps_status gemm_steps_prepare(gemm_steps *handle, const gemm_steps_problem *problem)
{
    return product(handle, __func__, problem, false);
}

gemm_steps_status gemm_steps_f16(gemm_steps *handle, int m, int n, int k, float alpha, gemm_steps_ptr A,
                                 gemm_steps_ptr B, float beta, gemm_steps_ptr C)
{
    const gemm_steps_problem p = problem_of(GEMM_STEPS_F16, m, n, k, alpha, A, B, beta, C);
    return product(handle, __func__, &p, true);
}

gemm_steps_status gemm_steps_f32(gemm_steps *handle, int m, int n, int k, float alpha, gemm_steps_ptr A,
                                 gemm_steps_ptr B, float beta, gemm_steps_ptr C)
{
    const gemm_steps_problem p = problem_of(GEMM_STEPS_F32, m, n, k, alpha, A, B, beta, C);
    return product(handle, __func__, &p, true);
}

// --- Arrays in the host's memory ---

static gemm_steps_status run_host(gemm_steps *h, const gemm_steps_problem *given, const void *A, const void *B, void *C)
{
    const void *from[] = { given->alpha != 0 ? A : NULL, given->alpha != 0 ? B : NULL, given->beta != 0 ? C : NULL };
    struct problem p;
    size_t all = 0;
    if (!problem_settle(given, true, &p, h->error))
        return GEMM_STEPS_BAD_ARGUMENT;
    for (int i = 0; i < PROBLEM_OPERANDS; i++)
        p.x[i].at = all, all += (problem_bytes(&p.x[i]) + 255) / 256 * 256;
    if (!handle_grow(h, &h->arrays, "the copies of A, B and C", all))
        return handle_did(h, false, GEMM_STEPS_OUT_OF_MEMORY);
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        p.x[i].at += h->arrays.at;
        if (from[i] && !dev_upload(h->dev, p.x[i].at, from[i], problem_bytes(&p.x[i])))
            return handle_did(h, false, GEMM_STEPS_FAILED);
    }
    const gemm_steps_status s = run(h, &p, true);
    const struct operand *c = &p.x[2];
    return s != GEMM_STEPS_OK ? s : handle_did(h, dev_download(h->dev, C, c->at, problem_bytes(c)), GEMM_STEPS_FAILED);
}

static gemm_steps_status host_product(gemm_steps *h, const char *function, gemm_steps_problem p, const void *A,
                                      const void *B, void *C)
{
    const char *wrong = !A && p.alpha != 0   ? "A is a null pointer"
                        : !B && p.alpha != 0 ? "B is a null pointer"
                        : !C                 ? "C is a null pointer"
                                             : NULL;
    const gemm_steps_status s = handle_enter(h, function, wrong);
    return s != GEMM_STEPS_OK ? s : handle_leave(h, run_host(h, &p, A, B, C));
}

gemm_steps_status gemm_steps_f16_host(gemm_steps *handle, int m, int n, int k, float alpha, const uint16_t *A,
                                      const uint16_t *B, float beta, uint16_t *C)
{
    return host_product(handle, __func__, problem_of(GEMM_STEPS_F16, m, n, k, alpha, 0, 0, beta, 0), A, B, C);
}

gemm_steps_status gemm_steps_f32_host(gemm_steps *handle, int m, int n, int k, float alpha, const float *A,
                                      const float *B, float beta, float *C)
{
    return host_product(handle, __func__, problem_of(GEMM_STEPS_F32, m, n, k, alpha, 0, 0, beta, 0), A, B, C);
}
