// What a check's questions are called, and how many points they are worth: here, and on the book's pages.
#pragma once

#include <ctype.h>
#include <stddef.h>

enum { QUESTION_MAX = 128, GRADE_POINTS = 100 };  // points of an exercise

// What a test asks, from its name: "3_there_are_two_stages" -> "there are two stages".
static inline const char *question_title(const char *name, char title[QUESTION_MAX])
{
    size_t n = 0;
    while (isdigit((unsigned char)*name) || *name == '_')
        name++;
    for (; *name && n + 1 < QUESTION_MAX; name++)
        title[n++] = *name == '_' ? ' ' : *name;
    title[n] = '\0';
    return title;
}

// Of the questions that the stub does not pass, how many pass now, less those that it passed and that fail now.
static inline int question_points(int questions, int passed, int passed_by_stub)
{
    const int open = questions - passed_by_stub, won = passed - passed_by_stub;
    return open > 0 && won > 0 ? GRADE_POINTS * won / open : 0;
}
