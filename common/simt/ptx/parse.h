// What the parser's files share: parse_token.c (what all of them use), parse.c (modules, functions), parse_decl.c
// (variables, registers), parse_inst.c (instructions), parse_call.c, parse_expr.c and parse_skip.c.
#pragma once

#include <setjmp.h>

#include "base/arena.h"
#include "lex.h"
#include "ptx.h"

struct range {  // .reg .f32 %f<67>, or one register where count is 0
    struct str prefix;
    uint32_t first, count;
    enum ptx_type type;
};

struct pending {  // a label that was used before the end of its scope
    struct ptx_operand *operand;
    uint32_t scope;
};

struct scope {  // one { } of a function's body; the innermost name wins
    struct range *ranges;
    uint32_t n_ranges;
    struct map singles;  // register names -> index
    struct map vectors;  // names of vector registers -> index of their first element << 3 | elements
    struct map labels;   // label -> instruction index
    struct map vars;     // variable name -> index
};

struct formal {  // a parameter or a result that is a register
    uint32_t var;
    int32_t reg;
    bool result;
};

#define PARSE_SCOPES 32  // nesting of { }

enum linkage {  // of a declaration of the module: who else means it by its name
    LINK_OWN,   // its own unit alone
    LINK_VISIBLE,
    LINK_WEAK,  // .weak or .common: the first of several counts
    LINK_EXTERN
};

struct parser {
    struct lexer lex;
    struct ptx_module *m;
    struct ptx_func *f;  // the function being parsed
    struct map vars;     // module-level variables that other units may mean, too
    struct map own;      // those of the unit in hand alone
    struct map funcs;
    enum linkage linkage;                        // of the declaration in hand
    uint32_t first_file, first_func, first_var;  // of the unit in hand
    struct scope scopes[PARSE_SCOPES];
    uint32_t n_scopes;
    struct pending *pending;
    uint32_t n_pending;
    struct formal *formals;  // of f
    uint32_t n_formals;
    bool calling;  // in a call, where (...) is a list of arguments
    uint32_t loc;  // index of the current location + 1
    char *error;
    const char *error_at;
    size_t place;     // bytes of "file:line:column: " at the start of error
    jmp_buf *failed;  // where parse_fail() goes: the function or declaration in hand, or the end of it all
};

// parse_token.c
// Ends the parse of the function or declaration in hand with a message about the place at (the current token where
// NULL).
_Noreturn void parse_fail(struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *parse_alloc(struct parser *p, size_t bytes);
void *parse_grow(struct parser *p, void *items, uint32_t count, size_t size);

bool parse_accept(struct parser *p, char punct);  // takes the token if it is this character
void parse_expect(struct parser *p, char punct);
struct str parse_name(struct parser *p, const char *what);
void parse_add(struct parser *p, struct ptx_inst in);  // to the function in hand
int64_t parse_int(struct parser *p);                   // a constant expression of integers (parse_expr.c)

// parse_decl.c: takes .align N, .v2/.v4, .ptr..., .attribute(.managed) and a type, in any order up to the name.
enum ptx_type parse_declared_type(struct parser *p, uint32_t *align, uint32_t *vector);
// After the type of v, of vectors of so many: name[N][M]... [= init]. Returns the variable's index.
uint32_t parse_variable(struct parser *p, struct ptx_var v, uint32_t vector);
// After the state space: [.align n] .type name, name;
void parse_variables(struct parser *p, enum ptx_space space);
// After .reg: .f32 %f<67>, %x, y;
void parse_registers(struct parser *p);
// Whether the directive names a state space, and which.
bool parse_space(struct str directive, enum ptx_space *space);

// parse_inst.c: one instruction, its guard included, up to and with the ';'.
void parse_instruction(struct parser *p);
// After .branchtargets: its labels become the operands of an instruction of that name, which does nothing.
void parse_targets(struct parser *p, struct str directive);
// Resolves the labels used inside the innermost scope that are declared in it; the rest waits for the outer one.
void parse_resolve_labels(struct parser *p);

// parse_call.c: parameters, results and arguments that are registers or numbers become .param variables, which is what
// inline.c passes. A .param variable that was just declared is a register of f; f's body begins, or is left by in; a
// call is about to be added, and has been.
void parse_formal(struct parser *p, uint32_t var, bool result);
void parse_receives(struct parser *p);
void parse_returns(struct parser *p, const struct ptx_inst *in);
void parse_passes(struct parser *p, struct ptx_inst *call);

// parse_skip.c: moves from start, inside a function or declaration that cannot be parsed, past its end. name, where it
// is wanted: its first name. Where the text ends before that, the file is cut off: ends the parse with the error it
// has.
void parse_skip(struct parser *p, struct lexer start, struct str *name);
const char *parse_keep_error(struct parser *p);  // a copy of the last error
