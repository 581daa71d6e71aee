// See matrix.h. The instruction's name says which matrices its registers hold, the simulator's fragments which lane has
// which element.
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/matrix.h"
#include "inside.h"

enum { REGISTERS = 256, SPELLED = 160, STRIP = 8 };  // wgmma's accumulators are strips of 16 x 8

struct form {  // a matrix that the instruction names
    char name;
    const struct fragment_type *type;
    struct fragment f;
    uint32_t strips;  // fragments, side by side
};

struct forms {
    uint32_t n;
    struct form all[WATCH_MATRICES];
};

// --- what the name of an instruction says ---

struct spelled {
    char text[SPELLED];
    const char *types[WATCH_MATRICES];
    unsigned n_types, m, n, k;
};

static bool is_type(const char *word)
{
    const struct fragment_type *t;
    for (unsigned i = 0; (t = fragment_type(i)); i++)
        if (!strcmp(t->name, word))
            return true;
    return false;
}

static void spell(const struct simt_instruction *in, struct spelled *s)
{
    *s = (struct spelled){ .n_types = 0 };
    snprintf(s->text, sizeof s->text, "%.*s", (int)in->op_bytes, in->op);
    for (char *save, *word = strtok_r(s->text, ".", &save); word; word = strtok_r(NULL, ".", &save))
        if (is_type(word) && s->n_types < WATCH_MATRICES)
            s->types[s->n_types++] = word;
        else
            sscanf(word, "m%un%uk%u", &s->m, &s->n, &s->k);
}

static enum fragment_role role_of(char name)
{
    return name == 'A' ? FRAGMENT_A : name == 'B' ? FRAGMENT_B : FRAGMENT_C;
}

static const struct fragment_type *type_named(const char *name, bool c)
{
    const struct fragment_type *t;
    for (unsigned i = 0; (t = fragment_type(i)); i++)
        if (t->c == c && !strcmp(t->name, name))
            return t;
    return NULL;
}

static bool fragment_spelled(const struct spelled *s, char name, const struct fragment_type *t, struct fragment *f)
{
    const struct fragment_shape *shape;
    for (unsigned i = 0; (shape = fragment_shape(i)); i++)
        if (shape->m == s->m && shape->n == s->n && shape->k == s->k && fragment_named(role_of(name), shape, t, f))
            return true;
    return false;
}

// warps: a warpgroup multiplies, whose warps have 16 rows each.
static void add_form(struct forms *forms, const struct spelled *s, char name, const char *type, bool warps)
{
    struct form f = { .name = name, .type = type_named(type, name > 'B'), .strips = 1 };
    const bool known = f.type && (warps ? fragment_of(role_of(name), 16, STRIP, (int)s->k, f.type->bytes, 0, &f.f)
                                        : fragment_spelled(s, name, f.type, &f.f));
    if (warps && name == 'D')
        f.strips = s->n / STRIP;
    if (known)
        forms->all[forms->n++] = f;
}

static bool starts(const struct simt_instruction *in, const char *with)
{
    return in->op_bytes > strlen(with) && !memcmp(in->op, with, strlen(with));
}

// The matrices of an instruction in the order of its registers; none where one of them is not known.
static struct forms forms_of(const struct simt_instruction *in)
{
    struct forms forms = { 0 };
    struct spelled s;
    spell(in, &s);
    if ((starts(in, "wmma.load.") || starts(in, "wmma.store.")) && s.n_types == 1)
        add_form(&forms, &s, (char)(strchr(in->op + 5, '.')[1] - 'a' + 'A'), s.types[0], false);
    if (starts(in, "wgmma.mma_async.") && s.n_types == 3) {
        const char *end = memchr(in->text, '}', in->text_bytes);
        add_form(&forms, &s, 'D', s.types[0], true);
        if (end && memchr(end, '{', in->text_bytes - (size_t)(end - in->text)))
            add_form(&forms, &s, 'A', s.types[1], true);
    }
    if ((!starts(in, "mma.sync.") && !starts(in, "wmma.mma.")) || s.n_types < 2)
        return forms;
    const bool four = s.n_types == 4;  // two: those of D and C
    for (unsigned i = 0; i < WATCH_MATRICES; i++)
        add_form(&forms, &s, "DABC"[i], four ? s.types[i] : i % 3 ? "f16" : s.types[i / 3], false);
    return forms.n == WATCH_MATRICES ? forms : (struct forms){ 0 };
}

// --- their registers ---

struct held {
    uint32_t n;
    struct {
        uint32_t number;
        bool read;
        uint64_t value[WATCH_LANES];
    } all[REGISTERS];
    bool lives;
    uint32_t left;  // products that are on their way
};

static bool hold(void *context, uint64_t moment, const struct simt_look *look)
{
    struct held *h = context;
    struct simt_operand o;
    (void)moment;
    for (uint32_t i = 0; simt_look_operand(look, i, &o) && h->n < REGISTERS; i++) {
        if (o.role == SIMT_ADDRESS)
            continue;
        h->all[h->n].number = o.number;
        h->all[h->n].read = o.role == SIMT_READ;
        memcpy(h->all[h->n++].value, o.value, sizeof h->all->value);
    }
    h->left = simt_look_products(look, simt_look_warp(look));
    return false;
}

// The same registers, as they are at another moment.
static bool hold_again(void *context, uint64_t moment, const struct simt_look *look)
{
    struct held *h = context;
    (void)moment;
    h->lives = true;
    for (uint32_t i = 0; i < h->n; i++)
        h->lives &= simt_look_value(look, simt_look_warp(look), h->all[i].number, h->all[i].value);
    return false;
}

// The step of the warp's last product before this one that has come; `left` have not.
static uint64_t product_before(const struct watch *w, uint64_t moment, uint32_t left)
{
    for (uint64_t i = moment; i-- > 0;)
        if (step_warp(w, i) == step_warp(w, moment) && w->code[step_instruction(w, i)].kind == OP_PRODUCT && !left--)
            return i;
    return WATCH_NONE;
}

// What the registers of a step hold. Of a product they hold nothing before it has come: then only A is there.
static bool hold_step(struct watch *w, uint64_t moment, struct held *h, struct forms *forms, char error[DEV_ERROR_MAX])
{
    struct simt_instruction in;
    uint64_t product = moment;
    const enum op_kind kind = w->code[step_instruction(w, moment)].kind;
    if (!watch_run(w, moment, moment, hold, h, error))
        return false;
    if (kind == OP_WAIT && (product = product_before(w, moment, h->left)) == WATCH_NONE)
        return true;
    simt_instruction(w->kernel, step_instruction(w, product), &in);
    *forms = forms_of(&in);
    if (kind != OP_WAIT)
        return true;
    h->n = 0;
    forms->n = forms->n ? 1 : 0;  // D
    if (!watch_run(w, product, product, hold, h, error))
        return false;
    h->n = forms->n ? forms->all[0].f.n * forms->all[0].strips : 0;
    if (!watch_run(w, moment, moment, hold_again, h, error))
        return false;
    forms->n = h->lives ? forms->n : 0;
    return true;
}

// --- elements ---

static double as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double value_of(const struct fragment_type *t, uint64_t bits, unsigned part)
{
    double d;
    const uint32_t low = (uint32_t)(bits >> (t->bytes < 4 ? 8 * t->bytes * part : 0));
    if (!strcmp(t->name, "f16"))
        return half_to_double((uint16_t)low);
    if (!strcmp(t->name, "bf16"))
        return as_float(low << 16);
    if (!strcmp(t->name, "s8"))
        return (int8_t)low;
    if (!strcmp(t->name, "u8"))
        return (uint8_t)low;
    if (!strcmp(t->name, "s32"))
        return (int32_t)low;
    memcpy(&d, &bits, sizeof d);
    return t->bytes == 8 ? d : as_float(low);
}

static bool fill(const struct form *form, const struct held *h, uint32_t first, struct watch_matrix *out)
{
    const struct fragment *f = &form->f;
    *out = (struct watch_matrix){ form->name, form->type->name, f->rows, f->cols * form->strips, h->all[first].read,
                                  NULL };
    out->at = calloc((size_t)out->rows * out->cols, sizeof *out->at);
    for (uint32_t r = 0; out->at && r < f->n * form->strips; r++)
        for (unsigned lane = 0; lane < WATCH_LANES; lane++)
            for (unsigned part = 0; part < f->pack; part++) {
                unsigned row, col;
                fragment_at(f, r % f->n, lane, part, &row, &col);
                out->at[row * out->cols + col + r / f->n * STRIP] = (struct watch_element){
                    .value = value_of(form->type, h->all[first + r].value[lane], part),
                    .number = h->all[first + r].number,
                    .lane = (uint8_t)lane,
                    .part = (uint8_t)part,
                };
            }
    return out->at;
}

size_t watch_matrices(struct watch *w, uint64_t moment, struct watch_matrix all[WATCH_MATRICES],
                      char error[DEV_ERROR_MAX])
{
    struct held *h = calloc(1, sizeof *h);
    struct forms forms = { 0 };
    uint32_t first = 0;
    size_t n = 0;
    *error = '\0';
    bool ok = h || error_set(error, "out of memory");
    ok = ok && moment < w->n && hold_step(w, moment, h, &forms, error);
    const bool product = moment < w->n && w->code[step_instruction(w, moment)].kind == OP_PRODUCT;
    for (uint32_t i = 0; ok && i < forms.n; i++) {
        const uint32_t registers = forms.all[i].f.n * forms.all[i].strips;
        if (first + registers > h->n)
            break;
        if (!product || forms.all[i].name != 'D')
            ok = fill(&forms.all[i], h, first, &all[n++]) || error_set(error, "out of memory");
        first += registers;
    }
    free(h);
    if (!ok)
        watch_matrices_free(all, n);
    return ok ? n : 0;
}

void watch_matrices_free(struct watch_matrix *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(all[i].at);
}

// --- as JSON ---

static void tell_elements(struct json *j, const struct watch *w, const struct watch_matrix *m)
{
    const uint32_t n = m->rows * m->cols;
    uint32_t first = UINT32_MAX, last = 0;
    struct simt_register r;
    char text[32];
    for (uint32_t i = 0; i < n; i++) {
        first = m->at[i].number < first ? m->at[i].number : first;
        last = m->at[i].number > last ? m->at[i].number : last;
    }
    json_array(j, "registers");
    for (uint32_t i = first; i <= last && simt_register(watch_kernel(w), i, &r); i++)
        json_string(j, NULL, r.name);
    json_end(j);
    json_array(j, "register");
    for (uint32_t i = 0; i < n; i++)
        json_uint(j, NULL, m->at[i].number - first);
    json_end(j);
    json_array(j, "lane");
    for (uint32_t i = 0; i < n; i++)
        json_uint(j, NULL, m->at[i].lane);
    json_end(j);
    json_array(j, "part");
    for (uint32_t i = 0; i < n; i++)
        json_uint(j, NULL, m->at[i].part);
    json_end(j);
    json_array(j, "value");
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%.5g", m->at[i].value);
        json_string(j, NULL, text);
    }
    json_end(j);
}

bool watch_matrices_json(struct watch *w, uint64_t moment, struct json *j, char error[DEV_ERROR_MAX])
{
    struct watch_matrix all[WATCH_MATRICES];
    const size_t n = watch_matrices(w, moment, all, error);
    char name[2] = "";
    if (!n && *error)
        return false;
    json_array(j, "matrices");
    for (size_t i = 0; i < n; i++) {
        *name = all[i].name;
        json_object(j, NULL);
        json_string(j, "name", name);
        json_string(j, "type", all[i].type);
        json_uint(j, "rows", all[i].rows);
        json_uint(j, "cols", all[i].cols);
        json_bool(j, "read", all[i].read);
        tell_elements(j, w, &all[i]);
        json_end(j);
    }
    json_end(j);
    watch_matrices_free(all, n);
    return true;
}
