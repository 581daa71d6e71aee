// In which places two texts of C++ differ, token by token: white space and comments do not count.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { DIFF_WORDS = 96, DIFF_TOKENS = 120 };

enum diff_kind {
    DIFF_OTHER,    // `now` stands in place of `then`
    DIFF_MORE,     // statements that the text before does not have
    DIFF_TWICE,    // the same, and what stands beside them is the same once more
    DIFF_MISSING,  // statements, `then`, that stood before this line
    DIFF_MOVED,    // statements that stood before line `from`, of the text now
};

struct diff_place {
    enum diff_kind kind;
    unsigned line, last, from;  // lines of the text now; last: where the place ends
    char now[DIFF_WORDS], then[DIFF_WORDS];
};

// Writes at most `most` places, in their order, and returns how many there are. 0 also where the texts are the same;
// more than `most` where they differ in more than DIFF_TOKENS tokens, or where memory runs out.
size_t text_diff(const char *then, const char *now, struct diff_place *out, size_t most);
