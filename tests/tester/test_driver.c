// Tests of the driver that all steps share, tester_main: its report, its messages, its exit status.
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "capture.h"
#include "fake_device.h"
#include "tester/tester.h"
#include "tester_case.h"

// Runs tester_main with its stdout and stderr going to files.
static struct output driver(const struct step *step, const char *line)
{
    static struct words w;
    split(&w, line);
    capture_begin();
    const int status = tester_main(step, w.n, w.word);
    struct output *o = capture_end();
    o->status = status;
    return *o;
}

Test(tester, an_old_build_of_an_edited_kernel_is_noted)
{
    struct scratch file;
    char source[64];
    const struct timespec early[2] = { { 1000, 0 }, { 1000, 0 } }, late[2] = { { 1000, 1 }, { 1000, 1 } };
    cr_assert(scratch_open(&file, "k.ptx", NULL));
    const char *ptx = file.path;
    snprintf(source, sizeof source, "%s/kernel.cu", file.folder);
    FILE *f = fopen(ptx, "w");
    fprintf(f,
            ".version 7.0\n.const .u32 geometry[4] = { 8, 8, 0, 64 };\n\t.file\t1 \"/usr/include/other.h\"\n\t.file\t2 "
            "\"%s\", 17, 18\n",
            source);
    fclose(f);
    fclose(fopen(source, "w"));
    struct step step = step_f32;
    step.ptx = ptx;
    for (int edited = 0; edited < 2; edited++) {
        cr_assert(!utimensat(AT_FDCWD, ptx, early, 0) && !utimensat(AT_FDCWD, source, edited ? late : early, 0));
        const struct output o = driver(&step, "--m 8 --n 8 --k 8");
        cr_expect_eq(o.status, 0);
        if (edited)
            cr_expect(strstr(o.err, "kernel.cu was changed after it was compiled"), "%s", o.err);
        else
            cr_expect_str_empty(o.err);
    }
    remove(source);
    scratch_close(&file);
}

Test(tester, what_the_gpus_compiler_warns_of_is_told_line_by_line)
{
    fake.has_gpu = true;
    fake.warnings = "registers are few\n'setmaxnreg' ignored\n";
    struct output o = driver(&step_f32, "--size 8 --device gpu");
    cr_expect(strstr(o.out, "\nptxas warns: registers are few\nptxas warns: 'setmaxnreg' ignored\n"), "%s", o.out);
    o = driver(&step_f32, "--size 8 --device gpu --json -");
    cr_expect(strstr(o.out, "\"ptxas_warnings\": ["), "%s", o.out);
    fake.warnings = NULL;
    o = driver(&step_f32, "--size 8 --device gpu");
    cr_expect_null(strstr(o.out, "warns"), "%s", o.out);
}

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void expect_refusal(const struct step *step, const char *line, const char *says)
{
    struct output o = driver(step, line);
    cr_expect_eq(o.status, 2, "%s: status %d", line, o.status);
    cr_expect_eq(lines_of(o.err), 1, "%s: stderr is: %s", line, o.err);
    cr_expect_not_null(strstr(o.err, says), "%s: no \"%s\" in: %s", line, says, o.err);
    cr_expect_eq(strncmp(o.err, "fake_step: ", 11), 0, "%s: does not begin with the program's name: %s", line, o.err);
    cr_expect_eq(fake.live, 0, "%s: %d allocations and modules were not freed", line, fake.live);
}

Test(driver, every_bad_option_is_one_line_on_stderr_and_status_2)
{
    for (size_t i = 0; i < n_bad_lines; i++)
        expect_refusal(&step_f32, bad_lines[i].line, bad_lines[i].says[0]);
}

Test(driver, what_cannot_be_run_is_one_line_on_stderr_and_status_2)
{
    expect_refusal(&step_f32, "--device gpu", "no GPU answers");
    expect_refusal(&step_f32, "--size 2147483647", "more bytes than a size can hold");
    expect_refusal(&step_f64, "--m 2147483647 --n 2147483647 --k 1", "more bytes than a size can hold");
    expect_refusal(&step_f32, "--size 4000000", "GiB of host memory");
    expect_refusal(&step_f32, "--m 2147483647 --n 1 --k 1000", "GiB of host memory");
    expect_refusal(&step_f32, "--m 2097121 --n 1 --k 1", "takes 65536 blocks of 32 rows, a grid has at most 65535");
    expect_refusal(&step_f32, "--size 8 --alpha 1e39", "too large for the kernel's float");
    expect_refusal(&step_f32, "--size 8 --beta -1e300", "too large for the kernel's float");
    expect_refusal(&step_f32, "--size 8 --json /nonexistent/report", "\"/nonexistent/report\": cannot write it");
    expect_refusal(&step_f32, "--size 8 --json /dev/full", "\"/dev/full\": cannot write it");
    struct step missing = step_f32;
    missing.ptx = "/nonexistent/kernel.ptx";
    expect_refusal(&missing, "--size 8", "/nonexistent/kernel.ptx");
    fake.memory = 1000;
    expect_refusal(&step_f32, "--size 10", "on the device, simulated GPU has");
    fake.memory = 0;
    fake.fault = FAKE_LOAD_FAILS;
    expect_refusal(&step_f32, "--size 8", "not PTX");
    fake.fault = FAKE_LAUNCH_FAILS;
    expect_refusal(&step_f32, "--size 8", "out-of-bounds read");
}

Test(driver, the_largest_grid_is_accepted)
{
    struct output o = driver(&step_f32, "--m 2097120 --n 1 --k 1 --no-check");
    cr_expect_eq(o.status, 0, "%s", o.err);
}

Test(driver, the_exit_status_tells_right_from_wrong)
{
    fake.launch_ms = 1;
    struct output o = driver(&step_f32, "--size 40");
    cr_expect(o.status == 0 && !o.err[0] && strstr(o.out, "\nright "), "status %d: %s%s", o.status, o.out, o.err);
    cr_expect(strstr(o.out, "simulated GPU") && !strstr(o.out, "FLOP"), "%s", o.out);
    fake.fault = FAKE_UNWRITTEN;
    o = driver(&step_f32, "--size 40");
    cr_expect(o.status == 1 && strstr(o.out, "\nWRONG ") && strstr(o.out, "C[0][0]"), "status %d: %s", o.status, o.out);
    o = driver(&step_f32, "--size 40 --no-check");
    cr_expect(o.status == 0 && strstr(o.out, "\nunchecked "), "status %d: %s", o.status, o.out);
}

Test(driver, a_right_result_is_looked_at_once_more)
{
    fake.fault = FAKE_NO_BETA;  // which a product without beta does not show
    struct output o = driver(&step_f32, "--size 40");
    cr_expect(o.status == 1 && strstr(o.out, "\nright ") && strstr(o.out, "\nagain     WRONG at "), "status %d: %s",
              o.status, o.out);
    cr_expect(strstr(o.out, "beta 2") && strstr(o.out, "C[0][0]"), "%s", o.out);
    o = driver(&step_f32, "--size 40 --json -");
    cr_expect(strstr(o.out, "\"again\": {") && strstr(o.out, "\"verdict\": \"wrong\""), "%s", o.out);
    o = driver(&step_f32, "--size 40 --once");
    cr_expect(o.status == 0 && !strstr(o.out, "\nagain "), "status %d: %s", o.status, o.out);
    fake.fault = FAKE_RIGHT;
    o = driver(&step_f32, "--size 40");
    cr_expect(o.status == 0 && strstr(o.out, "\nagain     right at "), "status %d: %s", o.status, o.out);
}

Test(driver, a_kernel_from_elsewhere_is_held_against_the_tester_and_has_no_lane)
{
    struct output o = driver(&step_f32, "--size 100 --ptx '" FAKE_PTX "/elsewhere_f32.ptx'");
    cr_expect(o.status == 0 && strstr(o.out, "/elsewhere_f32.ptx in place of fake_step (f32)"), "%s%s", o.out, o.err);
    fake.fault = FAKE_UNWRITTEN;
    fake.row = 92, fake.col = 99;
    o = driver(&step_f32, "--size 100 --ptx '" FAKE_PTX "/elsewhere_f32.ptx'");
    cr_expect(o.status == 1 && strstr(o.out, "C[92][99]") &&
                  strstr(o.out, "WRONG     1 of 10000 elements of C are never written") &&
                  strstr(o.out, "; block (1, 2)\n"),
              "%s", o.out);
    o = driver(&step_f32, "--size 100");
    cr_expect(strstr(o.out, "; block (1, 2), warp 1, lane 28"), "%s", o.out);
    expect_refusal(&step_f32, "--size 8 --ptx /nonexistent/mine.ptx", "/nonexistent/mine.ptx: No such file");
    expect_refusal(&step_f32, "--size 8 --ptx '" FAKE_PTX "/tile.cu'", "this is not PTX");
}

Test(driver, on_a_gpu_the_report_has_the_rate_and_the_baseline)
{
    fake.has_gpu = true;
    fake.launch_ms = 0.002;
    struct output o = driver(&step_f32, "--m 100 --n 100 --k 100 --profile");
    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_expect_not_null(strstr(o.out, "2.00 us (median of 15"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "1.00 TFLOP/s"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "cuBLAS 0.0.0: 1.00 us; this step reaches 50.0 % of it"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "No counters"), "%s", o.out);
}

Test(driver, on_the_simulated_gpu_the_report_says_which_runs_were_timed)
{
    fake.launch_ms = 2;
    struct output o = driver(&step_f32, "--m 100 --n 100 --k 100");
    cr_expect_not_null(strstr(o.out, "simulated in 2.00 ms: 0.5 G multiply-adds"), "%s", o.out);
    o = driver(&step_f32, "--m 100 --n 100 --k 100 --iterations 3");
    cr_expect_not_null(strstr(o.out, "simulated in 2.00 ms (median of 3; 2.00 ms to 2.00 ms): 0.5 G"), "%s", o.out);
}

Test(driver, profile_and_by_line_print_the_counters)
{
    struct output o = driver(&step_f32, "--size 8 --profile --by-line");
    cr_expect_not_null(strstr(o.out, "smsp__inst_executed.sum"), "%s", o.out);
    cr_expect_not_null(strstr(o.out, "Hot lines of gemm"), "%s", o.out);
    o = driver(&step_f32, "--size 8");
    cr_expect_null(strstr(o.out, "smsp__inst_executed.sum"), "%s", o.out);
}

Test(driver, json_goes_to_its_file_or_alone_to_stdout)
{
    fake.launch_ms = 1;
    struct output o = driver(&step_f32, "--m 8 --n 9 --k 10 --beta 0.5 --json -");
    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_expect_eq(strncmp(o.out, "{\n  \"step\": \"fake_step\",\n", 25), 0, "%s", o.out);
    const char *says[] = { "\"type\": \"f32\"",
                           "\"device\": \"simulated GPU\"",
                           "\"simulated\": true",
                           "\"m\": 8",
                           "\"n\": 9",
                           "\"k\": 10",
                           "\"beta\": 0.5",
                           "\"verdict\": \"right\"",
                           "\"ms\": 1,",
                           "\"findings\": []",
                           "\"smsp__inst_executed.sum\": 1000001" };
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        cr_expect_not_null(strstr(o.out, says[i]), "no %s in: %s", says[i], o.out);
    cr_expect_not_null(strstr(o.err, "right"), "the report for people goes to stderr: %s", o.err);
    cr_expect_null(strstr(o.out, "gflops"), "a rate of a simulation: %s", o.out);
}

Test(driver, json_of_a_step_that_could_not_run_says_so)
{
    fake.fault = FAKE_LAUNCH_FAILS;
    struct output o = driver(&step_f32, "--size 8 --json -");
    cr_expect_eq(o.status, 2);
    cr_expect(strstr(o.out, "\"verdict\": \"failed\"") && strstr(o.out, "out-of-bounds read"), "%s", o.out);
}
