// Where elements that should have been multiplied are lost on their way (flow.h). See cause.h.
#include "cause.h"

#include <string.h>

#include "base/source.h"
#include "flow.h"
#include "kernel_text.h"
#include "look.h"
#include "probe.h"

// The tile of C in which something is wrong first. Where blocks walk over tiles, the first block has the first tile,
// and no other is known.
static void find_tile(const struct look *l, const struct geometry *g, int *row, int *col)
{
    *row = *col = 0;
    for (int i = 0; i < l->m && !g->blocks; i++)
        for (int j = 0; j < l->n; j++) {
            const struct meeting t = look_meeting(l, i, j);
            if (t.a_row == i && t.a_col == j % l->k && t.b_row == i % l->k && t.b_col == j)
                continue;
            *row = i / g->bm * g->bm;
            *col = j / g->bn * g->bn;
            return;
        }
}

bool cause_flow(struct flow *f, const struct cause *c, struct probe *p, const struct look *l, char matrix, bool columns)
{
    const struct geometry *g = &p->geometry;
    int row, col;
    *f = (struct flow){ .n = 0 };
    find_tile(l, g, &row, &col);
    const uint64_t block = (uint64_t)(row / g->bm) * (uint64_t)((l->n - 1) / g->bn + 1) + (uint64_t)(col / g->bn);
    const struct flow_of of = { matrix, columns, l->m, l->n, l->k, block };
    const bool ok = g->parts <= 1 && flow_take(f, p, c->lines.file, &of);
    const bool along_k = columns == (matrix == 'A');
    f->first = along_k ? 0 : columns ? col : row;
    f->end = along_k ? f->n : f->first + (columns ? g->bn : g->bm);
    f->end = f->end < f->n ? f->end : f->n;
    return ok;
}

static void say_line(struct cause *c, unsigned line)
{
    if (line)
        cause_say(c, " (%s:%u)", source_base_name(c->lines.file), line);
}

// How much is lost with it along K. If others of its tile come as far, it is no loop over tiles that leaves it out.
enum extent { PART_OF_TILE, WHOLE_TILES, TO_END };

// Of rows of A and columns of B no loop over tiles leaves out any: WHOLE_TILES.
static enum extent extent_of(const struct flow *f, const struct geometry *g, char matrix, bool columns, int place)
{
    const unsigned char *came = f->seen[flow_lost(f, place)];
    const int tile = columns != (matrix == 'A') ? 0 : g->bk;
    int first = place, end = place;
    while (first > 0 && !came[first - 1])
        first--;
    while (end < f->n && !came[end])
        end++;
    if (columns == (matrix == 'A') && end == f->n)
        return TO_END;
    return tile && (end - first) % tile != 0 ? PART_OF_TILE : WHOLE_TILES;
}

// It lies in shared memory, and is not read there: what leaves it out.
static void say_unread(struct cause *c, bool replaced, bool along_k, enum extent extent)
{
    static const enum line_role loop[] = { LINE_LOOP, LINE_ROLES };
    static const enum line_role early[] = { LINE_COPY, LINE_LOOP, LINE_ROLES };
    static const enum line_role stage[] = { LINE_STAGE, LINE_ROLES };
    const bool whole = along_k && extent != PART_OF_TILE;
    cause_say(c, replaced ? ", and overwritten there before it is read: " : ", and never read there: ");
    if (along_k && c->staged && replaced) {
        cause_say(c, "the stage, or an index, is wrong");
        cause_look_at(c, stage);
    } else if (whole && replaced) {
        cause_say(c, "the next tile is put there too early, or the loop over K leaves this one out");
        cause_look_at(c, early);
    } else if (whole) {
        cause_say(c, "the %s of the loop over K%s", extent == TO_END ? "end" : "start or the step",
                  c->staged ? ", or the stage" : "");
        cause_look_at(c, loop);
        cause_look_at(c, c->staged ? stage : CAUSE_NO_LINES);
    } else {
        cause_say(c, along_k && c->staged ? "an index, or the stage, is wrong" : "an index is wrong");
    }
}

static void look_at(struct cause *c, const struct flow *f, enum flow_stage lost, char matrix, bool along_k, bool part)
{
    static const enum line_role step[] = { LINE_LOOP, LINE_STEP_A, LINE_TILES, LINE_ROLES };
    static const enum line_role base[][2] = { { LINE_BASE_A, LINE_ROLES }, { LINE_BASE_B, LINE_ROLES } };
    if (lost == FLOW_LOADED && along_k && !part) {
        cause_look_at(c, step);
        return;
    }
    if (lost == FLOW_WRITTEN)
        cause_look_at_line(c, f->line[FLOW_LOADED]);
    if (lost == FLOW_LOADED)
        cause_look_at_line(c, f->line[FLOW_WRITTEN]);
    cause_look_at_line(c, f->line[lost]);
    if (part || lost == FLOW_WRITTEN)
        cause_look_at_line(c, kernel_text_loop(c->lines.file, f->line[lost == FLOW_LOADED ? FLOW_WRITTEN : lost]));
    if (lost == FLOW_LOADED && !along_k)
        cause_look_at(c, base[matrix == 'B']);
    if (lost == FLOW_READ)
        cause_look_at_line(c, f->line[FLOW_WRITTEN]);
}

static void say_unloaded(struct cause *c, const struct flow *f, bool along_k, bool part, int place)
{
    const bool start = !memchr(f->seen[FLOW_LOADED], 1, (size_t)place);  // none before it is loaded
    if (part && f->shared)
        cause_say(c, "never loaded from global memory, or overwritten before it is used, and others of its tile are "
                     "there: an index, or a loop, at the load or at the store into shared memory");
    else if (part || !along_k)
        cause_say(c, "never loaded from global memory: an index of the load");
    else
        cause_say(c, "never loaded from global memory: the %s",
                  start ? "start of the loop over K" : "end of the loop over K, or a step along it that is too long");
}

void cause_say_lost(struct cause *c, const struct flow *f, const struct geometry *g, char matrix, bool columns,
                    int place)
{
    const enum flow_stage lost = flow_lost(f, place);
    const bool along_k = columns == (matrix == 'A');
    const char *name = along_k ? "k =" : columns ? "column" : "row";
    const enum extent extent = extent_of(f, g, matrix, columns, place);
    const bool part = extent == PART_OF_TILE;
    cause_say(c, "%s %d of %c is ", name, place, matrix);
    if (lost == FLOW_LOADED) {
        say_unloaded(c, f, along_k, part, place);
    } else if (lost == FLOW_WRITTEN) {
        cause_say(c, "loaded");
        say_line(c, f->line[FLOW_LOADED]);
        cause_say(c, ", and never put into shared memory");
        say_line(c, f->line[FLOW_WRITTEN]);
    } else {
        cause_say(c, "put into shared memory");
        say_line(c, f->line[FLOW_WRITTEN]);
        say_unread(c, f->replaced[place], along_k, extent);
    }
    look_at(c, f, lost, matrix, along_k, part);
    if (along_k && !part && lost != FLOW_READ)
        cause_say_calls(c, f->line[lost]);
}
