// From the executor's counters to a profile. See report.h.
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/code/count.h"
#include "base/arena.h"
#include "simt/code/bulk_op.h"
#include "simt/code/wgmma.h"

#define NONE METRIC_COUNT  // not counted

static void add(uint64_t metric[METRIC_COUNT], enum profile_metric m, uint64_t n)
{
    if (m != NONE)
        metric[m] += n;
}

// What the accesses of a memop add.
static void add_accesses(uint64_t metric[METRIC_COUNT], const struct memop *m, uint64_t warps,
                         const struct mem_count *c)
{
    static const struct {  // bank conflicts of loads include those of ldmatrix, and so on
        enum profile_metric global_inst, requests, sectors, shared_inst, waves, conflicts, own_conflicts;
    } of[] = {
        [MEM_LD] = { METRIC_GLD_INST, METRIC_GLD_REQ, METRIC_GLD_SEC, METRIC_SLD_INST, METRIC_SLD_WAVE, METRIC_SLD_CONF,
                     NONE },
        [MEM_ST] = { METRIC_GST_INST, METRIC_GST_REQ, METRIC_GST_SEC, METRIC_SST_INST, METRIC_SST_WAVE, METRIC_SST_CONF,
                     NONE },
        [MEM_LDSM] = { NONE, NONE, NONE, METRIC_LDSM_INST, METRIC_LDSM_WAVE, METRIC_SLD_CONF, METRIC_LDSM_CONF },
        [MEM_STSM] = { NONE, NONE, NONE, NONE, METRIC_STSM_WAVE, METRIC_SST_CONF, METRIC_STSM_CONF },
        [MEM_LDGSTS] = { NONE, METRIC_GLD_REQ, METRIC_GLD_SEC, NONE, METRIC_LDGSTS_WAVE, NONE, METRIC_LDGSTS_CONF },
        [MEM_ATOM] = { NONE, NONE, NONE, NONE, METRIC_ATOM_WAVE, NONE, NONE },
        [MEM_BULK] = { NONE, NONE, NONE, NONE, NONE, NONE, NONE },
    };
    const enum mem_class k = (enum mem_class)m->counted;
    // A generic access is counted by where it went.
    if (m->space == SPACE_GLOBAL || c->requests) {
        add(metric, of[k].global_inst, warps + c->extra);
        add(metric, of[k].requests, c->requests);
        add(metric, of[k].sectors, c->sectors);
    }
    if (m->space == SPACE_SHARED || c->waves) {
        add(metric, of[k].shared_inst, warps + c->extra);
        add(metric, of[k].waves, c->waves - c->load_waves);
        add(metric, METRIC_SLD_INST, c->loads);
        add(metric, METRIC_SLD_WAVE, c->load_waves);
        add(metric, of[k].conflicts, c->conflicts);
        add(metric, of[k].own_conflicts, c->conflicts);
        add(metric, METRIC_WAVE, c->waves);
        add(metric, METRIC_WAVE_IDEAL, c->ideal);
    }
}

// Bulk copies between global and shared memory; others have no counter in Nsight Compute that is known here.
static void add_bulk(uint64_t metric[METRIC_COUNT], const struct warpop *op, uint64_t warps, const struct mem_count *c)
{
    static const struct {
        enum profile_metric inst, bytes;
    } of[] = { [BULK_LOAD] = { METRIC_TMA_LD, METRIC_TMA_LD_BYTES },
               [BULK_STORE] = { METRIC_TMA_ST, METRIC_TMA_ST_BYTES },
               [BULK_REDUCE] = { METRIC_TMA_RED, METRIC_TMA_RED_BYTES } };
    const struct bulk_op *b = op->more;
    if (b->kind > BULK_REDUCE)
        return;
    metric[of[b->kind].inst] += warps;
    metric[of[b->kind].bytes] += 32 * c->sectors;
}

// wgmma reads its operands in shared memory, 128 bytes a wavefront: 64 x 32 bytes of A, unless that is in registers,
// and N x 32 bytes of B. Read off an H200 for m64n256k16 with tiles that are swizzled by 128 bytes.
static void add_wgmma(uint64_t metric[METRIC_COUNT], const struct wgmma *m, uint64_t warps)
{
    enum { WARPS = 4, ROWS = 64, ROW = 32, WAVE = 128 };
    const uint64_t rows = (m->a_in_registers ? 0 : ROWS) + m->n, waves = warps / WARPS * (rows * ROW / WAVE);
    metric[METRIC_WAVE] += waves;
    metric[METRIC_WAVE_IDEAL] += waves;
}

// What a uop adds to its line's counters.
static void add_uop(uint64_t metric[METRIC_COUNT], const struct uop *u, uint64_t warps, const struct uop_count *count,
                    const struct mem_count *mem)
{
    const uint64_t idle = count->idle;
    if (u->counts) {
        metric[METRIC_INST] += warps;
        metric[METRIC_THREAD_INST] += warps * LANES - idle;
        metric[METRIC_FLOP] += (warps * LANES - idle) * u->flop;
    }
    metric[METRIC_DIVERGED] += count->split;
    if (u->kind == UOP_BARRIER)
        metric[METRIC_BAR] += warps;
    if (u->kind == UOP_WARP) {
        metric[u->warp->kind == WARP_wgmma ? METRIC_GMMA : METRIC_HMMA] += warps * u->warp->tensor;
        metric[METRIC_FLOP] += warps * u->warp->flop;
        if (u->warp->kind == WARP_wgmma)
            add_wgmma(metric, u->warp->more, warps);
    }
    const struct memop *m = uop_memop(u);
    if (u->kind == UOP_WARP && u->warp->kind == WARP_bulk)
        add_bulk(metric, u->warp, warps, &mem[m->index]);
    else if (m && !m->merged)
        add_accesses(metric, m, warps, &mem[m->index]);
}

static int by_line(const void *a, const void *b)
{
    const struct profile_line *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

// The source line to count an instruction for: where a header was inlined, the line of the kernel's own file that calls
// it.
static const struct ptx_loc *line_of(const struct ptx_module *m, const struct ptx_inst *in)
{
    const struct ptx_loc *loc = ptx_loc_of(m, in), *outer = loc;
    while (outer && outer->at)
        outer = ptx_caller(m, outer);
    while (loc && loc->file != outer->file)
        loc = ptx_caller(m, loc);
    return loc;
}

// Copies of the names that a profile of k needs; name[i] is that of file number i, and the last one the module's.
static char **copy_names(struct arena *a, const struct ptx_module *m)
{
    char **names = arena_alloc(a, (m->n_files + 1) * sizeof *names);
    for (uint32_t i = 0; names && i <= m->n_files; i++)
        if (!(names[i] = arena_printf(a, "%s", i < m->n_files ? ptx_source_name(m, i) : m->file)))
            return NULL;
    return names;
}

// What the uops that have run add to their lines, one behind the other, a line again where others came between: how
// many there are. out has room for all uops.
static size_t collect_lines(struct profile_line *out, char **files, const struct simt_kernel *k, const struct code *c,
                            const struct worker *sum)
{
    const struct ptx_module *m = k->module->ptx;
    size_t n = 0;
    uint64_t line_warps = 0;  // straight lines that run over this uop
    for (uint32_t i = 0; i < c->n_uops; i++) {
        const struct uop *u = &c->uops[i];
        line_warps = u->run ? (i && c->uops[i - 1].run ? line_warps : 0) + sum->runs[i] : 0;
        uint64_t warps = sum->uop_counts[i].warps + line_warps;
        if (!warps)
            continue;
        const struct ptx_inst *in = k->func->n_insts ? &k->func->insts[u->inst] : NULL;
        const struct ptx_loc *loc = in ? line_of(m, in) : NULL;
        const char *file = files[loc && loc->file < m->n_files ? loc->file : m->n_files];
        const unsigned line = loc ? loc->line : 0;
        if (!n || out[n - 1].file != file || out[n - 1].line != line)
            out[n++] = (struct profile_line){ .file = file, .line = line };
        if ((u->kind == UOP_LOAD || u->kind == UOP_STORE) && u->mem->merged)
            out[n - 1].merged += warps;
        add_uop(out[n - 1].metric, u, warps, &sum->uop_counts[i], sum->mem_counts);
    }
    return n;
}

// Sorts n lines, and makes one of those that are the same: how many are left. total: the sum of all.
static size_t merge_lines(struct profile_line *lines, size_t n, uint64_t total[METRIC_COUNT])
{
    size_t kept = 0;
    qsort(lines, n, sizeof *lines, by_line);
    memset(total, 0, METRIC_COUNT * sizeof *total);
    for (size_t i = 0; i < n; i++) {
        bool again = kept && by_line(&lines[kept - 1], &lines[i]) == 0;
        if (!again)
            lines[kept++] = lines[i];
        for (int j = 0; j < METRIC_COUNT; j++) {
            total[j] += lines[i].metric[j];
            if (again)
                lines[kept - 1].metric[j] += lines[i].metric[j];
        }
        if (again)
            lines[kept - 1].merged += lines[i].merged;
    }
    return kept;
}

bool report_profile(struct profile *p, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                    const struct worker *sum)
{
    struct profile_line *lines = calloc(g->code->n_uops + 1, sizeof *lines);
    arena_free(*names);
    *names = arena_new(SIZE_MAX);
    char **files = *names ? copy_names(*names, k->module->ptx) : NULL;
    p->kernel = files ? arena_printf(*names, "%s", k->name) : NULL;
    if (!lines || !p->kernel) {
        free(lines);
        return false;
    }
    memcpy(p->grid, g->grid, sizeof p->grid);
    memcpy(p->block, g->block, sizeof p->block);
    p->shared = g->shared_bytes - g->code->shared_bytes + k->code->shared_bytes;  // without the gaps of checked code
    free(p->lines);
    p->lines = lines;
    p->n_lines = merge_lines(lines, collect_lines(lines, files, k, g->code, sum), p->total);
    return true;
}
