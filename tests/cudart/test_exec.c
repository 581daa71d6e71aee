// simt exec and simt nvcc: whole programs on the simulated GPU, what they print, and their exit status.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "program_case.h"

static struct run r;

static void expect(int status, const char *out, const char *err)
{
    cr_assert(r.status == status, "exit status %d, %s%s", r.status, r.out, r.err);
    cr_assert(strstr(r.out, out), "'%s' is not in '%s'", out, r.out);
    cr_assert(strstr(r.err, err), "'%s' is not in '%s'", err, r.err);
}

Test(exec, a_program_runs_as_it_is)
{
    run(&r, SIMT, "exec", "--", ADD, NULL);
    expect(0, "no error, 0 wrong\n", "");
    cr_assert_str_eq(r.err, "");
    run(&r, SIMT, "exec", "--jobs", "1", "--card=A100", ADD, "forget", NULL);
    expect(1, "no error, 1000 wrong\n", "");
    cr_assert_str_eq(r.err, "");
}

Test(exec, findings_have_the_line_of_the_kernel_and_that_of_the_launch)
{
    run(&r, SIMT, "exec", "check", "--", ADD, "forget", NULL);
    expect(1, "no error, 1000 wrong\n",
           "findings in launch 1, of add(float const*, float const*, float*, int), launched at add.cu:30:");
    expect(1, "", "add.cu:9: block (0,0,0), thread (0,0,0) reads byte 0 of cudaMalloc#1");
}

// The program itself returns 0.
Test(exec, findings_alone_make_the_status_1)
{
    run(&r, SIMT, "exec", "check", "--", BAD, "past the end", NULL);
    expect(1, "cudaSuccess, cudaSuccess\n", "1 launches were checked, 1 of them with findings");
    run(&r, SIMT, "exec", "check", "--kernel", "other", "--", BAD, "past the end", NULL);
    expect(0, "cudaErrorIllegalAddress, cudaErrorIllegalAddress\n", "bad.cu:47: fill(int*, int): kernel _Z4fillPii");
}

Test(exec, the_same_mistake_in_each_launch_is_told_once)
{
    run(&r, SIMT, "exec", "check", BAD, "three times", NULL);
    expect(1, "", "cudart: findings in launch 1, of fill(int*, int), launched at bad.cu:50:\n");
    expect(1, "", "cudart: 3 launches were checked, 3 of them with findings: 3 findings and 0 advices\n");
    expect(1, "", "cudart: 2 of these launches had what an earlier launch of the same kernel had, told once\n");
    cr_assert_not(strstr(r.err, "launch 2"), "%s", r.err);
}

Test(exec, launches_are_counted_and_timed_in_a_table)
{
    run(&r, SIMT, "exec", "profile", "--", ADD, NULL);
    expect(0, "no error, 0 wrong\n",
           "             704     3.91     3.91             0  add(float const*, float const*, float*, int), grid 8, "
           "block 128, launched at add.cu:30\n");
    run(&r, SIMT, "exec", "profile", "--json", "-", "--", ADD, NULL);
    expect(0, "\"smsp__inst_executed.sum\": 704", "");
    run(&r, SIMT, "exec", "time", "--card", "A100", "--", ADD, NULL);
    expect(0, "", "cudart: 1 launches, as the clock predicts them for a card of type A100\n");
    expect(0, "", "bound by waiting");
    expect(0, "",
           "  copies microseconds\n       1         0.12  4,000 bytes copied to the device at add.cu:17: 32 GB/s of "
           "PCIe\n");
    expect(0, "", "       1         0.12  4,000 bytes copied from the device at add.cu:31: 32 GB/s of PCIe\n");
    run(&r, SIMT, "exec", "time", "--json", "-", "--", ADD, NULL);
    expect(0, "\"bytes\": 4000,\n      \"predicted_ms\": 6.25e-05\n", "");
}

Test(exec, what_is_left_out_is_told)
{
    run(&r, SIMT, "exec", "profile", "--skip", "1", "--", ADD, NULL);
    expect(0, "no error, 0 wrong\n", "");
    cr_assert_str_eq(r.err, "simt: not counted: 1 of 1 launches, because of --kernel, --skip or --only\n");
    run(&r, SIMT, "exec", "check", "--only", "1", "--", BAD, "three times", NULL);
    expect(1, "", "simt: not checked: 1 of 2 launches, because of --kernel, --skip or --only\n");
    run(&r, SIMT, "exec", "time", "--kernel", "ad", "--", ADD, NULL);
    cr_assert(!strstr(r.err, "simt: "), "%s", r.err);
}

// Findings are about kernels; a call that fails, and that the program does not ask about, is told at the end, too.
Test(exec, calls_that_fail_are_counted_by_check)
{
    run(&r, SIMT, "exec", "check", "--", BAD, "free twice", NULL);
    expect(0, "", "simt: the program launched no kernel, so nothing was checked\n");
    expect(0, "", "simt: 1 call failed: a line above says where and why\n");
    run(&r, SIMT, "exec", "check", "--", ADD, NULL);
    cr_assert(!strstr(r.err, "failed"), "%s", r.err);
}

// What the program's own calls return, and the one line that says where and why.
Test(exec, mistakes_have_cudas_error_and_a_line_that_says_where)
{
    static const struct {
        const char *what, *out, *err;
    } cases[] = {
        { "free twice", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:19: cudaFree: no allocation begins at that address, or it was freed before" },
        { "free the middle", "cudaErrorInvalidValue, cudaSuccess", "bad.cu:21: cudaFree: " },
        { "free a host's", "cudaErrorInvalidValue, cudaSuccess", "bad.cu:23: cudaFree: " },
        { "use after free", "cudaErrorIllegalAddress, cudaErrorIllegalAddress", "bad.cu:26: fill(int*, int): kernel " },
        { "copy from freed", "cudaErrorInvalidValue, cudaSuccess", "bad.cu:29: cudaMemcpy: " },
        { "copy too much", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:31: cudaMemcpy: an upload of 128 bytes goes out of bounds" },
        { "copy from null", "cudaErrorInvalidValue, cudaSuccess", "bad.cu:33: cudaMemcpy: a null pointer" },
        { "out of memory", "cudaErrorMemoryAllocation, cudaSuccess", "bad.cu:35: cudaMalloc: " },
        { "no such kernel", "cudaErrorInvalidDeviceFunction, cudaSuccess",
          "bad.cu:37: a kernel: the program has not registered it" },
        { "no such symbol", "cudaErrorInvalidSymbol, cudaSuccess", "bad.cu:39: cudaMemcpyToSymbol: " },
        { "a host's pointer", "cudaErrorIllegalAddress, cudaErrorIllegalAddress",
          "bad.cu:41: fill(int*, int): kernel " },
        { "no device", "cudaErrorInvalidDevice, cudaSuccess", "bad.cu:43: cudaSetDevice: " },
        { "no threads", "cudaErrorInvalidConfiguration, cudaSuccess", "bad.cu:45: fill(int*, int): " },
        { "past the end", "cudaErrorIllegalAddress, cudaErrorIllegalAddress", "bad.cu:47: fill(int*, int): kernel " },
        { "free pinned twice", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:87: cudaFreeHost: no allocation begins at that address" },
        { "free pinned as the device's", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:89: cudaFree: it is memory of the host" },
        { "free as pinned", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:91: cudaFreeHost: it is memory of the device" },
        { "a dead stream", "cudaErrorInvalidResourceHandle, cudaSuccess",
          "bad.cu:94: fill(int*, int): it is no stream, or was destroyed" },
        { "an event without a time", "cudaErrorInvalidResourceHandle, cudaSuccess",
          "bad.cu:96: cudaEventElapsedTime: an event that was not recorded" },
        { "a short pitch", "cudaErrorInvalidPitchValue, cudaSuccess",
          "bad.cu:98: cudaMemcpy2D: a row is longer than the pitch" },
        { "beyond a symbol", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:100: cudaMemcpyToSymbol: an upload of 64 bytes goes out of bounds: it starts at byte 32 of table" },
        { "much shared memory", "cudaErrorInvalidValue, cudaSuccess",
          "bad.cu:102: fill(int*, int): it may not have so much dynamic shared memory" },
        { "misaligned", "cudaErrorMisalignedAddress, cudaErrorMisalignedAddress",
          "bad.cu:104: fill(int*, int): kernel " },
        { "no direction", "cudaErrorInvalidMemcpyDirection, cudaSuccess",
          "bad.cu:106: cudaMemcpy: its direction is none of" },
        { "use what a stream freed", "cudaErrorIllegalAddress, cudaErrorIllegalAddress",
          "bad.cu:110: fill(int*, int): kernel " },
        { "a grid that waits", "cudaErrorLaunchFailure, cudaErrorLaunchFailure",
          "executes a trap, as grid.sync() does in a launch that is not cooperative" },
        { "another device's", "cudaErrorInvalidDevice, cudaSuccess",
          ": cudaMemcpyPeer: there is one device, number 0" },
        { "to a constant", "cudaErrorInvalidValue, cudaSuccess",
          ": cudaMemcpy: neither the device nor the host has memory that can be written at 0x" },
        { "after a reset", "cudaErrorInvalidValue, cudaSuccess", " is not in device memory: it was freed" },
        { "a host's function", "cudaErrorNotPermitted, cudaSuccess",
          ": cudaMalloc: a stream's host function must not call CUDA" },
        { "a trap", "cudaErrorLaunchFailure, cudaErrorLaunchFailure", ": stops(): kernel _Z5stopsv, bad.cu:" },
        { "a child", "cudaErrorInitializationError, cudaErrorInitializationError, cudaSuccess, cudaSuccess",
          ": CUDA: this process was forked after CUDA had been used, and only its parent can use it" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(&r, SIMT, "exec", "--", BAD, cases[i].what, NULL);
        cr_expect(r.status == 0 && !strncmp(r.out, cases[i].out, strlen(cases[i].out)) && strstr(r.err, cases[i].err) &&
                      strchr(r.err, '\n') == strrchr(r.err, '\n'),
                  "%s: %d, %s%s", cases[i].what, r.status, r.out, r.err);
    }
}

// What EndCapture returns, then the last error: a line for each.
Test(exec, what_cannot_be_captured_ends_the_capture)
{
    static const struct {
        const char *what, *out, *err;
    } cases[] = {
        { "a launch", "cudaErrorStreamCaptureInvalidated, ", "fill(int*, int): the default stream would have to wait" },
        { "a copy", "cudaErrorStreamCaptureInvalidated, ", ": cudaMemcpy: the default stream would have to wait" },
        { "memory", "cudaErrorStreamCaptureInvalidated, ", ": cudaMalloc: a stream is being captured" },
        { "another's event", "cudaErrorStreamCaptureInvalidated, ", "and the event is of no capture" },
        { "its event", "cudaErrorStreamCaptureInvalidated, ", "the event is of a stream that is being captured" },
        { "end at the side", "cudaErrorStreamCaptureUnmatched, cudaErrorIllegalState, ", "began in another stream" },
        { "a side that does not come back", "cudaErrorStreamCaptureUnjoined, ", "that this one does not wait for" },
        { "a side that comes back", "cudaSuccess, ", "" },
        { "relaxed memory", "cudaSuccess, ", "" },
    };
    char what[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(what, sizeof what, "capture: %s", cases[i].what);
        run(&r, SIMT, "exec", "--", BAD, what, NULL);
        cr_expect(r.status == 0 && !strncmp(r.out, cases[i].out, strlen(cases[i].out)) &&
                      (*cases[i].err ? strstr(r.err, cases[i].err) != NULL : !*r.err),
                  "%s: %d, %s%s", cases[i].what, r.status, r.out, r.err);
    }
}

// Its prediction ends, too.
Test(exec, a_kernel_that_stops_itself_can_be_timed)
{
    run(&r, "/bin/sh", "-c", "ulimit -t 20; exec \"$0\" \"$@\"", SIMT, "exec", "time", "--", BAD, "a trap", NULL);
    expect(0, "cudaErrorLaunchFailure, cudaErrorLaunchFailure\n", ": stops(): kernel _Z5stopsv, bad.cu:");
}

// The clock would follow it for ever.
Test(exec, a_kernel_that_never_ends_is_named_before_it_is_timed)
{
    run(&r, "/bin/sh", "-c", "ulimit -t 20; exec \"$0\" \"$@\"", SIMT, "exec", "time", "--budget", "10000", "--", BAD,
        "no end", NULL);
    expect(0, "cudaErrorLaunchTimeout, cudaErrorLaunchTimeout\n",
           ": never_ends(int*, int): kernel _Z10never_endsPii, bad.cu:138: block (0,0,0), thread (0,0,0) did not end "
           "within "
           "10000 warp instructions");
}

Test(exec, flags_that_cuda_does_not_know_are_errors)
{
    run(&r, SIMT, "exec", "--", BAD, "unknown flags", NULL);
    for (int i = 0; i < 4; i++)
        expect(0, "cudaErrorInvalidValue, cudaErrorInvalidValue, cudaErrorInvalidValue, cudaErrorInvalidValue, ",
               (const char *[]){ ": cudaStreamCreate: its flags are 0x4d, which it does not know\n",
                                 ": cudaEventCreate: ", ": cudaMallocManaged: ", ": cudaHostAlloc: " }[i]);
}

Test(exec, a_cooperative_launch_synchronises_its_grid)
{
    run(&r, SIMT, "exec", "check", "--", BAD, "a grid that may wait", NULL);
    expect(0, "cudaSuccess, cudaSuccess\n", "1 launches were checked, 0 of them with findings");
}

Test(exec, a_program_that_exits_early_has_its_own_status_and_the_counts_so_far)
{
    run(&r, SIMT, "exec", "check", "--", BAD, "exit", NULL);
    expect(3, "", "cudart: 1 launches were checked, 0 of them with findings");
    run(&r, SIMT, "exec", "check", "--", BAD, "a child", NULL);
    cr_assert(strstr(r.err, "launches were checked") &&
                  !strstr(strstr(r.err, "launches were checked") + 1, "launches were checked"),
              "%s", r.err);
}

Test(exec, waiting_ends_a_capture)
{
    run(&r, SIMT, "exec", "--", BAD, "wait in a capture", NULL);
    expect(0, "cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated\n",
           "bad.cu:113: cudaDeviceSynchronize: a stream is being captured");
}

Test(exec, a_program_that_uses_device_memory_itself_is_told_where)
{
    run(&r, SIMT, "exec", "--", BAD, "read by the host", NULL);
    expect(139, "", "cudart: bad.cu:116: the program itself uses an address that only device memory has");
}

Test(exec, null_pointers_are_errors_and_end_nothing)
{
    static const char *const lines[] = { ": cudaMalloc: a null pointer\n", ": cudaMallocPitch: a null pointer\n",
                                         ": cudaGetDeviceCount: a null pointer\n",
                                         ": cudaPointerGetAttributes: a null pointer\n",
                                         ": fill(int*, int): it has parameters, and there are no arguments\n" };
    run(&r, SIMT, "exec", "--", BAD, "null pointers", NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(0, "cudaErrorInvalidValue, cudaSuccess\n", lines[i]);
}

Test(exec, a_signal_that_ends_the_program_is_named)
{
    run(&r, SIMT, "exec", "--", BAD, "crash", NULL);
    expect(139, "", "was ended by signal 11");
}

Test(exec, memory_that_the_computer_does_not_give_is_told_from_memory_that_the_gpu_has_not)
{
    run(&r, "/bin/sh", "-c", "ulimit -v 1500000; exec \"$0\" \"$@\"", SIMT, "exec", "--", BAD, "take much", NULL);
    expect(0, "cudaErrorMemoryAllocation, cudaSuccess",
           ": cudaMalloc: cudaMalloc#1 needs 2147483648 bytes, which this computer does not give the simulated GPU\n");
}

// The limit of time ends it, as a user would.
Test(exec, a_program_that_is_ended_says_how_far_it_was_and_how_long_it_would_take)
{
    run(&r, "/bin/sh", "-c", "ulimit -S -t 1; exec \"$0\" \"$@\"", SIMT, "exec", "--jobs=1", "--", BAD, "take long",
        NULL);
    expect(152, "", "was ended by signal 24");
    expect(152, "", "simt: in launch 2, of fill(int*, int), ");
    expect(152, "", " of 2,147,483,647 blocks after ");
    expect(152, "", ": at this rate it takes ");
    expect(152, "", "; launches before took 10 warp instructions\n");
}

Test(exec, a_program_ends_behind_as_many_launches_as_it_is_asked_to)
{
    run(&r, SIMT, "exec", "check", "--stop", "1", "--", BAD, "take long", NULL);
    expect(0, "", "cudart: the program ends here, behind launch 1, as it was asked to\n");
    expect(0, "", "cudart: 1 launches were checked, 0 of them with findings");
}

Test(exec, what_cannot_be_run_is_refused_in_words)
{
    refuses("no program", "which program?", SIMT, "exec", NULL);
    refuses("no way to look",
            "chek: No such file or directory: here comes check, profile or time, or the program, with ./", SIMT, "exec",
            "chek", "--", ADD, NULL);
    refuses("no file", "/nowhere", SIMT, "exec", "--", "/nowhere", NULL);
    refuses("an option of another command", "--skip", SIMT, "exec", "--skip", "1", "--", ADD, NULL);
    refuses("an unknown card", "NOCARD", SIMT, "exec", "--card", "NOCARD", "--", ADD, NULL);
    refuses("no CUDA program", "did not call CUDA's runtime as a library", SIMT, "exec", "check", "--", "/bin/true",
            NULL);
}

// The library has no symbols and no lines.
Test(exec, a_library_without_lines_is_named_by_the_line_that_calls_it)
{
    char folder[] = "/tmp/simt_nvcc_XXXXXX", library[64], program[64];
    cr_assert(mkdtemp(folder));
    snprintf(library, sizeof library, "%s/liblines.so", folder);
    snprintf(program, sizeof program, "%s/lines", folder);
    run(&r, SIMT, "nvcc", "-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-s", LINES_CU, "-o", library, NULL);
    cr_assert(r.status == 0, "%s", r.err);
    run(&r, SIMT, "nvcc", "-DCALLER", LINES_CU, library, "-o", program, NULL);
    cr_assert(r.status == 0, "%s", r.err);
    run(&r, SIMT, "exec", "check", "--", program, NULL);
    expect(1, "", "cudart: findings in launch 1, of fill(int*), launched at lines.cu:9:\n");
    unlink(program);
    unlink(library);
    rmdir(folder);
}

Test(exec, nvcc_makes_a_program_that_runs_there_by_itself)
{
    struct scratch file;
    cr_assert(scratch_open(&file, "program", NULL));
    run(&r, SIMT, "nvcc", ADD_CU, "-o", file.path, NULL);
    cr_assert(r.status == 0, "%s", r.err);
    run(&r, file.path, NULL);
    expect(0, "no error, 0 wrong\n", "");
    scratch_close(&file);
}
