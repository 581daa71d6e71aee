// Registers of wgmma, for the checks: which uops touch accumulators while a product may be under way, which products
// read registers that were written since the last wgmma.fence, and which may be the first, without any wgmma.fence
// before. Source: PTX ISA 9.7.16.
#include "decoder.h"
#include "simt/code/wgmma.h"

struct step {
    uint32_t at;  // a uop
    bool open;    // a product was issued on the way to it, and not committed since
};

struct walk {
    const struct code *c;
    bool *seen;  // by uop, and whether a product is open there
    struct step *list;
    uint32_t n;
};

static bool is(const struct uop *u, enum warp_op kind)
{
    return u->kind == UOP_WARP && u->warp->kind == kind;
}

static void add(struct walk *w, uint32_t i, bool open)
{
    if (i >= w->c->n_uops || w->seen[2 * i + open])
        return;
    w->seen[2 * i + open] = true;
    w->list[w->n++] = (struct step){ i, open };
}

static void go_on(struct walk *w, uint32_t i, bool open)
{
    const struct uop *u = &w->c->uops[i];
    if (u->kind == UOP_BRANCH)
        add(w, u->target, open);
    if (u->guarded || (u->kind != UOP_BRANCH && u->kind != UOP_EXIT))
        add(w, i + 1, open);
}

static void begin(struct walk *w)
{
    for (uint32_t i = 0; i < 2 * w->c->n_uops; i++)
        w->seen[i] = false;
    w->n = 0;
}

struct touch {
    const bool *accumulator;  // by vreg
    bool any;
    uint32_t written;  // an accumulator that is written, or NO_VREG
};

static void touch_visit(void *context, uint32_t *vreg, bool is_def)
{
    struct touch *t = context;
    t->any |= t->accumulator[*vreg];
    if (is_def && t->accumulator[*vreg])
        t->written = *vreg;
}

// The last uop of the stretch that wrote one of the product's accumulators, from 1 on; 0: none did.
static uint32_t last_writer(const struct warpop *op, const uint32_t *writer)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < op->n_wide_in; i++)
        last = writer[op->wide_in[i]] > last ? writer[op->wide_in[i]] : last;
    return last;
}

// From the end of a stretch of uops that follow each other: the products that are reached without a fence, and use an
// accumulator that was written there. writer: by vreg, see last_writer.
static void find_unfenced(struct walk *w, uint32_t end, const uint32_t *writer)
{
    begin(w);
    go_on(w, end, false);
    while (w->n) {
        const uint32_t i = w->list[--w->n].at;
        const struct uop *u = &w->c->uops[i];
        if (is(u, WARP_wgmma_fence))
            continue;
        if (is(u, WARP_wgmma)) {
            const uint32_t last = last_writer(u->warp, writer);
            if (last)
                u->warp->shape = w->c->uops[last - 1].inst + 1;
            continue;
        }
        go_on(w, i, false);
    }
}

// Whether what is reached from this uop is what is reached from the next, and that.
static bool goes_on_alone(const struct uop *u)
{
    return u->kind != UOP_BRANCH && u->kind != UOP_EXIT && !is(u, WARP_wgmma) && !is(u, WARP_wgmma_fence);
}

// Stretch by stretch, so that the uops that set all accumulators to 0 take one walk.
static void find_all_unfenced(struct walk *w, const bool *accumulator, uint32_t *writer, uint32_t n_vregs)
{
    const struct code *c = w->c;
    bool any = false;
    for (uint32_t i = 0; i < c->n_uops; i++) {
        struct touch t = { .accumulator = accumulator, .written = NO_VREG };
        if (!is(&c->uops[i], WARP_wgmma) && !is(&c->uops[i], WARP_wgmma_wait))
            visit_operands(&c->uops[i], touch_visit, &t);
        if (t.written != NO_VREG)
            writer[t.written] = i + 1;
        any = any || t.written != NO_VREG;
        if (!any || goes_on_alone(&c->uops[i]))
            continue;
        find_unfenced(w, i - 1, writer);
        for (uint32_t v = 0; v < n_vregs; v++)
            writer[v] = 0;
        any = false;
    }
}

// From where the kernel begins: the products that are reached without a fence. They name themselves.
static void find_first(struct walk *w)
{
    begin(w);
    add(w, 0, false);
    while (w->n) {
        const uint32_t i = w->list[--w->n].at;
        const struct uop *u = &w->c->uops[i];
        if (is(u, WARP_wgmma) && !u->warp->shape)
            u->warp->shape = u->inst + 1;
        if (!is(u, WARP_wgmma) && !is(u, WARP_wgmma_fence))
            go_on(w, i, false);
    }
}

// From the products on, up to the waits that end them: wgmma.wait_group 0 waits for what was committed before it, and
// for nothing else.
static void find_touches(struct walk *w, const bool *accumulator)
{
    const struct code *c = w->c;
    for (uint32_t i = 0; i < c->n_uops; i++)
        if (is(&c->uops[i], WARP_wgmma))
            go_on(w, i, true);
    while (w->n) {
        const struct step s = w->list[--w->n];
        struct uop *u = &c->uops[s.at];
        struct touch t = { .accumulator = accumulator };
        if (!is(u, WARP_wgmma) && !is(u, WARP_wgmma_wait))
            visit_operands(u, touch_visit, &t);
        u->flight = t.any && !(c->wgmma_now && u->kind == UOP_ALU && u->op == ALU_mov_b32);
        if (s.open || !is(u, WARP_wgmma_wait) || u->warp->op || u->guarded)
            go_on(w, s.at, s.open && (!is(u, WARP_wgmma_commit) || u->guarded));
    }
}

void find_flights(struct decoder *x, const bool *accumulator)
{
    struct code *c = x->code;
    struct walk w = { .c = c,
                      .seen = decode_scratch(x, 2 * c->n_uops + 1),
                      .list = decode_scratch(x, (2 * c->n_uops + 1) * sizeof *w.list) };
    find_touches(&w, accumulator);
    find_all_unfenced(&w, accumulator, decode_scratch(x, x->n_vregs * sizeof(uint32_t)), x->n_vregs);
    find_first(&w);
}
