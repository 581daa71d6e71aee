// See unwritten.h.
#include "unwritten.h"

#include "cause.h"

bool unwritten_whole(const struct unwritten_lines *x)
{
    int n = 0;
    for (int i = 0; i < x->n; i++) {
        if (x->some[i] != x->all[i])
            return false;
        n += x->all[i];
    }
    return n > 0 && n < x->n;
}

const struct unwritten_lines *unwritten_of_tile(const struct unwritten *u, const char **name)
{
    const bool cols = unwritten_whole(&u->tile_cols);
    *name = cols ? "column" : "row";
    return cols ? &u->tile_cols : unwritten_whole(&u->tile_rows) ? &u->tile_rows : NULL;
}

void unwritten_say(struct cause *c, const struct unwritten_lines *x, const char *name)
{
    int first = 0, end, again, last = x->n;
    while (!x->all[first])
        first++;
    for (end = first; end < x->n && x->all[end];)
        end++;
    for (again = end; again < x->n && !x->all[again];)
        again++;
    while (!x->all[last - 1])
        last--;
    if (end == first + 1)
        cause_say(c, "%s %d", name, first);
    else
        cause_say(c, "%ss %d to %d", name, first, end - 1);
    if (again < x->n && last > end)
        cause_say(c, ", %d to %s", again, again + end - first == last ? "" : "...");
    if (again < x->n && again + end - first == last)
        cause_say(c, "%d", last - 1);
}
