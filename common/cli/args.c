// The grammar of arguments. See args.h.
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg_map.h"

#define DEPTH 16  // nesting of structs
#define ALIGN_MAX 16

struct reader {
    struct buffers *buffers;
    const char *place, *whole;  // whole: the argument as it was written
    unsigned fields;            // of structs so far, to name their arrays
    bool content;               // TYPE[COUNT]=... is the content itself, in place
    size_t from, to;            // then: the bytes of it that are initialised
    char *error;
};

static bool fail(struct reader *r, const char *text, const char *why)
{
    if (text == r->whole)
        return error_set(r->error, "%.700s", why);
    return error_set(r->error, "'%.200s': %.700s", text, why);
}

// Room for this many more bytes, aligned; NULL when memory runs out, with the error told. Memory is taken where there
// are no bytes, too.
static unsigned char *append(struct reader *r, struct arg *a, size_t bytes, uint32_t align)
{
    const size_t at = (a->bytes + align - 1) / align * align;
    unsigned char *data = realloc(a->data, at + bytes + 1);
    if (!data) {
        fail(r, a->text, "out of memory");
        return NULL;
    }
    memset(data + a->bytes, 0, at + bytes - a->bytes);
    a->data = data;
    a->bytes = at + bytes;
    a->align = a->align > align ? a->align : align;
    return data + at;
}

static bool append_pointer(struct reader *r, struct arg *a, size_t buffer)
{
    struct pointer *more = realloc(a->pointers, (a->n_pointers + 1) * sizeof *more);
    if (!more)
        return fail(r, a->text, "out of memory");
    a->pointers = more;
    if (!append(r, a, 8, 8))
        return false;
    more[a->n_pointers++] = (struct pointer){ a->bytes - 8, buffer };
    a->array = true;
    return true;
}

// The length of the first item of a list: up to a ',' or the end, braces and their content taken as one.
static size_t item_length(const char *text)
{
    size_t i = 0, depth = 0;
    for (; text[i] && (depth || text[i] != ','); i++) {
        depth += text[i] == '{';
        depth -= text[i] == '}' && depth;
    }
    return i;
}

static bool value(struct reader *r, const char *text, struct arg *out, unsigned depth);

// Puts a field behind what is there already.
static bool append_field(struct reader *r, struct arg *whole, const struct arg *field)
{
    unsigned char *at = append(r, whole, field->bytes, field->align);
    if (!at)
        return false;
    memcpy(at, field->data, field->bytes);
    for (size_t i = 0; i < field->n_pointers; i++) {
        struct pointer *more = realloc(whole->pointers, (whole->n_pointers + 1) * sizeof *more);
        if (!more)
            return fail(r, whole->text, "out of memory");
        whole->pointers = more;
        more[whole->n_pointers++] =
            (struct pointer){ field->pointers[i].at + (size_t)(at - whole->data), field->pointers[i].buffer };
    }
    return true;
}

// The text of struct:{...} between its braces
static bool fields(struct reader *r, char *inner, struct arg *out, unsigned depth)
{
    for (char *item = inner; *item;) {
        const size_t n = item_length(item);
        const char end = item[n];
        item[n] = '\0';
        struct arg field = { .align = 1 };
        r->fields++;
        bool ok = value(r, item, &field, depth + 1) && append_field(r, out, &field);
        arg_free(&field);
        if (!ok)
            return false;
        item += n + (end != '\0');
    }
    return out->bytes ? append(r, out, 0, out->align) != NULL : fail(r, out->text, "a struct has at least one field");
}

// TYPE:{1,2,3}, or the N numbers of TYPExN:{...}, aligned together
static bool numbers(struct reader *r, const struct arg_type *t, char *inner, size_t lanes, struct arg *out)
{
    size_t n = 0;
    const uint32_t whole = (uint32_t)(lanes * t->bytes);
    for (char *item = inner; *item; n++) {
        const size_t length = item_length(item);
        const char end = item[length];
        item[length] = '\0';
        unsigned char *at = append(r, out, t->bytes,
                                   n       ? 1
                                   : lanes ? (whole < ALIGN_MAX ? whole : ALIGN_MAX)
                                           : (uint32_t)t->bytes);
        if (!at)
            return false;
        if (!arg_number(t, item, at))
            return fail(r, item, "is not a number of this type");
        item += length + (end != '\0');
    }
    return (n && (!lanes || n == lanes)) ||
           fail(r, out->text, lanes ? "expected as many numbers as the type has" : "no number");
}

static bool hex_bytes(struct reader *r, const char *digits, struct arg *out)
{
    const size_t n = strlen(digits);
    for (size_t i = 0; i + 1 < n; i += 2) {
        const char pair[3] = { digits[i], digits[i + 1], 0 };
        unsigned char *at = append(r, out, 1, 1);
        if (!at)
            return false;
        if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
            return fail(r, out->text, "bytes are written as pairs of hexadecimal digits");
        *at = (unsigned char)strtoul(pair, NULL, 16);
    }
    return (n && n % 2 == 0) || fail(r, out->text, "bytes are written as pairs of hexadecimal digits");
}

// TYPE[COUNT]=CONTENT; count: the text after '['
static bool read_array(struct reader *r, const struct arg_type *t, const char *count, struct buffer *b)
{
    char *end, why[DEV_ERROR_MAX];
    errno = 0;
    const unsigned long long n = strtoull(count, &end, 10);
    if (errno || end == count || *count == '-' || end[0] != ']' || end[1] != '=' || !n || n > INT32_MAX) {
        snprintf(why, sizeof why, "an array is written TYPE[COUNT]=CONTENT, COUNT 1 to %d", INT32_MAX);
        return fail(r, count, why);
    }
    b->type = t;
    b->count = (size_t)n;
    b->bytes = b->count * t->bytes;
    if (arg_fill(end + 2, b, why))
        return true;
    return error_set(r->error, "%s", why);
}

static bool array(struct reader *r, const struct arg_type *t, const char *count, const char *name, struct arg *out)
{
    struct buffer b = { .named = name };
    if (name)
        snprintf(b.name, sizeof b.name, "%s", name);
    else if (r->fields)
        snprintf(b.name, sizeof b.name, "%.40s, field %u", r->place, r->fields - 1);
    else
        snprintf(b.name, sizeof b.name, "%.40s", r->place);
    bool ok = read_array(r, t, count, &b);
    struct buffer *all = ok ? realloc(r->buffers->all, (r->buffers->n + 1) * sizeof *all) : NULL;
    if (!all) {
        free(b.data);
        return ok ? fail(r, count, "out of memory") : false;
    }
    r->buffers->all = all;
    all[r->buffers->n] = b;
    return append_pointer(r, out, r->buffers->n++);
}

// The content of a variable of the module, in place.
static bool content(struct reader *r, const struct arg_type *t, const char *count, struct arg *out)
{
    struct buffer b = { 0 };
    bool ok = read_array(r, t, count, &b);
    unsigned char *at = ok ? append(r, out, b.bytes, (uint32_t)t->bytes) : NULL;
    if (at && b.data)
        memcpy(at, b.data, b.bytes);
    r->from = b.from * t->bytes;
    r->to = b.to * t->bytes;
    free(b.data);
    return at;
}

static bool is_name(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    return n && n < 60 && !isdigit((unsigned char)*text);
}

static bool find_buffer(const struct buffers *b, const char *name, size_t n, size_t *found)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->all[i].named && strlen(b->all[i].name) == n && !strncmp(b->all[i].name, name, n))
            return *found = i, true;
    return false;
}

// NAME, or NAME=TYPE[COUNT]=CONTENT
static bool named(struct reader *r, const char *text, size_t n, struct arg *out)
{
    size_t found;
    const bool known = find_buffer(r->buffers, text, n, &found);
    if (known && !text[n])
        return append_pointer(r, out, found);
    if (known)
        return fail(r, text, "this name has an array already");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    const char *rest = text + n + 1;
    const size_t length = strcspn(rest, ":[");
    const struct arg_type *t = text[n] && rest[length] == '[' ? arg_type_named(rest, length) : NULL;
    if (!t)
        return fail(r, text,
                    text[n] ? "a name stands for an array: NAME=TYPE[COUNT]=CONTENT" : "no array has this name");
    return array(r, t, rest + length + 1, name, out);
}

static bool usage(struct reader *r, const char *text)
{
    return fail(r, text,
                "write TYPE:VALUE, TYPE[COUNT]=CONTENT, struct:{...} or bytes:HEX, such as i32:7 or f32[64]=normal:1 "
                "(types: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64)");
}

// TYPE:NUMBER, TYPE:{...}, TYPExN:{...}; n: the length of the type
static bool typed(struct reader *r, const char *text, size_t n, struct arg *out)
{
    const char *rest = text + n + 1, *x = memchr(text, 'x', n);
    const size_t lanes = x ? strtoul(x + 1, NULL, 10) : 0, length = strlen(rest);
    const struct arg_type *t = arg_type_named(text, x ? (size_t)(x - text) : n);
    const bool list = *rest == '{' && rest[length - 1] == '}';
    if (!t || (x && (!list || (lanes != 2 && lanes != 4) || x + 2 != text + n)))
        return usage(r, text);
    if (list) {
        char *inner = strndup(rest + 1, length - 2);
        bool ok = inner ? numbers(r, t, inner, lanes, out) : fail(r, text, "out of memory");
        free(inner);
        return ok;
    }
    unsigned char *at = append(r, out, t->bytes, (uint32_t)t->bytes);
    out->type = t;
    char why[160];
    snprintf(why, sizeof why, "'%.100s' is no %s", rest, t->name);
    return at && (arg_number(t, rest, at) || fail(r, text, why));
}

// map:TYPE[...]box[...]swizzle128=CONTENT: an array of its own; out is left empty
static bool map_array(struct reader *r, const struct arg_type *t, const char *text, struct arg *out)
{
    const char *content = strchr(text, '=');
    char why[DEV_ERROR_MAX], list[512];
    struct dev_tensor tensor = { 0 };
    uint64_t count = 1;
    if (!content || content - text > 200 || strlen(content) > 200)
        return fail(r, text, "expected =CONTENT after the box, or the name of an array in place of the type");
    snprintf(list, sizeof list, "%.*s", (int)(content - text), text);
    if (!arg_map_parse(list, t->name, INT32_MAX, &tensor, why))
        return fail(r, text, why);
    for (unsigned i = 0; i < tensor.rank; i++)
        count *= tensor.size[i];
    snprintf(list, sizeof list, "%llu]%s", (unsigned long long)count, content);
    const bool ok = array(r, t, list, NULL, out);
    arg_free(out);
    out->align = 1;
    out->tensor = tensor;
    out->map_buffer = r->buffers->n - 1;
    return ok;
}

// map:NAME[...]box[...]swizzle128, or with TYPE in place of NAME and =CONTENT
static bool tensor_map(struct reader *r, const char *text, struct arg *out)
{
    const size_t n = strcspn(text, "[");
    const struct arg_type *t = arg_type_named(text, n);
    char why[DEV_ERROR_MAX];
    if (t) {
        out->map = map_array(r, t, text + n, out);
        return out->map && append(r, out, DEV_MAP_BYTES, 64);
    }
    if (!find_buffer(r->buffers, text, n, &out->map_buffer))
        return fail(r, text, "no array before this one has that name");
    const struct buffer *b = &r->buffers->all[out->map_buffer];
    if (!arg_map_parse(text + n, b->type->name, b->count, &out->tensor, why))
        return fail(r, text, why);
    out->map = true;
    return append(r, out, DEV_MAP_BYTES, 64);
}

static bool value(struct reader *r, const char *text, struct arg *out, unsigned depth)
{
    const size_t n = strcspn(text, ":[=,{}"), length = strlen(text);
    out->text = text;
    if (depth > DEPTH)
        return fail(r, text, "structs nest too deeply");
    if (!strncmp(text, "map:", 4) && !depth)
        return tensor_map(r, text + 4, out);
    if (!strncmp(text, "bytes:", 6))
        return hex_bytes(r, text + 6, out);
    if (!strncmp(text, "struct:{", 8) && text[length - 1] == '}') {
        char *inner = strndup(text + 8, length - 9);
        bool ok = inner ? fields(r, inner, out, depth) : fail(r, text, "out of memory");
        free(inner);
        out->array = false;
        return ok;
    }
    const struct arg_type *t = text[n] == '[' ? arg_type_named(text, n) : NULL;
    if (t)
        return r->content && !depth ? content(r, t, text + n + 1, out) : array(r, t, text + n + 1, NULL, out);
    if (text[n] == ':')
        return typed(r, text, n, out);
    if ((!text[n] || text[n] == '=') && is_name(text, n) && !arg_type_named(text, n))
        return named(r, text, n, out);
    return usage(r, text);
}

static bool parse(struct reader *r, const char *text, struct arg *out, char error[DEV_ERROR_MAX])
{
    char why[DEV_ERROR_MAX];
    r->error = why;
    r->whole = text;
    *out = (struct arg){ .align = 1 };
    const bool ok = value(r, text, out, 0);
    out->text = text;
    return ok || error_set(error, "argument '%.150s': %.800s", text, why);
}

bool arg_parse(const char *text, const char *place, struct buffers *buffers, struct arg *out, char error[DEV_ERROR_MAX])
{
    struct reader r = { .buffers = buffers, .place = place };
    return parse(&r, text, out, error);
}

bool arg_parse_content(const char *text, struct buffers *buffers, struct arg *out, size_t *from, size_t *to,
                       char error[DEV_ERROR_MAX])
{
    struct reader r = { .buffers = buffers, .place = text, .content = true, .to = SIZE_MAX };
    const bool ok = parse(&r, text, out, error);
    *from = r.from;
    *to = r.to < out->bytes ? r.to : out->bytes;
    return ok;
}

void arg_free(struct arg *a)
{
    free(a->data);
    free(a->pointers);
    *a = (struct arg){ 0 };
}

void buffers_free(struct buffers *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->all[i].data);
    free(b->all);
    *b = (struct buffers){ 0 };
}

void arg_link(struct arg *a, const struct buffers *buffers)
{
    if (a->map)
        a->tensor.address = buffers->all[a->map_buffer].address;
    for (size_t i = 0; i < a->n_pointers; i++)
        memcpy(a->data + a->pointers[i].at, &buffers->all[a->pointers[i].buffer].address, 8);
}

// The kinds of numbers that PTX tells apart: integers, floats, and bits that may be either.
static bool same_kind(const struct arg *a, enum simt_number wants)
{
    const bool integer = a->array || (a->type && a->type->number <= UNSIGNED), number = a->type || a->array;
    return !number || wants == SIMT_BITS || integer == (wants == SIMT_INTEGER);
}

bool arg_fits(const struct arg *a, const struct simt_type *type, bool scalar, uint64_t bytes, const char *place,
              char error[DEV_ERROR_MAX])
{
    char wants[96];
    if (a->bytes == bytes && (!scalar || same_kind(a, type->number)))
        return true;
    if (scalar && type->number == SIMT_BITS)
        snprintf(wants, sizeof wants, "is .%s, of %llu bytes", type->name, (unsigned long long)bytes);
    else if (scalar)
        snprintf(wants, sizeof wants, "is .%s: write %s:VALUE%s", type->name, arg_type_of(type)->name,
                 strcmp(type->name, "u64") ? "" : " or an array");
    else
        snprintf(wants, sizeof wants, "is a struct or an array of %llu bytes", (unsigned long long)bytes);
    return error_set(error, "%s, '%.200s', has %zu bytes%s; the parameter %s", place, a->text, a->bytes,
                     a->array  ? " (an address)"
                     : a->type ? a->type->number <= UNSIGNED ? " (an integer)" : " (a floating-point number)"
                               : "",
                     wants);
}
