// A kernel's text with all that is tried in it as choices. See mend.h.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mend.h"

struct writing {
    const struct mends *m;
    FILE *out;
    unsigned line;
    unsigned *line_of;       // by mend
    unsigned *first;         // by token: its first mend, and 1 more
    unsigned char *closes;   // by token: how many } come behind it
    unsigned char *unrolls;  // by token: it is a loop to be unrolled, whatever its body has become
};

static void put_text(struct writing *w, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w->line += text[i] == '\n';
    fwrite(text, 1, n, w->out);
}

static void put(struct writing *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writing *w, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return;
    put_text(w, text, (size_t)n);
    free(text);
}

// On a line of its own, so that an error of the compiler tells which one it is.
static void begin(struct writing *w, unsigned mend)
{
    put(w, "\n");
    w->line_of[mend] = w->line;
}

static void put_token(struct writing *w, unsigned token)
{
    put_text(w, w->m->text.token[token].at, w->m->text.token[token].n);
}

static void put_statement(struct writing *w, const struct cu_statement *s)
{
    const struct cu_token *t = w->m->text.token;
    put_text(w, t[s->begin].at, (size_t)(t[s->end - 1].at + 1 - t[s->begin].at));
}

static const struct cu_statement *statement_at(const struct cu_text *t, unsigned begin)
{
    for (unsigned i = 0; i < t->n_statements; i++)
        if (t->statement[i].begin == begin)
            return &t->statement[i];
    return NULL;
}

// The mends of that token and kind, from the first on.
static unsigned next_of(const struct writing *w, unsigned token, enum mend_kind kind, unsigned from)
{
    unsigned i = from;
    while (i < w->m->n && w->m->all[i].token == token && (w->m->all[i].kind != kind || w->m->all[i].dropped))
        i++;
    return i < w->m->n && w->m->all[i].token == token ? i : w->m->n;
}

#define EACH(i, token, of_kind)                                                                                        \
    for (unsigned i = w->first[token] ? next_of(w, token, of_kind, w->first[token] - 1) : w->m->n; i < w->m->n;        \
         i = next_of(w, token, of_kind, i + 1))

// --- Statements ---

static void begin_statement(struct writing *w, const struct cu_statement *s)
{
    const struct cu_text *t = &w->m->text;
    EACH(i, s->begin, MEND_BEFORE)
    {
        begin(w, i);
        put(w, "if (mend_choice == %u) { %s }", i + 1, w->m->all[i].text);
    }
    if (s->declares || !t->token[s->begin].computed)
        return;
    put(w, "\n{ ");
    EACH(i, s->begin, MEND_SWAP)
    {
        begin(w, i);
        put(w, "if (mend_choice == %u) { ", i + 1);
        put_statement(w, &t->statement[w->m->all[i].as]);
        put(w, " }");
    }
    put(w, "if (true");
    EACH(i, s->begin, MEND_WITHOUT)
    put(w, " && mend_choice != %u", i + 1);
    if (s->follows)
        EACH(i, t->statement[s->follows - 1].begin, MEND_SWAP)
    put(w, " && mend_choice != %u", i + 1);
    put(w, ") { ");
    EACH(i, s->begin, MEND_OTHER)
    {
        begin(w, i);
        put(w, "if (mend_choice == %u) { %s } else ", i + 1, w->m->all[i].text);
    }
    put(w, "{\n");
    w->closes[s->end - 1] += 3;
}

// --- Expressions ---

static void put_sign(struct writing *w, unsigned token)
{
    unsigned group, n = 0, others = 0, first = 0;
    const int is = mend_sign(&w->m->text, token, &group);
    EACH(i, token, MEND_SIGN)
    {
        first = n ? first : i + 1;
        others |= (group * MEND_SIGNS + w->m->all[i].as) << 8 * n++;
        begin(w, i);
    }
    put_token(w, token);
    if (!n)
        return;
    put(w, " mend_at<%u, %u, %u, 0x%xu>() ", group * MEND_SIGNS + (unsigned)is, first, n, others);
    put_token(w, token);
    EACH(i, token, MEND_SIGN)
    w->line_of[i] = w->line;
}

static void put_word(struct writing *w, unsigned token)
{
    const struct cu_token *x = &w->m->text.token[token];
    const struct cu_name *of = x->kind == CU_WORD ? cu_name_at(&w->m->text, token) : NULL;
    const bool array = of && (of->kind == CU_POINTER || of->kind == CU_SHARED || of->kind == CU_REGISTERS);
    bool any = false;
    EACH(i, token, MEND_WORD)
    {
        if (!any)
            put(w, " (");
        any = true;
        begin(w, i);
        put(w, "mend_choice == %u ? ", i + 1);
        if (array)
            put(w, "%s : ", w->m->all[i].text);
        else
            put(w, "mend_as(%.*s, %s) : ", (int)x->n, x->at, w->m->all[i].text);
    }
    if (any)
        put(w, "\n");
    put_token(w, token);
    if (any)
        put(w, ")");
}

// Behind an operand: those of one operator share what leaves the operand as it is.
static void put_terms(struct writing *w, unsigned token)
{
    static const char *const neutral[] = { "0", "0", "1", "1", "0x7fffffff", "0" };
    static const unsigned by_precedence[] = { 2, 3, 4, 0, 1, 5 };
    for (unsigned place = 0; place < sizeof by_precedence / sizeof *by_precedence; place++) {
        const unsigned sign = by_precedence[place];
        bool any = false;
        EACH(i, token, MEND_TERM)
        {
            if (w->m->all[i].as != sign)
                continue;
            if (!any)
                put(w, " %s (", mend_sign_text(0, sign));
            any = true;
            begin(w, i);
            put(w, "mend_choice == %u ? mend_as(0, %s) : ", i + 1, w->m->all[i].text);
        }
        if (any)
            put(w, "\n%s)", neutral[sign]);
    }
}

// --- All of it ---

static void write_token(struct writing *w, unsigned i)
{
    const struct cu_text *t = &w->m->text;
    const char *from = i ? t->token[i - 1].at + t->token[i - 1].n : t->text, *to = t->token[i].at;
    unsigned group;
    put_text(w, from, (size_t)(to - from));
    if (w->unrolls[i] && !memchr(from, '#', (size_t)(to - from)))
        put(w, "_Pragma(\"unroll\") ");
    const struct cu_statement *s = w->first[i] ? statement_at(t, i) : NULL;
    if (s)
        begin_statement(w, s);
    if (w->first[i] && t->token[i].kind == CU_SIGN && mend_sign(t, i, &group) >= 0)
        put_sign(w, i);
    else
        put_word(w, i);
    if (w->first[i])
        put_terms(w, i);
    for (; w->closes[i]; w->closes[i]--)
        put(w, " }");
}

// What the file includes, before all namespaces.
static void put_includes(struct writing *w)
{
    const char *text = w->m->text.text;
    for (const char *p = text; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n'))
        if (!strncmp(p, "#include", strlen("#include")))
            put(w, "%.*s\n", (int)strcspn(p, "\n"), p);
}

// A copy of the whole text, with one word of it as another, in a namespace of its own; the kernels, which have none,
// get other names.
static void put_copy(struct writing *w, unsigned mend)
{
    const struct cu_text *t = &w->m->text;
    const struct mend *x = &w->m->all[mend];
    put(w, "\nnamespace mend_%u {\n#line %u\n", mend + 1, (mend + 1) * MEND_FIX_LINES);
    for (unsigned i = 0; i < t->n_tokens; i++) {
        const char *from = i ? t->token[i - 1].at + t->token[i - 1].n : t->text;
        put_text(w, from, (size_t)(t->token[i].at - from));
        if (i == x->token)
            put(w, "%s", x->text);
        else
            put_token(w, i);
        if (t->token[i].n >= 4 && !memcmp(t->token[i].at, "gemm", 4))
            put(w, "_%u", mend + 1);
    }
    put(w, "%s\n}\n", t->token[t->n_tokens - 1].at + t->token[t->n_tokens - 1].n);
}

char *mends_write(const struct mends *m, const char *include, unsigned *line_of)
{
    const struct cu_text *t = &m->text;
    struct writing w = { .m = m, .line = 1, .line_of = line_of };
    char *text = NULL;
    size_t bytes;
    w.first = calloc(t->n_tokens, sizeof *w.first);
    w.closes = calloc(t->n_tokens, 1);
    w.unrolls = calloc(t->n_tokens, 1);
    w.out = open_memstream(&text, &bytes);
    if (w.first && w.closes && w.unrolls && w.out) {
        for (unsigned i = m->n; i-- > 0;)
            w.first[m->all[i].token] = i + 1;
        for (unsigned i = 0; i < t->n_loops; i++)
            w.unrolls[t->loop[i].begin] = 1;
        put(&w, "#include \"%s\"\n", include);
        put_includes(&w);
        put(&w, "namespace mend_0 {\n");
        for (unsigned i = 0; i < t->n_tokens; i++)
            write_token(&w, i);
        put(&w, "%s\n}\n", t->token[t->n_tokens - 1].at + t->token[t->n_tokens - 1].n);
        for (unsigned i = 0; i < m->n; i++)
            if (m->all[i].kind == MEND_FIXED && !m->all[i].dropped)
                put_copy(&w, i);
    }
    if (w.out)
        fclose(w.out);
    free(w.first);
    free(w.closes);
    free(w.unrolls);
    return text;
}
