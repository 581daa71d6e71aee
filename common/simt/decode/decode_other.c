// Instructions that real kernels use now and then: hints to caches, packed conversions, video instructions, movmatrix.
#include <string.h>

#include "simt/code/alu_math.h"
#include "decode_inst.h"

// Time stands still: prefetches and sleep change nothing.
void decode_hint(struct decoder *x, const struct parts *s)
{
    (void)s;
    x->first[x->in - x->f->insts] = x->code->n_uops;
}

// createpolicy...b64 d, ...: what a cache is told changes nothing here, so that any number will do.
void decode_policy(struct decoder *x, const struct parts *s)
{
    operand_count(x, 1, 4);
    if (s->n < 3 || !str_is(s->part[s->n - 1], "b64"))
        decode_unknown(x);
    emit_alu(x, ALU_mov_b64, operand_destination(x, &x->in->operand[0], 8), vreg_const(x, SLOT_64, 0), NO_VREG,
             NO_VREG);
}

// griddepcontrol.wait, .launch_dependents. Grids run one after the other here: only the checks look at the wait.
void decode_griddepcontrol(struct decoder *x, const struct parts *s)
{
    operand_count(x, 0, 0);
    const bool wait = s->n == 2 && str_is(s->part[1], "wait");
    if (!wait && !(s->n == 2 && str_is(s->part[1], "launch_dependents")))
        decode_unknown(x);
    x->code->waits_for_launch |= wait;
    if (wait)
        emit_warp(x, WARP_launch_wait, GATHER_NONE);
}

// applypriority, discard, pmevent: nothing to do. A program that reads what it discarded has no defined result.
void decode_ignored(struct decoder *x, const struct parts *s)
{
    const bool known = str_is(s->part[0], "pmevent") || s->n > 1;
    if (!known)
        decode_unknown(x);
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void decode_movmatrix(struct decoder *x, const struct parts *s)
{
    static const char *const words[] = { "movmatrix", "sync", "aligned", "m8n8", "trans", "b16" };
    operand_count(x, 2, 2);
    for (uint32_t i = 0; i < 6; i++)
        if (s->n != 6 || !str_is(s->part[i], words[i]))
            decode_unknown(x);
    uint32_t a = operand_value(x, &x->in->operand[1], PTX_B32);
    struct warpop *op = emit_warp(x, WARP_movmatrix, GATHER_ALL);
    op->in[op->n_in++] = a;
    op->out[op->n_out++] = operand_destination(x, &x->in->operand[0], 4);
}

// --- cvt.pack and 8-bit floating point ---

// cvt.pack.sat.s16.s32 d, a, b; cvt.pack.sat.u8.s32.b32 d, a, b, c: a and b clamped, b lowest; c moves up
static void pack(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
    const bool three = s->n == 6 && str_is(s->part[5], "b32");
    if ((s->n != 5 && !three) || !str_is(s->part[2], "sat") || !str_is(s->part[4], "s32"))
        decode_unknown(x);
    operand_count(x, three ? 4 : 3, three ? 4 : 3);
    const enum alu_op op = decode_op(x, "cvt.pack.%.*s%s", (int)s->part[3].n, s->part[3].p, three ? ".b32" : "");
    uint32_t a = operand_value(x, &o[1], PTX_S32), b = operand_value(x, &o[2], PTX_S32);
    uint32_t c = three ? operand_value(x, &o[3], PTX_B32) : NO_VREG;
    emit_alu(x, op, operand_destination(x, &o[0], 4), a, b, c);
}

static bool is_fp8(struct str s)
{
    return str_is(s, "e4m3x2") || str_is(s, "e5m2x2");
}

// cvt.rn.satfinite[.relu].e4m3x2.f32 d, a, b: a is the upper byte; .e4m3x2.f16x2 d, a
static void to_fp8(struct decoder *x, const struct parts *s, struct str to, bool relu)
{
    const struct ptx_operand *o = x->in->operand;
    const bool singles = str_is(s->part[s->n - 1], "f32");
    if (!singles && !str_is(s->part[s->n - 1], "f16x2"))
        decode_unknown(x);
    operand_count(x, singles ? 3 : 2, singles ? 3 : 2);
    uint32_t v[2] = { operand_value(x, &o[1], singles ? PTX_F32 : PTX_F16X2), NO_VREG };
    if (singles) {
        v[1] = operand_value(x, &o[2], PTX_F32);
    } else {
        v[1] = decode_unary(x, ALU_cvt_f32_f16, decode_unary(x, ALU_low_b32, v[0]));
        v[0] = decode_unary(x, ALU_cvt_f32_f16, decode_unary(x, ALU_high_b32, v[0]));
    }
    for (int i = 0; i < 2 && relu; i++) {
        uint32_t t = vreg_new(x, SLOT_32);
        emit_alu(x, ALU_max_nan_f32, t, v[i], vreg_const(x, SLOT_32, 0), NO_VREG);
        v[i] = t;
    }
    emit_alu(x, to.p[1] == '4' ? ALU_cvt_e4m3x2 : ALU_cvt_e5m2x2, operand_destination(x, &o[0], 2), v[0], v[1],
             NO_VREG);
}

// cvt.rn[.relu].f16x2.e4m3x2 d, a
static void from_fp8(struct decoder *x, const struct parts *s, struct str from, bool relu)
{
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, 2, 2);
    if (!str_is(s->part[s->n - 2], "f16x2"))
        decode_unknown(x);
    uint32_t a = operand_value(x, &o[1], PTX_B16), d = operand_destination(x, &o[0], 4);
    uint32_t t = relu ? vreg_new(x, SLOT_32) : d;
    emit_alu(x, from.p[1] == '4' ? ALU_cvt_f16x2_e4m3x2 : ALU_cvt_f16x2_e5m2x2, t, a, NO_VREG, NO_VREG);
    if (relu)
        emit_alu(x, ALU_relu_f16x2, d, t, NO_VREG, NO_VREG);
}

bool decode_cvt_other(struct decoder *x, const struct parts *s)
{
    if (s->n > 1 && str_is(s->part[1], "pack")) {
        pack(x, s);
        return true;
    }
    const bool to = s->n > 3 && is_fp8(s->part[s->n - 2]), from = s->n > 3 && is_fp8(s->part[s->n - 1]);
    if (!to && !from)
        return false;
    bool rn = false, satfinite = false, relu = false;
    for (uint32_t i = 1; i + 2 < s->n; i++) {
        bool *flag = str_is(s->part[i], "rn")          ? &rn
                     : str_is(s->part[i], "satfinite") ? &satfinite
                     : str_is(s->part[i], "relu")      ? &relu
                                                       : (decode_unknown(x), &rn);
        *flag = true;
    }
    if (!rn || satfinite != to || (to && from))
        decode_unknown(x);
    if (to)
        to_fp8(x, s, s->part[s->n - 2], relu);
    else
        from_fp8(x, s, s->part[s->n - 1], relu);
    return true;
}

// --- video: vabsdiff4.u32.u32.u32[.sat][.add] d, a, b, c and its like, without selectors and masks ---

static int position(struct str s, const char *const words[], int n)
{
    for (int i = 0; i < n; i++)
        if (str_is(s, words[i]))
            return i;
    return -1;
}

// u32 or s32: 0 or 1
static u32 sign_of(struct decoder *x, struct str type)
{
    if (!str_is(type, "u32") && !str_is(type, "s32"))
        decode_unknown(x);
    return type.p[0] == 's';
}

// How many numbers are in a register, by the end of the name, which is taken off it.
static u32 take_lanes(struct str *name)
{
    const char last = name->p[name->n - 1];
    const bool several = last == '2' || last == '4';
    name->n -= several;
    return several ? (u32)(last - '0') : 1;
}

// What is done with the result and c: the last of the name's first n parts, or nothing where it has one less.
static u32 second_of(struct decoder *x, const struct parts *s, uint32_t n, u32 lanes)
{
    static const char *const seconds[] = { "", "add", "min", "max" };
    const int second = s->n == n ? position(s->part[n - 1], seconds, 4) : s->n + 1 == n ? 0 : -1;
    if (second < 0 || (lanes > 1 && second > VIDEO_PLUS))
        decode_unknown(x);
    return (u32)second;
}

// d = how of a and b, and of c where there are several numbers or a second operation
static void emit_video(struct decoder *x, u32 how, bool three)
{
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, three ? 4 : 3, three ? 4 : 3);
    uint32_t a = operand_value(x, &o[1], PTX_B32), b = operand_value(x, &o[2], PTX_B32);
    uint32_t c = how >> 12 ? operand_value(x, &o[3], PTX_B32) : vreg_const(x, SLOT_32, 0);
    emit_alu(x, ALU_video, operand_destination(x, &o[0], 4), a, b, c)->target = how;
}

void decode_video(struct decoder *x, const struct parts *s)
{
    static const char *const ops[] = { "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg" };
    struct str name = s->part[0];
    const u32 lanes = take_lanes(&name);
    const int op = position(name, ops, 6);
    if (op < 0 || s->n < 4 || (op == VIDEO_AVERAGE && lanes == 1))
        decode_unknown(x);
    const bool sat = s->n > 4 && str_is(s->part[4], "sat");
    const u32 second = second_of(x, s, 5 + sat, lanes);
    const u32 how =
        VIDEO(op, lanes, sign_of(x, s->part[1]), sign_of(x, s->part[2]), sign_of(x, s->part[3]), sat, second);
    emit_video(x, how, lanes > 1 || second);
}

// vset4.u32.u32.lt[.add] d, a, b, c: 1 where the relation holds
void decode_video_set(struct decoder *x, const struct parts *s)
{
    static const char *const relations[] = { "eq", "ne", "lt", "le", "gt", "ge" };
    struct str name = s->part[0];
    const u32 lanes = take_lanes(&name);
    const int relation = s->n > 3 ? position(s->part[3], relations, 6) : -1;
    if (relation < 0)
        decode_unknown(x);
    const u32 second = second_of(x, s, 5, lanes), sa = sign_of(x, s->part[1]), sb = sign_of(x, s->part[2]);
    emit_video(x, VIDEO(VIDEO_EQ + (u32)relation, lanes, 0, sa, sb, 0, second), lanes > 1 || second);
}

// --- the stack, in local memory behind the variables. Source: PTX ISA 9.7.14 (stack manipulation) ---

#define STACK_BYTES 1024  // a thread's, as the driver sets it (cudaLimitStackSize)

static bool uses_stack(const struct ptx_inst *in)
{
    return str_begins(in->op, "alloca.") || str_begins(in->op, "stacksave.") || str_begins(in->op, "stackrestore.");
}

void decode_begin_stack(struct decoder *x)
{
    bool uses = false;
    for (uint32_t i = 0; i < x->f->n_insts; i++)
        uses |= uses_stack(&x->f->insts[i]);
    if (!uses)
        return;
    x->in = &x->f->insts[0];
    x->stack = vreg_new(x, SLOT_64) + 1;
    struct uop *u =
        emit_alu(x, ALU_mov_b64, x->stack - 1, vreg_const(x, SLOT_64, x->code->local_bytes), NO_VREG, NO_VREG);
    u->guarded = 0;
    u->guard = NO_VREG;
    x->code->local_bytes += STACK_BYTES;
}

// alloca.type d, size{, align}
static void allocate(struct decoder *x, enum ptx_type t)
{
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, 2, 3);
    const uint64_t align = x->in->n_operands == 3 ? o[2].bits : 8;
    if ((x->in->n_operands == 3 && o[2].kind != OPND_INT) || !align || align & (align - 1))
        decode_fail(x, NULL, "'%.*s': the alignment is a power of two", (int)x->in->op.n, x->in->op.p);
    const bool wide = ptx_type_bytes(t) == 8;
    uint32_t size = operand_value(x, &o[1], t), at = vreg_new(x, SLOT_64);
    if (!wide)
        size = decode_unary(x, ALU_cvt_u64_u32, size);
    emit_alu(x, ALU_add_u64, at, x->stack - 1, vreg_const(x, SLOT_64, align - 1), NO_VREG);
    emit_alu(x, ALU_and_b64, at, at, vreg_const(x, SLOT_64, -align), NO_VREG);
    emit_alu(x, ALU_add_u64, x->stack - 1, at, size, NO_VREG);
    emit_alu(x, wide ? ALU_mov_b64 : ALU_cvt_u32_u64, operand_destination(x, &o[0], wide ? 8 : 4), at, NO_VREG,
             NO_VREG);
}

// Also stacksave.type d; stackrestore.type a
void decode_stack(struct decoder *x, const struct parts *s)
{
    const enum ptx_type t = s->n == 2 ? ptx_type_named(s->part[1]) : PTX_NONE;
    const bool wide = t == PTX_U64;
    if (!wide && t != PTX_U32)
        decode_unknown(x);
    if (str_is(s->part[0], "alloca")) {
        allocate(x, t);
        return;
    }
    operand_count(x, 1, 1);
    if (str_is(s->part[0], "stacksave"))
        emit_alu(x, wide ? ALU_mov_b64 : ALU_cvt_u32_u64, operand_destination(x, &x->in->operand[0], wide ? 8 : 4),
                 x->stack - 1, NO_VREG, NO_VREG);
    else
        emit_alu(x, wide ? ALU_mov_b64 : ALU_cvt_u64_u32, x->stack - 1, operand_value(x, &x->in->operand[0], t),
                 NO_VREG, NO_VREG);
}
