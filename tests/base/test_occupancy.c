// Occupancy: how many blocks fit on an SM. Expectations are worked out by hand from the programming guide's tables.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/occupancy.h"
#include "base/ptxas.h"
#include "compiler.h"
#include "program_case.h"

static void expect(const char *card, unsigned threads, unsigned registers, uint64_t shared, unsigned blocks,
                   const char *limit)
{
    const struct card *c = card_named(card);
    cr_assert_not_null(c, "%s", card);
    const struct occupancy o = occupancy_of(c, threads, registers, shared);
    cr_expect_eq(o.blocks, blocks, "%s, %u threads, %u registers, %llu bytes: %u blocks, not %u", card, threads,
                 registers, (unsigned long long)shared, o.blocks, blocks);
    cr_expect_str_eq(o.limit, limit, "%s, %u threads, %u registers: %s, not %s", card, threads, registers, o.limit,
                     limit);
    cr_expect_eq(o.warps, blocks * ((threads + 31) / 32));
}

Test(occupancy, the_scarcest_resource_decides)
{
    expect("H200", 256, 128, 8320, 2, "registers");  // 8 warps of 4,096 registers; 16 fit
    expect("H200", 256, 32, 0, 8, "threads");        // 2,048 threads
    expect("H200", 32, 32, 0, 32, "blocks");
    expect("H200", 256, 32, 98304, 2, "shared memory");  // 99,328 of 233,472 bytes each
    expect("A100", 256, 64, 0, 4, "registers");
    expect("RTX 4090", 256, 32, 98304, 1, "shared memory");  // 99,328 of 102,400
    expect("RTX 4090", 256, 32, 101376, 1, "shared memory");
    expect("RTX 4090", 256, 32, 101377, 0, "shared memory");
    expect("RTX 3090", 64, 16, 0, 16, "blocks");
    expect("T4", 1024, 64, 0, 1, "threads");
    expect("T4", 256, 128, 32768, 2, "registers");  // 32,768 bytes twice: no reserve before 8.0
}

Test(occupancy, tells_how_many_blocks_each_resource_would_allow)
{
    const struct occupancy o = occupancy_of(card_named("H200"), 256, 128, 8192);
    cr_expect_eq(o.by_threads, 8);    // 2,048 threads
    cr_expect_eq(o.by_registers, 2);  // 4 warps in each quarter
    cr_expect_eq(o.by_shared, 25);    // 233,472 bytes, 9,216 for each block
    cr_expect_eq(o.by_blocks, 32);
}

Test(occupancy, registers_are_given_in_units)
{
    expect("H200", 256, 33, 0, 6, "registers");  // 33 x 32 = 1,056 -> 1,280 a warp: 12 in each quarter, 48 in all
    expect("H200", 96, 255, 0, 2, "registers");  // 8,160 -> 8,192 a warp: 2 in each quarter, 8 in all, 3 a block
}

// A file with that text. Returns its path, which a later call overwrites.
static const char *ptx_file(const char *text)
{
    return scratch(text, strlen(text));
}

Test(occupancy, ptxas_says_what_a_kernel_takes)
{
    NEEDS_NVCC("ptxas may be missing");
    struct kernel_use use;
    const char *path =
        ptx_file(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry other()\n{\nret;\n}\n"
                 ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %l<3>;\n.reg .b32 %r<2>;\nld.param.u64 %l0, [out];\n"
                 "mov.u32 %r0, %tid.x;\nst.global.u32 [%l0], %r0;\nret;\n}\n");
    setenv("PATH", "/nonexistent", 1);  // it is the one beside nvcc
    cr_expect(occupancy_ask(path, "k", card_named("H200"), &use), "ptxas comes with the toolkit that builds the steps");
    cr_expect(use.registers >= 2 && use.registers < 32, "%u registers", use.registers);
    cr_expect_eq(use.spilled, 0);
    cr_expect(!occupancy_ask(path, "missing", card_named("H200"), &use));
    cr_expect_str_empty(use.refusal);
    remove(path);
    path = ptx_file(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n");
    cr_expect(!occupancy_ask(path, "k", card_named("T4"), &use));
    cr_expect(strstr(use.refusal, "SM version"), "%s", use.refusal);
    remove(path);
    cr_expect(!occupancy_ask(path, "k", card_named("H200"), &use));
}

Test(occupancy, ptxas_is_asked_for_the_one_card_that_a_kernel_is_for)
{
    NEEDS_NVCC("ptxas may be missing");
    struct kernel_use use;
    const char *path =
        ptx_file(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nwgmma.fence.sync.aligned;\n"
                 "ret;\n}\n");
    const bool asked = occupancy_ask(path, "k", card_named("H200"), &use);
    cr_expect(asked || strstr(use.refusal, "is not defined for option"), "%s", use.refusal);  // CUDA 11 knows no sm_90a
    cr_expect(!occupancy_ask(path, "k", card_named("A100"), &use));
    cr_expect(*use.refusal);
    remove(path);
}

// --- what ptxas warns of ---

Test(ptxas, its_warnings_are_told_without_what_stands_around_them)
{
    char *warnings = ptxas_pick_warnings("ptxas info    : 0 bytes gmem\n"
                                         "ptxas info    : (C7507) Potential Performance Loss: 'setmaxnreg' ignored\n"
                                         "ptxas warning : Registers are spilled\n"
                                         "ptxas info    : Used 20 registers\n"
                                         "ptxas warning : Registers are spilled");
    cr_assert(warnings);
    cr_expect_str_eq(warnings, "(C7507) Potential Performance Loss: 'setmaxnreg' ignored\nRegisters are spilled\n");
    free(warnings);
    cr_expect_null(ptxas_pick_warnings("ptxas info    : Used 20 registers\n"));
    cr_expect_null(ptxas_pick_warnings(""));
}

// Without .maxnreg or .minnctapersm ptxas does not know what a thread begins with.
#define SETS_REGISTERS(limits)                                                                                         \
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n" limits                                     \
    "{\nsetmaxnreg.dec.sync.aligned.u32 40;\nret;\n}\n.visible .entry other()\n{\nret;\n}\n"

Test(ptxas, a_setmaxnreg_that_it_ignores_is_a_warning)
{
    if (!HAS_HOPPER)
        cr_skip_test("ptxas knows setmaxnreg since CUDA 12, and the kernels were compiled by " KERNELS_BY);
    const char *path = ptx_file(SETS_REGISTERS(""));
    char *warnings = ptxas_warnings(path, "k");
    cr_expect(warnings && strstr(warnings, "'setmaxnreg' ignored"), "%s", warnings ? warnings : "nothing");
    free(warnings);
    cr_expect_null(ptxas_warnings(path, "other"));
    cr_expect_null(ptxas_warnings(path, "missing"));
    remove(path);
    cr_expect_null(ptxas_warnings(path, "k"));
    path = ptx_file(SETS_REGISTERS(".maxntid 384, 1, 1\n.minnctapersm 1\n"));
    warnings = ptxas_warnings(path, "k");
    cr_expect_null(warnings, "%s", warnings);
    free(warnings);
    remove(path);
}
