// See sm_record.h.
#include "sm_record.h"

#include <stdlib.h>

// Makes room for one more; the array, or NULL when memory runs out.
static void *grow(struct sm_recorder *r, void *all, size_t n, size_t *room, size_t each)
{
    if (n < *room)
        return all;
    const size_t more = 2 * *room + 1024;
    void *bigger = realloc(all, more * each);
    if (bigger)
        *room = more;
    r->failed |= !bigger;
    return bigger;
}

bool sm_record_begin(struct sm_recorder *r, uint64_t from, uint64_t to)
{
    *r = (struct sm_recorder){ .from = from, .to = to };
    if (from < to)
        r->busy = calloc((to - from) * COUNTS, sizeof *r->busy);
    r->failed = from < to && !r->busy;
    return !r->failed;
}

void sm_record_free(struct sm_recorder *r)
{
    free(r->spans);
    free(r->turns);
    free(r->busy);
    *r = (struct sm_recorder){ 0 };
}

void sm_record_span(struct sm_recorder *r, const struct sm_span *s)
{
    struct sm_span part = *s;
    part.from = s->from > r->from ? s->from : r->from;
    part.to = s->to < r->to ? s->to : r->to;
    if (part.from >= part.to)
        return;
    struct sm_span *all = grow(r, r->spans, r->n_spans, &r->spans_room, sizeof *all);
    if (!all)
        return;
    r->spans = all;
    all[r->n_spans++] = part;
}

void sm_record_turn(struct sm_recorder *r, const struct sm_turn *t)
{
    struct sm_turn *all = grow(r, r->turns, r->n_turns, &r->turns_room, sizeof *all);
    if (!all)
        return;
    r->turns = all;
    all[r->n_turns++] = *t;
}

void sm_record_busy(struct sm_recorder *r, enum sm_count which, double amount, double begin, double cycles)
{
    const double end = begin + (cycles > 1 ? cycles : 1);
    if (end <= (double)r->from || begin >= (double)r->to)
        return;
    for (uint64_t at = begin > (double)r->from ? (uint64_t)begin : r->from; at < r->to && (double)at < end; at++) {
        const double first = (double)at > begin ? (double)at : begin;
        const double last = (double)at + 1 < end ? (double)at + 1 : end;
        r->busy[(at - r->from) * COUNTS + which] += amount * (last - first) / (end - begin);
    }
}
