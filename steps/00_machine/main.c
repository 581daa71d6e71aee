// The program of chapter 00: runs the kernel `who` and prints which blocks, warps and lanes there were, and on which
// SM.
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "device/open.h"
#include "base/options.h"
#include "base/sort.h"

enum { WARP = 32, SHOWN = 8, ARRAYS = 4 };

struct who {
    uint64_t blocks, threads;  // of a block
    enum dev_kind kind;
    int32_t *block, *warp, *lane, *sm;  // what the kernel wrote
};

#define AT(field) OPTION_AT(struct who, field)
static const struct option_row rows[] = {
    { "blocks", "N", "blocks of the grid (default 6)", AT(blocks), 1, 65536 },
    { "threads", "N", "threads of a block, 1 to 1024 (default 64)", AT(threads), 1, 1024 },
    { "device", "D", "auto, gpu or sim (default auto: the GPU if one answers)", AT(kind), .words = option_devices },
    { 0 },
};
static const struct options table = {
    .program = "00_machine",
    .usage = "[OPTION]...\nEach thread of the kernel `who` writes its block, its warp, its lane and its SM.",
    .rows = rows,
};

// Runs the kernel, and copies what it wrote.
static bool run(struct who *w, struct dev *d)
{
    static const char *const names[ARRAYS] = { "block", "warp", "lane", "sm" };
    int32_t **const to[ARRAYS] = { &w->block, &w->warp, &w->lane, &w->sm };
    const size_t bytes = w->blocks * w->threads * sizeof(int32_t);
    dev_ptr arrays[ARRAYS];
    struct dev_arg args[ARRAYS];
    struct dev_module *m = dev_load(d, KERNEL_PTX);
    struct dev_kernel *k = m ? dev_kernel(d, m, "who") : NULL;
    bool ok = k != NULL;
    for (int i = 0; i < ARRAYS; i++) {
        ok = ok && dev_alloc(d, names[i], bytes, &arrays[i]);
        args[i] = (struct dev_arg)DEV_ARG(arrays[i]);
    }
    const struct dev_launch launch = {
        .grid = { (unsigned)w->blocks }, .block = { (unsigned)w->threads }, .args = args, .n_args = ARRAYS
    };
    ok = ok && dev_launch(d, k, &launch) && dev_sync(d);
    for (int i = 0; i < ARRAYS && ok; i++) {
        *to[i] = malloc(bytes);
        ok = *to[i] && dev_download(d, *to[i], arrays[i], bytes);
    }
    return ok;
}

// Every thread of the grid wrote its own place.
static bool right(const struct who *w)
{
    for (uint64_t i = 0; i < w->blocks * w->threads; i++) {
        const int32_t thread = (int32_t)(i % w->threads);
        if (w->block[i] != (int32_t)(i / w->threads) || w->warp[i] != thread / WARP || w->lane[i] != thread % WARP ||
            w->sm[i] < 0)
            return false;
    }
    return true;
}

// How many different SMs ran a block.
static uint64_t count_sms(const struct who *w)
{
    uint64_t n = 0;
    uint64_t *of_block = malloc(w->blocks * sizeof *of_block);
    if (!of_block)
        return 0;
    for (uint64_t i = 0; i < w->blocks; i++)
        of_block[i] = (uint64_t)w->sm[i * w->threads];
    qsort(of_block, w->blocks, sizeof *of_block, by_number);
    for (uint64_t i = 0; i < w->blocks; i++)
        n += i == 0 || of_block[i] != of_block[i - 1];
    free(of_block);
    return n;
}

static void print(const struct who *w, const struct dev_about *about)
{
    const uint64_t warps = (w->threads + WARP - 1) / WARP, last = (w->threads - 1) % WARP, sms = count_sms(w);
    printf("Device: %s\n", about->name);
    printf("A grid of %llu block%s, each of %llu thread%s: %llu warp%s, lanes 0 to %llu in the last one\n",
           (unsigned long long)w->blocks, text_plural(w->blocks), (unsigned long long)w->threads,
           text_plural(w->threads), (unsigned long long)warps, text_plural(warps), (unsigned long long)last);
    for (uint64_t i = 0; i < w->blocks && i < SHOWN; i++)
        printf("block %llu: threads %llu to %llu of the grid, on SM %d\n", (unsigned long long)i,
               (unsigned long long)i * w->threads, ((unsigned long long)i + 1) * w->threads - 1, w->sm[i * w->threads]);
    if (w->blocks > SHOWN)
        printf("...\n");
    if (about->simulated)
        printf("The simulated GPU has no SMs: every block reads SM 0.\n");
    else
        printf("%llu of the card's %d SMs ran a block.\n", (unsigned long long)sms, about->sm_count);
}

int main(int argc, char **argv)
{
    struct who w = { .blocks = 6, .threads = 64, .kind = DEV_AUTO };
    char error[DEV_ERROR_MAX];
    int status;
    if (!options_begin(&table, &w, &argc, &argv, &status))
        return status;
    struct dev *d = dev_open(w.kind, error);
    const bool ran = d && run(&w, d), ok = ran && right(&w);
    if (ok)
        print(&w, dev_about(d));
    else
        fprintf(stderr, "00_machine: %s\n", !d ? error : !ran ? dev_error(d) : "a thread is missing, or wrong");
    free(w.block);
    free(w.warp);
    free(w.lane);
    free(w.sm);
    dev_close(d);
    return ok ? 0 : ran ? 1 : 2;
}
