// What led to an error that the simulated GPU names: which element of a matrix it is, where its address is made,
// whether there is too little shared memory, which variable was never set. See cause.h.
#include "cause.h"

#include <limits.h>
#include <string.h>

#include "base/source.h"
#include "base/text.h"
#include "history.h"
#include "kernel_text.h"
#include "meaning.h"
#include "probe.h"
#include "slice.h"

// --- Where addresses are made ---

// The first line of the kernel's body that is known: what stands before it are other functions.
static unsigned body_of(const struct kernel_lines *l)
{
    static const enum line_role first[] = { LINE_ROW, LINE_COL, LINE_BROW, LINE_BCOL };
    unsigned line = UINT_MAX;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        line = l->line[first[i]] && l->line[first[i]] < line ? l->line[first[i]] : line;
    return line == UINT_MAX ? 0 : line;
}

// Whether a line can have run before the access, or its function's call: it stands before it, or in a loop around it.
// Where an access shares the address of a later one, the compiler names the later one's lines.
static bool comes_before(const struct cause *c, unsigned line, unsigned own, unsigned call)
{
    const unsigned from = call > own ? call : own;
    unsigned of_line[KERNEL_LOOPS], of_from[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(c->lines.file, line, of_line);
    const unsigned m = kernel_text_loops(c->lines.file, from, of_from);
    return line <= from || (n && m && of_line[n - 1] == of_from[m - 1]);
}

// By the names in the index alone, without the loops: what the compiler has computed elsewhere, or is a constant.
static unsigned index_made_at(const struct cause *c, unsigned own, unsigned made[SLICE_LINES])
{
    unsigned makers[KERNEL_MAKERS], n_made = 0;
    const unsigned n = kernel_text_index_makers(c->lines.file, own, makers);
    for (unsigned i = 0; i < n && n_made < SLICE_LINES; i++)
        if (kernel_text_sets_for(c->lines.file, makers[i], own))
            made[n_made++] = makers[i];
    return n_made;
}

// Lines that set a name which the access's line has: those of the address in PTX, in the loop over tiles first, since
// what changes there is more often wrong; if there are none, one just above it, whose constants PTX may not show.
// Returns how many.
static unsigned made_at(const struct cause *c, const struct simt_kernel *k, const struct simt_finding *f,
                        unsigned made[SLICE_LINES])
{
    const uint32_t number = f->here.number;
    unsigned call = 0;
    enum { NEAR = 3 };
    unsigned lines[SLICE_LINES], n_made = 0;
    struct simt_instruction in;
    if (!simt_instruction(k, number, &in) || text_begins(in.op, "cp.async.bulk"))
        return 0;  // its coordinates are no part of the address
    const unsigned n = slice_address(k, c->lines.file, number, f->object.space, lines), loop = c->lines.line[LINE_LOOP];
    const unsigned own = slice_line(k, c->lines.file, number, &call), body = body_of(&c->lines);
    const unsigned stage = c->staged ? kernel_text_sets(c->lines.file, own, loop) : 0;
    if (stage > loop && comes_before(c, stage, own, call) && !kernel_text_loop(c->lines.file, own))
        made[n_made++] = stage;
    for (int in_loop = 1; in_loop >= 0; in_loop--)
        for (unsigned i = 0; i < n && n_made < SLICE_LINES; i++)
            if ((loop && lines[i] > loop) == in_loop && lines[i] >= body && lines[i] != stage &&
                comes_before(c, lines[i], own, call) && !(n_made && made[0] == lines[i]) &&
                kernel_text_sets_for(c->lines.file, lines[i], own))
                made[n_made++] = lines[i];
    // own is 0 if the access has no line in this file.
    for (unsigned line = own; line-- > body + 1 && line + NEAR >= own && !n_made;)
        if (kernel_text_sets_for(c->lines.file, line, own))
            made[n_made++] = line;
    return n_made ? n_made : f->object.space == SIMT_SHARED ? index_made_at(c, own, made) : 0;
}

// One step further back: lines of the address in PTX that set what the n lines have which make it.
static unsigned made_behind(const struct cause *c, const struct simt_kernel *k, const struct simt_finding *f,
                            const unsigned *made, unsigned n, unsigned behind[SLICE_LINES])
{
    unsigned lines[SLICE_LINES], n_behind = 0;
    const unsigned n_lines = slice_address(k, c->lines.file, f->here.number, f->object.space, lines);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n_lines; j++) {
            bool known = lines[j] > made[i] || !kernel_text_sets_for(c->lines.file, lines[j], made[i]);
            for (unsigned m = 0; m < n; m++)
                known = known || made[m] == lines[j];
            for (unsigned m = 0; m < n_behind; m++)
                known = known || behind[m] == lines[j];
            if (!known)
                behind[n_behind++] = lines[j];
        }
    return n_behind;
}

// Where the function that has the finding's line is called from. The call of the whole kernel, behind its store, tells
// nothing; but of an access that is too wide it does, where the kernel is one of two.
static unsigned call_of(const struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    const struct simt_kernel *k = cause_kernel(p);
    struct simt_place place;
    unsigned call = 0, last = 0;
    if (!k || !slice_line(k, c->lines.file, f->here.number, &call))
        return 0;
    for (uint32_t i = 0; simt_instruction_place(k, f->here.number, i, &place); i++)
        last = !strcmp(place.file, c->lines.file) ? place.line : last;
    if (f->kind == SIMT_MISALIGNED && f->object.space == SIMT_GLOBAL)
        return last;
    return call < c->lines.line[LINE_STORE_C] ? call : 0;
}

// Where what the address is made of is set, and where the function that has the finding's line is called from. The call
// of the whole kernel, behind its store, tells nothing.
static void say_made(struct cause *c, const struct probe *p, const struct simt_finding *f, const char *what)
{
    enum { SAID = 2 };
    unsigned made[SLICE_LINES], behind[SLICE_LINES];
    const struct simt_kernel *k = cause_kernel(p);
    const unsigned n = k ? made_at(c, k, f, made) : 0;
    cause_say_where(c);
    for (unsigned i = 0; i < n && i < SAID; i++) {
        cause_say(c, "%s %s:%u", i ? " and" : what, source_base_name(c->lines.file), made[i]);
        cause_add_line(c, made[i]);
    }
    const unsigned n_behind = n ? made_behind(c, k, f, made, n < SAID ? n : SAID, behind) : 0;
    for (unsigned i = 0; i < n_behind && i < SAID; i++) {
        cause_say(c, "%s %u",
                  i              ? " and"
                  : n_behind > 1 ? ", of what is set at lines"
                                 : ", of what is set at line",
                  behind[i]);
        cause_add_line(c, behind[i]);
    }
    cause_add_line(c, call_of(c, p, f));
}

// --- Out of bounds ---

// Rows and columns of A, B or C, in elements. False: it is none of them.
static bool matrix_of(const struct simt_object *o, const struct tester_options *t, int *rows, int *cols)
{
    const char name = o->name && o->space == SIMT_GLOBAL && !o->name[1] ? o->name[0] : 0;
    *rows = name == 'B' ? t->k : t->m;
    *cols = name == 'A' ? t->k : t->n;
    return name == 'A' || name == 'B' || name == 'C';
}

// Where the statement's limit is made that comes from this size, and is no pointer's step.
static void say_limit(struct cause *c, unsigned here, const char *size)
{
    unsigned lines[KERNEL_MAKERS];
    const unsigned n = kernel_text_makers(c->lines.file, here, lines);
    for (unsigned i = 0; i < n; i++)
        if (kernel_text_is_limit(c->lines.file, lines[i], size)) {
            if (cause_add_line(c, lines[i]))
                cause_say(c, ", made of %s at %s:%u", size, source_base_name(c->lines.file), lines[i]);
            return;
        }
}

// A column before the block's first is that of the next row: this one was too long.
// Further behind the matrix than one of its rows is long, it is a row that is too high.
static void say_guard(struct cause *c, const struct probe *p, const struct simt_finding *f, char name, long long col,
                      bool just_behind)
{
    const struct geometry *g = &p->geometry;
    const bool columns = just_behind && name != 'A' && !g->blocks && col < (long long)f->here.block[0] * g->bn;
    const char *rows = name == 'B' ? "along K" : "of the rows", *cols = name == 'A' ? "along K" : "of the columns";
    const char *const sizes[] = { name == 'B' ? "K" : "M", name == 'A' ? "K" : "N" };
    const unsigned here = cause_own_line(c, &f->here.place), call = call_of(c, p, f);
    if (columns)
        cause_say(c, "it lies past the end of the row before, so the guard of the columns");
    else if (just_behind)
        cause_say(c, "the guard %s, or %s where the last row ends,", rows, cols);
    else
        cause_say(c, "the guard %s", rows);
    cause_say(c, " is missing or lets too much through");
    for (int i = columns ? 1 : 0; i < (just_behind ? 2 : 1); i++)
        say_limit(c, here, sizes[i]);
    if (call && call != here && cause_add_line(c, call))
        cause_say(c, ", called from line %u", call);
    cause_add_line(c, cause_index_line(c, here));
}

// What lies just behind the matrix may be that of a step too far along K, where the line has been executed before.
static void say_step(struct cause *c, char name)
{
    const unsigned step = name == 'C' ? 0 : c->lines.line[name == 'A' ? LINE_STEP_A : LINE_STEP_B];
    if (!step)
        return;
    cause_say(c, ", or the step along K at %s:%u is too long", source_base_name(c->lines.file), step);
    cause_add_line(c, step);
}

static void say_element(struct cause *c, const struct probe *p, const struct tester_options *o, const struct history *h,
                        const struct simt_finding *f)
{
    static const enum line_role loop[] = { LINE_LOOP, LINE_STEP_A, LINE_ROLES };
    static const enum line_role base[][3] = { { LINE_BASE_A, LINE_BROW, LINE_ROLES },
                                              { LINE_BASE_B, LINE_BCOL, LINE_ROLES },
                                              { LINE_STORE_C, LINE_BROW, LINE_ROLES } };
    const struct geometry *g = &p->geometry;
    const char name = f->object.name ? f->object.name[0] : 0;
    int rows, cols;
    if (!matrix_of(&f->object, o, &rows, &cols))
        return;
    if (f->object.at < 0) {
        cause_add_line(c, cause_own_line(c, &f->here.place));
        say_made(c, p, f, "an index is negative, or a step goes back: the address is made at");
        return;
    }
    const long long at = f->object.at / (long long)type_size(p->type);
    const long long row = at / cols, col = at % cols;
    const long long before = h->earliest / (long long)type_size(p->type);
    const bool moved = h->read_before && before >= 0 && before != at;
    const long long by = name == 'B' ? (at - before) / cols : at - before;  // tiles are that long at least
    const bool along_k = moved && by >= g->bk && (name == 'B' ? (at - before) % cols == 0 : name == 'A' && by < cols);
    const long long begins = name == 'B' ? before / cols : before % cols;  // along K
    const long long first = g->blocks || name == 'B' ? 0 : (long long)f->here.block[1] * g->bm;
    cause_say(c, "that is %c[%lld][%lld], and %c has %d rows: ", name, row, col, name, rows);
    cause_add_line(c, cause_own_line(c, &f->here.place));
    if (along_k && g->bk && begins >= 2 * g->bk) {
        cause_say(c, "this thread begins with k = %lld, and a tile has %d: the index within the tile", begins, g->bk);
        say_made(c, p, f, ", made at");
    } else if (along_k && g->bk && begins >= g->bk) {
        cause_say(c,
                  "this thread begins with k = %lld, so the first tile is left out: the pointer moves on before its "
                  "first use, or begins too far",
                  begins);
        cause_add_line(c, c->lines.line[name == 'A' ? LINE_STEP_A : LINE_STEP_B]);
        cause_add_line(c, call_of(c, p, f));
        cause_add_line(c, c->lines.line[name == 'A' ? LINE_BASE_A : LINE_BASE_B]);
    } else if (along_k) {
        cause_say(c,
                  "this thread has come there along K, from %c[%lld][%lld] on: a tile too many is read, a step "
                  "along K is too long, or its guard is missing",
                  name, before / cols, before % cols);
        cause_add_line(c, call_of(c, p, f));
        for (int i = 0; loop[i] != LINE_ROLES; i++)
            cause_add_line(c, c->lines.line[loop[i]]);
    } else if (name != 'B' && row >= first + 2LL * g->bm) {
        cause_say(c,
                  "far from the block's rows, which begin at %lld: where its first row is added, is the length of a "
                  "row right?",
                  first);
        say_made(c, p, f, " It is made at");
        for (int i = 0; base[name - 'A'][i] != LINE_ROLES; i++)
            cause_add_line(c, c->lines.line[base[name - 'A'][i]]);
    } else if (name == 'B' && g->bk && row >= (rows - 1) / g->bk * g->bk + 2LL * g->bk) {
        cause_say(c, "far behind the last tile along K: the step along K is too long, or a row of B is");
        cause_add_line(c, c->lines.line[LINE_STEP_B]);
        say_made(c, p, f, ". What the address is made of is set at");
    } else {
        say_guard(c, p, f, name, col, row == rows);
        if (row == rows && h->came_before)
            say_step(c, name);
        say_made(c, p, f, ". What the address is made of is set at");
    }
}

// Whether the product is right with more dynamic shared memory.
static bool is_right_with_more(struct probe *p, const struct tester_options *o)
{
    enum { MOST = 227 * 1024 };
    struct probe_data x;
    const int had = p->geometry.shared;
    bool right = false;
    p->geometry.shared = 2 * had < MOST ? 2 * had : MOST;
    if (had && had < MOST && probe_fill(&x, p->type, o)) {
        const struct probe_product r = { o->alpha, o->beta, &x.A, &x.B, o->beta != 0 ? &x.C0 : NULL };
        right = probe_run(p, &r, &x.C) && matrix_check(&x.C, o->alpha, &x.A, &x.B, o->beta, r.C0).right;
        probe_release(&x);
    }
    p->geometry.shared = had;
    return right;
}

// The nearest line that sets a number of the declaration.
static unsigned size_line(const struct cause *c, unsigned declared)
{
    unsigned makers[KERNEL_MAKERS];
    return kernel_text_makers(c->lines.file, declared, makers) ? makers[0] : 0;
}

// Where the shared array is declared that the line names; it may be another than the byte's.
// False if it names none.
static bool say_array(struct cause *c, const struct simt_finding *f, unsigned here)
{
    char name[64];
    const unsigned declared = kernel_text_shared(c->lines.file, here, name, sizeof name);
    if (!declared)
        return false;
    cause_say(c, "%s", *c->text ? ". " : "");
    if (f->object.name && strcmp(f->object.name, name) != 0)
        cause_say(c, "the line is one of %s, and this byte is not: ", name);
    cause_say(c, "%s is declared at %s:%u: are its sizes, and their order, right?", name,
              source_base_name(c->lines.file), declared);
    cause_add_line(c, declared);
    cause_add_line(c, size_line(c, declared));
    return true;
}

static void say_index(struct cause *c, struct probe *p, const struct tester_options *o, const struct simt_finding *f)
{
    const unsigned here = cause_own_line(c, &f->here.place);
    if (f->kind == SIMT_OUT_OF_BOUNDS && f->object.space == SIMT_SHARED && is_right_with_more(p, o)) {
        cause_say(c, "with more dynamic shared memory a block the result is right: %d bytes are too few",
                  p->geometry.shared);
        cause_add_line(c, c->lines.line[LINE_SHARED]);
        return;
    }
    const unsigned loop = f->kind == SIMT_OUT_OF_BOUNDS ? kernel_text_loop(c->lines.file, here) : 0;
    cause_add_line(c, here);
    if (loop) {
        cause_say(c, "does the loop at %s:%u run too far, is the index wrong, or is there too little room?",
                  source_base_name(c->lines.file), loop);
        cause_add_line(c, loop);
    }
    if (f->object.space != SIMT_SHARED) {
        say_made(c, p, f, "the address is made at");
        return;
    }
    const bool many = *c->text;
    say_made(c, p, f, many ? " The index is made at" : "the index is made at");
    const bool declared = say_array(c, f, here);
    if (!declared && f->kind == SIMT_OUT_OF_BOUNDS)
        cause_add_line(c, c->lines.line[LINE_SHARED]);
}

// --- Variables that nothing set ---

// Which operand of a product of matrices the register is in: 1, 2, ... 0: it is none of such.
static unsigned operand_of(const struct probe *p, const struct simt_finding *f)
{
    struct simt_instruction in;
    const struct simt_kernel *k = cause_kernel(p);
    unsigned group = 0;
    if (!k || !f->object.name || !simt_instruction(k, f->here.number, &in) ||
        !(text_begins(in.op, "wmma.mma") || text_begins(in.op, "mma.")))
        return 0;
    const size_t n = strlen(f->object.name);
    for (const char *at = in.text; at + n < in.text + in.text_bytes; at++) {
        group += *at == '{';
        if (!memcmp(at, f->object.name, n) && !(at[n] >= '0' && at[n] <= '9') && group > 1)
            return group - 1;
    }
    return 0;
}

static void say_unset(struct cause *c, const struct kernel_unset *u, const char *before)
{
    const unsigned call = kernel_text_call(c->lines.file, u->set);
    const unsigned set = call ? call : u->set, loop = call ? 0 : u->loop;
    unsigned heads[KERNEL_LOOPS];
    cause_say(c, "%s%s is declared at %s:%u without a value", before, u->name, source_base_name(c->lines.file),
              u->declared);
    if (set)
        cause_say(c, ", and gets one from line %u on", set);
    const unsigned around = loop ? loop : call && kernel_text_loops(c->lines.file, call, heads) ? heads[0] : 0;
    if (around)
        cause_say(c, ": does the loop at line %u reach all of it, and is the index that reads it within it?", around);
    cause_add_line(c, around ? around : u->declared);
    cause_add_line(c, around ? set : 0);
}

// Names without a value on the line, as far as they are known; else where the register is set that the finding is
// about: that may come later, or never.
static void say_variable(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    enum { SAID = 2 };
    unsigned lines[SLICE_LINES], said = 0;
    struct kernel_unset unset[KERNEL_UNSET];
    const struct simt_kernel *k = cause_kernel(p);
    const unsigned own = cause_own_line(c, &f->here.place), of_product = operand_of(p, f);
    const unsigned n_unset = own ? kernel_text_unset(c->lines.file, own, unset) : 0;
    if (n_unset && of_product && of_product <= n_unset) {
        say_unset(c, &unset[of_product - 1], "");
        return;
    }
    for (unsigned i = 0; i < n_unset && i < SAID; i++)
        say_unset(c, &unset[i], i ? "; " : "");
    const unsigned n = !n_unset && k && f->object.name ? slice_register(k, c->lines.file, f->object.name, lines) : 0;
    for (unsigned i = 0; i < n && said < SAID; i++)
        if (lines[i] != own) {
            cause_say(c, "%s %s:%u", said++ ? " and" : "it is set at", source_base_name(c->lines.file), lines[i]);
            cause_add_line(c, lines[i]);
        }
    if (said)
        cause_say(c, ": does that come before its first use?");
}

// --- All of it ---

static bool has_history(const struct simt_finding *f)
{
    return f->kind == SIMT_ENDLESS_WAIT || f->kind == SIMT_ARRIVALS || f->kind == SIMT_PHASE_BYTES ||
           (f->kind == SIMT_UNINIT_MEMORY && f->object.space == SIMT_SHARED) ||
           (f->kind == SIMT_OUT_OF_BOUNDS && f->object.space == SIMT_GLOBAL);
}

// Whether the next tile is stored into the stage that is read: its line stores where a tile lies already, from the
// first time on, and where it should have stored the same line reads before anything is stored there.
static bool say_stage(struct cause *c, struct probe *p, const struct tester_options *o, bool checked,
                      const struct simt_finding *f, const struct simt_findings *found)
{
    const struct simt_finding *unwritten = c->staged && found ? meaning_unwritten_stage(f, found) : NULL;
    const struct simt_kernel *k = cause_kernel(p);
    const struct simt_side *write = f->here.access == SIMT_WRITES ? &f->here : &f->there;
    struct history_line at = { .line = 0 };
    struct history h;
    bool wrong = false;
    if (!unwritten || !k)
        return false;
    at.line = slice_line(k, c->lines.file, write->number, &at.call);
    if (history_take(&h, p, c->lines.file, o, checked, unwritten) && unwritten->object.address / 4 < h.words) {
        const struct history_store *store = history_store_at(&h, &at);
        const struct history_line *later = &h.by[unwritten->object.address / 4];
        wrong = store && !store->fresh && (!later->line || (later->line == at.line && later->call == at.call));
    }
    history_free(&h);
    if (wrong)
        cause_of_stage(c, p, f, unwritten);
    return wrong;
}

void cause_of_finding(struct cause *c, struct probe *p, const struct tester_options *o, bool checked,
                      const struct simt_finding *f, const struct simt_findings *found)
{
    struct history h;
    cause_read_lines(c, p);
    if (cause_of_threads(c, p) || say_stage(c, p, o, checked, f, found))
        return;
    if (!has_history(f)) {
        if (f->kind == SIMT_MISALIGNED || f->kind == SIMT_OUT_OF_BOUNDS)
            say_index(c, p, o, f);
        if ((f->kind == SIMT_UNINIT_VALUE && f->object.space == SIMT_REGISTER) || f->kind == SIMT_UNINIT_NAN)
            say_variable(c, p, f);
        if (f->kind == SIMT_COPY_PENDING || f->kind == SIMT_WGMMA_WAIT || f->kind == SIMT_RACE)
            cause_of_wait(c, p, f);
        if (meaning_is_one_place(f) && cause_add_line(c, cause_own_line(c, &f->here.place)))
            say_made(c, p, f, "the index is made at");
        return;
    }
    if (history_take(&h, p, c->lines.file, o, checked, f)) {
        if (f->kind == SIMT_OUT_OF_BOUNDS)
            say_element(c, p, o, &h, f);
        else
            cause_of_history(c, &h, f);
    }
    history_free(&h);
}

const struct simt_finding *cause_first_finding(const struct simt_findings *found)
{
    const struct simt_finding *first = &found->all[0];
    for (size_t i = 1; i < found->n; i++)
        if (meaning_rank(&found->all[i]) < meaning_rank(first))
            first = &found->all[i];
    return first;
}
