// Waits for a parity that may come too late, and what a wait for a bulk copy tells. Correct kernels, in which nothing
// is found, and each with a wait that is wrong, which is found although no warp comes late in this run.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ptx_case.h"
#include "violation.h"

enum { THREADS = 96, WORDS = 4 * 256 };

#define HEAD                                                                                                           \
    ".version 8.0\n.target sm_90a\n.address_size 64\n"                                                                 \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"                                                          \
    ".shared .align 128 .b8 tiles[2048];\n.shared .align 8 .b64 full[2];\n.shared .align 8 .b64 empty[2];\n"           \
    ".reg .b32 r<20>; .reg .b64 l<5>; .reg .pred p<9>;\n"                                                              \
    "ld.param.u64 l0, [out]; ld.param.u64 l1, [in]; mov.u32 r0, %tid.x;\n"                                             \
    "mov.u32 r1, tiles; mov.u32 r2, full; mov.u32 r3, empty; mov.u32 r4, 0;\n"

#define EXPECTS(mbarrier) "mbarrier.arrive.expect_tx.shared.b64 _, [" mbarrier "], 1024;\n"
#define COPIES(to, from, mbarrier)                                                                                     \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" to "], [" from "], 1024, [" mbarrier "];\n"

// Thread 0 asks for the first two tiles before the barrier, thread 32 for the others, each once its stage is free. Warp
// 0 reads them.
static const char early[] = HEAD "setp.ne.u32 p0, r0, 0; @p0 bra READY;\n"
                                 "mbarrier.init.shared.b64 [r2], 1; mbarrier.init.shared.b64 [r2+8], 1;\n"
                                 "mbarrier.init.shared.b64 [r3], 32; mbarrier.init.shared.b64 [r3+8], 32;\n"
                                 "fence.mbarrier_init.release.cluster;\n"  //
    EXPECTS("r2") COPIES("r1", "l1", "r2")                                 //
    EXPECTS("r2+8") COPIES("r1+1024", "l1+1024", "r2+8")                   //
    "READY: bar.sync 0;\n"
    "setp.lt.u32 p1, r0, 32; @p1 bra READ;\n"
    "setp.ne.u32 p2, r0, 32; @p2 bra DONE;\n"
    "COPY: setp.lt.u32 p5, r4, 2; and.b32 r5, r4, 1; shl.b32 r6, r5, 3; add.u32 r7, r3, r6; add.u32 r8, r2, r6;\n"
    "shl.b32 r9, r5, 10; add.u32 r9, r9, r1; shr.u32 r10, r4, 1; xor.b32 r10, r10, 1;\n"
    "@p5 bra NEXT;\n"
    "EMPTY: mbarrier.try_wait.parity.shared.b64 p3, [r7], r10;\n"  // line 25
    "@!p3 bra EMPTY;\n"                                            //
    EXPECTS("r8") COPIES("r9", "l1", "r8")                         //
    "NEXT: add.u64 l1, l1, 1024; add.u32 r4, r4, 1; setp.lt.u32 p4, r4, 4; @p4 bra COPY;\n"
    "bra DONE;\n"
    "READ: and.b32 r5, r4, 1; shl.b32 r6, r5, 3; add.u32 r7, r3, r6; add.u32 r8, r2, r6;\n"
    "shl.b32 r9, r5, 10; add.u32 r9, r9, r1; shl.b32 r11, r0, 2; add.u32 r9, r9, r11; shr.u32 r10, r4, 1;\n"
    "FULL: mbarrier.try_wait.parity.shared.b64 p3, [r8], r10;\n"
    "@!p3 bra FULL;\n"
    "ld.shared.u32 r12, [r9];\n"
    "mbarrier.arrive.shared.b64 _, [r7];\n"  // line 35
    "add.u32 r4, r4, 1; setp.lt.u32 p4, r4, 4; @p4 bra READ;\n"
    "mul.wide.u32 l2, r0, 4; add.u64 l2, l2, l0; st.global.u32 [l2], r12;\n"
    "DONE: bar.sync 0;\n"
    "ret;\n}\n";

// Two copies by threads of warp 2. Warp 0 waits for the first, so it comes while warp 2 waits. Warp 1 reads it behind a
// barrier with warp 2.
static const char brought[] = HEAD "setp.ne.u32 p0, r0, 64; setp.ne.u32 p1, r0, 65; @p0 bra FIRST;\n"
                                   "mbarrier.init.shared.b64 [r2], 1; mbarrier.init.shared.b64 [r2+8], 1;\n"
                                   "fence.mbarrier_init.release.cluster;\n"  //
    EXPECTS("r2") COPIES("r1", "l1", "r2")                                   //
    "FIRST: bar.sync 0;\n"
    "@p1 bra SECOND;\n"  //
    EXPECTS("r2+8") COPIES(
        "r1+1024", "l1", "r2+8") "SECOND: setp.lt.u32 p2, r0, 32; @p2 bra END; setp.lt.u32 p3, r0, 64; @p3 bra READ;\n"
                                 "WAIT: mbarrier.try_wait.parity.shared.b64 p4, [r2], 0;\n"
                                 "@!p4 bra WAIT;\n"
                                 "READ: bar.sync 1, 64;\n"
                                 "@!p3 bra END;\n"
                                 "shl.b32 r5, r0, 2; add.u32 r5, r5, r1; ld.shared.u32 r6, [r5];\n"
                                 "mul.wide.u32 l2, r0, 4; add.u64 l2, l2, l0; st.global.u32 [l2], r6;\n"
                                 "END: mbarrier.try_wait.parity.shared.b64 p4, [r2], 0;\n"
                                 "@!p4 bra END;\n"
                                 "BOTH: mbarrier.try_wait.parity.shared.b64 p4, [r2+8], 0;\n"
                                 "@!p4 bra BOTH;\n"
                                 "ret;\n}\n";

static const uint32_t zeros[WORDS];
static const struct violation_launch launch = { 1, THREADS, WORDS, WORDS, zeros };

#define EXPECT_FOUND(text, ...) violations_expect(text, &launch, VIOLATIONS(__VA_ARGS__))

#define WAITS_ALWAYS                                                                                                   \
    { "@p5 bra NEXT;\n", "" },                                                                                         \
    {                                                                                                                  \
        "@!p3 bra EMPTY;\n", "@!p3 bra EMPTY; @p5 bra NEXT;\n"                                                         \
    }

// Warp 2 waits for each tile, too, and arrives at no barrier after it.
#define LOOKS                                                                                                          \
    { "READY: bar.sync 0;\n", "READY: bar.sync 0;\nsetp.ge.u32 p6, r0, 64; @p6 bra READ;\n" },                         \
    {                                                                                                                  \
        "mbarrier.arrive.shared.b64 _, [r7];\n", "@!p6 mbarrier.arrive.shared.b64 _, [r7];\n"                          \
    }

Test(check_late, whoever_ends_the_next_phase_knows_of_the_wait)
{
    EXPECT_FOUND(
        early,
        { WAITS_ALWAYS,
          { { SIMT_LATE_WAIT, HERE(0, 32, NO_ACCESS), THERE(0, 31, NO_ACCESS), OF("empty", 0), .phase = THE(1) } } },
        { LOOKS, { { SIMT_LATE_WAIT, HERE(0, 95, NO_ACCESS), THERE(0, 32, NO_ACCESS), OF("full", 0) } } });
}

// These make others wait, but tell nothing that could be compared.
Test(check_late, kernels_with_relaxed_arrivals_are_left_out)
{
    static char text[VIOLATION_TEXT];
    const struct violation_edit waits[] = { WAITS_ALWAYS };
    snprintf(text, sizeof text, "%s", early);
    violation_change(text, waits[0]);
    const struct simt_findings *f = violation_run(
        text, &launch, waits[1],
        (struct violation_edit){ "mbarrier.arrive.shared.b64", "mbarrier.arrive.relaxed.cta.shared.b64" });
    cr_expect(!found_among(f, SUCH(SIMT_LATE_WAIT)), "%s", found_text(f));
}

// The thread that asked for a copy knows no more of it than others do: it has to wait, too.
Test(check_late, a_barrier_with_the_copying_thread_is_no_wait_for_its_copy)
{
    EXPECT_FOUND(brought,
                 { { "WAIT: mbarrier.try_wait.parity.shared.b64 p4, [r2], 0;",
                     "WAIT: mbarrier.try_wait.parity.shared.b64 p4, [r2+8], 0;" },
                   { 0 },
                   { { SIMT_RACE, HERE(0, 32, NO_ACCESS), .there.by = SIMT_BY_BULK_COPY, OF("tiles", 128) } } });
}
