// The PTX parser: parameters in registers. nvcc passes .param variables, and so does inline.c; what is written by hand
// may name registers and numbers instead (PTX ISA 7.1):
//
//   .func (.reg .u32 sum) add(.reg .u32 a, .reg .u32 b) { add.u32 sum, a, b; ret; }
//   call (total), add, (x, 1);
//
// A register parameter is a .param variable and a register of its name, which is loaded where the body begins; a result
// is stored wherever the function is left. A call stores its arguments into variables of its own, and loads the results
// from such.
#include "parse.h"

static const char *move_of(struct parser *p, const char *at, bool store, uint32_t bytes)
{
    if (bytes != 4 && bytes != 8)
        parse_fail(p, at, "parameters and arguments in registers have 32 or 64 bits");
    return store ? bytes == 4 ? "st.param.b32" : "st.param.b64" : bytes == 4 ? "ld.param.b32" : "ld.param.b64";
}

// Between an operand and a .param variable, where like is and under its guard.
static void move(struct parser *p, const struct ptx_inst *like, bool store, struct ptx_operand value, uint32_t var)
{
    const uint32_t bytes = (uint32_t)p->m->vars[var].bytes;
    const char *op = move_of(p, like->at, store, bytes);
    struct ptx_inst in = *like;
    in.op = (struct str){ op, (uint32_t)strlen(op) };
    in.operand = parse_alloc(p, 2 * sizeof *in.operand);
    in.n_operands = 2;
    in.operand[store] = value;
    in.operand[!store] =
        (struct ptx_operand){ .kind = OPND_MEM, .reg = -1, .reg2 = -1, .var = (int32_t)var, .at = like->at };
    parse_add(p, in);
}

static struct ptx_operand register_operand(int32_t reg, const char *at)
{
    return (struct ptx_operand){ .kind = OPND_REG, .reg = reg, .reg2 = -1, .var = -1, .at = at };
}

// --- of a function ---

void parse_formal(struct parser *p, uint32_t var, bool result)
{
    struct ptx_func *f = p->f;
    const struct ptx_var *v = &p->m->vars[var];
    (void)move_of(p, v->name.p, false, v->type == PTX_PRED ? 0 : (uint32_t)v->bytes);
    if (f->entry)
        parse_fail(p, v->name.p, "a kernel's parameters are .param variables");
    if (!map_put(p->m->arena, &p->scopes[0].singles, v->name, f->n_regs))
        parse_fail(p, v->name.p, "register '%.*s' is declared twice", (int)v->name.n, v->name.p);
    p->formals = parse_grow(p, p->formals, p->n_formals, sizeof *p->formals);
    p->formals[p->n_formals++] = (struct formal){ var, (int32_t)f->n_regs, result };
    f->regs = parse_grow(p, f->regs, f->n_regs, sizeof *f->regs);
    f->regs[f->n_regs++] = (struct ptx_reg){ v->name, v->type, 0, false };
}

void parse_receives(struct parser *p)
{
    const struct ptx_inst begin = { .guard = -1, .loc = p->loc, .at = p->f->name.p };
    for (uint32_t i = 0; i < p->n_formals; i++)
        if (!p->formals[i].result)
            move(p, &begin, false, register_operand(p->formals[i].reg, begin.at), p->formals[i].var);
}

void parse_returns(struct parser *p, const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < p->n_formals; i++)
        if (p->formals[i].result)
            move(p, in, true, register_operand(p->formals[i].reg, in->at), p->formals[i].var);
}

// --- of a call ---

static uint32_t new_variable(struct parser *p, enum ptx_type type)
{
    static const char name[] = "an argument";
    struct ptx_module *m = p->m;
    struct ptx_func *f = p->f;
    const uint32_t bytes = ptx_type_bytes(type);
    m->vars = parse_grow(p, m->vars, m->n_vars, sizeof *m->vars);
    m->vars[m->n_vars] = (struct ptx_var){ .name = { name, sizeof name - 1 },
                                           .space = SPACE_PARAM,
                                           .type = type,
                                           .align = bytes,
                                           .bytes = bytes,
                                           .local = true };
    f->vars = parse_grow(p, f->vars, f->n_vars, sizeof *f->vars);
    f->vars[f->n_vars++] = m->n_vars;
    return m->n_vars++;
}

// The type of argument or result number i of the function that is called, which is declared by now.
static enum ptx_type formal_type(struct parser *p, const struct ptx_operand *name, bool result, uint32_t i,
                                 const char *at)
{
    uint32_t index;
    if (name->kind != OPND_NAME || !map_get(&p->funcs, name->name, &index))
        parse_fail(p, at, "an argument that is no .param variable needs a function that is declared before the call");
    const struct ptx_func *f = &p->m->funcs[index];
    if (f->error)
        parse_fail(p, at, "'%.*s' cannot be called: %s", (int)f->name.n, f->name.p, f->error);
    if (i >= (result ? f->n_results : f->n_params))
        parse_fail(p, at, "'%.*s' has fewer of them", (int)f->name.n, f->name.p);
    return p->m->vars[(result ? f->results : f->params)[i]].type;
}

// Puts variables in place of the registers and numbers of a group. results: they are loaded, when the call is over.
static void pass(struct parser *p, const struct ptx_inst *call, struct ptx_operand *group, bool result,
                 const struct ptx_operand *name)
{
    for (uint32_t i = 0; i < group->count; i++) {
        struct ptx_operand *o = &group->list[i];
        if (o->kind == OPND_VAR || o->kind == OPND_SINK)
            continue;
        if (o->kind != OPND_REG && (result || o->kind > OPND_DECIMAL))
            parse_fail(p, o->at, "expected a .param variable, or a register");
        const uint32_t var = new_variable(p, formal_type(p, name, result, i, o->at));
        const struct ptx_operand value = *o;
        *o = (struct ptx_operand){ .kind = OPND_VAR, .reg = -1, .reg2 = -1, .var = (int32_t)var, .at = o->at };
        move(p, call, !result, value, var);
    }
}

void parse_passes(struct parser *p, struct ptx_inst *call)
{
    const bool returns = call->n_operands && call->operand[0].kind == OPND_GROUP;
    struct ptx_operand *name = call->n_operands > returns ? &call->operand[returns] : NULL;
    struct ptx_operand *last = &call->operand[call->n_operands - 1];
    if (name && last > name && last->kind == OPND_GROUP)
        pass(p, call, last, false, name);
    if (!returns) {
        parse_add(p, *call);
        return;
    }
    struct ptx_func *f = p->f;
    const uint32_t at = f->n_insts;
    parse_add(p, *call);
    pass(p, call, &call->operand[0], true, name);
    f->insts[at].operand = call->operand;
}
