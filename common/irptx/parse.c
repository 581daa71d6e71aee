// The module: named types, attributes, variables and functions. Names may be used before the line that defines them, so
// the lines are gone through twice: for the names, then for what they mean.
#include "irptx/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// --- Names ---

static void add_type_name(struct parser *p, const char *line)
{
    ll_begin(&p->l, line);
    const struct str name = p->l.token.text;
    for (int i = 0; i < 3; i++)  // %name = type
        ll_next(&p->l);
    p->types = ir_grow(p->m, p->types, p->type_count, sizeof *p->types);
    p->types[p->type_count] = (struct named_type){ .text = p->l.token.at };
    if (!map_put(p->m->arena, &p->type_names, name, p->type_count++))
        ir_fail(p->m, "the type %%%.*s is defined twice", (int)name.n, name.p);
}

// PTX has letters, digits, _ and $ in names.
static const char *ptx_name(struct ir_module *m, struct str name)
{
    char *text = ir_new(m, 3 * (size_t)name.n + 1), *to = text;
    for (uint32_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (isalnum((unsigned char)c) || c == '_' || c == '$') {
            *to++ = c;
        } else {
            memcpy(to, "_$_", 3);
            to += 3;
        }
    }
    return text;
}

static struct ir_symbol *add_symbol(struct parser *p, struct str name)
{
    struct ir_module *m = p->m;
    struct ir_symbol *s = ir_new(m, sizeof *s);
    *s = (struct ir_symbol){ .name = name, .ptx = ptx_name(m, name) };
    m->symbols = ir_grow(m, m->symbols, m->symbol_count, sizeof *m->symbols);
    m->symbols[m->symbol_count] = s;
    if (!map_put(m->arena, &m->symbol_names, name, m->symbol_count++))
        ir_fail(m, "@%.*s is defined twice", (int)name.n, name.p);
    return s;
}

// @name = internal addrspace(3) global ...: up to "global" or "constant", where the type begins.
static void variable_head(struct parser *p, struct ir_symbol *s)
{
    while (p->l.token.kind != TOKEN_END) {
        const bool space = ll_is(p, "addrspace");
        if (space) {
            s->space = ll_space(p);
            continue;
        }
        s->external |= ll_is(p, "external") || ll_is(p, "extern_weak");
        s->internal |= ll_is(p, "internal") || ll_is(p, "private");
        s->alias |= ll_is(p, "alias") || ll_is(p, "ifunc");
        const bool last = ll_is(p, "global") || ll_is(p, "constant") || s->alias;
        const bool call = ll_is(p, "thread_local");
        ll_next(&p->l);
        if (call && ll_is(p, "("))
            ll_skip_brackets(p);
        if (last)
            return;
    }
}

static void add_variable(struct parser *p, const char *line)
{
    ll_begin(&p->l, line);
    struct ir_symbol *s = add_symbol(p, p->l.token.text);
    ll_next(&p->l);
    ll_next(&p->l);
    variable_head(p, s);
}

static void add_function(struct parser *p, const char *line)
{
    const char *at = strchr(line, '@');
    if (!at)
        ir_fail(p->m, "a function without a name");
    ll_begin(&p->l, at);
    struct ir_symbol *s = add_symbol(p, p->l.token.text);
    s->function = true;
    s->external = *line == 'd' && line[2] == 'c';  // declare, not define
}

// attributes #0 = { noinline "key"="value" }
static void add_attributes(struct parser *p, const char *line)
{
    struct ir_module *m = p->m;
    ll_begin(&p->l, line + strlen("attributes"));
    uint32_t group = 0;
    for (uint32_t i = 0; i < p->l.token.text.n; i++)
        group = group * 10 + (uint32_t)(p->l.token.text.p[i] - '0');
    for (ll_next(&p->l); !p->l.token.first && p->l.token.kind != TOKEN_END;) {
        const struct token key = p->l.token;
        ll_next(&p->l);
        if (key.kind != TOKEN_STRING || !ll_take(p, "="))
            continue;
        m->attributes = ir_grow(m, m->attributes, m->attribute_count, sizeof *m->attributes);
        m->attributes[m->attribute_count++] = (struct ir_attribute){ group, key.text, p->l.token.text };
        ll_next(&p->l);
    }
}

// --- What they mean ---

static void parse_variable(struct parser *p, const char *line)
{
    ll_begin(&p->l, line);
    uint32_t i;
    map_get(&p->m->symbol_names, p->l.token.text, &i);
    struct ir_symbol *s = p->m->symbols[i];
    ll_next(&p->l);
    ll_next(&p->l);
    variable_head(p, s);
    if (s->alias)
        return;
    s->type = ll_type(p);
    s->align = ir_align(s->type);
    if (!s->external && ll_is(p, "zeroinitializer"))
        ll_next(&p->l);
    else if (!s->external)
        s->init = ll_value(p, s->type).scalars;
    while (!p->l.token.first && p->l.token.kind != TOKEN_END)
        if (ll_take(p, "align"))
            s->align = (uint32_t)ll_number(p);
        else
            ll_next(&p->l);
}

static void parse_params(struct parser *p, struct ir_function *f)
{
    ll_want(p, "(");
    while (!ll_take(p, ")")) {
        if (ll_is(p, "..."))
            ir_fail(p->m, "a function with variable arguments is not known");
        struct ir_param param = { .type = ll_type(p) };
        ll_attributes(p, &param);
        ll_local(p);
        f->params = ir_grow(p->m, f->params, f->param_count, sizeof *f->params);
        f->params[f->param_count++] = param;
        if (!ll_is(p, ")"))
            ll_want(p, ",");
    }
}

static void parse_head(struct parser *p, struct ir_function *f)
{
    while (!ll_starts_type(p)) {
        f->kernel |= ll_is(p, "ptx_kernel");
        ll_next(&p->l);
        if (ll_is(p, "("))
            ll_skip_brackets(p);
        if (p->l.token.kind == TOKEN_END)
            ll_fail(p, "type");
    }
    f->result = ll_type(p);
    uint32_t symbol;
    if (p->l.token.kind != TOKEN_GLOBAL || !map_get(&p->m->symbol_names, p->l.token.text, &symbol))
        ll_fail(p, "name");
    f->symbol = p->m->symbols[symbol];
    ll_next(&p->l);
    parse_params(p, f);
    f->attributes = UINT32_MAX;
    while (!ll_is(p, "{") && p->l.token.kind != TOKEN_END) {
        const struct token t = p->l.token;
        ll_next(&p->l);
        if (t.kind == TOKEN_GROUP)
            f->attributes = (uint32_t)strtoul(t.text.p, NULL, 10);
        if (t.kind == TOKEN_META && str_is(t.text, "dbg"))
            f->line = (uint32_t)strtoul(p->l.token.text.p, NULL, 10);
    }
    ll_want(p, "{");
}

static void skip_line(struct parser *p)
{
    while (!p->l.token.first && p->l.token.kind != TOKEN_END)
        ll_next(&p->l);
}

static struct ir_block *begin_block(struct parser *p, struct ir_function *f, struct str name)
{
    const uint32_t n = ll_block(p, name);
    while (f->block_count <= n || f->block_count < p->block_count) {
        f->blocks = ir_grow(p->m, f->blocks, f->block_count, sizeof *f->blocks);
        f->blocks[f->block_count++] = (struct ir_block){ 0 };
    }
    f->blocks[n].name = name;
    return &f->blocks[n];
}

static void parse_body(struct parser *p, struct ir_function *f)
{
    struct ir_block *b = NULL;
    while (!ll_take(p, "}")) {
        const struct token t = p->l.token;
        if (t.kind == TOKEN_END)
            ll_fail(p, "}");
        if (t.kind == TOKEN_LABEL || !b)
            b = begin_block(p, f, t.kind == TOKEN_LABEL ? t.text : (struct str){ "", 0 });
        if (t.kind == TOKEN_LABEL || t.kind == TOKEN_GROUP) {  // #dbg_...: a record of a debugger
            ll_next(&p->l);
            if (t.kind == TOKEN_GROUP)
                skip_line(p);
            continue;
        }
        b->insts = ir_grow(p->m, b->insts, b->count, sizeof *b->insts);
        ll_inst(p, &b->insts[b->count]);
        b->count++;
    }
    if (!f->block_count)
        ll_fail(p, "instruction");
    for (uint32_t i = 0; i < p->block_count; i++)
        if (i >= f->block_count || !f->blocks[i].count)
            ir_fail(p->m, "the IR has a branch to a block that it has not");
}

static void parse_function(struct parser *p, const char *line)
{
    struct ir_module *m = p->m;
    m->functions = ir_grow(m, m->functions, m->function_count, sizeof *m->functions);
    struct ir_function *f = &m->functions[m->function_count++];
    *f = (struct ir_function){ 0 };
    p->locals = p->blocks = (struct map){ 0 };
    p->local_count = 1;
    p->block_count = 0;
    m->statement = line;
    ll_begin(&p->l, line + strlen("define"));
    parse_head(p, f);
    parse_body(p, f);
    f->local_count = p->local_count;
    m->statement = NULL;
}

void ll_module(struct ir_module *m, const char *text)
{
    struct parser p = { .m = m };
    ll_meta(m, text);
    for (int pass = 0; pass < 2; pass++)
        for (const char *line = text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (*line == '@' && !pass)
                add_variable(&p, line);
            else if (*line == '@')
                parse_variable(&p, line);
            else if (*line == '%' && !pass)
                add_type_name(&p, line);
            else if (!strncmp(line, "attributes #", 12) && !pass)
                add_attributes(&p, line);
            else if ((!strncmp(line, "define ", 7) || !strncmp(line, "declare ", 8)) && !pass)
                add_function(&p, line);
            else if (!strncmp(line, "define ", 7))
                parse_function(&p, line);
        }
}
