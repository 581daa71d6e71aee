// What simt/simt.h lets one look at while a launch is watched: simt_look_....
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "simt/check/check.h"
#include "simt/check/fold.h"
#include "simt/code/cluster.h"
#include "simt/code/mbarrier.h"
#include "simt/code/wgmma.h"
#include "simt/exec/bulk.h"
#include "simt/exec/warp_fn.h"

void look_read(const struct simt_look *l, const struct warp *w, int32_t reg, uint64_t value[LANES])
{
    const enum ptx_type type = l->kernel->func->regs[reg].type;
    const unsigned char *slot = w->regs + look_code(l)->regs[reg].at;
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
    const int64_t number = simt_register_number(l->kernel, name);
    return number >= 0 && simt_look_value(l, l->warp->index, (uint32_t)number, value);
}

// Does the register still have its slot, where some lanes of a warp stand?
static bool lives(const struct simt_look *l, const struct warp *w, uint32_t number)
{
    const struct code *c = look_code(l);
    const struct reg_place *r = &c->regs[number];
    const bool now = w == l->warp && l->watching.u;
    const uint32_t at = now ? (uint32_t)(l->watching.u - c->uops) : 0;
    if (now)
        return r->from <= at && at <= r->to;
    for (uint32_t i = 0; i < w->n_splits; i++)
        if (r->from < w->splits[i].pc && w->splits[i].pc <= r->to + 1)
            return true;
    return false;
}

bool simt_look_value(const struct simt_look *l, uint32_t warp, uint32_t number, uint64_t value[32])
{
    if (warp >= l->block->n_warps || number >= l->kernel->func->n_regs || !lives(l, &l->block->warps[warp], number))
        return false;
    look_read(l, &l->block->warps[warp], (int32_t)number, value);
    return true;
}

bool simt_look_shared_at(const struct simt_look *l, const struct simt_operand *address, uint32_t lane, uint32_t *at)
{
    const struct str op = look_inst(l)->op;
    const uint64_t value = address->value[lane], number = value >> MEMORY_SHIFT;
    const bool named = address->role == SIMT_ADDRESS && memmem(op.p, op.n, ".shared", 7);
    if (address->role != SIMT_ADDRESS || (number ? value - WINDOW_SHARED > MEMORY_OFFSET : !named))
        return false;
    *at = cluster_offset(value);
    return cluster_rank(value) == l->block->rank && *at < simt_look_shared_bytes(l);
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
    const unsigned shift = look_code(l)->shared_shift;
    const uint32_t g = at >> shift;
    if (!k || at >= simt_look_shared_bytes(l))
        return false;
    const struct strong *strong = k->strong ? &k->strong[g] : NULL;
    const struct granule *weak = fold_granule(k, shift, g);
    const uint32_t weak_at = weak->write_at == RED_ZONE ? 0 : weak->write_at;
    const bool is_strong = strong && strong->write_at > weak_at;
    const struct who *who = is_strong ? &strong->writer : &weak->writer;
    *thread = who->thread;
    *instruction = who->inst;
    return (is_strong ? strong->write_at : weak_at) >= k->start;
}

bool simt_look_shared_variable(const struct simt_look *l, uint32_t i, struct simt_shared_variable *out)
{
    const struct code *c = look_code(l);
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
                                .next = look_code(l)->uops[s->pc - !in_front].inst,
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

// --- mbarriers, copies, products ---

bool simt_look_mbarrier(const struct simt_look *l, uint32_t at, struct simt_phase *out)
{
    unsigned char bytes[sizeof(uint64_t)];
    if (at % sizeof bytes || !simt_look_shared(l, at, bytes, sizeof bytes))
        return false;
    const struct mbarrier_state s = mbarrier_read(bytes);
    *out = (struct simt_phase){ (uint32_t)s.phase, s.expected, s.pending, s.tx };
    return s.expected && !mbarrier_is_unmade(s.expected);
}

bool simt_look_wait(const struct simt_look *l, uint32_t warp, uint32_t *at, uint32_t *parity, uint32_t *lane)
{
    const struct warp *w = warp < l->block->n_warps ? &l->block->warps[warp] : NULL;
    if (!w || !w->waits || w->exited == w->lanes)
        return false;
    *at = (uint32_t)w->wait_at;
    *parity = w->wait_parity;
    *lane = w->wait_lane;
    return true;
}

bool simt_look_copy(const struct simt_look *l, uint32_t i, struct simt_copy *out)
{
    const struct bulk *c = bulk_at(l->block, i);
    if (!c)
        return false;
    *out = (struct simt_copy){ .thread = c->thread,
                               .instruction = c->u->inst,
                               .at = cluster_offset(c->shared),
                               .bytes = c->bytes,
                               .comes = bulk_brings(c->u->warp->more),
                               .mbarrier = cluster_offset(c->barrier) };
    return true;
}

bool simt_look_groups(const struct simt_look *l, uint32_t warp, uint32_t lane, struct simt_groups *out)
{
    const struct warp *w = warp < l->block->n_warps && lane < LANES ? &l->block->warps[warp] : NULL;
    if (!w || !(w->lanes >> lane & 1))
        return false;
    copies_open(w->copies, lane, &out->copies, &out->loose_copies);
    bulk_open(l->block, warp * LANES + lane, &out->bulk, &out->loose_bulk);
    return true;
}

uint32_t simt_look_products(const struct simt_look *l, uint32_t warp)
{
    const struct wgmmas *g = warp < l->block->n_warps ? l->block->warps[warp].wgmmas : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; g && i < g->n; i++)
        n += !g->all[i].ran;
    return n;
}

uint64_t simt_look_found(const struct simt_look *l)
{
    const struct checker *c = l->block->worker->check;
    return c ? c->n_notes : 0;
}
