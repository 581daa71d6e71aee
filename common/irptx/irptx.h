// From the LLVM IR of a CUDA kernel to PTX: what clang leaves to a back end. The IR is text, as clang 22 prints it for
// nvptx64-nvidia-cuda, optimised; the PTX has the lines of the source as nvcc's has them (.loc, inlined calls
// included).
//
// The way: parse.h (text to a typed IR, ir.h), select.h (instructions of PTX in SSA form, code.h), then passes over
// them (passes.h), and print.h. What is not known is refused by its name and by the line of the source.
#pragma once

#include "base/error.h"

struct irptx_options {
    const char *root;  // comes before the name of a source file that is relative; NULL: nothing does
    const char *arch;  // what .target says, such as "sm_90a"; NULL: the one that the IR was made for
};

// The PTX, ended by a NUL, which the caller frees. NULL when something is not known, or memory runs out: error has one
// line, which begins with the file and the line of the source ("kernel.cu:12: ") where they are known.
char *irptx_translate(const char *ir, const struct irptx_options *options, char error[DEV_ERROR_MAX]);
