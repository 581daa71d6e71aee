// Undefined bits: what nothing has written, followed through registers and memory as Valgrind's memcheck does, while
// the checks are on.
//
// decode/shadow_plan.c looks at the code for registers that some path reads before it writes them. Each of these, and
// each that a value of theirs can flow into, gets two shadows, which are registers like any other: its undefined bits
// (1: nothing defined it), and their origin. Before each uop that touches such a register stand uops, of the kind
// WARP_shadow, that do the same to the shadows (decode/shadow.c). Where no path reads before it writes, nothing is
// added.
//
// An undefined value may be moved, merged, packed, exchanged, voted with, computed with and stored to local or shared
// memory. It is a finding where it decides what is executed, is part of an address, is an operand of the tensor cores
// or of another instruction of the whole warp, or is stored to global memory; the finding is at the first instruction
// that computed with it. Of an access to global memory that stores some defined bytes, the others may be padding: they
// are undefined for whoever loads them, and no finding.
#pragma once

#include "uop.h"

// Shared and global memory that nothing has written is found where it is loaded, by check_shared.c and check_global.c.
// But a merge reads the next key ahead, at the end of a part beyond it, and then compares or chooses, so that the value
// is not used; a scan exchanges what lanes without a value have read; and a structure is read by words, some of which
// are padding. So loads whose values get to a comparison or a selection, to another lane, or to an instruction that
// takes a part of them, are followed, too, and a finding only when they are used.
//
// An origin: where undefined bits come from. Low half: ORIGIN_... and the number of the register + 1 or, in local
// memory, the byte. High half: 1 + the PTX instruction that first used them.
#define ORIGIN_LOCAL 0x80000000u
#define ORIGIN_COMPUTED 0x40000000u  // an operation's result, not the bits themselves
#define ORIGIN_SHARED 0x20000000u    // the byte of shared memory
#define ORIGIN_GLOBAL 0x10000000u    // a load of global memory (check/shadow_memory.h)
#define ORIGIN_NUMBER 0x0fffffffu
#define ORIGIN_NAN 0  // no register: a NaN that nvcc wrote

enum shadow_rule {
    // Operands: in[3 i] operand i, in[3 i + 1] its undefined bits, in[3 i + 2] their origin; result: out[0], out[1].
    SHADOW_BITS,    // the bits that change when the undefined bits of the operands do
    SHADOW_CARRY,   // a sum or product: all bits from the lowest undefined one on
    SHADOW_WHOLE,   // all bits where any is undefined
    SHADOW_HALVES,  // the same, each half for itself
    SHADOW_PAIR,    // operand 0 becomes the upper half, operand 1 the lower one
    SHADOW_EQUAL,   // a comparison, which defined bits that differ decide
    // Others
    SHADOW_START,    // out[0], out[1]: nothing has written this register yet
    SHADOW_DEFINED,  // out[0], and each of wide_out: defined
    SHADOW_GUARD,    // in[0]: undefined bits of the guard, in[1]: origin; out as above: what it guards is undefined
    SHADOW_LANES,    // in[0]: undefined bits, in[1]: origin, in[2]: the lane whose value each lane takes; out as above
    SHADOW_VOTE,     // in[0]: undefined bits, in[1]: origin, in[2]: the lanes that vote yes; out as above
    SHADOW_USE,      // in[0] = out[0]: undefined bits, in[1]: origin: a finding where there are any; wide_in alike
    SHADOW_LOAD,     // out[2 e], out[2 e + 1]: element e; NO_SHADOW where it has none
    SHADOW_STORE,    // in[2 e], in[2 e + 1]: element e
    SHADOW_NAN,      // a finding
    SHADOW_CALL,     // a call of the system: its result is defined
    SHADOW_ROWS      // a whole-warp or atomic access: a finding where it reads undefined bytes; it writes defined ones
};

enum shadow_sink { SINK_DECIDES, SINK_ADDRESS, SINK_OPERAND, SINK_STORED, SINK_READ };

#define NO_SHADOW 0xff

struct shadow {  // what warpop->more of such a uop is
    enum shadow_rule rule;
    enum shadow_sink sink;
    struct uop like;            // the operation: op, target
    uint8_t n;                  // operands
    uint8_t class_d, class[3];  // enum slot_class
    uint8_t bytes_d, bytes[3];  // of the types
    uint8_t same[3];            // the first operand that is the same register
    uint8_t controls;           // operands, as bits, of which one undefined bit makes all of the result undefined
    bool joins;                 // a bit that one operand sets is set, or turned, whatever the other's is
    uint32_t number;            // START: the register
    const struct memop *mem;    // LOAD, STORE, ROWS
    uint8_t at[MEMOP_REGS];     // LOAD: the place of element e's shadows in out
    const struct warpop *op;    // ROWS: the access; VOTE: the vote; CALL: the call
    bool tile, rows, writes;    // ROWS: wmma.load or wmma.store; ldmatrix or stmatrix; it writes
};
