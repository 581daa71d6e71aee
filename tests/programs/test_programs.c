// The programs as a learner meets them: what they print, their exit status, and that bad input ends in one line on
// stderr. DRIVER, LADDER, SIMT, PTX are paths that the build defines, COMPILER is "nvcc" or "clang".
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "program_case.h"
#include "sample.h"

TestSuite(simt, .fini = forget_scratch);
TestSuite(driver, .fini = forget_scratch);

Test(driver, refuses_bad_sizes_and_options)
{
    static const char *const bad[][3] = {
        { "--m", "0", "--m" },
        { "--m", "-3", "-3" },
        { "--m", "1e9", "1e9" },
        { "--n", "abc", "abc" },
        { "--k", "", "--k" },
        { "--k", "12x", "12x" },
        { "--m", "99999999999999999999", "--m" },
        { "--alpha", "one", "one" },
        { "--beta", "nan", "nan" },
        { "--seed", "-1", "-1" },
        { "--device", "tpu", "tpu" },
        { "--iterations", "0", "--iterations" },
        { "--warmup", "-1", "-1" },
        { "--pause-ms", "-1", "-1" },
        { "--json", "/nonexistent/dir/x.json", "/nonexistent" },
        { "--frobnicate", NULL, "--frobnicate" },
        { "stray", NULL, "stray" },
        { "--m", NULL, "--m" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuses(bad[i][0], bad[i][2], DRIVER, bad[i][0], bad[i][1], NULL);
        refuses(bad[i][0], bad[i][2], LADDER, bad[i][0], bad[i][1], NULL);
    }
}

Test(driver, refuses_sizes_that_overflow_or_exceed_memory)
{
    refuses("overflow", "2147483647", DRIVER, "--device=sim", "--m", "2147483647", "--n", "2147483647", "--k",
            "2147483647", NULL);
    refuses("memory", "memory", DRIVER, "--device=sim", "--m", "2000000", "--n", "2000000", "--k", "1", NULL);
    refuses("memory", "memory", LADDER, "--device=sim", "--m", "2000000", "--n", "2000000", "--k", "1", NULL);
    refuses("grid", "grid", DRIVER, "--device=sim", "--m", "3000000", "--n", "1", "--k", "1", NULL);
}

Test(driver, says_what_it_looked_for_when_there_is_no_gpu)
{
    struct run r;
    run(&r, DRIVER, "--device=gpu", "--m", "16", "--n", "16", "--k", "16", NULL);
    if (r.status == 0)
        cr_skip_test("there is a GPU");
    refused(&r, "no GPU", "no GPU");
}

Test(driver, tells_the_device_and_that_the_result_is_right)
{
    struct run r;
    run(&r, DRIVER, "--device=sim", "--m", "33", "--n", "65", "--k", "17", "--profile", "--by-line", NULL);
    cr_assert(r.status == 0, "exit status %d: %s", r.status, r.err);
    cr_assert(strstr(r.out, "simulated GPU") && strstr(r.out, "right"), "%s", r.out);
    cr_assert(strstr(r.out, "; kernel compiled by " COMPILER), "no compiler: %s", r.out);
    cr_assert(strstr(r.out, "smsp__inst_executed.sum"), "no counters: %s", r.out);
    cr_assert(strstr(r.out, "kernel.cu"), "no lines: %s", r.out);
}

Test(driver, tells_which_simulated_runs_it_timed)
{
    struct run r;
    run(&r, DRIVER, "--device=sim", "--size", "32", "--iterations", "3", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "(median of 3; "), "exit status %d: %s%s", r.status, r.out, r.err);
    run(&r, LADDER, "--device=sim", "--size", "32", "--no-predict", "--iterations", "3", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "; time: median of 3 runs\n"), "exit status %d: %s%s", r.status, r.out,
              r.err);
}

Test(driver, writes_json_with_its_counters)
{
    struct run r;
    run(&r, DRIVER, "--device=sim", "--m", "32", "--n", "32", "--k", "8", "--json", "-", NULL);
    cr_assert(r.status == 0, "exit status %d: %s", r.status, r.err);
    cr_assert(r.out[0] == '{' && strstr(r.out, "\"metrics\"") && strstr(r.out, "\"verdict\": \"right\""), "%s", r.out);
    cr_assert(strstr(r.out, "\"compiler\": \"" COMPILER), "%s", r.out);
}

Test(driver, counts_the_same_for_any_number_of_jobs)
{
    static struct run r[2];
    char *metrics[2];
    for (int i = 0; i < 2; i++) {
        run(&r[i], DRIVER, "--device=sim", "--size", "64", "--json", "-", "--jobs", i ? "3" : "1", NULL);
        cr_assert(r[i].status == 0, "exit status %d: %s", r[i].status, r[i].err);
        cr_assert_not_null(metrics[i] = strstr(r[i].out, "\"metrics\""), "%s", r[i].out);
        metrics[i][strcspn(metrics[i], "}")] = '\0';
    }
    cr_assert_str_eq(metrics[0], metrics[1]);
    run(&r[0], DRIVER, "--jobs", "0", NULL);
    refused(&r[0], "no jobs", "--jobs");
}

// A kernel from outside of the tree: the driver's own with one thing changed.
static const char *changed(const char *from, const char *to)
{
    static char text[1 << 18], other[1 << 18];
    FILE *f = fopen(PTX, "rb");
    cr_assert(f, "%s cannot be read", PTX);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *at = strstr(text, from);
    cr_assert(at, "no %s in %s", from, PTX);
    const int n = snprintf(other, sizeof other, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return scratch(other, (size_t)n);
}

// Alpha is added where it should multiply: with alpha = 1 every element is 1 too large. Its text is the course's.
Test(driver, names_the_cause_and_the_line_of_a_wrong_result)
{
    struct run r;
    const char *path = changed("mul.f32", "add.f32");
    run(&r, DRIVER, "--device=sim", "--size", "40", "--ptx", path, "--course", KERNEL, NULL);
    cr_assert(r.status == 1 && strstr(r.out, "every element is 1 too large") && strstr(r.out, "; look at kernel.cu:") &&
                  (!BY_NVCC ||
                   strstr(r.out, "\n    kernel.cu:30   store(C, M, N, brow + row, bcol + col, alpha, acc, beta);\n")),
              "%d: %s%s", r.status, r.out, r.err);
    run(&r, DRIVER, "--device=sim", "--size", "40", "--ptx", path, "--json", "-", NULL);
    cr_assert(r.status == 1 && strstr(r.out, "kernel.cu\",") && strstr(r.out, "\"look\": ["), "%d: %s", r.status,
              r.out);
    run(&r, DRIVER, "--device=sim", "--size", "100", "--ptx", path, "--profile", NULL);
    cr_assert(r.status == 1 && strstr(r.out, " 400 requests\n"),  // to store 100 rows, each by 4 warps
              "the profile is that of the step's own run: %s", r.out);
}

Test(driver, runs_a_kernel_from_elsewhere)
{
    struct run r;
    const char *path = changed("fma.rn.f32", "fma.rn.f32");
    run(&r, DRIVER, "--device=sim", "--size", "40", "--ptx", path, NULL);
    cr_assert(r.status == 0 && strstr(r.out, path) && strstr(r.out, "\nright "), "%d: %s%s", r.status, r.out, r.err);
    run(&r, DRIVER, "--device=sim", "--size", "40", "--ptx", changed("fma.rn.f32", "fma.rz.f32"), "--seed", "2", NULL);
    cr_assert(r.status == 0, "the other rounding is within the bound: %s%s", r.out, r.err);
    run(&r, DRIVER, "--device=sim", "--size", "40", "--ptx", changed("geometry[16] = {32", "geometry[16] = {64"),
        "--course", KERNEL, NULL);
    cr_assert(r.status == 1 && strstr(r.out, "never written") && !strstr(r.out, "lane"), "%d: %s%s", r.status, r.out,
              r.err);
}

Test(driver, refuses_a_kernel_from_elsewhere_that_is_no_gemm)
{
    static const char *const changes[][3] = {
        { "geometry[16]", "geometri[16]", "says no geometry" },
        { "geometry[16] = {32", "geometry[16] = {0", "BM is 0" },
        { "gemm(", "gemv(", "no kernel named gemm, extern \"C\" __global__ void gemm(...); it has gemv\n" },
        { ".param .f32 gemm_param_3", ".param .f64 gemm_param_3", "does not take int M" },
        // With a BOX of 8, A and B are tensor maps, and not the pointers that this kernel takes.
        { "geometry[16] = {32",
          "geometry[40] = {32, 0, 0, 0, 32, 0, 0, 0, 8, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
          "0, 0, 0, 0, 0, 0, 8, 0, 0, 0};\n.const .align 4 .b8 other[16] = {32",
          "float alpha, const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float beta" },
    };
    struct run r;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        run(&r, DRIVER, "--device=sim", "--size", "8", "--ptx", changed(changes[i][0], changes[i][1]), NULL);
        refused(&r, changes[i][1], changes[i][2]);
        cr_assert_eq(r.status, 2);
    }
    const char *path = scratch("hello\n", 6);
    refuses("no PTX", path, DRIVER, "--ptx", path, NULL);
    refuses("no file", "/nonexistent.ptx", DRIVER, "--ptx", "/nonexistent.ptx", NULL);
}

Test(driver, describes_itself)
{
    static const char *const says[] = {
        "{\n  \"name\": \"01_naive\",", "\"type\": \"f32\"",   "01_naive.ptx\"", "\"bm\": 32,",
        "\"threads\": 1024,",           "\"static_shared\": 0"
    };
    struct run r;
    run(&r, DRIVER, "--describe", NULL);
    cr_assert(r.status == 0 && !*r.err, "%d: %s", r.status, r.err);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        cr_assert(strstr(r.out, says[i]), "no %s in %s", says[i], r.out);
    run(&r, DRIVER, "--describe", "--ptx", changed("geometry[16] = {32", "geometry[16] = {64"), NULL);
    cr_assert(r.status == 0 && strstr(r.out, "\"bm\": 64,"), "%s%s", r.out, r.err);
    cr_assert(strstr(r.out, "\"constants\": {}"), "%s", r.out);
    run(&r, DRIVER, "--describe", "--ptx",
        changed(".visible .entry gemm(",
                ".const .align 4 .u32 PAD = 4;\n.const .align 4 .s32 LESS = -7;\n.const .align 4 .u32 NONE;\n"
                ".const .align 4 .f32 REAL = 0f3F800000;\n.visible .entry gemm("),
        NULL);
    cr_assert(r.status == 0 &&
                  strstr(r.out, "\"constants\": {\n    \"PAD\": 4,\n    \"LESS\": -7,\n    \"NONE\": 0\n  }"),
              "%s%s", r.out, r.err);
}

Test(driver, shows_help)
{
    struct run r;
    run(&r, DRIVER, "--help", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "--pause-ms") && !r.err[0], "%d: %s", r.status, r.out);
}

Test(ladder, keeps_no_table_of_simulated_times)
{
    refuses("--csv", "--json", LADDER, "--device=sim", "--csv", "/dev/null", NULL);
}

Test(ladder, climbs_every_step_simulated)
{
    struct run r;
    run(&r, LADDER, "--device=sim", "--size", "64", "--no-predict", NULL);
    cr_assert(r.status == 0, "exit status %d: %s", r.status, r.err);
    cr_assert(!strstr(r.out, "predicted") && strstr(r.out, "The time is the simulation's."), "%s", r.out);
    cr_assert(strstr(r.out, "simulated"), "%s", r.out);
    cr_expect_eq(!strstr(r.out, "course next "), access(BUILD "/course", X_OK) != 0, "%s", r.out);
    cr_assert(strstr(r.out, "\nKernels: compiled by " COMPILER), "%s", r.out);
    static const char *const names[] = { "01_naive",          "02_smem_tile",      "02_smem_tile_double",
                                         "03_thread_tile_1d", "04_thread_tile_2d", "05_vectorized",
                                         "06_warp_tile",      "07_double_buffer",  "08_wmma",
                                         "09_wmma_smem",      "10_wmma_padding",   "11_mma_ptx",
                                         "12_mma_swizzle",    "13_async_copy" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert(strstr(r.out, names[i]), "no %s in %s", names[i], r.out);
    cr_assert(!strstr(r.out, "WRONG") && !strstr(r.out, "FAILED"), "%s", r.out);
    const char *const for_hopper[] = { "14_tma",        "15_wgmma",     "16_warp_roles", "17_tile_order",
                                       "18_persistent", "19_tma_store", "20_any_shape" };
    for (size_t i = 0; HAS_HOPPER && i < sizeof for_hopper / sizeof *for_hopper; i++)
        cr_assert(strstr(r.out, for_hopper[i]), "no %s in %s", for_hopper[i], r.out);
    const char *types = strstr(r.out, "from here on"), *seventh = strstr(r.out, "07_"), *eighth = strstr(r.out, "08_");
    cr_assert(types && seventh < types && types < eighth, "it does not show where the types change: %s", r.out);
    const char *hopper = strstr(r.out, "Hopper alone"), *last = strstr(r.out, "13_"), *next = strstr(r.out, "14_tma");
    cr_assert(HAS_HOPPER ? hopper && last < hopper && hopper < next : !hopper, "where does Hopper begin? %s", r.out);
}

static int count_of(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

// The number behind the first key in the text, with commas between the thousands or without; -1: it is not there.
static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    char *end;
    if (!at)
        return -1;
    double n = strtod(at + strlen(key), &end);
    while (*end == ',' && isdigit((unsigned char)end[1]))
        n = 1000 * n + strtod(end + 1, &end);
    return n;
}

// Threads predict while the steps before are run: each row has to get its own prediction.
Test(ladder, predicts_without_a_gpu)
{
    NEEDS_NVCC_13;
    struct run r, first;
    if (sample_asked() == SAMPLE_BRIEF)
        cr_skip_test("waits for meson test");
    run(&r, LADDER, "--device=sim", "--size", "32", "--json", "-", NULL);
    cr_assert(r.status == 0, "exit status %d: %s", r.status, r.err);
    cr_expect(strstr(r.err, "\npredicted: TFLOP/s on the H200, M 32, N 32, K 32\n"), "%s", r.err);
    const int steps = count_of(r.out, "\"step\": ");
    cr_expect(steps >= 21, "%d steps: %s", steps, r.out);  // a learner may have more
    cr_expect_eq(count_of(r.out, "\"predicted_tflops\""), steps, "%s", r.out);
    cr_expect_eq(count_of(r.out, "\"predicted_cycles\""), steps, "%s", r.out);
    cr_expect_eq(count_of(r.err, "  x "), steps - 3, "all but the first of each type: %s", r.err);
    run(&first, DRIVER, "--device=sim", "--size", "16", "--predict-size", "32", NULL);
    const double by_driver = number_behind(first.out, "makes for it:\n");
    const char *row = strstr(r.out, "\"step\": \"01_naive\"");
    const double by_ladder = row ? number_behind(row, "\"predicted_cycles\": ") : 0;
    cr_expect(by_driver > 0 && by_driver == rint(by_ladder), "%g cycles by the driver, %g by the ladder", by_driver,
              by_ladder);
}

// The picture in the README is drawn from what the ladder prints. Its times are of the day; what is counted has to be
// what the ladder counts now, line by line. A step of the learner's own is not in it.
Test(ladder, counts_what_its_picture_shows)
{
    NEEDS_NVCC_13;
    static char picture[1 << 16];
    struct run r;
    int steps = 0;
    FILE *in = fopen(LADDER_SVG, "r");
    cr_assert(in, "%s", LADDER_SVG);
    picture[fread(picture, 1, sizeof picture - 1, in)] = '\0';
    fclose(in);
    run(&r, LADDER, "--device=sim", "--no-predict", NULL);
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
        const char *verdict = strstr(line, " right "),
                   *counts = strstr(verdict ? verdict : "", "s  ");  // after the time
        char name[64] = "";
        sscanf(line, "%63s", name);
        if (!isdigit((unsigned char)line[0]) || !isdigit((unsigned char)line[1]) || !counts || line[2] != '_' ||
            !strstr(picture, name))
            continue;
        cr_expect(strstr(picture, counts + 1),
                  "%s does not show\n%s\nbuild/ladder --device sim | sed '/^Kernels/d; /^$/d; /^inst:/,$d' | "
                  "build/picture > steps/ladder.svg draws it again",
                  LADDER_SVG, line);
        steps++;
    }
    cr_assert_eq(steps, 21, "%d steps in: %s", steps, r.out);
}

Test(simt, refuses_files_that_are_not_ptx)
{
    static char huge[1 << 20];
    memset(huge, 'x', sizeof huge);
    refuses("missing", "/nonexistent.ptx", SIMT, "inspect", "/nonexistent.ptx", NULL);
    refuses("directory", "/tmp", SIMT, "inspect", "/tmp", NULL);
    refuses("empty", "empty", SIMT, "inspect", scratch("", 0), NULL);
    refuses("binary", "binary", SIMT, "run",
            scratch("\x7f"
                    "ELF\0\1\2\3",
                    8),
            "gemm", NULL);
    refuses("text", "not PTX", SIMT, "inspect", scratch("hello\n", 6), NULL);
    refuses("one long line", "not PTX", SIMT, "inspect", scratch(huge, sizeof huge), NULL);
    // A file of 100 MB without a newline, sparse on the disk, so not even its bytes are PTX.
    const char *path = scratch("x", 1);
    cr_assert(truncate(path, 100000000) == 0);
    refuses("100 MB", "64 MiB", SIMT, "inspect", path, NULL);
}

Test(simt, refuses_a_file_that_is_cut_off)
{
    FILE *f = fopen(PTX, "rb");
    char text[2000];
    cr_assert(f && fread(text, 1, sizeof text, f) == sizeof text, "%s cannot be read", PTX);
    fclose(f);
    refuses("truncated", "cut off", SIMT, "inspect", scratch(text, sizeof text), NULL);
}

Test(simt, inspects_runs_and_profiles_a_kernel)
{
    struct run r;
    run(&r, SIMT, "inspect", PTX, NULL);
    cr_assert(r.status == 0 && strstr(r.out, "kernel gemm") && strstr(r.out, "fma.rn.f32"), "%s%s", r.out, r.err);
    run(&r, SIMT, "run", PTX, "gemm", "--block", "1024", "i32:2", "i32:2", "i32:3", "f32:1", "f32[6]=iota",
        "f32[6]=ones", "f32:0", "f32[4]=uninit", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "f32[4]: 3 3 12 12"), "%s%s", r.out, r.err);
    run(&r, SIMT, "profile", PTX, "gemm", "--block", "1024", "--json", "-", "i32:2", "i32:2", "i32:3", "f32:1",
        "f32[6]=iota", "f32[6]=ones", "f32:0", "f32[4]=uninit", NULL);
    cr_assert(r.status == 0 && strstr(r.out, "\"findings\"") && strstr(r.out, "\"lines\""), "%s%s", r.out, r.err);
}

// A kernel without shared memory and tensor cores has no rows of theirs; one with shared memory has its conflicts, if
// 0.
Test(simt, profile_leaves_out_what_does_not_occur)
{
    struct run r;
    run(&r, SIMT, "profile", PTX, "gemm", "--block", "32,2", "i32:2", "i32:2", "i32:3", "f32:1", "f32[6]=iota",
        "f32[6]=ones", "f32:0", "f32[4]=uninit", NULL);
    shown(&r, 0, "smsp__inst_executed.sum");
    shown(&r, 0, " counters are 0; --json lists them.\n");
    cr_expect(!strstr(r.out, "mem_shared") && !strstr(r.out, "hmma"), "%s", r.out);
    static const char store[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n"
                                "  .shared .align 4 .b8 tile[4];\n  .reg .u32 %r1;\n  mov.u32 %r1, 1;\n"
                                "  st.shared.u32 [tile], %r1;\n  ret;\n}\n";
    run(&r, SIMT, "profile", scratch(store, strlen(store)), "k", NULL);
    shown(&r, 0, "bank_conflicts_pipe_lsu_mem_shared_op_st.sum ");
    cr_expect(!strstr(r.out, "shared_op_ld.sum"), "%s", r.out);
}

Test(simt, names_the_allocation_the_thread_and_the_line_of_a_bad_access)
{
    struct run r;
    run(&r, SIMT, "run", PTX, "gemm", "--block", "1024", "i32:2", "i32:2", "i32:3", "f32:1", "f32[6]=iota",
        "f32[5]=ones", "f32:0", "f32[4]=uninit", NULL);
    cr_assert(r.status == 1, "exit status %d", r.status);
    refused(&r, "out of bounds", "byte 20 of argument 5, which has 20 bytes");
    cr_assert(strstr(r.err, "kernel.cu:") && strstr(r.err, "thread (") && strstr(r.err, "block (0,0,0)"), "%s", r.err);
}

Test(simt, refuses_bad_launches_and_arguments)
{
    struct run r;
    refuses("no command", "command", SIMT, NULL);
    refuses("command", "command", SIMT, "dance", PTX, NULL);
    refuses("kernel", "there is no kernel 'nokernel': the file has gemm\n", SIMT, "run", PTX, "nokernel", NULL);
    refuses("no kernel", "which kernel? The file has gemm\n", SIMT, "run", PTX, NULL);
    refuses("card", "--card \"abacus\": must be one of H200, ", SIMT, "profile", PTX, "gemm", "--card", "abacus", NULL);
    refuses("sm", "--sm \"12\": must be 80 or 90\n", SIMT, "profile", PTX, "gemm", "--sm", "12", NULL);
    refuses("grid", "--grid", SIMT, "run", PTX, "gemm", "--grid", "0", NULL);
    refuses("block", "--block", SIMT, "run", PTX, "gemm", "--block", "1,2,3,4", NULL);
    refuses("block along z", "block.z is 65; at most 64", SIMT, "run", PTX, "gemm", "--block", "1,1,65", "i32:2",
            "i32:2", "i32:3", "f32:1", "f32[6]=iota", "f32[6]=iota", "f32:0", "f32[4]=zeros", NULL);
    refuses("grid", "at most 65535", SIMT, "run", PTX, "gemm", "--grid", "1,65536", "--block", "32", "i32:2", "i32:2",
            "i32:3", "f32:1", "f32[6]=iota", "f32[6]=ones", "f32:0", "f32[4]=uninit", NULL);
    run(&r, SIMT, "run", PTX, "gemm", "--block", "2147483647,2147483647,2147483647", "i32:2", "i32:2", "i32:3", "f32:1",
        "f32[6]=iota", "f32[6]=ones", "f32:0", "f32[4]=uninit", NULL);
    refused(&r, "block", "at most 1024");
    cr_assert(r.status == 2, "exit status %d for a launch that could not be made", r.status);
    refuses("count", "8 arguments", SIMT, "run", PTX, "gemm", "i32:1", NULL);
    refuses("value", "99999999999", SIMT, "run", PTX, "gemm", "i32:99999999999", NULL);
    refuses("array", "COUNT", SIMT, "run", PTX, "gemm", "f32[x]=ones", NULL);
    refuses("file", "/nonexistent.bin", SIMT, "run", PTX, "gemm", "f32[4]=@/nonexistent.bin", NULL);
}

// The kernel would never end: that its counters or arrays cannot be written is said before it runs.
Test(simt, refuses_a_file_that_cannot_be_written_before_the_run)
{
    static const char endless[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n"
                                  "{\n$L:\n  bra $L;\n}\n";
    const char *ptx = scratch(endless, strlen(endless));
    refuses("dump", "--dump \"/nonexistent/a.bin\": cannot write it: No such file or directory", SIMT, "run", ptx, "k",
            "f32[4]=zeros", "--dump", "0=/nonexistent/a.bin", NULL);
    refuses("dump to a folder", "--dump \"/tmp\": cannot write it: Is a directory", SIMT, "check", ptx, "k",
            "f32[4]=zeros", "--dump", "0=/tmp", NULL);
    refuses("json", "--json \"/nonexistent/a.json\": cannot write it: No such file or directory", SIMT, "profile", ptx,
            "k", "f32[4]=zeros", "--json", "/nonexistent/a.json", NULL);
    refuses("picture", "--out \"/nonexistent/a.svg\": cannot write it: No such file or directory", SIMT, "draw", ptx,
            "k", "f32[4]=zeros", "--timeline", "--out", "/nonexistent/a.svg", NULL);
}

Test(simt, says_what_is_wrong_with_a_file_of_content)
{
    refuses("folder", "/tmp: Is a directory", SIMT, "run", PTX, "gemm", "f32[4]=@/tmp", NULL);
    const char *three = scratch("abc", 3);
    char array[128];
    snprintf(array, sizeof array, "u8[4]=@%s", three);
    refuses("fewer", "the array needs 4 bytes, the file has 3", SIMT, "run", PTX, "gemm", array, NULL);
}

// Every combination is a row, in order; what cannot work says why, and wrong commands are one line.
Test(tune, tries_every_combination)
{
    struct run r;
    if (sample_asked() == SAMPLE_BRIEF)
        cr_skip_test("waits for meson test");
    run(&r, TUNE, "05", "BK=12,8", "BM=64,128", "--device=sim", "--size", "64", NULL);
    cr_assert(r.status == 0, "exit status %d: %s", r.status, r.err);
    static const char *const rows[] = { "\n   BK   BM  result", "\n   12   64  cannot work: ",
                                        "\n   12  128  cannot work: ", "\n    8   64  right ", "\n    8  128  right " };
    const char *at = r.out;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        at = strstr(at, rows[i]);
        cr_assert(at, "no '%s' after the row before it in %s", rows[i], r.out);
    }
    cr_assert(strstr(r.out, "every thread copies the same number of elements"), "%s", r.out);
    run(&r, TUNE, "05", "BK=0", "--device=sim", "--size", "64", NULL);
    cr_expect(r.status == 1 && !strcmp(r.err, "tune: nothing works of what was tried; each row says why\n"), "%d: %s",
              r.status, r.err);
    cr_expect(strstr(r.out, "\n    0  cannot work: BK is 0, and the kernel divides by it\n"), "%s", r.out);
    refuses("constant", "has no constant 'BX = ' and a number; it has BM, BN, BK, ", TUNE, "05", "BX=8", NULL);
    refuses("value", "BK=8,x", TUNE, "05", "BK=8,x", NULL);
    refuses("option", "unknown option \"--what\"; --help lists the options", TUNE, "05", "BK=8", "--what", NULL);
    run(&r, TUNE, "05", "BK=0", "--device=sim", "--size", "8192", NULL);
    cr_expect(strstr(r.err, "tune: note: 5.5e+11 multiply-adds on the simulated GPU take "), "%s", r.err);
    refuses("option", "--size: needs a value", TUNE, "05", "BK=8", "--size", NULL);
    refuses("constants", "a step and up to 6 constants of its kernel are needed", TUNE, "05", NULL);
    refuses("step", "no step '44'; there are ", TUNE, "44", "BK=8", NULL);
    refuses("steps", " 01_naive, 02_smem_tile, ", TUNE, "44", "BK=8", NULL);  // a learner's own may come first
    refuses("size", "--size \"0\": must be a whole number from 1 to ", TUNE, "05", "BK=8", "--size", "0", NULL);
    refuses("card", "--card \"abacus\": must be one of H200, ", TUNE, "05", "BK=8", "--card", "abacus", NULL);
}

// A shape is a row; with --all, each kernel. Wrong commands are one line.
Test(choices, shows_the_kernel_of_each_shape)
{
    if (!HAS_HOPPER)
        cr_skip_test("step 20 needs nvcc 12");
    struct run r;
    run(&r, CHOICES, "20", "512", "5x6x7", NULL);
    cr_assert(r.status == 0, "exit status %d: %s", r.status, r.err);
    cr_assert(strstr(r.out, "On H200, 132 SMs:\n") && strstr(r.out, "\n512 x 512 x 512       gemm_64x64 ") &&
                  strstr(r.out, "\n5 x 6 x 7             gemm_64x64 "),
              "%s", r.out);
    cr_expect_eq(count_of(r.out, "\n"), 4, "%s", r.out);
    run(&r, CHOICES, "--all", "20", "512", NULL);
    cr_expect_eq(count_of(r.out, "\n512 x 512 x 512  "), 6 + 2 * 3,
                 "eight kernels, two of which split K in 2, 4 and 8: %s", r.out);
    cr_expect_eq(count_of(r.out, "gemm_64x64_split"), 3, "%s", r.out);
}

Test(choices, refuses_what_it_cannot_show)
{
    if (!HAS_HOPPER) {
        refuses("step", "20_any_shape and its like are not in this build: they need nvcc 12.0", CHOICES, "20", "1",
                NULL);
        return;
    }
    refuses("shape", "\"300x200\": must be MxNxK, or one number", CHOICES, "20", "300x200", NULL);
    refuses("size", "\"0\": must be MxNxK", CHOICES, "20", "512", "0", NULL);
    refuses("step", "no step '44'; there are ", CHOICES, "44", "1", NULL);
    refuses("steps", " 01_naive, 02_smem_tile, ", CHOICES, "44", "1", NULL);  // a learner's own may come first
    refuses("step", "01_naive has one kernel", CHOICES, "01", "1", NULL);
    refuses("option", "unknown option \"--what\"; --help lists the options", CHOICES, "20", "1", "--what", NULL);
    refuses("option", "--card: needs a value", CHOICES, "20", "1", "--card", NULL);
    refuses("shapes", "a step and a shape are needed", CHOICES, "20", NULL);
    refuses("card", "--card \"abacus\": must be one of H200, ", CHOICES, "20", "1", "--card", "abacus", NULL);
}

Test(compare, refuses_what_is_no_number)
{
    static const char *const bad[][2] = { { "--times", "x" }, { "--times", "100" }, { "--random", "1e3" },
                                          { "--seed", "-1" }, { "--type", "f64" },  { "--frobnicate", "1" },
                                          { "--times", NULL } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(bad[i][0], bad[i][0], COMPARE, "512", bad[i][0], bad[i][1], NULL);
    refuses("shape", "\"512x\": must be MxNxK, or one number for all three, from 1 to 32768", COMPARE, "512x", NULL);
}
