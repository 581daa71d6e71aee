// The PTX parser: modules and functions. Recursive descent over lex.c's tokens. An error ends the function or the
// declaration in hand by longjmp; parse_skip.c finds its end, and the rest is parsed. Everything that is allocated dies
// with the module's arena.
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ptx_loc place(struct parser *p)
{
    struct ptx_loc at = { 0 };
    at.file = p->first_file + (uint32_t)parse_int(p);
    at.line = (uint32_t)parse_int(p);
    (void)parse_int(p);  // the column
    return at;
}

#define CALLS_BACK 4096  // nvcc names a call once, and may come back to it some hundred lines later

// The location of a call. nvcc names the calls around it just before, the outermost first: so the latest location of
// that line knows where its own function was inlined. Returns its index + 1.
static uint32_t call_site(struct parser *p)
{
    struct ptx_module *m = p->m;
    const struct ptx_loc at = place(p);
    for (uint32_t i = m->n_locs; i > 0 && m->n_locs - i < CALLS_BACK; i--)
        if (m->locs[i - 1].file == at.file && m->locs[i - 1].line == at.line)
            return i;
    m->locs = parse_grow(p, m->locs, m->n_locs, sizeof *m->locs);
    m->locs[m->n_locs++] = at;
    return m->n_locs;
}

// .loc file line column [, function_name label[+n], inlined_at file line column]. Line 0 means "compiled code of no
// line": such instructions belong to the line before.
static void location(struct parser *p)
{
    struct ptx_module *m = p->m;
    struct ptx_loc loc = place(p);
    while (parse_accept(p, ',')) {
        struct str word = parse_name(p, "function_name or inlined_at");
        if (str_is(word, "inlined_at")) {
            loc.at = call_site(p);
        } else {
            (void)parse_name(p, "a label");
            if (parse_accept(p, '+'))
                (void)parse_int(p);
        }
    }
    if (!loc.line)
        return;
    m->locs = parse_grow(p, m->locs, m->n_locs, sizeof *m->locs);
    m->locs[m->n_locs++] = loc;
    p->loc = m->n_locs;
}

static void skip_braces(struct parser *p)
{
    int depth = 0;
    parse_expect(p, '{');
    for (depth = 1; depth; lex_next(&p->lex)) {
        const struct token *t = &p->lex.tok;
        if (t->kind == TOK_END)
            parse_expect(p, '}');
        depth += t->kind == TOK_PUNCT ? (t->punct == '{') - (t->punct == '}') : 0;
    }
}

static void open_scope(struct parser *p)
{
    parse_expect(p, '{');
    if (p->n_scopes == PARSE_SCOPES)
        parse_fail(p, NULL, "scopes nest too deeply");
    p->scopes[p->n_scopes++] = (struct scope){ 0 };
}

static void body(struct parser *p)
{
    const uint32_t outermost = p->n_scopes;
    open_scope(p);
    parse_receives(p);
    while (p->n_scopes > outermost) {
        struct token *t = &p->lex.tok;
        enum ptx_space space;
        if (t->kind == TOK_PUNCT && t->punct == '{') {
            open_scope(p);
        } else if (t->kind == TOK_PUNCT && t->punct == '}') {
            parse_resolve_labels(p);
            p->n_scopes--;
            lex_next(&p->lex);
        } else if (t->kind == TOK_DIRECTIVE) {
            struct str d = t->text;
            lex_next(&p->lex);
            if (str_is(d, ".reg")) {
                parse_registers(p);
            } else if (str_is(d, ".loc")) {
                location(p);
            } else if (parse_space(d, &space)) {
                parse_variables(p, space);
            } else if (str_is(d, ".branchtargets")) {
                parse_targets(p, d);
            } else if (str_is(d, ".pragma") || str_is(d, ".callprototype") || str_is(d, ".calltargets")) {
                while (p->lex.tok.kind != TOK_END && !(p->lex.tok.kind == TOK_PUNCT && p->lex.tok.punct == ';'))
                    lex_next(&p->lex);
                parse_expect(p, ';');
            } else {
                parse_fail(p, d.p, "directive '%.*s' is not supported here", (int)d.n, d.p);
            }
        } else if (t->kind == TOK_PUNCT && t->punct == ';') {
            lex_next(&p->lex);
        } else {
            parse_instruction(p);
        }
    }
    const struct ptx_inst end = { .guard = -1, .loc = p->loc, .at = p->f->name.p };
    parse_returns(p, &end);
}

static void parameters(struct parser *p, struct ptx_func *f, bool results)
{
    parse_expect(p, '(');
    if (parse_accept(p, ')'))
        return;
    do {
        enum ptx_space space;
        struct str d = p->lex.tok.text;
        lex_next(&p->lex);
        const bool is_register = str_is(d, ".reg");
        if (!is_register && (!parse_space(d, &space) || space != SPACE_PARAM))
            parse_fail(p, d.p, "expected .param");
        struct ptx_var v = { .space = SPACE_PARAM };
        uint32_t vector;
        v.type = parse_declared_type(p, &v.align, &vector);
        f->params = parse_grow(p, f->params, f->n_params, sizeof *f->params);
        const uint32_t var = parse_variable(p, v, vector);  // it may not come back: count it then
        f->params[f->n_params++] = var;
        if (is_register)
            parse_formal(p, var, results);
    } while (parse_accept(p, ','));
    parse_expect(p, ')');
}

// .maxntid 256, 1, 1 and the like, between a function's parameters and its body
static void performance_directives(struct parser *p, struct ptx_func *f)
{
    while (p->lex.tok.kind == TOK_DIRECTIVE) {
        struct str d = p->lex.tok.text;
        bool threads = str_is(d, ".maxntid") || str_is(d, ".reqntid");
        int64_t product = 1;
        uint32_t size[3] = { 1, 1, 1 }, n = 0;
        lex_next(&p->lex);
        while (p->lex.tok.kind == TOK_INT || p->lex.tok.kind == TOK_STRING || p->lex.tok.kind == TOK_NAME) {
            if (p->lex.tok.kind == TOK_INT && p->lex.tok.bits && p->lex.tok.bits <= 4096 && product <= 1 << 20)
                product *= (int64_t)p->lex.tok.bits;
            if (p->lex.tok.kind == TOK_INT && n < 3)
                size[n++] = p->lex.tok.bits < UINT32_MAX ? (uint32_t)p->lex.tok.bits : UINT32_MAX;
            lex_next(&p->lex);
            if (!parse_accept(p, ','))
                break;
        }
        if (threads && product <= 1 << 20)
            f->max_threads = (uint32_t)product;
        if (str_is(d, ".minnctapersm") && n)
            f->min_blocks = size[0];
        if (str_is(d, ".maxnreg") && n)
            f->max_regs = size[0];
        if (str_is(d, ".reqntid") && n)
            memcpy(f->required, size, sizeof f->required);
        if (str_is(d, ".reqnctapercluster") && n)
            memcpy(f->cluster, size, sizeof f->cluster);
        if (str_is(d, ".maxclusterrank") && n)
            f->max_rank = size[0];
        f->explicit_cluster |= str_is(d, ".explicitcluster");
    }
}

// After .entry or .func.
static void parse_function(struct parser *p, struct ptx_func *f)
{
    p->f = f;
    p->loc = 0;
    p->scopes[0] = (struct scope){ 0 };
    p->n_scopes = 1;
    p->n_formals = 0;
    if (!f->entry && p->lex.tok.kind == TOK_PUNCT) {
        struct ptx_func result = { 0 };
        parameters(p, &result, true);
        f->results = result.params;
        f->n_results = result.n_params;
    }
    f->name = parse_name(p, "a function's name");
    if (p->lex.tok.kind == TOK_PUNCT && p->lex.tok.punct == '(')
        parameters(p, f, false);
    performance_directives(p, f);
    if (!parse_accept(p, ';')) {
        f->body = true;
        body(p);
    }
}

// A function of the unit's own that an earlier one has, too. nvcc gives a program's own functions names that no other
// unit has; what is left is that of its libraries, and the same everywhere.
static bool is_library(const struct parser *p, uint32_t old)
{
    return p->linkage == LINK_OWN && old < p->first_func && !p->m->funcs[old].entry;
}

// Adds f to the module, or its body to its declaration.
static void add_function(struct parser *p, struct ptx_func *f)
{
    struct ptx_module *m = p->m;
    uint32_t old;
    if (!map_get(&p->funcs, f->name, &old)) {
        m->funcs = parse_grow(p, m->funcs, m->n_funcs, sizeof *m->funcs);
        m->funcs[m->n_funcs] = *f;
        map_put(m->arena, &p->funcs, f->name, m->n_funcs++);
    } else if (m->funcs[old].body && f->body && (p->linkage == LINK_WEAK || is_library(p, old))) {
        return;
    } else if (m->funcs[old].body && f->body) {
        parse_fail(p, f->name.p, "function '%.*s' is defined twice", (int)f->name.n, f->name.p);
    } else if (f->body) {
        m->funcs[old] = *f;
    }
}

// After .entry or .func. One that cannot be parsed is kept with its error.
static void function(struct parser *p, bool entry)
{
    const struct lexer start = p->lex;
    struct ptx_func *f = parse_alloc(p, sizeof *f);
    jmp_buf here, *outer = p->failed;
    f->entry = entry;
    p->failed = &here;
    const bool failed = setjmp(here);
    if (!failed)
        parse_function(p, f);
    p->failed = outer;
    p->n_scopes = p->n_pending = 0;
    p->f = NULL;
    if (failed) {
        f->body = true;
        f->error = parse_keep_error(p);
        f->error_at = p->error_at;
        if (!f->name.n)
            longjmp(*p->failed, 1);
        parse_skip(p, start, NULL);
    }
    add_function(p, f);
}

static void file_directive(struct parser *p)
{
    struct ptx_module *m = p->m;
    int64_t n = parse_int(p);
    if (n < 0 || n > 65535)
        parse_fail(p, NULL, "a file's number is 0 to 65535");
    n += p->first_file;
    if (p->lex.tok.kind != TOK_STRING)
        parse_fail(p, NULL, "expected a file name in quotes");
    while (m->n_files <= (uint32_t)n) {
        m->files = parse_grow(p, m->files, m->n_files, sizeof *m->files);
        m->files[m->n_files++] = NULL;
    }
    m->files[n] = arena_printf(m->arena, "%.*s", (int)p->lex.tok.text.n, p->lex.tok.text.p);
    lex_next(&p->lex);
    while (parse_accept(p, ','))
        (void)parse_int(p);
}

// A directive of the module, after it and the words before it.
static void directive(struct parser *p, struct str d)
{
    enum ptx_space space;
    if (str_is(d, ".entry") || str_is(d, ".func")) {
        function(p, str_is(d, ".entry"));
    } else if (str_is(d, ".file")) {
        file_directive(p);
    } else if (str_is(d, ".section")) {
        lex_next(&p->lex);
        skip_braces(p);
    } else if (str_is(d, ".pragma")) {
        lex_next(&p->lex);
        parse_expect(p, ';');
    } else if (parse_space(d, &space) && space != SPACE_PARAM) {
        parse_variables(p, space);
    } else {
        parse_fail(p, d.p, "directive '%.*s' is not supported", (int)d.n, d.p);
    }
}

// One that cannot be parsed is passed over: kernels that do not need it can run.
static void try_directive(struct parser *p, struct str d)
{
    const struct lexer start = p->lex;
    struct ptx_module *m = p->m;
    jmp_buf here, *outer = p->failed;
    p->failed = &here;
    const bool failed = setjmp(here);
    if (!failed)
        directive(p, d);
    p->failed = outer;
    if (!failed)
        return;
    struct ptx_skipped skipped = { .error = parse_keep_error(p) };
    skipped.reason = skipped.error + p->place;
    parse_skip(p, start, &skipped.name);
    m->skipped = parse_grow(p, m->skipped, m->n_skipped, sizeof *m->skipped);
    m->skipped[m->n_skipped++] = skipped;
}

// Pointers in initialisers may name what is declared after them.
static void resolve_pointers(struct parser *p)
{
    const struct ptx_module *m = p->m;
    uint32_t index;
    for (uint32_t i = p->first_var; i < m->n_vars; i++) {
        for (uint32_t k = 0; k < m->vars[i].n_pointers; k++) {
            struct ptx_pointer *at = &m->vars[i].pointers[k];
            at->var = map_get(&p->own, at->name, &index) || map_get(&p->vars, at->name, &index) ? (int32_t)index : -1;
            if (at->var < 0 && !map_get(&p->funcs, at->name, &index) && !ptx_find_skipped(m, at->name))
                parse_fail(p, at->name.p, "'%.*s' is not declared", (int)at->name.n, at->name.p);
        }
    }
}

#define STACK_BYTES 16384u  // of a thread, for functions that call themselves

static void add_stack(struct parser *p)
{
    static const char name[] = "the stack";
    struct ptx_module *m = p->m;
    m->vars = parse_grow(p, m->vars, m->n_vars, sizeof *m->vars);
    m->vars[m->n_vars] = (struct ptx_var){ .name = { name, sizeof name - 1 },
                                           .space = SPACE_LOCAL,
                                           .type = PTX_B8,
                                           .align = 16,
                                           .bytes = STACK_BYTES,
                                           .local = true };
    m->stack = m->n_vars++;
}

// .version 9.0, with which a unit begins.
static void begin_unit(struct parser *p)
{
    struct ptx_module *m = p->m;
    if (p->lex.tok.kind != TOK_DIRECTIVE || !str_is(p->lex.tok.text, ".version"))
        parse_fail(p, NULL, "this is not PTX: it does not begin with .version");
    const char *v = p->lex.p;
    lex_next(&p->lex);
    m->version = p->lex.tok.text;
    m->target.n = 0;
    if (p->lex.tok.kind != TOK_DECIMAL)
        parse_fail(p, v, "expected a version such as 9.0");
    lex_next(&p->lex);
    p->own = (struct map){ 0 };
    p->first_file = m->n_files;
    p->first_func = m->n_funcs;
    p->first_var = m->n_vars;
}

static void end_unit(struct parser *p)
{
    if (!p->m->target.n)
        parse_fail(p, NULL, "there is no .target: is the file cut off?");
    resolve_pointers(p);
}

// Takes one of the words before a declaration that say whose its name is.
static bool linking(struct parser *p, struct str d)
{
    static const struct {
        const char *word;
        enum linkage linkage;
    } words[] = {
        { ".extern", LINK_EXTERN }, { ".visible", LINK_VISIBLE }, { ".weak", LINK_WEAK }, { ".common", LINK_WEAK }
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(d, words[i].word)) {
            p->linkage = words[i].linkage;
            return true;
        }
    return false;
}

static void unit(struct parser *p)
{
    struct ptx_module *m = p->m;
    begin_unit(p);
    while (p->lex.tok.kind != TOK_END && !str_is(p->lex.tok.text, ".version")) {
        const struct str d = p->lex.tok.text;
        if (p->lex.tok.kind != TOK_DIRECTIVE)
            parse_fail(p, NULL, "expected a directive, not '%.*s'", (int)(d.n < 40 ? d.n : 40), d.p);
        lex_next(&p->lex);
        if (linking(p, d))
            continue;
        if (str_is(d, ".target")) {
            m->target = parse_name(p, "a target such as sm_75");
            while (parse_accept(p, ','))
                (void)parse_name(p, "a target's option");
        } else if (str_is(d, ".address_size")) {
            if (parse_int(p) != 64)
                parse_fail(p, d.p, "only 64-bit addresses are supported");
        } else {
            try_directive(p, d);
        }
        p->linkage = LINK_OWN;
    }
    end_unit(p);
}

static void module(struct parser *p)
{
    do
        unit(p);
    while (p->lex.tok.kind != TOK_END);
    add_stack(p);
}

// Whether a module has something to run, or at least nothing that was refused.
static bool is_usable(struct ptx_module *m, char error[DEV_ERROR_MAX])
{
    for (uint32_t i = 0; i < m->n_funcs; i++)
        if (m->funcs[i].entry && m->funcs[i].body)
            return true;
    if (m->n_skipped)
        snprintf(error, DEV_ERROR_MAX, "%s", m->skipped[0].error);
    return !m->n_skipped;
}

struct ptx_module *ptx_parse(const char *file, const char *text, size_t bytes, char error[DEV_ERROR_MAX])
{
    struct arena *arena = arena_new(arena_limit(bytes));
    struct ptx_module *m = arena ? arena_alloc(arena, sizeof *m) : NULL;
    char *copy = m ? arena_alloc(arena, bytes + 1) : NULL;
    struct parser *p = copy ? arena_alloc(arena, sizeof *p) : NULL;
    char *name = p ? arena_printf(arena, "%s", file) : NULL;
    if (name) {
        memcpy(copy, text, bytes);
        *m = (struct ptx_module){ .file = name, .text = copy, .bytes = bytes, .arena = arena };
    }
    if (!name || !ptx_count_lines(m)) {
        snprintf(error, DEV_ERROR_MAX, "%.400s: out of memory", file);
        arena_free(arena);
        return NULL;
    }
    p->m = m;
    p->error = error;
    jmp_buf failed;
    p->failed = &failed;
    if (setjmp(failed)) {
        arena_free(arena);
        return NULL;
    }
    lex_start(&p->lex, copy, bytes);
    module(p);
    if (is_usable(m, error))
        return m;
    arena_free(arena);
    return NULL;
}

void ptx_free(struct ptx_module *m)
{
    if (m)
        arena_free(m->arena);
}
