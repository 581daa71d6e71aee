// Values in the terminal: of registers, of shared memory, of matrices in registers. See watch_show.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "matrix.h"
#include "watch_show.h"

enum { LANES = 32, SHOWN = 8 };

struct showing {
    struct watch *w;
    FILE *out;
    uint32_t warp, at, count;
    int64_t number;  // of a register
    struct simt_type type;
    const char *as;
    bool known;
};

// --- values ---

uint32_t show_bytes(const char *as)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } types[] = { { "f16", 2 }, { "f32", 4 }, { "f64", 8 }, { "s32", 4 }, { "u32", 4 },
                  { "s64", 8 }, { "u64", 8 }, { "hex", 4 }, { "u8", 1 },  { "u16", 2 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, as))
            return types[i].bytes;
    return 0;
}

static double bf16_of(uint64_t bits)
{
    float f;
    const uint32_t word = (uint32_t)bits << 16;
    memcpy(&f, &word, sizeof f);
    return (double)f;
}

enum { SHOW_VALUE = 48 };
// A value in words: as the type that `as` names, or, if that is NULL, as the register's own; registers of bits are
// shown as integers. False: there is no such type.
static bool show_value(uint64_t bits, const struct simt_type *type, const char *as, char out[SHOW_VALUE])
{
    float f;
    double d;
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &bits, sizeof d);
    const char *name = as ? as : type->name;
    const uint32_t bytes = as ? show_bytes(as) : type->bytes;
    if (as && !bytes)
        return false;
    if (!strcmp(name, "f32") || !strcmp(name, "tf32"))
        snprintf(out, SHOW_VALUE, "%g", (double)f);
    else if (!strcmp(name, "f64"))
        snprintf(out, SHOW_VALUE, "%g", d);
    else if (!strcmp(name, "f16"))
        snprintf(out, SHOW_VALUE, "%g", half_to_double((uint16_t)bits));
    else if (!strcmp(name, "f16x2"))
        snprintf(out, SHOW_VALUE, "%g|%g", half_to_double((uint16_t)bits), half_to_double((uint16_t)(bits >> 16)));
    else if (!strcmp(name, "bf16") || !strcmp(name, "bf16x2"))
        snprintf(out, SHOW_VALUE, bytes == 4 ? "%g|%g" : "%g", bf16_of(bits), bf16_of(bits >> 16));
    else if (!strcmp(name, "hex") || (!as && type->number == SIMT_BITS && bytes != 4 && strcmp(name, "pred") != 0))
        snprintf(out, SHOW_VALUE, "0x%" PRIx64, bits);
    else if (*name == 'u' || bytes == 1)
        snprintf(out, SHOW_VALUE, "%" PRIu64, bits);
    else
        snprintf(out, SHOW_VALUE, "%" PRId64, bytes == 8 ? (int64_t)bits : (int64_t)(int32_t)bits);
    return true;
}

// The values of some lanes: one if they are the same, else the first, or all.
void show_values(FILE *out, const uint64_t value[LANES], uint32_t lanes, const struct simt_type *type, const char *as,
                 uint32_t most)
{
    char text[SHOW_VALUE];
    bool same = true;
    uint32_t n = 0;
    const uint32_t first = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        same &= !(lanes >> lane & 1) || value[lane] == value[first];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!(lanes >> lane & 1) || (same && lane != first))
            continue;
        if (n++ == most) {
            fputs(" ...", out);
            break;
        }
        show_value(value[lane], type, as, text);
        fprintf(out, "%s%s", most == LANES && n > 1 && n % SHOWN == 1 ? "\n      " : " ", text);
    }
    fputs(same && (lanes & (lanes - 1)) ? " (the same in these lanes)\n" : "\n", out);
}

// --- registers and memory ---

static bool see_register(void *context, uint64_t moment, const struct simt_look *look)
{
    struct showing *s = context;
    uint64_t value[LANES];
    (void)moment;
    s->known = simt_look_value(look, s->warp, (uint32_t)s->number, value);
    if (s->known)
        show_values(s->out, value, UINT32_MAX, &s->type, s->as, LANES);
    return false;
}

bool show_register(struct watch *w, uint64_t moment, uint32_t warp, const char *name, const char *as, FILE *out,
                   char error[DEV_ERROR_MAX])
{
    struct simt_register r;
    struct showing s = { .w = w, .out = out, .warp = warp, .as = as };
    s.number = simt_register_number(watch_kernel(w), name);
    if (s.number < 0 || !simt_register(watch_kernel(w), (uint32_t)s.number, &r))
        return error_set(error, "the kernel has no register %.100s", name);
    s.type = watch_type(w, (uint32_t)s.number);
    fprintf(out, "%s, %s, warp %u:", name, as ? as : s.type.name, warp);
    if (!watch_run(w, moment, moment, see_register, &s, error))
        return false;
    if (!s.known)
        fputs(" not in use here\n", out);
    return true;
}

struct written {  // the registers that a lane of a warp has written, and when it did last
    const struct showing *s;
    uint32_t n;
    struct last {
        uint32_t number;
        uint64_t moment;
    } * all;  // by number, until they are put in order
    uint64_t moment;
};

static int later_first(const void *a, const void *b)
{
    const struct last *x = a, *y = b;
    return x->moment != y->moment ? (x->moment < y->moment ? 1 : -1) : x->number < y->number ? -1 : 1;
}

static void print_registers(struct written *t, const struct simt_look *look)
{
    enum { IN_A_ROW = 4 };
    uint64_t value[LANES];
    char text[SHOW_VALUE];
    struct simt_register r;
    uint32_t n = 0;
    qsort(t->all, t->n, sizeof *t->all, later_first);
    for (uint32_t i = 0; i < t->n && t->all[i].moment; i++) {
        if (!simt_look_value(look, t->s->warp, t->all[i].number, value))
            continue;
        simt_register(watch_kernel(t->s->w), t->all[i].number, &r);
        const struct simt_type type = watch_type(t->s->w, t->all[i].number);
        show_value(value[t->s->at], &type, NULL, text);
        fprintf(t->s->out, "%s%9s %-12s", n++ % IN_A_ROW ? "" : "\n", r.name, text);
    }
    fputs(n ? "\n" : ": none\n", t->s->out);
}

static bool see_registers(void *context, uint64_t moment, const struct simt_look *look)
{
    struct written *t = context;
    struct simt_operand o;
    const bool its = simt_look_warp(look) == t->s->warp && simt_look_lanes(look) >> t->s->at & 1;
    for (uint32_t i = 0; its && simt_look_operand(look, i, &o); i++)
        if (o.role == SIMT_WRITTEN)
            t->all[o.number] = (struct last){ o.number, moment + 1 };
    if (moment == t->moment)
        print_registers(t, look);
    return true;
}

bool show_registers(struct watch *w, uint64_t moment, uint32_t warp, uint32_t lane, FILE *out,
                    char error[DEV_ERROR_MAX])
{
    const struct showing s = { .w = w, .out = out, .warp = warp, .at = lane };
    struct written t = { .s = &s, .moment = moment };
    struct simt_register r;
    while (simt_register(watch_kernel(w), t.n, &r))
        t.n++;
    if (!(t.all = calloc(t.n + 1, sizeof *t.all)))
        return error_set(error, "out of memory");
    fprintf(out, "warp %u, lane %u, last written first", warp, lane);
    const bool ok = watch_run(w, 0, moment, see_registers, &t, error);
    free(t.all);
    return ok;
}

static bool is_unwritten(const struct simt_look *look, uint32_t at, uint64_t value, uint32_t bytes)
{
    const uint64_t unwritten = UINT64_C(0x0101010101010101) * DEV_UNWRITTEN;
    uint32_t thread, inst;
    return !simt_look_writer(look, at, &thread, &inst) && !memcmp(&value, &unwritten, bytes);
}

// Eight values a line, '-' for what has not been written.
static void print_row(const struct showing *s, const struct simt_look *look, uint32_t at, uint32_t n)
{
    const uint32_t bytes = show_bytes(s->as);
    char text[WATCH_TEXT];
    watch_shared_text(s->w, at, text);
    fprintf(s->out, "%s, %s:", text, s->as);
    for (uint32_t i = 0; i < n; i++, at += bytes) {
        uint64_t value = 0;
        if (!simt_look_shared(look, at, &value, bytes))
            break;
        show_value(value, NULL, s->as, text);
        fprintf(s->out, " %s", is_unwritten(look, at, value, bytes) ? "-" : text);
    }
    fputc('\n', s->out);
}

static bool see_shared(void *context, uint64_t moment, const struct simt_look *look)
{
    const struct showing *s = context;
    const uint32_t row = SHOWN * show_bytes(s->as), all = simt_look_shared_bytes(look);
    char place[WATCH_TEXT];
    struct simt_phase phase;
    (void)moment;
    if (simt_look_mbarrier(look, s->at, &phase) && !strcmp(s->as, "hex")) {
        watch_shared_text(s->w, s->at, place);
        fprintf(s->out, "%s, %s: an mbarrier, phase %u: %u of %u arrivals and %" PRId64 " bytes are missing\n", place,
                s->as, phase.parity, phase.pending, phase.expected, phase.bytes);
        return false;
    }
    for (uint32_t i = 0; i < s->count && s->at + i / SHOWN * row < all; i += SHOWN)
        print_row(s, look, s->at + i / SHOWN * row, s->count - i < SHOWN ? s->count - i : SHOWN);
    return false;
}

bool show_shared(struct watch *w, uint64_t moment, uint32_t at, const char *as, uint32_t count, FILE *out,
                 char error[DEV_ERROR_MAX])
{
    struct showing s = { .w = w, .out = out, .at = at, .as = as, .count = count };
    return watch_run(w, moment, moment, see_shared, &s, error);
}

// --- matrices in registers ---

static void print_element(const struct showing *s, const struct watch_element *e, bool by_lane, bool parts)
{
    struct simt_register r;
    char text[SIMT_NAME_MAX + 16];
    snprintf(text, sizeof text, "%.5g", e->value);
    if (by_lane && simt_register(watch_kernel(s->w), e->number, &r))
        snprintf(text, sizeof text, parts ? "%u:%s.%u" : "%u:%s", e->lane, r.name, e->part);
    fprintf(s->out, " %11s", text);
}

static void print_matrix(const struct showing *s, const struct watch_matrix *m, uint32_t column, bool by_lane)
{
    enum { COLUMNS = 8 };
    const uint32_t end = column + COLUMNS < m->cols ? column + COLUMNS : m->cols;
    const bool parts = m->at[m->rows * m->cols - 1].part != 0;
    fprintf(s->out, "%c, %u x %u, %s%s", m->name, m->rows, m->cols, m->type, by_lane ? ", lane:register" : "");
    if (end - column < m->cols)
        fprintf(s->out, ", columns %u to %u", column, end - 1);
    fputs("\n     ", s->out);
    for (uint32_t col = column; col < end; col++)
        fprintf(s->out, " %11u", col);
    for (uint32_t row = 0; row < m->rows; row++) {
        fprintf(s->out, "\n%4u:", row);
        for (uint32_t col = column; col < end; col++)
            print_element(s, &m->at[row * m->cols + col], by_lane, parts);
    }
    fputc('\n', s->out);
}

bool show_matrices(struct watch *w, uint64_t moment, char name, uint32_t column, bool by_lane, FILE *out,
                   char error[DEV_ERROR_MAX])
{
    struct watch_matrix all[WATCH_MATRICES];
    struct showing s = { .w = w, .out = out };
    const size_t n = watch_matrices(w, moment, all, error);
    bool any = false;
    if (!n && *error)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((!name || all[i].name == name) && column < all[i].cols) {
            print_matrix(&s, &all[i], column, by_lane);
            any = true;
        }
    watch_matrices_free(all, n);
    return any || error_set(error, n ? "there is no such matrix, or no such column"
                                     : "no registers hold a matrix here: they do at an mma, a wmma, and where products "
                                       "of wgmma are waited for");
}
