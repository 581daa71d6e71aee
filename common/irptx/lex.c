// See lex.h.
#include "irptx/lex.h"

#include <ctype.h>
#include <string.h>

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '-';
}

static const char *skip_blanks(const char *p, bool *first)
{
    for (;; p++) {
        if (*p == ';')
            p += strcspn(p, "\n");
        if (*p == '\n')
            *first = true;
        else if (*p != ' ' && *p != '\t' && *p != '\r')
            return p;
    }
}

// What stands between quotes, the first of which is at p; l->next goes behind the second.
static struct str quoted(struct lexer *l, const char *p)
{
    const char *end = strchr(p + 1, '"');
    if (!end)
        end = p + strlen(p);
    l->next = *end ? end + 1 : end;
    return (struct str){ p + 1, (uint32_t)(end - p - 1) };
}

static struct str word(struct lexer *l, const char *p)
{
    const char *end = p;
    while (in_word(*end))
        end++;
    l->next = end;
    return (struct str){ p, (uint32_t)(end - p) };
}

static void set(struct token *t, enum token_kind kind, struct str text)
{
    t->kind = kind;
    t->text = text;
}

// A name behind one of % @ ! #.
static void lex_name(struct lexer *l, enum token_kind kind, const char *p)
{
    const bool quotes = p[1] == '"' && kind != TOKEN_META;
    set(&l->token, kind, quotes ? quoted(l, p + 1) : word(l, p + 1));
}

static bool is_number(const char *p)
{
    return isdigit((unsigned char)*p) || (*p == '-' && isdigit((unsigned char)p[1]));
}

static void lex_number(struct lexer *l, const char *p)
{
    struct str text = word(l, p);
    if (l->next[0] == '+' && (l->next[-1] == 'e' || l->next[-1] == 'E'))  // 1.5e+00
        text.n += 1 + word(l, l->next + 1).n;
    set(&l->token, *l->next == ':' ? TOKEN_LABEL : TOKEN_NUMBER, text);
    l->next += *l->next == ':';
}

static void lex_word(struct lexer *l, const char *p)
{
    const struct str text = word(l, p);
    const bool label = *l->next == ':' && l->token.first;
    set(&l->token, label ? TOKEN_LABEL : TOKEN_WORD, text);
    l->next += label;
}

static void lex_string(struct lexer *l, const char *p)
{
    set(&l->token, TOKEN_STRING, quoted(l, p));
    if (*l->next == ':' && l->token.first) {
        l->token.kind = TOKEN_LABEL;
        l->next++;
    }
}

void ll_next(struct lexer *l)
{
    struct token *t = &l->token;
    t->first = false;
    const char *p = t->at = skip_blanks(l->next, &t->first);
    if (!*p) {
        l->next = p;
        set(t, TOKEN_END, (struct str){ p, 0 });
    } else if (*p == '%' || *p == '@' || *p == '!' || *p == '#') {
        lex_name(l, *p == '%' ? TOKEN_LOCAL : *p == '@' ? TOKEN_GLOBAL : *p == '!' ? TOKEN_META : TOKEN_GROUP, p);
    } else if (*p == '"' || (*p == 'c' && p[1] == '"')) {
        lex_string(l, p + (*p == 'c'));
    } else if (is_number(p)) {
        lex_number(l, p);
    } else if (in_word(*p) && strncmp(p, "...", 3) != 0) {
        lex_word(l, p);
    } else {
        const uint32_t n = *p == '.' ? 3 : 1;
        l->next = p + n;
        set(t, TOKEN_SIGN, (struct str){ p, n });
    }
}

void ll_begin(struct lexer *l, const char *text)
{
    *l = (struct lexer){ .next = text };
    ll_next(l);
    l->token.first = true;
}

char *ll_unescape(struct ir_module *m, struct str text, uint32_t *bytes)
{
    char *out = ir_new(m, text.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\\' && i + 1 < text.n && text.p[i + 1] == '\\') {
            i++;
        } else if (c == '\\' && i + 2 < text.n) {
            const char hex[3] = { text.p[i + 1], text.p[i + 2], 0 };
            unsigned value = 0;
            for (const char *h = hex; *h; h++)
                value = value * 16 + (unsigned)(isdigit((unsigned char)*h) ? *h - '0' : tolower(*h) - 'a' + 10);
            c = (char)value;
            i += 2;
        }
        out[n++] = c;
    }
    *bytes = n;
    return out;
}
