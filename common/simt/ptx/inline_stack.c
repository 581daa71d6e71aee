// Functions that may call themselves. Such a function has one copy behind the kernel, which its callers jump to. Its
// variables stand in a frame on a stack in local memory. Before a call from within such a function, its registers and
// parameters go to the stack, too, since the call may lead to another round of it; behind the call they come back.
//
//   frame: local variables | the register that says where to return | registers, 8 bytes each | parameters
//
// How many registers a copy has is known when it is made: so everything is copied twice, and the second pass saves what
// the first one counted.
#include <string.h>

#include "inline.h"

#define FRAME_ALIGN 16u

static uint32_t align_up(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

// --- the stack ---

static struct ptx_operand frame_at(const struct inliner *x, uint64_t at)
{
    struct ptx_operand o = operand_of(OPND_MEM);
    o.reg = x->stack;
    o.bits = at;
    return o;
}

static struct ptx_operand variable_at(uint32_t var, uint64_t at)
{
    struct ptx_operand o = operand_of(OPND_MEM);
    o.var = (int32_t)var;
    o.bits = at;
    return o;
}

static bool emit2(struct inliner *x, const struct ptx_inst *in, const char *op, struct ptx_operand a,
                  struct ptx_operand b)
{
    const struct ptx_operand list[] = { a, b };
    return inline_emit(x, in, op, list, 2);
}

static bool emit3(struct inliner *x, const struct ptx_inst *in, const char *op, struct ptx_operand a,
                  struct ptx_operand b, struct ptx_operand c)
{
    const struct ptx_operand list[] = { a, b, c };
    return inline_emit(x, in, op, list, 3);
}

// Copies bytes from one place in local memory to another, through a register.
static bool copy_bytes(struct inliner *x, const struct ptx_inst *in, struct ptx_operand from, bool from_param,
                       struct ptx_operand to, bool to_param, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes;) {
        const bool whole = bytes - at >= 4;
        struct ptx_operand a = from, b = to, word = operand_reg(x->word);
        a.bits += at;
        b.bits += at;
        const char *load = whole        ? (from_param ? "ld.param.b32" : "ld.local.b32")
                           : from_param ? "ld.param.b8"
                                        : "ld.local.b8";
        const char *store = whole      ? (to_param ? "st.param.b32" : "st.local.b32")
                            : to_param ? "st.param.b8"
                                       : "st.local.b8";
        if (!emit2(x, in, load, word, a) || !emit2(x, in, store, b, word))
            return false;
        at += whole ? 4 : 1;
    }
    return true;
}

// Puts a register into the frame, or takes it back.
static bool move_register(struct inliner *x, const struct ptx_inst *in, int32_t reg, uint64_t at, bool save)
{
    const enum ptx_type type = x->out->regs[reg].type;
    const uint32_t bytes = ptx_type_bytes(type);
    const struct ptx_operand place = frame_at(x, at), r = operand_reg(reg), word = operand_reg(x->word);
    if (type == PTX_PRED && save) {
        const struct ptx_operand select[] = { word, operand_int(1), operand_int(0), r };
        return inline_emit(x, in, "selp.b32", select, 4) && emit2(x, in, "st.local.b32", place, word);
    }
    if (type == PTX_PRED)
        return emit2(x, in, "ld.local.b32", word, place) && emit3(x, in, "setp.ne.b32", r, word, operand_int(0));
    const char *store = bytes == 8   ? "st.local.b64"
                        : bytes == 4 ? "st.local.b32"
                        : bytes == 2 ? "st.local.b16"
                                     : "st.local.b8";
    const char *load = bytes == 8   ? "ld.local.b64"
                       : bytes == 4 ? "ld.local.b32"
                       : bytes == 2 ? "ld.local.b16"
                                    : "ld.local.b8";
    return save ? emit2(x, in, store, place, r) : emit2(x, in, load, r, place);
}

static uint64_t parameter_bytes(const struct inliner *x, const struct routine *r)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->n_params; i++)
        bytes += align_up((uint32_t)x->m->vars[r->params[i]].bytes, 8);
    return bytes;
}

// Of a routine as the pass before counted it.
static uint64_t frame_bytes(const struct inliner *x, const struct routine *r)
{
    return align_up(r->local_bytes, 8) + 8 + 8ull * r->n_regs + align_up((uint32_t)parameter_bytes(x, r), FRAME_ALIGN) +
           FRAME_ALIGN;
}

// Everything that another round of the routine would overwrite, to its frame or back.
static bool move_state(struct inliner *x, const struct ptx_inst *in, const struct routine *r, bool save)
{
    uint64_t at = align_up(r->local_bytes, 8);
    if (!move_register(x, in, r->back, at, save))
        return false;
    at += 8;
    for (uint32_t i = 0; i < r->n_regs; i++, at += 8)
        if (!move_register(x, in, (int32_t)(r->first_reg + i), at, save))
            return false;
    for (uint32_t i = 0; i < r->n_params; i++) {
        const struct ptx_var *v = &x->m->vars[r->params[i]];
        const struct ptx_operand variable = variable_at(r->params[i], 0), place = frame_at(x, at);
        if (!copy_bytes(x, in, save ? variable : place, save, save ? place : variable, !save, v->bytes))
            return false;
        at += align_up((uint32_t)v->bytes, 8);
    }
    return true;
}

// --- calls ---

static bool add_number(struct inliner *x, uint32_t **list, uint32_t *n, uint32_t value)
{
    uint32_t *grown = arena_grow(x->arena, *list, *n, sizeof **list);
    if (!grown)
        return false;
    grown[(*n)++] = value;
    *list = grown;
    return true;
}

static bool know_variable(struct inliner *x, uint32_t var)
{
    if (x->known[var])
        return true;
    x->known[var] = true;
    uint32_t *vars = arena_grow(x->arena, x->out->vars, x->out->n_vars, sizeof *vars);
    if (!vars)
        return false;
    x->out->vars = vars;
    vars[x->out->n_vars++] = var;
    return true;
}

// Registers for the stack, which is the module's last variable; the frame begins at its start.
bool inline_begin_stack(struct inliner *x)
{
    const struct ptx_inst start = { .guard = -1, .at = x->out->name.p };
    struct ptx_operand stack = operand_of(OPND_VAR);
    stack.var = (int32_t)x->m->stack;
    x->stack = inline_register(x, PTX_B64);
    x->wide = inline_register(x, PTX_B64);
    x->word = inline_register(x, PTX_B32);
    x->truth = inline_register(x, PTX_PRED);
    return x->truth >= 0 && x->word >= 0 && x->wide >= 0 && x->stack >= 0 && know_variable(x, x->m->stack) &&
           emit2(x, &start, "mov.b64", operand_reg(x->stack), stack);
}

static bool add_parameter(struct inliner *x, struct routine *r, uint32_t var)
{
    for (uint32_t i = 0; i < r->n_params; i++)
        if (r->params[i] == var)
            return true;
    return add_number(x, &r->params, &r->n_params, var);
}

bool inline_keep_arguments(struct inliner *x, const struct frame *callee)
{
    for (uint32_t i = 0; x->owner && i < callee->f->n_params; i++) {
        const int32_t var = inline_variable(callee->caller, callee->arguments->list[i].var);
        if (!add_parameter(x, &x->routines[x->owner - 1], (uint32_t)var))
            return inline_out_of_memory(x, callee->f);
    }
    return true;
}

static struct routine *routine_of(struct inliner *x, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < x->n_routines; i++)
        if (x->routines[i].f == f)
            return &x->routines[i];
    struct routine *grown = arena_grow(x->arena, x->routines, x->n_routines, sizeof *grown);
    if (!grown)
        return NULL;
    x->routines = grown;
    struct routine *r = &grown[x->n_routines++];
    *r = (struct routine){ .f = f, .back = inline_register(x, PTX_B32) };
    for (uint32_t i = 0; i < f->n_params; i++)
        if (!know_variable(x, f->params[i]) || !add_parameter(x, r, f->params[i]))
            return NULL;
    for (uint32_t i = 0; i < f->n_results; i++)
        if (!know_variable(x, f->results[i]))
            return NULL;
    return r->back < 0 ? NULL : r;
}

static bool pass_arguments(struct inliner *x, const struct frame *callee, const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < callee->f->n_params; i++) {
        const uint32_t from = (uint32_t)inline_variable(callee->caller, callee->arguments->list[i].var);
        if (!copy_bytes(x, in, variable_at(from, 0), true, variable_at(callee->f->params[i], 0), true,
                        x->m->vars[callee->f->params[i]].bytes))
            return false;
    }
    return true;
}

static bool take_results(struct inliner *x, const struct frame *callee, const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < callee->f->n_results; i++) {
        const uint32_t to = (uint32_t)inline_variable(callee->caller, callee->results->list[i].var);
        if (!copy_bytes(x, in, variable_at(callee->f->results[i], 0), true, variable_at(to, 0), true,
                        x->m->vars[callee->f->results[i]].bytes))
            return false;
    }
    return true;
}

// Moves the stack's pointer; a stack that is full ends the kernel.
static bool move_stack(struct inliner *x, const struct ptx_inst *in, uint64_t by, uint64_t room)
{
    const struct ptx_operand stack = operand_reg(x->stack);
    struct ptx_operand end = operand_of(OPND_VAR);
    if (!emit3(x, in, "add.u64", stack, stack, operand_int(by)))
        return false;
    if (!room)
        return true;
    end.var = (int32_t)x->m->stack;
    end.bits = room > x->m->vars[x->m->stack].bytes ? 0 : x->m->vars[x->m->stack].bytes - room;
    if (!emit2(x, in, "mov.b64", operand_reg(x->wide), end) ||
        !emit3(x, in, "setp.gt.u64", operand_reg(x->truth), stack, operand_reg(x->wide)) ||
        !inline_emit(x, in, OP_STACK_FULL, NULL, 0))
        return false;
    x->out->insts[x->out->n_insts - 1].guard = x->truth;
    return true;
}

bool inline_jump(struct inliner *x, struct frame *callee, const struct ptx_inst *in)
{
    struct routine *r = routine_of(x, callee->f);
    if (!r)
        return inline_out_of_memory(x, callee->f);
    const uint32_t number = (uint32_t)(r - x->routines);
    const struct routine *owner = x->owner && x->before ? &x->before[x->owner - 1] : NULL;
    const uint64_t frame = owner ? frame_bytes(x, owner) : 0, room = x->before ? frame_bytes(x, &x->before[number]) : 0;
    const struct ptx_operand nowhere = operand_label(0);
    if ((owner && !move_state(x, in, owner, true)) || !pass_arguments(x, callee, in) ||
        !move_stack(x, in, frame, room + frame) ||
        !emit2(x, in, "mov.b32", operand_reg(r->back), operand_int(r->n_sites)) ||
        !inline_emit(x, in, "bra", &nowhere, 1) || !add_number(x, &r->jumps, &r->n_jumps, x->out->n_insts - 1) ||
        !add_number(x, &r->sites, &r->n_sites, x->out->n_insts) || !move_stack(x, in, 0 - frame, 0) ||
        !take_results(x, callee, in) || (owner && !move_state(x, in, owner, false)))
        return inline_out_of_memory(x, callee->f);
    return true;
}

bool inline_stacked(struct inliner *x, const struct ptx_inst *in, struct ptx_operand *o)
{
    if (o->var >= 0 && x->owner && x->m->vars[o->var].space == SPACE_LOCAL) {
        const struct ptx_var *v = &x->m->vars[o->var];
        struct routine *r = &x->routines[x->owner - 1];
        struct stacked *s = &x->stacked[o->var];
        if (s->routine != x->owner) {
            s->routine = x->owner;
            s->at = align_up(r->local_bytes, v->align < FRAME_ALIGN ? v->align : FRAME_ALIGN);
            if (v->bytes > x->m->vars[x->m->stack].bytes)
                return inline_refuse(x, v->name.p, "takes more than the stack has", v->name);
            r->local_bytes = s->at + (uint32_t)v->bytes;
        }
        o->bits += s->at;
        o->var = -1;
        if (o->kind == OPND_MEM) {
            o->reg = x->stack;
            return true;
        }
        const char *at = o->at;
        if (!emit3(x, in, "add.u64", operand_reg(x->wide), operand_reg(x->stack), operand_int(o->bits)))
            return inline_out_of_memory(x, x->out);
        *o = operand_reg(x->wide);
        o->at = at;
    }
    for (uint32_t i = 0; i < o->count; i++)
        if (!inline_stacked(x, in, &o->list[i]))
            return false;
    return true;
}

// --- bodies ---

void inline_begin_routine(struct inliner *x, uint32_t number)
{
    x->routines[number].entry = x->out->n_insts;
    x->routines[number].first_reg = x->out->n_regs;
    x->owner = number + 1;
}

bool inline_end_routine(struct inliner *x, uint32_t number)
{
    struct routine *r = &x->routines[number];
    const struct ptx_inst end = { .guard = -1, .at = r->f->name.p };
    const struct ptx_inst *last = r->f->n_insts ? &r->f->insts[r->f->n_insts - 1] : &end;
    x->owner = 0;
    r->n_regs = x->out->n_regs - r->first_reg;
    r->table = x->out->n_insts;
    return (inline_emit(x, last, ".branchtargets", NULL, 0) &&
            emit2(x, last, "brx.idx", operand_reg(r->back), operand_label(r->table))) ||
           inline_out_of_memory(x, r->f);
}

bool inline_connect(struct inliner *x)
{
    for (uint32_t i = 0; i < x->n_routines; i++) {
        const struct routine *r = &x->routines[i];
        struct ptx_inst *table = &x->out->insts[r->table];
        for (uint32_t k = 0; k < r->n_jumps; k++)
            x->out->insts[r->jumps[k]].operand[0].target = r->entry;
        table->operand = arena_alloc(x->arena, (r->n_sites + 1) * sizeof *table->operand);
        if (!table->operand)
            return inline_out_of_memory(x, r->f);
        for (uint32_t k = 0; k < r->n_sites; k++)
            table->operand[k] = operand_label(r->sites[k]);
        table->n_operands = r->n_sites;
    }
    return true;
}
