// What registers hold. A compiler may declare all registers of 32 bits alike, .b32, floats and integers; the
// instructions that use them say more: what fma.rn.f32 reads is a float, and so is what mov.b32 copied it from. A
// register that instructions take for a float, and none that computes for an integer, is shown as a float.
#include <stdlib.h>
#include <string.h>

#include "inside.h"

enum { TYPES = 4, PASSES = 16 };

struct type {
    const char *name;
    uint32_t bytes;
};

// Of floating point; one of 2 bytes in a register of 4 is there twice.
static const struct type floats[] = { { "f16", 2 },   { "bf16", 2 },   { "f32", 4 }, { "f64", 8 },
                                      { "f16x2", 4 }, { "bf16x2", 4 }, { "tf32", 4 } };
static const char *const halves[] = { "f16x2", "bf16x2" };

struct spelled {  // an instruction's name
    const char *op;
    size_t n;
    const struct type *types[TYPES];  // NULL: an integer, or bits
    uint32_t n_types;
    bool whole;  // one of them is an integer
};

static bool starts(const struct spelled *s, const char *with)
{
    const size_t n = strlen(with);
    return s->n >= n && !memcmp(s->op, with, n);
}

static bool is_number(const char *word, size_t n)  // u32, s16, b64
{
    return n > 1 && n < 4 && strchr("usb", *word) && word[1] >= '1' && word[1] <= '8';
}

static void spell(const struct simt_instruction *in, struct spelled *s)
{
    *s = (struct spelled){ .op = in->op, .n = in->op_bytes };
    for (size_t at = 0, n; at < s->n; at += n + 1) {
        const char *word = s->op + at;
        const struct type *t = NULL;
        n = 0;
        while (at + n < s->n && word[n] != '.')
            n++;
        for (size_t i = 0; i < sizeof floats / sizeof *floats && !t; i++)
            if (strlen(floats[i].name) == n && !memcmp(floats[i].name, word, n))
                t = &floats[i];
        if ((t || is_number(word, n)) && s->n_types < TYPES)
            s->types[s->n_types++] = t;
        s->whole |= !t && is_number(word, n) && *word != 'b';
    }
}

// The register is used as a float of that type.
static void take(struct watch *w, uint32_t number, const struct type *type)
{
    struct simt_type *is = &w->holds[number].type;
    const char *name = type->name;
    if (is->number != SIMT_BITS || (is->bytes != type->bytes && 2 * type->bytes != is->bytes))
        return;
    if (is->bytes != type->bytes)
        name = type->bytes == 2 ? halves[*type->name == 'b'] : NULL;
    if (name)
        *is = (struct simt_type){ name, SIMT_FLOAT, is->bytes };
}

struct use {  // of a register by an instruction
    uint32_t operand, number;
    bool list;  // it stands in braces
};

static struct use use_of(const struct simt_instruction *in, const struct simt_operand *o)
{
    struct use u = { .number = o->number };
    for (const char *at = in->text + in->op_bytes; at < o->name; at++) {
        u.list = *at == '{' || (u.list && *at != '}');
        u.operand += *at == ',' && !u.list;
    }
    return u;
}

static void look_at(struct watch *w, const struct spelled *s, const struct use *u)
{
    const bool moves =
        starts(s, "ld.") || starts(s, "st.") || starts(s, "mov.") || starts(s, "selp.") || starts(s, "shfl.");
    const bool wmma = starts(s, "wmma.mma."),
               product = wmma || starts(s, "mma.") || starts(s, "wgmma.") || starts(s, "wmma.");
    // wmma.mma names the types of D and C alone.
    const uint32_t of = wmma ? u->operand / 3 : u->operand, last = s->n_types - 1;
    const struct type *type = s->n_types ? s->types[of < last ? of : last] : NULL;
    if (product && (!u->list || (wmma && u->operand % 3)))
        return;
    if (type && !starts(s, "slct."))
        take(w, u->number, type);
    else if (!moves && !product && s->whole)
        w->holds[u->number].whole = true;
}

// mov, shfl and selp leave in their first register what their second holds, or their third.
static bool link_up(struct watch *w, const struct spelled *s, const struct use *u, const struct use *first)
{
    const uint32_t most = starts(s, "mov.") || starts(s, "shfl.") ? 1 : starts(s, "selp.") ? 2 : 0;
    if (u->list || first->list || !u->operand || u->operand > most ||
        w->holds[u->number].type.bytes != w->holds[first->number].type.bytes)
        return true;
    uint32_t(*all)[2] = watch_grow(w->links, w->n_links, &w->links_room, sizeof *all);
    if (!all)
        return false;
    w->links = all;
    all[w->n_links][0] = first->number;
    all[w->n_links++][1] = u->number;
    return true;
}

bool watch_note_types(struct watch *w, const struct simt_look *look)
{
    struct instruction *code = &w->code[simt_look_instruction(look)];
    struct simt_instruction in;
    struct simt_operand o;
    struct spelled s;
    struct use first = { .list = true };
    bool ok = true;
    if (code->typed || !simt_instruction(w->kernel, simt_look_instruction(look), &in))
        return true;
    code->typed = true;
    spell(&in, &s);
    for (uint32_t i = 0; ok && simt_look_operand(look, i, &o); i++) {
        if (o.role == SIMT_ADDRESS || o.number >= w->n_registers || o.name < in.text ||
            o.name > in.text + in.text_bytes)
            continue;
        const struct use u = use_of(&in, &o);
        first = u.operand ? first : u;
        look_at(w, &s, &u);
        ok = link_up(w, &s, &u, &first);
    }
    return ok;
}

static bool spread(struct watch *w, uint32_t from, uint32_t to)
{
    struct holds *a = &w->holds[from], *b = &w->holds[to];
    const bool type = a->type.number == SIMT_FLOAT && b->type.number == SIMT_BITS, whole = a->whole && !b->whole;
    if (type)
        b->type = a->type;
    b->whole |= whole;
    return type || whole;
}

bool watch_read_registers(struct watch *w)
{
    struct simt_register r;
    while (simt_register(w->kernel, w->n_registers, &r))
        w->n_registers++;
    w->holds = calloc(w->n_registers + 1, sizeof *w->holds);
    for (uint32_t i = 0; w->holds && simt_register(w->kernel, i, &r); i++)
        w->holds[i].type = r.type;
    return w->holds;
}

void watch_settle_types(struct watch *w)
{
    struct simt_register r;
    bool any = true;
    for (int pass = 0; any && pass < PASSES; pass++) {
        any = false;
        for (size_t i = 0; i < w->n_links; i++) {
            any |= spread(w, w->links[i][0], w->links[i][1]);
            any |= spread(w, w->links[i][1], w->links[i][0]);
        }
    }
    for (uint32_t i = 0; i < w->n_registers; i++)
        if (w->holds[i].whole && simt_register(w->kernel, i, &r))
            w->holds[i].type = r.type;
}

struct simt_type watch_type(const struct watch *w, uint32_t number)
{
    static const struct simt_type address = { "u64", SIMT_INTEGER, 8 };
    return number < w->n_registers ? w->holds[number].type : address;
}
