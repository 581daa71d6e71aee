// PTX tokens. Source: PTX ISA 9.0, section 4.
#pragma once

#include "base/str.h"

enum token_kind {
    TOK_END,
    TOK_NAME,       // identifier, register, special register: add, %r1, $L__BB0_3, _
    TOK_DIRECTIVE,  // .entry, .reg, .f32
    TOK_INT,        // bits
    TOK_F32,        // 0f3F800000: bits
    TOK_F64,        // 0d3FF0000000000000: bits
    TOK_DECIMAL,    // 1.5: bits of the double
    TOK_STRING,     // text without its quotes
    TOK_PUNCT,      // one character, in punct
    TOK_BAD         // punct holds the offending character; a NUL for an unterminated comment or string
};

struct token {
    enum token_kind kind;
    struct str text;
    uint64_t bits;
    char punct;
};

struct lexer {
    const char *p, *end;
    struct token tok;  // the current token
};

// Begins at the text, which has to live as long as the lexer; the first token is in tok then.
void lex_start(struct lexer *l, const char *text, size_t bytes);
void lex_next(struct lexer *l);  // reads the next token into tok
// Extends the current name token over the dotted rest of an instruction: fma -> fma.rn.f32, shared::cta included.
void lex_opcode(struct lexer *l);
