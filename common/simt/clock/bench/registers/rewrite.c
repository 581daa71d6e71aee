// See patterns.h. How instructions are encoded was read off listings of nvdisasm; sass.h has the fields.
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/clock/cubin.h"

#define REGISTERS 40       // accumulators in a row that patterns name
#define MULTIPLY_ADDS 128  // the least number of them in the loop
#define MAX_ITEMS 64
#define SHARED 1024  // the address that accesses name: on Hopper a kernel's own shared memory begins there
#define REUSE_BIT 58
// Stall for one cycle, prefer no other warp, release no scoreboard, wait for none.
#define CONTROL ((1ull | 1u << 4 | (uint64_t)SASS_NO_SCOREBOARD << 5 | (uint64_t)SASS_NO_SCOREBOARD << 8) << 41)

struct words {
    uint64_t lo, hi;
};

struct loop {
    unsigned char *code;
    uint32_t first, last;  // instructions
    unsigned base;         // register that patterns call 0
};

struct items {
    char text[MAX_ITEMS][16];
    unsigned n;
};

static bool fail(char error[200], const char *what, const char *detail)
{
    snprintf(error, 200, "%s%.100s", what, detail);
    return false;
}

// --- the template ---

static struct sass instruction(const unsigned char *code, uint32_t i)
{
    struct words w;
    struct sass s;
    memcpy(&w, code + (size_t)i * SASS_BYTES, sizeof w);
    sass_decode(w.lo, w.hi, 90, &s);
    return s;
}

static bool is_multiply_add(const struct sass *s)
{
    return s->effect == EFFECT_FFMA && s->form == 1;
}

// How many multiply-adds are from first to last; accumulators[]: what they write.
static unsigned count_multiply_adds(const unsigned char *code, uint32_t first, uint32_t last, bool accumulators[256])
{
    unsigned n = 0;
    memset(accumulators, 0, 256 * sizeof *accumulators);
    for (uint32_t i = first; i <= last; i++) {
        const struct sass s = instruction(code, i);
        if (is_multiply_add(&s)) {
            accumulators[s.d] = true;
            n++;
        }
    }
    return n;
}

// The first accumulator of REGISTERS in a row; 0: there are too few.
static unsigned find_base(const bool accumulators[256])
{
    for (unsigned base = 4; base + REGISTERS < SASS_RZ; base += 4) {
        unsigned n = 0;
        while (n < REGISTERS && accumulators[base + n])
            n++;
        if (n == REGISTERS)
            return base;
    }
    return 0;
}

// The loop is what a branch back encloses.
static bool find_loop(unsigned char *code, uint32_t n, struct loop *out, char error[200])
{
    bool accumulators[256];
    for (uint32_t i = 0; i < n; i++) {
        const struct sass s = instruction(code, i);
        const int64_t to = (int64_t)i + 1 + s.offset / SASS_BYTES;
        if (s.effect != EFFECT_BRANCH || to < 0 || to >= i)
            continue;
        *out = (struct loop){ code, (uint32_t)to, i, 0 };
        if (count_multiply_adds(code, out->first, i, accumulators) < MULTIPLY_ADDS)
            continue;
        out->base = find_base(accumulators);
        return out->base || fail(error, "the loop has too few accumulators in a row", "");
    }
    return fail(error, "the kernel has no loop of multiply-adds", "");
}

// --- the pattern ---

// "3*0,-,2 -,-,-" are four items.
static bool split(const char *list, struct items *out, char error[200])
{
    const char *at = list;
    out->n = 0;
    while (*(at += strspn(at, " "))) {
        size_t bytes = strcspn(at, " "), times = 1;
        const char *star = memchr(at, '*', bytes);
        if (star) {
            times = strtoul(at, NULL, 10);
            bytes -= (size_t)(star + 1 - at);
            at = star + 1;
        }
        if (!bytes || bytes >= sizeof out->text[0] || !times || times > MAX_ITEMS - out->n)
            return fail(error, "not a list: ", list);
        for (size_t i = 0; i < times; i++)
            snprintf(out->text[out->n++], sizeof out->text[0], "%.*s", (int)bytes, at);
        at += bytes;
    }
    return out->n || fail(error, "nothing in turn", "");
}

// Reads the first of in_a_row registers at *at, and goes past it.
static bool parse_register(const char **at, const struct loop *l, unsigned in_a_row, unsigned *out)
{
    *out = SASS_RZ;
    if (**at == '-') {
        (*at)++;
        return true;
    }
    char *end;
    const unsigned long number = strtoul(*at, &end, 10);
    if (**at < '0' || **at > '9' || number + in_a_row > REGISTERS || number % in_a_row)
        return false;
    *out = l->base + (unsigned)number;
    *at = end;
    return true;
}

// Three operands: "0',-,2". Goes past them.
static bool parse_operands(const char **at, const struct loop *l, const unsigned in_a_row[3], struct words *out)
{
    unsigned registers[3];
    for (unsigned i = 0; i < 3; i++) {
        if ((i && *(*at)++ != ',') || !parse_register(at, l, in_a_row[i], &registers[i]))
            return false;
        if (**at == '\'') {
            out->hi |= 1ull << (REUSE_BIT + i);
            (*at)++;
        }
    }
    out->lo |= (uint64_t)registers[0] << 24 | (uint64_t)registers[1] << 32;
    out->hi |= registers[2];
    return true;
}

static bool multiply_add(const char *reads, const char *writes, const struct loop *l, struct words *out)
{
    static const unsigned one[3] = { 1, 1, 1 };
    unsigned d;
    *out = (struct words){ 0x7223, CONTROL };
    if (!parse_operands(&reads, l, one, out) || *reads || !parse_register(&writes, l, 1, &d) || *writes)
        return false;
    out->lo |= d << 16;
    return true;
}

// "64 8": the width, and a register.
static bool shared_access(const char *text, bool store, const struct loop *l, struct words *out)
{
    char *at;
    unsigned data;
    const unsigned long bits = strtoul(text, &at, 10);
    const uint64_t width = bits == 32 ? 4 : bits == 64 ? 5 : bits == 128 ? 6 : 0;
    const char *left = at + (*at == ' ');
    if (!width || !parse_register(&left, l, (unsigned)bits / 32, &data) || *left)
        return false;
    *out = (struct words){ (store ? 0x7388 : 0x7984) | (uint64_t)SASS_RZ << 24 | (uint64_t)SHARED << 40,
                           CONTROL | width << 9 };
    out->lo |= (uint64_t)data << (store ? 32 : 16);
    return true;
}

// "0,4,8>16": m16n8k16 on halves, with sums in f32.
static bool multiply_matrices(const char *text, const struct loop *l, struct words *out)
{
    static const unsigned of_tile[3] = { 4, 2, 4 };
    unsigned d;
    *out = (struct words){ 0x723c, CONTROL | 0x1800 };
    if (!parse_operands(&text, l, of_tile, out) || *text++ != '>' || !parse_register(&text, l, 4, &d) || *text)
        return false;
    out->lo |= d << 16;
    return true;
}

static bool encode_other(const char *text, const struct loop *l, struct words *out)
{
    *out = (struct words){ 0x7918, CONTROL };
    if (!strncmp(text, "lds", 3))
        return shared_access(text + 3, false, l, out);
    if (!strncmp(text, "sts", 3))
        return shared_access(text + 3, true, l, out);
    if (!strncmp(text, "mma ", 4))
        return multiply_matrices(text + 4, l, out);
    return !strcmp(text, "nop");
}

bool register_rewrite(unsigned char *cubin, size_t bytes, const struct register_pattern *p, char error[200])
{
    struct loop l;
    struct items reads, writes;
    size_t at;
    const size_t size = cubin_find_code(cubin, bytes, TEMPLATE_KERNEL, &at, error);
    if (!size || !find_loop(cubin + at, (uint32_t)(size / SASS_BYTES), &l, error) || !split(p->reads, &reads, error) ||
        !split(p->writes, &writes, error))
        return false;
    unsigned n = 0, others = 0;
    for (uint32_t i = l.first; i <= l.last; i++) {
        const struct sass s = instruction(l.code, i);
        struct words w;
        if (!is_multiply_add(&s))
            continue;
        if (p->every && (n + others) % p->every == p->every - 1) {
            if (!encode_other(p->other, &l, &w))
                return fail(error, "not an instruction: ", p->other);
            others++;
        } else if (!multiply_add(reads.text[n % reads.n], writes.text[n % writes.n], &l, &w)) {
            return fail(error, "not operands: ", p->name);
        } else {
            n++;
        }
        memcpy(l.code + (size_t)i * SASS_BYTES, &w, sizeof w);
    }
    return true;
}
