// Sizes, alignments and scalars of types, as the data layout of nvptx64 has them; and what else every part needs of a
// module: memory, failures, and places in the source.
#include "irptx/ir.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES_MAX = 1 << 16 };

// --- Types ---

const struct ir_type ir_void = { .kind = IR_VOID }, ir_other = { .kind = IR_OTHER };

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static uint64_t power_of_two(uint64_t least)
{
    uint64_t n = 1;
    while (n < least)
        n *= 2;
    return n;
}

static uint32_t align_of_struct(const struct ir_type *t)
{
    uint32_t most = 1;
    for (uint64_t i = 0; i < t->count && !t->packed; i++)
        most = ir_align(t->fields[i]) > most ? ir_align(t->fields[i]) : most;
    return most;
}

uint32_t ir_align(const struct ir_type *t)
{
    switch (t->kind) {
    case IR_STRUCT:
        return align_of_struct(t);
    case IR_ARRAY:
        return ir_align(t->of);
    case IR_VECTOR: {
        return (uint32_t)power_of_two(ir_size(t));
    }
    default:
        return (uint32_t)power_of_two((t->bits + 7) / 8);
    }
}

uint64_t ir_offset(const struct ir_type *t, uint64_t field)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        at = round_up(at, t->packed ? 1 : ir_align(t->fields[i]));
        if (i == field)
            break;
        at += ir_size(t->fields[i]);
    }
    return at;
}

uint64_t ir_size(const struct ir_type *t)
{
    switch (t->kind) {
    case IR_STRUCT:
        if (!t->count)
            return 0;
        return round_up(ir_offset(t, t->count - 1) + ir_size(t->fields[t->count - 1]), ir_align(t));
    case IR_ARRAY:
        return t->count * ir_size(t->of);
    case IR_VECTOR:
        return (t->count * t->of->bits + 7) / 8;
    default:
        return round_up((t->bits + 7) / 8, power_of_two((t->bits + 7) / 8));
    }
}

static void add_leaf(struct ir_module *m, struct ir_type *all, uint64_t at, const struct ir_type *t)
{
    if (all->leaf_count == LEAVES_MAX)
        ir_fail(m, "a value of more than %d parts is too large", LEAVES_MAX);
    all->leaves = ir_grow(m, all->leaves, all->leaf_count, sizeof *all->leaves);
    all->leaves[all->leaf_count++] = (struct ir_leaf){ at, t };
}

static void add_leaves(struct ir_module *m, struct ir_type *all, uint64_t at, const struct ir_type *t)
{
    if (t->kind == IR_STRUCT) {
        for (uint64_t i = 0; i < t->count; i++)
            add_leaves(m, all, at + ir_offset(t, i), t->fields[i]);
    } else if (t->kind == IR_ARRAY || t->kind == IR_VECTOR) {
        for (uint64_t i = 0; i < t->count; i++)
            add_leaves(m, all, at + i * ir_size(t->of), t->of);
    } else if (ir_is_int(t, 128)) {
        add_leaf(m, all, at, ir_int(m, 64));
        add_leaf(m, all, at + 8, ir_int(m, 64));
    } else if (t->kind == IR_INT && t->bits > 64) {
        ir_fail(m, "integers of %u bits are not known", t->bits);
    } else if (t->kind != IR_VOID && t->kind != IR_OTHER) {
        add_leaf(m, all, at, t);
    }
}

const struct ir_leaf *ir_leaves(struct ir_module *m, const struct ir_type *t, uint32_t *count)
{
    struct ir_type *type = (struct ir_type *)t;  // what is found once stays with the type
    if (!type->leaves)
        add_leaves(m, type, 0, t);
    *count = type->leaf_count;
    return type->leaves;
}

const struct ir_type *ir_step(struct ir_module *m, const struct ir_type *t, uint64_t index, uint64_t *at)
{
    if (t->kind == IR_STRUCT && index < t->count) {
        *at = ir_offset(t, index);
        return t->fields[index];
    }
    if (t->kind != IR_ARRAY && t->kind != IR_VECTOR)
        ir_fail(m, "an index into a type that has no parts");
    *at = index * ir_size(t->of);
    return t->of;
}

const struct ir_type *ir_int(struct ir_module *m, uint32_t bits)
{
    if (bits > 128)
        ir_fail(m, "integers of %u bits are not known", bits);
    if (!m->ints[bits]) {
        struct ir_type *t = ir_new(m, sizeof *t);
        *t = (struct ir_type){ .kind = IR_INT, .bits = bits };
        m->ints[bits] = t;
    }
    return m->ints[bits];
}

// --- Places ---

struct str ir_attribute(const struct ir_module *m, const struct ir_function *f, const char *key)
{
    for (uint32_t i = 0; i < m->attribute_count; i++)
        if (m->attributes[i].group == f->attributes && str_is(m->attributes[i].key, key))
            return m->attributes[i].value;
    return (struct str){ 0 };
}

// The next metadata on the way from an inner scope outwards; 0 at its end, and where the way is too long to be one.
static uint32_t outwards(const struct ir_module *m, uint32_t meta)
{
    return meta < m->meta_count ? m->meta[meta].scope : 0;
}

struct str ir_file(const struct ir_module *m, uint32_t meta)
{
    for (uint32_t steps = 0; meta && meta < m->meta_count && steps < 1000; steps++, meta = outwards(m, meta)) {
        if (m->meta[meta].kind == META_FILE)
            return m->meta[meta].name;
        const uint32_t file = m->meta[meta].file;
        if (file && file < m->meta_count)
            return m->meta[file].name;
    }
    return (struct str){ 0 };
}

struct str ir_scope_name(const struct ir_module *m, uint32_t meta)
{
    for (uint32_t steps = 0; meta && meta < m->meta_count && steps < 1000; steps++, meta = outwards(m, meta)) {
        const struct ir_meta *at = &m->meta[meta];
        if (at->kind == META_FUNCTION)
            return at->linkage.n ? at->linkage : at->name;
    }
    return (struct str){ 0 };
}

// --- Memory and failures ---

void *ir_new(struct ir_module *m, size_t bytes)
{
    void *p = arena_alloc(m->arena, bytes);
    if (!p)
        ir_fail(m, "out of memory");
    return p;
}

void *ir_grow(struct ir_module *m, void *items, uint32_t count, size_t size)
{
    void *p = arena_grow(m->arena, items, count, size);
    if (!p)
        ir_fail(m, "out of memory");
    return p;
}

char *ir_text(struct ir_module *m, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    char *text = ir_new(m, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

// The metadata behind !dbg on the line of the IR.
static uint32_t place_of(const char *statement)
{
    const size_t line = statement ? strcspn(statement, "\n") : 0;
    for (const char *p = statement; p && (p = strstr(p, "!dbg !")) && p < statement + line;)
        return (uint32_t)strtoul(p + 6, NULL, 10);
    return 0;
}

// Of a place in an inlined function the innermost call that stands in the file of the kernel.
static uint32_t place_in_kernel(const struct ir_module *m, uint32_t place)
{
    uint32_t outer = place;
    while (outer < m->meta_count && m->meta[outer].inlined_at && m->meta[outer].inlined_at != outer)
        outer = m->meta[outer].inlined_at;
    const struct str file = ir_file(m, outer);
    while (place != outer && !str_same(ir_file(m, place), file))
        place = m->meta[place].inlined_at;
    return place;
}

void ir_fail(struct ir_module *m, const char *format, ...)
{
    char said[DEV_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    const uint32_t place = place_in_kernel(m, place_of(m->statement));
    const struct str file = ir_file(m, place);
    if (file.n)
        error_set(m->error, "%.*s:%u: %s", (int)file.n, file.p, m->meta[place].line, said);
    else
        error_set(m->error, "%s", said);
    longjmp(m->back, 1);
}
