// Programs run as a user runs them: what they print, and their exit status.
#pragma once

#include <stddef.h>

#define OUTPUT 65536

struct run {
    int status;  // exit status; -1 for a signal
    char out[OUTPUT], err[OUTPUT];
};

// Runs program with the arguments, up to a NULL.
void run(struct run *r, const char *program, ...);

// The run failed, with one line on stderr that has word in it, and nothing on stdout. what: for messages.
void refused(const struct run *r, const char *what, const char *word);

// The run ended with that status, and what it printed on stdout has text in it.
void shown(const struct run *r, int status, const char *text);

// Runs program with the arguments, up to a NULL, and expects one of the two.
void shows(int status, const char *text, const char *program, ...);
void refuses(const char *what, const char *word, const char *program, ...);

// Makes a file with this content, in place of the one before; its path. A test suite's .fini removes it.
const char *scratch(const char *content, size_t bytes);
void forget_scratch(void);
