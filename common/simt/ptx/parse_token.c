// What all of the parser uses: errors, memory, and the token in hand. See parse.h.
#include "parse.h"

#include <stdarg.h>

void parse_fail(struct parser *p, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->error_at = at ? at : p->lex.tok.text.p;
    p->place = ptx_error_args(p->m, p->error_at, p->error, format, args);
    va_end(args);
    longjmp(*p->failed, 1);
}

void *parse_alloc(struct parser *p, size_t bytes)
{
    void *a = arena_alloc(p->m->arena, bytes);
    if (!a)
        parse_fail(p, NULL, "out of memory");
    return a;
}

void *parse_grow(struct parser *p, void *items, uint32_t count, size_t size)
{
    void *a = arena_grow(p->m->arena, items, count, size);
    if (!a)
        parse_fail(p, NULL, "out of memory");
    return a;
}

bool parse_accept(struct parser *p, char punct)
{
    if (p->lex.tok.kind != TOK_PUNCT || p->lex.tok.punct != punct)
        return false;
    lex_next(&p->lex);
    return true;
}

void parse_expect(struct parser *p, char punct)
{
    const struct token *t = &p->lex.tok;
    if (parse_accept(p, punct))
        return;
    if (t->kind == TOK_END)
        parse_fail(p, NULL, "the text ends where '%c' is expected: is the file cut off?", punct);
    parse_fail(p, NULL, "expected '%c' before '%.*s'", punct, (int)(t->text.n < 40 ? t->text.n : 40), t->text.p);
}

struct str parse_name(struct parser *p, const char *what)
{
    struct str s = p->lex.tok.text;
    if (p->lex.tok.kind != TOK_NAME)
        parse_fail(p, NULL, "expected %s", what);
    lex_next(&p->lex);
    return s;
}

void parse_add(struct parser *p, struct ptx_inst in)
{
    struct ptx_func *f = p->f;
    f->insts = parse_grow(p, f->insts, f->n_insts, sizeof *f->insts);
    f->insts[f->n_insts++] = in;
}
