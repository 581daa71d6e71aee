// What the decoder's files share: decode_inst.c (the table, arithmetic, moves, conversions), decode_mem.c (memory and
// control flow), decode_operand.c.
#ifndef SIMT_DECODE_INST_H
#define SIMT_DECODE_INST_H

#include "decode.h"

#define PARTS 16

struct parts {  // "ld.shared::cta.v4.f32" in pieces
    struct str part[PARTS];
    uint32_t n;
};

static inline enum slot_class slot_for(uint32_t bytes)
{
    return bytes == 8 ? SLOT_64 : SLOT_32;
}

static inline uint32_t reg_bytes(const struct decoder *x, int32_t reg)
{
    return ptx_type_bytes(x->f->regs[reg].type);
}

static inline bool is_float(enum ptx_type t)
{
    return t == PTX_F32 || t == PTX_F64;
}

static inline bool is_signed(enum ptx_type t)
{
    return t >= PTX_S8 && t <= PTX_S64;
}

static inline bool is_integer(enum ptx_type t)
{
    return t >= PTX_U8 && t <= PTX_S64;
}

// decode_operand.c
_Noreturn void decode_unknown(struct decoder *x);                                    // the instruction in hand
void operand_count(struct decoder *x, uint32_t least, uint32_t most);                // fails unless within
uint64_t operand_literal(struct decoder *x, const struct ptx_operand *o, enum ptx_type t);  // its bits as type t
uint32_t operand_value(struct decoder *x, const struct ptx_operand *o, enum ptx_type t);  // the vreg that holds it
uint32_t operand_predicate(struct decoder *x, const struct ptx_operand *o);
uint32_t operand_destination(struct decoder *x, const struct ptx_operand *o, uint32_t bytes);

// decode_mem.c
void decode_memory(struct decoder *x, const struct parts *s);
void decode_bra(struct decoder *x, const struct parts *s);
void decode_leave(struct decoder *x, const struct parts *s);
void decode_trap(struct decoder *x, const struct parts *s);
void decode_barrier(struct decoder *x, const struct parts *s);

#endif
