// cuRAND on the simulated GPU: its numbers are CUDA's, from the host and in kernels, and what fails says where.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cudart_case.h"
#include "program_case.h"

static struct run r;

TestSuite(curand, .init = cudart_prepare);

// XORWOW's are those of the example of the host interface in cuRAND's documentation, which has this seed.
static const char numbers[] = "XORWOW: 0.1455 0.8202 0.5504 0.2948 0.9147, as on the host: yes, yes\n"
                              "MRG32k3a: 0.7868 0.1521 0.9342 0.9866 0.9880, as on the host: yes, yes\n"
                              "Philox: 0.1272 0.8535 0.2656 0.7961 0.8167, as on the host: yes, yes\n"
                              "XORWOW in a kernel: 128 of 128 the same\nMRG32k3a in a kernel: 128 of 128 the same\n"
                              "Philox in a kernel: 128 of 128 the same\n"
                              "an odd number of them: 105\nno generator: 101\ntoo small: 201\n";

Test(curand, numbers_are_cuda_s_own)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, CURAND, NULL);
    shown(&r, 0, numbers);
    cr_expect(strstr(r.err, " launches were checked, 0 of them with findings: 0 findings and 0 advices\n"), "%s",
              r.err);
}

Test(curand, a_call_that_fails_says_where_and_why)
{
    run(&r, CURAND, NULL);
    cr_expect(strstr(r.err, "curandGenerateNormal: CURAND_STATUS_LENGTH_NOT_MULTIPLE\n"), "%s", r.err);
    cr_expect(strstr(r.err, "curandGenerateUniform: CURAND_STATUS_NOT_INITIALIZED\n"), "%s", r.err);
    cr_expect(strstr(r.err, "cudaMemcpyAsync: an upload of 40000 bytes goes out of bounds: "), "%s", r.err);
}
