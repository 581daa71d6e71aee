// irptx: LLVM IR of a CUDA kernel to PTX.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "irptx/irptx.h"

struct ask {
    struct irptx_options options;
};
#define AT(field) OPTION_AT(struct ask, options.field)
static const struct option_row rows[] = {
    { "arch", "SM", "what .target says, such as sm_90a (default: what the IR was made for)", AT(arch) },
    { "root", "FOLDER", "the folder that relative names of source files begin in", AT(root) },
    { 0 },
};
static const struct options table = {
    .program = "irptx",
    .usage = "[OPTION]... IN.ll OUT.ptx\n\n"
             "Makes PTX of the LLVM IR of a CUDA kernel, as clang 22 prints it for nvptx64-nvidia-cuda.",
    .rows = rows,
    .least = 2,
    .most = 2,
    .needs = "the IR and where the PTX goes",
};

int main(int argc, char **argv)
{
    struct ask a = { 0 };
    int status;
    if (!options_begin(&table, &a, &argc, &argv, &status))
        return status;
    char error[DEV_ERROR_MAX] = "";
    char *ir = file_read(argv[0]), *ptx = NULL;
    if (!ir)
        error_set(error, "%s: %s", argv[0], strerror(errno));
    else if ((ptx = irptx_translate(ir, &a.options, error)) && !file_write(argv[1], ptx))
        error_set(error, "%s: %s", argv[1], strerror(errno));
    if (error[0])
        fprintf(stderr, "irptx: %s\n", error);
    free(ir);
    free(ptx);
    return error[0] != 0;
}
