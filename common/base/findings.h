// What the checks of the simulated GPU found in one kernel launch, in the manner of compute-sanitizer.
#ifndef COMMON_FINDINGS_H
#define COMMON_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

struct finding_place {
    const char *file;  // as the .file directive names it; NULL if there is none
    unsigned line;     // 0 if the PTX names no line
    // Where the place is in a function that was inlined, its call; for a function of a header, the call in the kernel's
    // own file. NULL and 0 if there is none.
    const char *caller_file;
    unsigned caller;
};

struct finding {        // of one kind and place: the first in full, the rest counted
    const char *check;  // "memcheck", "initcheck", "racecheck" or "synccheck": the tool of compute-sanitizer that looks
                        // for such errors; "run" for a kernel that traps or does not end
    const char *kind;   // "out of bounds", "race", ...
    bool advice;        // no error: cards do it, but not every version of PTX promises it; or it goes wrong very rarely
    struct finding_place here, there;  // there: the other side of a race; file is NULL if there is none
    uint64_t count;                    // threads' accesses, or bytes' worth of them, of this kind at this place
    const char *text;                  // one line: who does what to which bytes
    const char *look;                  // one line: what to look at next
};

struct findings {
    const char *kernel;
    struct finding *all;  // n errors, then n_advice that are none; each by place
    size_t n, n_advice;
};

// Prints each finding: its kind, text and count, the source lines where they can be read, and what to look at. Without
// errors one line that says what was looked at, and then what is advised.
void findings_print(FILE *out, const struct findings *f);

// Appends the array "findings" to the open JSON object j; empty if f is NULL.
void findings_json(struct json *j, const struct findings *f);

#endif
