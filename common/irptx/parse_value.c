// Types, constants and operands.
#include "irptx/parse.h"

#include <stdlib.h>
#include <string.h>

// --- Types ---

static uint32_t int_bits(struct str s)  // of i32; 0: it is no such type
{
    uint32_t bits = 0;
    for (uint32_t i = 1; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || bits > 1000000)
            return 0;
        bits = bits * 10 + (uint32_t)(s.p[i] - '0');
    }
    return s.n && s.p[0] == 'i' ? bits : 0;
}

static const struct {
    const char *name;
    struct ir_type type;
} words[] = {
    { "half", { .kind = IR_FLOAT, .bits = 16 } },
    { "bfloat", { .kind = IR_BFLOAT, .bits = 16 } },
    { "float", { .kind = IR_FLOAT, .bits = 32 } },
    { "double", { .kind = IR_FLOAT, .bits = 64 } },
    { "ptr", { .kind = IR_PTR, .bits = 64 } },
    { "void", { .kind = IR_VOID } },
    { "label", { .kind = IR_OTHER } },
    { "token", { .kind = IR_OTHER } },
    { "metadata", { .kind = IR_OTHER } },
};
enum { WORDS = sizeof words / sizeof words[0] };

bool ll_starts_type(const struct parser *p)
{
    const struct token *t = &p->l.token;
    if (t->kind == TOKEN_SIGN)
        return strchr("[<{", t->text.p[0]) != NULL;
    if (t->kind == TOKEN_LOCAL)
        return true;
    for (int i = 0; i < WORDS && t->kind == TOKEN_WORD; i++)
        if (str_is(t->text, words[i].name))
            return true;
    return t->kind == TOKEN_WORD && int_bits(t->text);
}

uint32_t ll_space(struct parser *p)
{
    if (!ll_take(p, "addrspace"))
        return SPACE_GENERIC;
    ll_want(p, "(");
    const uint32_t space = (uint32_t)ll_number(p);
    ll_want(p, ")");
    return space;
}

static struct ir_type *new_type(struct parser *p, enum ir_kind kind)
{
    struct ir_type *t = ir_new(p->m, sizeof *t);
    t->kind = kind;
    return t;
}

static struct ir_type *word_type(struct parser *p)
{
    const struct str name = p->l.token.text;
    for (int i = 0; i < WORDS; i++)
        if (str_is(name, words[i].name)) {
            struct ir_type *t = new_type(p, words[i].type.kind);
            *t = words[i].type;
            ll_next(&p->l);
            if (t->kind == IR_PTR)
                t->space = ll_space(p);
            return t;
        }
    if (!int_bits(name))
        ir_fail(p->m, "the type %.*s is not known", (int)name.n, name.p);
    ll_next(&p->l);
    return (struct ir_type *)ir_int(p->m, int_bits(name));
}

static struct ir_type *sequence_type(struct parser *p, enum ir_kind kind, const char *end)
{
    struct ir_type *t = new_type(p, kind);
    t->count = ll_number(p);
    ll_want(p, "x");
    t->of = ll_type(p);
    ll_want(p, end);
    return t;
}

static struct ir_type *struct_type(struct parser *p, bool packed)
{
    struct ir_type *t = new_type(p, IR_STRUCT);
    t->packed = packed;
    while (!ll_take(p, "}")) {
        t->fields = ir_grow(p->m, t->fields, (uint32_t)t->count, sizeof *t->fields);
        t->fields[t->count++] = ll_type(p);
        if (!ll_is(p, "}"))
            ll_want(p, ",");
    }
    if (packed)
        ll_want(p, ">");
    return t;
}

// Named structs are read when they are first asked for: one may be made of another that comes later.
static struct ir_type *named_type(struct parser *p)
{
    uint32_t i;
    const struct str name = p->l.token.text;
    if (!map_get(&p->type_names, name, &i) || p->types[i].busy)
        ir_fail(p->m, "the type %%%.*s is not known", (int)name.n, name.p);
    ll_next(&p->l);
    struct named_type *t = &p->types[i];
    if (!t->type) {
        const struct lexer saved = p->l;
        t->busy = true;
        ll_begin(&p->l, t->text);
        struct ir_type *type = ll_is(p, "opaque") ? new_type(p, IR_STRUCT) : (struct ir_type *)ll_type(p);
        p->l = saved;
        p->types[i].type = type;
        p->types[i].busy = false;
    }
    return p->types[i].type;
}

const struct ir_type *ll_type(struct parser *p)
{
    if (p->l.token.kind == TOKEN_WORD)
        return word_type(p);
    if (p->l.token.kind == TOKEN_LOCAL)
        return named_type(p);
    if (ll_take(p, "["))
        return sequence_type(p, IR_ARRAY, "]");
    if (ll_take(p, "{"))
        return struct_type(p, false);
    ll_want(p, "<");
    return ll_take(p, "{") ? struct_type(p, true) : sequence_type(p, IR_VECTOR, ">");
}

// --- Attributes ---

static const char *const constant_words[] = {
    "undef",   "poison",   "zeroinitializer", "null",     "true",      "false", "splat", "getelementptr",
    "bitcast", "inttoptr", "addrspacecast",   "ptrtoint", "ptrtoaddr", "trunc", "add",   "sub",
    "xor",     "asm",      "blockaddress"
};

static bool is_constant_word(struct str s)
{
    for (size_t i = 0; i < sizeof constant_words / sizeof constant_words[0]; i++)
        if (str_is(s, constant_words[i]))
            return true;
    return false;
}

void ll_attributes(struct parser *p, struct ir_param *param)
{
    for (;;) {
        const struct token t = p->l.token;
        const bool quoted = t.kind == TOKEN_STRING && *t.at == '"';
        if (!quoted && (t.kind != TOKEN_WORD || is_constant_word(t.text) || ll_starts_type(p)))
            return;
        ll_next(&p->l);
        if (quoted && ll_take(p, "=")) {
            ll_next(&p->l);
        } else if (str_is(t.text, "align") && !ll_is(p, "(")) {
            const uint64_t align = ll_number(p);
            if (param)
                param->align = (uint32_t)align;
        } else if (param && str_is(t.text, "byval")) {
            ll_want(p, "(");
            param->byval = ll_type(p);
            ll_want(p, ")");
        } else if (ll_is(p, "(")) {
            ll_skip_brackets(p);
        }
    }
}

// --- Constants ---

struct scalars {
    struct ir_scalar *items;
    uint32_t count;
};

static void add_scalar(struct parser *p, struct scalars *s, struct ir_scalar x)
{
    s->items = ir_grow(p->m, s->items, s->count, sizeof *s->items);
    s->items[s->count++] = x;
}

static void constant(struct parser *p, const struct ir_type *type, struct scalars *s);

static const struct ir_type *typed_constant(struct parser *p, struct scalars *s)
{
    const struct ir_type *t = ll_type(p);
    ll_attributes(p, NULL);
    constant(p, t, s);
    return t;
}

static void same_for_all(struct parser *p, const struct ir_type *type, struct scalars *s, struct ir_scalar x)
{
    uint32_t n;
    ir_leaves(p->m, type, &n);
    while (n--)
        add_scalar(p, s, x);
}

static void integer(struct parser *p, const struct ir_type *type, struct scalars *s)
{
    const struct str text = p->l.token.text;
    const bool minus = text.p[0] == '-';
    unsigned __int128 value = 0;
    for (uint32_t i = minus; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            ll_fail(p, "a number");
        value = value * 10 + (unsigned)(text.p[i] - '0');
    }
    value = minus ? -value : value;
    const uint64_t low = (uint64_t)value;
    add_scalar(
        p, s,
        (struct ir_scalar){ .kind = SCALAR_BITS, .bits = type->bits < 64 ? low & ((1ull << type->bits) - 1) : low });
    if (type->bits > 64)
        add_scalar(p, s, (struct ir_scalar){ .kind = SCALAR_BITS, .bits = (uint64_t)(value >> 64) });
}

static void floating(struct parser *p, const struct ir_type *type, struct scalars *s)
{
    char text[64];
    const struct str t = p->l.token.text;
    if (t.n >= sizeof text)
        ll_fail(p, "a shorter number");
    memcpy(text, t.p, t.n);
    text[t.n] = 0;
    uint64_t bits = 0;
    const bool hex = !strncmp(text, "0x", 2);
    if (type->bits == 16) {
        if (strncmp(text, type->kind == IR_BFLOAT ? "0xR" : "0xH", 3) != 0)
            ll_fail(p, "a number of 16 bits");
        bits = strtoull(text + 3, NULL, 16);
    } else {
        double value = 0;
        const uint64_t stored = hex ? strtoull(text + 2, NULL, 16) : 0;
        if (hex)
            memcpy(&value, &stored, sizeof value);
        else
            value = strtod(text, NULL);
        const float narrow = (float)value;
        if (type->bits == 64)
            memcpy(&bits, &value, sizeof value);
        else
            memcpy(&bits, &narrow, sizeof narrow);
    }
    add_scalar(p, s, (struct ir_scalar){ .kind = SCALAR_BITS, .bits = bits });
}

static void symbol_constant(struct parser *p, struct scalars *s)
{
    uint32_t i;
    const struct str name = p->l.token.text;
    if (!map_get(&p->m->symbol_names, name, &i))
        ir_fail(p->m, "@%.*s is not declared", (int)name.n, name.p);
    add_scalar(p, s, (struct ir_scalar){ .kind = SCALAR_ADDRESS, .symbol = p->m->symbols[i] });
}

// getelementptr inbounds (TYPE, ptr BASE, INDEX...)
static void address_constant(struct parser *p, struct scalars *s)
{
    while (!ll_is(p, "(")) {
        const bool range = ll_is(p, "inrange");
        ll_next(&p->l);
        if (range)
            ll_skip_brackets(p);
        if (p->l.token.kind == TOKEN_END)
            ll_fail(p, "(");
    }
    ll_want(p, "(");
    const struct ir_type *t = ll_type(p);
    ll_want(p, ",");
    const uint32_t base = s->count;
    typed_constant(p, s);
    for (bool first = true; ll_take(p, ","); first = false) {
        struct scalars index = { 0 };
        const struct ir_type *it = typed_constant(p, &index);
        const int shift = it->bits < 64 ? 64 - (int)it->bits : 0;
        const int64_t i = (int64_t)(index.items[0].bits << shift) >> shift;
        uint64_t at = (uint64_t)i * ir_size(t);
        if (!first)
            t = ir_step(p->m, t, (uint64_t)i, &at);
        s->items[base].bits += at;
    }
    ll_want(p, ")");
}

static void cast_constant(struct parser *p, bool to_number, struct scalars *s)
{
    ll_want(p, "(");
    const uint32_t first = s->count;
    const struct ir_type *from = typed_constant(p, s);
    ll_want(p, "to");
    const struct ir_type *to = ll_type(p);
    ll_want(p, ")");
    if (to_number)
        s->items[first].generic = from->kind == IR_PTR && !from->space;
    if (s->items[first].kind == SCALAR_BITS && to->kind == IR_INT && to->bits < 64)
        s->items[first].bits &= (1ull << to->bits) - 1;
}

// add (i32 ptrtoint (ptr addrspace(3) @x to i32), i32 16): an address and a number, or two numbers.
static void sum_constant(struct parser *p, bool subtract, struct scalars *s)
{
    while (ll_take(p, "nuw") || ll_take(p, "nsw"))
        ;
    struct scalars second = { 0 };
    const uint32_t first = s->count;
    ll_want(p, "(");
    const struct ir_type *t = typed_constant(p, s);
    ll_want(p, ",");
    typed_constant(p, &second);
    ll_want(p, ")");
    struct ir_scalar a = s->items[first], b = second.items[0];
    if (a.kind != SCALAR_ADDRESS && !subtract) {
        const struct ir_scalar swap = a;
        a = b;
        b = swap;
    }
    const bool apart = subtract && a.kind == SCALAR_ADDRESS && b.kind == SCALAR_ADDRESS && a.symbol == b.symbol;
    if (apart)  // two addresses in one variable
        a.kind = b.kind = SCALAR_BITS;
    if (t->bits > 64 || a.kind == SCALAR_UNDEF || b.kind != SCALAR_BITS)
        ir_fail(p->m, "this sum of addresses is not known");
    const int shift = 64 - (int)t->bits;
    const int64_t plus = (int64_t)(b.bits << shift) >> shift;
    a.bits += (uint64_t)(subtract ? -plus : plus);
    if (a.kind == SCALAR_BITS && t->bits < 64)
        a.bits &= (1ull << t->bits) - 1;
    s->items[first] = a;
}

static void word_constant(struct parser *p, const struct ir_type *type, struct scalars *s)
{
    const struct str word = p->l.token.text;
    ll_next(&p->l);
    if (str_is(word, "undef") || str_is(word, "poison")) {
        same_for_all(p, type, s, (struct ir_scalar){ .kind = SCALAR_UNDEF });
    } else if (str_is(word, "zeroinitializer") || str_is(word, "null") || str_is(word, "false")) {
        same_for_all(p, type, s, (struct ir_scalar){ .kind = SCALAR_BITS });
    } else if (str_is(word, "true")) {
        add_scalar(p, s, (struct ir_scalar){ .kind = SCALAR_BITS, .bits = 1 });
    } else if (str_is(word, "splat")) {
        ll_want(p, "(");
        struct scalars one = { 0 };
        typed_constant(p, &one);
        ll_want(p, ")");
        for (uint64_t i = 0; i < type->count; i++)
            add_scalar(p, s, one.items[0]);
    } else if (str_is(word, "getelementptr")) {
        address_constant(p, s);
    } else if (str_is(word, "addrspacecast") || str_is(word, "bitcast") || str_is(word, "inttoptr") ||
               str_is(word, "trunc")) {
        cast_constant(p, false, s);
    } else if (str_is(word, "ptrtoint") || str_is(word, "ptrtoaddr")) {
        cast_constant(p, true, s);
    } else if (str_is(word, "add") || str_is(word, "sub")) {
        sum_constant(p, str_is(word, "sub"), s);
    } else {
        ir_fail(p->m, "the constant %.*s is not known", (int)word.n, word.p);
    }
}

static void list_constant(struct parser *p, struct scalars *s)
{
    const char *end = ll_is(p, "[") ? "]" : ll_is(p, "{") ? "}" : ">";
    ll_next(&p->l);
    if (*end == '>' && ll_take(p, "{")) {  // a packed struct
        while (!ll_take(p, "}")) {
            typed_constant(p, s);
            ll_take(p, ",");
        }
        ll_want(p, ">");
        return;
    }
    while (!ll_take(p, end)) {
        typed_constant(p, s);
        if (!ll_is(p, end))
            ll_want(p, ",");
    }
}

static void constant(struct parser *p, const struct ir_type *type, struct scalars *s)
{
    const struct token t = p->l.token;
    if (t.kind == TOKEN_WORD) {
        word_constant(p, type, s);
        return;
    }
    if (t.kind == TOKEN_SIGN) {
        if (!strchr("[<{", t.text.p[0]))
            ll_fail(p, "a value");
        list_constant(p, s);
        return;
    }
    if (t.kind == TOKEN_NUMBER && type->kind == IR_INT) {
        integer(p, type, s);
    } else if (t.kind == TOKEN_NUMBER) {
        floating(p, type, s);
    } else if (t.kind == TOKEN_GLOBAL) {
        symbol_constant(p, s);
    } else if (t.kind == TOKEN_STRING) {
        uint32_t n;
        const char *bytes = ll_unescape(p->m, t.text, &n);
        for (uint32_t i = 0; i < n; i++)
            add_scalar(p, s, (struct ir_scalar){ .kind = SCALAR_BITS, .bits = (unsigned char)bytes[i] });
    } else {
        ll_fail(p, "a value");
    }
    ll_next(&p->l);
}

// --- Operands ---

uint32_t ll_local(struct parser *p)
{
    uint32_t n;
    if (p->l.token.kind != TOKEN_LOCAL)
        ll_fail(p, "a value");
    if (!map_get(&p->locals, p->l.token.text, &n)) {
        n = p->local_count++;
        if (!map_put(p->m->arena, &p->locals, p->l.token.text, n))
            ir_fail(p->m, "out of memory");
    }
    ll_next(&p->l);
    return n;
}

uint32_t ll_block(struct parser *p, struct str name)
{
    uint32_t n;
    if (map_get(&p->blocks, name, &n))
        return n;
    if (!map_put(p->m->arena, &p->blocks, name, p->block_count))
        ir_fail(p->m, "out of memory");
    return p->block_count++;
}

struct ir_value ll_value(struct parser *p, const struct ir_type *type)
{
    if (p->l.token.kind == TOKEN_LOCAL)
        return (struct ir_value){ .type = type, .local = ll_local(p) };
    struct scalars s = { 0 };
    constant(p, type, &s);
    return (struct ir_value){ .type = type, .scalars = s.items, .count = s.count };
}

struct ir_value ll_typed(struct parser *p)
{
    const struct ir_type *t = ll_type(p);
    ll_attributes(p, NULL);
    return ll_value(p, t);
}
