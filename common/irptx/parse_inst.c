// One instruction of a function.
#include "irptx/parse.h"

#include <string.h>

static const struct {
    const char *word;
    uint32_t flag;
} flags[] = {
    { "nsw", F_NSW },
    { "nuw", F_NUW },
    { "disjoint", F_DISJOINT },
    { "contract", F_CONTRACT },
    { "volatile", F_VOLATILE },
    { "nneg", F_NNEG },
    { "exact", 0 },
    { "samesign", 0 },
    { "fast", F_CONTRACT },
    { "nnan", 0 },
    { "ninf", 0 },
    { "nsz", 0 },
    { "arcp", 0 },
    { "afn", 0 },
    { "reassoc", 0 },
    { "inbounds", 0 },
    { "nusw", 0 },
    { "atomic", F_ATOMIC },
    { "weak", 0 },
    { "inalloca", 0 },
};

static uint32_t parse_flags(struct parser *p)
{
    uint32_t found = 0;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (ll_take(p, flags[i].word)) {
            found |= flags[i].flag;
            i = (size_t)-1;
        }
    return found;
}

static struct ir_value *add_arg(struct parser *p, struct ir_inst *x, struct ir_value v)
{
    x->args = ir_grow(p->m, x->args, x->arg_count, sizeof *x->args);
    x->args[x->arg_count] = v;
    return &x->args[x->arg_count++];
}

static void add_block(struct parser *p, struct ir_inst *x)
{
    if (p->l.token.kind != TOKEN_LOCAL)
        ll_fail(p, "a label");
    x->blocks = ir_grow(p->m, x->blocks, x->block_count, sizeof *x->blocks);
    x->blocks[x->block_count++] = ll_block(p, p->l.token.text);
    ll_next(&p->l);
}

// Operands with their types, up to something else.
static void typed_list(struct parser *p, struct ir_inst *x)
{
    do
        add_arg(p, x, ll_typed(p));
    while (ll_take(p, ",") && ll_starts_type(p));
}

static void parse_arithmetic(struct parser *p, struct ir_inst *x, bool two)
{
    x->type = add_arg(p, x, ll_typed(p))->type;
    if (two) {
        ll_want(p, ",");
        add_arg(p, x, ll_value(p, x->type));
    }
}

static void parse_cast(struct parser *p, struct ir_inst *x)
{
    add_arg(p, x, ll_typed(p));
    ll_want(p, "to");
    x->type = ll_type(p);
}

static void parse_compare(struct parser *p, struct ir_inst *x)
{
    x->word = p->l.token.text;
    ll_next(&p->l);
    const struct ir_type *t = add_arg(p, x, ll_typed(p))->type;
    ll_want(p, ",");
    add_arg(p, x, ll_value(p, t));
    if (t->kind == IR_VECTOR) {
        struct ir_type *v = ir_new(p->m, sizeof *v);
        *v = (struct ir_type){ .kind = IR_VECTOR, .count = t->count, .of = ir_int(p->m, 1) };
        x->type = v;
    } else {
        x->type = ir_int(p->m, 1);
    }
}

static void parse_phi(struct parser *p, struct ir_inst *x)
{
    x->type = ll_type(p);
    while (ll_take(p, "[")) {
        add_arg(p, x, ll_value(p, x->type));
        ll_want(p, ",");
        add_block(p, x);
        ll_want(p, "]");
        ll_take(p, ",");
    }
}

static void parse_index(struct parser *p, struct ir_inst *x)
{
    while (p->l.token.kind == TOKEN_NUMBER) {
        uint64_t *index = ir_grow(p->m, (uint64_t *)x->index, x->index_count, sizeof *index);
        index[x->index_count++] = ll_number(p);
        x->index = index;
        ll_take(p, ",");
    }
}

static const struct ir_type *part_type(struct parser *p, const struct ir_inst *x)
{
    const struct ir_type *t = x->args[0].type;
    uint64_t at;
    for (uint32_t i = 0; i < x->index_count; i++)
        t = ir_step(p->m, t, x->index[i], &at);
    return t;
}

static void parse_part(struct parser *p, struct ir_inst *x)
{
    add_arg(p, x, ll_typed(p));
    ll_want(p, ",");
    if (x->op == OP_insertvalue) {
        add_arg(p, x, ll_typed(p));
        ll_want(p, ",");
    }
    parse_index(p, x);
    x->type = x->op == OP_insertvalue ? x->args[0].type : part_type(p, x);
}

static void parse_shuffle(struct parser *p, struct ir_inst *x)
{
    typed_list(p, x);
    struct ir_type *v = ir_new(p->m, sizeof *v);
    if (x->arg_count != 3 || x->args[0].type->kind != IR_VECTOR || x->args[2].type->kind != IR_VECTOR)
        ll_fail(p, "three vectors");
    *v = (struct ir_type){ .kind = IR_VECTOR, .count = x->args[2].type->count, .of = x->args[0].type->of };
    x->type = v;
}

static void parse_switch(struct parser *p, struct ir_inst *x)
{
    add_arg(p, x, ll_typed(p));
    ll_want(p, ",");
    ll_want(p, "label");
    add_block(p, x);
    ll_want(p, "[");
    while (!ll_take(p, "]")) {
        add_arg(p, x, ll_typed(p));
        ll_want(p, ",");
        ll_want(p, "label");
        add_block(p, x);
    }
}

static void parse_branch(struct parser *p, struct ir_inst *x)
{
    if (!ll_is(p, "label")) {
        add_arg(p, x, ll_typed(p));
        ll_want(p, ",");
    }
    do {
        ll_want(p, "label");
        add_block(p, x);
    } while (ll_take(p, ",") && ll_is(p, "label"));
}

// --- Calls ---

static void parse_call_args(struct parser *p, struct ir_inst *x)
{
    ll_want(p, "(");
    while (!ll_take(p, ")")) {
        if (ll_take(p, "metadata")) {
            add_arg(p, x, (struct ir_value){ .type = &ir_other });
            while (!ll_is(p, ",") && !ll_is(p, ")")) {
                if (ll_is(p, "("))
                    ll_skip_brackets(p);
                else
                    ll_next(&p->l);
            }
        } else {
            const struct ir_type *t = ll_type(p);
            struct ir_param param = { 0 };
            ll_attributes(p, &param);
            struct ir_value *v = add_arg(p, x, ll_value(p, t));
            v->byval = param.byval;
            v->byval_align = param.byval ? param.align : 0;
            if (param.align && (!x->align || param.align < x->align))
                x->align = param.align;  // of what memcpy and its like are given: the least
        }
        if (!ll_is(p, ")"))
            ll_want(p, ",");
    }
}

static void parse_assembly(struct parser *p, struct ir_inst *x)
{
    while (p->l.token.kind == TOKEN_WORD) {
        x->effect = x->effect || ll_is(p, "sideeffect");
        ll_next(&p->l);
    }
    x->assembly = p->l.token.text;
    ll_next(&p->l);
    ll_want(p, ",");
    x->constraints = p->l.token.text;
    ll_next(&p->l);
}

static void parse_call(struct parser *p, struct ir_inst *x)
{
    ll_attributes(p, NULL);
    x->type = ll_type(p);
    if (ll_is(p, "("))  // the type of a function with variable arguments
        ll_skip_brackets(p);
    uint32_t symbol;
    if (ll_take(p, "asm"))
        parse_assembly(p, x);
    else if (p->l.token.kind != TOKEN_GLOBAL)
        ir_fail(p->m, "a call through a pointer is not known");
    else if (!map_get(&p->m->symbol_names, p->l.token.text, &symbol))
        ir_fail(p->m, "@%.*s is not declared", (int)p->l.token.text.n, p->l.token.text.p);
    else
        x->callee = p->m->symbols[symbol], ll_next(&p->l);
    parse_call_args(p, x);
}

// --- Memory ---

static void parse_memory(struct parser *p, struct ir_inst *x)
{
    if (x->op == OP_load || x->op == OP_alloca || x->op == OP_getelementptr) {
        x->source = ll_type(p);
        if (!ll_take(p, ","))
            return;
        if (!ll_starts_type(p))
            return;
    }
    if (x->op == OP_alloca)
        ir_fail(p->m, "an alloca of variable size is not known");
    typed_list(p, x);
}

static const struct ir_type *memory_type(struct parser *p, struct ir_inst *x)
{
    struct ir_type *t;
    switch (x->op) {
    case OP_load:
        return x->source;
    case OP_alloca:
        t = ir_new(p->m, sizeof *t);
        *t = (struct ir_type){ .kind = IR_PTR, .bits = 64 };
        return t;
    case OP_getelementptr:
        return x->args[0].type;
    case OP_atomicrmw:
        return x->args[1].type;
    case OP_cmpxchg:
        t = ir_new(p->m, sizeof *t);
        *t = (struct ir_type){ .kind = IR_STRUCT, .count = 2 };
        t->fields = ir_new(p->m, 2 * sizeof *t->fields);
        t->fields[0] = x->args[1].type;
        t->fields[1] = ir_int(p->m, 1);
        return t;
    default:
        return NULL;
    }
}

// --- All of them ---

static enum ir_op find_op(struct str name)
{
    static const char *const names[] = {
#define X(name, class) #name,
#include "irptx/ir_op.def"
#undef X
    };
    for (int i = 0; i < OP_COUNT; i++)
        if (str_is(name, names[i]))
            return (enum ir_op)i;
    return OP_COUNT;
}

static void parse_vector_part(struct parser *p, struct ir_inst *x)
{
    typed_list(p, x);
    x->type = x->op == OP_extractelement ? x->args[0].type->of : x->args[0].type;
}

static void parse_operands(struct parser *p, struct ir_inst *x)
{
    static const enum ir_class classes[] = {
#define X(name, class) class,
#include "irptx/ir_op.def"
#undef X
    };
    if (classes[x->op] == C_BINARY || classes[x->op] == C_UNARY) {
        parse_arithmetic(p, x, classes[x->op] == C_BINARY);
        return;
    }
    if (classes[x->op] == C_CAST) {
        parse_cast(p, x);
        return;
    }
    switch (x->op) {
    case OP_icmp:
    case OP_fcmp:
        parse_compare(p, x);
        break;
    case OP_select:
        typed_list(p, x);
        x->type = x->args[1].type;
        break;
    case OP_phi:
        parse_phi(p, x);
        break;
    case OP_extractelement:
    case OP_insertelement:
        parse_vector_part(p, x);
        break;
    case OP_shufflevector:
        parse_shuffle(p, x);
        break;
    case OP_extractvalue:
    case OP_insertvalue:
        parse_part(p, x);
        break;
    case OP_call:
        parse_call(p, x);
        break;
    case OP_br:
        parse_branch(p, x);
        break;
    case OP_switch:
        parse_switch(p, x);
        break;
    case OP_ret:
        if (!ll_take(p, "void"))
            add_arg(p, x, ll_typed(p));
        break;
    case OP_atomicrmw:
        x->word = p->l.token.text;
        ll_next(&p->l);
        parse_memory(p, x);
        break;
    case OP_unreachable:
    case OP_fence:
        break;
    default:
        parse_memory(p, x);
    }
    if (!x->type)
        x->type = memory_type(p, x);
}

static bool is_order(struct str s)
{
    static const char *const orders[] = { "unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst" };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (str_is(s, orders[i]))
            return true;
    return false;
}

// What stands behind the operands, up to the next line: alignment, the place in the source, orders, attributes.
static void parse_rest(struct parser *p, struct ir_inst *x)
{
    while (!p->l.token.first && p->l.token.kind != TOKEN_END) {
        const struct token t = p->l.token;
        if (strchr("([{<", *t.at)) {
            ll_skip_brackets(p);
            continue;
        }
        ll_next(&p->l);
        if (t.kind == TOKEN_META && str_is(t.text, "dbg") && p->l.token.kind == TOKEN_META) {
            struct lexer *l = &p->l;
            for (uint32_t i = 0; i < l->token.text.n; i++)
                x->line = x->line * 10 + (uint32_t)(l->token.text.p[i] - '0');
            ll_next(l);
        } else if (str_is(t.text, "align") && p->l.token.kind == TOKEN_NUMBER) {
            x->align = (uint32_t)ll_number(p);
        } else if (str_is(t.text, "syncscope")) {
            ll_want(p, "(");
            x->scope = p->l.token.text;
            ll_next(&p->l);
            ll_want(p, ")");
        } else if (t.kind == TOKEN_WORD && !x->order.n && is_order(t.text)) {
            x->order = t.text;
        }
    }
}

static uint32_t least_args(enum ir_op op)
{
    switch (op) {
    case OP_load:
    case OP_getelementptr:
        return 1;
    case OP_store:
    case OP_extractelement:
    case OP_atomicrmw:
        return 2;
    case OP_select:
    case OP_insertelement:
    case OP_cmpxchg:
        return 3;
    default:
        return 0;
    }
}

void ll_inst(struct parser *p, struct ir_inst *x)
{
    *x = (struct ir_inst){ .text = p->l.token.at };
    p->m->statement = x->text;
    if (p->l.token.kind == TOKEN_LOCAL) {
        x->result = ll_local(p);
        ll_want(p, "=");
    }
    while (ll_take(p, "tail") || ll_take(p, "musttail") || ll_take(p, "notail"))
        ;
    const struct str name = p->l.token.text;
    x->op = find_op(name);
    if (x->op == OP_COUNT)
        ir_fail(p->m, "the instruction %.*s is not known", (int)name.n, name.p);
    ll_next(&p->l);
    x->flags = parse_flags(p);
    parse_operands(p, x);
    if (!x->type)
        x->type = &ir_void;
    if (x->arg_count < least_args(x->op))
        ir_fail(p->m, "the IR has an instruction with too few operands");
    parse_rest(p, x);
}
