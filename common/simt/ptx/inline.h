// What inline.c (copies of bodies in place of calls), inline_calls.c (who may call whom), inline_stack.c (functions
// that call themselves) and inline_emit.c (new instructions) share. Private to them.
#pragma once

#include "base/arena.h"
#include "ptx.h"

#define CALL_DEPTH 32
#define INLINE_MAX (1u << 20)  // instructions that a kernel may have with its calls, and calls

struct frame {  // a function whose body is being copied
    const struct ptx_func *f;
    const struct ptx_operand *arguments, *results;  // groups of the call, or NULL
    struct frame *caller;
    uint32_t call;       // the call's place in m->locs, its index + 1; 0 if it has none
    uint32_t number;     // of this copy, from 1
    uint32_t first_reg;  // of its registers in the copy
};

struct moved {  // a place of m->locs in the copy that asked for it last
    uint32_t copy, loc;
};

struct stacked {  // where a .local variable stands in the frame of a routine
    uint32_t routine, at;
};

struct routine {  // a function that may call itself: it has one copy, which its callers jump to
    const struct ptx_func *f;
    int32_t back;                // the register that says where it returns to
    uint32_t first_reg, n_regs;  // the registers of its copy
    uint32_t local_bytes;        // of its variables
    uint32_t *params, n_params;  // variables with its parameters, and those of functions that are copied into it
    uint32_t entry, table;       // instructions: its first one, and its .branchtargets
    uint32_t *jumps, n_jumps;    // instructions that call it
    uint32_t *sites, n_sites;    // instructions that it returns to
};

struct inliner {
    struct ptx_module *m;
    struct ptx_func *out;
    struct arena *arena;
    bool *known;          // by variable: it is one of out's
    struct moved *moved;  // by index in m->locs as they were parsed
    uint32_t calls;       // bodies copied so far
    uint8_t *recursive;   // by function: 0 not looked at yet, 1 no, 2 yes
    uint8_t *taken;       // by function: its address is taken; NULL before the first call through a pointer
    struct routine *routines, *before;  // before: as the pass before left them, NULL in the first one
    uint32_t n_routines;
    uint32_t owner;                    // the routine being copied + 1; 0: the kernel itself
    struct stacked *stacked;           // by variable
    int32_t stack, wide, word, truth;  // registers: the frame's address, and three that hold nothing for long
    char *error;
    const char **at;
};

// inline_emit.c
bool inline_refuse(struct inliner *x, const char *at, const char *why, struct str name);  // false
bool inline_out_of_memory(struct inliner *x, const struct ptx_func *f);                   // false
const struct ptx_func *inline_find(const struct ptx_module *m, struct str name);
bool inline_is_call(const struct ptx_inst *in);
// The name of the function that a call names, and its groups; false for a call through a pointer.
bool inline_read_call(const struct ptx_inst *in, struct str *name, const struct ptx_operand **results,
                      const struct ptx_operand **arguments);
// The variable that stands for var, which fr's function names: a formal parameter is what the caller passed for it.
int32_t inline_variable(const struct frame *fr, int32_t var);
int32_t inline_register(struct inliner *x, enum ptx_type type);  // a new one; -1 when memory runs out
// Adds an instruction with these operands (none where list is NULL), unguarded, at the place of in.
bool inline_emit(struct inliner *x, const struct ptx_inst *in, const char *op, const struct ptx_operand *list,
                 uint32_t n);

// inline_calls.c
bool inline_is_taken(struct inliner *x, uint32_t function);  // may a call through a pointer lead there?
bool inline_is_recursive(struct inliner *x, const struct ptx_func *f);

// Instructions that no text can spell, for calls that go wrong: decode_call.c.
#define OP_STACK_FULL "call to itself"
#define OP_NO_FUNCTION "call of nothing"

static inline struct ptx_operand operand_of(enum ptx_operand_kind kind)
{
    return (struct ptx_operand){ .kind = kind, .reg = -1, .reg2 = -1, .var = -1 };
}

static inline struct ptx_operand operand_reg(int32_t reg)
{
    struct ptx_operand o = operand_of(OPND_REG);
    o.reg = reg;
    return o;
}

static inline struct ptx_operand operand_int(uint64_t bits)
{
    struct ptx_operand o = operand_of(OPND_INT);
    o.bits = bits;
    return o;
}

static inline struct ptx_operand operand_label(uint32_t target)
{
    struct ptx_operand o = operand_of(OPND_LABEL);
    o.target = target;
    return o;
}

// inline_stack.c
bool inline_begin_stack(struct inliner *x);  // before the kernel's own body, where there are such functions
bool inline_keep_arguments(struct inliner *x, const struct frame *callee);  // of a function copied into a routine
bool inline_jump(struct inliner *x, struct frame *callee, const struct ptx_inst *in);
// The operand of a copied instruction where it names a variable that stands in the routine's frame.
bool inline_stacked(struct inliner *x, const struct ptx_inst *in, struct ptx_operand *o);
// Before and after the body of a routine is copied, and, at last, what could not be known before: where jumps lead.
void inline_begin_routine(struct inliner *x, uint32_t number);
bool inline_end_routine(struct inliner *x, uint32_t number);  // it returns to where the call came from
bool inline_connect(struct inliner *x);
