// The module's variables, with their values as bytes, or as words of 64 bits where addresses are among them.
#include "irptx/print.h"

#include <string.h>

static const char *space_name(const struct ir_symbol *s)
{
    return s->space == SPACE_SHARED ? ".shared" : s->space == SPACE_CONST ? ".const" : ".global";
}

static bool has_addresses(const struct ir_symbol *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (s->init[i].kind == SCALAR_ADDRESS)
            return true;
    return false;
}

static bool is_zero(const struct ir_symbol *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (s->init[i].kind == SCALAR_ADDRESS || s->init[i].bits)
            return false;
    return true;
}

static unsigned char *bytes_of(struct ir_module *m, const struct ir_symbol *s, const struct ir_leaf *leaves,
                               uint32_t count)
{
    const uint64_t size = ir_size(s->type);
    unsigned char *bytes = ir_new(m, size + 8);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t n = (leaves[i].type->bits + 7) / 8;
        for (uint32_t k = 0; k < n && leaves[i].at + k < size; k++)
            bytes[leaves[i].at + k] = (unsigned char)(s->init[i].bits >> 8 * k);
    }
    return bytes;
}

static void put_bytes(struct text *t, const unsigned char *bytes, uint64_t size)
{
    while (size > 1 && !bytes[size - 1])  // what is left out is zero
        size--;
    for (uint64_t i = 0; i < size; i++)
        text_put(t, "%s%u", i ? ", " : "", bytes[i]);
}

static void put_address(struct text *t, const struct ir_symbol *to, int64_t plus)
{
    if (to->function)
        ir_fail(t->m, "the address of the function %.*s in a variable is not known", (int)to->name.n, to->name.p);
    text_put(t, "generic(%s)", to->ptx);
    if (plus)
        text_put(t, "%+lld", (long long)plus);
}

static void put_words(struct text *t, const struct ir_symbol *s, const struct ir_leaf *leaves, uint32_t count)
{
    const unsigned char *bytes = bytes_of(t->m, s, leaves, count);
    for (uint64_t at = 0; at < ir_size(s->type); at += 8) {
        const struct ir_scalar *address = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (leaves[i].at == at && s->init[i].kind == SCALAR_ADDRESS)
                address = &s->init[i];
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        text_put(t, at ? ", " : "");
        if (address)
            put_address(t, address->symbol, (int64_t)address->bits);
        else
            text_put(t, "%llu", (unsigned long long)word);
    }
}

static void put_variable(struct ir_module *m, struct text *t, struct ir_symbol *s);

// What a variable has the addresses of comes before it. One that has its own would never end: it is put once.
static void put_before(struct ir_module *m, struct text *t, const struct ir_symbol *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (s->init[i].kind == SCALAR_ADDRESS && !s->init[i].symbol->function)
            put_variable(m, t, (struct ir_symbol *)s->init[i].symbol);
}

static void put_variable(struct ir_module *m, struct text *t, struct ir_symbol *s)
{
    if (s->put)
        return;
    s->put = true;
    const unsigned long long size = ir_size(s->type);
    const bool shared = s->space == SPACE_SHARED;
    uint32_t count = 0;
    const struct ir_leaf *leaves = s->init && !shared ? ir_leaves(m, s->type, &count) : NULL;
    const bool words = leaves && has_addresses(s, count);
    if (words && size % 8)
        ir_fail(m, "the addresses in %.*s are not known", (int)s->name.n, s->name.p);
    put_before(m, t, s, words ? count : 0);
    const char *linkage = s->external ? ".extern " : s->internal ? "" : ".visible ";
    text_put(t, "%s%s .align %u .%s %s", linkage, space_name(s), words && s->align < 8 ? 8 : s->align,
             words ? "u64" : "b8", s->ptx);
    if (s->external && !size)
        text_put(t, "[]");
    else
        text_put(t, "[%llu]", words ? size / 8 : size ? size : 1);
    if (leaves && !is_zero(s, count)) {
        text_put(t, " = {");
        if (words)
            put_words(t, s, leaves, count);
        else
            put_bytes(t, bytes_of(m, s, leaves, count), size);
        text_put(t, "}");
    }
    text_put(t, ";\n");
}

void print_variables(struct ir_module *m, struct text *t)
{
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        struct ir_symbol *s = m->symbols[i];
        if (!s->function && !s->alias && !str_begins(s->name, "llvm."))
            put_variable(m, t, s);
    }
}
