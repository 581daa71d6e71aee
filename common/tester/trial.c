// See trial.h.
#include "trial.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "base/source.h"
#include "base/text.h"
#include "device/sim.h"
#include "slice.h"

enum { OPERANDS = 4, OPERAND = 64, OP = 64, WORDS = TRIAL_WHATS, HELD = 32 };

// A line of the PTX: an instruction without a guard, and its operands.
struct inst {
    char op[OP], operand[OPERANDS][OPERAND];
    int n;
};

// Between reading and writing it.
struct edit {
    struct trials *t;
    const char *kernel, *text;
    const char **lines;  // of it, from 1 on
    unsigned n_lines;
    unsigned *site;  // by line: its number from 1 on; 0: none
    struct {
        char name[OPERAND];
        int size;
    } held[HELD];  // registers that hold M, N (1) or K (2), of 32 or 64 bits
    unsigned n_held;
    FILE *out;
};

static bool ends(const char *text, const char *with)
{
    const size_t n = strlen(text), m = strlen(with);
    return n >= m && !strcmp(text + n - m, with);
}

static bool is_number(const char *operand)
{
    return isdigit((unsigned char)operand[0]) || (operand[0] == '-' && isdigit((unsigned char)operand[1]));
}

// --- Reading a line ---

static bool read_inst(const char *line, struct inst *in)
{
    const char *p = line + strspn(line, " \t");
    const size_t op = strcspn(p, " \t;\n");
    *in = (struct inst){ .n = 0 };
    if (!islower((unsigned char)*p) || op >= OP || p[op] == ';')
        return false;
    memcpy(in->op, p, op);
    p += op + strspn(p + op, " \t");
    while (*p && *p != ';' && *p != '\n' && in->n < OPERANDS) {
        int depth = 0;
        size_t n = 0;
        for (; p[n] && p[n] != ';' && p[n] != '\n' && (p[n] != ',' || depth); n++)
            depth += p[n] == '{' || p[n] == '[' ? 1 : p[n] == '}' || p[n] == ']' ? -1 : 0;
        if (n >= OPERAND)
            return false;
        memcpy(in->operand[in->n++], p, n);
        p += n + (p[n] == ',');
        p += strspn(p, " \t");
    }
    return *p == ';';
}

static bool is_wide(const struct inst *in)
{
    return ends(in->op, "64");
}

// --- What may be changed ---

static const struct {
    const char *op;
    enum trial_use use;
} uses[] = { { "add.", TRIAL_ADDS },
             { "sub.", TRIAL_ADDS },
             { "mul.lo.", TRIAL_MULTIPLIES },
             { "mul.wide.", TRIAL_MULTIPLIES },
             { "mad.lo.", TRIAL_MULTIPLIES },
             { "shl.", TRIAL_SHIFTS_UP },
             { "shr.", TRIAL_SHIFTS_DOWN },
             { "and.b", TRIAL_MASKS },
             { "or.b", TRIAL_ADDS },
             { "xor.b", TRIAL_ADDS },
             { "min.", TRIAL_ADDS },
             { "max.", TRIAL_ADDS },
             { "setp.", TRIAL_COMPARES },
             { "mov.u32", TRIAL_SETS },
             { "mov.b32", TRIAL_SETS },
             { "mbarrier.init", TRIAL_COUNTS },
             { "bar.sync", TRIAL_COUNTS },
             { "mbarrier.arrive.expect_tx", TRIAL_EXPECTS },
             { "cp.async.wait_group", TRIAL_WAITS },
             { "cp.async.bulk.wait_group", TRIAL_WAITS },
             { "wgmma.wait_group", TRIAL_WAITS },
             { "mbarrier.try_wait", TRIAL_PARITY } };

static bool is_of_whole_numbers(const struct inst *in)
{
    static const char *const types[] = { ".s32", ".u32", ".b32", ".s64", ".u64", ".b64" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ends(in->op, types[i]))
            return true;
    return false;
}

static bool is_simple(enum trial_use use)
{
    return use < TRIAL_COUNTS || use == TRIAL_NONE;
}

// The operand that is a number, or the last one of what counts, expects and waits; 0: none.
static int number_of(const struct inst *in, enum trial_use use)
{
    int found = 0;
    if (!is_simple(use))
        return use == TRIAL_WAITS ? in->n - 1 : in->n > 1 ? in->n - 1 : -1;
    for (int i = 1; i < in->n; i++)
        if (is_number(in->operand[i]))
            found = i;
    return found;
}

static int size_of(const struct edit *e, const struct inst *in, int *operand)
{
    for (int i = 1; i < in->n; i++)
        for (unsigned h = 0; h < e->n_held; h++)
            if (!strcmp(in->operand[i], e->held[h].name)) {
                *operand = i;
                return e->held[h].size;
            }
    return -1;
}

// The number that the register was set to before; 0: it is not known.
static long value_of(const char *text, const char *before, const char *name)
{
    char set[OPERAND + 16];
    long value = 0;
    snprintf(set, sizeof set, "mov.u32 \t%s, ", name);
    for (const char *p = text; (p = strstr(p, set)) && p < before; p++)
        value = strtol(p + strlen(set), NULL, 0);
    return value;
}

// False: nothing in it may be changed.
static bool read_site(const struct edit *e, const char *line, struct trial_site *s)
{
    struct inst in;
    int operand;
    size_t i = 0;
    if (!read_inst(line, &in))
        return false;
    while (i < sizeof uses / sizeof *uses && !text_begins(in.op, uses[i].op))
        i++;
    if (i == sizeof uses / sizeof *uses)
        return false;
    const enum trial_use use = uses[i].use;
    if (is_simple(use) && !is_of_whole_numbers(&in))
        return false;
    const int number = number_of(&in, use);
    if (text_begins(in.op, "setp.eq") || text_begins(in.op, "setp.ne"))
        return false;  // which thread does it, and the like
    s->size = is_simple(use) ? size_of(e, &in, &operand) : -1;
    s->use = number > 0 || !is_simple(use) ? use : use == TRIAL_COMPARES ? TRIAL_COMPARES : TRIAL_NONE;
    if (number < 0)
        return false;
    s->was = is_number(in.operand[number])                 ? strtol(in.operand[number], NULL, 0)
             : use == TRIAL_COUNTS || use == TRIAL_EXPECTS ? value_of(e->text, line, in.operand[number])
                                                           : 0;
    s->op = (unsigned)i;
    if (labs(s->was) > INT32_MAX)
        return false;  // of a descriptor: no number that anybody wrote
    s->result = is_simple(use) && use != TRIAL_COMPARES && use != TRIAL_SETS && in.operand[0][0] == '%';
    return s->use != TRIAL_NONE || s->size >= 0 || s->result;
}

// --- Writing ---

// The registers are %gt0 to %gt3, %gw0, %gw1 of 64 bits, and the predicate %gp0.
static void load_word(const struct edit *e, unsigned site, enum trial_what what, const char *to)
{
    fprintf(e->out, "ld.const.b32 %s, [gemm_trials+%u];\n", to, (site * WORDS + what) * 4);
}

// %gt0 or %gw0 in place of an operand, with the number of the table more.
static const char *put_number(const struct edit *e, unsigned site, const char *operand, bool wide)
{
    load_word(e, site, TRIAL_NUMBER, "%gt0");
    if (!wide) {
        fprintf(e->out, "add.s32 %%gt0, %%gt0, %s;\n", operand);
        return "%gt0";
    }
    fprintf(e->out, "cvt.s64.s32 %%gw0, %%gt0;\nadd.s64 %%gw0, %%gw0, %s;\n", operand);
    return "%gw0";
}

// %gt1 or %gw1 in place of M, N or K: that, or one of the two others.
static const char *put_size(const struct edit *e, unsigned site, int size, bool wide)
{
    load_word(e, site, TRIAL_SIZE, "%gt2");
    fprintf(e->out, "ld.param.b32 %%gt1, [%s_param_%d];\n", e->kernel, size);
    for (int by = 1; by < 3; by++)
        fprintf(
            e->out,
            "ld.param.b32 %%gt3, [%s_param_%d];\nsetp.eq.s32 %%gp0, %%gt2, %d;\nselp.b32 %%gt1, %%gt3, %%gt1, %%gp0;\n",
            e->kernel, (size + by) % 3, by);
    if (!wide)
        return "%gt1";
    fprintf(e->out, "cvt.s64.s32 %%gw1, %%gt1;\n");
    return "%gw1";
}

static void put_result(const struct edit *e, unsigned site, const char *r, bool wide)
{
    const char *bits = wide ? "64" : "32";
    load_word(e, site, TRIAL_UP, "%gt2");
    fprintf(e->out, "shl.b%s %s, %s, %%gt2;\n", bits, r, r);
    load_word(e, site, TRIAL_DOWN, "%gt2");
    fprintf(e->out, "shr.s%s %s, %s, %%gt2;\n", bits, r, r);
    load_word(e, site, TRIAL_ROWS, "%gt2");
    fprintf(e->out, "mov.u32 %%gt3, %%ctaid.y;\nmul.lo.s32 %%gt1, %%gt2, %%gt3;\n");
    load_word(e, site, TRIAL_COLUMNS, "%gt2");
    fprintf(e->out, "mov.u32 %%gt3, %%ctaid.x;\nmad.lo.s32 %%gt1, %%gt2, %%gt3, %%gt1;\n");
    load_word(e, site, TRIAL_MORE, "%gt2");
    fprintf(e->out, "add.s32 %%gt1, %%gt1, %%gt2;\n");
    if (wide)
        fprintf(e->out, "cvt.s64.s32 %%gw1, %%gt1;\n");
    fprintf(e->out, "add.s%s %s, %s, %s;\n", bits, r, r, wide ? "%gw1" : "%gt1");
}

static void write_inst(const struct edit *e, const struct inst *in)
{
    fprintf(e->out, "%s ", in->op);
    for (int i = 0; i < in->n; i++)
        fprintf(e->out, "%s%s", i ? ", " : "", in->operand[i]);
    fprintf(e->out, ";\n");
}

static void write_site(const struct edit *e, unsigned site, const char *line)
{
    const struct trial_site *s = &e->t->sites[site];
    struct inst in;
    int of_size = 0;
    read_inst(line, &in);
    const int number = number_of(&in, s->use);
    if (s->use == TRIAL_WAITS) {
        write_inst(e, &in);
        load_word(e, site, TRIAL_NUMBER, "%gt0");
        fprintf(e->out, "setp.ne.s32 %%gp0, %%gt0, 0;\n@%%gp0 %s 0;\n", in.op);
        return;
    }
    if (s->size >= 0 && size_of(e, &in, &of_size) >= 0) {
        const bool wide = text_begins(in.operand[of_size], "%rd");
        snprintf(in.operand[of_size], OPERAND, "%s", put_size(e, site, s->size, wide));
    }
    if (s->use == TRIAL_PARITY) {
        load_word(e, site, TRIAL_NUMBER, "%gt0");
        fprintf(e->out, "xor.b32 %%gt0, %%gt0, %s;\n", in.operand[number]);
        snprintf(in.operand[number], OPERAND, "%%gt0");
    } else if (s->use != TRIAL_NONE) {
        const int at = number ? number : 1;
        const bool wide = is_wide(&in) && s->use != TRIAL_SHIFTS_UP && s->use != TRIAL_SHIFTS_DOWN && is_simple(s->use);
        snprintf(in.operand[at], OPERAND, "%s", put_number(e, site, in.operand[at], wide));
    }
    write_inst(e, &in);
    if (s->result)
        put_result(e, site, in.operand[0],
                   is_wide(&in) || text_begins(in.op, "mul.wide") || text_begins(in.op, "cvt.s64"));
}

// --- The text ---

// Where each line of it begins, from 1 on; *n: how many there are.
static const char **lines_of(const char *text, unsigned *n)
{
    unsigned count = 2;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        count++;
    const char **lines = calloc(count + 1, sizeof *lines);
    *n = 1;
    for (const char *p = text; lines && p && *n < count;) {
        const char *end = strchr(p, '\n');
        lines[(*n)++] = p;
        p = end ? end + 1 : NULL;
    }
    return lines;
}

static void read_sizes(struct edit *e)
{
    struct inst in;
    char param[OPERAND];
    for (unsigned i = 1; i < e->n_lines && e->n_held < HELD; i++) {
        int from, size = -1;
        if (!read_inst(e->lines[i], &in) || in.n != 2)
            continue;
        for (int s = 0; s < 3 && !strcmp(in.op, "ld.param.u32"); s++) {
            snprintf(param, sizeof param, "[%s_param_%d]", e->kernel, s);
            size = strcmp(in.operand[1], param) ? size : s;
        }
        if (!strcmp(in.op, "cvt.s64.s32"))
            size = size_of(e, &in, &from);
        if (size < 0)
            continue;
        snprintf(e->held[e->n_held].name, OPERAND, "%s", in.operand[0]);
        e->held[e->n_held].size = size;
        e->n_held++;
    }
}

// --- Which line is it? ---

// Whether the line has what such an instruction is made of.
static bool says(const char *file, unsigned line, enum trial_use use)
{
    static const char *const signs[] = {
        [TRIAL_ADDS] = "+-^<>%/", [TRIAL_MULTIPLIES] = "*[",   [TRIAL_SHIFTS_UP] = "*[<", [TRIAL_SHIFTS_DOWN] = "/>%",
        [TRIAL_MASKS] = "%/&^",   [TRIAL_COMPARES] = "<>=!?%", [TRIAL_SETS] = "=",        [TRIAL_COUNTS] = "(",
        [TRIAL_EXPECTS] = "(",    [TRIAL_WAITS] = "(",         [TRIAL_PARITY] = "(",      [TRIAL_NONE] = "+-*/%&^[",
    };
    char text[256];
    source_text(file, line, text, sizeof text);
    char *comment = strstr(text, "//");
    if (comment)
        *comment = 0;
    return strpbrk(text, signs[use]) && (use != TRIAL_SETS || strstr(text, "for"));
}

// Whether the number stands on the line as it is: 8 of lane % 8, and of tid / 8.
static bool has_number(const char *file, unsigned line, const struct trial_site *s)
{
    const long number = s->use == TRIAL_MASKS && s->was > 0                        ? s->was + 1
                        : s->use == TRIAL_SHIFTS_UP || s->use == TRIAL_SHIFTS_DOWN ? 1L << (s->was & 31)
                                                                                   : labs(s->was);
    char text[256], digits[24];
    source_text(file, line, text, sizeof text);
    const int n = snprintf(digits, sizeof digits, "%ld", number);
    for (const char *p = text; (p = strstr(p, digits)); p++)
        if ((p == text || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[n]))
            return true;
    return false;
}

// The compiler computes what several lines have in common once, and may name another line for it: then the line that
// first uses it tells. 0: neither has what it is made of.
static unsigned line_that_says(const struct simt_kernel *k, const char *file, const struct trial_site *s,
                               uint32_t number)
{
    enum { NEAR = 400 };
    struct simt_instruction in;
    struct inst made, user;
    char text[256];
    unsigned found = says(file, s->line, s->use) ? s->line : 0;
    if (found && (s->use == TRIAL_NONE || has_number(file, found, s)))
        return found;
    if (!simt_instruction(k, number, &in) || in.text_bytes + 2 > sizeof text)
        return 0;
    snprintf(text, sizeof text, "%.*s;", (int)in.text_bytes, in.text);
    if (!read_inst(text, &made) || made.operand[0][0] != '%')
        return found;
    for (uint32_t i = number + 1; i < number + NEAR && simt_instruction(k, i, &in); i++) {
        snprintf(text, sizeof text, "%.*s;", (int)(in.text_bytes + 2 > sizeof text ? 0 : in.text_bytes), in.text);
        const unsigned line = read_inst(text, &user) ? slice_line(k, file, i, NULL) : 0;
        for (int j = 1; line && j < user.n; j++)
            if (!strcmp(user.operand[j], made.operand[0]) && says(file, line, s->use) &&
                (!found || has_number(file, line, s)))
                return line;
    }
    return found;
}

// Instructions that a loop or a function was unrolled to have the same number; without one each is for itself.
static unsigned group_of(const struct trials *t, const struct trial_site *s)
{
    unsigned i = s->use == TRIAL_NONE ? t->n_sites : 0;
    while (i < t->n_sites && (t->sites[i].line != s->line || t->sites[i].use != s->use || t->sites[i].was != s->was ||
                              t->sites[i].size != s->size || t->sites[i].op != s->op))
        i++;
    return i;
}

// Which lines of the file have an instruction that was executed: all instructions of such a line are changed together,
// whichever copy of a function they are in.
static void mark_lines(const struct simt_kernel *k, const char *file, const unsigned char *ran,
                       unsigned char marked[TRIAL_LINES])
{
    struct simt_instruction in;
    memset(marked, 0, TRIAL_LINES);
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++)
        if (ran[i])
            marked[slice_line(k, file, i, NULL) % TRIAL_LINES] = 1;
}

// Which instruction of the kernel stands in which line.
static void find_sites(struct edit *e, const struct simt_kernel *k, const char *file, const unsigned char *ran)
{
    static unsigned char marked[TRIAL_LINES];
    struct simt_instruction in;
    mark_lines(k, file, ran, marked);
    for (uint32_t i = 0; simt_instruction(k, i, &in) && e->t->n_sites < TRIAL_SITES; i++) {
        struct trial_site s = { .number = i, .ran = ran[i] };
        const unsigned line = slice_line(k, file, i, NULL);
        if (!line || !marked[line % TRIAL_LINES] || in.ptx_line >= e->n_lines || e->site[in.ptx_line] ||
            !read_site(e, e->lines[in.ptx_line], &s))
            continue;
        s.line = line;
        s.group = group_of(e->t, &s);
        s.says = line_that_says(k, file, &s, i);
        e->t->sites[e->t->n_sites++] = s;
        e->site[in.ptx_line] = e->t->n_sites;
    }
}

static void write_text(const struct edit *e)
{
    static const char registers[] = ".reg .b32 %gt<4>;\n.reg .b64 %gw<2>;\n.reg .pred %gp<1>;\n";
    for (unsigned i = 1; i < e->n_lines; i++) {
        const char *line = e->lines[i];
        if (e->site[i])
            write_site(e, e->site[i] - 1, line);
        else
            fprintf(e->out, "%.*s\n", (int)strcspn(line, "\n"), line);
        if (text_begins(line, ".address_size"))
            fprintf(e->out, ".const .align 4 .b8 gemm_trials[%u];\n", (e->t->n_sites + 1) * WORDS * 4);
        if (text_begins(line, "{\n"))  // of a kernel, as the compiler writes it
            fputs(registers, e->out);
    }
}

// The same text with a table, which the caller frees; NULL where memory runs out.
static char *changed(struct edit *e, const struct simt_kernel *k, const char *file, const unsigned char *ran,
                     size_t *bytes)
{
    char *result = NULL;
    e->lines = lines_of(e->text, &e->n_lines);
    e->site = calloc(e->n_lines + 1, sizeof *e->site);
    if (e->lines && e->site) {
        read_sizes(e);
        find_sites(e, k, file, ran);
        e->out = open_memstream(&result, bytes);
    }
    if (e->out) {
        write_text(e);
        fclose(e->out);
    }
    free(e->lines);
    free(e->site);
    return result;
}

bool trials_open(struct trials *t, const struct probe *p, const char *file, const unsigned char *ran)
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    struct simt_variable table;
    const struct simt_kernel *k = (const struct simt_kernel *)dev_kernel(p->dev, p->module, p->geometry.kernel);
    char *text = ptx_file_read(p->ptx, &bytes, ignored);
    struct edit e = { .t = t, .kernel = p->geometry.kernel, .text = text };
    char *with_table = text && k ? changed(&e, k, file, ran, &bytes) : NULL;
    t->probe = *p;
    t->probe.module = with_table ? dev_load_text(p->dev, p->ptx, with_table, bytes) : NULL;
    free(with_table);
    free(text);
    if (!t->probe.module ||
        !simt_variable_search((struct simt_module *)t->probe.module, "gemm_trials", &table, ignored))
        return false;
    t->table = table.address;
    return true;
}

void trials_close(struct trials *t)
{
    if (t->probe.module)
        dev_unload(t->probe.dev, t->probe.module);
}

bool trials_set(struct trials *t, const struct trial *x, bool on)
{
    const struct trial_site *s = &t->sites[x->site];
    bool ok = true;
    const int32_t value = !on                       ? 0
                          : x->what == TRIAL_NUMBER ? (int32_t)(x->is - s->was)
                          : x->what == TRIAL_SIZE   ? (int32_t)(x->is - s->size + 3) % 3
                                                    : (int32_t)x->is;
    for (unsigned i = 0; i < t->n_sites && ok; i++)
        if (t->sites[i].group == s->group)
            ok = dev_upload(t->probe.dev, t->table + (i * WORDS + x->what) * sizeof value, &value, sizeof value);
    return ok;
}
