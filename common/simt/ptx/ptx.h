// PTX text as data: modules, variables, functions, instructions. What the PTX ISA calls a statement is parsed here;
// what an instruction means is decided in decode.c.
//
// Invariants: everything a module points to lives in its arena or in its text, and dies with ptx_free(). Register,
// label and variable names are resolved; operands hold indices. Source: PTX ISA 9.0, chapters 4 (syntax), 5 (state
// spaces, types, variables) and 11 (directives).
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ptx_type.h"
#include "base/str.h"

// SPACE_CLUSTER: shared memory of any block of the cluster (.shared::cluster)
enum ptx_space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_REG,
    SPACE_CLUSTER
};

struct arena;

struct ptx_loc {
    uint32_t file, line;  // file: the number of a .file directive
    uint32_t at;          // index of the call's location + 1 where this line was inlined, else 0
};

struct ptx_pointer {     // an initialiser that is an address, or a byte of one
    struct str name;     // of a variable or a function
    int32_t var;         // its number, or -1: a function's
    uint64_t plus;       // bytes
    uint32_t at, bytes;  // where in the variable
    uint32_t shift;      // of the address, to the right, in bits
};

struct ptx_var {
    struct str name;
    enum ptx_space space;
    enum ptx_type type;
    uint32_t align;  // bytes
    uint64_t bytes;  // 0 for an .extern array of unknown size
    uint8_t *init;   // its first init_bytes; the rest is zero
    uint32_t init_bytes;
    struct ptx_pointer *pointers;
    uint32_t n_pointers;
    bool local;        // declared in a function
    bool external;     // only declared, by .extern
    uint64_t address;  // offset in its space; decode.c and module.c assign it
};

struct ptx_reg {
    struct str name;  // the declared name; "%r" for a range
    enum ptx_type type;
    uint32_t number;  // within the range
    bool ranged;
};

enum ptx_operand_kind {
    OPND_REG,  // reg; negated: written with '!'
    OPND_INT,  // bits, two's complement
    OPND_F32,
    OPND_F64,      // bits, as 0f and 0d spell them
    OPND_DECIMAL,  // a decimal floating literal; bits of the double
    OPND_SREG,     // name: %tid.x
    OPND_VAR,      // var, plus bits: the address of a variable
    OPND_MEM,      // [reg + bits] or [var + bits] or [bits]
    OPND_VEC,      // {list...}
    OPND_SINK,     // _
    OPND_LABEL,    // target: instruction index
    OPND_NAME,     // a function's name
    OPND_GROUP     // (list...) of a call
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;
    int32_t reg;   // register index, or -1
    int32_t reg2;  // the p of d|p, or -1
    int32_t var;   // variable index, or -1
    uint64_t bits;
    struct str name;
    struct ptx_operand *list;
    uint32_t count, target;
    const char *at;  // where it stands in the text
};

#define PTX_OPERANDS 12

struct ptx_inst {
    struct str op;  // "fma.rn.f32"
    struct ptx_operand *operand;
    uint32_t n_operands;
    int32_t guard;  // predicate register, or -1
    bool guard_negated;
    uint32_t loc;  // index into locs + 1, or 0 if no line is known
    const char *at;
};

struct ptx_func {
    struct str name;
    bool entry, body;      // body: false for a declaration
    const char *error;     // NULL, or why it cannot be used: "file:line:column: ..."; then the rest may be missing
    const char *error_at;  // and where in the text
    uint32_t *params;      // variable indices
    uint32_t n_params;
    uint32_t *results;  // variable indices of what a .func returns
    uint32_t n_results;
    uint32_t max_threads;   // from .maxntid, or 0
    uint32_t min_blocks;    // from .minnctapersm, or 0
    uint32_t max_regs;      // from .maxnreg, or 0
    uint32_t required[3];   // from .reqntid: the threads of a block along x, y and z; 0: any
    uint32_t cluster[3];    // from .reqnctapercluster: the blocks of a cluster; 0: any
    uint32_t max_rank;      // from .maxclusterrank: a cluster's blocks at most, or 0
    bool explicit_cluster;  // .explicitcluster: the launch has to say clusters
    struct ptx_reg *regs;
    uint32_t n_regs;
    struct ptx_inst *insts;
    uint32_t n_insts;
    uint32_t *vars;  // variables declared inside, parameters among them
    uint32_t n_vars;
};

struct ptx_skipped {     // a declaration that was passed over; what names it is refused
    struct str name;     // n is 0 if none was found
    const char *error;   // "file:line:column: ..."
    const char *reason;  // the same without its place
};

struct ptx_module {
    char *file;  // what messages call it
    const char *text;
    size_t bytes;
    uint32_t *pages;  // the line in which each page of the text begins, for ptx_line()
    struct arena *arena;
    struct ptx_var *vars;
    uint32_t n_vars;
    struct ptx_func *funcs;
    uint32_t n_funcs;
    struct ptx_loc *locs;
    uint32_t n_locs;
    const char **files;  // by number; NULL if a number is not used
    uint32_t n_files;
    uint32_t stack;  // the variable for the stack of functions that call themselves, in local memory
    struct ptx_skipped *skipped;
    uint32_t n_skipped;
    struct str version, target;
};

// Parses bytes of text (text[bytes] == 0; copied). Several texts may stand one behind the other: each begins with its
// .version and is a unit, as the object files of a program are, and they are linked: what is .visible in one is meant
// by .extern in the others, of what is .weak the first counts, and other names belong to their unit. file is what
// messages call it. A function or variable that cannot be parsed is noted with its error (ptx_func, ptx_skipped) and
// passed over; the others can be used. On failure, for a text that is cut off, is no PTX or has nothing that can be
// used, returns NULL with one line in error: "file:line:column: what is wrong".
struct ptx_module *ptx_parse(const char *file, const char *text, size_t bytes, char error[DEV_ERROR_MAX]);
void ptx_free(struct ptx_module *m);

// The declaration of that name that was passed over, or NULL.
const struct ptx_skipped *ptx_find_skipped(const struct ptx_module *m, struct str name);

// f with the bodies of the functions that it calls in place of the calls, or f itself where it calls none; in arena.
// Calls of functions without a body stay. m's locs grow by the places of the copies, inlined where the calls are. NULL,
// with one line in error and the place in *at, for a function that was refused, a recursive call or one whose arguments
// are not .param variables. Source: PTX ISA 7.1 (function calls).
const struct ptx_func *ptx_inline(struct ptx_module *m, const struct ptx_func *f, struct arena *arena,
                                  char error[DEV_ERROR_MAX], const char **at);

enum { PTX_PAGE = 4096 };  // bytes of text
// Counts the lines before each page of m's text. False when memory runs out.
bool ptx_count_lines(struct ptx_module *m);

// Writes "file:line:column: message" for the place at in m's text.
void ptx_error_at(const struct ptx_module *m, const char *at, char error[DEV_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The line of text around at, and a second line with a caret below it; both end in newlines.
void ptx_caret(const struct ptx_module *m, const char *at, char *out, size_t size);
// The same with its arguments in a list; returns how many bytes of error name the place.
size_t ptx_error_args(const struct ptx_module *m, const char *at, char error[DEV_ERROR_MAX], const char *format,
                      va_list args);

unsigned ptx_line(const struct ptx_module *m, const char *at);  // the number of the PTX's own line
// The source line of an instruction, and the line that a loc was inlined into; NULL if there is none.
const struct ptx_loc *ptx_loc_of(const struct ptx_module *m, const struct ptx_inst *in);
const struct ptx_loc *ptx_caller(const struct ptx_module *m, const struct ptx_loc *loc);
const char *ptx_source_name(const struct ptx_module *m, uint32_t number);  // of a .file directive; the PTX's without it

// The number of the function of that name, or -1.
int64_t ptx_find_function(const struct ptx_module *m, struct str name);
