// Where in the program a call stands. The return addresses on the stack become lines by addr2line, which comes with the
// linker that made the program; without it, or without line numbers in the program, less is said. Of a library without
// line numbers the line is told where the program calls it.
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/program.h"
#include "base/source.h"
#include "cudart.h"

static void *object_of(void *address)
{
    Dl_info d;
    return dladdr(address, &d) ? d.dli_fbase : NULL;
}

// Whether the address is in this library, or in one of the same folder.
static bool is_own(void *address)
{
    Dl_info d, own;
    if (!dladdr(address, &d) || !dladdr((void *)cudart_frames, &own))
        return false;
    const char *slash = strrchr(own.dli_fname, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - own.dli_fname) : 0;
    return d.dli_fbase == own.dli_fbase ||
           (folder && !strncmp(d.dli_fname, own.dli_fname, folder) && !strchr(d.dli_fname + folder, '/'));
}

enum { STACK = 64, STACKS = 64 };

struct stack {
    void *all[STACK];
    int n;
    struct cudart_frames frames;  // of the libraries between this one and the program, and of the program itself
};

static void find_frames(struct stack *s)
{
    const void *program = object_of((void *)getauxval(AT_ENTRY));
    struct cudart_frames *f = &s->frames;
    int first = 0;
    bool came = false;
    while (first < s->n && is_own(s->all[first]))
        first++;
    *f = (struct cudart_frames){ 0 };
    for (int i = first; i < s->n && f->n < CUDART_FRAMES; i++) {
        const bool is_program = object_of(s->all[i]) == program;
        if (came && !is_program)
            break;
        came = is_program;
        f->at[f->n++] = s->all[i];
    }
}

// A program calls from few places many times, and to ask for the object of an address takes long.
void cudart_frames(struct cudart_frames *f)
{
    static struct stack known[STACKS];
    struct stack here = { .n = backtrace(here.all, STACK) };
    uint64_t hash = 0;
    for (int i = 0; i < here.n; i++)
        hash = hash * 31 + (uintptr_t)here.all[i];
    cudart_lock();
    struct stack *k = &known[hash % STACKS];
    if (k->n != here.n || memcmp(k->all, here.all, (size_t)here.n * sizeof *here.all)) {
        find_frames(&here);
        *k = here;
    }
    *f = k->frames;
    cudart_unlock();
}

bool cudart_same_frames(const struct cudart_frames *a, const struct cudart_frames *b)
{
    return a->n == b->n && !memcmp(a->at, b->at, a->n * sizeof *a->at);
}

// --- What addr2line says: two lines for each function that the address is in, the innermost first ---

// The name of a function without its namespaces, arguments and the type that it returns, as the program may spell it:
// "add" of void ns::add<float>(float*, int).
static size_t base_name(const char *name, const char **begin)
{
    size_t end = strncmp(name, "(anonymous", 10) ? strcspn(name, "(<\n") : strlen(name);
    *begin = name;
    for (size_t i = 0; i < end; i++)
        if (name[i] == ' ' || name[i] == ':')
            *begin = name + i + 1;
    return (size_t)(name + end - *begin);
}

static bool same_base(const char *a, const char *b)
{
    const char *x, *y;
    const size_t n = base_name(a, &x), m = base_name(b, &y);
    return n && n == m && !memcmp(x, y, n);
}

// What nvcc puts between a launch and the runtime.
static bool is_stub(const char *function, const char *file)
{
    return strstr(function, "device_stub_") || strstr(function, "udaLaunchKernel") || strstr(file, ".stub.c:");
}

// The headers of the toolkit and of the system: CUB and thrust, and the library of C++.
static bool is_header(const char *file)
{
    return strstr(file, "/include/cccl/") || strstr(file, "/include/crt/") || strstr(file, "/include/cuda") ||
           !strncmp(file, "/usr/include/", 13);
}

static bool has_line(const char *place)
{
    const char *colon = strrchr(place, ':');
    return colon && colon[1] > '0' && colon[1] <= '9';
}

static void write_place(char *out, size_t size, const char *function, const char *file)
{
    const char *colon = strrchr(file, ':');
    if (file[0] != '?' && has_line(file))
        snprintf(out, size, "%.*s:%d", (int)(colon - source_base_name(file)), source_base_name(file), atoi(colon + 1));
    else if (function[0] != '?')
        snprintf(out, size, "%s", function);
}

static void find_place(char *said, const char *kernel, char *out, size_t size)
{
    char *rest, *function = strtok_r(said, "\n", &rest), *file = strtok_r(NULL, "\n", &rest);
    bool behind_stub = false;
    for (; file; function = strtok_r(NULL, "\n", &rest), file = strtok_r(NULL, "\n", &rest)) {
        if (is_stub(function, file)) {
            behind_stub = true;
        } else if (behind_stub && kernel && same_base(function, kernel)) {
            behind_stub = false;  // the kernel's own name on the host
        } else if (!is_header(file)) {
            write_place(out, size, function, file);
            return;
        }
    }
}

// Of the frames from first up to end, which are of one object.
static void ask_object(const struct cudart_frames *f, unsigned first, unsigned end, const char *kernel, char *out,
                       size_t size)
{
    Dl_info d;
    char numbers[CUDART_FRAMES][24], self[32], *said = NULL;
    char *argv[7 + CUDART_FRAMES] = { (char *)"addr2line", (char *)"-C", (char *)"-f", (char *)"-i", (char *)"-e" };
    size_t n = 5;
    int status;
    if (!dladdr(f->at[first], &d))
        return;
    snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());  // of a program found along the PATH
    argv[n++] = strchr(d.dli_fname, '/') ? (char *)d.dli_fname : self;
    const bool fixed = ((const Elf64_Ehdr *)d.dli_fbase)->e_type == ET_EXEC;
    const uintptr_t base = fixed ? 0 : (uintptr_t)d.dli_fbase;
    for (unsigned i = first; i < end; i++) {  // a return address is that of the next instruction
        snprintf(numbers[i], sizeof numbers[i], "0x%zx", (size_t)((uintptr_t)f->at[i] - base - 1));
        argv[n++] = numbers[i];
    }
    if (program_run(argv, &said, &status) && !status)
        find_place(said, kernel, out, size);
    free(said);
}

static void ask(const struct cudart_frames *f, const char *kernel, char *out, size_t size)
{
    for (unsigned i = 0, end; i < f->n && !has_line(out); i = end) {
        char place[256] = "";
        for (end = i + 1; end < f->n && object_of(f->at[end]) == object_of(f->at[i]); end++)
            ;
        ask_object(f, i, end, kernel, place, sizeof place);
        if (!*out)
            snprintf(out, size, "%s", place);
        else if (has_line(place))
            snprintf(out + strlen(out), size - strlen(out), ", called at %s", place);
    }
}

// --- Places that were asked for before ---

struct known {
    struct known *next;
    struct cudart_frames frames;
    char place[512];
};

const char *cudart_place(const struct cudart_frames *f, const char *kernel)
{
    static struct known *all;
    cudart_lock();
    struct known *k = all;
    while (k && !cudart_same_frames(&k->frames, f))
        k = k->next;
    if (!k && (k = calloc(1, sizeof *k))) {
        k->frames = *f;
        ask(f, kernel, k->place, sizeof k->place);
        k->next = all;
        all = k;
    }
    cudart_unlock();
    return k ? k->place : "";
}

const char *cudart_place_here(const char *kernel)
{
    struct cudart_frames f;
    cudart_frames(&f);
    return cudart_place(&f, kernel);
}
