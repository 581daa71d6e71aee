// See cu_text.h.
#include "cu_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

bool cu_is(const struct cu_text *t, unsigned token, const char *text)
{
    return token < t->n_tokens && t->token[token].n == strlen(text) &&
           !memcmp(t->token[token].at, text, t->token[token].n);
}

bool cu_same(const struct cu_token *a, const struct cu_token *b)
{
    return a->n == b->n && !memcmp(a->at, b->at, a->n);
}

const struct cu_name *cu_name_at(const struct cu_text *t, unsigned token)
{
    const struct cu_name *found = NULL;
    for (unsigned i = 0; i < t->n_names; i++) {
        const struct cu_name *x = &t->name[i];
        if (x->token < token && token < x->end && cu_same(&t->token[x->token], &t->token[token]))
            found = x;  // the innermost is declared last
    }
    return found;
}

// --- Tokens ---

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Behind blanks, comments, strings and lines of the preprocessor.
static const char *skip(const char *p, const char *text)
{
    for (;;) {
        const char *before = p;
        p += strspn(p, " \t\r\n");
        if (p[0] == '/' && p[1] == '/')
            p += strcspn(p, "\n");
        if (p[0] == '/' && p[1] == '*')
            p = strstr(p + 2, "*/") ? strstr(p + 2, "*/") + 2 : p + strlen(p);
        if (*p == '#' && (p == text || p[-1] == '\n'))
            do
                p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n');
            while (p > text + 1 && p[-1] == '\n' && p[-2] == '\\');
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                p += *p == '\\' && p[1];
            p += *p == '"';
        }
        if (p == before)
            return p;
    }
}

static unsigned length_of(const char *p)
{
    static const char *const signs[] = { "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
                                         "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "::", "->" };
    unsigned n = 0;
    while (is_word(p[n]) || (n && p[n] == '.' && isdigit((unsigned char)p[0])))
        n++;
    for (size_t i = 0; !n && i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(p, signs[i], strlen(signs[i])))
            return (unsigned)strlen(signs[i]);
    return n ? n : 1;
}

static bool add_token(struct cu_text *t, const char *at, unsigned line)
{
    if (!(t->n_tokens & (t->n_tokens - 1))) {
        struct cu_token *more = realloc(t->token, (t->n_tokens ? 2 * t->n_tokens : 1) * sizeof *more);
        if (!more)
            return false;
        t->token = more;
    }
    t->token[t->n_tokens++] = (struct cu_token){
        .at = at,
        .n = length_of(at),
        .line = line,
        .kind = isdigit((unsigned char)*at) ? CU_NUMBER
                : is_word(*at)              ? CU_WORD
                                            : CU_SIGN,
    };
    return true;
}

static bool read_tokens(struct cu_text *t)
{
    unsigned line = 1;
    const char *from = t->text;
    for (const char *p = skip(t->text, t->text); *p; p = skip(p + length_of(p), t->text)) {
        for (; from < p; from++)
            line += *from == '\n';
        if (!add_token(t, p, line))
            return false;
    }
    return t->n_tokens;
}

// False if they do not fit.
static bool match_brackets(struct cu_text *t)
{
    enum { DEEP = 128 };
    unsigned open[DEEP], n = 0;
    for (unsigned i = 0; i < t->n_tokens; i++) {
        const char c = t->token[i].n == 1 ? *t->token[i].at : 0;
        if (c && strchr("([{", c)) {
            if (n == DEEP)
                return false;
            open[n++] = i;
        } else if (c && strchr(")]}", c)) {
            if (!n || strchr("([{", *t->token[open[n - 1]].at) - "([{" != strchr(")]}", c) - ")]}")
                return false;
            t->token[i].match = open[--n];
            t->token[open[n]].match = i;
        }
    }
    return !n;
}

// --- Declarations ---

static void declare(struct cu_text *t, unsigned token, unsigned end, unsigned declaration, enum cu_name_kind kind)
{
    if (t->n_names < t->n_tokens)
        t->name[t->n_names++] = (struct cu_name){ token, token, end, declaration, kind };
}

static bool is_whole(const struct cu_text *t, unsigned token)
{
    return cu_is(t, token, "int") || cu_is(t, token, "unsigned") || cu_is(t, token, "uint32_t") ||
           cu_is(t, token, "size_t") || cu_is(t, token, "uint64_t");
}

// The end of < >, behind the >, where they hold a template's arguments; else i itself.
static unsigned skip_angles(const struct cu_text *t, unsigned i)
{
    int depth = 0;
    for (unsigned j = i; j < t->n_tokens && cu_is(t, i, "<"); j++) {
        if (t->token[j].match > j)
            j = t->token[j].match;
        depth += cu_is(t, j, "<") ? 1 : cu_is(t, j, ">") ? -1 : cu_is(t, j, ">>") ? -2 : 0;
        if (depth <= 0)
            return j + 1;
        if (cu_is(t, j, ";"))
            break;
    }
    return i;
}

// Parameters between two brackets.
static void declare_parameters(struct cu_text *t, unsigned open, unsigned close, unsigned end, enum cu_name_kind whole)
{
    bool is_int = false, pointer = false;
    for (unsigned i = open + 1; i <= close; i++) {
        if (i < close && t->token[i].match > i)
            i = t->token[i].match;
        is_int = is_int || is_whole(t, i);
        pointer = pointer || cu_is(t, i, "*");
        if (i < close && !cu_is(t, i, ","))
            continue;
        if (t->token[i - 1].kind == CU_WORD)
            declare(t, i - 1, end, open, pointer ? CU_POINTER : is_int ? whole : CU_OTHER);
        is_int = pointer = false;
    }
}

// --- Expressions ---

static unsigned read_statement(struct cu_text *t, unsigned i, unsigned end, unsigned before, bool alone);

static void read_block(struct cu_text *t, unsigned open)
{
    unsigned before = 0;
    for (unsigned i = open + 1; i < t->token[open].match;) {
        const unsigned n = t->n_statements, next = read_statement(t, i, t->token[open].match, before, false);
        before = t->n_statements > n && t->statement[n].begin == i ? n + 1 : 0;
        i = next > i ? next : i + 1;
    }
}

// The { of a function without a name that begins there; 0: none does.
static unsigned lambda_body(const struct cu_text *t, unsigned i)
{
    const unsigned close = t->token[i].match;
    if (!cu_is(t, i, "[") || close < i || close > i + 2)
        return 0;
    const unsigned behind = cu_is(t, close + 1, "(") ? t->token[close + 1].match + 1 : close + 1;
    return cu_is(t, behind, "{") ? behind : 0;
}

static void fix(struct cu_text *t, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        t->token[i].fixed = true;
}

static void read_expression(struct cu_text *t, unsigned from, unsigned to)
{
    bool fixed = false;  // the index before this token was one of registers
    for (unsigned i = from; i < to; i++) {
        struct cu_token *x = &t->token[i];
        const bool close_by = i + 1 < to && x->at + x->n == t->token[i + 1].at;
        const unsigned body = lambda_body(t, i);
        if (body) {
            if (cu_is(t, body - 1, ")"))
                declare_parameters(t, x->match + 1, body - 1, t->token[body].match, CU_VARIABLE);
            read_block(t, body);
            i = t->token[body].match;
        } else if (cu_is(t, i, "[")) {
            const struct cu_name *of = i && t->token[i - 1].kind == CU_WORD ? cu_name_at(t, i - 1) : NULL;
            fixed = (of && of->kind == CU_REGISTERS) || (fixed && cu_is(t, i - 1, "]"));
            fix(t, i + 1, fixed ? x->match : i);
            i = fixed ? x->match : i;
        } else if (x->kind == CU_WORD && close_by && cu_is(t, i + 1, "<") && skip_angles(t, i + 1) > i + 1) {
            fix(t, i + 2, skip_angles(t, i + 1) - 1);
            i = skip_angles(t, i + 1) - 1;
        } else if (cu_is(t, i, "sizeof") || cu_is(t, i, "decltype")) {
            i = cu_is(t, i + 1, "(") ? t->token[i + 1].match : i;
        } else {
            x->computed = true;
        }
    }
}

// --- Statements ---

static unsigned end_of(const struct cu_text *t, unsigned i, unsigned end)
{
    for (; i < end && !cu_is(t, i, ";"); i++)
        i = t->token[i].match > i ? t->token[i].match : i;
    return i < end ? i + 1 : end;
}

// The first name that a declaration beginning here declares; 0: it is none.
static unsigned declared(const struct cu_text *t, unsigned i)
{
    bool type = false;
    for (; i < t->n_tokens; i++) {
        const bool name = type && t->token[i].kind == CU_WORD;
        if (name && (cu_is(t, i + 1, "=") || cu_is(t, i + 1, ";") || cu_is(t, i + 1, ",") || cu_is(t, i + 1, "[") ||
                     cu_is(t, i + 1, "{")))
            return i;
        if (t->token[i].kind == CU_WORD) {
            type = true;
            if (cu_is(t, i + 1, "(") && cu_is(t, i, "__align__"))
                i = t->token[i + 1].match;
            else if (cu_is(t, i + 1, "<"))
                i = skip_angles(t, i + 1) > i + 1 ? skip_angles(t, i + 1) - 1 : t->n_tokens;
        } else if (!type || !(cu_is(t, i, "*") || cu_is(t, i, "&") || cu_is(t, i, "::"))) {
            return 0;
        }
    }
    return 0;
}

// Its names, and what is computed in it.
static void read_declaration(struct cu_text *t, unsigned begin, unsigned first, unsigned end, unsigned scope)
{
    bool constant = false, shared = false, whole = false;
    for (unsigned i = begin; i < first; i++) {
        constant = constant || cu_is(t, i, "constexpr");
        shared = shared || cu_is(t, i, "__shared__");
        whole = whole || is_whole(t, i);
    }
    for (unsigned i = first; i < end; i++) {
        const bool pointer = cu_is(t, i - 1, "*");
        unsigned value = i + 1;
        while (cu_is(t, value, "["))
            value = t->token[value].match + 1;
        declare(t, i, scope, begin,
                shared          ? CU_SHARED
                : value > i + 1 ? CU_REGISTERS
                : pointer       ? CU_POINTER
                : !whole        ? CU_OTHER
                : constant      ? CU_CONSTANT
                                : CU_VARIABLE);
        unsigned behind = value;
        while (behind < end && !cu_is(t, behind, ",") && !cu_is(t, behind, ";"))
            behind = t->token[behind].match > behind ? t->token[behind].match + 1 : behind + 1;
        const unsigned name = t->n_names - 1;
        if (!constant && !shared && cu_is(t, value, "="))
            read_expression(t, value + 1, behind);
        if (constant)
            fix(t, value + 1, behind);
        t->name[name].from = behind - 1;
        i = behind + cu_is(t, behind + 1, "*");
    }
}

// Whether everything in the head of a loop is known when the kernel is compiled.
static bool is_constant(const struct cu_text *t, unsigned open, unsigned counter)
{
    for (unsigned i = open + 1; i < t->token[open].match; i++) {
        const struct cu_name *x = t->token[i].kind == CU_WORD ? cu_name_at(t, i) : NULL;
        if (x && x->token != counter && x->kind != CU_CONSTANT)
            return false;
        if (!x && t->token[i].kind == CU_WORD && !is_whole(t, i) && i != counter && !cu_is(t, i - 1, "::"))
            return false;
    }
    return true;
}

static unsigned read_for(struct cu_text *t, unsigned i, unsigned end)
{
    const unsigned open = i + 1, close = t->token[open].match, first = declared(t, open + 1);
    const unsigned body_end = cu_is(t, close + 1, "{") ? t->token[close + 1].match : end_of(t, close + 1, end);
    const unsigned counter = first < close ? first : 0;
    if (counter)
        declare(t, counter, body_end, i, CU_COUNTER);
    if (counter && is_constant(t, open, counter)) {
        t->loop[t->n_loops++] = (struct cu_loop){ i, body_end };
        fix(t, counter + 2, close);
    } else
        read_expression(t, counter ? counter + 2 : open + 1, close);
    return read_statement(t, close + 1, end, 0, true);
}

static unsigned read_if(struct cu_text *t, unsigned i, unsigned end)
{
    const bool constant = cu_is(t, i + 1, "constexpr");
    const unsigned open = i + 1 + constant;
    if (!constant)
        read_expression(t, open + 1, t->token[open].match);
    i = read_statement(t, t->token[open].match + 1, end, 0, true);
    return cu_is(t, i, "else") ? read_statement(t, i + 1, end, 0, true) : i;
}

// before: the statement before it and 1 more, or 0. Returns where the next one begins.
static unsigned read_statement(struct cu_text *t, unsigned i, unsigned end, unsigned before, bool alone)
{
    static const char *const skipped[] = { "static_assert", "using", "asm", "return", "continue", "break", ";", "do" };
    const unsigned behind = end_of(t, i, end);
    if (cu_is(t, i, "{")) {
        read_block(t, i);
        return t->token[i].match + 1;
    }
    if (cu_is(t, i, "for"))
        return read_for(t, i, end);
    if (cu_is(t, i, "if") || cu_is(t, i, "while"))
        return read_if(t, i, end);
    if (cu_is(t, i, "return"))
        read_expression(t, i + 1, behind - 1);
    for (size_t s = 0; s < sizeof skipped / sizeof *skipped; s++)
        if (cu_is(t, i, skipped[s]))
            return behind;
    const unsigned first = declared(t, i);
    if (t->n_statements < t->n_tokens)
        t->statement[t->n_statements++] = (struct cu_statement){ i, behind, first != 0, alone, before };
    if (first)
        read_declaration(t, i, first, behind, end);
    else
        read_expression(t, i, behind - 1);
    return behind;
}

// --- All of it ---

static void read_file(struct cu_text *t)
{
    unsigned parameters = 0;  // the < of a template
    for (unsigned i = 0; i < t->n_tokens; i++) {
        if (cu_is(t, i, "template") && cu_is(t, i + 1, "<")) {
            parameters = i + 1;
            i = skip_angles(t, i + 1) - 1;
        } else if (cu_is(t, i, "constexpr") && declared(t, i) && declared(t, i) < end_of(t, i, t->n_tokens)) {
            read_declaration(t, i, declared(t, i), end_of(t, i, t->n_tokens), t->n_tokens);
            i = end_of(t, i, t->n_tokens) - 1;
        } else if (cu_is(t, i, "__shared__") && declared(t, i)) {
            read_declaration(t, i, declared(t, i), end_of(t, i, t->n_tokens), t->n_tokens);
            i = end_of(t, i, t->n_tokens) - 1;
        } else if (cu_is(t, i, "{")) {
            const unsigned body = t->token[i].match;
            if (i && cu_is(t, i - 1, ")")) {
                if (parameters)
                    declare_parameters(t, parameters, skip_angles(t, parameters) - 1, body, CU_CONSTANT);
                declare_parameters(t, t->token[i - 1].match, i - 1, body, CU_VARIABLE);
                read_block(t, i);
            }
            parameters = 0;
            i = body;
        } else if (cu_is(t, i, ";")) {
            parameters = 0;
        }
    }
}

bool cu_text_read(struct cu_text *t, const char *file)
{
    *t = (struct cu_text){ .text = file_read(file) };
    if (!t->text || !read_tokens(t) || !match_brackets(t))
        return false;
    t->name = calloc(t->n_tokens, sizeof *t->name);
    t->statement = calloc(t->n_tokens, sizeof *t->statement);
    t->loop = calloc(t->n_tokens, sizeof *t->loop);
    if (!t->name || !t->statement || !t->loop)
        return false;
    read_file(t);
    return true;
}

void cu_text_free(struct cu_text *t)
{
    free(t->text);
    free(t->token);
    free(t->name);
    free(t->statement);
    free(t->loop);
}
