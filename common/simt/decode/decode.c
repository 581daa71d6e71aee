// The decoder's driver: variables get addresses (place_variables.c), each instruction becomes uops (decode_inst.c),
// branches get their targets, registers their slots (slots.c), and straight lines of uops their lengths.
#include "decode.h"

#include <string.h>

#include "decoder.h"

static const char *const alu_names[ALU_OPS] = {
#define ALU(id, name, n, D, A, B, C, effect) name,
#define SETP(id, name, T, effect) name,
#define LOGIC(id, name, n, effect) name,
#define SELP(id, name, T) name,
#include "simt/code/alu.def"
};

// A straight line is a run of unguarded arithmetic, loads and stores. A jump to its middle starts a shorter line that
// ends at the same place, so lengths count to the end.
static void measure_lines(struct code *c)
{
    for (uint32_t i = c->n_uops; i-- > 0;) {
        struct uop *u = &c->uops[i];
        if ((u->kind != UOP_ALU && u->kind != UOP_LOAD && u->kind != UOP_STORE) || u->guarded || u->flight)
            continue;
        u->run = 1 + (i + 1 < c->n_uops ? c->uops[i + 1].run : 0);
        if (u->kind == UOP_ALU)
            u->same = 1 + (u->run > 1 && u[1].kind == UOP_ALU && u[1].op == u->op ? u[1].same : 0);
    }
}

// Floating-point operations of a lane: additions and multiplications, as Nsight Compute counts them.
static uint8_t flop_of(struct str op)
{
    const bool two = str_begins(op, "fma.") || str_begins(op, "mad."),
               one = str_begins(op, "add.") || str_begins(op, "sub.") || str_begins(op, "mul.");
    const bool pair = str_ends(op, "f16x2");  // bf16x2 too
    const bool real = pair || str_ends(op, ".f32") || str_ends(op, ".f64") || str_ends(op, "f16");
    return real ? (uint8_t)((two ? 2 : one) * (pair ? 2 : 1)) : 0;
}

// The smallest piece that is loaded or stored, in each space; matrices go by rows of 16 bytes.
static void find_pieces(struct code *c)
{
    uint32_t shared = 4, global = 4;
    for (uint32_t i = 0; i < c->n_uops; i++) {
        const struct uop *u = &c->uops[i];
        const struct memop *m = uop_memop(u);
        if (!m || !m->bytes)
            continue;
        if (m->space != SPACE_GLOBAL && m->bytes < shared)
            shared = m->bytes;
        if (m->space != SPACE_SHARED && m->bytes < global)
            global = m->bytes;
    }
    c->shared_shift = (unsigned)__builtin_ctz(shared);
    c->global_shift = (unsigned)__builtin_ctz(global);
}

static void declare_registers(struct decoder *x)
{
    for (uint32_t i = 0; i < x->f->n_regs; i++) {
        enum ptx_type t = x->f->regs[i].type;
        if (ptx_type_bytes(t) > 8)
            decode_fail(x, x->f->regs[i].name.p, "registers of type .%s are not supported", ptx_type_name(t));
        vreg_new(x, t == PTX_PRED ? SLOT_PRED : ptx_type_bytes(t) == 8 ? SLOT_64 : SLOT_32);
    }
}

// All instructions, and an exit for who falls off the end. Branches go to uops then.
static void decode_instructions(struct decoder *x)
{
    const struct ptx_func *f = x->f;
    for (uint32_t i = 0; i < f->n_insts; i++) {
        x->in = &f->insts[i];
        x->first[i] = x->code->n_uops;
        decode_instruction(x);
        if (x->code->n_uops > x->first[i]) {
            x->code->uops[x->code->n_uops - 1].counts = 1;
            x->code->uops[x->code->n_uops - 1].flop = flop_of(x->in->op);
        }
    }
    x->first[f->n_insts] = x->code->n_uops;
    struct ptx_inst *end = decode_scratch(x, sizeof *end);
    *end = (struct ptx_inst){ .guard = -1, .at = f->name.p };
    x->in = f->n_insts ? &f->insts[f->n_insts - 1] : end;
    struct uop *last = emit(x, UOP_EXIT);
    last->guarded = 0;
    last->guard = NO_VREG;
    last->inst = f->n_insts ? f->n_insts - 1 : 0;
    for (uint32_t i = 0; i < x->code->n_uops; i++)
        if (x->code->uops[i].kind == UOP_BRANCH)
            x->code->uops[i].target = x->first[x->code->uops[i].target];
}

struct code *decode(const struct ptx_module *m, const struct ptx_func *f, const uint64_t *globals, unsigned sm,
                    uint32_t gap, struct arena *arena, char error[DEV_ERROR_MAX], const char **at)
{
    struct decoder x = {
        .m = m, .f = f, .globals = globals, .sm = sm, .gap = gap, .arena = arena, .error = error, .at = at
    };
    x.scratch = arena_new(arena_limit(m->bytes));
    if (!x.scratch || setjmp(x.failed)) {
        if (!x.scratch)
            ptx_error_at(m, *at = f->name.p, error, "out of memory");
        arena_free(x.scratch);
        return NULL;
    }
    x.code = decode_alloc(&x, sizeof *x.code);
    x.first = decode_scratch(&x, (f->n_insts + 1) * sizeof *x.first);
    for (uint32_t i = 0; i < ALU_OPS; i++)
        map_put(x.scratch, &x.ops, (struct str){ alu_names[i], (uint32_t)strlen(alu_names[i]) }, i);
    place_variables(&x);
    declare_registers(&x);
    decode_begin_stack(&x);
    decode_instructions(&x);
    find_pieces(x.code);
    find_uniform(&x);
    find_guesses(&x);
    merge_accesses(&x);
    finish_wgmma(&x);
    if (gap)
        add_shadows(&x);
    place_slots(&x);
    measure_lines(x.code);
    arena_free(x.scratch);
    return x.code;
}
