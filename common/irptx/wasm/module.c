// What JavaScript calls of the translator: one function, with texts. tests/wasm/irptx_test.mjs shows how.
#include <emscripten.h>
#include <stdlib.h>

#include "irptx/irptx.h"

static char last_error[DEV_ERROR_MAX], *last_ptx;

// Why the last translation failed: "kernel.cu:12: ...".
EMSCRIPTEN_KEEPALIVE const char *irptx_wasm_error(void)
{
    return last_error;
}

// The PTX, which stays until the next call; 0: see irptx_wasm_error. root comes before the relative names of source
// files, arch is what .target says; 0: as the IR has them.
EMSCRIPTEN_KEEPALIVE const char *irptx_wasm_translate(const char *ir, const char *root, const char *arch)
{
    const struct irptx_options options = { .root = root, .arch = arch };
    free(last_ptx);
    last_ptx = irptx_translate(ir, &options, last_error);
    return last_ptx;
}
