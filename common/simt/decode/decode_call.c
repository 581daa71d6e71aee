// System calls, and branches by index: from PTX instructions to uops. Calls of functions with a body are gone by now
// (inline.c). Source: PTX ISA 9.7.12 (brx.idx, call); PTX Interoperability, system calls.
#include <string.h>

#include "decode_inst.h"
#include "simt/ptx/inline.h"
#include "simt/code/warp_op.h"

// The device runtime's functions for launches and graphs from a kernel.
static bool is_launch(struct str name)
{
    static const char *const words[] = { "cudaLaunchDevice",
                                         "cudaGetParameterBuffer",
                                         "cudaDeviceSynchronize",
                                         "cudaStream",
                                         "cudaEvent",
                                         "cudaGraph",
                                         "cudaMemcpy",
                                         "cudaMemset",
                                         "__cudaCDP2" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (name.n >= strlen(words[i]) && !memcmp(name.p, words[i], strlen(words[i])))
            return true;
    return false;
}

struct system {
    const char *name;
    uint32_t arguments;
    enum warp_op run;
};

// The offset in local memory of an argument or a result.
static uint32_t place_of(struct decoder *x, const struct ptx_operand *a, uint32_t least)
{
    if (a->kind != OPND_VAR || !is_local_param(x, (uint32_t)a->var) || x->m->vars[a->var].bytes < least)
        decode_fail(x, a->at, "expected a .param variable of this function");
    return (uint32_t)x->address[a->var];
}

static const struct system *find_system(struct decoder *x, const struct ptx_operand *name)
{
    static const struct system systems[] = { { "vprintf", 2, WARP_printf },
                                             { "__assertfail", 5, WARP_assert },
                                             { "malloc", 1, WARP_malloc },
                                             { "free", 1, WARP_free } };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (str_is(name->name, systems[i].name))
            return &systems[i];
    if (is_launch(name->name))
        decode_fail(x, name->at, "kernels that launch kernels (dynamic parallelism) are not supported: '%.*s'",
                    (int)name->name.n, name->name.p);
    decode_fail(x, name->at,
                "'%.*s' has no body in this file; of system calls only printf, assert, malloc and free are supported",
                (int)name->name.n, name->name.p);
}

// call.uni (retval), vprintf, (format, values) and the other system calls
void decode_call(struct decoder *x, const struct parts *s)
{
    const struct ptx_operand *o = x->in->operand, *arguments = NULL, *results = NULL;
    uint32_t n = x->in->n_operands, i = 0;
    if (s->n > 2 || (s->n == 2 && !str_is(s->part[1], "uni")))
        decode_unknown(x);
    if (i < n && o[i].kind == OPND_GROUP)
        results = &o[i++];
    if (i == n || o[i].kind != OPND_NAME)
        decode_fail(x, x->in->at, "this form of a call through a pointer is not supported");
    const struct ptx_operand *name = &o[i++];
    const struct system *system = find_system(x, name);
    arguments = i < n && o[i].kind == OPND_GROUP ? &o[i] : NULL;
    const bool heap = system->arguments == 1, allocates = system->run == WARP_malloc;
    if (!arguments || arguments->count != system->arguments || (allocates && (!results || results->count != 1)))
        decode_fail(x, name->at, "'%.*s' takes other arguments", (int)name->name.n, name->name.p);
    struct call *call = decode_alloc(x, sizeof *call);
    for (uint32_t k = 0; k < arguments->count; k++)
        call->argument[k] = place_of(x, &arguments->list[k], heap ? 8 : 0);
    call->result_bytes = allocates ? 8 : system->run == WARP_printf && results && results->count == 1 ? 4 : 0;
    if (call->result_bytes)
        call->result = place_of(x, &results->list[0], call->result_bytes);
    emit_warp(x, system->run, GATHER_NONE)->more = call;
    x->code->uses_heap |= heap;
    x->code->ordered = true;  // what blocks print, and which blocks of the heap they get, comes in their order
}

void decode_end(struct decoder *x, const struct parts *s)
{
    emit_warp(x, WARP_end, GATHER_NONE)->op = str_is(s->part[0], OP_STACK_FULL) ? END_STACK : END_POINTER;
}

// brx.idx{.uni} index, targets: a comparison and a branch for each. The list stands before it (PTX ISA 9.7.12: brx.idx;
// ptxas takes none that comes later).
void decode_brx(struct decoder *x, const struct parts *s)
{
    operand_count(x, 2, 2);
    const struct ptx_operand *o = x->in->operand;
    if (s->n < 2 || !str_is(s->part[1], "idx") || s->n > 3 || (s->n == 3 && !str_is(s->part[2], "uni")))
        decode_unknown(x);
    const struct ptx_inst *table = o[1].kind == OPND_LABEL ? &x->f->insts[o[1].target] : NULL;
    if (!table || o[1].target >= x->f->n_insts || !str_is(table->op, ".branchtargets"))
        decode_fail(x, o[1].at, "expected the label of a .branchtargets list");
    if (table > x->in)
        decode_fail(x, o[1].at, "the .branchtargets list '%.*s' has to stand before 'brx.idx'", (int)o[1].name.n,
                    o[1].name.p);
    uint32_t index = operand_value(x, &o[0], PTX_B32);
    for (uint32_t i = 0; i < table->n_operands; i++) {
        if (table->operand[i].kind != OPND_LABEL)
            decode_fail(x, table->operand[i].at, "there is no label '%.*s'", (int)table->operand[i].name.n,
                        table->operand[i].name.p);
        uint32_t here = vreg_new(x, SLOT_PRED);
        emit_alu(x, ALU_setp_eq_b32, here, index, vreg_const(x, SLOT_32, i), NO_VREG);
        if (x->in->guard >= 0) {
            uint32_t guard = (uint32_t)x->in->guard, both = vreg_new(x, SLOT_PRED);
            if (x->in->guard_negated) {
                uint32_t not = vreg_new(x, SLOT_PRED);
                emit_alu(x, ALU_not_pred, not, guard, NO_VREG, NO_VREG);
                guard = not ;
            }
            emit_alu(x, ALU_and_pred, both, here, guard, NO_VREG);
            here = both;
        }
        struct uop *u = emit(x, UOP_BRANCH);
        u->target = table->operand[i].target;
        u->guard = here;
        u->guarded = 1;
    }
}
