// Mutants of a step's kernel.cu and of what it uses of the headers it includes, made by rules from whatever they say:
// each barrier removed, each index into a tile off by one, each guard removed, the accumulators without their
// initialiser; each wait for asynchronous copies removed, one group short, or behind its barrier, each end of a group
// removed; each change of the stage removed. Of Hopper's steps: each call of mbarrier_*, tma_load and wgmma_* removed,
// each of their arguments off, each stage off by one; the same for C by TMA, for the barriers and registers of roles,
// and for which tile of C comes next. The kernel is read as clang-format leaves it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum mutant_rule {
    MUTANT_BARRIER,
    MUTANT_INDEX,
    MUTANT_GUARD,
    MUTANT_INITIALISER,
    MUTANT_COPY,
    MUTANT_STAGE,
    MUTANT_MBARRIER,
    MUTANT_TMA,
    MUTANT_WGMMA,
    MUTANT_STORE,  // C by TMA
    MUTANT_ROLE,   // barriers and registers of some of the block's threads
    MUTANT_PLACE,  // which tile of C
    MUTANT_RULES
};

#define MUTANT_EDITS 8
#define MUTANTS_MAX 256
#define MUTANT_FILES 4

struct edit {
    size_t from, to;
    const char *with;
};

struct mutant {
    enum mutant_rule rule;
    char array[3];  // "As": whose index is off by one
    unsigned file, line;
    size_t n_edits;
    struct edit edits[MUTANT_EDITS];
};

struct mutant_file {
    char path[256];
    const char *name;  // the end of path
    size_t begins;     // where in the text
};

struct mutants {
    char *text, *code;  // the headers, then kernel.cu; code: the same, with blanks for comments, strings and directives
    struct mutant_file files[MUTANT_FILES];
    unsigned n_files;
    size_t kernel;  // where kernel.cu begins: the last file
    char *in_for;   // for each character: is it between the parentheses of a for?
    size_t size;
    struct mutant all[MUTANTS_MAX];
    size_t n;
};

// Reads a kernel, and from `folder` the headers that it includes by "". Fails the test if it cannot.
struct mutants mutants_read(const char *folder, const char *kernel);
void mutants_free(struct mutants *s);

// All files with the mutant's edits, without what they include from each other; #line keeps names and numbers. NULL:
// all as they are.
void mutants_print(FILE *out, const struct mutants *s, const struct mutant *m);
// "index, line 54:", the line before and the line after.
void mutants_diff(FILE *out, const struct mutants *s, const struct mutant *m);
// Has its file this name, and its line this text before and that text after?
bool mutants_makes(const struct mutants *s, const struct mutant *m, const char *file, const char *before,
                   const char *after);

// Does the code of this line of the kernel hold the word, or (NULL) the name of any tile or array of mbarriers?
bool mutants_line_has(const struct mutants *s, unsigned line, const char *word);
