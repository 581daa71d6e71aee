// What a checker has found so far: faults, and how often each came in each block. See check.h.
#include "check_state.h"

#include <stdlib.h>

struct share {  // how often in one block
    uint64_t block, count;
};

struct note {
    struct fault fault;  // of the first block
    struct share *shares;
    size_t n_shares, room;
};

static bool same_fault(const struct fault *a, const struct fault *b)
{
    return a->kind == b->kind && a->inst == b->inst && a->other_inst == b->other_inst && a->store == b->store &&
           a->other_store == b->other_store;
}

// items, moved if need be, with room for one more than n; NULL when memory runs out.
static void *with_room(void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    const size_t more = 2 * *room + 4;
    void *all = realloc(items, more * size);
    if (all)
        *room = more;
    return all;
}

// Most notes repeat the one before, and most others are new soon after the kernel began.
static struct note *note_of(struct checker *c, const struct fault *f)
{
    if (c->last < c->n_notes && same_fault(&c->notes[c->last].fault, f))
        return &c->notes[c->last];
    for (size_t i = 0; i < c->n_notes; i++)
        if (same_fault(&c->notes[i].fault, f))
            return &c->notes[c->last = i];
    struct note *all = with_room(c->notes, c->n_notes, &c->room, sizeof *all);
    if (!all)
        return NULL;
    c->notes = all;
    c->last = c->n_notes++;
    c->notes[c->last] = (struct note){ .fault = *f };
    return &c->notes[c->last];
}

static bool add_share(struct note *f, uint64_t block, uint64_t times)
{
    if (f->n_shares && f->shares[f->n_shares - 1].block == block) {
        f->shares[f->n_shares - 1].count += times;
        return true;
    }
    struct share *shares = with_room(f->shares, f->n_shares, &f->room, sizeof *shares);
    if (!shares)
        return false;
    f->shares = shares;
    f->shares[f->n_shares++] = (struct share){ block, times };
    return true;
}

void check_note(struct checker *c, const struct fault *f)
{
    struct note *note = note_of(c, f);
    if (!note || !add_share(note, f->block, 1))
        c->failed = true;
}

void check_fault(struct worker *worker)
{
    check_note(worker->check, &worker->fault);
    worker->fault.kind = FAULT_NONE;
}

struct fault check_site(const struct warp *w, uint32_t inst, uint32_t lane, enum fault_kind kind)
{
    return (struct fault){ .kind = kind, .inst = inst, .warp = w->index, .lane = lane, .block = w->block->linear };
}

void check_add_notes(struct checker *sum, const struct checker *c)
{
    for (size_t i = 0; i < c->n_notes; i++) {
        const struct note *from = &c->notes[i];
        struct note *f = note_of(sum, &from->fault);
        for (size_t k = 0; f && k < from->n_shares; k++)
            sum->failed |= !add_share(f, from->shares[k].block, from->shares[k].count);
        if (!f)
            sum->failed = true;
        else if (from->fault.block < f->fault.block)
            f->fault = from->fault;
    }
}

void check_free_notes(struct checker *c)
{
    for (size_t i = 0; i < c->n_notes; i++)
        free(c->notes[i].shares);
    free(c->notes);
}

static int by_place(const void *a, const void *b)
{
    const struct fault *x = &((const struct found *)a)->fault, *y = &((const struct found *)b)->fault;
    const uint64_t keys[][2] = { { x->inst, y->inst },
                                 { x->other_inst, y->other_inst },
                                 { x->kind, y->kind },
                                 { x->store, y->store },
                                 { x->other_store, y->other_store } };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

struct found *check_found(const struct checker *c, uint64_t stop, size_t *n)
{
    struct found *all = calloc(c->n_notes + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < c->n_notes; i++) {
        struct found found = { .fault = c->notes[i].fault };
        for (size_t k = 0; k < c->notes[i].n_shares; k++)
            if (cluster_number(c->grid, c->notes[i].shares[k].block) <= stop)
                found.count += c->notes[i].shares[k].count;
        if (found.count)
            all[(*n)++] = found;
    }
    if (all)
        qsort(all, *n, sizeof *all, by_place);
    return all;
}

void check_other(struct fault *f, const struct block *block, const struct block *home, const struct who *who,
                 bool other_store)
{
    f->home = home->linear;
    f->remote = home != block;
    f->other_inst = f->inst;
    f->other_block = f->block;
    if (!who)
        return;
    f->other_inst = who->inst;
    f->other_thread = who->thread;
    f->other_block = check_block_of(block, who)->linear;
    f->other_store = other_store;
    f->other_atomic = who->flags & WHO_ATOMIC;
    f->other_async = who->flags & WHO_ASYNC;
    f->other_wgmma = who->flags & WHO_WGMMA;
    if (f->kind == FAULT_COPY_PENDING && who->flags & WHO_LOAD)
        f->other_barrier = home->check->reported[who->flags >> WHO_TAG & (TAGS - 1)];
}
