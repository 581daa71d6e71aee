// One host thread runs the blocks, so that what they see of each other is the same in every run. They begin in order. A
// block that waits for a value (exec_run.c) is left, and the next one begins, as long as there is room on the card;
// then all that were left have another turn. A block that does not wait runs to its end, or for a long turn. Blocks of
// a cluster begin, are left and end together.
//
// Where all blocks on the card wait, and in many rounds no value has changed that they look at, none ever will: those
// that have not begun cannot begin.
#include "turns.h"

#include <stdlib.h>

#include "base/occupancy.h"
#include "cluster_run.h"
#include "waits.h"

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
    struct seats **seats;  // those of clusters that were left, in the order in which they began
    uint64_t n, room;
    struct seats *spare;  // of a cluster that ended
    uint64_t next;        // cluster
    uint64_t stop;
    // since something last happened
    uint64_t idle, rounds;
};

static struct seats *new_seats(struct table *t)
{
    struct seats *s = t->spare;
    t->spare = NULL;
    if (s)
        return s;
    s = malloc(sizeof *s);
    if (s && seats_new(s, t->t->worker))
        return s;
    if (s)
        seats_free(s);
    free(s);
    return NULL;
}

static void drop_seats(struct table *t, struct seats *s)
{
    if (!t->spare) {
        t->spare = s;
        return;
    }
    seats_free(s);
    free(s);
}

static bool make_room(struct table *t)
{
    if (t->n < t->room)
        return true;
    const uint64_t room = 2 * t->room + 16;
    struct seats **seats = realloc(t->seats, room * sizeof(struct seats *));
    if (!seats)
        return false;
    t->seats = seats;
    t->room = room;
    return true;
}

#define CLUSTER_TURN (1u << 22)  // steps, while blocks of a cluster get on

// A turn of the cluster in s. True where it was left, and has not ended.
static bool take_turn(struct table *t, struct seats *s, bool resumes)
{
    struct worker *w = t->t->worker;
    uint64_t moved = 0;
    bool left, news = false;
    if (!resumes) {
        cluster_begin(s, w, t->next++);
        if (t->next > 1 && t->t->progress)
            t->t->progress((t->next - 1) * s->cluster.n, t->t->n_clusters * s->cluster.n);
    }
    do {
        left = cluster_turn(s, w);
        moved += s->moved;
        news |= w->news;
    } while (left && w->news && s->cluster.n > 1 && moved < CLUSTER_TURN);
    if (news || !left || !resumes)
        t->idle = t->rounds = 0;
    else
        t->idle += moved;
    if (s->stopped)
        t->stop = cluster_number(w->grid, w->block.linear);
    return left;
}

// A turn of every cluster that was left.
static void again(struct table *t)
{
    uint64_t kept = 0;
    t->rounds++;
    for (uint64_t i = 0; i < t->n; i++) {
        if (t->stop != UINT64_MAX || take_turn(t, t->seats[i], true))
            t->seats[kept++] = t->seats[i];
        else
            drop_seats(t, t->seats[i]);
    }
    t->n = kept;
}

// Begins as many clusters as there is room for. At least one, unless others are at work.
static void begin(struct table *t)
{
    while (t->next < t->t->n_clusters && t->n < t->t->resident && t->stop == UINT64_MAX) {
        struct seats *s = make_room(t) ? new_seats(t) : NULL;
        if (!s && t->n)
            return;
        if (!s) {
            t->stop = t->next;
            return;
        }
        if (take_turn(t, s, false))
            t->seats[t->n++] = s;
        else
            drop_seats(t, s);
    }
}

// Does a warp wait for others of its block? Then that is the fault.
static bool report_held(struct table *t)
{
    struct worker *w = t->t->worker;
    for (uint64_t i = 0; i < t->n; i++)
        for (uint32_t rank = 0; rank < t->seats[i]->cluster.n; rank++)
            if (!t->seats[i]->cluster.ended[rank] && waits_held(&t->seats[i]->seat[rank].block, &w->fault))
                return true;
    return false;
}

static void report_wait(struct table *t)
{
    const struct block *b = &t->seats[0]->seat[0].block;
    struct worker *w = t->t->worker;
    if (report_held(t)) {
        t->stop = cluster_number(w->grid, w->fault.block);
        cluster_survives(w);
        return;
    }
    uint32_t i = 0;
    while (i + 1 < b->n_warps && !b->warps[i].polled)
        i++;
    const uint64_t size = t->seats[0]->cluster.n, rest = (t->t->n_clusters - t->next) * size;
    w->block.linear = b->linear;
    w->fault = (struct fault){ .kind = FAULT_ENDLESS_WAIT,
                               .inst = b->warps[i].poll_inst,
                               .warp = i,
                               .lane = b->warps[i].poll_lane,
                               .block = b->linear,
                               .seen = (uint32_t)(t->n * size),
                               .left = rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX };
    cluster_survives(w);
    t->stop = cluster_number(w->grid, b->linear);
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
    } while (t.stop == UINT64_MAX && (t.n || t.next < turns->n_clusters));
    for (uint64_t i = 0; i < t.n; i++) {
        seats_free(t.seats[i]);
        free(t.seats[i]);
    }
    if (t.spare)
        seats_free(t.spare);
    free(t.spare);
    free(t.seats);
    return t.stop;
}
