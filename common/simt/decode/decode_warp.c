// Shuffles, votes, atomics, asynchronous copies, fences: from PTX instructions to uops. Source: PTX ISA 9.7.9, 9.7.13,
// 9.7.14.
#include <string.h>

#include "decode_inst.h"
#include "simt/code/warp.h"

static bool has(const struct parts *s, const char *word)
{
    for (uint32_t i = 1; i < s->n; i++)
        if (str_is(s->part[i], word))
            return true;
    return false;
}

// The place of the one of words that s has, or -1.
static int which(const struct parts *s, const char *const words[], int n)
{
    for (int i = 0; i < n; i++)
        if (has(s, words[i]))
            return i;
    return -1;
}
#define WHICH(s, ...)                                                                                                  \
    which(s, (const char *const[]){ __VA_ARGS__ }, sizeof(const char *[]){ __VA_ARGS__ } / sizeof(char *))

static void add_in(struct warpop *op, uint32_t vreg)
{
    op->in[op->n_in++] = vreg;
}

// d or d|p
static void add_outs(struct decoder *x, struct warpop *op, const struct ptx_operand *o, uint32_t bytes)
{
    struct ptx_operand d = *o;
    d.reg2 = -1;
    op->out[op->n_out++] = operand_destination(x, &d, bytes);
    if (o->reg2 < 0)
        return;
    if (x->f->regs[o->reg2].type != PTX_PRED)
        decode_fail(x, o->at, "expected a predicate register after the '|'");
    op->out[op->n_out++] = (uint32_t)o->reg2;
}

// Operands are read before the uop that uses them is emitted: reading may emit uops of its own.
#define READ_MAX 4

struct values {
    uint32_t v[READ_MAX], n;
};

static void read_value(struct decoder *x, struct values *list, uint32_t operand, enum ptx_type t)
{
    list->v[list->n++] = operand_value(x, &x->in->operand[operand], t);
}

static void add_values(struct warpop *op, const struct values *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        add_in(op, list->v[i]);
}

// shfl.sync.mode.b32 d{|p}, a, b, c, members
void decode_shfl(struct decoder *x, const struct parts *s)
{
    int mode = WHICH(s, "up", "down", "bfly", "idx");
    struct values in = { .n = 0 };
    if (s->n != 4 || !str_is(s->part[1], "sync") || mode < 0 || !str_is(s->part[3], "b32"))
        decode_unknown(x);
    operand_count(x, 5, 5);
    for (uint32_t i = 1; i < 5; i++)
        read_value(x, &in, i, PTX_B32);
    struct warpop *op = emit_warp(x, warp_shuffle, GATHER_MEMBERS);
    op->op = (uint32_t)mode;
    add_values(op, &in);
    add_outs(x, op, &x->in->operand[0], 4);
}

// vote.sync.{all,any,uni}.pred p, {!}a, members; vote.sync.ballot.b32 d, {!}a, members
void decode_vote(struct decoder *x, const struct parts *s)
{
    int mode = WHICH(s, "all", "any", "uni", "ballot");
    if (s->n != 4 || !str_is(s->part[1], "sync") || mode < 0 ||
        !str_is(s->part[3], mode == VOTE_BALLOT ? "b32" : "pred"))
        decode_unknown(x);
    operand_count(x, 3, 3);
    uint32_t a = operand_predicate(x, &x->in->operand[1]), members = operand_value(x, &x->in->operand[2], PTX_B32);
    struct warpop *op = emit_warp(x, warp_vote, GATHER_MEMBERS);
    op->op = (uint32_t)mode;
    add_in(op, a);
    add_in(op, members);
    if (mode == VOTE_BALLOT)
        add_outs(x, op, &x->in->operand[0], 4);
    else
        op->out[op->n_out++] = destination_predicate(x, &x->in->operand[0]);
}

// match.any.sync.b32 d, a, members; match.all.sync.b32 d{|p}, a, members
void decode_match(struct decoder *x, const struct parts *s)
{
    struct values in = { .n = 0 };
    bool wide = s->n == 4 && str_is(s->part[3], "b64"), all = s->n == 4 && str_is(s->part[1], "all");
    if (s->n != 4 || (!all && !str_is(s->part[1], "any")) || !str_is(s->part[2], "sync") ||
        (!wide && !str_is(s->part[3], "b32")))
        decode_unknown(x);
    operand_count(x, 3, 3);
    read_value(x, &in, 1, wide ? PTX_B64 : PTX_B32);
    read_value(x, &in, 2, PTX_B32);
    struct warpop *op = emit_warp(x, warp_match, GATHER_MEMBERS);
    op->op = all;
    op->type = wide ? 8 : 4;
    add_values(op, &in);
    add_outs(x, op, &x->in->operand[0], 4);
}

// redux.sync.op.type d, a, members
void decode_redux(struct decoder *x, const struct parts *s)
{
    struct values in = { .n = 0 };
    int mode = WHICH(s, "add", "min", "max", "and", "or", "xor");
    if (s->n != 4 || !str_is(s->part[1], "sync") || mode < 0 ||
        !(mode < REDUX_AND ? has(s, "u32") || has(s, "s32") : has(s, "b32")))
        decode_unknown(x);
    operand_count(x, 3, 3);
    read_value(x, &in, 1, PTX_B32);
    read_value(x, &in, 2, PTX_B32);
    struct warpop *op = emit_warp(x, warp_redux, GATHER_MEMBERS);
    op->op = (uint32_t)mode;
    op->type = has(s, "s32");
    add_values(op, &in);
    add_outs(x, op, &x->in->operand[0], 4);
}

// elect.sync d|p, members
void decode_elect(struct decoder *x, const struct parts *s)
{
    struct values in = { .n = 0 };
    operand_count(x, 2, 2);
    if (s->n != 2 || !str_is(s->part[1], "sync") || x->in->operand[0].reg2 < 0)
        decode_unknown(x);
    read_value(x, &in, 1, PTX_B32);
    struct warpop *op = emit_warp(x, warp_elect, GATHER_MEMBERS);
    add_values(op, &in);
    add_outs(x, op, &x->in->operand[0], 4);
}

void decode_activemask(struct decoder *x, const struct parts *s)
{
    operand_count(x, 1, 1);
    if (s->n != 2 || !str_is(s->part[1], "b32"))
        decode_unknown(x);
    struct warpop *op = emit_warp(x, warp_activemask, GATHER_NONE);
    add_outs(x, op, &x->in->operand[0], 4);
}

// bar.warp.sync members
void decode_syncwarp(struct decoder *x)
{
    struct values in = { .n = 0 };
    operand_count(x, 1, 1);
    read_value(x, &in, 0, PTX_B32);
    add_values(emit_warp(x, warp_nothing, GATHER_SYNC), &in);
}

// --- memory ---

static void set_address(struct decoder *x, struct warpop *op, const struct ptx_operand *o, enum ptx_space space,
                        uint32_t bytes, enum mem_class class)
{
    op->has_mem = true;
    operand_address(x, o, space, &op->mem);
    op->mem.bytes = bytes;
    op->mem.counted = (uint8_t) class;
    op->mem.index = x->code->n_memops++;
}

static enum ptx_space space_of(const struct parts *s)
{
    return has(s, "global")                            ? SPACE_GLOBAL
           : has(s, "shared") || has(s, "shared::cta") ? SPACE_SHARED
           : has(s, "shared::cluster")                 ? SPACE_CLUSTER
                                                       : SPACE_GENERIC;
}

void emit_poll(struct decoder *x, uint32_t result, uint32_t address, uint32_t operand)
{
    const uint32_t in[] = { result, address, operand };
    struct warpop *op = emit_warp(x, warp_poll, GATHER_NONE);
    op->op = x->code->n_polls++;
    op->shape = x->vregs[result].slot == SLOT_PRED;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        if (in[i] == NO_VREG)
            continue;
        op->type |= (uint32_t)x->vregs[in[i]].slot << 2 * op->n_in;
        add_in(op, in[i]);
    }
}

// atom{.sem}{.scope}{.space}.op{.noftz}.type d, [a], b{, c}; red the same without d
void decode_atomic(struct decoder *x, const struct parts *s)
{
    static const char *const words[] = { "relaxed",
                                         "acquire",
                                         "release",
                                         "acq_rel",
                                         "cta",
                                         "gpu",
                                         "sys",
                                         "cluster",
                                         "global",
                                         "shared",
                                         "shared::cta",
                                         "noftz",
                                         "add",
                                         "min",
                                         "max",
                                         "and",
                                         "or",
                                         "xor",
                                         "exch",
                                         "cas",
                                         "inc",
                                         "dec",
                                         "shared::cluster" };
    if (s->n > 1 && str_is(s->part[1], "async")) {
        decode_remote_store(x, s);
        return;
    }
    bool atom = str_is(s->part[0], "atom");
    int mode = WHICH(s, "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec");
    enum ptx_type type = ptx_type_named(s->part[s->n - 1]);
    uint32_t bytes = ptx_type_bytes(type);
    for (uint32_t i = 1; i + 1 < s->n; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            known |= str_is(s->part[i], words[k]);
        if (!known)
            decode_unknown(x);
    }
    bool whole = is_integer(type) && bytes >= 4, bits = type == PTX_B32 || type == PTX_B64;
    bool real = type >= PTX_F16 && type <= PTX_F64 && type != PTX_TF32;
    bool fits = mode == ATOMIC_ADD                         ? whole || real
                : mode == ATOMIC_MIN || mode == ATOMIC_MAX ? whole
                : mode == ATOMIC_INC || mode == ATOMIC_DEC ? type == PTX_U32
                : mode == ATOMIC_CAS                       ? bits || type == PTX_B16
                : mode >= 0                                ? bits
                                                           : false;
    if (!fits || (!atom && mode >= ATOMIC_EXCH && mode <= ATOMIC_CAS))
        decode_unknown(x);
    uint32_t n = (atom ? 3u : 2u) + (mode == ATOMIC_CAS);
    operand_count(x, n, n);
    struct values in = { .n = 0 };
    for (uint32_t i = atom ? 2 : 1; i < n; i++)
        read_value(x, &in, i, type);
    enum ptx_space space = space_of(s);
    struct warpop *op = emit_warp(x, warp_atomic, GATHER_NONE);
    op->op = (uint32_t)mode;
    op->type = type;
    add_values(op, &in);
    if (atom)
        add_outs(x, op, &x->in->operand[0], bytes);
    set_address(x, op, &x->in->operand[atom], space, bytes, MEM_ATOM);
    op->mem.order = ORDER_RELAXED;
    op->mem.scope = SCOPE_GPU;
    decode_order(x, s, &op->mem);
    x->code->ordered |= space != SPACE_SHARED && space != SPACE_CLUSTER && (atom || real);
    if (atom && space != SPACE_SHARED)
        emit_poll(x, op->out[0], op->mem.base, in.v[0]);
}

// cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [p]: an arrival when the thread's copies have come. Here they come at
// once; without .noinc the arrival that is pending was added just for this, and nothing is left to do.
static void copies_arrive(struct decoder *x, const struct parts *s)
{
    bool noinc = has(s, "noinc");
    uint32_t spaces = has(s, "shared") + has(s, "shared::cta");
    operand_count(x, 1, 1);
    if (s->n != 5 + noinc + spaces || !str_is(s->part[3], "arrive") || !str_is(s->part[s->n - 1], "b64"))
        decode_unknown(x);
    emit_warp(x, warp_wait, GATHER_NONE)->shape = true;
    if (!noinc)
        return;
    struct warpop *op = emit_warp(x, warp_mbarrier, GATHER_NONE);
    op->op = MBARRIER_ARRIVE;
    set_address(x, op, &x->in->operand[0], SPACE_SHARED, 8, MEM_ATOM);
    op->mem.order = ORDER_RELEASE;
    x->code->orders_threads = true;
}

// cp.async.ca.shared.global [to], [from], 4|8|16{, bytes}; cp.async.commit_group; cp.async.wait_group n; .wait_all
void decode_cp(struct decoder *x, const struct parts *s)
{
    if (s->n > 3 && (str_is(s->part[2], "bulk") || str_is(s->part[1], "reduce"))) {
        decode_bulk(x, s);
        return;
    }
    if (s->n < 3 || !str_is(s->part[1], "async"))
        decode_unknown(x);
    const struct ptx_operand *o = x->in->operand;
    if (str_is(s->part[2], "commit_group") && s->n == 3) {
        operand_count(x, 0, 0);
        emit_warp(x, warp_commit, GATHER_NONE);
        return;
    }
    bool group = str_is(s->part[2], "wait_group"), all = str_is(s->part[2], "wait_all");
    if ((group || all) && s->n == 3) {
        operand_count(x, group, group);
        if (group && o[0].kind != OPND_INT)
            decode_fail(x, o[0].at, "cp.async.wait_group takes a number");
        struct warpop *op = emit_warp(x, warp_wait, GATHER_NONE);
        op->op = group ? (uint32_t)o[0].bits : 0;
        op->shape = all;
        return;
    }
    if (str_is(s->part[2], "mbarrier")) {
        copies_arrive(x, s);
        return;
    }
    bool bypass = str_is(s->part[2], "cg");
    if ((!bypass && !str_is(s->part[2], "ca")) || s->n < 5 ||
        (!str_is(s->part[3], "shared") && !str_is(s->part[3], "shared::cta")) || !str_is(s->part[4], "global"))
        decode_unknown(x);
    for (uint32_t i = 5; i < s->n; i++)
        if (s->part[i].n < 4 || memcmp(s->part[i].p, "L2::", 4))
            decode_unknown(x);
    operand_count(x, 3, 4);
    uint64_t bytes = o[2].bits;
    if (o[2].kind != OPND_INT || !(bytes == 16 || (!bypass && (bytes == 4 || bytes == 8))))
        decode_fail(x, o[2].at, bypass ? "cp.async.cg copies 16 bytes" : "cp.async.ca copies 4, 8 or 16 bytes");
    struct memop from;
    operand_address(x, &o[1], SPACE_GLOBAL, &from);
    const bool direct = o[1].reg >= 0 && from.offset <= INT32_MAX;
    uint32_t place = from.base;
    if (!direct) {  // a variable, or a step back
        place = vreg_new(x, SLOT_64);
        emit_alu(x, ALU_add_u64, place, from.base, vreg_const(x, SLOT_64, from.offset), NO_VREG);
    }
    struct values in = { .n = 0 };
    if (x->in->n_operands == 4)
        read_value(x, &in, 3, PTX_B32);
    struct warpop *op = emit_warp(x, warp_copy, GATHER_NONE);
    op->op = bypass;
    op->shape = direct ? (uint32_t)from.offset : 0;
    add_in(op, place);
    add_values(op, &in);
    set_address(x, op, &o[0], SPACE_SHARED, (uint32_t)bytes, MEM_LDGSTS);
}

// mbarrier.init.shared.b64 [p], count and the rest of the family. Only arrivals and bytes go to other blocks, too.
void decode_mbarrier(struct decoder *x, const struct parts *s)
{
    if (s->n < 3 || !str_is(s->part[s->n - 1], "b64"))
        decode_unknown(x);
    static const char *const words[] = {
        "shared",  "shared::cta", "b64", "noComplete", "parity",    "acquire",
        "release", "relaxed",     "cta", "cluster",    "expect_tx", "shared::cluster"
    };
    const bool remote = has(s, "shared::cluster");
    for (uint32_t i = 2; i < s->n; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            known |= str_is(s->part[i], words[k]);
        if (!known)
            decode_unknown(x);
    }
    struct str what = s->part[1];
    bool parity = has(s, "parity"), test = str_is(what, "test_wait") || str_is(what, "try_wait");
    enum mbarrier kind = str_is(what, "init")            ? MBARRIER_INIT
                         : str_is(what, "inval")         ? MBARRIER_INVAL
                         : str_is(what, "arrive")        ? MBARRIER_ARRIVE
                         : str_is(what, "arrive_drop")   ? MBARRIER_ARRIVE_DROP
                         : str_is(what, "expect_tx")     ? MBARRIER_EXPECT_TX
                         : str_is(what, "complete_tx")   ? MBARRIER_COMPLETE_TX
                         : test && parity                ? MBARRIER_TEST_PARITY
                         : test                          ? MBARRIER_TEST
                         : str_is(what, "pending_count") ? MBARRIER_COUNT
                                                         : (decode_unknown(x), MBARRIER_COUNT);
    bool arrives = kind == MBARRIER_ARRIVE || kind == MBARRIER_ARRIVE_DROP;
    bool bytes = kind == MBARRIER_EXPECT_TX || kind == MBARRIER_COMPLETE_TX, expects = arrives && has(s, "expect_tx");
    bool first = kind == MBARRIER_INIT || kind == MBARRIER_INVAL || bytes;  // the address is the first operand
    if (remote && ((!arrives && !bytes) || (arrives && x->in->n_operands && x->in->operand[0].kind != OPND_SINK)))
        decode_unknown(x);
    uint32_t most = kind == MBARRIER_INVAL ? 1 : test || arrives ? 3 : 2;
    operand_count(x, expects ? 3 : arrives ? 2 : test ? 3 : most, test ? 4 : most);
    struct values in = { .n = 0 };
    uint32_t next = first ? 1 : 2;
    if (kind == MBARRIER_COUNT)
        read_value(x, &in, 1, PTX_B64);
    else if (x->in->n_operands > next)
        read_value(x, &in, next, kind == MBARRIER_TEST ? PTX_B64 : PTX_B32);
    struct warpop *op = emit_warp(x, warp_mbarrier, GATHER_NONE);
    op->op = kind;
    op->shape = expects;
    add_values(op, &in);
    if (test)
        op->out[op->n_out++] = destination_predicate(x, &x->in->operand[0]);
    else if (arrives && x->in->operand[0].kind != OPND_SINK)
        add_outs(x, op, &x->in->operand[0], 8);
    else if (kind == MBARRIER_COUNT)
        add_outs(x, op, &x->in->operand[0], 4);
    struct ptx_operand zero = { .kind = OPND_MEM, .reg = -1, .reg2 = -1, .var = -1, .at = x->in->at };
    set_address(x, op, kind == MBARRIER_COUNT ? &zero : &x->in->operand[!first], remote ? SPACE_CLUSTER : SPACE_SHARED,
                8, MEM_ATOM);
    x->code->orders_cluster |= remote;
    op->mem.order = arrives ? ORDER_RELEASE : test ? ORDER_ACQUIRE : ORDER_WEAK;
    op->mem.scope = SCOPE_CTA;
    decode_order(x, s, &op->mem);
    x->code->orders_threads = true;
    if (test && (int32_t)op->out[0] != x->in->guard)
        emit_poll(x, op->out[0], op->mem.base, op->in[0]);
}

// membar.{cta,gl,sys}, fence.{sc,acq_rel,acquire,release}.scope. A block's accesses happen in order here: only the
// checks look at fences. Those of proxies, and of the initialisation of mbarriers, order nothing else.
void decode_fence(struct decoder *x, const struct parts *s)
{
    const bool wide = has(s, "gl") || has(s, "gpu") || has(s, "sys");
    const bool proxy = s->n > 1 && s->part[1].n >= 5 && !memcmp(s->part[1].p, "proxy", 5);
    const bool init = s->n > 1 && str_is(s->part[1], "mbarrier_init");
    if (init || (proxy && s->n > 2 && str_is(s->part[2], "async"))) {
        x->code->orders_threads = true;
        emit_warp(x, warp_fence_proxy, GATHER_NONE)->op = init ? PROXY_MBARRIER_INIT : PROXY_ASYNC;
        return;
    }
    if (proxy) {
        decode_hint(x, s);
        return;
    }
    x->code->orders_threads = true;
    x->code->orders_blocks |= wide;
    emit_warp(x, warp_fence, GATHER_NONE)->op = wide ? FENCE_WIDE : has(s, "cluster") ? FENCE_CLUSTER : FENCE_CTA;
}

// Time stands still: prefetches and sleep change nothing.
void decode_hint(struct decoder *x, const struct parts *s)
{
    (void)s;
    x->first[x->in - x->f->insts] = x->code->n_uops;
}
