// Constant expressions of integers: (1 << 4) + 3. Source: PTX ISA 4.5.
#include "parse.h"

#define DEPTH 16

static uint64_t expression(struct parser *p, int level, int depth);

// The binary operator at the current token and how tight it binds, 1 the loosest; 0: there is none.
static int operator_at(const struct parser *p, char *op)
{
    const struct token *t = &p->lex.tok;
    *op = t->kind == TOK_PUNCT ? t->punct : 0;
    const bool twice = *op && p->lex.p < p->lex.end && *p->lex.p == *op;
    switch (*op) {
    case '|':
        return twice ? 0 : 1;
    case '^':
        return 2;
    case '&':
        return twice ? 0 : 3;
    case '<':
    case '>':
        return twice ? 4 : 0;
    case '+':
    case '-':
        return 5;
    case '*':
    case '/':
        return 6;
    default:
        return 0;
    }
}

static uint64_t factor(struct parser *p, int depth)
{
    const struct token t = p->lex.tok;
    if (depth > DEPTH)
        parse_fail(p, NULL, "this expression nests too deeply");
    if (parse_accept(p, '-'))
        return 0 - factor(p, depth + 1);
    if (parse_accept(p, '~'))
        return ~factor(p, depth + 1);
    if (parse_accept(p, '(')) {
        const uint64_t v = expression(p, 1, depth + 1);
        parse_expect(p, ')');
        return v;
    }
    if (t.kind == TOK_NAME && str_is(t.text, "WARP_SZ")) {
        lex_next(&p->lex);
        return 32;
    }
    if (t.kind != TOK_INT)
        parse_fail(p, NULL, "expected an integer");
    lex_next(&p->lex);
    return t.bits;
}

static uint64_t expression(struct parser *p, int level, int depth)
{
    uint64_t v = factor(p, depth);
    char op;
    for (int binds; (binds = operator_at(p, &op)) >= level && binds;) {
        const char *at = p->lex.tok.text.p;
        lex_next(&p->lex);
        if (op == '<' || op == '>')
            lex_next(&p->lex);
        const uint64_t w = expression(p, binds + 1, depth + 1);
        if (op == '/' && !w)
            parse_fail(p, at, "a division by zero");
        v = op == '|'   ? v | w
            : op == '^' ? v ^ w
            : op == '&' ? v & w
            : op == '<' ? (w < 64 ? v << w : 0)
            : op == '>' ? (w < 64 ? v >> w : 0)
            : op == '+' ? v + w
            : op == '-' ? v - w
            : op == '*' ? v * w
                        : v / w;
    }
    return v;
}

int64_t parse_int(struct parser *p)
{
    return (int64_t)expression(p, 1, 0);
}
