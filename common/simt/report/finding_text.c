// A finding as one line: where, and who does what to which bytes. See findings.h.
#include "finding_sync.h"
#include "finding_waits.h"
#include "finding_words.h"

#include <inttypes.h>

#include "base/text.h"

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
    finding_object(t, &f->object);
    text_add(t, "%s", by_text(f->here.by));
}

// "thread (0,0,0) wrote it at kernel.cu:55".
static void say_other_access(struct text_end *t, const struct simt_finding *f)
{
    const enum simt_access a = f->there.access;
    finding_other(t, f);
    text_add(t, " %s it at ", a == SIMT_CHANGES ? "changed" : a == SIMT_WRITES ? "wrote" : "read");
    finding_where(t, &f->there.place);
}

// An access that cannot be made: out of bounds, or at an odd address.
static void say_bad_access(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " %s %u", verb(f->here.access), f->bytes);
    if (f->kind == SIMT_OUT_OF_BOUNDS)
        text_add(t, " byte%s out of bounds: ", text_plural(f->bytes));
    else
        text_add(t, " bytes at an address that is not a multiple of %u: ", f->bytes);
    finding_object(t, &f->object);
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
        finding_object(t, &f->object);
    if (!f->used.file) {
        text_add(t, " %s (%s) before anything wrote it", uses[f->use], op);
        return;
    }
    text_add(t, " is used by %s before anything wrote it, and what comes of it %s at ", op, uses[f->use]);
    finding_where(t, &f->used);
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
        text_add(t, finding_same_block(f) ? ", and no barrier comes between them"
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
    finding_object(t, &f->object);
    text_add(t, ", and a copy of %" PRIu64 " bytes is under way to %" PRId64 " bytes %s that: ", f->seen,
             behind < 0 ? -behind : behind, behind < 0 ? "behind" : "before");
    finding_other(t, f);
    text_add(t, " started it at ");
    finding_where(t, &f->there.place);
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
    finding_where(t, &f->there.place);
    if (f->kind == SIMT_WGMMA_FENCE) {
        text_add(t, ", and no wgmma.fence comes between them");
    } else if (f->kind == SIMT_WGMMA_WAIT) {
        text_add(t, ", which has not been waited for");
    } else if (f->used.file) {
        text_add(t, ", which was not committed before the wgmma.wait_group at ");
        finding_where(t, &f->used);
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
        finding_object(t, &f->object);
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

void simt_finding_text(const struct simt_finding *f, char *text, size_t size)
{
    static void (*const say_of[])(struct text_end *, const struct simt_finding *) = {
        [SIMT_RUN] = say_run,         [SIMT_MEMCHECK] = say_memory,    [SIMT_INITCHECK] = say_uninit,
        [SIMT_RACECHECK] = say_order, [SIMT_SYNCCHECK] = finding_sync,
    };
    struct text_end t = { text, size };
    finding_where(&t, &f->here.place);
    text_add(&t, ": ");
    finding_block(&t, f->here.block);
    text_add(&t, ", ");
    finding_thread(&t, &f->here);
    say_of[simt_finding_check(f->kind)](&t, f);
    text_one_line(text, ' ');  // a kernel's texts and names may hold anything
}
