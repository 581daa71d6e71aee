// Which lines of a kernel's source do what: they load A, put it into a shared tile, read the tile, multiply, store C.
// From the line information in the PTX. Whose tile a line reads, that of A or of B, is told by the names on it.
#pragma once

#include <stdbool.h>

#include "line_role.h"

struct profile;
struct simt_kernel;

struct kernel_lines {
    char file[1024];            // the kernel's source, as the PTX names it; empty if it does not
    unsigned line[LINE_ROLES];  // the line with most such instructions; 0: none is known
    bool products;              // it has wgmma
    bool swizzled;              // it has indices with ^
};

// Reads the kernel of that name in the PTX file. Without line information, or where it cannot be read, no line is
// known. ran: the profile of a run, whose lines alone count; NULL: all of them do.
void kernel_lines_read(struct kernel_lines *l, const char *ptx, const char *kernel, const struct profile *ran);

// The source of the kernel's own body, that of the first instruction's outermost place; NULL: the PTX names none.
const char *kernel_lines_file(const struct simt_kernel *k);
