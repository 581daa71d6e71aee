// Function calls: a kernel with the bodies of the functions it calls copied in. Each copy has registers of its own;
// its formal parameters are the caller's .param variables; a return is a branch to its end. The functions' own
// variables need no copies, since no function is active twice in a thread. A copied instruction is said to be inlined
// where the call is, as nvcc says of what it inlines itself: so a message about it names the kernel's own line, too.
#include <string.h>

#include "arena.h"
#include "ptx.h"

#define DEPTH 32
#define INSTRUCTIONS (1u << 20)  // that a kernel may have with its calls, and calls

struct frame {  // a function whose body is being copied
    const struct ptx_func *f;
    const struct ptx_operand *arguments, *results;  // groups of the call, or NULL
    struct frame *caller;
    uint32_t call;    // the call's place in m->locs, its index + 1; 0 where it has none
    uint32_t number;  // of this copy, from 1
};

struct moved {  // a place of m->locs in the copy that asked for it last
    uint32_t copy, loc;
};

struct inliner {
    struct ptx_module *m;
    struct ptx_func *out;
    struct arena *arena;
    bool *known;          // by variable: it is one of out's
    struct moved *moved;  // by index in m->locs as they were parsed
    uint32_t calls;       // bodies copied so far
    char *error;
    const char **at;
};

static bool refuse(struct inliner *x, const char *at, const char *why, struct str name)
{
    *x->at = at;
    ptx_error_at(x->m, at, x->error, "%.*s: %s", (int)(name.n < 80 ? name.n : 80), name.p, why);
    return false;
}

// For the reason that f was refused for.
static bool refuse_as(struct inliner *x, const struct ptx_func *f)
{
    *x->at = f->error_at;
    memcpy(x->error, f->error, strlen(f->error) + 1);
    return false;
}

int64_t ptx_find_function(const struct ptx_module *m, struct str name)
{
    for (uint32_t i = 0; i < m->n_funcs; i++)
        if (m->funcs[i].name.n == name.n && !memcmp(m->funcs[i].name.p, name.p, name.n))
            return i;
    return -1;
}

static const struct ptx_func *find(const struct ptx_module *m, struct str name)
{
    const int64_t i = ptx_find_function(m, name);
    return i < 0 ? NULL : &m->funcs[i];
}

static bool is_call(const struct ptx_inst *in)
{
    return in->op.n >= 4 && !memcmp(in->op.p, "call", 4) && (in->op.n == 4 || in->op.p[4] == '.');
}

// The name of the function that a call names, and its groups; false for an indirect call.
static bool read_call(const struct ptx_inst *in, struct str *name, const struct ptx_operand **results,
                      const struct ptx_operand **arguments)
{
    uint32_t i = 0;
    *results = *arguments = NULL;
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        *results = &in->operand[i++];
    if (i == in->n_operands || in->operand[i].kind != OPND_NAME)
        return false;
    *name = in->operand[i++].name;
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        *arguments = &in->operand[i++];
    return i == in->n_operands;
}

// The variable that stands for var in the copy: a formal parameter is what the caller passed for it, in turn.
static int32_t variable_in(const struct frame *fr, int32_t var)
{
    for (; var >= 0 && fr->caller; fr = fr->caller) {
        bool found = false;
        for (uint32_t i = 0; i < fr->f->n_params && !found; i++)
            if ((found = (int32_t)fr->f->params[i] == var))
                var = fr->arguments->list[i].var;
        for (uint32_t i = 0; i < fr->f->n_results && !found; i++)
            if ((found = (int32_t)fr->f->results[i] == var))
                var = fr->results->list[i].var;
        if (!found)
            break;
    }
    return var;
}

static bool copy_operand(struct inliner *x, const struct frame *fr, uint32_t base, const struct ptx_operand *from,
                         struct ptx_operand *to)
{
    *to = *from;
    to->reg += from->reg >= 0 ? (int32_t)base : 0;
    to->reg2 += from->reg2 >= 0 ? (int32_t)base : 0;
    to->var = variable_in(fr, from->var);
    if (!from->count)
        return true;
    to->list = arena_alloc(x->arena, from->count * sizeof *to->list);
    for (uint32_t i = 0; to->list && i < from->count; i++)
        if (!copy_operand(x, fr, base, &from->list[i], &to->list[i]))
            return false;
    return to->list != NULL;
}

static void *grown(struct inliner *x, void *items, uint32_t count, size_t size)
{
    return arena_grow(x->arena, items, count, size);
}

static bool out_of_memory(struct inliner *x, const struct frame *fr)
{
    return refuse(x, fr->f->name.p, "out of memory", fr->f->name);
}

// The place loc (an index + 1, or 0) as it is in fr's copy, inlined where fr was called; less of it when memory runs
// out.
static uint32_t place_in(struct inliner *x, const struct frame *fr, uint32_t loc)
{
    struct ptx_module *m = x->m;
    uint32_t first = 0, last = 0;
    if (!fr->call)
        return loc;
    while (loc && x->moved[loc - 1].copy != fr->number) {  // with the calls that nvcc inlined, outwards
        struct ptx_loc *locs = grown(x, m->locs, m->n_locs, sizeof *locs);
        if (!locs)
            break;
        m->locs = locs;
        locs[m->n_locs++] = locs[loc - 1];
        x->moved[loc - 1] = (struct moved){ fr->number, m->n_locs };
        loc = locs[loc - 1].at;
        if (last)
            locs[last - 1].at = m->n_locs;
        last = m->n_locs;
        first = first ? first : last;
    }
    const bool known = loc && x->moved[loc - 1].copy == fr->number;
    const uint32_t rest = known ? x->moved[loc - 1].loc : fr->call;
    if (last)
        m->locs[last - 1].at = rest;
    return first ? first : rest;
}

static bool copy_body(struct inliner *x, struct frame *fr, unsigned depth);

static bool copy_call(struct inliner *x, struct frame *fr, const struct ptx_inst *in, unsigned depth, bool *done)
{
    struct frame callee = { .caller = fr, .call = place_in(x, fr, in->loc) };
    struct str name;
    *done = false;
    if (!read_call(in, &name, &callee.results, &callee.arguments))
        return refuse(x, in->at, "indirect calls are not supported", in->op);
    callee.f = find(x->m, name);
    if (!callee.f || !callee.f->body)
        return true;  // a system call, or an error that decode.c finds
    if (callee.f->error)
        return refuse_as(x, callee.f);
    for (const struct frame *a = fr; a; a = a->caller)
        if (a->f == callee.f)
            return refuse(x, in->at, "calls itself, which is not supported", name);
    if (depth == DEPTH)
        return refuse(x, in->at, "calls nest too deeply", name);
    if (callee.f->n_params != (callee.arguments ? callee.arguments->count : 0) ||
        callee.f->n_results != (callee.results ? callee.results->count : 0))
        return refuse(x, in->at, "is called with another number of arguments than it has", name);
    for (int side = 0; side < 2; side++) {
        const struct ptx_operand *group = side ? callee.results : callee.arguments;
        for (uint32_t i = 0; group && i < group->count; i++)
            if (group->list[i].kind != OPND_VAR)
                return refuse(x, group->list[i].at, "arguments that are not .param variables are not supported", name);
    }
    if (in->guard >= 0)
        return refuse(x, in->at, "a call with a guard is not supported", name);
    *done = true;
    return copy_body(x, &callee, depth + 1);
}

static bool copy_body(struct inliner *x, struct frame *fr, unsigned depth)
{
    struct ptx_func *out = x->out;
    const struct ptx_func *f = fr->f;
    const uint32_t base = out->n_regs;
    if (out->n_insts > INSTRUCTIONS || x->calls++ > INSTRUCTIONS)
        return refuse(x, f->name.p, "its callers become too large with it", f->name);
    fr->number = x->calls;
    uint32_t *place = arena_alloc(x->arena, (f->n_insts + 1) * sizeof *place);
    for (uint32_t i = 0; place && i < f->n_regs; i++) {
        if (!(out->regs = grown(x, out->regs, out->n_regs, sizeof *out->regs)))
            return out_of_memory(x, fr);
        out->regs[out->n_regs++] = f->regs[i];
    }
    for (uint32_t i = 0; place && i < f->n_vars; i++) {
        if (x->known[f->vars[i]] || variable_in(fr, (int32_t)f->vars[i]) != (int32_t)f->vars[i])
            continue;
        x->known[f->vars[i]] = true;
        if (!(out->vars = grown(x, out->vars, out->n_vars, sizeof *out->vars)))
            return out_of_memory(x, fr);
        out->vars[out->n_vars++] = f->vars[i];
    }
    bool *own = arena_alloc(x->arena, (f->n_insts + 1) * sizeof *own);  // one inst came of it, and its labels are f's
    for (uint32_t i = 0; place && own && i < f->n_insts; i++) {
        struct ptx_inst in = f->insts[i];
        bool done = false;
        place[i] = out->n_insts;
        if (is_call(&in) && !copy_call(x, fr, &in, depth, &done))
            return false;
        if (done)
            continue;
        bool leaves = depth && (str_is(in.op, "ret") || str_is(in.op, "ret.uni"));
        in.operand = arena_alloc(x->arena, (in.n_operands + 1) * sizeof *in.operand);
        for (uint32_t k = 0; in.operand && k < in.n_operands; k++)
            if (!copy_operand(x, fr, base, &f->insts[i].operand[k], &in.operand[k]))
                return out_of_memory(x, fr);
        in.guard += in.guard >= 0 ? (int32_t)base : 0;
        in.loc = place_in(x, fr, in.loc);
        out->insts = grown(x, out->insts, out->n_insts, sizeof *out->insts);
        if (!in.operand || !out->insts)
            return out_of_memory(x, fr);
        if (leaves) {
            in.operand[0] = (struct ptx_operand){
                .kind = OPND_LABEL, .reg = -1, .reg2 = -1, .var = -1, .target = f->n_insts, .at = in.at
            };
            in.n_operands = 1;
            in.op = (struct str){ "bra", 3 };
        }
        own[i] = true;
        out->insts[out->n_insts++] = in;
    }
    if (!place || !own)
        return out_of_memory(x, fr);
    place[f->n_insts] = out->n_insts;
    for (uint32_t i = 0; i < f->n_insts; i++) {
        if (!own[i])
            continue;
        struct ptx_inst *in = &out->insts[place[i]];
        for (uint32_t k = 0; k < in->n_operands; k++)
            if (in->operand[k].kind == OPND_LABEL)
                in->operand[k].target = place[in->operand[k].target];
    }
    return true;
}

const struct ptx_func *ptx_inline(struct ptx_module *m, const struct ptx_func *f, struct arena *arena,
                                  char error[DEV_ERROR_MAX], const char **at)
{
    if (f->error) {
        struct inliner x = { .error = error, .at = at };
        refuse_as(&x, f);
        return NULL;
    }
    bool calls = false;
    for (uint32_t i = 0; i < f->n_insts; i++)
        calls |= is_call(&f->insts[i]);
    if (!calls)
        return f;
    struct ptx_func *out = arena_alloc(arena, sizeof *out);
    struct inliner x = { .m = m, .out = out, .arena = arena, .error = error, .at = at };
    struct frame top = { .f = f };
    x.known = arena_alloc(arena, m->n_vars + 1);
    x.moved = arena_alloc(arena, (m->n_locs + 1) * sizeof *x.moved);
    if (!out || !x.known || !x.moved) {
        out_of_memory(&x, &top);
        return NULL;
    }
    *out = *f;
    out->regs = NULL;
    out->insts = NULL;
    out->vars = NULL;
    out->n_regs = out->n_insts = out->n_vars = 0;
    return copy_body(&x, &top, 0) ? out : NULL;
}
