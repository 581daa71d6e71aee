// A correct PTX kernel, and the same with a rule broken: what the checks find in it.
#pragma once

#include "found.h"

enum { VIOLATION_TEXT = 16384, VIOLATION_NUMBERS = 1024 };

struct violation_edit {
    const char *from, *to;  // the first occurrence of from; NULL: none
};

struct violation {
    struct violation_edit a, b;
    struct found found[2];  // among what is found
};

// Makes the change. A text in which its first half does not occur fails the test.
void violation_change(char text[VIOLATION_TEXT], struct violation_edit e);

// How the kernel k (out, in) is launched; out and in are buffers of words, and out is zeros.
struct violation_launch {
    unsigned blocks, threads;
    size_t n_out, n_in;
    const uint32_t *in;
};

const uint32_t *violation_numbers(void);  // 0, 1, 2, ...: VIOLATION_NUMBERS words

// What the checks find in the text with these changes; valid until the next call.
const struct simt_findings *violation_run(const char *text, const struct violation_launch *l, struct violation_edit a,
                                          struct violation_edit b);
// Expects that they find nothing in it, and advise nothing.
void violation_expect_none(const char *text, const struct violation_launch *l, struct violation_edit a,
                           struct violation_edit b);

// Expects that nothing is found in the text as it is, and in each violation what it says.
void violations_expect(const char *text, const struct violation_launch *l, const struct violation *v, size_t n);

// The last two arguments of violations_expect.
#define VIOLATIONS(...)                                                                                                \
    (const struct violation[]){ __VA_ARGS__ },                                                                         \
        sizeof(const struct violation[]){ __VA_ARGS__ } / sizeof(struct violation)

// d0 to d3 = the 64 x 16 halves from the address in r1 on, times the 16 x 8 from 2 KB behind them on. It uses r3, l2,
// l3.
#define VIOLATION_WGMMA                                                                                                \
    "shr.u32 r3, r1, 4; cvt.u64.u32 l2, r3; add.u64 l2, l2, 0x800400000; add.u64 l3, l2, 128;\n"                       \
    "mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0; mov.f32 d3, d0;\n"                                        \
    "wgmma.fence.sync.aligned;\n"                                                                                      \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, l2, l3, 1, 1, 1, 0, 0;\n"                     \
    "wgmma.commit_group.sync.aligned;\n"                                                                               \
    "wgmma.wait_group.sync.aligned 0;\n"
