// A fuzzer of the whole simulated GPU: loads tiny kernels and runs them. Built like fuzz_load.c, and then:
//
//   mkdir kernels && cp tests/ptx/fuzz/*.ptx kernels
//   build-fuzz/tests/fuzz_run -dict=tests/ptx/fuzz/ptx.dict -close_fd_mask=1 -max_len=4000 -timeout=10 kernels
#include <stdint.h>

#include "fuzz_case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run((const char *)data, size);
    return 0;
}
