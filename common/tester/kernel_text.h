// Which lines of a kernel's source set and move what every kernel of the course has: told by the names, which are the
// same throughout (row, col, brow, bcol, A, B, M, N). For what the line information cannot tell, as an index is no
// instruction.
#pragma once

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

// The lines that make what the statement around line `use` has: those that set a name in it, by =, += or ^= or as a
// loop's counter, the nearest first, and the if before it. Returns how many, at most KERNEL_MAKERS.
enum { KERNEL_MAKERS = 24 };
unsigned kernel_text_makers(const char *file, unsigned use, unsigned lines[KERNEL_MAKERS]);

// The same of the names in the index of the first matrix that the statement has: As[..][..], A[..].
unsigned kernel_text_index_makers(const char *file, unsigned use, unsigned lines[KERNEL_MAKERS]);

// The same of the names in the row or the column of C that the statement stores: store(C, M, N, row, column, ...), or
// C[row * N + column].
unsigned kernel_text_place_makers(const char *file, unsigned use, bool column, unsigned lines[KERNEL_MAKERS]);

// The variables that the statement around line `use` has and that are declared without a value. Returns how many.
enum { KERNEL_UNSET = 4 };
struct kernel_unset {
    char name[64];
    unsigned declared;
    unsigned set;   // where it gets one, by = or as the first argument of a call; 0: nowhere
    unsigned loop;  // around that line, over its index; 0: none
};
unsigned kernel_text_unset(const char *file, unsigned use, struct kernel_unset out[KERNEL_UNSET]);

// Lines of a kernel, each of them once.
enum { KERNEL_CHAIN = 256 };
struct kernel_chain {
    unsigned line[KERNEL_CHAIN], n;
};
void kernel_chain_add(struct kernel_chain *c, unsigned line);  // 0: none
// And those that set or declare what they have, and so on, three steps back.
void kernel_chain_follow(struct kernel_chain *c, const char *file);

// The first line that calls the function that line `of` is the body of; 0: none.
unsigned kernel_text_call(const char *file, unsigned of);

// The name of the lambda that the line is in; false: it is in none.
enum { KERNEL_NAME = 64 };
bool kernel_text_lambda(const char *file, unsigned line, char name[KERNEL_NAME]);

// All lines that call it, at most KERNEL_MAKERS; how many there are.
unsigned kernel_text_calls(const char *file, unsigned line, unsigned calls[KERNEL_MAKERS]);

// Whether the line declares a whole number of fewer bits than an int has, its name and type; a bool that says whether
// something holds is none.
bool kernel_text_narrow(const char *file, unsigned line, char name[KERNEL_NAME], char type[KERNEL_NAME]);

// Whether line `line` makes something of that size, M, N or K, that is no step of A or B.
bool kernel_text_is_limit(const char *file, unsigned line, const char *size);

// The if whose statement the line begins; 0: none.
unsigned kernel_text_condition(const char *file, unsigned line);

// The first if that compares an index with M or N and returns: threads past an edge of C take no part in what follows.
// 0: there is none.
unsigned kernel_text_early_return(const char *file);

// The line that makes wgmma's descriptor of that matrix's tile, As or Bs; 0: none.
unsigned kernel_text_descriptor(const char *file, char matrix);

// Where the pointer to shared memory begins that stands on the line before a [: Cs of Cs[i]; 0: none does.
unsigned kernel_text_pointer(const char *file, unsigned line);

// Where the name is set first, as a pointer's or any other; 0: nowhere.
unsigned kernel_text_defines(const char *file, const char *name);

// Whether an index on this line of the file, or on the next if the statement goes on, is a number.
bool kernel_text_has_constant_index(const char *file, unsigned line);
