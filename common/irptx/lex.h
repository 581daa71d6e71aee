// Tokens of LLVM IR's text.
#pragma once

#include "irptx/ir.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,    // a keyword, an opcode, a type; text is all of it
    TOKEN_LABEL,   // a word and a colon; text is the word
    TOKEN_LOCAL,   // %name; text is the name, without quotes
    TOKEN_GLOBAL,  // @name
    TOKEN_META,    // !name, !12; text may be empty (!{, !"...")
    TOKEN_GROUP,   // #12
    TOKEN_STRING,  // "..." or c"..."; text is what stands between the quotes
    TOKEN_NUMBER,  // 12, -3, 1.5e+00, 0x40...
    TOKEN_SIGN,    // one character, or ...
};

struct token {
    enum token_kind kind;
    struct str text;
    const char *at;  // its first character
    bool first;      // of its line
};

struct lexer {
    const char *next;
    struct token token;  // the current one
};

void ll_begin(struct lexer *l, const char *text);
void ll_next(struct lexer *l);

// The characters of a string: \XX is a byte, \\ a backslash. *bytes: how many there are.
char *ll_unescape(struct ir_module *m, struct str text, uint32_t *bytes);
