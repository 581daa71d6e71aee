// See slice.h.
#include "slice.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

unsigned slice_line(const struct simt_kernel *k, const char *file, uint32_t number, unsigned *call)
{
    struct simt_place place;
    unsigned line = 0, from = 0;
    for (uint32_t i = 0; simt_instruction_place(k, number, i, &place) && !from; i++)
        if (!strcmp(place.file, file) && line)
            from = place.line;
        else if (!strcmp(place.file, file))
            line = place.line;
    if (call)
        *call = from;
    return line;
}

// --- Registers in a text ---

struct name {
    const char *at;
    size_t n;
};

// The next register from *at on, before end: %r12, and no special one as %tid.x is.
static bool next_register(const char **at, const char *end, struct name *out)
{
    for (const char *p = *at; p < end; p++) {
        size_t n = 1;
        while (*p == '%' && p + n < end && (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.'))
            n++;
        if (n > 2 && isdigit((unsigned char)p[n - 1]) && !memchr(p, '.', n)) {
            *out = (struct name){ p, n };
            *at = p + n;
            return true;
        }
    }
    return false;
}

static bool has_register(const char *from, const char *end, const struct name *wanted)
{
    struct name x;
    while (next_register(&from, end, &x))
        if (x.n == wanted->n && !memcmp(x.at, wanted->at, x.n))
            return true;
    return false;
}

// The end of the first operand: what is written, if the instruction writes a register.
static const char *first_end(const struct simt_instruction *in)
{
    const char *p = in->op + in->op_bytes, *end = in->text + in->text_bytes;
    int depth = 0;
    for (; p < end && (*p != ',' || depth); p++)
        depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
    return p;
}

// Whether it computes its first operand. A load does not: what it loads is data.
static bool computes(const struct simt_instruction *in)
{
    static const char *const not [] = { "st.",   "ld.shared", "ld.global", "ldmatrix", "wmma.", "mma.",
                                        "wgmma", "cp.",       "bar",       "mbarrier", "red.",  "bra" };
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (text_begins(in->op, not [i]))
            return false;
    return true;
}

// --- Backwards ---

enum { MOST = 160 };  // registers that are looked at

struct slice {
    const struct simt_kernel *k;
    const char *file;
    struct name todo[MOST];
    unsigned n_todo, n_lines, own;
    unsigned *lines;
};

static void want(struct slice *s, const char *from, const char *end)
{
    struct name x;
    while (s->n_todo < MOST && next_register(&from, end, &x)) {
        unsigned i = 0;
        while (i < s->n_todo && (s->todo[i].n != x.n || memcmp(s->todo[i].at, x.at, x.n) != 0))
            i++;
        if (i == s->n_todo)
            s->todo[s->n_todo++] = x;
    }
}

static void add_line(struct slice *s, unsigned line)
{
    unsigned i = 0;
    while (i < s->n_lines && s->lines[i] != line)
        i++;
    if (line && line != s->own && i == s->n_lines && s->n_lines < SLICE_LINES)
        s->lines[s->n_lines++] = line;
}

// The address that the instruction has in this space: in brackets.
static void want_address(struct slice *s, const struct simt_instruction *in, enum simt_space space)
{
    const char *end = in->text + in->text_bytes, *from = NULL;
    for (const char *p = in->text; (p = memchr(p, '[', (size_t)(end - p))); p++)
        if (!from || space != SIMT_SHARED)
            from = p;
    const char *close = from ? memchr(from, ']', (size_t)(end - from)) : NULL;
    if (from)
        want(s, from, close ? close : end);
}

unsigned slice_address(const struct simt_kernel *k, const char *file, uint32_t number, enum simt_space space,
                       unsigned lines[SLICE_LINES])
{
    struct slice s = { .k = k, .file = file, .own = slice_line(k, file, number, NULL), .lines = lines };
    struct simt_instruction in;
    if (!simt_instruction(k, number, &in))
        return 0;
    want_address(&s, &in, space);
    for (unsigned done = 0; done < s.n_todo; done++)
        for (uint32_t i = 0; simt_instruction(k, i, &in); i++) {
            const char *written = first_end(&in);
            if (!computes(&in) || !has_register(in.op + in.op_bytes, written, &s.todo[done]))
                continue;
            add_line(&s, slice_line(k, file, i, NULL));
            want(&s, written, in.text + in.text_bytes);
        }
    return s.n_lines;
}

unsigned slice_register(const struct simt_kernel *k, const char *file, const char *name, unsigned lines[SLICE_LINES])
{
    struct slice s = { .k = k, .file = file, .lines = lines };
    struct simt_instruction in;
    want(&s, name, name + strlen(name));
    for (unsigned done = 0; done < s.n_todo; done++)
        for (uint32_t i = 0; simt_instruction(k, i, &in); i++) {
            const char *written = first_end(&in);
            if (text_begins(in.op, "st.") ||
                text_begins(in.op, "wmma.load") ||  // whose line may be that of another load
                !has_register(in.op + in.op_bytes, written, &s.todo[done]))
                continue;
            if (text_begins(in.op, "mov."))
                want(&s, written, in.text + in.text_bytes);
            else
                add_line(&s, slice_line(k, file, i, NULL));
        }
    return s.n_lines;
}
