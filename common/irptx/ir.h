// A module of LLVM IR, typed: what the parser makes of the text. It lives in an arena, and names point into the text.
//
// Source: LLVM Language Reference Manual 22.
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

// --- Types ---

enum ir_kind { IR_VOID, IR_INT, IR_FLOAT, IR_BFLOAT, IR_PTR, IR_VECTOR, IR_ARRAY, IR_STRUCT, IR_OTHER };

enum { SPACE_GENERIC = 0, SPACE_GLOBAL = 1, SPACE_SHARED = 3, SPACE_CONST = 4, SPACE_LOCAL = 5, SPACE_PARAM = 101 };

struct ir_type {
    enum ir_kind kind;
    uint32_t bits;             // of a scalar; a pointer has 64
    uint32_t space;            // that a pointer points to
    uint64_t count;            // elements of a vector or an array, fields of a struct
    const struct ir_type *of;  // their type
    const struct ir_type **fields;
    bool packed, opaque;
    struct ir_leaf *leaves;  // what ir_leaves has made
    uint32_t leaf_count;
};

// A scalar somewhere in a type. An i128 is two scalars of 64 bits, the low one first.
struct ir_leaf {
    uint64_t at;  // bytes from the beginning
    const struct ir_type *type;
};

struct ir_module;
extern const struct ir_type ir_void, ir_other;
uint64_t ir_size(const struct ir_type *t);  // bytes, as in an array
uint32_t ir_align(const struct ir_type *t);
uint64_t ir_offset(const struct ir_type *t, uint64_t field);  // of a struct
const struct ir_leaf *ir_leaves(struct ir_module *m, const struct ir_type *t, uint32_t *count);
// The type of an element or a field, and where it begins.
const struct ir_type *ir_step(struct ir_module *m, const struct ir_type *t, uint64_t index, uint64_t *at);
const struct ir_type *ir_int(struct ir_module *m, uint32_t bits);
static inline bool ir_is_int(const struct ir_type *t, uint32_t bits)
{
    return t->kind == IR_INT && t->bits == bits;
}

// --- Values ---

struct ir_scalar {
    enum { SCALAR_UNDEF, SCALAR_BITS, SCALAR_ADDRESS } kind;
    uint64_t bits;  // the bits of a constant; of an address the bytes behind the symbol
    const struct ir_symbol *symbol;
    bool generic;  // a number: the address of the symbol in the generic space, not in its own
};

struct ir_value {
    const struct ir_type *type;
    uint32_t local;                   // the number of a value of the function, from 1; 0: a constant
    const struct ir_scalar *scalars;  // of a constant: one for each leaf
    uint32_t count;
    const struct ir_type *byval;  // an argument: what it points to is handed over, not the pointer
    uint32_t byval_align;
};

struct ir_symbol {  // a variable or a function of the module
    struct str name;
    const char *ptx;  // its name in PTX
    const struct ir_type *type;
    uint32_t space, align;
    bool function, external, internal, alias;
    bool put;                      // it has been printed
    const struct ir_scalar *init;  // one for each leaf; NULL: nothing, or zeros
    const struct ir_inst *call;    // one of its calls, if it is a function; NULL: there is none
};

// --- Instructions ---

enum ir_class { C_BINARY, C_UNARY, C_CAST, C_COMPARE, C_OTHER };

enum ir_op {
#define X(name, class) OP_##name,
#include "irptx/ir_op.def"
#undef X
    OP_COUNT
};

// Words between an opcode and its operands that mean something here; others of the language are passed over.
enum ir_flag { F_NSW = 1, F_NUW = 2, F_DISJOINT = 4, F_CONTRACT = 8, F_VOLATILE = 16, F_NNEG = 32, F_ATOMIC = 64 };

struct ir_inst {
    enum ir_op op;
    uint32_t flags;
    const struct ir_type *type;  // of the result
    uint32_t result;             // the number of the value; 0: none
    struct ir_value *args;
    uint32_t arg_count;
    uint32_t *blocks;  // targets of a branch; where each value of a phi comes from
    uint32_t block_count;
    const struct ir_type *source;  // what getelementptr walks through, what alloca makes room for
    const uint64_t *index;         // of extractvalue and insertvalue
    uint32_t index_count;
    uint32_t align;
    struct str word;          // the predicate of a comparison, the operation of atomicrmw
    struct str scope, order;  // of an atomic operation
    const struct ir_symbol *callee;
    struct str assembly, constraints;  // of a call of inline assembly, as they stand between the quotes
    bool effect;                       // it is sideeffect
    uint32_t line;                     // the metadata of !dbg; 0: none
    const char *text;                  // where it begins
};

struct ir_block {
    struct str name;
    struct ir_inst *insts;
    uint32_t count;
};

struct ir_param {
    const struct ir_type *type;
    const struct ir_type *byval;  // what the pointer points to, in the space of parameters
    uint32_t align;
};

struct ir_function {
    const struct ir_symbol *symbol;
    bool kernel;
    const struct ir_type *result;
    struct ir_param *params;  // their values are the numbers 1, 2, ...
    uint32_t param_count;
    struct ir_block *blocks;  // the first is where it begins
    uint32_t block_count;
    uint32_t local_count;  // values have numbers below it
    uint32_t attributes;   // the group; UINT32_MAX: none
    uint32_t line;
};

// --- Debug information: places in the source ---

enum ir_meta_kind { META_NONE, META_LOCATION, META_FUNCTION, META_BLOCK, META_FILE };

struct ir_meta {
    enum ir_meta_kind kind;
    uint32_t line, column, scope, inlined_at, file;
    struct str name, linkage;
};

struct ir_attribute {
    uint32_t group;
    struct str key, value;
};

struct ir_module {
    struct arena *arena;
    char *error;            // DEV_ERROR_MAX bytes
    jmp_buf back;           // where ir_fail goes
    const char *statement;  // the text of what is being translated: its !dbg is the place of a failure
    struct map symbol_names;
    struct ir_symbol **symbols;
    uint32_t symbol_count;
    struct ir_function *functions;
    uint32_t function_count;
    struct ir_meta *meta;  // by number
    uint32_t meta_count;
    struct ir_attribute *attributes;
    uint32_t attribute_count;
    const struct ir_type *ints[129];
};

// Zeroed memory of the module. Does not return when there is none.
void *ir_new(struct ir_module *m, size_t bytes);
char *ir_text(struct ir_module *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *ir_grow(struct ir_module *m, void *items, uint32_t count, size_t size);  // as arena_grow
// Ends the translation with this message, behind the place in the source that the statement has.
_Noreturn void ir_fail(struct ir_module *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct str ir_attribute(const struct ir_module *m, const struct ir_function *f, const char *key);  // n is 0: none
// The file of a place or a function; {0}: unknown.
struct str ir_file(const struct ir_module *m, uint32_t meta);
// The name of the function that a place is in, as the linker knows it.
struct str ir_scope_name(const struct ir_module *m, uint32_t meta);
