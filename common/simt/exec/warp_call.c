// printf and assert in a kernel: what nvcc's calls of vprintf and __assertfail do. Source: CUDA C++ Programming Guide,
// formatted output and assertion; PTX Interoperability, system calls.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "simt/code/access.h"
#include "simt/code/warp.h"

#define FIELD_MAX 1000  // a conversion's width and precision

// A call's argument: the bytes at that offset of the thread's local memory.
static uint64_t argument(const struct warp *w, uint32_t lane, uint32_t offset, uint32_t bytes)
{
    uint64_t thread = (uint64_t)w->index * LANES + lane, v = 0;
    const struct worker *worker = w->block->worker;
    memcpy(&v, worker->local + thread * worker->grid->code->local_bytes + offset, bytes);
    return v;
}

// What printf returns: the number of its values.
static void give_back(const struct warp *w, uint32_t lane, const struct call *call, uint32_t n)
{
    const uint64_t thread = (uint64_t)w->index * LANES + lane;
    const struct worker *worker = w->block->worker;
    if (call->result_bytes)
        memcpy(worker->local + thread * worker->grid->code->local_bytes + call->result, &n, sizeof n);
}

// Copies a string from the kernel's memory; false where it leaves its allocation.
static bool read_string(const struct warp *w, uint32_t lane, uint64_t address, char *out, size_t room)
{
    for (size_t n = 0; n + 1 < room; n++) {
        enum ptx_space space = SPACE_GENERIC;
        const unsigned char *p = access_place(w, lane, &space, address + n, 1);
        out[n] = p ? (char)*p : '\0';
        out[n + 1] = '\0';
        if (!p || !*p)
            return p != NULL;
    }
    return true;
}

struct reader {  // the values of a printf, one after the other, each aligned to its size
    const struct warp *w;
    uint32_t lane;
    uint64_t at;
    uint32_t n;  // how many it has taken
    bool failed;
};

static uint64_t take(struct reader *r, uint32_t bytes)
{
    enum ptx_space space = SPACE_GENERIC;
    uint64_t v = 0;
    r->at = (r->at + bytes - 1) / bytes * bytes;
    const unsigned char *p = access_place(r->w, r->lane, &space, r->at, bytes);
    r->failed |= !p;
    if (p)
        memcpy(&v, p, bytes);
    r->at += bytes;
    r->n++;
    return v;
}

// Appends a width or precision to the specification, digits or '*', and moves *f past it.
static size_t field(struct reader *r, const char **f, char *spec, size_t n)
{
    long v = 0;
    if (**f == '*') {
        v = (int32_t)take(r, 4);
        ++*f;
    } else if (isdigit((unsigned char)**f)) {
        for (; isdigit((unsigned char)**f); ++*f)
            v = v < FIELD_MAX ? 10 * v + (**f - '0') : v;
    } else {
        return n;
    }
    v = v > FIELD_MAX ? FIELD_MAX : v < -FIELD_MAX ? -FIELD_MAX : v;
    return n + (size_t)sprintf(spec + n, "%ld", v);
}

// One conversion, from after its '%': prints it and returns where the format goes on.
static const char *convert(struct reader *r, const char *f)
{
    char spec[48] = "%", text[1024];
    size_t n = 1;
    unsigned longs = 0;
    for (; *f && strchr("-+ #0", *f); f++)
        if (n < 8)
            spec[n++] = *f;
    n = field(r, &f, spec, n);
    if (*f == '.') {
        size_t point = n;
        spec[n++] = *f++;
        n = field(r, &f, spec, n);
        if (n > point + 1 && spec[point + 1] == '-')  // a negative precision is none
            n = point;
    }
    for (; *f && strchr("hljztL", *f); f++)
        longs += *f == 'h' ? 0 : 1;
    switch (*f) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        snprintf(spec + n, sizeof spec - n, "ll%c", *f);
        uint64_t v = take(r, longs ? 8 : 4);
        if (!longs && (*f == 'd' || *f == 'i'))
            v = (uint64_t)(int32_t)v;
        printf(spec, (long long)v);
        break;
    }
    case 'c':
        snprintf(spec + n, sizeof spec - n, "c");
        printf(spec, (int)take(r, 4));
        break;
    case 'p':
        printf("%#llx", (unsigned long long)take(r, 8));
        break;
    case 's':
        snprintf(spec + n, sizeof spec - n, "s");
        r->failed |= !read_string(r->w, r->lane, take(r, 8), text, sizeof text);
        printf(spec, text);
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        uint64_t bits = take(r, 8);
        double v;
        memcpy(&v, &bits, sizeof v);
        snprintf(spec + n, sizeof spec - n, "%c", *f);
        printf(spec, v);
        break;
    }
    case '%':
        putchar('%');
        break;
    default:
        putchar('%');
        return f;
    }
    return f + 1;
}

bool warp_printf(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct call *call = u->warp->more;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        char format[1024];
        if (!(active >> lane & 1))
            continue;
        struct reader r = { w, lane, argument(w, lane, call->argument[1], 8), 0, false };
        r.failed = !read_string(w, lane, argument(w, lane, call->argument[0], 8), format, sizeof format);
        for (const char *f = format; *f && !r.failed;) {
            if (*f == '%')
                f = convert(&r, f + 1);
            else
                putchar(*f++);
        }
        if (r.failed) {
            warp_fault(w, u, FAULT_OTHER, 1u << lane, 0);
            snprintf(w->block->worker->fault.text, sizeof w->block->worker->fault.text,
                     "a printf whose arguments do not fit its format, or are no memory of the kernel");
            return false;
        }
        give_back(w, lane, call, r.n);
    }
    return true;
}

bool warp_assert(struct warp *w, const struct uop *u, uint32_t active)
{
    const struct call *call = u->warp->more;
    const uint32_t lane = (uint32_t)__builtin_ctz(active);
    char what[160] = "";
    read_string(w, lane, argument(w, lane, call->argument[0], 8), what, sizeof what);
    warp_fault(w, u, FAULT_ASSERT, active, 0);
    snprintf(w->block->worker->fault.text, sizeof w->block->worker->fault.text, "assertion '%s' failed", what);
    return false;
}
