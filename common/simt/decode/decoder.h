// What all files of this room share: the decoder's state, and the making of uops (emit.c). decode.c drives it; the
// passes over the finished uops are below.
#pragma once

#include <setjmp.h>

#include "simt/code/uop.h"
#include "base/arena.h"

#define NO_VREG UINT32_MAX
#define RESERVED_SHARED 1024u  // bytes of shared memory that the system reserves on sm_80 and newer: 1 KB a block

struct vreg {  // a register before it has a slot; constants are registers that are never written
    enum slot_class slot;
    bool constant;
    bool window;  // a constant that is an address in shared memory
    uint64_t bits;
    uint32_t at;  // byte offset of its slot
};

struct decoder {
    const struct ptx_module *m;
    const struct ptx_func *f;
    const struct ptx_inst *in;  // the instruction in hand
    const uint64_t *globals;
    unsigned sm;
    uint32_t gap;
    struct arena *arena;    // what lives as long as the code
    struct arena *scratch;  // what does not
    struct code *code;
    uint32_t reserved_at;  // offset in shared memory of what the system reserves, where the kernel asks for it
    uint64_t *address;     // by variable: its offset in its space; .param variables of a body are in local memory
    bool *in_local;        // by variable: such a .param variable
    struct vreg *vregs;    // the PTX registers first, then temporaries and constants
    uint32_t n_vregs;
    struct map consts;  // class and bits -> vreg
    struct map ops;     // PTX name -> enum alu_op
    uint32_t carry;     // 1 + the vreg of the carry flag; 0 if no instruction has used it
    uint32_t stack;     // 1 + the vreg of where a thread's stack ends; 0: the kernel has none
    uint32_t *first;    // by PTX instruction: its first uop
    char *error;
    const char **at;
    jmp_buf failed;
};

// emit.c
// Ends decoding with a line in error about the place `at` in the text; NULL: the instruction in hand.
_Noreturn void decode_fail(struct decoder *x, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Zeroed memory; decoding ends when it runs out.
void *decode_alloc(struct decoder *x, size_t bytes);    // lives as long as the code
void *decode_scratch(struct decoder *x, size_t bytes);  // gone when the kernel is decoded

// Virtual registers: a new one, and one that holds a constant (the same one for the same constant).
uint32_t vreg_new(struct decoder *x, enum slot_class slot);
uint32_t vreg_const(struct decoder *x, enum slot_class slot, uint64_t bits);
uint32_t vreg_window(struct decoder *x, enum slot_class slot, uint64_t bits);  // the address bits in shared memory
// Appends a uop of the instruction in hand, with its guard; slots are vreg numbers until slots.c places them.
struct uop *emit(struct decoder *x, enum uop_kind kind);
struct warpop *emit_warp(struct decoder *x, enum warp_op kind, enum gather gather);
// d = op(a, b, c); NO_VREG for those that it does not have.
struct uop *emit_alu(struct decoder *x, enum alu_op op, uint32_t d, uint32_t a, uint32_t b, uint32_t c);

// place_variables.c: gives variables their addresses: parameters and locals in order of declaration; shared variables
// that the kernel names, the dynamic ones last.
void place_variables(struct decoder *x);

void decode_instruction(struct decoder *x);  // decode_inst.c
void decode_begin_stack(struct decoder *x);  // decode_other.c: where the kernel has a stack, it begins empty

// uniform.c: notes of atomics whether all lanes certainly name one address, of vectors what is loaded in vain.
void find_uniform(struct decoder *x);

// decode_wgmma.c: what is under way between wgmma.mma_async and its wait_group; before place_slots.
void finish_wgmma(struct decoder *x);
// wgmma_flight.c: marks, for the checks, the uops that touch accumulators too early, and products without a fence.
void find_flights(struct decoder *x, const bool *accumulator);

// guess.c: marks the plain loads that only guess what a compare-and-swap will find; before place_slots.
void find_guesses(struct decoder *x);

// slots.c: gives every register a slot, so that registers that are never alive at once share one, and turns vreg
// numbers into byte offsets.
void place_slots(struct decoder *x);
// Calls f for every vreg that u reads or writes, before place_slots.
typedef void visit_vreg(void *context, uint32_t *vreg, bool is_def);
void visit_operands(struct uop *u, visit_vreg *f, void *context);
// Sets unwritten[v], of each vreg v, where some path from the kernel's start reads v before it writes it.
void find_unwritten(struct decoder *x, bool *unwritten);

// shadow.c: adds the uops that follow what nothing has written through the registers, for the checks; before
// place_slots.
void add_shadows(struct decoder *x);

// merge.c: marks the accesses to shared memory that ptxas makes one, for the counters; before place_slots.
void merge_accesses(struct decoder *x);
