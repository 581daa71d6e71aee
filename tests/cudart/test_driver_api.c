// The driver's API on the simulated GPU: what each call returns, and the lines that say why one fails.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cudart_case.h"
#include "program_case.h"

static struct run r;

TestSuite(driver_api, .init = cudart_prepare);

// As CUDA's documentation says of each call; of arrays, that they are not there.
static const char calls[] =
    "before cuInit: CUDA_ERROR_NOT_INITIALIZED\ninit: CUDA_SUCCESS\ndevice 1: CUDA_ERROR_INVALID_DEVICE\n"
    "no context: CUDA_ERROR_INVALID_CONTEXT\ncreate: CUDA_SUCCESS\nanother: CUDA_SUCCESS\n"
    "the last one is current: right\npop: CUDA_SUCCESS\nit was popped: right\nthe first one is current: right\n"
    "destroy: CUDA_SUCCESS\ndestroy again: CUDA_ERROR_INVALID_CONTEXT\n"
    "set the destroyed one: CUDA_ERROR_INVALID_CONTEXT\nload: CUDA_SUCCESS\nfunction: CUDA_SUCCESS\n"
    "no such function: CUDA_ERROR_NOT_FOUND\nlaunch: CUDA_SUCCESS\nscaled: right\nglobal: CUDA_SUCCESS\n"
    "launch with a buffer: CUDA_SUCCESS\nscaled: right\nshared: 64, 4 bytes of offset\n"
    "occupancy: CUDA_SUCCESS\na block: right\ntoo many threads: CUDA_ERROR_INVALID_VALUE\n"
    "unload: CUDA_SUCCESS\nunload again: CUDA_ERROR_INVALID_HANDLE\n"
    "launch what is gone: CUDA_ERROR_INVALID_HANDLE\nfree: CUDA_SUCCESS\nfree again: CUDA_ERROR_INVALID_VALUE\n"
    "no PTX: CUDA_ERROR_INVALID_PTX\nthere is a log: right\na cubin: CUDA_ERROR_NO_BINARY_FOR_GPU\n"
    "no file: CUDA_ERROR_FILE_NOT_FOUND\nlink: CUDA_SUCCESS\nload it: CUDA_SUCCESS\ntwice 21: 42\n"
    "pitched: CUDA_SUCCESS\nset: CUDA_SUCCESS\ncopy: CUDA_SUCCESS\nrows: right\nset halves: CUDA_SUCCESS\n"
    "halves: right\nbetween elements: CUDA_ERROR_INVALID_VALUE\nrange: CUDA_SUCCESS\nits base: right\n"
    "type: CUDA_SUCCESS\nof the device: right\nan address of the host's: CUDA_ERROR_INVALID_VALUE\n"
    "nothing: CUDA_ERROR_INVALID_VALUE\ntoo much: CUDA_ERROR_OUT_OF_MEMORY\narray: CUDA_ERROR_NOT_SUPPORTED\n"
    "array again: CUDA_ERROR_NOT_SUPPORTED\nreserve: CUDA_SUCCESS\nhalf of it: CUDA_ERROR_INVALID_VALUE\n"
    "create: CUDA_SUCCESS\nwrite to it: CUDA_ERROR_INVALID_VALUE\nmap: CUDA_SUCCESS\nallow: CUDA_SUCCESS\n"
    "fill: CUDA_SUCCESS\npast the end: CUDA_ERROR_INVALID_VALUE\nfree the range: CUDA_ERROR_INVALID_VALUE\n"
    "a longer one: CUDA_SUCCESS\nmap again: CUDA_ERROR_NOT_SUPPORTED\nunmap: CUDA_SUCCESS\n"
    "free the range: CUDA_SUCCESS\nbehind it: CUDA_SUCCESS\nallow: CUDA_SUCCESS\nrelease: CUDA_SUCCESS\n"
    "release again: CUDA_ERROR_INVALID_VALUE\nas it was: right\nread what is unmapped: CUDA_ERROR_INVALID_VALUE\n"
    "free the longer one: CUDA_SUCCESS\ncaptured: CUDA_SUCCESS\ninstantiate: CUDA_SUCCESS\n"
    "launch the graph: CUDA_SUCCESS\nand again: CUDA_SUCCESS\nwait: CUDA_SUCCESS\ntwice: right\n"
    "elapsed: CUDA_SUCCESS\na time: right\ndestroy: CUDA_SUCCESS\ndestroy again: CUDA_ERROR_INVALID_HANDLE\n"
    "a condition: CUDA_SUCCESS\na loop: CUDA_SUCCESS\nits body: CUDA_SUCCESS\nits type: right\nfive times: right\n"
    "a launch of the runtime: right\nthe same by the driver: CUDA_SUCCESS\nand back: right\n"
    "an error of the driver: CUDA_ERROR_INVALID_VALUE\nis none of the runtime: cudaSuccess\n"
    "a function by its name: right\nno context: CUDA_ERROR_INVALID_CONTEXT\n"
    "the runtime makes one current: cudaSuccess\nthe primary one: right\nfree: CUDA_SUCCESS\n"
    "a feature: CUDA_SUCCESS\nis it there: 1\nno attribute: CUDA_ERROR_INVALID_VALUE\npast the end: "
    "CUDA_ERROR_ILLEGAL_ADDRESS\nand ever after: CUDA_ERROR_ILLEGAL_ADDRESS\n";

Test(driver_api, calls_return_cudas_errors)
{
    run(&r, DRIVER, NULL);
    shown(&r, 0, calls);
}

Test(driver_api, a_call_that_fails_has_one_line_with_its_name)
{
    static const char *const lines[] = {
        "driver.cu:76: cuDeviceGetCount: cuInit comes first\n",
        "driver.cu:79: cuMemAlloc: no context is current in this thread: cuCtxCreate makes one, ",
        "driver.cu:103: cuModuleGetFunction: it has no kernel called scales\n",
        "driver.cu:132: cuMemFree: no allocation begins at that address, or it was freed before\n",
        "driver.cu:141: cuModuleLoadDataEx: module.ptx:1:1: this is not PTX",
        "driver.cu:143: cuModuleLoadData: it is machine code of a card (a cubin), and only PTX can be run",
        "driver.cu:144: cuModuleLoad: /nowhere.ptx: No such file or directory\n",
        "driver.cu:192: cuMemAlloc: cuMemAlloc#4 needs 1125899906842624 bytes",
        "driver.cu:195: cuArrayCreate: it is not there yet\n",
        "driver.cu:268: negate(float*, int): kernel _Z6negatePfi, driver.cu:235: block (0,0,0), thread (0,0,0)",
    };
    run(&r, DRIVER, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(r.err, lines[i]), "'%s' is not in '%s'", lines[i], r.err);
    const char *first = strstr(r.err, "cuArrayCreate");
    cr_expect(first && !strstr(first + 1, "cuArrayCreate"), "%s", r.err);
}

// Built as nvcc does it if it is told nothing.
Test(driver_api, nvidias_own_runtime_inside_of_a_program_is_named)
{
    run(&r, STATIC, NULL);
    cr_expect_str_eq(r.err, "cudart: NVIDIA's runtime is inside of this program: build it with simt nvcc, or with nvcc "
                            "-cudart shared\n");
}

#ifdef COMPILED  // where the toolkit has NVRTC
Test(driver_api, what_a_program_compiles_while_it_runs_is_loaded_as_ptx)
{
    run(&r, COMPILED, NULL);
    shown(&r, 0,
          "--gpu-architecture=compute_80: NVRTC_SUCCESS\nload: 0\ntwice 31: 62\n"
          "--gpu-architecture=sm_80: NVRTC_SUCCESS\nload: 209\n");
    cr_expect(strstr(r.err, "cudart: compiled.cu:41: cuModuleLoadData: it is machine code of a card (a cubin), ") ==
                  r.err,
              "%s", r.err);
}
#endif
