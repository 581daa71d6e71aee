// Asynchronous copies and mbarriers: from PTX instructions to uops. Source: PTX ISA 9.7.9.25, 9.7.13.15.
#include <string.h>

#include "decode_warp.h"
#include "simt/code/warp_op.h"

// cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [p]: an arrival when the thread's copies have come. Here they come at
// once; without .noinc the arrival that is pending was added just for this, and nothing is left to do.
static void copies_arrive(struct decoder *x, const struct parts *s)
{
    bool noinc = parts_have(s, "noinc");
    uint32_t spaces = parts_have(s, "shared") + parts_have(s, "shared::cta");
    operand_count(x, 1, 1);
    if (s->n != 5 + noinc + spaces || !str_is(s->part[3], "arrive") || !str_is(s->part[s->n - 1], "b64"))
        decode_unknown(x);
    emit_warp(x, WARP_wait, GATHER_NONE)->shape = true;
    if (!noinc)
        return;
    struct warpop *op = emit_warp(x, WARP_mbarrier, GATHER_NONE);
    op->op = MBARRIER_ARRIVE;
    warpop_address(x, op, &x->in->operand[0], SPACE_SHARED, 8, MEM_ATOM);
    op->mem.order = ORDER_RELEASE;
    x->code->orders_threads = true;
}

static void copies_wait(struct decoder *x, bool all)
{
    const struct ptx_operand *o = x->in->operand;
    operand_count(x, !all, !all);
    if (!all && o[0].kind != OPND_INT)
        decode_fail(x, o[0].at, "cp.async.wait_group takes a number");
    struct warpop *op = emit_warp(x, WARP_wait, GATHER_NONE);
    op->op = all ? 0 : (uint32_t)o[0].bits;
    op->shape = all;
}

// cp.async.ca.shared.global [to], [from], 4|8|16{, bytes}
static void copy(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand;
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
        values_read(x, &in, 3, PTX_B32);
    struct warpop *op = emit_warp(x, WARP_copy, GATHER_NONE);
    op->op = bypass;
    op->shape = direct ? (uint32_t)from.offset : 0;
    warpop_in(op, place);
    warpop_values(op, &in);
    warpop_address(x, op, &o[0], SPACE_SHARED, (uint32_t)bytes, MEM_LDGSTS);
}

// cp.async...: a copy; .commit_group; .wait_group n; .wait_all; .mbarrier.arrive
void decode_cp(struct decoder *x, const struct parts *s)
{
    const bool async = s->n >= 3 && str_is(s->part[1], "async");
    if (s->n > 3 && (str_is(s->part[2], "bulk") || str_is(s->part[1], "reduce"))) {
        decode_bulk(x, s);
    } else if (async && s->n == 3 && str_is(s->part[2], "commit_group")) {
        operand_count(x, 0, 0);
        emit_warp(x, WARP_commit, GATHER_NONE);
    } else if (async && s->n == 3 && (str_is(s->part[2], "wait_group") || str_is(s->part[2], "wait_all"))) {
        copies_wait(x, str_is(s->part[2], "wait_all"));
    } else if (async && str_is(s->part[2], "mbarrier")) {
        copies_arrive(x, s);
    } else if (async) {
        copy(x, s);
    } else {
        decode_unknown(x);
    }
}

// What s does, from its second word.
static enum mbarrier mbarrier_kind(struct decoder *x, const struct parts *s)
{
    static const char *const names[] = { "init",      "inval",       "arrive",    "arrive_drop",
                                         "expect_tx", "complete_tx", "test_wait", "try_wait" };
    static const enum mbarrier kinds[] = { MBARRIER_INIT,        MBARRIER_INVAL,     MBARRIER_ARRIVE,
                                           MBARRIER_ARRIVE_DROP, MBARRIER_EXPECT_TX, MBARRIER_COMPLETE_TX,
                                           MBARRIER_TEST,        MBARRIER_TEST };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(s->part[1], names[i]))
            return kinds[i] == MBARRIER_TEST && parts_have(s, "parity") ? MBARRIER_TEST_PARITY : kinds[i];
    if (!str_is(s->part[1], "pending_count"))
        decode_unknown(x);
    return MBARRIER_COUNT;
}

static bool waits(enum mbarrier kind)
{
    return kind == MBARRIER_TEST || kind == MBARRIER_TEST_PARITY;
}

static bool arrives(enum mbarrier kind)
{
    return kind == MBARRIER_ARRIVE || kind == MBARRIER_ARRIVE_DROP;
}

static bool counts_bytes(enum mbarrier kind)
{
    return kind == MBARRIER_EXPECT_TX || kind == MBARRIER_COMPLETE_TX;
}

// Fails if the instruction has too few or too many operands, or cannot go to another block.
static void check_mbarrier(struct decoder *x, const struct parts *s, enum mbarrier kind)
{
    uint32_t least = 2, most = 2;
    if (waits(kind)) {
        least = 3;
        most = 4;
    } else if (arrives(kind)) {
        least = parts_have(s, "expect_tx") ? 3 : 2;
        most = 3;
    } else if (kind == MBARRIER_INVAL) {
        least = most = 1;
    }
    if (parts_have(s, "shared::cluster")) {
        const bool result = x->in->n_operands && x->in->operand[0].kind != OPND_SINK;
        if ((!arrives(kind) && !counts_bytes(kind)) || (arrives(kind) && result))
            decode_unknown(x);
    }
    operand_count(x, least, most);
}

// The count, the bytes, the phase or the state.
static void read_mbarrier(struct decoder *x, enum mbarrier kind, bool first, struct values *in)
{
    const uint32_t next = first ? 1 : 2;
    if (kind == MBARRIER_COUNT)
        values_read(x, in, 1, PTX_B64);
    else if (x->in->n_operands > next)
        values_read(x, in, next, kind == MBARRIER_TEST ? PTX_B64 : PTX_B32);
}

static void mbarrier_results(struct decoder *x, enum mbarrier kind, struct warpop *op)
{
    const struct ptx_operand *d = &x->in->operand[0];
    if (waits(kind))
        op->out[op->n_out++] = destination_predicate(x, d);
    else if (arrives(kind) && d->kind != OPND_SINK)
        warpop_outs(x, op, d, 8);
    else if (kind == MBARRIER_COUNT)
        warpop_outs(x, op, d, 4);
}

// mbarrier.init.shared.b64 [p], count and the rest of the family. Only arrivals and bytes go to other blocks, too.
void decode_mbarrier(struct decoder *x, const struct parts *s)
{
    if (s->n < 3 || !str_is(s->part[s->n - 1], "b64"))
        decode_unknown(x);
    parts_only(
        x, s, 2, s->n,
        "shared shared::cta shared::cluster b64 noComplete parity acquire release relaxed cta cluster expect_tx");
    const enum mbarrier kind = mbarrier_kind(x, s);
    const bool remote = parts_have(s, "shared::cluster");
    const bool first =
        kind == MBARRIER_INIT || kind == MBARRIER_INVAL || counts_bytes(kind);  // the address comes first
    struct values in = { .n = 0 };
    check_mbarrier(x, s, kind);
    read_mbarrier(x, kind, first, &in);
    struct warpop *op = emit_warp(x, WARP_mbarrier, GATHER_NONE);
    op->op = kind;
    op->shape = arrives(kind) && parts_have(s, "expect_tx");
    warpop_values(op, &in);
    mbarrier_results(x, kind, op);
    const struct ptx_operand none = { .kind = OPND_MEM, .reg = -1, .reg2 = -1, .var = -1, .at = x->in->at };
    warpop_address(x, op, kind == MBARRIER_COUNT ? &none : &x->in->operand[!first],
                   remote ? SPACE_CLUSTER : SPACE_SHARED, 8, MEM_ATOM);
    x->code->orders_cluster |= remote;
    op->mem.order = arrives(kind) ? ORDER_RELEASE : waits(kind) ? ORDER_ACQUIRE : ORDER_WEAK;
    op->mem.scope = SCOPE_CTA;
    decode_order(x, s, &op->mem);
    x->code->orders_threads = true;
    x->code->relaxes_mbarriers |= (arrives(kind) || waits(kind)) && op->mem.order == ORDER_RELAXED;
    if (waits(kind) && (int32_t)op->out[0] != x->in->guard)
        emit_poll(x, op->out[0], op->mem.base, op->in[0]);
}
