// Selection: each instruction of the IR becomes instructions of PTX. Vectors and structs are taken apart into scalars
// on the way: a value of the IR is a list of them, one for each leaf of its type.
#pragma once

#include "irptx/code.h"

struct code *select_function(struct ir_module *m, const struct ir_function *f);

// --- Values (value.c) ---

uint32_t width_of(struct code *c, const struct ir_type *t);  // of the register for a scalar
struct vals vals_of(struct code *c, const struct ir_value *v);
struct val value_one(struct code *c, const struct ir_value *v);  // the first scalar
void value_set(struct code *c, const struct ir_inst *x, struct val *items, uint32_t count);
static inline struct val val_bits(int64_t bits)
{
    return (struct val){ .kind = VAL_BITS, .bits = bits };
}
static inline struct val val_reg(uint32_t reg)
{
    return (struct val){ .kind = VAL_REG, .reg = reg };
}
static inline struct val val_pointer(uint32_t reg, uint32_t space)
{
    return (struct val){ .kind = VAL_PTR, .reg = reg, .space = space };
}

// A scalar as an operand: constants stay what they are. An integer is read as signed.
struct operand value_use(struct code *c, struct val v, const struct ir_type *t);
uint32_t value_reg(struct code *c, struct val v, const struct ir_type *t);  // in a register
// The integer with all bits of its register right: one of 8 bits lies in 16, and those above it may be anything.
struct operand value_extended(struct code *c, struct val v, const struct ir_type *t, bool is_signed);
int64_t value_signed(int64_t bits, uint32_t width);  // sign-extended from width bits
// A scalar that leaves for memory, inline assembly or a function: a pointer becomes what its type says, generic mostly.
struct val value_plain(struct code *c, struct val v, const struct ir_type *t);
struct operand value_argument(struct code *c, const struct ir_value *v);  // the same as an operand, of a call

// Addresses of shared memory have 32 bits, others 64. In the IR all pointers have 64.
static inline uint32_t pointer_width(uint32_t space)
{
    return space == SPACE_SHARED ? 32 : 64;
}
uint32_t pointer_reg(struct code *c, struct val p);                     // the address in its own space
uint32_t pointer_wide(struct code *c, struct val p);                    // the same in 64 bits
struct val pointer_from(struct code *c, uint32_t reg, uint32_t space);  // of what is in a register of 64 bits
uint32_t value_low(struct code *c, uint32_t reg);                       // the low half of 64 bits
uint32_t pointer_generic(struct code *c, struct val p);
struct val pointer_to_space(struct code *c, struct val p, uint32_t space);
struct val pointer_add(struct val p, int64_t bytes);
struct operand pointer_memory(struct code *c, struct val p);  // [base + bytes]

// Parameters of functions that are no kernels: how many bits a scalar takes there (by itself 32 at least), the register
// that is stored there, and what one becomes that was loaded from there.
uint32_t param_bits(const struct ir_type *all, const struct ir_type *part);
uint32_t param_widened(struct code *c, struct val v, const struct ir_type *t, uint32_t bits);
struct val param_narrowed(struct code *c, uint32_t reg, const struct ir_type *t);

void find_spaces(struct code *c);  // spaces.c: fills code.spaces
static inline uint32_t space_of(const struct code *c, const struct ir_inst *x)
{
    return c->spaces[x->result] < 0 ? SPACE_GENERIC : (uint32_t)c->spaces[x->result];
}

// --- Kinds of instructions ---

void select_binary(struct code *c, const struct ir_inst *x);
void select_compare(struct code *c, const struct ir_inst *x);
void select_choice(struct code *c, const struct ir_inst *x);  // select
void select_cast(struct code *c, const struct ir_inst *x);
struct vals select_reslice(struct code *c, struct vals from, const struct ir_type *t, const struct ir_type *to);
struct vals value_list(struct code *c, uint32_t count);
bool select_wide(struct code *c, const struct ir_inst *x);                       // i128; false: x is none of it
void select_vector(struct code *c, const struct ir_inst *x);                     // parts of vectors and structs
void select_address(struct code *c, const struct ir_inst *x);                    // getelementptr
void select_memory(struct code *c, const struct ir_inst *x);                     // alloca, load, store
struct val local_room(struct code *c, const struct ir_type *t, uint32_t align);  // of an alloca
void select_atomic(struct code *c, const struct ir_inst *x);
void select_call(struct code *c, const struct ir_inst *x);
void select_assembly(struct code *c, const struct ir_inst *x);
void select_block_copy(struct code *c, const struct ir_inst *x, const char *name);  // memcpy, memmove, memset
struct val select_intrinsic(struct code *c, const struct ir_inst *x, struct str name, const struct val *args,
                            const struct ir_type *t);
struct val select_class(struct code *c, const struct ir_type *t, struct val x, uint64_t mask);  // of a float
bool select_nvvm(struct code *c, const struct ir_inst *x, const char *name);                    // false: not known
bool select_wmma(struct code *c, const struct ir_inst *x, const char *name);

void load_scalars(struct code *c, struct val p, const struct ir_type *t, uint32_t align, const char *how,
                  struct val *out);
void store_scalars(struct code *c, struct val p, const struct ir_type *t, uint32_t align, const char *how,
                   const struct val *in);
