// Where a value comes from: the step that made a register's, or wrote a byte of shared memory; and what stands there.
#include <stdlib.h>
#include <string.h>

#include "inside.h"

// --- registers ---

struct making {
    const struct watch *w;
    uint32_t warp, lane, number;
    uint64_t last;
    uint64_t products;  // of wgmma on their way, a bit for each that makes the register; the latest is bit 0
};

static bool see_making(void *context, uint64_t moment, const struct simt_look *look)
{
    struct making *m = context;
    struct simt_operand o;
    if (simt_look_warp(look) != m->warp)
        return true;
    const enum op_kind kind = m->w->code[simt_look_instruction(look)].kind;
    bool written = false;
    for (uint32_t i = 0; simt_look_operand(look, i, &o); i++)
        written |= o.role == SIMT_WRITTEN && o.number == m->number && simt_look_lanes(look) >> m->lane & 1;
    if (kind == OP_PRODUCT || kind == OP_WAIT) {
        const uint32_t left = simt_look_products(look, m->warp);
        const uint64_t on_their_way = left < 64 ? (1ull << left) - 1 : UINT64_MAX;
        m->products = kind == OP_PRODUCT ? m->products << 1 | written : m->products;
        written = m->products & ~on_their_way;
        m->products &= on_their_way;
    }
    if (written)
        m->last = moment;
    return true;
}

uint64_t watch_made(struct watch *w, uint64_t moment, uint32_t warp, uint32_t lane, uint32_t number,
                    char error[DEV_ERROR_MAX])
{
    struct making m = { .w = w, .warp = warp, .lane = lane, .number = number, .last = WATCH_NONE };
    struct simt_register r;
    if (!simt_register(w->kernel, number, &r)) {
        error_set(error, "the kernel has no such register");
        return WATCH_NONE;
    }
    if (!watch_run(w, 0, moment, see_making, &m, error))
        return WATCH_NONE;
    if (m.last == WATCH_NONE)
        error_set(error, "up to here nothing has written %s in lane %u of warp %u", r.name, lane, warp);
    return m.last;
}

// --- shared memory ---

struct writing {
    const struct watch *w;
    uint32_t at;
    uint64_t asked[WATCH_WARPS * WATCH_LANES];  // by thread: its last step whose address covers the byte
    uint32_t asks[WATCH_WARPS * WATCH_LANES];   // and that instruction
    unsigned char byte;
    bool any, written;
    struct watch_writer now;
};

// A copy by TMA covers more than its address says: what it brings is seen when it comes.
static bool covers(const struct simt_look *look, const struct simt_operand *o, uint32_t lane, uint32_t at)
{
    uint32_t from;
    return simt_look_shared_at(look, o, lane, &from) && at >= from && at - from < (o->bytes ? o->bytes : 1);
}

static bool see_writing(void *context, uint64_t moment, const struct simt_look *look)
{
    struct writing *g = context;
    const uint32_t warp = simt_look_warp(look), lanes = simt_look_lanes(look), inst = simt_look_instruction(look);
    const bool copies = g->w->code[inst].kind == OP_COPY;
    struct simt_operand o;
    unsigned char byte;
    uint32_t thread, by;
    bool again = false;
    for (uint32_t i = 0; simt_look_operand(look, i, &o); i++)
        for (uint32_t lane = 0; o.role == SIMT_ADDRESS && lane < WATCH_LANES; lane++)
            if (lanes >> lane & 1 && (copies || covers(look, &o, lane, g->at))) {
                g->asked[warp * WATCH_LANES + lane] = moment;
                g->asks[warp * WATCH_LANES + lane] = inst;
            }
    const bool known = simt_look_writer(look, g->at, &thread, &by);
    if (known && thread < WATCH_WARPS * WATCH_LANES)
        again = g->asked[thread] == moment && g->asks[thread] == by && !copies;
    simt_look_shared(look, g->at, &byte, 1);
    const bool changed = g->any && byte != g->byte;
    const bool other = known && (!g->written || thread != g->now.thread || by != g->now.instruction);
    g->any = true;
    g->byte = byte;
    if (!known && !changed)
        return true;
    if (changed || other || again) {
        const uint32_t who = known ? thread : warp * WATCH_LANES + (uint32_t)__builtin_ctz(lanes);
        const bool asked = known && g->asks[who] == by;
        g->now = (struct watch_writer){ asked ? g->asked[who] : moment, moment, who, known ? by : inst };
        g->written = true;
    }
    return true;
}

bool watch_wrote(struct watch *w, uint64_t moment, uint32_t at, struct watch_writer *out, char error[DEV_ERROR_MAX])
{
    if (at >= w->shared_bytes)
        return error_set(error, "the block has %u bytes of shared memory", w->shared_bytes);
    struct writing *g = calloc(1, sizeof *g);
    bool ok = g || error_set(error, "out of memory");
    if (ok) {
        g->w = w;
        g->at = at;
        ok = watch_run(w, 0, moment, see_writing, g, error);
        *out = g->now;
    }
    if (ok && !g->written)
        ok = error_set(error, "up to here nothing has written byte %u of shared memory", at);
    free(g);
    return ok;
}

// --- names of places in shared memory ---

const struct simt_shared_variable *watch_variable_at(const struct watch *w, uint32_t at)
{
    for (uint32_t i = 0; i < w->n_variables; i++)
        if (at >= w->variables[i].at && at - w->variables[i].at < w->variables[i].bytes)
            return &w->variables[i];
    return NULL;
}

bool watch_shared_named(struct watch *w, const char *text, uint32_t bytes, uint32_t *at, char error[DEV_ERROR_MAX])
{
    char *end;
    const size_t n = strcspn(text, "[+");
    const bool by_byte = text[n] == '+';
    const unsigned long index = text[n] ? strtoul(text + n + 1, &end, 0) : 0;
    if (text[n] && (end == text + n + 1 || (by_byte ? *end : *end != ']' || end[1])))
        return error_set(
            error, "'%.100s' is no place in shared memory: a byte's number, NAME, NAME[INDEX] or NAME+BYTE", text);
    *at = (uint32_t)strtoul(text, &end, 0);
    if (end != text && !*end)
        return *at < w->shared_bytes || error_set(error, "the block has %u bytes of shared memory", w->shared_bytes);
    for (uint32_t i = 0; i < w->n_variables; i++) {
        const struct simt_shared_variable *v = &w->variables[i];
        const uint32_t size = by_byte ? 1 : watch_has_mbarrier(w, v) ? 8 : bytes;
        if (strlen(v->name) != n || strncmp(v->name, text, n))
            continue;
        *at = v->at + (uint32_t)index * size;
        return index < v->bytes / size ||
               error_set(error, "%s has %u elements of %u bytes", v->name, v->bytes / size, size);
    }
    return error_set(error, "there is no variable '%.*s' in shared memory", (int)(n < 100 ? n : 100), text);
}

void watch_shared_text(const struct watch *w, uint32_t at, char text[WATCH_TEXT])
{
    const struct simt_shared_variable *v = watch_variable_at(w, at);
    if (!v) {
        snprintf(text, WATCH_TEXT, "byte %u of shared memory", at);
        return;
    }
    const bool mbarriers = watch_has_mbarrier(w, v);
    if (mbarriers && v->bytes <= 8)
        snprintf(text, WATCH_TEXT, "%s", v->name);
    else if (mbarriers)
        snprintf(text, WATCH_TEXT, "%s[%u]", v->name, (at - v->at) / 8);
    else
        snprintf(text, WATCH_TEXT, "byte %u of %s", at - v->at, v->name);
}
