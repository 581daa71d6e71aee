// See stores.h.
#include "stores.h"

#include <stdlib.h>

#include "base/text.h"
#include "gemm.h"

struct watcher {
    struct stores *s;
    struct probe *p;
    uint64_t now;
    struct probe_watch look;
};

static void note(struct watcher *w, const struct simt_look *l, uint32_t lane, uint64_t address, uint32_t bytes)
{
    const size_t size = type_size(w->p->type);
    const uint32_t warp = simt_look_warp(l), thread = warp * 32 + lane;
    for (uint64_t at = address - w->look.call->C; at < address - w->look.call->C + bytes; at += size) {
        if (at / size >= w->s->elements || warp >= STORES_WARPS)
            return;
        struct store *e = &w->s->all[at / size];
        if (!e->times++)
            e->thread = e->other = thread;
        else if (e->other == e->thread)
            e->other = thread;
        e->number = simt_look_instruction(l);
        w->s->lanes[warp] |= 1u << lane;
        w->s->times++;
    }
}

static bool tell(void *context, enum simt_event event, const struct simt_look *l)
{
    enum { EVERY = 4096 };
    struct watcher *w = context;
    struct simt_instruction in;
    struct simt_operand at;
    if (event == SIMT_ERROR || (++w->now % EVERY == 0 && probe_over(w->p)))
        return false;
    if (!simt_instruction(w->look.kernel, simt_look_instruction(l), &in) || !text_begins(in.op, "st.global"))
        return true;
    for (uint32_t i = 0; simt_look_operand(l, i, &at); i++)
        for (uint32_t lane = 0; at.role == SIMT_ADDRESS && lane < 32; lane++)
            if (simt_look_lanes(l) >> lane & 1)
                note(w, l, lane, at.value[lane], at.bytes);
    return true;
}

bool stores_take(struct stores *s, struct probe *p, int m, int n, int k, uint64_t block)
{
    struct probe_data x;
    struct tester_options o = tester_defaults;
    struct watcher w = { .s = s, .p = p };
    o.m = m, o.n = n, o.k = k;
    *s = (struct stores){ .n = n, .elements = (size_t)m * (size_t)n };
    s->all = calloc(s->elements, sizeof *s->all);
    bool ok = probe_fill(&x, p->type, &o) && s->all;
    if (ok) {
        const struct probe_product product = { .alpha = 1, .A = &x.A, .B = &x.B };
        w.look.watch = (struct simt_watch){ .block = block, .warp = SIMT_ALL_WARPS, .tell = tell, .context = &w };
        ok = probe_look(p, &product, &x.C, &w.look) && s->times;
    }
    probe_release(&x);
    return ok;
}

void stores_free(struct stores *s)
{
    free(s->all);
}

uint32_t stores_threads(const struct stores *s)
{
    uint32_t n = 0;
    for (int warp = 0; warp < STORES_WARPS; warp++)
        n += (uint32_t)__builtin_popcount(s->lanes[warp]);
    return n;
}
