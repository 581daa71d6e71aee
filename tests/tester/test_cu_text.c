// A kernel's text as tokens, names, loops and statements.
#include <criterion/criterion.h>

#include <string.h>

#include "base/file.h"
#include "tester/cu_text.h"

static struct scratch scratch;
static struct cu_text t;

static void open_text(const char *text)
{
    cr_assert(scratch_open(&scratch, "kernel.cu", text));
    cr_assert(cu_text_read(&t, scratch.path));
}

static void close_text(void)
{
    cu_text_free(&t);
    scratch_close(&scratch);
}

TestSuite(cu_text, .fini = close_text);

// The n-th token of that text, from 1 on.
static unsigned find(const char *text, int n)
{
    for (unsigned i = 0; i < t.n_tokens; i++)
        if (cu_is(&t, i, text) && !--n)
            return i;
    cr_assert_fail("%s is not there so often", text);
    return 0;
}

static void expect_kind(const char *name, int n, enum cu_name_kind kind)
{
    const struct cu_name *x = cu_name_at(&t, find(name, n));
    cr_assert(x, "%s is not known", name);
    cr_expect_eq(x->kind, kind, "%s: %d", name, x->kind);
}

static const char kernel[] = "#include \"edges.cuh\"\n"
                             "constexpr int BM = 8, BN = BM * 4;  // BM BN\n"
                             "template <int LD> __device__ int place(int row) { return row * LD; }\n"
                             "__global__ void gemm(int M, const float *A, float *C)\n"
                             "{\n"
                             "    __shared__ float As[BM][BN];\n"
                             "    const int tid = threadIdx.x, col = tid % BN;\n"
                             "    float acc[BM / 4] = {};\n"
                             "    auto copy = [&](int tile) { As[0][col] = A[tile]; };\n"
                             "    for (int k = 0; k < M; k++)\n"
                             "        copy(k);\n"
                             "    for (int i = 0; i < BM / 4; i++) {\n"
                             "        acc[i] = place<BM>(tid);\n"
                             "        __syncthreads();\n"
                             "    }\n"
                             "    if (tid < M)\n"
                             "        C[tid] = acc[0];\n"
                             "}\n";

Test(cu_text, names_are_known_where_they_are_declared)
{
    open_text(kernel);
    expect_kind("BM", 3, CU_CONSTANT);
    expect_kind("LD", 2, CU_CONSTANT);
    expect_kind("row", 2, CU_VARIABLE);
    expect_kind("As", 2, CU_SHARED);
    expect_kind("acc", 2, CU_REGISTERS);
    expect_kind("A", 2, CU_POINTER);
    expect_kind("tile", 2, CU_VARIABLE);
    expect_kind("k", 2, CU_COUNTER);
    cr_expect_null(cu_name_at(&t, find("threadIdx", 1)));
}

Test(cu_text, a_loop_is_unrolled_if_its_rounds_are_known)
{
    open_text(kernel);
    cr_assert_eq(t.n_loops, 1);
    cr_expect_eq(t.token[t.loop[0].begin].line, 12);
    cr_expect(t.loop[0].end > find("__syncthreads", 1));
}

Test(cu_text, what_the_compiler_has_to_know_is_not_computed)
{
    open_text(kernel);
    const unsigned argument = find("place", 2) + 2, index = find("acc", 2) + 2, size = find("acc", 1) + 2;
    cr_expect(t.token[argument].fixed && !t.token[argument].computed, "of a template");
    cr_expect(t.token[index].fixed && !t.token[index].computed, "of registers");
    cr_expect(!t.token[size].computed, "an array's size");
    cr_expect(t.token[find("col", 2)].computed, "an index of shared memory");
    cr_expect(t.token[find("tid", 2)].computed, "in a declaration");
}

Test(cu_text, statements_follow_each_other_in_their_block)
{
    open_text(kernel);
    const struct cu_statement *barrier = NULL, *store = NULL;
    for (unsigned i = 0; i < t.n_statements; i++) {
        barrier = cu_is(&t, t.statement[i].begin, "__syncthreads") ? &t.statement[i] : barrier;
        store = cu_is(&t, t.statement[i].begin, "C") ? &t.statement[i] : store;
    }
    cr_assert(barrier && store);
    cr_assert(barrier->follows);
    cr_expect(cu_is(&t, t.statement[barrier->follows - 1].begin, "acc"));
    cr_expect(store->alone && !store->follows && !store->declares);
}

Test(cu_text, brackets_that_do_not_fit_are_refused)
{
    cr_assert(scratch_open(&scratch, "kernel.cu", "void f() { (]; }\n"));
    cr_expect(!cu_text_read(&t, scratch.path));
}
