// Where variables live: parameters, local memory, shared memory.
#include <string.h>

#include "decoder.h"
#include "simt/machine/limits.h"

#define MAX_PARAMS 32764u       // bytes a kernel: PTX ISA, .param
#define MAX_LOCAL (512u << 10)  // bytes a thread: CUDA C++ Programming Guide, technical specifications

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

#define WIDE_GAPS                                                                                                      \
    (28u << 10)  // bytes in all: with them a block's shared memory still fits in 256 KB (wgmma's addresses)

// The bytes to leave free behind a variable, for the checks: as many as it has, so that most indices that are too large
// do not reach another variable. *left: of WIDE_GAPS.
static uint64_t gap_of(const struct decoder *x, const struct ptx_var *v, uint64_t *left)
{
    const uint64_t size = align_up(v->bytes, 128), room = size < *left ? size : *left;
    const uint64_t gap = x->gap && room > x->gap ? room : x->gap;
    *left -= gap < *left ? gap : *left;
    return gap;
}

// For the checks' messages. A dynamic array reaches to the end of what the launch gives.
static void note_shared(struct decoder *x, const struct ptx_var *v, uint64_t at, uint64_t gap)
{
    struct code *c = x->code;
    struct str name = source_name(v->name);
    if (at > SHARED_MAX || v->bytes > SHARED_MAX)
        return;  // refused in a moment
    c->shared_vars = arena_grow(x->arena, c->shared_vars, c->n_shared_vars, sizeof *c->shared_vars);
    struct shared_var *var = c->shared_vars ? &c->shared_vars[c->n_shared_vars] : NULL;
    if (!var || !(var->name = arena_printf(x->arena, "%.*s", (int)(name.n < 100 ? name.n : 100), name.p)))
        decode_fail(x, v->name.p, "out of memory");
    var->at = (uint32_t)at;
    var->bytes = (uint32_t)v->bytes;
    var->gap_end = (uint32_t)(at + v->bytes) + (v->bytes ? (uint32_t)gap : 0);
    c->n_shared_vars++;
}

// Parameters, in order of declaration. Those of calls, which a body declares, are in local memory.
static void place_params(struct decoder *x)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < x->f->n_vars; i++)
        x->in_local[x->f->vars[i]] = x->m->vars[x->f->vars[i]].space == SPACE_PARAM;
    for (uint32_t i = 0; i < x->f->n_params; i++) {
        const uint32_t var = x->f->params[i];
        const struct ptx_var *v = &x->m->vars[var];
        x->in_local[var] = false;
        x->address[var] = align_up(end, v->align);
        end = x->address[var] + v->bytes;
        if (end > MAX_PARAMS)
            decode_fail(x, v->name.p, "'%.*s' takes more than %u bytes of parameters", (int)x->f->name.n, x->f->name.p,
                        MAX_PARAMS);
    }
    x->code->param_bytes = (uint32_t)end;
}

// Local memory, in order of declaration. Returns its bytes.
static uint64_t place_locals(struct decoder *x)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < x->f->n_vars; i++) {
        const uint32_t var = x->f->vars[i];
        const struct ptx_var *v = &x->m->vars[var];
        if (v->space != SPACE_LOCAL && !x->in_local[var])
            continue;
        x->address[var] = align_up(end, v->align);
        end = x->address[var] + v->bytes;
    }
    return end;
}

// Which variables the kernel names; true where it asks for the shared memory that the system reserves.
static bool find_used(struct decoder *x, bool *used)
{
    bool reserves = false;
    for (uint32_t i = 0; i < x->f->n_vars; i++)
        used[x->f->vars[i]] = true;
    for (uint32_t i = 0; i < x->f->n_insts; i++)
        for (uint32_t j = 0; j < x->f->insts[i].n_operands; j++)
            reserves |= mark_shared(x, &x->f->insts[i].operand[j], used);
    return reserves;
}

// Shared memory: what the system reserves, then the variables that the kernel names, the dynamic ones last. Returns its
// bytes.
static uint64_t place_shared(struct decoder *x)
{
    uint64_t end = 0, left = WIDE_GAPS;
    bool *used = decode_scratch(x, x->m->n_vars + 1);
    if (find_used(x, used)) {
        const char *name = "reserved shared memory";
        const struct ptx_var v = { .name = { name, (uint32_t)strlen(name) }, .bytes = RESERVED_SHARED };
        note_shared(x, &v, 0, x->gap);
        end = RESERVED_SHARED + x->gap;
        x->code->reserved_bytes = RESERVED_SHARED;
    }
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        for (uint32_t i = 0; i < x->m->n_vars; i++) {
            const struct ptx_var *v = &x->m->vars[i];
            if (v->space != SPACE_SHARED || !used[i] || (v->bytes == 0) != dynamic)
                continue;
            const uint64_t at = align_up(end, v->align > 16 || !dynamic ? v->align : 16);
            const uint64_t gap = gap_of(x, v, &left);
            x->address[i] = at;
            note_shared(x, v, at, gap);
            if (!dynamic)
                end = at + v->bytes + gap;
            else if (at > end)
                end = at;
        }
    }
    return end;
}

void place_variables(struct decoder *x)
{
    x->address = decode_scratch(x, (x->m->n_vars + 1) * sizeof *x->address);
    memcpy(x->address, x->globals, x->m->n_vars * sizeof *x->address);
    x->in_local = decode_scratch(x, x->m->n_vars + 1);
    place_params(x);
    const uint64_t local = place_locals(x), shared = place_shared(x);
    if (shared > SHARED_MAX || local > MAX_LOCAL)
        decode_fail(x, x->f->name.p,
                    "'%.*s' declares %llu bytes of shared memory (at most %d) and %llu of local memory "
                    "(at most %u)",
                    (int)x->f->name.n, x->f->name.p, (unsigned long long)shared, SHARED_MAX, (unsigned long long)local,
                    MAX_LOCAL);
    x->code->shared_bytes = (uint32_t)shared;
    x->code->local_bytes = (uint32_t)align_up(local, 16);
}
