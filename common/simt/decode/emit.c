// What all of the decoder uses: errors, memory, registers and uops. See decoder.h.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decoder.h"

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

static uint32_t find_const(struct decoder *x, enum slot_class slot, uint64_t bits, bool window)
{
    char *key = decode_scratch(x, 9);
    uint32_t v;
    key[0] = (char)(slot | window << 4);
    memcpy(key + 1, &bits, sizeof bits);
    if (map_get(&x->consts, (struct str){ key, 9 }, &v))
        return v;
    v = vreg_new(x, slot);
    x->vregs[v].constant = true;
    x->vregs[v].window = window;
    x->vregs[v].bits = bits;
    map_put(x->scratch, &x->consts, (struct str){ key, 9 }, v);
    return v;
}

uint32_t vreg_const(struct decoder *x, enum slot_class slot, uint64_t bits)
{
    return find_const(x, slot, bits, false);
}

uint32_t vreg_window(struct decoder *x, enum slot_class slot, uint64_t bits)
{
    return find_const(x, slot, bits, true);
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
    u->op = (uint16_t)op;
    u->d = d;
    u->a = a;
    u->b = b;
    u->c = c;
    u->saves = (uint8_t)x->vregs[d].slot;
    return u;
}

struct warpop *emit_warp(struct decoder *x, enum warp_op kind, enum gather gather)
{
    struct warpop *op = decode_alloc(x, sizeof *op);
    op->kind = kind;
    op->gather = gather;
    emit(x, UOP_WARP)->warp = op;
    return op;
}
