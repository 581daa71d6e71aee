// The decoder's frame: variables get addresses, each instruction becomes uops (decode_inst.c), branches get their
// targets, registers their slots (slots.c), and straight lines of ALU uops their lengths.
#include "decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_SHARED 232448u      // bytes a block: 227 KB, as on sm_90
#define MAX_PARAMS 32764u       // bytes a kernel: PTX ISA, .param
#define MAX_LOCAL (512u << 10)  // bytes a thread: CUDA C++ Programming Guide, technical specifications

static const char *const alu_names[ALU_OPS] = {
#define ALU(id, name, n, D, A, B, C, effect) name,
#define SETP(id, name, T, effect) name,
#define LOGIC(id, name, n, effect) name,
#define SELP(id, name, T) name,
#include "simt/code/alu.def"
};

void decode_fail(struct decoder *x, const char *at, const char *format, ...)
{
    char text[DEV_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *x->at = at ? at : x->in->at;
    ptx_error_at(x->m, *x->at, x->error, "%s", text);
    longjmp(x->failed, 1);
}

void *decode_alloc(struct decoder *x, size_t bytes)
{
    void *p = arena_alloc(x->arena, bytes);
    if (!p)
        decode_fail(x, x->f->name.p, "out of memory");
    return p;
}

void *decode_scratch(struct decoder *x, size_t bytes)
{
    void *p = arena_alloc(x->scratch, bytes);
    if (!p)
        decode_fail(x, x->f->name.p, "out of memory");
    return p;
}

static void *grow(struct decoder *x, struct arena *arena, void *items, uint32_t count, size_t size)
{
    void *p = arena_grow(arena, items, count, size);
    if (!p)
        decode_fail(x, x->f->name.p, "out of memory");
    return p;
}

uint32_t vreg_new(struct decoder *x, enum slot_class slot)
{
    x->vregs = grow(x, x->scratch, x->vregs, x->n_vregs, sizeof *x->vregs);
    x->vregs[x->n_vregs] = (struct vreg){ .slot = slot };
    return x->n_vregs++;
}

uint32_t vreg_const(struct decoder *x, enum slot_class slot, uint64_t bits)
{
    char *key = decode_scratch(x, 9);
    uint32_t v;
    key[0] = (char)slot;
    memcpy(key + 1, &bits, sizeof bits);
    if (map_get(&x->consts, (struct str){ key, 9 }, &v))
        return v;
    v = vreg_new(x, slot);
    x->vregs[v].constant = true;
    x->vregs[v].bits = bits;
    map_put(x->scratch, &x->consts, (struct str){ key, 9 }, v);
    return v;
}

struct uop *emit(struct decoder *x, enum uop_kind kind)
{
    struct code *c = x->code;
    c->uops = grow(x, x->arena, c->uops, c->n_uops, sizeof *c->uops);
    struct uop *u = &c->uops[c->n_uops++];
    *u = (struct uop){ .kind = (uint8_t)kind,
                       .d = NO_VREG,
                       .a = NO_VREG,
                       .b = NO_VREG,
                       .c = NO_VREG,
                       .guard = NO_VREG,
                       .inst = (uint32_t)(x->in - x->f->insts) };
    if (x->in->guard >= 0) {
        u->guard = (uint32_t)x->in->guard;
        u->guarded = x->in->guard_negated ? 2 : 1;
    }
    return u;
}

struct uop *emit_alu(struct decoder *x, enum alu_op op, uint32_t d, uint32_t a, uint32_t b, uint32_t c)
{
    struct uop *u = emit(x, UOP_ALU);
    u->fn = x->exec->alu[op];
    u->op = (uint16_t)op;
    u->d = d;
    u->a = a;
    u->b = b;
    u->c = c;
    u->saves = (uint8_t)x->vregs[d].slot;
    return u;
}

struct warpop *emit_warp(struct decoder *x, warp_fn fn, enum gather gather)
{
    struct warpop *op = decode_alloc(x, sizeof *op);
    op->fn = fn;
    op->gather = gather;
    emit(x, UOP_WARP)->warp = op;
    return op;
}

static uint64_t align_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

// Marks the variables that o names; true where it asks for the shared memory that the system reserves.
static bool mark_shared(struct decoder *x, const struct ptx_operand *o, bool *used)
{
    static const char reserved[] = "%reserved_smem_offset_";
    bool asks = o->kind == OPND_SREG && o->name.n > strlen(reserved) && !memcmp(o->name.p, reserved, strlen(reserved));
    if (o->var >= 0)
        used[o->var] = true;
    for (uint32_t i = 0; i < o->count; i++)
        asks |= mark_shared(x, &o->list[i], used);
    return asks;
}

// The name in the source: "_ZZ4gemmE2As" is As. Source: the Itanium C++ ABI, 5.1 (a name is its length and itself).
static struct str source_name(struct str name)
{
    for (uint32_t i = name.n > 2 && !memcmp(name.p, "_Z", 2) ? 2 : name.n; i < name.n; i++) {
        uint32_t length = 0, from = i, end = name.n;
        while (from < name.n && name.p[from] >= '0' && name.p[from] <= '9' && length < name.n)
            length = 10 * length + (uint32_t)(name.p[from++] - '0');
        if (end > 2 && name.p[end - 2] == '_')  // the second of that name: "..._0"
            end -= from + length + 2 == end ? 2 : 0;
        if (length && name.p[end - 1] == 'E')  // of a namespace
            end -= from + length + 1 == end;
        if (length && from + length == end)
            return (struct str){ name.p + from, length };
        // On with what follows: digits within a name are its own, and those of S1_, T1_, A4_ and Li4E are no lengths.
        const bool number = strchr("STA", name.p[i - 1]) || (name.p[i - 2] == 'L' && name.p[i - 1] != 'L');
        if (from > i)
            i = number || length >= name.n - from ? from - 1 : from + length - 1;
    }
    return name;
}

// For the checks' messages. A dynamic array reaches to the end of what the launch gives.
static void note_shared(struct decoder *x, const struct ptx_var *v, uint64_t at)
{
    struct code *c = x->code;
    struct str name = source_name(v->name);
    if (at > MAX_SHARED || v->bytes > MAX_SHARED)
        return;  // refused in a moment
    c->shared_vars = arena_grow(x->arena, c->shared_vars, c->n_shared_vars, sizeof *c->shared_vars);
    struct shared_var *var = c->shared_vars ? &c->shared_vars[c->n_shared_vars] : NULL;
    if (!var || !(var->name = arena_printf(x->arena, "%.*s", (int)(name.n < 100 ? name.n : 100), name.p)))
        decode_fail(x, v->name.p, "out of memory");
    var->at = (uint32_t)at;
    var->bytes = (uint32_t)v->bytes;
    var->gap_end = (uint32_t)(at + v->bytes) + (v->bytes ? x->gap : 0);
    c->n_shared_vars++;
}

// Parameters and locals in order of declaration; shared variables that the kernel names, the dynamic ones last.
static void place_variables(struct decoder *x)
{
    const struct ptx_module *m = x->m;
    uint64_t param = 0, local = 0, shared = 0;
    bool *used = decode_scratch(x, m->n_vars + 1);
    x->address = decode_scratch(x, (m->n_vars + 1) * sizeof *x->address);
    memcpy(x->address, x->globals, m->n_vars * sizeof *x->address);
    x->in_local = decode_scratch(x, m->n_vars + 1);
    for (uint32_t i = 0; i < x->f->n_vars; i++)
        x->in_local[x->f->vars[i]] = m->vars[x->f->vars[i]].space == SPACE_PARAM;
    for (uint32_t i = 0; i < x->f->n_params; i++)
        x->in_local[x->f->params[i]] = false;
    for (uint32_t i = 0; i < x->f->n_params; i++) {
        const struct ptx_var *v = &m->vars[x->f->params[i]];
        param = align_up(param, v->align);
        x->address[x->f->params[i]] = param;
        param += v->bytes;
        if (param > MAX_PARAMS)
            decode_fail(x, v->name.p, "'%.*s' takes more than %u bytes of parameters", (int)x->f->name.n, x->f->name.p,
                        MAX_PARAMS);
    }
    for (uint32_t i = 0; i < x->f->n_vars; i++) {
        const struct ptx_var *v = &m->vars[x->f->vars[i]];
        used[x->f->vars[i]] = true;
        if (v->space != SPACE_LOCAL && !x->in_local[x->f->vars[i]])
            continue;
        local = align_up(local, v->align);
        x->address[x->f->vars[i]] = local;
        local += v->bytes;
    }
    bool reserves = false;
    for (uint32_t i = 0; i < x->f->n_insts; i++)
        for (uint32_t j = 0; j < x->f->insts[i].n_operands; j++)
            reserves |= mark_shared(x, &x->f->insts[i].operand[j], used);
    if (reserves) {
        const char *name = "reserved shared memory";
        const struct ptx_var v = { .name = { name, (uint32_t)strlen(name) }, .bytes = RESERVED_SHARED };
        note_shared(x, &v, 0);
        shared = RESERVED_SHARED + x->gap;
        x->code->reserved_bytes = RESERVED_SHARED;
    }
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        for (uint32_t i = 0; i < m->n_vars; i++) {
            const struct ptx_var *v = &m->vars[i];
            if (v->space != SPACE_SHARED || !used[i] || (v->bytes == 0) != dynamic)
                continue;
            uint64_t at = align_up(shared, v->align > 16 || !dynamic ? v->align : 16);
            x->address[i] = at;
            note_shared(x, v, at);
            shared = dynamic && at > shared ? at : shared;
            if (!dynamic)
                shared = at + v->bytes + x->gap;
        }
    }
    if (shared > MAX_SHARED || local > MAX_LOCAL)
        decode_fail(x, x->f->name.p,
                    "'%.*s' declares %llu bytes of shared memory (at most %u) and %llu of local memory "
                    "(at most %u)",
                    (int)x->f->name.n, x->f->name.p, (unsigned long long)shared, MAX_SHARED, (unsigned long long)local,
                    MAX_LOCAL);
    x->code->param_bytes = (uint32_t)param;
    x->code->shared_bytes = (uint32_t)shared;
    x->code->local_bytes = (uint32_t)align_up(local, 16);
}

// A straight line is a run of unguarded ALU uops that nothing jumps into the middle of; a jump to its middle starts a
// shorter line that ends at the same place, so lengths count to the end.
static void measure_lines(struct code *c)
{
    for (uint32_t i = c->n_uops; i-- > 0;) {
        struct uop *u = &c->uops[i];
        if (u->kind == UOP_ALU && !u->guarded)
            u->run = 1 + (i + 1 < c->n_uops ? c->uops[i + 1].run : 0);
    }
}

static bool begins(struct str s, const char *with)
{
    return s.n > strlen(with) && !memcmp(s.p, with, strlen(with));
}

static bool ends(struct str s, const char *with)
{
    const size_t n = strlen(with);
    return s.n > n && !memcmp(s.p + s.n - n, with, n);
}

// Floating-point operations of a lane: additions and multiplications, as Nsight Compute counts them.
static uint8_t flop_of(struct str op)
{
    const bool two = begins(op, "fma.") || begins(op, "mad."),
               one = begins(op, "add.") || begins(op, "sub.") || begins(op, "mul.");
    const bool pair = ends(op, "f16x2");  // bf16x2 too
    const bool real = pair || ends(op, ".f32") || ends(op, ".f64") || ends(op, "f16");
    return real ? (uint8_t)((two ? 2 : one) * (pair ? 2 : 1)) : 0;
}

// The smallest piece that is loaded or stored, in each space; matrices go by rows of 16 bytes.
static void find_pieces(struct code *c)
{
    uint32_t shared = 4, global = 4;
    for (uint32_t i = 0; i < c->n_uops; i++) {
        const struct uop *u = &c->uops[i];
        const struct memop *m = u->kind == UOP_LOAD || u->kind == UOP_STORE ? u->mem
                                : u->kind == UOP_WARP && u->warp->has_mem   ? &u->warp->mem
                                                                            : NULL;
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

struct code *decode(const struct ptx_module *m, const struct ptx_func *f, const uint64_t *globals,
                    const struct exec *exec, unsigned sm, uint32_t gap, struct arena *arena, char error[DEV_ERROR_MAX],
                    const char **at)
{
    struct decoder x = {
        .m = m, .f = f, .globals = globals, .exec = exec, .sm = sm, .gap = gap, .arena = arena, .error = error, .at = at
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
    for (uint32_t i = 0; i < f->n_regs; i++) {
        enum ptx_type t = f->regs[i].type;
        if (ptx_type_bytes(t) > 8)
            decode_fail(&x, f->regs[i].name.p, "registers of type .%s are not supported", ptx_type_name(t));
        vreg_new(&x, t == PTX_PRED ? SLOT_PRED : ptx_type_bytes(t) == 8 ? SLOT_64 : SLOT_32);
    }
    for (uint32_t i = 0; i < f->n_insts; i++) {
        x.in = &f->insts[i];
        x.first[i] = x.code->n_uops;
        decode_instruction(&x);
        if (x.code->n_uops > x.first[i]) {
            x.code->uops[x.code->n_uops - 1].counts = 1;
            x.code->uops[x.code->n_uops - 1].flop = flop_of(x.in->op);
        }
    }
    x.first[f->n_insts] = x.code->n_uops;
    struct ptx_inst end = { .guard = -1, .at = f->name.p };  // falling off the end is an exit
    x.in = f->n_insts ? &f->insts[f->n_insts - 1] : &end;
    struct uop *last = emit(&x, UOP_EXIT);
    last->guarded = 0;
    last->guard = NO_VREG;
    last->inst = f->n_insts ? f->n_insts - 1 : 0;
    for (uint32_t i = 0; i < x.code->n_uops; i++)
        if (x.code->uops[i].kind == UOP_BRANCH)
            x.code->uops[i].target = x.first[x.code->uops[i].target];
    find_pieces(x.code);
    find_uniform(&x);
    find_guesses(&x);
    merge_accesses(&x);
    if (gap)
        add_shadows(&x);
    place_slots(&x);
    measure_lines(x.code);
    arena_free(x.scratch);
    return x.code;
}
