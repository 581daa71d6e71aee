// The course's own text of one of its files, found by git: a learner may have committed his trials, and even pushed
// them.
#pragma once

#include <stdbool.h>

struct course_text {
    char *text;      // to be freed; NULL: there is none, as where there is no git
    bool published;  // a remote has it, or it is what the copy began with
};

// What was there before the learner's first change: the text of the newest commit that a remote's default branch has
// and somebody else than the learner has made. Where all commits are the learner's, as in an unpacked archive with a
// `git init`, the text that the repository began with; and where it began without the file, that of the newest commit.
struct course_text course_text_find(const char *path);

// The newest text of the file in its history that differs from this one; NULL: there is none. To be freed. For where
// nothing was published and a wrong text is the newest one.
char *course_text_before(const char *path, const char *now);
