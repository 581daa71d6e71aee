// Lines of source files, to be shown beside what happened there.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The text of a line of a file without the blanks around it, cut to room bytes; empty if it cannot be read.
void source_text(const char *file, unsigned line, char *text, size_t room);

// The first line of the statement that a line of a C or CUDA file belongs to, as its layout suggests: the lines before
// it that end in none of ; { } : are part of it. The line itself where it begins one; at most 4 lines up.
unsigned source_statement(const char *file, unsigned line);

const char *source_base_name(const char *path);  // the part after the last slash

bool source_is_header(const char *path);  // by its ending: .h, .hpp, .cuh and the like
