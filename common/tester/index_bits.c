// See index_bits.h. What registers hold is followed forwards through the PTX, again and again until nothing new is
// found.
#include "index_bits.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "simt/simt.h"
#include "slice.h"

enum { SIZE = 1, BLOCK = 2, FEW = 4 };  // a parameter; from the block's index; a product with too few bits

enum { REGISTERS = 1 << 17, OPERANDS = 5, PASSES = 8 };

struct bits {
    unsigned char narrow[REGISTERS], wide[REGISTERS];  // of %r and %rd, by their numbers
    bool changed;
};

struct operand {
    unsigned char *holds;  // NULL: it is none of these registers
    bool wide;
};

static struct operand read_operand(struct bits *b, const char *p, const char *end)
{
    struct operand o = { .holds = NULL };
    while (p < end && (*p == ' ' || *p == '\t' || *p == '['))
        p++;
    if (end - p < 3 || p[0] != '%' || p[1] != 'r')
        return o;
    o.wide = p[2] == 'd';
    p += o.wide ? 3 : 2;
    unsigned long number = 0;
    const char *digits = p;
    for (; p < end && isdigit((unsigned char)*p) && number < REGISTERS; p++)
        number = number * 10 + (unsigned long)(*p - '0');
    if (p > digits && number < REGISTERS)
        o.holds = &(o.wide ? b->wide : b->narrow)[number];
    return o;
}

static unsigned read_operands(struct bits *b, const struct simt_instruction *in, struct operand out[OPERANDS])
{
    const char *end = in->text + in->text_bytes;
    unsigned n = 0;
    for (const char *p = in->op + in->op_bytes; p < end && n < OPERANDS; p++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        comma = comma ? comma : end;
        out[n++] = read_operand(b, p, comma);
        p = comma;
    }
    return n;
}

static void add(struct bits *b, const struct operand *to, unsigned what)
{
    if (to->holds && (*to->holds | what) != *to->holds) {
        *to->holds = (unsigned char)(*to->holds | what);
        b->changed = true;
    }
}

static unsigned holds(const struct operand *o)
{
    return o->holds ? *o->holds : 0;
}

static bool is_one_of(const struct simt_instruction *in, const char *const *ops)
{
    for (; *ops; ops++)
        if (text_begins(in->op, *ops))
            return true;
    return false;
}

static bool has(const struct simt_instruction *in, const char *text)
{
    const size_t n = strlen(text);
    for (const char *p = in->text; p + n <= in->text + in->text_bytes; p++)
        if (!memcmp(p, text, n))
            return true;
    return false;
}

// Whether it multiplies, in 32 bits, a parameter by what comes from the block's index.
static bool is_product(const struct simt_instruction *in, const struct operand *o, unsigned n)
{
    static const char *const products[] = { "mul.lo.s32", "mul.lo.u32", "mad.lo.s32", "mad.lo.u32", NULL };
    return n >= 3 && is_one_of(in, products) &&
           ((holds(&o[1]) & SIZE && holds(&o[2]) & BLOCK) || (holds(&o[1]) & BLOCK && holds(&o[2]) & SIZE));
}

// What an instruction makes of it.
static void follow(struct bits *b, const struct simt_instruction *in)
{
    static const char *const sums[] = { "add.", "sub.", "mad.", "mul.", "shl.",  "mov.", "min.",
                                        "max.", "selp", "or.",  "cvt.", "cvta.", NULL };
    struct operand o[OPERANDS];
    const unsigned n = read_operands(b, in, o);
    unsigned all = 0;
    for (unsigned i = 1; i < n; i++)
        all |= holds(&o[i]);
    if (!n || !o[0].holds)
        return;
    if (text_begins(in->op, "ld.param.u32") || text_begins(in->op, "ld.param.s32") ||
        text_begins(in->op, "ld.param.b32"))
        add(b, &o[0], SIZE);
    else if (text_begins(in->op, "mov.") && has(in, "%ctaid."))
        add(b, &o[0], BLOCK);
    else if (is_product(in, o, n))
        add(b, &o[0], FEW | BLOCK);
    else if (is_one_of(in, sums))
        add(b, &o[0], all & (text_begins(in->op, "mov.") ? SIZE | BLOCK | FEW : o[0].wide ? FEW : BLOCK | FEW));
}

static bool reaches_memory(struct bits *b, const struct simt_instruction *in)
{
    const char *open = memchr(in->text, '[', in->text_bytes), *end = in->text + in->text_bytes;
    for (; open && has(in, ".global"); open = memchr(open + 1, '[', (size_t)(end - open - 1))) {
        const struct operand o = read_operand(b, open, end);
        if (o.wide && holds(&o) & FEW)
            return true;
    }
    return false;
}

// All of the kernel's, to be freed; NULL: there is no memory.
static struct simt_instruction *read_all(const struct simt_kernel *k, uint32_t *n)
{
    *n = simt_kernel_about(k).instructions;
    struct simt_instruction *all = malloc((*n + 1) * sizeof *all);
    for (uint32_t i = 0; all && i < *n; i++)
        simt_instruction(k, i, &all[i]);
    return all;
}

bool index_bits_few(const struct simt_kernel *k, const char *file, unsigned *line)
{
    uint32_t n;
    struct bits *b = calloc(1, sizeof *b);
    struct simt_instruction *all = read_all(k, &n);
    struct operand o[OPERANDS];
    bool found = false;
    *line = 0;
    for (int pass = 0; b && all && pass < PASSES && (!pass || b->changed); pass++) {
        b->changed = false;
        for (uint32_t i = 0; i < n; i++)
            follow(b, &all[i]);
    }
    for (uint32_t i = 0; b && all && i < n; i++) {
        found = found || reaches_memory(b, &all[i]);
        if (!*line && is_product(&all[i], o, read_operands(b, &all[i], o)))
            *line = slice_line(k, file, i, NULL);
    }
    free(all);
    free(b);
    return found;
}
