// See history.h.
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gemm.h"
#include "slice.h"

enum { SHARED = 256 * 1024, WORD = 4 };

struct watcher {
    struct history *h;
    struct probe *p;
    const char *file;
    const struct simt_finding *error;
    bool at_error;  // the kernel ends there; else it goes on
    uint64_t now;
    struct probe_watch look;
};

static bool begins(const struct simt_instruction *in, const char *with)
{
    return text_begins(in->op, with);
}

static struct history_line line_of(const struct watcher *w, uint32_t number)
{
    struct history_line l;
    l.line = slice_line(w->look.kernel, w->file, number, &l.call);
    return l;
}

// The i-th address, or the i-th register read, of the instruction. False: it has no such.
static bool operand(const struct simt_look *l, enum simt_role role, uint32_t i, struct simt_operand *out)
{
    for (uint32_t j = 0; simt_look_operand(l, j, out); j++)
        if (out->role == role && !i--)
            return true;
    return false;
}

// --- mbarriers ---

static struct history_bar *bar_at(struct history *h, uint32_t at)
{
    uint32_t i = 0;
    while (i < h->n_bars && h->bars[i].at != at)
        i++;
    if (i == HISTORY_BARS)
        return NULL;
    if (i == h->n_bars) {
        h->n_bars++;
        h->bars[i].at = at;
        for (int warp = 0; warp < HISTORY_WARPS; warp++)
            h->bars[i].first_parity[warp] = -1;
    }
    return &h->bars[i];
}

static void note_site(const struct watcher *w, const struct simt_look *l, struct history_site *sites, uint32_t *n)
{
    const uint32_t number = simt_look_instruction(l);
    uint32_t i = 0;
    while (i < *n && sites[i].number != number)
        i++;
    if (i == HISTORY_SITES)
        return;
    if (i == *n)
        sites[(*n)++] = (struct history_site){ .at = line_of(w, number), .number = number };
    sites[i].warp = simt_look_warp(l);
    sites[i].on = w->now;
    sites[i].times += (uint64_t)__builtin_popcount(simt_look_lanes(l));
}

// The number behind the last comma: a register's value, or what stands there.
static uint32_t last_number(const struct simt_look *l, const struct simt_instruction *in, uint32_t lane)
{
    struct simt_operand value;
    const char *at = memrchr(in->text, ',', in->text_bytes);
    if (at && at[1 + strspn(at + 1, " ")] != '%')
        return (uint32_t)strtoul(at + 1, NULL, 0);
    return operand(l, SIMT_READ, 0, &value) ? (uint32_t)value.value[lane] : 0;
}

static void note_mbarrier(struct watcher *w, const struct simt_look *l, const struct simt_instruction *in)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(simt_look_lanes(l)), warp = simt_look_warp(l);
    const bool copies = begins(in, "cp.async.bulk");
    struct simt_operand at;
    if (!operand(l, SIMT_ADDRESS, copies ? 2 : 0, &at))
        return;
    struct history_bar *b = bar_at(w->h, (uint32_t)at.value[lane]);
    if (!b)
        return;
    if (copies) {
        note_site(w, l, b->copies, &b->n_copies);
    } else if (begins(in, "mbarrier.init")) {
        b->count = last_number(l, in, lane);
        b->made = line_of(w, simt_look_instruction(l));
    } else if (begins(in, "mbarrier.arrive")) {
        note_site(w, l, b->arrivals, &b->n_arrivals);
        b->came[warp % HISTORY_WARPS] |= simt_look_lanes(l);
    } else if (begins(in, "mbarrier.try_wait") || begins(in, "mbarrier.test_wait")) {
        b->waits = line_of(w, simt_look_instruction(l));
        if (warp >= HISTORY_WARPS || b->first_parity[warp] >= 0)
            return;
        b->first_parity[warp] = (int)(last_number(l, in, lane) & 1);
        b->waited[warp] = w->now;
    }
}

// --- Shared memory ---

static void note_store(struct history *h, const struct history_line *at, bool fresh)
{
    if (!history_store_at(h, at) && h->n_stores < HISTORY_STORES)
        h->stores[h->n_stores++] = (struct history_store){ *at, fresh };
}

static void note_write(struct watcher *w, const struct simt_look *l)
{
    bool fresh = false;
    struct simt_operand at, value;
    unsigned bytes = 0;
    for (uint32_t i = 0; operand(l, SIMT_READ, i, &value); i++)
        bytes += value.name[1] == 'p' ? 0 : value.type.bytes;
    const bool copies = operand(l, SIMT_ADDRESS, 1, &at);  // cp.async: 16 bytes
    bytes = copies ? 16 : bytes;
    const struct history_line by = line_of(w, simt_look_instruction(l));
    for (uint32_t lane = 0; operand(l, SIMT_ADDRESS, 0, &at) && lane < 32; lane++)
        for (uint64_t i = at.value[lane] / WORD;
             simt_look_lanes(l) >> lane & 1 && i <= (at.value[lane] + bytes - 1) / WORD; i++)
            if (i < w->h->words) {
                fresh |= !w->h->first[i];
                w->h->by[i] = w->h->first[i] ? w->h->by[i] : by;
                w->h->first[i] = w->h->first[i] ? w->h->first[i] : w->now;
                w->h->last[i] = w->h->error ? w->h->last[i] : by;
            }
    note_store(w->h, &by, fresh);
}

// --- The thread that made the error ---

static bool is_its_own(const struct watcher *w, const struct simt_look *l)
{
    const struct simt_side *s = &w->error->here;
    return simt_look_instruction(l) == s->number && simt_look_warp(l) == s->warp && simt_look_lanes(l) >> s->lane & 1;
}

// Where the matrix that the error is about begins in this launch; 0: it is about none.
static uint64_t matrix_at(const struct watcher *w)
{
    const struct simt_object *o = &w->error->object;
    const struct gemm *g = w->look.call;
    const char name = o->name && o->space == SIMT_GLOBAL ? o->name[0] : 0;
    const bool packed = name && o->name[1];
    return name == 'A' ? packed ? g->a.packed : g->A : name == 'B' ? packed ? g->b.packed : g->B : 0;
}

// What the thread reads by the same line, be it by another instruction: a loop that is unrolled has several. The last
// address is that in global memory.
static void note_read(struct watcher *w, const struct simt_look *l)
{
    const struct simt_side *s = &w->error->here;
    struct simt_operand at;
    if (w->h->read_before || simt_look_warp(l) != s->warp ||
        line_of(w, simt_look_instruction(l)).line != line_of(w, s->number).line)
        return;
    w->h->came_before |= !is_its_own(w, l);
    if (!(simt_look_lanes(l) >> s->lane & 1))
        return;
    for (uint32_t i = 0; operand(l, SIMT_ADDRESS, i, &at); i++)
        w->h->earliest = (int64_t)(at.value[s->lane] - matrix_at(w));
    w->h->read_before = w->h->earliest >= 0 && (uint64_t)w->h->earliest < w->error->object.bytes;
}

static bool tell(void *context, enum simt_event event, const struct simt_look *l)
{
    enum { EVERY = 4096 };
    struct watcher *w = context;
    struct simt_instruction in;
    w->now++;
    if (event == SIMT_ERROR) {
        w->h->error = w->now;
        for (uint32_t i = 0; i < simt_look_warps(l) && i < 32; i++)
            w->h->ended |= (uint32_t)(simt_look_ended(l, i) == UINT32_MAX) << i;
        return false;
    }
    if (w->now % EVERY == 0 && probe_over(w->p))
        return false;
    if (!simt_instruction(w->look.kernel, simt_look_instruction(l), &in) || !simt_look_lanes(l))
        return true;
    if (begins(&in, "mbarrier.") || begins(&in, "cp.async.bulk.tensor"))
        note_mbarrier(w, l, &in);
    else if (begins(&in, "st.shared") || begins(&in, "cp.async.c"))
        note_write(w, l);
    else if (begins(&in, "ld.global") || begins(&in, "wmma.load"))
        note_read(w, l);
    if (begins(&in, "cp.async.c"))
        note_read(w, l);
    if (!w->h->error && !w->at_error && is_its_own(w, l))
        w->h->error = w->now;
    return true;
}

bool history_take(struct history *h, struct probe *p, const char *file, const struct tester_options *o, bool checked,
                  const struct simt_finding *f)
{
    *h = (struct history){ .words = SHARED / WORD };
    h->first = calloc(h->words, sizeof *h->first);
    h->by = calloc(h->words, sizeof *h->by);
    h->last = calloc(h->words, sizeof *h->last);
    struct probe_data x;
    struct watcher w = { .h = h, .p = p, .file = file, .error = f, .at_error = !checked };
    const uint64_t across = (uint64_t)(o->n - 1) / (uint64_t)p->geometry.bn + 1;
    bool ok = probe_fill(&x, p->type, o) && h->first && h->by && h->last;
    if (ok) {
        const struct probe_product product = { o->alpha, o->beta, &x.A, &x.B, o->beta != 0 ? &x.C0 : NULL };
        w.look.checked = checked;
        w.look.watch = (struct simt_watch){
            .block = f->here.block[1] * across + f->here.block[0], .warp = SIMT_ALL_WARPS, .tell = tell, .context = &w
        };
        probe_look(p, &product, &x.C, &w.look);  // it fails where the kernel does
        h->here = line_of(&w, f->here.number);
        ok = h->error || h->n_bars;
    }
    probe_release(&x);
    return ok;
}

void history_free(struct history *h)
{
    free(h->first);
    free(h->by);
    free(h->last);
}

const struct history_store *history_store_at(const struct history *h, const struct history_line *at)
{
    for (uint32_t i = 0; i < h->n_stores; i++)
        if (h->stores[i].at.line == at->line && h->stores[i].at.call == at->call)
            return &h->stores[i];
    return NULL;
}

const struct history_bar *history_bar_at(const struct history *h, uint64_t at)
{
    for (uint32_t i = 0; i < h->n_bars; i++)
        if (h->bars[i].at == at)
            return &h->bars[i];
    return NULL;
}
