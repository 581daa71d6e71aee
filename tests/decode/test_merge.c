// What ptxas merges (common/simt/decode/merge.c) against truth/h200_merge.tsv: each row is a small kernel, its
// variables, the address and the accesses that stand between the text below, and what Nsight Compute counted for it on
// an H200 (driver 580.159.04, CUDA 13.0; one block of 32 threads). Every counter must be the same.
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "found.h"
#include "lines.h"
#include "base/profile.h"
#include "ptx_case.h"

enum { FIRST_COUNTER = 4, TEXT = 8192, WORDS = 1 << 12 };

static const uint32_t input[16] = { 2, 3, 7, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

// %r1 the lane, %r2 and %r3 numbers that nobody knows before, %r4 shared memory, %f0 and %d0 sums; s is filled first.
static const char before[] = ".reg .pred %p<4>;\n.reg .b16 %h<64>;\n.reg .b32 %r<64>;\n.reg .b64 %l<8>;\n"
                             ".reg .f32 %f<64>;\n.reg .f64 %d<64>;\n"
                             "ld.param.u64 %l0, [out];\nld.param.u64 %l1, [in];\nmov.u32 %r1, %tid.x;\n"
                             "mul.wide.u32 %l2, %r1, 4;\nadd.s64 %l3, %l0, %l2;\nld.global.u32 %r2, [%l1];\n"
                             "ld.global.u32 %r3, [%l1+4];\nmov.f32 %f0, 0f3F800000;\ncvt.rn.f32.u32 %f1, %r1;\n"
                             "cvt.rn.f64.u32 %d0, %r1;\nmov.u32 %r4, s;\nmad.lo.u32 %r60, %r1, 4, %r4;\n"
                             "add.u32 %r61, %r60, 2560;\nFILL:\nst.shared.u32 [%r60], %r1;\nadd.u32 %r60, %r60, 128;\n"
                             "setp.lt.u32 %p0, %r60, %r61;\n@%p0 bra FILL;\nbar.sync 0;\n";
static const char after[] =
    "cvt.rn.f32.f64 %f63, %d0;\nadd.f32 %f62, %f63, %f0;\nst.global.f32 [%l3], %f62;\nret;\n}\n";

static const struct profile *run(struct dev *d, const char *variables, const char *address, const char *body)
{
    static char text[TEXT];
    static uint32_t out[WORDS];
    int n =
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n"
                 "{\n%s\n%s%s\n%s\n%s",
                 variables, before, address, body, after);
    cr_assert(n > 0 && n < TEXT);
    struct ptx_shape shape = { 1, 32, 0 };
    cr_assert(ptx_run(d, text, shape, out, WORDS, input, 16), "%s: %s", body, dev_error(d));
    return dev_profile(d);
}

Test(merge, every_kernel_is_counted_as_an_h200_counted_it, .timeout = 120)
{
    struct table t;
    struct dev *d = ptx_simulator();
    int rows = 0, compared = 0;
    truth_open(&t, MERGE_TSV);
    while (truth_next(&t)) {
        char **cell = t.field;
        const struct profile *p = run(d, cell[1], cell[2], cell[3]);
        for (size_t c = FIRST_COUNTER; c < t.columns; c++) {
            for (int m = 0; m < METRIC_COUNT; m++) {
                if (strcmp(profile_metric_name(m), t.name[c]))
                    continue;
                uint64_t hardware = strtoull(cell[c], NULL, 10);
                cr_expect_eq(p->total[m], hardware, "%s: %s is %" PRIu64 ", the H200 counted %" PRIu64, cell[0],
                             t.name[c], p->total[m], hardware);
                compared++;
            }
        }
        rows++;
    }
    table_close(&t);
    dev_close(d);
    cr_assert_geq(rows, 119, "only %d rows", rows);
    cr_assert_eq(compared, 6 * rows, "only %d counters of %d rows", compared, rows);
}

static const char variables[] = ".shared .align 16 .b8 s[2560];", address[] = "mad.lo.u32 %r6, %r1, 64, %r4;";
static const char four[] = "ld.shared.u32 %r10, [%r6];\nld.shared.u32 %r11, [%r6+4];\nld.shared.u32 %r12, [%r6+8];\n"
                           "ld.shared.u32 %r13, [%r6+12];\nadd.u32 %r14, %r10, %r11;\nadd.u32 %r15, %r12, %r13;\n"
                           "add.u32 %r16, %r14, %r15;\ncvt.rn.f32.u32 %f0, %r16;\n";

Test(merge, a_load_that_is_part_of_another_is_no_instruction)
{
    struct dev *d = ptx_simulator();
    uint64_t merged = 0, none = run(d, variables, address, "")->total[METRIC_INST];
    const struct profile *p = run(d, variables, address, four);
    cr_expect_eq(p->total[METRIC_INST], none + 1 + 4, "one load, three sums, a conversion");
    for (size_t i = 0; i < p->n_lines; i++)
        merged += p->lines[i].merged;
    cr_expect_eq(merged, 3);
    dev_close(d);
}

Test(merge, results_and_faults_stay_those_of_the_ptx)
{
    static uint32_t out[WORDS];
    static char text[TEXT];
    struct dev *d = ptx_simulator();
    struct ptx_shape shape = { 1, 32, 0 };
    for (int beyond = 0; beyond < 2; beyond++) {
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n"
                 "{\n%s\n%s%s\n%s\n%s",
                 variables, before, beyond ? "add.u32 %r6, %r4, 2552;" : address, four, after);
        bool ok = ptx_run(d, text, shape, out, WORDS, input, 16);
        cr_expect_neq(ok, beyond, "%s", dev_error(d));
        if (beyond)
            found_failed(d, SUCH(SIMT_OUT_OF_BOUNDS, .here.access = SIMT_READS, .at = THE(2560), .bytes = 4));
    }
    for (int lane = 0; lane < 32; lane++) {  // word w of s holds w % 32
        float sum;
        memcpy(&sum, &out[lane], sizeof sum);
        cr_expect(sum == (float)(lane + 4 * (16 * lane % 32) + 6), "lane %d: %g", lane, (double)sum);
    }
    dev_close(d);
}

static char *lines_printed(const struct profile *p)
{
    static char text[TEXT];
    FILE *f = fmemopen(text, sizeof text - 1, "w");
    profile_print_lines(f, p, 10);
    fclose(f);
    return text;
}

Test(merge, a_report_by_line_says_where_loads_were_merged)
{
    struct dev *d = ptx_simulator();
    cr_expect(strstr(lines_printed(run(d, variables, address, four)), "merged by ptxas"));
    cr_expect(!strstr(lines_printed(run(d, variables, address, "")), "merged by ptxas"));
    dev_close(d);
}
