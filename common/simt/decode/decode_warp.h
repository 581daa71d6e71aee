// For those who make uops of a whole warp (UOP_WARP): their operands, results and address.
#pragma once

#include "decode_inst.h"

// Operands are read before the uop that uses them is emitted: reading may emit uops of its own.
struct values {
    uint32_t v[4], n;
};

// Appends the value of the instruction's operand of that number, as type t.
void values_read(struct decoder *x, struct values *list, uint32_t operand, enum ptx_type t);

// Operands of the uop: one, and all of a list.
void warpop_in(struct warpop *op, uint32_t vreg);
void warpop_values(struct warpop *op, const struct values *list);
// Its results: d, whose size in bytes is given, or d|p.
void warpop_outs(struct decoder *x, struct warpop *op, const struct ptx_operand *o, uint32_t bytes);
// Its address: o, in that space; the number of bytes is that of a lane, and it is counted as class.
void warpop_address(struct decoder *x, struct warpop *op, const struct ptx_operand *o, enum ptx_space space,
                    uint32_t bytes, enum mem_class class);
