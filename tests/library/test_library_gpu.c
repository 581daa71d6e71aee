// What the library does to a program with CUDA contexts, streams and memory of its own, on the driver of fake_cuda.h.
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <gemm-steps/gemm.h>
#include <stdint.h>
#include <string.h>

#include "fake_cuda.h"

static struct fake_cuda *fake;
static cu_context (*primary)(int device);
static gemm_steps *h;
static char own_context, streams[2];
static const cu_stream FIRST = (cu_stream)&streams[0], SECOND = (cu_stream)&streams[1];

static void open_fake(void)
{
    void *library = dlopen(FAKE_CUDA, RTLD_NOW);
    cr_assert(library, "%s", dlerror());
    fake = dlsym(library, "fake_cuda");
    void *symbol = dlsym(library, "fake_primary");
    memcpy(&primary, &symbol, sizeof symbol);
    cr_assert(fake && symbol);
    *fake = (struct fake_cuda){ .sm = 90, .most = SIZE_MAX };
}

// Nothing is left of the handle then, and no call was made without a context.
static void destroy(void)
{
    gemm_steps_destroy(h);
    cr_expect(!fake->allocations && !fake->modules && !fake->events, "%d allocations, %d modules, %d events are left",
              fake->allocations, fake->modules, fake->events);
    cr_expect(!fake->retained[0] && !fake->retained[1]);
    cr_expect_eq(fake->outside, 0);
}

TestSuite(library_gpu, .init = open_fake);

static void create(int device)
{
    cr_assert_eq(gemm_steps_create(device, &h), GEMM_STEPS_OK, "%s", gemm_steps_error(NULL));
}

static const gemm_steps_ptr A = 1 << 30, B = 2 * A, C = 3 * A;  // of which none overlaps

// One launch, and no workspace.
static gemm_steps_status multiply(void)
{
    return gemm_steps_f32(h, 2048, 2048, 64, 1, A, B, 0, C);
}

// K is split, so there are sums in the workspace.
static gemm_steps_status multiply_parts(void)
{
    return gemm_steps_f32(h, 64, 64, 8192, 1, A, B, 0, C);
}

static bool current_is(cu_context context)
{
    return context ? fake->depth == 1 && fake->stack[0] == context : !fake->depth;
}

Test(library_gpu, callers_context_and_stream_are_used_and_left_alone)
{
    const cu_context own = (cu_context)&own_context;
    fake->stack[fake->depth++] = own;
    create(GEMM_STEPS_CURRENT);
    cr_expect(current_is(own));
    cr_expect_eq(gemm_steps_set_stream(h, FIRST), GEMM_STEPS_OK);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    cr_expect_eq(gemm_steps_wait(h), GEMM_STEPS_OK);
    cr_expect(current_is(own));
    cr_assert_eq(fake->n_launches, 1);
    cr_expect(fake->launches[0].stream == FIRST && fake->launches[0].context == own);
    cr_expect_str_eq(fake->launches[0].kernel, "gemm_nn");
    destroy();
    cr_expect(current_is(own));
}

Test(library_gpu, a_device_is_used_by_its_primary_context)
{
    const cu_context own = (cu_context)&own_context;
    create(1);
    cr_expect(current_is(NULL) && fake->retained[1] == 1);
    fake->stack[fake->depth++] = own;
    cr_expect_eq(multiply(), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    cr_expect(current_is(own));
    cr_assert_eq(fake->n_launches, 1);
    cr_expect(fake->launches[0].context == primary(1) && fake->launches[0].stream == NULL);
    cr_expect_str_eq(gemm_steps_device(h), "fake GPU 1");
    destroy();
    cr_expect(current_is(own));
}

Test(library_gpu, no_context_and_no_device_are_refused)
{
    cr_expect_eq(gemm_steps_create(GEMM_STEPS_CURRENT, &h), GEMM_STEPS_NO_DEVICE);
    cr_expect(strstr(gemm_steps_error(NULL), "no CUDA context is current"), "%s", gemm_steps_error(NULL));
    cr_expect_eq(gemm_steps_create(2, &h), GEMM_STEPS_NO_DEVICE);
    cr_expect(strstr(gemm_steps_error(NULL), "none of number 2"), "%s", gemm_steps_error(NULL));
    cr_expect(current_is(NULL));
    destroy();
}

Test(library_gpu, an_old_card_is_refused_or_simulated)
{
    fake->sm = 70;
    cr_expect_eq(gemm_steps_create(0, &h), GEMM_STEPS_UNSUPPORTED);
    cr_expect(strstr(gemm_steps_error(NULL), "fake GPU 0 is an sm_70; the kernels need an sm_75 or newer"), "%s",
              gemm_steps_error(NULL));
    create(GEMM_STEPS_ANY);
    cr_expect_str_eq(gemm_steps_device(h), "simulated GPU");
    destroy();
}

Test(library_gpu, any_is_the_first_gpu)
{
    create(GEMM_STEPS_ANY);
    cr_expect_str_eq(gemm_steps_device(h), "fake GPU 0");
    destroy();
}

Test(library_gpu, products_that_share_the_workspace_wait_across_streams)
{
    create(0);
    gemm_steps_set_stream(h, FIRST);
    cr_expect_eq(multiply(), GEMM_STEPS_OK);
    cr_expect_eq(gemm_steps_set_stream(h, SECOND), GEMM_STEPS_OK);
    cr_expect_eq(fake->waits, 0, "no workspace is used, and the stream waits");
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    cr_expect(fake->marks == 1 && fake->marked == SECOND);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    cr_expect_eq(fake->waits, 0, "a stream waits for itself");
    cr_expect_eq(gemm_steps_set_stream(h, FIRST), GEMM_STEPS_OK);
    cr_expect_eq(multiply(), GEMM_STEPS_OK);
    cr_expect_eq(fake->waits, 0, "no workspace is used, and the stream waits");
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    cr_expect(fake->waits == 1 && fake->waiting == FIRST && fake->waits_for == SECOND);
    destroy();
}

// k or n is odd: A or B, or both, are copied first, by one launch. The product may begin early, and waits by itself.
Test(library_gpu, what_waits_for_a_copy_begins_early)
{
    static const struct {
        int m, n, k, launches;
    } cases[] = { { 2048, 2048, 2048, 1 }, { 2048, 2047, 2048, 2 }, { 2048, 2048, 2047, 2 }, { 2047, 2047, 2047, 2 } };
    create(0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fake->n_launches = 0;
        cr_expect_eq(gemm_steps_f16(h, cases[c].m, cases[c].n, cases[c].k, 1, A, B, 0, C), GEMM_STEPS_OK, "%s",
                     gemm_steps_error(h));
        if (!strstr(gemm_steps_kernel(h), "20_any_shape")) {
            destroy();
            cr_skip_test("step 20 is not built here");
        }
        cr_expect_eq(fake->n_launches, cases[c].launches, "case %zu: %d launches", c, fake->n_launches);
        for (int i = 0; i < fake->n_launches; i++)
            cr_expect_eq(fake->launches[i].early, i > 0, "case %zu, launch %d, %s: early is %d", c, i,
                         fake->launches[i].kernel, fake->launches[i].early);
    }
    destroy();
}

Test(library_gpu, without_memory_for_a_workspace_another_kernel_runs)
{
    create(0);
    fake->most = 0;
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    cr_expect(!strstr(gemm_steps_kernel(h), "K in"), "%s", gemm_steps_kernel(h));
    cr_expect_eq(fake->n_launches, 1);
    float a[4] = { 0 }, c[4];
    cr_expect_eq(gemm_steps_f32_host(h, 2, 2, 2, 1, a, a, 0, c), GEMM_STEPS_OUT_OF_MEMORY);
    cr_expect(strstr(gemm_steps_error(h), "has 0 of its"), "%s", gemm_steps_error(h));
    destroy();
}

Test(library_gpu, a_launch_that_fails_is_said)
{
    create(0);
    fake->launch_fails = 700;
    cr_expect_eq(multiply(), GEMM_STEPS_FAILED);
    cr_expect(strstr(gemm_steps_error(h), "CUDA_ERROR_FAKE (as the test wants it)"), "%s", gemm_steps_error(h));
    cr_expect(current_is(NULL));
    destroy();
}

Test(library_gpu, a_plan_is_used_again)
{
    create(0);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    cr_expect_eq(fake->n_launches, 2);
    cr_expect_eq(fake->modules, 1);
    cr_expect_eq(fake->allocations, 2, "the workspace and the counters");
    destroy();
}

// --- Stream capture ---

static gemm_steps_problem parts(gemm_steps_ptr c)
{
    return (
        gemm_steps_problem){ .m = 64, .n = 64, .k = 8192, .type = GEMM_STEPS_F32, .alpha = 1, .A = A, .B = B, .C = c };
}

Test(library_gpu, what_is_prepared_can_be_captured)
{
    gemm_steps_problem p = parts(0);
    create(0);
    cr_expect_eq(gemm_steps_prepare(h, &p), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    cr_expect_eq(fake->n_launches, 0, "it only prepares");
    const int allocations = fake->allocations, modules = fake->modules;
    fake->capturing = FIRST;
    gemm_steps_set_stream(h, FIRST);
    p = parts(C);
    cr_expect_eq(gemm_steps_gemm(h, &p), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    p = parts(C + 4096 * sizeof(float));
    cr_expect_eq(gemm_steps_gemm(h, &p), GEMM_STEPS_OK, "elsewhere: %s", gemm_steps_error(h));
    cr_expect_eq(fake->n_launches, 2);
    cr_expect(fake->allocations == allocations && fake->modules == modules && !fake->syncs_captured);
    cr_expect_eq(fake->marks, 0, "events belong to no graph");
    fake->capturing = NULL;
    destroy();
}

Test(library_gpu, a_captured_stream_does_not_wait_for_what_was_before)
{
    create(0);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    fake->capturing = FIRST;
    gemm_steps_set_stream(h, FIRST);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    cr_expect_eq(fake->waits, 0);
    fake->capturing = NULL;
    destroy();
}

Test(library_gpu, what_is_not_prepared_is_refused_in_a_capture)
{
    create(0);
    fake->capturing = FIRST;
    gemm_steps_set_stream(h, FIRST);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_NOT_PREPARED);
    cr_expect(strstr(gemm_steps_error(h), "the stream is being captured, in which nothing can be"), "%s",
              gemm_steps_error(h));
    cr_expect_eq(fake->n_launches, 0);
    fake->capturing = NULL;
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK, "%s", gemm_steps_error(h));
    destroy();
}

// A graph may still use the workspace that was there when it was captured.
Test(library_gpu, a_captured_workspace_is_not_freed)
{
    create(0);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    fake->capturing = FIRST;
    gemm_steps_set_stream(h, FIRST);
    cr_expect_eq(multiply_parts(), GEMM_STEPS_OK);
    fake->capturing = NULL;
    const int allocations = fake->allocations;
    cr_expect_eq(gemm_steps_f32(h, 128, 128, 65536, 1, A, B, 0, C), GEMM_STEPS_OK);
    cr_expect_eq(fake->allocations, allocations + 1);
    destroy();
}
