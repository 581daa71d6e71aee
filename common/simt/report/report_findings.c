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
    if (f->other_inst == f->inst)
        return "two threads use the same element in one instruction: does the index tell threads apart?";
    if (f->other_thread / LANES == f->warp)
        return "these two are of one warp, and lanes do not run in step by themselves: is a __syncthreads() missing "
               "between the two lines (or a __syncwarp(), where no other warp uses these bytes), or is the index "
               "wrong?";
    return "is there a __syncthreads() on every way from one line to the other, round the loop too? If so, is the "
           "index right?";
}

static void classify(const struct fault *f, const struct grid *g, struct finding *out)
{
    const bool shared = f->space == SPACE_SHARED;
    switch (f->kind) {
    case FAULT_BOUNDS:
        *out = (struct finding){ .check = "memcheck", .kind = "out of bounds" };
        out->look = shared ? "the index into the shared array, and the array's size"
                           : "the guard of this access: which row and column has this thread, and are they inside?";
        break;
    case FAULT_ALIGN:
        *out = (struct finding){ .check = "memcheck", .kind = "misaligned" };
        out->look = "a vector access needs an address that is a multiple of its size: the row's length, and the "
                    "column's offset";
        break;
    case FAULT_UNINIT:
        *out = (struct finding){ .check = "initcheck", .kind = "not initialised" };
        out->look = shared ? "is the whole tile stored before it is read - every index, and a 0 where it reaches past "
                             "the edge?"
                           : "who should have written it? With beta = 0, C must not be read";
        break;
    case FAULT_UNWRITTEN:
        *out = (struct finding){ .check = "initcheck", .kind = "uninitialised" };
        out->look =
            "is there an initialiser (= {} or = 0; of a wmma fragment, = {} or fill_fragment), and does every way "
            "to this line pass it?";
        break;
    case FAULT_RACE:
    case FAULT_RACE_BLOCKS:
        *out = (struct finding){ .check = "racecheck", .kind = "race" };
        out->look = f->async || f->other_async ? report_look_async(f) : look_race(f, g);
        break;
    case FAULT_COPY:
        *out = (struct finding){ .check = "racecheck", .kind = "copy not waited for" };
        out->look = f->other_async ? report_look_async(f)
                                   : "the copying thread must wait for its group (cp.async.wait_group), and then a "
                                     "barrier must follow";
        break;
    case FAULT_PROXY:
        *out = (struct finding){ .check = "racecheck", .kind = "proxy fence" };
        out->look = report_look_async(f);
        break;
    case FAULT_BYTES:
        *out = (struct finding){ .check = "synccheck", .kind = "bytes of a phase" };
        out->look = report_look_async(f);
        break;
    case FAULT_REGISTERS:
        *out = (struct finding){ .check = "synccheck", .kind = "setmaxnreg" };
        out->look =
            "setmaxnreg.dec in the producer's warpgroup and setmaxnreg.inc in the others: each by whole warpgroups, "
            "and threads times registers at most 65536 in all";
        break;
    case FAULT_FLIGHT:
        *out = (struct finding){ .check = "racecheck", .kind = "registers of wgmma" };
        out->look = report_look_async(f);
        break;
    case FAULT_SPLIT:
    case FAULT_DEADLOCK:
    case FAULT_LEFT:
        *out = (struct finding){ .check = "synccheck", .kind = "barrier" };
        out->look = "all threads of the block must come to the same barrier: is it in a branch or loop that not all "
                    "of them take, or does one return before it?";
        break;
    case FAULT_CONST:
        *out = (struct finding){ .check = "memcheck", .kind = "constant" };
        out->look = "only the host sets __constant__ variables, before the launch (cudaMemcpyToSymbol)";
        break;
    case FAULT_BARRIER:
    case FAULT_NOT_MEMBER:
    case FAULT_MISSING:
    case FAULT_INACTIVE:
        *out = (struct finding){ .check = "synccheck", .kind = f->kind == FAULT_BARRIER ? "barrier" : "lanes" };
        out->look = "which threads come here, and which lanes does the instruction name?";
        break;
    case FAULT_WAIT:
        *out = (struct finding){ .check = "run", .kind = "endless" };
        out->look = "who should write this value? A block that has not begun cannot: a card runs only some of "
                    "the blocks at a time";
        break;
    default:
        *out = (struct finding){ .check = "run", .kind = f->kind == FAULT_BUDGET ? "endless" : "stopped" };
        out->look = f->kind == FAULT_BUDGET ? "the condition of this loop, and what changes it"
                                            : "the kernel stopped itself here: the condition before this line";
        break;
    }
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
        if (all[i].kind == f->kind && same_place(&all[i].here, &f->here) && same_place(&all[i].there, &f->there))
            return &all[i];
    return NULL;
}

// The finding that f makes, without its text.
static struct finding classified(struct arena *a, const struct simt_kernel *k, const struct grid *g,
                                 const struct found *found)
{
    const struct fault *f = &found->fault;
    struct finding x;
    classify(f, g, &x);
    if (f->kind == FAULT_UNINIT && f->space != SPACE_SHARED && strcmp(k->name, "gemm"))  // it has no beta
        x.look = "who should have written it: the host, a kernel before, or another line of this one?";
    x.count = found->count;
    x.here = place_of(a, k, f->inst);
    if (f->kind >= FAULT_RACE && f->kind != FAULT_UNINIT && f->kind != FAULT_CONST && f->kind != FAULT_UNWRITTEN)
        x.there = place_of(a, k, f->other_inst);
    return x;
}

bool report_findings(struct findings *out, struct arena **texts, const struct simt_kernel *k, const struct grid *g,
                     const struct found *found, size_t n)
{
    char text[DEV_ERROR_MAX];
    arena_free(*texts);
    struct arena *a = *texts = arena_new(SIZE_MAX);
    struct finding *all = a ? arena_alloc(a, (n + 1) * sizeof *all) : NULL;
    *out = (struct findings){ .kernel = k->name };
    if (!all || !(out->kernel = arena_printf(a, "%s", k->name)))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct finding x = classified(a, k, g, &found[i]), *again = find(all, out->n, &x);
        if (!x.here.file)
            return false;
        if (again) {
            again->count += x.count;
            continue;
        }
        report_fault_short(k, g, &found[i].fault, text);
        if (!(x.text = arena_printf(a, "%s", text)))
            return false;
        all[out->n++] = x;
    }
    out->all = all;
    return true;
}
