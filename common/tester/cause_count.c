// How often the product of each k is added to the sums: missing ones, and those that are added twice. See cause.h.
#include "cause.h"

#include <math.h>
#include <stdlib.h>

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
                  first_twice >= 0 ? ", once for each part" : ": = in place of +=");
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

static void say_missing(struct cause *c, const struct counts *s)
{
    const int n = s->k, missing = s->missing, tile = s->tile;
    const char *plural = missing == 1 ? "" : "s", *are = missing == 1 ? "is" : "are";
    if (missing == n)
        cause_say(c, "all products are missing");
    else if (missing == n - 1 && s->count[n - 1] == 1)
        cause_say(c, "of each sum of %d products only the last is there: = in place of +=", n);
    else if (tile && n > tile && s->first == 0 && s->last == missing - 1 && n - missing <= tile)
        cause_say(c,
                  "of each sum of %d products only the last tile's %d are there: what is set in the loop, in place of "
                  "before it?",
                  n, n - missing);
    else if (s->last - s->first + 1 == missing && (s->first == 0 || s->last == n - 1))
        cause_say(c, "the %s %d product%s of each sum of %d %s missing: the %s of the loop over K",
                  s->first ? "last" : "first", missing, plural, n, are, s->first ? "end" : "start");
    else if (s->last - s->first + 1 == missing)
        cause_say(c, "%d product%s of each sum of %d %s missing, k = %d to %d: the loops over K", missing, plural, n,
                  are, s->first, s->last);
    else
        cause_say(c, "%d product%s of each sum of %d %s missing, k = %d first%s: the loops over K", missing, plural, n,
                  are, s->first, tile && missing % tile == 0 ? ", whole tiles" : "");
}

// Whether it happens in a tile that K does not fill, the first or the last.
static bool in_short_tile(const struct counts *s)
{
    return s->tile && s->k % s->tile && (s->last_twice < s->tile || s->first_twice >= s->k - s->tile);
}

static void say_twice(struct cause *c, const struct counts *s)
{
    cause_say(c, "%d product%s of each sum of %d %s added more than once", s->twice, s->twice == 1 ? "" : "s", s->k,
              s->twice == 1 ? "is" : "are");
    if (s->last_twice - s->first_twice + 1 == s->twice)
        cause_say(c, ", k = %d to %d", s->first_twice, s->last_twice);
    if (in_short_tile(s))
        cause_say(c, ": the guard of the tile that K does not fill");
}

static bool within_tile(const struct counts *s)
{
    return s->tile && s->missing % s->tile && s->k > s->tile;
}

static void say_both(struct cause *c, const struct counts *s)
{
    if (within_tile(s))
        cause_say(c,
                  "products of some k are added twice, those of others (k = %d first) not at all: the step of k within "
                  "a tile",
                  s->first);
    else
        cause_say(c,
                  "products of some tiles are added twice, those of others not at all (k = %d first): %swhich tile is "
                  "loaded next, or where the loop over K ends",
                  s->first, c->staged ? "the wrong stage is written or read, " : "");
}

static void look_at(struct cause *c, const struct counts *s)
{
    static const enum line_role loop[] = { LINE_LOOP, LINE_MULTIPLY, LINE_TILES, LINE_STEP_A, LINE_ROLES };
    static const enum line_role loop_k[] = { LINE_MULTIPLY, LINE_LOOP_K, LINE_LOOP, LINE_STEP_A, LINE_ROLES };
    static const enum line_role step_k[] = { LINE_LOOP_K, LINE_ASK_A, LINE_ASK_B, LINE_READ_A, LINE_ROLES };
    static const enum line_role copied[] = { LINE_COPY, LINE_READ_A, LINE_WRITE_A, LINE_LOOP, LINE_ROLES };
    static const enum line_role guard[] = { LINE_LOAD_A, LINE_LOAD_B, LINE_WRITE_A, LINE_COPY, LINE_ROLES };
    if (s->missing && s->twice)
        cause_look_at(c, within_tile(s) ? step_k : copied);
    else if (s->missing)
        cause_look_at(c, s->tile && s->missing % s->tile == 0 ? loop : loop_k);
    else if (in_short_tile(s))
        cause_look_at(c, guard);
    else
        cause_look_at(c, copied);
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
            cause_look_at(c, s.missing ? of_parts : of_k);
        } else if (told) {
            s.missing &&s.twice ? say_both(c, &s) : s.missing ? say_missing(c, &s) : say_twice(c, &s);
            look_at(c, &s);
        }
    }
    free(count);
    return told;
}
