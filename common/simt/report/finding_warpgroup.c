// See finding_warpgroup.h.
#include "finding_warpgroup.h"

#include <inttypes.h>

// A warpgroup whose four warps do not do the same.
void finding_warpgroup(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_WGMMA_APART)
        text_add(t,
                 " has run %" PRIu64 " wgmma before this wgmma.commit_group, and warp %u of its warpgroup %" PRIu64
                 ": the four warps have to run each wgmma",
                 f->seen, f->there.warp, f->expected);
    else
        text_add(t,
                 " waits here for ever: it has committed %" PRIu64 " group%s of wgmma, and warp %u of its warpgroup "
                 "%" PRIu64 ": the four warps have to run each wgmma.commit_group",
                 f->seen, text_plural(f->seen), f->there.warp, f->expected);
}

// setmaxnreg that goes the wrong way.
static void say_step(struct text_end *t, const struct simt_finding *f)
{
    text_add(t,
             " runs %s to %" PRIu64 " registers, and has %s%" PRIu64 ": .dec only takes registers away, and .inc only "
             "adds some",
             f->here.instruction, f->seen, f->left ? "" : "at most ", f->expected);
}

void finding_registers(struct text_end *t, const struct simt_finding *f)
{
    if (f->kind == SIMT_REGISTERS_STEP)
        say_step(t, f);
    else if (f->kind == SIMT_REGISTERS_IGNORED)
        text_add(t, " runs setmaxnreg, and nothing in the kernel says with how many registers a thread begins: ptxas "
                    "ignores it then (C7508), unless it is given --maxrregcount");
    else if (f->kind == SIMT_REGISTERS_DIFFER)
        text_add(t,
                 ": sets %" PRIu64
                 " registers, and warp %u of its warpgroup sets %s: all four warps have to run setmaxnreg",
                 f->seen, f->there.warp, f->expected ? "others" : "none");
    else
        text_add(t,
                 ": asks for %" PRIu64 " registers a thread, and waits for ever: the block's threads ask for %" PRIu64
                 " in all, and it was given %" PRIu64 " when it began",
                 f->seen, f->left, f->expected);
}
