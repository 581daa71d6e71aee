// See cuda.h.
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// POSIX has dlsym give functions as void *; the bytes are the function pointer's.
static bool find(void *library, const char *name, void *slot, size_t size)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, size);
    return symbol != NULL;
}

bool cuda_load(struct cuda *c, char *error, size_t size)
{
    *c = (struct cuda){ .library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) };
    if (!c->library) {
        const char *why = dlerror();
        snprintf(error, size, "no GPU: the NVIDIA driver's library cannot be loaded (%s)", why ? why : "libcuda.so.1");
        return false;
    }
    const char *missing = NULL;
#define X(field, name, parameters)                                                                                     \
    if (!find(c->library, #name, &c->field, sizeof c->field))                                                          \
        missing = #name;
    CUDA_FUNCTIONS(X)
#undef X
#define X(field, name, parameters) (void)find(c->library, #name, &c->field, sizeof c->field);
    CUDA_OPTIONAL(X)
#undef X
    if (missing) {
        snprintf(error, size, "no GPU: libcuda.so.1 has no %s; the NVIDIA driver is too old (11.1 or newer)", missing);
        dlclose(c->library);
        c->library = NULL;
        return false;
    }
    return true;
}

void cuda_describe(const struct cuda *c, const char *call, cu_result r, char *out, size_t size)
{
    const char *name = NULL, *text = NULL;
    if (c->error_name(r, &name) || !name)
        name = "unknown error";
    if (c->error_text(r, &text) || !text)
        text = "no description";
    snprintf(out, size, "%s: %s (%s)", call, name, text);
}
