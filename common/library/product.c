// Products of arrays in the device's memory, and in the host's. See gemm-steps/gemm.h.
#include <string.h>

#include "gpu/gpu.h"
#include "handle.h"

// Queues a settled product, or only prepares it: then pointers may come later, and will be as well aligned as this.
static gemm_steps_status run(gemm_steps *h, gemm_steps_problem *p, bool queue)
{
    gemm_steps_ptr *all[] = { &p->A, &p->B, &p->C };
    for (int i = 0; i < PROBLEM_OPERANDS; i++)
        *all[i] = *all[i] ? *all[i] : 256;
    struct plan *plan = plan_of(h, p);
    if (!plan)
        return h->gpu && gpu_capturing(h->dev) ? GEMM_STEPS_NOT_PREPARED : GEMM_STEPS_FAILED;
    memcpy(h->kernel, plan->name, sizeof h->kernel);
    return handle_did(h, !queue || plan_queue(h, plan, p->alpha, p->beta), GEMM_STEPS_FAILED);
}

static gemm_steps_status product(gemm_steps *h, const char *function, const gemm_steps_problem *problem, bool queue)
{
    const gemm_steps_status s = handle_enter(h, function, problem ? NULL : "the problem is NULL");
    if (s != GEMM_STEPS_OK)
        return s;
    gemm_steps_problem p = *problem;
    return handle_leave(h, problem_settle(&p, !queue, h->error) ? run(h, &p, queue) : GEMM_STEPS_BAD_ARGUMENT);
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

static gemm_steps_status run_host(gemm_steps *h, gemm_steps_problem *p, const void *A, const void *B, void *C)
{
    const void *from[] = { p->alpha != 0 ? A : NULL, p->alpha != 0 ? B : NULL, p->beta != 0 ? C : NULL };
    gemm_steps_ptr *to[] = { &p->A, &p->B, &p->C };
    size_t bytes[PROBLEM_OPERANDS], all = 0;
    if (!problem_settle(p, true, h->error))
        return GEMM_STEPS_BAD_ARGUMENT;
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        const struct operand x = problem_operand(p, i);
        bytes[i] = (size_t)problem_bytes(&x);
        *to[i] = all, all += (bytes[i] + 255) / 256 * 256;
    }
    if (!handle_grow(h, &h->arrays, "the copies of A, B and C", all))
        return handle_did(h, false, GEMM_STEPS_OUT_OF_MEMORY);
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        *to[i] += h->arrays.at;
        if (from[i] && !dev_upload(h->dev, *to[i], from[i], bytes[i]))
            return handle_did(h, false, GEMM_STEPS_FAILED);
    }
    const gemm_steps_status s = run(h, p, true);
    return s != GEMM_STEPS_OK ? s : handle_did(h, dev_download(h->dev, C, p->C, bytes[2]), GEMM_STEPS_FAILED);
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
