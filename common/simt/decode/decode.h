// PTX instructions to executable code.
#pragma once

#include "simt/code/uop.h"

// Decodes the kernel f of m. globals[v] is the address of the module's variable v in global or const space; sm is the
// card's architecture (90), gap the bytes (a multiple of 128) to leave free after each static variable in shared memory
// at least
// (0 but for the checks, whose code follows undefined bits: code/shadow.h), arena where the code lives. Returns NULL
// with one line in error, and the place in *at, for an instruction that is unknown or makes no sense.
struct code *decode(const struct ptx_module *m, const struct ptx_func *f, const uint64_t *globals, unsigned sm,
                    uint32_t gap, struct arena *arena, char error[DEV_ERROR_MAX], const char **at);
