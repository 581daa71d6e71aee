// Which lines of a kernel's source do what: they load A, put it into a shared tile, read the tile, multiply, store C.
// From the line information in the PTX. Whose tile a line reads, that of A or of B, is told by the names on it.
#ifndef COMMON_KERNEL_LINES_H
#define COMMON_KERNEL_LINES_H

#include <stdbool.h>

enum line_role {
    LINE_LOAD_A,  // from global memory
    LINE_LOAD_B,
    LINE_WRITE_A,  // to shared memory
    LINE_WRITE_B,
    LINE_READ_A,  // from shared memory, or into the fragments that are multiplied
    LINE_READ_B,
    LINE_WRITE_C,  // results on their way through shared memory
    LINE_READ_C,
    LINE_MULTIPLY,
    LINE_STORE_C,
    LINE_STORE_BOX,  // the same by TMA
    LINE_ROLES
};

struct kernel_lines {
    char file[1024];            // the kernel's source, as the PTX names it; empty if it does not
    unsigned line[LINE_ROLES];  // the line with most such instructions; 0: none is known
    bool products;              // it has wgmma
};

// Reads the PTX file. Without line information, or where it cannot be read, no line is known.
void kernel_lines_read(struct kernel_lines *l, const char *ptx);

#endif
