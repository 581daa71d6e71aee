// Tokens: taking those that are expected.
#include "irptx/parse.h"

#include <ctype.h>
#include <string.h>

bool ll_is(const struct parser *p, const char *text)
{
    const struct token *t = &p->l.token;
    return (t->kind == TOKEN_SIGN || t->kind == TOKEN_WORD) && str_is(t->text, text);
}

bool ll_take(struct parser *p, const char *sign)
{
    if (!ll_is(p, sign))
        return false;
    ll_next(&p->l);
    return true;
}

void ll_fail(struct parser *p, const char *expected)
{
    const int n = (int)strcspn(p->l.token.at, "\n");
    ir_fail(p->m, "the IR has no %s at: %.*s", expected, n < 60 ? n : 60, p->l.token.at);
}

void ll_want(struct parser *p, const char *sign)
{
    if (!ll_take(p, sign))
        ll_fail(p, sign);
}

uint64_t ll_number(struct parser *p)
{
    const struct str t = p->l.token.text;
    uint64_t n = 0;
    if (p->l.token.kind != TOKEN_NUMBER)
        ll_fail(p, "number");
    for (uint32_t i = 0; i < t.n; i++) {
        if (!isdigit((unsigned char)t.p[i]))
            ll_fail(p, "number");
        n = n * 10 + (uint64_t)(t.p[i] - '0');
    }
    ll_next(&p->l);
    return n;
}

void ll_skip_brackets(struct parser *p)
{
    int depth = 0;
    do {
        const struct token *t = &p->l.token;
        if (t->kind == TOKEN_END)
            ll_fail(p, "closing bracket");
        if (t->kind == TOKEN_SIGN && strchr("([{<", t->text.p[0]))
            depth++;
        if (t->kind == TOKEN_SIGN && strchr(")]}>", t->text.p[0]))
            depth--;
        ll_next(&p->l);
    } while (depth);
}
