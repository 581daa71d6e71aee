// Barriers in shared memory, and the tensor memory accelerator. A barrier's phase ends when all threads have arrived
// and all bytes that were announced have come. A copy is timed when it is issued: the accelerator asks for its rows one
// after the other, and they come from L2 or DRAM as those of any load.
#include "sm_parts.h"

#include "simt/machine/tensor_map.h"

#define SECTOR 32
#define ROW_SECTORS 64

static struct sm_mbarrier *find_barrier(struct sm_slot *b, uint32_t at)
{
    for (unsigned i = 0; i < b->n_mbarriers; i++)
        if (b->mbarriers[i].at == at)
            return &b->mbarriers[i];
    return NULL;
}

static void init(struct sm_slot *b, const struct walk_async *a)
{
    struct sm_mbarrier *m = find_barrier(b, a->at);
    if (!m && b->n_mbarriers < MBARRIERS)
        m = &b->mbarriers[b->n_mbarriers++];
    if (m)
        *m = (struct sm_mbarrier){ .at = a->at, .arrivals = a->arrivals, .missing = a->arrivals };
}

// The warp's wait is over: the phase ended at `at`, or does so.
static void pass(const struct sm *sm, struct sm_warp *w, unsigned scoreboard, double at)
{
    const double from = at > sm->now ? at : sm->now;
    if (scoreboard < SCOREBOARDS) {
        w->scoreboard[scoreboard] = from + sm->k->try_wait_latency;
        w->kind[scoreboard] = KIND_MBARRIER;
    }
}

static void end_phase(struct sm *sm, struct sm_slot *b, struct sm_mbarrier *m)
{
    const unsigned slot = (unsigned)(b - sm->slots), parity = m->phase & 1;
    m->ended = m->latest;
    m->phase++;
    m->missing = m->arrivals;
    m->latest = 0;
    for (unsigned i = 0; i < b->warps; i++) {
        struct sm_warp *w = &sm->warps[slot * b->warps + i];
        if (w->awaits != m - b->mbarriers || w->await_parity != parity)
            continue;
        w->awaits = -1;
        pass(sm, w, w->await_scoreboard, m->ended);
        if (sm_sleeps(w))
            sm_sleep(w, sm->now + 1);
    }
}

// Threads and bytes arrive at `at`; `expected` bytes are announced.
static void arrive(struct sm *sm, unsigned slot, uint32_t address, unsigned arrivals, int64_t bytes, double at)
{
    struct sm_slot *b = &sm->slots[slot];
    struct sm_mbarrier *m = find_barrier(b, address);
    if (!m)
        return;
    m->missing -= arrivals < m->missing ? arrivals : m->missing;
    m->bytes += bytes;
    m->latest = at > m->latest ? at : m->latest;
    if (!m->missing && !m->bytes)
        end_phase(sm, b, m);
}

static void wait(struct sm *sm, struct sm_warp *w, const struct sass *s, const struct walk_async *a)
{
    struct sm_slot *b = &sm->slots[w->slot];
    struct sm_mbarrier *m = a->known ? find_barrier(b, a->at) : NULL;
    if (!m || (m->phase & 1) != a->parity) {
        pass(sm, w, s->writes, m ? m->ended : 0);
        return;
    }
    w->awaits = (int)(m - b->mbarriers);
    w->await_parity = a->parity;
    w->await_scoreboard = s->writes;
    if (s->writes < SCOREBOARDS) {
        w->scoreboard[s->writes] = 1e300;
        w->kind[s->writes] = KIND_MBARRIER;
    }
}

// --- copies ---

struct rows {  // of a box: how many, and of how many bytes, from which address on
    uint64_t address;
    unsigned n, bytes;
};

// The rows of row number i of the box's outer dimensions are left out where they are outside of the tensor.
static bool row_of(const struct tensor_map *t, const int32_t from[5], unsigned i, struct rows *r)
{
    int64_t first = from[0], end = first + (int64_t)t->box[0] * t->step[0];
    uint64_t address = t->address;
    for (unsigned d = 1; d < t->rank; d++) {
        const int64_t at = from[d] + (int64_t)(i % t->box[d]) * t->step[d];
        i /= t->box[d];
        if (at < 0 || at > t->last[d])
            return false;
        address += (uint64_t)at * t->stride[d];
    }
    first = first < 0 ? 0 : first;
    end = end > (int64_t)t->last[0] + 1 ? (int64_t)t->last[0] + 1 : end;
    r->address = address + (uint64_t)first * t->stride[0];
    r->bytes = end > first ? (unsigned)((uint64_t)(end - first) * t->stride[0]) : 0;
    return r->bytes > 0;
}

static void sectors_of(const struct rows *r, struct sm_sectors *out)
{
    for (uint64_t at = r->address / SECTOR; at * SECTOR < r->address + r->bytes && out->n < ROW_SECTORS; at++) {
        out->lines += !out->n || at % 4 == 0;
        out->at[out->n] = at;
        out->stored[out->n++] = UINT32_MAX;
    }
}

// One row after the other passes the accelerator, which begins at *unit. When the last one is there, or has gone.
static double move_row(struct sm *sm, const struct rows *r, bool load, float sharers, double *unit)
{
    const struct sm_constants *k = sm->k;
    struct sm_sectors sectors = { .n = 0 };
    sectors_of(r, &sectors);
    *unit += r->bytes / (load ? k->tma_rate : k->tma_store_rate);
    if (load)
        return sm_fetch(sm, sectors.at, sectors.n, *unit, sharers, sharers > 1.5 ? k->tma_shared_rate : k->tma_l2_rate,
                        false) +
               k->tma_latency;
    return sm_write(sm, &sectors, *unit) + k->tma_store_latency;
}

// The bytes of the box in shared memory, those outside of the tensor included.
static double move_box(struct sm *sm, const struct walk_async *a, float sharers, uint32_t *bytes)
{
    struct tensor_map t;
    struct rows r = { 0 };
    double *unit = a->load ? &sm->tma : &sm->tma_store, last = 0;
    *bytes = 0;
    if (!a->map || !tensor_map_read(a->map, &t))
        return sm->now;
    *unit = *unit > sm->now ? *unit : sm->now;
    unsigned rows = 1;
    for (unsigned d = 1; d < t.rank; d++)
        rows *= t.box[d];
    for (unsigned i = 0; i < rows; i++)
        if (row_of(&t, a->from, i, &r)) {
            const double at = move_row(sm, &r, a->load, sharers, unit);
            last = at > last ? at : last;
        }
    *bytes = tensor_map_box_bytes(&t);
    return last > *unit ? last : *unit;
}

static double move_bytes(struct sm *sm, const struct walk_async *a, float sharers, uint32_t *bytes)
{
    double *unit = a->load ? &sm->tma : &sm->tma_store, last = 0;
    *unit = *unit > sm->now ? *unit : sm->now;
    for (uint32_t done = 0; done < a->bytes; done += ROW_SECTORS * SECTOR) {
        const uint32_t left = a->bytes - done;
        const struct rows r = { a->global + done, 1, left < ROW_SECTORS * SECTOR ? left : ROW_SECTORS * SECTOR };
        const double at = move_row(sm, &r, a->load, sharers, unit);
        last = at > last ? at : last;
    }
    *bytes = a->bytes;
    return last;
}

static void copy(struct sm *sm, struct sm_warp *w, const struct sass *s, const struct walk_async *a)
{
    const float sharers = sm->job->loads ? sm->job->loads[sm->event.pc].sharers : 1;
    uint32_t bytes;
    sm->out->unknown_addresses += !a->known;
    const double at = s->effect == EFFECT_BULK ? move_bytes(sm, a, sharers, &bytes) : move_box(sm, a, sharers, &bytes);
    if (a->load)
        arrive(sm, w->slot, a->barrier, 0, -(int64_t)bytes, at);
    else
        w->pending_copy = at > w->pending_copy ? at : w->pending_copy;
}

void sm_async(struct sm *sm, struct sm_warp *w)
{
    const struct sass *s = sm->event.s;
    const struct walk_async *a = &sm->event.async;
    const double counts = sm->now + sm->k->mbarrier_latency;
    const bool asks = s->effect == EFFECT_TMA_LOAD || s->effect == EFFECT_TMA_STORE || s->effect == EFFECT_BULK;
    sm_release(w, s->reads, sm->now + (asks ? sm->k->tma_issue : sm->k->read_latency), KIND_SHORT);
    switch (s->effect) {
    case EFFECT_MBARRIER_INIT:
        init(&sm->slots[w->slot], a);
        sm_release(w, s->writes, counts, KIND_SHORT);
        break;
    case EFFECT_MBARRIER_ARRIVE:
        arrive(sm, w->slot, a->at, a->arrivals, (int64_t)a->bytes - a->come, counts);
        sm_release(w, s->writes, counts, KIND_SHORT);
        break;
    case EFFECT_MBARRIER_WAIT:
        wait(sm, w, s, a);
        break;
    case EFFECT_TMA_LOAD:
    case EFFECT_TMA_STORE:
    case EFFECT_BULK:
        copy(sm, w, s, a);
        break;
    default:
        sm_release(w, s->writes, sm->now + sm->k->system_latency, KIND_SHORT);
    }
}
