// ldmatrix, stmatrix, mma.sync and wmma: from PTX instructions to uops. Source: PTX ISA 9.7.15.
#include <stdlib.h>
#include <string.h>

#include "decode_inst.h"
#include "simt/machine/fragment.h"
#include "simt/code/mma.h"

// Appends the registers of a vector operand (or the one register) to list, each of that many bytes.
static void take_registers(struct decoder *x, const struct ptx_operand *o, uint32_t bytes, uint32_t *list, uint32_t *n,
                           uint32_t room, bool write)
{
    uint32_t count = o->kind == OPND_VEC ? o->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *r = o->kind == OPND_VEC ? &o->list[i] : o;
        if (*n == room)
            decode_fail(x, r->at, "'%.*s' takes fewer registers", (int)x->in->op.n, x->in->op.p);
        list[(*n)++] = write ? operand_destination(x, r, bytes)
                             : operand_value(x, r,
                                             bytes == 8   ? PTX_B64
                                             : bytes == 4 ? PTX_B32
                                                          : PTX_B16);
    }
}

// Fills op->mem with the address of operand o in that space.
static void matrix_address(struct decoder *x, struct warpop *op, const struct ptx_operand *o, enum ptx_space space,
                           enum mem_class class)
{
    op->has_mem = true;
    operand_address(x, o, space, &op->mem);
    op->mem.counted = (uint8_t) class;
    op->mem.index = x->code->n_memops++;
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared{::cta}}.b16 {r...}, [p]; stmatrix the other way round
void decode_ldmatrix(struct decoder *x, const struct parts *s)
{
    bool load = str_is(s->part[0], "ldmatrix"), trans = false, sync = false, aligned = false, shape = false;
    enum ptx_space space = SPACE_GENERIC;
    uint32_t n = 0;
    for (uint32_t i = 1; i + 1 < s->n; i++) {
        struct str p = s->part[i];
        sync |= str_is(p, "sync");
        aligned |= str_is(p, "aligned");
        shape |= str_is(p, "m8n8");
        if (p.n == 2 && p.p[0] == 'x' && strchr("124", p.p[1]))
            n = (uint32_t)(p.p[1] - '0');
        else if (str_is(p, "trans"))
            trans = true;
        else if (str_is(p, "shared") || str_is(p, "shared::cta"))
            space = SPACE_SHARED;
        else if (!str_is(p, "sync") && !str_is(p, "aligned") && !str_is(p, "m8n8"))
            decode_unknown(x);
    }
    if (!sync || !aligned || !shape || !n || !str_is(s->part[s->n - 1], "b16"))
        decode_unknown(x);
    operand_count(x, 2, 2);
    uint32_t regs[WARPOP_OUT], count = 0;
    const struct ptx_operand *data = &x->in->operand[!load];
    take_registers(x, data, 4, regs, &count, WARPOP_OUT, load);
    if (count != n)
        decode_fail(x, data->at, "'%.*s' takes %u registers", (int)x->in->op.n, x->in->op.p, n);
    struct warpop *op = emit_warp(x, load ? WARP_ldmatrix : WARP_stmatrix, GATHER_ALL);
    memcpy(load ? op->out : op->in, regs, n * sizeof *regs);
    op->n_out = load ? n : 0;
    op->n_in = load ? 0 : n;
    op->shape = n;
    op->op = trans;
    matrix_address(x, op, &x->in->operand[load], space, load ? MEM_LDSM : MEM_STSM);
}

// --- shapes and types ---

struct shape {
    int m, n, k;
};

static bool read_shape(struct str p, struct shape *s)
{
    char text[16], *end;
    if (p.n >= sizeof text || p.n < 6 || p.p[0] != 'm')
        return false;
    memcpy(text, p.p, p.n);
    text[p.n] = '\0';
    s->m = (int)strtol(text + 1, &end, 10);
    if (*end != 'n')
        return false;
    s->n = (int)strtol(end + 1, &end, 10);
    if (*end != 'k')
        return false;
    s->k = (int)strtol(end + 1, &end, 10);
    return *end == '\0';
}

static bool read_type(enum ptx_type t, enum mma_type *type)
{
    static const struct {
        enum ptx_type ptx;
        enum mma_type mma;
    } types[] = { { PTX_F16, MMA_F16 }, { PTX_BF16, MMA_BF16 }, { PTX_TF32, MMA_TF32 },
                  { PTX_F64, MMA_F64 }, { PTX_S8, MMA_S8 },     { PTX_U8, MMA_U8 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].ptx == t) {
            *type = types[i].mma;
            return true;
        }
    }
    return false;
}

static int bytes_of(enum mma_type t)
{
    return t == MMA_F64 ? 8 : t == MMA_TF32 ? 4 : t == MMA_F16 || t == MMA_BF16 ? 2 : 1;
}

static bool is_byte(enum mma_type t)
{
    return t == MMA_S8 || t == MMA_U8;
}

// Accumulators c and d belong to factors a and b.
static bool types_fit(enum mma_type a, enum mma_type b, enum ptx_type c, enum ptx_type d)
{
    bool same = a == b || (is_byte(a) && is_byte(b));
    if (!same || c != d)
        return false;
    return a == MMA_F64   ? d == PTX_F64
           : is_byte(a)   ? d == PTX_S32
           : a == MMA_F16 ? d == PTX_F32 || d == PTX_F16
                          : d == PTX_F32;
}

// What one tensor-core instruction computes, and how many registers its operands have.
static const struct mma *describe_mma(struct decoder *x, enum mma_type a, enum mma_type b, enum ptx_type acc,
                                      struct shape s, bool saturate)
{
    struct mma *m = decode_alloc(x, sizeof *m);
    struct fragment fa, fb, fc;
    int bytes = bytes_of(a);
    if (!fragment_of(FRAGMENT_A, s.m, s.n, s.k, bytes, 0, &fa) ||
        !fragment_of(FRAGMENT_B, s.m, s.n, s.k, bytes, 0, &fb) ||
        !fragment_of(FRAGMENT_C, s.m, s.n, s.k,
                     acc == PTX_F16   ? 2
                     : acc == PTX_F64 ? 8
                                      : 4,
                     0, &fc))
        decode_unknown(x);
    bool ampere = x->sm < 90;
    int most = a == MMA_TF32 ? 4 : 8;
    *m = (struct mma){ .a = a,
                       .b = b,
                       .half = acc == PTX_F16,
                       .saturate = saturate,
                       .rows = (uint8_t)s.m,
                       .k = (uint8_t)s.k,
                       .block = (uint8_t)(ampere && s.k > most ? most : s.k),
                       .fraction = ampere ? 24 : 25,
                       .na = fa.distinct,
                       .nb = fb.distinct,
                       .nc = fc.distinct };
    return m;
}

static void emit_mma(struct decoder *x, const struct mma *m, const uint32_t *d, const uint32_t *a, const uint32_t *b,
                     const uint32_t *c)
{
    struct warpop *op = emit_warp(x, WARP_mma, GATHER_ALL);
    op->more = m;
    op->tensor = 1;
    op->flop = m->a == MMA_S8 || m->a == MMA_U8 ? 0 : 2u * m->rows * 8 * m->k;
    memcpy(op->in, a, m->na * sizeof *op->in);
    memcpy(op->in + m->na, b, m->nb * sizeof *op->in);
    memcpy(op->in + m->na + m->nb, c, m->nc * sizeof *op->in);
    memcpy(op->out, d, m->nc * sizeof *op->out);
    op->n_in = m->na + m->nb + m->nc;
    op->n_out = m->nc;
}

// mma.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32 d, a, b, c
void decode_mma(struct decoder *x, const struct parts *s)
{
    struct shape shape = { 0 };
    enum ptx_type d, c;
    enum mma_type a, b;
    bool saturate = s->n == 11 && str_is(s->part[6], "satfinite");
    if ((s->n != 10 && !saturate) || !str_is(s->part[1], "sync") || !str_is(s->part[2], "aligned") ||
        !read_shape(s->part[3], &shape) || !str_is(s->part[4], "row") || !str_is(s->part[5], "col"))
        decode_unknown(x);
    d = ptx_type_named(s->part[s->n - 4]);
    c = ptx_type_named(s->part[s->n - 1]);
    if (!read_type(ptx_type_named(s->part[s->n - 3]), &a) || !read_type(ptx_type_named(s->part[s->n - 2]), &b) ||
        !types_fit(a, b, c, d) || (saturate && !is_byte(a)))
        decode_unknown(x);
    static const struct {
        int bytes, m, k;
    } shapes[] = { { 2, 16, 16 }, { 2, 16, 8 },  { 4, 16, 8 }, { 4, 16, 4 },  { 8, 8, 4 },  { 8, 16, 4 },
                   { 8, 16, 8 },  { 8, 16, 16 }, { 1, 8, 16 }, { 1, 16, 16 }, { 1, 16, 32 } };
    bool known = false;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        known |= shapes[i].bytes == bytes_of(a) && shapes[i].m == shape.m && shape.n == 8 && shapes[i].k == shape.k;
    if (!known)
        decode_unknown(x);
    operand_count(x, 4, 4);
    const struct ptx_operand *o = x->in->operand;
    const struct mma *m = describe_mma(x, a, b, d, shape, saturate);
    const uint32_t want[4] = { m->nc, m->na, m->nb, m->nc };
    uint32_t regs[4][WARPOP_OUT], count[4] = { 0 };
    for (int i = 0; i < 4; i++) {
        take_registers(x, &o[i], a == MMA_F64 ? 8 : 4, regs[i], &count[i], WARPOP_OUT, i == 0);
        if (count[i] != want[i])
            decode_fail(x, o[i].at, "'%.*s' takes %u registers here", (int)x->in->op.n, x->in->op.p, want[i]);
    }
    emit_mma(x, m, regs[0], regs[1], regs[2], regs[3]);
}

// --- wmma ---

static bool wmma_shape(struct shape s, int bytes)
{
    bool square = s.m == 16 && s.n == 16, tall = s.m == 32 && s.n == 8, wide = s.m == 8 && s.n == 32;
    if (bytes == 8)
        return s.m == 8 && s.n == 8 && s.k == 4;
    if (bytes == 4)
        return square && s.k == 8;
    return (square || tall || wide) && s.k == 16;
}

static enum ptx_space wmma_space(struct decoder *x, struct str name)
{
    if (str_is(name, "global"))
        return SPACE_GLOBAL;
    if (!str_is(name, "shared") && !str_is(name, "shared::cta"))
        decode_unknown(x);
    return SPACE_SHARED;
}

// wmma.load.a.sync.aligned.row.m16n16k16{.shared}.f16 {r...}, [p]{, stride}; wmma.store.d the other way round
static void wmma_access(struct decoder *x, const struct parts *s)
{
    bool load = str_is(s->part[1], "load"), spaced = s->n == 9;
    struct shape shape = { 0 };
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    enum mma_type factor = MMA_F16;
    struct str which = s->part[2];
    enum fragment_role role = str_is(which, "a") ? FRAGMENT_A : str_is(which, "b") ? FRAGMENT_B : FRAGMENT_C;
    if ((s->n != 8 && !spaced) || !str_is(s->part[3], "sync") || !str_is(s->part[4], "aligned") ||
        (!str_is(s->part[5], "row") && !str_is(s->part[5], "col")) || !read_shape(s->part[6], &shape) ||
        (role == FRAGMENT_C && !str_is(which, load ? "c" : "d")))
        decode_unknown(x);
    const enum ptx_space space = spaced ? wmma_space(x, s->part[7]) : SPACE_GENERIC;
    bool factors = role != FRAGMENT_C && load && read_type(type, &factor);
    bool accumulator = role == FRAGMENT_C && (type == PTX_F16 || type == PTX_F32 || type == PTX_F64 || type == PTX_S32);
    int bytes = factors ? bytes_of(factor) : (int)ptx_type_bytes(type);
    bool known = factors           ? wmma_shape(shape, bytes)
                 : type == PTX_F64 ? wmma_shape(shape, 8)
                                   : wmma_shape(shape, 2) || (type == PTX_F32 && wmma_shape(shape, 4));
    if ((!factors && !accumulator) || !known)
        decode_unknown(x);
    operand_count(x, 2, 3);
    const struct ptx_operand *data = &x->in->operand[!load], *place = &x->in->operand[load];
    uint32_t regs[WARPOP_OUT], n = 0;
    take_registers(x, data, bytes == 8 ? 8 : 4, regs, &n, WARPOP_OUT, load);
    struct fragment *f = decode_alloc(x, sizeof *f);
    if (!fragment_of(role, shape.m, shape.n, shape.k, bytes, (int)n, f))
        decode_fail(x, data->at, "'%.*s' takes another number of registers", (int)x->in->op.n, x->in->op.p);
    bool by_columns = str_is(s->part[5], "col");
    uint32_t pitch = x->in->n_operands == 3 ? operand_value(x, &x->in->operand[2], PTX_B32)
                                            : vreg_const(x, SLOT_32, by_columns ? f->rows : f->cols);
    struct warpop *op = emit_warp(x, load ? WARP_wmma_load : WARP_wmma_store, GATHER_ALL);
    op->more = f;
    op->op = by_columns;
    op->in[op->n_in++] = pitch;
    for (uint32_t i = 0; i < n; i++) {
        if (load)
            op->out[op->n_out++] = regs[i];
        else
            op->in[op->n_in++] = regs[i];
    }
    bool ldsm = factors && space == SPACE_SHARED && (bytes == 2 || (bytes == 1 && by_columns == f->swapped));
    matrix_address(x, op, place, space, !load ? MEM_ST : ldsm ? MEM_LDSM : MEM_LD);
}

static bool shares(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb)
{
    for (uint32_t i = 0; i < na; i++)
        for (uint32_t j = 0; j < nb; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

struct wmma {  // of wmma.mma
    struct shape shape;
    enum mma_type a, b;
    enum ptx_type d;
    bool saturate;
};

// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 (f16 factors: .dtype.ctype; others: all four types)
static struct wmma read_wmma(struct decoder *x, const struct parts *s)
{
    struct shape shape = { 0 };
    uint32_t n = s->n;
    bool saturate = str_is(s->part[n - 1], "satfinite");
    n -= saturate || str_is(s->part[n - 1], "rn");
    const uint32_t types =
        n == 12 && str_is(s->part[7], "rn") ? 8 : 7;  // where they begin; .rn may stand on either side
    enum mma_type a = MMA_F16, b = MMA_F16;
    if ((n != 9 && n != types + 4) || !str_is(s->part[2], "sync") || !str_is(s->part[3], "aligned") ||
        !read_shape(s->part[6], &shape))
        decode_unknown(x);
    for (int i = 4; i < 6; i++)
        if (!str_is(s->part[i], "row") && !str_is(s->part[i], "col"))
            decode_unknown(x);
    const enum ptx_type d = ptx_type_named(s->part[types]), c = ptx_type_named(s->part[n - 1]);
    if (n != 9 &&
        (!read_type(ptx_type_named(s->part[types + 1]), &a) || !read_type(ptx_type_named(s->part[types + 2]), &b)))
        decode_unknown(x);
    if (!types_fit(a, b, c, d) || !wmma_shape(shape, bytes_of(a)) || (saturate && !is_byte(a)))
        decode_unknown(x);
    return (struct wmma){ shape, a, b, d, saturate };
}

// Its operands are d, a, b, c.
static void wmma_mma(struct decoder *x, const struct parts *s)
{
    const struct wmma w = read_wmma(x, s);
    const struct shape shape = w.shape;
    const enum mma_type a = w.a, b = w.b;
    operand_count(x, 4, 4);
    const struct ptx_operand *o = x->in->operand;
    uint32_t regs[4][WARPOP_OUT], count[4] = { 0 }, wide = a == MMA_F64 ? 8 : 4;
    for (int i = 0; i < 4; i++)
        take_registers(x, &o[i], wide, regs[i], &count[i], WARPOP_OUT, i == 0);
    // The tensor core computes m16n8: halves along N, along M, or along N of the transposed product.
    bool transposed = shape.m == 8 && shape.n == 32;
    struct shape part = { shape.m == 8 && shape.n == 8 ? 8 : 16, 8, shape.k };
    const struct mma *m = describe_mma(x, transposed ? b : a, transposed ? a : b, w.d, part, w.saturate);
    uint32_t halves = shape.m * shape.n / (part.m * part.n), fewest = halves * m->nc;
    uint32_t need_a = transposed ? m->nb : m->na * (shape.m == 32 ? 2 : 1);
    uint32_t need_b = transposed ? m->na * halves : m->nb * (shape.m == 16 ? halves : 1);
    if (count[0] != fewest || count[3] != fewest || count[1] < need_a || count[2] < need_b)
        decode_fail(x, o[0].at, "'%.*s' takes another number of registers", (int)x->in->op.n, x->in->op.p);
    // What a half writes must not be read by the next one.
    uint32_t target[WARPOP_OUT];
    bool apart =
        halves > 1 && (shares(regs[0], fewest, regs[1], count[1]) || shares(regs[0], fewest, regs[2], count[2]) ||
                       shares(regs[0], m->nc, regs[3] + m->nc, m->nc));
    for (uint32_t i = 0; i < fewest; i++)
        target[i] = apart ? vreg_new(x, slot_for(wide)) : regs[0][i];
    const uint32_t *wa = transposed ? regs[2] : regs[1], *wb = transposed ? regs[1] : regs[2];
    for (uint32_t h = 0; h < halves; h++) {
        bool along_n = shape.m == 16;
        emit_mma(x, m, target + h * m->nc, wa + (along_n ? 0 : h * m->na), wb + (along_n ? h * m->nb : 0),
                 regs[3] + h * m->nc);
    }
    for (uint32_t i = 0; apart && i < fewest; i++)
        emit_alu(x, wide == 8 ? ALU_mov_b64 : ALU_mov_b32, regs[0][i], target[i], NO_VREG, NO_VREG);
}

void decode_wmma(struct decoder *x, const struct parts *s)
{
    if (s->n > 2 && (str_is(s->part[1], "load") || str_is(s->part[1], "store")))
        wmma_access(x, s);
    else if (s->n > 2 && str_is(s->part[1], "mma"))
        wmma_mma(x, s);
    else
        decode_unknown(x);
}
