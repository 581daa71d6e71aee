// cp.async.bulk and cp.reduce.async.bulk: from PTX instructions to uops. Source: PTX ISA 9.7.9.25.
#include <string.h>

#include "decode_inst.h"
#include "simt/code/bulk_op.h"
#include "simt/code/warp_op.h"

// The address that o names, as a vreg; *wide: it has 64 bits.
static uint32_t address_of(struct decoder *x, const struct ptx_operand *o, enum ptx_space space, bool *wide)
{
    struct ptx_operand alone = *o;
    struct memop m = { 0 };
    alone.count = 0;  // coordinates
    operand_address(x, &alone, space, &m);
    *wide = m.base_class == SLOT_64;
    if (!m.offset)
        return m.base;
    const uint32_t d = vreg_new(x, m.base_class);
    emit_alu(x, *wide ? ALU_add_u64 : ALU_add_u32, d, m.base,
             vreg_const(x, m.base_class, *wide ? m.offset : (uint32_t)m.offset), NO_VREG);
    return d;
}

struct form {  // of an instruction
    struct bulk_op op;
    const struct ptx_operand *shared, *global, *barrier, *size, *mask;
};

static bool read_reduction(const struct parts *s, struct bulk_op *op)
{
    static const struct {
        const char *name;
        enum atomic op;
    } all[] = { { "add", ATOMIC_ADD }, { "min", ATOMIC_MIN }, { "max", ATOMIC_MAX }, { "inc", ATOMIC_INC },
                { "dec", ATOMIC_DEC }, { "and", ATOMIC_AND }, { "or", ATOMIC_OR },   { "xor", ATOMIC_XOR } };
    op->type = ptx_type_named(s->part[s->n - 1]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!parts_have(s, all[i].name))
            continue;
        op->reduce = (uint8_t)all[i].op;
        return op->tensor || ptx_type_bytes(op->type) > 1;
    }
    return false;
}

static void read_form(struct decoder *x, const struct parts *s, struct form *f)
{
    const struct ptx_operand *o = x->in->operand;
    const bool reduces = str_is(s->part[1], "reduce");
    uint32_t i = reduces ? 4 : 3, n;  // after cp{.reduce}.async.bulk
    f->op.tensor = i < s->n && str_is(s->part[i], "tensor");
    if (f->op.tensor) {
        const struct str d = i + 1 < s->n ? s->part[i + 1] : (struct str){ "", 0 };
        if (d.n != 2 || d.p[0] < '1' || d.p[0] > '5' || d.p[1] != 'd' || parts_have(s, "im2col") ||
            parts_have(s, "tile::gather4"))
            decode_unknown(x);
        f->op.rank = (uint8_t)(d.p[0] - '0');
        i += 2;
    }
    if (i + 2 >= s->n)
        decode_unknown(x);
    const bool load = !str_is(s->part[i], "global");
    const bool from_global = str_is(s->part[i + 1], "global"), own = str_is(s->part[i + 1], "shared::cta");
    const bool far = str_is(s->part[i], "shared::cluster"), to_shared = far || str_is(s->part[i], "shared::cta");
    const bool remote = far && own && !f->op.tensor;
    if (load ? !to_shared || (!from_global && !remote) || (reduces && !remote) ||
                   !parts_have(s, "mbarrier::complete_tx::bytes")
             : !own || !parts_have(s, "bulk_group"))
        decode_unknown(x);
    f->op.kind = remote ? BULK_REMOTE : load ? BULK_LOAD : reduces ? BULK_REDUCE : BULK_STORE;
    f->op.reduce = ATOMIC_EXCH;
    f->op.multicast = parts_have(s, "multicast::cluster");
    if (reduces && !read_reduction(s, &f->op))
        decode_unknown(x);
    n = (f->op.tensor ? 2u : 3u) + load + f->op.multicast;
    operand_count(x, n, n);
    f->shared = &o[!load];
    f->global = &o[load];
    f->size = f->op.tensor ? NULL : &o[2];
    f->barrier = load ? &o[f->op.tensor ? 2 : 3] : NULL;
    f->mask = f->op.multicast ? &o[n - 1] : NULL;
}

static void copy(struct decoder *x, const struct parts *s)
{
    struct form f = { .op = { 0 } };
    struct bulk_op *op = decode_alloc(x, sizeof *op);
    uint32_t in[WARPOP_IN], n = 0;
    read_form(x, s, &f);
    const enum ptx_space from = f.op.tensor ? SPACE_GENERIC : f.op.kind == BULK_REMOTE ? SPACE_SHARED : SPACE_GLOBAL;
    in[n++] = address_of(x, f.global, from, &f.op.source_wide);
    if (f.barrier) {
        f.op.barrier = (uint8_t)n;
        in[n++] = address_of(x, f.barrier, SPACE_CLUSTER, &f.op.barrier_wide);
    }
    if (f.size) {
        f.op.size = (uint8_t)n;
        in[n++] = operand_value(x, f.size, PTX_U32);
    }
    if (f.op.tensor) {
        const struct ptx_operand *list = f.global->list;
        if (f.global->count != 1 || list->kind != OPND_VEC || list->count != f.op.rank)
            decode_fail(x, f.global->at, "'%.*s' takes the tensor map and %u coordinates: [map, {x, ...}]",
                        (int)x->in->op.n, x->in->op.p, f.op.rank);
        f.op.at = (uint8_t)n;
        for (uint32_t i = 0; i < f.op.rank; i++)
            in[n++] = operand_value(x, &list->list[i], PTX_S32);
    }
    if (f.mask) {
        f.op.mask = (uint8_t)n;
        in[n++] = operand_value(x, f.mask, PTX_U16);
    }
    struct warpop *w = emit_warp(x, WARP_bulk, GATHER_NONE);
    *op = f.op;
    w->more = op;
    memcpy(w->in, in, n * sizeof *in);
    w->n_in = n;
    w->has_mem = true;
    operand_address(x, f.shared, f.barrier ? SPACE_CLUSTER : SPACE_SHARED, &w->mem);
    w->mem.counted = MEM_BULK;
    w->mem.index = x->code->n_memops++;
    x->code->orders_threads = true;
}

// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2,.v4}.type [a], b, [mbarrier]
// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b, [mbarrier]
void decode_remote_store(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    const bool reduces = str_is(s->part[0], "red");
    struct bulk_op *op = decode_alloc(x, sizeof *op);
    const uint32_t count = parts_have(s, "v2") ? 2 : parts_have(s, "v4") ? 4 : 1;
    *op = (struct bulk_op){ .kind = BULK_VALUE, .reduce = ATOMIC_EXCH };
    op->type = ptx_type_named(s->part[s->n - 1]);
    const uint32_t bytes = ptx_type_bytes(op->type);
    operand_count(x, 3, 3);
    if (!parts_have(s, "mbarrier::complete_tx::bytes") || bytes < 4 || count * bytes > 16 || (reduces && count > 1) ||
        (reduces && !read_reduction(s, op)))
        decode_unknown(x);
    if ((count > 1) != (o[1].kind == OPND_VEC) || (count > 1 && o[1].count != count))
        decode_fail(x, o[1].at, "expected %u register%s", count, count > 1 ? "s in braces" : "");
    uint32_t in[WARPOP_IN], n = 0;
    op->barrier = (uint8_t)n;
    in[n++] = address_of(x, &o[2], SPACE_CLUSTER, &op->barrier_wide);
    for (uint32_t i = 0; i < count; i++)
        in[n++] = operand_value(x, count > 1 ? &o[1].list[i] : &o[1], op->type);
    struct warpop *w = emit_warp(x, WARP_remote_store, GATHER_NONE);
    w->more = op;
    memcpy(w->in, in, n * sizeof *in);
    w->n_in = n;
    w->shape = count;
    w->has_mem = true;
    operand_address(x, &o[0], SPACE_CLUSTER, &w->mem);
    w->mem.bytes = bytes;
    w->mem.counted = MEM_BULK;
    w->mem.index = x->code->n_memops++;
    x->code->orders_threads = x->code->orders_cluster = true;
}

// cp.async.bulk..., cp.reduce.async.bulk..., cp.async.bulk.commit_group, cp.async.bulk.wait_group{.read} n
void decode_bulk(struct decoder *x, const struct parts *s)
{
    const bool commit = s->n == 4 && str_is(s->part[3], "commit_group");
    const bool wait = s->n >= 4 && str_is(s->part[3], "wait_group");
    if (s->n > 3 && str_is(s->part[3], "prefetch")) {
        decode_hint(x, s);
        return;
    }
    if (!commit && !wait) {
        copy(x, s);
        return;
    }
    operand_count(x, wait, wait);
    if (wait && (x->in->operand[0].kind != OPND_INT || s->n > 5 || (s->n == 5 && !str_is(s->part[4], "read"))))
        decode_fail(x, NULL, "cp.async.bulk.wait_group takes a number");
    struct warpop *op = emit_warp(x, wait ? WARP_bulk_wait : WARP_bulk_commit, GATHER_NONE);
    op->op = wait ? (uint32_t)x->in->operand[0].bits : 0;
    op->shape = wait && s->n == 5;  // .read
}
