// A fault as one line that says where to look, and the findings of a launch.
#include "base/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "simt/ptx/arena.h"
#include "simt/check/check.h"
#include "simt/code/shadow.h"
#include "simt/device/simt.h"

// The call that loc was inlined for, NULL where it was not; for a line of a header the one in the kernel's own file.
static const struct ptx_loc *call_of(const struct ptx_module *m, const struct ptx_loc *loc)
{
    const struct ptx_loc *outer = loc, *call = loc->at ? &m->locs[loc->at - 1] : NULL;
    while (outer->at)
        outer = &m->locs[outer->at - 1];
    while (call && call->file != outer->file && loc->file != outer->file)
        call = &m->locs[call->at - 1];
    return call;
}

void simt_where(const struct simt_kernel *k, uint32_t inst, char *out, size_t size)
{
    const struct ptx_module *m = k->module->ptx;
    const struct ptx_inst *in = &k->func->insts[inst];
    if (!in->loc) {
        unsigned line = 1;
        for (const char *p = m->text; (p = memchr(p, '\n', (size_t)(in->at - p))); p++)
            line++;
        snprintf(out, size, "%.300s:%u", m->file, line);
        return;
    }
    const struct ptx_loc *loc = &m->locs[in->loc - 1];
    const char *path = simt_file_name(m, loc->file), *slash = strrchr(path, '/');
    int n = snprintf(out, size, "%.300s:%u", slash ? slash + 1 : path, loc->line);
    const struct ptx_loc *call = call_of(m, loc);
    if (call && n > 0 && (size_t)n < size) {
        if (call->file == loc->file)
            snprintf(out + n, size - (size_t)n, ", called from line %u", call->line);
        else
            snprintf(out + n, size - (size_t)n, ", called from %.60s:%u",
                     source_base_name(simt_file_name(m, call->file)), call->line);
    }
}

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += used;
    t->left -= used;
}

static void say_block(struct text *t, const struct grid *g, uint64_t block)
{
    const unsigned *size = g->grid;
    say(t, "block (%u,%u,%u)", (unsigned)(block % size[0]), (unsigned)(block / size[0] % size[1]),
        (unsigned)(block / size[0] / size[1]));
}

static void say_thread(struct text *t, const struct grid *g, uint32_t thread)
{
    const unsigned *size = g->block;
    say(t, "thread (%u,%u,%u)", thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]);
}

// "byte 4100 of As, which has 4096 bytes": of the variable that the address is in, or comes after. Where the check's
// code keeps variables apart, g->code knows where they are.
static void say_shared(struct text *t, const struct grid *g, uint64_t address)
{
    const struct code *c = g->code;
    const struct shared_var *in = NULL;
    for (uint32_t i = 0; i < c->n_shared_vars; i++)
        if (c->shared_vars[i].at <= address && (!in || c->shared_vars[i].at >= in->at))
            in = &c->shared_vars[i];
    uint64_t bytes = in && in->bytes ? in->bytes : g->shared_bytes - (in ? in->at : 0);
    if (!in)
        say(t, "byte %" PRIu64 " of shared memory, of which the block has %" PRIu64 " bytes", address, bytes);
    else if (address - in->at >= bytes)
        say(t, "byte %" PRIu64 " of %s (shared memory), which has %" PRIu64 " bytes", address - in->at, in->name,
            bytes);
    else
        say(t, "byte %" PRIu64 " of %s (shared memory)", address - in->at, in->name);
}

static void say_place(struct text *t, const struct simt *s, const struct simt_kernel *k, const struct grid *g,
                      const struct fault *f)
{
    char place[200];
    const uint64_t offset = f->address & MEMORY_OFFSET;
    if (f->space == SPACE_SHARED) {
        say_shared(t, g, offset);
    } else if (f->space == SPACE_LOCAL) {
        say(t, "byte %" PRIu64 " of local memory, of which a thread has %u bytes", offset, k->code->local_bytes);
    } else {
        memory_describe(&s->memory, f->address, place, sizeof place);
        say(t, "%s", place);
    }
}

static const char *verb(bool store, bool atomic)
{
    return !store ? "reads" : atomic ? "changes" : "writes";
}

static const char *past(bool store, bool atomic)
{
    return !store ? "read" : atomic ? "changed" : "wrote";
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

// The other side of a race: "thread (0,0,0) wrote it at kernel.cu:55".
static void say_other(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    char where[400];
    simt_where(k, f->other_inst, where, sizeof where);
    if (f->other_block != f->block) {
        say_block(t, g, f->other_block);
        say(t, ", ");
    }
    say_thread(t, g, f->other_thread);
    say(t, " %s it at %s", past(f->other_store, f->other_atomic), where);
}

// The register or byte that nothing wrote, and what was done with it: "%f12 is stored (st.global.f32) before ...".
static void say_unwritten(struct text *t, const struct simt_kernel *k, const struct fault *f)
{
    static const char *const sinks[] = { [SINK_DECIDES] = "decides what is executed",
                                         [SINK_ADDRESS] = "is part of an address",
                                         [SINK_OPERAND] = "is an operand",
                                         [SINK_STORED] = "is stored",
                                         [SINK_READ] = "is read" };
    const struct str op = k->func->insts[f->inst].op;
    char where[400];
    if (f->space == SPACE_CONST) {
        say(t, ": %.*s has a NaN for operand, which nvcc writes in place of a variable without a value", (int)op.n,
            op.p);
        return;
    }
    if (f->space == SPACE_LOCAL) {
        say(t, ": byte %" PRIu64 " of local memory", f->address);
    } else if (f->address - 1 < k->func->n_regs) {
        const struct ptx_reg *r = &k->func->regs[f->address - 1];
        say(t, ": %.*s", (int)r->name.n, r->name.p);
        if (r->ranged)
            say(t, "%u", r->number);
    } else {
        say(t, ": the carry flag");
    }
    if (f->other_inst == f->inst) {
        say(t, " %s (%.*s) before anything wrote it", sinks[f->lanes], (int)op.n, op.p);
        return;
    }
    simt_where(k, f->other_inst, where, sizeof where);
    say(t, " is used by %.*s before anything wrote it, and what comes of it %s at %s", (int)op.n, op.p, sinks[f->lanes],
        where);
}

// What only the checks find.
static void say_finding(struct text *t, const struct simt *s, const struct simt_kernel *k, const struct grid *g,
                        const struct fault *f)
{
    if (f->kind == FAULT_SPLIT) {
        char where[400];
        simt_where(k, f->other_inst, where, sizeof where);
        say(t, " waits here, and ");
        say_thread(t, g, f->other_thread);
        say(t, " at %s: each opens the other's barrier", where);
        return;
    }
    if (f->kind == FAULT_LEFT) {
        char where[400];
        simt_where(k, f->other_inst, where, sizeof where);
        say(t, " waits at this barrier, to which %u of the block's %u threads never come: ", f->exited, g->threads);
        say_thread(t, g, f->other_thread);
        say(t, " ended at %s", where);
        return;
    }
    if (f->kind == FAULT_UNWRITTEN) {
        say_unwritten(t, k, f);
        return;
    }
    say(t, " %s ", verb(f->store, f->atomic));
    say_place(t, s, k, g, f);
    if (f->kind == FAULT_CONST) {
        say(t, ": it is __constant__, which a kernel cannot change");
    } else if (f->kind == FAULT_UNINIT) {
        say(t,
            f->space == SPACE_SHARED ? ", and no thread of the block wrote it before" : ", and nobody wrote it before");
    } else if (f->kind == FAULT_COPY) {
        say(t, ", where an asynchronous copy is under way: ");
        say_other(t, k, g, f);
        say(t, " and has not waited for it");
    } else {
        say(t, "; ");
        say_other(t, k, g, f);
        say(t, f->kind == FAULT_RACE    ? ", and no barrier comes between them"
               : g->code->orders_blocks ? ", and nothing orders the two blocks here"
                                        : ", and blocks run in any order");
    }
}

// The thread and what it did, without the kernel's name and line.
static void describe(struct text *t, const struct simt *s, const struct simt_kernel *k, const struct grid *g,
                     const struct fault *f)
{
    say_block(t, g, f->block);
    say(t, ", ");
    say_thread(t, g, f->warp * LANES + f->lane);
    switch (f->kind) {
    case FAULT_BOUNDS:
        say(t, " %s %u byte%s out of bounds: ", verb(f->store, f->atomic), f->bytes, plural(f->bytes));
        say_place(t, s, k, g, f);
        break;
    case FAULT_ALIGN:
        say(t, " %s %u bytes at an address that is not a multiple of %u: ", verb(f->store, f->atomic), f->bytes,
            f->bytes);
        say_place(t, s, k, g, f);
        break;
    case FAULT_BUDGET:
        say(t, " did not end within %" PRIu64 " warp instructions: does this loop ever stop?", g->budget);
        break;
    case FAULT_WAIT:
        say(t, " waits here for ever: the value that it looks at again and again never changes");
        if (f->waiting > 1)
            say(t, ". %u blocks are at work, and each of them waits", f->waiting);
        if (f->exited)
            say(t, "; %u cannot begin before one of these ends", f->exited);
        break;
    case FAULT_DEADLOCK:
        say(t,
            " waits at this barrier for ever: %u of the block's %u threads arrived, %u have ended: does every thread "
            "reach it?",
            f->waiting, g->threads, f->exited);
        break;
    case FAULT_BARRIER:
        say(t, " names a barrier that does not exist, or a thread count that is no multiple of 32");
        break;
    case FAULT_TRAP:
        say(t, " executes a trap");
        break;
    case FAULT_NOT_MEMBER:
        say(t,
            " runs this instruction, but its member mask is 0x%08x, without lane %u: name every lane that comes here",
            f->lanes, f->lane);
        break;
    case FAULT_MISSING:
        say(t,
            " waits at this instruction for lanes 0x%08x of its warp, which never come: have they ended, or taken "
            "another branch?",
            f->lanes);
        break;
    case FAULT_INACTIVE:
        say(t, " reads from lane %d, which takes no part: its value is undefined",
            __builtin_ctz(f->lanes ? f->lanes : 1));
        break;
    case FAULT_ASSERT:
    case FAULT_OTHER:
        say(t, ": %s", f->text);
        break;
    case FAULT_RACE:
    case FAULT_RACE_BLOCKS:
    case FAULT_UNINIT:
    case FAULT_COPY:
    case FAULT_SPLIT:
    case FAULT_LEFT:
    case FAULT_CONST:
    case FAULT_UNWRITTEN:
        say_finding(t, s, k, g, f);
        break;
    case FAULT_NONE:
        break;
    }
}

static void no_controls(char *text)  // a kernel's texts and names may hold anything
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

void simt_fault_text(const struct simt *s, const struct simt_kernel *k, const struct grid *g, const struct fault *f,
                     char error[DEV_ERROR_MAX])
{
    char where[400];
    struct text t = { error, DEV_ERROR_MAX };
    simt_where(k, f->inst, where, sizeof where);
    say(&t, "kernel %.200s, %s: ", k->name, where);
    describe(&t, s, k, g, f);
    no_controls(error);
}

// --- findings ---

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
        out->look = look_race(f, g);
        break;
    case FAULT_COPY:
        *out = (struct finding){ .check = "racecheck", .kind = "copy not waited for" };
        out->look = "the copying thread must wait for its group (cp.async.wait_group), and then a barrier must follow";
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
    const struct ptx_loc *loc = in->loc ? &m->locs[in->loc - 1] : NULL;
    unsigned line = 1;
    for (const char *p = m->text; !loc && (p = memchr(p, '\n', (size_t)(in->at - p))); p++)
        line++;
    char *file = arena_printf(a, "%s", loc ? simt_file_name(m, loc->file) : m->file);
    const struct ptx_loc *call = loc ? call_of(m, loc) : NULL;
    const char *caller_file = call ? arena_printf(a, "%s", simt_file_name(m, call->file)) : NULL;
    return (struct finding_place){ file, loc ? loc->line : line, caller_file, caller_file ? call->line : 0 };
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

bool simt_build_findings(struct simt *s, const struct simt_kernel *k, const struct grid *g, const struct found *found,
                         size_t n)
{
    char text[DEV_ERROR_MAX], where[400];
    arena_free(s->findings_arena);
    struct arena *a = s->findings_arena = arena_new(SIZE_MAX);
    struct finding *all = a ? arena_alloc(a, (n + 1) * sizeof *all) : NULL;
    s->findings = (struct findings){ .kernel = k->name };
    if (!all || !(s->findings.kernel = arena_printf(a, "%s", k->name)))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct fault *f = &found[i].fault;
        struct finding x, *again;
        struct text t = { text, sizeof text };
        classify(f, g, &x);
        if (f->kind == FAULT_UNINIT && f->space != SPACE_SHARED && strcmp(k->name, "gemm"))  // it has no beta
            x.look = "who should have written it: the host, a kernel before, or another line of this one?";
        x.count = found[i].count;
        x.here = place_of(a, k, f->inst);
        if (f->kind >= FAULT_RACE && f->kind != FAULT_UNINIT && f->kind != FAULT_CONST && f->kind != FAULT_UNWRITTEN)
            x.there = place_of(a, k, f->other_inst);
        if (!x.here.file)
            return false;
        if ((again = find(all, s->findings.n, &x))) {
            again->count += x.count;
            continue;
        }
        simt_where(k, f->inst, where, sizeof where);
        say(&t, "%s: ", where);
        describe(&t, s, k, g, f);
        no_controls(text);
        if (!(x.text = arena_printf(a, "%s", text)))
            return false;
        all[s->findings.n++] = x;
    }
    s->findings.all = all;
    return true;
}
