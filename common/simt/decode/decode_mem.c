// Loads and stores: from PTX instructions to uops.
#include <string.h>

#include "decode_inst.h"

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
