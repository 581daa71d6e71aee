// Where a wrong kernel differs from the course's text of it: what somebody has changed.
//
// The course's text of the kernel.cu whose PTX the build made, and of a header of the course that the kernel has code
// of, is found by git (course_text.h). Where there is no git, as in an unpacked archive, nothing is said: a copy that
// the build keeps would be of what was there when it was configured, and that may be wrong already. Nor is anything
// said of a kernel that was edited after its PTX was made: another text ran. A page has the course's text itself. An
// exercise is compared with nothing, since that would solve it.
#pragma once

#include <stdbool.h>

#include "result.h"
#include "text_diff.h"

enum { CHANGED_PLACES = TESTER_PLACES, CHANGED_NAME = 64 };

struct changed_place {
    char file[CHANGED_NAME];  // its name, without folders
    bool own;                 // it is the kernel's, and no header
    struct diff_place at;
};

struct changed {
    char kernel[1024];  // its file
    size_t n;           // 0: there is no difference, or none is known, or there are too many
    struct changed_place all[CHANGED_PLACES];
};

// What the kernel of step->ptx has that the course's has not. Where it differs in more places, as one does that is
// being written: those that have one of the lines, which a cause has named, up to a 0. wrong: there is a mistake, and
// not only what is advised against.
void changed_find(struct changed *d, const struct step *step, const struct tester_options *o,
                  const unsigned lines[TESTER_LINES], bool wrong);

// Whether what is said of a cause can be due to one of the places: one of its lines is there, or has what is set there.
// Also where no place is known.
struct cause;
bool changed_explains(const struct changed *d, const struct cause *c);

// Whether one of the lines that the words name is at the place, or the place lies between two of them.
bool changed_is_near(const struct changed_place *p, const char *words);

// Writes a line for each place, and what is guessed of the cause behind them, if it is not empty: the places are facts.
void changed_say(const struct changed *d, const char *guess, char *text, size_t size);
