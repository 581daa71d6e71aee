// See occupancy.h.
#include "occupancy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "ptx_file.h"
#include "text.h"
#include "program.h"

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

struct occupancy occupancy_of(const struct card *card, unsigned threads, unsigned registers, uint64_t shared)
{
    const unsigned warps = (threads + 31) / 32, by_threads = card->threads / 32 / warps;
    const uint64_t of_warp = round_up((uint64_t)registers * 32, 256);
    const uint64_t of_block = round_up(shared, card->shared_unit) + card->shared_reserved;
    // Each of the SM's four parts has a quarter of the registers and of the warps.
    const uint64_t by_registers = registers ? card->registers / 4 / of_warp * 4 / warps : card->blocks;
    const uint64_t by_shared = of_block ? (uint64_t)card->shared_kib * 1024 / of_block : card->blocks;
    struct occupancy o = { .blocks = card->blocks,
                           .max = card->threads / 32,
                           .limit = "blocks",
                           .by_threads = by_threads,
                           .by_registers = (unsigned)by_registers,
                           .by_shared = (unsigned)by_shared,
                           .by_blocks = card->blocks };
    const struct {
        uint64_t blocks;
        const char *limit;
    } limits[] = { { by_threads, "threads" }, { by_registers, "registers" }, { by_shared, "shared memory" } };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].blocks < o.blocks) {
            o.blocks = (unsigned)limits[i].blocks;
            o.limit = limits[i].limit;
        }
    }
    o.warps = o.blocks * warps;
    return o;
}

// --- ptxas ---

bool occupancy_ask(const char *ptx, const char *kernel, const struct card *card, struct kernel_use *use)
{
    char arch[24], entry[300], *said, *save = NULL;
    bool ours = false, found = false;
    int status;
    snprintf(arch, sizeof arch, "-arch=sm_%d%s", card->cc, ptx_file_alone(ptx) == (unsigned)card->cc ? "a" : "");
    snprintf(entry, sizeof entry, "entry function '%.250s'", kernel);
    char *argv[] = { (char *)PTXAS, (char *)"-v", arch, (char *)"-o", (char *)"/dev/null", (char *)ptx, NULL };
    *use = (struct kernel_use){ 0 };
    if (!program_run(argv, &said, &status))
        return false;
    for (char *line = strtok_r(said, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *at;
        if (status && !*use->refusal)
            snprintf(use->refusal, sizeof use->refusal, "%s", line);
        if (strstr(line, "entry function"))
            ours = strstr(line, entry);
        if (!ours)
            continue;
        at = strstr(line, "stack frame, ");
        if (at)
            sscanf(at, "stack frame, %u bytes spill stores", &use->spilled);
        at = strstr(line, "Used ");
        found |= at && sscanf(at, "Used %u registers", &use->registers) == 1;
        at = strstr(line, " bytes smem");
        while (at && at > line && isdigit((unsigned char)at[-1]))
            at--;
        if (at)
            use->shared = (unsigned)strtoul(at, NULL, 10);
    }
    free(said);
    return !status && found;
}

// --- the report ---

static void print_moved(FILE *out, const struct profile *p)
{
    char text[TEXT_GROUPED];
    const uint64_t loaded = 32 * p->total[METRIC_GLD_SEC] + p->total[METRIC_TMA_LD_BYTES];
    const uint64_t stored = 32 * p->total[METRIC_GST_SEC] + p->total[METRIC_TMA_ST_BYTES];
    const uint64_t flop = p->total[METRIC_FLOP];
    fprintf(out, "Moved and computed:\n");
    fprintf(out, "  loaded from global memory          %17s bytes, in sectors of 32\n", text_grouped(loaded, text));
    fprintf(out, "  stored to global memory            %17s bytes, in sectors of 32\n", text_grouped(stored, text));
    fprintf(out, "  computed                           %17s FLOP\n", text_grouped(flop, text));
    if (loaded + stored)
        fprintf(out, "  arithmetic intensity               %17.3g FLOP a byte\n",
                (double)flop / (double)(loaded + stored));
}

void occupancy_print(FILE *out, const struct profile *p, const char *ptx, const struct card *card)
{
    struct kernel_use use;
    const unsigned threads = p->block[0] * p->block[1] * p->block[2];
    print_moved(out, p);
    fprintf(out, "Occupancy on the %s (%d.%d, %u SMs), by blocks of %u threads and %u bytes of shared memory:\n",
            card->name, card->cc / 10, card->cc % 10, card->sms, threads, p->shared);
    if (!occupancy_ask(ptx, p->kernel, card, &use)) {
        if (*use.refusal)
            fprintf(out, "  not known: ptxas, which knows the kernel's registers, refuses it for sm_%d: %s\n", card->cc,
                    use.refusal);
        else
            fprintf(out,
                    "  not known: the kernel's registers come from ptxas, which was not found, or does not find it\n");
        return;
    }
    const struct occupancy o = occupancy_of(card, threads, use.registers, p->shared);
    const uint64_t blocks = (uint64_t)p->grid[0] * p->grid[1] * p->grid[2];
    fprintf(out, "  %u registers a thread", use.registers);
    if (use.spilled)
        fprintf(out, ", and %u bytes spilled", use.spilled);
    if (!o.blocks) {
        fprintf(out, ": not one block fits, by its %s\n", o.limit);
        return;
    }
    fprintf(out, ": %u block%s an SM, limited by %s; %u of %u warps (%.0f %%)\n", o.blocks, text_plural(o.blocks),
            o.limit, o.warps, o.max, 100.0 * o.warps / o.max);
    fprintf(out, "  this launch has %llu block%s: %.2f waves of %u\n", (unsigned long long)blocks, text_plural(blocks),
            (double)blocks / (o.blocks * card->sms), o.blocks * card->sms);
}
