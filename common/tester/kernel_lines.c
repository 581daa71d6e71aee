// See kernel_lines.h.
#include "kernel_lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "base/source.h"
#include "base/text.h"
#include "simt/simt.h"

enum {
    LINE_MAX = 4096,  // lines after it are not looked at
    CLEAR = 1000,     // instructions of a line that names both A and B count less than one that names one of them
};

struct reading {
    const struct simt_kernel *kernel;
    const char *file;               // the kernel's source
    unsigned (*count)[LINE_ROLES];  // by line
    char *side;                     // by line: see side_of; 0 before it was looked at
};

// --- Whose line is it? ---

static bool is_name_of(const char *word, size_t n, char side)
{
    const char small = (char)tolower(side), first = word[0];
    if (n == 1)
        return first == side || first == small;
    if (n == 2 && (first == side || first == small) && word[1] == 's')
        return true;
    if (first == side && (word[1] == '_' || isdigit((unsigned char)word[1])))
        return true;
    if (first == small && word[1] == '_')
        return true;
    const char last = word[n - 1], before = word[n - 2];
    return (last == small && before == '_') || (last == side && islower((unsigned char)before)) ||
           (last == side && before == '_');
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool names(const char *text, char side)
{
    for (const char *p = text; *p;) {
        size_t n = 0;
        if (p[0] == '/' && p[1] == '/')
            break;
        while (is_word(p[n]))
            n++;
        if (n && is_name_of(p, n, side))
            return true;
        p += n ? n : 1;
    }
    return false;
}

// The matrix that a line names: A, B or C; * for both A and B, - for none.
static char side_of(const struct reading *r, unsigned line)
{
    char text[256], *known = &r->side[line];
    if (*known)
        return *known;
    source_text(r->file, line, text, sizeof text);
    const bool a = names(text, 'A'), b = names(text, 'B'), c = names(text, 'C');
    *known = a && b ? '*' : a ? 'A' : b ? 'B' : c ? 'C' : '-';
    return *known;
}

// --- What does an instruction do? ---

// PRODUCTS: wgmma, which reads both tiles where it multiplies.
enum { LOADS, WRITES, READS, MULTIPLIES, STORES, STORES_BOX, PRODUCTS, NOTHING };

static bool has(const struct simt_instruction *in, const char *what)
{
    return memmem(in->op, in->op_bytes, what, strlen(what)) != NULL;
}

// A bulk copy out of shared memory: C by TMA.
static bool stores_box(const struct simt_instruction *in)
{
    return (text_begins(in->op, "cp.async.bulk") || text_begins(in->op, "cp.reduce")) && has(in, ".global.shared");
}

static int what(const struct simt_instruction *in)
{
    static const struct {
        const char *op;
        int does;
    } list[] = {
        { "ld.global", LOADS },          { "cp.async", WRITES },
        { "st.shared", WRITES },         { "ld.shared", READS },
        { "ldmatrix", READS },           { "wmma.load", READS },
        { "wmma.mma", MULTIPLIES },      { "mma.", MULTIPLIES },
        { "fma.", MULTIPLIES },          { "st.global", STORES },
        { "wmma.store", WRITES },        { "stmatrix", WRITES },
        { "ld.volatile.shared", READS }, { "st.volatile.shared", WRITES },
        { "wgmma.mma", PRODUCTS },
    };
    if (stores_box(in))
        return STORES_BOX;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (text_begins(in->op, list[i].op))
            return list[i].does;
    return NOTHING;
}

static void note(const struct reading *r, unsigned line, int does, char side)
{
    static const enum line_role of[][3] = {
        [LOADS] = { LINE_LOAD_A, LINE_LOAD_B, LINE_ROLES },
        [WRITES] = { LINE_WRITE_A, LINE_WRITE_B, LINE_WRITE_C },
        [READS] = { LINE_READ_A, LINE_READ_B, LINE_READ_C },
    };
    unsigned *count = r->count[line];
    if (does == PRODUCTS) {
        count[LINE_MULTIPLY] += CLEAR;
        count[LINE_READ_A] += CLEAR;
        count[LINE_READ_B] += CLEAR;
        return;
    }
    if (does == MULTIPLIES || does == STORES || does == STORES_BOX) {
        count[does == STORES       ? LINE_STORE_C
              : does == STORES_BOX ? LINE_STORE_BOX
                                   : LINE_MULTIPLY] += side == 'm' ? CLEAR : 1;
        return;
    }
    for (int i = 0; i < 3; i++)
        if (of[does][i] != LINE_ROLES && (side == 'A' + i || (side == '*' && i < 2)))
            count[of[does][i]] += side == '*' ? 1 : CLEAR;
}

// The innermost place in the kernel's source; for loads and the like, the first from there on that names a matrix.
// (stmatrix needs no name: what it stores are results.)
static void add(const struct reading *r, uint32_t number, const struct simt_instruction *in)
{
    const int does = what(in);
    const bool named = does == LOADS || does == READS || (does == WRITES && !text_begins(in->op, "stmatrix"));
    struct simt_place p;
    unsigned line = 0, places = 1;
    char side = '-';
    if (does == NOTHING || !simt_instruction_place(r->kernel, number, 0, &p))
        return;
    if ((does == PRODUCTS || text_begins(in->op, "mma.")) && !strcmp(p.file, r->file))
        places = 2;  // a function of the kernel's own for one instruction: its call says more
    for (uint32_t i = 0; side == '-' && simt_instruction_place(r->kernel, number, i, &p); i++) {
        if (strcmp(p.file, r->file) || p.line >= LINE_MAX)
            continue;
        if (!named) {
            line = places ? p.line : line;
            places -= places > 0;
            continue;
        }
        side = side_of(r, p.line);
        line = p.line;
    }
    if (text_begins(in->op, "wmma.load.a"))
        side = 'A';
    if (text_begins(in->op, "wmma.load.b"))
        side = 'B';
    if (text_begins(in->op, "stmatrix") && side == '-')
        side = 'C';  // what it stores are results
    if (text_begins(in->op, "mma."))
        side = 'm';  // where there are tensor cores, an fma is no product of A and B
    if (line && line < LINE_MAX)
        note(r, line, does, side);
}

// The file of the first instruction's outermost place: that of the kernel's own body.
static const char *own_file(const struct simt_kernel *k)
{
    struct simt_instruction in;
    struct simt_place p = { 0 };
    for (uint32_t i = 0; !p.file && simt_instruction(k, i, &in); i++)
        for (uint32_t place = 0; simt_instruction_place(k, i, place, &p); place++)
            continue;
    return p.file;
}

static void read_kernel(struct kernel_lines *l, const struct simt_kernel *k)
{
    struct reading r = { .kernel = k, .file = own_file(k) };
    struct simt_instruction in;
    r.count = calloc(LINE_MAX, sizeof *r.count);
    r.side = calloc(LINE_MAX, sizeof *r.side);
    if (r.file && r.count && r.side) {
        snprintf(l->file, sizeof l->file, "%s", r.file);
        for (uint32_t i = 0; simt_instruction(k, i, &in); i++) {
            add(&r, i, &in);
            l->products |= what(&in) == PRODUCTS;
        }
        for (int role = 0; role < LINE_ROLES; role++)
            for (unsigned line = 1, most = 0; line < LINE_MAX; line++)
                if (r.count[line][role] > most) {
                    most = r.count[line][role];
                    l->line[role] = line;
                }
    }
    free(r.count);
    free(r.side);
}

void kernel_lines_read(struct kernel_lines *l, const char *ptx)
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    *l = (struct kernel_lines){ 0 };
    char *text = ptx_file_read(ptx, &bytes, ignored);
    struct simt *s = text ? simt_open() : NULL;
    struct simt_module *m = s ? simt_load(s, ptx, text, bytes, ignored) : NULL;
    const struct simt_kernel *k = m ? simt_kernel(m, "gemm") : NULL;
    if (k)
        read_kernel(l, k);
    simt_close(s);
    free(text);
}
