// What threads have open: copies that they have asked for and not waited for, in groups.
#include <string.h>

#include "base/text.h"
#include "inside.h"

static void add(struct text_end *t, bool *any, uint32_t n, const char *one, const char *more, const char *how)
{
    if (n)
        text_add(t, "%s%u %s %s", *any ? ", " : "", n, n == 1 ? one : more, how);
    *any |= n > 0;
}

static void say(const struct simt_groups *g, char text[WATCH_TEXT])
{
    struct text_end t = { text, WATCH_TEXT };
    bool any = false;
    add(&t, &any, g->copies, "group of cp.async", "groups of cp.async", "open");
    add(&t, &any, g->loose_copies, "copy of cp.async", "copies of cp.async", "in no group yet");
    add(&t, &any, g->bulk, "group of bulk copies", "groups of bulk copies", "open");
    add(&t, &any, g->loose_bulk, "bulk copy", "bulk copies", "in no group yet");
}

uint32_t watch_groups(const struct simt_look *look, uint32_t warp, uint32_t *left, char text[WATCH_TEXT])
{
    static const struct simt_groups none;
    struct simt_groups first = none, g;
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < WATCH_LANES; lane++) {
        if (!(*left >> lane & 1) || !simt_look_groups(look, warp, lane, &g) || !memcmp(&g, &none, sizeof g))
            continue;
        first = lanes ? first : g;
        if (!memcmp(&g, &first, sizeof g))
            lanes |= 1u << lane;
    }
    *left &= ~lanes;
    say(&first, text);
    return lanes;
}
