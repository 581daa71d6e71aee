// The name of a PTX instruction in pieces: "ld.shared::cta.v4.f32".
#include <string.h>

#include "decode_inst.h"

struct parts parts_of(struct decoder *x)
{
    struct parts s = { .n = 0 };
    struct str op = x->in->op;
    for (uint32_t i = 0, start = 0; i <= op.n; i++) {
        if (i < op.n && op.p[i] != '.')
            continue;
        if (s.n == PARTS)
            decode_fail(x, NULL, "unknown instruction '%.*s'", (int)op.n, op.p);
        s.part[s.n++] = (struct str){ op.p + start, i - start };
        start = i + 1;
    }
    return s;
}

bool parts_have(const struct parts *s, const char *word)
{
    for (uint32_t i = 1; i < s->n; i++)
        if (str_is(s->part[i], word))
            return true;
    return false;
}

int parts_which(const struct parts *s, const char *const words[], int n)
{
    for (int i = 0; i < n; i++)
        if (parts_have(s, words[i]))
            return i;
    return -1;
}

static bool is_among(struct str word, const char *words)
{
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (n == word.n && !memcmp(words, word.p, n))
            return true;
    }
    return false;
}

void parts_only(struct decoder *x, const struct parts *s, uint32_t from, uint32_t end, const char *words)
{
    for (uint32_t i = from; i < end; i++)
        if (!is_among(s->part[i], words))
            decode_unknown(x);
}
