// One host thread runs the blocks, so that what they see of each other is the same in every run. They begin in order. A
// block that waits for a value (exec_run.c) is left, and the next one begins, as long as there is room on the card;
// then all that were left have another turn. A block that does not wait runs to its end, or for a long turn.
//
// Where all blocks on the card wait, and in many rounds no value has changed that they look at, none ever will: those
// that have not begun cannot begin.
#include "turns.h"

#include <stdlib.h>

#include "base/occupancy.h"
#include "simt/check/check.h"

#define ROUNDS_MAX 64  // in which nothing happens, at least, before a wait counts as endless

#define CARD "H200"

uint64_t turns_resident(uint32_t threads, uint64_t shared)
{
    const struct card *card = card_named(CARD);
    const uint64_t blocks = occupancy_of(card, threads, 0, shared).blocks;
    return (blocks ? blocks : 1) * card->sms;
}

struct table {
    const struct turns *t;
    struct seat **seats;  // those of blocks that were left, in the order in which they began
    uint64_t n, room;
    struct seat *spare;  // of a block that ended
    uint64_t next;       // block
    uint64_t stop;
    // since something last happened
    uint64_t idle, rounds;
};

static struct seat *new_seat(struct table *t)
{
    struct seat *s = t->spare;
    t->spare = NULL;
    if (s)
        return s;
    s = malloc(sizeof *s);
    if (s && seat_new(s, t->t->worker))
        return s;
    if (s)
        seat_free(s);
    free(s);
    return NULL;
}

static void drop_seat(struct table *t, struct seat *s)
{
    if (!t->spare) {
        t->spare = s;
        return;
    }
    seat_free(s);
    free(s);
}

static bool make_room(struct table *t)
{
    if (t->n < t->room)
        return true;
    const uint64_t room = 2 * t->room + 16;
    struct seat **seats = realloc(t->seats, room * sizeof(struct seat *));
    if (!seats)
        return false;
    t->seats = seats;
    t->room = room;
    return true;
}

// The worker's block made an error. True where the others go on.
static bool survives(struct table *t)
{
    struct worker *w = t->t->worker;
    const enum fault_kind kind = w->fault.kind;
    if (kind == FAULT_NONE)
        return true;
    if (w->check)
        check_fault(w);
    if (w->check && kind != FAULT_BUDGET && kind != FAULT_WAIT)
        return true;
    t->stop = w->block.linear;
    return false;
}

// A turn of the block in s. True where it was left, and has not ended.
static bool take_turn(struct table *t, struct seat *s, bool resumes)
{
    struct worker *w = t->t->worker;
    seat_enter(s, w);
    if (!resumes)
        seat_place(w, t->next++);
    if (t->next > 1 && !resumes && t->t->progress)
        t->t->progress(t->next - 1, t->t->n_blocks);
    const uint64_t before = resumes ? w->steps : 0;
    w->resumes = resumes;
    t->t->exec->run_block(w);
    const bool left = w->left && w->fault.kind == FAULT_NONE;
    if (w->news || !left || !resumes)
        t->idle = t->rounds = 0;
    else
        t->idle += w->steps - before;
    survives(t);
    seat_leave(s, w);
    return left;
}

// A turn of every block that was left.
static void again(struct table *t)
{
    uint64_t kept = 0;
    t->rounds++;
    for (uint64_t i = 0; i < t->n; i++) {
        if (t->stop != UINT64_MAX || take_turn(t, t->seats[i], true))
            t->seats[kept++] = t->seats[i];
        else
            drop_seat(t, t->seats[i]);
    }
    t->n = kept;
}

// Begins as many blocks as there is room for. At least one, unless others are at work.
static void begin(struct table *t)
{
    while (t->next < t->t->n_blocks && t->n < t->t->resident && t->stop == UINT64_MAX) {
        struct seat *s = make_room(t) ? new_seat(t) : NULL;
        if (!s && t->n)
            return;
        if (!s) {
            t->stop = t->next;
            return;
        }
        if (take_turn(t, s, false))
            t->seats[t->n++] = s;
        else
            drop_seat(t, s);
    }
}

static void report_wait(struct table *t)
{
    const struct block *b = &t->seats[0]->block;
    struct worker *w = t->t->worker;
    uint32_t i = 0;
    while (i + 1 < b->n_warps && !b->warps[i].polled)
        i++;
    const uint64_t rest = t->t->n_blocks - t->next;
    w->block.linear = b->linear;
    w->fault = (struct fault){ .kind = FAULT_WAIT,
                               .inst = b->warps[i].poll_inst,
                               .warp = i,
                               .lane = b->warps[i].poll_lane,
                               .block = b->linear,
                               .waiting = (uint32_t)t->n,
                               .exited = rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX };
    survives(t);
}

uint64_t turns_run(const struct turns *turns)
{
    struct table t = { .t = turns, .stop = UINT64_MAX };
    turns->worker->shares = true;
    do {
        begin(&t);
        again(&t);
        if (t.n && t.idle > wait_max(t.t->worker->grid->code) && t.rounds > ROUNDS_MAX)
            report_wait(&t);
    } while (t.stop == UINT64_MAX && (t.n || t.next < turns->n_blocks));
    for (uint64_t i = 0; i < t.n; i++) {
        seat_free(t.seats[i]);
        free(t.seats[i]);
    }
    if (t.spare)
        seat_free(t.spare);
    free(t.spare);
    free(t.seats);
    return t.stop;
}
