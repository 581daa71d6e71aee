// One tensor-core instruction on many random and special numbers: the PTX that runs it, and its operands. The operands
// are the same on every machine.
//
// A wgmma reads A and B from shared memory, row after row in core matrices, or A from registers; a warp's mma.sync
// reads registers. Either way a unit, a warpgroup or a warp, gets its own words, and gives the words of its
// accumulators.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"

enum tensor_type {
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_TF32,
    TENSOR_E4M3,
    TENSOR_E5M2,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BITS  // integers: any bits
};

struct tensor_case {
    char name[128];                 // as the table in truth/ has it
    char ptx[96];                   // the instruction without its operands
    bool wgmma, a_in_registers;     // else mma.sync
    enum tensor_type a, b, c;       // c: of accumulators
    unsigned n;                     // wgmma: columns
    unsigned regs_a, regs_b, regs;  // registers of a thread: of A and B (mma.sync), accumulators
    unsigned words;                 // 32-bit words of a register
};

// Of a unit: its threads, the words that it reads and gives, and the elements of D among them.
unsigned tensor_threads(const struct tensor_case *c);
size_t tensor_words_in(const struct tensor_case *c);
size_t tensor_words_out(const struct tensor_case *c);
size_t tensor_elements(const struct tensor_case *c);

enum { TENSOR_UNITS = 2 };  // of a block

// The kernel k(out, in), for blocks of TENSOR_UNITS units.
void tensor_kernel(const struct tensor_case *c, struct text *t);

// The operands of the first `units` units; those of fewer units are the first of these.
void tensor_fill(const struct tensor_case *c, uint32_t *in, size_t units);

// All cases: every type and class of shapes of wgmma, and the mma.sync of the table at path. Returns their number.
size_t tensor_cases(struct tensor_case *all, size_t room, const char *path);
