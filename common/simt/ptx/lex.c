// The tokenizer. It never looks past end, so any bytes are safe input.
#include "lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

void lex_start(struct lexer *l, const char *text, size_t bytes)
{
    l->p = text;
    l->end = text + bytes;
    lex_next(l);
}

// Skips white space and comments; false for a comment that never ends.
static bool skip_blank(struct lexer *l)
{
    while (l->p < l->end) {
        if (isspace((unsigned char)*l->p)) {
            l->p++;
        } else if (l->end - l->p >= 2 && l->p[0] == '/' && l->p[1] == '/') {
            const char *nl = memchr(l->p, '\n', (size_t)(l->end - l->p));
            l->p = nl ? nl : l->end;
        } else if (l->end - l->p >= 2 && l->p[0] == '/' && l->p[1] == '*') {
            const char *q = l->p + 2;
            while (q + 1 < l->end && !(q[0] == '*' && q[1] == '/'))
                q++;
            if (q + 1 >= l->end)
                return false;
            l->p = q + 2;
        } else {
            break;
        }
    }
    return true;
}

static bool hex_bits(const char *p, const char *end, int digits, uint64_t *bits)
{
    *bits = 0;
    if (end - p < digits)
        return false;
    for (int i = 0; i < digits; i++) {
        if (!isxdigit((unsigned char)p[i]))
            return false;
        int c = tolower((unsigned char)p[i]);
        *bits = *bits << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

// Decimal, 0x, 0b and 0-octal integers with an optional U; 0f and 0d floats; decimal floats.
static void number(struct lexer *l)
{
    struct token *t = &l->tok;
    const char *p = l->p;
    char second = l->end - p > 1 ? (char)tolower((unsigned char)p[1]) : 0;
    if (*p == '0' && second == 'f' && hex_bits(p + 2, l->end, 8, &t->bits)) {
        t->kind = TOK_F32;
        l->p += 10;
    } else if (*p == '0' && second == 'd' && hex_bits(p + 2, l->end, 16, &t->bits)) {
        t->kind = TOK_F64;
        l->p += 18;
    } else {
        char digits[64];
        size_t n = 0;
        bool real = false;
        bool hex = *p == '0' && second == 'x';
        while (p < l->end && n + 1 < sizeof digits) {
            bool sign = (*p == '+' || *p == '-') && !hex && n && tolower((unsigned char)digits[n - 1]) == 'e';
            if (!isalnum((unsigned char)*p) && *p != '.' && !sign)
                break;
            real |= *p == '.' || (!hex && tolower((unsigned char)*p) == 'e');
            digits[n++] = *p++;
        }
        digits[n] = 0;
        char *end = digits;
        if (real) {
            double d = strtod(digits, &end);
            memcpy(&t->bits, &d, sizeof d);
        } else if (*digits == '0' && second == 'b') {
            t->bits = strtoull(digits + 2, &end, 2);
        } else {
            t->bits = strtoull(digits, &end, 0);
        }
        if (!real && (*end == 'u' || *end == 'U'))
            end++;
        t->kind = *end || end == digits ? TOK_BAD : real ? TOK_DECIMAL : TOK_INT;
        t->punct = *digits;
        l->p = p;
    }
}

void lex_next(struct lexer *l)
{
    struct token *t = &l->tok;
    *t = (struct token){ .kind = TOK_END };
    if (!skip_blank(l)) {
        t->kind = TOK_BAD;
        t->text = (struct str){ l->p, 2 };
        l->p = l->end;
        return;
    }
    const char *start = l->p;
    if (l->p == l->end) {
        t->text = (struct str){ l->end, 0 };
        return;
    }
    char c = *l->p;
    bool directive = c == '.' && l->end - l->p > 1 && (isalpha((unsigned char)l->p[1]) || l->p[1] == '_');
    if (name_start(c) || directive) {
        do
            l->p++;
        while (l->p < l->end && (name_char(*l->p) || (c == '%' && *l->p == '.')));
        t->kind = directive ? TOK_DIRECTIVE : TOK_NAME;
    } else if (isdigit((unsigned char)c)) {
        number(l);
    } else if (c == '"') {
        const char *q = start + 1;
        while (q < l->end && *q != '"' && *q != '\n')
            q++;
        t->kind = q < l->end && *q == '"' ? TOK_STRING : TOK_BAD;
        l->p = q < l->end ? q + 1 : q;
        t->text = (struct str){ start + 1, (uint32_t)(q - start - 1) };
        return;
    } else {
        t->kind = c && strchr("{}[](),;:|@!+-<>=*&~/^", c) ? TOK_PUNCT : TOK_BAD;
        t->punct = c;
        l->p++;
    }
    t->text = (struct str){ start, (uint32_t)(l->p - start) };
}

void lex_opcode(struct lexer *l)
{
    while (l->p < l->end) {
        bool dot = *l->p == '.' && l->end - l->p > 1 && name_char(l->p[1]);
        bool colons = l->end - l->p > 2 && l->p[0] == ':' && l->p[1] == ':' && name_char(l->p[2]);
        if (!dot && !colons)
            break;
        l->p += dot ? 1 : 2;
        while (l->p < l->end && name_char(*l->p))
            l->p++;
    }
    l->tok.text.n = (uint32_t)(l->p - l->tok.text.p);
}
