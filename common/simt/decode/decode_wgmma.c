// wgmma and setmaxnreg: from PTX instructions to uops. Source: PTX ISA 9.7.16, 9.7.19.
#include <string.h>

#include "decode_inst.h"
#include "simt/code/wgmma.h"

static bool read_type(struct str p, enum mma_type *type)
{
    static const struct {
        const char *name;
        enum mma_type type;
    } types[] = { { "f16", MMA_F16 },   { "bf16", MMA_BF16 }, { "tf32", MMA_TF32 }, { "e4m3", MMA_E4M3 },
                  { "e5m2", MMA_E5M2 }, { "s8", MMA_S8 },     { "u8", MMA_U8 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (str_is(p, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

static unsigned k_of(enum mma_type t)
{
    return t == MMA_TF32 ? 8 : t == MMA_F16 || t == MMA_BF16 ? 16 : 32;
}

static bool is_byte(enum mma_type t)
{
    return t == MMA_S8 || t == MMA_U8;
}

static bool is_fp8(enum mma_type t)
{
    return t == MMA_E4M3 || t == MMA_E5M2;
}

static uint32_t number(struct str p, uint32_t *i)
{
    uint32_t n = 0;
    while (*i < p.n && p.p[*i] >= '0' && p.p[*i] <= '9' && n < 1000)
        n = 10 * n + (uint32_t)(p.p[(*i)++] - '0');
    return n;
}

// "m64n256k16"
static bool read_shape(struct str p, struct wgmma *m)
{
    uint32_t i = 4;
    if (p.n < strlen("m64n8k8") || memcmp(p.p, "m64n", 4))
        return false;
    const uint32_t n = number(p, &i);
    if (i >= p.n || p.p[i++] != 'k')
        return false;
    m->k = (uint8_t)number(p, &i);
    m->n = (uint16_t)n;
    const bool wide_steps = is_byte(m->a) && n > 24 && n % 16;  // integers: 8, 24 and multiples of 16
    return i == p.n && n >= 8 && n <= 256 && n % 8 == 0 && !wide_steps && m->k == k_of(m->a);
}

static bool types_fit(const struct wgmma *m, enum ptx_type d)
{
    if (is_byte(m->a) || is_byte(m->b))
        return is_byte(m->a) && is_byte(m->b) && d == PTX_S32;
    if (!is_fp8(m->a) || !is_fp8(m->b))
        if (m->a != m->b)
            return false;
    return d == PTX_F32 || (d == PTX_F16 && (m->a == MMA_F16 || is_fp8(m->a)));
}

static int64_t immediate(struct decoder *x, uint32_t i, int64_t a, int64_t b)
{
    const struct ptx_operand *o = &x->in->operand[i];
    if (o->kind != OPND_INT || ((int64_t)o->bits != a && (int64_t)o->bits != b))
        decode_fail(x, o->at, "'%.*s' takes the literal %lld or %lld here", (int)x->in->op.n, x->in->op.p, (long long)a,
                    (long long)b);
    return (int64_t)o->bits;
}

static uint32_t *take(struct decoder *x, const struct ptx_operand *o, uint32_t n, bool write)
{
    if (o->kind != OPND_VEC || o->count != n)
        decode_fail(x, o->at, "'%.*s' takes %u registers here", (int)x->in->op.n, x->in->op.p, n);
    uint32_t *list = decode_alloc(x, n * sizeof *list);
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_operand *r = &o->list[i];
        list[i] = write ? operand_destination(x, r, 4)
                        : operand_value(x, r, r->kind == OPND_REG ? x->f->regs[r->reg].type : PTX_B32);
    }
    return list;
}

static void read_scales(struct decoder *x, struct wgmma *m)
{
    const struct ptx_operand *d = &x->in->operand[3];
    const bool integers = is_byte(m->a), halves = m->a == MMA_F16 || m->a == MMA_BF16;
    uint32_t n = 4;  // operands; what has floats has two scales more, and halves in shared memory may be transposed
    if (halves)
        n = m->a_in_registers ? 7 : 8;
    else if (!integers)
        n = 6;
    operand_count(x, n, n);
    m->scale_d = d->kind != OPND_INT ? WGMMA_ADD_IF : immediate(x, 3, 0, 1) ? WGMMA_ADD : WGMMA_OVERWRITE;
    if (integers)
        return;
    m->negate = immediate(x, 4, 1, -1) * immediate(x, 5, 1, -1) < 0;
    if (halves && !m->a_in_registers)
        m->trans_a = immediate(x, 6, 0, 1);
    if (halves)
        m->trans_b = immediate(x, n - 1, 0, 1);
}

// wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {d...}, a, b, scale-d, imm-scale-a, imm-scale-b, imm-trans-a,
// imm-trans-b
static void mma_async(struct decoder *x, const struct parts *s)
{
    struct wgmma *m = decode_alloc(x, sizeof *m);
    const bool saturate = s->n == 9 && str_is(s->part[5], "satfinite");
    const uint32_t at = saturate ? 6 : 5;
    if (s->n != at + 3 || !read_type(s->part[at + 1], &m->a) || !read_type(s->part[at + 2], &m->b) ||
        !read_shape(s->part[4], m) || !types_fit(m, ptx_type_named(s->part[at])) || (saturate && !is_byte(m->a)))
        decode_unknown(x);
    operand_count(x, 4, 8);
    const struct ptx_operand *o = x->in->operand;
    m->half = ptx_type_named(s->part[at]) == PTX_F16;
    m->saturate = saturate;
    m->a_in_registers = o[1].kind == OPND_VEC;
    read_scales(x, m);
    const uint32_t n = m->n / (m->half ? 4u : 2u);
    uint32_t *d = take(x, &o[0], n, true), *a = m->a_in_registers ? take(x, &o[1], 4, false) : NULL;
    const uint32_t desc_a = a ? 0 : operand_value(x, &o[1], PTX_B64), desc_b = operand_value(x, &o[2], PTX_B64);
    const uint32_t scale = m->scale_d == WGMMA_ADD_IF ? operand_predicate(x, &o[3]) : 0;
    struct warpop *op = emit_warp(x, WARP_wgmma, GATHER_ALL);
    op->more = m;
    op->tensor = 1;
    op->flop = is_byte(m->a) ? 0 : 2u * 16 * m->n * m->k;  // of a warp
    op->in[op->n_in++] = desc_b;
    for (uint32_t i = 0; i < (a ? 4u : 1u); i++)
        op->in[op->n_in++] = a ? a[i] : desc_a;
    if (m->scale_d == WGMMA_ADD_IF)
        op->in[op->n_in++] = scale;
    op->wide_out = d;
    op->n_wide_out = n;
    if (m->scale_d != WGMMA_OVERWRITE) {
        op->wide_in = decode_alloc(x, n * sizeof *d);
        memcpy(op->wide_in, d, n * sizeof *d);
        op->n_wide_in = n;
    }
}

// wgmma.fence, wgmma.commit_group, wgmma.wait_group n, wgmma.mma_async; all .sync.aligned
void decode_wgmma(struct decoder *x, const struct parts *s)
{
    if (s->n < 4 || !str_is(s->part[2], "sync") || !str_is(s->part[3], "aligned"))
        decode_unknown(x);
    if (str_is(s->part[1], "mma_async")) {
        mma_async(x, s);
        return;
    }
    const bool wait = str_is(s->part[1], "wait_group"), commit = str_is(s->part[1], "commit_group");
    if (s->n != 4 || (!wait && !commit && !str_is(s->part[1], "fence")))
        decode_unknown(x);
    operand_count(x, wait, wait);
    if (wait && x->in->operand[0].kind != OPND_INT)
        decode_fail(x, x->in->operand[0].at, "wgmma.wait_group takes a number");
    struct warpop *op = emit_warp(x,
                                  wait     ? WARP_wgmma_wait
                                  : commit ? WARP_wgmma_commit
                                           : WARP_wgmma_fence,
                                  GATHER_ALL);
    op->op = wait ? (uint32_t)x->in->operand[0].bits : 0;
}

#define REGISTERS 65536  // of a multiprocessor

// Registers of a thread when the kernel begins, if it says so: ptxas then takes all that .maxnreg allows, or that
// leaves room for .minnctapersm blocks of .maxntid threads. 0: it does not, and ptxas ignores setmaxnreg (C7508).
// Source: PTX ISA 9.7.19 (setmaxnreg "requires that the kernel has been launched with a valid value of maximum number
// of per-thread registers"), and what ptxas 13.0 says of 20 kernels. Registers are given out by 8 a thread, to four
// warps at a time.
static uint32_t entry_registers(const struct ptx_func *f)
{
    const uint64_t threads = (uint64_t)(f->max_threads + 127) / 128 * 128 * f->min_blocks;
    const uint32_t share = threads ? (uint32_t)(REGISTERS / threads / 8 * 8) : 0;
    const uint32_t most = f->max_regs && (!share || f->max_regs < share) ? f->max_regs : share;
    return most < 255 ? (most + 7) / 8 * 8 : 256;
}

// setmaxnreg.inc.sync.aligned.u32 n
void decode_setmaxnreg(struct decoder *x, const struct parts *s)
{
    const bool more = s->n > 1 && str_is(s->part[1], "inc");
    operand_count(x, 1, 1);
    const struct ptx_operand *o = &x->in->operand[0];
    if (s->n != 5 || (!more && !str_is(s->part[1], "dec")) || !str_is(s->part[2], "sync") ||
        !str_is(s->part[3], "aligned") || !str_is(s->part[4], "u32"))
        decode_unknown(x);
    if (o->kind != OPND_INT || o->bits < 24 || o->bits > 256 || o->bits % 8)
        decode_fail(x, o->at, "setmaxnreg takes a multiple of 8 from 24 to 256");
    struct warpop *op = emit_warp(x, WARP_setmaxnreg, GATHER_ALL);
    op->op = more;
    op->shape = (uint32_t)o->bits;
    x->code->entry_regs = entry_registers(x->f);
}

// --- after the whole kernel: what is under way ---

struct accumulators {
    bool *is;  // by vreg
    uint32_t *list, n;
};

static void find_accumulators(struct decoder *x, struct accumulators *a)
{
    const struct code *c = x->code;
    a->is = decode_scratch(x, x->n_vregs + 1);
    a->list = decode_scratch(x, (x->n_vregs + 1) * sizeof *a->list);
    for (uint32_t i = 0; i < c->n_uops; i++) {
        const struct warpop *op = c->uops[i].kind == UOP_WARP ? c->uops[i].warp : NULL;
        for (uint32_t k = 0; op && op->kind == WARP_wgmma && k < op->n_wide_out; k++) {
            if (!a->is[op->wide_out[k]])
                a->list[a->n++] = op->wide_out[k];
            a->is[op->wide_out[k]] = true;
        }
    }
}

// Goes on from uop i, with products under way. Those places that were not seen before are added to the list.
static void follow(const struct code *c, uint32_t i, bool *seen, uint32_t *list, uint32_t *n)
{
    const struct uop *u = &c->uops[i];
    const bool falls = u->guarded || (u->kind != UOP_BRANCH && u->kind != UOP_EXIT);
    if (u->kind == UOP_BRANCH && !seen[u->target]) {
        seen[u->target] = true;
        list[(*n)++] = u->target;
    }
    if (falls && i + 1 < c->n_uops && !seen[i + 1]) {
        seen[i + 1] = true;
        list[(*n)++] = i + 1;
    }
}

// Does the code move accumulators while products are under way?
static bool moves_accumulators(struct decoder *x, const struct accumulators *a)
{
    const struct code *c = x->code;
    bool *seen = decode_scratch(x, c->n_uops + 1);
    uint32_t *list = decode_scratch(x, (c->n_uops + 1) * sizeof *list), n = 0;
    for (uint32_t i = 0; i < c->n_uops; i++)
        if (c->uops[i].kind == UOP_WARP && c->uops[i].warp->kind == WARP_wgmma)
            follow(c, i, seen, list, &n);
    while (n) {
        const uint32_t i = list[--n];
        const struct uop *u = &c->uops[i];
        if (u->kind == UOP_ALU && u->op == ALU_mov_b32 && a->is[u->d] && a->is[u->a])
            return true;
        const bool over = u->kind == UOP_WARP && u->warp->kind == WARP_wgmma_wait && !u->warp->op;
        if (!over)
            follow(c, i, seen, list, &n);
    }
    return false;
}

void finish_wgmma(struct decoder *x)
{
    struct accumulators a = { .n = 0 };
    const struct code *c = x->code;
    find_accumulators(x, &a);
    if (!a.n)
        return;
    x->code->wgmma_now = moves_accumulators(x, &a);
    if (x->gap)
        find_flights(x, a.is);
    for (uint32_t i = 0; i < c->n_uops; i++) {  // registers stay in place until they have been written
        struct warpop *op = c->uops[i].kind == UOP_WARP ? c->uops[i].warp : NULL;
        if (!op || op->kind != WARP_wgmma_wait)
            continue;
        op->wide_in = decode_alloc(x, a.n * sizeof *a.list);
        memcpy(op->wide_in, a.list, a.n * sizeof *a.list);
        op->n_wide_in = a.n;
    }
}
