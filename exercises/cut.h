// One marked source gives the stub of an exercise, its solution and its planted bugs, so that they cannot drift.
//
// A marked source is a CUDA file with regions:
//
//     // >>> yours, 2 lines: what to write
//     the solution
//     // --- stub
//     //| what stands there before the learner begins
//     // --- bug swapped index: "32 sectors" "look at"
//     //| what stands there with the bug
//     // <<<
//
// The lines with >>> and <<< stand in every cut. "//|" and one blank after it are taken away, the indentation before it
// stays. A region has one stub and any number of bugs; a bug of that name may have a part in several regions, and where
// it has none, the solution stands. The quoted texts after a bug's name, in all of its parts, are what the check has to
// say about it.
#pragma once

#include <stddef.h>

enum { CUT_ERROR_MAX = 256, CUT_BUGS_MAX = 32, CUT_EXPECTS_MAX = 12, CUT_TEXT_MAX = 160 };

enum cut { CUT_STUB, CUT_SOLUTION, CUT_BUG };

struct cut_bug {
    char name[CUT_TEXT_MAX];
    size_t n;  // texts that the check must say
    char expects[CUT_EXPECTS_MAX][CUT_TEXT_MAX];
};

// The cut of a marked source, to be freed; bug is the name of one, or NULL. NULL, with one line in error that names the
// line of the source, where its marks are not in order or it has no such bug.
char *cut_text(const char *source, enum cut kind, const char *bug, char error[CUT_ERROR_MAX]);

// The bugs of a source that cut_text takes; how many there are.
size_t cut_bugs(const char *source, struct cut_bug bugs[CUT_BUGS_MAX]);
