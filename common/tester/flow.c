// See flow.h.
#include "flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gemm.h"
#include "slice.h"

// --- What an instruction does with elements ---

enum what { UNKNOWN, NOTHING, LOADS, COPIES, BOXES, WRITES, READS, PRODUCTS };

struct site {
    enum what what;
    unsigned bytes;  // of the values, or of a copy
    unsigned line;   // in the kernel's own file
    unsigned times;
    bool global;  // it reads a fragment from global memory
};

struct watcher {
    struct flow *f;
    const struct probe *p;
    const char *file;
    bool b, columns;
    uint64_t from, end;  // the matrix in global memory
    int pitch, cols;     // elements of a row there, and of the matrix
    struct site *sites;  // by instruction
    uint32_t n_sites;
    uint16_t *shared;  // by 2 bytes of shared memory: the number of what lies there; 0: nothing of the matrix
    uint32_t room;     // of them
    struct probe_watch look;
};

static bool has(const struct simt_instruction *in, const char *what)
{
    return memmem(in->op, in->op_bytes, what, strlen(what)) != NULL;
}

static enum what what_of(const struct simt_instruction *in)
{
    if (text_begins(in->op, "cp.async.bulk.tensor"))
        return has(in, "shared::cluster.global") || has(in, "shared::cta.global") ? BOXES : NOTHING;
    if (text_begins(in->op, "cp.async.c"))
        return COPIES;
    if (text_begins(in->op, "st.shared"))
        return WRITES;
    if (text_begins(in->op, "ld.shared") || text_begins(in->op, "ldmatrix") || text_begins(in->op, "wmma.load"))
        return READS;
    if (text_begins(in->op, "wgmma.mma"))
        return PRODUCTS;
    return text_begins(in->op, "ld.global") ? LOADS : NOTHING;
}

static struct site *site_at(struct watcher *w, uint32_t number)
{
    struct simt_instruction in;
    struct site *s = number < w->n_sites ? &w->sites[number] : NULL;
    if (!s || s->what != UNKNOWN)
        return s;
    s->what = simt_instruction(w->look.kernel, number, &in) ? what_of(&in) : NOTHING;
    s->line = s->what == NOTHING ? 0 : slice_line(w->look.kernel, w->file, number, NULL);
    return s;
}

// --- Numbers ---

// Of the elements in a register of that many bytes, the one at place i; 0: it is none of the matrix.
static int number_in(const struct watcher *w, uint64_t value, unsigned i)
{
    double x;
    if (w->p->type == DEV_F16) {
        x = half_to_double((uint16_t)(value >> 16 * i));
    } else if (w->p->type == DEV_F32) {
        const uint32_t bits = (uint32_t)(value >> 32 * i);
        float f;
        memcpy(&f, &bits, sizeof f);
        x = (double)f;
    } else {
        memcpy(&x, &value, sizeof x);
    }
    return x >= 1 && x <= w->f->n && x == floor(x) ? (int)x : 0;
}

// Of the element at that address of global memory.
static int number_at(const struct watcher *w, uint64_t address)
{
    if (address < w->from || address >= w->end)
        return 0;
    const uint64_t element = (address - w->from) / type_size(w->p->type);
    const int row = (int)(element / (uint64_t)w->pitch), col = (int)(element % (uint64_t)w->pitch);
    return col >= w->cols ? 0 : w->columns ? col + 1 : row + 1;
}

static void note(struct watcher *w, struct site *s, enum flow_stage stage, int number)
{
    if (!number)
        return;
    w->f->seen[stage][number - 1] = 1;
    w->f->shared = w->f->shared || stage == FLOW_WRITTEN;
    s->times++;
}

// The element of that number comes to lie in shared memory.
static void put(struct watcher *w, struct site *s, uint64_t at, int number)
{
    const uint64_t place = at / sizeof *w->shared;
    if (place >= w->room)
        return;
    const int before = w->shared[place];
    if (before && before != number && !w->f->seen[FLOW_READ][before - 1])
        w->f->replaced[before - 1] = 1;
    w->shared[place] = (uint16_t)number;
    note(w, s, FLOW_WRITTEN, number);
}

// Where the matrix is on the device: known once the launch begins.
static void find_matrix(struct watcher *w)
{
    const struct gemm_operand *x = w->b ? &w->look.call->b : &w->look.call->a;
    if (w->from)
        return;
    w->from = x->packed ? x->packed : x->from;
    w->pitch = x->pitch;
    w->end = w->from + (uint64_t)x->rows * (uint64_t)x->pitch * type_size(w->p->type);
}

// --- Instructions ---

enum { OPERANDS = 24 };

struct operands {
    struct simt_operand address[3], value[OPERANDS];
    uint32_t n_addresses, n_values;
};

static struct operands operands_of(const struct simt_look *l, enum simt_role role)
{
    struct operands o = { .n_addresses = 0 };
    struct simt_operand x;
    for (uint32_t i = 0; simt_look_operand(l, i, &x); i++)
        if (x.role == SIMT_ADDRESS && o.n_addresses < 3)
            o.address[o.n_addresses++] = x;
        else if (x.role == role && x.type.bytes && x.name[0] == '%' && x.name[1] != 'p' && o.n_values < OPERANDS)
            o.value[o.n_values++] = x;
    return o;
}

static unsigned elements_of(const struct watcher *w, const struct simt_operand *x)
{
    const unsigned n = x->type.bytes / (unsigned)type_size(w->p->type);
    return n ? n : 1;
}

// A load that goes to registers, or a fragment's: the values tell.
static void loads(struct watcher *w, struct site *s, const struct operands *o, uint32_t lane, enum flow_stage stage)
{
    const uint64_t at = o->n_addresses ? o->address[0].value[lane] : 0;
    const bool global = at >= w->from && at < w->end;
    for (uint32_t v = 0; v < o->n_values; v++)
        for (unsigned i = 0; i < elements_of(w, &o->value[v]); i++) {
            const int number = number_in(w, o->value[v].value[lane], i);
            if (stage == FLOW_LOADED && !global)
                continue;
            note(w, s, stage, number);
            s->global = s->global || (global && stage == FLOW_READ);
            if (global && stage == FLOW_READ)
                note(w, s, FLOW_LOADED, number);
        }
}

static void writes(struct watcher *w, struct site *s, const struct operands *o, uint32_t lane)
{
    uint64_t at = o->n_addresses ? o->address[0].value[lane] : 0;
    for (uint32_t v = 0; v < o->n_values; v++)
        for (unsigned i = 0; i < elements_of(w, &o->value[v]); i++, at += type_size(w->p->type))
            put(w, s, at, number_in(w, o->value[v].value[lane], i));
}

// 16 bytes, of which the last operand may say how many are read.
static void copies(struct watcher *w, struct site *s, const struct operands *o, uint32_t lane)
{
    enum { BYTES = 16 };
    const unsigned size = (unsigned)type_size(w->p->type);
    const uint64_t bytes = o->n_values ? o->value[o->n_values - 1].value[lane] : BYTES;
    for (unsigned i = 0; o->n_addresses > 1 && i < BYTES; i += size) {
        const int number = i < bytes ? number_at(w, o->address[1].value[lane] + i) : 0;
        note(w, s, FLOW_LOADED, number);
        put(w, s, o->address[0].value[lane] + i, number);
    }
}

// A box of the matrix: those numbers of its rows or columns that the matrix has.
static void boxes(struct watcher *w, struct site *s, const struct operands *o, uint32_t lane)
{
    enum { A_MAP = 4, B_MAP = 5, PAGE = 4096 };
    const struct geometry *g = &w->p->geometry;
    struct simt_parameter map;
    if (o->n_addresses < 3 || o->n_values < 2 || !simt_parameter(w->look.kernel, w->b ? B_MAP : A_MAP, &map) ||
        o->address[1].value[lane] % PAGE != map.at)
        return;
    const int first = (int)(uint32_t)o->value[w->columns ? 0 : 1].value[lane];
    const int count = w->columns ? g->box : w->b ? g->bk : g->bm;
    for (int i = first; i < first + count; i++)
        if (i >= 0 && i < w->f->n) {
            note(w, s, FLOW_LOADED, i + 1);
            note(w, s, FLOW_WRITTEN, i + 1);
        }
}

static bool tell(void *context, enum simt_event event, const struct simt_look *l)
{
    enum { EVERY = 4096 };
    struct watcher *w = context;
    struct site *s = event == SIMT_STEP ? site_at(w, simt_look_instruction(l)) : NULL;
    if (!s || (simt_look_step(l) % EVERY == 0 && probe_over(w->p)))
        return false;
    find_matrix(w);
    if (s->what == PRODUCTS)
        w->f->opaque = true;
    if (s->what == NOTHING || s->what == PRODUCTS)
        return true;
    const struct operands o = operands_of(l, s->what == LOADS || s->what == READS ? SIMT_WRITTEN : SIMT_READ);
    for (uint32_t lane = 0, lanes = simt_look_lanes(l); lane < 32 && lanes >> lane; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (s->what == LOADS || s->what == READS)
            loads(w, s, &o, lane, s->what == LOADS ? FLOW_LOADED : FLOW_READ);
        else if (s->what == WRITES)
            writes(w, s, &o, lane);
        else if (s->what == COPIES)
            copies(w, s, &o, lane);
        else
            boxes(w, s, &o, lane);
    }
    return true;
}

// --- A run ---

static void fill(struct matrix *m, bool numbers, bool columns)
{
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            matrix_set(m, i, j, !numbers ? 0 : columns ? j + 1 : i + 1);
}

static void choose_lines(struct watcher *w)
{
    static const enum what does[FLOW_STAGES][2] = { { LOADS, COPIES }, { WRITES, COPIES }, { READS, READS } };
    for (int stage = 0; stage < FLOW_STAGES; stage++)
        for (uint32_t i = 0, most = 0; i < w->n_sites; i++) {
            const struct site *s = &w->sites[i];
            const bool also = s->what == BOXES ? stage != FLOW_READ : s->global && stage == FLOW_LOADED;
            if (!s->line || s->times <= most || !(also || s->what == does[stage][0] || s->what == does[stage][1]))
                continue;
            most = s->times;
            w->f->line[stage] = s->line;
        }
}

static bool prepare(struct flow *f, struct watcher *w, const struct matrix *x)
{
    f->n = w->columns ? x->cols : x->rows;
    bool ok = true;
    for (int stage = 0; stage < FLOW_STAGES; stage++)
        ok = (f->seen[stage] = calloc((size_t)f->n, 1)) && ok;
    f->replaced = calloc((size_t)f->n, 1);
    w->shared = calloc(w->room, sizeof *w->shared);
    w->n_sites = 1 << 16;
    w->sites = calloc(w->n_sites, sizeof *w->sites);
    return ok && f->replaced && w->shared && w->sites;
}

bool flow_take(struct flow *f, struct probe *p, const char *file, const struct flow_of *of)
{
    enum { SHARED = 256 * 1024 };
    struct matrix A = matrix_new(p->type, of->m, of->k), B = matrix_new(p->type, of->k, of->n),
                  C = matrix_new(p->type, of->m, of->n);
    const struct matrix *x = of->matrix == 'A' ? &A : &B;
    const struct probe_product product = { .alpha = 1, .A = &A, .B = &B };
    struct watcher w = {
        .f = f, .p = p, .file = file, .b = of->matrix == 'B', .columns = of->columns, .room = SHARED / 2
    };
    *f = (struct flow){ .n = 0 };
    bool ok = A.data && B.data && C.data && prepare(f, &w, x);
    if (ok) {
        fill(&A, of->matrix == 'A', of->columns);
        fill(&B, of->matrix == 'B', of->columns);
        w.cols = x->cols;
        w.look.watch = (struct simt_watch){ .block = of->block, .warp = SIMT_ALL_WARPS, .tell = tell, .context = &w };
        ok = probe_look(p, &product, &C, &w.look);
        choose_lines(&w);
    }
    free(w.sites);
    free(w.shared);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    return ok;
}

void flow_free(struct flow *f)
{
    for (int stage = 0; stage < FLOW_STAGES; stage++)
        free(f->seen[stage]);
    free(f->replaced);
}

enum flow_stage flow_lost(const struct flow *f, int place)
{
    if (f->seen[FLOW_READ][place])
        return FLOW_STAGES;
    if (!f->seen[FLOW_LOADED][place])
        return FLOW_LOADED;
    if (!f->shared)  // from there to the products
        return FLOW_STAGES;
    return !f->seen[FLOW_WRITTEN][place] ? FLOW_WRITTEN : f->opaque ? FLOW_STAGES : FLOW_READ;
}
