// The findings of a launch: what kind each is, and where to look. See report.h.
#include "report.h"

#include <stdint.h>
#include <string.h>

#include "simt/check/check.h"
#include "simt/ptx/arena.h"

static const char *look_race(const struct fault *f, const struct grid *g)
{
    if (f->kind == FAULT_RACE_BLOCKS && f->atomic && f->other_atomic)
        return "an atomic at block scope is atomic for its own block alone: others need device scope";
    if (f->kind == FAULT_RACE_BLOCKS && g->code->orders_blocks)
        return "the block that writes must release (fence, then an atomic), the one that reads acquire (an atomic, "
               "then "
               "a fence), at device scope and on the same variable: is one of these missing on the way?";
    if (f->kind == FAULT_RACE_BLOCKS)
        return "blocks cannot wait for each other, so each element of the result should be one block's: check the "
               "index, and the guard where a tile reaches past the edge";
    if (f->other_block != f->block)
        return "blocks of a cluster order what they do at barrier.cluster (cluster.sync()), or the one arrives at an "
               "mbarrier with mbarrier.arrive.release.cluster and the other waits for it with "
               "mbarrier.try_wait.acquire.cluster: the default scope, .cta, does not order blocks";
    if (f->other_inst == f->inst)
        return "two threads use the same element in one instruction: does the index tell threads apart?";
    if (f->other_thread / LANES == f->warp)
        return "these two are of one warp, and lanes do not run in step by themselves: is a __syncthreads() missing "
               "between the two lines (or a __syncwarp(), where no other warp uses these bytes), or is the index "
               "wrong?";
    return "is there a __syncthreads() on every way from one line to the other, round the loop too? If so, is the "
           "index right?";
}

static const char *const look_barrier = "all threads of the block must come to the same barrier: is it in a branch or "
                                        "loop that not all of them take, or does one return before it?";
static const char *const look_lanes = "which threads come here, and which lanes does the instruction name?";
static const char *const look_phase =
    "a phase ends when as many threads have arrived as mbarrier.init counts, and all bytes have come that expect_tx "
    "names: who does not arrive, which copy reports to another mbarrier, or is it the parity of another phase?";
static const char *const look_stop = "the kernel stopped itself here: the condition before this line";

// By kind: the tool of compute-sanitizer that looks for it, its name, and where to look; shared: in shared memory, if
// that is another place. What depends on more is in look_at.
static const struct about {
    const char *check, *kind, *look, *shared;
} about[] = {
    [FAULT_BOUNDS] = { "memcheck", "out of bounds",
                       "the guard of this access: which row and column has this thread, and are they inside?",
                       "the index into the shared array, and the array's size" },
    [FAULT_ALIGN] = { "memcheck", "misaligned",
                      "a vector access needs an address that is a multiple of its size: the row's length, and the "
                      "column's offset",
                      NULL },
    [FAULT_BUDGET] = { "run", "endless", "the condition of this loop, and what changes it", NULL },
    [FAULT_WAIT] = { "run", "endless",
                     "who should write this value? A block that has not begun cannot: a card runs only some of the "
                     "blocks at a time",
                     NULL },
    [FAULT_TRAP] = { "run", "stopped", look_stop, NULL },
    [FAULT_ASSERT] = { "run", "stopped", look_stop, NULL },
    [FAULT_OTHER] = { "run", "stopped", "what this instruction is given here, and which threads come to it", NULL },
    [FAULT_DEADLOCK] = { "synccheck", "barrier", look_barrier, NULL },
    [FAULT_SPLIT] = { "synccheck", "barrier", look_barrier, NULL },
    [FAULT_LEFT] = { "synccheck", "barrier", look_barrier, NULL },
    [FAULT_BARRIER] = { "synccheck", "barrier", look_lanes, NULL },
    [FAULT_NOT_MEMBER] = { "synccheck", "lanes", look_lanes, NULL },
    [FAULT_MISSING] = { "synccheck", "lanes", look_lanes, NULL },
    [FAULT_INACTIVE] = { "synccheck", "lanes", look_lanes, NULL },
    [FAULT_RACE] = { "racecheck", "race", NULL, NULL },
    [FAULT_RACE_BLOCKS] = { "racecheck", "race", NULL, NULL },
    [FAULT_COPY] = { "racecheck", "copy not waited for",
                     "the copying thread must wait for its group (cp.async.wait_group), and then a barrier must follow",
                     NULL },
    [FAULT_PROXY] = { "racecheck", "proxy fence", NULL, NULL },
    [FAULT_SIGNAL] = { "racecheck", "race",
                       "a barrier between mbarrier.init and the first copy; of the cluster, if the mbarrier is another "
                       "block's: barrier.cluster.arrive and .wait, and before a relaxed arrival "
                       "fence.mbarrier_init.release.cluster",
                       NULL },
    [FAULT_UNFENCED] = { "racecheck", "proxy fence",
                         "fence.mbarrier_init.release.cluster (or fence.proxy.async) by the thread that initialises "
                         "the "
                         "mbarrier, then a barrier, and only then the copy",
                         NULL },
    [FAULT_LATE] = { "synccheck", "late wait",
                     "a parity tells two phases apart, no more: before it ends the next phase, a thread has to wait "
                     "for something that this one does after its wait. Or leave the wait out, if it is for a phase "
                     "that is known to be over",
                     NULL },
    [FAULT_FLIGHT] = { "racecheck", "registers of wgmma", NULL, NULL },
    [FAULT_BYTES] = { "synccheck", "bytes of a phase", NULL, NULL },
    [FAULT_UNWAITED] = { "racecheck", "copy left behind",
                         "wait for each copy before the block ends (mbarrier.try_wait), or do not start those that "
                         "are not needed: does the loop that copies end where the loop that multiplies does?",
                         NULL },
    [FAULT_HOME] = { "synccheck", "life of a block",
                     "barrier.cluster.arrive and .wait (cluster.sync()) before the first use of another block's shared "
                     "memory: that block may not have begun",
                     NULL },
    [FAULT_DESCRIPTOR] = { "memcheck", "descriptor",
                           "a descriptor has 18 bits of the address, (address & 0x3ffff) >> 4: in a cluster, addresses "
                           "in shared memory have the block's rank in their upper bits",
                           NULL },
    [FAULT_REGISTERS] = { "synccheck", "setmaxnreg",
                          "setmaxnreg.dec in the producer's warpgroup and setmaxnreg.inc in the others: each by whole "
                          "warpgroups, and threads times registers at most 65536 in all",
                          NULL },
    [FAULT_UNINIT] = { "initcheck", "not initialised", "who should have written it? With beta = 0, C must not be read",
                       "is the whole tile stored before it is read - every index, and a 0 where it reaches past the "
                       "edge?" },
    [FAULT_UNWRITTEN] = { "initcheck", "uninitialised",
                          "is there an initialiser (= {} or = 0; of a wmma fragment, = {} or fill_fragment), and does "
                          "every way to this line pass it?",
                          NULL },
    [FAULT_LAUNCH] = { "racecheck", "launch not waited for",
                       "griddepcontrol.wait (cudaGridDependencySynchronize) before the first use of what the launch "
                       "before has written",
                       NULL },
    [FAULT_CONST] = { "memcheck", "constant",
                      "only the host sets __constant__ variables, before the launch (cudaMemcpyToSymbol)", NULL },
};

// Where to look, one line.
static const char *look_at(const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    const struct about *a = &about[f->kind];
    if (f->kind == FAULT_HOME && f->store)
        return "barrier.cluster.arrive and .wait (cluster.sync()) at the end of the kernel, after the last use of "
               "another block's shared memory, and by all threads";
    if (f->kind == FAULT_UNWAITED && !f->store)
        return "cp.async.bulk.commit_group, and before the block ends cp.async.bulk.wait_group 0 (or "
               "wait_group.read 0) by the thread that started the copy: after that another block may be given this "
               "shared memory";
    const bool async = f->async || f->other_async;
    if (f->kind == FAULT_RACE || f->kind == FAULT_RACE_BLOCKS)
        return async && f->kind == FAULT_RACE ? report_look_async(f) : look_race(f, g);
    if (f->kind == FAULT_PROXY || f->kind == FAULT_BYTES || f->kind == FAULT_FLIGHT ||
        (f->kind == FAULT_COPY && f->other_async))
        return report_look_async(f);
    if (f->kind == FAULT_WAIT && strstr(f->text, "mbarrier"))
        return look_phase;
    if (f->space == SPACE_SHARED && a->shared)
        return a->shared;
    if (f->kind == FAULT_UNINIT && strcmp(k->name, "gemm"))  // it has no beta
        return "who should have written it: the host, a kernel before, or another line of this one?";
    return a->look;
}

static struct finding_place place_of(struct arena *a, const struct simt_kernel *k, uint32_t inst)
{
    const struct ptx_module *m = k->module->ptx;
    const struct ptx_inst *in = &k->func->insts[inst];
    const struct ptx_loc *loc = ptx_loc_of(m, in), *call = loc ? report_call(m, loc) : NULL;
    char *file = arena_printf(a, "%s", loc ? ptx_source_name(m, loc->file) : m->file);
    const char *caller_file = call ? arena_printf(a, "%s", ptx_source_name(m, call->file)) : NULL;
    return (struct finding_place){ file, loc ? loc->line : ptx_line(m, in->at), caller_file,
                                   caller_file ? call->line : 0 };
}

static bool same_file(const char *a, const char *b)
{
    return !a == !b && (!a || !strcmp(a, b));
}

static bool same_place(const struct finding_place *a, const struct finding_place *b)
{
    return a->line == b->line && a->caller == b->caller && same_file(a->file, b->file) &&
           same_file(a->caller_file, b->caller_file);
}

// The finding among n that is the same but for its PTX instruction: a line that was unrolled has many.
static struct finding *find(struct finding *all, size_t n, const struct finding *f)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].kind == f->kind && all[i].advice == f->advice && same_place(&all[i].here, &f->here) &&
            same_place(&all[i].there, &f->there))
            return &all[i];
    return NULL;
}

// The finding that f makes, without its text.
static struct finding classified(struct arena *a, const struct simt_kernel *k, const struct grid *g,
                                 const struct found *found)
{
    const struct fault *f = &found->fault;
    struct finding x = { .check = about[f->kind].check, .kind = about[f->kind].kind, .look = look_at(k, g, f) };
    // FAULT_UNWAITED: of a bulk store. FAULT_LATE: as long as no warp is very late, all goes well.
    x.advice = f->kind == FAULT_UNFENCED || f->kind == FAULT_LATE || (f->kind == FAULT_UNWAITED && !f->store);
    x.count = found->count;
    x.here = place_of(a, k, f->inst);
    const bool counts = f->kind == FAULT_BARRIER && *f->text;
    if (counts || (f->kind >= FAULT_RACE && f->kind != FAULT_UNINIT && f->kind != FAULT_CONST &&
                   f->kind != FAULT_UNWRITTEN && f->kind != FAULT_DESCRIPTOR))
        x.there = place_of(a, k, f->other_inst);
    return x;
}

// Puts what is only advised behind the errors.
static void part(struct findings *f, struct finding *all, const struct finding *found, size_t n)
{
    f->all = all;
    for (size_t i = 0; i < n; i++)
        if (!found[i].advice)
            all[f->n++] = found[i];
    for (size_t i = 0; i < n; i++)
        if (found[i].advice)
            all[f->n + f->n_advice++] = found[i];
}

bool report_findings(struct findings *out, struct arena **texts, const struct simt_kernel *k, const struct grid *g,
                     const struct found *found, size_t n)
{
    char text[DEV_ERROR_MAX];
    arena_free(*texts);
    struct arena *a = *texts = arena_new(SIZE_MAX);
    struct finding *all = a ? arena_alloc(a, (n + 1) * sizeof *all) : NULL;
    struct finding *sorted = a ? arena_alloc(a, (n + 1) * sizeof *sorted) : NULL;
    size_t different = 0;
    *out = (struct findings){ .kernel = k->name };
    if (!all || !sorted || !(out->kernel = arena_printf(a, "%s", k->name)))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct finding x = classified(a, k, g, &found[i]), *again = find(all, different, &x);
        if (!x.here.file)
            return false;
        if (again) {
            again->count += x.count;
            continue;
        }
        report_fault_short(k, g, &found[i].fault, text);
        if (!(x.text = arena_printf(a, "%s", text)))
            return false;
        all[different++] = x;
    }
    part(out, sorted, all, different);
    return true;
}
