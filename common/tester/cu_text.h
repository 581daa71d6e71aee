// The text of a kernel as a compiler's first steps see it: tokens, statements, and which names are declared where. No
// types are checked and nothing is expanded: enough to change a word and compile the text again.
#ifndef COMMON_CU_TEXT_H
#define COMMON_CU_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum cu_kind { CU_WORD, CU_NUMBER, CU_SIGN };

struct cu_token {
    const char *at;
    unsigned n, line;
    enum cu_kind kind;
    unsigned match;  // of a bracket: the other one
    bool computed;   // part of an expression that may be computed while the kernel runs
    bool fixed;      // of one that has to be known when the kernel is compiled
};

enum cu_name_kind {
    CU_CONSTANT,  // constexpr int, or a template's int
    CU_VARIABLE,  // a whole number
    CU_COUNTER,   // of a loop
    CU_POINTER,
    CU_SHARED,     // a __shared__ array
    CU_REGISTERS,  // an array of a thread: its indices have to be known when the kernel is compiled
    CU_OTHER
};

struct cu_name {
    unsigned token, from, end;  // where it is declared; it is seen behind `from` and before `end`
    unsigned declaration;       // those of one declaration have the same
    enum cu_name_kind kind;
};

struct cu_statement {
    unsigned begin, end;  // of a token; end: behind its ;
    bool declares;
    bool alone;        // the body of an if or a loop, without { }
    unsigned follows;  // the statement before it in the same block, and 1 more; 0: none
};

struct cu_text {
    char *text;
    struct cu_token *token;
    struct cu_name *name;
    struct cu_statement *statement;
    struct cu_loop {
        unsigned begin, end;
    } * loop;  // those whose rounds are known when the kernel is compiled, from their for on
    unsigned n_tokens, n_names, n_statements, n_loops;
};

// False if it cannot be read. To be freed in any case.
bool cu_text_read(struct cu_text *t, const char *file);
void cu_text_free(struct cu_text *t);

bool cu_is(const struct cu_text *t, unsigned token, const char *text);
bool cu_same(const struct cu_token *a, const struct cu_token *b);

// What the name means there; NULL: it is not declared in this file.
const struct cu_name *cu_name_at(const struct cu_text *t, unsigned token);

#endif
