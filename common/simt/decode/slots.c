// Register slots. nvcc names a register for every value: an 8 x 8 kernel has more than a thousand, which would not fit
// in the host's caches. Liveness (backward data flow over basic blocks) gives each register one interval of uops, and a
// linear scan lets registers whose intervals do not overlap share a slot. A guarded write keeps the lanes that the
// guard excludes, so it does not end the old value's life. Slots of 4 and of 8 bytes a lane never share, so that an
// operation may write over its own operand, lane by lane.
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

#define WORDS_MAX (1u << 24)  // of a set for each basic block
#define WORK_MAX (1u << 27)   // words joined until nothing changes
#define FILE_MAX (1u << 28)   // bytes of a warp's registers

struct interval {
    uint32_t vreg;
    int64_t start, end;  // twice the uop's index; odd: after its operands were read
};

struct flow {
    struct decoder *x;
    uint32_t *index;  // by vreg: its number among those that need a slot, or NO_VREG
    uint32_t n, words;
    struct blocks blocks;
    uint64_t *use, *def, *in, *out;  // [block][words]
};

void visit_operands(struct uop *u, visit_vreg *f, void *context)
{
    uint32_t *sources[] = { &u->a, &u->b, &u->c, &u->guard };
    struct warpop *op = u->kind == UOP_WARP ? u->warp : NULL;
    struct memop *m = op ? (op->has_mem ? &op->mem : NULL) : u->mem;
    bool load = u->kind == UOP_LOAD || u->kind == UOP_PARAM;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (*sources[i] != NO_VREG)
            f(context, sources[i], false);
    if (m && u->kind != UOP_PARAM)
        f(context, &m->base, false);
    for (uint32_t i = 0; !op && m && i < m->n; i++)
        if (m->reg_class[i] != SLOT_NONE)
            f(context, &m->reg[i], load);
    for (uint32_t i = 0; op && i < op->n_in; i++)
        f(context, &op->in[i], false);
    for (uint32_t i = 0; op && i < op->n_out; i++)
        f(context, &op->out[i], true);
    for (uint32_t i = 0; op && i < op->n_wide_in; i++)
        f(context, &op->wide_in[i], false);
    for (uint32_t i = 0; op && i < op->n_wide_out; i++)
        f(context, &op->wide_out[i], true);
    if (u->d != NO_VREG)
        f(context, &u->d, true);
}

static void set_bit(uint64_t *set, uint32_t i)
{
    set[i / 64] |= 1ull << i % 64;
}

static bool get_bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

struct block_visit {
    struct flow *f;
    uint64_t *use, *def;
    bool kills;
};

static void collect_use(void *context, uint32_t *vreg, bool is_def)
{
    struct block_visit *v = context;
    uint32_t i = v->f->index[*vreg];
    if (i != NO_VREG && (!is_def || !v->kills) && !get_bit(v->def, i))
        set_bit(v->use, i);
}

static void collect_def(void *context, uint32_t *vreg, bool is_def)
{
    struct block_visit *v = context;
    uint32_t i = v->f->index[*vreg];
    if (i != NO_VREG && is_def && v->kills)
        set_bit(v->def, i);
}

static bool join(uint64_t *into, const uint64_t *from, uint32_t words)
{
    uint64_t changed = 0;
    for (uint32_t w = 0; w < words; w++) {
        changed |= from[w] & ~into[w];
        into[w] |= from[w];
    }
    return changed;
}

static _Noreturn void fail_size(const struct flow *f)
{
    struct decoder *x = f->x;
    decode_fail(x, x->f->name.p, "'%.*s' is too large: %u registers in %u basic blocks", (int)x->f->name.n,
                x->f->name.p, f->n, f->blocks.n);
}

static void solve(struct flow *f)
{
    uint64_t work = 0;
    for (bool changed = true; changed;) {
        changed = false;
        if ((work += (uint64_t)f->blocks.n * f->words) > WORK_MAX)
            fail_size(f);
        for (uint32_t b = f->blocks.n; b-- > 0;) {
            size_t at = (size_t)b * f->words;
            for (int k = 0; k < 2; k++)
                if (f->blocks.next[b][k] != NO_BLOCK)
                    changed |= join(f->out + at, f->in + (size_t)f->blocks.next[b][k] * f->words, f->words);
            for (uint32_t w = 0; w < f->words; w++)
                f->in[at + w] = f->use[at + w] | (f->out[at + w] & ~f->def[at + w]);
        }
    }
}

struct touch {
    bool *touched;  // by vreg: some uop names it
};

static void touch_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct touch *t = context;
    (void)is_def;
    t->touched[*vreg] = true;
}

struct extent {
    const struct flow *f;
    struct interval *all;
    int64_t use_at, def_at;
};

static void stretch(struct interval *v, int64_t at)
{
    v->start = at < v->start ? at : v->start;
    v->end = at > v->end ? at : v->end;
}

// Those of a set; most sets are nearly empty.
static void stretch_set(const uint64_t *set, uint32_t words, struct interval *all, int64_t at)
{
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1)
            stretch(&all[64 * w + (uint32_t)__builtin_ctzll(left)], at);
}

static void extend_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct extent *e = context;
    uint32_t i = e->f->index[*vreg];
    if (i != NO_VREG)
        stretch(&e->all[i], is_def ? e->def_at : e->use_at);
}

static void intervals(struct flow *f, struct interval *all)
{
    const struct code *c = f->x->code;
    struct extent e = { .f = f, .all = all };
    for (uint32_t i = 0; i < c->n_uops; i++) {
        // An ALU uop may write where it read; the others must not, since they write before they have read all.
        bool in_place = c->uops[i].kind == UOP_ALU;
        e.use_at = 2 * (int64_t)i + !in_place;
        e.def_at = 2 * (int64_t)i + in_place;
        visit_operands(&c->uops[i], extend_visit, &e);
    }
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        stretch_set(f->in + (size_t)b * f->words, f->words, all, 2 * (int64_t)f->blocks.starts[b]);
        stretch_set(f->out + (size_t)b * f->words, f->words, all, 2 * (int64_t)f->blocks.starts[b + 1] - 1);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->vreg > y->vreg) - (x->vreg < y->vreg);
}

static int by_end(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->end != y->end ? (x->end > y->end) - (x->end < y->end) : (x->vreg > y->vreg) - (x->vreg < y->vreg);
}

// Gives every interval a slot number within its class; returns how many slots each class needs.
static void scan(struct flow *f, struct interval *all, uint32_t count[2])
{
    struct decoder *x = f->x;
    struct interval *ends = decode_scratch(x, (f->n + 1) * sizeof *ends);
    uint32_t *spare[2], n_spare[2] = { 0, 0 }, ended = 0;
    for (int k = 0; k < 2; k++)
        spare[k] = decode_scratch(x, (f->n + 1) * sizeof **spare);
    memcpy(ends, all, f->n * sizeof *ends);
    qsort(all, f->n, sizeof *all, by_start);
    qsort(ends, f->n, sizeof *ends, by_end);
    count[0] = count[1] = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        for (; ends[ended].end < all[i].start; ended++) {
            const struct vreg *v = &x->vregs[ends[ended].vreg];
            int k = v->slot == SLOT_64;
            spare[k][n_spare[k]++] = v->at;
        }
        struct vreg *v = &x->vregs[all[i].vreg];
        int k = v->slot == SLOT_64;
        v->at = n_spare[k] ? spare[k][--n_spare[k]] : count[k]++;
    }
}

// --- for those who look at a warp ---

struct writing {
    const struct decoder *x;
    uint32_t *all, n;
};

static void note_written(void *context, uint32_t *vreg, bool is_def)
{
    struct writing *w = context;
    if (!is_def || *vreg >= w->x->f->n_regs)
        return;
    if (w->all)
        w->all[w->n] = *vreg;
    w->n++;
}

// Which registers of the PTX each instruction writes. Its uops follow one another.
static void note_writes(struct decoder *x)
{
    struct code *c = x->code;
    struct writing count = { .x = x };
    for (uint32_t i = 0; i < c->n_uops; i++)
        visit_operands(&c->uops[i], note_written, &count);
    struct writing w = { .x = x, .all = c->written = decode_alloc(x, (count.n + 1) * sizeof *c->written) };
    c->first_written = decode_alloc(x, (x->f->n_insts + 2) * sizeof *c->first_written);
    for (uint32_t i = 0, inst = 0; i < c->n_uops; i++) {
        while (inst < c->uops[i].inst)
            c->first_written[++inst] = w.n;
        visit_operands(&c->uops[i], note_written, &w);
        c->first_written[inst + 1] = w.n;
    }
}

// Where the registers of the PTX are, and for how long. all: n intervals.
static void note_places(struct decoder *x, const struct interval *all, uint32_t n)
{
    struct code *c = x->code;
    c->regs = decode_alloc(x, (x->f->n_regs + 1) * sizeof *c->regs);
    for (uint32_t v = 0; v < x->f->n_regs; v++) {
        const bool pred = x->vregs[v].slot == SLOT_PRED;  // these have their slots for themselves
        c->regs[v] = (struct reg_place){ x->vregs[v].at, !pred, pred ? c->n_uops : 0 };
    }
    for (uint32_t i = 0; i < n; i++)
        if (all[i].vreg < x->f->n_regs)
            c->regs[all[i].vreg] = (struct reg_place){ x->vregs[all[i].vreg].at, (uint32_t)(all[i].start / 2),
                                                       (uint32_t)(all[i].end / 2) };
}

static void to_offset(void *context, uint32_t *vreg, bool is_def)
{
    const struct decoder *x = context;
    (void)is_def;
    *vreg = x->vregs[*vreg].at;
}

// The register file: predicates, 4-byte slots, 8-byte slots, constants.
static void lay_out(struct decoder *x, const uint32_t count[2])
{
    struct code *c = x->code;
    uint32_t n_preds = 0, at = 0;
    uint64_t bytes = (uint64_t)count[0] * 4 * LANES + (uint64_t)count[1] * 8 * LANES;
    for (uint32_t v = 0; v < x->n_vregs; v++)
        bytes += x->vregs[v].constant ? 8 * LANES : x->vregs[v].slot == SLOT_PRED ? 4 : 0;
    if (bytes > FILE_MAX)
        decode_fail(x, x->f->name.p, "'%.*s' takes more than %u bytes of registers a warp", (int)x->f->name.n,
                    x->f->name.p, FILE_MAX);
    for (uint32_t v = 0; v < x->n_vregs; v++)
        if (x->vregs[v].slot == SLOT_PRED)
            x->vregs[v].at = 4 * n_preds++;
    uint32_t base32 = (4 * n_preds + 127) / 128 * 128, base64 = base32 + count[0] * 4 * LANES;
    c->const_at = at = base64 + count[1] * 8 * LANES;
    for (uint32_t v = 0; v < x->n_vregs; v++) {
        struct vreg *r = &x->vregs[v];
        if (r->constant) {
            r->at = at;
            at += (r->slot == SLOT_64 ? 8 : 4) * LANES;
        } else if (r->slot != SLOT_PRED) {
            r->at = r->slot == SLOT_64 ? base64 + r->at * 8 * LANES : base32 + r->at * 4 * LANES;
        }
    }
    c->file_bytes = at + 8 * LANES;  // an unused operand may be read as a whole slot
    c->consts = decode_alloc(x, c->file_bytes - c->const_at);
    for (uint32_t v = 0; v < x->n_vregs; v++)
        c->n_windows += x->vregs[v].window;
    c->windows = decode_alloc(x, (c->n_windows + 1) * sizeof *c->windows);
    c->n_windows = 0;
    for (uint32_t v = 0; v < x->n_vregs; v++) {
        const struct vreg *r = &x->vregs[v];
        if (r->window)
            c->windows[c->n_windows++] = (struct window_const){ r->at, r->slot == SLOT_64 };
        for (uint32_t lane = 0; r->constant && lane < LANES; lane++) {
            uint32_t size = r->slot == SLOT_64 ? 8 : 4;
            memcpy(c->consts + r->at - c->const_at + lane * size, &r->bits, size);
        }
    }
}

// Liveness of the registers that have an index, of which there are n.
static void find_flow_of(struct flow *f)
{
    struct decoder *x = f->x;
    const struct code *c = x->code;
    find_blocks(x, &f->blocks);
    f->words = (f->n + 63) / 64 + 1;
    size_t words = (size_t)f->blocks.n * f->words;
    if (words > WORDS_MAX)
        fail_size(f);
    f->use = decode_scratch(x, words * sizeof *f->use);
    f->def = decode_scratch(x, words * sizeof *f->def);
    f->in = decode_scratch(x, words * sizeof *f->in);
    f->out = decode_scratch(x, words * sizeof *f->out);
    for (uint32_t i = 0; i < c->n_uops; i++) {
        size_t at = (size_t)f->blocks.of[i] * f->words;
        struct block_visit v = { f, f->use + at, f->def + at, !c->uops[i].guarded };
        visit_operands(&c->uops[i], collect_use, &v);
        visit_operands(&c->uops[i], collect_def, &v);
    }
    solve(f);
}

void find_unwritten(struct decoder *x, bool *unwritten)
{
    struct flow f = { .x = x };
    f.index = decode_scratch(x, (x->n_vregs + 1) * sizeof *f.index);
    for (uint32_t v = 0; v < x->n_vregs; v++)
        f.index[v] = x->vregs[v].constant ? NO_VREG : f.n++;
    find_flow_of(&f);
    for (uint32_t v = 0; v < x->n_vregs; v++)
        unwritten[v] = f.index[v] != NO_VREG && get_bit(f.in, f.index[v]);
}

void place_slots(struct decoder *x)
{
    struct code *c = x->code;
    struct flow f = { .x = x };
    f.index = decode_scratch(x, (x->n_vregs + 1) * sizeof *f.index);
    struct touch t = { .touched = decode_scratch(x, x->n_vregs + 1) };
    for (uint32_t i = 0; i < c->n_uops; i++)
        visit_operands(&c->uops[i], touch_visit, &t);
    for (uint32_t v = 0; v < x->n_vregs; v++) {
        bool placed = t.touched[v] && !x->vregs[v].constant && x->vregs[v].slot != SLOT_PRED;
        f.index[v] = placed ? f.n++ : NO_VREG;
    }
    struct interval *all = decode_scratch(x, (f.n + 1) * sizeof *all);
    for (uint32_t v = 0; v < x->n_vregs; v++)
        if (f.index[v] != NO_VREG)
            all[f.index[v]] = (struct interval){ v, INT64_MAX, -1 };
    find_flow_of(&f);
    intervals(&f, all);
    uint32_t count[2];
    scan(&f, all, count);
    lay_out(x, count);
    note_places(x, all, f.n);
    note_writes(x);
    for (uint32_t i = 0; i < c->n_uops; i++) {
        struct uop *u = &c->uops[i];
        visit_operands(u, to_offset, x);
        uint32_t *unused[] = { &u->d, &u->a, &u->b, &u->c, &u->guard };
        for (size_t k = 0; k < sizeof unused / sizeof *unused; k++)
            if (*unused[k] == NO_VREG)
                *unused[k] = 0;
    }
}
