// Loads, stores, branches, barriers: from PTX instructions to uops.
#include <string.h>

#include "decode_inst.h"

// --- memory ---

// The space and offset of [var + imm], [reg + imm] or [imm].
static void operand_variable(struct decoder *x, const struct ptx_operand *o, enum ptx_space space, struct memop *m)
{
    if (o->kind != OPND_MEM)
        decode_fail(x, o->at, "expected an address in brackets");
    if (o->count)
        decode_fail(x, o->list->at, "'%.*s' takes an address alone", (int)x->in->op.n, x->in->op.p);
    m->space = space;
    m->offset = o->bits;
    if (o->var < 0)
        return;
    const struct ptx_var *v = &x->m->vars[o->var];
    m->offset += x->address[o->var];
    if (space == SPACE_PARAM && is_local_param(x, (uint32_t)o->var)) {
        m->space = SPACE_LOCAL;
        return;
    }
    if (space != SPACE_GENERIC && v->space != space)
        decode_fail(x, o->at, "'%.*s' is in another state space", (int)v->name.n, v->name.p);
    if (space == SPACE_GENERIC)
        m->space = v->space;
}

// Its register, or a constant 0.
static void operand_base(struct decoder *x, const struct ptx_operand *o, struct memop *m)
{
    if (o->reg < 0) {
        m->base_class = SLOT_64;
        m->base = vreg_const(x, SLOT_64, 0);
        return;
    }
    uint32_t width = reg_bytes(x, o->reg);
    bool narrow = width == 4 && (m->space == SPACE_SHARED || m->space == SPACE_LOCAL || m->space == SPACE_CONST);
    if (x->f->regs[o->reg].type == PTX_PRED || (width != 8 && !narrow))
        decode_fail(x, o->at, "this address needs a 64-bit register");
    m->base = (uint32_t)o->reg;
    m->base_class = slot_for(width);
}

void operand_address(struct decoder *x, const struct ptx_operand *o, enum ptx_space space, struct memop *m)
{
    operand_variable(x, o, space, m);
    operand_base(x, o, m);
}

void decode_order(struct decoder *x, const struct parts *s, struct memop *m)
{
    bool scoped = false;
    for (uint32_t i = 1; i < s->n; i++) {
        const struct str p = s->part[i];
        const bool always = str_is(p, "volatile") || str_is(p, "mmio");
        m->order = str_is(p, "acquire")                      ? ORDER_ACQUIRE
                   : str_is(p, "release")                    ? ORDER_RELEASE
                   : str_is(p, "acq_rel") || str_is(p, "sc") ? ORDER_BOTH
                   : str_is(p, "relaxed")                    ? ORDER_RELAXED
                   : always && m->order == ORDER_WEAK        ? ORDER_VOLATILE
                                                             : m->order;
        scoped |= str_is(p, "cta") || str_is(p, "cluster") || str_is(p, "gpu") || str_is(p, "sys");
        m->scope = str_is(p, "cta")                          ? SCOPE_CTA
                   : str_is(p, "cluster")                    ? SCOPE_CLUSTER
                   : str_is(p, "gpu")                        ? SCOPE_GPU
                   : str_is(p, "sys") || (always && !scoped) ? SCOPE_SYS
                                                             : m->scope;
    }
    x->code->orders_threads |= m->order > ORDER_RELAXED;
    x->code->orders_blocks |= m->order > ORDER_RELAXED && m->scope >= SCOPE_GPU;
}

void decode_memory(struct decoder *x, const struct parts *s)
{
    static const char *const ignored[] = { "weak", "relaxed", "acquire", "release", "volatile", "cta", "gpu",
                                           "sys",  "cluster", "ca",      "cg",      "cs",       "lu",  "cv",
                                           "wb",   "wt",      "nc",      "L1",      "L2" };
    bool load = s->part[0].p[0] == 'l', strong = false;  // ld or ldu
    enum ptx_space space = SPACE_GENERIC;
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    uint32_t n = 1;
    for (uint32_t i = 1; i + 1 < s->n; i++) {
        struct str p = s->part[i];
        bool known = false;
        for (size_t k = 0; k < sizeof ignored / sizeof *ignored; k++)
            known |=
                str_is(p, ignored[k]) || (p.n > 4 && !memcmp(p.p, "L1::", 4)) || (p.n > 4 && !memcmp(p.p, "L2::", 4));
        if (str_is(p, "global"))
            space = SPACE_GLOBAL;
        else if (str_is(p, "shared") || str_is(p, "shared::cta"))
            space = SPACE_SHARED;
        else if (str_is(p, "local"))
            space = SPACE_LOCAL;
        else if (str_is(p, "const"))
            space = SPACE_CONST;
        else if (str_is(p, "param") || str_is(p, "param::entry") || str_is(p, "param::func"))
            space = SPACE_PARAM;
        else if (str_is(p, "v2") || str_is(p, "v4"))
            n = (uint32_t)(p.p[1] - '0');
        else if (!known)
            decode_unknown(x);
        strong |= str_is(p, "volatile") || str_is(p, "relaxed") || str_is(p, "acquire") || str_is(p, "mmio") ||
                  str_is(p, "cv");
    }
    uint32_t bytes = ptx_type_bytes(type);
    operand_count(x, 2, 2);
    if (!bytes || bytes > 8 || bytes * n > 16)
        decode_unknown(x);
    const struct ptx_operand *data = &x->in->operand[load ? 0 : 1], *place = &x->in->operand[load ? 1 : 0];
    if (n == 1 && data->kind == OPND_VEC && data->count == 1)
        data = data->list;  // as Triton writes
    if ((data->kind == OPND_VEC) != (n > 1) || (n > 1 && data->count != n))
        decode_fail(x, data->at, "expected %u register%s", n, n > 1 ? "s in braces" : "");
    struct memop *m = decode_alloc(x, sizeof *m);
    *m = (struct memop){
        .bytes = bytes, .n = n, .extend = is_signed(type) ? EXTEND_SIGN : EXTEND_ZERO, .index = x->code->n_memops++
    };
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_operand *o = n > 1 ? &data->list[i] : data;
        if (o->kind == OPND_SINK && load) {
            m->reg_class[i] = SLOT_NONE;
        } else if (o->kind == OPND_REG) {
            uint32_t width = reg_bytes(x, o->reg);
            if (x->f->regs[o->reg].type == PTX_PRED || width < bytes)
                decode_fail(x, o->at, "a register of type .%s cannot hold .%s", ptx_type_name(x->f->regs[o->reg].type),
                            ptx_type_name(type));
            m->reg[i] = (uint32_t)o->reg;
            m->reg_class[i] = (uint8_t)slot_for(width);
        } else if (!load &&
                   (o->kind == OPND_INT || o->kind == OPND_F32 || o->kind == OPND_F64 || o->kind == OPND_DECIMAL)) {
            m->reg[i] = vreg_const(x, slot_for(bytes), operand_literal(x, o, type));
            m->reg_class[i] = (uint8_t)slot_for(bytes);
        } else {
            decode_fail(x, o->at, "expected a register");
        }
    }
    decode_order(x, s, m);
    if (space == SPACE_PARAM && place->reg >= 0)
        space = SPACE_GENERIC;  // as addresses of parameters are: operand_value
    operand_variable(x, place, space, m);
    if (m->space == SPACE_PARAM) {
        uint32_t end = (uint32_t)(m->offset + bytes * n);
        if (!load)
            decode_fail(x, place->at, "a kernel's parameters cannot be written");
        if (m->offset > x->code->param_bytes || end > x->code->param_bytes)
            decode_fail(x, place->at, "this reads beyond the kernel's parameters");
        struct uop *u = emit(x, UOP_PARAM);
        u->mem = m;
        return;
    }
    operand_base(x, place, m);
    m->counted = load ? MEM_LD : MEM_ST;
    struct uop *u = emit(x, load ? UOP_LOAD : UOP_STORE);
    u->mem = m;
    // Another block may have written what such a load reads.
    strong |= load && decode_waits(x, place->reg);
    if (load && strong && (space == SPACE_GLOBAL || space == SPACE_GENERIC)) {
        x->code->ordered = true;
        if (m->reg_class[0] != SLOT_NONE)
            emit_poll(x, m->reg[0], m->base, NO_VREG);
    }
}

// --- control flow ---

void decode_bra(struct decoder *x, const struct parts *s)
{
    operand_count(x, 1, 1);
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        decode_unknown(x);
    const struct ptx_operand *o = &x->in->operand[0];
    if (o->kind != OPND_LABEL)
        decode_fail(x, o->at, "there is no label '%.*s'", (int)o->name.n, o->name.p);
    emit(x, UOP_BRANCH)->target = o->target;
}

void decode_leave(struct decoder *x, const struct parts *s)
{
    operand_count(x, 0, 0);
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        decode_unknown(x);
    emit(x, UOP_EXIT);
}

void decode_trap(struct decoder *x, const struct parts *s)
{
    operand_count(x, 0, 0);
    if (s->n > 1)
        decode_unknown(x);
    emit(x, UOP_TRAP);
}

// bar.red.popc.u32 d, a[, b], [!]c; bar.red.{and,or}.pred p, a[, b], [!]c
static void barrier_reduction(struct decoder *x, enum barrier_kind kind)
{
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, 3, 4);
    const uint32_t last = x->in->n_operands - 1;
    uint32_t a = operand_value(x, &o[1], PTX_U32);
    uint32_t b = last > 2 ? operand_value(x, &o[2], PTX_U32) : vreg_const(x, SLOT_32, 0);
    uint32_t c = operand_predicate(x, &o[last]);
    uint32_t d = kind == BARRIER_POPC ? operand_destination(x, &o[0], 4) : destination_predicate(x, &o[0]);
    struct uop *u = emit(x, UOP_BARRIER);
    u->a = a;
    u->b = b;
    u->c = c;
    u->d = d;
    u->target = kind;
}

// bar[.cta].sync a[, b]; bar.arrive a, b; bar.red...; barrier[.cta].sync[.aligned] a[, b]; barrier[.cta].red...
void decode_barrier(struct decoder *x, const struct parts *s)
{
    static const char *const words[] = { "sync", "arrive", "popc", "and", "or" };  // by enum barrier_kind
    int kind = -1;
    bool reduces = false;
    if (s->n == 3 && str_is(s->part[1], "warp") && str_is(s->part[2], "sync")) {
        decode_syncwarp(x);
        return;
    }
    uint32_t n = s->n - (s->n > 1 && (str_is(s->part[s->n - 1], "u32") || str_is(s->part[s->n - 1], "pred")));
    for (uint32_t i = 1; i < n; i++) {
        int word = -1;
        for (int k = 0; k < (int)(sizeof words / sizeof *words); k++)
            word = str_is(s->part[i], words[k]) ? k : word;
        if (str_is(s->part[i], "red") && !reduces)
            reduces = true;
        else if (word >= 0 && kind < 0)
            kind = word;
        else if (word >= 0 || (!str_is(s->part[i], "cta") && !(str_is(s->part[i], "aligned") && i == n - 1)))
            decode_unknown(x);
    }
    const char *result = kind == BARRIER_POPC ? "u32" : "pred";
    if (kind < 0 || reduces != (kind >= BARRIER_POPC) || reduces != (n < s->n) ||
        (reduces && !str_is(s->part[n], result)))
        decode_unknown(x);
    if (reduces) {
        barrier_reduction(x, (enum barrier_kind)kind);
        return;
    }
    operand_count(x, kind == BARRIER_ARRIVE ? 2 : 1, 2);
    uint32_t a = operand_value(x, &x->in->operand[0], PTX_U32);
    uint32_t b = x->in->n_operands > 1 ? operand_value(x, &x->in->operand[1], PTX_U32) : vreg_const(x, SLOT_32, 0);
    struct uop *u = emit(x, UOP_BARRIER);
    u->a = a;
    u->b = b;
    u->target = (uint32_t)kind;
}
