// What the code itself shows of its atomics and vectors. Which registers hold the same for all lanes of a warp: ptxas
// then reduces an integer atomic to one of a single lane. (Registers with one definition, made of constants, parameters
// and what is the same for the whole block.) And which exchanges are mere stores: what was there before is never read.
// And which elements of a vector are loaded in vain: a compiler takes an access wider than it needs, past what was
// written.
#include "decoder.h"
#include "simt/code/warp_op.h"

struct count {
    uint32_t *defs;
    bool *used;  // by vreg: an instruction of the kernel reads it
    uint32_t times;
    bool looks_on;  // the uop in hand is none of the kernel's own
};

static void count_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct count *c = context;
    if (is_def)
        c->defs[*vreg] += c->times;
    else if (!c->looks_on)
        c->used[*vreg] = true;
}

static bool same_in_block(enum sreg s)
{
    return s == SREG_ntid_x || s == SREG_ntid_y || s == SREG_ntid_z || (s >= SREG_ctaid_x && s <= SREG_nctaid_z);
}

struct uniform {
    struct decoder *x;
    const uint32_t *defs;
    const bool *used;
    bool *is;  // by vreg
    bool sources;
};

static void all_sources(void *context, uint32_t *vreg, bool is_def)
{
    struct uniform *u = context;
    u->sources &= is_def || u->is[*vreg];
}

static void mark_defs(void *context, uint32_t *vreg, bool is_def)
{
    struct uniform *u = context;
    if (is_def && u->defs[*vreg] == 1)
        u->is[*vreg] = true;
}

static void note_atomic(const struct uniform *u, struct warpop *op)
{
    const struct vreg *value = &u->x->vregs[op->in[0]];
    if (op->kind != WARP_atomic)
        return;
    op->one_address = u->is[op->mem.base];
    op->by_one = value->constant && value->bits == 1;
    op->blind = op->op == ATOMIC_EXCH && !u->used[op->out[0]];
}

// A vector of which nothing at all is read may stand there for its accesses alone.
static void note_vector(const struct uniform *u, struct memop *m)
{
    uint8_t unread = 0;
    for (uint32_t e = 0; e < m->n; e++)
        if (m->reg_class[e] == SLOT_NONE || !u->used[m->reg[e]])
            unread |= (uint8_t)(1 << e);
    m->unread = m->order == ORDER_WEAK && unread != (1 << m->n) - 1 ? unread : 0;
}

void find_uniform(struct decoder *x)
{
    struct code *c = x->code;
    struct count count = { .defs = decode_scratch(x, (x->n_vregs + 1) * sizeof *count.defs),
                           .used = decode_scratch(x, x->n_vregs + 1) };
    struct uniform u = { .x = x, .defs = count.defs, .used = count.used, .is = decode_scratch(x, x->n_vregs + 1) };
    for (uint32_t v = 0; v < x->n_vregs; v++)
        u.is[v] = x->vregs[v].constant;
    for (uint32_t i = 0; i < c->n_uops; i++) {
        count.times = c->uops[i].guarded ? 2 : 1;
        count.looks_on = c->uops[i].kind == UOP_WARP && c->uops[i].warp->kind == WARP_poll;
        visit_operands(&c->uops[i], count_visit, &count);
    }
    // In the code's order: a definition stands before its uses, or the value comes round a loop.
    for (uint32_t i = 0; i < c->n_uops; i++) {
        struct uop *op = &c->uops[i];
        if (op->kind == UOP_WARP && op->warp->has_mem)
            note_atomic(&u, op->warp);
        if (op->kind == UOP_LOAD)
            note_vector(&u, op->mem);
        u.sources = op->kind == UOP_ALU || op->kind == UOP_PARAM ||
                    (op->kind == UOP_SREG && same_in_block((enum sreg)op->target));
        visit_operands(op, all_sources, &u);
        if (u.sources)
            visit_operands(op, mark_defs, &u);
    }
}
