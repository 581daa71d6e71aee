// Whole CUDA programs, compiled by nvcc with their main, run through common/cudart: what they print, and what the
// checks say of their kernels.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart_case.h"
#include "program_case.h"

static struct run r;

TestSuite(cudart, .init = cudart_prepare);

static void expect_checked(const char *said)
{
    cr_assert(strstr(r.err, said), "%s", r.err);
}

static void expect_clean(void)
{
    expect_checked(" launches were checked, 0 of them with findings: 0 findings and 0 advices\n");
}

Test(cudart, a_vector_addition_is_right_and_says_nothing)
{
    run(&r, ADD, NULL);
    shown(&r, 0, "no error, 0 wrong\n");
    cr_assert_str_eq(r.err, "");
}

Test(cudart, a_vector_addition_is_clean)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, ADD, NULL);
    shown(&r, 0, "no error, 0 wrong\n");
    expect_clean();
}

Test(cudart, a_forgotten_copy_is_named_with_the_line_of_the_kernel)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, ADD, "forget", NULL);
    shown(&r, 1, "no error, 1000 wrong\n");
    expect_checked(
        "cudart: findings in launch 1, of add(float const*, float const*, float*, int), launched at add.cu:30:\n");
    expect_checked("not initialised (initcheck): add.cu:9: block (0,0,0), thread (0,0,0) reads byte 0 of cudaMalloc#1");
    expect_checked("cudart: 1 launches were checked, 1 of them with findings: 1 findings and 0 advices\n");
}

Test(cudart, a_default_stream_of_each_thread_is_the_same_stream)
{
    run(&r, PER_THREAD, NULL);
    shown(&r, 0, "no error, 0 wrong\n");
    cr_assert_str_eq(r.err, "");
}

// As nvcc does it if it is told nothing, and as --compress-mode=speed does.
Test(cudart, compressed_ptx_is_read)
{
    run(&r, COMPRESSED, NULL);
    shown(&r, 0, "no error, 0 wrong\n");
    run(&r, COMPRESSED_BY_LZ4, NULL);
    shown(&r, 0, "no error, 0 wrong\n");
    cr_assert_str_eq(r.err, "");
}

Test(cudart, files_that_are_linked_share_functions_and_variables)
{
    setenv("CUDART_CHECK", "1", 1);
    setenv("CUDART_VERBOSE", "1", 1);
    run(&r, LINKED, NULL);
    shown(&r, 0, "2107 2209 2311 2413 2115 2217 2319 2421 \n");
    cr_assert(strstr(r.err, "launch of begin(int*), "), "a static kernel: %s", r.err);
    cr_assert(strstr(r.err, "2 launches were checked, 0 of them with findings"), "%s", r.err);
}

// As CUDA's documentation says of each call; of mipmaps, that they are not there.
static const char calls[] = "count: cudaSuccess\npinned: right\n"
                            "count: cudaSuccess\nmanaged: right\n"
                            "__managed__: 107\n"
                            "cudaFreeHost: cudaSuccess\ncudaFree: cudaSuccess\n"
                            "not asked for: cudaErrorInvalidValue\nfar too much: cudaErrorInvalidValue\n"
                            "asks: cudaSuccess\nasked for: cudaSuccess\n"
                            "no such function: cudaSuccess\nthere: 0\nencode: cudaSuccess\nmap: 0\nmap: 1\n"
                            "fresh memory: 0\n"
                            "too large: cudaErrorInvalidValue\ntoo long: cudaErrorInvalidValue\n"
                            "too much: cudaErrorMemoryAllocation\nlast: cudaErrorMemoryAllocation\n"
                            "free: cudaSuccess\nfree again: cudaErrorInvalidValue\n"
                            "mipmaps: cudaErrorNotSupported\n"
                            "too many threads: cudaErrorInvalidConfiguration\nstill well: cudaSuccess\n"
                            "past the end: cudaErrorIllegalAddress\nand ever after: cudaErrorIllegalAddress\n";

Test(cudart, calls_return_cudas_errors_with_one_line_each)
{
    static const struct {
        unsigned line;  // of calls.cu
        const char *text;
    } lines[] = {
        { 88, "count(int*, int): it may not have so much dynamic shared memory: cudaFuncSetAttribute asks for it\n" },
        { 90, "cudaFuncSetAttribute: a block of the card has less shared memory\n" },
        { 0, "cuNothing is not there yet\n" },
        { 0, "cuTensorMapEncodeTiled: tensor map: its box has 0 elements along dimension 0" },
        { 126, "cudaMemcpy: a download of 65 bytes goes out of bounds" },
        { 127, "cudaMemset: an upload of 65 bytes goes out of bounds" },
        { 128, "cudaMalloc: cudaMalloc#15 needs 1125899906842624 bytes" },
        { 131, "cudaFree: no allocation begins at that address, or it was freed before\n" },
        { 132, "cudaMallocMipmappedArray: it is not there yet\n" },
        { 133, "count(int*, int): block.x is 2048" },
        { 137,
          "past(int*): kernel _Z4pastPi, calls.cu:26: block (0,0,0), thread (0,0,0) writes 4 bytes out of bounds" },
    };
    run(&r, CALLS, NULL);
    shown(&r, 0, calls);
    const char *line = r.err;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char begin[32] = "cudart: ";
        if (lines[i].line)
            snprintf(begin, sizeof begin, "cudart: calls.cu:%u: ", lines[i].line);
        cr_assert(!strncmp(line, begin, strlen(begin)) &&
                      !strncmp(line + strlen(begin), lines[i].text, strlen(lines[i].text)),
                  "%zu: %s", i, line);
        line = strchr(line, '\n') + 1;
    }
    cr_assert_str_eq(line, "");
}

// As CUDA's documentation says of each call.
static const char streams[] =
    "begin: cudaSuccess\nb is captured: 1\nend: cudaSuccess\nnothing has run: right\n4 nodes, 4 edges, 1 roots\n"
    "instantiate: cudaSuccess\nthree times: right\ndestroy: cudaSuccess\nlaunch it: cudaErrorInvalidValue\n"
    "destroyed stream: cudaErrorInvalidResourceHandle\ndestroyed event: cudaErrorInvalidResourceHandle\n"
    "end of no capture: cudaErrorIllegalState\n"
    "set, two kernels: right\ncopied: right, calls: 1\nchange: cudaSuccess\nchanged: right\nwithout it: right\n"
    "clone: cudaSuccess\nupdate: cudaSuccess\nupdated: right\nwrong node: cudaErrorInvalidValue\n"
    "a circle: cudaErrorInvalidValue\n"
    "default pool: cudaSuccess\nkept: 1\nfrom it: cudaSuccess\nand back: cudaSuccess\n"
    "launched again: cudaSuccess\nits memory: right\na node that allocates: cudaSuccess\n"
    "and one that frees: cudaSuccess\nits memory: right\n"
    "the program frees it: cudaSuccess\nthe program frees it: cudaSuccess\nand again: cudaErrorInvalidValue\nits "
    "memory: right\n"
    "cudaMalloc3D: cudaSuccess\npart of it: cudaSuccess\nall of it: cudaSuccess\n600 of 600 bytes right\n"
    "register: cudaSuccess\nagain: cudaErrorHostMemoryAlreadyRegistered\n2 42\nunregister: cudaSuccess\n"
    "no more: cudaErrorInvalidValue\n"
    "cudaFree of pinned: cudaErrorInvalidValue\ncudaFreeHost of device: cudaErrorInvalidValue\n"
    "cudaFreeHost: cudaSuccess\ncudaFree: cudaSuccess\na condition: cudaSuccess\n"
    "a node that decides: cudaSuccess\na node that decides: cudaSuccess\na node that decides: cudaSuccess\n"
    "a while with two bodies: cudaErrorInvalidValue\ninstantiate: cudaSuccess\nlaunch it: cudaSuccess\n21\n"
    "launch it: cudaSuccess\n45\n3000 of the device: cudaSuccess\n3000 managed ones, one at a time: cudaSuccess\n2\n"
    "a stream that comes first: cudaSuccess\n1: 0 to -5, has -5\ntoo many blocks: cudaErrorCooperativeLaunchTooLarge\n";

Test(cudart, streams_and_graphs_do_their_work_in_order)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, STREAMS, NULL);
    shown(&r, 0, streams);
    cr_assert(strstr(r.err, "38 launches were checked, 0 of them with findings"), "%s", r.err);
}

// The child runs first, as its parent waits for it before it prints the rest.
static const char processes[] =
    "memory: cudaSuccess\na second: cudaSuccess\nno memory: cudaErrorInvalidValue\nevent: cudaSuccess\n"
    "no such event: cudaErrorInvalidResourceHandle\nits own: cudaErrorDeviceUninitialized\n"
    "open: cudaSuccess\nopen again: cudaSuccess\nfreed by its owner: cudaErrorInvalidResourceHandle\n"
    "at the same address: 1\nevent: cudaSuccess\nwait: cudaSuccess\nits time: cudaErrorInvalidResourceHandle\n"
    "of the parent: 0 wrong\nlaunch: cudaSuccess\nfree: cudaErrorInvalidValue\nclose: cudaSuccess\n"
    "still open: 0 wrong\nclose again: cudaSuccess\nand again: cudaErrorInvalidValue\n"
    "of the child: 0 wrong\nfree: cudaSuccess\n";

Test(cudart, processes_have_memory_in_common)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, IPC, NULL);
    shown(&r, 0, processes);
    expect_clean();
}

Test(cudart, a_kernel_prints_and_asserts)
{
    run(&r, CALLS, "assert", NULL);
    shown(&r, 0, "thread 0 of 1\nclaim: cudaErrorAssert\n");
    expect_checked("cudart: calls.cu:174: claim(int): kernel _Z5claimi, calls.cu:32: block (0,0,0), thread (0,0,0): "
                   "assertion 'n == 2'");
}

// As an H200 does.
Test(cudart, what_a_kernel_prints_comes_when_the_program_waits)
{
    run(&r, CALLS, "waits", NULL);
    shown(&r, 0, "the program\nthread 0 of 2\n");
    cr_assert_str_eq(r.err, "");
    run(&r, CALLS, "does not wait", NULL);
    shown(&r, 0, "the program\n");
    expect_checked(
        "cudart: what kernels printed last is lost, 14 bytes: the program has ended without waiting for them");
}

Test(cudart, the_device_has_the_numbers_of_a_card)
{
    run(&r, CALLS, "ask", NULL);
    shown(&r, 0, "simulated GPU (as H200), 9.0, 132 SMs, 8 blocks, PTX 80\n");
    setenv("CUDART_CARD", "rtx3090", 1);
    run(&r, CALLS, "ask", NULL);
    shown(&r, 0, "simulated GPU (as RTX 3090), 8.6, 82 SMs, 4 blocks, PTX 80\n");
    setenv("CUDART_CARD", "T4", 1);  // the program has no PTX for it
    run(&r, CALLS, "ask", NULL);
    expect_checked("cudart: the program has no PTX that this card can run, T4: build it with -gencode "
                   "arch=compute_75,code=compute_75\n");
}

Test(cudart, textures_and_surfaces_read_as_cuda_says)
{
    setenv("CUDART_CHECK", "1", 1);
    run(&r, TEXTURES, NULL);
    shown(&r, 0,
          "at most 131072 x 65536\n1D of linear memory: right (cudaSuccess)\n1D, linear: right (cudaSuccess)\n"
          "1D, linear, border: right (cudaSuccess)\n"
          "2D, clamp, point: right (cudaSuccess)\n2D, clamp, linear: right (cudaSuccess)\n"
          "2D, border, point: right (cudaSuccess)\n2D, border, linear: right (cudaSuccess)\n"
          "2D, wrap, point: right (cudaSuccess)\n2D, wrap, linear: right (cudaSuccess)\n"
          "2D, mirror, point: right (cudaSuccess)\n2D, mirror, linear: right (cudaSuccess)\n"
          "bytes: right (cudaSuccess)\nbytes as floats: right (cudaSuccess)\n3D: right (cudaSuccess)\n"
          "layers: right (cudaSuccess)\na surface: right (cudaSuccess)\npairs: right (cudaSuccess)\n"
          "mipmaps: cudaErrorNotSupported\nbeyond it: cudaErrorInvalidValue\nas memory: cudaErrorInvalidValue\n"
          "twice: cudaErrorInvalidResourceHandle\n");
    expect_checked(" launches were checked, 0 of them with findings: 0 findings and 0 advices\n");
    expect_checked("cudaMemcpy2DToArray: the array has no room for that\n");
    expect_checked(" is an array, which cudaMemcpy2DToArray and its like copy to\n");
}
