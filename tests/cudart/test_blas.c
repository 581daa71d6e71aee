// cuBLAS on the simulated GPU: its products beside those of the host, how a report names them, and what is refused.
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cudart_case.h"
#include "program_case.h"

static struct run r;

TestSuite(blas, .init = cudart_prepare);

static void expect_error(const char *said)
{
    cr_expect(strstr(r.err, said), "'%s' is not in '%s'", said, r.err);
}

static const char products[] =
    "create: CUBLAS_STATUS_SUCCESS\nSgemm NN: right\nSgemm TN: right\nSgemm NT: right\nSgemm TT: right\n"
    "strided: right\nbatched: right\nalpha on the device: right\nGemmEx of halves: right\n"
    "GemmEx of halves to floats: right\nGemmEx of bf16: right\nGemmEx of emulated floats: right\nHgemm: right\nSgemv "
    "with steps: right\nSdot: right\n"
    "Snrm2: right\nSaxpy: right\nSscal: right\nDgemm NN: right\nDgemm TN: right\nDgemm NT: right\nDgemm TT: right\n"
    "long sums, strided: right\nDgemv: right\nDdot: right\nDnrm2: right\nDasum: right\nIdamax and Idamin: right\n"
    "Daxpy and Dscal: right\nDswap: right\nwith types: right\nSgeam: right\nSasum: right\nheuristic: "
    "CUBLAS_STATUS_SUCCESS\nLt with bias "
    "and ReLU, into D: right\n"
    "Lt by rows: right\nXt: right\nin a graph: right\ndestroy: CUBLAS_STATUS_SUCCESS\n";

Test(blas, products_are_those_of_the_host_and_clean)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, BLAS, NULL);
    shown(&r, 0, products);
    expect_error(" launches were checked, 0 of them with findings: 0 findings and 0 advices\n");
}

// For an older card the library chooses other kernels.
// A program with a call that the library has not even by name would not start.
Test(blas, all_names_of_the_headers_are_there)
{
    static const char *const headers[] = { "cublas_api.h", "cublasLt.h", "cublasXt.h", "cublas.h" };
    void *library = dlopen(LIBRARIES "/libcublas.so.13", RTLD_NOW);
    cr_assert(library, "%s", dlerror());
    size_t n = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char path[4096], name[128];
        snprintf(path, sizeof path, "%s/%s", HEADERS, headers[i]);
        char *text = file_read(path);
        cr_assert(text, "%s", path);
        for (const char *at = text; (at = strstr(at, "CUBLASWINAPI")); at++, n++)
            if (sscanf(at, "CUBLASWINAPI %127[a-zA-Z0-9_]", name) == 1 && !strncmp(name, "cublas", 6))
                cr_expect(dlsym(library, name), "%s of %s", name, headers[i]);
        free(text);
    }
    cr_expect(n > 700, "%zu names", n);
    dlclose(library);
}

Test(blas, products_are_right_on_another_card)
{
    setenv("CUDART_CARD", "A100", 1);
    run(&r, BLAS, NULL);
    shown(&r, 0, products);
    cr_assert_str_eq(r.err, "");
}

Test(blas, a_profile_names_the_call_and_the_kernel)
{
    setenv("CUDART_PROFILE", "1", 1);
    run(&r, BLAS, NULL);
    expect_error("  gemm_nn of cublasSgemm (07_double_buffer, ");
    expect_error(" of cublasSgemv (");
    expect_error("  gemm_f64 of cublasDgemm, grid ");
    cr_expect(!strstr(r.err, "  gemm_nn, grid"), "a launch of a graph has no name: %s", r.err);
}

Test(blas, a_call_that_fails_has_cublas_status_and_one_line)
{
    run(&r, BLAS, "wrong", NULL);
    shown(&r, 0,
          "create: CUBLAS_STATUS_SUCCESS\nfloats: CUBLAS_STATUS_SUCCESS\none C for all: CUBLAS_STATUS_SUCCESS\n"
          "halves, alpha a float: CUBLAS_STATUS_NOT_SUPPORTED\nfloats in halves: CUBLAS_STATUS_NOT_SUPPORTED\n"
          "halves in TF32: CUBLAS_STATUS_NOT_SUPPORTED\nbatches: CUBLAS_STATUS_INVALID_VALUE\n"
          "lda: CUBLAS_STATUS_INVALID_VALUE\nC is D: CUBLAS_STATUS_INVALID_VALUE\n"
          "workspace: CUBLAS_STATUS_INVALID_VALUE\nbias: CUBLAS_STATUS_INVALID_VALUE\n"
          "doubles: CUBLAS_STATUS_SUCCESS\ndoubles: 9\n"
          "lda: CUBLAS_STATUS_INVALID_VALUE\n"
          "no handle: CUBLAS_STATUS_NOT_INITIALIZED\nDgemm: CUBLAS_STATUS_INVALID_VALUE\n"
          "Zgemm: CUBLAS_STATUS_NOT_SUPPORTED\nZgemm: CUBLAS_STATUS_NOT_SUPPORTED\nbytes: CUBLAS_STATUS_NOT_SUPPORTED\n"
          "a C that is too small: cudaErrorIllegalAddress\n");
    expect_error("cublasLtMatmul: C is D, and is described in another way\n");
    expect_error("cublasLtMatmul: its epilogue adds a bias, which is a null pointer\n");
    expect_error("cublasSgemm: lda is 8, and a column of A has 16 elements\n");
    expect_error("cublasSgemm: there is no handle: cublasCreate makes one\n");
    expect_error("cublasZgemm: it is not there yet\n");
    expect_error("cublasGemmEx: A and B have to be both floats, halves, bf16 or doubles\n");
    expect_error("): kernel gemm_nn, ");
    expect_error("out of bounds: byte 256 of cudaMalloc#3, which has 256 bytes");
    const char *first = strstr(r.err, "cublasZgemm");
    cr_expect(first && !strstr(first + 1, "cublasZgemm"), "%s", r.err);
}

// NVIDIA's libraries are linked, and these are found when the program starts.
Test(blas, simt_nvcc_links_cublas)
{
    struct scratch file;
    cr_assert(scratch_open(&file, "program", NULL));
    static const char text[] = "#include <cublas_v2.h>\nint main() { cublasHandle_t h; return cublasCreate(&h); }\n";
    unsetenv("LD_LIBRARY_PATH");
    run(&r, SIMT, "nvcc", "-x", "cu", scratch(text, sizeof text - 1), "-lcublas", "-o", file.path, NULL);
    cr_assert(r.status == 0, "%s", r.err);
    run(&r, file.path, NULL);
    shown(&r, 0, "");
    scratch_close(&file);
    forget_scratch();
}

Test(blas, without_handles_is_the_same)
{
    run(&r, BLAS_LEGACY, NULL);
    shown(&r, 0, "init 0\nerror 0, product 22 28 32 40\ndot 29, norm 9.539\nerror 7\nthen 0\nfree 0, shut down 0\n");
}
