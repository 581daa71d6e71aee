// What synccheck finds, in words: barriers, warps, mbarriers, warpgroups, clusters.
#include <inttypes.h>

#include "finding_sync.h"
#include "finding_warpgroup.h"
#include "finding_words.h"

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
            finding_thread(t, &f->there);
            text_add(t, " waits at ");
            finding_where(t, &f->there.place);
        }
        text_add(t, ": does every thread reach it?");
        break;
    case SIMT_LANES_SPLIT:
        text_add(t, " waits here for all lanes of its warp, and ");
        finding_thread(t, &f->there);
        text_add(t, " waits at ");
        finding_where(t, &f->there.place);
        text_add(t, ": an H200 would wait for ever");
        break;
    case SIMT_BARRIER_SPLIT:
        text_add(t, " waits here, and ");
        finding_thread(t, &f->there);
        text_add(t, " at ");
        finding_where(t, &f->there.place);
        text_add(t, ": each opens the other's barrier");
        break;
    case SIMT_BARRIER_LEFT:
        text_add(t, " waits at this barrier, to which %" PRIu64 " of the block's %" PRIu64 " threads never come: ",
                 f->left, f->expected);
        finding_thread(t, &f->there);
        text_add(t, " ended at ");
        finding_where(t, &f->there.place);
        break;
    case SIMT_BARRIER_COUNT:
        text_add(t,
                 " comes to a barrier for %" PRIu64 " threads; for others, who wait there, it is one for %" PRIu64
                 ", at ",
                 f->seen, f->expected);
        finding_where(t, &f->there.place);
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
    finding_object(t, &f->mbarrier.object);
    text_add(t, ", which ");
    finding_other(t, f);
    text_add(t, " has initialised at ");
    finding_where(t, &f->there.place);
    text_add(t, ": PTX leaves open what a second mbarrier.init does");
}

// A wait for a parity that may come too late.
static void say_late(struct text_end *t, const struct simt_finding *f)
{
    text_add(t, " waits for a phase of the mbarrier at ");
    finding_object(t, &f->mbarrier.object);
    text_add(t, "; ");
    finding_other(t, f);
    text_add(t, " ends the next phase at ");
    finding_where(t, &f->there.place);
    text_add(t, " without knowing of this wait: if that comes first, this waits for ever");
}

void finding_sync(struct text_end *t, const struct simt_finding *f)
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
        finding_block(t, f->object.block);
        text_add(t, f->kind == SIMT_MAY_HAVE_ENDED ? ", and nothing keeps that block from ending before it does"
                                                   : ", and nothing has told it that this block has begun");
        break;
    default:
        finding_registers(t, f);
    }
}
