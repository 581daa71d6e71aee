// A launch that is looked at, instruction by instruction: simt_watch of simt/simt.h.
//
// The executor calls before() and after() (code/watching.h). What an instruction reads is kept before it runs, since
// its result may take the place of an operand; everything else is looked up when it is asked for.
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "simt/machine/limits.h"

// --- operands ---

static bool writes(const struct simt_look *l, int32_t reg)
{
    const struct code *c = look_code(l);
    for (uint32_t i = c->first_written[l->inst]; i < c->first_written[l->inst + 1]; i++)
        if (c->written[i] == (uint32_t)reg)
            return true;
    return false;
}

static struct operand *add(struct simt_look *l, enum simt_role role, int32_t reg, const char *at, const char *end)
{
    if (l->n_operands == l->room) {
        const uint32_t room = l->room ? 2 * l->room : 16;
        struct operand *grown = realloc(l->operands, room * sizeof *grown);
        l->failed |= !grown;
        if (!grown)
            return NULL;
        l->operands = grown;
        l->room = room;
    }
    struct operand *o = &l->operands[l->n_operands++];
    const struct simt_type type = simt_type_of(reg < 0 ? PTX_U64 : l->kernel->func->regs[reg].type);
    *o = (struct operand){ .said = { role, at, (uint32_t)strcspn(at, end), type, NULL, 0, (uint32_t)reg }, .reg = reg };
    return o;
}

// [reg + bytes], or [variable + bytes]: then the access itself says where its lanes go.
static void add_address(struct simt_look *l, const struct ptx_operand *p)
{
    const struct memop *m = uop_memop(l->watching.u);
    if (p->reg < 0 && !m)
        return;
    struct operand *o = add(l, SIMT_ADDRESS, p->reg, p->at + (*p->at == '['), "]");
    if (!o)
        return;
    o->said.bytes = m ? m->bytes * m->n : 0;
    if (p->reg >= 0)
        look_read(l, l->warp, p->reg, o->value);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const unsigned char *slot = m ? l->warp->regs + m->base : NULL;
        if (p->reg >= 0)
            o->value[lane] += p->bits;
        else
            o->value[lane] =
                (m->base_class == SLOT_32 ? ((const u32 *)slot)[lane] : ((const u64 *)slot)[lane]) + m->offset;
        if (p->reg >= 0 ? o->said.type.bytes == 4 : m->base_class == SLOT_32)
            o->value[lane] = (uint32_t)o->value[lane];
    }
}

static void add_register(struct simt_look *l, int32_t reg, const char *at, bool first)
{
    struct operand *o =
        add(l, first && writes(l, reg) ? SIMT_WRITTEN : SIMT_READ, reg, at + (*at == '!'), ",;|}]) \t\n");
    if (o && o->said.role == SIMT_READ)
        look_read(l, l->warp, reg, o->value);
}

static void add_operand(struct simt_look *l, const struct ptx_operand *p, bool first)
{
    for (uint32_t i = 0; i < p->count; i++)
        add_operand(l, &p->list[i], first);
    if (p->kind == OPND_MEM)
        add_address(l, p);
    if (p->kind != OPND_REG)
        return;
    add_register(l, p->reg, p->at, first);
    if (p->reg2 >= 0)
        add_register(l, p->reg2, p->at + strcspn(p->at, "|") + 1, first);
}

// The guard's name stands before the instruction, behind an '@'. The inliner's own guards have none.
static const char *guard_name(const struct ptx_inst *in)
{
    const char *at = in->at;
    while (at[-1] == ' ' || at[-1] == '\t')
        at--;
    while (!strchr("@!;{}\n", at[-1]))
        at--;
    return at[-1] == '@' || at[-1] == '!' ? at : ";";
}

// --- the executor's calls ---

static void before(struct watching *watching, const struct warp *w)
{
    struct simt_look *l = (struct simt_look *)watching;
    const struct uop *u = watching->u;
    l->block = w->block;
    if (l->warp == w && l->inst == u->inst && u != look_code(l)->uops && u[-1].inst == u->inst)
        return;  // the instruction goes on
    l->warp = w;
    l->inst = u->inst;
    l->n_operands = 0;
    const struct ptx_inst *in = look_inst(l);
    for (uint32_t i = 0; i < in->n_operands; i++)
        add_operand(l, &in->operand[i], i == 0);
    if (in->guard >= 0)
        add_register(l, in->guard, guard_name(in), false);
}

static bool after(struct watching *watching, const struct warp *w)
{
    struct simt_look *l = (struct simt_look *)watching;
    l->lanes = watching->lanes;
    for (uint32_t i = 0; i < l->n_operands; i++)
        if (l->operands[i].said.role == SIMT_WRITTEN)
            look_read(l, l->warp, l->operands[i].reg, l->operands[i].value);
    const bool on = !l->failed && l->asked->tell(l->asked->context, SIMT_STEP, l);
    l->steps[w->index]++;
    return on;
}

static void failed(struct watching *watching, const struct block *b)
{
    struct simt_look *l = (struct simt_look *)watching;
    const struct fault *f = &b->worker->fault;
    l->block = b;
    l->warp = &b->warps[f->warp];
    l->inst = f->inst;
    l->lanes = 1u << f->lane;
    l->n_operands = 0;
    watching->split = NULL;
    watching->u = NULL;
    l->asked->tell(l->asked->context, SIMT_ERROR, l);
}

bool simt_watch(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, const struct simt_watch *w,
                char error[DEV_ERROR_MAX])
{
    struct simt_look l = { .watching = { .block = w->block, .warp = w->warp, .before = before, .after = after },
                           .asked = w,
                           .simt = s,
                           .kernel = k,
                           .steps = calloc(THREADS_MAX / LANES, sizeof *l.steps) };
    const unsigned jobs = s->jobs;
    if (!l.steps)
        return error_set(error, "out of memory");
    l.watching.error = failed;
    s->watching = &l.watching;
    s->jobs = 1;
    bool ok = simt_launch(s, k, launch, error);
    s->jobs = jobs;
    s->watching = NULL;
    if (l.failed)
        ok = error_set(error, "out of memory for what the kernel does");
    free(l.steps);
    free(l.operands);
    return ok;
}
