// See text_diff.h. The shortest way from one list of tokens to the other (Myers, "An O(ND) Difference Algorithm and Its
// Variations", 1986); what it drops and adds in one line is one place.
#include "text_diff.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Tokens ---

struct token {
    const char *at;
    size_t length;
    unsigned line;
    bool first, spaced;  // of its line; behind white space or a comment
    bool other;          // it is in one of the two texts alone
};

struct tokens {
    struct token *all;
    size_t n;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t length_at(const char *p)
{
    static const char *const operators[] = { "<<=", ">>=", "...", "->", "::", "++", "--", "<<", ">>", "<=", ">=", "==",
                                             "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=" };
    size_t n = 0;
    if (*p == '"')
        return 1 + strcspn(p + 1, "\"\n") + (p[1 + strcspn(p + 1, "\"\n")] == '"');
    while (is_word(p[n]) || (n && p[n] == '.' && isdigit((unsigned char)*p)))
        n++;
    for (size_t i = 0; !n && i < sizeof operators / sizeof *operators; i++)
        if (!strncmp(p, operators[i], strlen(operators[i])))
            n = strlen(operators[i]);
    return n ? n : 1;
}

// What is skipped before a token.
static const char *skip(const char *p, unsigned *line)
{
    while (*p) {
        const char *begin = p;
        if (!strncmp(p, "//", 2)) {
            p += strcspn(p, "\n");
        } else if (!strncmp(p, "/*", 2)) {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else if (isspace((unsigned char)*p)) {
            p++;
        } else {
            break;
        }
        for (; begin < p; begin++)
            *line += *begin == '\n';
    }
    return p;
}

// With one more at the end, which both texts have.
static bool read_tokens(struct tokens *t, const char *text)
{
    unsigned line = 1, before = 0;
    t->n = 0;
    if (!(t->all = malloc((strlen(text) + 1) * sizeof *t->all)))
        return false;
    for (const char *p = text, *next;; p = next + t->all[t->n - 1].length) {
        next = skip(p, &line);
        t->all[t->n++] = (struct token){ next, *next ? length_at(next) : 0, line, line != before, next > p, false };
        before = line;
        if (!*next)
            return true;
    }
}

static bool same(const struct token *a, const struct token *b)
{
    return a->length == b->length && !memcmp(a->at, b->at, a->length);
}

// --- The shortest way ---

// Marks what is in one of them alone. False: that is too much.
static bool compare(struct tokens *a, struct tokens *b)
{
    enum { ROOM = 2 * DIFF_TOKENS + 3, ZERO = DIFF_TOKENS + 1 };
    long(*far)[ROOM] = calloc(DIFF_TOKENS + 1, sizeof *far);  // of each number of changes: how far each diagonal comes
    const long n = (long)a->n, m = (long)b->n;
    long d = 0, x = 0, y = 0;
    bool found = false;
    for (d = 0; far && d <= DIFF_TOKENS && !found; d++)
        for (long k = -d; k <= d && !found; k += 2) {
            const long *before = far[d ? d - 1 : 0] + ZERO;
            const bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
            x = !d ? 0 : down ? before[k + 1] : before[k - 1] + 1;
            for (y = x - k; x < n && y >= 0 && y < m && same(&a->all[x], &b->all[y]); y++)
                x++;
            far[d][ZERO + k] = x;
            found = x >= n && y >= m;
        }
    for (d--; found && d > 0; d--) {  // back again
        const long *before = far[d - 1] + ZERO, k = x - y;
        const bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
        x = down ? before[k + 1] : before[k - 1];
        y = x - (down ? k + 1 : k - 1);
        if (down && y < m)
            b->all[y].other = true;
        else if (!down && x < n)
            a->all[x].other = true;
    }
    free(far);
    return found;
}

// --- Places ---

struct hunk {
    size_t a, a_end, b, b_end;  // tokens
};

// Tokens that are in one text alone may stand some tokens earlier or later, where what is beside them is as they are:
// how many, so that they begin a line, as what somebody has written does.
static long slide(const struct tokens *t, size_t begin, size_t end)
{
    size_t first = begin, last = end;
    while (last < t->n - 1 && same(&t->all[first], &t->all[last]))
        first++, last++;
    while (!t->all[first].first && first && same(&t->all[first - 1], &t->all[last - 1]))
        first--, last--;
    return t->all[first].first ? (long)first - (long)begin : 0;
}

// Whether both texts have the end of one and the begin of the other in one line.
static bool in_one_line(const struct tokens *t, size_t end, size_t begin)
{
    for (size_t i = end; i <= begin; i++)
        if (t->all[i].first)
            return false;
    return true;
}

// What both have at the begin or the end of a place is no part of it.
static void trim(struct hunk *h, const struct tokens *a, const struct tokens *b)
{
    while (h->a < h->a_end && h->b < h->b_end && same(&a->all[h->a], &b->all[h->b]))
        h->a++, h->b++;
    while (h->a < h->a_end && h->b < h->b_end && same(&a->all[h->a_end - 1], &b->all[h->b_end - 1]))
        h->a_end--, h->b_end--;
}

static bool is_one_place(const struct hunk *h, const struct hunk *next, const struct tokens *a, const struct tokens *b)
{
    enum { NEAR = 2 };  // tokens between them, which are in both by chance
    return next->a - h->a_end <= NEAR || (in_one_line(a, h->a_end, next->a) && in_one_line(b, h->b_end, next->b));
}

static size_t find_hunks(const struct tokens *a, const struct tokens *b, struct hunk *out)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n; i++, j++) {
        struct hunk h = { i, i, j, j };
        while (h.a_end < a->n && a->all[h.a_end].other)
            h.a_end++;
        while (h.b_end < b->n && b->all[h.b_end].other)
            h.b_end++;
        i = h.a_end, j = h.b_end;
        if (h.a == h.a_end && h.b == h.b_end)
            continue;
        if (n && is_one_place(&out[n - 1], &h, a, b))
            out[n - 1].a_end = h.a_end, out[n - 1].b_end = h.b_end;
        else
            out[n++] = h;
    }
    for (size_t i = 0; i < n; i++)
        trim(&out[i], a, b);
    return n;
}

// --- In words ---

static void write_words(const struct tokens *t, size_t begin, size_t end, char words[DIFF_WORDS])
{
    size_t used = 0;
    *words = '\0';
    for (size_t i = begin; i < end; i++) {
        const struct token *k = &t->all[i];
        const bool space = i > begin && k->spaced;
        if (used + space + k->length + 4 > DIFF_WORDS) {
            memcpy(words + used, "...", 4);
            return;
        }
        used += (size_t)snprintf(words + used, DIFF_WORDS - used, "%s%.*s", space ? " " : "", (int)k->length, k->at);
    }
}

// Whether the tokens are whole statements.
static bool are_statements(const struct tokens *t, size_t begin, size_t end)
{
    return begin < end && t->all[begin].first && t->all[end].first && strchr(";{}", *t->all[end - 1].at) != NULL;
}

// How often the tokens stand in their line.
static size_t count_in_line(const struct tokens *t, size_t begin, size_t end)
{
    size_t first = begin, found = 0;
    while (!t->all[first].first)
        first--;
    for (size_t i = first; i < t->n - 1 && (i == first || !t->all[i].first); i++) {
        size_t j = begin;
        while (j < end && i + j - begin < t->n && same(&t->all[i + j - begin], &t->all[j]))
            j++;
        found += j == end;
    }
    return found;
}

// Parentheses that are open at the end; closed: those that were never opened.
static int open_parens(const struct tokens *t, size_t begin, size_t end, int *closed)
{
    int open = 0;
    *closed = 0;
    for (size_t i = begin; i < end; i++) {
        open += *t->all[i].at == '(' || *t->all[i].at == '[';
        if (*t->all[i].at == ')' || *t->all[i].at == ']')
            open ? open-- : ++*closed;
    }
    return open;
}

// On which side tokens are lacking, so that the words are a term of an expression, and one that its line has once.
static void lacking(const struct tokens *t, size_t begin, size_t end, bool *left, bool *right)
{
    int closed;
    bool word = false;
    const int open = open_parens(t, begin, end, &closed);
    for (size_t i = begin; i < end; i++)
        word = word || isalpha((unsigned char)*t->all[i].at);
    const bool begins = begin < end && (is_word(*t->all[begin].at) || strchr("(&!~", *t->all[begin].at));
    const char last = begin < end ? t->all[end - 1].at[0] : '\0';
    *left = closed || !begins || !word;
    *right = open || !(is_word(last) || strchr(")];}", last));
    if (!*left && !*right && count_in_line(t, begin, end) > 1)
        *(t->all[begin].first ? right : left) = true;
}

// Tokens of the line beside the place are said, too, until it is clear which are meant.
static void widen(struct hunk *h, const struct tokens *a, const struct tokens *b)
{
    enum { MOST = 8 };
    for (int i = 0; i < MOST; i++) {
        bool left, right, left_then, right_then;
        lacking(b, h->b, h->b_end, &left, &right);
        lacking(a, h->a, h->a_end, &left_then, &right_then);
        left = (left || left_then) && h->a > 0 && !b->all[h->b].first && !a->all[h->a].first;
        right = (right || right_then) && !b->all[h->b_end].first && !a->all[h->a_end].first;
        h->a -= left, h->b -= left;
        h->a_end += right, h->b_end += right;
    }
}

static bool stands_beside(const struct tokens *t, size_t begin, size_t end)
{
    const size_t n = end - begin;
    size_t before = 0, behind = 0;
    while (before < n && begin >= n && same(&t->all[begin - n + before], &t->all[begin + before]))
        before++;
    while (behind < n && end + behind < t->n && same(&t->all[end + behind], &t->all[begin + behind]))
        behind++;
    return before == n || behind == n;
}

static void move(struct hunk *h, long by)
{
    h->a = (size_t)((long)h->a + by), h->a_end = (size_t)((long)h->a_end + by);
    h->b = (size_t)((long)h->b + by), h->b_end = (size_t)((long)h->b_end + by);
}

static struct diff_place place_of(struct hunk h, const struct tokens *a, const struct tokens *b)
{
    struct diff_place p = { .kind = DIFF_OTHER };
    const bool lost = h.b == h.b_end, added = h.a == h.a_end;
    if (lost || added)
        move(&h, lost ? slide(a, h.a, h.a_end) : slide(b, h.b, h.b_end));
    if (lost && are_statements(a, h.a, h.a_end))
        p.kind = DIFF_MISSING;
    else if (added && are_statements(b, h.b, h.b_end))
        p.kind = stands_beside(b, h.b, h.b_end) ? DIFF_TWICE : DIFF_MORE;
    else
        widen(&h, a, b);
    p.line = b->all[h.b].line;
    p.last = b->all[h.b_end > h.b ? h.b_end - 1 : h.b].line;
    write_words(a, h.a, h.a_end, p.then);
    write_words(b, h.b, h.b_end, p.now);
    if (p.kind == DIFF_OTHER && (!*p.now || !*p.then))
        p.kind = *p.now ? DIFF_MORE : DIFF_MISSING;
    return p;
}

// What is missing in one place and has come in another was moved.
static size_t join_moves(struct diff_place *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (all[i].kind != DIFF_MORE || all[j].kind != DIFF_MISSING || strcmp(all[i].now, all[j].then) != 0)
                continue;
            all[i].kind = DIFF_MOVED;
            all[i].from = all[j].line;
            memmove(&all[j], &all[j + 1], (n - j - 1) * sizeof *all);
            return join_moves(all, n - 1);
        }
    return n;
}

size_t text_diff(const char *then, const char *now, struct diff_place *out, size_t most)
{
    struct tokens a = { 0 }, b = { 0 };
    struct hunk hunks[DIFF_TOKENS];
    struct diff_place all[DIFF_TOKENS];
    size_t n = most + 1;
    if (read_tokens(&a, then) && read_tokens(&b, now) && compare(&a, &b)) {
        n = find_hunks(&a, &b, hunks);
        for (size_t i = 0; i < n; i++)
            all[i] = place_of(hunks[i], &a, &b);
        n = join_moves(all, n);
        memcpy(out, all, (n < most ? n : most) * sizeof *out);
    }
    free(a.all);
    free(b.all);
    return n;
}
