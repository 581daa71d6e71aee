// Chapter 00: its program on every device that is present, and what the chapter says of its kernels: a request touches
// as many sectors, and a shared load takes as many wavefronts, as the words' distance demands. Occupancies that it
// works out by hand. The kernels of measure.cu access nothing that is not theirs. MACHINE is the
// program, MACHINE_PTX its kernels, MEASURE_PTX those of measure.cu, SIMT the simulated GPU.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/occupancy.h"
#include "base/profile.h"
#include "compiler.h"
#include "program_case.h"
#include "ptx_case.h"

Test(machine, program_names_blocks_warps_and_lanes)
{
    struct run r;
    run(&r, MACHINE, "--device", "sim", NULL);
    shown(&r, 0, "A grid of 6 blocks, each of 64 threads: 2 warps, lanes 0 to 31 in the last one\n");
    shown(&r, 0, "block 5: threads 320 to 383 of the grid, on SM 0\n");
    run(&r, MACHINE, "--device", "sim", "--blocks", "9", "--threads", "33", NULL);
    shown(&r, 0, "A grid of 9 blocks, each of 33 threads: 2 warps, lanes 0 to 0 in the last one\n");
    shown(&r, 0, "block 7: threads 231 to 263 of the grid, on SM 0\n...\n");
    shows(0, "usage: 00_machine", MACHINE, "--help", NULL);
}

Test(machine, program_finds_a_real_gpus_sms)
{
    struct run r;
    run(&r, MACHINE, "--device", "gpu", "--blocks", "1000", NULL);
    if (r.status == 2)
        cr_skip_test("%s", r.err);
    shown(&r, 0, "A grid of 1000 blocks");
    unsigned ran = 0, all = 0;
    const char *last = strstr(r.out, "...\n");
    cr_assert(last && sscanf(last, "...\n%u of the card's %u SMs ran a block.", &ran, &all) == 2, "%s", r.out);
    cr_assert(ran > 1 && ran <= all, "%u of %u", ran, all);
}

Test(machine, program_refuses_in_one_line)
{
    refuses("no blocks", "--blocks \"0\": must be a whole number from 1 to 65536", MACHINE, "--blocks", "0", NULL);
    refuses("too many threads", "--threads \"1025\": must be a whole number from 1 to 1024", MACHINE, "--threads",
            "1025", NULL);
    refuses("a device", "--device \"cpu\": must be auto, gpu or sim", MACHINE, "--device", "cpu", NULL);
    refuses("an option", "unknown option \"--warps\"", MACHINE, "--warps", "2", NULL);
    refuses("an argument", "not an option", MACHINE, "more", NULL);
}

// Counters of one warp that runs the kernel; out has 512 bytes, in (where the kernel takes one) as many as it reads.
static struct profile counted(const char *kernel, int stride, bool reads)
{
    struct dev *d = ptx_simulator();
    struct dev_module *m = dev_load(d, MACHINE_PTX);
    struct dev_kernel *k = m ? dev_kernel(d, m, kernel) : NULL;
    dev_ptr in, out;
    cr_assert(k && dev_alloc(d, "out", 512, &out) && dev_alloc(d, "in", 128u * 64, &in) && dev_clear(d, in, 128u * 64),
              "%s", dev_error(d));
    const struct dev_arg from_memory[] = { DEV_ARG(stride), DEV_ARG(in), DEV_ARG(out) };
    const struct dev_arg from_shared[] = { DEV_ARG(stride), DEV_ARG(out) };
    const struct dev_launch launch = { .block = { 32 },
                                       .args = reads ? from_memory : from_shared,
                                       .n_args = reads ? 3 : 2 };
    cr_assert(dev_launch(d, k, &launch) && dev_sync(d), "%s", dev_error(d));
    struct profile p = *dev_profile(d);
    dev_close(d);
    return p;
}

Test(machine, a_request_touches_the_sectors_that_the_chapter_says)
{
    static const struct {
        int stride;
        uint64_t sectors;
    } cases[] = { { 0, 1 }, { 1, 4 }, { 2, 8 }, { 4, 16 }, { 8, 32 }, { 16, 32 }, { 32, 32 } };
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        const struct profile p = counted("sectors", cases[i].stride, true);
        cr_expect_eq(p.total[METRIC_GLD_REQ], 1);
        cr_expect_eq(p.total[METRIC_GLD_SEC], cases[i].sectors, "stride %d: %llu sectors", cases[i].stride,
                     (unsigned long long)p.total[METRIC_GLD_SEC]);
    }
}

Test(machine, a_shared_load_takes_the_wavefronts_that_the_chapter_says)
{
    static const struct {
        const char *kernel;
        int stride;
        uint64_t wavefronts, conflicts;
    } cases[] = {
        { "banks", 0, 1, 0 },      { "banks", 1, 1, 0 },      { "banks", 2, 2, 1 },        { "banks", 3, 1, 0 },
        { "banks", 4, 4, 3 },      { "banks", 8, 8, 7 },      { "banks", 16, 16, 15 },     { "banks", 32, 32, 31 },
        { "banks", 33, 1, 0 },     { "banks", 6, 2, 1 },      { "banks", 24, 8, 7 },       { "banks_wide", 1, 4, 0 },
        { "banks_wide", 2, 8, 4 }, { "banks_wide", 3, 4, 0 }, { "banks_wide", 4, 16, 12 }, { "banks_wide", 8, 32, 28 },
    };
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        const struct profile p = counted(cases[i].kernel, cases[i].stride, false);
        cr_expect_eq(p.total[METRIC_SLD_WAVE], cases[i].wavefronts, "%s %d: %llu wavefronts", cases[i].kernel,
                     cases[i].stride, (unsigned long long)p.total[METRIC_SLD_WAVE]);
        cr_expect_eq(p.total[METRIC_SLD_CONF], cases[i].conflicts, "%s %d: %llu conflicts", cases[i].kernel,
                     cases[i].stride, (unsigned long long)p.total[METRIC_SLD_CONF]);
    }
}

Test(machine, occupancies_by_hand_are_those_of_the_profile)
{
    static const struct {
        const char *card;
        unsigned registers, shared, warps, blocks;
    } cases[] = {
        { "H200", 180, 8192, 8, 1 },  { "RTX 4090", 180, 8192, 8, 1 },  { "T4", 180, 8192, 8, 1 },
        { "H200", 128, 8192, 16, 2 }, { "RTX 4090", 128, 8192, 16, 2 }, { "T4", 128, 8192, 16, 2 },
        { "H200", 16, 8192, 64, 8 },  // threads decide; by shared memory 25 would fit
        { "H200", 72, 20480, 24, 3 }, { "T4", 72, 20480, 24, 3 },
    };
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        const struct occupancy o = occupancy_of(card_named(cases[i].card), 256, cases[i].registers, cases[i].shared);
        cr_expect(o.warps == cases[i].warps && o.blocks == cases[i].blocks, "%s, %u registers: %u warps, %u blocks",
                  cases[i].card, cases[i].registers, o.warps, o.blocks);
    }
}

Test(machine, kernels_that_measure_are_free_of_errors)
{
    NEEDS_NVCC("measure.cu is a whole CUDA program, which clang alone does not compile");
    static const char stream[] = "struct:{u32[4096]=zeros,u32[4096]=zeros,u32:1024,i32:3}";
    static const struct {
        const char *kernel, *args[7];
    } cases[] = {
        { "chain_shared", { "u64[1]=zeros", "u32[64]=zeros" } },
        { "chain_ldmatrix", { "u64[1]=zeros", "u32[64]=zeros" } },
        { "chain_mma", { "u64[1]=zeros", "u32[64]=zeros" } },
        { "rate_mma", { "i32:2", "u64[4]=zeros", "u32[64]=zeros" } },
        { "rate<0, 8>", { "i32:2", "u64[4]=zeros", "u32[64]=zeros" } },
        { "rate_load<true, 4>", { "i32:132", "i32:4096", "i32:3", "u32[1]=zeros", "u64[4]=zeros", "u32[64]=zeros" } },
        { "rate_load<true, 16>", { "i32:16", "i32:4096", "i32:3", "u32[1]=zeros", "u64[4]=zeros", "u32[64]=zeros" } },
        { "rate_load<false, 16>",
          { "i32:16", "i32:4096", "i32:3", "u32[8192]=zeros", "u64[4]=zeros", "u32[64]=zeros" } },
        { "read_all", { stream, "u32[1]=zeros" } },
        { "read_one_by_one", { stream, "u32[1]=zeros" } },
        { "read_strided", { stream, "i32:8", "u32[1]=zeros" } },
        { "copy_all", { stream } },
    };
    struct run r;
    for (size_t i = 0; i < PTX_COUNTOF(cases); i++) {
        const char *const *a = cases[i].args, *blocks = strncmp(cases[i].kernel, "chain", 5) ? "2" : "1";
        run(&r, SIMT, "check", MEASURE_PTX, cases[i].kernel, "--grid", blocks, "--block", "32", a[0], a[1], a[2], a[3],
            a[4], a[5], NULL);
        cr_expect(r.status == 0 && strstr(r.out, "found nothing wrong"), "%s: exit status %d: %s%s", cases[i].kernel,
                  r.status, r.out, r.err);
    }
}

// Blocks of a number of warps that the four schedulers do not share evenly: a prediction of them once did not end.
Test(machine, blocks_of_any_number_of_warps_are_predicted)
{
    NEEDS_NVCC("ptxas may be missing");
    static const char *const threads[] = { "1", "32", "96", "160", "1024" };
    for (size_t i = 0; i < PTX_COUNTOF(threads); i++) {
        struct run r;
        run(&r, SIMT, "profile", MACHINE_PTX, "banks", "--block", threads[i], "i32:1", "f32[2048]=zeros", "--card",
            "H200", NULL);
        cr_expect(r.status == 0 && strstr(r.out, "Predicted for the H200"), "%s threads: exit status %d: %s%s",
                  threads[i], r.status, r.out, r.err);
        cr_expect(strstr(r.out, " ms, launch included; ") && strstr(r.out, "waits for the fixed latency"), "%s", r.out);
    }
}
