// PTX's instructions of textures and surfaces become calls of texture.cu's functions, in the text before it is loaded:
// the simulated GPU has no unit of its own for them. What is written here is one line in place of one, so that .loc and
// what messages say of lines stay. An instruction that is not known stays, and is refused by its name.
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"
#include "texture.h"

extern const char kernel_texture[];

// --- An instruction's words and operands ---

enum { WORDS = 8, PLACES = 4, NAME = 64 };

struct fetch {
    char word[WORDS][NAME];  // tex.2d.v4.f32.f32
    unsigned n_words;
    char value[PLACES][NAME], object[NAME], place[PLACES][NAME];
    unsigned n_values, n_places;
    int form;
};

static const char *after_spaces(const char *p)
{
    while (isspace((unsigned char)*p) && *p != '\n')
        p++;
    return p;
}

// A name or number at p; NULL: there is none, or it is too long.
static const char *read_name(const char *p, char to[NAME])
{
    p = after_spaces(p);
    const size_t n = strcspn(p, " \t\n,;{}[]");
    if (!n || n >= NAME)
        return NULL;
    snprintf(to, NAME, "%.*s", (int)n, p);
    return after_spaces(p + n);
}

static const char *read_mark(const char *p, char mark)
{
    p = p ? after_spaces(p) : NULL;
    return p && *p == mark ? p + 1 : NULL;
}

// {a, b}, or one name without braces.
static const char *read_list(const char *p, char to[PLACES][NAME], unsigned *n)
{
    const char *open = read_mark(p, '{');
    p = open ? open : p;
    for (*n = 0; p && *n < PLACES;) {
        p = read_name(p, to[(*n)++]);
        if (!p || *p != ',' || !open)
            break;
        p++;
    }
    return open ? read_mark(p, '}') : p;
}

// [object, {places}]
static const char *read_object(const char *p, struct fetch *f)
{
    p = read_mark(p, '[');
    p = p ? read_name(p, f->object) : NULL;
    p = read_mark(p, ',');
    p = p ? read_list(p, f->place, &f->n_places) : NULL;
    return read_mark(p, ']');
}

static bool is(const struct fetch *f, unsigned i, const char *word)
{
    return i < f->n_words && !strcmp(f->word[i], word);
}

// 1d, 2d, 3d, a1d, a2d; 0: another.
static int geometry(const char *word)
{
    const bool layered = *word == 'a';
    const int n = word[layered] - '0';
    return n >= 1 && n <= (layered ? 2 : 3) && !strcmp(word + layered + 1, "d") ? n | (layered ? TEXTURE_LAYERED : 0)
                                                                                : 0;
}

static const char *read_words(const char *p, struct fetch *f)
{
    for (f->n_words = 0; f->n_words < WORDS; p++) {
        const size_t n = strcspn(p, ". \t\n");
        if (!n || n >= NAME)
            return NULL;
        snprintf(f->word[f->n_words++], NAME, "%.*s", (int)n, p);
        p += n;
        if (*p != '.')
            return p;
    }
    return NULL;
}

// --- New text ---

struct text {
    char *at;
    size_t n, room;
    bool failed;
};

static void add(struct text *t, const char *from, size_t n)
{
    if (t->n + n + 1 > t->room && !t->failed) {
        t->room = 2 * (t->room + n) + 4096;
        char *more = realloc(t->at, t->room);
        t->failed = !more;
        t->at = more ? more : t->at;
    }
    if (t->failed)
        return;
    memcpy(t->at + t->n, from, n);
    t->n += n;
    t->at[t->n] = '\0';
}

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    char line[4 * PLACES * NAME];
    va_list values;
    va_start(values, format);
    const int n = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    add(t, line, n > 0 && n < (int)sizeof line ? (size_t)n : 0);
}

static void put_list(struct text *t, char list[PLACES][NAME], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put(t, "%s%s", i ? ", " : n > 1 ? "{" : "", list[i]);
    put(t, "%s", n > 1 ? "}" : "");
}

// A call: its parameters are an address, the form, and words of 32 bits, of which the places may be floats.
static void put_call(struct text *t, const struct fetch *f, const char *result, const char *function, int number,
                     const char *const *type, unsigned n)
{
    put(t, "{ .param .b64 simt_p; .param .b32 simt_f; .param .b32 simt_n; .param .b32 simt_0; .param .b32 simt_1; "
           ".param .b32 simt_2; .param .b32 simt_3; ");
    put(t, "%s st.param.b64 [simt_p], %s; st.param.b32 [simt_f], %d; st.param.b32 [simt_n], %d; ", result, f->object,
        f->form, number);
    for (unsigned i = 0; i < PLACES; i++) {
        const bool given = i < f->n_places;
        put(t, "st.param.%s [simt_%u], %s; ", given ? type[i] : "b32", i, given ? f->place[i] : "0");
    }
    put(t, "call.uni (simt_r), %s, (simt_p, simt_f, %ssimt_0, simt_1, simt_2%s); ", function, number ? "simt_n, " : "",
        n > 3 ? ", simt_3" : "");
}

// tex{.level}.geometry.v4.type.type {values}, [object, {places}]{, level}: without mipmaps the level does not matter.
static bool texture(const char *p, struct fetch *f, struct text *to)
{
    const unsigned first = is(f, 1, "level") || is(f, 1, "grad") ? 2 : 1;
    f->form = f->n_words == first + 4 && is(f, first + 1, "v4") ? geometry(f->word[first]) : 0;
    if (!f->form)
        return false;
    const bool whole = is(f, first + 3, "s32"), layered = f->form & TEXTURE_LAYERED;
    f->form |= whole ? TEXTURE_WHOLE : 0;
    p = read_list(p, f->value, &f->n_values);
    p = read_mark(p, ',');
    if (!p || !read_object(p, f) || f->n_values != 4)
        return false;
    const char *const type = f->word[first + 3], *const types[PLACES] = { layered ? "b32" : type, type, type, type };
    put_call(to, f, ".param .align 16 .b8 simt_r[16];", "simt_texture", 0, types, 4);
    put(to, "ld.param.v4.%s ", f->word[first + 2]);
    put_list(to, f->value, 4);
    put(to, ", [simt_r]; }");
    return true;
}

// suld.b.geometry{.vector}.type.mode {values}, [object, {places}]; sust.b... [object, {places}], {values}
static bool surface(const char *p, struct fetch *f, struct text *to)
{
    static const char *const types[PLACES] = { "b32", "b32", "b32", "b32" };
    const bool loads = is(f, 0, "suld"), vector = f->n_words == 6;
    const char *const type = f->word[vector ? 4 : 3], *const mode = f->word[f->n_words - 1];
    f->form = is(f, 1, "b") && (f->n_words == 5 || vector) ? geometry(f->word[2]) : 0;
    if (!f->form)
        return false;
    f->form |= !strcmp(mode, "zero") ? SURFACE_ZERO : !strcmp(mode, "clamp") ? SURFACE_CLAMP : 0;
    p = loads ? read_list(p, f->value, &f->n_values) : read_object(p, f);
    p = read_mark(p, ',');
    if (!p || !(loads ? read_object(p, f) : read_list(p, f->value, &f->n_values)))
        return false;
    const int bytes = atoi(type + 1) / 8 * (int)f->n_values;
    put_call(to, f, ".param .b64 simt_r; .reg .b64 %simt_at; .reg .pred %simt_in;", "simt_surface", bytes, types, 3);
    put(to, "ld.param.b64 %%simt_at, [simt_r]; setp.ne.u64 %%simt_in, %%simt_at, 0; ");
    for (unsigned i = 0; loads && i < f->n_values; i++)
        put(to, "mov.%s %s, 0; ", strcmp(type, "b8") ? type : "b16", f->value[i]);
    put(to, "@%%simt_in %s.global.%s%s%s ", loads ? "ld" : "st", vector ? f->word[3] : "", vector ? "." : "", type);
    if (!loads)
        put(to, "[%%simt_at], ");
    put_list(to, f->value, f->n_values);
    put(to, "%s; }", loads ? ", [%simt_at]" : "");
    return true;
}

// --- All of a text ---

static bool begins(const char *p, const char *word)
{
    return !strncmp(p, word, strlen(word));
}

// The line in other words, if it is such an instruction.
static bool rewritten(const char *line, struct text *to)
{
    struct fetch f = { .n_values = 0 };
    const char *p = after_spaces(line);
    const bool tex = begins(p, "tex.");
    if (!tex && !begins(p, "suld.") && !begins(p, "sust."))
        return false;
    p = read_words(p, &f);
    return p && (tex ? texture(p, &f, to) : surface(p, &f, to));
}

bool cudart_textures(struct cudart_ptx *ptx)
{
    struct text to = { 0 };
    bool any = false;
    if (!ptx->text || (!strstr(ptx->text, "tex.") && !strstr(ptx->text, "suld.") && !strstr(ptx->text, "sust.")))
        return true;
    for (const char *p = ptx->text; *p;) {
        const size_t n = strcspn(p, "\n");
        if (rewritten(p, &to))
            any = true;
        else
            add(&to, p, n);
        add(&to, "\n", p[n] == '\n');
        p += n + (p[n] == '\n');
    }
    if (any)
        add(&to, kernel_texture, strlen(kernel_texture));
    if (to.failed || !any) {
        free(to.at);
        return !to.failed;
    }
    free(ptx->text);
    ptx->text = to.at;
    ptx->bytes = to.n;
    return true;
}
