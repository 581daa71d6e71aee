// The device suite: what common/base/device.h promises, on every device that is there.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "device/open.h"
#include "base/profile.h"

// out[i] = 2 * in[i] for i < n
static const char twice[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry twice(.param .u64 out, .param .u64 in, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %rd<8>;\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;\n"
    "  cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2; mul.wide.u32 %rd5, %r5, 4;\n"
    "  add.s64 %rd6, %rd4, %rd5; ld.global.f32 %f1, [%rd6]; add.f32 %f2, %f1, %f1;\n"
    "  add.s64 %rd7, %rd3, %rd5; st.global.f32 [%rd7], %f2;\n"
    "DONE: ret;\n"
    "}\n";

// One line, and no more, about the failure that was just seen.
static void one_line(const struct dev *d, const char *what, const char *word)
{
    const char *e = dev_error(d);
    cr_assert(e[0] && !strchr(e, '\n'), "%s, %s: not one line: '%s'", dev_about(d)->name, what, e);
    cr_assert(strstr(e, word), "%s, %s: '%s' does not mention '%s'", dev_about(d)->name, what, e, word);
}

static void doubles(struct dev *d, unsigned n, unsigned block)
{
    float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    dev_ptr from, to;
    for (unsigned i = 0; i < n; i++)
        in[i] = (float)i - 3.5f;
    struct dev_module *m = dev_load_text(d, "twice.ptx", twice, strlen(twice));
    struct dev_kernel *k = m ? dev_kernel(d, m, "twice") : NULL;
    cr_assert(k, "%s: %s", dev_about(d)->name, dev_error(d));
    cr_assert(dev_alloc(d, "in", n * sizeof *in, &from) && dev_alloc(d, "out", n * sizeof *out, &to) &&
                  dev_upload(d, from, in, n * sizeof *in),
              "%s", dev_error(d));
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from), DEV_ARG(n) };
    struct dev_launch l = { .grid = { (n + block - 1) / block }, .block = { block }, .args = args, .n_args = 3 };
    double ms = -1;
    cr_assert(dev_timer_start(d) && dev_launch(d, k, &l) && dev_launch(d, k, &l) && dev_timer_stop(d, &ms) &&
                  dev_sync(d) && dev_download(d, out, to, n * sizeof *out),
              "%s: %s", dev_about(d)->name, dev_error(d));
    cr_assert(ms > 0 && ms < 60000, "%s: %g ms", dev_about(d)->name, ms);
    for (unsigned i = 0; i < n; i++)
        cr_assert(out[i] == 2 * in[i], "%s: out[%u] is %g, not %g", dev_about(d)->name, i, (double)out[i],
                  2 * (double)in[i]);
    cr_assert(dev_free(d, from) && dev_free(d, to), "%s", dev_error(d));
    dev_unload(d, m);
    free(in);
    free(out);
}

// Every test runs on each device; a machine without a GPU has one.
static void on_each_device(void (*test)(struct dev *d))
{
    static const enum dev_kind kinds[] = { DEV_SIM, DEV_GPU };
    char error[DEV_ERROR_MAX];
    for (size_t i = 0; i < 2; i++) {
        struct dev *d = dev_open(kinds[i], error);
        cr_assert(d || kinds[i] == DEV_GPU, "%s", error);
        cr_assert(d || !strncmp(error, "no GPU", 6), "%s", error);
        if (d)
            test(d);
        dev_close(d);
    }
}

static void about(struct dev *d)
{
    const struct dev_about *a = dev_about(d);
    cr_assert(a->name[0] && a->detail[0] && a->memory > 1 << 20 && a->max_threads >= 1024 &&
                  a->shared_per_block >= 49152 && a->cc_major >= 5,
              "%s: %s", a->name, a->detail);
    cr_assert(a->simulated == !strcmp(a->name, "simulated GPU"), "%s", a->name);
}

Test(device, says_what_it_is)
{
    on_each_device(about);
}

static void runs_kernels(struct dev *d)
{
    doubles(d, 1, 32);
    doubles(d, 1000, 128);
    doubles(d, 4099, 1000);
}

Test(device, runs_kernels_of_any_block_size)
{
    on_each_device(runs_kernels);
}

static uint64_t begun[64], blocks_in_all;
static int calls;

static void note(uint64_t done, uint64_t blocks)
{
    cr_assert(calls < 64);
    begun[calls++] = done;
    blocks_in_all = blocks;
}

Test(device, the_simulated_gpu_says_how_far_it_has_come)
{
    char error[DEV_ERROR_MAX];
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        struct dev *d = dev_open(DEV_SIM, error);
        cr_assert(d, "%s", error);
        dev_set_jobs(d, jobs);
        dev_set_progress(d, note);
        calls = 0;
        doubles(d, 64, 32);
        cr_assert(calls >= 2 && blocks_in_all == 2);
        for (int i = 1; i < calls; i++)
            cr_expect(begun[i] > begun[i - 1] || begun[i] == 0);
        cr_expect_eq(begun[calls - 1], 2);
        dev_close(d);
    }
}

// .reqntid: blocks of that shape and no other.
static void enforces_shape(struct dev *d)
{
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k() .reqntid 16, 8, 1\n{ ret; }\n";
    struct dev_module *m = dev_load_text(d, "k.ptx", text, strlen(text));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    struct dev_launch l = { .block = { 16, 8, 1 } };
    cr_assert(k, "%s", dev_error(d));
    cr_assert(dev_launch(d, k, &l) && dev_sync(d), "%s", dev_error(d));
    static const unsigned others[][3] = { { 128, 1, 1 }, { 8, 16, 1 }, { 16, 4, 1 }, { 16, 8, 2 } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        memcpy(l.block, others[i], sizeof l.block);
        cr_assert(!dev_launch(d, k, &l), "it ran with %u,%u,%u", l.block[0], l.block[1], l.block[2]);
        if (dev_about(d)->simulated)
            cr_assert(strstr(dev_error(d), "can only run with 16,8,1"), "%s", dev_error(d));
    }
}

Test(device, a_kernel_that_asks_for_a_block_shape_gets_no_other)
{
    on_each_device(enforces_shape);
}

static void refuses_launches(struct dev *d)
{
    unsigned n = 4;
    dev_ptr p;
    struct dev_module *m = dev_load_text(d, "twice.ptx", twice, strlen(twice));
    struct dev_kernel *k = m ? dev_kernel(d, m, "twice") : NULL;
    cr_assert(k && dev_alloc(d, "p", 64, &p), "%s", dev_error(d));
    uint16_t narrow = 4;
    struct dev_arg args[] = { DEV_ARG(p), DEV_ARG(p), DEV_ARG(n) }, bad[] = { DEV_ARG(p), DEV_ARG(p), DEV_ARG(narrow) };
    struct dev_launch l = { .block = { 4 }, .args = args, .n_args = 2 };
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "argument count", "3 arguments");
    l.n_args = 3;
    l.args = bad;
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "argument size", "argument 2");
    l.args = args;
    l.block[0] = 1025;
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "block", "block.x");
    l.block[0] = 64;
    l.block[1] = 32;
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "threads", "1024");
    l.block[1] = 1;
    l.grid[1] = 93750;
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "grid", "grid.y is 93750");
    l.grid[1] = 1;
    l.shared = (size_t)1 << 20;
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "shared memory", "shared");
    cr_assert(!dev_launch(d, NULL, &l));
    cr_assert(!dev_kernel(d, m, "thrice"));
    one_line(d, "kernel name", "thrice");
    doubles(d, 100, 32);  // none of this did any harm
}

Test(device, refuses_bad_launches_and_stays_usable)
{
    on_each_device(refuses_launches);
}

static void refuses_ptx(struct dev *d)
{
    static const char missing[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { frob.u32; ret; }\n";
    cr_assert(!dev_load(d, "/nonexistent.ptx"));
    one_line(d, "missing file", "/nonexistent.ptx");
    cr_assert(!dev_load(d, "/tmp"));
    one_line(d, "directory", "directory");
    cr_assert(!dev_load_text(d, "empty.ptx", "", 0));
    one_line(d, "empty", "empty.ptx");
    cr_assert(!dev_load_text(d, "binary.ptx", "a\0b", 3));
    one_line(d, "binary", "binary");
    cr_assert(!dev_load_text(d, "prose.ptx", "hello", 5));
    one_line(d, "prose", "prose.ptx");
    for (size_t n = 60; n + 2 < strlen(twice); n += 50) {  // cut off anywhere in the kernel
        struct dev_module *m = dev_load_text(d, "cut.ptx", twice, n);
        cr_assert(!m, "%s took the first %zu bytes", dev_about(d)->name, n);
        one_line(d, "cut off", "cut.ptx");
    }
    struct dev_module *m = dev_load_text(d, "frob.ptx", missing, strlen(missing));
    cr_assert(!m || !dev_kernel(d, m, "k"));
    one_line(d, "unknown instruction", "frob.ptx");
    doubles(d, 100, 32);
}

Test(device, refuses_bad_ptx_and_stays_usable)
{
    on_each_device(refuses_ptx);
}

static void manages_memory(struct dev *d)
{
    dev_ptr p, q;
    unsigned char in[777], out[777] = { 0 };
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7 + 1);
    cr_assert(dev_alloc(d, "p", sizeof in, &p) && dev_alloc(d, "q", 1, &q) && p && q && p != q, "%s", dev_error(d));
    cr_assert(p % 256 == 0 && q % 256 == 0);
    cr_assert(dev_upload(d, p, in, sizeof in) && dev_download(d, out, p, sizeof out), "%s", dev_error(d));
    cr_assert_arr_eq(in, out, sizeof in);
    cr_assert(dev_upload(d, p + 100, out, 10) && dev_download(d, out, p + 100, 10) && out[9] == in[9]);
    cr_assert(!dev_alloc(d, "nothing", 0, &q));
    one_line(d, "no bytes", "byte");
    cr_assert(!dev_alloc(d, "everything", (size_t)1 << 50, &q));
    one_line(d, "too many bytes", "everything needs 1125899906842624 bytes");
    cr_assert(dev_free(d, p), "%s", dev_error(d));
    cr_assert(!dev_free(d, p));
    one_line(d, "double free", "freed already");
    cr_assert(!dev_free(d, 0) && !dev_upload(d, 0, in, 4) && !dev_download(d, NULL, q, 4));
    doubles(d, 100, 32);
}

Test(device, manages_memory)
{
    on_each_device(manages_memory);
}

Test(device, tells_where_a_copy_leaves_its_allocation_simulated)
{
    char error[DEV_ERROR_MAX];
    struct dev *d = dev_open(DEV_SIM, error);
    dev_ptr p;
    char bytes[100];
    cr_assert(d && dev_alloc(d, "weights", 64, &p));
    cr_assert(!dev_download(d, bytes, p + 4, 64));
    one_line(d, "download", "weights");
    cr_assert(!dev_upload(d, p + 64, bytes, 1));
    one_line(d, "upload", "weights");
    dev_close(d);
}

Test(device, baseline_multiplies_or_says_that_there_is_none)
{
    char error[DEV_ERROR_MAX];
    struct dev *sim = dev_open(DEV_SIM, error), *gpu = dev_open(DEV_GPU, error);
    cr_assert(!dev_baseline_name(sim) && !dev_baseline_gemm(sim, DEV_F32, 1, 1, 1, 1, 256, 256, 0, 256));
    one_line(sim, "baseline", "compare");
    if (gpu && dev_baseline_name(gpu)) {
        const float a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 1, 0, 2, 1, 0, 3 };  // 2 x 3 times 3 x 2
        float c[4] = { 1, 1, 1, 1 };
        dev_ptr A, B, C;
        cr_assert(dev_alloc(gpu, "A", sizeof a, &A) && dev_alloc(gpu, "B", sizeof b, &B) &&
                      dev_alloc(gpu, "C", sizeof c, &C) && dev_upload(gpu, A, a, sizeof a) &&
                      dev_upload(gpu, B, b, sizeof b) && dev_upload(gpu, C, c, sizeof c) &&
                      dev_baseline_gemm(gpu, DEV_F32, 2, 2, 3, 2, A, B, -1, C) && dev_download(gpu, c, C, sizeof c),
                  "%s", dev_error(gpu));
        // A * B = {5, 11; 14, 23}
        cr_assert(c[0] == 9 && c[1] == 21 && c[2] == 27 && c[3] == 45, "%g %g %g %g", (double)c[0], (double)c[1],
                  (double)c[2], (double)c[3]);
    }
    dev_close(gpu);
    dev_close(sim);
}

static void refuses_what_is_no_file(struct dev *d)
{
    double ms;
    struct scratch file;
    cr_assert(!dev_load(d, NULL));
    one_line(d, "no path", "path");
    cr_assert(scratch_open(&file, "pipe", NULL) && !mkfifo(file.path, 0600));
    cr_assert(!dev_load(d, file.path));
    one_line(d, "pipe", "pipe");
    scratch_close(&file);
    cr_assert(!dev_timer_stop(d, &ms));
    one_line(d, "timer", "not started");
}

Test(device, refuses_pipes_and_a_timer_that_was_not_started)
{
    on_each_device(refuses_what_is_no_file);
}

Test(device, survives_copies_and_accesses_whose_ends_wrap_around_simulated)
{
    // lane 0 reads at in, lane 1 at in + 2^63, lane 2 at in - 4: the span of the addresses overflows
    static const char spread[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry spread(.param .u64 in)\n"
        "{ .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .pred %p<2>;\n"
        "  ld.param.u64 %rd1, [in]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; shl.b64 %rd3, %rd2, 63;\n"
        "  add.s64 %rd4, %rd1, %rd3; setp.eq.u32 %p1, %r1, 2; add.s64 %rd5, %rd1, -4; selp.b64 %rd6, %rd5, %rd4, %p1;\n"
        "  ld.global.u32 %r2, [%rd6]; st.global.u32 [%rd1], %r2; ret; }\n";
    char error[DEV_ERROR_MAX], bytes[16];
    struct dev *d = dev_open(DEV_SIM, error);
    dev_ptr p;
    cr_assert(d && dev_alloc(d, "in", 64, &p), "%s", error);
    cr_assert(!dev_download(d, bytes, p + 1, SIZE_MAX));
    one_line(d, "download", "out of bounds");
    struct dev_module *m = dev_load_text(d, "spread.ptx", spread, strlen(spread));
    struct dev_kernel *k = m ? dev_kernel(d, m, "spread") : NULL;
    struct dev_arg args[] = { DEV_ARG(p) };
    struct dev_launch l = { .block = { 3 }, .args = args, .n_args = 1 };
    cr_assert(k, "%s", dev_error(d));
    cr_assert(!dev_launch(d, k, &l));
    one_line(d, "launch", "out of bounds");
    cr_assert(!dev_profile(d));
    dev_unload(d, m);
    doubles(d, 100, 32);
    const struct profile *seen = dev_profile(d);  // its module is gone
    cr_assert(seen && !strcmp(seen->kernel, "twice") && seen->n_lines > 0 && !strcmp(seen->lines[0].file, "twice.ptx"));
    dev_close(d);
}
