// The PTX parser's declarations: variables of every state space, and registers.
#include "parse.h"

#include <string.h>

#define MAX_VAR_BYTES ((uint64_t)1 << 36)
#define MAX_ALIGN 65536

// Types of what a GPU has and this one has not.
static void refuse_type(struct parser *p, struct str d)
{
    const char *what = str_is(d, ".texref")       ? "textures are"
                       : str_is(d, ".surfref")    ? "surfaces are"
                       : str_is(d, ".samplerref") ? "samplers of textures are"
                       : str_is(d, ".tensormap")  ? "tensor maps as variables are"
                                                  : NULL;
    if (what)
        parse_fail(p, d.p, "%s not supported", what);
}

static struct str type_word(struct token *t)
{
    return (struct str){ t->text.p + 1, t->text.n - 1 };
}

// (.managed): the host uses the variable, too, which is nothing to the kernels.
static void parse_attribute(struct parser *p)
{
    parse_expect(p, '(');
    const struct str d = p->lex.tok.text;
    if (!str_is(d, ".managed"))
        parse_fail(p, d.p, "expected .managed, not '%.*s'", (int)d.n, d.p);
    lex_next(&p->lex);
    parse_expect(p, ')');
}

enum ptx_type parse_declared_type(struct parser *p, uint32_t *align, uint32_t *vector)
{
    enum ptx_type type = PTX_NONE;
    *align = 0;
    *vector = 1;
    while (p->lex.tok.kind == TOK_DIRECTIVE) {
        struct str d = p->lex.tok.text;
        enum ptx_type t = ptx_type_named(type_word(&p->lex.tok));
        lex_next(&p->lex);
        if (str_is(d, ".align")) {
            int64_t n = parse_int(p);
            if (n < 1 || n > MAX_ALIGN || (n & (n - 1)))
                parse_fail(p, d.p, "an alignment is a power of two up to %d", MAX_ALIGN);
            *align = (uint32_t)n;
        } else if (str_is(d, ".attribute")) {
            parse_attribute(p);
        } else if (str_is(d, ".v2") || str_is(d, ".v4")) {
            *vector = (uint32_t)(d.p[2] - '0');
        } else if (str_is(d, ".ptr") || str_is(d, ".global") || str_is(d, ".shared") || str_is(d, ".const") ||
                   str_is(d, ".local")) {
            continue;  // attributes of a pointer parameter
        } else if (t != PTX_NONE && type == PTX_NONE) {
            type = t;
        } else {
            refuse_type(p, d);
            parse_fail(p, d.p, "expected a type, not '%.*s'", (int)d.n, d.p);
        }
    }
    if (type == PTX_NONE)
        parse_fail(p, NULL, "expected a type");
    return type;
}

static void grow_init(struct parser *p, struct ptx_var *v, uint64_t bits, uint32_t size)
{
    if (v->init_bytes + size > v->bytes)
        parse_fail(p, NULL, "more initialisers than '%.*s' has elements", (int)v->name.n, v->name.p);
    v->init = parse_grow(p, v->init, v->init_bytes / size, size);
    memcpy(v->init + v->init_bytes, &bits, size);
    v->init_bytes += size;
}

// name, generic(name), each with an offset: name+8. mask: 0xFF00 for the second byte of the address, in 0xFF00(name).
static void pointer(struct parser *p, struct ptx_var *v, uint64_t mask)
{
    const uint32_t size = ptx_type_bytes(v->type);
    struct ptx_pointer at = { .at = v->init_bytes, .bytes = size };
    at.name = parse_name(p, "a name");
    if (str_is(at.name, "generic") && parse_accept(p, '(')) {
        at.name = parse_name(p, "a name");
        parse_expect(p, ')');
    }
    const struct token *t = &p->lex.tok;
    if (t->kind == TOK_PUNCT && (t->punct == '-' || parse_accept(p, '+')))
        at.plus = (uint64_t)parse_int(p);
    at.shift = mask ? (uint32_t)__builtin_ctzll(mask) : 0;
    if (size > 8 || (!mask && size < 8) || at.shift % 8)
        parse_fail(p, at.name.p, "an address does not fit in .%s", ptx_type_name(v->type));
    v->pointers = parse_grow(p, v->pointers, v->n_pointers, sizeof *v->pointers);
    v->pointers[v->n_pointers++] = at;
    grow_init(p, v, 0, size);
}

// = { 1, 2, {3, 4} } or = 1. Fills elements of the variable in order.
static void initializer(struct parser *p, struct ptx_var *v, int depth)
{
    if (parse_accept(p, '{')) {
        if (depth > 8)
            parse_fail(p, NULL, "initialisers nest too deeply");
        if (parse_accept(p, '}'))
            return;
        do
            initializer(p, v, depth + 1);
        while (parse_accept(p, ','));
        parse_expect(p, '}');
        return;
    }
    if (p->lex.tok.kind == TOK_NAME) {
        pointer(p, v, 0);
        return;
    }
    bool minus = parse_accept(p, '-');
    const struct token *t = &p->lex.tok;
    uint32_t size = ptx_type_bytes(v->type);
    uint64_t bits = t->bits;
    if (size > sizeof bits)
        parse_fail(p, NULL, "initialisers of type .%s are not supported", ptx_type_name(v->type));
    if (t->kind == TOK_DECIMAL && v->type == PTX_F32) {
        double d;
        memcpy(&d, &bits, sizeof d);
        float f = (float)d;
        bits = 0;
        memcpy(&bits, &f, sizeof f);
    } else if (t->kind != TOK_INT && t->kind != TOK_F32 && t->kind != TOK_F64 && t->kind != TOK_DECIMAL) {
        parse_fail(p, NULL, "this initialiser is not supported: expected a number");
    }
    if (minus)
        bits = t->kind == TOK_INT ? 0 - bits : bits ^ (1ull << (8 * size - 1));
    const bool whole = t->kind == TOK_INT;
    lex_next(&p->lex);
    if (whole && !minus && bits && parse_accept(p, '(')) {
        pointer(p, v, bits);
        parse_expect(p, ')');
        return;
    }
    grow_init(p, v, bits, size);
}

static void declared_twice(struct parser *p, struct str name)
{
    parse_fail(p, name.p, "'%.*s' is declared twice", (int)name.n, name.p);
}

// Of a variable of the module that has been declared before: that number, with what its definition says.
static uint32_t declared_before(struct parser *p, const struct ptx_var *v, uint32_t old)
{
    struct ptx_var *before = &p->m->vars[old];
    if (p->linkage != LINK_EXTERN && !before->external && p->linkage != LINK_WEAK)
        declared_twice(p, v->name);
    if (p->linkage != LINK_EXTERN && before->external)
        *before = *v;
    return old;
}

uint32_t parse_variable(struct parser *p, struct ptx_var v, uint32_t vector)
{
    struct ptx_module *m = p->m;
    const bool local = p->n_scopes;
    v.external = !local && p->linkage == LINK_EXTERN;
    uint32_t element = ptx_type_bytes(v.type) * vector;
    if (!element)
        parse_fail(p, NULL, "a variable cannot be a predicate");
    if (!v.align)
        v.align = element;
    v.name = parse_name(p, "a variable's name");
    v.bytes = element;
    bool unsized = false;
    while (parse_accept(p, '[')) {
        if (parse_accept(p, ']')) {
            unsized = true;
            continue;
        }
        int64_t n = parse_int(p);
        if (n < 0 || (n && v.bytes > MAX_VAR_BYTES / (uint64_t)n))
            parse_fail(p, v.name.p, "'%.*s' is too large", (int)v.name.n, v.name.p);
        v.bytes *= (uint64_t)n;
        parse_expect(p, ']');
    }
    if (unsized) {
        if (!v.external && v.space != SPACE_PARAM)
            parse_fail(p, v.name.p, "'%.*s' has no size", (int)v.name.n, v.name.p);
        v.bytes = 0;
    }
    if (parse_accept(p, '='))
        initializer(p, &v, 0);
    uint32_t old;
    struct map *names = local ? &p->scopes[p->n_scopes - 1].vars : p->linkage == LINK_OWN ? &p->own : &p->vars;
    if (names == &p->vars && map_get(names, v.name, &old))
        return declared_before(p, &v, old);
    m->vars = parse_grow(p, m->vars, m->n_vars, sizeof *m->vars);
    m->vars[m->n_vars] = v;
    if (!map_put(m->arena, names, v.name, m->n_vars))
        declared_twice(p, v.name);
    if (p->f) {
        m->vars[m->n_vars].local = true;
        p->f->vars = parse_grow(p, p->f->vars, p->f->n_vars, sizeof *p->f->vars);
        p->f->vars[p->f->n_vars++] = m->n_vars;
    }
    return m->n_vars++;
}

void parse_variables(struct parser *p, enum ptx_space space)
{
    struct ptx_var v = { .space = space };
    uint32_t vector;
    v.type = parse_declared_type(p, &v.align, &vector);
    do
        parse_variable(p, v, vector);
    while (parse_accept(p, ','));
    parse_expect(p, ';');
}

bool parse_space(struct str directive, enum ptx_space *space)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {
        { ".global", SPACE_GLOBAL }, { ".shared", SPACE_SHARED }, { ".local", SPACE_LOCAL },
        { ".const", SPACE_CONST },   { ".param", SPACE_PARAM },
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_is(directive, spaces[i].name))
            return *space = spaces[i].space, true;
    return false;
}

static void add_registers(struct parser *p, struct str name, enum ptx_type type, uint32_t count, bool ranged)
{
    struct ptx_func *f = p->f;
    if (f->n_regs + count > 1 << 22)
        parse_fail(p, name.p, "too many registers");
    for (uint32_t i = 0; i < count; i++) {
        f->regs = parse_grow(p, f->regs, f->n_regs, sizeof *f->regs);
        f->regs[f->n_regs++] = (struct ptx_reg){ name, type, i, ranged };
    }
}

static struct str make_name(struct parser *p, const char *format, struct str name, unsigned behind)
{
    const char *text = arena_printf(p->m->arena, format, (int)name.n, name.p, behind);
    if (!text)
        parse_fail(p, NULL, "out of memory");
    return (struct str){ text, (uint32_t)strlen(text) };
}

// Its elements are registers of their own, v.x and so on: v is a vector of them wherever it stands.
static void vector_register(struct parser *p, struct str name, enum ptx_type type, uint32_t n)
{
    struct scope *s = &p->scopes[p->n_scopes - 1];
    if (!map_put(p->m->arena, &s->vectors, name, p->f->n_regs << 3 | n))
        parse_fail(p, name.p, "register '%.*s' is declared twice", (int)name.n, name.p);
    for (uint32_t i = 0; i < n; i++)
        add_registers(p, make_name(p, "%.*s.%c", name, (unsigned)"xyzw"[i]), type, 1, false);
}

// Registers of 128 bits are vectors of two halves.
void parse_registers(struct parser *p)
{
    struct scope *s = &p->scopes[p->n_scopes - 1];
    uint32_t align, vector;
    enum ptx_type type = parse_declared_type(p, &align, &vector);
    if (type == PTX_B128 && vector != 1)
        parse_fail(p, NULL, "vectors of registers of 128 bits are not supported");
    vector = type == PTX_B128 ? 2 : vector;
    type = type == PTX_B128 ? PTX_B64 : type;
    do {
        struct ptx_func *f = p->f;
        struct str name = parse_name(p, "a register's name");
        uint32_t count = 1;
        bool ranged = parse_accept(p, '<');
        if (ranged) {
            int64_t n = parse_int(p);
            if (n < 0 || n > 1 << 20)
                parse_fail(p, name.p, "too many registers");
            count = (uint32_t)n;
            parse_expect(p, '>');
        }
        if (vector > 1) {
            for (uint32_t i = 0; i < count; i++)
                vector_register(p, ranged ? make_name(p, "%.*s%u", name, i) : name, type, vector);
            continue;
        }
        if (ranged) {
            s->ranges = parse_grow(p, s->ranges, s->n_ranges, sizeof *s->ranges);
            s->ranges[s->n_ranges++] = (struct range){ name, f->n_regs, count, type };
        } else if (!map_put(p->m->arena, &s->singles, name, f->n_regs)) {
            parse_fail(p, name.p, "register '%.*s' is declared twice", (int)name.n, name.p);
        }
        add_registers(p, name, type, count, ranged);
    } while (parse_accept(p, ','));
    parse_expect(p, ';');
}
