// Products of arrays in the device's memory. See gemm-steps/gemm.h.
#include <string.h>

#include "plans.h"

// Of a product that is only prepared, pointers may come later; they will be as well aligned as this.
static void place(gemm_steps_ptr *p)
{
    *p = *p ? *p : 256;
}

gemm_steps_status product_run(gemm_steps *h, const gemm_steps_problem *problem, bool queue)
{
    gemm_steps_problem p = *problem;
    if (!problem_settle(&p, !queue, h->error))
        return GEMM_STEPS_BAD_ARGUMENT;
    place(&p.A), place(&p.B), place(&p.C);
    struct plan *plan = plan_of(h, &p);
    if (!plan)
        return handle_capturing(h) ? GEMM_STEPS_NOT_PREPARED : GEMM_STEPS_FAILED;
    memcpy(h->kernel, plan->name, sizeof h->kernel);
    return !queue || plan_queue(h, plan, p.alpha, p.beta) ? GEMM_STEPS_OK : handle_fail_dev(h, GEMM_STEPS_FAILED);
}

static gemm_steps_status product(gemm_steps *h, const char *function, const gemm_steps_problem *p, bool queue)
{
    const gemm_steps_status s = handle_enter(h, function);
    if (s != GEMM_STEPS_OK)
        return s;
    if (!p)
        return handle_leave(h, handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%s: the problem is NULL", function));
    return handle_leave(h, product_run(h, p, queue));
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
