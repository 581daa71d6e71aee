// What a program's object files register before main: a fat binary each, with PTX that is loaded when a kernel or a
// variable of it is first used, and the names of these.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cudart.h"

struct fat {  // of an object file, of all that were linked with -rdc=true, or of what the program loads by itself
    const void *wrapper;
    bool tried;
    struct cudart_ptx ptx;
    struct simt_module *module;  // NULL: not loaded
    struct scratch file;         // its PTX, once it was asked for
    struct fat *next;
};

struct name {  // of a kernel or a variable
    const void *host;
    struct fat *fat;
    const char *device;  // in the PTX
    const char *shown;   // in the source; NULL: not asked for yet
    struct simt_kernel *kernel;
    uint64_t dynamic;  // bytes of dynamic shared memory that the program has asked for; 0: it has not
    uint64_t address, bytes;
    void **managed;  // where the program keeps the address of a __managed__ variable
};

struct names {
    struct name *all;
    size_t n, room;
};

static struct names kernels, variables;

static void add(struct names *to, struct name n)
{
    if (to->n == to->room) {
        const size_t room = to->room ? 2 * to->room : 64;
        struct name *more = realloc(to->all, room * sizeof *more);
        if (!more)
            return;
        to->all = more;
        to->room = room;
    }
    to->all[to->n++] = n;
}

static struct name *find(const struct names *in, const void *host)
{
    for (size_t i = in->n; i-- > 0;)
        if (in->all[i].host == host)
            return &in->all[i];
    return NULL;
}

// --- What the program calls before main ---

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct fat *f = calloc(1, sizeof *f);
    if (f)
        f->wrapper = wrapper;
    return (void **)f;
}

void __cudaRegisterFatBinaryEnd(void **fat) {}

void __cudaUnregisterFatBinary(void **fat) {}

// A program calls it before it uses a __managed__ variable.
char __cudaInitModule(void **fat)
{
    cudart_lock();
    const cudaError_t e = cudart_place_managed();
    cudart_unlock();
    return e == cudaSuccess;
}

void __cudaRegisterFunction(void **fat, const char *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *size)
{
    add(&kernels, (struct name){ .host = host, .fat = (struct fat *)fat, .device = name });
}

void __cudaRegisterVar(void **fat, char *host, char *device, const char *name, int external, size_t bytes, int constant,
                       int global)
{
    add(&variables, (struct name){ .host = host, .fat = (struct fat *)fat, .device = name });
}

void __cudaRegisterManagedVar(void **fat, void **host, char *device, const char *name, int external, size_t bytes,
                              int constant, int global)
{
    add(&variables, (struct name){ .host = host, .fat = (struct fat *)fat, .device = name, .managed = host });
}

// --- What they hold ---

static struct simt_module *load(struct fat *f)
{
    char error[DEV_ERROR_MAX];
    if (!f || f->tried)
        return f ? f->module : NULL;
    f->tried = true;
    if (cudart_read_ptx(f->wrapper, &f->ptx, error))
        f->module = simt_load(cudart_gpu(), "program.ptx", f->ptx.text, f->ptx.bytes, error);
    if (!f->module)
        fprintf(stderr, "cudart: %s\n", error);
    return f->module;
}

static const char *shown(struct name *n)
{
    char source[SIMT_NAME_MAX];
    if (!n->shown && simt_source_name(n->device, source))
        n->shown = strdup(source);
    return n->shown ? n->shown : n->device;
}

struct simt_kernel *cudart_kernel(const void *host, const char **name)
{
    struct name *n = find(&kernels, host);
    *name = n ? shown(n) : "a kernel";
    if (!n)
        return cudart_failed(cudaErrorInvalidDeviceFunction, *name, "the program has not registered it"), NULL;
    if (!n->kernel && load(n->fat))
        n->kernel = simt_kernel(n->fat->module, n->device);
    if (!n->kernel)
        cudart_failed(cudaErrorInvalidDeviceFunction, *name, "it is not in the program's PTX");
    return n->kernel;
}

static struct fat *written;  // to files

static void remove_files(void)
{
    for (struct fat *f = written; f; f = f->next)
        scratch_close(&f->file);
}

const char *cudart_kernel_ptx(const void *host, const char **device)
{
    const struct name *n = find(&kernels, host);
    struct fat *f = n ? n->fat : NULL;
    if (!f || !f->module)
        return NULL;
    *device = n->device;
    if (!*f->file.path && scratch_open(&f->file, "program.ptx", f->ptx.text)) {
        cudart_at_end(remove_files);
        f->next = written;
        written = f;
    }
    return *f->file.path ? f->file.path : NULL;
}

const char *cudart_kernel_device_name(const void *host)
{
    const struct name *n = find(&kernels, host);
    return n ? n->device : NULL;
}

unsigned cudart_kernel_arch(const void *host)
{
    const struct name *n = find(&kernels, host);
    return n && n->fat ? n->fat->ptx.arch : 0;
}

uint64_t cudart_kernel_dynamic(const void *host)
{
    const struct name *n = find(&kernels, host);
    return n ? n->dynamic : 0;
}

void cudart_kernel_set_dynamic(const void *host, uint64_t bytes)
{
    struct name *n = find(&kernels, host);
    if (n)
        n->dynamic = bytes;
}

static bool place(struct name *n)
{
    struct simt_variable v;
    struct simt_module *m = load(n->fat);
    for (uint32_t i = 0; m && !n->address && simt_variable_at(m, i, &v); i++)
        if (strcmp(v.name, n->device) == 0) {
            n->address = v.address;
            n->bytes = v.bytes;
        }
    return n->address;
}

bool cudart_variable(const void *host, uint64_t *address, uint64_t *bytes)
{
    struct name *n = find(&variables, host);
    if (!n || (!n->address && !place(n)))
        return false;
    *address = n->address;
    *bytes = n->bytes;
    return true;
}

cudaError_t cudart_place_managed(void)
{
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; !e && i < variables.n; i++) {
        struct name *n = &variables.all[i];
        if (!n->managed || n->address)
            continue;
        if (!place(n))
            return cudart_failed(cudaErrorInvalidSymbol, n->device, "it is not in the program's PTX");
        e = cudart_memory_map(n->address, n->bytes, cudaMemoryTypeManaged);
        if (!e)
            *n->managed = (void *)n->address;
    }
    return e;
}

// --- What the program loads by itself ---

struct fat *cudart_fat_load(struct cudart_ptx *ptx, const char *name, char error[DEV_ERROR_MAX])
{
    struct fat *f = calloc(1, sizeof *f);
    if (f) {
        *f = (struct fat){ .tried = true, .ptx = *ptx };
        f->module = simt_load(cudart_gpu(), name, ptx->text, ptx->bytes, error);
    } else {
        error_set(error, "out of memory");
    }
    if (f && f->module)
        return f;
    free(ptx->text);
    free(f);
    return NULL;
}

static void forget(struct names *in, const struct fat *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < in->n; i++)
        if (in->all[i].fat != f)
            in->all[kept++] = in->all[i];
    in->n = kept;
}

void cudart_fat_unload(struct fat *f)
{
    for (size_t i = 0; i < variables.n; i++)
        if (variables.all[i].fat == f)
            cudart_memory_forget(variables.all[i].address);
    forget(&kernels, f);
    forget(&variables, f);
    simt_unload(cudart_gpu(), f->module);
    f->module = NULL;
}

const char *cudart_fat_name(struct fat *f, unsigned i)
{
    const struct simt_kernel *k = simt_kernel_at(f->module, i);
    return k ? simt_kernel_about(k).name : NULL;
}

// In place of an address of the program's, that of a copy of the name, which is never used again.
static const void *name_in(struct names *in, struct fat *f, const char *device)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->all[i].fat == f && !strcmp(in->all[i].device, device))
            return in->all[i].host;
    char *own = strdup(device);
    if (own)
        add(in, (struct name){ .host = own, .fat = f, .device = own });
    return own;
}

const void *cudart_fat_kernel(struct fat *f, const char *name)
{
    return simt_kernel(f->module, name) ? name_in(&kernels, f, name) : NULL;
}

const void *cudart_fat_variable(struct fat *f, const char *name)
{
    const void *host = name_in(&variables, f, name);
    uint64_t address, bytes;
    return host && cudart_variable(host, &address, &bytes) ? host : NULL;
}
