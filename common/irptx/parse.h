// The parser: LLVM IR's text becomes a module (ir.h). Attributes, metadata and flags that change nothing here are
// passed over; a type, an instruction or a constant that is not known ends the translation (ir_fail).
#pragma once

#include "irptx/lex.h"

struct parser {
    struct ir_module *m;
    struct lexer l;
    struct map type_names;  // of structs: indices of types
    struct named_type {
        const char *text;
        struct ir_type *type;  // NULL: not yet read
        bool busy;
    } * types;
    uint32_t type_count;
    struct map locals, blocks;  // of the function
    uint32_t local_count, block_count;
};

void ll_module(struct ir_module *m, const char *text);

// --- For the parser's own files ---

bool ll_take(struct parser *p, const char *sign);      // the current token, if it is this sign or word
void ll_want(struct parser *p, const char *sign);      // fails if it is not
bool ll_is(const struct parser *p, const char *text);  // a sign or word
_Noreturn void ll_fail(struct parser *p, const char *expected);
uint64_t ll_number(struct parser *p);
void ll_skip_brackets(struct parser *p);  // from ( [ { or < to its match

bool ll_starts_type(const struct parser *p);
const struct ir_type *ll_type(struct parser *p);
uint32_t ll_space(struct parser *p);  // addrspace(N), if it is there
// Attributes between a type and a value, or before a type. What they say of a parameter goes to param, unless NULL.
void ll_attributes(struct parser *p, struct ir_param *param);
struct ir_value ll_value(struct parser *p, const struct ir_type *type);
struct ir_value ll_typed(struct parser *p);
uint32_t ll_local(struct parser *p);                   // a %name of a value
uint32_t ll_block(struct parser *p, struct str name);  // the number of the block
void ll_inst(struct parser *p, struct ir_inst *inst);
void ll_meta(struct ir_module *m, const char *text);  // every line that begins with !
