// See geometry.h.
#include "geometry.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/ptx_file.h"
#include "simt/simt.h"

// The numbers in the order of the array. least, most: what can work. Shared memory is left to the device, which knows
// how much it has.
static const struct number {
    const char *name, *key;
    size_t offset;
    int least, most;
} numbers[] = {
    { "BM", "bm", offsetof(struct geometry, bm), 1, 65536 },
    { "BN", "bn", offsetof(struct geometry, bn), 1, 65536 },
    { "BK", "bk", offsetof(struct geometry, bk), 0, 65536 },
    { "THREADS", "threads", offsetof(struct geometry, threads), 1, 1024 },
    { "SHARED", "shared", offsetof(struct geometry, shared), 0, INT_MAX },
    { "TM", "tm", offsetof(struct geometry, tm), 0, 65536 },
    { "TN", "tn", offsetof(struct geometry, tn), 0, 65536 },
    { "WM", "wm", offsetof(struct geometry, wm), 0, 65536 },
    { "WN", "wn", offsetof(struct geometry, wn), 0, 65536 },
    { "BOX", "box", offsetof(struct geometry, box), 0, 256 },
    { "BLOCKS", "blocks", offsetof(struct geometry, blocks), 0, 32 },
    { "CBOX", "cbox", offsetof(struct geometry, cbox), 0, 256 },
    { "SPLIT", "split", offsetof(struct geometry, split), 0, 1 },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers, NEEDED = 4, ROW = NUMBERS * 4, BYTES = GEOMETRIES_MAX * ROW };

#define MISSING                                                                                                        \
    "its kernel says no geometry; write below its tile sizes "                                                         \
    "__constant__ int geometry[] = { BM, BN, BK, THREADS, SHARED, TM, TN, WM, WN, BOX, BLOCKS, CBOX, SPLIT }; "        \
    "the last ones may be left out"

static int value_of(const struct geometry *g, const struct number *n)
{
    return *(const int *)((const char *)g + n->offset);
}

static bool fail(const char *name, const char *why, char error[DEV_ERROR_MAX])
{
    snprintf(error, DEV_ERROR_MAX, "%.300s: %s", name, why);
    return false;
}

// --- Can it work? ---

static bool divides(const char *name, const char *part, int of_part, const char *whole, int of_whole,
                    char error[DEV_ERROR_MAX])
{
    char why[200];
    if (!of_part || of_whole % of_part == 0)
        return true;
    snprintf(why, sizeof why, "its geometry cannot work: %s is %d, which is no multiple of %s, %d", whole, of_whole,
             part, of_part);
    return fail(name, why, error);
}

static bool can_work(const char *name, const struct geometry *g, char error[DEV_ERROR_MAX])
{
    char why[200];
    for (const struct number *n = numbers; n < numbers + NUMBERS; n++) {
        const int value = value_of(g, n);
        if (value >= n->least && value <= n->most)
            continue;
        snprintf(why, sizeof why, "its geometry cannot work: %s is %d, and must be from %d to %d", n->name, value,
                 n->least, n->most);
        return fail(name, why, error);
    }
    if (g->cbox && !g->box)
        return fail(name, "its geometry cannot work: it has a CBOX, and no BOX", error);
    return divides(name, "TM", g->tm, "BM", g->bm, error) && divides(name, "TN", g->tn, "BN", g->bn, error) &&
           divides(name, "WM", g->wm, "BM", g->bm, error) && divides(name, "WN", g->wn, "BN", g->bn, error) &&
           divides(name, "BOX", g->box, "BN", g->bn, error) && divides(name, "BOX", g->box, "BK", g->bk, error) &&
           divides(name, "CBOX", g->cbox, "BM", g->bm, error);
}

static void read_row(const unsigned char data[ROW], bool first, struct geometry *g)
{
    *g = (struct geometry){ .parts = 1 };
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t value = 0;
        for (int b = 3; b >= 0; b--)
            value = value << 8 | data[4 * i + b];
        *(int *)((char *)g + numbers[i].offset) = (int)value;
    }
    if (first)
        snprintf(g->kernel, sizeof g->kernel, "gemm");
    else
        snprintf(g->kernel, sizeof g->kernel, "gemm_%dx%d%s", g->bm, g->bn, g->split ? "_split" : "");
}

bool geometries_parse(const char *name, const char *text, size_t bytes, struct geometries *g, char error[DEV_ERROR_MAX])
{
    size_t used;
    unsigned char data[BYTES] = { 0 };
    const enum simt_constant found = simt_text_constant(text, bytes, "geometry", data, sizeof data, &used);
    if (found == SIMT_CONSTANT_NONE)
        return fail(name, MISSING, error);
    if (found == SIMT_CONSTANT_BAD || used % 4 || used < 4 * NEEDED || (used > ROW && used % ROW))
        return fail(
            name,
            "its geometry is no list of 4 to 13 ints, and not several of 13: { BM, BN, BK, THREADS, SHARED, TM, "
            "TN, WM, WN, BOX, BLOCKS, CBOX, SPLIT }",
            error);
    g->n = (int)((used - 1) / ROW) + 1;
    for (int i = 0; i < g->n; i++) {
        read_row(data + i * ROW, !i, &g->all[i]);
        if (!can_work(name, &g->all[i], error))
            return false;
    }
    return true;
}

bool geometry_parse(const char *name, const char *text, size_t bytes, struct geometry *g, char error[DEV_ERROR_MAX])
{
    struct geometries all;
    const bool ok = geometries_parse(name, text, bytes, &all, error);
    if (ok)
        *g = all.all[0];
    return ok;
}

bool geometries_read(const char *path, struct geometries *g, char error[DEV_ERROR_MAX])
{
    size_t bytes;
    char *text = ptx_file_read(path, &bytes, error);
    const bool is_ptx = text && strstr(text, ".version");
    if (text && !is_ptx)
        fail(path, "this is not PTX: it has no .version", error);
    const bool ok = is_ptx && geometries_parse(path, text, bytes, g, error);
    free(text);
    return ok;
}

bool geometry_read(const char *path, struct geometry *g, char error[DEV_ERROR_MAX])
{
    struct geometries all;
    const bool ok = geometries_read(path, &all, error);
    if (ok)
        *g = all.all[0];
    return ok;
}

// --- What it says ---

const char *geometry_text(const struct geometry *g, char text[GEOMETRY_TEXT])
{
    size_t used = 0;
    *text = '\0';
    for (const struct number *n = numbers; n < numbers + NUMBERS && used < GEOMETRY_TEXT; n++)
        if (value_of(g, n))
            used += (size_t)snprintf(text + used, GEOMETRY_TEXT - used, "%s%s = %d", used ? ", " : "", n->name,
                                     value_of(g, n));
    return text;
}

void geometry_json(struct json *j, const char *key, const struct geometry *g)
{
    json_object(j, key);
    for (const struct number *n = numbers; n < numbers + NUMBERS; n++)
        json_int(j, n->key, value_of(g, n));
    json_end(j);
}

// --- Who computes an element? ---

int owner_by_patches(const struct geometry *g, int row, int col)
{
    const int tm = g->tm ? g->tm : 1, tn = g->tn ? g->tn : 1;
    return row / tm * (g->bn / tn) + col / tn;
}

// The warp, counted along the rows of the block's tile; -1 if there are no warp tiles.
static int warp_of(const struct geometry *g, int row, int col)
{
    return g->wm && g->wn ? row / g->wm * (g->bn / g->wn) + col / g->wn : -1;
}

int owner_by_pieces(const struct geometry *g, int row, int col)
{
    const int warp = warp_of(g, row, col), side = 4;  // of a piece
    if (warp < 0 || g->tm < side || g->tn < side)
        return -1;
    const int dm = g->wm * side / g->tm, dn = g->wn * side / g->tn;  // from a thread's piece to its next
    if (dm < side || dn < side)
        return -1;
    const int r = row % g->wm % dm / side, c = col % g->wn % dn / side;
    return 32 * warp + c / 2 * (2 * dm / side) + 2 * r + c % 2;
}

int owner_by_fragments(const struct geometry *g, int row, int col)
{
    const int warp = warp_of(g, row, col);
    return warp < 0 ? -1 : 32 * warp + row % 8 * 4 + col % 8 / 2;
}
