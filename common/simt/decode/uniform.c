// What the code itself shows of its atomics, vectors and addresses. Which registers hold the same for all lanes of a
// warp: ptxas then reduces an integer atomic to one of a single lane. (Registers with one definition, made of
// constants, parameters and what is the same for the whole block.) Which exchanges are mere stores: what was there
// before is never read. Which elements of a vector are loaded in vain: a compiler takes an access wider than it needs,
// past what was written. And which accesses have their lanes as far apart as one before.
#include "blocks.h"
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

// Registers whose lanes lie as far apart are of one family: a register, and what comes of it by adding the same to all
// lanes. That is known within a basic block, and as long as the warp goes on.
struct families {
    struct uniform *u;
    uint32_t *of;      // by vreg: its family; one before since: none yet
    uint32_t *leader;  // by family: 1 + the number of the first access to go there; 0: there was none
    uint32_t n, since;
};

static uint32_t family_of(struct families *f, uint32_t vreg)
{
    if (f->of[vreg] < f->since)
        f->of[vreg] = f->n++;
    return f->of[vreg];
}

static void leave_family(void *context, uint32_t *vreg, bool is_def)
{
    struct families *f = context;
    if (is_def)
        f->of[*vreg] = 0;
}

// The family of what u computes; 0: one of its own.
static uint32_t family_of_sum(struct families *f, const struct uop *u)
{
    if (u->kind != UOP_ALU || u->guarded || (u->op != ALU_add_s64 && u->op != ALU_add_s32))
        return 0;
    if (f->u->is[u->b])
        return family_of(f, u->a);
    return f->u->is[u->a] ? family_of(f, u->b) : 0;
}

static void follow_leader(struct families *f, struct memop *m)
{
    uint32_t *leader = &f->leader[family_of(f, m->base)];
    if (*leader)
        m->leader = *leader - 1;
    else
        *leader = m->index + 1;
}

static void find_leaders(struct uniform *u)
{
    struct decoder *x = u->x;
    const uint32_t n = x->code->n_uops;
    struct families f = { .u = u,
                          .of = decode_scratch(x, (x->n_vregs + 1) * sizeof *f.of),
                          .leader = decode_scratch(x, (n + 1) * sizeof *f.leader),
                          .n = 1 };
    struct blocks blocks = { 0 };
    find_blocks(x, &blocks);
    for (uint32_t i = 0; i < n; i++) {
        struct uop *op = &x->code->uops[i];
        if (blocks.starts[blocks.of[i]] == i || op->kind == UOP_WARP || op->kind == UOP_BARRIER)
            f.since = f.n;
        if ((op->kind == UOP_LOAD || op->kind == UOP_STORE) && !op->guarded && op->mem->space != SPACE_LOCAL)
            follow_leader(&f, op->mem);
        const uint32_t sum = family_of_sum(&f, op);
        visit_operands(op, leave_family, &f);
        if (sum)
            f.of[op->d] = sum;
    }
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
    find_leaders(&u);
}
