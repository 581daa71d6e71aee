// Where the address of an access is made: backwards from its registers to the instructions that set them, and so on.
#pragma once

#include <stdint.h>

#include "simt/simt.h"

enum { SLICE_LINES = 32 };

// The lines of the file that take part in it, the nearest first, without the access's own; returns how many. A copy has
// two addresses: that in shared memory stands first.
unsigned slice_address(const struct simt_kernel *k, const char *file, uint32_t number, enum simt_space space,
                       unsigned lines[SLICE_LINES]);

// The lines of the file that set a register, by its name in PTX: what it is copied from counts, too.
unsigned slice_register(const struct simt_kernel *k, const char *file, const char *name, unsigned lines[SLICE_LINES]);

// The line of that file where the instruction stands; for a function of another file, or of a header, its call there.
// *call, which may be NULL: where the function of the file that has this line is called from in it. 0: none.
unsigned slice_line(const struct simt_kernel *k, const char *file, uint32_t number, unsigned *call);
