// A kernel of a cubin, the ELF file that ptxas writes: its machine code, its resources, and the source line of each
// instruction.
#pragma once

#include "sass.h"

#define CUBIN_PARAMS 64

struct cubin {
    struct sass *code;
    uint32_t n;           // instructions
    int cc;               // compute capability: 90
    unsigned registers;   // of a thread
    unsigned shared;      // bytes of a block that the kernel declares
    unsigned frame;       // bytes of local memory of a thread
    unsigned param_base;  // where the parameters begin in constant bank 0
    unsigned param_bytes;
    struct cubin_param {  // a parameter: where it begins behind param_base; of a tensor map ptxas may leave a gap
                          // before
        uint16_t at, bytes;
    } params[CUBIN_PARAMS];
    uint32_t n_params;
    char **files;  // names of source files, by number; files[0] is NULL
    uint32_t n_files;
    uint16_t *file;  // by instruction: number in files, 0 unknown
};

// Reads kernel from the cubin data[bytes]. NULL, with one line in error[200], where it is not there.
struct cubin *cubin_read(const unsigned char *data, size_t bytes, const char *kernel, char error[200]);
void cubin_free(struct cubin *c);  // NULL is allowed

// The bytes of the kernel's machine code, which begins at data[*at]; 0, with one line in error, where it is not there.
size_t cubin_find_code(const unsigned char *data, size_t bytes, const char *kernel, size_t *at, char error[200]);

// cubin_line.c: fills in the lines of c's code from the section .debug_line. Does nothing where it is not understood.
// place: of the kernel's symbol among the relocations, by their number.
void cubin_read_lines(struct cubin *c, const unsigned char *lines, size_t bytes, size_t sequence);
