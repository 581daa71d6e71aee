// A correct PTX kernel, and the same with a rule broken: what the checks find in it.
#ifndef TESTS_VIOLATION_H
#define TESTS_VIOLATION_H

#include <stddef.h>
#include <stdint.h>

enum { VIOLATION_SAID = 8192, VIOLATION_TEXT = 16384 };

struct violation_edit {
    const char *from, *to;  // the first occurrence of from; NULL: none
};

struct violation {
    struct violation_edit a, b;
    const char *said[4];  // in what is found
};

// Makes the change. A text in which its first half does not occur fails the test.
void violation_change(char text[VIOLATION_TEXT], struct violation_edit e);

// How the kernel k (out, in) is launched; out and in are buffers of words, and out is zeros.
struct violation_launch {
    unsigned blocks, threads;
    size_t n_out, n_in;
    const uint32_t *in;
};

// What the checks say of the text with these changes, or the launch's error if it fails.
void violation_run(const char *text, const struct violation_launch *l, struct violation_edit a, struct violation_edit b,
                   char said[VIOLATION_SAID]);

// Expects that nothing is found in the text as it is, and in each violation what it says.
void violations_expect(const char *text, const struct violation_launch *l, const struct violation *v, size_t n);

#endif
