// A launch that is looked at, instruction by instruction: simt_watch of simt/simt.h.
//
// The executor calls before() and after() (code/watching.h). What an instruction reads is kept before it runs, since
// its result may take the place of an operand; everything else is looked up when it is asked for.
#include <stdlib.h>
#include <string.h>

#include "simt/check/check.h"
#include "simt/check/fold.h"
#include "simt/code/watching.h"
#include "state.h"

struct operand {
    struct simt_operand said;
    int32_t reg;
    uint64_t value[LANES];
};

struct simt_look {
    struct watching watching;  // the first: the executor knows no more
    const struct simt_watch *asked;
    struct simt *simt;
    const struct simt_kernel *kernel;
    const struct block *block;
    const struct warp *warp;
    uint32_t inst, lanes;
    uint64_t *steps;  // by warp: instructions that it executed
    struct operand *operands;
    uint32_t n_operands, room;
    bool failed;  // out of memory
};

static const struct code *code_of(const struct simt_look *l)
{
    return l->block->worker->grid->code;
}

static const struct ptx_inst *inst_of(const struct simt_look *l)
{
    return &l->kernel->func->insts[l->inst];
}

// --- operands ---

static void read_register(const struct simt_look *l, int32_t reg, uint64_t value[LANES])
{
    const enum ptx_type type = l->kernel->func->regs[reg].type;
    const unsigned char *slot = l->warp->regs + code_of(l)->regs[reg].at;
    const uint32_t bytes = ptx_type_bytes(type);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type == PTX_PRED)
            value[lane] = *(const u32 *)slot >> lane & 1;
        else if (bytes == 8)
            value[lane] = ((const u64 *)slot)[lane];
        else
            value[lane] = ((const u32 *)slot)[lane] & (bytes < 4 ? (1u << 8 * bytes) - 1 : ~0u);
    }
}

static bool writes(const struct simt_look *l, int32_t reg)
{
    const struct code *c = code_of(l);
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
    *o = (struct operand){ .said = { role, at, (uint32_t)strcspn(at, end), type, NULL }, .reg = reg };
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
    if (p->reg >= 0)
        read_register(l, p->reg, o->value);
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
        read_register(l, reg, o->value);
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

// --- the executor's calls ---

static void before(struct watching *watching, const struct warp *w)
{
    struct simt_look *l = (struct simt_look *)watching;
    const struct uop *u = watching->u;
    l->block = w->block;
    if (l->warp == w && l->inst == u->inst && u != code_of(l)->uops && u[-1].inst == u->inst)
        return;  // the instruction goes on
    l->warp = w;
    l->inst = u->inst;
    l->n_operands = 0;
    const struct ptx_inst *in = inst_of(l);
    for (uint32_t i = 0; i < in->n_operands; i++)
        add_operand(l, &in->operand[i], i == 0);
    if (in->guard >= 0)
        add_register(l, in->guard, in->at + strcspn(in->at, "%"), false);
}

static bool after(struct watching *watching, const struct warp *w)
{
    struct simt_look *l = (struct simt_look *)watching;
    l->lanes = watching->lanes;
    for (uint32_t i = 0; i < l->n_operands; i++)
        if (l->operands[i].said.role == SIMT_WRITTEN)
            read_register(l, l->operands[i].reg, l->operands[i].value);
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

// --- to look at ---

uint32_t simt_look_warp(const struct simt_look *l)
{
    return l->warp->index;
}

uint64_t simt_look_step(const struct simt_look *l)
{
    return l->steps[l->warp->index];
}

uint32_t simt_look_instruction(const struct simt_look *l)
{
    return l->inst;
}

uint32_t simt_look_lanes(const struct simt_look *l)
{
    return l->lanes;
}

bool simt_look_operand(const struct simt_look *l, uint32_t i, struct simt_operand *out)
{
    if (i >= l->n_operands)
        return false;
    *out = l->operands[i].said;
    out->value = l->operands[i].value;
    return true;
}

bool simt_look_register(const struct simt_look *l, const char *name, uint64_t value[32])
{
    const struct ptx_func *f = l->kernel->func;
    const struct code *c = code_of(l);
    const uint32_t now = l->watching.u ? (uint32_t)(l->watching.u - c->uops) : 0;
    for (uint32_t i = 0; i < f->n_regs; i++) {
        const struct ptx_reg *r = &f->regs[i];
        char *end;
        const bool begins = !strncmp(name, r->name.p, r->name.n);
        const char *rest = begins ? name + r->name.n : name;
        if (!begins || (r->ranged ? strtoul(rest, &end, 10) != r->number || end == rest || *end : *rest))
            continue;
        if (!l->watching.u || now < c->regs[i].from || now > c->regs[i].to)
            return false;
        read_register(l, (int32_t)i, value);
        return true;
    }
    return false;
}

uint32_t simt_look_shared_bytes(const struct simt_look *l)
{
    return l->block->worker->grid->shared_bytes;
}

bool simt_look_shared(const struct simt_look *l, uint32_t at, void *to, uint32_t bytes)
{
    const uint32_t all = simt_look_shared_bytes(l);
    if (at > all || bytes > all - at)
        return false;
    memcpy(to, l->block->worker->cluster->shared[l->block->rank] + at, bytes);
    return true;
}

bool simt_look_writer(const struct simt_look *l, uint32_t at, uint32_t *thread, uint32_t *instruction)
{
    const struct block_check *k = l->block->check;
    const unsigned shift = code_of(l)->shared_shift;
    uint32_t g = at >> shift;
    if (!k || at >= simt_look_shared_bytes(l))
        return false;
    if (fold_holds(k, shift, g))
        g = g >> (FOLD_BITS - shift) << (FOLD_BITS - shift);
    const struct strong *strong = k->strong ? &k->strong[g] : NULL;
    const uint32_t weak_at = k->granules[g].write_at == NO_MANS ? 0 : k->granules[g].write_at;
    const bool is_strong = strong && strong->write_at > weak_at;
    const struct who *who = is_strong ? &strong->writer : &k->granules[g].writer;
    *thread = who->thread;
    *instruction = who->inst;
    return (is_strong ? strong->write_at : weak_at) >= k->start;
}

bool simt_look_shared_variable(const struct simt_look *l, uint32_t i, struct simt_shared_variable *out)
{
    const struct code *c = code_of(l);
    if (i >= c->n_shared_vars)
        return false;
    const struct shared_var *v = &c->shared_vars[i];
    *out = (struct simt_shared_variable){ v->name, v->at, v->bytes ? v->bytes : simt_look_shared_bytes(l) - v->at };
    return true;
}

bool simt_look_memory(const struct simt_look *l, uint64_t address, void *to, uint32_t bytes)
{
    const unsigned char *at = memory_at(&l->simt->memory, address, bytes);
    if (at)
        memcpy(to, at, bytes);
    return at;
}

// --- who stands where ---

uint32_t simt_look_warps(const struct simt_look *l)
{
    return l->block->n_warps;
}

uint32_t simt_look_ended(const struct simt_look *l, uint32_t warp)
{
    return warp < l->block->n_warps ? l->block->warps[warp].exited : 0;
}

bool simt_look_standing(const struct simt_look *l, uint32_t warp, uint32_t i, struct simt_lanes *out)
{
    if (warp >= l->block->n_warps)
        return false;
    const struct warp *w = &l->block->warps[warp];
    const struct split *runs = w == l->warp && l->watching.split && l->watching.split->mask ? l->watching.split : NULL;
    const struct split *s = runs && !i ? runs : i - !!runs < w->n_splits ? &w->splits[i - !!runs] : NULL;
    if (!s)
        return false;
    const bool waits_here = s->barrier == WAITS_HERE || s->barrier == WAITS_WARP, in_front = !s->barrier || waits_here;
    *out = (struct simt_lanes){ .lanes = s->mask,
                                .next = code_of(l)->uops[s->pc - !in_front].inst,
                                .standing = !s->barrier                   ? SIMT_RUNS
                                            : waits_here                  ? SIMT_AWAITS_LANES
                                            : s->barrier == WAITS_CLUSTER ? SIMT_AT_CLUSTER_BARRIER
                                                                          : SIMT_AT_BARRIER };
    out->barrier = out->standing == SIMT_AT_BARRIER ? s->barrier - 1 : 0;
    return true;
}

bool simt_look_barrier(const struct simt_look *l, uint32_t i, struct simt_barrier *out)
{
    if (i >= BARRIERS)
        return false;
    *out = (struct simt_barrier){ l->block->barriers[i].arrived, l->block->barriers[i].expected };
    return true;
}
