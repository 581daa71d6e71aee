// The code of a function: instructions of PTX in blocks, with registers that have a width alone (.pred, .b16, .b32,
// .b64). Selection (select.h) writes each register once, so that equal instructions can be made once; the passes
// (passes.h) leave that form.
#pragma once

#include "irptx/ir.h"

enum operand_kind { OPERAND_REG, OPERAND_INT, OPERAND_TEXT, OPERAND_MEMORY };

struct operand {
    enum operand_kind kind;
    bool def;  // the instruction writes the register; one that is only kept alive is hidden
    bool hidden;
    bool open, close;  // { before it, } behind it
    uint32_t reg;      // of OPERAND_MEMORY: the base; 0: text is, or the address is a number
    const char *text;
    int64_t value;  // of OPERAND_MEMORY: the bytes behind the base
};

enum effect {
    EFFECT_NONE,     // what it computes depends on its operands alone
    EFFECT_IF_USED,  // it is removed if its results are not used
    EFFECT_ALWAYS,
};

struct access {
    enum { ACCESS_NONE, ACCESS_LOAD, ACCESS_STORE, ACCESS_FENCE } kind;  // no access moves past a fence
    uint32_t space, bits, align;  // bits of each register; align of the first byte
};

struct op {
    const char *name;  // with its modifiers
    const char *form;  // in place of "name operands;" a text in which $1 is an operand, $$ a dollar; NULL: none
    struct operand *args;
    uint32_t arg_count;
    enum effect effect;
    bool copy;  // of a register into a register
    struct access access;
    uint32_t line;  // the place in the source
};

struct edge {  // a way out of a block that is taken if reg is true
    uint32_t reg, to;
};

struct phi_copy {  // what a phi gets on the way to block to
    uint32_t to, reg;
    struct operand from;
};

enum block_end { END_GO, END_RETURN, END_TRAP };

struct code_block {
    struct op *ops;
    uint32_t op_count;
    enum block_end end;
    struct edge *edges;       // asked one after the other
    uint32_t edge_count, to;  // where it goes otherwise
    struct phi_copy *copies;
    uint32_t copy_count;
    uint32_t *preds;
    uint32_t pred_count;
    uint32_t line;       // of its branch
    uint32_t dominator;  // the nearest block that is always passed before; the first is its own
    uint32_t order;      // its place in code.order; UINT32_MAX: it is never reached
};

struct reg {
    uint8_t width;        // 1, 16, 32, 64
    uint8_t part, parts;  // it is one of the parts of whole, made by a mov with braces
    uint32_t whole;
    uint32_t narrow;  // it is this register of 32 bits, widened
    bool widened_signed;
    const struct operand *product;  // it is the product of these two, and may become part of an fma
};

enum val_kind { VAL_UNDEF, VAL_BITS, VAL_REG, VAL_PTR };

// A scalar while code is selected. A pointer is a base (a register, a symbol or, where both are missing, nothing) and
// bytes behind it, in a space.
struct val {
    enum val_kind kind;
    uint32_t space, reg;
    const char *symbol;
    int64_t bits;
};

struct vals {
    struct val *items;
    uint32_t count;
};

struct code {
    struct ir_module *m;
    const struct ir_function *f;
    const char *name;
    struct code_block *blocks;
    uint32_t block_count;
    uint32_t *order;
    uint32_t order_count;
    struct reg *regs;  // from 1 on
    uint32_t reg_count;
    struct vals *values;          // of the function's values, by number
    const struct ir_inst **defs;  // what defines each; NULL: a parameter
    int *spaces;                  // where each points to; -1: nothing is known
    uint32_t at, line;            // the block that code is added to, and its place in the source
    struct numbered **numbered;   // instructions without an effect, by what they do
    uint64_t local_bytes;         // of its allocas
    uint32_t local_align;
    const char *local_name;
    uint32_t *name_of;  // of a register in PTX: its number among those of its width
    uint32_t names[4];  // how many of 1, 16, 32 and 64 bits
};

// --- Building ---

#define OPERANDS(...)                                                                                                  \
    (struct operand[]){ __VA_ARGS__ }, sizeof((struct operand[]){ __VA_ARGS__ }) / sizeof(struct operand)
// The register that the instruction computes; an equal one that was computed on every way here is taken again.
#define PURE(c, width, name, ...) code_pure(c, width, name, OPERANDS(__VA_ARGS__))
#define EMIT(c, name, ...) code_emit(c, name, OPERANDS(__VA_ARGS__))

static inline struct operand operand_reg(uint32_t reg)
{
    return (struct operand){ .kind = OPERAND_REG, .reg = reg };
}
static inline struct operand operand_def(uint32_t reg)
{
    return (struct operand){ .kind = OPERAND_REG, .reg = reg, .def = true };
}
static inline struct operand operand_int(int64_t value)
{
    return (struct operand){ .kind = OPERAND_INT, .value = value };
}
static inline struct operand operand_text(const char *text)
{
    return (struct operand){ .kind = OPERAND_TEXT, .text = text };
}

uint32_t code_reg(struct code *c, uint32_t width);                   // a new one
uint32_t code_regs(struct code *c, uint32_t width, uint32_t count);  // the first of several in a row
struct op *code_emit(struct code *c, const char *name, const struct operand *args, size_t count);
uint32_t code_pure(struct code *c, uint32_t width, const char *name, const struct operand *args, size_t count);
// The first of count registers of this width that reg is split into; and the register that count parts make up.
uint32_t code_split(struct code *c, uint32_t reg, uint32_t width, uint32_t count);
uint32_t code_join(struct code *c, const uint32_t *parts, uint32_t count, uint32_t width);
void code_braces(struct operand *args, uint32_t count);  // around these operands
const char *code_name(struct code *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *code_space(struct code *c, uint32_t space);  // ".shared"; "" of the generic one
bool operand_same(const struct operand *a, const struct operand *b);

// --- Blocks ---

struct code *code_begin(struct ir_module *m, const struct ir_function *f);  // blocks, their order, dominators
bool code_dominates(const struct code *c, uint32_t above, uint32_t below);
uint32_t code_successors(const struct code_block *b, uint32_t *to, uint32_t room);  // each once; how many
uint32_t code_new_block(struct code *c);
