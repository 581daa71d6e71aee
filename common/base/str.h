// A piece of a text.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;  // not terminated
    uint32_t n;
};

static inline bool str_same(struct str a, struct str b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

static inline bool str_is(struct str s, const char *literal)
{
    return s.n == strlen(literal) && !memcmp(s.p, literal, s.n);
}

static inline bool str_begins(struct str s, const char *with)
{
    const size_t n = strlen(with);
    return s.n >= n && !memcmp(s.p, with, n);
}

static inline bool str_ends(struct str s, const char *with)
{
    const size_t n = strlen(with);
    return s.n >= n && !memcmp(s.p + s.n - n, with, n);
}
