// Loads and stores: from PTX instructions to uops.
#include "decode_inst.h"

// What the name of a load or store says.
struct access_name {
    bool load;    // ld or ldu
    bool strong;  // another thread may have written what it reads
    enum ptx_space space;
    enum ptx_type type;
    uint32_t n;  // elements
};

static bool ignored(struct str p)
{
    static const char *const words[] = { "weak", "relaxed", "acquire", "release", "volatile", "cta", "gpu",
                                         "sys",  "cluster", "ca",      "cg",      "cs",       "lu",  "cv",
                                         "wb",   "wt",      "nc",      "L1",      "L2" };
    bool known = p.n > 4 && (str_begins(p, "L1::") || str_begins(p, "L2::"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        known |= str_is(p, words[i]);
    return known;
}

static struct access_name name_of(struct decoder *x, const struct parts *s)
{
    struct access_name a = {
        .load = s->part[0].p[0] == 'l', .space = SPACE_GENERIC, .type = ptx_type_named(s->part[s->n - 1]), .n = 1
    };
    for (uint32_t i = 1; i + 1 < s->n; i++) {
        const struct str p = s->part[i];
        if (str_is(p, "global"))
            a.space = SPACE_GLOBAL;
        else if (str_is(p, "shared") || str_is(p, "shared::cta"))
            a.space = SPACE_SHARED;
        else if (str_is(p, "shared::cluster"))
            a.space = SPACE_CLUSTER;
        else if (str_is(p, "local"))
            a.space = SPACE_LOCAL;
        else if (str_is(p, "const"))
            a.space = SPACE_CONST;
        else if (str_is(p, "param") || str_is(p, "param::entry") || str_is(p, "param::func"))
            a.space = SPACE_PARAM;
        else if (str_is(p, "v2") || str_is(p, "v4"))
            a.n = (uint32_t)(p.p[1] - '0');
        else if (!ignored(p))
            decode_unknown(x);
        a.strong |= str_is(p, "volatile") || str_is(p, "relaxed") || str_is(p, "acquire") || str_is(p, "mmio") ||
                    str_is(p, "cv");
    }
    if (a.type == PTX_B128 && a.n == 1) {  // two halves: parse_registers
        a.type = PTX_B64;
        a.n = 2;
    }
    const uint32_t bytes = ptx_type_bytes(a.type);
    operand_count(x, 2, 2);
    if (!bytes || bytes > 8 || bytes * a.n > 16)
        decode_unknown(x);
    return a;
}

// Element i of m is in the register o, or is that literal.
static void take_data(struct decoder *x, const struct access_name *a, const struct ptx_operand *o, struct memop *m,
                      uint32_t i)
{
    const bool literal = o->kind == OPND_INT || o->kind == OPND_F32 || o->kind == OPND_F64 || o->kind == OPND_DECIMAL;
    if (o->kind == OPND_SINK && a->load) {
        m->reg_class[i] = SLOT_NONE;
    } else if (o->kind == OPND_REG) {
        const uint32_t width = reg_bytes(x, o->reg);
        if (x->f->regs[o->reg].type == PTX_PRED || width < m->bytes)
            decode_fail(x, o->at, "a register of type .%s cannot hold .%s", ptx_type_name(x->f->regs[o->reg].type),
                        ptx_type_name(a->type));
        m->reg[i] = (uint32_t)o->reg;
        m->reg_class[i] = (uint8_t)slot_for(width);
    } else if (!a->load && literal) {
        m->reg[i] = vreg_const(x, slot_for(m->bytes), operand_literal(x, o, a->type));
        m->reg_class[i] = (uint8_t)slot_for(m->bytes);
    } else {
        decode_fail(x, o->at, "expected a register");
    }
}

// A kernel's parameter is the same for all lanes.
static void load_param(struct decoder *x, const struct access_name *a, const struct ptx_operand *place, struct memop *m)
{
    const uint32_t end = (uint32_t)(m->offset + m->bytes * m->n);
    if (!a->load)
        decode_fail(x, place->at, "a kernel's parameters cannot be written");
    if (m->offset > x->code->param_bytes || end > x->code->param_bytes)
        decode_fail(x, place->at, "this reads beyond the kernel's parameters");
    emit(x, UOP_PARAM)->mem = m;
}

void decode_memory(struct decoder *x, const struct parts *s)
{
    if (s->n > 1 && str_is(s->part[1], "async")) {
        decode_remote_store(x, s);
        return;
    }
    const struct access_name a = name_of(x, s);
    const struct ptx_operand *data = &x->in->operand[a.load ? 0 : 1], *place = &x->in->operand[a.load ? 1 : 0];
    if (a.n == 1 && data->kind == OPND_VEC && data->count == 1)
        data = data->list;  // as Triton writes
    if ((data->kind == OPND_VEC) != (a.n > 1) || (a.n > 1 && data->count != a.n))
        decode_fail(x, data->at, "expected %u register%s", a.n, a.n > 1 ? "s in braces" : "");
    struct memop *m = decode_alloc(x, sizeof *m);
    *m = (struct memop){ .bytes = ptx_type_bytes(a.type),
                         .n = a.n,
                         .extend = is_signed(a.type) ? EXTEND_SIGN : EXTEND_ZERO,
                         .index = x->code->n_memops,
                         .leader = x->code->n_memops++ };
    for (uint32_t i = 0; i < a.n; i++)
        take_data(x, &a, a.n > 1 ? &data->list[i] : data, m, i);
    decode_order(x, s, m);
    const bool of_param = a.space == SPACE_PARAM && place->reg >= 0;  // its address is a generic one: operand_value
    const enum ptx_space space = of_param ? SPACE_GENERIC : a.space;
    operand_variable(x, place, space, m);
    if (m->space == SPACE_PARAM) {
        load_param(x, &a, place, m);
        return;
    }
    operand_base(x, place, m);
    m->counted = a.load ? MEM_LD : MEM_ST;
    m->polls = a.load && m->order != ORDER_WEAK && decode_polls(x, place->reg);
    emit(x, a.load ? UOP_LOAD : UOP_STORE)->mem = m;
    if (!a.load || (space != SPACE_GLOBAL && space != SPACE_GENERIC && space != SPACE_CLUSTER))
        return;
    if (m->order == ORDER_VOLATILE || m->order == ORDER_RELAXED)
        x->code->reads_strong |= !m->polls;
    if (a.strong || decode_waits(x, place->reg)) {  // another block may have written what it reads
        x->code->ordered |= space != SPACE_CLUSTER;
        if (m->reg_class[0] != SLOT_NONE)
            emit_poll(x, m->reg[0], m->base, NO_VREG);
    }
}
