// Function calls: a kernel with the bodies of the functions it calls copied in. Each copy has registers of its own;
// its formal parameters are the caller's .param variables; a return is a branch to its end. The functions' own
// variables need no copies, since no function is active twice in a thread. A copied instruction is said to be inlined
// where the call is, as nvcc says of what it inlines itself: so a message about it names the kernel's own line, too.
#include <string.h>

#include "inline.h"
#include "simt/machine/memory.h"

// For the reason that f was refused for.
static bool refuse_as(struct inliner *x, const struct ptx_func *f)
{
    *x->at = f->error_at;
    memcpy(x->error, f->error, strlen(f->error) + 1);
    return false;
}

static bool copy_operand(struct inliner *x, const struct frame *fr, uint32_t base, const struct ptx_operand *from,
                         struct ptx_operand *to)
{
    *to = *from;
    to->reg += from->reg >= 0 ? (int32_t)base : 0;
    to->reg2 += from->reg2 >= 0 ? (int32_t)base : 0;
    to->var = inline_variable(fr, from->var);
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

// Calls callee in place of in: by a copy of its body, or by a jump to the one it has.
static bool call_function(struct inliner *x, struct frame *callee, const struct ptx_inst *in, unsigned depth)
{
    const struct ptx_func *f = callee->f;
    if (f->error)
        return refuse_as(x, f);
    if (f->n_params != (callee->arguments ? callee->arguments->count : 0) ||
        f->n_results != (callee->results ? callee->results->count : 0))
        return inline_refuse(x, in->at, "is called with another number of arguments than it has", f->name);
    for (int side = 0; side < 2; side++) {
        const struct ptx_operand *group = side ? callee->results : callee->arguments;
        for (uint32_t i = 0; group && i < group->count; i++)
            if (group->list[i].kind != OPND_VAR)
                return inline_refuse(x, group->list[i].at, "arguments that are not .param variables are not supported",
                                     f->name);
    }
    if (in->guard >= 0)
        return inline_refuse(x, in->at, "a call with a guard is not supported", f->name);
    if (inline_is_recursive(x, f))
        return inline_jump(x, callee, in);
    if (depth == CALL_DEPTH)
        return inline_refuse(x, in->at, "calls nest too deeply", f->name);
    return inline_keep_arguments(x, callee) && copy_body(x, callee, depth + 1);
}

// --- calls through a pointer ---
//
// The pointer is compared with the address of every function that it may hold, which are those whose address the file
// takes and whose parameters have the sizes of the arguments.

// call (results), %pointer, (arguments), prototype
static bool read_pointer(const struct ptx_inst *in, const struct ptx_operand **pointer, struct frame *callee)
{
    uint32_t i = 0;
    callee->arguments = callee->results = NULL;
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        callee->results = &in->operand[i++];
    if (i == in->n_operands || in->operand[i].kind != OPND_REG)
        return false;
    *pointer = &in->operand[i++];
    if (i < in->n_operands && in->operand[i].kind == OPND_GROUP)
        callee->arguments = &in->operand[i++];
    return i + 1 == in->n_operands && in->operand[i].kind == OPND_LABEL;
}

static bool same_sizes(const struct ptx_module *m, const struct ptx_operand *group, const uint32_t *vars, uint32_t n)
{
    if ((group ? group->count : 0) != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (group->list[i].kind != OPND_VAR || m->vars[group->list[i].var].bytes != m->vars[vars[i]].bytes)
            return false;
    return true;
}

// if (pointer == address) { the call } else go on behind it
static bool one_target(struct inliner *x, struct frame *callee, const struct ptx_inst *in, int32_t pointer,
                       unsigned depth, uint32_t *jump)
{
    const uint64_t address = memory_of_function((uint64_t)(callee->f - x->m->funcs));
    const int32_t other = inline_register(x, PTX_PRED);
    const struct ptx_operand compare[] = { operand_reg(other), operand_reg(pointer), operand_int(address) };
    const struct ptx_operand nowhere = operand_label(0);
    if (other < 0 || !inline_emit(x, in, "setp.ne.b64", compare, 3) || !inline_emit(x, in, "bra", &nowhere, 1))
        return false;
    const uint32_t skip = x->out->n_insts - 1;
    x->out->insts[skip].guard = other;
    if (!call_function(x, callee, in, depth) || !inline_emit(x, in, "bra", &nowhere, 1))
        return false;
    *jump = x->out->n_insts - 1;
    x->out->insts[skip].operand[0].target = x->out->n_insts;
    return true;
}

static bool call_pointer(struct inliner *x, struct frame *fr, const struct ptx_inst *in, unsigned depth)
{
    struct frame callee = { .caller = fr, .call = in->loc };
    const struct ptx_operand *pointer;
    const struct ptx_func *caller = fr->f;
    uint32_t n = 0, *jumps = arena_alloc(x->arena, (x->m->n_funcs + 1) * sizeof *jumps);
    if (!jumps)
        return inline_out_of_memory(x, caller);
    if (!read_pointer(in, &pointer, &callee))
        return inline_refuse(x, in->at, "this form of a call through a pointer is not supported", in->op);
    if (ptx_type_bytes(caller->regs[pointer->reg].type) != 8)
        return inline_refuse(x, pointer->at, "a function's address needs a 64-bit register", in->op);
    if (in->guard >= 0)
        return inline_refuse(x, in->at, "a call with a guard is not supported", in->op);
    const int32_t moved = pointer->reg + (int32_t)fr->first_reg;
    for (uint32_t i = 0; i < x->m->n_funcs; i++) {
        const struct ptx_func *f = &x->m->funcs[i];
        if (!inline_is_taken(x, i) || !same_sizes(x->m, callee.arguments, f->params, f->n_params) ||
            !same_sizes(x->m, callee.results, f->results, f->n_results))
            continue;
        struct frame to = callee;
        to.f = f;
        if (!one_target(x, &to, in, moved, depth, &jumps[n++]))
            return *x->error ? false : inline_out_of_memory(x, caller);
    }
    if (!n)
        return inline_refuse(x, in->at, "no function whose address is taken has such parameters", in->op);
    if (!inline_emit(x, in, OP_NO_FUNCTION, NULL, 0))
        return inline_out_of_memory(x, caller);
    for (uint32_t i = 0; i < n; i++)
        x->out->insts[jumps[i]].operand[0].target = x->out->n_insts;
    return true;
}

// --- bodies ---

static bool copy_call(struct inliner *x, struct frame *fr, const struct ptx_inst *in, unsigned depth, bool *done)
{
    struct frame callee = { .caller = fr, .call = place_in(x, fr, in->loc) };
    struct ptx_inst here = *in;
    struct str name;
    here.loc = callee.call;
    *done = true;
    if (!inline_read_call(in, &name, &callee.results, &callee.arguments))
        return call_pointer(x, fr, &here, depth);
    callee.f = inline_find(x->m, name);
    *done = callee.f && callee.f->body;
    return !*done || call_function(x, &callee, &here, depth);  // else a system call, or an error that decode.c finds
}

// The registers and variables of fr's function. False when memory runs out.
static bool copy_names(struct inliner *x, const struct frame *fr)
{
    struct ptx_func *out = x->out;
    const struct ptx_func *f = fr->f;
    for (uint32_t i = 0; i < f->n_regs; i++) {
        if (!(out->regs = grown(x, out->regs, out->n_regs, sizeof *out->regs)))
            return false;
        out->regs[out->n_regs++] = f->regs[i];
    }
    for (uint32_t i = 0; i < f->n_vars; i++) {
        if (x->known[f->vars[i]] || inline_variable(fr, (int32_t)f->vars[i]) != (int32_t)f->vars[i])
            continue;
        x->known[f->vars[i]] = true;
        if (!(out->vars = grown(x, out->vars, out->n_vars, sizeof *out->vars)))
            return false;
        out->vars[out->n_vars++] = f->vars[i];
    }
    return true;
}

// One instruction that is no call. A return from a callee is a branch to its end.
static bool copy_inst(struct inliner *x, const struct frame *fr, const struct ptx_inst *from, bool in_callee)
{
    struct ptx_func *out = x->out;
    struct ptx_inst in = *from;
    in.operand = arena_alloc(x->arena, (in.n_operands + 1) * sizeof *in.operand);
    for (uint32_t k = 0; in.operand && k < in.n_operands; k++)
        if (!copy_operand(x, fr, fr->first_reg, &from->operand[k], &in.operand[k]))
            return inline_out_of_memory(x, fr->f);
    in.guard += in.guard >= 0 ? (int32_t)fr->first_reg : 0;
    in.loc = place_in(x, fr, in.loc);
    for (uint32_t k = 0; in.operand && k < in.n_operands; k++)
        if (!inline_stacked(x, &in, &in.operand[k]))
            return false;
    out->insts = grown(x, out->insts, out->n_insts, sizeof *out->insts);
    if (!in.operand || !out->insts)
        return inline_out_of_memory(x, fr->f);
    if (in_callee && (str_is(in.op, "ret") || str_is(in.op, "ret.uni"))) {
        in.operand[0] = (struct ptx_operand){
            .kind = OPND_LABEL, .reg = -1, .reg2 = -1, .var = -1, .target = fr->f->n_insts, .at = in.at
        };
        in.n_operands = 1;
        in.op = (struct str){ "bra", 3 };
    }
    out->insts[out->n_insts++] = in;
    return true;
}

// Labels name instructions of f; place[i] is where instruction i is now.
static void move_labels(struct ptx_inst *in, const uint32_t *place)
{
    for (uint32_t k = 0; k < in->n_operands; k++)
        if (in->operand[k].kind == OPND_LABEL)
            in->operand[k].target = place[in->operand[k].target];
}

static bool allocates(const struct ptx_func *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->n_insts; i++)
        any |= str_begins(f->insts[i].op, "alloca.");
    return any;
}

// What a function takes from the stack is given back when it returns. op: stacksave, stackrestore
static bool copy_stack(struct inliner *x, const struct ptx_func *f, const char *op, int32_t *stack)
{
    if (*stack < 0)
        *stack = inline_register(x, PTX_U64);
    const struct ptx_operand at = operand_reg(*stack);
    return (*stack >= 0 && inline_emit(x, &f->insts[0], op, &at, 1)) || inline_out_of_memory(x, f);
}

static bool copy_body(struct inliner *x, struct frame *fr, unsigned depth)
{
    struct ptx_func *out = x->out;
    const struct ptx_func *f = fr->f;
    if (out->n_insts > INLINE_MAX || x->calls++ > INLINE_MAX)
        return inline_refuse(x, f->name.p, "its callers become too large with it", f->name);
    fr->number = x->calls;
    fr->first_reg = out->n_regs;
    uint32_t *place = arena_alloc(x->arena, (f->n_insts + 1) * sizeof *place);
    uint32_t *own = arena_alloc(x->arena, (f->n_insts + 1) * sizeof *own);  // the inst with its labels + 1, or 0
    if (!place || !own || !copy_names(x, fr))
        return inline_out_of_memory(x, f);
    const bool stacked = depth && allocates(f);
    int32_t stack = -1;
    if (stacked && !copy_stack(x, f, "stacksave.u64", &stack))
        return false;
    for (uint32_t i = 0; i < f->n_insts; i++) {
        bool done = false;
        place[i] = out->n_insts;
        if (inline_is_call(&f->insts[i]) && !copy_call(x, fr, &f->insts[i], depth, &done))
            return false;
        if (done)
            continue;
        if (!copy_inst(x, fr, &f->insts[i], depth > 0))
            return false;
        own[i] = out->n_insts;
    }
    place[f->n_insts] = out->n_insts;
    if (stacked && !copy_stack(x, f, "stackrestore.u64", &stack))
        return false;
    for (uint32_t i = 0; i < f->n_insts; i++)
        if (own[i])
            move_labels(&out->insts[own[i] - 1], place);
    return true;
}

// What the kernel jumps to, behind it.
static bool copy_routines(struct inliner *x)
{
    const struct ptx_func *f = x->out;
    const struct ptx_inst end = { .guard = -1, .at = f->name.p };
    if (!x->n_routines)
        return true;
    if (!inline_emit(x, &end, "exit", NULL, 0))
        return inline_out_of_memory(x, f);
    for (uint32_t i = 0; i < x->n_routines; i++) {  // each may add others
        struct frame fr = { .f = x->routines[i].f };
        inline_begin_routine(x, i);
        if (!copy_body(x, &fr, 1) || !inline_end_routine(x, i))
            return false;
    }
    return inline_connect(x);
}

static bool copy_kernel(struct inliner *x, const struct ptx_func *f, uint32_t n_locs, int pass)
{
    struct frame top = { .f = f };
    struct ptx_func *out = x->out;
    *out = *f;
    out->regs = NULL;
    out->insts = NULL;
    out->vars = NULL;
    out->n_regs = out->n_insts = out->n_vars = 0;
    x->before = pass == 2 ? x->routines : NULL;
    x->routines = NULL;
    x->n_routines = x->calls = 0;
    x->known = arena_alloc(x->arena, x->m->n_vars + 1);
    x->stacked = arena_alloc(x->arena, (x->m->n_vars + 1) * sizeof *x->stacked);
    x->moved = arena_alloc(x->arena, (n_locs + 1) * sizeof *x->moved);
    return x->known && x->stacked && x->moved && (!pass || inline_begin_stack(x)) && copy_body(x, &top, 0) &&
           copy_routines(x);
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
        calls |= inline_is_call(&f->insts[i]);
    if (!calls)
        return f;
    struct ptx_func *out = arena_alloc(arena, sizeof *out);
    struct inliner x = { .m = m, .out = out, .arena = arena, .error = error, .at = at };
    x.recursive = arena_alloc(arena, m->n_funcs + 1);
    bool ok = out && x.recursive;
    const uint32_t n_locs = m->n_locs;
    // Once, or three times where functions call themselves: with their stack, and with what they have to save.
    for (int pass = 0; ok && pass < (x.n_routines ? 3 : 1); pass++)
        ok = copy_kernel(&x, f, n_locs, pass);
    if (!ok && !*error)
        inline_out_of_memory(&x, f);
    return ok ? out : NULL;
}
