// An array of integers that a PTX text declares with its values, read without parsing the rest: see simt/simt.h.
// ".const .align 4 .b8 geometry[16] = {128, 0, 0, 0, 128};", in elements of any integer type. What follows the last
// number given is 0.
#include <stdlib.h>
#include <string.h>

#include "lex.h"
#include "simt/simt.h"

// Bytes of an element of this type, 0 if it is no integer's.
static size_t bytes_of(struct str type)
{
    if (type.n < 3 || !memchr("bus", type.p[1], 3))
        return 0;
    const int bits = atoi(type.p + 2);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (size_t)bits / 8 : 0;
}

static bool at_punct(const struct lexer *l, char c)
{
    return l->tok.kind == TOK_PUNCT && l->tok.punct == c;
}

static bool accept(struct lexer *l, char c)
{
    const bool yes = at_punct(l, c);
    if (yes)
        lex_next(l);
    return yes;
}

// Goes behind the name of the array where it is declared, and says how large its elements are; false at the end.
static bool find(struct lexer *l, const char *name, size_t *element)
{
    while (l->tok.kind != TOK_END) {
        const bool space =
            l->tok.kind == TOK_DIRECTIVE && (str_is(l->tok.text, ".const") || str_is(l->tok.text, ".global"));
        lex_next(l);
        if (!space)
            continue;
        *element = 0;
        for (; l->tok.kind == TOK_DIRECTIVE || l->tok.kind == TOK_INT; lex_next(l))
            if (l->tok.kind == TOK_DIRECTIVE && !*element)
                *element = bytes_of(l->tok.text);
        if (l->tok.kind != TOK_NAME || !str_is(l->tok.text, name))
            continue;
        lex_next(l);
        return true;
    }
    return false;
}

// The bytes of the array, and in *used how many it has in all.
static bool read_bytes(struct lexer *l, size_t element, unsigned char *out, size_t room, size_t *used)
{
    uint64_t count = 1;
    size_t at = 0;
    if (accept(l, '[')) {
        count = l->tok.kind == TOK_INT ? l->tok.bits : 0;
        lex_next(l);
        if (!accept(l, ']'))
            return false;
    }
    if (!element || count > room / element || !accept(l, '=') || !accept(l, '{'))
        return false;
    *used = count * element;
    while (!at_punct(l, '}')) {
        const bool minus = accept(l, '-');
        const uint64_t value = minus ? 0 - l->tok.bits : l->tok.bits;
        if (l->tok.kind != TOK_INT || at + element > *used)
            return false;
        for (size_t i = 0; i < element; i++)
            out[at++] = (unsigned char)(value >> 8 * i);
        lex_next(l);
        if (!accept(l, ',') && !at_punct(l, '}'))
            return false;
    }
    return true;
}

enum simt_constant simt_text_constant(const char *text, size_t text_bytes, const char *name, unsigned char *out,
                                      size_t room, size_t *used)
{
    struct lexer l;
    size_t element;
    lex_start(&l, text, text_bytes);
    memset(out, 0, room);
    if (!find(&l, name, &element))
        return SIMT_CONSTANT_NONE;
    return read_bytes(&l, element, out, room, used) ? SIMT_CONSTANT_FOUND : SIMT_CONSTANT_BAD;
}
