// Which lines of a kernel's source set and move what every kernel of the course has: told by the names, which are the
// same throughout (row, col, brow, bcol, A, B, M, N). For what the line information cannot tell, as an index is no
// instruction.
#ifndef COMMON_KERNEL_TEXT_H
#define COMMON_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "line_role.h"

// Fills in the roles from LINE_ROW on that stand on a line of the file.
void kernel_text_read(const char *file, unsigned line[LINE_ROLES]);

// The first line behind `from` that sets, by =, += or ^= and as no loop's head, a name that line `use` has; if there is
// none, the last line before it. 0: none does.
unsigned kernel_text_sets(const char *file, unsigned use, unsigned from);

// The line that declares the __shared__ array which line `use` names first, and its name. 0: it names none, or first a
// pointer, or an array whose size the launch tells.
unsigned kernel_text_shared(const char *file, unsigned use, char *name, size_t size);

// The heads of the for loops around a line, the innermost first; how many there are, at most KERNEL_LOOPS.
enum { KERNEL_LOOPS = 8 };
unsigned kernel_text_loops(const char *file, unsigned line, unsigned heads[KERNEL_LOOPS]);

// The innermost of them whose counter line `use` has, where it is not its own head; 0: there is none.
unsigned kernel_text_loop(const char *file, unsigned use);

// Whether line `line` sets such a name.
bool kernel_text_sets_for(const char *file, unsigned line, unsigned use);

// The first line of the file that changes such a name, and does not define it. 0: none does.
unsigned kernel_text_changes(const char *file, unsigned use);

// Whether an index on this line of the file, or on the next if the statement goes on, is a number.
bool kernel_text_has_constant_index(const char *file, unsigned line);

#endif
