// Intrinsics of NVPTX: what CUDA's built-in functions become in clang.
#include "irptx/select.h"

#include <stdio.h>
#include <string.h>

// Those that compute something of their operands, in their order.
static const struct {
    const char *name, *ptx;
    uint32_t width;
} plain[] = {
    { "fmin.f", "min.f32", 32 },
    { "fmin.d", "min.f64", 64 },
    { "fmax.f", "max.f32", 32 },
    { "fmax.d", "max.f64", 64 },
    { "fma.rn.f", "fma.rn.f32", 32 },
    { "fma.rn.d", "fma.rn.f64", 64 },
    { "sqrt.rn.f", "sqrt.rn.f32", 32 },
    { "sqrt.rn.d", "sqrt.rn.f64", 64 },
    { "sqrt.approx.f", "sqrt.approx.f32", 32 },
    { "rsqrt.approx.f", "rsqrt.approx.f32", 32 },
    { "rsqrt.approx.d", "rsqrt.approx.f64", 64 },
    { "ex2.approx.f", "ex2.approx.f32", 32 },
    { "ex2.approx.ftz.f", "ex2.approx.ftz.f32", 32 },
    { "lg2.approx.f", "lg2.approx.f32", 32 },
    { "lg2.approx.ftz.f", "lg2.approx.ftz.f32", 32 },
    { "sin.approx.f", "sin.approx.f32", 32 },
    { "cos.approx.f", "cos.approx.f32", 32 },
    { "rcp.rn.f", "rcp.rn.f32", 32 },
    { "rcp.approx.ftz.f", "rcp.approx.ftz.f32", 32 },
    { "rcp.rn.d", "rcp.rn.f64", 64 },
    { "div.approx.f", "div.approx.f32", 32 },
    { "div.full", "div.full.f32", 32 },
    { "mulhi.i", "mul.hi.s32", 32 },
    { "mulhi.ui", "mul.hi.u32", 32 },
    { "mulhi.ll", "mul.hi.s64", 64 },
    { "mulhi.ull", "mul.hi.u64", 64 },
    { "mul24.i", "mul24.lo.s32", 32 },
    { "mul24.ui", "mul24.lo.u32", 32 },
    { "prmt", "prmt.b32", 32 },
    { "add.rn.f", "add.rn.f32", 32 },
    { "mul.rn.f", "mul.rn.f32", 32 },
    { "add.rz.f", "add.rz.f32", 32 },
    { "mul.rz.f", "mul.rz.f32", 32 },
    { "fma.rz.f", "fma.rz.f32", 32 },
    { "saturate.f", "cvt.sat.f32.f32", 32 },
    { "f2i.rn", "cvt.rni.s32.f32", 32 },
    { "f2i.rz", "cvt.rzi.s32.f32", 32 },
};

// Those that do something, in the order of their operands.
static const struct {
    const char *name, *ptx;
} actions[] = {
    { "barrier.cta.sync.aligned.all", "bar.sync" },
    { "barrier0", "bar.sync 0" },
    { "barrier.cta.sync.aligned.count", "bar.sync" },
    { "barrier.cta.sync.all", "barrier.sync" },
    { "barrier.cta.sync.count", "barrier.sync" },
    { "barrier.cta.arrive.aligned.count", "bar.arrive" },
    { "barrier.cta.arrive.count", "barrier.arrive" },
    { "barrier.sync.cnt", "barrier.sync" },
    { "barrier.sync", "barrier.sync" },
    { "bar.warp.sync", "bar.warp.sync" },
    { "membar.cta", "membar.cta" },
    { "membar.gl", "membar.gl" },
    { "membar.sys", "membar.sys" },
    { "nanosleep", "nanosleep.u32" },
    { "exit", "exit" },
    { "fence.sc.cluster", "fence.sc.cluster" },
    { "barrier.cluster.arrive", "barrier.cluster.arrive" },
    { "barrier.cluster.wait", "barrier.cluster.wait" },
    { "barrier.cluster.arrive.aligned", "barrier.cluster.arrive.aligned" },
    { "barrier.cluster.wait.aligned", "barrier.cluster.wait.aligned" },
    { "cp.async.commit.group", "cp.async.commit_group" },
    { "cp.async.wait.all", "cp.async.wait_all" },
    { "cp.async.wait.group", "cp.async.wait_group" },
};

static struct op *act(struct code *c, const char *name, const struct operand *args, uint32_t count)
{
    struct op *op = code_emit(c, name, args, count);
    op->access.kind = ACCESS_FENCE;
    return op;
}

static void result(struct code *c, const struct ir_inst *x, uint32_t reg)
{
    struct vals out = value_list(c, 1);
    out.items[0] = val_reg(reg);
    value_set(c, x, out.items, 1);
}

static struct operand argument(struct code *c, const struct ir_inst *x, uint32_t i)
{
    if (i >= x->arg_count)
        ir_fail(c->m, "a call with too few operands");
    return value_argument(c, &x->args[i]);
}

static bool select_plain(struct code *c, const struct ir_inst *x, const char *name)
{
    struct operand args[4];
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (!strcmp(name, plain[i].name) && x->arg_count <= 4) {
            for (uint32_t k = 0; k < x->arg_count; k++)
                args[k] = argument(c, x, k);
            result(c, x, code_pure(c, plain[i].width, plain[i].ptx, args, x->arg_count));
            return true;
        }
    return false;
}

static bool select_action(struct code *c, const struct ir_inst *x, const char *name)
{
    struct operand args[4];
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (!strcmp(name, actions[i].name) && x->arg_count <= 4) {
            for (uint32_t k = 0; k < x->arg_count; k++)
                args[k] = argument(c, x, k);
            act(c, actions[i].ptx, args, x->arg_count);
            return true;
        }
    return false;
}

// shfl.sync.down.i32(mask, value, by, clamp); those that end in p have a predicate, too
static bool select_shuffle(struct code *c, const struct ir_inst *x, const char *name)
{
    char kind[8];
    int end = 0;
    if (sscanf(name, "shfl.sync.%7[a-z].%n", kind, &end) != 1 || !end)
        return false;
    const bool predicate = name[strlen(name) - 1] == 'p';
    const uint32_t d = code_reg(c, 32), p = predicate ? code_reg(c, 1) : 0;
    struct operand args[6] = { operand_def(d),    argument(c, x, 1), argument(c, x, 2),
                               argument(c, x, 3), argument(c, x, 0), operand_def(p) };
    struct op *op = act(c, code_name(c, "shfl.sync.%s.b32", kind), args, predicate ? 6 : 5);
    if (predicate)
        op->form = code_name(c, "shfl.sync.%s.b32 $0|$5, $1, $2, $3, $4;", kind);
    struct vals out = value_list(c, 2);
    out.items[0] = val_reg(d);
    out.items[1] = val_reg(p);
    value_set(c, x, out.items, predicate ? 2 : 1);
    return true;
}

// vote.any.sync(mask, predicate)
static bool select_vote(struct code *c, const struct ir_inst *x, const char *name)
{
    char kind[8];
    if (sscanf(name, "vote.%7[a-z].sync", kind) != 1)
        return false;
    const bool ballot = !strcmp(kind, "ballot");
    const uint32_t d = code_reg(c, ballot ? 32 : 1);
    const struct operand args[3] = { operand_def(d), argument(c, x, 1), argument(c, x, 0) };
    act(c, code_name(c, "vote.sync.%s.%s", kind, ballot ? "b32" : "pred"), args, 3);
    result(c, x, d);
    return true;
}

// bar.red of all threads: barrier0.popc(x), or barrier.cta.red.and.aligned.all(barrier, predicate)
static bool select_reduction(struct code *c, const struct ir_inst *x, const char *name)
{
    const bool old = !strncmp(name, "barrier0.", 9);
    char kind[8];
    if (sscanf(name, old ? "barrier0.%7[a-z]" : "barrier.cta.red.%7[a-z].aligned.all", kind) != 1)
        return false;
    struct operand p = argument(c, x, x->arg_count - 1);
    if (!(p.kind == OPERAND_REG && c->regs[p.reg].width == 1))
        p = operand_reg(PURE(c, 1, "setp.ne.s32", p, operand_int(0)));
    const bool count = !strcmp(kind, "popc");
    const uint32_t d = code_reg(c, count ? 32 : 1);
    const struct operand args[3] = { operand_def(d), old ? operand_int(0) : argument(c, x, 0), p };
    act(c, code_name(c, "bar.red.%s.%s", kind, count ? "u32" : "pred"), args, 3);
    const bool number = !count && x->type->bits == 32;
    result(c, x, number ? PURE(c, 32, "selp.b32", operand_int(1), operand_int(0), operand_reg(d)) : d);
    return true;
}

static bool select_register(struct code *c, const struct ir_inst *x, const char *name)
{
    if (strncmp(name, "read.ptx.sreg.", 14) != 0)
        return false;
    const char *sreg = name + 14;
    const bool clock = !strncmp(sreg, "clock", 5) || !strncmp(sreg, "globaltimer", 11);
    const uint32_t w = width_of(c, x->type);
    const struct operand from = operand_text(code_name(c, "%%%s", sreg));
    if (!clock) {
        result(c, x, PURE(c, w, code_name(c, "mov.u%u", w), from));
        return true;
    }
    const uint32_t d = code_reg(c, w);
    EMIT(c, code_name(c, "mov.u%u", w), operand_def(d), from);
    result(c, x, d);
    return true;
}

// ldu and ld.global.nc are loads: ldg.global.f.v4f32.p1(pointer, align)
static bool select_cached(struct code *c, const struct ir_inst *x, const char *name)
{
    if (strncmp(name, "ldg.global.", 11) != 0 && strncmp(name, "ldu.global.", 11) != 0)
        return false;
    uint32_t n;
    ir_leaves(c->m, x->type, &n);
    struct vals out = value_list(c, n);
    const struct val p = pointer_to_space(c, value_one(c, &x->args[0]), SPACE_GLOBAL);
    load_scalars(c, p, x->type, (uint32_t)value_one(c, &x->args[1]).bits, "", out.items);
    value_set(c, x, out.items, n);
    return true;
}

bool select_nvvm(struct code *c, const struct ir_inst *x, const char *name)
{
    return select_plain(c, x, name) || select_action(c, x, name) || select_register(c, x, name) ||
           select_shuffle(c, x, name) || select_vote(c, x, name) || select_reduction(c, x, name) ||
           select_cached(c, x, name);
}
