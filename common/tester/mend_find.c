// What may be wrong in a kernel's text, and what might stand there. See mend.h.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mend.h"

static const char *const signs[][MEND_SIGNS] = { { "+", "-", "*", "/", "%", "^" },
                                                 { "<", "<=", ">", ">=", "==", "!=" },
                                                 { "&&", "||" } };
enum { GROUPS = sizeof signs / sizeof *signs };

const char *mend_sign_text(unsigned group, unsigned sign)
{
    return signs[group][sign];
}

int mend_sign(const struct cu_text *t, unsigned token, unsigned *group)
{
    const struct cu_token *before = token ? &t->token[token - 1] : NULL;
    for (unsigned i = 0; i < t->n_statements; i++)
        if (t->statement[i].begin == token)
            return -1;
    const bool behind = before && (before->kind != CU_SIGN || cu_is(t, token - 1, ")") || cu_is(t, token - 1, "]"));
    if (!behind || cu_is(t, token + 1, ")") || cu_is(t, token + 1, ",") || cu_is(t, token + 1, ">"))
        return -1;
    for (*group = 0; *group < GROUPS; ++*group)
        for (int i = 0; i < MEND_SIGNS && signs[*group][i]; i++)
            if (cu_is(t, token, signs[*group][i]))
                return i;
    return -1;
}

unsigned cu_operand_end(const struct cu_text *t, unsigned first)
{
    unsigned i = first;
    while (cu_is(t, i, "-") || cu_is(t, i, "*") || cu_is(t, i, "&") || cu_is(t, i, "!"))
        i++;
    i = t->token[i].match > i ? t->token[i].match + 1 : i + 1;
    for (;;) {
        if (cu_is(t, i, "(") || cu_is(t, i, "["))
            i = t->token[i].match + 1;
        else if (cu_is(t, i, ".") || cu_is(t, i, "::"))
            i += 2;
        else
            return i;
    }
}

unsigned cu_operand_begin(const struct cu_text *t, unsigned last)
{
    unsigned i = last;
    for (;;) {
        if (t->token[i].match && t->token[i].match < i) {
            i = t->token[i].match;
            if (i && (t->token[i - 1].kind == CU_WORD || cu_is(t, i - 1, "]") || cu_is(t, i - 1, ")")))
                i--;
            else
                return i;
        } else if (i > 1 && (cu_is(t, i - 1, ".") || cu_is(t, i - 1, "::"))) {
            i -= 2;
        } else {
            return i;
        }
    }
}

unsigned mend_order(const struct mend *x)
{
    return 2U * x->rank + x->doubt;
}

// --- Making one ---

static struct mend *add(struct mends *m, enum mend_kind kind, unsigned token, unsigned char rank, unsigned char doubt,
                        const char *format, ...) __attribute__((format(printf, 6, 7)));

static struct mend *add(struct mends *m, enum mend_kind kind, unsigned token, unsigned char rank, unsigned char doubt,
                        const char *format, ...)
{
    if (m->n == MENDS)
        return NULL;
    struct mend *x = &m->all[m->n];
    va_list args;
    *x = (struct mend){ .kind = kind, .token = token, .line = m->text.token[token].line, .rank = rank, .doubt = doubt };
    va_start(args, format);
    const int n = vsnprintf(x->text, sizeof x->text, format, args);
    va_end(args);
    if (n >= MEND_WORDS)
        return NULL;
    m->n++;
    return x;
}

static int length(const struct cu_text *t, unsigned begin, unsigned end)
{
    return (int)(t->token[end - 1].at + t->token[end - 1].n - t->token[begin].at);
}

// --- Operators ---

// What is taken for what most often stands first.
static void find_signs(struct mends *m, unsigned token, unsigned char rank)
{
    static const signed char arithmetic[][4] = { { 1, MEND_LEFT, 2, MEND_RIGHT }, { 0, MEND_LEFT, -1, -1 },
                                                 { 3, MEND_LEFT, 0, MEND_RIGHT }, { 4, MEND_LEFT, 2, -1 },
                                                 { 3, MEND_LEFT, -1, -1 },        { 0, MEND_LEFT, -1, -1 } },
                             compare[][4] = { { 1, 3, 2, 5 },  { 0, 2, 3, -1 }, { 3, 1, 0, 5 },
                                              { 2, 0, 1, -1 }, { 5, 0, 2, -1 }, { 4, 0, 2, -1 } },
                             logic[][4] = { { 1, MEND_LEFT, MEND_RIGHT, -1 }, { 0, MEND_LEFT, MEND_RIGHT, -1 } };
    unsigned group;
    const int sign = mend_sign(&m->text, token, &group);
    const int most = rank < MEND_NEAR ? 4 : 2;
    for (int i = 0; sign >= 0 && i < most; i++) {
        const int as = group == 0 ? arithmetic[sign][i] : group == 1 ? compare[sign][i] : logic[sign][i];
        struct mend *x =
            as < 0 ? NULL
                   : add(m, MEND_SIGN, token, rank, i == 0 ? 0 : 2, "%s", as < MEND_LEFT ? signs[group][as] : "");
        if (x)
            x->as = (unsigned)as;
    }
}

// --- Names and numbers ---

// Whether one letter makes one of the other, as of row and brow, of BM and BN.
static bool is_like(const struct cu_token *a, const struct cu_token *b)
{
    if (a->n > b->n)
        return is_like(b, a);
    if (b->n == 1)
        return false;
    unsigned i = 0;
    while (i < a->n && a->at[i] == b->at[i])
        i++;
    const bool longer = b->n > a->n;
    return b->n - a->n <= 1 && !memcmp(a->at + i + !longer * (i < a->n), b->at + i + 1, b->n - i - (i < b->n));
}

static bool is_whole(const struct cu_name *x)
{
    return x->kind == CU_CONSTANT || x->kind == CU_VARIABLE || x->kind == CU_COUNTER;
}

// Arrays of as many elements each way, as far as the text says.
static bool has_shape_of(const struct cu_text *t, const struct cu_name *a, const struct cu_name *b)
{
    unsigned i = 1;
    while (cu_is(t, a->token + i, "[") || (i > 1 && !cu_is(t, a->token + i - 1, "]"))) {
        if (!cu_same(&t->token[a->token + i], &t->token[b->token + i]))
            return false;
        i++;
    }
    return !cu_is(t, b->token + i, "[");
}

static bool is_seen(const struct cu_text *t, const struct cu_name *x, unsigned token)
{
    return x->from < token && token < x->end && cu_name_at(t, token) != x;
}

// Whether the name stands elsewhere before the two tokens that stand here, and behind those: 0, 1 or 2.
static unsigned char neighbours_of(const struct cu_text *t, const struct cu_token *name, unsigned token)
{
    unsigned char most = 0;
    for (unsigned i = 2; i + 2 < t->n_tokens; i++) {
        if (i == token || !cu_same(&t->token[i], name))
            continue;
        const bool before =
            cu_same(&t->token[i - 1], &t->token[token - 1]) && cu_same(&t->token[i - 2], &t->token[token - 2]);
        const bool behind =
            cu_same(&t->token[i + 1], &t->token[token + 1]) && cu_same(&t->token[i + 2], &t->token[token + 2]);
        most = before + behind > most ? (unsigned char)(before + behind) : most;
    }
    return most;
}

static void find_names(struct mends *m, unsigned token, const struct cu_name *of, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    for (unsigned i = 0; i < t->n_names; i++) {
        const struct cu_name *x = &t->name[i];
        const struct cu_token *name = &t->token[x->token];
        const bool like =
            x->declaration == of->declaration || (x->kind == of->kind && is_like(name, &t->token[of->token]));
        const bool same = is_whole(of) ? is_whole(x) : x->kind == of->kind && has_shape_of(t, x, of);
        if (!same || !is_seen(t, x, token) || cu_same(name, &t->token[token]))
            continue;
        const unsigned char doubt = like ? 1 : x->kind == of->kind ? 2 : 3, known = neighbours_of(t, name, token);
        if (!rank || like || known)
            add(m, MEND_WORD, token, rank, known < doubt ? doubt - known : 0, "%.*s", (int)name->n, name->at);
    }
}

static void find_numbers(struct mends *m, unsigned token, unsigned char rank)
{
    const struct cu_token *x = &m->text.token[token];
    char *end;
    const long was = strtol(x->at, &end, 10);
    const long others[] = { was + 1, was - 1, 2 * was, was / 2, was * 4, was / 4, 0 };
    if (end != x->at + x->n || was > 1 << 16)
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool new = others[i] >= 0 && others[i] != was && (i < 4 || rank < MEND_NEAR);
        for (size_t j = 0; j < i; j++)
            new = new &&others[j] != others[i];
        if (new)
            add(m, MEND_WORD, token, rank, i < 4 ? 1 : 3, "%ld", others[i]);
    }
}

// What has to be known when the kernel is compiled: near lines alone, since each takes a copy of the kernel.
static void find_fixed(struct mends *m, unsigned token, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    const struct cu_token *x = &t->token[token];
    const struct cu_name *of = x->kind == CU_WORD ? cu_name_at(t, token) : NULL;
    const unsigned first = m->n;
    unsigned group;
    if (x->kind == CU_NUMBER)
        find_numbers(m, token, rank);
    else if (of && is_whole(of))
        find_names(m, token, of, rank);
    for (unsigned i = first; i < m->n; i++)
        m->all[i].kind = MEND_FIXED;
    const int sign = mend_sign(t, token, &group);
    static const char *const others[] = { "-*", "+", "/+", "%*", "/", "+" };  // arithmetic: the likelier one first
    for (unsigned i = 0; sign >= 0 && !group && others[sign][i]; i++)
        add(m, MEND_FIXED, token, rank, (unsigned char)i, "%c", others[sign][i]);
    if (sign >= 0 && group)
        add(m, MEND_FIXED, token, rank, 0, "%s", signs[group][sign ^ 1]);
}

// Whether the words of an operand are known at that token.
static bool is_known(const struct cu_text *t, unsigned begin, unsigned end, unsigned token)
{
    for (unsigned i = begin; i < end; i++) {
        const struct cu_name *x = t->token[i].kind == CU_WORD ? cu_name_at(t, i) : NULL;
        if (x && !(x->from < token && token < x->end))
            return false;
        if (!x && t->token[i].kind == CU_WORD && !cu_is(t, i, "size_t"))
            return false;
    }
    return true;
}

// Whether the operands that end with these tokens are the same.
static bool is_same_operand(const struct cu_text *t, unsigned a, unsigned b)
{
    const unsigned first = cu_operand_begin(t, a);
    if (a - first != b - cu_operand_begin(t, b))
        return false;
    for (unsigned i = 0; i <= a - first; i++)
        if (!cu_same(&t->token[a - i], &t->token[b - i]))
            return false;
    return true;
}

static void add_term(struct mends *m, unsigned first, unsigned token, unsigned sign, unsigned from, unsigned end,
                     unsigned char rank, unsigned char doubt)
{
    const struct cu_text *t = &m->text;
    char text[MEND_WORDS];
    snprintf(text, sizeof text, "%.*s", length(t, from, end), t->token[from].at);
    for (unsigned j = first; j < m->n; j++)
        if (m->all[j].as == sign && !strcmp(m->all[j].text, text)) {
            m->all[j].doubt = doubt < m->all[j].doubt ? doubt : m->all[j].doubt;
            return;
        }
    struct mend *x = add(m, MEND_TERM, token, rank, doubt, "%s", text);
    if (x)
        x->as = sign;
}

// What stands behind operators elsewhere in the kernel, put behind this place: the terms of sums where an expression
// ends, the others behind any operand. Likelier is what stands behind the same operand elsewhere.
static void find_terms(struct mends *m, unsigned token, unsigned char rank, unsigned ends)
{
    enum { TOKENS = 9 };
    static const unsigned needs[] = { 1, 1, 0, 0, 0, 2 };  // by operator: what follows must not bind closer
    const struct cu_text *t = &m->text;
    unsigned group;
    const unsigned first = m->n;
    for (unsigned i = 1; i < t->n_tokens; i++) {
        const int sign = t->token[i].computed && i != token + 1 ? mend_sign(t, i, &group) : -1;
        const unsigned end = sign >= 0 && !group ? cu_operand_end(t, i + 1) : 0;
        const bool same = end && t->token[token].kind != CU_NUMBER && is_same_operand(t, token, i - 1);
        if (!end || needs[sign] > ends || end - i > TOKENS || !(same || !rank) || !is_known(t, i + 1, end, token))
            continue;
        add_term(m, first, token, (unsigned)sign, i + 1, end, rank, same ? 1 : 3);
    }
}

// Whether it is handed to a function of the kernel that may set it.
static bool is_handed_over(const struct cu_text *t, unsigned token)
{
    unsigned open = token;
    if (!(cu_is(t, token - 1, ",") || cu_is(t, token - 1, "(")) ||
        !(cu_is(t, token + 1, ",") || cu_is(t, token + 1, ")")))
        return false;
    while (open > 1 && !(cu_is(t, open, "(") && t->token[open].match > token))
        open--;
    const struct cu_name *of = t->token[open - 1].kind == CU_WORD ? cu_name_at(t, open - 1) : NULL;
    for (unsigned i = of ? of->token : t->n_tokens; i < t->n_tokens && !cu_is(t, i, "{"); i++)
        if (cu_is(t, i, "&") && !cu_is(t, i - 1, "["))
            return true;
    return false;
}

// Whether it is used, and not set, and no part of a longer name or a function.
static bool is_used(const struct cu_text *t, unsigned token)
{
    static const char *const behind[] = { "(", "=", "+=", "-=", "*=", "^=", "++", "--", ".", "->", "::", "{" };
    static const char *const before[] = { ".", "->", "::", "++", "--", "&" };
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        if (cu_is(t, token + 1, behind[i]))
            return false;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (cu_is(t, token - 1, before[i]))
            return false;
    return !is_handed_over(t, token);
}

static void find_words(struct mends *m, unsigned token, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    const struct cu_token *x = &t->token[token];
    const struct cu_name *of = x->kind == CU_WORD ? cu_name_at(t, token) : NULL;
    if (!is_used(t, token))
        return;
    if (of && (is_whole(of) ? !cu_is(t, token + 1, "[") : cu_is(t, token + 1, "[")))
        find_names(m, token, of, rank);
    if (x->kind == CU_NUMBER)
        find_numbers(m, token, rank);
}

// Whether a whole number ends with this token: a name, a number, blockIdx.y, (a + b), size_t(a), min(a, b).
static bool ends_whole(const struct cu_text *t, unsigned token)
{
    static const char *const of[] = { "blockIdx", "threadIdx", "gridDim", "size_t", "min", "max", "(", "clamp" };
    const struct cu_token *x = &t->token[token];
    const struct cu_name *name = x->kind == CU_WORD ? cu_name_at(t, token) : NULL;
    const unsigned begin = cu_operand_begin(t, token);
    if (cu_is(t, token + 1, "(") || cu_is(t, token + 1, "[") || cu_is(t, token + 1, ".") || cu_is(t, token + 1, "::"))
        return false;
    if (begin == token)
        return (x->kind == CU_NUMBER || (name && is_whole(name))) && is_used(t, token);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (cu_is(t, begin, of[i]) && t->token[begin].computed)
            return true;
    return false;
}

// How much of an expression ends behind this token: 1: a sum; 2: all of it; 0: neither.
static unsigned ends_expression(const struct cu_text *t, unsigned token)
{
    static const char *const all[] = { ",", ";", "]", ")" }, *const sums[] = { "<", "<=", ">", ">=", "==", "?", ":" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (cu_is(t, token + 1, all[i]))
            return 2;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (cu_is(t, token + 1, sums[i]))
            return 1;
    return 0;
}

// --- Statements ---

static bool is_call(const struct cu_text *t, const struct cu_statement *s)
{
    return t->token[s->begin].kind == CU_WORD && cu_is(t, s->end - 2, ")") && s->end - s->begin < 12 &&
           (cu_is(t, s->begin + 1, "(") || cu_is(t, s->begin + 1, "<"));
}

// Calls that the kernel has elsewhere, and that need nothing that is not known here.
static void find_calls(struct mends *m, const struct cu_statement *at, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    const unsigned first = m->n;
    for (unsigned i = 0; i < t->n_statements; i++) {
        const struct cu_statement *s = &t->statement[i];
        const unsigned open = is_call(t, s) ? t->token[s->end - 2].match : 0;
        if (!open || !is_known(t, cu_name_at(t, s->begin) ? s->begin : open + 1, s->end - 2, at->begin))
            continue;
        bool new = true;
        char text[MEND_WORDS];
        snprintf(text, sizeof text, "%.*s", length(t, s->begin, s->end), t->token[s->begin].at);
        for (unsigned j = first; j < m->n; j++)
            new = new &&strcmp(m->all[j].text, text) != 0;
        if (new)
            add(m, MEND_BEFORE, at->begin, rank, 3, "%s", text);
    }
}

// Its text with one token as another.
static void add_other(struct mends *m, const struct cu_statement *s, unsigned token, const char *as, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    const struct cu_token *x = &t->token[token];
    const char *begin = t->token[s->begin].at, *end = t->token[s->end - 1].at + 1;
    add(m, MEND_OTHER, s->begin, rank, 1, "%.*s%s%.*s", (int)(x->at - begin), begin, as, (int)(end - x->at - x->n),
        x->at + x->n);
}

static bool is_pointer(const struct cu_text *t, unsigned token)
{
    const struct cu_name *x = t->token[token].kind == CU_WORD ? cu_name_at(t, token) : NULL;
    return x && x->kind == CU_POINTER;
}

// Whether the name at this token is a number, or an array of some.
static bool is_scalar(const struct cu_text *t, unsigned token)
{
    static const char *const types[] = { "float", "double", "REAL", "int", "unsigned", "half" };
    const struct cu_name *x = t->token[token].kind == CU_WORD ? cu_name_at(t, token) : NULL;
    for (size_t i = 0; x && i < sizeof types / sizeof *types; i++)
        for (unsigned j = x->declaration; j < x->declaration + 3; j++)
            if (cu_is(t, j, types[i]) && x->kind != CU_POINTER)
                return true;
    return false;
}

// Neighbouring arguments that are names alone, exchanged.
static void find_exchanges(struct mends *m, const struct cu_statement *s, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    for (unsigned i = s->begin + 2; i + 3 < s->end; i++) {
        const struct cu_token *a = &t->token[i], *b = &t->token[i + 2];
        const char *begin = t->token[s->begin].at, *end = t->token[s->end - 1].at + 1;
        if (a->kind == CU_WORD && b->kind == CU_WORD && cu_is(t, i + 1, ",") && !cu_same(a, b) &&
            is_pointer(t, i) == is_pointer(t, i + 2) && (cu_is(t, i - 1, ",") || cu_is(t, i - 1, "(")) &&
            (cu_is(t, i + 3, ",") || cu_is(t, i + 3, ")")))
            add(m, MEND_OTHER, s->begin, rank, 2, "%.*s%.*s, %.*s%.*s", (int)(a->at - begin), begin, (int)b->n, b->at,
                (int)a->n, a->at, (int)(end - b->at - b->n), b->at + b->n);
    }
}

static void find_statements(struct mends *m, unsigned number, unsigned char rank)
{
    const struct cu_text *t = &m->text;
    const struct cu_statement *s = &t->statement[number];
    if (!s->alone)
        find_calls(m, s, rank);
    if (s->declares || !t->token[s->begin].computed)
        return;
    add(m, MEND_WITHOUT, s->begin, rank, 1, "%s", "");
    for (unsigned i = s->begin; i < s->end; i++)
        if ((cu_is(t, i, "=") || cu_is(t, i, "+=")) && is_scalar(t, cu_operand_begin(t, i - 1)))
            add_other(m, s, i, cu_is(t, i, "=") ? "+=" : "=", rank);
    find_exchanges(m, s, rank);
    for (unsigned i = number + 1; i < t->n_statements; i++)
        if (t->statement[i].follows == number + 1 && !t->statement[i].declares) {
            struct mend *x = add(m, MEND_SWAP, s->begin, rank, 2, "%s", "");
            if (x)
                x->as = i;
        }
}

// --- As many as can be compiled ---

// How many copies of it there are at least, as loops are unrolled around it.
static unsigned copies_of(const struct cu_text *t, unsigned token)
{
    enum { ROUNDS = 4, MOST = 16 };
    unsigned n = 1;
    for (unsigned i = 0; i < t->n_loops && n < MOST; i++)
        n *= t->loop[i].begin < token && token < t->loop[i].end ? ROUNDS : 1;
    return n;
}

// Drops what is the least likely, where it is too much.
static void drop_most(struct mends *m)
{
    unsigned used = 0, fixes = 0;
    for (unsigned order = 0; order < MEND_ORDERS; order++)
        for (unsigned i = 0; i < m->n; i++)
            if (mend_order(&m->all[i]) == order) {
                const bool fixed = m->all[i].kind == MEND_FIXED;
                const unsigned n = fixed ? 0 : copies_of(&m->text, m->all[i].token);
                fixes += fixed;
                m->all[i].dropped = fixed ? fixes > m->fixes : used + n > MEND_COPIES;
                used += m->all[i].dropped ? 0 : n;
            }
}

// --- All of it ---

void mends_find(struct mends *m, const unsigned char *rank, unsigned lines)
{
    const struct cu_text *t = &m->text;
    unsigned statement = 0;
    for (unsigned i = 1; i < t->n_tokens; i++) {
        const unsigned char of = t->token[i].line < lines ? rank[t->token[i].line] : MEND_RANKS - 1;
        while (statement < t->n_statements && t->statement[statement].begin < i)
            statement++;
        if (statement < t->n_statements && t->statement[statement].begin == i)
            find_statements(m, statement, of);
        if (t->token[i].fixed && of < MEND_NEAR)
            find_fixed(m, i, of);
        if (!t->token[i].computed)
            continue;
        find_signs(m, i, of);
        find_words(m, i, of);
        if (ends_whole(t, i))
            find_terms(m, i, of, ends_expression(t, i));
    }
    drop_most(m);
}
