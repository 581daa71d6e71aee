// PTX as text.
#pragma once

#include "irptx/code.h"

struct text {  // grows in the module's arena
    struct ir_module *m;
    char *p;  // ended by a NUL
    size_t used, room;
};
void text_put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A parameter or a result of a function that is no kernel, aligned as its type at least: .param .b32 NAME or .param
// .align 8 .b8 NAME[24]. number < 0: the name has none.
void print_param(struct text *t, const struct ir_type *type, uint32_t align, const char *name, int number);

// --- Lines of the source ---

struct lines {
    struct ir_module *m;
    const char *root;
    struct str *files;
    uint32_t file_count;
    struct str *names;  // of inlined functions
    uint32_t name_count;
    uint32_t last;  // the place that was told last
};
void lines_put(struct lines *l, struct text *t, uint32_t place);  // .loc, if the place is another one
void lines_function(struct lines *l, struct text *t, uint32_t function);
void lines_tables(struct lines *l, struct text *t);  // .file and .section .debug_str

void print_function(struct code *c, struct text *t, struct lines *l);
void print_declarations(struct ir_module *m, struct text *t);  // of functions that are called
void print_variables(struct ir_module *m, struct text *t);
