// Where an exercise stands: its kernel.cu against its stub, and the file .progress, which git ignores.
//
// .progress is lines of text, added at the end; a later line of the same kind counts:
//     05_float4 done 8c1f0a6e2b9d4477 2026-11-22      this kernel.cu (its FNV-1a hash) passed its check
//     05_float4 hint 2                                that many hints were asked for
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { STATE_PATH_MAX = 4096 };
enum state { STATE_NOT_STARTED, STATE_STARTED, STATE_DONE, STATE_MISSING };  // missing: there is no kernel.cu

// The path of a file of an exercise, or of the folder of all with name "". That folder is the course's own, or what the
// environment has as EXERCISES.
const char *state_path(const char *name, const char *file, char path[STATE_PATH_MAX]);

// The stub (or the solution) of an exercise, to be freed, from its source.cu, or else from that of the course. NULL,
// with one line in error, where neither is there.
char *state_stub(const char *name, char *error, size_t room);
char *state_solution(const char *name, char *error, size_t room);

// What TASK.md is called in its first line, without the number: "# 05 Four floats at a time". If the
// exercise has none, what the course's is called; empty if there is none, either.
enum { STATE_TITLE_MAX = 128 };
const char *state_title(const char *name, char title[STATE_TITLE_MAX]);

enum state state_of(const char *name);
int state_hints(const char *name);  // how many were asked for

// Each adds a line to .progress; false where that cannot be written.
bool state_passed(const char *name);
bool state_hinted(const char *name, int hints);
