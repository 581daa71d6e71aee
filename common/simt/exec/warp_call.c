// printf and assert in a kernel: what nvcc's calls of vprintf and __assertfail do. Source: CUDA C++ Programming Guide,
// formatted output and assertion; PTX Interoperability, system calls.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "simt/code/access.h"
#include "warp_fn.h"
#include "simt/code/warp_op.h"

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
    FILE *out;
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

struct conversion {  // "%-08.3": flags, width and precision; the letter is appended to print with it
    char spec[48];
    size_t n;
    bool wide;  // of 8 bytes: an l, j, z or t before the letter
};

// Reads what stands between the '%' and the letter, and moves *f to the letter.
static void read_conversion(struct reader *r, const char **f, struct conversion *c)
{
    *c = (struct conversion){ .spec = "%", .n = 1 };
    for (; **f && strchr("-+ #0", **f); ++*f)
        if (c->n < 8)
            c->spec[c->n++] = **f;
    c->n = field(r, f, c->spec, c->n);
    if (**f == '.') {
        const size_t point = c->n;
        c->spec[c->n++] = *(*f)++;
        c->n = field(r, f, c->spec, c->n);
        if (c->n > point + 1 && c->spec[point + 1] == '-')  // a negative precision is none
            c->n = point;
    }
    for (; **f && strchr("hljztL", **f); ++*f)
        c->wide |= **f != 'h';
}

static void print_integer(struct reader *r, struct conversion *c, char letter)
{
    uint64_t v = take(r, c->wide ? 8 : 4);
    if (!c->wide && (letter == 'd' || letter == 'i'))
        v = (uint64_t)(int32_t)v;
    snprintf(c->spec + c->n, sizeof c->spec - c->n, "ll%c", letter);
    fprintf(r->out, c->spec, (long long)v);
}

static void print_real(struct reader *r, struct conversion *c, char letter)
{
    const uint64_t bits = take(r, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    snprintf(c->spec + c->n, sizeof c->spec - c->n, "%c", letter);
    fprintf(r->out, c->spec, v);
}

static void print_text(struct reader *r, struct conversion *c)
{
    char text[1024];
    r->failed |= !read_string(r->w, r->lane, take(r, 8), text, sizeof text);
    snprintf(c->spec + c->n, sizeof c->spec - c->n, "s");
    fprintf(r->out, c->spec, text);
}

// One conversion, from after its '%': prints it and returns where the format goes on.
static const char *convert(struct reader *r, const char *f)
{
    struct conversion c;
    read_conversion(r, &f, &c);
    if (*f && strchr("diuoxX", *f)) {
        print_integer(r, &c, *f);
    } else if (*f && strchr("eEfFgGaA", *f)) {
        print_real(r, &c, *f);
    } else if (*f == 's') {
        print_text(r, &c);
    } else if (*f == 'c') {
        snprintf(c.spec + c.n, sizeof c.spec - c.n, "c");
        fprintf(r->out, c.spec, (int)take(r, 4));
    } else if (*f == 'p') {
        fprintf(r->out, "%#llx", (unsigned long long)take(r, 8));
    } else {
        fputc('%', r->out);
        return *f == '%' ? f + 1 : f;
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
        struct reader r = { w, w->block->worker->grid->out, lane, argument(w, lane, call->argument[1], 8), 0, false };
        r.failed = !read_string(w, lane, argument(w, lane, call->argument[0], 8), format, sizeof format);
        for (const char *f = format; *f && !r.failed;) {
            if (*f == '%')
                f = convert(&r, f + 1);
            else
                fputc(*f++, r.out);
        }
        if (r.failed) {
            warp_fault(w, u, FAULT_REFUSED, 1u << lane, 0);
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
    warp_fault(w, u, FAULT_ASSERTION, active, 0);
    snprintf(w->block->worker->fault.text, sizeof w->block->worker->fault.text, "%s", what);
    return false;
}
