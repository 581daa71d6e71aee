// A finding as one line: where, and who does what to which bytes. See findings.h.
#include "finding_waits.h"
#include "finding_warpgroup.h"

#include <inttypes.h>
#include <string.h>

#include "base/source.h"
#include "base/text.h"

// --- places, threads, bytes ---

void simt_finding_place_text(const struct simt_finding_place *p, char *text, size_t size)
{
    struct text_end t = { text, size };
    text_add(&t, "%.300s:%u", p->in_ptx ? p->file : source_base_name(p->file), p->line);
    if (!p->caller_file)
        return;
    if (!strcmp(p->caller_file, p->file))
        text_add(&t, ", called from line %u", p->caller);
    else
        text_add(&t, ", called from %.60s:%u", source_base_name(p->caller_file), p->caller);
}

static void say_where(struct text_end *t, const struct simt_finding_place *p)
{
    char where[400];
    simt_finding_place_text(p, where, sizeof where);
    text_add(t, "%s", where);
}

static void say_block(struct text_end *t, const uint32_t block[3])
{
    text_add(t, "block (%u,%u,%u)", block[0], block[1], block[2]);
}

static void say_thread(struct text_end *t, const struct simt_side *s)
{
    text_add(t, "thread (%u,%u,%u)", s->thread[0], s->thread[1], s->thread[2]);
}

static void say_shared(struct text_end *t, const struct simt_object *o)
{
    if (!o->name)
        text_add(t, "byte %" PRIu64 " of shared memory, of which the block has %" PRIu64 " bytes", o->address,
                 o->bytes);
    else if ((uint64_t)o->at >= o->bytes)
        text_add(t, "byte %" PRId64 " of %s (shared memory), which has %" PRIu64 " bytes", o->at, o->name, o->bytes);
    else
        text_add(t, "byte %" PRId64 " of %s (shared memory)", o->at, o->name);
    if (o->owner == SIMT_NO_BLOCK) {
        text_add(t, " of block %u of a cluster that has %u blocks", o->rank, o->blocks);
    } else if (o->owner == SIMT_OTHER_BLOCK) {
        text_add(t, " of ");
        say_block(t, o->block);
    } else if (o->owner == SIMT_OTHER_WINDOW) {
        text_add(
            t,
            " of block %u of the cluster: an address in the shared memory of another block is for ld.shared::cluster "
            "and its like",
            o->rank);
    }
}

static void say_global(struct text_end *t, const struct simt_object *o)
{
    if (!o->name)
        text_add(t, "address 0x%" PRIx64 ", which no allocation holds%s", o->address,
                 o->address < 4096 ? " (a null pointer?)" : "");
    else if (o->at < 0)
        text_add(t, "%" PRId64 " bytes before the start of %s", -o->at, o->name);
    else if (o->freed)
        text_add(t, "byte %" PRId64 " of %s, which has been freed", o->at, o->name);
    else
        text_add(t, "byte %" PRId64 " of %s, which has %" PRIu64 " bytes", o->at, o->name, o->bytes);
}

static void say_object(struct text_end *t, const struct simt_object *o)
{
    if (o->space == SIMT_SHARED)
        say_shared(t, o);
    else if (o->space == SIMT_LOCAL)
        text_add(t, "byte %" PRIu64 " of local memory, of which a thread has %" PRIu64 " bytes", o->address, o->bytes);
    else if (o->space == SIMT_REGISTER)
        text_add(t, "%s", o->name ? o->name : "the carry flag");
    else
        say_global(t, o);
}

void simt_object_text(const struct simt_object *o, char *text, size_t size)
{
    struct text_end t = { text, size };
    say_object(&t, o);
}

// --- accesses ---

static const char *by_text(enum simt_by by)
{
    return by == SIMT_BY_WGMMA ? " by wgmma" : by == SIMT_BY_BULK_COPY ? " by a bulk copy" : "";
}

static bool is_async(const struct simt_side *s)
{
    return s->by == SIMT_BY_WGMMA || s->by == SIMT_BY_BULK_COPY;
}

static const char *verb(enum simt_access access)
{
    return access == SIMT_CHANGES ? "changes" : access == SIMT_WRITES ? "writes" : "reads";
}

// "reads byte 4 of As (shared memory) by wgmma".
static void say_access(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " %s ", verb(f->here.access));
    say_object(t, &f->object);
    text_add(t, "%s", by_text(f->here.by));
}

static bool same_block(const struct simt_finding *f)
{
    return !memcmp(f->here.block, f->there.block, sizeof f->here.block);
}

// The other thread, with its block if that is another.
static void say_other(struct text_end *t, const struct simt_finding *f)
{
    if (!same_block(f)) {
        say_block(t, f->there.block);
        text_add(t, ", ");
    }
    say_thread(t, &f->there);
}

// "thread (0,0,0) wrote it at kernel.cu:55".
static void say_other_access(struct text_end *t, const struct simt_finding *f)
{
    const enum simt_access a = f->there.access;
    say_other(t, f);
    text_add(t, " %s it at ", a == SIMT_CHANGES ? "changed" : a == SIMT_WRITES ? "wrote" : "read");
    say_where(t, &f->there.place);
}

// An access that cannot be made: out of bounds, or at an odd address.
static void say_bad_access(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " %s %u", verb(f->here.access), f->bytes);
    if (f->kind == SIMT_OUT_OF_BOUNDS)
        text_add(t, " byte%s out of bounds: ", text_plural(f->bytes));
    else
        text_add(t, " bytes at an address that is not a multiple of %u: ", f->bytes);
    say_object(t, &f->object);
}

// A register or byte that nothing wrote, and what was done with it: "%f12 is stored (st.global.f32) before ...".
static void say_unwritten(struct text_end *t, const struct simt_finding *f)
{
    static const char *const uses[] = { [SIMT_USE_DECIDES] = "decides what is executed",
                                        [SIMT_USE_ADDRESS] = "is part of an address",
                                        [SIMT_USE_OPERAND] = "is an operand",
                                        [SIMT_USE_STORED] = "is stored",
                                        [SIMT_USE_READ] = "is read" };
    const char *op = f->here.instruction;
    text_add(t, ": ");
    if (f->object.space == SIMT_LOCAL)
        text_add(t, "byte %" PRIu64 " of local memory", f->object.address);
    else
        say_object(t, &f->object);
    if (!f->used.file) {
        text_add(t, " %s (%s) before anything wrote it", uses[f->use], op);
        return;
    }
    text_add(t, " is used by %s before anything wrote it, and what comes of it %s at ", op, uses[f->use]);
    say_where(t, &f->used);
}

// Two accesses that nothing orders; one of them may be a copy that is under way.
static void say_race(struct text_end *t, const struct simt_finding *f)
{
    const bool copy = f->kind == SIMT_COPY_PENDING;
    say_access(t, f);
    if (copy && is_async(&f->there))
        text_add(t, ", where a bulk copy is under way: ");
    else if (copy && !is_async(&f->here))
        text_add(t, ", where an asynchronous copy is under way: ");
    else
        text_add(t, "; ");
    say_other_access(t, f);
    if (copy && is_async(&f->there))
        return;
    if (is_async(&f->here) || is_async(&f->there))
        text_add(t, "%s, and nothing orders the two", by_text(f->there.by));
    else if (copy)
        text_add(t, " and has not waited for it");
    else if (f->kind == SIMT_RACE)
        text_add(t, same_block(f) ? ", and no barrier comes between them"
                                  : ", and nothing orders the two blocks of the cluster here");
    else
        text_add(t, f->orders_blocks ? ", and nothing orders the two blocks here" : ", and blocks run in any order");
}

// A wait that never ends.
static void say_endless_wait(struct text_end *t, const struct simt_finding *f)
{
    if (f->n_waits) {
        finding_waits(t, f);
        return;
    }
    text_add(t, " waits here for ever: the value that it looks at again and again never changes");
    if (f->seen > 1)
        text_add(t, ". %" PRIu64 " blocks are at work, and each of them waits", f->seen);
    if (f->left)
        text_add(t, "; %" PRIu64 " cannot begin before one of these ends", f->left);
}

// An mbarrier that was not initialised.
static void say_unmade(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, f->kind == SIMT_ARRIVES_UNMADE ? ": arrives at" : ": expects bytes at");
    text_add(t, " the mbarrier ");
    finding_mbarrier(t, &f->mbarrier.object);
    text_add(t, ", which was not initialised");
}

// An arrival too many: those that the phase waits for have come, or some of them and this one is for several.
static void say_arrivals(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, ": more arrivals than the mbarrier expects in this phase: ");
    finding_mbarrier(t, &f->mbarrier.object);
    text_add(t, " was initialised for %" PRIu64 " in each; ", f->left);
    if (f->mbarrier.phase >= 0)
        text_add(t, "in phase %d, ", f->mbarrier.phase);
    if (f->expected)
        text_add(t, "%" PRIu64 " of them are missing, and this counts as %" PRIu64, f->expected, f->seen);
    else
        text_add(t, "all have come, and the phase is not over, since bytes are on their way to it");
}

// --- one function for each check's kinds: the text behind "block (0,0,0), thread (1,0,0)" ---

static void say_run(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_ENDLESS_LOOP)
        text_add(t, " did not end within %" PRIu64 " warp instructions: does this loop ever stop?", f->expected);
    else if (f->kind == SIMT_ENDLESS_WAIT)
        say_endless_wait(t, f);
    else if (f->kind == SIMT_TRAP)
        text_add(t, " executes a trap");
    else if (f->kind == SIMT_NO_GRID)
        text_add(t, " executes a trap, as grid.sync() does in a launch that is not cooperative");
    else if (f->kind == SIMT_ASSERTION)
        text_add(t, ": assertion '%s' failed", f->detail);
    else if (f->kind == SIMT_ARRIVES_UNMADE || f->kind == SIMT_EXPECTS_UNMADE)
        say_unmade(t, f);
    else if (f->kind == SIMT_ARRIVALS)
        say_arrivals(t, f);
    else
        text_add(t, ": %s", f->detail);
}

static void say_memory(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_DESCRIPTOR_RANK) {
        text_add(t, " gives wgmma a descriptor whose leading offset has the block's rank in it");
    } else if (f->kind == SIMT_WGMMA_DIFFERS) {
        text_add(t,
                 " gives wgmma the descriptor 0x%016" PRIx64 " of %s, and warp %u of its warpgroup 0x%016" PRIx64
                 ": the four warps have to give the same",
                 f->seen, f->left ? "B" : "A", f->there.warp, f->expected);
    } else if (f->kind == SIMT_CONSTANT_STORE) {
        say_access(t, f);
        text_add(t, ": it is __constant__, which a kernel cannot change");
    } else {
        say_bad_access(t, f);
    }
}

static void say_uninit(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_UNINIT_NAN) {
        text_add(t, ": %s has a NaN for operand, which nvcc writes in place of a variable without a value",
                 f->here.instruction);
    } else if (f->kind == SIMT_UNINIT_VALUE) {
        say_unwritten(t, f);
    } else if (finding_is_mbarrier(f)) {
        text_add(t, " uses the mbarrier ");
        finding_mbarrier(t, &f->object);
        text_add(t, " (%s), which was not initialised", f->here.instruction);
    } else {
        say_access(t, f);
        text_add(t, f->object.space == SIMT_SHARED ? ", and no thread of the block wrote it before"
                                                   : ", and nothing was written there before");
    }
}

// The mbarrier of a copy.
static void say_init(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " starts a copy that reports to an mbarrier; ");
    say_other_access(t, f);
    text_add(t, f->kind == SIMT_RACE_INIT ? " (mbarrier.init), and nothing orders the two"
                                          : " (mbarrier.init), and no fence has made that known to the asynchronous "
                                            "proxy: PTX before 9.3 does not promise that a barrier is enough");
}

// Two bulk copies.
static void say_overlap(struct text_end *t, const struct simt_finding *f)
{
    const int64_t behind = (int64_t)f->object.address - (int64_t)f->left;
    text_add(t, " copies %u bytes to ", f->bytes);
    say_object(t, &f->object);
    text_add(t, ", and a copy of %" PRIu64 " bytes is under way to %" PRId64 " bytes %s that: ", f->seen,
             behind < 0 ? -behind : behind, behind < 0 ? "behind" : "before");
    say_other(t, f);
    text_add(t, " started it at ");
    say_where(t, &f->there.place);
    text_add(t, ". The two overlap");
}

static void say_wgmma(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_WGMMA_FENCE && f->there.number == f->here.number) {
        text_add(t, " starts a wgmma, and no wgmma.fence comes before it");
        return;
    }
    text_add(t, f->kind == SIMT_WGMMA_FENCE ? " starts a wgmma whose registers were written at "
                                            : " uses an accumulator of the wgmma at ");
    say_where(t, &f->there.place);
    if (f->kind == SIMT_WGMMA_FENCE) {
        text_add(t, ", and no wgmma.fence comes between them");
    } else if (f->kind == SIMT_WGMMA_WAIT) {
        text_add(t, ", which has not been waited for");
    } else if (f->used.file) {
        text_add(t, ", which was not committed before the wgmma.wait_group at ");
        say_where(t, &f->used);
        text_add(t, ": that did not wait for it");
    } else {
        text_add(t, ", which has been neither committed nor waited for");
    }
}

static void say_order(struct text_end *t, const struct simt_finding *f)
{
    switch (simt_finding_class(f->kind)) {
    case SIMT_CLASS_WGMMA:
        say_wgmma(t, f);
        break;
    case SIMT_CLASS_PRODUCT:
        text_add(t, ": the block ends, and the wgmma that this line starts has not been %s",
                 f->seen ? "waited for" : "committed");
        break;
    case SIMT_CLASS_LEFT:
        text_add(t, ": the block ends while the copy of %u bytes that this line starts %s ", f->bytes,
                 f->kind == SIMT_LOAD_LEFT ? "is on its way to" : "may still read");
        say_object(t, &f->object);
        break;
    case SIMT_CLASS_LAUNCH:
        say_access(t, f);
        text_add(t, "; a launch before this one wrote there, and may still run");
        break;
    case SIMT_CLASS_ORDER:
        say_access(t, f);
        text_add(t, "; ");
        say_other_access(t, f);
        text_add(t,
                 f->kind == SIMT_STRONG_WRITES ? ", and nothing orders the two: which one is last is chance"
                 : f->kind == SIMT_RELAXED_WAIT
                     ? ", and this block has waited for that with a relaxed access and a barrier, and without a fence"
                     : " before what this block has seen of it, without a fence in between: what is read may be "
                       "older");
        break;
    default:
        if (f->kind == SIMT_RACE_INIT || f->kind == SIMT_INIT_FENCE) {
            say_init(t, f);
        } else if (f->kind == SIMT_PROXY_FENCE) {
            say_access(t, f);
            text_add(t, "; ");
            say_other_access(t, f);
            text_add(t, ", and no fence.proxy.async has made it known to the asynchronous proxy");
        } else if (f->kind == SIMT_COPIES_OVERLAP) {
            say_overlap(t, f);
        } else {
            say_race(t, f);
        }
    }
}

// A barrier that some threads do not come to.
static void say_barrier(struct text_end *t, const struct simt_finding *f)
{
    switch (f->kind) {
    case SIMT_BARRIER_STUCK:
        text_add(t,
                 " waits at this barrier for ever: %" PRIu64 " of the block's %" PRIu64 " threads arrived, %" PRIu64
                 " have ended",
                 f->seen, f->expected, f->left);
        if (f->lanes) {
            text_add(t, ", and ");
            say_thread(t, &f->there);
            text_add(t, " waits at ");
            say_where(t, &f->there.place);
        }
        text_add(t, ": does every thread reach it?");
        break;
    case SIMT_LANES_SPLIT:
        text_add(t, " waits here for all lanes of its warp, and ");
        say_thread(t, &f->there);
        text_add(t, " waits at ");
        say_where(t, &f->there.place);
        text_add(t, ": an H200 would wait for ever");
        break;
    case SIMT_BARRIER_SPLIT:
        text_add(t, " waits here, and ");
        say_thread(t, &f->there);
        text_add(t, " at ");
        say_where(t, &f->there.place);
        text_add(t, ": each opens the other's barrier");
        break;
    case SIMT_BARRIER_LEFT:
        text_add(t, " waits at this barrier, to which %" PRIu64 " of the block's %" PRIu64 " threads never come: ",
                 f->left, f->expected);
        say_thread(t, &f->there);
        text_add(t, " ended at ");
        say_where(t, &f->there.place);
        break;
    case SIMT_BARRIER_COUNT:
        text_add(t,
                 " comes to a barrier for %" PRIu64 " threads; for others, who wait there, it is one for %" PRIu64
                 ", at ",
                 f->seen, f->expected);
        say_where(t, &f->there.place);
        break;
    default:
        text_add(t, " names a barrier that does not exist, or a thread count that is no multiple of 32");
    }
}

// An instruction of the whole warp, and lanes that are not as it names them.
static void say_lanes(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_NOT_MEMBER)
        text_add(
            t,
            " runs this instruction, but its member mask is 0x%08x, without lane %u: name every lane that comes here",
            f->lanes, f->here.lane);
    else if (f->kind == SIMT_LANES_MISSING)
        text_add(t,
                 " waits at this instruction for lanes 0x%08x of its warp, which never come: have they ended, or taken "
                 "another branch?",
                 f->lanes);
    else
        text_add(t, " reads from lane %d, which takes no part: its value is undefined",
                 __builtin_ctz(f->lanes ? f->lanes : 1));
}

static void say_init_again(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " initialises the mbarrier at ");
    say_object(t, &f->mbarrier.object);
    text_add(t, ", which ");
    say_other(t, f);
    text_add(t, " has initialised at ");
    say_where(t, &f->there.place);
    text_add(t, ": PTX leaves open what a second mbarrier.init does");
}

// A wait for a parity that may come too late.
static void say_late(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " waits for a phase of the mbarrier at ");
    say_object(t, &f->mbarrier.object);
    text_add(t, "; ");
    say_other(t, f);
    text_add(t, " ends the next phase at ");
    say_where(t, &f->there.place);
    text_add(t, " without knowing of this wait: if that comes first, this waits for ever");
}

static void say_sync(struct text_end *t, const struct simt_finding *f)
{
    switch (simt_finding_class(f->kind)) {
    case SIMT_CLASS_BARRIER:
        say_barrier(t, f);
        break;
    case SIMT_CLASS_LANES:
        say_lanes(t, f);
        break;
    case SIMT_CLASS_LATE:
        say_late(t, f);
        break;
    case SIMT_CLASS_INIT:
        say_init_again(t, f);
        break;
    case SIMT_CLASS_WARPGROUP:
        finding_warpgroup(t, f);
        break;
    case SIMT_CLASS_BYTES:
        text_add(t,
                 ": the phase of the mbarrier at byte %" PRIu64
                 " of shared memory is complete, and %u bytes are still on "
                 "their way to it",
                 f->mbarrier.object.address, f->bytes);
        break;
    case SIMT_CLASS_LIFE:
        text_add(t, " uses the shared memory of ");
        say_block(t, f->object.block);
        text_add(t, f->kind == SIMT_MAY_HAVE_ENDED ? ", and nothing keeps that block from ending before it does"
                                                   : ", and nothing has told it that this block has begun");
        break;
    default:
        finding_registers(t, f);
    }
}

void simt_finding_text(const struct simt_finding *f, char *text, size_t size)
{
    static void (*const say_of[])(struct text_end *, const struct simt_finding *) = {
        [SIMT_RUN] = say_run,         [SIMT_MEMCHECK] = say_memory, [SIMT_INITCHECK] = say_uninit,
        [SIMT_RACECHECK] = say_order, [SIMT_SYNCCHECK] = say_sync,
    };
    struct text_end t = { text, size };
    say_where(&t, &f->here.place);
    text_add(&t, ": ");
    say_block(&t, f->here.block);
    text_add(&t, ", ");
    say_thread(&t, &f->here);
    say_of[simt_finding_check(f->kind)](&t, f);
    text_one_line(text, ' ');  // a kernel's texts and names may hold anything
}
