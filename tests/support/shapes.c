// See shapes.h.
#include "shapes.h"

#include <criterion/criterion.h>

#include "sample.h"
#include "device/open.h"

struct geometry geometry_of(const struct step *step)
{
    struct geometry g;
    char error[DEV_ERROR_MAX];
    cr_assert(geometry_read(step->ptx, &g, error), "%s", error);
    return g;
}

enum { ONE_IN = 6 };

static size_t brief(const struct step *step, struct shape *all, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (sample_has(step->name, i % ONE_IN, ONE_IN))
            all[kept++] = all[i];
    return kept;
}

size_t shapes_of(const struct step *step, struct shape out[SHAPES_MAX])
{
    static const struct shape fixed[] = {
        { 1, 1, 1 },   { 1, 1, 7 },      { 2, 3, 1 },      { 31, 37, 41 }, { 61, 67, 71 }, { 97, 101, 3 },
        { 257, 3, 5 }, { 3, 257, 5 },    { 5, 3, 257 },    { 300, 1, 40 }, { 1, 300, 40 }, { 65, 66, 1 },
        { 33, 65, 9 }, { 130, 258, 70 }, { 129, 127, 65 }, { 64, 64, 64 },
    };
    const struct geometry g = geometry_of(step);
    const int m = g.bm, n = g.bn, k = g.bk ? g.bk : 16;
    size_t count = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        out[count++] = fixed[i];
    for (int dm = -1; dm <= 1; dm++)
        for (int dn = -1; dn <= 1; dn++)
            for (int dk = -1; dk <= 1; dk++)
                out[count++] = (struct shape){ m + dm, n + dn, k + dk };
    out[count++] = (struct shape){ 2 * m, n, 3 * k };
    out[count++] = (struct shape){ m, 2 * n, 2 * k };
    out[count++] = (struct shape){ 2 * m + 1, n - 1, 2 * k + 1 };
    return sample_asked() == SAMPLE_BRIEF ? brief(step, out, count) : count;
}

struct dev *device_or_skip(enum dev_kind kind, const struct step *step)
{
    char error[DEV_ERROR_MAX];
    struct dev *d = dev_open(kind, error);
    if (!d && kind == DEV_GPU)
        cr_skip_test("%s", error);
    cr_assert(d, "%s", error);
    const unsigned sm = dev_needs(d, step->ptx);
    if (sm)
        cr_skip_test("%s needs an sm_%u, and %s is an older one", step->name, sm, dev_about(d)->name);
    return d;
}
