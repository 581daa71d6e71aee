// CUB, NVIDIA's library of parallel algorithms, on every device (kernels/cub.cu): results against plain C, and the
// checks find nothing.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "found.h"
#include "ptx_case.h"

enum { BLOCKS = 6, TILE = 512, N = BLOCKS * TILE, ROOM = N + 4096 };

static uint32_t in[N], out[ROOM], want[N];

static void launch(struct dev *d, const char *name, dev_ptr to, dev_ptr from)
{
    struct dev_module *m = dev_load(d, CUB_PTX);
    struct dev_kernel *k = m ? dev_kernel(d, m, name) : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from) };
    struct dev_launch l = { .grid = { BLOCKS }, .block = { TILE / 4 }, .args = args, .n_args = 2 };
    cr_assert(k && dev_launch(d, k, &l) && dev_sync(d), "%s: %s", name, dev_error(d));
    const struct simt_findings *f = dev_findings(d);
    cr_expect(!f || !(f->n + f->n_advice), "%s:\n%s", name, f ? found_text(f) : "");
}

// Runs kernels, one after another, and expects n words as want has them. Beyond N nothing has written the output.
static void expect(const char *const *names, size_t n)
{
    struct dev *d[PTX_DEVICES];
    const size_t devices = ptx_devices_from(d, 80, false);
    for (size_t k = 0; k < devices; k++) {
        dev_ptr to = 0, from = 0;
        dev_set_checks(d[k], true);
        memset(out, 0, sizeof out);
        cr_assert(dev_alloc(d[k], "out", sizeof out, &to) && dev_alloc(d[k], "in", sizeof in, &from) &&
                      dev_upload(d[k], to, out, sizeof want) && dev_upload(d[k], from, in, sizeof in),
                  "%s", dev_error(d[k]));
        for (const char *const *name = names; *name; name++)
            launch(d[k], *name, to, from);
        cr_assert(dev_download(d[k], out, to, sizeof out), "%s", dev_error(d[k]));
        for (size_t i = 0; i < n; i++)
            cr_assert_eq(out[i], want[i], "%s, %s: word %zu is %u, not %u", names[0], dev_about(d[k])->name, i, out[i],
                         want[i]);
        dev_close(d[k]);
    }
}

#define EXPECT(n, ...) expect((const char *const[]){ __VA_ARGS__, NULL }, n)

static void fill(void)
{
    for (uint32_t i = 0; i < N; i++)
        in[i] = (i * 2654435761u >> 16) % 10007;
    memset(want, 0, sizeof want);
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

Test(cub, blocks_sort)
{
    fill();
    memcpy(want, in, sizeof want);
    for (uint32_t b = 0; b < BLOCKS; b++)
        qsort(want + b * TILE, TILE, sizeof *want, by_value);
    EXPECT(N, "sort");
    EXPECT(N, "merge_sort");
}

Test(cub, blocks_rank_keys_by_votes)
{
    fill();
    for (uint32_t i = 0; i < N; i++)
        want[i] = in[i] % 32;
    for (uint32_t b = 0; b < BLOCKS; b++)
        qsort(want + b * TILE, TILE, sizeof *want, by_value);
    EXPECT(N, "ranks");
}

Test(cub, blocks_add_up)
{
    fill();
    for (uint32_t i = 0; i < N; i++)
        want[i] = in[i] + (i % TILE ? want[i - 1] : 0);
    EXPECT(N, "scan");
    for (uint32_t b = 0; b < BLOCKS; b++)
        want[b] = want[b * TILE + TILE - 1];
    EXPECT(BLOCKS, "sum");
}

Test(cub, warps_find_the_largest)
{
    fill();
    for (uint32_t i = 0; i < N / 4; i++)
        want[i / 32] = in[i] > want[i / 32] ? in[i] : want[i / 32];
    EXPECT(N / 4 / 32, "warp_maximum");
}

// Between the keys and the values of their pairs lies padding, which nothing writes, and CUB reads by whole words.
Test(cub, blocks_find_where_the_least_is)
{
    uint32_t at = 0;
    fill();
    for (uint32_t i = 1; i < N; i++)
        at = in[i] < in[at] ? i : at;
    want[0] = at;
    want[1] = in[at];
    EXPECT(2, "least_of_blocks", "least_of_all");
}

Test(cub, blocks_count)
{
    fill();
    for (uint32_t i = 0; i < N; i++)
        want[in[i] % 32]++;
    EXPECT(32, "histogram_by_atomics");
    EXPECT(32, "histogram_by_sorting");
}

Test(cub, blocks_scan_together)
{
    fill();
    for (uint32_t i = 0; i < N; i++)
        want[i] = in[i] + (i ? want[i - 1] : 0);
    EXPECT(N, "scan_begins", "scan_all");
}
