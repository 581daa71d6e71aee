// The simulated GPU's counters against truth/h200_micro.tsv: each row's instruction is run, with the row's lane
// offsets, and every counter that both know must be the same. (test_cost.c checks the rules alone.) Left out: rows that
// are no memory or tensor instruction, and the tensor counter of rows without such an instruction: it counts some
// HFMA2.MMA, too, with which ptxas may load a constant.
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "base/profile.h"
#include "ptx_case.h"

enum { LANES = 32, WORDS = 1 << 17 };

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

// A constant table of the row's offsets, and which lanes take part: %r5 the offset, %p0 active.
static void say_offsets(struct text *t, const char *offsets)
{
    uint32_t mask = 0;
    say(t, ".const .align 4 .b32 offsets[32] = {");
    for (int lane = 0; lane < LANES; lane++) {
        bool active = !starts(offsets, "inactive") && !starts(offsets, "opaque");
        say(t, "%s%lu", lane ? ", " : "", active ? strtoul(offsets, NULL, 10) : 0ul);
        mask |= (uint32_t)active << lane;
        offsets += strcspn(offsets, ",");
        offsets += *offsets == ',';
    }
    say(t, "};\n.const .align 4 .b32 mask[1] = {%u};\n", mask);
}

static void say_registers(struct text *t, const char *name, int first, int n)
{
    for (int i = 0; i < n; i++)
        say(t, "%s%%%s%d", i ? ", " : "{", name, first + i);
    say(t, "}");
}

// The lanes that read, of copies that are given a size: none, or those whose opposites the name says.
static uint32_t readers(const char *kernel)
{
    static const struct {
        const char *zeros;
        uint32_t readers;
    } by_name[] = { { "zeros_even", 0xaaaaaaaa },
                    { "zeros_high", 0x0000ffff },
                    { "zeros_first", 0xfffffffe },
                    { "zeros_but_first", 1 } };
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++)
        if (strstr(kernel, by_name[i].zeros))
            return by_name[i].readers;
    return 0;
}

// The row's instruction, with its operands.
static bool say_instruction(struct text *t, const char *kernel, const char *ptx, bool shared)
{
    if (!kernel || !ptx)  // a row is never without; the compiler does not know
        return false;
    const char *at = shared ? "%r6" : "%l3";
    const int wide = strstr(ptx, ".v4") ? 4 : strstr(ptx, ".v2") ? 2 : 1;
    const char *reg = strstr(ptx, "b64") ? "l" : "r";
    if (starts(ptx, "ld.") || starts(ptx, "st.")) {
        bool load = ptx[0] == 'l';
        say(t, "@%%p0 %s ", ptx);
        if (!load)
            say(t, "[%s], ", at);
        if (wide > 1)
            say_registers(t, reg, 16, wide);
        else
            say(t, "%%%s%d", reg, 16);
        say(t, load ? ", [%s];\n" : ";\n", at);
    } else if (starts(ptx, "ldmatrix") || starts(ptx, "stmatrix")) {
        say(t, "%s ", ptx);
        if (ptx[0] == 's')
            say(t, "[%%r6], ");
        say_registers(t, "r", 16, strstr(ptx, ".x4") ? 4 : strstr(ptx, ".x2") ? 2 : 1);
        say(t, ptx[0] == 'l' ? ", [%%r6];\n" : ";\n");
    } else if (starts(ptx, "wmma")) {
        bool f32 = strstr(ptx, ".f32"), accumulator = strstr(ptx, "load.c") || strstr(ptx, "store");
        const char *pitch = strstr(kernel, "ldm") + 3;
        say(t, "mov.u32 %%r7, %lu;\n%s ", strtoul(pitch, NULL, 10), ptx);
        if (strstr(ptx, "store"))
            say(t, "[%s], ", at);
        say_registers(t, f32 ? "f" : "r", f32 ? 0 : 16, accumulator && !f32 ? 4 : 8);
        say(t, strstr(ptx, "store") ? ", %%r7;\n" : ", [%s], %%r7;\n", at);
    } else if (starts(ptx, "cp.async")) {
        unsigned bytes = (unsigned)atoi(strrchr(ptx, '.') + 1);
        bool rows = strstr(kernel, "ld1024"), zeros = strstr(kernel, "zeros");
        const unsigned each = strstr(kernel, "tile32") ? 4 : 2;  // lanes in a row
        say(t, "div.u32 %%r8, %%r1, %u;\nrem.u32 %%r9, %%r1, %u;\n", each, each);
        say(t, "mad.wide.u32 %%l4, %s, %u, %%l1;\n", rows ? "%r8" : "%r1", rows ? 2048 : bytes);
        if (rows)
            say(t, "mad.wide.u32 %%l4, %%r9, 16, %%l4;\n");
        say(t, "mov.u32 %%r10, %u;\nshr.u32 %%r10, %%r10, %%r1;\nand.b32 %%r10, %%r10, 1;\n", readers(kernel));
        say(t, "setp.ne.u32 %%p1, %%r10, 0;\nselp.b32 %%r10, %u, 0, %%p1;\n", bytes);
        say(t, "@%%p0 %.*s [%%r6], [%%l4], %u%s;\n", (int)(strrchr(ptx, '.') - ptx), ptx, bytes, zeros ? ", %r10" : "");
        say(t, "cp.async.wait_all;\n");
    } else if (starts(ptx, "atom.") || starts(ptx, "red.")) {
        const char *result = starts(ptx, "red.") ? "" : strstr(ptx, "f32") ? "%f0, " : "%r16, ";
        const char *value = strstr(kernel, "inc1") ? "1" : strstr(ptx, "f32") ? "0f3F800000" : "%r10";
        // One address for all: the code says so, unless the row is there to hide it.
        const char *where =
            shared && strstr(kernel, "_same") && !strstr(kernel, "_div") && !strstr(kernel, "pair") ? "s" : at;
        say(t, "add.u32 %%r10, %%r1, 1;\n%s %s[%s], %s%s;\n", ptx, result, where, strstr(ptx, ".cas") ? "0, " : "",
            value);
    } else if (starts(ptx, "4 mma")) {
        bool f32 = strstr(ptx, "f32");
        for (int i = 0; i < 4; i++) {
            say(t, "mma.sync.aligned.m16n8k16.row.col.%s ", f32 ? "f32.f16.f16.f32" : "f16.f16.f16.f16");
            say_registers(t, f32 ? "f" : "r", f32 ? 0 : 24, f32 ? 4 : 2);
            say(t, ", {%%r16, %%r17, %%r18, %%r19}, {%%r20, %%r21}, ");
            say_registers(t, f32 ? "f" : "r", f32 ? 0 : 24, f32 ? 4 : 2);
            say(t, ";\n");
        }
    } else {
        return false;
    }
    return true;
}

static void compare(const struct table *row, const struct profile *p, bool stores, int *compared)
{
    const char *kernel = row->field[0];
    for (size_t c = 7; c < row->columns; c++) {
        for (int m = 0; m < METRIC_COUNT; m++) {
            bool result = m == METRIC_GST_REQ || m == METRIC_GST_SEC;     // of storing what was loaded, but for stores
            bool noise = m == METRIC_HMMA && !starts(kernel, "alu_mma");  // HFMA2.MMA counts there, too
            const bool read = *row->field[c];                             // off the card
            if (!read || strcmp(profile_metric_name(m), row->name[c]) || (result && !stores) || noise)
                continue;
            uint64_t hardware = strtoull(row->field[c], NULL, 10);
            cr_expect_eq(p->total[m], hardware, "%s: %s is %" PRIu64 ", the H200 counted %" PRIu64, kernel,
                         row->name[c], p->total[m], hardware);
            ++*compared;
        }
    }
}

Test(truth, every_row_is_counted_as_an_h200_counted_it, .timeout = 120)
{
    static uint32_t in[WORDS], out[WORDS];
    struct table row;
    struct dev *d = ptx_simulator();
    int rows = 0, compared = 0;
    truth_open(&row, TRUTH_TSV);
    while (truth_next(&row)) {
        static struct text t;
        char **cell = row.field;
        const char *kernel = cell[0], *ptx = cell[1];
        bool shared = strstr(cell[2], "shared"), stores = strstr(ptx, "st.global") || strstr(ptx, "store.d");
        t.n = 0;
        say(&t, ".version 8.0\n.target sm_90\n.address_size 64\n");
        say_offsets(&t, cell[6]);
        say(&t, ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .pred %%p<2>;\n.reg .f32 %%f<8>;\n");
        say(&t, ".reg .b32 %%r<32>;\n.reg .b64 %%l<24>;\n.shared .align 128 .b8 s[%d];\n", 48 * 1024);
        say(&t,
            "ld.param.u64 %%l0, [out];\nld.param.u64 %%l1, [in];\nmov.u32 %%r1, %%laneid;\nmov.u64 %%l2, offsets;\n");
        say(&t, "mad.wide.u32 %%l2, %%r1, 4, %%l2;\nld.const.u32 %%r5, [%%l2];\nld.const.u32 %%r2, [mask];\n");
        say(&t, "shr.u32 %%r2, %%r2, %%r1;\nand.b32 %%r2, %%r2, 1;\nsetp.ne.u32 %%p0, %%r2, 0;\nmov.u32 %%r6, s;\n");
        say(&t, "add.u32 %%r6, %%r6, %%r5;\nmad.wide.u32 %%l3, %%r5, 1, %%l%d;\n", stores ? 0 : 1);
        if (!say_instruction(&t, kernel, ptx, shared))
            continue;
        say(&t, "ret;\n}\n");
        struct ptx_shape shape = { (unsigned)atoi(cell[5]), (unsigned)atoi(cell[4]), 0 };
        cr_assert(ptx_run(d, t.p, shape, out, WORDS, in, WORDS), "%s: %s", kernel, dev_error(d));
        compare(&row, dev_profile(d), stores, &compared);
        rows++;
    }
    table_close(&row);
    dev_close(d);
    cr_assert_geq(rows, 291, "only %d rows", rows);
    cr_assert_geq(compared, 10 * rows, "only %d counters of %d rows", compared, rows);
}
