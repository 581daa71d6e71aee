// A fuzzer of the simulated GPU's loader. It needs clang and its libFuzzer, and is built when asked for:
//
//   CC=clang meson setup build-fuzz
//   meson compile -C build-fuzz
//   meson compile -C build-fuzz fuzz_load fuzz_run
//   mkdir corpus && cp tests/ptx/fuzz/*.ptx build-fuzz/steps/0[1-3]*/*.ptx build-fuzz/tests/tile.ptx corpus
//   build-fuzz/tests/fuzz_load -dict=tests/ptx/fuzz/ptx.dict -max_len=20000 -timeout=10 -max_total_time=600 corpus
//
// AddressSanitizer and UndefinedBehaviorSanitizer are built in. What it finds (crash-*, timeout-*) goes, made small
// with -minimize_crash=1, to tests/ptx/fuzz or to a test of its own.
#include <stdint.h>

#include "fuzz_case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_load((const char *)data, size);
    return 0;
}
