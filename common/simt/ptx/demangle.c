// See demangle.h. Recursive descent over the mangled name; every part becomes text at once, and what may be referred to
// later (S0_, T_) is kept as text.
#include "demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 48   // texts that a name may refer to
#define DEPTH 32  // nesting of types

struct text {
    char s[DEMANGLED_MAX];
};

struct state {
    const char *p;
    struct text subs[KEPT], params[KEPT];  // params: the arguments of the last template
    unsigned n_subs, n_params, depth;
    bool failed, templated;  // templated: the name ended with template arguments: its type begins with what it returns
};

static void add(struct state *d, struct text *t, const char *more)
{
    size_t n = strlen(t->s), m = strlen(more);
    if (n + m >= sizeof t->s) {
        d->failed = true;
        return;
    }
    memcpy(t->s + n, more, m + 1);
}

static bool accept(struct state *d, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(d->p, word, n))
        return false;
    d->p += n;
    return true;
}

static void keep(struct state *d, const struct text *t)
{
    if (d->n_subs == KEPT)
        d->failed = true;
    else
        d->subs[d->n_subs++] = *t;
}

static void type(struct state *d, struct text *out);
static void name(struct state *d, struct text *out);

static void source_name(struct state *d, struct text *out)
{
    char *end;
    unsigned long n = strtoul(d->p, &end, 10);
    if (end == d->p || n == 0 || n > strlen(end) || n >= DEMANGLED_MAX) {
        d->failed = true;
        return;
    }
    char word[DEMANGLED_MAX];
    memcpy(word, end, n);
    word[n] = '\0';
    d->p = end + n;
    add(d, out, !strncmp(word, "_GLOBAL__N", 10) ? "(anonymous namespace)" : word);
}

// The number of S_, S0_, S1_, ... or T_, T0_, ...: 0, 1, 2, ... in base 36
static unsigned reference(struct state *d)
{
    unsigned v = 0;
    bool any = false;
    for (; isdigit((unsigned char)*d->p) || isupper((unsigned char)*d->p); d->p++, any = true)
        v = v > 999 ? v : 36 * v + (unsigned)(isdigit((unsigned char)*d->p) ? *d->p - '0' : *d->p - 'A' + 10);
    d->failed |= !accept(d, "_");
    return v + any;
}

// After 'S'
static void substitution(struct state *d, struct text *out)
{
    static const char *const standard[][2] = {
        { "t", "std" }, { "a", "std::allocator" }, { "b", "std::basic_string" }, { "s", "std::string" }
    };
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
        if (accept(d, standard[i][0])) {
            add(d, out, standard[i][1]);
            return;
        }
    }
    unsigned i = reference(d);
    if (i < d->n_subs)
        add(d, out, d->subs[i].s);
    d->failed |= i >= d->n_subs;
}

// After 'T'
static void template_param(struct state *d, struct text *out)
{
    unsigned i = reference(d);
    if (i < d->n_params)
        add(d, out, d->params[i].s);
    d->failed |= i >= d->n_params;
}

// After 'L': a literal, as Li4E, Lb1E, Lj16E
static void literal(struct state *d, struct text *out)
{
    struct text of = { "" };
    const char kind = *d->p;
    type(d, &of);
    bool plain = strchr("ijlmxyst", kind) != NULL, truth = kind == 'b';
    if (!plain && !truth) {
        add(d, out, "(");
        add(d, out, of.s);
        add(d, out, ")");
    }
    char digits[32] = "";
    size_t n = 0;
    if (accept(d, "n"))
        digits[n++] = '-';
    for (; isalnum((unsigned char)*d->p) && *d->p != 'E' && n + 1 < sizeof digits; d->p++)
        digits[n++] = *d->p;
    digits[n] = '\0';
    add(d, out, truth ? (*digits == '1' ? "true" : "false") : digits);
    d->failed |= !accept(d, "E") || !n;
}

static void template_arg(struct state *d, struct text *out, struct text *kept, unsigned *n, bool *first)
{
    if (accept(d, "J")) {  // a pack
        while (!d->failed && !accept(d, "E"))
            template_arg(d, out, kept, n, first);
        return;
    }
    struct text one = { "" };
    if (accept(d, "L"))
        literal(d, &one);
    else
        type(d, &one);
    add(d, out, *first ? "" : ", ");
    *first = false;
    add(d, out, one.s);
    if (*n < KEPT)
        kept[(*n)++] = one;
}

// After 'I', up to and with 'E'
static void template_args(struct state *d, struct text *out, struct text *kept, unsigned *n, bool *first)
{
    add(d, out, "<");
    *n = 0;
    while (!d->failed && !accept(d, "E"))
        template_arg(d, out, kept, n, first);
    add(d, out, ">");
}

static void arguments(struct state *d, struct text *out)
{
    bool first = true;
    struct text *kept = calloc(KEPT, sizeof *kept);
    unsigned n = 0;
    if (!kept || ++d->depth > DEPTH)
        d->failed = true;
    else
        template_args(d, out, kept, &n, &first);
    d->depth--;
    if (kept)
        memcpy(d->params, kept, n * sizeof *kept);
    d->n_params = n;
    free(kept);
}

// A part of a name: a word, a constructor, operator(), a lambda
static void unqualified(struct state *d, struct text *out, const struct text *last)
{
    accept(d, "L");  // internal linkage
    if (isdigit((unsigned char)*d->p)) {
        source_name(d, out);
    } else if ((*d->p == 'C' || *d->p == 'D') && isdigit((unsigned char)d->p[1])) {
        add(d, out, *d->p == 'D' ? "~" : "");
        add(d, out, last->s);
        d->p += 2;
    } else if (accept(d, "cl")) {
        add(d, out, "operator()");
    } else if (accept(d, "Ul")) {
        struct text ignored = { "" };
        while (!d->failed && !accept(d, "E"))
            type(d, &ignored);
        while (isdigit((unsigned char)*d->p))
            d->p++;
        d->failed |= !accept(d, "_");
        add(d, out, "{lambda}");
    } else {
        d->failed = true;
    }
}

// After 'N', up to and with 'E'
static void nested(struct state *d, struct text *out)
{
    struct text all = { "" }, last = { "" };
    while (*d->p == 'K' || *d->p == 'V' || *d->p == 'r' || *d->p == 'R' || *d->p == 'O')
        d->p++;
    bool any = false;
    while (!d->failed && !accept(d, "E")) {
        if (accept(d, "I")) {
            arguments(d, &all);
            d->templated = true;
        } else if (accept(d, "S")) {
            substitution(d, &all);
            d->templated = false;
            any = true;
            continue;  // it is kept already
        } else if (accept(d, "T")) {
            template_param(d, &all);
        } else {
            struct text part = { "" };
            unqualified(d, &part, &last);
            last = part;
            add(d, &all, any ? "::" : "");
            add(d, &all, part.s);
            d->templated = false;
        }
        any = true;
        if (*d->p != 'E')
            keep(d, &all);
    }
    add(d, out, all.s);
}

// After 'Z': a name inside a function
static void local(struct state *d, struct text *out)
{
    struct text function = { "" }, ignored = { "" };
    name(d, &function);
    while (!d->failed && *d->p && !accept(d, "E"))
        type(d, &ignored);
    add(d, out, function.s);
    add(d, out, "::");
    name(d, out);
    if (accept(d, "_"))
        while (isdigit((unsigned char)*d->p))
            d->p++;
}

static void name(struct state *d, struct text *out)
{
    struct text t = { "" };
    const struct text none = { "" };
    d->templated = false;
    if (++d->depth > DEPTH) {
        d->failed = true;
    } else if (accept(d, "N")) {
        nested(d, out);
    } else if (accept(d, "Z")) {
        local(d, out);
    } else {
        bool known = false;
        if (accept(d, "St")) {
            add(d, &t, "std::");
            unqualified(d, &t, &none);
        } else if ((known = accept(d, "S"))) {
            substitution(d, &t);
        } else {
            unqualified(d, &t, &none);
        }
        if (accept(d, "I")) {
            if (!known)
                keep(d, &t);
            arguments(d, &t);
            d->templated = true;
        }
        add(d, out, t.s);
    }
    d->depth--;
}

static const char *builtin(char c)
{
    static const char *const names[26] = {
        ['a' - 'a'] = "signed char",
        ['b' - 'a'] = "bool",
        ['c' - 'a'] = "char",
        ['d' - 'a'] = "double",
        ['e' - 'a'] = "long double",
        ['f' - 'a'] = "float",
        ['h' - 'a'] = "unsigned char",
        ['i' - 'a'] = "int",
        ['j' - 'a'] = "unsigned int",
        ['l' - 'a'] = "long",
        ['m' - 'a'] = "unsigned long",
        ['n' - 'a'] = "__int128",
        ['o' - 'a'] = "unsigned __int128",
        ['s' - 'a'] = "short",
        ['t' - 'a'] = "unsigned short",
        ['v' - 'a'] = "void",
        ['w' - 'a'] = "wchar_t",
        ['x' - 'a'] = "long long",
        ['y' - 'a'] = "unsigned long long",
        ['z' - 'a'] = "...",
    };
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

// After 'F': what a function returns and takes, up to and with 'E'
static void function_type(struct state *d, struct text *out)
{
    bool first = true;
    type(d, out);
    add(d, out, " (");
    while (!d->failed && !accept(d, "E")) {
        struct text one = { "" };
        type(d, &one);
        add(d, out, first ? "" : ", ");
        add(d, out, strcmp(one.s, "void") ? one.s : "");
        first = false;
    }
    add(d, out, ")");
}

// A type of several letters, which can be referred to later
static void compound(struct state *d, struct text *out)
{
    static const char *const suffixes[][2] = {
        { "P", "*" }, { "R", "&" }, { "O", "&&" }, { "K", " const" }, { "V", " volatile" }, { "r", " __restrict" },
    };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (accept(d, suffixes[i][0])) {
            type(d, out);
            add(d, out, suffixes[i][1]);
            keep(d, out);
            return;
        }
    }
    if (accept(d, "F")) {
        function_type(d, out);
    } else if (accept(d, "A")) {
        const char *digits = d->p;
        while (isdigit((unsigned char)*d->p))
            d->p++;
        char length[16];
        snprintf(length, sizeof length, " [%.*s]", (int)(d->p - digits < 10 ? d->p - digits : 10), digits);
        d->failed |= !accept(d, "_");
        type(d, out);
        add(d, out, length);
    } else if (accept(d, "T")) {
        template_param(d, out);
    } else if (*d->p == 'S' && d->p[1] != 't') {
        d->p++;
        substitution(d, out);
        if (!accept(d, "I"))
            return;
        arguments(d, out);
    } else {
        name(d, out);
    }
    keep(d, out);
}

static void type(struct state *d, struct text *out)
{
    const char *word = builtin(*d->p);
    struct text t = { "" };
    if (d->failed || !*d->p || ++d->depth > DEPTH) {
        d->failed = true;
        return;
    }
    if (*d->p == 'r')
        word = NULL;
    if (word) {
        d->p++;
        add(d, &t, word);
    } else if (accept(d, "Dh")) {
        add(d, &t, "half");
    } else if (accept(d, "Dn")) {
        add(d, &t, "nullptr_t");
    } else if (accept(d, "Dp")) {
        type(d, &t);
    } else if (*d->p == 'D') {
        d->failed = true;
    } else {
        compound(d, &t);
    }
    add(d, out, t.s);
    d->depth--;
}

// Behind what nvcc puts before the name of a static kernel in a program that is linked with -rdc=true: "__nv_static_",
// the length of the file's mark, "_", the mark, and "_".
static const char *without_mark(const char *name)
{
    static const char mark[] = "__nv_static_";
    char *end;
    if (strncmp(name, mark, sizeof mark - 1))
        return name;
    const unsigned long n = strtoul(name + sizeof mark - 1, &end, 10);
    return *end == '_' && n < strlen(end + 1) ? end + 1 + n + 1 : name;
}

bool demangle(const char *mangled, char out[DEMANGLED_MAX])
{
    mangled = without_mark(mangled);
    struct state *d = calloc(1, sizeof *d);
    struct text t = { "" }, params = { "" };
    snprintf(out, DEMANGLED_MAX, "%s", mangled);
    if (!d || strncmp(mangled, "_Z", 2)) {
        free(d);
        return false;
    }
    d->p = mangled + 2;
    name(d, &t);
    if (*d->p && d->templated && !d->failed) {
        struct text returned = { "" };
        type(d, &returned);
    }
    bool first = true, function = *d->p;
    while (*d->p && !d->failed) {
        struct text one = { "" };
        type(d, &one);
        add(d, &params, first ? "" : ", ");
        add(d, &params, strcmp(one.s, "void") ? one.s : "");
        first = false;
    }
    if (function) {
        add(d, &t, "(");
        add(d, &t, params.s);
        add(d, &t, ")");
    }
    const bool ok = !d->failed;
    if (ok)
        snprintf(out, DEMANGLED_MAX, "%s", t.s);
    free(d);
    return ok;
}
