// The program of chapter 00: runs the kernel `who` and prints which blocks, warps and lanes there were, and on which
// SM.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "device/open.h"
#include "base/options.h"

enum { WARP = 32, SHOWN = 8, ARRAYS = 4 };

struct who {
    uint64_t blocks, threads;  // of a block
    enum dev_kind kind;
    int32_t *block, *warp, *lane, *sm;  // what the kernel wrote
};

static const char usage[] = "usage: 00_machine [--blocks N] [--threads N] [--device auto|gpu|sim]\n\n"
                            "Each thread of the kernel `who` writes its block, its warp, its lane and its SM.\n\n"
                            "  --blocks N   blocks of the grid (default 6)\n"
                            "  --threads N  threads of a block, 1 to 1024 (default 64)\n"
                            "  --device D   auto, gpu or sim (default auto: the GPU if one answers)\n"
                            "  --help       this text\n";

// 0, or what is wrong with the command line; 'h' for --help.
static int parse(struct who *w, int argc, char **argv)
{
    static const struct option options[] = {
        { "blocks", required_argument, NULL, 'b' },
        { "threads", required_argument, NULL, 't' },
        { "device", required_argument, NULL, 'd' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'h')
            return c;
        const bool ok = c == 'b'   ? options_whole(optarg, 1, 65536, &w->blocks)
                        : c == 't' ? options_whole(optarg, 1, 1024, &w->threads)
                        : c == 'd' ? options_device(optarg, &w->kind)
                                   : false;
        if (!ok)
            return c;
    }
    return optind == argc ? 0 : '?';
}

static const char *complaint(int wrong)
{
    switch (wrong) {
    case 'b':
        return "--blocks takes a whole number from 1 to 65536";
    case 't':
        return "--threads takes a whole number from 1 to 1024";
    case 'd':
        return "--device takes auto, gpu or sim";
    default:
        return "there is no such option, or its value is missing; --help lists the options";
    }
}

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

static int compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// How many different SMs ran a block.
static uint64_t count_sms(const struct who *w)
{
    uint64_t n = 0;
    int32_t *of_block = malloc(w->blocks * sizeof *of_block);
    if (!of_block)
        return 0;
    for (uint64_t i = 0; i < w->blocks; i++)
        of_block[i] = w->sm[i * w->threads];
    qsort(of_block, w->blocks, sizeof *of_block, compare);
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
    const int wrong = parse(&w, argc, argv);
    if (wrong == 'h')
        return fputs(usage, stdout) < 0 || fflush(stdout) ? 2 : 0;
    if (wrong) {
        fprintf(stderr, "00_machine: %s\n", complaint(wrong));
        return 2;
    }
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
