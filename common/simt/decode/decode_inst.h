// What the files that decode instructions share: decode_inst.c has the table that names the others.
#pragma once

#include "decoder.h"

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

static inline bool is_half(enum ptx_type t)  // pairs of them too
{
    return t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
}

static inline bool is_signed(enum ptx_type t)
{
    return t >= PTX_S8 && t <= PTX_S64;
}

static inline bool is_integer(enum ptx_type t)
{
    return t >= PTX_U8 && t <= PTX_S64;
}

static inline bool is_local_param(const struct decoder *x, uint32_t var)
{
    return x->in_local[var];
}

// decode_parts.c: the words of the instruction in hand, and those after the first
struct parts parts_of(struct decoder *x);
bool parts_have(const struct parts *s, const char *word);
// The place in words of the first one that s has, or -1.
int parts_which(const struct parts *s, const char *const words[], int n);
#define PARTS_WHICH(s, ...)                                                                                            \
    parts_which(s, (const char *const[]){ __VA_ARGS__ }, sizeof(const char *[]){ __VA_ARGS__ } / sizeof(char *))
// Fails unless each of part[from] to part[end - 1] is one of words, which have a blank between them.
void parts_only(struct decoder *x, const struct parts *s, uint32_t from, uint32_t end, const char *words);

// decode_operand.c
_Noreturn void decode_unknown(struct decoder *x);                                           // the instruction in hand
void operand_count(struct decoder *x, uint32_t least, uint32_t most);                       // fails unless within
uint64_t operand_literal(struct decoder *x, const struct ptx_operand *o, enum ptx_type t);  // its bits as type t
uint32_t operand_value(struct decoder *x, const struct ptx_operand *o, enum ptx_type t);    // the vreg that holds it
uint32_t operand_predicate(struct decoder *x, const struct ptx_operand *o);
uint32_t operand_destination(struct decoder *x, const struct ptx_operand *o, uint32_t bytes);
uint32_t destination_predicate(struct decoder *x, const struct ptx_operand *o);

// decode_arith.c: operations of alu.def
enum alu_op decode_op(struct decoder *x, const char *format, ...)  // by name; fails if there is none
    __attribute__((format(printf, 2, 3)));
uint32_t decode_unary(struct decoder *x, enum alu_op op, uint32_t a);  // emits it; returns a new vreg with the result
void decode_arithmetic(struct decoder *x, const struct parts *s);      // a line of alu.def
void decode_extended(struct decoder *x, const struct parts *s);        // add.cc, addc, madc.hi.cc, ...

// decode_cvt.c, decode_compare.c
void decode_cvt(struct decoder *x, const struct parts *s);
void decode_setp(struct decoder *x, const struct parts *s);
void decode_set(struct decoder *x, const struct parts *s);
void decode_selp(struct decoder *x, const struct parts *s);
void decode_slct(struct decoder *x, const struct parts *s);
void decode_testp(struct decoder *x, const struct parts *s);
void decode_isspacep(struct decoder *x, const struct parts *s);

// decode_address.c
// Sets m's space, base and offset from the address o of an instruction that names that space.
void operand_address(struct decoder *x, const struct ptx_operand *o, enum ptx_space space, struct memop *m);
void operand_variable(struct decoder *x, const struct ptx_operand *o, enum ptx_space space,
                      struct memop *m);  // no base
void operand_base(struct decoder *x, const struct ptx_operand *o, struct memop *m);
// .relaxed, .acquire, ... and the scope of an access, for the checks.
void decode_order(struct decoder *x, const struct parts *s, struct memop *m);

// decode_mem.c, decode_flow.c
void decode_memory(struct decoder *x, const struct parts *s);
void decode_bra(struct decoder *x, const struct parts *s);
void decode_leave(struct decoder *x, const struct parts *s);
void decode_trap(struct decoder *x, const struct parts *s);
void decode_barrier(struct decoder *x, const struct parts *s);

// decode_mma.c
void decode_ldmatrix(struct decoder *x, const struct parts *s);  // stmatrix too
void decode_mma(struct decoder *x, const struct parts *s);
void decode_wmma(struct decoder *x, const struct parts *s);

// decode_wgmma.c, decode_bulk.c
void decode_wgmma(struct decoder *x, const struct parts *s);
void decode_setmaxnreg(struct decoder *x, const struct parts *s);
void decode_bulk(struct decoder *x, const struct parts *s);
void decode_remote_store(struct decoder *x, const struct parts *s);  // st.async, red.async

// decode_warp.c
void decode_shfl(struct decoder *x, const struct parts *s);
void decode_vote(struct decoder *x, const struct parts *s);
void decode_match(struct decoder *x, const struct parts *s);
void decode_redux(struct decoder *x, const struct parts *s);
void decode_elect(struct decoder *x, const struct parts *s);
void decode_syncwarp(struct decoder *x);
void decode_activemask(struct decoder *x, const struct parts *s);

// decode_async.c
void decode_cp(struct decoder *x, const struct parts *s);
void decode_mbarrier(struct decoder *x, const struct parts *s);

// decode_wait.c: may the load in hand, from an address in register reg (-1: none), be what a thread waits by?
bool decode_waits(const struct decoder *x, int32_t reg);
bool decode_polls(const struct decoder *x, int32_t reg);  // the same of an access that is no plain one: see there
// After an access that a waiting loop may be made of: its result, address and operand (vregs, or NO_VREG). See
// warp_poll.c.
void emit_poll(struct decoder *x, uint32_t result, uint32_t address, uint32_t operand);

// decode_atomic.c
void decode_atomic(struct decoder *x, const struct parts *s);
void decode_fence(struct decoder *x, const struct parts *s);

// decode_cluster.c
void decode_cluster_barrier(struct decoder *x, const struct parts *s);
void decode_mapa(struct decoder *x, const struct parts *s);
void decode_getctarank(struct decoder *x, const struct parts *s);
uint32_t emit_special_register(struct decoder *x, enum sreg which);  // its value, of 32 bits

// decode_call.c
void decode_call(struct decoder *x, const struct parts *s);
void decode_end(struct decoder *x, const struct parts *s);
void decode_brx(struct decoder *x, const struct parts *s);

// decode_other.c
void decode_hint(struct decoder *x, const struct parts *s);  // prefetches, sleep: nothing to do
void decode_policy(struct decoder *x, const struct parts *s);
void decode_ignored(struct decoder *x, const struct parts *s);
void decode_griddepcontrol(struct decoder *x, const struct parts *s);
void decode_stack(struct decoder *x, const struct parts *s);
void decode_movmatrix(struct decoder *x, const struct parts *s);
void decode_video(struct decoder *x, const struct parts *s);
void decode_video_set(struct decoder *x, const struct parts *s);
bool decode_cvt_other(struct decoder *x, const struct parts *s);  // cvt.pack and fp8; false: it is another one
