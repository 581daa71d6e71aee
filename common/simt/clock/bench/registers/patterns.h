// What the register file of an SM costs, by machine code that no compiler writes: the multiply-adds in the loop of
// template.cu are replaced by those of a pattern, which read and write registers of the banks that it names, and by
// loads, stores and mma between them. measure.cu times the patterns on a GPU, tests/clock/test_registers_clock.c by the
// clock.
//
// patterns.c has the table, rewrite.c does the rewriting.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEMPLATE_KERNEL "stream"
#define TEMPLATE_THREADS 512  // four warps for each sub-core
#define TEMPLATE_WARPS (TEMPLATE_THREADS / 32)

// Registers are numbers from 0 to 39: of accumulators in a row, the first of which is a multiple of 4. So an even
// number is in one bank, and an odd one in the other. "-" is RZ, which is in none.
struct register_pattern {
    const char *name;
    const char *reads;   // the operands of the multiply-adds in turn: "0,-,2 2*1,-,-"; 0': it stays in the reuse cache
    const char *writes;  // where their results go, in turn: "16 -"
    unsigned every;      // of this many instructions the last one is another one; 0: none
    const char *other;   // "lds64 8" to a register, "sts32 8" from one, "mma 0,4,8>16", "nop"
};

extern const struct register_pattern register_patterns[];
extern const size_t n_register_patterns;

// Writes the pattern into the loop of the template's cubin. False, with one line in error, where the cubin is not as
// expected or the pattern is not understood.
bool register_rewrite(unsigned char *cubin, size_t bytes, const struct register_pattern *p, char error[200]);

#ifdef __cplusplus
}
#endif
