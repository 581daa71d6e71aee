// What the operations of alu.def do to undefined bits.
#pragma once

#include "decoder.h"
#include "simt/code/shadow.h"

const char *shadow_name(enum alu_op op);
uint8_t shadow_bytes_taken(enum alu_op op);  // of its operands, a bit for each byte: not all where it takes a part
uint32_t shadow_operands(enum alu_op op);    // how many it has
// Sets the rule of s, and what it says of the operation's types.
void shadow_describe(struct shadow *s, enum alu_op op);

// nvcc folds arithmetic with a variable that has no value: x + y becomes x + NaN, with these literals. They stand in no
// other arithmetic that it makes, nor in 137 files of public kernels.
#define NAN_LITERAL_F32 0x7fc00000u
#define NAN_LITERAL_F64 0x7ff8000000000000u

// Is u a sum or product with such a literal?
bool shadow_adds_nan(const struct decoder *x, const struct uop *u);
