// The PTX parser: instructions and their operands.
#include "parse.h"

#include <string.h>

// %r12 against a range named %r, or a single name; the innermost scope first. -1 where there is none.
static int32_t find_register(const struct parser *p, struct str name)
{
    uint32_t digits = name.n;
    while (digits && name.p[digits - 1] >= '0' && name.p[digits - 1] <= '9')
        digits--;
    uint64_t number = 0;
    for (uint32_t i = digits; i < name.n && number < 1u << 24; i++)
        number = 10 * number + (uint64_t)(name.p[i] - '0');
    for (uint32_t s = p->n_scopes; s-- > 0;) {
        const struct scope *scope = &p->scopes[s];
        uint32_t index;
        if (map_get(&scope->singles, name, &index))
            return (int32_t)index;
        for (uint32_t i = 0; i < scope->n_ranges; i++) {
            const struct range *r = &scope->ranges[i];
            if (digits < name.n && r->prefix.n == digits && !memcmp(r->prefix.p, name.p, digits) && number < r->count)
                return (int32_t)(r->first + number);
        }
    }
    return -1;
}

static int32_t find_variable(const struct parser *p, struct str name)
{
    uint32_t index;
    for (uint32_t s = p->n_scopes; s-- > 0;)
        if (map_get(&p->scopes[s].vars, name, &index))
            return (int32_t)index;
    return map_get(&p->own, name, &index) || map_get(&p->vars, name, &index) ? (int32_t)index : -1;
}

static _Noreturn void fail_undeclared(struct parser *p, struct str name)
{
    const struct ptx_skipped *skipped = ptx_find_skipped(p->m, name);
    if (skipped)
        parse_fail(p, name.p, "'%.*s' cannot be used: %s", (int)name.n, name.p, skipped->reason);
    parse_fail(p, name.p, "'%.*s' is not declared", (int)name.n, name.p);
}

static void add_pending(struct parser *p, struct ptx_operand *o)
{
    p->pending = parse_grow(p, p->pending, p->n_pending, sizeof *p->pending);
    p->pending[p->n_pending++] = (struct pending){ o, p->n_scopes };
}

void parse_resolve_labels(struct parser *p)
{
    const struct scope *s = &p->scopes[p->n_scopes - 1];
    bool outermost = p->n_scopes == 2;  // scope 0 holds the parameters
    uint32_t first = p->n_pending, kept;
    while (first && p->pending[first - 1].scope == p->n_scopes)  // those of this scope are the last ones
        first--;
    kept = first;
    for (uint32_t i = first; i < p->n_pending; i++) {
        struct pending w = p->pending[i];
        if (map_get(&s->labels, w.operand->name, &w.operand->target)) {
            w.operand->kind = OPND_LABEL;
            continue;
        }
        w.scope--;
        if (outermost)
            continue;  // stays a name: a function's, or an error of the instruction that decode.c finds
        p->pending[kept++] = w;
    }
    p->n_pending = kept;
}

static void operand(struct parser *p, struct ptx_operand *o, int depth);

static void list_of(struct parser *p, struct ptx_operand *o, char close, int depth)
{
    if (depth > 4)
        parse_fail(p, NULL, "operands nest too deeply");
    while (!parse_accept(p, close)) {
        if (o->count)
            parse_expect(p, ',');
        if (o->count == 256)
            parse_fail(p, NULL, "too many operands in a list");
        o->list = parse_grow(p, o->list, o->count, sizeof *o->list);
        operand(p, &o->list[o->count++], depth + 1);
    }
}

// [reg+imm], [var+imm], [imm]; [reg, {x, y}] and its like keep what follows the address in a list
static void address(struct parser *p, struct ptx_operand *o, int depth)
{
    o->kind = OPND_MEM;
    o->reg = o->var = -1;
    if (p->lex.tok.kind == TOK_NAME) {
        struct str name = p->lex.tok.text;
        o->reg = find_register(p, name);
        o->var = o->reg < 0 ? find_variable(p, name) : -1;
        if (o->reg < 0 && o->var < 0)
            fail_undeclared(p, name);
        lex_next(&p->lex);
        if (parse_accept(p, '+'))
            o->bits = (uint64_t)parse_int(p);
        else if (p->lex.tok.kind == TOK_PUNCT && p->lex.tok.punct == '-')
            parse_fail(p, NULL, "an offset follows a '+', as in [%.*s+-4]", (int)name.n, name.p);
    } else {
        o->bits = (uint64_t)parse_int(p);
    }
    if (parse_accept(p, ','))
        list_of(p, o, ']', depth);
    else
        parse_expect(p, ']');
}

static _Noreturn void fail_operand(struct parser *p, const struct token *t)
{
    parse_fail(p, NULL, "expected an operand before '%.*s'", (int)(t->text.n < 40 ? t->text.n : 40), t->text.p);
}

// Which element of n a word names that stands behind a vector register: .x or .r, .y or .g, ... -1: none.
static int32_t element_of(struct str word, uint32_t n)
{
    const char letter = word.n == 2 && *word.p == '.' ? word.p[1] : ' ';
    for (uint32_t i = 0; i < n; i++)
        if (letter == "xyzw"[i] || letter == "rgba"[i])
            return (int32_t)i;
    return -1;
}

// A vector register, which is its elements in braces; or one of them. False if the name is none. After a '%' a name
// may hold dots, so that %v.x is one word, and v.x two.
static bool vector_operand(struct parser *p, struct ptx_operand *o, struct str name)
{
    const bool whole = name.n > 2 && name.p[name.n - 2] == '.';
    const struct str behind = whole ? (struct str){ name.p + name.n - 2, 2 } : p->lex.tok.text;
    name.n -= whole ? 2 : 0;
    uint32_t found = 0, s = p->n_scopes;
    while (s-- > 0 && !map_get(&p->scopes[s].vectors, name, &found))
        found = 0;
    const uint32_t first = found >> 3, n = found & 7;
    const int32_t element = element_of(behind, n);
    if (element >= 0) {
        o->kind = OPND_REG;
        o->reg = (int32_t)first + element;
        if (!whole)
            lex_next(&p->lex);
        return true;
    }
    if (whole)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        o->list = parse_grow(p, o->list, o->count, sizeof *o->list);
        o->list[o->count++] = (struct ptx_operand){
            .kind = OPND_REG, .at = o->at, .name = name, .reg = (int32_t)(first + i), .reg2 = -1, .var = -1
        };
    }
    o->kind = n ? OPND_VEC : o->kind;
    return n;
}

// What a name is: a register (a|b: two), a variable (v+8: 8 bytes into it), or the name of what comes later.
static void named_operand(struct parser *p, struct ptx_operand *o, struct str name, int depth)
{
    lex_next(&p->lex);
    if (str_is(name, "_")) {
        o->kind = OPND_SINK;
    } else if ((o->reg = find_register(p, name)) >= 0) {
        o->kind = OPND_REG;
    } else if (vector_operand(p, o, name)) {
        return;
    } else if (*name.p == '%') {
        o->kind = OPND_SREG;
    } else if ((o->var = find_variable(p, name)) >= 0) {
        o->kind = OPND_VAR;
        if (parse_accept(p, '+'))
            o->bits = (uint64_t)parse_int(p);
    } else {
        o->kind = OPND_NAME;
        o->name = name;
        if (!depth)  // no label stands in a list; lists move as they grow
            add_pending(p, o);
    }
    if ((o->kind == OPND_REG || o->kind == OPND_SINK) && parse_accept(p, '|')) {
        struct str second = parse_name(p, "a predicate after '|'");
        if ((o->reg2 = find_register(p, second)) < 0)
            parse_fail(p, second.p, "'%.*s' is not declared", (int)second.n, second.p);
    }
}

// A number, with or without a minus. What begins with '(' or '~' is an integer that parse_int works out.
static void literal(struct parser *p, struct ptx_operand *o)
{
    const struct lexer start = p->lex;
    const bool minus = parse_accept(p, '-');
    const struct token t = p->lex.tok;
    o->bits = t.bits;
    switch (t.kind) {
    case TOK_INT:
    case TOK_PUNCT:
        if (t.kind == TOK_PUNCT && t.punct != '(' && t.punct != '~')
            fail_operand(p, &t);
        o->kind = OPND_INT;
        p->lex = start;
        o->bits = (uint64_t)parse_int(p);
        return;
    case TOK_F32:
        o->kind = OPND_F32;
        o->bits ^= (uint64_t)minus << 31;
        break;
    case TOK_F64:
    case TOK_DECIMAL:
        o->kind = t.kind == TOK_F64 ? OPND_F64 : OPND_DECIMAL;
        o->bits ^= (uint64_t)minus << 63;
        break;
    case TOK_END:
        parse_fail(p, NULL, "the text ends inside an instruction: is the file cut off?");
    default:
        fail_operand(p, &t);
    }
    lex_next(&p->lex);
}

static void operand(struct parser *p, struct ptx_operand *o, int depth)
{
    *o = (struct ptx_operand){ .at = p->lex.tok.text.p, .reg = -1, .reg2 = -1, .var = -1, .name = p->lex.tok.text };
    o->negated = parse_accept(p, '!');
    const struct token t = p->lex.tok;
    if (t.kind == TOK_NAME && str_is(t.text, "WARP_SZ")) {
        o->kind = OPND_INT;
        o->bits = (uint64_t)parse_int(p);
    } else if (t.kind == TOK_NAME) {
        named_operand(p, o, t.text, depth);
    } else if (parse_accept(p, '[')) {
        address(p, o, depth);
    } else if (parse_accept(p, '{')) {
        o->kind = OPND_VEC;
        list_of(p, o, '}', depth);
    } else if (p->calling && parse_accept(p, '(')) {
        o->kind = OPND_GROUP;
        list_of(p, o, ')', depth);
    } else {
        literal(p, o);
    }
}

// op without the part from..to of its text
static struct str without(struct parser *p, struct str op, const char *from, size_t n)
{
    char *text = parse_alloc(p, op.n);
    const size_t before = (size_t)(from - op.p);
    memcpy(text, op.p, before);
    memcpy(text + before, from + n, op.n - before - n);
    return (struct str){ text, op.n - (uint32_t)n };
}

// .L2::cache_hint and its last operand, a policy, change nothing here.
static void drop_cache_hint(struct parser *p, struct ptx_inst *in)
{
    static const char hint[] = ".L2::cache_hint";
    const size_t n = strlen(hint);
    const char *at = in->op.n > n ? memmem(in->op.p, in->op.n, hint, n) : NULL;
    if (!at)
        return;
    const struct ptx_operand *policy = in->n_operands ? &in->operand[in->n_operands - 1] : NULL;
    if (!policy || policy->kind != OPND_REG || ptx_type_bytes(p->f->regs[policy->reg].type) != 8)
        parse_fail(p, in->at, "expected a cache policy in a 64-bit register as the last operand");
    in->n_operands--;
    in->op = without(p, in->op, at, n);
}

// atom.add.v2.f32 {d0, d1}, [a], {b0, b1} and red alike: one instruction for each element, since only each element is
// atomic. False where in is none of these. Source: PTX ISA 9.7.13 (atom).
static bool split_atomic(struct parser *p, const struct ptx_inst *in)
{
    const bool atom = str_begins(in->op, "atom."), red = str_begins(in->op, "red.");
    const char *at = NULL;
    for (const char *c = in->op.p; (atom || red) && c + 3 < in->op.p + in->op.n; c++)
        if (c[0] == '.' && c[1] == 'v' && (c[2] == '2' || c[2] == '4' || c[2] == '8') && c[3] == '.')
            at = c;
    if (!at)
        return false;
    const uint32_t n = (uint32_t)(at[2] - '0'), last = (uint32_t)atom + 1;
    struct str op = without(p, in->op, at, 3), type = op;
    for (uint32_t i = 0; i < op.n; i++)
        if (op.p[i] == '.')
            type = (struct str){ op.p + i + 1, op.n - i - 1 };
    const uint32_t bytes = ptx_type_bytes(ptx_type_named(type));
    if (in->n_operands != last + 1 || in->operand[last].kind != OPND_VEC || in->operand[last].count != n || !bytes ||
        (atom && (in->operand[0].kind != OPND_VEC || in->operand[0].count != n)))
        parse_fail(p, in->at, "expected %u registers in braces", n);
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_inst one = *in;
        one.op = op;
        one.operand = parse_alloc(p, PTX_OPERANDS * sizeof *one.operand);
        memcpy(one.operand, in->operand, in->n_operands * sizeof *one.operand);
        for (uint32_t k = 0; k < i && atom; k++) {  // written before it is read
            const int32_t written = in->operand[0].list[k].reg;
            if (written >= 0 && (written == in->operand[last].list[i].reg || written == in->operand[1].reg))
                parse_fail(p, in->at, "a vector of registers that is read after a part of it was written");
        }
        if (atom)
            one.operand[0] = in->operand[0].list[i];
        one.operand[last] = in->operand[last].list[i];
        one.operand[atom].bits += i * bytes;
        parse_add(p, one);
    }
    return true;
}

void parse_instruction(struct parser *p)
{
    struct ptx_func *f = p->f;
    struct ptx_inst in = { .guard = -1, .loc = p->loc, .at = p->lex.tok.text.p };
    if (parse_accept(p, '@')) {
        in.guard_negated = parse_accept(p, '!');
        struct str name = parse_name(p, "a predicate after '@'");
        in.guard = find_register(p, name);
        if (in.guard < 0 || f->regs[in.guard].type != PTX_PRED)
            parse_fail(p, name.p, "'%.*s' is not a predicate register", (int)name.n, name.p);
    }
    if (p->lex.tok.kind == TOK_END)
        parse_fail(p, NULL, "the text ends inside a function: is the file cut off?");
    if (p->lex.tok.kind != TOK_NAME)
        parse_fail(p, NULL, "expected an instruction before '%.*s'",
                   (int)(p->lex.tok.text.n < 40 ? p->lex.tok.text.n : 40), p->lex.tok.text.p);
    in.at = p->lex.tok.text.p;
    lex_opcode(&p->lex);
    in.op = p->lex.tok.text;
    lex_next(&p->lex);
    if (in.guard < 0 && parse_accept(p, ':')) {  // it was a label
        struct scope *s = &p->scopes[p->n_scopes - 1];
        if (!map_put(p->m->arena, &s->labels, in.op, f->n_insts))
            parse_fail(p, in.at, "label '%.*s' is declared twice", (int)in.op.n, in.op.p);
        return;
    }
    p->calling = str_begins(in.op, "call");
    // Operands live outside the array of instructions, which moves as it grows: labels point to them.
    struct ptx_operand *list = parse_alloc(p, PTX_OPERANDS * sizeof *list);
    while (!parse_accept(p, ';')) {
        if (in.n_operands)
            parse_expect(p, ',');
        if (in.n_operands == PTX_OPERANDS)
            parse_fail(p, in.at, "'%.*s' has too many operands", (int)in.op.n, in.op.p);
        operand(p, &list[in.n_operands++], 0);
    }
    in.operand = list;
    drop_cache_hint(p, &in);
    if (p->calling)
        parse_passes(p, &in);
    else if (!split_atomic(p, &in)) {
        if (str_is(in.op, "ret") || str_is(in.op, "ret.uni"))
            parse_returns(p, &in);
        parse_add(p, in);
    }
}

#define TARGETS_MAX 1024

void parse_targets(struct parser *p, struct str directive)
{
    struct ptx_func *f = p->f;
    struct ptx_operand list[TARGETS_MAX];
    uint32_t first = p->n_pending;
    struct ptx_inst in = { .op = directive, .guard = -1, .loc = p->loc, .at = directive.p };
    do {
        if (in.n_operands == TARGETS_MAX)
            parse_fail(p, directive.p, "more than %d branch targets", TARGETS_MAX);
        operand(p, &list[in.n_operands++], 0);
    } while (parse_accept(p, ','));
    parse_expect(p, ';');
    in.operand = parse_alloc(p, in.n_operands * sizeof *list);
    memcpy(in.operand, list, in.n_operands * sizeof *list);
    for (uint32_t i = first; i < p->n_pending; i++)  // they point into list
        p->pending[i].operand = in.operand + (p->pending[i].operand - list);
    f->insts = parse_grow(p, f->insts, f->n_insts, sizeof *f->insts);
    f->insts[f->n_insts++] = in;
}
