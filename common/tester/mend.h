// A kernel that is tried in other words. Its text is compiled once more, with each operator, name, number and statement
// that may be wrong as a choice between what stands there and something else, and with a number in constant memory that
// makes it: as long as that is 0, it is the same kernel. Kernels with wgmma are left alone.
#ifndef COMMON_MEND_H
#define COMMON_MEND_H

#include <stdbool.h>

#include "cu_text.h"
#include "probe.h"

enum mend_kind {
    MEND_SIGN,     // another operator, or only what stands on its left or right
    MEND_WORD,     // something in place of a name or number
    MEND_TERM,     // something is added behind an expression
    MEND_FIXED,    // the same where it has to be known when the kernel is compiled: in a copy of the whole text
    MEND_WITHOUT,  // the statement is left out
    MEND_OTHER,    // another statement in its place
    MEND_BEFORE,   // a statement is put before it
    MEND_SWAP      // the statement behind it comes before it
};

enum {
    MENDS = 8192,
    MEND_WORDS = 200,         // bytes of a text
    MEND_COPIES = 1300,       // choices that the compiler meets, those in unrolled loops several times
    MEND_FIXES = 12,          // copies of the whole text
    MEND_FIX_LINES = 100000,  // lines of copy n are counted from n times that on
    MEND_NEAR = 2,            // lines of a lower rank are near
    MEND_RANKS = 5,
    MEND_ORDERS = 16
};

// Which operator, in each of three groups; the last two are for what stands on its left, and on its right.
enum { MEND_SIGNS = 8, MEND_LEFT = 6, MEND_RIGHT };

struct mend {
    enum mend_kind kind;
    unsigned token;         // that is changed, or with which the statement begins
    unsigned line;          // of it
    unsigned as;            // by kind: the operator, or the other statement
    unsigned char rank;     // how far its line is from what is known of the cause: 0 to MEND_RANKS - 1
    unsigned char doubt;    // how seldom it is that, from 0 on
    bool dropped;           // it does not compile, or is one too many
    char text[MEND_WORDS];  // that stands there in its place
};

struct mends {
    unsigned fixes;      // copies of the kernel that there is time for
    struct probe probe;  // the kernel, on the device of another probe
    struct cu_text text;
    struct mend *all;
    unsigned n;
    uint64_t choice;
    char kernel[GEOMETRY_KERNEL];  // its name
};

// file: the kernel's own. rank, by line up to `lines`: see struct mend. False if it cannot be done. To be closed in any
// case, before p.
bool mends_open(struct mends *m, const struct probe *p, const char *file, const unsigned char *rank, unsigned lines);
void mends_close(struct mends *m);
bool mends_set(struct mends *m, const struct mend *x);  // NULL: none

// "tid / 8 in place of tid % 8"
void mend_say(const struct mends *m, const struct mend *x, char *text, size_t size);

unsigned mend_order(const struct mend *x);  // those of the least are tried first

// --- For the parts of it ---

void mends_find(struct mends *m, const unsigned char *rank, unsigned lines);  // mend_find.c
// mend_write.c: the text with all choices, which the caller frees, and the line of it that each stands on; NULL where
// memory runs out.
char *mends_write(const struct mends *m, const char *include, unsigned *line_of);
// Where the operand that ends, or begins, with this token begins, or ends: the other end of a[i], f(x), (a + b).
unsigned cu_operand_begin(const struct cu_text *t, unsigned last);
unsigned cu_operand_end(const struct cu_text *t, unsigned first);
int mend_sign(const struct cu_text *t, unsigned token, unsigned *group);  // of a binary operator; -1: it is none
const char *mend_sign_text(unsigned group, unsigned sign);

#endif
