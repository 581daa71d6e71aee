// A fault as one line that says where to look. See report.h.
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "simt/code/cluster.h"
#include "simt/code/shadow.h"
#include "simt/machine/memory.h"

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

// The same with whose memory it is, where blocks of a cluster share theirs.
static void say_shared_of(struct text *t, const struct grid *g, const struct fault *f, uint64_t address)
{
    const uint32_t rank = cluster_rank(address);
    if (g->cluster_blocks == 1) {
        say_shared(t, g, address);
        return;
    }
    say_shared(t, g, cluster_offset(address));
    if (rank >= g->cluster_blocks) {
        say(t, " of block %u of a cluster that has %u blocks", rank, g->cluster_blocks);
    } else if (f->remote) {
        say(t, " of ");
        say_block(t, g, f->home);
    } else if (rank != cluster_rank_of(g, f->block)) {
        say(t,
            " of block %u of the cluster: an address in the shared memory of another block is for ld.shared::cluster "
            "and its like",
            rank);
    }
}

static void say_place(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    char place[200];
    const uint64_t offset = f->address & MEMORY_OFFSET;
    if (f->space == SPACE_SHARED) {
        say_shared_of(t, g, f, offset);
    } else if (f->space == SPACE_LOCAL) {
        say(t, "byte %" PRIu64 " of local memory, of which a thread has %u bytes", offset, k->code->local_bytes);
    } else {
        memory_describe(g->memory, f->address, place, sizeof place);
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

// The other side of a race: "thread (0,0,0) wrote it at kernel.cu:55".
static void say_other(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    char where[400];
    report_where(k, f->other_inst, where, sizeof where);
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
    report_where(k, f->other_inst, where, sizeof where);
    say(t, " is used by %.*s before anything wrote it, and what comes of it %s at %s", (int)op.n, op.p, sinks[f->lanes],
        where);
}

// --- one fault each: the text behind "block (0,0,0), thread (1,0,0)" ---

// An access that cannot be made: out of bounds, or at an odd address.
static void say_bad_access(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    const char *does = verb(f->store, f->atomic);
    if (f->kind == FAULT_BOUNDS)
        say(t, " %s %u byte%s out of bounds: ", does, f->bytes, text_plural(f->bytes));
    else
        say(t, " %s %u bytes at an address that is not a multiple of %u: ", does, f->bytes, f->bytes);
    say_place(t, k, g, f);
}

// A wait for a value that nothing changes.
static void say_endless_wait(struct text *t, const struct fault *f)
{
    if (*f->text) {
        say(t, " waits here for ever. Of its %s, %s", f->cluster ? "cluster" : "block", f->text);
        return;
    }
    say(t, " waits here for ever: the value that it looks at again and again never changes");
    if (f->waiting > 1)
        say(t, ". %u blocks are at work, and each of them waits", f->waiting);
    if (f->exited)
        say(t, "; %u cannot begin before one of these ends", f->exited);
}

// An instruction of the whole warp, and lanes that are not as it names them.
static void say_lanes(struct text *t, const struct fault *f)
{
    if (f->kind == FAULT_NOT_MEMBER)
        say(t,
            " runs this instruction, but its member mask is 0x%08x, without lane %u: name every lane that comes here",
            f->lanes, f->lane);
    else if (f->kind == FAULT_MISSING)
        say(t,
            " waits at this instruction for lanes 0x%08x of its warp, which never come: have they ended, or taken "
            "another branch?",
            f->lanes);
    else
        say(t, " reads from lane %d, which takes no part: its value is undefined",
            __builtin_ctz(f->lanes ? f->lanes : 1));
}

// A barrier that some threads do not come to.
static void say_barrier(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    char where[400];
    report_where(k, f->other_inst, where, sizeof where);
    if (f->kind == FAULT_DEADLOCK) {
        say(t,
            " waits at this barrier for ever: %u of the block's %u threads arrived, %u have ended: does every thread "
            "reach it?",
            f->waiting, g->threads, f->exited);
    } else if (f->kind == FAULT_SPLIT && f->lanes) {
        say(t, " waits here for all lanes of its warp, and ");
        say_thread(t, g, f->other_thread);
        say(t, " waits at %s: an H200 would wait for ever", where);
    } else if (f->kind == FAULT_SPLIT) {
        say(t, " waits here, and ");
        say_thread(t, g, f->other_thread);
        say(t, " at %s: each opens the other's barrier", where);
    } else {
        say(t, " waits at this barrier, to which %u of the block's %u threads never come: ", f->exited, g->threads);
        say_thread(t, g, f->other_thread);
        say(t, " ended at %s", where);
    }
}

// Registers of a wgmma.
static void say_flight(struct text *t, const struct simt_kernel *k, const struct fault *f)
{
    char where[400];
    report_where(k, f->other_inst, where, sizeof where);
    if (f->store && f->other_inst == f->inst)
        say(t, " starts a wgmma, and no wgmma.fence comes before it");
    else
        say(t,
            f->store ? " starts a wgmma whose registers were written at %s, and no wgmma.fence comes between them"
                     : " uses an accumulator of the wgmma at %s, which has not been waited for",
            where);
}

// "reads byte 4 of As (shared memory) by wgmma".
static void say_access(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    say(t, " %s ", verb(f->store, f->atomic));
    say_place(t, k, g, f);
    if (f->async)
        say(t, f->wgmma ? " by wgmma" : " by a bulk copy");
}

static void say_uninitialised(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    say_access(t, k, g, f);
    say(t, f->space == SPACE_SHARED ? ", and no thread of the block wrote it before"
                                    : ", and nothing was written there before");
}

// What the asynchronous proxy does not know of.
static void say_proxy(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    say_access(t, k, g, f);
    say(t, "; ");
    say_other(t, k, g, f);
    say(t, ", and no fence.proxy.async has made it known to the asynchronous proxy");
}

// Two accesses that nothing orders; one of them may be a copy that is under way.
static void say_race(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    const bool copy = f->kind == FAULT_COPY;
    say_access(t, k, g, f);
    if (copy && f->other_async) {
        say(t, ", where a bulk copy is under way: ");
        say_other(t, k, g, f);
    } else if (f->async || f->other_async) {
        say(t, "; ");
        say_other(t, k, g, f);
        say(t, f->other_wgmma ? " by wgmma" : f->other_async ? " by a bulk copy" : "");
        say(t, ", and nothing orders the two");
    } else if (copy) {
        say(t, ", where an asynchronous copy is under way: ");
        say_other(t, k, g, f);
        say(t, " and has not waited for it");
    } else {
        say(t, "; ");
        say_other(t, k, g, f);
        say(t, f->kind == FAULT_RACE && f->other_block != f->block
                   ? ", and nothing orders the two blocks of the cluster here"
               : f->kind == FAULT_RACE  ? ", and no barrier comes between them"
               : g->code->orders_blocks ? ", and nothing orders the two blocks here"
                                        : ", and blocks run in any order");
    }
}

// Another block's shared memory.
static void say_home(struct text *t, const struct grid *g, const struct fault *f)
{
    say(t, " uses the shared memory of ");
    say_block(t, g, f->home);
    say(t, f->store ? ", and nothing keeps that block from ending before it does"
                    : ", and nothing has told it that this block has begun");
}

// A wait for a parity that may come too late.
static void say_late(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    char where[400];
    report_where(k, f->other_inst, where, sizeof where);
    say(t, " waits for a phase of the mbarrier at ");
    say_place(t, k, g, f);
    say(t, "; ");
    if (f->other_block != f->block) {
        say_block(t, g, f->other_block);
        say(t, ", ");
    }
    say_thread(t, g, f->other_thread);
    say(t, " ends the next phase at %s without knowing of this wait: if that comes first, this waits for ever", where);
}

// A barrier with an impossible number or count, or (text) with another count than others give it.
static void say_counts(struct text *t, const struct simt_kernel *k, const struct fault *f)
{
    char where[400];
    report_where(k, f->other_inst, where, sizeof where);
    if (*f->text)
        say(t, " %s, at %s", f->text, where);
    else
        say(t, " names a barrier that does not exist, or a thread count that is no multiple of 32");
}

// What the thread did.
static void say_fault(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    switch (f->kind) {
    case FAULT_BOUNDS:
    case FAULT_ALIGN:
        say_bad_access(t, k, g, f);
        break;
    case FAULT_BUDGET:
        say(t, " did not end within %" PRIu64 " warp instructions: does this loop ever stop?", g->budget);
        break;
    case FAULT_WAIT:
        say_endless_wait(t, f);
        break;
    case FAULT_DEADLOCK:
    case FAULT_SPLIT:
    case FAULT_LEFT:
        say_barrier(t, k, g, f);
        break;
    case FAULT_BARRIER:
        say_counts(t, k, f);
        break;
    case FAULT_TRAP:
        say(t, " executes a trap");
        break;
    case FAULT_NOT_MEMBER:
    case FAULT_MISSING:
    case FAULT_INACTIVE:
        say_lanes(t, f);
        break;
    case FAULT_ASSERT:
    case FAULT_REGISTERS:
    case FAULT_OTHER:
        say(t, ": %s", f->text);
        break;
    case FAULT_UNINIT:
        say_uninitialised(t, k, g, f);
        break;
    case FAULT_UNWRITTEN:
        say_unwritten(t, k, f);
        break;
    case FAULT_RACE:
    case FAULT_RACE_BLOCKS:
    case FAULT_COPY:
        say_race(t, k, g, f);
        break;
    case FAULT_PROXY:
        say_proxy(t, k, g, f);
        break;
    case FAULT_LAUNCH:
        say_access(t, k, g, f);
        say(t, "; a launch before this one wrote there, and may still run");
        break;
    case FAULT_SIGNAL:
    case FAULT_UNFENCED:
        say(t, " starts a copy that reports to an mbarrier; ");
        say_other(t, k, g, f);
        say(t, f->kind == FAULT_SIGNAL ? " (mbarrier.init), and nothing orders the two"
                                       : " (mbarrier.init), and no fence has made that known to the asynchronous "
                                         "proxy: PTX before 9.3 does not promise that a barrier is enough");
        break;
    case FAULT_LATE:
        say_late(t, k, g, f);
        break;
    case FAULT_BYTES:
        say(t,
            ": the phase of the mbarrier at byte %" PRIu64 " of shared memory is complete, and %u bytes are still on "
            "their way to it",
            f->address, f->bytes);
        break;
    case FAULT_UNWAITED:
        say(t, ": the block ends while the copy of %u bytes that this line starts %s ", f->bytes,
            f->store ? "is on its way to" : "may still read");
        say_place(t, k, g, f);
        break;
    case FAULT_HOME:
        say_home(t, g, f);
        break;
    case FAULT_DESCRIPTOR:
        say(t, " gives wgmma a descriptor whose leading offset has the block's rank in it");
        break;
    case FAULT_FLIGHT:
        say_flight(t, k, f);
        break;
    case FAULT_CONST:
        say_access(t, k, g, f);
        say(t, ": it is __constant__, which a kernel cannot change");
        break;
    case FAULT_NONE:
        break;
    }
}

// The thread and what it did, without the kernel's name and line.
static void describe(struct text *t, const struct simt_kernel *k, const struct grid *g, const struct fault *f)
{
    say_block(t, g, f->block);
    say(t, ", ");
    say_thread(t, g, f->warp * LANES + f->lane);
    say_fault(t, k, g, f);
}

static void tell(const char *kernel, const struct simt_kernel *k, const struct grid *g, const struct fault *f,
                 char text[DEV_ERROR_MAX])
{
    char where[400];
    struct text t = { text, DEV_ERROR_MAX };
    report_where(k, f->inst, where, sizeof where);
    if (kernel)
        say(&t, "kernel %.200s, ", kernel);
    say(&t, "%s: ", where);
    describe(&t, k, g, f);
    text_one_line(text, ' ');  // a kernel's texts and names may hold anything
}

void report_fault(const struct simt_kernel *k, const struct grid *g, const struct fault *f, char text[DEV_ERROR_MAX])
{
    tell(k->name, k, g, f, text);
}

void report_fault_short(const struct simt_kernel *k, const struct grid *g, const struct fault *f,
                        char text[DEV_ERROR_MAX])
{
    tell(NULL, k, g, f, text);
}
