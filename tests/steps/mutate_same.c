// Mutants that leave the bits as they are: the program is the same for every shape, and this is why. See
// mutate_judge.h.
#include "mutate_judge.h"

#include <string.h>

static const struct {
    int first, last;
    const char *file, *before, *after, *why;
} all[] = {
#define ROW(first, last, file, before, after, why) { first, last, file, before, after, why },
#include "mutate_same.def"
#undef ROW
};

static bool fits(const struct mutants *s, const struct mutant *m, int step, size_t i)
{
    return all[i].first <= step && step <= all[i].last && mutants_makes(s, m, all[i].file, all[i].before, all[i].after);
}

const char *mutant_same(const struct mutants *s, const struct mutant *m, int step)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (fits(s, m, step, i))
            return all[i].why;
    return NULL;
}

const char *mutant_same_unused(const struct mutants *s, int step)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool used = all[i].first > step || step > all[i].last;
        for (size_t k = 0; k < s->n && !used; k++)
            used = fits(s, &s->all[k], step, i);
        if (!used)
            return all[i].after;
    }
    return NULL;
}
