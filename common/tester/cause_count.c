// How often the product of each k is added to the sums: missing ones, and those that are added twice. See cause.h.
#include "cause.h"

#include <math.h>
#include <stdlib.h>

#include "base/profile.h"
#include "flow.h"
#include "kernel_text.h"
#include "look.h"
#include "probe.h"

struct counts {
    int k, tile;  // of K, and of a tile along it; 0: there are none
    int parts;    // blocks that share a tile of C; each has a part of K
    int missing, twice;
    int first, last;              // of the missing ones
    int first_twice, last_twice;  // of those that are added more than once
    double most;                  // times that one is added
    const double *count;
};

static struct counts survey(const double *count, int k, const struct geometry *g)
{
    struct counts s = { .k = k, .tile = g->bk, .parts = g->parts, .first = -1, .first_twice = -1, .count = count };
    for (int i = 0; i < k; i++) {
        if (count[i] == 0) {
            s.first = s.missing++ ? s.first : i;
            s.last = i;
        } else if (count[i] > 1) {
            s.first_twice = s.twice++ ? s.first_twice : i;
            s.last_twice = i;
            s.most = fmax(s.most, count[i]);
        }
    }
    return s;
}

// --- Blocks that share a tile ---

// Where a block's part of K begins: it has whole tiles.
static int part_begin(const struct counts *s, int part)
{
    const int tiles = (s->k - 1) / s->tile + 1, k = tiles * part / s->parts * s->tile;
    return k < s->k ? k : s->k;
}

// How often a part's products are added; -1 if they differ, or if it has none.
static double of_part(const struct counts *s, int part)
{
    const int begin = part_begin(s, part), end = part_begin(s, part + 1);
    for (int i = begin + 1; i < end; i++)
        if (s->count[i] != s->count[begin])
            return -1;
    return begin < end ? s->count[begin] : -1;
}

static bool say_parts(struct cause *c, const struct counts *s)
{
    int missing = 0, twice = 0, first_missing = -1, first_twice = -1;
    for (int part = 0; s->parts > 1 && s->tile && part < s->parts; part++) {
        const double n = of_part(s, part);
        if (n < 0)
            return false;
        first_missing = n == 0 && !missing++ ? part : first_missing;
        first_twice = n > 1 && !twice++ ? part : first_twice;
    }
    if (!missing && !twice)
        return false;
    cause_say(c, "%d blocks share a tile of C, each with a part of K: ", s->parts);
    if (missing == 1)
        cause_say(c, "the products of the %s part are missing (part %d, k = %d to %d)",
                  first_missing == 0              ? "first"
                  : first_missing + 1 == s->parts ? "last"
                                                  : "one",
                  first_missing, part_begin(s, first_missing), part_begin(s, first_missing + 1) - 1);
    else if (missing == s->parts - 1)
        cause_say(c, "only the products of part %d are there%s", first_twice >= 0 ? first_twice : s->parts - 1,
                  first_twice >= 0 ? ", once for each part"
                                   : ": = in place of +=, or the other blocks do not copy what is theirs");
    else if (missing)
        cause_say(c, "the products of %d parts are missing, part %d first (k = %d to %d)", missing, first_missing,
                  part_begin(s, first_missing), part_begin(s, first_missing + 1) - 1);
    if (twice && missing != s->parts - 1)
        cause_say(c, "%sthose of part %d are added %.0f times", missing ? ", and " : "", first_twice, s->most);
    if (!missing)
        cause_say(c, ": look at where a block's part of K begins and ends");
    else if (twice)
        cause_say(c, ": look at how the parts are added up, and at which part of K a block has");
    else
        cause_say(c, ": look at how the parts are added up");
    return true;
}

// --- One block ---

// What is missing of each tile alike: its k from first on, every step-th of them.
struct within {
    int first, n, step;
};

// Whether the same k of each whole tile are missing, and others of them are there.
static bool same_in_tiles(const struct counts *s, struct within *w)
{
    const int tile = s->tile;
    *w = (struct within){ .first = -1, .step = 1 };
    if (!tile || s->k < 2 * tile)
        return false;
    for (int i = 0; i < tile; i++) {
        bool some = false;  // of the tiles have it
        for (int k = i; k < s->k / tile * tile; k += tile)
            some = some || s->count[k] > 0;
        if (some)
            continue;
        w->step = w->n++ == 1 ? i - w->first : w->step;
        w->first = w->first < 0 ? i : w->first;
    }
    return w->n && w->n < tile;
}

static void say_within(struct cause *c, const struct counts *s, const struct within *w)
{
    static const enum line_role roles[] = { LINE_LOOP_K, LINE_MULTIPLY, LINE_READ_A, LINE_ROLES };
    if (w->first + w->n == s->tile)
        cause_say(c,
                  "of each tile only the first %d of %d k are multiplied: the loop over k within a tile ends too early",
                  w->first, s->tile);
    else if (!w->first)
        cause_say(
            c, "the first %d of each tile's %d k are never multiplied: the loop over k within a tile begins too late",
            w->n, s->tile);
    else
        cause_say(
            c, "%d of each tile's %d k are never multiplied, k = %d first: the step of the loop over k within a tile",
            w->n, s->tile, w->first);
    cause_look_at(c, roles);
}

// How far the first missing product's elements come. instead: other products are added in their place, by tiles; those
// that are not even loaded are none of a loop that ends too early. False: it is not known, or both come to the
// products.
static bool say_lost(struct cause *c, struct probe *p, const struct look *l, int k, bool instead)
{
    static const enum line_role next[] = { LINE_COPY, LINE_LOOP, LINE_STEP_A, LINE_WRITE_A, LINE_ROLES };
    bool told = false;
    for (int i = 0; i < 2 && !told; i++) {
        struct flow f;
        const char matrix = i ? 'B' : 'A';
        const bool known = cause_flow(&f, c, p, l, matrix, matrix == 'A');
        if (known && instead && flow_lost(&f, k) == FLOW_LOADED) {
            cause_say(c,
                      "k = %d of %c is never loaded from global memory: which tile is loaded next, or where the loop "
                      "over K ends",
                      k, matrix);
            cause_look_at(c, next);
            cause_say_calls(c, f.line[FLOW_LOADED]);
            told = true;
        } else if (known && flow_lost(&f, k) != FLOW_STAGES) {
            cause_say_lost(c, &f, &p->geometry, matrix, matrix == 'A', k);
            told = true;
        }
        flow_free(&f);
    }
    return told;
}

// Whether the products were all computed, be it with other elements or with zeros.
static bool all_computed(const struct probe *p, const struct look *l)
{
    const struct profile *ran = dev_profile(p->dev);
    return ran && (double)ran->total[METRIC_FLOP] >= 2.0 * l->m * l->n * l->k;
}

static void say_missing(struct cause *c, struct probe *p, const struct look *l, const struct counts *s)
{
    static const enum line_role zero[] = { LINE_ZERO, LINE_ROLES };
    static const enum line_role product[] = { LINE_MULTIPLY, LINE_LOOP, LINE_LOOP_K, LINE_ROLES };
    static const enum line_role loop[] = { LINE_LOOP, LINE_STEP_A, LINE_TILES, LINE_ROLES };
    static const enum line_role depth[] = { LINE_DEPTH, LINE_LOOP, LINE_STEP_A, LINE_ROLES };
    static const enum line_role start[] = { LINE_MULTIPLY, LINE_LOOP_K, LINE_LOOP, LINE_ROLES };
    const int n = s->k, missing = s->missing, tile = s->tile;
    const char *plural = missing == 1 ? "" : "s", *are = missing == 1 ? "is" : "are";
    const bool computed = all_computed(p, l);
    if (missing == n - 1 && s->count[n - 1] == 1) {
        cause_say(c, "of each sum of %d products only the last is there: = in place of +=", n);
        cause_look_at(c, product);
        return;
    }
    if (tile && n > tile && s->first == 0 && s->last == missing - 1 && n - missing <= tile) {
        cause_say(c,
                  "of each sum of %d products only the last tile's %d are there: what is set in the loop, in place of "
                  "before it?",
                  n, n - missing);
        if (c->lines.line[LINE_ZERO] > c->lines.line[LINE_LOOP])
            cause_look_at(c, zero);
        cause_look_at(c, product);
        return;
    }
    if (missing == n)
        cause_say(c, "all products are missing: ");
    else if (s->last - s->first + 1 == missing && (s->first == 0 || s->last == n - 1))
        cause_say(c, "the %s %d product%s of each sum of %d %s missing: ", s->first ? "last" : "first", missing, plural,
                  n, are);
    else if (s->last - s->first + 1 == missing)
        cause_say(c, "%d product%s of each sum of %d %s missing, k = %d to %d: ", missing, plural, n, are, s->first,
                  s->last);
    else
        cause_say(c, "%d product%s of each sum of %d %s missing, k = %d first%s: ", missing, plural, n, are, s->first,
                  tile && missing % tile == 0 ? ", whole tiles" : "");
    if (computed && s->first && s->last == n - 1) {
        cause_say(c, "as many are computed as there should be, so another tile begins too late or has a wrong depth");
        cause_look_at(c, depth);
        return;
    }
    if (say_lost(c, p, l, s->first, false))
        return;
    cause_say(c, "the %s of the loop over K", s->first ? "end" : "start");
    cause_look_at(c, s->first ? loop : start);
}

// Whether it happens in a tile that K does not fill, the first or the last.
static bool in_short_tile(const struct counts *s)
{
    return s->tile && s->k % s->tile && (s->last_twice < s->tile || s->first_twice >= s->k - s->tile);
}

// Those of the last tile, or of the last whole one, from its first k to its last.
static bool is_last_tile(const struct counts *s)
{
    return s->tile && s->twice == s->tile && s->last_twice == s->k - 1 && s->first_twice == s->k - s->tile;
}

static void say_twice(struct cause *c, const struct counts *s)
{
    static const enum line_role copied[] = { LINE_COPY, LINE_READ_A, LINE_WRITE_A, LINE_LOOP, LINE_ROLES };
    static const enum line_role guard[] = { LINE_LOAD_A, LINE_LOAD_B, LINE_WRITE_A, LINE_COPY, LINE_ROLES };
    static const enum line_role loop[] = { LINE_LOOP, LINE_TILES, LINE_STEP_A, LINE_ROLES };
    const bool last = is_last_tile(s);
    cause_say(c, "%d product%s of each sum of %d %s added more than once", s->twice, s->twice == 1 ? "" : "s", s->k,
              s->twice == 1 ? "is" : "are");
    if (s->last_twice - s->first_twice + 1 == s->twice)
        cause_say(c, ", k = %d to %d", s->first_twice, s->last_twice);
    if (in_short_tile(s))
        cause_say(c, ": the guard of the tile that K does not fill");
    else if (last)
        cause_say(c, ", the last tile: the loop over tiles runs once too often");
    cause_look_at(c, in_short_tile(s) ? guard : last ? loop : copied);
}

static void say_both(struct cause *c, struct probe *p, const struct look *l, const struct counts *s)
{
    static const enum line_role copied[] = { LINE_STAGE, LINE_READ_A, LINE_WRITE_A, LINE_LOOP, LINE_ROLES };
    const bool tiles = s->missing % s->tile == 0;
    cause_say(c,
              "products of some %s are added twice, those of others not at all (k = %d first): ", tiles ? "tiles" : "k",
              s->first);
    if (say_lost(c, p, l, s->first, tiles))
        return;
    cause_say(c, "%swhich tile is loaded next, or where the loop over K ends",
              c->staged ? "the wrong stage is written or read, " : "");
    cause_look_at(c, c->staged ? copied : copied + 1);
}

// Whether of all tiles only the products of the first are there, once for each tile.
static bool say_first_again(struct cause *c, const struct counts *s)
{
    static const enum line_role step[] = { LINE_STAGE, LINE_STEP_A, LINE_STEP_B, LINE_COPY, LINE_LOOP, LINE_ROLES };
    if (!s->tile || s->k <= s->tile || s->twice != s->tile || s->missing != s->k - s->tile || s->last_twice >= s->tile)
        return false;
    cause_say(c, "only the products of the first tile along K are there, once for each tile: %sA and B do not move on",
              c->staged ? "the stage does not change, or " : "");
    cause_look_at(c, c->staged ? step : step + 1);
    return true;
}

// Blocks that share a tile have products in common.
static bool say_overlap(struct cause *c, const struct counts *s)
{
    static const enum line_role roles[] = { LINE_TILES, LINE_DEPTH, LINE_COPY, LINE_ROLES };
    if (s->parts <= 1 || s->missing)
        return false;
    cause_say(
        c,
        "%d blocks share a tile of C, each with a part of K, and %d products of each sum of %d are added more than "
        "once, k = %d first: the parts overlap, so look at where a block's part begins and ends",
        s->parts, s->twice, s->k, s->first_twice);
    cause_look_at(c, roles);
    return true;
}

static void say_counts(struct cause *c, struct probe *p, const struct look *l, const struct counts *s)
{
    struct within w;
    if (s->missing && same_in_tiles(s, &w))
        say_within(c, s, &w);
    else if (say_overlap(c, s) || say_first_again(c, s))
        return;
    else if (s->missing && s->twice && s->tile)
        say_both(c, p, l, s);
    else if (s->missing)
        say_missing(c, p, l, s);
    else
        say_twice(c, s);
}

// What the number of tiles is made of, just before it.
static void look_at_maker_of_tiles(struct cause *c)
{
    unsigned makers[KERNEL_MAKERS];
    const unsigned tiles = c->lines.line[LINE_TILES];
    const unsigned n = tiles ? kernel_text_makers(c->lines.file, tiles, makers) : 0;
    if (n && makers[0] + 1 == tiles)
        cause_look_at_line(c, makers[0]);
}

bool cause_of_counts(struct cause *c, struct probe *p, const struct look *l)
{
    static const enum line_role of_parts[] = { LINE_READ_PART, LINE_TILES, LINE_WRITE_A, LINE_STORE_C, LINE_ROLES };
    static const enum line_role of_k[] = { LINE_TILES, LINE_WRITE_A, LINE_MULTIPLY, LINE_ROLES };
    double *count = malloc((size_t)l->k * sizeof *count);
    bool told = false;
    if (count && look_counts(l, p, count)) {
        const struct counts s = survey(count, l->k, &p->geometry);
        told = s.missing || s.twice;
        if (told && say_parts(c, &s)) {
            cause_look_at_most(c, s.missing ? of_parts : of_k, 1);
            look_at_maker_of_tiles(c);
            cause_look_at(c, s.missing ? of_parts : of_k);
        } else if (told) {
            say_counts(c, p, l, &s);
            cause_say_loops(c);
        }
    }
    free(count);
    return told;
}
