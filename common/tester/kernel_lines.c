// See kernel_lines.h.
#include "kernel_lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/ptx_file.h"
#include "base/source.h"
#include "base/text.h"
#include "kernel_text.h"
#include "simt/simt.h"

enum {
    LINE_MAX = 4096,  // lines after it are not looked at
    CLEAR = 1000,     // instructions of a line that names both A and B count less than one that names one of them
    SUM = 16,         // and products that are not added up less than those that are
};

struct reading {
    const struct simt_kernel *kernel;
    const struct profile *ran;      // whose lines count; NULL: all do
    const char *file;               // the kernel's source
    unsigned (*count)[LINE_ROLES];  // by line
    char *side;                     // by line: see side_of; 0 before it was looked at
    char *caret;                    // by line: see has_caret; 0 before it was looked at
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
enum { LOADS, WRITES, READS, MULTIPLIES, STORES, STORES_BOX, PRODUCTS, SCALES, ROUNDS, READS_PART, ZEROS, NOTHING };

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
        { "ld.shared::cluster", READS_PART },
        { "ld.global", LOADS },
        { "cp.async", WRITES },
        { "st.shared", WRITES },
        { "ld.shared", READS },
        { "ldmatrix", READS },
        { "wmma.load", READS },
        { "wmma.mma", MULTIPLIES },
        { "mma.", MULTIPLIES },
        { "fma.", MULTIPLIES },
        { "st.global", STORES },
        { "wmma.store", WRITES },
        { "stmatrix", WRITES },
        { "ld.volatile.shared", READS },
        { "st.volatile.shared", WRITES },
        { "wgmma.mma", PRODUCTS },
        { "cvt.rn.f16.f", ROUNDS },
        { "mul.f", SCALES },
        { "cvt.rn.f16x2", ROUNDS },
    };
    if (stores_box(in))
        return STORES_BOX;
    if (text_begins(in->op, "mov.f") && memmem(in->text, in->text_bytes, "0f00000000", 10))
        return ZEROS;
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
    static const enum line_role alone[NOTHING] = {
        [MULTIPLIES] = LINE_MULTIPLY, [STORES] = LINE_STORE_C, [STORES_BOX] = LINE_STORE_BOX,
        [SCALES] = LINE_SCALE,        [ROUNDS] = LINE_ROUND,   [READS_PART] = LINE_READ_PART,
    };
    if (does == ZEROS) {
        count[LINE_ZERO] = line;  // so that the last one has most
        return;
    }
    if (alone[does]) {
        count[alone[does]] += side == 'm' ? SUM * CLEAR : side == 'f' ? SUM : 1;
        return;
    }
    for (int i = 0; i < 3; i++)
        if (of[does][i] != LINE_ROLES && (side == 'A' + i || (side == '*' && i < 2)))
            count[of[does][i]] += side == '*' ? 1 : CLEAR;
}

static bool is_own(const struct reading *r, const struct simt_place *p)
{
    return !strcmp(p->file, r->file) && p->line < LINE_MAX;
}

// Whether the run executed this instruction's line; for stores, whether it stored there.
static bool ran(const struct reading *r, uint32_t number, int does)
{
    struct simt_place p = { 0 };
    for (uint32_t i = 0; simt_instruction_place(r->kernel, number, i, &p) && !is_own(r, &p);)
        i++;
    for (size_t i = 0; r->ran && i < r->ran->n_lines; i++) {
        const struct profile_line *line = &r->ran->lines[i];
        if (line->line == p.line && !strcmp(line->file, p.file))
            return line->metric[does == STORES ? METRIC_GST_INST : does == STORES_BOX ? METRIC_TMA_ST : METRIC_INST];
    }
    return !r->ran;
}

// Products are told from other arithmetic by where they are: of the kernel, and not of the headers that store C.
static int does_what(const struct reading *r, uint32_t number, const struct simt_instruction *in)
{
    struct simt_place p;
    const int does = what(in);
    if (does == NOTHING || !simt_instruction_place(r->kernel, number, 0, &p) || !ran(r, number, does))
        return NOTHING;
    if (text_begins(in->op, "fma.") && strcmp(p.file, r->file))
        return SCALES;
    return does == SCALES && !strcmp(p.file, r->file) ? MULTIPLIES : does;
}

// What a function of the kernel's own reads or copies, it does for the line that calls it.
static void note_call(const struct reading *r, uint32_t number, uint32_t place, int does, char side)
{
    struct simt_place p, body;
    if ((side == 'A' || side == 'B') && simt_instruction_place(r->kernel, number, place, &p) && is_own(r, &p) &&
        simt_instruction_place(r->kernel, number, place + 1, &body))
        r->count[p.line][does != READS ? LINE_COPY : side == 'A' ? LINE_ASK_A : LINE_ASK_B]++;
}

// The innermost place in the kernel's source; for loads and the like, the first from there on that names a matrix.
// (stmatrix needs no name: what it stores are results.)
static void add(const struct reading *r, uint32_t number, const struct simt_instruction *in)
{
    const int does = does_what(r, number, in);
    const bool named = does == LOADS || does == READS || (does == WRITES && !text_begins(in->op, "stmatrix"));
    struct simt_place p;
    unsigned line = 0, places = 1;
    uint32_t i = 0;
    char side = '-';
    if (does == NOTHING || !simt_instruction_place(r->kernel, number, 0, &p))
        return;
    if ((does == PRODUCTS || text_begins(in->op, "mma.")) && !strcmp(p.file, r->file))
        places = 2;  // a function of the kernel's own for one instruction: its call says more
    for (; side == '-' && simt_instruction_place(r->kernel, number, i, &p); i++) {
        if (!is_own(r, &p))
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
    if (text_begins(in->op, "fma.") && does == MULTIPLIES)
        side = 'f';  // a product that is added up; another may be, too, if no such is there
    if (text_begins(in->op, "mma.") || text_begins(in->op, "wmma.mma"))
        side = 'm';  // where there are tensor cores, an fma is no product of A and B
    if (line && line < LINE_MAX)
        note(r, line, does, side);
    if (does == READS || does == LOADS || text_begins(in->op, "cp.async"))
        note_call(r, number, i, does, side);
}

// Whether the line has a ^ that is no comment's.
static bool has_caret(const struct reading *r, unsigned line)
{
    char text[256], *known = &r->caret[line];
    if (!*known) {
        source_text(r->file, line, text, sizeof text);
        const char *at = strchr(text, '^'), *comment = strstr(text, "//");
        *known = at && (!comment || at < comment) ? 'y' : 'n';
    }
    return *known == 'y';
}

// Whether an index is made with ^.
static bool has_swizzle(const struct reading *r, uint32_t number, const struct simt_instruction *in)
{
    struct simt_place p;
    bool found = false;
    for (uint32_t i = 0; text_begins(in->op, "xor.b") && !found && simt_instruction_place(r->kernel, number, i, &p);
         i++)
        found = is_own(r, &p) && has_caret(r, p.line);
    return found;
}

const char *kernel_lines_file(const struct simt_kernel *k)
{
    struct simt_instruction in;
    struct simt_place p = { 0 };
    for (uint32_t i = 0; !p.file && simt_instruction(k, i, &in); i++)
        for (uint32_t place = 0; simt_instruction_place(k, i, place, &p); place++)
            continue;
    return p.file;
}

// Of each role, the line with most instructions.
static void choose_lines(struct kernel_lines *l, const struct reading *r)
{
    for (int role = 0; role < LINE_ROLES; role++)
        for (unsigned line = 1, most = 0; line < LINE_MAX; line++)
            if (r->count[line][role] > most) {
                most = r->count[line][role];
                l->line[role] = line;
            }
}

static void read_kernel(struct kernel_lines *l, const struct simt_kernel *k, const struct profile *ran)
{
    struct reading r = { .kernel = k, .ran = ran, .file = kernel_lines_file(k) };
    struct simt_instruction in;
    r.count = calloc(LINE_MAX, sizeof *r.count);
    r.side = calloc(LINE_MAX, sizeof *r.side);
    r.caret = calloc(LINE_MAX, sizeof *r.caret);
    if (r.file && r.count && r.side && r.caret) {
        snprintf(l->file, sizeof l->file, "%s", r.file);
        for (uint32_t i = 0; simt_instruction(k, i, &in); i++) {
            add(&r, i, &in);
            l->products |= what(&in) == PRODUCTS;
            l->swizzled = l->swizzled || has_swizzle(&r, i, &in);
        }
        choose_lines(l, &r);
        kernel_text_read(l->file, l->line);
        l->line[LINE_STAGE] = kernel_text_sets(l->file, l->line[LINE_READ_A], l->line[LINE_LOOP]);
    }
    free(r.count);
    free(r.side);
    free(r.caret);
}

void kernel_lines_read(struct kernel_lines *l, const char *ptx, const char *kernel, const struct profile *ran)
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    *l = (struct kernel_lines){ 0 };
    char *text = ptx_file_read(ptx, &bytes, ignored);
    struct simt *s = text ? simt_open() : NULL;
    struct simt_module *m = s ? simt_load(s, ptx, text, bytes, ignored) : NULL;
    const struct simt_kernel *k = m ? simt_kernel(m, kernel) : NULL;
    if (k)
        read_kernel(l, k, ran);
    simt_close(s);
    free(text);
}
