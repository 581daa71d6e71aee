// See mend.h.
#include "mend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/program.h"
#include "base/ptx_file.h"
#include "device/sim.h"

// --- In words ---

static int length(const struct cu_text *t, unsigned begin, unsigned end)
{
    return (int)(t->token[end - 1].at + t->token[end - 1].n - t->token[begin].at);
}

static void say_sign(const struct cu_text *t, const struct mend *x, char *text, size_t size)
{
    const unsigned begin = cu_operand_begin(t, x->token - 1), end = cu_operand_end(t, x->token + 1);
    const int left = length(t, begin, x->token), right = length(t, x->token + 1, end);
    const char *a = t->token[begin].at, *b = t->token[x->token + 1].at;
    if (x->as == MEND_LEFT)
        snprintf(text, size, "%.*s in place of %.*s", left, a, length(t, begin, end), a);
    else if (x->as == MEND_RIGHT)
        snprintf(text, size, "%.*s in place of %.*s", right, b, length(t, begin, end), a);
    else
        snprintf(text, size, "%.*s %s %.*s in place of %.*s", left, a, x->text, right, b, length(t, begin, end), a);
}

static void say_statement(const struct cu_text *t, const struct mend *x, char *text, size_t size)
{
    unsigned i = 0;
    while (t->statement[i].begin != x->token)
        i++;
    const struct cu_statement *s = &t->statement[i];
    const char *is = t->token[s->begin].at;
    const int n = length(t, s->begin, s->end) - 1;
    if (x->kind == MEND_WITHOUT)
        snprintf(text, size, "without %.*s", n, is);
    else if (x->kind == MEND_OTHER)
        snprintf(text, size, "with %.*s", (int)strcspn(x->text, ";"), x->text);
    else
        snprintf(text, size, "with %.*s before %.*s", length(t, t->statement[x->as].begin, t->statement[x->as].end) - 1,
                 t->token[t->statement[x->as].begin].at, n, is);
}

void mend_say(const struct mends *m, const struct mend *x, char *text, size_t size)
{
    const struct cu_text *t = &m->text;
    const struct cu_token *is = &t->token[x->token];
    char what[2 * MEND_WORDS];
    unsigned begin;
    switch (x->kind) {
    case MEND_SIGN:
        say_sign(t, x, what, sizeof what);
        snprintf(text, size, "with %s", what);
        break;
    case MEND_WORD:
    case MEND_FIXED:
        snprintf(text, size, "with %s in place of %.*s", x->text, (int)is->n, is->at);
        break;
    case MEND_TERM:
        begin = cu_operand_begin(t, x->token);
        snprintf(text, size, "with %.*s %s %s in place of %.*s", length(t, begin, x->token + 1), t->token[begin].at,
                 mend_sign_text(0, x->as), x->text, length(t, begin, x->token + 1), t->token[begin].at);
        break;
    case MEND_BEFORE:
        snprintf(text, size, "with %.*s before the statement", (int)strcspn(x->text, ";"), x->text);
        break;
    default:
        say_statement(t, x, text, size);
        break;
    }
}

enum { MEND_BYTES = 1500000 };  // of PTX, in copies: about a second of the compiler's time

// --- Compiling ---

#ifdef MEND_COMPILER

enum { FLAGS_OF_TARGET = 8 };

static const struct target {
    const char *name, *flags[FLAGS_OF_TARGET];
} targets[] = { MEND_TARGETS };

static const char *const *flags_of(const char *ptx)
{
    char name[32];
    bool alone;
    const unsigned sm = ptx_text_target(ptx, &alone);
    snprintf(name, sizeof name, "compute_%u%s", sm, alone ? "a" : "");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].name, name))
            return targets[i].flags;
    return NULL;
}

static int add_flags(char **argv, const char *const *flags, size_t n)
{
    int added = 0;
    for (size_t i = 0; i < n && flags[i]; i++)
        if (strcmp(flags[i], "-lineinfo") != 0)
            argv[added++] = (char *)flags[i];
    return added;
}

// What the compiler said, to be freed; NULL: it could not be started. It ends after some seconds of processor time,
// whatever it was asked for. folder: the kernel's own, for what it includes.
static char *compile(const struct mends *m, const char *cu, const char *folder, const char *const *target,
                     const char *ptx, int *status)
{
    static const char *const flags[] = { MEND_FLAGS }, *const quick[] = { MEND_QUICK };
    enum { FLAGS = sizeof flags / sizeof *flags, QUICK = sizeof quick / sizeof *quick, OTHERS = 24 };
    char *argv[FLAGS + QUICK + OTHERS] = { (char *)"sh", (char *)"-c", (char *)"ulimit -t 6 && exec \"$@\"",
                                           (char *)"sh", (char *)MEND_COMPILER };
    char *said;
    int n = 5;
    n += add_flags(argv + n, flags, FLAGS);
    n += add_flags(argv + n, quick, QUICK);
    n += add_flags(argv + n, target, FLAGS_OF_TARGET);
    char *const last[] = { m->probe.type == DEV_F64 ? (char *)"-DREAL=double" : (char *)"-DREAL=float",
                           (char *)"-I",
                           (char *)folder,
                           (char *)"-o",
                           (char *)ptx,
                           (char *)cu };
    memcpy(argv + n, last, sizeof last);
    return program_run(argv, &said, status) ? said : NULL;
}

// Drops what stands on lines that the compiler has named. Whether there was some.
static bool drop(struct mends *m, const char *said, const unsigned *line_of)
{
    bool any = false;
    for (const char *p = said; (p = strpbrk(p, "(:e")); p++) {
        const unsigned line = *p == 'e' ? (!strncmp(p, "e ", 2) ? (unsigned)strtoul(p + 2, NULL, 10) : 0)
                                        : (unsigned)strtoul(p + 1, NULL, 10);
        for (unsigned i = 0; line && i < m->n; i++)
            if ((line_of[i] == line || line / MEND_FIX_LINES == i + 1) && !m->all[i].dropped)
                any = m->all[i].dropped = true;
    }
    return any;
}

// One try. Whether another one may do better: then what does not compile is dropped.
static bool try_to_make(struct mends *m, const char *folder, const char *const *target, char **ptx, size_t *bytes)
{
    char path[128], ignored[DEV_ERROR_MAX];
    struct scratch s;
    int status = 1;
    bool again = false;
    unsigned *line_of = calloc(m->n + 1, sizeof *line_of);
    char *text = line_of ? mends_write(m, "mend.cuh", line_of) : NULL;
    if (text && scratch_open(&s, "kernel.cu", text)) {
        snprintf(path, sizeof path, "%s/kernel.ptx", s.folder);
        char *said = compile(m, s.path, folder, target, path, &status);
        if (said && !status)
            *ptx = ptx_file_read(path, bytes, ignored);
        again = said && status && drop(m, said, line_of);
        remove(path);
        scratch_close(&s);
        free(said);
    }
    free(line_of);
    free(text);
    return again;
}

static char *make_ptx(struct mends *m, const char *file, const char *old, size_t *bytes)
{
    enum { TRIES = 4 };
    const char *end = strrchr(file, '/');
    const char *const *target = flags_of(old);
    char folder[1024], *ptx = NULL;
    snprintf(folder, sizeof folder, "%.*s", end ? (int)(end - file) : 1, end ? file : ".");
    for (int i = 0; i < TRIES && target && try_to_make(m, folder, target, &ptx, bytes); i++)
        ;
    return ptx;
}

#else

static char *make_ptx(struct mends *m, const char *file, const char *old, size_t *bytes)
{
    (void)m, (void)file, (void)old, (void)bytes;
    return NULL;
}

#endif

// --- All of it ---

bool mends_open(struct mends *m, const struct probe *p, const char *file, const unsigned char *rank, unsigned lines)
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes = 0;
    struct simt_variable choice;
    *m = (struct mends){ .probe = *p };
    m->probe.module = NULL;
    snprintf(m->kernel, sizeof m->kernel, "%s", p->geometry.kernel);
    m->all = calloc(MENDS, sizeof *m->all);
    if (!m->all || !cu_text_read(&m->text, file))
        return false;
    char *old = ptx_file_read(p->ptx, &bytes, ignored);
    if (!old || strstr(old, "wgmma")) {  // whose registers would be copied where a choice is made
        free(old);
        return false;
    }
    m->fixes = bytes ? (unsigned)(MEND_BYTES / bytes) : 0;
    m->fixes = m->fixes < MEND_FIXES ? m->fixes : MEND_FIXES;
    mends_find(m, rank, lines);
    char *ptx = make_ptx(m, file, old, &bytes);
    free(old);
    m->probe.module = ptx ? dev_load_text(p->dev, p->ptx, ptx, bytes) : NULL;
    free(ptx);
    if (!m->probe.module ||
        !simt_variable_search((struct simt_module *)m->probe.module, "mend_choice", &choice, ignored))
        return false;
    m->choice = choice.address;
    return true;
}

void mends_close(struct mends *m)
{
    if (m->probe.module)
        dev_unload(m->probe.dev, m->probe.module);
    cu_text_free(&m->text);
    free(m->all);
}

bool mends_set(struct mends *m, const struct mend *x)
{
    const bool fixed = x && x->kind == MEND_FIXED;
    const uint32_t number = x ? (uint32_t)(x - m->all) + 1 : 0, value = fixed ? 0 : number;
    char *name = m->probe.geometry.kernel;
    const size_t room = sizeof m->probe.geometry.kernel;
    if (fixed)
        snprintf(name, room, "%.*s_%u", (int)room - 12, m->kernel, number);
    else
        snprintf(name, room, "%s", m->kernel);
    return dev_upload(m->probe.dev, m->choice, &value, sizeof value);
}
